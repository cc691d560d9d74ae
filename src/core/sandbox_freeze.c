/* SPDX-License-Identifier: MIT */
/* Stopping the processes of a sandbox. Mostly that is done in a moment; some resist, by chance or
 * on purpose (forks, a process in the kernel that cannot be interrupted, hundreds that share a
 * small part of a processor). Those are looked at again with the loop's turns in between, for as
 * long as anybody would wait. Then the caller is told so and the sandbox goes on; one whose time is
 * up is tried again and again: it is never ended for that, because its files are somebody's. */
#include "core/sandbox_freeze.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/core.h"
#include "runtime/engine.h"
#include "runtime/engine_freeze.h"

enum {
    TRY_MS = 2, /* that the loop waits for the first attempt, which mostly succeeds */
    LOOK_MS = 5,
    LOOK_MAX_MS = 50,
    HOLD_MS = 40, /* until the processes go on for a moment and are stopped again, doubled */
    HOLD_MAX_MS = 1280,
    GIVE_UP_MS = 10000,
    AGAIN_MS = 2000, /* from there to the next attempt, when its time is up */
};

struct freezing {
    struct list node;
    struct loop_timer timer;
    struct sandbox *sb;
    enum sandbox_end reason;
    sandbox_fn *fn;
    void *ctx;
    int64_t since_ms, held_ms; /* of all, of the present attempt */
    int64_t hold_ms, look_ms;
    bool halts; /* it is paused without its processes */
};

static void freezing_free(struct freezing *f)
{
    if (f->sb->cell)
        engine_cell_boost(f->sb->cell, false);
    loop_timer_stop(&f->timer);
    list_del(&f->node);
    sandbox_unref(f->sb);
    free(f);
}

static void thaw(struct sandbox *sb)
{
    if (sb->cell)
        (void)engine_cell_freeze(sb->cell, false, NULL);
}

/* It goes on; one whose time is up gets a moment until the next attempt. */
static int give_up_freezing(struct freezing *f, int code, struct err *e)
{
    struct sandbox *sb = f->sb;

    thaw(sb);
    if (code == -ETIMEDOUT)
        (void)err_set(e, code, "sandbox %s could not be paused: its processes did not stop in %d s",
                      sb->name, GIVE_UP_MS / 1000);
    else
        (void)err_sys(e, code, "pause sandbox %s", sb->name);
    sandbox_put_off(sb, f->reason, e);
    return e->code;
}

static void end_freezing(struct freezing *f, int r)
{
    struct sandbox *sb = f->sb;
    struct err e = ERR_INIT;

    sb->is_talking = false;
    if (sandbox_state(sb) != SANDBOX_RUNNING)
        r = err_sys(&e, -ENOENT, "sandbox %s", sb->name);
    else if (r == 0) {
        sb->is_halted = f->halts;
        r = sandbox_note_frozen(sb, f->reason, f->fn, f->ctx);
        if (r < 0)
            (void)err_sys(&e, r, "sandbox %s", sb->name);
    } else {
        r = give_up_freezing(f, r, &e);
    }
    if (r < 0 && f->fn)
        f->fn(f->ctx, sb, &e);
    freezing_free(f);
}

/* A process that forks or executes at the wrong moment can leave a group half frozen for good:
 * thawing it and trying again is what helps, but each time takes back what was reached. */
static void start_over(struct freezing *f, int64_t now_ms)
{
    thaw(f->sb);
    f->held_ms = now_ms;
    f->hold_ms = f->hold_ms * 2 < HOLD_MAX_MS ? f->hold_ms * 2 : HOLD_MAX_MS;
    f->look_ms = LOOK_MS;
}

static void on_freeze_look(struct loop_timer *t)
{
    struct freezing *f = container_of(t, struct freezing, timer);
    int64_t now_ms = clock_mono_ms();
    int r = -ENOENT;

    if (sandbox_state(f->sb) == SANDBOX_RUNNING)
        r = engine_cell_try_freeze(f->sb->cell, 0);
    if (r == -ETIMEDOUT && now_ms - f->since_ms < GIVE_UP_MS) {
        if (now_ms - f->held_ms >= f->hold_ms)
            start_over(f, now_ms);
        else if (f->look_ms * 2 <= LOOK_MAX_MS)
            f->look_ms *= 2;
        if (loop_timer_start(f->sb->set->core->loop, t, f->look_ms, on_freeze_look) == 0)
            return;
    }
    end_freezing(f, r);
}

int sandbox_freeze(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx)
{
    struct err e = ERR_INIT;
    int r = engine_cell_try_freeze(sb->cell, TRY_MS);

    if (r == 0)
        return sandbox_note_frozen(sb, reason, fn, ctx);
    struct freezing *f = r == -ETIMEDOUT ? mem_zalloc(1, sizeof *f) : NULL;
    if (f) {
        *f = (struct freezing){.sb = sandbox_ref(sb),
                               .reason = reason,
                               .fn = fn,
                               .ctx = ctx,
                               .since_ms = clock_mono_ms(),
                               .held_ms = clock_mono_ms(),
                               .hold_ms = HOLD_MS,
                               .look_ms = LOOK_MS,
                               .halts = sb->is_halted};
        list_append(&sb->set->freezings, &f->node);
        r = loop_timer_start(sb->set->core->loop, &f->timer, LOOK_MS, on_freeze_look);
        if (r == 0) {
            engine_cell_boost(sb->cell, true);
            loop_timer_stop(&sb->timer);
            sb->is_talking = true;
            return 0;
        }
        freezing_free(f);
    }
    thaw(sb);
    (void)err_sys(&e, r == -ETIMEDOUT ? -ENOMEM : r, "pause sandbox %s", sb->name);
    sandbox_put_off(sb, reason, &e);
    return e.code;
}

/* ---- time that is up ---- */

void sandbox_put_off(struct sandbox *sb, enum sandbox_end reason, const struct err *e)
{
    /* On this host nothing can ever be paused: then a time that is up has to mean the end. */
    if (reason && e->code == -EOPNOTSUPP) {
        sandbox_end(sb, reason);
        return;
    }
    /* Of one that is tried again and again one report is enough. */
    if (!reason || !sb->is_overdue)
        (void)sandbox_note_failure(sb, EVENT_SANDBOX_PAUSE_FAILED, e);
    sb->is_overdue = reason != SANDBOX_END_NONE;
    if (reason)
        sandbox_arm_in(sb, AGAIN_MS);
    else
        sandbox_arm(sb);
}

void sandboxes_stop_freezings(struct sandboxes *set)
{
    list_each(node, &set->freezings)
    {
        struct freezing *f = list_entry(node, struct freezing, node);
        f->sb->is_talking = false;
        freezing_free(f);
    }
}
