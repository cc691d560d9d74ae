/* SPDX-License-Identifier: MIT */
/* The functions of Airtable's formulas, as SQL. */
#include <string.h>

#include "apps/lang/airtable.h"
#include "base/cleanup.h"

#define ISO          "'%Y-%m-%dT%H:%M:%fZ'"
#define PART(format) "CAST(strftime('" format "', $1) AS INTEGER)"

/* Full months between two dates. */
#define MONTHS                                                                                     \
    "((strftime('%Y', $1) - strftime('%Y', $2)) * 12 + strftime('%m', $1) - strftime('%m', $2)"    \
    " - (strftime('%d %H:%M:%f', $1) < strftime('%d %H:%M:%f', $2)))"

/* In the order of the names; IF and SWITCH are the compiler's own. */
static const struct formula_function functions[] = {
    {"ABS", "n", "abs($1)", FORMULA_NUMBER, NULL, NULL},
    {"AND", "b*", "($@)", FORMULA_BOOL, " AND ", NULL},
    {"ARRAYCOMPACT", "t", "$1", FORMULA_TEXT, NULL, NULL},
    {"ARRAYFLATTEN", "t", "$1", FORMULA_TEXT, NULL, NULL},
    {"ARRAYJOIN", "t", "$1", FORMULA_TEXT, NULL, NULL},
    {"ARRAYJOIN", "tt", "replace($1, ', ', $2)", FORMULA_TEXT, NULL, NULL},
    {"ARRAYUNIQUE", "t", "$1", FORMULA_TEXT, NULL, NULL},
    {"AVERAGE", "n*", "(($@) / ($# * 1.0))", FORMULA_NUMBER, " + ", NULL},
    {"BLANK", "", "NULL", FORMULA_ANY, NULL, NULL},
    {"CEILING", "n", "ceil($1)", FORMULA_NUMBER, NULL, NULL},
    {"CEILING", "nn", "(ceil($1 / ($2 * 1.0)) * $2)", FORMULA_NUMBER, NULL, NULL},
    {"CONCATENATE", "t*", "($@)", FORMULA_TEXT, " || ", NULL},
    {"COUNTA", "b*", "($@)", FORMULA_NUMBER, " + ", NULL},
    {"COUNTALL", "a*", "$#", FORMULA_NUMBER, NULL, NULL},
    {"DATEADD", "dnu", "strftime(" ISO ", $1, ($2 * $U / 1000.0) || ' seconds')", FORMULA_DATE,
     NULL, "strftime(" ISO ", $1, CAST($2 * $U AS INTEGER) || ' months')"},
    {"DATESTR", "d", "strftime('%Y-%m-%d', $1)", FORMULA_DATE, NULL, NULL},
    {"DATETIME_DIFF", "dd",
     "(CAST(round((julianday($1) - julianday($2)) * 86400000) AS INTEGER) / 1000)", FORMULA_NUMBER,
     NULL, NULL},
    {"DATETIME_DIFF", "ddu",
     "(CAST(round((julianday($1) - julianday($2)) * 86400000) AS INTEGER) / $U)", FORMULA_NUMBER,
     NULL, "(" MONTHS " / $U)"},
    {"DATETIME_FORMAT", "d", "strftime(" ISO ", $1)", FORMULA_TEXT, NULL, NULL},
    {"DATETIME_FORMAT", "dt", "airtable_format($1, $2)", FORMULA_TEXT, NULL, NULL},
    {"DATETIME_PARSE", "d", "strftime(" ISO ", $1)", FORMULA_DATE, NULL, NULL},
    {"DATETIME_PARSE", "dt", "strftime(" ISO ", $1)", FORMULA_DATE, NULL, NULL},
    {"DAY", "d", PART("%d"), FORMULA_NUMBER, NULL, NULL},
    {"EVEN", "n", "(ceil($1 / 2.0) * 2)", FORMULA_NUMBER, NULL, NULL},
    {"EXACT", "tt", "($1 = $2)", FORMULA_BOOL, NULL, NULL},
    {"EXP", "n", "exp($1)", FORMULA_NUMBER, NULL, NULL},
    {"FALSE", "", "0", FORMULA_BOOL, NULL, NULL},
    {"FIND", "tt", "instr($2, $1)", FORMULA_NUMBER, NULL, NULL},
    {"FIND", "ttn", "ifnull(nullif(instr(substr($2, max($3, 1)), $1), 0) + max($3, 1) - 1, 0)",
     FORMULA_NUMBER, NULL, NULL},
    {"FLOOR", "n", "floor($1)", FORMULA_NUMBER, NULL, NULL},
    {"FLOOR", "nn", "(floor($1 / ($2 * 1.0)) * $2)", FORMULA_NUMBER, NULL, NULL},
    {"HOUR", "d", PART("%H"), FORMULA_NUMBER, NULL, NULL},
    {"INT", "n", "floor($1)", FORMULA_NUMBER, NULL, NULL},
    {"IS_AFTER", "dd", "(julianday($1) > julianday($2))", FORMULA_BOOL, NULL, NULL},
    {"IS_BEFORE", "dd", "(julianday($1) < julianday($2))", FORMULA_BOOL, NULL, NULL},
    {"IS_SAME", "dd", "(julianday($1) = julianday($2))", FORMULA_BOOL, NULL, NULL},
    {"IS_SAME", "ddu", "(strftime('$S', $1) = strftime('$S', $2))", FORMULA_BOOL, NULL, NULL},
    {"LEFT", "tn", "substr($1, 1, max(CAST($2 AS INTEGER), 0))", FORMULA_TEXT, NULL, NULL},
    {"LEN", "t", "length($1)", FORMULA_NUMBER, NULL, NULL},
    {"LOG", "n", "log10($1)", FORMULA_NUMBER, NULL, NULL},
    {"LOG", "nn", "(ln($1) / ln($2))", FORMULA_NUMBER, NULL, NULL},
    {"LOWER", "t", "lower($1)", FORMULA_TEXT, NULL, NULL},
    {"MAX", "n*", "max(-1e308, $@)", FORMULA_NUMBER, ", ", NULL},
    {"MID", "tnn", "substr($1, max(CAST($2 AS INTEGER), 1), max(CAST($3 AS INTEGER), 0))",
     FORMULA_TEXT, NULL, NULL},
    {"MIN", "n*", "min(1e308, $@)", FORMULA_NUMBER, ", ", NULL},
    {"MINUTE", "d", PART("%M"), FORMULA_NUMBER, NULL, NULL},
    {"MOD", "nn", "($1 - $2 * floor($1 / ($2 * 1.0)))", FORMULA_NUMBER, NULL, NULL},
    {"MONTH", "d", PART("%m"), FORMULA_NUMBER, NULL, NULL},
    {"NOT", "b", "(NOT $1)", FORMULA_BOOL, NULL, NULL},
    {"NOW", "", "now()", FORMULA_DATE, NULL, NULL},
    {"ODD", "n", "(ceil(($1 - 1) / 2.0) * 2 + 1)", FORMULA_NUMBER, NULL, NULL},
    {"OR", "b*", "($@)", FORMULA_BOOL, " OR ", NULL},
    {"POWER", "nn", "pow($1, $2)", FORMULA_NUMBER, NULL, NULL},
    {"REGEX_MATCH", "tt", "airtable_regex($1, $2)", FORMULA_BOOL, NULL, NULL},
    {"REPLACE", "tnnt",
     "(substr($1, 1, CAST($2 AS INTEGER) - 1) || $4 ||"
     " substr($1, CAST($2 AS INTEGER) + CAST($3 AS INTEGER)))",
     FORMULA_TEXT, NULL, NULL},
    {"REPT", "tn", "replace(hex(zeroblob(min(max(CAST($2 AS INTEGER), 0), 1000))), '00', $1)",
     FORMULA_TEXT, NULL, NULL},
    {"RIGHT", "tn", "iif(CAST($2 AS INTEGER) > 0, substr($1, -CAST($2 AS INTEGER)), '')",
     FORMULA_TEXT, NULL, NULL},
    {"ROUND", "n", "round($1)", FORMULA_NUMBER, NULL, NULL},
    {"ROUND", "nn", "round($1, CAST($2 AS INTEGER))", FORMULA_NUMBER, NULL, NULL},
    {"ROUNDDOWN", "n", "trunc($1)", FORMULA_NUMBER, NULL, NULL},
    {"ROUNDDOWN", "nn", "(trunc($1 * pow(10, $2)) / pow(10, $2))", FORMULA_NUMBER, NULL, NULL},
    {"ROUNDUP", "n", "(sign($1) * ceil(abs($1)))", FORMULA_NUMBER, NULL, NULL},
    {"ROUNDUP", "nn", "(sign($1) * ceil(abs($1) * pow(10, $2)) / pow(10, $2))", FORMULA_NUMBER,
     NULL, NULL},
    {"SEARCH", "tt", "nullif(instr(lower($2), lower($1)), 0)", FORMULA_NUMBER, NULL, NULL},
    {"SEARCH", "ttn",
     "(nullif(instr(substr(lower($2), max($3, 1)), lower($1)), 0) + max($3, 1) - 1)",
     FORMULA_NUMBER, NULL, NULL},
    {"SECOND", "d", PART("%S"), FORMULA_NUMBER, NULL, NULL},
    {"SQRT", "n", "sqrt($1)", FORMULA_NUMBER, NULL, NULL},
    {"SUBSTITUTE", "ttt", "replace($1, $2, $3)", FORMULA_TEXT, NULL, NULL},
    {"SUM", "n*", "($@)", FORMULA_NUMBER, " + ", NULL},
    {"T", "t", "$1", FORMULA_TEXT, NULL, NULL},
    {"TIMESTR", "d", "strftime('%H:%M:%S', $1)", FORMULA_TEXT, NULL, NULL},
    {"TODAY", "", "date(now())", FORMULA_DATE, NULL, NULL},
    {"TRIM", "t", "trim($1)", FORMULA_TEXT, NULL, NULL},
    {"TRUE", "", "1", FORMULA_BOOL, NULL, NULL},
    {"UPPER", "t", "upper($1)", FORMULA_TEXT, NULL, NULL},
    {"VALUE", "t", "CAST($1 AS REAL)", FORMULA_NUMBER, NULL, NULL},
    {"WEEKDAY", "d", PART("%w"), FORMULA_NUMBER, NULL, NULL},
    {"WEEKNUM", "d", "(" PART("%W") " + 1)", FORMULA_NUMBER, NULL, NULL},
    {"XOR", "b*", "(($@) % 2)", FORMULA_BOOL, " + ", NULL},
    {"YEAR", "d", PART("%Y"), FORMULA_NUMBER, NULL, NULL},
};

static bool takes_arg_count(const struct formula_function *f, size_t n)
{
    size_t len = strlen(f->args);

    return len > 0 && f->args[len - 1] == '*' ? n >= len - 1 : n == len;
}

const struct formula_function *formula_function(struct str name, size_t n, bool *ret_is_known)
{
    *ret_is_known = false;
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (!str_iis(name, functions[i].name))
            continue;
        *ret_is_known = true;
        if (takes_arg_count(&functions[i], n))
            return &functions[i];
    }
    return NULL;
}

char formula_arg(const struct formula_function *f, size_t i)
{
    size_t len = strlen(f->args);

    if (len > 0 && f->args[len - 1] == '*')
        return f->args[len - 2];
    return f->args[i];
}

#define SECOND_MS 1000LL
#define DAY_MS    (86400 * SECOND_MS)

static const struct formula_unit units[] = {
    {"millisecond", 1, 0, "%Y-%m-%d %H:%M:%f"},
    {"second", SECOND_MS, 0, "%Y-%m-%d %H:%M:%S"},
    {"minute", 60 * SECOND_MS, 0, "%Y-%m-%d %H:%M"},
    {"hour", 3600 * SECOND_MS, 0, "%Y-%m-%d %H"},
    {"day", DAY_MS, 0, "%Y-%m-%d"},
    {"week", 7 * DAY_MS, 0, "%Y-%W"},
    {"month", 0, 1, "%Y-%m"},
    {"quarter", 0, 3, NULL},
    {"year", 0, 12, "%Y"},
};

static const struct {
    const char *name, *unit;
} short_units[] = {
    {"ms", "millisecond"}, {"s", "second"}, {"m", "minute"}, {"h", "hour"},
    {"d", "day"},          {"w", "week"},   {"M", "month"},  {"y", "year"},
};

const struct formula_unit *formula_unit(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(short_units); i++) {
        if (str_is(name, short_units[i].name))
            name = str_of(short_units[i].unit);
    }
    if (name.len > 1 && (name.p[name.len - 1] == 's' || name.p[name.len - 1] == 'S'))
        name.len--;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (str_iis(name, units[i].name))
            return &units[i];
    }
    return NULL;
}
