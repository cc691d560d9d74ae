/* SPDX-License-Identifier: MIT */
/* GET and PUT /volumecontent/{id}/file: the bytes of a file, a piece at a time. A new file gets its
 * name when all of it is written. */
#include <errno.h>

#include "api/e2b/volume_content.h"
#include "api/internal.h"
#include "base/cleanup.h"
#include "core/disk_guard.h"
#include "loop/spool.h"

/* ---- reading ---- */

struct volume_file_reading {
    struct api_req *r;
    struct spool_reader *reader;
    bool is_waiting, is_gone;
};

static void read_next_piece(struct volume_file_reading *g);

static void on_volume_file_piece(void *ctx, struct str piece, int result)
{
    struct volume_file_reading *g = ctx;

    g->is_waiting = false;
    bool is_over = result < 0 || piece.len == 0 || g->is_gone;
    if (!is_over && http_write(g->r->http, piece.p, piece.len) == 0) {
        read_next_piece(g);
        return;
    }
    spool_reader_free(take(g->reader));
    if (result < 0)
        http_abort(g->r->http);
    else
        http_end(g->r->http);
}

static void on_volume_file_drain(struct http_req *h, void *ctx)
{
    (void)h;
    read_next_piece(ctx);
}

static void read_next_piece(struct volume_file_reading *g)
{
    if (g->is_waiting)
        return;
    if (http_is_full(g->r->http) && !g->is_gone) {
        http_on_drain(g->r->http, on_volume_file_drain, g);
        return;
    }
    g->is_waiting = true;
    spool_read(g->reader, on_volume_file_piece, g);
}

static void on_reader_left(struct http_req *h)
{
    struct volume_file_reading *g = h->abort_ctx;

    g->is_gone = true;
    read_next_piece(g); /* whose next piece ends it */
}

static int act_open(struct volume_job *j, int root, struct err *e)
{
    j->fd = volume_read(root, j->path, &j->size, e);
    return j->fd;
}

static void answer_bytes(struct volume_job *j)
{
    struct api_req *r = j->r;
    struct volume_file_reading *g = arena_new(r->arena, struct volume_file_reading);
    uint64_t size = j->size;

    if (g)
        *g = (struct volume_file_reading){
            .r = r, .reader = spool_reader_new(j->pool, r->core->loop, j->fd, 0, size)};
    else
        (void)close(j->fd);
    e2b_volume_job_free(j);
    if (!g || !g->reader) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    r->http->on_abort = on_reader_left;
    r->http->abort_ctx = g;
    http_start(r->http, 200, "application/octet-stream", (int64_t)size);
    read_next_piece(g);
}

void e2b_volume_read(struct api_req *r)
{
    struct volume_job *j = e2b_volume_job(r);

    if (!j)
        return;
    j->act = act_open;
    j->answer = answer_bytes;
    e2b_volume_submit(j);
}

/* ---- writing ---- */

struct writing {
    struct api_req *r;
    struct volume_job *job; /* not while it is submitted and waited for by its answer */
    struct spool *spool;
    bool is_ended;  /* all of it has come, or never will */
    bool is_broken; /* it never will */
};

static void end_writing(struct writing *g)
{
    struct volume_job *j = take(g->job);

    spool_drop(take(g->spool));
    if (!j)
        return;
    if (j->fd >= 0)
        (void)close(j->fd);
    if (j->dir >= 0)
        (void)close(j->dir);
    e2b_volume_job_free(j);
}

static void fail_writing(struct writing *g, int code, const struct err *e)
{
    g->is_ended = true;
    end_writing(g);
    e2b_volume_fail(g->r, code, e);
}

static void fail_write(struct writing *g, int code)
{
    struct err e = ERR_INIT;

    if (code == -ENOSPC || code == -EDQUOT)
        code = err_set(&e, -ENOSPC, "the volume is full");
    else
        (void)err_sys(&e, code, "write");
    fail_writing(g, code, &e);
}

static void on_volume_file_room(void *ctx)
{
    struct writing *g = ctx;

    if (!g->is_ended)
        http_body_resume(g->r->http);
}

static int on_volume_file_data(struct http_req *h, void *ctx, const char *p, size_t len)
{
    struct writing *g = ctx;
    int r = spool_write(g->spool, p, len);

    if (r < 0) {
        fail_write(g, r);
        return r;
    }
    if (spool_is_full(g->spool)) {
        http_body_pause(h);
        spool_on_room(g->spool, on_volume_file_room, g);
    }
    return 0;
}

static int act_publish(struct volume_job *j, int root, struct err *e)
{
    int r = volume_publish(j->fd, j->dir, j->path, &j->meta, e);

    (void)close(j->fd);
    (void)close(j->dir);
    return r < 0 ? r : volume_stat(&j->arena, root, j->path, &j->entry, e);
}

static void answer_published(struct volume_job *j)
{
    e2b_volume_show(j, 201);
}

static void on_volume_file_written(void *ctx, int result)
{
    struct writing *g = ctx;

    if (result < 0) {
        fail_write(g, result);
        return;
    }
    struct volume_job *j = take(g->job);
    j->act = act_publish;
    j->answer = answer_published;
    e2b_volume_submit(j);
}

static void on_volume_file_end(struct http_req *h, void *ctx)
{
    struct writing *g = ctx;

    (void)h;
    g->is_ended = true;
    spool_end(take(g->spool), on_volume_file_written, g);
}

/* The client left, or what it sends is malformed. */
static void on_writer_left(struct http_req *h)
{
    struct writing *g = h->abort_ctx;

    if (g->is_ended)
        return;
    g->is_ended = true;
    end_writing(g);
    api_error(g->r, h->fault ? h->fault : 400, "The upload is incomplete");
}

static int act_begin(struct volume_job *j, int root, struct err *e)
{
    j->fd = volume_begin(root, j->path, &j->meta, &j->dir, e);
    return j->fd;
}

/* The spool owns the descriptor that it writes to; the job keeps another one to publish. */
static void start_writing(struct volume_job *j)
{
    static const struct http_body_sink sink = {.on_data = on_volume_file_data,
                                               .on_end = on_volume_file_end};
    struct api_req *r = j->r;
    struct writing *g = arena_new(r->arena, struct writing);
    int fd = dup(j->fd);

    if (g)
        *g = (struct writing){.r = r, .job = j};
    if (g && fd >= 0)
        g->spool = spool_new(j->pool, r->core->loop, fd);
    else if (fd >= 0)
        (void)close(fd);
    if (!g || !g->spool) {
        struct writing nobody = {.r = r, .job = j};
        fail_write(g ? g : &nobody, -ENOMEM);
        return;
    }
    r->http->on_abort = on_writer_left;
    r->http->abort_ctx = g;
    http_stream_body(r->http, UINT64_MAX, &sink, g);
}

void e2b_volume_write(struct api_req *r)
{
    struct volume_meta meta;
    struct err e = ERR_INIT;
    int code = disk_guard_check(r->core->disk_guard, &e);

    if (code < 0) {
        e2b_volume_fail(r, code, &e);
        return;
    }
    if (e2b_read_meta(r, &meta) < 0)
        return;
    struct volume_job *j = e2b_volume_job(r);
    if (!j)
        return;
    j->fd = j->dir = -1;
    j->meta = meta;
    j->act = act_begin;
    j->answer = start_writing;
    e2b_volume_submit(j);
}
