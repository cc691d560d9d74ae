/* SPDX-License-Identifier: MIT */
/* The stock of cells that are kept ready.
 *
 * Building a cell and letting it rehearse take the processors from those who use cells. So, while
 * somebody does, one cell after the other is built, and only when a processor has nothing to do,
 * though that is not waited for for ever: a client that creates, uses and deletes one sandbox after
 * the other leaves such moments, and takes no more cells than are made in them. The fewer are left,
 * the less is waited for. When nobody has used a cell for a moment a few are made at once, and let
 * rehearse. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "runtime/engine_internal.h"

enum {
    RETRY_MS = 500,
    REFILL_MS = 8,  /* after a claim: first comes the command of who was just given a cell */
    QUIET_MS = 300, /* a busy client may need as long between two requests */
    LATE_MS = 2000, /* no wait is longer */
    IDLE_MS = 4,    /* between looks for an idle processor */
    AT_ONCE = 2,
    AT_ONCE_LOW = 4,
    LOW_SHARE = 16, /* less than this part of the stock is little */
    N_AVERAGES = 3, /* of the load, in /proc/loadavg */
};

/* ---- when ---- */

static void on_stock_retry(struct loop_timer *t)
{
    engine_retry(container_of(t, struct engine, retry));
}

void engine_retry_later(struct engine *en)
{
    (void)loop_timer_start(en->loop, &en->retry, RETRY_MS, on_stock_retry);
}

static void retry_in(struct engine *en, int64_t delay_ms)
{
    if (!en->retry.loop)
        (void)loop_timer_start(en->loop, &en->retry, delay_ms, on_stock_retry);
}

void engine_note_use(struct engine *en)
{
    en->used_ms = clock_mono_ms();
}

static bool is_full(const struct engine *en)
{
    return en->n_stock >= en->options.stock;
}

static bool is_low(const struct engine *en)
{
    return en->n_stock <= 1 || LOW_SHARE * en->n_stock < en->options.stock;
}

/* Whether a processor has nothing to do. This thread is one of those that run. */
static bool has_idle_cpu(struct engine *en)
{
    char text[64];
    uint64_t n_running = 0;

    if (en->load_fd < 0)
        return false;
    ssize_t n = pread(en->load_fd, text, sizeof text - 1, 0);
    struct str rest = str_n(text, n > 0 ? (size_t)n : 0);
    for (int i = 0; i < N_AVERAGES; i++) /* then "RUNNING/ALL" */
        (void)str_cut(&rest, ' ');
    return str_to_u64(str_cut(&rest, '/'), &n_running) == 0 &&
           n_running <= (uint64_t)CPU_COUNT(&en->cpus.all);
}

/* How many cells may be made, or rehearse, at the same time now. */
static unsigned how_many(struct engine *en)
{
    int64_t now_ms = clock_mono_ms();

    if (en->n_stock == 0)
        return UINT_MAX;
    if (!is_full(en) && is_low(en))
        return AT_ONCE_LOW;
    if (now_ms - en->used_ms >= QUIET_MS) {
        en->waits_ms = 0;
        return AT_ONCE;
    }
    if (!is_full(en) && has_idle_cpu(en))
        return 1;
    if (en->waits_ms == 0)
        en->waits_ms = now_ms;
    return now_ms - en->waits_ms >= LATE_MS ? AT_ONCE : 0;
}

/* ---- making ---- */

static void refill_stock(struct engine *en, unsigned at_once)
{
    while (en->n_stock_building < at_once &&
           en->n_stock + en->n_stock_building < en->options.stock) {
        struct building *b = mem_zalloc(1, sizeof *b);
        if (b)
            b->spec = en->options.stock_spec;
        if (!b || engine_ask_for(en, b) < 0) {
            free(b);
            engine_retry_later(en);
            return;
        }
        en->n_stock_building++;
    }
}

/* Every answer comes back here for the next one. False: there is nothing left to do. */
static bool rehearse(struct engine *en, unsigned at_once)
{
    unsigned n = 0;

    list_each(node, &en->stock)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        if (c->is_rehearsed && c->n_ahead == 0)
            continue;
        if (n++ >= at_once)
            break;
        if (!c->is_rehearsed)
            (void)engine_rehearse(c);
    }
    return n > 0;
}

void engine_stock_tend(struct engine *en)
{
    if (!en->spawner->io.loop || en->options.stock == 0)
        return;
    unsigned at_once = how_many(en);
    bool is_behind = !is_full(en);

    if (is_behind)
        refill_stock(en, at_once);
    else
        is_behind = rehearse(en, at_once);
    if (is_behind && at_once == 0)
        retry_in(en, is_full(en) ? QUIET_MS : IDLE_MS);
}

/* ---- taking ---- */

static bool fits(const struct cell_spec *a, const struct cell_spec *b)
{
    return strcmp(a->template_name, b->template_name) == 0 && a->disk.kind == b->disk.kind &&
           a->disk.bytes == b->disk.bytes;
}

struct engine_cell *engine_stock_take(struct engine *en, const struct cell_spec *spec)
{
    list_each(node, &en->stock)
    {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        /* The spawner's word that it died may still be on its way. */
        if (!fits(&c->info.spec, spec) || !engine_cell_is_alive(c))
            continue;
        list_del(node);
        en->n_stock--;
        c->spawner->n_stock--;
        en->counts.hits++;
        return c;
    }
    en->counts.misses++;
    return NULL;
}

struct engine_stock_counts engine_stock_counts(const struct engine *en)
{
    return en->counts;
}

void engine_stock_drop(struct engine *en)
{
    for (struct list *node; (node = list_pop(&en->stock));) {
        struct engine_cell *c = list_entry(node, struct engine_cell, node);
        en->n_stock--;
        c->spawner->n_stock--;
        engine_drop(c);
    }
}

void engine_stock_taken(struct engine *en)
{
    engine_note_use(en);
    if (en->n_stock == 0)
        engine_stock_tend(en);
    else
        retry_in(en, REFILL_MS);
}

void engine_stock_add(struct engine *en, struct engine_cell *c)
{
    en->n_stock_building--;
    if (!c) {
        engine_retry_later(en);
        return;
    }
    list_append(&en->stock, &c->node);
    en->n_stock++;
    c->spawner->n_stock++;
    (void)engine_cell_egress(c);
    engine_stock_tend(en);
}
