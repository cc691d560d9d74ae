/* SPDX-License-Identifier: MIT */
/* Stopping the processes of a sandbox. Mostly that is done in a moment; some resist, by chance or
 * on purpose (forks, a process in the kernel that cannot be interrupted). Those are tried again
 * with the loop's turns in between, for as long as anybody would wait. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/core.h"
#include "core/sandbox_internal.h"
#include "runtime/cgroup.h"
#include "runtime/engine.h"

enum { AGAIN_MS = 5 };

struct freezing {
    struct list node;
    struct loop_timer timer;
    struct sandbox *sb;
    enum sandbox_end reason;
    sandbox_fn *fn;
    void *ctx;
    int attempt;
    bool halts; /* it is paused without its processes */
};

static void freezing_free(struct freezing *f)
{
    loop_timer_stop(&f->timer);
    list_del(&f->node);
    sandbox_unref(f->sb);
    free(f);
}

static void finish(struct freezing *f, int r)
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
        (void)err_sys(&e, r, "pause sandbox %s", sb->name);
        (void)sandbox_note_failure(sb, EVENT_SANDBOX_PAUSE_FAILED, &e);
        /* An automatic pause that failed ends the sandbox: its time is up. */
        if (f->reason)
            sandbox_end(sb, f->reason);
        else
            sandbox_arm(sb);
    }
    if (r < 0 && f->fn)
        f->fn(f->ctx, sb, &e);
    freezing_free(f);
}

static void on_again(struct loop_timer *t)
{
    struct freezing *f = container_of(t, struct freezing, timer);
    int r = -ENOENT;

    if (sandbox_state(f->sb) == SANDBOX_RUNNING)
        r = engine_cell_try_freeze(f->sb->cell, f->attempt++);
    if (r == -ETIMEDOUT && f->attempt < CGROUP_TRIES &&
        loop_timer_start(f->sb->set->core->loop, t, AGAIN_MS, on_again) == 0)
        return;
    finish(f, r);
}

int sandbox_freeze(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx)
{
    struct err e = ERR_INIT;
    int r = engine_cell_try_freeze(sb->cell, 0);

    if (r == 0)
        return sandbox_note_frozen(sb, reason, fn, ctx);
    struct freezing *f = r == -ETIMEDOUT ? mem_zalloc(1, sizeof *f) : NULL;
    if (f) {
        *f = (struct freezing){.sb = sandbox_ref(sb),
                               .reason = reason,
                               .fn = fn,
                               .ctx = ctx,
                               .attempt = 1,
                               .halts = sb->is_halted};
        list_append(&sb->set->freezings, &f->node);
        r = loop_timer_start(sb->set->core->loop, &f->timer, AGAIN_MS, on_again);
        if (r == 0) {
            loop_timer_stop(&sb->timer);
            sb->is_talking = true;
            return 0;
        }
        freezing_free(f);
    }
    (void)engine_cell_freeze(sb->cell, false, NULL);
    (void)err_sys(&e, r, "pause sandbox %s", sb->name);
    return sandbox_note_failure(sb, EVENT_SANDBOX_PAUSE_FAILED, &e);
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
