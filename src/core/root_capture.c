/* SPDX-License-Identifier: MIT */
/* A sandbox as it is now, made a root: see root.h. Its processes are stopped, the spawner hands
 * over the home of its upper layer, a thread copies that, and the processes go on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/disk_guard.h"
#include "core/limits.h"
#include "core/root_internal.h"
#include "core/sandbox_internal.h"
#include "runtime/engine.h"
#include "runtime/engine_freeze.h"
#include "runtime/engine_root.h"

enum {
    AGAIN_MS = 5,
    TRY_MS = 2,
    TRIES = 600,
    THAW_EVERY = 40,
    UNIQUE_LEN = 24,
    FREE_SHARE = 8,
    FILE_BYTES = 4096 /* that a file counts for besides what is in it */
};

struct capture {
    struct list node;
    struct work work;
    struct loop_timer timer; /* between attempts to stop the processes */
    int attempt;
    struct roots *set;
    struct sandbox *sb;   /* a reference */
    struct root *base;    /* its root, a reference; NULL: the default template */
    bool is_frozen_by_us; /* it runs, and has to go on */
    bool is_asking, is_working;
    struct root_capture rq; /* strings and JSON in the arena */
    struct arena arena;
    char account[ACCOUNT_ID_MAX + 1], origin[SANDBOX_ID_LEN + 1];
    uint64_t allowed; /* bytes that the account may still have */
    int home_fd;
    uint32_t uid_base;
    /* What the thread makes. */
    char layer[LAYER_ID_MAX], id[ROOT_ID_MAX];
    struct err e;
};

static void capture_free(struct capture *c)
{
    loop_timer_stop(&c->timer);
    list_del(&c->node);
    close_p(&c->home_fd);
    if (c->layer[0])
        roots_unpin(c->set, c->layer);
    root_unref(c->base);
    sandbox_unref(c->sb);
    arena_done(&c->arena);
    free(c);
}

/* Lets the sandbox go on, if it is still there. */
static void let_go(struct capture *c)
{
    struct sandbox *sb = c->sb;

    loop_timer_stop(&c->timer);
    sb->is_talking = false;
    if (sb->set->is_stopped || sandbox_state(sb) != SANDBOX_RUNNING || !sb->cell)
        return;
    if (c->is_frozen_by_us) {
        (void)engine_cell_freeze(sb->cell, false, NULL);
        engine_cell_boost(sb->cell, false);
    }
    sandbox_arm(sb);
}

static void finish_capture(struct capture *c)
{
    struct roots *set = c->set;
    struct root *r = NULL;

    let_go(c);
    if (!c->e.code && c->set->is_stopped)
        (void)err_set(&c->e, -ESHUTDOWN, "the service is stopping");
    if (!c->e.code)
        r = roots_take_in(c->set, c->id, &c->e);
    c->rq.fn(c->rq.ctx, r, r ? NULL : &c->e);
    capture_free(c);
    /* Not before its layer is let go, which would survive. */
    if (!r)
        roots_sweep(set);
}

/* ---- the thread ---- */

/* What the copy may take: it must not fill the disk that all sandboxes have. */
static uint64_t find_capture_room(const char *state)
{
    struct statvfs fs;

    if (statvfs(state, &fs) < 0)
        return 0;
    uint64_t all = fs.f_blocks * fs.f_frsize / (FREE_SHARE * FREE_SHARE);
    uint64_t left = fs.f_bavail * fs.f_frsize;
    return left > all ? left - all : 0;
}

static int write_capture_root(struct capture *c, uint64_t bytes)
{
    char layers[ROOT_LAYERS_MAX][LAYER_ID_MAX];
    const struct root *base = c->base;
    size_t n_base = base ? base->args.n_layers : 0;
    struct root_args a = {
        .kind = c->rq.kind,
        .name = c->rq.name,
        .account = str_of(c->account),
        .origin = str_of(c->origin),
        .is_on_default = !base || base->args.is_on_default,
        .layers = (const char(*)[LAYER_ID_MAX])layers,
        .n_layers = n_base + 1,
        .bytes = bytes,
        .config = c->rq.config ? c->rq.config
                  : base       ? base->args.config
                               : NULL,
        .extra = c->rq.extra,
    };

    memcpy(layers[0], c->layer, sizeof layers[0]);
    if (n_base > 0)
        memcpy(layers[1], base->args.layers[0], n_base * sizeof layers[0]);
    return root_write(c->set->state, &a, c->id, &c->e);
}

static void run_capture(struct work *w)
{
    struct capture *c = container_of(w, struct capture, work);
    uint64_t room = find_capture_room(c->set->state);
    const bool is_bound = c->allowed < room;
    room = is_bound ? c->allowed : room;
    const struct layer_size max = {room, room / FILE_BYTES < LAYER_FILES_MAX ? room / FILE_BYTES
                                                                             : LAYER_FILES_MAX};
    struct layer_draft d = {.fd = -1, .is_stopped = &c->set->is_stopped};
    int r = layer_begin(&d, c->set->state, &max, &c->e);

    if (r == 0)
        r = layer_capture(&d, c->home_fd, c->uid_base, !c->base || c->base->args.is_on_default,
                          &c->e);
    uint64_t bytes = d.size.bytes + FILE_BYTES * d.size.n_files;
    if ((r == -EFBIG || r == -EMFILE) && is_bound)
        r = err_set(&c->e, -EDQUOT,
                    "capacity exceeded: your account has no room for a copy of the files, please "
                    "delete snapshots or templates");
    else if (r == -EFBIG)
        r = err_set(&c->e, -ENOSPC, "the disk of the service has no room for a copy of the files");
    if (r == 0)
        r = layer_commit(&d, c->layer, !c->rq.is_temporary, &c->e);
    layer_drop(&d);
    if (r == 0)
        (void)write_capture_root(c, bytes);
}

static void end_capture(struct work *w)
{
    struct capture *c = container_of(w, struct capture, work);

    c->is_working = false;
    if (!c->e.code && sandbox_state(c->sb) != SANDBOX_RUNNING &&
        sandbox_state(c->sb) != SANDBOX_PAUSED) {
        char path[PATH_MAX];
        if (root_file_path(c->set->state, c->id, false, path) == 0)
            (void)unlink(path);
        (void)err_set(&c->e, -ENOENT, "sandbox %s was deleted meanwhile", c->sb->name);
    }
    finish_capture(c);
}

/* ---- the steps ---- */

static void fail_step(struct capture *c, int code, const char *what)
{
    if (!c->e.code)
        (void)err_sys(&c->e, code, "%s sandbox %s", what, c->sb->name);
    finish_capture(c);
}

static void take_upper(void *ctx, int fd, const struct err *e)
{
    struct capture *c = ctx;

    c->is_asking = false;
    if (e)
        c->e = *e;
    c->home_fd = fd < 0 ? -1 : fd;
    c->work = (struct work){.owner = str_of(c->account), .run = run_capture, .done = end_capture};
    int r = fd < 0 ? fd : work_submit(c->set->captures, c->set->core->loop, &c->work);
    c->is_working = r >= 0;
    if (r < 0)
        fail_step(c, r, "copy");
}

static int ask_upper(struct capture *c)
{
    int r = engine_cell_upper(c->sb->cell, take_upper, c, &c->e);

    c->is_asking = r == 0;
    return r;
}

/* Some processes are only caught by a thaw and a new attempt. */
static int try_to_stop(struct capture *c)
{
    int n = c->attempt++;

    if (n == 1)
        engine_cell_boost(c->sb->cell, true);
    if (n > 0 && n % THAW_EVERY == 0)
        (void)engine_cell_freeze(c->sb->cell, false, NULL);
    return engine_cell_try_freeze(c->sb->cell, n == 0 ? TRY_MS : 0);
}

static void on_again(struct loop_timer *t)
{
    struct capture *c = container_of(t, struct capture, timer);
    int r = -ENOENT;

    if (sandbox_state(c->sb) == SANDBOX_RUNNING)
        r = try_to_stop(c);
    if (r == -ETIMEDOUT && c->attempt < TRIES &&
        loop_timer_start(c->set->core->loop, t, AGAIN_MS, on_again) == 0)
        return;
    if (r == 0)
        r = ask_upper(c);
    if (r < 0)
        fail_step(c, r, "stop");
}

static int start_capture(struct capture *c)
{
    struct sandbox *sb = c->sb;
    int r = 0;

    if (sandbox_state(sb) == SANDBOX_RUNNING) {
        c->is_frozen_by_us = true;
        r = try_to_stop(c);
    }
    if (r == -ETIMEDOUT)
        r = loop_timer_start(c->set->core->loop, &c->timer, AGAIN_MS, on_again);
    else if (r == 0)
        r = ask_upper(c);
    if (r < 0)
        return r;
    loop_timer_stop(&sb->timer);
    sb->is_talking = true;
    return 0;
}

static int copy_request(struct capture *c, const struct root_capture *rq)
{
    c->rq = *rq;
    c->rq.name = arena_str(&c->arena, rq->name.p ? rq->name : STR(""));
    if (rq->config)
        c->rq.config = json_copy(&c->arena, rq->config);
    if (rq->extra)
        c->rq.extra = json_copy(&c->arena, rq->extra);
    bool has_all = c->rq.name.p && (!rq->config || c->rq.config) && (!rq->extra || c->rq.extra);
    return has_all ? 0 : -ENOMEM;
}

static int check_capture(const struct sandbox *sb, const struct root_capture *rq, struct err *e)
{
    const struct root *base = sb->root;
    size_t n = base ? base->args.n_layers : 0;
    size_t max = !base || base->args.is_on_default ? ROOT_ON_DEFAULT_MAX : ROOT_LAYERS_MAX;

    if (!sandbox_cell(sb) || sb->set->is_stopped)
        return err_sys(e, -ENOENT, "sandbox %s", sb->name);
    if (sb->is_talking)
        return err_set(e, -EBUSY, "sandbox %s is changing its state", sb->name);
    if (n >= max)
        return err_set(e, -EMLINK, "sandbox %s has %zu layers, which is the maximum", sb->name, n);
    if (rq->name.len >= ROOT_NAME_MAX)
        return err_set(e, -EINVAL, "a name has at most %d bytes", ROOT_NAME_MAX - 1);
    return disk_guard_check(sb->set->core->disk_guard, e);
}

/* What the account may still have. A copy that would be refused when it is done is not begun; one
 * that would be too large ends early. */
static int check_capture_limits(struct capture *c, struct err *e)
{
    struct core *core = c->set->core;
    struct account *account = accounts_account(core->accounts, str_of(c->account));
    const struct tally *t = limits_tally(core->limits, account, LIMIT_ACCOUNT_ROOTS);

    if (t->max > 0 && t->n >= t->max)
        return limits_refuse(t, LIMIT_ACCOUNT_ROOTS, -EDQUOT, e);
    t = limits_tally(core->limits, account, LIMIT_ACCOUNT_SNAPSHOTS);
    c->allowed = UINT64_MAX;
    if (t->max > 0)
        c->allowed = t->n < t->max ? (uint64_t)(t->max - t->n) : 0;
    return 0;
}

int root_capture(struct sandbox *sb, const struct root_capture *rq, struct err *e)
{
    struct roots *set = sb->set->core->roots;
    char unique[UNIQUE_LEN + 1];
    int r = check_capture(sb, rq, e);

    if (r < 0)
        return r;
    struct capture *c = mem_zalloc(1, sizeof *c);
    if (!c)
        return err_sys(e, -ENOMEM, "capture");
    c->set = set;
    c->home_fd = -1;
    c->sb = sandbox_ref(sb);
    c->base = sb->root ? root_ref(sb->root) : NULL;
    c->uid_base = engine_cell_info(sb->cell)->uid_base;
    arena_init(&c->arena, ROOT_FILE_MAX);
    list_append(&set->capturing, &c->node);
    (void)snprintf(c->account, sizeof c->account, "%s", sb->account);
    (void)snprintf(c->origin, sizeof c->origin, "%s", sb->id);
    r = copy_request(c, rq);
    if (r == 0)
        r = check_capture_limits(c, &c->e);
    id_hex(unique, UNIQUE_LEN);
    char layer[LAYER_ID_MAX];
    (void)snprintf(layer, sizeof layer, "u-%s", unique);
    if (r == 0)
        r = roots_pin(set, layer);
    if (r == 0)
        memcpy(c->layer, layer, sizeof layer);
    if (r == 0)
        r = start_capture(c);
    if (r < 0) {
        if (c->e.code && e)
            *e = c->e;
        else
            (void)err_sys(e, r, "capture sandbox %s", sb->name);
        let_go(c);
        capture_free(c);
    }
    return r;
}

/* Those that a thread works for end when it is done, which is soon. */
void roots_stop_captures(struct roots *set)
{
    list_each(node, &set->capturing)
    {
        struct capture *c = list_entry(node, struct capture, node);
        if (c->is_working)
            continue;
        if (c->is_asking && c->sb->set->engine)
            engine_cell_upper_forget(c->sb->set->engine, c);
        (void)err_set(&c->e, -ESHUTDOWN, "the service is stopping");
        finish_capture(c);
    }
}
