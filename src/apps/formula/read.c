/* SPDX-License-Identifier: MIT */
/* What people type into cells: numbers, money, percents, dates, times. */
#include <math.h>
#include <stdlib.h>

#include "apps/formula/formula_internal.h"
#include "apps/text/scan.h"
#include "base/ascii.h"

/* At most MAX digits; false when there are none or more. */
static bool take_int(struct str *s, size_t max, int *ret)
{
    size_t n = 0;
    int v = 0;

    for (; n < s->len && ascii_is_digit(s->p[n]) && n <= max; n++)
        v = v * 10 + (s->p[n] - '0');
    if (n == 0 || n > max)
        return false;
    *ret = v;
    *s = str_skip(*s, n);
    return true;
}

/* ---- plain numbers ---- */

/* Digits without their separators, which stand before every third. -1: not a number's. */
static int copy_digits(struct str *s, char *out, size_t room, bool *ret_commas)
{
    size_t n = 0, run = 0, groups = 0;

    for (; s->len > 0 && (ascii_is_digit(s->p[0]) || s->p[0] == ','); *s = str_skip(*s, 1)) {
        if (s->p[0] == ',') {
            if (n == 0 || run == 0 || run > 3 || (groups > 0 && run != 3))
                return -1;
            groups++;
            run = 0;
            continue;
        }
        if (n + 1 >= room)
            return -1;
        out[n++] = s->p[0];
        run++;
    }
    if (groups > 0 && run != 3)
        return -1;
    *ret_commas = groups > 0;
    return (int)n;
}

struct plain_number {
    double number;
    bool has_commas, has_fraction;
};

/* Digits, perhaps a fraction, perhaps an exponent. */
static bool take_plain_number(struct str *s, struct plain_number *ret)
{
    char text[400];
    int n = copy_digits(s, text, sizeof text / 2, &ret->has_commas);
    size_t at = (size_t)(n < 0 ? 0 : n), room = sizeof text - 8;
    int digits = n;

    ret->has_fraction = false;
    if (n < 0)
        return false;
    if (s->len > 0 && s->p[0] == '.') {
        text[at++] = '.';
        *s = str_skip(*s, 1);
        ret->has_fraction = true;
        for (; s->len > 0 && ascii_is_digit(s->p[0]) && at < room; *s = str_skip(*s, 1), digits++)
            text[at++] = s->p[0];
    }
    if (digits <= 0)
        return false;
    if (s->len > 1 && (s->p[0] | 0x20) == 'e') {
        struct str rest = str_skip(*s, 1);
        bool is_minus = rest.p[0] == '-';
        int e;
        if (is_minus || rest.p[0] == '+')
            rest = str_skip(rest, 1);
        if (!take_int(&rest, 3, &e))
            return false;
        *s = rest;
        text[at++] = 'e';
        text[at++] = is_minus ? '-' : '+';
        text[at++] = (char)('0' + e / 100);
        text[at++] = (char)('0' + e / 10 % 10);
        text[at++] = (char)('0' + e % 10);
    }
    text[at] = '\0';
    ret->number = strtod(text, NULL);
    return isfinite(ret->number);
}

/* "$" and the like; how many bytes. */
static size_t currency(struct str s)
{
    static const char *const signs[] = {"$", "€", "£", "¥"};

    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (str_starts(s, str_of(signs[i])))
            return strlen(signs[i]);
    }
    return 0;
}

/* How P looks, and the pattern that shows it so. */
static void give_plain_number(const struct plain_number *p, bool is_percent, bool is_money,
                              struct formula_entry *ret)
{
    /* By percents, by money, by commas; without and with a fraction. */
    static const char *const formats[3][2] = {
        {"0%", "0.00%"}, {"$#,##0", "$#,##0.00"}, {"#,##0", "#,##0.00"}};

    fx_give_look(&ret->value, p->number,
                 is_percent ? FORMULA_LOOK_PERCENT
                 : is_money ? FORMULA_LOOK_CURRENCY
                            : FORMULA_LOOK_PLAIN);
    if (is_percent || is_money || p->has_commas)
        ret->format = formats[is_percent ? 0 : is_money ? 1 : 2][p->has_fraction];
}

static bool read_plain_number(struct str s, struct formula_entry *ret)
{
    bool is_minus = scan_char(&s, '-');
    size_t n = currency(s);
    struct plain_number p;

    if (!is_minus)
        (void)scan_char(&s, '+');
    s = str_skip(s, n);
    if (n > 0 && !is_minus)
        is_minus = scan_char(&s, '-');
    if (!take_plain_number(&s, &p))
        return false;
    bool is_percent = n == 0 && scan_char(&s, '%');
    if (s.len > 0)
        return false;
    p.number = (is_minus ? -p.number : p.number) / (is_percent ? 100 : 1);
    give_plain_number(&p, is_percent, n > 0, ret);
    return true;
}

/* ---- dates and times ---- */

static bool is_entry_date(const struct fx_date *d)
{
    return d->year >= 1900 && d->year <= 9999 && d->month >= 1 && d->month <= 12 && d->day >= 1 &&
           d->day <= fx_days_in_month(d->year, d->month);
}

static int full_year(int year)
{
    return year >= 100 ? year : year + (year < 30 ? 2000 : 1900);
}

/* "2026-01-15", "2026/1/15" */
static bool take_iso(struct str *s, struct fx_date *d)
{
    struct str t = *s;

    if (!take_int(&t, 4, &d->year) || d->year < 1000 || t.len == 0)
        return false;
    char sep = t.p[0];
    if ((sep != '-' && sep != '/') || !scan_char(&t, sep) || !take_int(&t, 2, &d->month) ||
        !scan_char(&t, sep) || !take_int(&t, 2, &d->day))
        return false;
    *s = t;
    return true;
}

/* "1/15/2026", "1/15/26", "1/15/2026" with '-' */
static bool take_us(struct str *s, struct fx_date *d)
{
    struct str t = *s;

    if (!take_int(&t, 2, &d->month) || t.len == 0)
        return false;
    char sep = t.p[0];
    if ((sep != '-' && sep != '/') || !scan_char(&t, sep) || !take_int(&t, 2, &d->day) ||
        !scan_char(&t, sep) || !take_int(&t, 4, &d->year))
        return false;
    d->year = full_year(d->year);
    *s = t;
    return true;
}

static int take_month(struct str *s)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    size_t n = 0;

    while (n < s->len && (s->p[n] | 0x20) >= 'a' && (s->p[n] | 0x20) <= 'z')
        n++;
    for (size_t i = 0; n >= 3 && i < ARRAY_LEN(names); i++) {
        if (n > strlen(names[i]) || !str_ieq(str_slice(*s, 0, n), str_n(names[i], n)))
            continue;
        if (n != 3 && n != strlen(names[i]))
            continue;
        *s = str_skip(*s, n);
        return (int)i + 1;
    }
    return 0;
}

/* "Jan 15, 2026", "15 January 2026", "15-Jan-2026" */
static bool take_named(struct str *s, struct fx_date *d)
{
    struct str t = *s;
    bool is_day_first = take_int(&t, 2, &d->day);

    while (scan_char(&t, ' ') || scan_char(&t, '-'))
        continue;
    d->month = take_month(&t);
    (void)scan_char(&t, '.');
    while (scan_char(&t, ' ') || scan_char(&t, '-'))
        continue;
    if (d->month == 0 || (!is_day_first && !take_int(&t, 2, &d->day)))
        return false;
    (void)scan_char(&t, ',');
    while (scan_char(&t, ' ') || scan_char(&t, '-'))
        continue;
    if (!take_int(&t, 4, &d->year) || d->year < 1000)
        return false;
    *s = t;
    return true;
}

/* AM or PM behind a time: takes it and moves the hour. False: the hour is none of twelve. */
static bool take_half(struct str *s, int *hour, bool *ret_half)
{
    struct str t = str_trim(*s), word = str_slice(t, 0, 2);
    bool is_pm = str_ieq(word, STR("pm"));

    *ret_half = is_pm || str_ieq(word, STR("am"));
    if (!*ret_half)
        return true;
    if (*hour < 1 || *hour > 12)
        return false;
    *hour = *hour % 12 + (is_pm ? 12 : 0);
    *s = str_skip(t, 2);
    return true;
}

/* "9:30", "21:30:15", "9:30 PM", "9 pm", as a part of a day. */
static bool take_entry_time(struct str *s, double *ret, bool *ret_half)
{
    struct str t = *s;
    int h, m = 0, sec = 0;

    if (!take_int(&t, 2, &h))
        return false;
    bool has_minutes = scan_char(&t, ':');
    if (has_minutes && !take_int(&t, 2, &m))
        return false;
    if (has_minutes && scan_char(&t, ':') && !take_int(&t, 2, &sec))
        return false;
    if (!take_half(&t, &h, ret_half) || (!has_minutes && !*ret_half))
        return false;
    *ret = (h * 3600 + m * 60 + sec) / 86400.0;
    *s = t;
    return h <= 23 && m <= 59 && sec <= 59;
}

static const struct {
    bool (*read)(struct str *s, struct fx_date *d);
    const char *format, *with_time;
} date_forms[] = {
    {take_iso, "yyyy-mm-dd", "yyyy-mm-dd h:mm:ss"},
    {take_us, "m/d/yyyy", "m/d/yyyy h:mm:ss"},
    {take_named, "mmm d, yyyy", "mmm d, yyyy h:mm:ss"},
};

static bool read_entry_date(struct str s, struct formula_entry *ret)
{
    struct fx_date d = {0};
    double time = 0;
    bool is_half;
    size_t i = 0;

    while (i < ARRAY_LEN(date_forms) && !date_forms[i].read(&s, &d))
        i++;
    if (i == ARRAY_LEN(date_forms) || !is_entry_date(&d))
        return false;
    double serial = fx_serial(d.year, d.month, d.day);
    if (s.len == 0) {
        fx_give_look(&ret->value, serial, FORMULA_LOOK_DATE);
        ret->format = date_forms[i].format;
        return true;
    }
    if ((!scan_char(&s, ' ') && !scan_char(&s, 'T')) || !take_entry_time(&s, &time, &is_half))
        return false;
    (void)scan_char(&s, 'Z');
    fx_give_look(&ret->value, serial + time, FORMULA_LOOK_DATETIME);
    ret->format = date_forms[i].with_time;
    return s.len == 0;
}

static bool read_entry_time(struct str s, struct formula_entry *ret)
{
    double time;
    bool is_half;

    if (!take_entry_time(&s, &time, &is_half) || s.len > 0)
        return false;
    fx_give_look(&ret->value, time, FORMULA_LOOK_TIME);
    ret->format = is_half ? "h:mm AM/PM" : "h:mm";
    return true;
}

/* ---- all of it ---- */

static bool read_cell_entry(struct str text, struct formula_entry *ret)
{
    struct str s = str_trim(text);

    *ret = (struct formula_entry){.format = ""};
    return s.len > 0 && s.len < 400 &&
           (read_plain_number(s, ret) || read_entry_date(s, ret) || read_entry_time(s, ret));
}

bool fx_read_number(struct str text, double *ret, struct formula_entry *entry)
{
    struct formula_entry own;

    if (!read_cell_entry(text, entry ? entry : &own))
        return false;
    *ret = entry ? entry->value.number : own.value.number;
    return true;
}

void formula_enter(struct str text, struct formula_entry *ret)
{
    struct str s = str_trim(text);

    if (read_cell_entry(text, ret))
        return;
    *ret = (struct formula_entry){.format = ""};
    if (text.len == 0)
        return;
    if (str_iis(s, "TRUE") || str_iis(s, "FALSE")) {
        fx_give_bool(&ret->value, str_iis(s, "TRUE"));
        return;
    }
    enum formula_error error = formula_error_of(s);
    if (error < FORMULA_ERROR_COUNT) {
        fx_give_error(&ret->value, error);
        return;
    }
    ret->value.type = FORMULA_TEXT;
    ret->value.text = text.p[0] == '\'' ? str_skip(text, 1) : text;
}
