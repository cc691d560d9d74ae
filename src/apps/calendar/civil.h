/* SPDX-License-Identifier: MIT */
/* Civil time: days, times of the day, and the texts that they are read from and written as.
 *
 * A "local" second counts as if the clock on the wall showed UTC; apps/calendar/zone.h makes UTC of
 * it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum { CIVIL_DAY_S = 86400, CIVIL_YEAR_MIN = 1, CIVIL_YEAR_MAX = 9999 };

struct civil {
    int year, month, day; /* months and days from 1 */
    int hour, minute, second;
};

/* Days since 1970-01-01; DAY may be past the month's last. */
int64_t civil_days(int year, int month, int day);
/* The date of a day and time 0:00. */
struct civil civil_of_days(int64_t days);
int civil_month_len(int year, int month);
/* 0 Sunday … 6 Saturday. */
int civil_weekday(int64_t days);
/* Local seconds, and back. */
int64_t civil_seconds(const struct civil *c);
struct civil civil_of_seconds(int64_t local_s);

struct civil_text {
    int64_t local_s;
    int offset_s; /* of the text: local_s - offset_s is UTC */
    bool has_offset, is_date;
};

/* Reads "2026-01-15", "2026-01-15T09:30", "2026-01-15 09:30:00.123", with "Z" or "+01:00" or
 * without, and the same without '-' and ':'. Fractions are dropped. -EINVAL. */
int civil_read(struct str text, struct civil_text *ret);
/* Appends the time as FORMAT says: %Y %m %d %H %M %S, %A %a (weekday), %B %b (month), %j (day of
 * the year), %z (+0100), %Z ("Z" or "+01:00"), %: (+01:00), %%. -EINVAL when it has others. */
int civil_format(struct buf *out, int64_t local_s, int offset_s, struct str format);
