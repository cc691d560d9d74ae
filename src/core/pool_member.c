/* SPDX-License-Identifier: MIT */
/* Members of pools: see pool_member.h. */
#include "core/pool_member.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/sandbox_internal.h"
#include "core/sandbox_start.h"
#include "core/sandbox_template.h"
#include "core/template.h"
#include "runtime/engine_assign.h"

DEFINE_CLEANUP(struct pool_member *, pool_member_free)

/* Whom a cell is for, while it is built; the member may be gone when it comes. */
struct pool_ask {
    struct list node;
    struct pool_member *member; /* or NULL */
};

/* ---- what it is ---- */

static void put_resources(struct sandbox_args *args, const struct template_resources *r)
{
    const struct {
        struct str *to, from;
    } rows[] = {{&args->cpu, r->cpu},
                {&args->memory, r->memory},
                {&args->cpu_limit, r->cpu_limit},
                {&args->memory_limit, r->memory_limit}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].from.len > 0)
            *rows[i].to = rows[i].from;
}

/* As a create without any wish, with what the template says of members. */
static int fill_sandbox(struct pool_member *m, const struct template *t, struct err *e)
{
    struct sandbox_args args = {.template_name = str_of(t->name)};
    struct arena a auto_arena;

    arena_init(&a, 2L * SANDBOX_SPEC_MAX);
    id_hex(m->sb->id, SANDBOX_ID_LEN);
    put_resources(&args, &t->pool.resources);
    if (t->pool.warmup.len > 0) {
        args.cmd = STR("/bin/sh");
        args.args = t->pool.warmup_args;
    }
    int r = sandbox_resolve(m->sb, &args, &a, e);
    if (r == 0)
        r = sandbox_fill(m->sb, &args, e);
    if (r < 0)
        return r;
    m->sb->is_plain = true;
    (void)snprintf(m->sb->name, sizeof m->sb->name, "pool-%.30s-%.12s", t->name, m->sb->id);
    (void)snprintf(m->sb->cell_spec.hostname, sizeof m->sb->cell_spec.hostname, "%s", m->sb->name);
    return sandbox_add_identity(m->sb);
}

struct pool_member *pool_member_new(const struct pool_member_args *args, struct err *e)
{
    struct pool_member *m auto_(pool_member_free) = mem_zalloc(1, sizeof *m);

    if (m) {
        list_init(&m->node);
        buf_init(&m->body, 4L * SANDBOX_SPEC_MAX);
        m->args = *args;
        m->sb = sandbox_new(args->core->sandboxes);
    }
    if (!m || !m->sb) {
        (void)err_sys(e, -ENOMEM, "pool");
        return NULL;
    }
    int r = fill_sandbox(m, args->template, e);
    if (r < 0 && !e->code)
        (void)err_sys(e, r, "pool");
    return r < 0 ? NULL : take(m);
}

void pool_member_free(struct pool_member *m)
{
    if (!m)
        return;
    if (m->ask)
        m->ask->member = NULL;
    if (m->claim)
        http_call_abort(m->claim);
    sandbox_start_abort(m->start);
    buf_done(&m->body);
    if (m->sb && m->sb->cell)
        engine_cell_kill(take(m->sb->cell));
    sandbox_unref(m->sb);
    free(m);
}

/* ---- its way to being ready ---- */

static void member_fail(struct pool_member *m, struct err *e, int code, const char *what)
{
    if (!e->code)
        (void)err_sys(e, code, "%s", what);
    m->args.fn(m->args.ctx, m, e);
}

static void on_pool_member_started(void *ctx, const struct err *e)
{
    struct pool_member *m = ctx;

    m->start = NULL;
    if (!e)
        m->sb->created_us = m->sb->started_us = clock_real_us();
    m->args.fn(m->args.ctx, m, e);
}

static void on_pool_member_claimed(void *ctx, const struct http_response *r)
{
    struct pool_member *m = ctx;
    const struct sandbox_start_args args = {
        .sb = m->sb, .for_pool = true, .fn = on_pool_member_started, .ctx = m};
    struct err e = ERR_INIT;

    m->claim = NULL;
    if (sandbox_read_answer(r, &e) < 0)
        member_fail(m, &e, -EIO, "the cell refused");
    else if (!(m->start = sandbox_start_begin(&args)))
        member_fail(m, &e, -ENOMEM, "pool");
}

static void on_pool_member_cell(void *ctx, struct engine_cell *cell, const struct err *why)
{
    struct pool_ask *ask auto_free = ctx;
    struct pool_member *m = ask->member;
    struct err e = ERR_INIT;

    list_del(&ask->node);
    if (!m) {
        if (cell)
            engine_cell_kill(cell);
        return;
    }
    m->ask = NULL;
    if (!cell) {
        e = *why;
        member_fail(m, &e, -EIO, "cell");
        return;
    }
    m->sb->cell = cell;
    m->root = engine_root_stamp(m->args.core->sandboxes->engine);
    if (sandbox_open_network(m->sb, &e) == 0) {
        sandbox_put_claim(&m->body, m->sb, true);
        m->claim = sandbox_post(m->sb, STR("/claim"), &m->body, on_pool_member_claimed, m);
    }
    if (!m->claim)
        member_fail(m, &e, -ECONNRESET, "the cell could not be reached");
}

int pool_member_begin(struct pool_member *m)
{
    struct err e = ERR_INIT;
    struct engine *engine = sandboxes_engine(m->args.core->sandboxes, &e);
    struct pool_ask *ask = engine ? mem_zalloc(1, sizeof *ask) : NULL;

    m->began_us = clock_mono_us();
    if (ask) {
        ask->member = m;
        list_append(m->args.asks, &ask->node);
        m->ask = ask;
        /* On success M may be gone already. */
        int r = engine_create(engine, m->sb->id, &m->sb->cell_spec, on_pool_member_cell, ask, &e);
        if (r == 0)
            return 0;
        m->ask = NULL;
        list_del(&ask->node);
        free(ask);
    }
    member_fail(m, &e, -ENOMEM, "pool");
    return -EIO;
}

void pool_asks_free(struct list *asks)
{
    for (struct list *node; (node = list_pop(asks));)
        free(list_entry(node, struct pool_ask, node));
}

/* ---- handing out ---- */

void pool_member_follow(struct pool_member *m, const struct template *t)
{
    template_release(m->sb->template);
    m->sb->template = template_hold(t);
}

bool pool_member_is_outdated(const struct pool_member *m)
{
    return m->root != engine_root_stamp(m->args.core->sandboxes->engine);
}

bool pool_member_fits(const struct pool_member *m, const struct sandbox *sb)
{
    const struct cell_spec *a = &m->sb->cell_spec, *b = &sb->cell_spec;

    return m->sb->cell && engine_cell_is_alive(m->sb->cell) &&
           strcmp(a->template_name, b->template_name) == 0 && a->disk.kind == b->disk.kind &&
           a->disk.bytes == b->disk.bytes && str_eq(m->sb->spec.image, sb->spec.image) &&
           str_eq(m->sb->spec.user, sb->spec.user) && !pool_member_is_outdated(m);
}

int pool_member_give(struct pool_member *m, struct sandbox *sb)
{
    struct engine_cell *cell = take(m->sb->cell);
    int r = engine_cell_assign(cell, sb->id, &sb->cell_spec, NULL);

    if (r < 0)
        engine_cell_kill(cell);
    else
        sb->cell = cell;
    return r;
}
