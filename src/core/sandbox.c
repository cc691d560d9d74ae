/* SPDX-License-Identifier: MIT */
/* The life cycle of sandboxes: see sandbox.h.
 *
 * References. The set's maps hold one from sandbox_enter() to sandbox_leave(); who keeps a pointer
 * across a callback takes its own. sandbox_leave() also gives back what the sandbox was counted
 * for, so a name, a place in the quota and bytes of disk become free at the same moment, which is
 * when nothing of the sandbox is left, not when somebody asked for its end.
 *
 * Visible is what is running or paused (is_sandbox_known()). One that is being created has its name
 * already, and one that ends still has it: neither is found, and a create of the same name waits
 * (sandbox_holder()).
 *
 * Time. There is one timer for both deadlines, armed for the nearer one. Activity only moves
 * last_active_ms; the timer that fires too early arms itself again. Deadlines are kept twice: by
 * the monotonic clock, which decides, and by the wall clock, which is shown and stored and from
 * which a restart works out what is left. */
#include "core/sandbox.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/tally.h"
#include "core/core.h"
#include "core/event.h"
#include "core/metrics.h"
#include "core/pool.h"
#include "core/root.h"
#include "core/sandbox_disk.h"
#include "core/sandbox_freeze.h"
#include "core/sandbox_internal.h"
#include "core/template.h"
#include "runtime/engine.h"
#include "runtime/engine_freeze.h"

enum { BUSY_MS = 500 };

/* ---- the states ---- */

static const struct sm_state states[] = {
    [SANDBOX_CREATING] = {"creating", SM(SANDBOX_RUNNING) | SM(SANDBOX_PAUSED) |
                                          SM(SANDBOX_ENDING) | SM(SANDBOX_GONE)},
    [SANDBOX_RUNNING] = {"running", SM(SANDBOX_PAUSED) | SM(SANDBOX_ENDING)},
    [SANDBOX_PAUSED] = {"paused", SM(SANDBOX_RUNNING) | SM(SANDBOX_ENDING)},
    [SANDBOX_ENDING] = {"ending", SM(SANDBOX_GONE)},
    [SANDBOX_GONE] = {"gone", 0},
};

static bool is_in_list(const struct sandbox *sb)
{
    return sb->node.next != &sb->node;
}

static bool is_sandbox_sound(const struct sm *m)
{
    const struct sandbox *sb = container_of(m, const struct sandbox, sm);
    bool is_timed = sb->timer.loop;

    switch ((enum sandbox_state)m->state) {
    case SANDBOX_CREATING: return !is_timed && !is_in_list(sb);
    case SANDBOX_RUNNING:
        return sb->cell && !sb->paused_us && (sb->expires_us > 0) == (sb->timeout_s > 0);
    case SANDBOX_PAUSED: return sb->cell && sb->paused_us && !sb->expires_us && !is_timed;
    case SANDBOX_ENDING: return sb->end_reason && !is_timed && !is_in_list(sb);
    case SANDBOX_GONE: return !sb->cell && !is_timed && !is_in_list(sb);
    case SANDBOX_STATE_COUNT: break;
    }
    return false;
}

/* sm_move() checks is_sandbox_sound() after every move: a state whose members do not fit is a
 * mistake of ours, and the program ends before it is written down. */
static const struct sm_type type = {"sandbox", states, ARRAY_LEN(states), is_sandbox_sound};

/* ---- the object ---- */

/* Somebody who waits for the end of a sandbox. */
struct sandbox_waiter {
    struct list node;
    sandbox_fn *fn;
    void *ctx;
};

struct sandbox *sandbox_new(struct sandboxes *set)
{
    struct sandbox *sb = mem_zalloc(1, sizeof *sb);

    if (!sb)
        return NULL;
    sm_init(&sb->sm, &type, SANDBOX_CREATING);
    sb->n_refs = 1;
    sb->set = set;
    arena_init(&sb->arena, SANDBOX_SPEC_MAX);
    arena_init(&sb->network_arena, SANDBOX_SPEC_MAX);
    list_init(&sb->waiting);
    list_init(&sb->forwards);
    list_init(&sb->node);
    return sb;
}

struct sandbox *sandbox_ref(struct sandbox *sb)
{
    sb->n_refs++;
    return sb;
}

void sandbox_unref(struct sandbox *sb)
{
    if (!sb || --sb->n_refs > 0)
        return;
    for (struct list *node; (node = list_pop(&sb->waiting));)
        free(list_entry(node, struct sandbox_waiter, node));
    account_key_unref(sb->key);
    root_unref(sb->root);
    sandbox_series_done(&sb->figures.series);
    template_release(sb->template);
    arena_done(&sb->arena);
    arena_done(&sb->network_arena);
    free(sb);
}

int sandbox_enter(struct sandbox *sb)
{
    struct sandboxes *set = sb->set;

    if (map_get(&set->by_name, str_of(sb->name)))
        return -EEXIST;
    int r = map_put(&set->by_name, str_of(sb->name), sb, NULL);
    if (r < 0)
        return r;
    r = map_put(&set->by_id, str_of(sb->id), sb, NULL);
    if (r < 0)
        (void)map_del(&set->by_name, str_of(sb->name));
    else
        (void)sandbox_ref(sb);
    return r;
}

void sandbox_leave(struct sandbox *sb)
{
    (void)map_del(&sb->set->by_name, str_of(sb->name));
    (void)map_del(&sb->set->by_id, str_of(sb->id));
    if (sb->is_counted)
        quota_live_end(&sb->key->use);
    sb->is_counted = false;
    if (sb->tally)
        tally_give(take(sb->tally), 1);
    sandbox_give_disk(sb);
    sandbox_unref(sb);
}

/* ---- finding ---- */

static bool is_sandbox_known(const struct sandbox *sb)
{
    return sb && (sandbox_state(sb) == SANDBOX_RUNNING || sandbox_state(sb) == SANDBOX_PAUSED);
}

struct sandbox *sandbox_find(const struct sandboxes *set, struct str name)
{
    struct sandbox *sb = map_get(&set->by_name, name);

    return is_sandbox_known(sb) ? sb : NULL;
}

struct sandbox *sandbox_find_id(const struct sandboxes *set, struct str id)
{
    struct sandbox *sb = map_get(&set->by_id, id);

    return is_sandbox_known(sb) ? sb : NULL;
}

bool sandbox_is_visible(const struct sandbox *sb, const struct account_key *key)
{
    return key &&
           (key->account->role == ACCOUNT_SYSTEM || strcmp(sb->account, key->account->id) == 0);
}

struct sandbox *sandbox_find_for(const struct sandboxes *set, struct str name,
                                 const struct account_key *key)
{
    struct sandbox *sb = sandbox_find(set, name);

    if (!sb)
        sb = sandbox_find_id(set, name);
    return sb && sandbox_is_visible(sb, key) ? sb : NULL;
}

struct sandbox *sandbox_next(const struct sandboxes *set, const struct sandbox *sb)
{
    const struct list *next = sb ? sb->node.next : set->known.next;

    return next == &set->known ? NULL : list_entry(next, struct sandbox, node);
}

const char *sandbox_status(const struct sandbox *sb)
{
    return sandbox_state(sb) == SANDBOX_PAUSED ? "paused" : "running";
}

struct engine_cell *sandbox_cell(const struct sandbox *sb)
{
    return is_sandbox_known(sb) ? sb->cell : NULL;
}

/* ---- the clock ---- */

static void on_sandbox_timer(struct loop_timer *t);

static int64_t idle_due_ms(const struct sandbox *sb)
{
    if (sb->spec.idle_timeout_s <= 0)
        return INT64_MAX;
    int64_t since_ms = sb->n_holds > 0 ? clock_mono_ms() : sb->last_active_ms;
    return since_ms + sb->spec.idle_timeout_s * 1000;
}

static int64_t timeout_due_ms(const struct sandbox *sb)
{
    return sb->timeout_s > 0 ? sb->expires_ms : INT64_MAX;
}

void sandbox_arm(struct sandbox *sb)
{
    int64_t a = timeout_due_ms(sb), b = idle_due_ms(sb), due_ms = a < b ? a : b;

    if (sb->set->is_stopped || sandbox_state(sb) != SANDBOX_RUNNING || due_ms == INT64_MAX) {
        loop_timer_stop(&sb->timer);
        return;
    }
    int64_t now_ms = clock_mono_ms();
    sandbox_arm_in(sb, due_ms > now_ms ? due_ms - now_ms : 0);
}

void sandbox_arm_in(struct sandbox *sb, int64_t ms)
{
    if (sb->set->is_stopped || sandbox_state(sb) != SANDBOX_RUNNING)
        return;
    /* Without memory for a timer that was never started nothing would end it; a heap that is full
     * then has room again in a moment. */
    (void)loop_timer_start(sb->set->core->loop, &sb->timer, ms, on_sandbox_timer);
}

void sandbox_start_clock(struct sandbox *sb)
{
    sb->started_us = clock_real_us();
    sb->expires_us = sb->timeout_s > 0 ? sb->started_us + sb->timeout_s * 1000000 : 0;
    sb->expires_ms = clock_mono_ms() + (sb->timeout_s > 0 ? sb->timeout_s * 1000 : 0);
    sb->is_overdue = false;
    sb->last_active_us = sb->noted_us = sb->started_us;
    sb->last_active_ms = clock_mono_ms();
}

static void sandbox_touch(struct sandbox *sb)
{
    /* The timer finds out when it fires too early. */
    sb->last_active_ms = clock_mono_ms();
    sb->last_active_us = clock_real_us();
    if (sb->set->engine)
        engine_note_use(sb->set->engine);
}

void sandbox_hold(struct sandbox *sb)
{
    sandbox_touch(sb);
    sb->n_holds++;
}

void sandbox_release(struct sandbox *sb)
{
    assert(sb->n_holds > 0);
    sb->n_holds--;
    sandbox_touch(sb);
}

/* ---- the end ---- */

static void tell_waiting(struct sandbox *sb, const struct err *e)
{
    for (struct list *node; (node = list_pop(&sb->waiting));) {
        auto_free struct sandbox_waiter *w = list_entry(node, struct sandbox_waiter, node);
        w->fn(w->ctx, sb, e);
    }
}

static void forget_sandbox(struct sandbox *sb)
{
    struct sandboxes *set = sb->set;

    if (set->looked == sb)
        set->looked = NULL;
    list_del(&sb->node);
    loop_timer_stop(&sb->timer);
    if (sandbox_state(sb) == SANDBOX_PAUSED)
        set->n_paused--;
}

/* The row is gone, or could not be removed: a restart does it then. For those who wait it is gone
 * either way. */
static void on_sandbox_removed(void *ctx, struct sandbox *sb, const struct err *e)
{
    (void)ctx;
    (void)e;
    sm_move(&sb->sm, SANDBOX_GONE);
    metrics_add(sb->set->core->metrics, METRIC_SANDBOX_ENDS, 1);
    sandbox_ref(sb);
    sandbox_leave(sb);
    tell_waiting(sb, NULL);
    sandbox_unref(sb);
}

static void finish_sandbox(struct sandbox *sb)
{
    struct store_tx *tx = store_tx_new();

    sandbox_log_end(sb);
    sandbox_tx_delete(tx, sb);
    /* A machine that goes down before this is on the disk ends it once more, as lost. */
    store_tx_sync_later(tx);
    if (sandbox_submit(sb, tx, on_sandbox_removed, NULL) < 0)
        on_sandbox_removed(NULL, sb, NULL);
}

static void call_watches(struct sandbox *sb, bool is_pause)
{
    list_each(node, &sb->set->watches)
    {
        const struct sandbox_watch *w = list_entry(node, struct sandbox_watch, node);
        void (*fn)(void *ctx, struct sandbox *sb) = is_pause ? w->on_pause : w->fn;
        if (fn)
            fn(w->ctx, sb);
    }
}

static void enter_ending(struct sandbox *sb, enum sandbox_end reason)
{
    forget_sandbox(sb);
    sb->end_reason = reason;
    sm_move(&sb->sm, SANDBOX_ENDING);
    call_watches(sb, false);
}

static void add_limit_event(struct store_tx *tx, const struct sandbox *sb, enum sandbox_end reason)
{
    struct str account = str_of(sb->account), name = str_of(sb->name);

    if (reason == SANDBOX_END_TIMEOUT)
        event_add(tx, EVENT_SANDBOX_TIMEOUT, account, name,
                  "Sandbox %s reached its timeout of %lld s", sb->name, (long long)sb->timeout_s);
    else if (reason == SANDBOX_END_IDLE)
        event_add(tx, EVENT_SANDBOX_IDLE_TIMEOUT, account, name, "Sandbox %s was idle for %lld s",
                  sb->name, (long long)sb->spec.idle_timeout_s);
}

void sandbox_end(struct sandbox *sb, enum sandbox_end reason)
{
    struct store_tx *tx = store_tx_new();
    bool was_running = sandbox_state(sb) == SANDBOX_RUNNING;

    enter_ending(sb, reason);
    /* Nobody waits for this one: it only lets a restart know why the cell is gone. */
    sandbox_tx_update(tx, sb);
    add_limit_event(tx, sb, reason);
    store_tx_sync_later(tx);
    (void)sandbox_submit(sb, tx, NULL, NULL);
    if (!sb->cell)
        finish_sandbox(sb);
    else if (was_running && sandbox_has_main(sb))
        sandbox_kill_later(sb);
    else
        engine_cell_kill(sb->cell);
}

void sandbox_on_gone(void *ctx, struct engine_cell *c, int status)
{
    struct sandboxes *set = ctx;
    struct sandbox *sb = map_get(&set->by_id, str_of(engine_cell_info(c)->label));

    if (!sb || sb->cell != c) {
        pools_on_gone(set->core->pools, c);
        return;
    }
    sb->cell = NULL;
    if (is_sandbox_known(sb)) {
        sb->end_status = status;
        enter_ending(sb, SANDBOX_END_EXITED);
    }
    if (sandbox_state(sb) == SANDBOX_ENDING)
        finish_sandbox(sb);
}

struct sandbox *sandbox_holder(const struct sandboxes *set, struct str name)
{
    struct sandbox *sb = map_get(&set->by_name, name);

    return sb && sandbox_state(sb) == SANDBOX_ENDING ? sb : NULL;
}

int sandbox_await(struct sandbox *sb, sandbox_fn *fn, void *ctx)
{
    struct sandbox_waiter *w = mem_zalloc(1, sizeof *w);

    if (!w)
        return -ENOMEM;
    w->fn = fn;
    w->ctx = ctx;
    list_append(&sb->waiting, &w->node);
    return 0;
}

int sandbox_await_end(const struct sandboxes *set, struct str name, const struct account_key *key,
                      sandbox_fn *fn, void *ctx)
{
    struct sandbox *sb = sandbox_holder(set, name);

    if (!sb || set->is_stopped || !sandbox_is_visible(sb, key))
        return -ENOENT;
    return sandbox_await(sb, fn, ctx);
}

int sandbox_delete(struct sandbox *sb, sandbox_fn *fn, void *ctx)
{
    if (sb->set->is_stopped)
        return -ESHUTDOWN;
    if (!is_sandbox_known(sb) && sandbox_state(sb) != SANDBOX_ENDING)
        return -ENOENT;
    if (fn && sandbox_await(sb, fn, ctx) < 0)
        return -ENOMEM;
    if (is_sandbox_known(sb))
        sandbox_end(sb, SANDBOX_END_DELETED);
    return 0;
}

/* ---- running and paused ---- */

void sandbox_make_known(struct sandbox *sb)
{
    list_add(&sb->set->known, &sb->node);
    sandbox_arm(sb);
}

void sandbox_begin(struct sandbox *sb)
{
    sm_move(&sb->sm, SANDBOX_RUNNING);
    sandbox_make_known(sb);
    /* There is nothing to see yet, and its owner has other things for the processors to do. */
    sb->figures.sampled_us = clock_mono_us();
}

/* Writes the present state down; TX may hold events already. */
static int write_state(struct sandbox *sb, struct store_tx *tx, sandbox_fn *fn, void *ctx)
{
    sandbox_tx_update(tx, sb);
    return sandbox_submit(sb, tx, fn, ctx);
}

int sandbox_note_failure(struct sandbox *sb, enum event_reason reason, const struct err *e)
{
    struct store_tx *tx = store_tx_new();

    event_add(tx, reason, str_of(sb->account), str_of(sb->name), "Sandbox %s: %s", sb->name,
              err_text(e));
    (void)sandbox_submit(sb, tx, NULL, NULL);
    return e->code;
}

int sandbox_note_frozen(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx)
{
    loop_timer_stop(&sb->timer);
    sb->paused_us = clock_real_us();
    sb->expires_us = 0;
    sb->is_overdue = false;
    sb->set->n_paused++;
    sm_move(&sb->sm, SANDBOX_PAUSED);
    call_watches(sb, true);
    engine_cell_end_calls(sb->cell, "the sandbox was paused");
    struct store_tx *tx = store_tx_new();
    add_limit_event(tx, sb, reason);
    event_add(tx, EVENT_SANDBOX_PAUSED, str_of(sb->account), str_of(sb->name),
              "Sandbox paused, name %s, reason %s", sb->name,
              reason ? sandbox_end_name(reason) : "request");
    return write_state(sb, tx, fn, ctx);
}

int sandbox_pause(struct sandbox *sb, sandbox_fn *fn, void *ctx)
{
    if (!is_sandbox_known(sb) || sb->set->is_stopped)
        return -ENOENT;
    if (sb->is_talking)
        return -EBUSY;
    if (sandbox_state(sb) == SANDBOX_RUNNING)
        return sandbox_pause_for(sb, SANDBOX_END_NONE, fn, ctx);
    return write_state(sb, store_tx_new(), fn, ctx);
}

/* Its own time stays what it is for the next time. */
static void last_at_least(struct sandbox *sb, int64_t least_s)
{
    if (sb->timeout_s <= 0 || sb->timeout_s >= least_s || !sandbox_may_last(sb, least_s))
        return;
    sb->expires_us = sb->started_us + least_s * 1000000;
    sb->expires_ms = clock_mono_ms() + least_s * 1000;
}

int sandbox_thaw(struct sandbox *sb, const struct sandbox_resume *how, sandbox_fn *fn, void *ctx)
{
    struct err e = ERR_INIT;

    if (engine_cell_freeze(sb->cell, false, &e) < 0)
        return sandbox_note_failure(sb, EVENT_SANDBOX_RESUME_FAILED, &e);
    if (how->timeout_s != 0)
        sb->timeout_s = how->timeout_s < 0 ? -1 : how->timeout_s;
    sb->paused_us = 0;
    sb->set->n_paused--;
    sandbox_log_forget(sb);
    sandbox_start_clock(sb);
    last_at_least(sb, how->least_s);
    sm_move(&sb->sm, SANDBOX_RUNNING);
    sandbox_arm(sb);
    struct store_tx *tx = store_tx_new();
    if (how->sets_auto_pause) {
        sb->spec.auto_pause = how->auto_pause;
        sandbox_tx_respec(tx, sb);
    }
    event_add(tx, EVENT_SANDBOX_RESUMED, str_of(sb->account), str_of(sb->name),
              "Sandbox resumed, name %s", sb->name);
    return write_state(sb, tx, fn, ctx);
}

int sandbox_resume(struct sandbox *sb, const struct sandbox_resume *how, sandbox_fn *fn, void *ctx)
{
    if (!is_sandbox_known(sb) || sb->set->is_stopped)
        return -ENOENT;
    if (how->timeout_s != 0 && !sandbox_may_last(sb, how->timeout_s))
        return -EINVAL;
    if (sb->is_talking)
        return -EBUSY;
    if (sandbox_state(sb) == SANDBOX_RUNNING)
        return write_state(sb, store_tx_new(), fn, ctx);
    return sb->is_halted || how->reboots ? sandbox_reboot(sb, how, fn, ctx)
                                         : sandbox_thaw(sb, how, fn, ctx);
}

int sandbox_set_timeout(struct sandbox *sb, int64_t timeout_s, sandbox_fn *fn, void *ctx)
{
    if (!is_sandbox_known(sb) || sb->set->is_stopped)
        return -ENOENT;
    if (timeout_s == 0 || !sandbox_may_last(sb, timeout_s))
        return -EINVAL;
    sb->timeout_s = timeout_s < 0 ? -1 : timeout_s;
    if (sandbox_state(sb) == SANDBOX_RUNNING) {
        int64_t started_us = sb->started_us;
        sandbox_start_clock(sb);
        sb->started_us = started_us;
        sandbox_arm(sb);
    }
    return write_state(sb, store_tx_new(), fn, ctx);
}

int sandbox_extend_timeout(struct sandbox *sb, int64_t timeout_s, sandbox_fn *fn, void *ctx)
{
    int64_t due_ms = clock_mono_ms() + timeout_s * 1000;

    if (timeout_s <= 0 || !sandbox_may_last(sb, timeout_s))
        return -EINVAL;
    if (is_sandbox_known(sb) && (sb->timeout_s < 0 || sb->expires_ms >= due_ms))
        return write_state(sb, store_tx_new(), fn, ctx);
    return sandbox_set_timeout(sb, timeout_s, fn, ctx);
}

int sandbox_use(struct sandbox *sb, sandbox_fn *fn, void *ctx)
{
    const struct sandbox_resume how = {.least_s = SANDBOX_WOKEN_S};
    struct err e = ERR_INIT;

    if (!is_sandbox_known(sb))
        return -ENOENT;
    sandbox_touch(sb);
    if (sandbox_state(sb) == SANDBOX_RUNNING) {
        fn(ctx, sb, NULL);
        return 0;
    }
    if (sb->spec.auto_resume && !sb->is_halted)
        return sandbox_resume(sb, &how, fn, ctx);
    (void)err_set(&e, -EHOSTDOWN, "sandbox %s is paused", sb->name);
    fn(ctx, sb, &e);
    return 0;
}

/* ---- deadlines ---- */

static void expire(struct sandbox *sb, enum sandbox_end reason)
{
    struct err e = ERR_INIT;

    if (!sb->spec.auto_pause) {
        sandbox_end(sb, reason);
        return;
    }
    int code = sb->spec.forgets_memory ? sandbox_halt_for(sb, reason, NULL, NULL)
                                       : sandbox_pause_for(sb, reason, NULL, NULL);
    if (code == 0 || sandbox_state(sb) != SANDBOX_RUNNING)
        return;
    (void)err_sys(&e, code, "pause sandbox %s", sb->name);
    sandbox_put_off(sb, reason, &e);
}

int sandbox_expire(struct sandbox *sb)
{
    if (sandbox_state(sb) != SANDBOX_RUNNING || sb->set->is_stopped)
        return -ENOENT;
    if (sb->is_talking)
        return -EBUSY;
    expire(sb, SANDBOX_END_TIMEOUT);
    return 0;
}

static void on_sandbox_timer(struct loop_timer *t)
{
    struct sandbox *sb = container_of(t, struct sandbox, timer);
    int64_t now_ms = clock_mono_ms();

    /* Somebody gave it a new time while it is on its way elsewhere. */
    if (sb->is_talking)
        sandbox_arm_in(sb, BUSY_MS);
    else if (now_ms >= timeout_due_ms(sb))
        expire(sb, SANDBOX_END_TIMEOUT);
    else if (now_ms >= idle_due_ms(sb))
        expire(sb, SANDBOX_END_IDLE);
    else
        sandbox_arm(sb);
}
