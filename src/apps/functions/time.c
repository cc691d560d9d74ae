/* SPDX-License-Identifier: MIT */
/* Time for scripts: texts, zones and recurrence. Times are numbers, seconds since 1970 in UTC. */
#include <errno.h>

#include "apps/calendar/civil.h"
#include "apps/calendar/recur.h"
#include "apps/calendar/zone.h"
#include "apps/functions/functions.h"
#include "base/mem.h"

/* The zone of V; NULL is UTC. On failure the function's result is an error. */
static const struct zone *zone_of(sqlite3_context *x, sqlite3_value *v)
{
    struct str name = sqlite3_value_type(v) == SQLITE_NULL ? STR("UTC") : fn_text(v);
    const struct zone *z = zone_find(name);

    if (!z)
        sqlite3_result_error(x, "no such time zone", -1);
    return z;
}

/* time_read(text, zone): of the clock in ZONE when the text says no offset; NULL when the text is
 * no time. */
static void fn_time_read(sqlite3_context *x, int n, sqlite3_value **v)
{
    const struct zone *z = zone_of(x, v[1]);
    struct civil_text t;

    (void)n;
    if (!z || sqlite3_value_type(v[0]) == SQLITE_NULL || civil_read(fn_text(v[0]), &t) < 0)
        return;
    sqlite3_result_int64(x, t.has_offset ? t.local_s - t.offset_s : zone_to_utc(z, t.local_s));
}

/* time_is_date(text): 1 for "2026-01-15", 0 for a time, NULL for neither. */
static void fn_time_is_date(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct civil_text t;

    (void)n;
    if (sqlite3_value_type(v[0]) != SQLITE_NULL && civil_read(fn_text(v[0]), &t) == 0)
        sqlite3_result_int(x, t.is_date);
}

/* time_write(seconds, zone, format): see civil_format(). */
static void fn_time_write(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(4096);
    const struct zone *z = zone_of(x, v[1]);
    int64_t utc_s = sqlite3_value_int64(v[0]);

    (void)n;
    if (!z || sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    if (utc_s < civil_days(CIVIL_YEAR_MIN, 1, 2) * CIVIL_DAY_S ||
        utc_s > civil_days(CIVIL_YEAR_MAX, 12, 30) * CIVIL_DAY_S)
        return;
    int offset_s = zone_offset_s(z, utc_s);
    if (civil_format(&b, utc_s + offset_s, offset_s, fn_text(v[2])) == -EINVAL)
        sqlite3_result_error(x, "time_write: bad format", -1);
    else
        fn_give(x, &b);
}

/* zone_exists(name) */
static void fn_zone_exists(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    sqlite3_result_int(x, zone_find(fn_text(v[0])) != NULL);
}

/* ---- recurrence ---- */

struct time_event {
    struct arena arena;
    struct recur_event ev;
};

/* Of (lines, start, zone): lines a JSON array, start a time. */
static int read_event(sqlite3_context *x, sqlite3_value **v, struct time_event *ev, struct err *e)
{
    int64_t start_s = sqlite3_value_int64(v[1]);

    ev->ev.zone = zone_of(x, v[2]);
    if (!ev->ev.zone)
        return -EINVAL;
    ev->ev.start_local_s = start_s + zone_offset_s(ev->ev.zone, start_s);
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return 0;
    ev->ev.lines = json_parse(&ev->arena, fn_text(v[0]), NULL, e);
    if (json_is(ev->ev.lines, JSON_ARRAY))
        return 0;
    sqlite3_result_error(x, "the lines of a recurrence are no array", -1);
    return -EINVAL;
}

/* recur_error(lines, start, zone): the line that is wrong, or NULL. */
static void fn_recur_error(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct time_event ev = {0};
    struct err e = ERR_INIT;

    (void)n;
    arena_init(&ev.arena, 1 << 20);
    if (read_event(x, v, &ev, &e) == 0 && recur_check(&ev.ev, &e) < 0)
        sqlite3_result_text(x, err_text(&e), -1, SQLITE_TRANSIENT);
    arena_done(&ev.arena);
}

/* recur_starts(lines, start, zone, from, to): JSON array of the starts in [from, to). */
static void fn_recur_starts(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    int64_t *starts auto_free = mem_zalloc(RECUR_MAX_STARTS, sizeof *starts);
    struct time_event ev = {0};
    struct err e = ERR_INIT;
    struct jw w = jw_to(&b);

    (void)n;
    arena_init(&ev.arena, 1 << 20);
    if (!starts) {
        sqlite3_result_error_nomem(x);
    } else if (read_event(x, v, &ev, &e) == 0) {
        int count =
            recur_starts(&ev.ev, sqlite3_value_int64(v[3]), sqlite3_value_int64(v[4]), starts, &e);
        jw_array(&w);
        for (int i = 0; i < count; i++)
            jw_int(&w, starts[i]);
        jw_end(&w);
        fn_give_json(x, &b);
    }
    arena_done(&ev.arena);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_time[] = {
    {"time_read", 2, PURE, fn_time_read},
    {"time_is_date", 1, PURE, fn_time_is_date},
    {"time_write", 3, PURE, fn_time_write},
    {"zone_exists", 1, PURE, fn_zone_exists},
    {"recur_error", 3, PURE, fn_recur_error},
    {"recur_starts", 5, PURE | SQLITE_SUBTYPE, fn_recur_starts},
    {NULL, 0, 0, NULL},
};
