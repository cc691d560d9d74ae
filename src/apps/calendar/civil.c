/* SPDX-License-Identifier: MIT */
#include "apps/calendar/civil.h"

#include <errno.h>
#include <stddef.h>

#include "apps/text/scan.h"
#include "base/cleanup.h"

static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

static int64_t floor_div_days(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- days ---- */

/* Years that begin in March end with the leap day; 400 of them have 146097 days. */
int64_t civil_days(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = floor_div_days(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year + day - 1 - 719468;
}

struct civil civil_of_days(int64_t days)
{
    int64_t z = days + 719468, era = floor_div_days(z, 146097), of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t mp = (5 * of_year + 2) / 153;
    int month = (int)(mp < 10 ? mp + 3 : mp - 9);

    return (struct civil){.year = (int)(year + era * 400 + (month <= 2)),
                          .month = month,
                          .day = (int)(of_year - (153 * mp + 2) / 5 + 1)};
}

int civil_month_len(int year, int month)
{
    int64_t next = month == 12 ? civil_days(year + 1, 1, 1) : civil_days(year, month + 1, 1);

    return (int)(next - civil_days(year, month, 1));
}

int civil_weekday(int64_t days)
{
    int64_t w = (days + 4) % 7;

    return (int)(w < 0 ? w + 7 : w);
}

int64_t civil_seconds(const struct civil *c)
{
    return civil_days(c->year, c->month, c->day) * CIVIL_DAY_S + c->hour * 3600 + c->minute * 60 +
           c->second;
}

struct civil civil_of_seconds(int64_t local_s)
{
    int64_t days = floor_div_days(local_s, CIVIL_DAY_S);
    int rest = (int)(local_s - days * CIVIL_DAY_S);
    struct civil c = civil_of_days(days);

    c.hour = rest / 3600;
    c.minute = rest / 60 % 60;
    c.second = rest % 60;
    return c;
}

/* ---- reading ---- */

/* Takes N digits off S. */
static bool take_n_digits(struct str *s, size_t n, int *ret)
{
    int value = 0;

    if (s->len < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        value = value * 10 + (s->p[i] - '0');
    }
    *s = str_skip(*s, n);
    *ret = value;
    return true;
}

static bool take_civil_date(struct str *s, struct civil *c)
{
    if (!take_n_digits(s, 4, &c->year))
        return false;
    bool has_dash = scan_char(s, '-');
    if (!take_n_digits(s, 2, &c->month) || (has_dash && !scan_char(s, '-')) ||
        !take_n_digits(s, 2, &c->day))
        return false;
    return c->year >= CIVIL_YEAR_MIN && c->month >= 1 && c->month <= 12 && c->day >= 1 &&
           c->day <= civil_month_len(c->year, c->month);
}

/* A fraction of the second. */
static bool skip_second_fraction(struct str *s)
{
    int digit;
    size_t before = s->len;

    if (!scan_char(s, '.') && !scan_char(s, ','))
        return true;
    while (take_n_digits(s, 1, &digit))
        continue;
    return before - s->len > 1;
}

static bool take_time_of_day(struct str *s, struct civil *c)
{
    if (!take_n_digits(s, 2, &c->hour))
        return false;
    bool has_colon = scan_char(s, ':');
    if (!take_n_digits(s, 2, &c->minute))
        return false;
    bool has_second =
        has_colon ? scan_char(s, ':') : s->len > 0 && s->p[0] >= '0' && s->p[0] <= '9';
    if (has_second && (!take_n_digits(s, 2, &c->second) || !skip_second_fraction(s)))
        return false;
    /* A leap second is the one behind it. */
    return c->hour <= 23 && c->minute <= 59 && c->second <= 60;
}

static bool take_utc_offset(struct str *s, struct civil_text *t)
{
    int hour, minute = 0;

    if (s->len == 0)
        return true;
    t->has_offset = true;
    if (scan_char(s, 'Z') || scan_char(s, 'z'))
        return true;
    bool is_west = scan_char(s, '-');
    if ((!is_west && !scan_char(s, '+')) || !take_n_digits(s, 2, &hour))
        return false;
    (void)scan_char(s, ':');
    if (s->len > 0 && !take_n_digits(s, 2, &minute))
        return false;
    t->offset_s = (hour * 3600 + minute * 60) * (is_west ? -1 : 1);
    return hour <= 23 && minute <= 59;
}

int civil_read(struct str text, struct civil_text *ret)
{
    struct civil c = {0};
    struct civil_text t = {.is_date = true};
    struct str s = str_trim(text);

    if (!take_civil_date(&s, &c))
        return -EINVAL;
    if (s.len > 0) {
        t.is_date = false;
        if ((!scan_char(&s, 'T') && !scan_char(&s, 't') && !scan_char(&s, ' ')) ||
            !take_time_of_day(&s, &c) || !take_utc_offset(&s, &t) || s.len > 0)
            return -EINVAL;
    }
    t.local_s = civil_seconds(&c);
    *ret = t;
    return 0;
}

/* ---- writing ---- */

static void add_offset(struct buf *out, int offset_s, const char *separator)
{
    int a = offset_s < 0 ? -offset_s : offset_s;

    (void)buf_printf(out, "%c%02d%s%02d", offset_s < 0 ? '-' : '+', a / 3600, separator,
                     a / 60 % 60);
}

struct time {
    struct civil c;
    int64_t days;
    int offset_s;
};

static void add_date_part(struct buf *out, const struct time *t, char part)
{
    switch (part) {
    case 'Y': (void)buf_printf(out, "%04d", t->c.year); break;
    case 'm': (void)buf_printf(out, "%02d", t->c.month); break;
    case 'd': (void)buf_printf(out, "%02d", t->c.day); break;
    case 'A': (void)buf_printf(out, "%s", weekdays[civil_weekday(t->days)]); break;
    case 'a': (void)buf_printf(out, "%.3s", weekdays[civil_weekday(t->days)]); break;
    case 'B': (void)buf_printf(out, "%s", months[t->c.month - 1]); break;
    case 'b': (void)buf_printf(out, "%.3s", months[t->c.month - 1]); break;
    default: (void)buf_printf(out, "%03d", (int)(t->days - civil_days(t->c.year, 1, 1)) + 1); break;
    }
}

static void add_time_part(struct buf *out, const struct time *t, char part)
{
    switch (part) {
    case 'H': (void)buf_printf(out, "%02d", t->c.hour); break;
    case 'M': (void)buf_printf(out, "%02d", t->c.minute); break;
    case 'S': (void)buf_printf(out, "%02d", t->c.second); break;
    case 'z': add_offset(out, t->offset_s, ""); break;
    case ':': add_offset(out, t->offset_s, ":"); break;
    default:
        if (t->offset_s == 0)
            (void)buf_add_char(out, 'Z');
        else
            add_offset(out, t->offset_s, ":");
        break;
    }
}

int civil_format(struct buf *out, int64_t local_s, int offset_s, struct str format)
{
    struct time t = {.c = civil_of_seconds(local_s),
                     .days = floor_div_days(local_s, CIVIL_DAY_S),
                     .offset_s = offset_s};

    for (size_t i = 0; i < format.len; i++) {
        if (format.p[i] != '%') {
            (void)buf_add_char(out, format.p[i]);
            continue;
        }
        char part = ++i < format.len ? format.p[i] : '\0';
        if (part != '\0' && strchr("YmdAaBbj", part))
            add_date_part(out, &t, part);
        else if (part != '\0' && strchr("HMSzZ:", part))
            add_time_part(out, &t, part);
        else if (part == '%')
            (void)buf_add_char(out, '%');
        else
            return -EINVAL;
    }
    return buf_ok(out) ? 0 : out->error;
}
