/* SPDX-License-Identifier: MIT */
/* POST /api/v1/backup: a backup of everything, streamed while a thread reads it. */
#include "core/backup_take.h"

#include <errno.h>
#include <stdlib.h>

#include "api/native/native.h"
#include "api/req.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "loop/work.h"

enum { PIECE_MAX = 8 << 20 };

struct backup_sending {
    struct api_req *r;
    struct backup_take *take;
    struct work work;
    struct buf piece;
    struct err err;
    int result;      /* of backup_next() */
    bool is_reading; /* the thread has it */
    bool is_gone;    /* the client left */
    bool is_begun;   /* the answer */
    bool is_done, is_ending;
};

static void go_on_sending(struct backup_sending *s);

/* The copies are gone: whoever got the answer may ask for the next backup. */
static void on_ended(void *ctx)
{
    struct backup_sending *s = ctx;
    struct api_req *r = s->r;
    struct err why = s->err;
    bool is_begun = s->is_begun, is_done = s->is_done;

    buf_done(&s->piece);
    free(s);
    if (!is_begun)
        /* The operator asks: he may know why. */
        api_error(r, 500, "%s", err_text(&why));
    else if (is_done)
        http_end(r->http);
    else
        http_abort(r->http);
}

static void finish_sending(struct backup_sending *s, bool is_done)
{
    s->is_done = is_done;
    s->is_ending = true;
    backup_take_end(s->take, is_done, on_ended, s);
}

/* On the thread. */
static void run_next(struct work *w)
{
    struct backup_sending *s = container_of(w, struct backup_sending, work);

    buf_clear(&s->piece);
    s->result = backup_next(backup_take_file(s->take), &s->piece, &s->err);
}

static void on_sending_next(struct work *w)
{
    struct backup_sending *s = container_of(w, struct backup_sending, work);

    s->is_reading = false;
    /* The answer has begun: what it cannot report any more, the log does. */
    if (s->result < 0)
        s->r->cause = arena_printf(s->r->arena, "backup: %s", err_text(&s->err));
    bool is_sent =
        !s->is_gone && s->result >= 0 && http_write(s->r->http, s->piece.p, s->piece.len) == 0;
    if (is_sent && s->result > 0)
        go_on_sending(s);
    else
        finish_sending(s, is_sent);
}

static void on_sending_drain(struct http_req *h, void *ctx)
{
    (void)h;
    go_on_sending(ctx);
}

static void go_on_sending(struct backup_sending *s)
{
    if (s->is_reading || s->is_ending)
        return;
    if (http_is_full(s->r->http) && !s->is_gone) {
        http_on_drain(s->r->http, on_sending_drain, s);
        return;
    }
    s->work = (struct work){.run = run_next, .done = on_sending_next};
    s->is_reading = true;
    if (backup_take_run(s->take, &s->work) == 0)
        return;
    s->is_reading = false;
    finish_sending(s, false);
}

static void on_sending_abort(struct http_req *h)
{
    struct backup_sending *s = h->abort_ctx;

    s->is_gone = true;
    go_on_sending(s); /* whose next piece ends it */
}

static void on_backup_taken(void *ctx, struct backup_take *t, const struct err *e)
{
    struct backup_sending *s = ctx;
    struct api_req *r = s->r;

    s->take = t;
    if (e) {
        s->err = *e;
        finish_sending(s, false);
        return;
    }
    (void)http_add_header(r->http, "Cache-Control", STR("private, no-store"));
    (void)http_add_header(
        r->http, "Tidepool-Size",
        arena_printf(r->arena, "%llu", (unsigned long long)backup_size(backup_take_file(t))));
    s->is_begun = true;
    r->http->on_abort = on_sending_abort;
    r->http->abort_ctx = s;
    http_start(r->http, 200, "application/x-tar", -1);
    go_on_sending(s);
}

void native_backup(struct api_req *r)
{
    struct backup_sending *s = mem_zalloc(1, sizeof *s);
    struct err e = ERR_INIT;

    if (!s) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    s->r = r;
    buf_init(&s->piece, PIECE_MAX);
    if (backup_take(r->core, str_is(api_query(r, "archives"), "true"), on_backup_taken, s, &e))
        return;
    buf_done(&s->piece);
    free(s);
    if (e.code == -EBUSY)
        api_error(r, 409, "%s", err_text(&e));
    else
        api_fail(r, e.code, &e);
}
