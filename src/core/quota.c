/* SPDX-License-Identifier: MIT */
/* Quotas: see quota.h. */
#include "core/quota.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

enum { SECOND_US = 1000000 };

/* The bucket holds one second of requests. spent_us falls by max_rps each microsecond, so that a
 * request (1e6) is paid back after 1e6 / max_rps microseconds. */
int quota_request(struct quota_use *u, const struct quota_limits *l, int64_t now_us,
                  int64_t *ret_retry_s, struct err *e)
{
    if (l->max_rps <= 0)
        return 0;
    int64_t size = l->max_rps * SECOND_US;
    int64_t passed = now_us - u->seen_us;
    u->seen_us = now_us;
    if (passed >= SECOND_US)
        u->spent_us = 0;
    else if (passed > 0)
        u->spent_us = u->spent_us > passed * l->max_rps ? u->spent_us - passed * l->max_rps : 0;
    if (u->spent_us + SECOND_US > size) {
        int64_t wait_us = (u->spent_us + SECOND_US - size) / l->max_rps;
        *ret_retry_s = wait_us / SECOND_US + 1;
        return err_set(e, -EDQUOT,
                       "rate limit exceeded: more than %" PRId64
                       " requests per second, please retry later",
                       l->max_rps);
    }
    u->spent_us += SECOND_US;
    return 0;
}

int quota_create_begin(struct quota_use *u, const struct quota_limits *l, struct err *e)
{
    if (l->max_creates > 0 && u->n_creates >= l->max_creates)
        return err_set(e, -EDQUOT,
                       "rate limit exceeded: too many concurrent sandbox creation requests "
                       "(%" PRId64 "/%" PRId64 "), please retry later",
                       u->n_creates, l->max_creates);
    u->n_creates++;
    return 0;
}

void quota_create_end(struct quota_use *u)
{
    assert(u->n_creates > 0);
    u->n_creates--;
}

int quota_live_begin(struct quota_use *u, const struct quota_limits *l, struct err *e)
{
    if (l->max_live > 0 && u->n_live >= l->max_live)
        return err_set(e, -EDQUOT,
                       "capacity exceeded: you have reached the maximum sandbox limit (%" PRId64
                       "/%" PRId64 "), please delete some sandboxes before creating new ones",
                       u->n_live, l->max_live);
    u->n_live++;
    return 0;
}

void quota_live_end(struct quota_use *u)
{
    assert(u->n_live > 0);
    u->n_live--;
}
