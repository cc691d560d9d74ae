/* SPDX-License-Identifier: MIT */
/* Civil time, zones and recurrence. */
#include "../check.h"

#include <stdio.h>

#include "apps/calendar/civil.h"
#include "apps/calendar/recur.h"
#include "apps/calendar/zone.h"
#include "base/arena.h"
#include "base/cleanup.h"

static int64_t utc(const char *text)
{
    struct civil_text t;

    if (civil_read(str_of(text), &t) < 0)
        fail_msg("cannot read %s", text);
    return t.local_s - t.offset_s;
}

static void days_go_both_ways(void **state)
{
    (void)state;
    assert_int_equal(civil_days(1970, 1, 1), 0);
    assert_int_equal(civil_days(2026, 1, 15), 20468);
    assert_int_equal(civil_weekday(20468), 4);
    assert_int_equal(civil_weekday(-1), 3);
    assert_int_equal(civil_month_len(2024, 2), 29);
    assert_int_equal(civil_month_len(1900, 2), 28);
    for (int64_t d = -800000; d < 800000; d += 97) {
        struct civil c = civil_of_days(d);
        assert_int_equal(civil_days(c.year, c.month, c.day), d);
    }
}

static void reads_times(void **state)
{
    static const char *const good[] = {
        "2026-01-15T09:00:00Z",      "2026-01-15 09:00Z",        "20260115T090000Z",
        "2026-01-15T10:00:00+01:00", "2026-01-15T04:30:00-0430", "2026-01-15T09:00:00.123456Z",
        "2026-01-15T09:00:00",       "2026-01-15t11:00:00+02",
    };
    static const char *const bad[] = {
        "",
        "2026",
        "2026-02-29",
        "2026-13-01",
        "2026-01-15T",
        "2026-01-15T24:00:00Z",
        "2026-01-15T09:60Z",
        "2026-01-15T09:00:00X",
        "15/01/2026",
        "2026-01-15T09:00:00.Z",
        "tomorrow",
        "2026-01-15T09:00+01:00x",
    };
    struct civil_text t;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(utc(good[i]), 1768467600);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (civil_read(str_of(bad[i]), &t) == 0)
            fail_msg("%s was read", bad[i]);
    }
    assert_int_equal(civil_read(STR("2024-02-29"), &t), 0);
    assert_true(t.is_date && !t.has_offset);
}

static void writes_times(void **state)
{
    auto_buf struct buf b = BUF_INIT(1000);

    (void)state;
    assert_int_equal(civil_format(&b, 1768467600, 0, STR("%A %a %d %B %b %Y %j %H:%M:%S %z %Z %:")),
                     0);
    assert_str(buf_str(&b), "Thursday Thu 15 January Jan 2026 015 09:00:00 +0000 Z +00:00");
    buf_clear(&b);
    assert_int_equal(civil_format(&b, -1, -12600, STR("%Y-%m-%dT%H:%M:%S%Z %z%%")), 0);
    assert_str(buf_str(&b), "1969-12-31T23:59:59-03:30 -0330%");
    assert_true(civil_format(&b, 0, 0, STR("%q")) < 0);
    assert_true(civil_format(&b, 0, 0, STR("%")) < 0);
}

static void knows_zones(void **state)
{
    static const struct {
        const char *zone, *at;
        int offset_s;
    } cases[] = {
        {"UTC", "2026-07-01T00:00:00Z", 0},
        {"Europe/Lisbon", "2026-01-15T09:00:00Z", 0},
        {"Europe/Lisbon", "2026-07-15T09:00:00Z", 3600},
        {"Europe/Berlin", "2026-03-29T00:59:59Z", 3600},
        {"Europe/Berlin", "2026-03-29T01:00:00Z", 7200},
        {"Europe/Berlin", "2026-10-25T00:59:59Z", 7200},
        {"Europe/Berlin", "2026-10-25T01:00:00Z", 3600},
        {"America/New_York", "2026-03-08T07:00:00Z", -4 * 3600},
        {"America/New_York", "2060-01-01T00:00:00Z", -5 * 3600}, /* by the rule behind the table */
        {"America/New_York", "2060-07-01T00:00:00Z", -4 * 3600},
        {"Australia/Sydney", "2060-01-01T00:00:00Z", 11 * 3600}, /* summer over the new year */
        {"Australia/Sydney", "2060-07-01T00:00:00Z", 10 * 3600},
        {"Asia/Kolkata", "2026-01-15T09:00:00Z", 19800},
        {"Asia/Tokyo", "2060-01-15T09:00:00Z", 32400},
        {"America/St_Johns", "2026-01-15T09:00:00Z", -12600},
    };
    static const char *const none[] = {
        "",       "Europe/Atlantis", "../../etc/passwd", "/etc/localtime",
        "Europe", "Europe/Berlin\n", "tzdata.zi"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct zone *z = zone_find(str_of(cases[i].zone));
        assert_non_null(z);
        if (zone_offset_s(z, utc(cases[i].at)) != cases[i].offset_s)
            fail_msg("%s at %s: %d", cases[i].zone, cases[i].at,
                     zone_offset_s(z, utc(cases[i].at)));
    }
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        assert_null(zone_find(str_of(none[i])));
}

static void makes_utc_of_local_times(void **state)
{
    const struct zone *z = zone_find(STR("Europe/Berlin"));

    (void)state;
    assert_int_equal(zone_to_utc(z, utc("2026-01-15T10:00:00Z")), utc("2026-01-15T09:00:00Z"));
    assert_int_equal(zone_to_utc(z, utc("2026-07-15T10:00:00Z")), utc("2026-07-15T08:00:00Z"));
    /* Skipped: 02:30 does not exist on that day. Twice: the first one. */
    assert_int_equal(zone_to_utc(z, utc("2026-03-29T02:30:00Z")), utc("2026-03-29T01:30:00Z"));
    assert_int_equal(zone_to_utc(z, utc("2026-10-25T02:30:00Z")), utc("2026-10-25T00:30:00Z"));
}

static void refuses_broken_zones(void **state)
{
    static const char *const broken[] = {"", "TZif", "TZif2",
                                         "TZif2                                       x"};
    struct zone z;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++)
        assert_true(zone_parse(str_of(broken[i]), &z) < 0);
}

/* ---- recurrence ---- */

static struct arena arena;

/* The starts of the next months in the zone's own time: "0115 0122 …". */
static const char *starts_of(const char *lines, const char *zone, const char *start, const char *to)
{
    static char text[4096];
    static int64_t out[RECUR_MAX_STARTS];
    struct recur_event ev = {.lines = json_parse(&arena, str_of(lines), NULL, NULL),
                             .zone = zone_find(str_of(zone)),
                             .start_local_s = utc(start)};
    auto_buf struct buf b = BUF_INIT(sizeof text);
    struct err e = ERR_INIT;
    int n = recur_starts(&ev, utc("2026-01-01"), utc(to), out, &e);

    if (n < 0)
        return "error";
    for (int i = 0; i < n; i++) {
        int offset_s = zone_offset_s(ev.zone, out[i]);
        (void)buf_add_str(&b, i > 0 ? STR(" ") : STR(""));
        assert_int_equal(civil_format(&b, out[i] + offset_s, offset_s, STR("%m%d")), 0);
    }
    (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(buf_str(&b)));
    return text;
}

static void recurs(void **state)
{
    static const struct {
        const char *lines, *start, *to, *starts;
    } cases[] = {
        {"[]", "2026-01-15T15:00", "2026-03-01", "0115"},
        {"[\"RRULE:FREQ=DAILY;COUNT=4\"]", "2026-01-15T15:00", "2026-03-01", "0115 0116 0117 0118"},
        {"[\"RRULE:FREQ=DAILY;INTERVAL=10\"]", "2026-01-15T15:00", "2026-03-01",
         "0115 0125 0204 0214 0224"},
        {"[\"RRULE:FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=4\"]", "2026-01-15T15:00", "2026-03-01",
         "0115 0116 0119 0120"},
        {"[\"RRULE:FREQ=WEEKLY\"]", "2025-01-02T15:00", "2026-01-20", "0101 0108 0115"},
        {"[\"RRULE:FREQ=WEEKLY;UNTIL=20260129T150000Z\"]", "2026-01-15T15:00", "2026-03-01",
         "0115 0122 0129"},
        {"[\"RRULE:FREQ=WEEKLY;UNTIL=20260129T145959Z\"]", "2026-01-15T15:00", "2026-03-01",
         "0115 0122"},
        {"[\"RRULE:FREQ=WEEKLY;UNTIL=20260129\"]", "2026-01-15T15:00", "2026-03-01",
         "0115 0122 0129"},
        {"[\"RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;COUNT=5\"]", "2026-01-15T15:00", "2026-03-01",
         "0115 0126 0129 0209 0212"},
        {"[\"RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU;COUNT=4\"]", "2026-01-18T15:00",
         "2026-03-01", "0118 0119 0201 0202"},
        {"[\"RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=MO;COUNT=4\"]", "2026-01-18T15:00",
         "2026-03-01", "0118 0126 0201 0209"},
        {"[\"RRULE:FREQ=MONTHLY;COUNT=3\"]", "2026-01-31T15:00", "2026-12-01", "0131 0331 0531"},
        {"[\"RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3\"]", "2026-01-15T15:00", "2026-12-01",
         "0131 0228 0331"},
        {"[\"RRULE:FREQ=MONTHLY;BYMONTHDAY=1,15\"]", "2026-01-15T15:00", "2026-03-01",
         "0115 0201 0215"},
        {"[\"RRULE:FREQ=MONTHLY;BYDAY=3TH\"]", "2026-01-15T15:00", "2026-04-01", "0115 0219 0319"},
        {"[\"RRULE:FREQ=MONTHLY;BYDAY=-1FR\"]", "2026-01-15T15:00", "2026-04-01", "0130 0227 0327"},
        {"[\"RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1\"]", "2026-01-15T15:00",
         "2026-04-01", "0130 0227 0331"},
        {"[\"RRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13\"]", "2026-01-15T15:00", "2026-12-31",
         "0213 0313 1113"},
        {"[\"RRULE:FREQ=YEARLY\"]", "2020-02-29T15:00", "2026-12-31", ""},
        {"[\"RRULE:FREQ=YEARLY\"]", "2020-06-05T15:00", "2026-12-31", "0605"},
        {"[\"RRULE:FREQ=YEARLY;BYMONTH=2,4;BYDAY=1MO\"]", "2020-02-03T15:00", "2026-12-31",
         "0202 0406"},
        {"[\"RRULE:FREQ=YEARLY;BYDAY=20MO\"]", "2020-02-03T15:00", "2026-12-31", "0518"},
        {"[\"RRULE:FREQ=YEARLY;BYMONTHDAY=31;BYMONTH=2\"]", "2020-02-03T15:00", "2026-12-31", ""},
        {"[\"RRULE:FREQ=WEEKLY;COUNT=4\",\"EXDATE:20260122T150000Z\"]", "2026-01-15T15:00",
         "2026-03-01", "0115 0129 0205"},
        {"[\"RRULE:FREQ=WEEKLY;COUNT=3\",\"EXDATE;TZID=Europe/Berlin:20260122T160000\"]",
         "2026-01-15T15:00", "2026-03-01", "0115 0129"},
        {"[\"RRULE:FREQ=WEEKLY;COUNT=3\",\"EXDATE;VALUE=DATE:20260122,20260129\"]",
         "2026-01-15T15:00", "2026-03-01", "0115"},
        {"[\"RRULE:FREQ=WEEKLY;COUNT=2\",\"RDATE:20260117T150000Z,20260115T150000Z\"]",
         "2026-01-15T15:00", "2026-03-01", "0115 0117 0122"},
        {"[\"RRULE:FREQ=HOURLY\"]", "2026-01-15T15:00", "2026-03-01", "error"},
        {"[\"RRULE:COUNT=3\"]", "2026-01-15T15:00", "2026-03-01", "error"},
        {"[\"RRULE:FREQ=DAILY;COUNT=3;UNTIL=20260201\"]", "2026-01-15T15:00", "2026-03-01",
         "error"},
        {"[\"RRULE:FREQ=DAILY;FREQ=DAILY\"]", "2026-01-15T15:00", "2026-03-01", "error"},
        {"[\"RRULE:FREQ=DAILY;INTERVAL=0\"]", "2026-01-15T15:00", "2026-03-01", "error"},
        {"[\"RRULE:FREQ=WEEKLY;BYDAY=XX\"]", "2026-01-15T15:00", "2026-03-01", "error"},
        {"[\"RRULE:FREQ=MONTHLY;BYMONTHDAY=32\"]", "2026-01-15T15:00", "2026-03-01", "error"},
        {"[\"FREQ=DAILY\"]", "2026-01-15T15:00", "2026-03-01", "error"},
        {"[\"EXDATE:soon\"]", "2026-01-15T15:00", "2026-03-01", "error"},
        {"[5]", "2026-01-15T15:00", "2026-03-01", "error"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = starts_of(cases[i].lines, "UTC", cases[i].start, cases[i].to);
        if (strcmp(got, cases[i].starts) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i].lines, got, cases[i].starts);
    }
}

/* 15:00 in Lisbon is 15:00 UTC in winter and 14:00 in summer. */
static void recurs_by_the_clock_on_the_wall(void **state)
{
    static int64_t out[RECUR_MAX_STARTS];
    struct recur_event ev = {.lines =
                                 json_parse(&arena, STR("[\"RRULE:FREQ=MONTHLY\"]"), NULL, NULL),
                             .zone = zone_find(STR("Europe/Lisbon")),
                             .start_local_s = utc("2026-03-15T15:00")};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(recur_starts(&ev, utc("2026-01-01"), utc("2026-05-01"), out, &e), 2);
    assert_int_equal(out[0], utc("2026-03-15T15:00Z"));
    assert_int_equal(out[1], utc("2026-04-15T14:00Z"));
}

/* The lines name more zones than are remembered. */
static void keeps_its_zone(void **state)
{
    static int64_t out[RECUR_MAX_STARTS];
    static const char lines[] =
        "[\"RRULE:FREQ=DAILY;COUNT=2\",\"EXDATE;TZID=Asia/Tokyo:20270101T000000\","
        "\"EXDATE;TZID=Asia/Kolkata:20270101T000000\",\"EXDATE;TZID=Europe/Paris:20270101T000000\","
        "\"EXDATE;TZID=Asia/Seoul:20270101T000000\",\"EXDATE;TZID=Asia/Dubai:20270101T000000\"]";
    struct recur_event ev = {.lines = json_parse(&arena, str_of(lines), NULL, NULL),
                             .zone = zone_find(STR("America/New_York")),
                             .start_local_s = utc("2026-01-15T09:00")};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(recur_starts(&ev, utc("2026-01-01"), utc("2026-05-01"), out, &e), 2);
    assert_int_equal(out[0], utc("2026-01-15T14:00Z"));
}

static void recurrence_has_limits(void **state)
{
    static int64_t out[RECUR_MAX_STARTS];
    struct recur_event ev = {.lines = json_parse(&arena, STR("[\"RRULE:FREQ=DAILY\"]"), NULL, NULL),
                             .zone = zone_find(STR("UTC")),
                             .start_local_s = utc("2026-01-15T15:00")};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(recur_starts(&ev, utc("2026-01-01"), utc("9999-01-01"), out, &e),
                     RECUR_MAX_STARTS);
    ev.lines =
        json_parse(&arena, STR("[\"RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30\"]"), NULL, NULL);
    assert_int_equal(recur_starts(&ev, utc("2026-01-01"), utc("9999-01-01"), out, &e), 0);
    struct json *lines = json_new_array(&arena);
    for (int i = 0; i < RECUR_MAX_LINES; i++)
        assert_int_equal(json_push(&arena, lines, json_new_str(&arena, STR("RDATE:20260201"))), 0);
    ev.lines = lines;
    assert_int_equal(recur_check(&ev, &e), 0);
    assert_int_equal(json_push(&arena, lines, json_new_str(&arena, STR("RDATE:20260201"))), 0);
    assert_true(recur_check(&ev, &e) < 0);
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 16 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_go_both_ways),
        cmocka_unit_test(reads_times),
        cmocka_unit_test(writes_times),
        cmocka_unit_test(knows_zones),
        cmocka_unit_test(makes_utc_of_local_times),
        cmocka_unit_test(refuses_broken_zones),
        cmocka_unit_test(recurs),
        cmocka_unit_test(recurs_by_the_clock_on_the_wall),
        cmocka_unit_test(keeps_its_zone),
        cmocka_unit_test(recurrence_has_limits),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
