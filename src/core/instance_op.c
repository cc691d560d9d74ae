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
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/instance_calls.h"
#include "core/instance_internal.h"
#include "core/metrics.h"

static void instance_drain(struct instance *in);

enum {
    SLOW_FOR = 16, /* calls of a tool that went over the limits of the loop's thread */
    ANSWERS = 64,  /* kept of one instance's own database, and their bytes */
    ANSWERS_BYTES = 512 << 10
};

/* ---- kept answers ---- */

void instance_forget_answers(struct instance *in)
{
    struct answers *a = take(in->own->answers);

    if (a)
        answers_clear(a);
    free(a);
}

/* Where the answers of the database are that a call of IN reads now; NULL without memory. */
static struct answers *answers_of(struct instance *in)
{
    struct instance_own *own = in->own;

    if (!own->has_copy)
        return &own->template->answers;
    if (!own->answers) {
        own->answers = mem_alloc(sizeof *own->answers);
        if (own->answers)
            answers_init(own->answers, ANSWERS, ANSWERS_BYTES);
    }
    return own->answers;
}

/* The tool that OP calls, when it leaves the database as it is; else NULL. */
static const struct app_tool *reading_tool(const struct instance *in, const struct instance_op *op)
{
    const struct app *app = in->own->template->entry->app;
    const struct app_tool *tool = op->what == INSTANCE_CALL ? app_tool(app, op->name) : NULL;

    return tool && tool->is_read_only && app->engine->is_quick ? tool : NULL;
}

/* True when the database gave the answer before; else OP's key is set where its answer may be
 * kept. */
static bool is_known_op(struct instance *in, struct instance_op *op)
{
    const struct app_tool *tool = reading_tool(in, op);
    const struct answers *a = tool && !in->own->is_restored ? answers_of(in) : NULL;

    op->key = STR_NULL;
    if (!a || !answers_find(a, op))
        return false;
    op->key = STR_NULL; /* it is kept already */
    /* As the call itself would have left them, for the record. */
    return !op->args || schema_defaults(op->arena, tool->schema, op->args) == 0;
}

/* ---- operations that own what they need ---- */

struct instance_op *instance_op_new(enum instance_do what, void *ctx, size_t answer_max)
{
    struct instance_op *op = mem_zalloc(1, sizeof *op);

    if (!op)
        return NULL;
    op->what = what;
    op->ctx = ctx;
    arena_init(&op->own_arena, answer_max);
    op->arena = &op->own_arena;
    return op;
}

void instance_op_free(struct instance_op *op)
{
    if (!op)
        return;
    arena_done(&op->own_arena);
    free(op);
}

int instances_submit(struct instances *set, struct work *w)
{
    return set->workers ? work_submit(set->workers, set->core->loop, w) : -ESHUTDOWN;
}

/* ---- open handles ---- */

/* Those that have a connection of their own are closed when they were idle for long. */
static void note_handle(struct instance *in)
{
    struct instance_own *own = in->own;
    struct instances *set = in->set;
    bool is_listed = own->open.next != &own->open;

    list_del(&own->open);
    set->n_open -= is_listed;
    if (!own->handle || own->template->entry->app->engine->is_quick)
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

/* A close that is under way, in the queue of its instance like any other operation. */
static void on_closed(struct instance_op *op, const struct err *e)
{
    (void)e;
    op->in->own->is_closing = false;
    op->in->set->n_closing--;
    free(op);
}

static void begin_close(struct instance_own *own)
{
    struct instance_op *op = mem_zalloc(1, sizeof *op);

    if (!op) {
        instance_close_handle(own->in, false);
        return;
    }
    op->what = (enum instance_do)INSTANCE_CLOSE;
    op->done = on_closed;
    own->is_closing = true;
    own->in->set->n_closing++;
    instance_enqueue(own->in, op);
}

/* The one that was unused for longest, when that was before BEFORE_MS or there are more than MAX.
 */
static struct instance_own *find_idle(const struct instances *set, int64_t before_ms, unsigned max)
{
    list_each(node, &set->open)
    {
        struct instance_own *own = list_entry(node, struct instance_own, open);
        if (own->used_ms >= before_ms && set->n_open - set->n_closing <= max)
            return NULL;
        if (!own->is_busy && !own->is_closing)
            return own;
    }
    return NULL;
}

void instances_close_idle(struct instances *set, int64_t before_ms, unsigned max)
{
    struct instance_own *own;

    while ((own = find_idle(set, before_ms, max)))
        begin_close(own);
}

/* ---- the queue ---- */

static void count_call(const struct instance *in, const struct instance_op *op)
{
    enum metrics_call result = op->err.code            ? METRICS_CALL_FAILED
                               : op->answer.is_failure ? METRICS_CALL_ERROR
                                                       : METRICS_CALL_OK;

    metrics_app_call(in->set->core->metrics, str_of(in->server), result,
                     clock_mono_us() - op->begun_us);
}

static void end_op(struct instance *in, struct instance_op *op)
{
    struct instance_own *own = in->own;
    struct err e = op->err;

    struct answers *a = op->key.p && !e.code && op->answer.is_fixed ? answers_of(in) : NULL;
    if (a)
        answers_keep(a, op);
    if (own->reader)
        template_give_reader(own->template, take(own->reader));
    note_handle(in);
    own->is_busy = false;
    if (op->what == INSTANCE_CALL)
        count_call(in, op);
    if (op->what == INSTANCE_CALL && !e.code)
        calls_record(in, op);
    op->done(op, e.code ? &e : NULL);
}

static void run_on_worker(struct work *w)
{
    struct instance_op *op = container_of(w, struct instance_op, work);

    (void)content_run(op, false);
}

static void on_worker_done(struct work *w)
{
    struct instance_op *op = container_of(w, struct instance_op, work);
    struct instance *in = op->in;

    if (w->is_dropped)
        (void)err_set(&op->err, -ESHUTDOWN, "the service is stopping");
    end_op(in, op);
    instance_drain(in);
}

static unsigned char *slow_mark(struct instance_template *t, const struct instance_op *op)
{
    const struct app_tool *tool =
        op->what == INSTANCE_CALL ? app_tool(t->entry->app, op->name) : NULL;

    return tool ? &t->slow[tool - t->entry->app->tools] : NULL;
}

/* True when a call of TOOL needs neither a copy of the template nor a new connection. */
static bool is_at_hand(const struct instance_own *own, const struct app_tool *tool)
{
    const struct app *app = own->template->entry->app;

    if (!tool)
        return true;
    return (own->has_copy || tool->is_read_only) && app->engine->is_ready(own->template->home, app);
}

/* True when OP may be tried on this thread. */
static bool is_inline(const struct instance *in, const struct instance_op *op, unsigned char *slow)
{
    const struct app *app = in->own->template->entry->app;

    if (!app->engine->is_quick || !content_is_short(op->what) || in->own->is_restored)
        return false;
    if (slow && *slow > 0) {
        (*slow)--;
        return false;
    }
    return op->what != INSTANCE_CALL || is_at_hand(in->own, app_tool(app, op->name));
}

/* False: a worker has it now. */
static bool start_op(struct instance *in, struct instance_op *op)
{
    struct instances *set = in->set;
    struct instance_own *own = in->own;
    unsigned char *slow = slow_mark(own->template, op);

    loop_doing(set->core->loop, str_of(in->server), op->name);
    own->is_busy = true;
    if (is_known_op(in, op)) {
        end_op(in, op);
        return true;
    }
    if (!reading_tool(in, op))
        instance_forget_answers(in);
    own->reader = own->has_copy || own->is_restored ? NULL : template_take_reader(own->template);
    if (is_inline(in, op, slow)) {
        if (content_run(op, true) != -EAGAIN) {
            end_op(in, op);
            return true;
        }
        if (slow)
            *slow = SLOW_FOR;
    }
    op->work =
        (struct work){.owner = str_of(in->account), .run = run_on_worker, .done = on_worker_done};
    int r = instances_submit(set, &op->work);
    if (r == 0)
        return false;
    (void)err_sys(&op->err, r, "cannot be done now");
    end_op(in, op);
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

static void on_op_template(struct template_wait *w, const struct err *e)
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
    own->wait.fn = on_op_template;
    template_want(own->template, &own->wait);
    return false;
}

/* Goes on with the queue. */
static void instance_drain(struct instance *in)
{
    struct instance_own *own = in->own;
    struct instance_op *op;

    if (!own || own->is_draining)
        return;
    own->is_draining = true;
    while (!own->is_busy && !list_is_empty(&own->queue) && has_template(own)) {
        op = next_op(own);
        if (!start_op(in, op))
            break;
    }
    own->is_draining = false;
    instances_close_idle(in->set, 0, (unsigned)in->set->core->config->apps.max_open);
}

void instance_fail_queue(struct instance *in)
{
    struct instance_op *op;
    struct err e = ERR_INIT;
    struct list kept, *node;

    (void)err_set(&e, -ENOENT, "the instance was released");
    list_init(&kept);
    while ((op = next_op(in->own))) {
        if (op->what == (enum instance_do)INSTANCE_SAVE)
            list_append(&kept, &op->node);
        else
            op->done(op, &e);
    }
    while ((node = list_pop(&kept))) {
        list_append(&in->own->queue, node);
        in->own->n_queued++;
    }
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
        (void)err_set(&e, -ENOENT, "the app %s no longer exists", in->server);
    else if (in->own->n_queued >= INSTANCE_QUEUE_MAX)
        (void)err_set(&e, -EBUSY, "too many calls are waiting for this instance");
    if (e.code)
        op->done(op, &e);
    else
        instance_enqueue(in, op);
}
