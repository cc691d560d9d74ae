/* SPDX-License-Identifier: MIT */
/* The occurrences of recurring events in a year, beside libical. */
#include <libical/ical.h>
#include <string.h>

#include "apps/calendar/civil.h"
#include "apps/calendar/recur.h"
#include "base/cleanup.h"
#include "bench.h"

static const char *const rules[] = {
    "FREQ=DAILY",
    "FREQ=WEEKLY;BYDAY=MO,WE,FR",
    "FREQ=MONTHLY;BYDAY=-1FR",
    "FREQ=YEARLY;BYMONTH=3,9;BYDAY=2TU",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=WEEKLY;INTERVAL=2;COUNT=40",
};

enum { TIMES = 200 };
static const int64_t from_s = 1767225600, to_s = 1798761600; /* the year 2026 */

static size_t expand_ours(void *ctx)
{
    static int64_t out[RECUR_MAX_STARTS];
    struct civil_text start = {0};
    size_t n = 0;

    (void)ctx;
    bench_must(civil_read(STR("2020-01-15T10:00:00"), &start) >= 0, "civil_read");
    for (int t = 0; t < TIMES; t++)
        for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
            auto_arena struct arena a;
            struct err e = ERR_INIT;
            arena_init(&a, 1 << 20);
            struct json *lines = json_new_array(&a);
            struct str line = arena_printf(&a, "RRULE:%s", rules[i]);
            (void)json_push(&a, lines, json_new_str(&a, line));
            struct recur_event ev = {lines, start.local_s, zone_find(STR("Europe/Berlin"))};
            int got = recur_starts(&ev, from_s, to_s, out, &e);
            bench_must(got >= 0, "recur_starts");
            n += (size_t)got;
        }
    return n;
}

static size_t expand_libical(void *ctx)
{
    icaltimezone *zone = icaltimezone_get_builtin_timezone("Europe/Berlin");
    size_t n = 0;

    (void)ctx;
    for (int t = 0; t < TIMES; t++)
        for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
            struct icaltimetype start = icaltime_from_string("20200115T100000"), at;
            struct icalrecurrencetype rule = icalrecurrencetype_from_string(rules[i]);
            start.zone = zone;
            icalrecur_iterator *it = icalrecur_iterator_new(rule, start);
            bench_must(it != NULL, "libical");
            while (at = icalrecur_iterator_next(it), !icaltime_is_null_time(at)) {
                int64_t utc_s = icaltime_as_timet_with_zone(at, zone);
                if (utc_s >= to_s)
                    break;
                n += utc_s >= from_s;
            }
            icalrecur_iterator_free(it);
        }
    return n;
}

int main(void)
{
    static const struct bench_side sides[] = {{"ours", expand_ours}, {"libical", expand_libical}};

    bench_compare("recurrence, 1200 rules", 0, sides, ARRAY_LEN(sides), NULL);
    return 0;
}
