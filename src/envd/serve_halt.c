/* SPDX-License-Identifier: MIT */
/* POST /halt: ends every process of the cell but this one, and forgets what they shared in memory.
 * Files stay as they are; the daemon freezes the cell then, and claims it again when it resumes. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/serve_internal.h"

enum { STEP_MS = 5, STEPS_MAX = 2000 };

struct halt {
    struct loop_timer timer;
    struct http_req *req;
    struct serve *serve;
    int n_steps;
};

/* Everything here descends from this process, which inherits what loses its parent. */
static bool is_alone(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

static void answer_halt(struct halt *h, int status, const char *why)
{
    struct http_req *r = h->req;

    loop_timer_stop(&h->timer);
    free(h);
    if (why)
        serve_fail_text(r, status, "%s", why);
    else
        http_reply(r, status, "application/json", STR("{}"));
}

static void on_halt_step(struct loop_timer *t)
{
    struct halt *h = container_of(t, struct halt, timer);

    if (is_alone()) {
        forget_shared(&h->serve->forget);
        answer_halt(h, 200, NULL);
    } else if (kill(-1, SIGKILL) < 0 && errno != ESRCH) {
        answer_halt(h, 500, "the processes cannot be killed");
    } else if (++h->n_steps > STEPS_MAX ||
               loop_timer_start(h->serve->loop, t, STEP_MS, on_halt_step) < 0) {
        answer_halt(h, 500, "the processes do not end");
    }
}

static void on_halt_abort(struct http_req *r)
{
    answer_halt(r->user, 499, NULL);
}

void serve_halt(struct serve *s, struct http_req *r)
{
    struct halt *h = mem_zalloc(1, sizeof *h);

    if (!h) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    h->req = r;
    h->serve = s;
    r->user = h;
    r->on_abort = on_halt_abort;
    on_halt_step(&h->timer);
}
