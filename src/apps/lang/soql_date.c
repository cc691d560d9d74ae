/* SPDX-License-Identifier: MIT */
/* SOQL: the names of stretches of days, THIS_MONTH and the like. Weeks begin on Sunday; the fiscal
 * year is the year. */
#include <errno.h>

#include "apps/lang/soql.h"

enum unit { DAY, WEEK, MONTH, QUARTER, YEAR };

/* From the unit FROM to before the unit TO, counted from the one of today; the number behind a name
 * with ":n" is added as often as BY_FROM and BY_TO say. */
static const struct {
    const char *name;
    enum unit unit;
    int from, to, by_from, by_to;
} names[] = {
    {"YESTERDAY", DAY, -1, 0, 0, 0},
    {"TODAY", DAY, 0, 1, 0, 0},
    {"TOMORROW", DAY, 1, 2, 0, 0},
    {"LAST_WEEK", WEEK, -1, 0, 0, 0},
    {"THIS_WEEK", WEEK, 0, 1, 0, 0},
    {"NEXT_WEEK", WEEK, 1, 2, 0, 0},
    {"LAST_MONTH", MONTH, -1, 0, 0, 0},
    {"THIS_MONTH", MONTH, 0, 1, 0, 0},
    {"NEXT_MONTH", MONTH, 1, 2, 0, 0},
    {"LAST_90_DAYS", DAY, -90, 1, 0, 0},
    {"NEXT_90_DAYS", DAY, 1, 91, 0, 0},
    {"LAST_QUARTER", QUARTER, -1, 0, 0, 0},
    {"THIS_QUARTER", QUARTER, 0, 1, 0, 0},
    {"NEXT_QUARTER", QUARTER, 1, 2, 0, 0},
    {"LAST_YEAR", YEAR, -1, 0, 0, 0},
    {"THIS_YEAR", YEAR, 0, 1, 0, 0},
    {"NEXT_YEAR", YEAR, 1, 2, 0, 0},
    {"LAST_FISCAL_QUARTER", QUARTER, -1, 0, 0, 0},
    {"THIS_FISCAL_QUARTER", QUARTER, 0, 1, 0, 0},
    {"NEXT_FISCAL_QUARTER", QUARTER, 1, 2, 0, 0},
    {"LAST_FISCAL_YEAR", YEAR, -1, 0, 0, 0},
    {"THIS_FISCAL_YEAR", YEAR, 0, 1, 0, 0},
    {"NEXT_FISCAL_YEAR", YEAR, 1, 2, 0, 0},
    {"LAST_N_DAYS", DAY, 0, 1, -1, 0},
    {"NEXT_N_DAYS", DAY, 1, 1, 0, 1},
    {"N_DAYS_AGO", DAY, 0, 1, -1, -1},
    {"LAST_N_WEEKS", WEEK, 0, 0, -1, 0},
    {"NEXT_N_WEEKS", WEEK, 1, 1, 0, 1},
    {"N_WEEKS_AGO", WEEK, 0, 1, -1, -1},
    {"LAST_N_MONTHS", MONTH, 0, 0, -1, 0},
    {"NEXT_N_MONTHS", MONTH, 1, 1, 0, 1},
    {"N_MONTHS_AGO", MONTH, 0, 1, -1, -1},
    {"LAST_N_QUARTERS", QUARTER, 0, 0, -1, 0},
    {"NEXT_N_QUARTERS", QUARTER, 1, 1, 0, 1},
    {"N_QUARTERS_AGO", QUARTER, 0, 1, -1, -1},
    {"LAST_N_YEARS", YEAR, 0, 0, -1, 0},
    {"NEXT_N_YEARS", YEAR, 1, 1, 0, 1},
    {"N_YEARS_AGO", YEAR, 0, 1, -1, -1},
};

/* SQL for the first day of a unit, MORE behind it: further changes of the day. */
static struct str day_of(struct arena *a, enum unit unit, int64_t n, const char *more)
{
    static const char quarter[] = "-((strftime('%m', now()) - 1) % 3) || ' months'";
    long long i = (long long)n;

    switch (unit) {
    case DAY: return arena_printf(a, "date(now(), '%lld days'%s)", i, more);
    case WEEK:
        return arena_printf(a, "date(now(), -strftime('%%w', now()) || ' days', '%lld days'%s)",
                            7 * i, more);
    case MONTH: return arena_printf(a, "date(now(), 'start of month', '%lld months'%s)", i, more);
    case QUARTER:
        return arena_printf(a, "date(now(), 'start of month', %s, '%lld months'%s)", quarter, 3 * i,
                            more);
    case YEAR: break;
    }
    return arena_printf(a, "date(now(), 'start of year', '%lld years'%s)", i, more);
}

int soql_days(struct soql *q, struct soql_token word, struct str ret[3])
{
    struct str number = word.text, name = str_cut(&number, ':');
    int64_t n = 0;

    for (size_t i = 0; word.kind == SOQL_WORD && i < ARRAY_LEN(names); i++) {
        if (!str_iis(name, names[i].name))
            continue;
        bool has_number = names[i].by_from != 0 || names[i].by_to != 0;
        if (has_number != (number.p != NULL) ||
            (has_number && (str_to_i64(number, &n) < 0 || n < 0 || n > 100000)))
            return soql_fail(q, word.at, "MALFORMED_QUERY", "unexpected token: '" STR_FMT "'",
                             STR_ARG(word.text));
        int64_t from = names[i].from + names[i].by_from * n, to = names[i].to + names[i].by_to * n;
        ret[0] = day_of(q->out.arena, names[i].unit, from, "");
        ret[1] = day_of(q->out.arena, names[i].unit, to, ", '-1 days'");
        ret[2] = day_of(q->out.arena, names[i].unit, to, "");
        q->out.has_failed |= !ret[0].p || !ret[1].p || !ret[2].p;
        return 1;
    }
    return 0;
}
