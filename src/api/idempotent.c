/* SPDX-License-Identifier: MIT */
/* Idempotency-Key: a creating request is done once, however often it is sent. One that comes while
 * the first is still under way waits for that one's answer. */
#include <errno.h>

#include "api/internal.h"
#include "api/warn.h"
#include "base/cleanup.h"
#include "core/idem.h"
#include "core/metrics.h"
#include "store/store.h"

enum { WAIT_STEP_MS = 5, WAIT_MAX_MS = 15000 };

struct api_idem {
    struct api_req *req;
    struct idem_op *op; /* when the request is the one that does it */
    struct str key;
    struct loop_timer timer;
    int64_t waited_ms;
};

static void look_up_answer(struct api_idem *im);

static void on_replay_timer(struct loop_timer *t)
{
    look_up_answer(container_of(t, struct api_idem, timer));
}

static void wait_for_other(struct api_idem *im)
{
    struct api_req *r = im->req;

    im->waited_ms += WAIT_STEP_MS;
    if (im->waited_ms <= WAIT_MAX_MS &&
        loop_timer_start(r->core->loop, &im->timer, WAIT_STEP_MS, on_replay_timer) == 0)
        return;
    (void)http_add_header(r->http, "Retry-After", STR("1"));
    api_fault(r, API_FAULT_IDEM_BUSY, STR_NULL);
}

static void replay_answer(struct api_req *r, const struct idem_answer *answer)
{
    metrics_add(r->core->metrics, METRIC_IDEM_REPLAYED, 1);
    (void)http_add_header(r->http, "Idempotency-Replayed", STR("true"));
    if (r->match.route->replay)
        r->match.route->replay(r, answer->status, answer->body);
    else
        api_reply(r, answer->status, "application/json", answer->body);
}

static void on_begun(struct idem_op *op, int verdict, const struct idem_answer *answer, void *ctx)
{
    struct api_idem *im = ctx;
    struct api_req *r = im->req;

    im->op = op;
    if (verdict < 0) {
        api_fail(r, verdict, NULL);
        return;
    }
    switch ((enum idem_verdict)verdict) {
    case IDEM_NEW: api_begin(r); return;
    case IDEM_REPLAY: replay_answer(r, answer); return;
    case IDEM_MISMATCH: api_fault(r, API_FAULT_IDEM_REUSED, STR_NULL); return;
    case IDEM_IN_FLIGHT: wait_for_other(im); return;
    }
}

static void look_up_answer(struct api_idem *im)
{
    struct api_req *r = im->req;
    const struct idem_request rq = {
        .account = str_of(r->key->account->id),
        .route = arena_printf(r->arena, "%s " STR_FMT, http_method_name(r->http->head.method),
                              STR_ARG(r->http->head.path)),
        .key = im->key,
        .body = r->http->body,
    };
    int code = rq.route.p ? idem_begin(r->core->idem, &rq, on_begun, im) : -ENOMEM;

    if (code == -EINVAL)
        api_error(r, 400, "invalid Idempotency-Key: 1 to %d visible ASCII characters",
                  IDEM_MAX_KEY);
    else if (code < 0)
        api_fail(r, code, NULL);
}

void api_idem_run(struct api_req *r)
{
    struct str key = http_header_get(&r->http->head.headers, "idempotency-key");

    if (!key.p) {
        api_begin(r);
        return;
    }
    r->idem = arena_new(r->arena, struct api_idem);
    if (!r->idem) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    r->idem->req = r;
    r->idem->key = key;
    look_up_answer(r->idem);
}

void api_idem_end(struct api_req *r)
{
    loop_timer_stop(&r->idem->timer);
    if (r->idem->op)
        idem_end(r->idem->op);
    r->idem->op = NULL;
}

int api_record_of(struct api_req *r, struct str thing, struct store_tx *tx, int status,
                  struct str body)
{
    const struct idem_answer answer = {.status = status,
                                       .content_type = STR("application/json"),
                                       .body = api_with_warnings(r, body),
                                       .thing = thing};

    return r->idem ? idem_add(r->idem->op, tx, &answer) : 0;
}

int api_record(struct api_req *r, struct store_tx *tx, int status, struct str body)
{
    return api_record_of(r, STR(""), tx, status, body);
}

struct str api_idem_key(const struct api_req *r)
{
    return r->idem ? r->idem->key : STR_NULL;
}
