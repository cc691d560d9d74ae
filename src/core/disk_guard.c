/* SPDX-License-Identifier: MIT */
/* The guard of free space: see disk_guard.h. A thread looks and, when it has to, holds the disks at
 * once; the loop's thread only learns of it. */
#include "core/disk_guard.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/event.h"
#include "core/metrics.h"
#include "core/sandbox_set.h"
#include "loop/work.h"
#include "runtime/disk_hold.h"
#include "runtime/engine.h"
#include "store/store.h"

enum {
    LOOK_MIN_MS = 20,
    LOOK_LOW_MS = 100,
    LOOK_MAX_MS = 1000,
    RATE_BYTES_MS = 4 << 20, /* the fastest writers: 4 GiB a second */
    RESERVE_PART = 16,       /* of a file system, where the setting is more */
    RETURN_PART = 4,         /* of the reserve has to be left above it before disks grow again */
    RETURN_LOOKS = 10,       /* that see it so, one after the other */
};

/* A look; it outlives the guard when that is freed meanwhile. */
struct disk_guard_look {
    struct work work;
    struct disk_guard *guard;        /* NULL: freed. Only the loop's thread looks at it */
    char state[PATH_MAX], owner[64]; /* owner: "" without cells */
    bool was_low, is_first;
    unsigned n_enough; /* looks before this one that saw enough */
    /* What it found. */
    bool is_low;
    uint64_t reserve, left; /* bytes */
    struct err failure;     /* to hold disks; code 0: none */
};

struct disk_guard {
    struct core *core;
    struct loop_timer timer;
    struct work_pool *workers;    /* one thread */
    struct disk_guard_look *look; /* under way, or NULL */
    uint64_t reserve, left;
    bool is_low;
    unsigned n_enough;
    bool has_failed; /* to hold disks, and it was written down */
    uint64_t n_refused;
};

/* ---- looking ---- */

static void look_at_disk(struct work *w)
{
    struct disk_guard_look *l = container_of(w, struct disk_guard_look, work);
    struct statvfs fs;

    l->is_low = l->was_low;
    if (statvfs(l->state, &fs) < 0)
        return;
    uint64_t part = fs.f_blocks * fs.f_frsize / RESERVE_PART, free = fs.f_bavail * fs.f_frsize;
    uint64_t delayed = l->owner[0] != '\0' ? disk_delayed(l->owner) : 0;
    l->reserve = l->reserve < part ? l->reserve : part;
    l->left = free > delayed ? free - delayed : 0;
    l->is_low = l->left < l->reserve + (l->was_low ? l->reserve / RETURN_PART : 0);
    l->n_enough = l->is_low ? 0 : l->n_enough + 1;
    l->is_low |= l->was_low && l->n_enough < RETURN_LOOKS;
    /* While it lasts all of them are asked again and again: disks are made ahead of demand. The
     * service before may have left them held. */
    if (l->owner[0] != '\0' && (l->is_low || l->was_low || l->is_first))
        (void)disk_hold(l->owner, l->is_low, &l->failure);
}

/* ---- what follows ---- */

static void on_disk_guard_noted(struct store_tx *tx, int result, void *ctx)
{
    (void)tx;
    (void)result;
    (void)ctx;
}

static void note_change(struct store_tx *tx, const struct disk_guard *g)
{
    uint64_t left = g->left >> 20, reserve = g->reserve >> 20;

    if (g->is_low)
        event_add(tx, EVENT_DISK_LOW, STR_NULL, STR("tidepool"),
                  "The state directory has %" PRIu64 " MiB left, less than its reserve of %" PRIu64
                  " MiB: nothing new is created, and disks of sandboxes do not grow",
                  left, reserve);
    else
        event_add(tx, EVENT_DISK_ENOUGH, STR_NULL, STR("tidepool"),
                  "The state directory has %" PRIu64 " MiB left again", left);
}

static void take_over_figures(struct disk_guard *g, const struct disk_guard_look *l)
{
    bool has_changed = g->is_low != l->is_low, fails = l->failure.code && !g->has_failed;

    g->is_low = l->is_low;
    g->reserve = l->reserve;
    g->left = l->left;
    g->n_enough = l->n_enough;
    if (!has_changed && !fails)
        return;
    struct store_tx *tx = store_tx_new();
    if (has_changed)
        note_change(tx, g);
    if (fails)
        event_add(tx, EVENT_DISK_LOW, STR_NULL, STR("tidepool"),
                  "Disks of sandboxes cannot be kept from growing: %s", err_text(&l->failure));
    g->has_failed |= fails;
    (void)store_submit(g->core->store, tx, g->core->loop, on_disk_guard_noted, NULL);
}

/* ---- when ---- */

static void on_disk_guard_time(struct loop_timer *t);

static void again(struct disk_guard *g)
{
    uint64_t above = g->left > g->reserve ? g->left - g->reserve : 0;
    uint64_t ms = g->is_low ? LOOK_LOW_MS : above / RATE_BYTES_MS;

    ms = ms < LOOK_MIN_MS ? LOOK_MIN_MS : ms > LOOK_MAX_MS ? LOOK_MAX_MS : ms;
    (void)loop_timer_start(g->core->loop, &g->timer, (int64_t)ms, on_disk_guard_time);
}

static void on_disk_looked(struct work *w)
{
    auto_free struct disk_guard_look *l = container_of(w, struct disk_guard_look, work);
    struct disk_guard *g = l->guard;

    if (!g)
        return;
    g->look = NULL;
    take_over_figures(g, l);
    again(g);
}

static struct disk_guard_look *look_new(struct disk_guard *g, bool is_first)
{
    const struct config *config = g->core->config;
    struct engine *engine = sandboxes_engine(g->core->sandboxes, NULL);
    struct disk_guard_look *l = mem_zalloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->work = (struct work){.run = look_at_disk, .done = on_disk_looked};
    l->guard = g;
    l->reserve = (uint64_t)config->cells.disk_reserve;
    l->was_low = g->is_low;
    l->n_enough = g->n_enough;
    l->is_first = is_first;
    (void)snprintf(l->state, sizeof l->state, "%s", config->state);
    if (engine)
        (void)snprintf(l->owner, sizeof l->owner, "%s", engine_owner(engine));
    return l;
}

static void on_disk_guard_time(struct loop_timer *t)
{
    struct disk_guard *g = container_of(t, struct disk_guard, timer);
    auto_free struct disk_guard_look *l = look_new(g, false);

    if (l && work_submit(g->workers, g->core->loop, &l->work) == 0)
        g->look = take(l);
    else
        again(g);
}

/* ---- the guard ---- */

int disk_guard_new(struct core *c, struct disk_guard **ret, struct err *e)
{
    struct disk_guard *g = mem_zalloc(1, sizeof *g);
    auto_free struct disk_guard_look *first = NULL;

    if (!g)
        return err_sys(e, -ENOMEM, "guard of the disk");
    g->core = c;
    *ret = g;
    first = look_new(g, true);
    g->workers = first ? work_pool_new(1, 1, e) : NULL;
    if (!g->workers)
        return err_ctx(e, -EAGAIN, "guard of the disk");
    /* Nothing is served yet: this one may be waited for. */
    look_at_disk(&first->work);
    take_over_figures(g, first);
    again(g);
    return 0;
}

void disk_guard_free(struct disk_guard *g)
{
    if (!g)
        return;
    loop_timer_stop(&g->timer);
    if (g->look)
        g->look->guard = NULL;
    work_pool_free(g->workers);
    free(g);
}

int disk_guard_check(struct disk_guard *g, struct err *e)
{
    if (!g || !g->is_low)
        return 0;
    g->n_refused++;
    return err_set(e, -ENOSPC,
                   "the disk of the service is nearly full: %" PRIu64 " MiB are left, and %" PRIu64
                   " MiB are reserved for existing data; delete something, or retry later",
                   g->left >> 20, g->reserve >> 20);
}

void disk_guard_sample(const struct disk_guard *g)
{
    struct metrics *m = g ? g->core->metrics : NULL;

    if (!m)
        return;
    metrics_set(m, METRIC_DISK_LOW, g->is_low);
    metrics_set(m, METRIC_DISK_LEFT, (int64_t)g->left);
    metrics_set(m, METRIC_DISK_RESERVE, (int64_t)g->reserve);
    metrics_set(m, METRIC_DISK_REFUSED, (int64_t)g->n_refused);
}
