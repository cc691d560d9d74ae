/* SPDX-License-Identifier: MIT */
#include "local/mail/date.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/ascii.h"
#include "base/cleanup.h"

enum { DAY_S = 86400, YEAR_MAX = 9999 };

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

/* Zones by name, in hours. */
static const struct {
    const char *name;
    int hours;
} zones[] = {{"GMT", 0},  {"UT", 0},   {"UTC", 0},  {"Z", 0},    {"EST", -5}, {"EDT", -4},
             {"CST", -6}, {"CDT", -5}, {"MST", -7}, {"MDT", -6}, {"PST", -8}, {"PDT", -7}};

/* Seconds of a unit of relative dates. */
static const struct {
    const char *name;
    int64_t s;
} units[] = {{"second", 1},
             {"minute", 60},
             {"hour", 3600},
             {"day", DAY_S},
             {"week", 7 * DAY_S},
             {"month", 30 * (int64_t)DAY_S},
             {"year", 365 * (int64_t)DAY_S}};

/* ---- reading ---- */

static void skip_chars(struct str *s, const char *chars)
{
    while (s->len > 0 && s->p[0] && strchr(chars, s->p[0]))
        *s = str_skip(*s, 1);
}

static bool skip_char(struct str *s, char c)
{
    if (s->len == 0 || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

/* At most MAX digits. */
static bool take_date_number(struct str *s, size_t max, int *ret)
{
    size_t n = 0;

    *ret = 0;
    while (n < s->len && n < max && ascii_is_digit(s->p[n]))
        *ret = *ret * 10 + (s->p[n++] - '0');
    *s = str_skip(*s, n);
    return n > 0;
}

static struct str word(struct str *s)
{
    size_t n = 0;

    while (n < s->len && ascii_is_letter(s->p[n]))
        n++;
    struct str w = str_n(s->p, n);
    *s = str_skip(*s, n);
    return w;
}

static int mail_month_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(months); i++) {
        if (name.len >= 3 && str_iis(str_slice(name, 0, 3), months[i]))
            return (int)i + 1;
    }
    return 0;
}

/* Days since 1970 of a day of the Gregorian calendar. */
static int64_t day_number(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_mail_day(int year, int month, int day)
{
    return year >= 0 && year <= YEAR_MAX && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* "07:00" or "07:00:00.123"; absent: midnight. */
static int read_clock(struct str *s, int64_t *ret_s)
{
    int h, m, sec = 0, fraction;

    *ret_s = 0;
    if (s->len == 0 || !ascii_is_digit(s->p[0]))
        return 0;
    if (!take_date_number(s, 2, &h) || !skip_char(s, ':') || !take_date_number(s, 2, &m))
        return -EINVAL;
    if (skip_char(s, ':') && !take_date_number(s, 2, &sec))
        return -EINVAL;
    if (skip_char(s, '.'))
        (void)take_date_number(s, 9, &fraction);
    if (h > 23 || m > 59 || sec > 60)
        return -EINVAL;
    *ret_s = h * 3600 + m * 60 + sec;
    return 0;
}

/* "+0100", "+01:00", "GMT"; absent or unknown: UTC. */
static int32_t read_zone(struct str *s)
{
    int h, m = 0;

    skip_chars(s, " \t");
    bool is_west = s->len > 0 && s->p[0] == '-';
    if (skip_char(s, '+') || skip_char(s, '-')) {
        if (!take_date_number(s, 2, &h))
            return 0;
        (void)skip_char(s, ':');
        (void)take_date_number(s, 2, &m);
        return (is_west ? -1 : 1) * (h * 3600 + m * 60);
    }
    struct str name = word(s);
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        if (str_iis(name, zones[i].name))
            return zones[i].hours * 3600;
    }
    return 0;
}

static int finish_mail_date(struct str s, int64_t day, struct mail_date *ret)
{
    int64_t clock;

    if (read_clock(&s, &clock) < 0)
        return -EINVAL;
    ret->offset_s = read_zone(&s);
    ret->s = day * DAY_S + clock - ret->offset_s;
    return 0;
}

/* "[Mon,] 16 Nov 2026" and with dashes; the rest stays in S. */
static int read_mail_day(struct str *s, int64_t *ret)
{
    int year, day;

    skip_chars(s, " \t");
    if (s->len > 0 && ascii_is_letter(s->p[0])) {
        (void)word(s);
        skip_chars(s, ", \t.");
    }
    if (!take_date_number(s, 2, &day))
        return -EINVAL;
    skip_chars(s, " \t-");
    int month = mail_month_of(word(s));
    skip_chars(s, " \t-.");
    struct str before = *s;
    if (!month || !take_date_number(s, 4, &year))
        return -EINVAL;
    if (before.len - s->len == 2)
        year += year < 50 ? 2000 : 1900;
    if (!is_mail_day(year, month, day))
        return -EINVAL;
    *ret = day_number(year, month, day);
    return 0;
}

static int parse_header(struct str s, struct mail_date *ret)
{
    int64_t day;

    if (read_mail_day(&s, &day) < 0)
        return -EINVAL;
    skip_chars(&s, " \t,");
    return finish_mail_date(s, day, ret);
}

static int parse_iso(struct str s, struct mail_date *ret)
{
    int year, month, day;

    if (!take_date_number(&s, 4, &year) || !skip_char(&s, '-') ||
        !take_date_number(&s, 2, &month) || !skip_char(&s, '-') || !take_date_number(&s, 2, &day) ||
        !is_mail_day(year, month, day))
        return -EINVAL;
    skip_chars(&s, "T ");
    return finish_mail_date(s, day_number(year, month, day), ret);
}

/* "44 days before current date", "2 hours ago", "current date". */
static int parse_relative(struct str s, int64_t now_s, struct mail_date *ret)
{
    int n;
    int64_t unit = 0;

    if (str_iis(s, "current date") || str_iis(s, "current time") || str_iis(s, "now")) {
        *ret = (struct mail_date){now_s, 0};
        return 0;
    }
    if (!take_date_number(&s, 6, &n))
        return -EINVAL;
    skip_chars(&s, " ");
    struct str name = word(&s);
    if (name.len > 1 && (name.p[name.len - 1] | 0x20) == 's')
        name.len--;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        unit = str_iis(name, units[i].name) ? units[i].s : unit;
    skip_chars(&s, " ");
    struct str way = word(&s);
    bool is_before = str_iis(way, "before") || str_iis(way, "ago");
    if (!unit || (!is_before && !str_iis(way, "after")))
        return -EINVAL;
    *ret = (struct mail_date){now_s + (is_before ? -1 : 1) * n * unit, 0};
    return 0;
}

int mail_date_parse(struct str text, int64_t now_s, struct mail_date *ret)
{
    text = str_trim(text);
    if (parse_iso(text, ret) == 0 || parse_relative(text, now_s, ret) == 0)
        return 0;
    return parse_header(text, ret);
}

int mail_date_day(struct str text, int64_t *ret_day)
{
    int r = read_mail_day(&text, ret_day);

    return r == 0 && text.len == 0 ? 0 : -EINVAL;
}

int64_t mail_date_day_of(struct mail_date d)
{
    int64_t s = d.s + d.offset_s;

    return (s >= 0 ? s : s - (DAY_S - 1)) / DAY_S;
}

/* ---- writing ---- */

static struct tm parts(int64_t s)
{
    struct tm tm = {0};
    time_t t = (time_t)s;

    (void)gmtime_r(&t, &tm);
    return tm;
}

void mail_date_header(char out[MAIL_DATE_MAX], int64_t s)
{
    struct tm t = parts(s);

    (void)snprintf(out, MAIL_DATE_MAX, "%s, %02d %s %04d %02d:%02d:%02d +0000", days[t.tm_wday],
                   t.tm_mday, months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

void mail_date_internal(char out[MAIL_DATE_MAX], int64_t s)
{
    struct tm t = parts(s);

    (void)snprintf(out, MAIL_DATE_MAX, "%02d-%s-%04d %02d:%02d:%02d +0000", t.tm_mday,
                   months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

void mail_date_iso(char out[MAIL_DATE_MAX], int64_t s)
{
    struct tm t = parts(s);

    (void)snprintf(out, MAIL_DATE_MAX, "%04d-%02d-%02dT%02d:%02d:%02d", t.tm_year + 1900,
                   t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
}

void mail_date_compact(char out[MAIL_DATE_MAX], int64_t s)
{
    struct tm t = parts(s);

    (void)snprintf(out, MAIL_DATE_MAX, "%04d%02d%02d_%02d%02d%02d", t.tm_year + 1900, t.tm_mon + 1,
                   t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
}
