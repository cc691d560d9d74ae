/* SPDX-License-Identifier: MIT */
/* POST /files/compose of the E2B protocol: several files become one, in the order in which they are
 * named. The new file has its name when it is complete; only then do the others go. Copying is done
 * a piece at a time, with other requests between. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "envd/e2b_files.h"
#include "envd/fs.h"
#include "envd/path.h"
#include "envd/serve_internal.h"
#include "sys/io.h"

enum { SOURCES_MAX = 1000, PIECE = 4 << 20, CHUNK = 64 << 10, ANSWER_MAX = 64 << 10 };

struct compose {
    struct loop_timer timer;
    struct http_req *req;
    struct user user;
    const char *to, *temp; /* paths, in the request's arena */
    const char **from;
    size_t n, at; /* sources, and which one is being copied */
    int in, out, dir;
    bool has_temp, cannot_clone;
};

static void compose_free(struct compose *c)
{
    loop_timer_stop(&c->timer);
    close_p(&c->in);
    close_p(&c->out);
    if (c->has_temp)
        (void)unlink(c->temp);
    close_p(&c->dir);
    free(c);
}

static void fail_compose(struct compose *c, int status, int code, const char *what)
{
    e2b_fail(c->req, status, "%s: %s", what, path_errno(code));
    compose_free(c);
}

static void finish_compose(struct compose *c)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);
    struct stat st;

    if (stat(c->to, &st) == 0 && S_ISDIR(st.st_mode)) {
        fail_compose(c, 400, EISDIR, "error renaming composed file");
        return;
    }
    if (rename(c->temp, c->to) < 0) {
        fail_compose(c, 500, errno, "error renaming composed file");
        return;
    }
    c->has_temp = false;
    for (size_t i = 0; i < c->n; i++)
        (void)unlink(c->from[i]);
    e2b_files_put(&w, c->req->arena, c->to);
    e2b_json(c->req, &b);
    compose_free(c);
}

/* ---- copying ---- */

/* Some bytes of the source: how many, 0 at its end, or -errno. */
static ssize_t copy_some(struct compose *c)
{
    char chunk[CHUNK];

    if (!c->cannot_clone) {
        ssize_t n = copy_file_range(c->in, NULL, c->out, NULL, PIECE, 0);
        if (n >= 0 || errno == ENOSPC || errno == EDQUOT || errno == EIO)
            return n < 0 ? -errno : n;
        /* Two file systems, or one that cannot. */
        c->cannot_clone = true;
    }
    ssize_t total = 0, n;
    while (total < PIECE && (n = io_read(c->in, chunk, sizeof chunk)) != 0) {
        int r = n < 0 ? (int)n : io_write_all(c->out, chunk, (size_t)n);
        if (r < 0)
            return r;
        total += n;
    }
    return total;
}

/* Goes to the next source. 0, or -errno. */
static int open_source(struct compose *c)
{
    c->in = fs_open(c->from[c->at]);
    return c->in < 0 ? c->in : 0;
}

static void on_compose_turn(struct loop_timer *t)
{
    struct compose *c = container_of(t, struct compose, timer);
    int code = c->in < 0 ? open_source(c) : 0;
    ssize_t n = code < 0 ? code : copy_some(c);

    if (n < 0) {
        fail_compose(c, e2b_files_status((int)n), (int)n, "error composing files");
        return;
    }
    if (n == 0) {
        (void)close(take_fd(c->in));
        if (++c->at == c->n) {
            finish_compose(c);
            return;
        }
    }
    if (loop_timer_start(c->req->loop, &c->timer, 0, on_compose_turn) < 0)
        fail_compose(c, 500, ENOMEM, "error composing files");
}

static void on_compose_abort(struct http_req *r)
{
    compose_free(r->user);
    http_reply(r, 499, NULL, STR(""));
}

/* ---- the request ---- */

/* False: answered. */
static bool check_compose_source(struct compose *c, const char *path)
{
    struct stat st;

    if (strcmp(path, c->to) == 0) {
        e2b_fail(c->req, 400, "destination must not be one of the source paths: %s", path);
        return false;
    }
    if (stat(path, &st) < 0) {
        e2b_fail(c->req, errno == ENOENT ? 404 : 500, "source file not found: %s", path);
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        e2b_fail(c->req, 400, "source path is not a regular file: %s", path);
        return false;
    }
    return true;
}

/* False: answered. */
static bool take_paths(struct compose *c, struct serve *s, const struct json *body)
{
    const struct json *list = json_get(body, "source_paths");
    struct str to = json_str(json_get(body, "destination"), STR(""));
    size_t n = json_is(list, JSON_ARRAY) ? list->n : 0;

    if (n == 0 || n > SOURCES_MAX) {
        e2b_fail(c->req, 400, n ? "too many source_paths" : "source_paths must not be empty");
        return false;
    }
    if (to.len == 0) {
        e2b_fail(c->req, 400, "destination is required");
        return false;
    }
    if (!e2b_files_user(s, c->req, json_str(json_get(body, "username"), STR("")), &c->user))
        return false;
    c->to = e2b_files_path(s, c->req, to, &c->user);
    c->from = arena_zalloc(c->req->arena, n, sizeof *c->from);
    if (!c->to)
        return false;
    for (; c->from && c->n < n; c->n++) {
        struct str path = json_str(json_at(list, c->n), STR(""));
        c->from[c->n] = e2b_files_path(s, c->req, path, &c->user);
        if (!c->from[c->n] || !check_compose_source(c, c->from[c->n]))
            return false;
    }
    if (!c->from)
        e2b_fail(c->req, 500, "out of memory");
    return c->from != NULL;
}

/* The file that will be it. False: answered. */
static bool make_temp(struct compose *c)
{
    struct err e = ERR_INIT;
    char hex[33];
    struct arena *a = c->req->arena;
    const char *dir = path_dir(a, c->to);

    id_hex(hex, 32);
    c->temp = arena_printf(a, "%s.e2b-compose.%.8s-%.4s-%.4s-%.4s-%s.tmp", c->to, hex, hex + 8,
                           hex + 12, hex + 16, hex + 20)
                  .p;
    c->dir = dir ? path_open_dir(dir, c->user.uid, c->user.gid, &e) : -ENOMEM;
    if (c->dir < 0 || !c->temp) {
        e2b_fail(c->req, 500, "error ensuring directories: %s", err_text(&e));
        return false;
    }
    c->out = e2b_files_create(c->dir, c->temp, &c->user, &e);
    if (c->out < 0)
        e2b_fail(c->req, e2b_files_status(e.code), "%s", err_text(&e));
    c->has_temp = c->out >= 0;
    return c->has_temp;
}

static void on_compose_request(struct serve *s, struct http_req *r, const struct json *body)
{
    struct compose *c = mem_zalloc(1, sizeof *c);

    if (!c) {
        e2b_fail(r, 500, "out of memory");
        return;
    }
    c->req = r;
    c->in = c->out = c->dir = -1;
    if (!take_paths(c, s, body) || !make_temp(c)) {
        compose_free(c);
        return;
    }
    r->user = c;
    r->on_abort = on_compose_abort;
    if (loop_timer_start(r->loop, &c->timer, 0, on_compose_turn) < 0)
        fail_compose(c, 500, ENOMEM, "error composing files");
}

void e2b_files_compose(struct serve *s, struct http_req *r)
{
    serve_read_json(s, r, on_compose_request);
}
