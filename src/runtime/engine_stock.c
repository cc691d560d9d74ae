/* SPDX-License-Identifier: MIT */
/* The stock of cells that are kept ready.
 *
 * Building a cell and letting it rehearse take the processors from those who use cells. So, while
 * enough are left, both wait until nobody has asked for or used one for a moment, though not for
 * ever; then few are made at once, because somebody may come back. The fewer are left, the less is
 * waited for. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "runtime/engine_internal.h"

enum {
    RETRY_MS = 500,
    REFILL_MS = 8,  /* after a claim: first comes the command of who was just given a cell */
    QUIET_MS = 300, /* a busy client may need as long between two requests */
    LATE_MS = 2000, /* no wait is longer */
    AT_ONCE = 2,
    AT_ONCE_LOW = 4,
    LOW_SHARE = 16, /* less than this part of the stock is little */
};

/* ---- when ---- */

static void on_retry(struct loop_timer *t)
{
    engine_retry(container_of(t, struct engine, retry));
}

void engine_retry_later(struct engine *en)
{
    (void)loop_timer_start(en->loop, &en->retry, RETRY_MS, on_retry);
}

static void retry_in(struct engine *en, int64_t delay_ms)
{
    if (!en->retry.loop)
        (void)loop_timer_start(en->loop, &en->retry, delay_ms, on_retry);
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
    if (en->waits_ms == 0)
        en->waits_ms = now_ms;
    return now_ms - en->waits_ms >= LATE_MS ? AT_ONCE : 0;
}

/* ---- making ---- */

static void refill(struct engine *en, unsigned at_once)
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
        refill(en, at_once);
    else
        is_behind = rehearse(en, at_once);
    if (is_behind && at_once == 0)
        retry_in(en, QUIET_MS);
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
        return c;
    }
    return NULL;
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
