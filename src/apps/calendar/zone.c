/* SPDX-License-Identifier: MIT */
#include "apps/calendar/zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "apps/calendar/civil.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/io.h"

#define FOLDER     "/usr/share/zoneinfo"
#define CACHE_SIZE 4

/* ---- the file ---- */

struct header {
    uint32_t n_isut, n_isstd, n_leap, n_times, n_types, n_chars;
};

static uint64_t big_endian(const char *p, size_t n)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++)
        v = v << 8 | (uint8_t)p[i];
    return v;
}

static int take_zone_header(struct str *s, struct header *ret)
{
    if (s->len < 44 || memcmp(s->p, "TZif", 4) != 0)
        return -EINVAL;
    const char *p = s->p + 20;
    *ret = (struct header){(uint32_t)big_endian(p, 4),      (uint32_t)big_endian(p + 4, 4),
                           (uint32_t)big_endian(p + 8, 4),  (uint32_t)big_endian(p + 12, 4),
                           (uint32_t)big_endian(p + 16, 4), (uint32_t)big_endian(p + 20, 4)};
    *s = str_skip(*s, 44);
    return 0;
}

/* Bytes of the block behind a header; times have WIDTH bytes. */
static size_t block_len(const struct header *h, size_t width)
{
    return h->n_times * (width + 1) + h->n_types * 6UL + h->n_chars + h->n_leap * (width + 4) +
           h->n_isstd + (size_t)h->n_isut;
}

static int read_block(struct str s, const struct header *h, struct zone *z)
{
    if (h->n_times > ZONE_MAX_TRANSITIONS || h->n_types == 0 || h->n_types > ZONE_MAX_TYPES ||
        block_len(h, 8) > s.len)
        return -EINVAL;
    const char *types = s.p + h->n_times * 8UL, *infos = types + h->n_times;
    z->n_transitions = (int)h->n_times;
    for (uint32_t i = 0; i < h->n_times; i++) {
        z->at[i] = (int64_t)big_endian(s.p + i * 8UL, 8);
        z->type[i] = (uint8_t)types[i];
        if (z->type[i] >= h->n_types || (i > 0 && z->at[i] <= z->at[i - 1]))
            return -EINVAL;
    }
    for (uint32_t i = 0; i < h->n_types; i++)
        z->offset_s[i] = (int32_t)(uint32_t)big_endian(infos + i * 6UL, 4);
    return 0;
}

/* ---- the footer: POSIX's "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

static bool take_zone_char(struct str *s, char c)
{
    if (s->len == 0 || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

static bool take_zone_number(struct str *s, int *ret)
{
    size_t n = 0;

    *ret = 0;
    for (; n < s->len && n < 4 && s->p[n] >= '0' && s->p[n] <= '9'; n++)
        *ret = *ret * 10 + (s->p[n] - '0');
    *s = str_skip(*s, n);
    return n > 0;
}

/* "<+03>", "CET" */
static bool take_zone_name(struct str *s)
{
    size_t n = 0;
    bool is_quoted = take_zone_char(s, '<');

    while (n < s->len &&
           (is_quoted ? s->p[n] != '>' : (s->p[n] | 32) >= 'a' && (s->p[n] | 32) <= 'z'))
        n++;
    *s = str_skip(*s, n);
    return n > 0 && (!is_quoted || take_zone_char(s, '>'));
}

/* "-1", "+3:30", "02:00:00" */
static bool take_span(struct str *s, int *ret)
{
    int hour, minute = 0, second = 0;
    bool is_negative = take_zone_char(s, '-');

    if (!is_negative)
        (void)take_zone_char(s, '+');
    if (!take_zone_number(s, &hour) || (take_zone_char(s, ':') && !take_zone_number(s, &minute)) ||
        (take_zone_char(s, ':') && !take_zone_number(s, &second)))
        return false;
    *ret = (hour * 3600 + minute * 60 + second) * (is_negative ? -1 : 1);
    return hour <= 167 && minute <= 59 && second <= 59;
}

/* "3.5.0": the last Sunday of March */
static bool take_weekday(struct str *s, struct zone_change *c)
{
    if (!take_zone_number(s, &c->month) || !take_zone_char(s, '.') ||
        !take_zone_number(s, &c->week) || !take_zone_char(s, '.') || !take_zone_number(s, &c->day))
        return false;
    return c->month >= 1 && c->month <= 12 && c->week >= 1 && c->week <= 5 && c->day <= 6;
}

static bool take_change(struct str *s, struct zone_change *c)
{
    bool is_known;

    *c = (struct zone_change){.kind = ZONE_CHANGE_DAY, .time_s = 2 * 3600};
    if (take_zone_char(s, 'M')) {
        c->kind = ZONE_CHANGE_WEEKDAY;
        is_known = take_weekday(s, c);
    } else {
        c->kind = take_zone_char(s, 'J') ? ZONE_CHANGE_JULIAN : ZONE_CHANGE_DAY;
        is_known = take_zone_number(s, &c->day) && c->day <= 365;
    }
    return is_known && (!take_zone_char(s, '/') || take_span(s, &c->time_s));
}

static bool read_footer(struct str s, struct zone *z)
{
    int west;

    if (!take_zone_name(&s) || !take_span(&s, &west))
        return false;
    z->std_s = z->dst_s = -west;
    z->has_rule = true;
    if (s.len == 0)
        return true;
    z->has_dst = true;
    z->dst_s = z->std_s + 3600;
    if (!take_zone_name(&s))
        return false;
    if (s.len > 0 && s.p[0] != ',') {
        if (!take_span(&s, &west))
            return false;
        z->dst_s = -west;
    }
    return take_zone_char(&s, ',') && take_change(&s, &z->to_dst) && take_zone_char(&s, ',') &&
           take_change(&s, &z->to_std) && s.len == 0;
}

int zone_parse(struct str data, struct zone *ret)
{
    struct header h;

    if (take_zone_header(&data, &h) < 0)
        return -EINVAL;
    /* The first block has times of 32 bits; files of version 1 end with it and are refused. */
    data = str_skip(data, block_len(&h, 4));
    if (take_zone_header(&data, &h) < 0 || read_block(data, &h, ret) < 0)
        return -EINVAL;
    struct str footer = str_skip(data, block_len(&h, 8));
    if (footer.len < 2 || footer.p[0] != '\n' || footer.p[footer.len - 1] != '\n')
        return -EINVAL;
    footer = str_slice(footer, 1, footer.len - 1);
    return footer.len == 0 || read_footer(footer, ret) ? 0 : -EINVAL;
}

/* ---- finding ---- */

/* Names of files below the folder and nothing else. */
static bool is_zone_name(struct str s)
{
    if (s.len == 0 || s.len >= ZONE_NAME_MAX || s.p[0] == '/')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i], lower = (char)(c | 32);
        if ((lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '/' && c != '_' &&
            c != '-' && c != '+')
            return false;
    }
    return true;
}

static int load_zone(struct str name, struct zone *ret)
{
    struct buf b auto_buf = BUF_INIT(ZONE_FILE_MAX);
    char path[sizeof FOLDER + ZONE_NAME_MAX + 1];

    (void)snprintf(path, sizeof path, FOLDER "/" STR_FMT, STR_ARG(name));
    if (io_read_file(path, &b, NULL) < 0)
        return -ENOENT;
    return zone_parse(buf_str(&b), ret);
}

/* UTC needs no file. */
static bool is_utc(struct str name)
{
    return str_is(name, "UTC") || str_is(name, "Etc/UTC") || str_is(name, "GMT") ||
           str_is(name, "Z");
}

const struct zone *zone_find(struct str name)
{
    static _Thread_local struct zone cache[CACHE_SIZE];
    static _Thread_local unsigned next;
    struct zone *z = &cache[next % CACHE_SIZE];

    if (!is_zone_name(name))
        return NULL;
    for (size_t i = 0; i < CACHE_SIZE; i++) {
        if (str_is(name, cache[i].name))
            return &cache[i];
    }
    *z = (struct zone){.has_rule = true};
    if (!is_utc(name) && load_zone(name, z) < 0) {
        *z = (struct zone){0};
        return NULL;
    }
    (void)snprintf(z->name, sizeof z->name, STR_FMT, STR_ARG(name));
    next++;
    return z;
}

/* ---- asking ---- */

/* Local seconds, of the offset that holds before it, at which the change comes in YEAR. */
static int64_t change_at(const struct zone_change *c, int year)
{
    int64_t first = civil_days(year, 1, 1), days;

    switch (c->kind) {
    case ZONE_CHANGE_WEEKDAY:
        days = civil_days(year, c->month, 1);
        days += (c->day - civil_weekday(days) + 7) % 7 + (c->week - 1) * 7LL;
        if (days >= civil_days(year, c->month, 1) + civil_month_len(year, c->month))
            days -= 7;
        break;
    case ZONE_CHANGE_JULIAN:
        /* Counts from 1 and never counts February 29. */
        days = first + c->day - 1 + (c->day >= 60 && civil_month_len(year, 2) == 29);
        break;
    case ZONE_CHANGE_DAY:
    default: days = first + c->day; break;
    }
    return days * CIVIL_DAY_S + c->time_s;
}

static int offset_by_rule(const struct zone *z, int64_t utc_s)
{
    if (!z->has_dst)
        return z->std_s;
    int year = civil_of_seconds(utc_s + z->std_s).year;
    int64_t to_dst = change_at(&z->to_dst, year) - z->std_s;
    int64_t to_std = change_at(&z->to_std, year) - z->dst_s;
    bool is_dst =
        to_dst < to_std ? utc_s >= to_dst && utc_s < to_std : utc_s >= to_dst || utc_s < to_std;
    return is_dst ? z->dst_s : z->std_s;
}

int zone_offset_s(const struct zone *z, int64_t utc_s)
{
    int low = 0, high = z->n_transitions;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (z->at[middle] <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == z->n_transitions && z->has_rule)
        return offset_by_rule(z, utc_s);
    return z->offset_s[low == 0 ? 0 : z->type[low - 1]];
}

int64_t zone_to_utc(const struct zone *z, int64_t local_s)
{
    /* No two changes are within a day of each other, so these are the offsets around. */
    int before = zone_offset_s(z, local_s - CIVIL_DAY_S);
    int after = zone_offset_s(z, local_s + CIVIL_DAY_S);

    if (zone_offset_s(z, local_s - before) == before)
        return local_s - before;
    if (zone_offset_s(z, local_s - after) == after)
        return local_s - after;
    return local_s - before;
}
