/* SPDX-License-Identifier: MIT */
#include "api/local/transfer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/local/ask.h"
#include "api/local/local.h"
#include "api/local/vault.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "core/sandbox.h"
#include "loop/spool.h"
#include "net/http_client.h"

enum { TEXT_MAX = 1 << 20 };

struct moving {
    struct transfer t;
    struct sandbox *sb; /* a reference, and held */
    struct http_call *call;
    struct spool_reader *reader;
    struct spool *spool; /* what the answer is written to */
    bool is_reading;
    int status;
    uint64_t n_answer;
    struct buf text;
    char address[SANDBOX_ID_LEN + 16];
};

static void finish_transfer(struct moving *m, int status, struct str text)
{
    transfer_fn *fn = m->t.fn;
    void *ctx = m->t.ctx;

    if (m->call)
        http_call_abort(m->call);
    spool_reader_free(m->reader);
    spool_drop(m->spool);
    if (m->t.body_fd >= 0)
        (void)close(m->t.body_fd);
    if (m->t.answer_fd >= 0)
        (void)close(m->t.answer_fd);
    sandbox_release(m->sb);
    sandbox_unref(m->sb);
    fn(ctx, status, text);
    buf_done(&m->text);
    free(m);
}

static void fail_transfer(struct moving *m, const char *why)
{
    struct str text =
        arena_printf(m->t.arena, "the tools of this sandbox do not respond (%s)", why);

    finish_transfer(m, 0, text.p ? text : STR("out of memory"));
}

/* ---- the body ---- */

static void pump_transfer(struct moving *m);

static void on_transfer_piece(void *ctx, struct str piece, int result)
{
    struct moving *m = ctx;

    m->is_reading = false;
    if (result < 0) {
        finish_transfer(m, 0, STR("the archive could not be read"));
        return;
    }
    if (!m->call)
        return; /* the answer came before; its end is under way */
    if (piece.len == 0) {
        spool_reader_free(take(m->reader));
        (void)http_call_end(m->call);
        return;
    }
    if (http_call_write(m->call, piece.p, piece.len) == 0)
        pump_transfer(m);
}

static void pump_transfer(struct moving *m)
{
    if (!m->reader || m->is_reading || http_call_is_full(m->call))
        return;
    m->is_reading = true;
    spool_read(m->reader, on_transfer_piece, m);
}

static void on_transfer_drain(struct http_call *c, void *ctx)
{
    (void)c;
    pump_transfer(ctx);
}

/* ---- the answer ---- */

static void on_transfer_head(struct http_call *c, void *ctx, const struct http_head *head)
{
    struct moving *m = ctx;

    (void)c;
    m->status = head->status;
}

static void on_transfer_room(void *ctx)
{
    struct moving *m = ctx;

    if (m->call)
        http_call_resume(m->call);
}

static int on_transfer_data(struct http_call *c, void *ctx, const char *p, size_t len)
{
    struct moving *m = ctx;

    m->n_answer += len;
    if (!m->spool || m->status != 200)
        return buf_add(&m->text, p, len);
    if (m->n_answer > m->t.max_answer)
        return -EFBIG;
    if (m->t.use && vault_use_take(m->t.use, (int64_t)len) < 0)
        return -EUSERS;
    int r = spool_write(m->spool, p, len);
    if (r == 0 && spool_is_full(m->spool)) {
        http_call_pause(c);
        spool_on_room(m->spool, on_transfer_room, m);
    }
    return r;
}

static void on_transfer_written(void *ctx, int result)
{
    struct moving *m = ctx;

    m->spool = NULL;
    if (result == -ENOSPC || result == -EDQUOT)
        finish_transfer(m, 507, STR("no space left for the archive"));
    else if (result < 0)
        finish_transfer(m, 0, STR("the archive could not be written"));
    else
        finish_transfer(m, m->status, STR(""));
}

static void on_transfer_end(struct http_call *c, void *ctx, int result, const char *why)
{
    struct moving *m = ctx;

    (void)c;
    m->call = NULL;
    if (result == -EFBIG)
        finish_transfer(m, 413, STR("the archive is larger than the service allows"));
    else if (result == -EUSERS)
        finish_transfer(m, 429,
                        STR("capacity exceeded: your account has its maximum of archives, please "
                            "release some local sandboxes"));
    else if (result == -ENOSPC || result == -EDQUOT)
        finish_transfer(m, 507, STR("no space left for the archive"));
    else if (result < 0)
        fail_transfer(m, why);
    else if (m->spool && m->status == 200)
        spool_end(m->spool, on_transfer_written, m);
    else
        finish_transfer(m, m->status, buf_str(&m->text));
}

/* ---- the beginning ---- */

static bool prepare_transfer(struct moving *m)
{
    struct loop *loop = locals_loop(m->t.locals);
    struct work_pool *pool = vault_pool(locals_vault(m->t.locals));
    bool is_ok = true;

    if (m->t.body_fd >= 0) {
        m->reader = spool_reader_new(pool, loop, take_fd(m->t.body_fd), 0, m->t.body_len);
        is_ok = m->reader != NULL;
    }
    if (m->t.answer_fd >= 0) {
        m->spool = spool_new(pool, loop, take_fd(m->t.answer_fd));
        is_ok = is_ok && m->spool;
    }
    return is_ok;
}

/* The program is there: now what is large. */
static void on_ready(void *ctx, struct str body, const char *why)
{
    static const struct http_call_ops ops = {.on_head = on_transfer_head,
                                             .on_data = on_transfer_data,
                                             .on_drain = on_transfer_drain,
                                             .on_end = on_transfer_end};
    struct moving *m = ctx;
    struct err e = ERR_INIT;

    (void)body;
    if (why) {
        finish_transfer(m, 0, str_of(why));
        return;
    }
    if (!prepare_transfer(m)) {
        finish_transfer(m, 0, STR("out of memory"));
        return;
    }
    const struct http_request rq = {
        .address = m->address,
        .method = STR_INIT("POST"),
        .target = m->t.target,
        .host = STR_INIT("localhost"),
        .is_streamed = m->reader != NULL,
        .length = (int64_t)m->t.body_len,
    };
    m->call = http_client_call(locals_client(m->t.locals), &rq, &ops, m, &e);
    if (!m->call)
        fail_transfer(m, err_text(&e));
    else
        pump_transfer(m);
}

void transfer_start(const struct transfer *t)
{
    struct moving *m = mem_zalloc(1, sizeof *m);

    if (!m) {
        if (t->body_fd >= 0)
            (void)close(t->body_fd);
        if (t->answer_fd >= 0)
            (void)close(t->answer_fd);
        t->fn(t->ctx, 0, STR("out of memory"));
        return;
    }
    m->t = *t;
    m->sb = sandbox_ref(t->sandbox);
    sandbox_hold(m->sb);
    buf_init(&m->text, TEXT_MAX);
    (void)snprintf(m->address, sizeof m->address, "%s:%d", m->sb->id, LOCAL_PORT);
    local_ask(&(struct local_ask){
        .locals = t->locals,
        .sandbox = t->sandbox,
        .arena = t->arena,
        .target = STR("/_echo"),
        .body = STR(""),
        .may_repeat = true,
        .fn = on_ready,
        .ctx = m,
    });
}
