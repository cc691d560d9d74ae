/* SPDX-License-Identifier: MIT */
/* Operations on the content of instances: see instance_op.h.
 *
 * Who runs an operation (the loop's thread or a worker) has the instance's databases to itself:
 * `own` is not touched by anybody else while is_busy. What may take long goes to a worker at once;
 * a call is tried on the loop's thread first, within small limits. */
#include "core/instance_op.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "core/config.h"
#include "core/core.h"
#include "core/instance_internal.h"

enum {
    INLINE_COPY_MAX = 2 << 20, /* bytes of a template that is copied on the loop's thread */
    SLOW_FOR = 16              /* calls of a tool that went over the limits there */
};

/* ---- what is run on either thread ---- */

/* Shorthands of an operation under way. */
struct job {
    struct instance *in;
    struct instance_own *own;
    struct instance_op *op;
    const struct app *app;
    const struct app_engine *engine;
    struct app_home *home;
    char name[INSTANCE_NAME_MAX], base[INSTANCE_NAME_MAX];
    bool is_brief;
};

static struct job job_of(struct instance *in, struct instance_op *op, bool is_brief)
{
    struct instance_template *t = in->own->template;
    struct job j = {.in = in,
                    .own = in->own,
                    .op = op,
                    .app = t->entry->app,
                    .engine = t->entry->app->engine,
                    .home = t->home,
                    .is_brief = is_brief};

    instance_db_name(in, "instances", j.name);
    instance_db_name(in, "bases", j.base);
    return j;
}

static void close_own(struct job *j, bool is_dropped)
{
    if (j->own->handle)
        j->engine->close(take(j->own->handle), is_dropped);
}

/* The open database for reading: the own one when there is, else the template. */
static int open_reader(struct job *j, struct app_handle **ret, struct err *e)
{
    struct instance_own *own = j->own;
    int r = 0;

    if (own->has_copy && !own->handle)
        r = j->engine->open(j->home, j->app, j->name, false, &own->handle, e);
    else if (!own->has_copy && !own->reader)
        r = j->engine->open(j->home, j->app, own->template->name, true, &own->reader, e);
    if (r < 0)
        return r;
    *ret = own->has_copy ? own->handle : own->reader;
    j->engine->tune(*ret, j->in->seed, j->in->start_us);
    return 0;
}

static int make_copy(struct job *j, struct err *e)
{
    if (j->own->has_copy)
        return 0;
    int r = j->engine->copy(j->home, j->own->template->name, j->name, e);
    if (r == 0)
        j->own->has_copy = true;
    return r;
}

static int open_writer(struct job *j, struct app_handle **ret, struct err *e)
{
    int r = make_copy(j, e);

    return r < 0 ? r : open_reader(j, ret, e);
}

static int run_call(struct job *j, struct err *e)
{
    struct instance_op *op = j->op;
    const struct app_tool *tool = app_tool(j->app, op->name);
    struct app_handle *x;

    if (!tool)
        return app_call_unknown(j->app, op->name, op->arena, &op->answer);
    int r = tool->is_read_only ? open_reader(j, &x, e) : open_writer(j, &x, e);
    if (r < 0)
        return r;
    const struct app_tool_call call = {
        .tool = tool, .args = op->args, .arena = op->arena, .is_brief = j->is_brief};
    return j->engine->call(x, &call, &op->answer, e);
}

static int run_reset(struct job *j, struct err *e)
{
    close_own(j, true);
    int r = j->engine->drop(j->home, j->name, e);
    if (r < 0)
        return r;
    j->own->has_copy = false;
    r = j->own->has_base ? j->engine->drop(j->home, j->base, e) : 0;
    j->own->has_base = j->own->has_base && r < 0;
    return r;
}

/* The state after an import is what later changes are told from. */
static int run_import(struct job *j, struct err *e)
{
    struct app_handle *x;
    int r = open_writer(j, &x, e);

    if (r == 0)
        r = j->engine->import(x, j->op->args, j->op->arena, &j->op->text, e);
    if (r < 0)
        return r;
    close_own(j, false);
    r = j->engine->copy(j->home, j->name, j->base, e);
    j->own->has_base |= r == 0;
    return r;
}

static int run_export(struct job *j, struct err *e)
{
    struct app_handle *x;
    int r = open_reader(j, &x, e);

    return r < 0 ? r : j->engine->export(x, j->op->arena, &j->op->text, e);
}

static int run_drop(struct job *j, struct err *e)
{
    return run_reset(j, e);
}

static int run_unknown(struct job *j, struct err *e)
{
    (void)j;
    return err_set(e, -EOPNOTSUPP, "cannot be done yet");
}

/* What each operation does, and whether it is short enough for the loop's thread. */
static const struct {
    int (*run)(struct job *j, struct err *e);
    bool is_short;
} kinds[] = {
    [INSTANCE_CALL] = {run_call, true},          [INSTANCE_RESET] = {run_reset, true},
    [INSTANCE_IMPORT] = {run_import, false},     [INSTANCE_EXPORT] = {run_export, false},
    [INSTANCE_DIFF] = {run_unknown, false},      [INSTANCE_VERIFY] = {run_unknown, false},
    [INSTANCE_SNAPSHOT] = {run_unknown, false},  [INSTANCE_RESTORE] = {run_unknown, false},
    [INSTANCE_SNAPSHOTS] = {run_unknown, false}, [INSTANCE_CALLS] = {run_unknown, false},
    [INSTANCE_DROP] = {run_drop, true},          [INSTANCE_COPY_OUT] = {run_unknown, false},
};

static int run(struct instance *in, struct instance_op *op, bool is_brief)
{
    struct job j = job_of(in, op, is_brief);

    struct err e = ERR_INIT;
    int r = kinds[op->what].run(&j, &e);

    op->err.code = 0;
    if (r < 0 && !e.code)
        (void)err_sys(&e, r, "%s", j.app->name);
    if (r < 0)
        op->err = e;
    return r;
}

/* ---- open handles ---- */

static void note_handle(struct instance *in)
{
    struct instance_own *own = in->own;
    struct instances *set = in->set;
    bool is_listed = own->open.next != &own->open;

    list_del(&own->open);
    set->n_open -= is_listed;
    if (!own->handle)
        return;
    list_append(&set->open, &own->open);
    set->n_open++;
    own->used_ms = loop_now_ms(set->core->loop);
}

void instance_close_handle(struct instance *in, bool is_dropped)
{
    struct instance_own *own = in->own;

    if (own->handle)
        own->template->entry->app->engine->close(take(own->handle), is_dropped);
    note_handle(in);
}

void instances_close_idle(struct instances *set, int64_t before_ms, unsigned max)
{
    list_each(node, &set->open)
    {
        struct instance_own *own = list_entry(node, struct instance_own, open);
        if (own->used_ms >= before_ms && set->n_open <= max)
            return;
        if (!own->is_busy)
            instance_close_handle(own->in, false);
    }
}

/* ---- the queue ---- */

static void end(struct instance *in, struct instance_op *op)
{
    struct instance_own *own = in->own;
    struct err e = op->err;

    if (own->reader)
        template_give_reader(own->template, take(own->reader));
    note_handle(in);
    own->is_busy = false;
    op->done(op, e.code ? &e : NULL);
}

static void run_on_worker(struct work *w)
{
    struct instance_op *op = container_of(w, struct instance_op, work);

    (void)run(op->in, op, false);
}

static void on_worker_done(struct work *w)
{
    struct instance_op *op = container_of(w, struct instance_op, work);
    struct instance *in = op->in;

    end(in, op);
    instance_drain(in);
}

static unsigned char *slow_mark(struct instance_template *t, const struct instance_op *op)
{
    const struct app_tool *tool =
        op->what == INSTANCE_CALL ? app_tool(t->entry->app, op->name) : NULL;

    return tool ? &t->slow[tool - t->entry->app->tools] : NULL;
}

/* True when OP may be tried on this thread. */
static bool is_inline(const struct instance *in, const struct instance_op *op, unsigned char *slow)
{
    const struct instance_template *t = in->own->template;

    if (!t->entry->app->engine->is_quick || !kinds[op->what].is_short)
        return false;
    if (slow && *slow > 0)
        (*slow)--;
    else if (op->what != INSTANCE_CALL || in->own->has_copy || t->size <= INLINE_COPY_MAX)
        return true;
    return false;
}

/* False: a worker has it now. */
static bool start(struct instance *in, struct instance_op *op)
{
    struct instances *set = in->set;
    struct instance_own *own = in->own;
    unsigned char *slow = slow_mark(own->template, op);

    own->is_busy = true;
    own->reader = own->has_copy ? NULL : template_take_reader(own->template);
    if (is_inline(in, op, slow)) {
        if (run(in, op, true) != -EAGAIN) {
            end(in, op);
            return true;
        }
        if (slow)
            *slow = SLOW_FOR;
    }
    op->work = (struct work){.run = run_on_worker, .done = on_worker_done};
    int r = work_submit(set->workers, set->core->loop, &op->work);
    if (r == 0)
        return false;
    (void)err_set(&op->err, r, "too much to do");
    end(in, op);
    return true;
}

static struct instance_op *next_op(struct instance_own *own)
{
    struct list *node = list_pop(&own->queue);

    if (!node)
        return NULL;
    own->n_queued--;
    return list_entry(node, struct instance_op, node);
}

static void on_template(struct template_wait *w, const struct err *e)
{
    struct instance_own *own = container_of(w, struct instance_own, wait);
    struct instance *in = own->in;
    struct instance_op *op;

    own->is_waiting = false;
    while (e && (op = next_op(own)))
        op->done(op, e);
    instance_drain(in);
}

/* True when the template is there. */
static bool has_template(struct instance_own *own)
{
    if (own->is_waiting)
        return false;
    if (own->template->state == TEMPLATE_READY)
        return true;
    own->is_waiting = true;
    own->wait.fn = on_template;
    template_want(own->template, &own->wait);
    return false;
}

void instance_drain(struct instance *in)
{
    struct instance_own *own = in->own;
    struct instance_op *op;

    if (!own || own->is_draining)
        return;
    own->is_draining = true;
    while (!own->is_busy && !list_is_empty(&own->queue) && has_template(own)) {
        op = next_op(own);
        if (!start(in, op))
            break;
    }
    own->is_draining = false;
    instances_close_idle(in->set, 0, (unsigned)in->set->core->config->apps.max_open);
}

void instance_fail_queue(struct instance *in)
{
    struct instance_op *op;
    struct err e = ERR_INIT;

    (void)err_set(&e, -ENOENT, "the instance was released");
    while ((op = next_op(in->own)))
        op->done(op, &e);
}

void instance_enqueue(struct instance *in, struct instance_op *op)
{
    op->in = in;
    op->err = (struct err)ERR_INIT;
    op->begun_us = clock_mono_us();
    list_append(&in->own->queue, &op->node);
    in->own->n_queued++;
    instance_drain(in);
}

void instance_do(struct instance *in, struct instance_op *op)
{
    struct err e = ERR_INIT;

    if (instance_state(in) != INSTANCE_OCCUPIED)
        (void)err_set(&e, -ENOENT, "the instance is not occupied");
    else if (!in->own->template)
        (void)err_set(&e, -ENOENT, "the app %s is not there any more", in->server);
    else if (in->own->n_queued >= INSTANCE_QUEUE_MAX)
        (void)err_set(&e, -EBUSY, "too many calls wait for this instance");
    if (e.code)
        op->done(op, &e);
    else
        instance_enqueue(in, op);
}
