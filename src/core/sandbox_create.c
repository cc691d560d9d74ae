/* SPDX-License-Identifier: MIT */
/* The creation of a sandbox: see sandbox.h. The order is: check, reserve name and quota, take a
 * cell, write the row; the create is acknowledged when that is durable. A cell without a row is
 * killed by the next start, so that a create which was not acknowledged leaves nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/event.h"
#include "core/metrics.h"
#include "core/sandbox_internal.h"
#include "runtime/engine.h"

DEFINE_CLEANUP(struct sandbox *, sandbox_unref)

struct creation {
    struct list node;
    struct sandbox *sb; /* a reference */
    struct sandbox_create rq;
};

static void creation_free(struct creation *c)
{
    list_del(&c->node);
    sandbox_unref(c->sb);
    free(c);
}

void sandboxes_drop_creations(struct sandboxes *set)
{
    for (struct list *node; (node = list_pop(&set->creating));)
        creation_free(list_entry(node, struct creation, node));
}

/* ---- how it ends ---- */

/* Nothing stays of it but an event. */
static void fail(struct creation *c, const struct err *e)
{
    struct sandbox *sb = c->sb;
    struct store_tx *tx = store_tx_new();

    metrics_add(sb->set->core->metrics, METRIC_SANDBOX_CREATE_FAILURES, 1);
    event_add(tx, EVENT_SANDBOX_CREATE_FAILED, str_of(sb->account), str_of(sb->name),
              "Sandbox %s could not be created: %s", sb->name, err_text(e));
    (void)sandbox_submit(sb, tx, NULL, NULL);
    if (sb->cell)
        engine_cell_kill(take(sb->cell));
    sm_move(&sb->sm, SANDBOX_GONE);
    sandbox_leave(sb);
    c->rq.fn(c->rq.ctx, NULL, e);
    creation_free(c);
}

static void succeed(struct creation *c)
{
    struct sandbox *sb = c->sb;

    metrics_add(sb->set->core->metrics, METRIC_SANDBOX_CREATES, 1);
    /* After the stop the cell goes on by itself; the next start finds it. */
    if (!sb->set->is_stopped)
        sandbox_begin(sb);
    c->rq.fn(c->rq.ctx, sb, NULL);
    creation_free(c);
}

static void on_stored(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct creation *c = ctx;
    struct err gone = ERR_INIT;

    if (!e && !sb->cell && !sb->set->is_stopped) {
        /* It died while its row was written. */
        (void)err_set(&gone, -ECONNRESET, "the cell died at its start");
        struct store_tx *tx = store_tx_new();
        sb->end_reason = SANDBOX_END_FAILED;
        sandbox_tx_delete(tx, sb);
        (void)sandbox_submit(sb, tx, NULL, NULL);
        e = &gone;
    }
    if (e)
        fail(c, e);
    else
        succeed(c);
}

/* ---- the steps ---- */

static void store(struct creation *c)
{
    struct sandbox *sb = c->sb;
    struct err e = ERR_INIT;
    struct store_tx *tx = store_tx_new();

    sandbox_start_clock(sb);
    sb->created_us = sb->started_us;
    sandbox_tx_insert(tx, sb);
    int r = c->rq.record ? c->rq.record(c->rq.ctx, sb, tx) : 0;
    if (r < 0)
        store_tx_free(tx);
    else
        r = sandbox_submit(sb, tx, on_stored, c);
    if (r < 0) {
        (void)err_sys(&e, r, "store");
        fail(c, &e);
    }
}

static void on_cell(void *ctx, struct engine_cell *cell, const struct err *e)
{
    struct creation *c = ctx;

    if (!cell) {
        fail(c, e);
        return;
    }
    c->sb->cell = cell;
    store(c);
}

static int count(struct sandbox *sb, struct err *e)
{
    int r = quota_live_begin(&sb->key->use, &sb->key->limits, e);

    sb->is_counted = r == 0;
    return r;
}

static int reserve(struct sandbox *sb, struct err *e)
{
    int r = sandbox_enter(sb);

    if (r == -EEXIST)
        return err_set(e, r, "sandbox %s already exists", sb->name);
    if (r < 0)
        return err_sys(e, r, "sandbox %s", sb->name);
    r = count(sb, e);
    if (r < 0) {
        sm_move(&sb->sm, SANDBOX_GONE);
        sandbox_leave(sb);
    }
    return r;
}

static int prepare(struct sandbox *sb, const struct sandbox_create *rq, struct err *e)
{
    int r = sandbox_fill(sb, &rq->args, e);

    if (r == 0)
        r = sandbox_name(sb, &rq->args, e);
    if (r < 0)
        return r;
    id_hex(sb->id, SANDBOX_ID_LEN);
    if (sandbox_add_identity(sb) < 0)
        return -ENOMEM;
    sb->key = account_key_ref(rq->key);
    (void)snprintf(sb->key_id, sizeof sb->key_id, "%s", rq->key->id);
    (void)snprintf(sb->account, sizeof sb->account, "%s", rq->key->account->id);
    (void)snprintf(sb->cell_spec.hostname, sizeof sb->cell_spec.hostname, "%s", sb->name);
    return reserve(sb, e);
}

int sandbox_create(struct sandboxes *set, const struct sandbox_create *rq, struct err *e)
{
    struct engine *engine = sandboxes_engine(set, e);
    struct sandbox *sb auto_(sandbox_unref) = NULL;

    if (!engine)
        return -ENOTCONN;
    sb = sandbox_new(set);
    struct creation *c = mem_zalloc(1, sizeof *c);
    int r = sb && c ? prepare(sb, rq, e) : -ENOMEM;
    if (r < 0) {
        free(c);
        return r;
    }
    c->rq = *rq;
    c->sb = sandbox_ref(sb);
    list_append(&set->creating, &c->node);
    r = engine_create(engine, sb->id, &sb->cell_spec, on_cell, c, e);
    if (r < 0) {
        sm_move(&sb->sm, SANDBOX_GONE);
        sandbox_leave(sb);
        creation_free(c);
    }
    return r;
}
