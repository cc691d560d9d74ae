/* SPDX-License-Identifier: MIT */
/* Pools: see pool.h.
 *
 * One timer (`tend`) fills all pools, AT_ONCE members at a time: who is handed a member wants to
 * run something in it, and cells that are made meanwhile take the same processors. A pool whose
 * members fail waits RETRY_MS, twice as long after each failure in a row, and keeps the reason for
 * its figures; one success forgets that.
 *
 * A member that is handed out is no longer the pool's: its cell becomes the sandbox's, and what was
 * started in it stays. */
#include "core/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/disk_guard.h"
#include "core/event.h"
#include "core/metrics.h"
#include "core/pool_member.h"
#include "core/sandbox_internal.h"
#include "core/templates.h"
#include "runtime/engine.h"

enum {
    AT_ONCE = 2,      /* members that are made at the same time, of all pools */
    REFILL_MS = 10,   /* after a hand-out: first comes the command of who got it */
    LOOK_MS = 1000,   /* between looks for outdated members */
    RETRY_MS = 1000,  /* after a failure, doubled by each */
    RETRY_MAX = 64,   /* times RETRY_MS at most */
    TOTAL_MAX = 1024, /* members of all pools */
};

struct pool {
    struct list node;                /* by name */
    const struct template *template; /* a reference */
    struct list members;             /* oldest first */
    unsigned n_ready, n_building;
    uint64_t hits, misses, n_filled, n_failed;
    int64_t fill_us;
    int64_t retry_ms;    /* not before this time */
    int64_t asked_ms;    /* when a sandbox was asked for; 0: never */
    unsigned n_failures; /* in a row */
    struct err fault;
};

struct pools {
    struct core *core;
    struct list all, asks; /* struct pool; see pool_member.h */
    struct loop_timer tend, look;
    unsigned n_members, n_building;
    struct pool gone; /* what pools that are gone have counted */
    int64_t filled_us;
    bool is_stopped;
};

/* ---- finding ---- */

static struct pool *find_pool(const struct pools *p, struct str name)
{
    list_each(node, &p->all)
    {
        struct pool *one = list_entry(node, struct pool, node);
        if (str_is(name, one->template->name))
            return one;
    }
    return NULL;
}

/* How many members there should be now. */
static unsigned wanted_of(const struct pool *of)
{
    const struct template_pool *p = &of->template->pool;
    bool is_wanted = !p->is_on_demand ||
                     (of->asked_ms > 0 && clock_mono_ms() - of->asked_ms < (int64_t)POOL_DEMAND_MS);

    return is_wanted ? p->size : 0;
}

/* ---- members ---- */

static void tend_later(struct pools *p, int64_t delay_ms);

static void forget_member(struct pools *p, struct pool *of, struct pool_member *m)
{
    if (m->is_ready)
        of->n_ready--;
    else {
        of->n_building--;
        p->n_building--;
    }
    p->n_members--;
    list_del(&m->node);
    pool_member_free(m);
}

static void end_members(struct pools *p, struct pool *of)
{
    list_each(node, &of->members) forget_member(p, of, list_entry(node, struct pool_member, node));
}

static void on_pool_noted(struct store_tx *tx, int result, void *ctx)
{
    (void)tx;
    (void)result;
    (void)ctx;
}

static void note_event(struct pools *p, enum event_reason reason, const char *name,
                       const char *text)
{
    struct store_tx *tx = store_tx_new();

    /* Nobody waits for it. */
    event_add(tx, reason, STR_NULL, str_of(name), "%s %s", text, name);
    if (tx)
        store_tx_put_off(tx);
    (void)store_submit(p->core->store, tx, p->core->loop, on_pool_noted, NULL);
}

static void note_pool_failure(struct pools *p, struct pool *of, const struct err *e)
{
    unsigned times = of->n_failures < 6 ? 1U << of->n_failures : RETRY_MAX;

    of->fault = *e;
    of->n_failed++;
    of->n_failures++;
    of->retry_ms = clock_mono_ms() + (int64_t)RETRY_MS * times;
    tend_later(p, (int64_t)RETRY_MS * times);
}

static void on_pool_member(void *ctx, struct pool_member *m, const struct err *e)
{
    struct pools *p = ctx;
    struct pool *of = m->pool;

    if (e) {
        note_pool_failure(p, of, e);
        forget_member(p, of, m);
        return;
    }
    m->is_ready = true;
    of->n_building--;
    p->n_building--;
    of->n_ready++;
    of->n_filled++;
    of->n_failures = 0;
    of->fault = (struct err)ERR_INIT;
    of->fill_us = clock_mono_us() - m->began_us;
    p->filled_us += of->fill_us;
    note_event(p, EVENT_POOL_REPLENISHED, of->template->name, "A sandbox is ready in the pool of");
    tend_later(p, 0);
}

static int add_pool_member(struct pools *p, struct pool *of)
{
    struct err e = ERR_INIT;
    const struct pool_member_args args = {.core = p->core,
                                          .template = of->template,
                                          .asks = &p->asks,
                                          .fn = on_pool_member,
                                          .ctx = p};
    struct pool_member *m = pool_member_new(&args, &e);

    if (!m) {
        note_pool_failure(p, of, &e);
        return -EIO;
    }
    m->pool = of;
    list_append(&of->members, &m->node);
    of->n_building++;
    p->n_building++;
    p->n_members++;
    return pool_member_begin(m);
}

/* ---- tending ---- */

static bool has_pool_room(const struct pools *p)
{
    return p->n_members < TOTAL_MAX && p->n_building < AT_ONCE;
}

static void fill_pool(struct pools *p, struct pool *of)
{
    int64_t now_ms = clock_mono_ms();

    if (of->retry_ms > now_ms) {
        tend_later(p, of->retry_ms - now_ms);
        return;
    }
    while (has_pool_room(p) && of->n_ready + of->n_building < wanted_of(of))
        if (add_pool_member(p, of) < 0)
            return;
}

static void on_tend(struct loop_timer *t)
{
    struct pools *p = container_of(t, struct pools, tend);

    if (p->is_stopped || !sandboxes_engine(p->core->sandboxes, NULL))
        return;
    if (disk_guard_check(p->core->disk_guard, NULL) < 0) {
        tend_later(p, RETRY_MS);
        return;
    }
    list_each(node, &p->all) fill_pool(p, list_entry(node, struct pool, node));
}

static void tend_later(struct pools *p, int64_t delay_ms)
{
    int64_t due_ms = clock_mono_ms() + delay_ms;

    if (p->is_stopped || (p->tend.loop && p->tend.due_ms <= due_ms))
        return;
    (void)loop_timer_start(p->core->loop, &p->tend, delay_ms, on_tend);
}

/* What the host has installed may have changed since they were built. */
static void on_pool_look(struct loop_timer *t)
{
    struct pools *p = container_of(t, struct pools, look);

    list_each(pool_node, &p->all)
    {
        struct pool *of = list_entry(pool_node, struct pool, node);
        bool is_wanted = wanted_of(of) > 0;
        list_each(node, &of->members)
        {
            struct pool_member *m = list_entry(node, struct pool_member, node);
            if (m->is_ready && (!is_wanted || pool_member_is_outdated(m)))
                forget_member(p, of, m);
        }
    }
    tend_later(p, 0);
    (void)loop_timer_start(p->core->loop, t, LOOK_MS, on_pool_look);
}

/* ---- following the templates ---- */

static void pool_free(struct pools *p, struct pool *of)
{
    end_members(p, of);
    p->gone.hits += of->hits;
    p->gone.misses += of->misses;
    p->gone.n_filled += of->n_filled;
    p->gone.n_failed += of->n_failed;
    list_del(&of->node);
    template_release(of->template);
    free(of);
}

static void add_pool(struct pools *p, const struct template *t)
{
    struct pool *of = mem_zalloc(1, sizeof *of);
    struct list *at = p->all.prev;

    if (!of)
        return;
    of->template = template_hold(t);
    list_init(&of->members);
    while (at != &p->all && strcmp(list_entry(at, struct pool, node)->template->name, t->name) > 0)
        at = at->prev;
    list_add(at, &of->node);
}

/* Members go on when their template says the same as before. */
static void replace_template(struct pools *p, struct pool *of, const struct template *t)
{
    bool is_same = json_equal(of->template->doc, t->doc);
    unsigned size = of->template->pool.size;

    if (!is_same || t->pool.size < size)
        end_members(p, of);
    template_release(of->template);
    of->template = template_hold(t);
    of->retry_ms = 0;
    of->n_failures = 0;
    list_each(node, &of->members) pool_member_follow(list_entry(node, struct pool_member, node), t);
}

/* Brings the pools in line with the templates that there are now. */
static void pools_sync(struct pools *p)
{
    const struct template_list *all = templates_list(p->core->templates);
    const struct template *t;

    if (p->is_stopped)
        return;
    list_each(node, &p->all)
    {
        struct pool *of = list_entry(node, struct pool, node);
        t = template_list_find(all, str_of(of->template->name));
        bool is_kept = t && strcmp(t->name, of->template->name) == 0 && t->pool.size > 0;
        if (is_kept)
            replace_template(p, of, t);
        else
            pool_free(p, of);
    }
    for (size_t i = 0; (t = template_list_at(all, i)); i++)
        if (t->pool.size > 0 && !find_pool(p, str_of(t->name)))
            add_pool(p, t);
    tend_later(p, 0);
    if (!list_is_empty(&p->all) && !p->look.loop)
        (void)loop_timer_start(p->core->loop, &p->look, LOOK_MS, on_pool_look);
}

static void on_templates(void *ctx)
{
    pools_sync(ctx);
}

/* ---- the set ---- */

struct pools *pools_open(struct core *c, struct err *e)
{
    struct pools *p = mem_zalloc(1, sizeof *p);

    if (!p) {
        (void)err_sys(e, -ENOMEM, "pools");
        return NULL;
    }
    p->core = c;
    list_init(&p->all);
    list_init(&p->asks);
    templates_watch(c->templates, on_templates, p);
    pools_sync(p);
    return p;
}

void pools_stop(struct pools *p)
{
    if (!p || p->is_stopped)
        return;
    p->is_stopped = true;
    templates_watch(p->core->templates, NULL, NULL);
    loop_timer_stop(&p->tend);
    loop_timer_stop(&p->look);
    list_each(node, &p->all) pool_free(p, list_entry(node, struct pool, node));
}

void pools_free(struct pools *p)
{
    if (!p)
        return;
    pools_stop(p);
    pool_asks_free(&p->asks);
    free(p);
}

/* ---- handing out ---- */

static struct pool_member *find_ready(const struct pool *of, const struct sandbox *sb)
{
    list_each(node, &of->members)
    {
        struct pool_member *m = list_entry(node, struct pool_member, node);
        if (m->is_ready && pool_member_fits(m, sb))
            return m;
    }
    return NULL;
}

bool pools_take(struct pools *p, struct sandbox *sb)
{
    struct pool *of = p && sb->is_plain ? find_pool(p, str_of(sb->template->name)) : NULL;
    bool is_taken = false;

    if (!of || of->template != sb->template)
        return false;
    of->asked_ms = clock_mono_ms();
    for (struct pool_member *m; !is_taken && (m = find_ready(of, sb));) {
        is_taken = pool_member_give(m, sb) == 0;
        forget_member(p, of, m);
    }
    if (is_taken) {
        of->hits++;
        note_event(p, EVENT_POOL_ACQUIRED, of->template->name,
                   "A sandbox was taken from the pool of");
    } else
        of->misses++;
    tend_later(p, REFILL_MS);
    return is_taken;
}

void pools_on_gone(struct pools *p, const struct engine_cell *c)
{
    if (!p)
        return;
    list_each(pool_node, &p->all)
    {
        struct pool *of = list_entry(pool_node, struct pool, node);
        list_each(node, &of->members)
        {
            struct pool_member *m = list_entry(node, struct pool_member, node);
            if (m->sb->cell != c)
                continue;
            m->sb->cell = NULL;
            struct err e = ERR_INIT;
            (void)err_set(&e, -ECONNRESET, "the cell of a member died");
            note_pool_failure(p, of, &e);
            forget_member(p, of, m);
            return;
        }
    }
}

/* ---- showing ---- */

bool pools_at(const struct pools *p, size_t i, struct pool_info *ret)
{
    list_each(node, &p->all)
    {
        const struct pool *of = list_entry(node, struct pool, node);
        if (i-- > 0)
            continue;
        *ret = (struct pool_info){.template = of->template,
                                  .n_ready = of->n_ready,
                                  .n_building = of->n_building,
                                  .hits = of->hits,
                                  .misses = of->misses,
                                  .n_filled = of->n_filled,
                                  .fill_us = of->fill_us,
                                  .fault = of->fault.code ? err_text(&of->fault) : NULL};
        return true;
    }
    return false;
}

const struct sandbox *pools_member(const struct pools *p, struct str name, size_t i)
{
    const struct pool *of = find_pool(p, name);

    if (!of)
        return NULL;
    list_each(node, &of->members)
    {
        const struct pool_member *m = list_entry(node, struct pool_member, node);
        if (m->is_ready && i-- == 0)
            return m->sb;
    }
    return NULL;
}

int pools_drain(struct pools *p, struct str name)
{
    struct pool *of = find_pool(p, name);

    if (!of)
        return -ENOENT;
    int n = (int)(of->n_ready + of->n_building);
    end_members(p, of);
    of->retry_ms = 0;
    note_event(p, EVENT_POOL_DELETED, of->template->name, "The members were ended of the pool of");
    tend_later(p, REFILL_MS);
    return n;
}

void pools_sample(const struct pools *p)
{
    struct metrics *m = p->core->metrics;
    struct pool sum = p->gone;
    unsigned wanted = 0;

    list_each(node, &p->all)
    {
        const struct pool *of = list_entry(node, struct pool, node);
        wanted += wanted_of(of);
        sum.n_ready += of->n_ready;
        sum.n_building += of->n_building;
        sum.hits += of->hits;
        sum.misses += of->misses;
        sum.n_filled += of->n_filled;
        sum.n_failed += of->n_failed;
    }
    metrics_set(m, METRIC_POOL_SIZE, wanted);
    metrics_set(m, METRIC_POOL_READY, sum.n_ready);
    metrics_set(m, METRIC_POOL_BUILDING, sum.n_building);
    metrics_set(m, METRIC_POOL_HITS, (int64_t)sum.hits);
    metrics_set(m, METRIC_POOL_MISSES, (int64_t)sum.misses);
    metrics_set(m, METRIC_POOL_FILLED, (int64_t)sum.n_filled);
    metrics_set(m, METRIC_POOL_FILL_TIME, p->filled_us);
    metrics_set(m, METRIC_POOL_FAILURES, (int64_t)sum.n_failed);
}
