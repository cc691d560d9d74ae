/* SPDX-License-Identifier: MIT */
/* A directory as tar.gz: made by the cell's own tar, which keeps what this program would have to
 * write itself out of it, and runs beside other requests. Its output is passed on as fast as the
 * peer reads. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/fs.h"

enum { ERROR_TEXT_MAX = 300, PENDING_BYTES = 256 << 10 };

struct archive {
    struct proc_watch watch;
    struct http_req *req;
    bool has_begun;
    char text[ERROR_TEXT_MAX]; /* the beginning of its complaints */
    size_t len;
};

static void archive_free(struct archive *a)
{
    proc_watch_stop(&a->watch);
    free(a);
}

static void take_chunk(struct archive *a, const struct ring_chunk *c)
{
    if (c->source == PROC_STDERR) {
        size_t room = sizeof a->text - 1 - a->len, len = c->len < room ? c->len : room;
        memcpy(a->text + a->len, c->data, len);
        a->len += len;
        return;
    }
    if (!a->has_begun)
        http_start(a->req, 200, "application/gzip", -1);
    a->has_begun = true;
    (void)http_write(a->req, c->data, c->len);
}

/* 1: some files changed or vanished while they were read; the archive is whole. */
static bool is_good(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) <= 1;
}

static void finish_fs_archive(struct archive *a, int status)
{
    struct http_req *r = a->req;

    if (!a->has_begun)
        serve_fail_text(r, 500, "tar: %s", a->len ? a->text : "no output");
    else if (is_good(status))
        http_end(r);
    else
        http_abort(r);
    archive_free(a);
}

static void on_fs_archive_progress(struct proc_watch *watch);

static void on_fs_archive_drain(struct http_req *r, void *ctx)
{
    struct archive *a = ctx;

    (void)r;
    on_fs_archive_progress(&a->watch);
}

static void on_fs_archive_progress(struct proc_watch *watch)
{
    struct archive *a = container_of(watch, struct archive, watch);

    for (;;) {
        if (a->has_begun && http_is_full(a->req)) {
            http_on_drain(a->req, on_fs_archive_drain, a);
            return;
        }
        const struct ring_chunk *c = proc_watch_read(watch);
        if (!c)
            break;
        take_chunk(a, c);
    }
    const struct proc_end *end = proc_end(watch->proc);
    if (end)
        finish_fs_archive(a, end->status);
}

static void on_fs_archive_abort(struct http_req *r)
{
    struct archive *a = r->user;

    proc_kill_all(a->watch.proc);
    if (a->has_begun)
        http_end(r);
    else
        http_reply(r, 499, NULL, STR(""));
    archive_free(a);
}

/* Holes are not read: a file of terabytes that was never written would take days to say nothing. */
static char **make_fs_archive_argv(struct arena *arena, const char *path)
{
    const char *const words[] = {"tar", "-C", fs_dir(arena, path), "--sparse", "-czf",
                                 "-",   "--", fs_base(path)};
    char **argv = arena_zalloc(arena, ARRAY_LEN(words) + 1, sizeof *argv);

    for (size_t i = 0; argv && i < ARRAY_LEN(words); i++) {
        argv[i] = words[i] ? arena_strdup(arena, words[i]) : NULL;
        if (!argv[i])
            return NULL;
    }
    return argv;
}

void fs_archive(struct serve *s, struct http_req *r, const char *path)
{
    struct proc_args args = {.user = "root",
                             .cwd = "/",
                             .argv = make_fs_archive_argv(r->arena, path),
                             .ring_bytes = PENDING_BYTES};
    struct str name = arena_printf(r->arena, "%s.tar.gz", fs_base(path));
    struct archive *a = mem_zalloc(1, sizeof *a);
    struct err e = ERR_INIT;

    if (!a || !args.argv || !name.p) {
        free(a);
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    struct proc *p = proc_start(&s->procs, &args, &e);
    if (!p) {
        free(a);
        serve_fail(r, 500, &e);
        return;
    }
    (void)fs_add_disposition(r, name);
    a->req = r;
    a->watch.fn = on_fs_archive_progress;
    r->user = a;
    r->on_abort = on_fs_archive_abort;
    proc_watch_start(p, &a->watch, 1);
}
