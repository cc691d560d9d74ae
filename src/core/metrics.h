/* SPDX-License-Identifier: MIT */
/* Metrics as Prometheus text. There are three sorts: single numbers (metrics.def), requests by
 * route, with a count per status and a latency histogram each, and what is done with apps, by the
 * app's name. The number of series is bounded by the tables and by METRICS_MAX_APPS, whatever
 * clients send. Everything belongs to the loop thread: bumping is an addition. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum metric {
#define METRIC(name, kind, divisor, exposed, help) METRIC_##name,
#include "core/metrics.def"
#undef METRIC
    METRIC_COUNT
};

struct metrics;

struct metrics_route {
    const char *method, *pattern; /* label values; must outlive the metrics */
};

struct metrics *metrics_new(struct err *e);
void metrics_free(struct metrics *m);
/* Numbers for N routes; requests that matched none are counted under index N. Once, before the
 * first request. 0 or -ENOMEM. */
int metrics_set_routes(struct metrics *m, const struct metrics_route *routes, unsigned n,
                       struct err *e);

void metrics_add(struct metrics *m, enum metric id, int64_t by);
void metrics_set(struct metrics *m, enum metric id, int64_t value);
int64_t metrics_get(const struct metrics *m, enum metric id);
/* One of enum sandbox_limit: whether sandboxes go without it because the host cannot keep it. */
void metrics_set_unenforced(struct metrics *m, unsigned limit, bool is_unenforced);
/* Sandbox creates have a histogram of their own: one took so long, from the request to its answer.
 */
void metrics_create(struct metrics *m, int64_t us);
/* A request ended: ROUTE is its index, STATUS what was answered (0: the client left before). */
void metrics_request(struct metrics *m, unsigned route, int status, int64_t us);

/* ---- apps ---- */

/* Names that get series of their own; all that come later share the one of "other". */
#define METRICS_MAX_APPS 128

enum metrics_call {
    METRICS_CALL_OK,
    METRICS_CALL_ERROR,  /* the product answered with an error */
    METRICS_CALL_FAILED, /* the service could not do it */
    METRICS_CALL_COUNT
};

/* N instances of APP were lent. */
void metrics_app_acquired(struct metrics *m, struct str app, size_t n);
/* A tool of APP was called; US from the request to its answer. */
void metrics_app_call(struct metrics *m, struct str app, enum metrics_call result, int64_t us);

/* Reads memory, CPU time and descriptors of this process. */
void metrics_sample_process(struct metrics *m);
/* Appends everything in the text format 0.0.4. Returns as buf_add(). */
int metrics_write(struct buf *out, const struct metrics *m);
