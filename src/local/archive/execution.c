/* SPDX-License-Identifier: MIT */
#include "local/archive/execution.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "local/archive/rows.h"
#include "local/archive/tree.h"
#include "local/kit/program.h"
#include "sys/io.h"

enum { NAME_MAX_LEN = 64, LOGS_MAX = 1 << 20, START_MS = 30000, OUTPUT_MAX = 4096 };

/* ---- places ---- */

static bool is_execution_name(struct str s)
{
    if (s.len == 0 || s.len > NAME_MAX_LEN || s.p[0] == '.')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '/' || (unsigned char)s.p[i] <= ' ')
            return false;
    }
    return true;
}

/* The directory of the execution that Q names; NULL after refusing. */
static const char *find_dir(struct request *q)
{
    struct str name = request_param(q, "name");
    struct str dir = is_execution_name(name)
                         ? arena_printf(&q->arena, "%s/.tidepool/executions/" STR_FMT,
                                        q->local->home, STR_ARG(name))
                         : STR_NULL;

    if (!dir.p)
        request_fail(q, 400, "invalid execution name");
    return dir.p;
}

static const char *below(struct request *q, const char *dir, const char *name)
{
    struct str path = arena_printf(&q->arena, "%s/%s", dir, name);

    return path.p ? path.p : "";
}

static bool is_running(const char *lock)
{
    auto_close int fd = io_open(lock, O_RDONLY, 0);

    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* ---- starting ---- */

static int make_place(struct request *q, const char *dir, struct err *e)
{
    char above[PATH_MAX];
    const char *name = strrchr(dir, '/') + 1;

    (void)snprintf(above, sizeof above, "%.*s", (int)(name - dir), dir);
    int r = io_mkdirs(above, 0755, e);
    if (r < 0)
        return r;
    auto_close int fd = io_open(above, O_RDONLY | O_DIRECTORY, 0);
    r = fd < 0 ? fd : tree_remove(fd, name);
    if (r < 0)
        return err_sys(e, r, "'%s'", dir);
    return io_mkdirs(below(q, dir, "code"), 0755, e);
}

static void launch(struct request *q, const char *dir)
{
    const char *const argv[] = {"/proc/self/exe", "--execute", dir, q->local->root, NULL};
    struct run run = {.argv = argv,
                      .cwd = below(q, dir, "code"),
                      .timeout_ms = START_MS,
                      .max_output = OUTPUT_MAX};
    int r = run_program(&run);

    if (r < 0 || run.status != 0)
        request_fail(q, 500, "the execution could not be started: " STR_FMT,
                     STR_ARG(r < 0 ? str_of(strerror(-r)) : buf_str(&run.err)));
    else
        request_reply(q, "application/json", STR("{}"));
    run_done(&run);
}

void execution_row_start(struct request *q)
{
    const char *dir = find_dir(q);
    struct err e = ERR_INIT;
    uint64_t n = 0;

    if (!dir)
        return;
    if (is_running(below(q, dir, "lock"))) {
        request_fail(q, 409, "the execution is running");
        return;
    }
    if (make_place(q, dir, &e) < 0) {
        request_fail(q, 500, "%s", err_text(&e));
        return;
    }
    if (archive_unpack(q, below(q, dir, "code"), &n, &e) == 0)
        launch(q, dir);
}

/* ---- showing ---- */

/* One that says it runs, but has no process, was killed. */
static const char *execution_status_of(struct request *q, const char *dir)
{
    static const char *const words[] = {"running", "completed", "failed"};
    auto_buf struct buf b = BUF_INIT(64);

    /* First the lock: one that ends in between has written its end before. */
    bool runs = is_running(below(q, dir, "lock"));
    if (io_read_file(below(q, dir, "status"), &b, NULL) < 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_is(buf_str(&b), words[i]))
            return i == 0 && !runs ? "failed" : words[i];
    }
    return "failed";
}

/* Without the beginning of a character whose rest is still to come. */
static size_t whole_characters(const char *p, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        unsigned char c = (unsigned char)p[len - back];
        if (c >= 0xc0)
            return utf8_sequence(p + len - back, back) == 0 ? len - back : len;
        if (c < 0x80)
            break;
    }
    return len;
}

void execution_row_show(struct request *q)
{
    const char *dir = find_dir(q);
    const char *status = dir ? execution_status_of(q, dir) : NULL;
    auto_buf struct buf out = BUF_INIT(8 * (size_t)LOGS_MAX);
    int64_t cursor = 0;

    if (!dir)
        return;
    if (!status) {
        request_fail(q, 404, "no such execution");
        return;
    }
    (void)str_to_i64(request_param(q, "cursor"), &cursor);
    auto_close int fd = io_open(below(q, dir, "log"), O_RDONLY, 0);
    char *text = arena_alloc(&q->arena, LOGS_MAX);
    ssize_t n = fd >= 0 && text && cursor >= 0 ? pread(fd, text, LOGS_MAX, cursor) : 0;
    size_t len = n > 0 ? (size_t)n : 0;
    if (strcmp(status, "running") == 0 || len == LOGS_MAX)
        len = whole_characters(text, len);
    (void)buf_printf(&out, "{\"status\":\"%s\",\"logs\":", status);
    (void)json_write_str(&out, str_n(text, len));
    (void)buf_printf(&out, ",\"cursor\":%lld}",
                     (long long)(cursor < 0 ? 0 : cursor) + (long long)len);
    if (buf_ok(&out))
        request_reply(q, "application/json", buf_str(&out));
    else
        request_fail(q, 500, "out of memory");
}

void execution_row_pack(struct request *q)
{
    const char *dir = find_dir(q);

    if (dir && !execution_status_of(q, dir))
        request_fail(q, 404, "no such execution");
    else if (dir)
        archive_pack(q, below(q, dir, "code"));
}
