/* SPDX-License-Identifier: MIT */
/* GET /api/v1/events: what happened, newest first. Ordinary accounts see their own events. */
#include "core/event.h"

#include <errno.h>

#include "api/native/native.h"
#include "base/clock.h"
#include "core/core.h"

enum { BODY_MAX = 16 << 20 };

/* 0, or -EINVAL after answering. */
static int read_event_limit(struct api_req *r, unsigned *ret)
{
    struct str text = api_query(r, "limit");
    int64_t limit = EVENT_DEFAULT_LIMIT;

    if (text.len > 0 && str_to_i64(text, &limit) < 0) {
        api_error(r, 400, "invalid limit: \"" STR_FMT "\" is not a number", STR_ARG(text));
        return -EINVAL;
    }
    if (limit <= 0) {
        api_error(r, 400, "limit must be a positive integer");
        return -EINVAL;
    }
    *ret = limit > EVENT_MAX_LIMIT ? EVENT_MAX_LIMIT : (unsigned)limit;
    return 0;
}

static void on_events_read(int result, struct str items, void *ctx)
{
    struct api_req *r = ctx;
    struct buf body auto_buf = BUF_INIT(BODY_MAX);
    char now[CLOCK_RFC3339_MAX];

    if (result < 0) {
        api_fail(r, result, NULL);
        return;
    }
    struct jw w = native_begin(&body);
    jw_raw(&w, items);
    clock_rfc3339(now, clock_real_us());
    jw_key(&w, "fetchedAt");
    jw_cstr(&w, now);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

void native_events(struct api_req *r)
{
    struct event_filter filter = {
        .is_system = r->key->account->role == ACCOUNT_SYSTEM,
        .account = str_of(r->key->account->id),
        .sandbox = api_query(r, "sandbox"),
    };

    if (read_event_limit(r, &filter.limit) < 0)
        return;
    int code = event_query(r->core->store, r->core->loop, &filter, on_events_read, r);
    if (code < 0)
        api_fail(r, code, NULL);
}
