/* SPDX-License-Identifier: MIT */
/* Values as cells show them: patterns of numbers and dates. */
#include <math.h>
#include <stdio.h>

#include "apps/formula/formula_internal.h"

enum { PATTERN_MAX = 200, DECIMALS_MAX = 30, DATE_END = 2958466 /* 10000-01-01 */ };

static const char *const month_names[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
static const char *const day_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};

/* Length of what stands for itself at S ("text", \c, a sign) and *RET of it; 0: a symbol. */
static size_t match_literal(struct str s, struct str *ret)
{
    if (s.p[0] == '"') {
        ptrdiff_t end = str_chr(str_skip(s, 1), '"');
        *ret = str_slice(s, 1, end < 0 ? s.len : (size_t)end + 1);
        return end < 0 ? s.len : (size_t)end + 2;
    }
    if (s.p[0] == '\\' && s.len > 1) {
        *ret = str_slice(s, 1, 2);
        return 2;
    }
    if (s.p[0] == '[') { /* a colour or a condition */
        ptrdiff_t end = str_chr(s, ']');
        *ret = STR("");
        return end < 0 ? s.len : (size_t)end + 1;
    }
    return 0;
}

/* ---- dates ---- */

struct moment {
    struct fx_date date;
    int hour, minute, second, weekday;
    bool is_half; /* hours from 1 to 12 */
};

static struct moment moment_of(double serial)
{
    double day = floor(serial + 0.5 / 86400);
    int64_t s = (int64_t)floor((serial - day) * 86400 + 0.5);
    struct moment m = {.date = fx_civil(day)};

    s = s < 0 ? 0 : s;
    m.hour = (int)(s / 3600 % 24);
    m.minute = (int)(s / 60 % 60);
    m.second = (int)(s % 60);
    m.weekday = (int)(((int64_t)day + 6) % 7);
    m.weekday = m.weekday < 0 ? m.weekday + 7 : m.weekday;
    return m;
}

static void write_format_name(struct buf *out, const char *name, size_t n)
{
    (void)buf_add(out, name, n == 3 ? 3 : n == 5 ? 1 : strlen(name));
}

/* N times the letter C; IS_MINUTE: an 'm' behind hours or before seconds. */
static void write_part(struct buf *out, const struct moment *m, char c, size_t n, bool is_minute)
{
    int width = n >= 2 ? 2 : 1;
    int hour = m->is_half ? (m->hour + 11) % 12 + 1 : m->hour;

    switch (c) {
    case 'y':
        (void)buf_printf(out, n <= 2 ? "%02d" : "%04d", n <= 2 ? m->date.year % 100 : m->date.year);
        break;
    case 'm':
        if (is_minute)
            (void)buf_printf(out, "%0*d", width, m->minute);
        else if (n >= 3)
            write_format_name(out, month_names[m->date.month - 1], n);
        else
            (void)buf_printf(out, "%0*d", width, m->date.month);
        break;
    case 'd':
        if (n >= 3)
            write_format_name(out, day_names[m->weekday], n);
        else
            (void)buf_printf(out, "%0*d", width, m->date.day);
        break;
    case 'h': (void)buf_printf(out, "%0*d", width, hour); break;
    case 's': (void)buf_printf(out, "%0*d", width, m->second); break;
    default: break;
    }
}

static char date_part_of(char c)
{
    char l = (char)(c | 0x20);

    return l == 'y' || l == 'm' || l == 'd' || l == 'h' || l == 's' ? l : '\0';
}

static bool is_before_seconds(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = date_part_of(s.p[i]);
        if (c)
            return c == 's';
    }
    return false;
}

static void show_date(struct buf *out, double serial, struct str pattern)
{
    struct moment m = moment_of(serial);
    struct str s = pattern, text;
    char before = '\0';

    m.is_half = str_find(pattern, STR("AM/PM")) >= 0 || str_find(pattern, STR("am/pm")) >= 0;
    while (s.len > 0) {
        size_t n = match_literal(s, &text);
        char c = date_part_of(s.p[0]);
        if (n > 0) {
            (void)buf_add_str(out, text);
        } else if (s.len >= 5 && str_ieq(str_slice(s, 0, 5), STR("AM/PM"))) {
            (void)buf_add_str(out, m.hour < 12 ? STR("AM") : STR("PM"));
            n = 5;
        } else if (c) {
            while (n < s.len && date_part_of(s.p[n]) == c)
                n++;
            write_part(out, &m, c, n, before == 'h' || is_before_seconds(str_skip(s, n)));
            before = c;
        } else {
            (void)buf_add_char(out, s.p[0]);
            n = 1;
        }
        s = str_skip(s, n);
    }
}

/* ---- numbers ---- */

/* What a section of a pattern asks for. */
struct section {
    struct str text;
    int min_whole, min_decimals, max_decimals, scale; /* scale: powers of ten */
    bool has_digits, has_groups, has_exponent, is_date;
};

static void count_symbol(struct section *c, char s, bool *is_decimal)
{
    switch (s) {
    case '0':
    case '#':
    case '?':
        c->has_digits = true;
        if (c->has_exponent)
            break;
        if (*is_decimal) {
            c->max_decimals += c->max_decimals < DECIMALS_MAX;
            c->min_decimals = s == '0' ? c->max_decimals : c->min_decimals;
        } else {
            c->min_whole += s == '0' || c->min_whole > 0;
        }
        break;
    case '.': *is_decimal = true; break;
    case ',': c->has_groups = c->has_groups || (c->has_digits && !*is_decimal); break;
    case '%': c->scale += 2; break;
    case 'E':
    case 'e': c->has_exponent = c->has_digits; break;
    default: c->is_date = c->is_date || (date_part_of(s) && !c->has_digits); break;
    }
}

static struct section read_format_section(struct str text)
{
    struct section c = {.text = text};
    bool is_decimal = false;
    struct str ignored;

    for (struct str s = text; s.len > 0;) {
        size_t n = match_literal(s, &ignored);
        if (n == 0)
            count_symbol(&c, s.p[0], &is_decimal);
        s = str_skip(s, n > 0 ? n : 1);
    }
    return c;
}

/* DIGITS with separators of thousands. */
static void write_whole(struct buf *out, const char *digits, size_t n, bool has_groups)
{
    for (size_t i = 0; i < n; i++) {
        if (has_groups && i > 0 && (n - i) % 3 == 0)
            (void)buf_add_char(out, ',');
        (void)buf_add_char(out, digits[i]);
    }
}

static void write_digits(struct buf *out, const struct section *c, double number)
{
    char text[400];
    int len = snprintf(text, sizeof text, "%.*f", c->max_decimals, number);

    if (len < 0 || (size_t)len >= sizeof text)
        return;
    struct str rest = str_n(text, (size_t)len), whole = str_cut(&rest, '.');
    if (whole.len == 1 && whole.p[0] == '0' && c->min_whole == 0)
        whole.len = 0;
    for (int i = (int)whole.len; i < c->min_whole; i++)
        (void)buf_add_char(out, '0');
    write_whole(out, whole.p, whole.len, c->has_groups);
    while (rest.len > (size_t)c->min_decimals && rest.p[rest.len - 1] == '0')
        rest.len--;
    if (rest.len > 0)
        (void)buf_printf(out, "." STR_FMT, STR_ARG(rest));
}

static void write_exponent(struct buf *out, const struct section *c, double number)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.*E", c->max_decimals, number);

    (void)buf_add_str(out, str_of(text));
}

static bool is_symbol(char c)
{
    return strchr("0#?.,Ee+-", c) != NULL;
}

/* The digits go where the first symbol for one is; the other symbols vanish. */
static void show_section(struct buf *out, const struct section *c, double number)
{
    bool is_written = false;
    struct str text;

    for (struct str s = c->text; s.len > 0;) {
        size_t n = match_literal(s, &text);
        if (n > 0) {
            (void)buf_add_str(out, text);
        } else if (strchr("0#?.", s.p[0]) || (is_written && is_symbol(s.p[0]))) {
            n = 1;
            while (n < s.len && is_symbol(s.p[n]))
                n++;
            if (!is_written && c->has_exponent)
                write_exponent(out, c, number);
            else if (!is_written)
                write_digits(out, c, number);
            is_written = true;
        } else {
            n = s.p[0] == '_' && s.len > 1 ? 2 : 1;
            if (n == 1 && s.p[0] != '*')
                (void)buf_add_char(out, s.p[0]);
        }
        s = str_skip(s, n);
    }
}

/* Sections of a pattern: for positive numbers, negative ones, zero, text. */
static size_t split_sections(struct str pattern, struct str ret[4])
{
    size_t n = 0, from = 0;
    bool is_quoted = false;

    for (size_t i = 0; i <= pattern.len && n < 4; i++) {
        if (i < pattern.len && pattern.p[i] == '"')
            is_quoted = !is_quoted;
        if (i < pattern.len && (pattern.p[i] != ';' || is_quoted))
            continue;
        ret[n++] = str_slice(pattern, from, i);
        from = i + 1;
    }
    return n;
}

static void show_pattern(struct buf *out, double number, struct str pattern)
{
    struct str parts[4];
    size_t n = split_sections(pattern, parts), i = 0;

    if (n >= 2 && number < 0)
        i = 1;
    else if (n >= 3 && !(number > 0))
        i = 2;
    struct section c = read_format_section(parts[i]);
    if (c.is_date && (number < 0 || number >= DATE_END)) {
        fx_write_number(out, number, 10);
        return;
    }
    if (c.is_date) {
        show_date(out, number, c.text);
        return;
    }
    number *= pow(10, c.scale);
    /* Halves are rounded away from zero, also those that binary fractions only come near to. */
    if (fabs(number) * pow(10, c.max_decimals) < 1e12)
        number += number * 1e-15;
    if (number < 0 && i == 0 && c.has_digits) {
        char text[400];
        (void)snprintf(text, sizeof text, "%.*f", c.max_decimals, number);
        /* What is rounded to zero has no sign. */
        if (strpbrk(text, "123456789") || c.has_exponent)
            (void)buf_add_char(out, '-');
    }
    show_section(out, &c, fabs(number));
}

static const char *const looks[FORMULA_LOOK_COUNT] = {
    [FORMULA_LOOK_PLAIN] = "",
    [FORMULA_LOOK_PERCENT] = "0.00%",
    [FORMULA_LOOK_CURRENCY] = "$#,##0.00",
    [FORMULA_LOOK_DATE] = "m/d/yyyy",
    [FORMULA_LOOK_TIME] = "h:mm:ss AM/PM",
    [FORMULA_LOOK_DATETIME] = "m/d/yyyy h:mm:ss",
};

static void show_number(struct buf *out, const struct formula_value *v, struct str pattern)
{
    if (pattern.len == 0 || pattern.len > PATTERN_MAX || str_iis(pattern, "General"))
        pattern = str_of(looks[v->look]);
    if (pattern.len == 0)
        fx_write_number(out, v->number, 10);
    else if (fabs(v->number) < 1e16)
        show_pattern(out, v->number, pattern);
    else
        fx_write_number(out, v->number, 6);
}

void formula_show(struct buf *out, const struct formula_value *v, struct str pattern)
{
    switch (v->type) {
    case FORMULA_NUMBER: show_number(out, v, pattern); break;
    case FORMULA_TEXT: (void)buf_add_str(out, v->text); break;
    case FORMULA_BOOL: (void)buf_add_str(out, v->flag ? STR("TRUE") : STR("FALSE")); break;
    case FORMULA_ERROR: (void)buf_add_str(out, str_of(formula_error_text(v->error))); break;
    case FORMULA_BLANK:
    case FORMULA_ARRAY:
    case FORMULA_AREA:
    case FORMULA_TYPE_COUNT: break;
    }
}
