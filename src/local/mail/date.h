/* SPDX-License-Identifier: MIT */
/* The dates of mail: of headers (RFC 5322 and what programs make of it), of IMAP, ISO 8601, and
 * relative ones as imports have them ("44 days before current date"). */
#pragma once

#include <stdint.h>

#include "base/str.h"

enum { MAIL_DATE_MAX = 48 };

struct mail_date {
    int64_t s;        /* since 1970, UTC */
    int32_t offset_s; /* of the zone that it was written in */
};

/* Reads TEXT; NOW_S is what relative ones begin at. 0 or -EINVAL. */
int mail_date_parse(struct str text, int64_t now_s, struct mail_date *ret);
/* "16-Nov-2026" as the days since 1970. 0 or -EINVAL. */
int mail_date_day(struct str text, int64_t *ret_day);
/* The day that D fell on, where it was written. */
int64_t mail_date_day_of(struct mail_date d);

/* "Mon, 16 Nov 2026 07:00:00 +0000" / "16-Nov-2026 07:00:00 +0000" / "2026-11-16T07:00:00" /
 * "20261116_070000". */
void mail_date_header(char out[MAIL_DATE_MAX], int64_t s);
void mail_date_internal(char out[MAIL_DATE_MAX], int64_t s);
void mail_date_iso(char out[MAIL_DATE_MAX], int64_t s);
void mail_date_compact(char out[MAIL_DATE_MAX], int64_t s);
