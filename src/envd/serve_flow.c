/* SPDX-License-Identifier: MIT */
/* POST /run with "stream":true: a command whose outputs are passed on as they come, without a
 * limit.
 *
 * The answer is lines of JSON: {"stdout":"…"} and {"stderr":"…"} in base64, in their order, and at
 * the end {"exitCode","signal","timedOut","durationMs"}. A slow reader holds the command back. When
 * the requester leaves the command is interrupted, and killed with all it started a moment later.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "envd/serve_internal.h"

enum { RING_BYTES = 256 << 10, LINE_MAX_BYTES = 1 << 20, GRACE_MS = 2000 };

struct flow {
    struct proc_watch watch;
    struct http_req *req; /* NULL: the requester left */
    struct loop *loop;
    struct loop_timer grace;
    int64_t start_us;
    bool is_waiting; /* for the requester to read */
};

static void flow_free(struct flow *f)
{
    loop_timer_stop(&f->grace);
    proc_watch_stop(&f->watch);
    free(f);
}

static void send_flow_chunk(struct flow *f, const struct ring_chunk *c)
{
    auto_buf struct buf b = BUF_INIT(LINE_MAX_BYTES);

    (void)buf_printf(&b, "{\"%s\":\"", c->source == PROC_STDERR ? "stderr" : "stdout");
    (void)enc_base64(&b, str_n(c->data, c->len));
    (void)buf_add_lit(&b, "\"}\n");
    if (buf_ok(&b))
        (void)http_write(f->req, b.p, b.len);
}

static void send_flow_end(struct flow *f, const struct proc_end *end)
{
    auto_buf struct buf b = BUF_INIT(512);
    bool is_killed = WIFSIGNALED(end->status);
    int code = is_killed ? 128 + WTERMSIG(end->status) : WEXITSTATUS(end->status);

    (void)buf_printf(&b, "{\"exitCode\":%d,\"signal\":%d,\"timedOut\":%s,\"durationMs\":%lld}\n",
                     code, is_killed ? WTERMSIG(end->status) : 0,
                     end->is_timed_out ? "true" : "false",
                     (long long)(clock_mono_us() - f->start_us) / 1000);
    (void)http_write(f->req, b.p, b.len);
}

static void on_flow_drain(struct http_req *r, void *ctx);

static void pump_flow(struct flow *f)
{
    const struct ring_chunk *c;

    while (f->req && !http_is_full(f->req) && (c = proc_watch_read(&f->watch)))
        send_flow_chunk(f, c);
    if (f->req && http_is_full(f->req)) {
        f->is_waiting = true;
        http_on_drain(f->req, on_flow_drain, f);
        return;
    }
    while (!f->req && proc_watch_read(&f->watch))
        ;
    const struct proc_end *end = proc_end(f->watch.proc);
    if (!end)
        return;
    struct http_req *r = f->req;
    if (r) {
        send_flow_end(f, end);
        r->on_abort = NULL;
    }
    flow_free(f);
    if (r)
        http_end(r);
}

static void on_flow_drain(struct http_req *r, void *ctx)
{
    struct flow *f = ctx;

    (void)r;
    f->is_waiting = false;
    pump_flow(f);
}

static void on_flow_progress(struct proc_watch *watch)
{
    struct flow *f = container_of(watch, struct flow, watch);

    if (!f->is_waiting)
        pump_flow(f);
}

static void on_grace(struct loop_timer *t)
{
    proc_kill_all(container_of(t, struct flow, grace)->watch.proc);
}

static void on_flow_abort(struct http_req *r)
{
    struct flow *f = r->user;

    f->req = NULL;
    f->is_waiting = false;
    (void)proc_signal(f->watch.proc, SIGINT);
    if (loop_timer_start(f->loop, &f->grace, GRACE_MS, on_grace) < 0)
        proc_kill_all(f->watch.proc);
    http_end(r);
    pump_flow(f);
}

void serve_flow(struct serve *s, struct http_req *r, struct proc_args *args)
{
    struct flow *f = mem_zalloc(1, sizeof *f);
    struct err e = ERR_INIT;

    if (!f) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    args->ring_bytes = RING_BYTES;
    struct proc *p = proc_start(&s->procs, args, &e);
    if (!p) {
        free(f);
        serve_fail_start(r, &e);
        return;
    }
    f->req = r;
    f->loop = s->procs.loop;
    f->start_us = clock_mono_us();
    f->watch.fn = on_flow_progress;
    r->user = f;
    r->on_abort = on_flow_abort;
    http_start(r, 200, "application/x-ndjson", -1);
    proc_watch_start(p, &f->watch, 1);
}
