/* SPDX-License-Identifier: MIT */
/* What one key may use at a time: live sandboxes, creates under way, requests a second. Pure
 * counting; the caller has the clock. A limit of 0 is no limit. */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct quota_limits {
    int64_t max_live;    /* sandboxes */
    int64_t max_creates; /* under way at once */
    int64_t max_rps;     /* requests a second; as many may come in one burst */
};

/* What a key uses now; zeroed at the start. */
struct quota_use {
    int64_t n_live, n_creates;
    int64_t spent_us; /* of the bucket, in request-microseconds: 1e6 per request */
    int64_t seen_us;  /* when spent_us was true */
};

/* One more request at NOW_US (monotonic). 0, or -EDQUOT with E filled and *ret_retry_s (at least 1)
 * set to when it is worth trying again. */
int quota_request(struct quota_use *u, const struct quota_limits *l, int64_t now_us,
                  int64_t *ret_retry_s, struct err *e);

/* A create begins: 0, or -EDQUOT with E filled. Each success is ended by quota_create_end(). */
int quota_create_begin(struct quota_use *u, const struct quota_limits *l, struct err *e);
void quota_create_end(struct quota_use *u);

/* A sandbox comes to life or ends. Live ones count from the begin of their create. */
int quota_live_begin(struct quota_use *u, const struct quota_limits *l, struct err *e);
void quota_live_end(struct quota_use *u);
