/* SPDX-License-Identifier: MIT */
/* Time zones by their IANA names, read from the host's tzdata (RFC 8536). The zone of the process
 * itself is neither looked at nor changed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    ZONE_NAME_MAX = 64,
    ZONE_MAX_TRANSITIONS = 512,
    ZONE_MAX_TYPES = 64,
    ZONE_FILE_MAX = 64 << 10 /* bytes */
};

/* The day of the year on which a rule of the footer changes the offset. */
struct zone_change {
    enum { ZONE_CHANGE_WEEKDAY, ZONE_CHANGE_JULIAN, ZONE_CHANGE_DAY } kind;
    int month, week, day;
    int time_s; /* of the local day; may be negative or more than a day */
};

struct zone {
    char name[ZONE_NAME_MAX];
    int n_transitions;
    int64_t at[ZONE_MAX_TRANSITIONS]; /* UTC seconds */
    uint8_t type[ZONE_MAX_TRANSITIONS];
    int32_t offset_s[ZONE_MAX_TYPES]; /* of the types */
    /* What holds behind the last transition. */
    int32_t std_s, dst_s;
    bool has_rule, has_dst;
    struct zone_change to_dst, to_std;
};

/* The zone of that name; NULL when there is none. Valid until the thread has asked for some others.
 */
const struct zone *zone_find(struct str name);
/* Parses the bytes of a TZif file. -EINVAL. */
int zone_parse(struct str data, struct zone *ret);

/* Seconds east of UTC at that time. */
int zone_offset_s(const struct zone *z, int64_t utc_s);
/* The time at which clocks show LOCAL_S: of two the earlier one; of none (clocks went forward) as
 * much later as they went. */
int64_t zone_to_utc(const struct zone *z, int64_t local_s);
