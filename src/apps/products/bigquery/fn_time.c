/* SPDX-License-Identifier: MIT */
/* Functions of times. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "apps/calendar/civil.h"
#include "apps/calendar/zone.h"
#include "apps/products/bigquery/fn.h"
#include "base/cleanup.h"

void bq_fn_fail(sqlite3_context *x, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    sqlite3_result_error(x, text, -1);
}

bool bq_fn_has_null(int n, sqlite3_value **v)
{
    for (int i = 0; i < n; i++) {
        if (sqlite3_value_type(v[i]) == SQLITE_NULL)
            return true;
    }
    return false;
}

void bq_fn_give_moment(sqlite3_context *x, enum bq_kind kind, int64_t us)
{
    auto_buf struct buf b = BUF_INIT(64);

    if (kind == BQ_TIME)
        us = ((us % BQ_DAY_US) + BQ_DAY_US) % BQ_DAY_US;
    if (bq_moment_write(&b, kind, us) < 0)
        bq_fn_fail(x, "%s value is out of allowed range: from 0001-01-01 to 9999-12-31",
                   bq_kind_name(kind));
    else
        fn_give(x, &b);
}

/* The moment of a value. */
static bool bq_fn_moment(sqlite3_context *x, sqlite3_value *v, struct bq_moment *ret)
{
    struct str text = fn_text(v);

    if (bq_moment_read(text, ret) == 0)
        return true;
    bq_fn_fail(x, "Invalid time: '" STR_FMT "'", STR_ARG(str_slice(text, 0, 100)));
    return false;
}

static enum bq_kind time_kind_of(sqlite3_value *v)
{
    return bq_kind_of(fn_text(v));
}

/* ---- conversions ---- */

/* US of a clock in ZONE's, or back. */
static bool move_zone(sqlite3_context *x, sqlite3_value *zone, bool is_to_utc, int64_t *us)
{
    struct bq_moment m;
    struct str name = fn_text(zone);
    const struct zone *z = zone_find(name);
    char text[64];

    if (!z) { /* "+02:00" */
        (void)snprintf(text, sizeof text, "1970-01-01 00:00:00" STR_FMT, STR_ARG(name));
        if (name.len > 8 || bq_moment_read(str_of(text), &m) < 0) {
            bq_fn_fail(x, "Invalid time zone: " STR_FMT, STR_ARG(str_slice(name, 0, 100)));
            return false;
        }
        *us += is_to_utc ? m.us : -m.us;
        return true;
    }
    int64_t second = *us / BQ_SECOND_US - (*us % BQ_SECOND_US < 0);
    int64_t moved = is_to_utc ? zone_to_utc(z, second) : second + zone_offset_s(z, second);
    *us += (moved - second) * BQ_SECOND_US;
    return true;
}

/* bq_time(kind, value [, zone or time]): DATE(…), TIMESTAMP(…) */
static void make_time(sqlite3_context *x, int n, sqlite3_value **v)
{
    enum bq_kind kind = n > 0 ? time_kind_of(v[0]) : BQ_DATE;
    struct bq_moment m, time;

    if (n < 2 || bq_fn_has_null(n, v) || !bq_fn_moment(x, v[1], &m))
        return;
    /* DATETIME(date, time) */
    if (n > 2 && kind == BQ_DATETIME && bq_moment_read(fn_text(v[2]), &time) == 0 &&
        !time.has_date) {
        bq_fn_give_moment(x, kind, m.us + time.us);
        return;
    }
    bool is_instant = kind == BQ_TIMESTAMP;
    if (n > 2 && !(is_instant && m.has_zone) && !move_zone(x, v[2], is_instant, &m.us))
        return;
    bq_fn_give_moment(x, kind, m.us);
}

/* bq_make(kind, year, month, day, …) */
static void make_of_parts(sqlite3_context *x, int n, sqlite3_value **v)
{
    enum bq_kind kind = n > 0 ? time_kind_of(v[0]) : BQ_DATE;
    int64_t parts[6] = {1970, 1, 1, 0, 0, 0};
    int at = kind == BQ_TIME ? 3 : 0;

    if (n < 2 || bq_fn_has_null(n, v))
        return;
    for (int i = 1; i < n && at < 6; i++, at++)
        parts[at] = sqlite3_value_int64(v[i]);
    static const int64_t low[] = {1, 1, 1, 0, 0, 0}, high[] = {9999, 12, 31, 23, 59, 59};
    bool is_right = true;
    for (size_t i = 0; i < ARRAY_LEN(low); i++)
        is_right &= parts[i] >= low[i] && parts[i] <= high[i];
    if (!is_right || parts[2] > civil_month_len((int)parts[0], (int)parts[1])) {
        bq_fn_fail(x, "Input calculates to invalid %s", bq_kind_name(kind));
        return;
    }
    const struct civil c = {.year = (int)parts[0],
                            .month = (int)parts[1],
                            .day = (int)parts[2],
                            .hour = (int)parts[3],
                            .minute = (int)parts[4],
                            .second = (int)parts[5]};
    bq_fn_give_moment(x, kind, civil_seconds(&c) * BQ_SECOND_US);
}

static void fn_bq_now(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    (void)v;
    bq_fn_give_moment(x, BQ_TIMESTAMP, appdb_now_us(fn_db(x)));
}

/* bq_unix(value, unit) */
static void to_unix(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct bq_moment m;
    int64_t unit = sqlite3_value_int64(v[1]);

    if (bq_fn_has_null(n, v) || !bq_fn_moment(x, v[0], &m))
        return;
    sqlite3_result_int64(x, m.us / unit - (m.us % unit < 0));
}

/* bq_of_unix(kind, number, unit) */
static void of_unix(sqlite3_context *x, int n, sqlite3_value **v)
{
    int64_t us;

    if (bq_fn_has_null(n, v))
        return;
    if (__builtin_mul_overflow(sqlite3_value_int64(v[1]), sqlite3_value_int64(v[2]), &us))
        bq_fn_fail(x, "Input value %lld cannot be converted into a TIMESTAMP",
                   (long long)sqlite3_value_int64(v[1]));
    else
        bq_fn_give_moment(x, time_kind_of(v[0]), us);
}

/* ---- arithmetic ---- */

static void no_part(sqlite3_context *x, sqlite3_value *part)
{
    bq_fn_fail(x, "A valid date part name is required but found " STR_FMT,
               STR_ARG(str_slice(fn_text(part), 0, 60)));
}

/* bq_shift(kind, value, n, part) */
static void fn_shift_time(sqlite3_context *x, int n, sqlite3_value **v)
{
    enum bq_kind kind = time_kind_of(v[0]);
    struct bq_moment m;
    int64_t us;

    if (bq_fn_has_null(n, v) || !bq_fn_moment(x, v[1], &m))
        return;
    int r = bq_moment_shift(m.us, sqlite3_value_int64(v[2]), fn_text(v[3]), &us);
    if (r == -EINVAL)
        no_part(x, v[3]);
    else if (r < 0)
        bq_fn_fail(x, "Adding an interval to the %s value gives one that is out of range",
                   bq_kind_name(kind));
    else
        bq_fn_give_moment(x, kind, us);
}

/* bq_trunc(kind, value, part) */
static void truncate_time(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct bq_moment m;
    int64_t us;

    if (bq_fn_has_null(n, v) || !bq_fn_moment(x, v[1], &m))
        return;
    if (bq_moment_trunc(m.us, fn_text(v[2]), &us) < 0)
        no_part(x, v[2]);
    else
        bq_fn_give_moment(x, time_kind_of(v[0]), us);
}

/* bq_last_day(value, part) */
static void last_day(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct bq_moment m;
    int64_t us;

    if (bq_fn_has_null(n, v) || !bq_fn_moment(x, v[0], &m))
        return;
    if (bq_moment_trunc(m.us, fn_text(v[1]), &us) < 0 ||
        bq_moment_shift(us, 1, fn_text(v[1]), &us) < 0)
        no_part(x, v[1]);
    else
        bq_fn_give_moment(x, BQ_DATE, us - BQ_DAY_US);
}

/* bq_diff(kind, a, b, part) */
static void difference(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct bq_moment a, b;
    int64_t result;
    enum bq_kind kind = time_kind_of(v[0]);

    if (bq_fn_has_null(n, v) || !bq_fn_moment(x, v[1], &a) || !bq_fn_moment(x, v[2], &b))
        return;
    bool is_exact = kind == BQ_TIMESTAMP || kind == BQ_TIME;
    if (bq_moment_diff(a.us, b.us, fn_text(v[3]), is_exact, &result) < 0)
        no_part(x, v[3]);
    else
        sqlite3_result_int64(x, result);
}

/* bq_part(part, value, zone, first day of the week) */
static void fn_time_part(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct bq_moment m;
    char name[32];
    int64_t result;

    if (bq_fn_has_null(n, v) || !bq_fn_moment(x, v[1], &m))
        return;
    if (m.has_zone && !move_zone(x, v[2], false, &m.us))
        return;
    struct str day = fn_text(v[3]);
    (void)snprintf(name, sizeof name, STR_FMT "%s" STR_FMT, STR_ARG(fn_text(v[0])),
                   day.len > 0 ? "_" : "", STR_ARG(day));
    if (bq_moment_part(m.us, str_of(name), &result) < 0)
        no_part(x, v[0]);
    else
        sqlite3_result_int64(x, result);
}

/* bq_dates(from, to, n, part): an array. */
static void dates(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct bq_moment from, to;
    int64_t step = sqlite3_value_int64(v[2]), us;

    if (bq_fn_has_null(n, v) || !bq_fn_moment(x, v[0], &from) || !bq_fn_moment(x, v[1], &to))
        return;
    if (step == 0) {
        bq_fn_fail(x, "Sequence step cannot be 0.");
        return;
    }
    (void)buf_add_char(&b, '[');
    for (int64_t i = 0; i <= 16000; i++) {
        int r = bq_moment_shift(from.us, i * step, fn_text(v[3]), &us);
        if (r == -EINVAL) {
            no_part(x, v[3]);
            return;
        }
        if (r < 0 || (step > 0 ? us > to.us : us < to.us))
            break;
        (void)buf_add_str(&b, i > 0 ? STR(",\"") : STR("\""));
        (void)bq_moment_write(&b, BQ_DATE, us);
        (void)buf_add_char(&b, '"');
    }
    (void)buf_add_char(&b, ']');
    fn_give(x, &b);
}

/* ---- texts ---- */

/* bq_strftime(format, value [, zone]) */
static void format_time(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);
    struct bq_moment m;

    if (n < 2 || bq_fn_has_null(n, v) || !bq_fn_moment(x, v[1], &m))
        return;
    if (n > 2 && !move_zone(x, v[2], false, &m.us))
        return;
    if (bq_moment_format(&b, fn_text(v[0]), m.us) < 0)
        bq_fn_fail(x, "Invalid format string: " STR_FMT, STR_ARG(str_slice(fn_text(v[0]), 0, 100)));
    else
        fn_give(x, &b);
}

/* bq_strptime(kind, format, text) */
static void parse_time(sqlite3_context *x, sqlite3_value **v, bool is_safe)
{
    int64_t us;

    if (bq_fn_has_null(3, v))
        return;
    struct str text = fn_text(v[2]);
    if (bq_moment_parse(fn_text(v[1]), text, &us) == 0)
        bq_fn_give_moment(x, time_kind_of(v[0]), us);
    else if (!is_safe)
        bq_fn_fail(x, "Failed to parse input string \"" STR_FMT "\"",
                   STR_ARG(str_slice(text, 0, 100)));
}

static void fn_strptime(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    parse_time(x, v, false);
}

static void fn_safe_strptime(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    parse_time(x, v, true);
}

static void fn_safe_time(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct bq_moment m;

    if (n > 1 && !bq_fn_has_null(n, v) && bq_moment_read(fn_text(v[1]), &m) == 0)
        make_time(x, n, v);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_bigquery_time[] = {
    {"bq_now", 0, 0, fn_bq_now},
    {"bq_time", -1, PURE, make_time},
    {"safe_bq_time", -1, PURE, fn_safe_time},
    {"bq_make", -1, PURE, make_of_parts},
    {"bq_unix", 2, PURE, to_unix},
    {"bq_of_unix", 3, PURE, of_unix},
    {"bq_shift", 4, PURE, fn_shift_time},
    {"bq_trunc", 3, PURE, truncate_time},
    {"bq_last_day", 2, PURE, last_day},
    {"bq_diff", 4, PURE, difference},
    {"bq_part", 4, PURE, fn_time_part},
    {"bq_dates", 4, PURE, dates},
    {"bq_strftime", -1, PURE, format_time},
    {"bq_strptime", 3, PURE, fn_strptime},
    {"safe_bq_strptime", 3, PURE, fn_safe_strptime},
    {NULL, 0, 0, NULL},
};
