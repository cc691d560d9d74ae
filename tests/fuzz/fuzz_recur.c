/* SPDX-License-Identifier: MIT */
/* Recurrence: the first line is the event's start, the others its RRULE, EXDATE and RDATE. What is
 * taken gives starts in order, within the time that was asked for. And zone files: the whole input
 * as one. */
#include <stdlib.h>

#include "apps/calendar/civil.h"
#include "apps/calendar/recur.h"
#include "apps/calendar/zone.h"
#include "fuzz.h"

static void try_zone(struct str data)
{
    static const int64_t times[] = {-5000000000, 0, 1768467600, 4000000000, 200000000000};
    struct zone z = {.n_transitions = 0};

    if (zone_parse(data, &z) < 0)
        return;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        (void)zone_offset_s(&z, times[i]);
        (void)zone_to_utc(&z, times[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int64_t out[RECUR_MAX_STARTS];
    auto_arena struct arena a;
    struct str rest = str_n((const char *)data, size);
    struct civil_text start = {.local_s = 1768467600};
    int64_t from = 1767225600, to = 1798761600;
    struct err e = ERR_INIT;

    try_zone(rest);
    arena_init(&a, 1 << 20);
    (void)civil_read(str_cut(&rest, '\n'), &start);
    struct json *lines = json_new_array(&a);
    for (int i = 0; rest.p && i < 2 * RECUR_MAX_LINES; i++)
        (void)json_push(&a, lines, json_new_str(&a, str_cut(&rest, '\n')));
    struct recur_event ev = {lines, start.local_s, zone_find(STR("Europe/Berlin"))};
    int n = ev.zone ? recur_starts(&ev, from, to, out, &e) : 0;
    for (int i = 0; i < n; i++) {
        if (out[i] < from || out[i] >= to || (i > 0 && out[i] <= out[i - 1]))
            abort();
    }
    return 0;
}
