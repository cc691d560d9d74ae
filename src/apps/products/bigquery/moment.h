/* SPDX-License-Identifier: MIT */
/* Times of BigQuery: microseconds since 1970, of the clock on the wall or of UTC, as texts. */
#pragma once

#include "apps/products/bigquery/bq.h"

enum { BQ_SECOND_US = 1000000 };
#define BQ_DAY_US (86400LL * BQ_SECOND_US)

struct bq_moment {
    int64_t us; /* of the clock on the wall; UTC when there is an offset or zone */
    bool has_date, has_time, has_zone;
};

/* Reads "2026-1-15", "2026-01-15T09:00:00.5", "2026-01-15 09:00:00+01", "… UTC", "… Europe/Paris",
 * "09:00:00". -EINVAL. */
int bq_moment_read(struct str text, struct bq_moment *ret);
/* Appends it as a value of KIND. -ERANGE outside the years 1 to 9999. */
int bq_moment_write(struct buf *out, enum bq_kind kind, int64_t us);

/* Parts: MICROSECOND … YEAR, WEEK, ISOWEEK, WEEK_MONDAY, QUARTER, DAYOFWEEK, DAYOFYEAR, ISOYEAR. */

/* -EINVAL: no such part, -ERANGE. */
int bq_moment_shift(int64_t us, int64_t n, struct str part, int64_t *ret);
int bq_moment_trunc(int64_t us, struct str part, int64_t *ret);
/* How many boundaries of PART are between B and A; of a TIMESTAMP how many whole ones pass. */
int bq_moment_diff(int64_t a, int64_t b, struct str part, bool is_exact, int64_t *ret);
int bq_moment_part(int64_t us, struct str part, int64_t *ret);
/* By strftime's letters. -EINVAL. */
int bq_moment_format(struct buf *out, struct str format, int64_t us);
int bq_moment_parse(struct str format, struct str text, int64_t *ret);
