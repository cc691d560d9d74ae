/* SPDX-License-Identifier: MIT */
/* Copies into a sandbox: see cp.h. A directory goes up as an archive beside the other temporary
 * files of the sandbox and is unpacked there by a command. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "cli/cp.h"
#include "cli/quote.h"
#include "sys/io.h"

enum { SCRIPT_MAX = 64 << 10, WALK_FDS = 32 };

static ssize_t read_local(void *ctx, char *p, size_t n)
{
    struct cp *c = ctx;
    ssize_t r = io_read(c->fd, p, n);

    if (r > 0)
        progress_add(&c->progress, (uint64_t)r);
    return r;
}

/* Sends what c->fd has as the file PATH of the sandbox. */
static int send_upload_file(struct cp *c, const char *path, int64_t length, struct err *e)
{
    const struct client_transfer t = {
        .method = "POST",
        .target =
            remote_target(c->remote, "/api/v1/sandbox/files/", c->sandbox, "/upload?path=", path),
        .type = "application/octet-stream",
        .length = length,
        .read = read_local,
        .ctx = c,
    };

    if (!t.target)
        return err_sys(e, -ENAMETOOLONG, "%s", path);
    int r = client_transfer(c->remote->client, &t, e);
    if (r == -EINVAL && !e->code)
        return err_set(e, r, "'%s' shrank while it was being read", c->outside);
    return r;
}

/* ---- commands inside ---- */

/* Runs SCRIPT as USER (NULL: the sandbox's); *ret_data is the answer's. */
static int ask_cell_about_target(struct cp *c, const struct buf *script, const char *user,
                                 const struct json **ret_data, struct err *e)
{
    struct buf body auto_buf = BUF_INIT(8 * SCRIPT_MAX);
    struct jw w = jw_to(&body);
    struct json *doc = NULL;

    jw_object(&w);
    jw_key(&w, "command");
    jw_str(&w, buf_str(script));
    if (user) {
        jw_key(&w, "user");
        jw_cstr(&w, user);
    }
    jw_key(&w, "timeout");
    jw_int(&w, 3600);
    jw_end(&w);
    const struct client_request rq = {
        "POST", remote_target(c->remote, "/api/v1/terminal/sandbox/", c->sandbox), buf_str(&body)};
    if (!buf_ok(script) || !buf_ok(&body))
        return err_sys(e, -ENAMETOOLONG, "%s", c->inside);
    int r = remote_try(c->remote, &rq, &doc, e);
    if (r < 0)
        return r;
    const struct json *data = *ret_data = json_get(doc, "data");
    if (json_int(json_get(data, "exitCode"), 1) == 0)
        return 0;
    struct str why = str_trim(json_str(json_get(data, "errorOutput"), STR("failed")));
    while (str_ends(why, STR("\n")))
        why.len--;
    return err_set(e, -EIO, "in the sandbox: " STR_FMT, STR_ARG(why));
}

/* As root: the files of a copy may go anywhere. */
static int run_inside(struct cp *c, const struct buf *script, struct err *e)
{
    const struct json *data = NULL;

    return ask_cell_about_target(c, script, "root", &data, e);
}

int cp_resolve(struct cp *c, struct err *e)
{
    struct str path = str_of(c->inside);
    bool is_home = str_is(path, "~") || str_starts(path, STR("~/"));
    struct buf script auto_buf = BUF_INIT(SCRIPT_MAX);
    const struct json *data = NULL;

    if (str_starts(path, STR("/")))
        return 0;
    (void)buf_add_str(&script, is_home ? STR("echo ~") : STR("pwd"));
    int r = ask_cell_about_target(c, &script, NULL, &data, e);
    if (r < 0)
        return r;
    struct str start = json_str(json_get(data, "output"), STR("/"));
    while (start.len > 1 && (str_ends(start, STR("\n")) || str_ends(start, STR("/"))))
        start.len--;
    /* "." is the directory itself, which is there. */
    struct str rest = is_home ? str_skip(path, 1) : str_is(path, ".") ? STR("") : path;
    c->inside = arena_printf(&c->remote->arena, STR_FMT "%s" STR_FMT, STR_ARG(start),
                             is_home || str_is(start, "/") ? "" : "/", STR_ARG(rest))
                    .p;
    return c->inside ? 0 : err_sys(e, -ENOMEM, "copy");
}

/* 1 when the path inside is a directory, 0 when not, or -errno. */
static int is_directory(struct cp *c, struct err *e)
{
    const struct client_request rq = {
        "GET", remote_target(c->remote, "/api/v1/sandbox/files/", c->sandbox, "?path=", c->inside),
        STR_NULL};
    struct json *doc = NULL;
    struct err why = ERR_INIT;

    if (str_ends(str_of(c->inside), STR("/")))
        return 1;
    int r = remote_try(c->remote, &rq, &doc, &why);
    if (r == 0)
        return 1;
    /* Refused: no directory, not there, or no such sandbox, which the upload will report. */
    if (r == -ENOENT || r == -EPROTO)
        return 0;
    return err_set(e, r, "%s", err_text(&why));
}

/* ---- a file ---- */

static int set_executable(struct cp *c, const char *path, struct err *e)
{
    struct buf script auto_buf = BUF_INIT(SCRIPT_MAX);

    (void)buf_add_lit(&script, "chmod a+x -- ");
    (void)quote_word(&script, str_of(path));
    return run_inside(c, &script, e);
}

static const char *join_target(struct cp *c, const char *dir, struct str name)
{
    bool has_slash = str_ends(str_of(dir), STR("/"));

    return arena_printf(&c->remote->arena, "%s%s" STR_FMT, dir, has_slash ? "" : "/", STR_ARG(name))
        .p;
}

static int upload_file(struct cp *c, const struct stat *st, struct err *e)
{
    bool is_stdin = str_is(str_of(c->outside), "-");
    const char *path = c->inside;
    int r = is_directory(c, e);

    if (r < 0)
        return r;
    if (r > 0 && is_stdin)
        return err_set(e, -EISDIR, "'%s' is a directory: give a file name for standard input",
                       path);
    if (r > 0)
        path = join_target(c, c->inside, cp_base(c->outside));
    if (!path)
        return err_sys(e, -ENOMEM, "copy");
    int64_t length = S_ISREG(st->st_mode) ? (int64_t)st->st_size : -1;
    progress_start(&c->progress, cp_base(c->outside), length, c->is_quiet);
    r = send_upload_file(c, path, length, e);
    progress_end(&c->progress);
    if (r == 0 && S_ISREG(st->st_mode) && (st->st_mode & 0111))
        r = set_executable(c, path, e);
    return r;
}

/* ---- a directory ---- */

static int64_t walked_bytes; /* nftw() has no other way to return it */

static int add_size(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)path, (void)at;
    walked_bytes += 512;
    if (type == FTW_F && S_ISREG(st->st_mode))
        walked_bytes += (st->st_size + 511) / 512 * 512;
    return 0;
}

/* What the archive of DIR will be about as long as. */
static int64_t size_of(const char *dir)
{
    walked_bytes = 0;
    return nftw(dir, add_size, WALK_FDS, FTW_PHYS) == 0 ? walked_bytes : -1;
}

/* Unpacks TEMP. Like cp -r: into a directory that is there, else as the directory of that name. The
 * archive belongs to the sandbox's user, and so shall what comes out of it. */
static int unpack(struct cp *c, const char *temp, struct str base, struct err *e)
{
    struct buf script auto_buf = BUF_INIT(SCRIPT_MAX);

    (void)buf_add_lit(&script, "set -e; temp=");
    (void)quote_word(&script, str_of(temp));
    (void)buf_add_lit(&script, "; to=");
    (void)quote_word(&script, str_of(c->inside));
    (void)buf_add_lit(&script, "; base=");
    (void)quote_word(&script, base);
    (void)buf_add_lit(&script,
                      "\ntrap 'rm -f \"$temp\"' EXIT\n"
                      "if [ -d \"$to\" ]; then strip=0 new=\"$to/$base\"\n"
                      "else mkdir -p -- \"$to\"; strip=1 new=$to; fi\n"
                      "tar -xf \"$temp\" --no-same-owner --strip-components=$strip -C \"$to\"\n"
                      "chown -hR --reference=\"$temp\" -- \"$new\"\n");
    return run_inside(c, &script, e);
}

static int upload_directory(struct cp *c, struct err *e)
{
    auto_free char *full = realpath(c->outside, NULL);
    struct str base = full ? cp_base(full) : STR_NULL;
    char hex[17], temp[64];

    if (!full)
        return err_sys(e, -errno, "'%s'", c->outside);
    if (str_is(base, "/"))
        return err_set(
            e, -EINVAL,
            "the root directory cannot be copied: give the path of a file or directory below it");
    struct str dir =
        arena_printf(&c->remote->arena, STR_FMT "/", STR_ARG(str_n(full, (size_t)(base.p - full))));
    struct str name = arena_str(&c->remote->arena, base);
    if (!dir.p || !name.p)
        return err_sys(e, -ENOMEM, "copy");
    const char *const argv[] = {"tar", "-C", dir.p, "-cf", "-", "--", name.p, NULL};
    id_hex(hex, sizeof hex - 1);
    (void)snprintf(temp, sizeof temp, "/tmp/.tidepool-cp-%s.tar", hex);
    int r = cp_tar_start(c, argv, true, e);
    if (r < 0)
        return r;
    progress_start(&c->progress, name, size_of(full), c->is_quiet);
    r = send_upload_file(c, temp, -1, e);
    progress_end(&c->progress);
    int tar = cp_tar_wait(c, r < 0 ? NULL : e);
    if (r == 0)
        r = tar;
    return r == 0 ? unpack(c, temp, name, e) : r;
}

int cp_upload(struct cp *c)
{
    bool is_stdin = str_is(str_of(c->outside), "-");
    struct err e = ERR_INIT;
    struct stat st;
    int r = 0;

    c->fd = is_stdin ? dup(STDIN_FILENO) : io_open(c->outside, O_RDONLY, 0);
    if (c->fd < 0 || fstat(c->fd, &st) < 0)
        r = err_sys(&e, c->fd < 0 && !is_stdin ? c->fd : -errno, "'%s'", c->outside);
    else if (S_ISDIR(st.st_mode)) {
        close_p(&c->fd);
        c->fd = -1;
        r = upload_directory(c, &e);
    } else {
        r = upload_file(c, &st, &e);
    }
    return r < 0 ? remote_fail(c->remote, r, &e) : CLI_OK;
}
