/* SPDX-License-Identifier: MIT */
/* Recurring events (RFC 5545 §3.3.10, §3.8.5): the lines RRULE, EXDATE and RDATE that belong to an
 * event, and when it takes place by them.
 *
 * Known of RRULE: FREQ from DAILY to YEARLY, INTERVAL, COUNT, UNTIL, BYDAY, BYMONTHDAY, BYMONTH,
 * BYSETPOS, WKST. Rules are of the clock on the wall: a meeting at 15:00 stays there when the
 * clocks change. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "apps/calendar/zone.h"
#include "base/err.h"
#include "base/json.h"

enum {
    RECUR_MAX_LINES = 32,
    RECUR_MAX_PARTS = 64,       /* values of one part of a rule */
    RECUR_MAX_DATES = 500,      /* of all EXDATE, and of all RDATE */
    RECUR_MAX_STARTS = 2500,    /* that one question gives */
    RECUR_MAX_PERIODS = 200000, /* that are looked through for them */
    RECUR_MAX_INTERVAL = 1000
};

struct recur_event {
    const struct json *lines; /* array of texts; empty or NULL: once */
    int64_t start_local_s;
    const struct zone *zone;
};

/* -EINVAL: E says which line is wrong. */
int recur_check(const struct recur_event *ev, struct err *e);
/* The starts in [FROM_S, TO_S), in UTC and in order; how many, or -EINVAL as recur_check(). */
int recur_starts(const struct recur_event *ev, int64_t from_s, int64_t to_s,
                 int64_t out[RECUR_MAX_STARTS], struct err *e);
