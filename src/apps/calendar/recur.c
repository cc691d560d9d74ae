/* SPDX-License-Identifier: MIT */
#include "apps/calendar/recur.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "apps/calendar/civil.h"
#include "base/cleanup.h"
#include "base/mem.h"

enum freq { FREQ_DAILY, FREQ_WEEKLY, FREQ_MONTHLY, FREQ_YEARLY, FREQ_COUNT };

static const struct {
    const char *name;
    int max_days; /* of a period */
} freqs[] = {
    [FREQ_DAILY] = {"DAILY", 1},
    [FREQ_WEEKLY] = {"WEEKLY", 7},
    [FREQ_MONTHLY] = {"MONTHLY", 31},
    [FREQ_YEARLY] = {"YEARLY", 366},
};

/* "-1FR": the last Friday; of 0: every one. */
struct by_day {
    int nth, weekday;
};

struct recur_rule {
    enum freq freq;
    int64_t interval, count; /* count 0: without end */
    bool has_until;
    struct civil_text until;
    struct by_day days[RECUR_MAX_PARTS];
    int n_days;
    int month_days[RECUR_MAX_PARTS], n_month_days;
    int positions[RECUR_MAX_PARTS], n_positions;
    unsigned months; /* bit N: the month N; 0: all */
    int week_start;
};

/* ---- reading ---- */

/* A whole number within [-MAX, MAX] but 0. */
static int read_signed_number(struct str s, int max, int *ret)
{
    int64_t v;

    if (s.len > 0 && s.p[0] == '+')
        s = str_skip(s, 1);
    if (str_to_i64(s, &v) < 0 || v == 0 || v > max || v < -max)
        return -EINVAL;
    *ret = (int)v;
    return 0;
}

static int read_weekday(struct str s)
{
    static const char names[][3] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};

    for (int i = 0; i < 7; i++) {
        if (str_iis(s, names[i]))
            return i;
    }
    return -EINVAL;
}

static int read_freq(struct recur_rule *r, struct str value)
{
    for (int i = 0; i < FREQ_COUNT; i++) {
        if (str_iis(value, freqs[i].name)) {
            r->freq = (enum freq)i;
            return 0;
        }
    }
    return -EINVAL;
}

static int read_recur_interval(struct recur_rule *r, struct str value)
{
    return str_to_i64(value, &r->interval) == 0 && r->interval >= 1 &&
                   r->interval <= RECUR_MAX_INTERVAL
               ? 0
               : -EINVAL;
}

static int read_rule_count(struct recur_rule *r, struct str value)
{
    return str_to_i64(value, &r->count) == 0 && r->count >= 1 ? 0 : -EINVAL;
}

static int read_until(struct recur_rule *r, struct str value)
{
    r->has_until = true;
    return civil_read(value, &r->until);
}

static int read_by_day(struct recur_rule *r, struct str value)
{
    while (value.p) {
        struct str item = str_trim(str_cut(&value, ','));
        struct by_day d = {0};
        if (item.len < 2 || r->n_days == RECUR_MAX_PARTS)
            return -EINVAL;
        d.weekday = read_weekday(str_skip(item, item.len - 2));
        if (d.weekday < 0 ||
            (item.len > 2 && read_signed_number(str_slice(item, 0, item.len - 2), 53, &d.nth) < 0))
            return -EINVAL;
        r->days[r->n_days++] = d;
    }
    return 0;
}

static int read_rule_numbers(struct str value, int max, int *to, int *n)
{
    while (value.p) {
        if (*n == RECUR_MAX_PARTS ||
            read_signed_number(str_trim(str_cut(&value, ',')), max, &to[*n]) < 0)
            return -EINVAL;
        (*n)++;
    }
    return 0;
}

static int read_by_month_day(struct recur_rule *r, struct str value)
{
    return read_rule_numbers(value, 31, r->month_days, &r->n_month_days);
}

static int read_by_set_pos(struct recur_rule *r, struct str value)
{
    return read_rule_numbers(value, 366, r->positions, &r->n_positions);
}

static int read_by_month(struct recur_rule *r, struct str value)
{
    int numbers[RECUR_MAX_PARTS], n = 0, rc = read_rule_numbers(value, 12, numbers, &n);

    for (int i = 0; rc == 0 && i < n; i++) {
        if (numbers[i] < 1)
            return -EINVAL;
        r->months |= 1U << numbers[i];
    }
    return rc;
}

static int read_week_start(struct recur_rule *r, struct str value)
{
    r->week_start = read_weekday(value);
    return r->week_start < 0 ? -EINVAL : 0;
}

static const struct {
    const char *name;
    int (*read)(struct recur_rule *r, struct str value);
} parts[] = {
    {"FREQ", read_freq},        {"INTERVAL", read_recur_interval},
    {"COUNT", read_rule_count}, {"UNTIL", read_until},
    {"BYDAY", read_by_day},     {"BYMONTHDAY", read_by_month_day},
    {"BYMONTH", read_by_month}, {"BYSETPOS", read_by_set_pos},
    {"WKST", read_week_start},
};

static int read_rule_part(struct recur_rule *r, struct str part, unsigned *seen)
{
    struct str name = str_trim(str_cut(&part, '='));

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!str_iis(name, parts[i].name))
            continue;
        if (!part.p || (*seen & 1U << i))
            return -EINVAL;
        *seen |= 1U << i;
        return parts[i].read(r, str_trim(part));
    }
    return -EINVAL;
}

static int read_rule(struct str text, struct recur_rule *ret)
{
    unsigned seen = 0;

    *ret = (struct recur_rule){.interval = 1, .week_start = 1};
    while (text.p) {
        struct str part = str_trim(str_cut(&text, ';'));
        if (part.len > 0 && read_rule_part(ret, part, &seen) < 0)
            return -EINVAL;
    }
    /* FREQ has to be there; COUNT and UNTIL exclude each other. */
    return (seen & 1U) && !(ret->count > 0 && ret->has_until) ? 0 : -EINVAL;
}

/* What RFC 5545 takes from the event's start when the rule does not say. */
static void complete_rule(struct recur_rule *r, const struct recur_event *ev)
{
    struct civil c = civil_of_seconds(ev->start_local_s);
    bool has_day = r->n_days > 0 || r->n_month_days > 0;

    if (has_day || r->freq == FREQ_DAILY)
        return;
    if (r->freq == FREQ_WEEKLY) {
        r->days[r->n_days++].weekday = civil_weekday(civil_days(c.year, c.month, c.day));
        return;
    }
    r->month_days[r->n_month_days++] = c.day;
    if (r->freq == FREQ_YEARLY && r->months == 0)
        r->months = 1U << c.month;
}

/* ---- which days ---- */

struct day {
    int64_t days;
    struct civil c;
    int weekday;
};

/* Is D the NTH of its weekday in the [FIRST, FIRST + LEN) that it is in? */
static bool is_nth(const struct day *d, int nth, int64_t first, int64_t len)
{
    int64_t at = d->days - first;

    return nth > 0 ? at / 7 + 1 == nth : (len - 1 - at) / 7 + 1 == -nth;
}

static bool fits_day(const struct recur_rule *r, const struct day *d)
{
    bool is_of_year = r->freq == FREQ_YEARLY && r->months == 0;
    int64_t first = civil_days(d->c.year, is_of_year ? 1 : d->c.month, 1);
    int64_t len = is_of_year ? civil_days(d->c.year + 1, 1, 1) - first
                             : civil_month_len(d->c.year, d->c.month);

    for (int i = 0; i < r->n_days; i++) {
        if (r->days[i].weekday == d->weekday &&
            (r->days[i].nth == 0 || is_nth(d, r->days[i].nth, first, len)))
            return true;
    }
    return r->n_days == 0;
}

static bool fits_month_day(const struct recur_rule *r, const struct day *d)
{
    int len = civil_month_len(d->c.year, d->c.month);

    for (int i = 0; i < r->n_month_days; i++) {
        int want = r->month_days[i];
        if (d->c.day == (want > 0 ? want : len + 1 + want))
            return true;
    }
    return r->n_month_days == 0;
}

static bool is_rule_day(const struct recur_rule *r, int64_t days)
{
    struct day d = {days, civil_of_days(days), civil_weekday(days)};

    return (r->months == 0 || (r->months & 1U << d.c.month)) && fits_month_day(r, &d) &&
           fits_day(r, &d);
}

/* The first day of the K-th period, counted from the one that the event begins in. */
static int64_t period_start(const struct recur_rule *r, int64_t first, int64_t k)
{
    struct civil c = civil_of_days(first);
    int64_t step = k * r->interval, months;

    switch (r->freq) {
    case FREQ_DAILY: return first + step;
    case FREQ_WEEKLY: return first - (civil_weekday(first) - r->week_start + 7) % 7 + 7 * step;
    case FREQ_MONTHLY:
        months = c.year * 12LL + c.month - 1 + step;
        return civil_days((int)(months / 12), (int)(months % 12) + 1, 1);
    case FREQ_YEARLY:
    case FREQ_COUNT: break;
    }
    return civil_days((int)(c.year + step), 1, 1);
}

static int64_t period_len(const struct recur_rule *r, int64_t start)
{
    struct civil c = civil_of_days(start);

    switch (r->freq) {
    case FREQ_DAILY: return 1;
    case FREQ_WEEKLY: return 7;
    case FREQ_MONTHLY: return civil_month_len(c.year, c.month);
    case FREQ_YEARLY:
    case FREQ_COUNT: break;
    }
    return civil_days(c.year + 1, 1, 1) - start;
}

/* The days of a period that the rule names. */
static int days_of_period(const struct recur_rule *r, int64_t start, int64_t out[366])
{
    int64_t all[366], len = period_len(r, start);
    int n = 0, n_out = 0;

    for (int64_t i = 0; i < len; i++) {
        if (is_rule_day(r, start + i))
            all[n++] = start + i;
    }
    for (int i = 0; i < n; i++) {
        bool is_wanted = r->n_positions == 0;
        for (int k = 0; k < r->n_positions && !is_wanted; k++)
            is_wanted = r->positions[k] > 0 ? i + 1 == r->positions[k] : i - n == r->positions[k];
        if (is_wanted)
            out[n_out++] = all[i];
    }
    return n_out;
}

/* ---- when ---- */

struct dates {
    struct civil_text items[RECUR_MAX_DATES];
    int n;
};

struct recur {
    const struct recur_event *ev;
    struct zone zone; /* a copy: lines may name so many zones that the event's is forgotten */
    int64_t from_s, to_s;
    struct recur_rule rules[RECUR_MAX_LINES];
    int n_rules;
    struct dates without, besides;
    int64_t *out;
    int n;
};

static bool is_after(const struct recur *x, const struct civil_text *limit, int64_t local_s,
                     int64_t utc_s)
{
    (void)x;
    if (limit->has_offset)
        return utc_s > limit->local_s - limit->offset_s;
    return local_s > limit->local_s + (limit->is_date ? CIVIL_DAY_S - 1 : 0);
}

static bool is_left_out(const struct recur *x, int64_t local_s, int64_t utc_s)
{
    for (int i = 0; i < x->without.n; i++) {
        const struct civil_text *t = &x->without.items[i];
        if (t->has_offset ? utc_s == t->local_s - t->offset_s
                          : local_s == t->local_s || (t->is_date && local_s >= t->local_s &&
                                                      local_s < t->local_s + CIVIL_DAY_S))
            return true;
    }
    return false;
}

static void add_start(struct recur *x, int64_t local_s, int64_t utc_s)
{
    if (utc_s >= x->from_s && utc_s < x->to_s && x->n < RECUR_MAX_STARTS &&
        !is_left_out(x, local_s, utc_s))
        x->out[x->n++] = utc_s;
}

/* The period to begin with: without a count those long before FROM need no look. */
static int64_t first_period(const struct recur *x, const struct recur_rule *r, int64_t first)
{
    int64_t ahead = x->from_s / CIVIL_DAY_S - 2 - first;

    if (r->count > 0 || ahead <= 0)
        return 0;
    int64_t k = ahead / (freqs[r->freq].max_days * r->interval) - 1;
    return k > 0 ? k : 0;
}

static void expand(struct recur *x, const struct recur_rule *r)
{
    int64_t first = x->ev->start_local_s / CIVIL_DAY_S - (x->ev->start_local_s % CIVIL_DAY_S < 0);
    int64_t time_s = x->ev->start_local_s - first * CIVIL_DAY_S, days[366], n_seen = 0;
    int64_t k = first_period(x, r, first), end = k + RECUR_MAX_PERIODS;

    for (; k < end && x->n < RECUR_MAX_STARTS; k++) {
        int64_t start = period_start(r, first, k);
        if (start > x->to_s / CIVIL_DAY_S + 2 || civil_of_days(start).year > CIVIL_YEAR_MAX)
            return;
        int n = days_of_period(r, start, days);
        for (int i = 0; i < n; i++) {
            int64_t local_s = days[i] * CIVIL_DAY_S + time_s;
            int64_t utc_s = zone_to_utc(&x->zone, local_s);
            if (days[i] < first)
                continue;
            if ((r->has_until && is_after(x, &r->until, local_s, utc_s)) ||
                (r->count > 0 && n_seen == r->count))
                return;
            n_seen++;
            add_start(x, local_s, utc_s);
        }
    }
}

/* ---- lines ---- */

/* "EXDATE;TZID=Europe/Lisbon:20260122T150000,20260129T150000", without the name. */
static int read_dates(struct str params, struct str values, struct dates *to)
{
    const struct zone *zone = NULL;

    while (params.p) {
        struct str param = str_trim(str_cut(&params, ';'));
        if (param.len > 5 && str_iis(str_slice(param, 0, 5), "TZID=")) {
            zone = zone_find(str_skip(param, 5));
            if (!zone)
                return -EINVAL;
        }
    }
    while (values.p) {
        struct civil_text t;
        if (to->n == RECUR_MAX_DATES || civil_read(str_cut(&values, ','), &t) < 0)
            return -EINVAL;
        if (zone && !t.has_offset && !t.is_date) {
            t.offset_s = zone_offset_s(zone, zone_to_utc(zone, t.local_s));
            t.has_offset = true;
        }
        to->items[to->n++] = t;
    }
    return 0;
}

static int read_recur_line(struct recur *x, struct str line)
{
    struct str head = str_cut(&line, ':');
    struct str name = str_trim(str_cut(&head, ';'));

    if (!line.p)
        return -EINVAL;
    if (str_iis(name, "EXDATE"))
        return read_dates(head, line, &x->without);
    if (str_iis(name, "RDATE"))
        return read_dates(head, line, &x->besides);
    if (!str_iis(name, "RRULE") || read_rule(line, &x->rules[x->n_rules]) < 0)
        return -EINVAL;
    complete_rule(&x->rules[x->n_rules++], x->ev);
    return 0;
}

static int read_recur_lines(struct recur *x, struct err *e)
{
    const struct json *lines = x->ev->lines;
    size_t n = lines ? lines->n : 0;

    if (n > RECUR_MAX_LINES)
        return err_set(e, -EINVAL, "more than %d lines", RECUR_MAX_LINES);
    for (size_t i = 0; i < n; i++) {
        struct str line = json_str(json_at(lines, i), STR(""));
        if (read_recur_line(x, str_trim(line)) < 0)
            return err_set(e, -EINVAL, STR_FMT, STR_ARG(line));
    }
    return 0;
}

static struct recur *new_recur(const struct recur_event *ev, struct err *e)
{
    struct recur *x = mem_zalloc(1, sizeof *x);

    if (!x) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    x->ev = ev;
    x->zone = *ev->zone;
    return x;
}

int recur_check(const struct recur_event *ev, struct err *e)
{
    struct recur *x auto_free = new_recur(ev, e);

    return x ? read_recur_lines(x, e) : -ENOMEM;
}

static int by_recur_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int recur_starts(const struct recur_event *ev, int64_t from_s, int64_t to_s,
                 int64_t out[RECUR_MAX_STARTS], struct err *e)
{
    struct recur *x auto_free = new_recur(ev, e);
    int r = x ? read_recur_lines(x, e) : -ENOMEM, n = 0;

    if (r < 0)
        return r;
    x->from_s = from_s;
    x->to_s = to_s;
    x->out = out;
    /* An event without a rule takes place once, whatever else its lines say. */
    if (x->n_rules == 0)
        add_start(x, ev->start_local_s, zone_to_utc(&x->zone, ev->start_local_s));
    for (int i = 0; i < x->n_rules; i++)
        expand(x, &x->rules[i]);
    for (int i = 0; i < x->besides.n; i++) {
        const struct civil_text *t = &x->besides.items[i];
        int64_t utc_s =
            t->has_offset ? t->local_s - t->offset_s : zone_to_utc(&x->zone, t->local_s);
        add_start(x, t->local_s, utc_s);
    }
    qsort(out, (size_t)x->n, sizeof out[0], by_recur_time);
    for (int i = 0; i < x->n; i++) {
        if (n == 0 || out[i] != out[n - 1])
            out[n++] = out[i];
    }
    return n;
}
