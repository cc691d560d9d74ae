/* SPDX-License-Identifier: MIT */
/* The creation of a sandbox: see sandbox.h. The order is: check, reserve name and quota, take a
 * cell, send the cell its identity and write the row, both at once; the create is acknowledged when
 * both are done. A cell without a row is killed by the next start, so that a create which was not
 * acknowledged leaves nothing.
 *
 *     start_creation ─ reserve_name ─ cell (from a pool, or engine_create)
 *       └ on_creation_cell ─ network ─ [volumes: on_mounted]
 *           └ hand_over_creation ┬ claim ─ on_creation_claimed ─ [on_creation_started]
 *                                └ store ─ on_stored
 *     settle_creation: the last of them to end decides, once
 *
 * Several of these are in progress at the same time, and each may fail while the others go on. None
 * of them ends the creation: they note what went wrong in `e`, clear their own field and call
 * settle_creation(), which does nothing until all are done. So whoever asked is called exactly
 * once, and a row that was written for nothing is taken back (unstore()).
 *
 * The row is written beside the claim only where the cell cannot refuse (may_refuse()). Where it
 * can, the row waits for the cell's answer: a refused create must not have been visible. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/disk_guard.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/metrics.h"
#include "core/pool.h"
#include "core/sandbox_disk.h"
#include "core/sandbox_internal.h"
#include "core/sandbox_start.h"
#include "core/sandbox_template.h"
#include "core/sandbox_volume.h"
#include "net/http_client.h"
#include "runtime/engine.h"

DEFINE_CLEANUP(struct sandbox *, sandbox_unref)

/* In the set's list from sandbox_create() to its end; freed by fail_creation() or succeed(), or
 * when the service closes. A field that is not NULL is a step in progress. */
struct creation {
    struct list node;
    struct sandbox *sb; /* a reference */
    struct sandbox_create rq;
    struct sandbox_mounting *mounting; /* of volumes, before the claim; under way, or NULL */
    struct http_call *claim;           /* under way, or NULL */
    struct buf body;                   /* of the claim */
    struct sandbox_start *start;       /* in progress, or NULL */
    bool is_pooled;                    /* its cell was started before it was asked for */
    bool is_storing, is_stored;        /* the row is on its way; it is written */
    int64_t began_us;
    struct err e; /* what went wrong so far */
};

static void creation_free(struct creation *c)
{
    if (c->claim)
        http_call_abort(c->claim);
    sandbox_mounting_drop(c->mounting);
    sandbox_start_abort(c->start);
    buf_done(&c->body);
    list_del(&c->node);
    sandbox_unref(c->sb);
    free(c);
}

void sandboxes_stop_creations(struct sandboxes *set)
{
    list_each(node, &set->creating)
    {
        struct creation *c = list_entry(node, struct creation, node);
        if (c->claim)
            http_call_abort(take(c->claim));
        sandbox_mounting_drop(take(c->mounting));
        sandbox_start_abort(take(c->start));
    }
}

void sandboxes_drop_creations(struct sandboxes *set)
{
    for (struct list *node; (node = list_pop(&set->creating));)
        creation_free(list_entry(node, struct creation, node));
}

/* ---- how it ends ---- */

/* Nothing stays of it but an event. */
static void fail_creation(struct creation *c, const struct err *e)
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
    metrics_create(sb->set->core->metrics, clock_mono_us() - c->began_us);
    /* After the stop the cell goes on by itself; the next start finds it. */
    if (!sb->set->is_stopped)
        sandbox_begin(sb);
    c->rq.fn(c->rq.ctx, sb, NULL);
    creation_free(c);
}

/* The row was written, though nothing came of it. */
static void unstore(struct sandbox *sb)
{
    struct store_tx *tx = store_tx_new();

    sandbox_tx_undo(tx, sb);
    (void)sandbox_submit(sb, tx, NULL, NULL);
}

/* Goes on when nothing is under way any more. */
static void settle_creation(struct creation *c)
{
    if (c->mounting || c->claim || c->start || c->is_storing)
        return;
    if (c->e.code == 0 && !c->sb->cell && !c->sb->set->is_stopped)
        (void)err_set(&c->e, -ECONNRESET, "the cell died at its start");
    if (c->e.code && c->is_stored)
        unstore(c->sb);
    if (c->e.code)
        fail_creation(c, &c->e);
    else
        succeed(c);
}

/* ---- the row ---- */

static void on_stored(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct creation *c = ctx;

    (void)sb;
    c->is_storing = false;
    c->is_stored = !e;
    if (e)
        c->e = *e;
    settle_creation(c);
}

static void store(struct creation *c)
{
    struct sandbox *sb = c->sb;
    struct store_tx *tx = store_tx_new();

    sandbox_start_clock(sb);
    sb->created_us = sb->started_us;
    sandbox_tx_insert(tx, sb);
    /* It lives no longer than the machine runs. */
    store_tx_sync_later(tx);
    int r = c->rq.record ? c->rq.record(c->rq.ctx, sb, tx) : 0;
    if (r < 0)
        store_tx_free(tx);
    else
        r = sandbox_submit(sb, tx, on_stored, c);
    c->is_storing = r == 0;
    if (r < 0)
        (void)err_sys(&c->e, r, "store");
}

/* ---- the claim: what the cell has to know ---- */

/* A cell refuses a program or a directory that cannot be; then nothing must have been written. */
static bool may_refuse(const struct creation *c)
{
    const struct sandbox *sb = c->sb;

    return sandbox_has_main(sb) || sb->spec.workdir.len > 0 ||
           sandbox_start_is_needed(sb, c->is_pooled);
}

static void on_creation_started(void *ctx, const struct err *e)
{
    struct creation *c = ctx;

    c->start = NULL;
    if (e)
        c->e = *e;
    else
        store(c);
    settle_creation(c);
}

static void start_inside(struct creation *c)
{
    const struct sandbox_start_args args = {
        .sb = c->sb, .has_waited = c->is_pooled, .fn = on_creation_started, .ctx = c};

    c->start = sandbox_start_begin(&args);
    if (!c->start)
        (void)err_sys(&c->e, -ENOMEM, "sandbox %s", c->sb->name);
}

static void on_creation_claimed(void *ctx, const struct http_response *r)
{
    struct creation *c = ctx;

    c->claim = NULL;
    (void)sandbox_read_answer(r, &c->e);
    if (c->e.code == 0 && sandbox_start_is_needed(c->sb, c->is_pooled))
        start_inside(c);
    else if (c->e.code == 0 && !c->is_storing && !c->is_stored)
        store(c);
    settle_creation(c);
}

static void claim(struct creation *c)
{
    buf_init(&c->body, 4L * SANDBOX_SPEC_MAX);
    sandbox_put_claim(&c->body, c->sb, !c->is_pooled);
    c->claim = sandbox_post(c->sb, STR("/claim"), &c->body, on_creation_claimed, c);
    if (!c->claim)
        (void)err_set(&c->e, -ECONNRESET, "the cell could not be reached");
}

/* ---- the steps ---- */

static void hand_over_creation(struct creation *c)
{
    claim(c);
    /* The cell first: the writer of the store may take this processor at once. */
    if (c->claim && !may_refuse(c))
        store(c);
}

static void on_mounted(void *ctx, const struct err *e)
{
    struct creation *c = ctx;

    c->mounting = NULL;
    if (e)
        c->e = *e;
    else if (c->sb->cell)
        hand_over_creation(c);
    settle_creation(c);
}

static void on_creation_cell(void *ctx, struct engine_cell *cell, const struct err *e)
{
    struct creation *c = ctx;

    if (!cell) {
        fail_creation(c, e);
        return;
    }
    c->sb->cell = cell;
    int r = sandbox_open_network(c->sb, &c->e);
    if (r == 0 && sandbox_has_volumes(c->sb))
        c->mounting = sandbox_mount_volumes(c->sb, on_mounted, c, &c->e);
    else if (r == 0)
        hand_over_creation(c);
    settle_creation(c);
}

static int count_creation(struct sandbox *sb, struct err *e)
{
    struct limits *l = sb->set->core->limits;
    struct account *account = sb->key->account;
    int r = limits_take(l, account, LIMIT_ACCOUNT_SANDBOXES, 1, e);

    if (r < 0)
        return r;
    sb->tally = limits_tally(l, account, LIMIT_ACCOUNT_SANDBOXES);
    r = sandbox_take_disk(sb, e);
    if (r < 0)
        return r;
    r = quota_live_begin(&sb->key->use, &sb->key->limits, e);
    sb->is_counted = r == 0;
    return r;
}

static int reserve_name(struct sandbox *sb, struct err *e)
{
    int r = sandbox_enter(sb);

    if (r == -EEXIST)
        return err_set(e, r, "sandbox %s already exists", sb->name);
    if (r < 0)
        return err_sys(e, r, "sandbox %s", sb->name);
    r = count_creation(sb, e);
    if (r < 0) {
        sm_move(&sb->sm, SANDBOX_GONE);
        sandbox_leave(sb);
    }
    return r;
}

/* What was asked for, with what the template and the defaults add to it. */
static int fill_new_sandbox(struct sandbox *sb, const struct sandbox_create *rq, struct err *e)
{
    struct arena arena auto_arena;
    struct sandbox_args args = rq->args;

    arena_init(&arena, 2L * SANDBOX_SPEC_MAX);
    int r = sandbox_resolve(sb, &args, &arena, e);
    if (r == 0)
        r = sandbox_fill(sb, &args, e);
    if (r == 0)
        r = sandboxes_check_asked(sb->set, &args, rq->key->account, e);
    return r < 0 ? r : sandbox_check_disk(sb->set, &args, rq->key->account, e);
}

static int prepare_creation(struct sandbox *sb, const struct sandbox_create *rq, struct err *e)
{
    id_hex(sb->id, SANDBOX_ID_LEN);
    (void)snprintf(sb->key_id, sizeof sb->key_id, "%s", rq->key->id);
    (void)snprintf(sb->account, sizeof sb->account, "%s", rq->key->account->id);
    int r = fill_new_sandbox(sb, rq, e);
    if (r == 0)
        r = sandbox_check_volumes(sb, rq->key->account, e);
    if (r < 0)
        return r;
    sandbox_access_make(&sb->access);
    if (sandbox_add_identity(sb) < 0)
        return -ENOMEM;
    sb->key = account_key_ref(rq->key);
    /* Who asks for nothing gets no more than who does. */
    if (rq->args.timeout_s == 0 && !sandbox_may_last(sb, sb->timeout_s))
        sb->timeout_s = sb->spec.timeout_s = sandbox_max_timeout_s(sb);
    (void)snprintf(sb->cell_spec.hostname, sizeof sb->cell_spec.hostname, "%s", sb->name);
    return 0;
}

static int start_creation(struct creation *c, struct err *e);

/* The name may be free now. */
static void on_holder_gone(void *ctx, struct sandbox *holder, const struct err *why)
{
    struct creation *c = ctx;
    struct err e = ERR_INIT;

    (void)holder;
    (void)why;
    int r = start_creation(c, &e);
    if (r == 0)
        return;
    if (!e.code)
        (void)err_sys(&e, r, "sandbox %s", c->sb->name);
    c->rq.fn(c->rq.ctx, NULL, &e);
    creation_free(c);
}

/* Takes the name, a place in the quota and a cell. A name whose sandbox cannot be found any more
 * does not exist for clients, though it is not free yet: that is waited for. */
static int start_creation(struct creation *c, struct err *e)
{
    struct sandbox *sb = c->sb;
    struct engine *engine = sandboxes_engine(sb->set, e);

    if (!engine)
        return -ENOTCONN;
    struct sandbox *holder = sandbox_holder(sb->set, str_of(sb->name));
    if (holder)
        return sandbox_await(holder, on_holder_gone, c);
    int r = reserve_name(sb, e);
    if (r < 0)
        return r;
    c->is_pooled = pools_take(sb->set->core->pools, sb);
    if (c->is_pooled) {
        on_creation_cell(c, sb->cell, NULL);
        return 0;
    }
    r = engine_create(engine, sb->id, &sb->cell_spec, on_creation_cell, c, e);
    if (r < 0) {
        sm_move(&sb->sm, SANDBOX_GONE);
        sandbox_leave(sb);
    }
    return r;
}

int sandbox_create(struct sandboxes *set, const struct sandbox_create *rq, struct err *e)
{
    struct sandbox *sb auto_(sandbox_unref) = NULL;

    if (!sandboxes_engine(set, e))
        return -ENOTCONN;
    int r = disk_guard_check(set->core->disk_guard, e);
    if (r < 0)
        return r;
    sb = sandbox_new(set);
    struct creation *c = mem_zalloc(1, sizeof *c);
    r = sb && c ? prepare_creation(sb, rq, e) : -ENOMEM;
    if (r < 0) {
        free(c);
        return r;
    }
    c->rq = *rq;
    c->began_us = clock_mono_us();
    c->sb = sandbox_ref(sb);
    list_append(&set->creating, &c->node);
    r = start_creation(c, e);
    if (r < 0)
        creation_free(c);
    return r;
}
