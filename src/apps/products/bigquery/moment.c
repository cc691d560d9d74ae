/* SPDX-License-Identifier: MIT */
#include "apps/products/bigquery/moment.h"

#include <errno.h>

#include "apps/calendar/civil.h"
#include "apps/calendar/zone.h"
#include "base/cleanup.h"

#define HOUR_US   (3600LL * BQ_SECOND_US)
#define MINUTE_US (60LL * BQ_SECOND_US)

static int64_t floor_div_moment(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- reading ---- */

static bool take_moment_number(struct str *s, size_t max, int *ret)
{
    size_t n = 0;
    int value = 0;

    while (n < s->len && n < max && s->p[n] >= '0' && s->p[n] <= '9')
        value = value * 10 + (s->p[n++] - '0');
    *s = str_skip(*s, n);
    *ret = value;
    return n > 0;
}

static bool take_moment_char(struct str *s, char c)
{
    if (s->len == 0 || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

static bool take_moment_date(struct str *s, struct civil *c)
{
    return take_moment_number(s, 4, &c->year) && take_moment_char(s, '-') &&
           take_moment_number(s, 2, &c->month) && take_moment_char(s, '-') &&
           take_moment_number(s, 2, &c->day) && c->year >= 1 && c->month >= 1 && c->month <= 12 &&
           c->day >= 1 && c->day <= civil_month_len(c->year, c->month);
}

/* Microseconds of ".123456"; more digits are dropped. */
static int take_microseconds(struct str *s)
{
    int us = 0, scale = 100000, digit;

    if (!take_moment_char(s, '.'))
        return 0;
    while (s->len > 0 && s->p[0] >= '0' && s->p[0] <= '9') {
        (void)take_moment_number(s, 1, &digit);
        us += digit * scale;
        scale /= 10;
    }
    return us;
}

static bool take_clock(struct str *s, struct civil *c, int *us)
{
    *us = 0;
    if (!take_moment_number(s, 2, &c->hour) || !take_moment_char(s, ':') ||
        !take_moment_number(s, 2, &c->minute))
        return false;
    if (take_moment_char(s, ':')) {
        if (!take_moment_number(s, 2, &c->second))
            return false;
        *us = take_microseconds(s);
    }
    return c->hour < 24 && c->minute < 60 && c->second < 60;
}

/* "+01:00", "Z", " UTC", " Europe/Paris": the rest, which *US is moved to UTC by. */
static int take_zone(struct str s, struct bq_moment *m)
{
    struct str name = str_trim(s);
    int hours = 0, minutes = 0;

    m->has_zone = name.len > 0;
    if (name.len == 0 || str_iis(name, "Z"))
        return 0;
    if (name.p[0] == '+' || name.p[0] == '-') {
        int sign = name.p[0] == '-' ? -1 : 1;
        name = str_skip(name, 1);
        if (!take_moment_number(&name, 2, &hours))
            return -EINVAL;
        (void)take_moment_char(&name, ':');
        if (name.len > 0 && !take_moment_number(&name, 2, &minutes))
            return -EINVAL;
        m->us -= sign * (hours * HOUR_US + minutes * MINUTE_US);
        return name.len == 0 && hours <= 14 && minutes < 60 ? 0 : -EINVAL;
    }
    const struct zone *z = zone_find(name);
    if (!z)
        return -EINVAL;
    int64_t local_s = floor_div_moment(m->us, BQ_SECOND_US), rest = m->us - local_s * BQ_SECOND_US;
    m->us = zone_to_utc(z, local_s) * BQ_SECOND_US + rest;
    return 0;
}

int bq_moment_read(struct str text, struct bq_moment *ret)
{
    struct str s = str_trim(text);
    struct civil c = {.year = 1970, .month = 1, .day = 1};
    int us = 0;

    *ret = (struct bq_moment){0};
    if (s.len > 2 && (s.p[1] == ':' || s.p[2] == ':')) {
        if (!take_clock(&s, &c, &us) || s.len > 0)
            return -EINVAL;
        ret->has_time = true;
        ret->us = civil_seconds(&c) * BQ_SECOND_US + us;
        return 0;
    }
    if (!take_moment_date(&s, &c))
        return -EINVAL;
    ret->has_date = true;
    bool has_mark =
        take_moment_char(&s, 'T') || take_moment_char(&s, 't') || take_moment_char(&s, ' ');
    if (has_mark && s.len > 0 && s.p[0] >= '0' && s.p[0] <= '9') {
        if (!take_clock(&s, &c, &us))
            return -EINVAL;
        ret->has_time = true;
    }
    ret->us = civil_seconds(&c) * BQ_SECOND_US + us;
    return take_zone(s, ret);
}

/* ---- writing ---- */

int bq_moment_write(struct buf *out, enum bq_kind kind, int64_t us)
{
    int64_t second = floor_div_moment(us, BQ_SECOND_US);
    int fraction = (int)(us - second * BQ_SECOND_US);
    struct civil c = civil_of_seconds(second);

    if (c.year < CIVIL_YEAR_MIN || c.year > CIVIL_YEAR_MAX)
        return -ERANGE;
    if (kind != BQ_TIME)
        (void)buf_printf(out, "%04d-%02d-%02d", c.year, c.month, c.day);
    if (kind == BQ_DATE)
        return 0;
    (void)buf_printf(out, "%s%02d:%02d:%02d",
                     kind == BQ_TIME       ? ""
                     : kind == BQ_DATETIME ? "T"
                                           : " ",
                     c.hour, c.minute, c.second);
    if (fraction != 0)
        (void)buf_printf(out, ".%06d", fraction);
    if (kind == BQ_TIMESTAMP)
        (void)buf_add_lit(out, "+00");
    return 0;
}

/* ---- parts ---- */

/* Those that are always as long. */
static int64_t fixed_length(struct str part)
{
    static const struct {
        const char *name;
        int64_t us;
    } parts[] = {{"MICROSECOND", 1},    {"MILLISECOND", 1000}, {"SECOND", BQ_SECOND_US},
                 {"MINUTE", MINUTE_US}, {"HOUR", HOUR_US},     {"DAY", BQ_DAY_US}};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (str_iis(part, parts[i].name))
            return parts[i].us;
    }
    return 0;
}

/* Months of YEAR, QUARTER, MONTH; 0: none of them. */
static int months_of(struct str part)
{
    return str_iis(part, "MONTH")     ? 1
           : str_iis(part, "QUARTER") ? 3
           : str_iis(part, "YEAR")    ? 12
                                      : 0;
}

/* The weekday that a week begins with; -1: PART is no week. */
static int week_start(struct str part)
{
    static const char *const days[] = {"SUNDAY",   "MONDAY", "TUESDAY", "WEDNESDAY",
                                       "THURSDAY", "FRIDAY", "SATURDAY"};

    if (str_iis(part, "WEEK"))
        return 0;
    if (str_iis(part, "ISOWEEK"))
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(days) && part.len > 5; i++) {
        if (str_ieq(str_slice(part, 0, 5), STR("WEEK_")) && str_iis(str_skip(part, 5), days[i]))
            return (int)i;
    }
    return -1;
}

static int add_moment_months(int64_t us, int64_t n, int64_t *ret)
{
    int64_t days = floor_div_moment(us, BQ_DAY_US);
    struct civil c = civil_of_days(days);
    int64_t month = c.year * 12LL + c.month - 1 + n, year = floor_div_moment(month, 12);

    if (year < CIVIL_YEAR_MIN || year > CIVIL_YEAR_MAX)
        return -ERANGE;
    int of_year = (int)(month - year * 12) + 1, len = civil_month_len((int)year, of_year);
    *ret = civil_days((int)year, of_year, c.day < len ? c.day : len) * BQ_DAY_US +
           (us - days * BQ_DAY_US);
    return 0;
}

int bq_moment_shift(int64_t us, int64_t n, struct str part, int64_t *ret)
{
    int64_t length = fixed_length(part);

    if (n > 100000000000000000LL || n < -100000000000000000LL)
        return -ERANGE;
    if (week_start(part) >= 0)
        length = 7 * BQ_DAY_US;
    if (length > 0)
        return __builtin_mul_overflow(n, length, ret) || __builtin_add_overflow(us, *ret, ret)
                   ? -ERANGE
                   : 0;
    int months = months_of(part);
    if (months == 0)
        return -EINVAL;
    return n > 200000 || n < -200000 ? -ERANGE : add_moment_months(us, n * months, ret);
}

/* The first day of the ISO year that DAYS is in, and its number. */
static int64_t iso_year_start(int64_t days, int *year)
{
    int64_t thursday = days - (civil_weekday(days) + 6) % 7 + 3;

    *year = civil_of_days(thursday).year;
    int64_t fourth = civil_days(*year, 1, 4);
    return fourth - (civil_weekday(fourth) + 6) % 7;
}

int bq_moment_trunc(int64_t us, struct str part, int64_t *ret)
{
    int64_t length = fixed_length(part), days = floor_div_moment(us, BQ_DAY_US);
    int start = week_start(part), months = months_of(part), year;
    struct civil c = civil_of_days(days);

    if (length > 0)
        *ret = floor_div_moment(us, length) * length;
    else if (start >= 0)
        *ret = (days - (civil_weekday(days) - start + 7) % 7) * BQ_DAY_US;
    else if (months > 0)
        *ret = civil_days(c.year, (c.month - 1) / months * months + 1, 1) * BQ_DAY_US;
    else if (str_iis(part, "ISOYEAR"))
        *ret = iso_year_start(days, &year) * BQ_DAY_US;
    else
        return -EINVAL;
    return 0;
}

int bq_moment_diff(int64_t a, int64_t b, struct str part, bool is_exact, int64_t *ret)
{
    int64_t length = fixed_length(part), x, y;
    int months = months_of(part);

    if (is_exact && length > 0) {
        *ret = (a - b) / length;
        return 0;
    }
    if (bq_moment_trunc(a, part, &x) < 0 || bq_moment_trunc(b, part, &y) < 0)
        return -EINVAL;
    if (months > 0) {
        struct civil to = civil_of_days(floor_div_moment(x, BQ_DAY_US));
        struct civil from = civil_of_days(floor_div_moment(y, BQ_DAY_US));
        *ret = ((to.year - from.year) * 12 + to.month - from.month) / months;
    } else if (str_iis(part, "ISOYEAR")) {
        int to, from;
        (void)iso_year_start(floor_div_moment(a, BQ_DAY_US), &to);
        (void)iso_year_start(floor_div_moment(b, BQ_DAY_US), &from);
        *ret = to - from;
    } else {
        *ret = (x - y) / (length > 0 ? length : 7 * BQ_DAY_US);
    }
    return 0;
}

/* The number of the week, the days before its first beginning being week 0. */
static int64_t week_number(int64_t days, int year, int start)
{
    int64_t first = civil_days(year, 1, 1);
    int64_t begin = first + (start - civil_weekday(first) + 7) % 7;

    return days < begin ? 0 : (days - begin) / 7 + 1;
}

int bq_moment_part(int64_t us, struct str part, int64_t *ret)
{
    int64_t days = floor_div_moment(us, BQ_DAY_US), second = floor_div_moment(us, BQ_SECOND_US);
    int64_t fraction = us - second * BQ_SECOND_US, begin;
    struct civil c = civil_of_seconds(second);
    int iso;

    begin = iso_year_start(days, &iso);
    const struct {
        const char *name;
        int64_t value;
    } parts[] = {{"YEAR", c.year},
                 {"QUARTER", (c.month - 1) / 3 + 1},
                 {"MONTH", c.month},
                 {"DAY", c.day},
                 {"HOUR", c.hour},
                 {"MINUTE", c.minute},
                 {"SECOND", c.second},
                 {"MILLISECOND", fraction / 1000},
                 {"MICROSECOND", fraction},
                 {"DAYOFWEEK", civil_weekday(days) + 1},
                 {"DAYOFYEAR", days - civil_days(c.year, 1, 1) + 1},
                 {"ISOYEAR", iso},
                 {"ISOWEEK", (days - begin) / 7 + 1}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!str_iis(part, parts[i].name))
            continue;
        *ret = parts[i].value;
        return 0;
    }
    int start = week_start(part);
    if (start < 0)
        return -EINVAL;
    *ret = week_number(days, c.year, start);
    return 0;
}

/* ---- formats ---- */

/* Letters that civil_format has, and those that stand for several. */
static const char *long_form(char c)
{
    switch (c) {
    case 'F': return "%Y-%m-%d";
    case 'T':
    case 'X': return "%H:%M:%S";
    case 'R': return "%H:%M";
    case 'D':
    case 'x': return "%m/%d/%y";
    case 'c': return "%a %b %e %H:%M:%S %Y";
    case 'r': return "%I:%M:%S %p";
    case 'h': return "%b";
    default: return NULL;
    }
}

static int put_moment_letter(struct buf *out, char letter, int64_t us)
{
    int64_t second = floor_div_moment(us, BQ_SECOND_US), days = floor_div_moment(us, BQ_DAY_US),
            value;
    struct civil c = civil_of_seconds(second);
    char plain[3] = {'%', letter, '\0'};

    switch (letter) {
    case 'y': return buf_printf(out, "%02d", c.year % 100);
    case 'e': return buf_printf(out, "%2d", c.day);
    case 'k': return buf_printf(out, "%2d", c.hour);
    case 'I': return buf_printf(out, "%02d", (c.hour + 11) % 12 + 1);
    case 'l': return buf_printf(out, "%2d", (c.hour + 11) % 12 + 1);
    case 'p': return buf_printf(out, "%s", c.hour < 12 ? "AM" : "PM");
    case 'Q': return buf_printf(out, "%d", (c.month - 1) / 3 + 1);
    case 'C': return buf_printf(out, "%02d", c.year / 100);
    case 's': return buf_printf(out, "%lld", (long long)second);
    case 'u': return buf_printf(out, "%d", (civil_weekday(days) + 6) % 7 + 1);
    case 'w': return buf_printf(out, "%d", civil_weekday(days));
    case 'U': return buf_printf(out, "%02d", (int)week_number(days, c.year, 0));
    case 'W': return buf_printf(out, "%02d", (int)week_number(days, c.year, 1));
    case 'V':
        (void)bq_moment_part(us, STR("ISOWEEK"), &value);
        return buf_printf(out, "%02d", (int)value);
    case 'G':
        (void)bq_moment_part(us, STR("ISOYEAR"), &value);
        return buf_printf(out, "%d", (int)value);
    case 'n': return buf_add_char(out, '\n');
    case 't': return buf_add_char(out, '\t');
    case 'Z': return buf_add_lit(out, "UTC");
    case 'z': return buf_add_lit(out, "+0000");
    default: return civil_format(out, second, 0, str_of(plain));
    }
}

int bq_moment_format(struct buf *out, struct str format, int64_t us)
{
    for (size_t i = 0; i < format.len; i++) {
        if (format.p[i] != '%' || i + 1 == format.len) {
            (void)buf_add_char(out, format.p[i]);
            continue;
        }
        char letter = format.p[++i];
        const char *several = long_form(letter);
        int r = several ? bq_moment_format(out, str_of(several), us)
                        : put_moment_letter(out, letter, us);
        if (r == -EINVAL)
            return r;
    }
    return 0;
}

/* ---- reading by a format ---- */

struct moment_reading {
    struct civil c;
    int us, offset_s;
    bool is_pm, has_half, has_epoch;
    int64_t epoch_s;
};

static bool take_format_word(struct str *s, char format, int low, int high, int *ret)
{
    for (int i = low; i <= high; i++) {
        for (int is_short = 0; is_short < 2; is_short++) {
            auto_buf struct buf b = BUF_INIT(64);
            /* January 4th 1970 was a Sunday. */
            int64_t second = format == 'b' ? civil_days(1970, i, 1) * 86400 : (3 + i) * 86400;
            const char *form = format == 'b' ? (is_short ? "%b" : "%B") : (is_short ? "%a" : "%A");
            if (civil_format(&b, second, 0, str_of(form)) < 0 || s->len < b.len ||
                !str_ieq_bytes(s->p, b.p, b.len))
                continue;
            *s = str_skip(*s, b.len);
            *ret = i;
            return true;
        }
    }
    return false;
}

static bool take_moment_offset(struct str *s, int *ret)
{
    int hours, minutes = 0, sign = s->len > 0 && s->p[0] == '-' ? -1 : 1;

    if (take_moment_char(s, 'Z'))
        return true;
    if (!take_moment_char(s, '+') && !take_moment_char(s, '-'))
        return false;
    if (!take_moment_number(s, 2, &hours))
        return false;
    (void)take_moment_char(s, ':');
    (void)take_moment_number(s, 2, &minutes);
    *ret = sign * (hours * 3600 + minutes * 60);
    return true;
}

static bool take_letter(struct str *s, char letter, struct moment_reading *r)
{
    int ignored;
    struct str word;

    switch (letter) {
    case 'Y': return take_moment_number(s, 4, &r->c.year);
    case 'y':
        if (!take_moment_number(s, 2, &r->c.year))
            return false;
        r->c.year += r->c.year < 69 ? 2000 : 1900;
        return true;
    case 'm': return take_moment_number(s, 2, &r->c.month);
    case 'd':
    case 'e': *s = str_trim(*s); return take_moment_number(s, 2, &r->c.day);
    case 'b':
    case 'B':
    case 'h': return take_format_word(s, 'b', 1, 12, &r->c.month);
    case 'a':
    case 'A': return take_format_word(s, 'a', 0, 6, &ignored);
    case 'H':
    case 'k': return take_moment_number(s, 2, &r->c.hour);
    case 'I':
    case 'l': r->has_half = true; return take_moment_number(s, 2, &r->c.hour);
    case 'M': return take_moment_number(s, 2, &r->c.minute);
    case 'S': return take_moment_number(s, 2, &r->c.second);
    case 'p':
    case 'P':
        word = str_slice(*s, 0, 2);
        r->is_pm = str_iis(word, "PM");
        *s = str_skip(*s, 2);
        return r->is_pm || str_iis(word, "AM");
    case 's':
        r->has_epoch = take_moment_number(s, 9, &ignored);
        r->epoch_s = ignored;
        while (s->len > 0 && s->p[0] >= '0' && s->p[0] <= '9' && r->epoch_s < 1000000000000LL) {
            r->epoch_s = r->epoch_s * 10 + (s->p[0] - '0');
            *s = str_skip(*s, 1);
        }
        return r->has_epoch;
    case 'z':
    case 'Z':
        return take_moment_offset(s, &r->offset_s) || (s->len >= 3 && (*s = str_skip(*s, 3), true));
    case '%': return take_moment_char(s, '%');
    default: return false;
    }
}

static int read_moment_format(struct str format, struct str *s, struct moment_reading *r)
{
    for (size_t i = 0; i < format.len; i++) {
        if (format.p[i] == ' ') {
            *s = str_trim(*s);
            continue;
        }
        if (format.p[i] != '%' || i + 1 == format.len) {
            if (!take_moment_char(s, format.p[i]))
                return -EINVAL;
            continue;
        }
        char letter = format.p[++i];
        bool is_exact = letter == 'E' && i + 2 < format.len && format.p[i + 2] == 'S'; /* %E*S */
        if (is_exact) {
            i += 2;
            if (!take_moment_number(s, 2, &r->c.second))
                return -EINVAL;
            r->us = take_microseconds(s);
            continue;
        }
        const char *several = long_form(letter);
        if (several ? read_moment_format(str_of(several), s, r) < 0 : !take_letter(s, letter, r))
            return -EINVAL;
    }
    return 0;
}

int bq_moment_parse(struct str format, struct str text, int64_t *ret)
{
    struct moment_reading r = {.c = {.year = 1970, .month = 1, .day = 1}};
    struct str s = str_trim(text);

    if (read_moment_format(format, &s, &r) < 0 || str_trim(s).len > 0)
        return -EINVAL;
    if (r.has_half)
        r.c.hour = r.c.hour % 12 + (r.is_pm ? 12 : 0);
    if (r.c.year < 1 || r.c.month < 1 || r.c.month > 12 || r.c.day < 1 ||
        r.c.day > civil_month_len(r.c.year, r.c.month) || r.c.hour > 23 || r.c.minute > 59 ||
        r.c.second > 59)
        return -EINVAL;
    int64_t second = r.has_epoch ? r.epoch_s : civil_seconds(&r.c) - r.offset_s;
    *ret = second * BQ_SECOND_US + r.us;
    return 0;
}
