/* SPDX-License-Identifier: MIT */
/* An archive on its way into the sandbox of a build, a piece at a time: see build_internal.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/build_internal.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "core/sandbox_set.h"
#include "loop/spool.h"
#include "net/http_client.h"
#include "runtime/engine.h"
#include "sys/io.h"

struct build_copy {
    struct build_run *run;
    struct spool_reader *reader;
    struct http_call *call;
    bool is_waiting; /* for a piece */
    bool is_sent;
    int status;
    struct err e;
    build_done_fn *fn;
};

static void finish_copy(struct build_copy *c)
{
    build_done_fn *fn = c->fn;
    struct build_run *run = c->run;
    struct err e = c->e;

    run->copy = NULL;
    spool_reader_free(c->reader);
    free(c);
    fn(run, e.code ? &e : NULL);
}

static void send_more(struct build_copy *c);

static void on_build_copy_piece(void *ctx, struct str piece, int result)
{
    struct build_copy *c = ctx;

    c->is_waiting = false;
    if (result < 0) {
        (void)err_sys(&c->e, result, "read the files of a step");
        http_call_abort(take(c->call));
        finish_copy(c);
        return;
    }
    if (piece.len == 0) {
        c->is_sent = true;
        http_call_end(c->call);
        return;
    }
    (void)http_call_write(c->call, piece.p, piece.len);
    send_more(c);
}

static void send_more(struct build_copy *c)
{
    if (c->is_waiting || c->is_sent || http_call_is_full(c->call))
        return;
    c->is_waiting = true;
    spool_read(c->reader, on_build_copy_piece, c);
}

static void on_build_copy_drain(struct http_call *call, void *ctx)
{
    (void)call;
    send_more(ctx);
}

static void on_build_copy_head(struct http_call *call, void *ctx, const struct http_head *head)
{
    struct build_copy *c = ctx;

    (void)call;
    c->status = head->status;
}

static int on_build_copy_data(struct http_call *call, void *ctx, const char *p, size_t len)
{
    (void)call;
    (void)ctx;
    (void)p;
    (void)len;
    return 0;
}

static void on_build_copy_end(struct http_call *call, void *ctx, int result, const char *why)
{
    struct build_copy *c = ctx;

    (void)call;
    c->call = NULL;
    if (result < 0)
        (void)err_set(&c->e, result, "the files could not be sent to the sandbox: %s", why);
    else if (c->status >= 300)
        (void)err_set(&c->e, -EIO, "the files could not be written in the sandbox (status %d)",
                      c->status);
    finish_copy(c);
}

struct build_copy *build_copy_begin(struct build_run *run, const char *path, const char *to,
                                    build_done_fn *fn, struct err *e)
{
    static const struct http_call_ops ops = {.on_head = on_build_copy_head,
                                             .on_data = on_build_copy_data,
                                             .on_drain = on_build_copy_drain,
                                             .on_end = on_build_copy_end};
    static const struct http_header headers[] = {
        {STR_INIT("Content-Type"), STR_INIT("application/octet-stream")}};
    struct core *core = run->build->set->core;
    struct engine *engine = sandboxes_engine(core->sandboxes, e);
    struct build_copy *c = mem_zalloc(1, sizeof *c);
    auto_close int fd = io_open(path, O_RDONLY, 0);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !engine || !c || !run->sb->cell) {
        free(c);
        (void)err_set(e, fd < 0 ? -ENOENT : -EIO,
                      fd < 0 ? "its files were not uploaded" : "the sandbox of the build is gone");
        return NULL;
    }
    struct str target = arena_printf(&run->arena, "/fs/upload?path=%s", to);
    const struct http_request request = {.address = engine_cell_address(run->sb->cell),
                                         .method = STR("POST"),
                                         .target = target,
                                         .host = STR("cell"),
                                         .headers = headers,
                                         .n_headers = ARRAY_LEN(headers),
                                         .is_streamed = true,
                                         .length = (int64_t)st.st_size};
    *c = (struct build_copy){.run = run, .fn = fn};
    c->reader = spool_reader_new(run->build->set->workers, core->loop, take_fd(fd), 0,
                                 (uint64_t)st.st_size);
    c->call = c->reader ? http_client_call(engine_http(engine), &request, &ops, c, e) : NULL;
    if (!c->call) {
        spool_reader_free(c->reader);
        free(c);
        return NULL;
    }
    send_more(c);
    return c;
}

void build_copy_drop(struct build_copy *c)
{
    if (!c)
        return;
    if (c->call)
        http_call_abort(c->call);
    spool_reader_free(c->reader);
    free(c);
}
