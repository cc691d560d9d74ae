/* SPDX-License-Identifier: MIT */
/* Filters of lists: see filter.h. */
#include "api/e2b/filter.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/enc.h"
#include "net/http.h"

/* ---- metadata ---- */

static int bad_pair(struct str pair, struct err *e)
{
    return err_set(e, -EINVAL, "invalid metadata filter: \"" STR_FMT "\" is not key=value",
                   STR_ARG(str_slice(pair, 0, 100)));
}

static int parse_pair(struct arena *a, struct str text, struct e2b_pair *ret, struct err *e)
{
    struct str value = text, key = str_cut(&value, '=');

    if (!value.p || key.len == 0 || str_chr(value, '=') >= 0)
        return bad_pair(text, e);
    ret->key = http_decode_query(a, key);
    ret->value = http_decode_query(a, value);
    return ret->key.p && ret->value.p ? 0 : bad_pair(text, e);
}

int e2b_metadata_parse(struct arena *a, struct str text, struct e2b_metadata *ret, struct err *e)
{
    struct str all = http_decode_query(a, text);
    struct e2b_pair *pairs = arena_zalloc(a, E2B_METADATA_MAX, sizeof *pairs);
    size_t n = 0;

    *ret = (struct e2b_metadata){0};
    if (!pairs)
        return err_sys(e, -ENOMEM, "metadata");
    if (!all.p)
        return bad_pair(text, e);
    while (all.p && all.len > 0) {
        struct str pair = str_cut(&all, '&');
        if (n == E2B_METADATA_MAX)
            return err_set(e, -EINVAL, "invalid metadata filter: more than %d pairs",
                           E2B_METADATA_MAX);
        int r = parse_pair(a, pair, &pairs[n++], e);
        if (r < 0)
            return r;
    }
    *ret = (struct e2b_metadata){pairs, n};
    return 0;
}

/* ---- times ---- */

#define YEAR_10000_S INT64_C(253402300800)

/* N digits at the begin of *S, which moves past them and past SEP (0: nothing). -1: not so. */
static int64_t digits(struct str *s, size_t n, char sep)
{
    int64_t value = 0;

    if (s->len < n + (sep ? 1 : 0) || (sep && s->p[n] != sep))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return -1;
        value = value * 10 + (s->p[i] - '0');
    }
    *s = str_skip(*s, n + (sep ? 1 : 0));
    return value;
}

/* The digits behind a point, as microseconds. */
static int64_t fraction(struct str *s)
{
    int64_t us = 0, unit = 100000;

    if (s->len < 2 || s->p[0] != '.' || s->p[1] < '0' || s->p[1] > '9')
        return 0;
    *s = str_skip(*s, 1);
    for (; s->len > 0 && s->p[0] >= '0' && s->p[0] <= '9'; *s = str_skip(*s, 1)) {
        us += (s->p[0] - '0') * unit;
        unit /= 10;
    }
    return us;
}

/* Seconds east of UTC of "Z" or "+02:00", which must be all of S. */
static int zone(struct str s, int64_t *ret_s)
{
    if (str_iis(s, "z")) {
        *ret_s = 0;
        return 0;
    }
    if (s.len != 6 || (s.p[0] != '+' && s.p[0] != '-'))
        return -EINVAL;
    int64_t sign = s.p[0] == '+' ? 1 : -1;
    s = str_skip(s, 1);
    int64_t hours = digits(&s, 2, ':'), minutes = digits(&s, 2, 0);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return -EINVAL;
    *ret_s = sign * (hours * 3600 + minutes * 60);
    return 0;
}

/* Days since 1970 in the Gregorian calendar; years begin in March here, so that the day of a leap
 * year is the last. */
static int64_t days(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t m = month <= 2 ? month + 9 : month - 3;

    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

/* Seconds since 1970 of "2026-01-27", and since midnight of "10:00:00"; -1: not so. Both move S
 * past what they read. */
static int64_t date(struct str *s)
{
    int64_t year = digits(s, 4, '-'), month = digits(s, 2, '-'), day = digits(s, 2, 0);

    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31)
        return -1;
    return days(year, month, day) * 86400;
}

static int64_t time_of_day(struct str *s)
{
    int64_t hour = digits(s, 2, ':'), minute = digits(s, 2, ':'), second = digits(s, 2, 0);

    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return -1;
    return hour * 3600 + minute * 60 + second;
}

int e2b_time_parse(struct str text, int64_t *ret_us)
{
    struct str s = text;
    int64_t day_s = date(&s), offset_s;

    if (day_s < 0 || s.len == 0 || (s.p[0] != 'T' && s.p[0] != 't'))
        return -EINVAL;
    s = str_skip(s, 1);
    int64_t clock_s = time_of_day(&s), us = fraction(&s);
    if (clock_s < 0 || zone(s, &offset_s) < 0)
        return -EINVAL;
    int64_t at_s = day_s + clock_s - offset_s;
    if (at_s < 0 || at_s >= YEAR_10000_S)
        return -EINVAL;
    *ret_us = at_s * 1000000 + us;
    return 0;
}

/* ---- places ---- */

#define ASCENDING "__asc"
enum { TOKEN_MAX = 256 };

int e2b_cursor_write(struct buf *out, const struct e2b_cursor *c)
{
    char time[CLOCK_RFC3339_MAX], text[TOKEN_MAX];

    clock_rfc3339_us(time, c->started_us);
    int n = snprintf(text, sizeof text, "%s__%s%s", time, c->id, c->is_ascending ? ASCENDING : "");
    return enc_base64url(out, str_n(text, (size_t)n));
}

static bool is_filter_id(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return s.len == SANDBOX_ID_LEN;
}

int e2b_cursor_parse(struct str token, struct e2b_cursor *ret)
{
    struct buf text auto_buf = BUF_INIT(TOKEN_MAX);

    if (token.len > TOKEN_MAX || enc_unbase64(&text, token) < 0)
        return -EINVAL;
    struct str s = buf_str(&text), asc = STR(ASCENDING);
    ret->is_ascending = str_ends(s, asc);
    if (ret->is_ascending)
        s.len -= asc.len;
    ptrdiff_t at = str_find(s, STR("__"));
    if (at < 0)
        return -EINVAL;
    struct str id = str_skip(s, (size_t)at + 2);
    if (!is_filter_id(id) || e2b_time_parse(str_slice(s, 0, (size_t)at), &ret->started_us) < 0)
        return -EINVAL;
    (void)snprintf(ret->id, sizeof ret->id, STR_FMT, STR_ARG(id));
    return 0;
}

int e2b_order(const struct e2b_cursor *a, const struct e2b_cursor *b)
{
    int order = strcmp(a->id, b->id);

    if (a->started_us != b->started_us)
        order = a->started_us > b->started_us ? -1 : 1;
    return a->is_ascending ? -order : order;
}
