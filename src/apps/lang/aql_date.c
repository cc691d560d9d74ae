/* SPDX-License-Identifier: MIT */
/* Dates of JQL and CQL as SQL: "2026-01-12", "2026/01/12 14:05", -7d, "4w 2d", now() and
 * startOfDay() with its relatives. The time zone is UTC. */
#include <errno.h>

#include "apps/lang/aql.h"
#include "base/ascii.h"

#define AMOUNT_MAX 100000 /* of one part of a period */

static const struct aql_unit {
    char letter;
    const char *name; /* SQLite's modifier */
    int times;
} units[] = {
    {'y', "years", 1}, {'M', "months", 1}, {'w', "days", 7},
    {'d', "days", 1},  {'h', "hours", 1},  {'m', "minutes", 1},
};

/* startOfWeek: the Sunday at or before today. */
static const struct aql_span {
    const char *name; /* behind "startOf" */
    const char *begin, *length;
    char unit; /* of an increment that says none */
} spans[] = {
    {"Day", "'start of day'", "'+1 day'", 'd'},
    {"Week", "'start of day', '-6 days', 'weekday 0'", "'+7 days'", 'w'},
    {"Month", "'start of month'", "'+1 month'", 'M'},
    {"Year", "'start of year'", "'+1 year'", 'y'},
};

/* ---- periods ---- */

static const struct aql_unit *aql_unit_of(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (units[i].letter == letter)
            return &units[i];
    }
    return NULL;
}

/* One "12d" off the front of S. */
static const struct aql_unit *read_period_part(struct str *s, char fallback, int *amount)
{
    size_t n = 0;

    for (*amount = 0; n < s->len && ascii_is_digit(s->p[n]) && *amount <= AMOUNT_MAX; n++)
        *amount = *amount * 10 + (s->p[n] - '0');
    if (n == 0 || *amount > AMOUNT_MAX)
        return NULL;
    char letter = n < s->len ? s->p[n] : fallback;
    *s = str_trim(str_skip(*s, n + 1));
    return aql_unit_of(letter);
}

/* Appends ", '-7 days'" for each part of "-1w 2d". -EINVAL when it is no period. */
static int add_period(struct lang_out *o, struct str s, char fallback)
{
    char sign = '+';

    s = str_trim(s);
    if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
        sign = s.p[0];
        s = str_skip(s, 1);
    }
    if (s.len == 0)
        return -EINVAL;
    while (s.len > 0) {
        int amount;
        const struct aql_unit *u = read_period_part(&s, fallback, &amount);
        if (!u)
            return -EINVAL;
        lang_sql(o, ", '%c%d %s'", sign, amount * u->times, u->name);
    }
    return 0;
}

/* ---- dates ---- */

/* The digits where PATTERN has '0', '-' or '/' where it has '-', 'T' or ' ' where it has ' '. */
static bool fits_date_pattern(struct str s, const char *pattern)
{
    if (s.len != strlen(pattern))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i], p = pattern[i];
        bool is_ok = p == '0'   ? ascii_is_digit(c)
                     : p == '-' ? c == '-' || c == '/'
                     : p == ' ' ? c == ' ' || c == 'T'
                                : c == p;
        if (!is_ok)
            return false;
    }
    return true;
}

static int two(struct str s, size_t at)
{
    return (s.p[at] - '0') * 10 + (s.p[at + 1] - '0');
}

/* S as SQLite reads it, in OUT. */
static bool read_aql_date(struct str s, char out[20])
{
    static const char *const patterns[] = {"0000-00-00", "0000-00-00 00:00", "0000-00-00 00:00:00"};

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        if (!fits_date_pattern(s, patterns[i]))
            continue;
        memcpy(out, s.p, s.len);
        out[s.len] = '\0';
        out[4] = out[7] = '-';
        bool is_time = i > 0;
        return two(s, 5) >= 1 && two(s, 5) <= 12 && two(s, 8) >= 1 && two(s, 8) <= 31 &&
               (!is_time || (two(s, 11) <= 23 && two(s, 14) <= 59));
    }
    return false;
}

static int add_date_text(struct lang_out *o, struct str s)
{
    char date[20];

    if (read_aql_date(str_trim(s), date)) {
        lang_text(o, str_of(date));
        return 0;
    }
    lang_sql(o, "now()");
    return add_period(o, s, '\0');
}

/* startOfMonth("-1") begins with the month and adds, so that endOf is one length later. */
static int add_span(struct lang_out *o, const struct aql_span *span, const struct aql_value *f,
                    bool is_end)
{
    lang_sql(o, "now(), %s", span->begin);
    int r = f->n > 0 ? add_period(o, f->items[0].text, span->unit) : 0;
    if (is_end)
        lang_sql(o, ", %s, '-0.001 seconds'", span->length);
    return r;
}

static int add_date_function(struct lang_out *o, const struct aql_value *f)
{
    if (str_iis(f->text, "now") && f->n == 0) {
        lang_sql(o, "now()");
        return 0;
    }
    bool is_end = f->text.len > 5 && str_ieq_bytes(f->text.p, "endOf", 5);
    bool is_start = f->text.len > 7 && str_ieq_bytes(f->text.p, "startOf", 7);
    for (size_t i = 0; (is_end || is_start) && f->n <= 1 && i < ARRAY_LEN(spans); i++) {
        if (str_iis(str_skip(f->text, is_end ? 5 : 7), spans[i].name))
            return add_span(o, &spans[i], f, is_end);
    }
    return -EINVAL;
}

int aql_date(struct lang_out *o, const struct aql_value *value, bool is_day)
{
    int r = -EINVAL;

    lang_sql(o, "strftime('%s', ", is_day ? "%Y-%m-%d" : "%Y-%m-%dT%H:%M:%fZ");
    if (value->kind == AQL_TEXT)
        r = add_date_text(o, value->text);
    else if (value->kind == AQL_FUNCTION)
        r = add_date_function(o, value);
    lang_sql(o, ")");
    return r;
}
