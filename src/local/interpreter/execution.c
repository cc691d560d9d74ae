/* SPDX-License-Identifier: MIT */
#include "local/interpreter/execution.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "local/interpreter/event.h"
#include "local/interpreter/interpreter.h"
#include "local/interpreter/kernel.h"

/* An event: text may become six times as long as it was. */
enum { EVENT_MAX = 4 * KERNEL_MESSAGE_MAX, KEEP_BYTES = 1 << 20 };

struct execution *execution_new(struct context *c, struct http_req *r, struct str code,
                                const struct json *env)
{
    struct execution *x = mem_zalloc(1, sizeof *x);

    if (!x)
        return NULL;
    list_init(&x->node);
    x->context = c;
    x->loop = r->loop;
    x->req = r;
    x->code = code;
    x->env = env;
    buf_init(&x->out, EVENT_MAX);
    return x;
}

/* ---- a client that leaves ---- */

static void on_interrupt_again(struct loop_timer *t)
{
    struct execution *x = container_of(t, struct execution, timer);

    if (++x->n_interrupts > INTERPRETER_INTERRUPTS_MAX) {
        context_give_up(x->context); /* frees X */
        return;
    }
    context_interrupt(x->context);
    (void)loop_timer_start(x->loop, t, INTERPRETER_INTERRUPT_MS, on_interrupt_again);
}

static void on_gone(struct http_req *r)
{
    struct execution *x = r->abort_ctx;

    loop_timer_stop(&x->timer);
    x->req = NULL;
    x->env = NULL;
    x->code = STR_NULL;
    http_end(r);
    (void)loop_timer_start(x->loop, &x->timer, INTERPRETER_INTERRUPT_MS, on_interrupt_again);
    context_on_gone(x); /* may free X */
}

/* ---- events ---- */

static void on_quiet_execution(struct loop_timer *t);

static void on_drained(struct http_req *r, void *ctx)
{
    struct execution *x = ctx;

    (void)r;
    context_hold(x, false);
}

static void send_execution_event(struct execution *x)
{
    struct http_req *r = x->req;

    if (!r)
        return;
    if (!buf_ok(&x->out)) {
        buf_done(&x->out);
        event_put_error(&x->out, STR("ResultTooLarge"), STR("a result is larger than can be shown"),
                        STR(""));
    }
    (void)http_write(r, x->out.p, x->out.len);
    if (x->out.cap > KEEP_BYTES)
        buf_done(&x->out);
    buf_clear(&x->out);
    if (!x->req) /* the peer was found to be gone */
        return;
    (void)loop_timer_start(x->loop, &x->timer, INTERPRETER_KEEPALIVE_MS, on_quiet_execution);
    if (http_is_full(r))
        context_hold(x, true);
}

static void on_quiet_execution(struct loop_timer *t)
{
    struct execution *x = container_of(t, struct execution, timer);

    event_put_keepalive(&x->out);
    send_execution_event(x);
}

void execution_put_count(struct execution *x, int64_t n)
{
    event_put_count(&x->out, n);
    send_execution_event(x);
}

void execution_put_text(struct execution *x, bool is_err, struct str text)
{
    event_put_text(&x->out, is_err, text, clock_real_us());
    send_execution_event(x);
}

void execution_put_result(struct execution *x, const struct json *bundle, bool is_main)
{
    event_put_result(&x->out, bundle, is_main);
    send_execution_event(x);
}

void execution_put_error(struct execution *x, struct str name, struct str value,
                         struct str traceback)
{
    event_put_error(&x->out, name, value, traceback);
    send_execution_event(x);
}

/* ---- beginning and end ---- */

void execution_begin(struct execution *x)
{
    struct http_req *r = x->req;

    r->on_abort = on_gone;
    r->abort_ctx = x;
    http_on_drain(r, on_drained, x);
    http_start(r, 200, "application/x-ndjson", -1);
    (void)loop_timer_start(x->loop, &x->timer, INTERPRETER_KEEPALIVE_MS, on_quiet_execution);
}

void execution_end(struct execution *x)
{
    struct http_req *r = x->req;

    loop_timer_stop(&x->timer);
    context_hold(x, false);
    list_del(&x->node);
    if (r) {
        r->on_abort = NULL;
        http_on_drain(r, NULL, NULL);
        event_put_end(&x->out);
        (void)http_write(r, x->out.p, x->out.len);
        http_end(r);
    }
    buf_done(&x->out);
    free(x);
}
