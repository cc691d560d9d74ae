/* SPDX-License-Identifier: MIT */
/* The set of sandboxes: opening, bringing rows and living cells together, stopping.
 *
 * After a restart there are two lists that know nothing of each other: the rows of the store, and
 * the cells that the spawners report, whose labels are ids of sandboxes. recover() joins them:
 *
 *     row and cell      adopted in the state that the row says: the row decides whether a cell is
 *                       frozen, and an end that had begun goes on
 *     row without cell  lost: host reboot, or the spawner died; the row goes, with an event
 *     cell without row  killed (attach_cell()): a create that nobody was told of
 *
 * Rows are entered and counted first, so that limits and names are right before anything else can
 * be asked for, and adopted in the order of their age, so that lists look as they did. */
#include "core/sandbox_set.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/metrics.h"
#include "core/quantity.h"
#include "core/root.h"
#include "core/sandbox_disk.h"
#include "core/sandbox_freeze.h"
#include "core/sandbox_internal.h"
#include "core/sandbox_template.h"
#include "core/share.h"
#include "runtime/egress.h"
#include "runtime/engine.h"
#include "runtime/engine_assign.h"
#include "runtime/engine_freeze.h"

DEFINE_CLEANUP(struct store_tx *, store_tx_free)

#define ENVD_NAME "tidepool-envd"
enum {
    TICK_MS = 50,       /* between two rounds of looks */
    TICK_IDLE_MS = 250, /* the same when there is nothing to look at */
    TICK_CELLS = 13,    /* looks in a round, or more where there are many */
    LOOK_US = 250000,   /* a sandbox is not looked at more often */
    SWEEP_MS = 1000,
    NOTE_US = 10000000,
};

/* ---- the engine ---- */

/* The program inside cells: as configured, else the one that came with this program. */
static int find_envd(const struct config *config, char out[PATH_MAX], struct err *e)
{
    if (!config->cells.envd)
        return share_program(ENVD_NAME, out, e);
    (void)snprintf(out, PATH_MAX, "%s", config->cells.envd);
    if (access(out, X_OK) < 0)
        return err_sys(e, -errno, "cells.envd '%s'", out);
    return 0;
}

/* What a sandbox gets that asks for nothing: the cells in the stock are such. */
static int usual_spec(struct sandboxes *set, struct cell_spec *ret, struct err *e)
{
    struct arena arena auto_arena;
    struct sandbox_args nothing = {0};
    struct sandbox *sb = sandbox_new(set);

    arena_init(&arena, SANDBOX_SPEC_MAX);
    int r = sb ? sandbox_resolve(sb, &nothing, &arena, e) : -ENOMEM;
    if (r == 0)
        r = sandbox_fill(sb, &nothing, e);
    if (r == 0)
        *ret = sb->cell_spec;
    sandbox_unref(sb);
    return r < 0 ? err_ctx(e, r, "cells") : 0;
}

static int find_root(void *ctx, const char *name, struct engine_root *ret)
{
    const struct sandboxes *set = ctx;

    return roots_for_engine(set->core->roots, name, ret);
}

static int open_engine(struct sandboxes *set, struct err *e)
{
    const struct config *config = set->core->config;
    char envd[PATH_MAX], state[PATH_MAX];
    struct engine_options o = {.state = state,
                               .envd = envd,
                               .stock = (unsigned)config->cells.warm,
                               .per_spawner = (unsigned)config->cells.per_spawner,
                               .etc = config->cells.etc.items,
                               .n_etc = config->cells.etc.n,
                               .images_keep_ms = config->cells.keep_images,
                               .allows_unenforced = config->cells.allow_unenforced,
                               .is_claimed_by_caller = true,
                               .find_root = find_root,
                               .on_gone = sandbox_on_gone,
                               .ctx = set};

    if (!config->cells.enabled)
        return err_set(e, -ENOTCONN, "sandboxes are disabled (cells.enabled)");
    if (geteuid() != 0)
        return err_set(e, -EPERM, "sandboxes require root");
    if (!realpath(config->state, state))
        return err_sys(e, -errno, "state directory '%s'", config->state);
    sandboxes_choose_disk(set, state);
    int r = find_envd(config, envd, e);
    if (r == 0)
        r = usual_spec(set, &o.stock_spec, e);
    if (r == 0)
        r = sandboxes_open_egress(set, e);
    if (r < 0)
        return r;
    o.egress = set->egress;
    set->engine = engine_open(set->core->loop, &o, e);
    if (!set->engine)
        return e->code;
    sandboxes_find_lacks(set);
    return 0;
}

struct engine *sandboxes_engine(const struct sandboxes *set, struct err *e)
{
    if (set->is_stopped)
        (void)err_set(e, -ESHUTDOWN, "the service is stopping");
    else if (!set->engine && e)
        *e = set->why;
    return set->is_stopped ? NULL : set->engine;
}

/* ---- after a restart ---- */

/* It lives already: no limit is asked. */
static void count_adopted(struct sandbox *sb)
{
    struct core *core = sb->set->core;
    struct account *account = accounts_account(core->accounts, str_of(sb->account));

    sb->tally = limits_tally(core->limits, account, LIMIT_ACCOUNT_SANDBOXES);
    tally_add(sb->tally, 1);
    sandbox_count_disk(sb, account);
    if (sb->key)
        sb->key->use.n_live++;
    sb->is_counted = sb->key != NULL;
}

/* Everything that the store has is entered first; the cells are looked for afterwards. */
static void enter_sandbox_row(struct sandbox *sb)
{
    sb->key = accounts_by_id(sb->set->core->accounts, str_of(sb->key_id));
    if (sb->key)
        (void)account_key_ref(sb->key);
    if (sandbox_enter(sb) == 0)
        count_adopted(sb);
    sandbox_unref(sb);
}

static void attach_cell(void *ctx, struct engine_cell *c, const struct err *e)
{
    struct sandboxes *set = ctx;
    struct sandbox *sb = map_get(&set->by_id, str_of(engine_cell_info(c)->label));

    (void)e;
    if (sb && !sb->cell)
        sb->cell = c;
    else
        engine_cell_kill(c);
}

/* Its cell is gone: host reboot, or the spawner died meanwhile. */
static void lose_sandbox(struct sandbox *sb)
{
    struct store_tx *tx auto_(store_tx_free) = store_tx_new();

    if (sb->restored == SANDBOX_ENDING) {
        sandbox_tx_delete(tx, sb);
    } else {
        sandbox_tx_undo(tx, sb);
        event_add(tx, EVENT_SANDBOX_EXITED, str_of(sb->account), str_of(sb->name),
                  "Sandbox %s was lost while the service was down", sb->name);
    }
    (void)store_run(sb->set->core->store, tx, NULL);
    sm_move(&sb->sm, SANDBOX_GONE);
    sandbox_leave(sb);
}

static void adopt_running(struct sandbox *sb)
{
    int64_t now_us = clock_real_us(), left_us = sb->expires_us - now_us;

    (void)engine_cell_freeze(sb->cell, false, NULL);
    /* A pause may have been cut short. */
    engine_cell_boost(sb->cell, false);
    sb->paused_us = 0;
    sb->expires_ms = clock_mono_ms() + (left_us > 0 ? left_us / 1000 : 0);
    /* It may have been used since that was last written down, but not after the service's end. */
    int64_t idle_us = now_us - sb->last_active_us - NOTE_US;
    sb->last_active_ms = clock_mono_ms() - (idle_us > 0 ? idle_us / 1000 : 0);
    sm_move(&sb->sm, SANDBOX_RUNNING);
    sandbox_make_known(sb);
    sandbox_tell_again(sb);
}

static void adopt_paused(struct sandbox *sb)
{
    (void)engine_cell_freeze(sb->cell, true, NULL);
    sb->set->n_paused++;
    sm_move(&sb->sm, SANDBOX_PAUSED);
    sandbox_make_known(sb);
}

static void adopt_sandbox(struct sandbox *sb)
{
    (void)sandbox_open_network(sb, NULL);
    /* Kills of before the restart have had their event. */
    (void)engine_cell_usage(sb->cell, &sb->figures.usage, NULL);
    if (sb->restored == SANDBOX_PAUSED)
        adopt_paused(sb);
    else if (sb->restored == SANDBOX_ENDING)
        sandbox_end(sb, sb->end_reason ? (enum sandbox_end)sb->end_reason : SANDBOX_END_DELETED);
    else
        adopt_running(sb);
}

static int by_sandbox_age(const void *a, const void *b)
{
    const struct sandbox *x = *(struct sandbox *const *)a, *y = *(struct sandbox *const *)b;

    return (x->created_us > y->created_us) - (x->created_us < y->created_us);
}

static int recover(struct sandboxes *set, struct err *e)
{
    struct sandbox **all auto_free = mem_zalloc(set->by_id.n + 1, sizeof *all);
    size_t n = 0;
    void *value;

    if (!all)
        return err_sys(e, -ENOMEM, "sandboxes");
    engine_each(set->engine, attach_cell, set);
    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);)
        all[n++] = value;
    qsort(all, n, sizeof *all, by_sandbox_age);
    for (size_t i = 0; i < n; i++) {
        if (all[i]->cell)
            adopt_sandbox(all[i]);
        else
            lose_sandbox(all[i]);
    }
    return 0;
}

/* ---- figures ---- */

/* Looks at a few: often enough to notice kills for memory soon where there are few, and all within
 * the time between two points of their series where there are many. A look takes some 70 us, so
 * that rounds are kept short. */
static void on_sandbox_tick(struct loop_timer *t)
{
    struct sandboxes *set = container_of(t, struct sandboxes, tick);
    size_t due = set->by_id.n / (SANDBOX_POINT_MS / TICK_MS) + 1;
    int64_t now_us = clock_mono_us();

    for (size_t i = 0; i < due || i < TICK_CELLS; i++) {
        set->looked = sandbox_next(set, set->looked);
        if (!set->looked)
            break;
        if (now_us - set->looked->figures.sampled_us >= LOOK_US)
            sandbox_look(set->looked);
    }
    if (clock_mono_ms() >= set->swept_ms + SWEEP_MS) {
        set->swept_ms = clock_mono_ms();
        sandboxes_sweep_logs(set);
        (void)sandboxes_note_activity(set, NOTE_US);
    }
    (void)loop_timer_start(set->core->loop, t, set->by_id.n > 0 ? TICK_MS : TICK_IDLE_MS,
                           on_sandbox_tick);
}

/* ---- the set ---- */

static int open_all_sandboxes(struct sandboxes *set, struct err *e)
{
    int r = open_engine(set, e);

    if (r == 0)
        r = sandboxes_load(set, enter_sandbox_row, e);
    if (r == 0)
        r = recover(set, e);
    if (r == 0)
        sandboxes_open_logs(set);
    if (r == 0)
        r = loop_timer_start(set->core->loop, &set->tick, TICK_IDLE_MS, on_sandbox_tick);
    return r;
}

struct sandboxes *sandboxes_open(struct core *c, struct err *e)
{
    struct sandboxes *set = mem_zalloc(1, sizeof *set);

    if (!set) {
        (void)err_sys(e, -ENOMEM, "sandboxes");
        return NULL;
    }
    set->core = c;
    map_init(&set->by_name, SANDBOX_MAX);
    map_init(&set->by_id, SANDBOX_MAX);
    list_init(&set->known);
    list_init(&set->watches);
    list_init(&set->creating);
    list_init(&set->talks);
    list_init(&set->freezings);
    list_init(&set->logs);
    if (open_all_sandboxes(set, &set->why) < 0) {
        engine_close(take(set->engine));
        egress_close(take(set->egress));
        if (e)
            *e = set->why;
    }
    return set;
}

void sandboxes_watch(struct sandboxes *set, struct sandbox_watch *w)
{
    list_append(&set->watches, &w->node);
}

void sandboxes_unwatch(struct sandbox_watch *w)
{
    list_del(&w->node);
}

/* The cells of those that are ending die with the spawner as well as without; the next start finds
 * their rows and finishes them. */
static bool has_survivors(const struct sandboxes *set)
{
    void *value;

    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);)
        if (sandbox_state(value) != SANDBOX_ENDING)
            return true;
    return false;
}

void sandboxes_stop(struct sandboxes *set)
{
    void *value;

    if (!set || set->is_stopped)
        return;
    for (size_t n = 0; n < set->by_id.n && sandboxes_note_activity(set, 1); n++)
        ;
    set->is_stopped = true;
    loop_timer_stop(&set->tick);
    sandboxes_stop_creations(set);
    sandboxes_stop_talks(set);
    sandboxes_stop_freezings(set);
    bool is_last = !has_survivors(set);
    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);) {
        struct sandbox *sb = value;
        loop_timer_stop(&sb->timer);
        sb->cell = NULL;
    }
    if (set->engine && is_last)
        engine_shutdown(set->engine);
    else
        engine_close(set->engine);
    set->engine = NULL;
    egress_close(take(set->egress));
}

void sandboxes_free(struct sandboxes *set)
{
    void *value;

    if (!set)
        return;
    sandboxes_stop(set);
    sandboxes_drop_creations(set);
    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);) {
        struct sandbox *sb = value;
        sandbox_leave(sb);
    }
    sandboxes_close_logs(set);
    map_done(&set->by_name);
    map_done(&set->by_id);
    free(set);
}

unsigned sandboxes_n_live(const struct sandboxes *set)
{
    return (unsigned)set->by_id.n;
}

static void sample_egress(struct metrics *m, const struct egress *egress)
{
    const struct egress_stats s = egress_totals(egress);

    metrics_set(m, METRIC_EGRESS_OPEN, s.n_open);
    metrics_set(m, METRIC_EGRESS_CONNS, (int64_t)s.n_conns);
    metrics_set(m, METRIC_EGRESS_DENIED, (int64_t)s.n_denied);
    metrics_set(m, METRIC_EGRESS_FAILED, (int64_t)s.n_failed);
    metrics_set(m, METRIC_EGRESS_NAMES, (int64_t)s.n_names);
    metrics_set(m, METRIC_EGRESS_NAMES_DENIED, (int64_t)s.n_names_denied);
    metrics_set(m, METRIC_EGRESS_BYTES_OUT, (int64_t)s.bytes_out);
    metrics_set(m, METRIC_EGRESS_BYTES_IN, (int64_t)s.bytes_in);
}

void sandboxes_sample(struct sandboxes *set)
{
    struct metrics *m = set->core->metrics;
    int64_t n = 0;

    list_each(node, &set->known) n++;
    metrics_set(m, METRIC_SANDBOXES_PAUSED, set->n_paused);
    metrics_set(m, METRIC_SANDBOXES_RUNNING, n - set->n_paused);
    metrics_set(m, METRIC_CELLS_WARM, set->engine ? engine_n_stock(set->engine) : 0);
    metrics_set(m, METRIC_CELLS_TAKEN, set->engine ? engine_n_cells(set->engine) : 0);
    metrics_set(m, METRIC_CELLS_OLD, set->engine ? engine_n_old_cells(set->engine) : 0);
    metrics_set(m, METRIC_CELLS_BUILDING, set->engine ? engine_n_building(set->engine) : 0);
    if (set->engine) {
        const struct engine_stock_counts counts = engine_stock_counts(set->engine);
        metrics_set(m, METRIC_CELLS_HITS, (int64_t)counts.hits);
        metrics_set(m, METRIC_CELLS_MISSES, (int64_t)counts.misses);
    }
    if (set->egress)
        sample_egress(m, set->egress);
}
