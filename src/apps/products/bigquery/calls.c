/* SPDX-License-Identifier: MIT */
/* Calls of functions, by a table of what they are in SQLite. */
#include <stdio.h>

#include "apps/products/bigquery/gen.h"
#include "base/cleanup.h"

static const struct bq_sql failed = {.type = &bq_scalars[BQ_ANY]};

enum { MAX_ARGS = 64, ANY_NUMBER = MAX_ARGS };

enum flags {
    AGGREGATE = 1, /* of rows */
    WINDOW = 2,    /* only with OVER */
    PART_2 = 4,    /* the second argument is a part of a time: MONTH */
    PART_3 = 8,
    INTERVAL = 16, /* the second argument is INTERVAL n part */
    ORDERED = 32,  /* an aggregate that may have DISTINCT, ORDER BY and LIMIT */
    BARE = 64      /* needs no parentheses */
};

/* In the SQL $1, $2, … are arguments, $* all of them, $p the part and $n the number of an interval,
 * $k the kind of the time that the first argument is (of `family` when it is none), $o OVER, $d
 * DISTINCT. The type is a letter: i INT64, f FLOAT64, n the number that the first argument is, b
 * BOOL, s STRING, y BYTES, d DATE, t DATETIME, h TIME, z TIMESTAMP, j JSON; 1 and 2 that of the
 * argument, * that of all arguments, k that of the time, a an array of the first argument's, e an
 * item of that, S, I, D an array of strings, numbers, dates. */
static const struct function {
    const char *name;
    unsigned char min, max;
    const char *sql;
    char type;
    unsigned char flags;
    enum bq_kind family;
} functions[] = {
    /* rows */
    {"COUNT", 1, 1, "count($d$1)$o", 'i', AGGREGATE, 0},
    {"COUNTIF", 1, 1, "count(CASE WHEN $1 THEN 1 END)$o", 'i', AGGREGATE, 0},
    {"SUM", 1, 1, "sum($d$1)$o", 'n', AGGREGATE, 0},
    {"AVG", 1, 1, "avg($d$1)$o", 'f', AGGREGATE, 0},
    {"MIN", 1, 1, "min($1)$o", '1', AGGREGATE, 0},
    {"MAX", 1, 1, "max($1)$o", '1', AGGREGATE, 0},
    {"ANY_VALUE", 1, 1, "min($1)$o", '1', AGGREGATE, 0},
    {"LOGICAL_AND", 1, 1, "min($1)$o", 'b', AGGREGATE, 0},
    {"LOGICAL_OR", 1, 1, "max($1)$o", 'b', AGGREGATE, 0},
    {"APPROX_COUNT_DISTINCT", 1, 1, "count(DISTINCT $1)$o", 'i', AGGREGATE, 0},
    {"ARRAY_AGG", 1, 1, "", 'a', AGGREGATE | ORDERED, 0},
    {"STRING_AGG", 1, 2, "", 's', AGGREGATE | ORDERED, 0},
    {"VAR_POP", 1, 1,
     "((sum(($1) * 1.0 * ($1))$o - sum($1)$o * 1.0 * sum($1)$o / count($1)$o) / count($1)$o)", 'f',
     AGGREGATE, 0},
    {"VAR_SAMP", 1, 1, "bq_variance(sum(($1) * 1.0 * ($1))$o, sum($1)$o, count($1)$o)", 'f',
     AGGREGATE, 0},
    {"VARIANCE", 1, 1, "bq_variance(sum(($1) * 1.0 * ($1))$o, sum($1)$o, count($1)$o)", 'f',
     AGGREGATE, 0},
    {"STDDEV_POP", 1, 1,
     "sqrt((sum(($1) * 1.0 * ($1))$o - sum($1)$o * 1.0 * sum($1)$o / count($1)$o) / count($1)$o)",
     'f', AGGREGATE, 0},
    {"STDDEV_SAMP", 1, 1, "sqrt(bq_variance(sum(($1) * 1.0 * ($1))$o, sum($1)$o, count($1)$o))",
     'f', AGGREGATE, 0},
    {"STDDEV", 1, 1, "sqrt(bq_variance(sum(($1) * 1.0 * ($1))$o, sum($1)$o, count($1)$o))", 'f',
     AGGREGATE, 0},
    {"APPROX_QUANTILES", 2, 2, "bq_quantiles(json_group_array($1)$o, $2)", 'a', AGGREGATE, 0},
    {"ROW_NUMBER", 0, 0, "row_number()$o", 'i', WINDOW, 0},
    {"RANK", 0, 0, "rank()$o", 'i', WINDOW, 0},
    {"DENSE_RANK", 0, 0, "dense_rank()$o", 'i', WINDOW, 0},
    {"PERCENT_RANK", 0, 0, "percent_rank()$o", 'f', WINDOW, 0},
    {"CUME_DIST", 0, 0, "cume_dist()$o", 'f', WINDOW, 0},
    {"NTILE", 1, 1, "ntile($1)$o", 'i', WINDOW, 0},
    {"LAG", 1, 3, "lag($*)$o", '1', WINDOW, 0},
    {"LEAD", 1, 3, "lead($*)$o", '1', WINDOW, 0},
    {"FIRST_VALUE", 1, 1, "first_value($1)$o", '1', WINDOW, 0},
    {"LAST_VALUE", 1, 1, "last_value($1)$o", '1', WINDOW, 0},
    {"NTH_VALUE", 2, 2, "nth_value($*)$o", '1', WINDOW, 0},

    /* conditions */
    {"IF", 3, 3, "iif($1, $2, $3)", '2', 0, 0},
    {"IFNULL", 2, 2, "ifnull($1, $2)", '*', 0, 0},
    {"COALESCE", 1, 1, "$1", '1', 0, 0},
    {"COALESCE", 2, ANY_NUMBER, "coalesce($*)", '*', 0, 0},
    {"NULLIF", 2, 2, "nullif($1, $2)", '1', 0, 0},
    {"GREATEST", 1, 1, "$1", '1', 0, 0},
    {"GREATEST", 2, ANY_NUMBER, "max($*)", '*', 0, 0},
    {"LEAST", 1, 1, "$1", '1', 0, 0},
    {"LEAST", 2, ANY_NUMBER, "min($*)", '*', 0, 0},
    {"ERROR", 1, 1, "bq_error($1)", 'i', 0, 0},

    /* numbers */
    {"ABS", 1, 1, "abs($1)", 'n', 0, 0},
    {"SIGN", 1, 1, "sign($1)", 'n', 0, 0},
    {"ROUND", 1, 1, "bq_round($1, 0)", 'n', 0, 0},
    {"ROUND", 2, 2, "bq_round($1, $2)", 'n', 0, 0},
    {"TRUNC", 1, 1, "CAST(trunc($1) AS REAL)", 'f', 0, 0},
    {"CEIL", 1, 1, "CAST(ceil($1) AS REAL)", 'f', 0, 0},
    {"CEILING", 1, 1, "CAST(ceil($1) AS REAL)", 'f', 0, 0},
    {"FLOOR", 1, 1, "CAST(floor($1) AS REAL)", 'f', 0, 0},
    {"SQRT", 1, 1, "sqrt($1)", 'f', 0, 0},
    {"POW", 2, 2, "pow($1, $2)", 'f', 0, 0},
    {"POWER", 2, 2, "pow($1, $2)", 'f', 0, 0},
    {"EXP", 1, 1, "exp($1)", 'f', 0, 0},
    {"LN", 1, 1, "ln($1)", 'f', 0, 0},
    {"LOG", 1, 1, "ln($1)", 'f', 0, 0},
    {"LOG", 2, 2, "log($2, $1)", 'f', 0, 0},
    {"LOG10", 1, 1, "log10($1)", 'f', 0, 0},
    {"SIN", 1, 1, "sin($1)", 'f', 0, 0},
    {"COS", 1, 1, "cos($1)", 'f', 0, 0},
    {"TAN", 1, 1, "tan($1)", 'f', 0, 0},
    {"ATAN2", 2, 2, "atan2($1, $2)", 'f', 0, 0},
    {"MOD", 2, 2, "bq_mod($1, $2)", 'n', 0, 0},
    {"DIV", 2, 2, "bq_div($1, $2)", 'i', 0, 0},
    {"SAFE_DIVIDE", 2, 2, "(($1) * 1.0 / nullif($2, 0))", 'f', 0, 0},
    {"IEEE_DIVIDE", 2, 2, "(($1) * 1.0 / nullif($2, 0))", 'f', 0, 0},
    {"SAFE_ADD", 2, 2, "(($1) + ($2))", '*', 0, 0},
    {"SAFE_SUBTRACT", 2, 2, "(($1) - ($2))", '*', 0, 0},
    {"SAFE_MULTIPLY", 2, 2, "(($1) * ($2))", '*', 0, 0},
    {"SAFE_NEGATE", 1, 1, "(-($1))", '1', 0, 0},
    {"IS_NAN", 1, 1, "(0 * ($1) IS NULL)", 'b', 0, 0},
    {"IS_INF", 1, 1, "(abs($1) = 9e999)", 'b', 0, 0},
    {"RAND", 0, 0, "(rand_int(0, 999999999) / 1000000000.0)", 'f', 0, 0},
    {"GENERATE_UUID", 0, 0, "rand_text('{uuid}')", 's', 0, 0},

    /* texts */
    {"CONCAT", 1, 1, "$1", '1', 0, 0},
    {"CONCAT", 2, ANY_NUMBER, "bq_concat($*)", 's', 0, 0},
    {"LOWER", 1, 1, "lower($1)", '1', 0, 0},
    {"UPPER", 1, 1, "upper($1)", '1', 0, 0},
    {"INITCAP", 1, 1, "bq_initcap($1)", 's', 0, 0},
    {"LENGTH", 1, 1, "length($1)", 'i', 0, 0},
    {"CHAR_LENGTH", 1, 1, "length($1)", 'i', 0, 0},
    {"CHARACTER_LENGTH", 1, 1, "length($1)", 'i', 0, 0},
    {"BYTE_LENGTH", 1, 1, "length(CAST($1 AS BLOB))", 'i', 0, 0},
    {"TRIM", 1, 2, "trim($*)", '1', 0, 0},
    {"LTRIM", 1, 2, "ltrim($*)", '1', 0, 0},
    {"RTRIM", 1, 2, "rtrim($*)", '1', 0, 0},
    {"SUBSTR", 2, 3, "substr($*)", '1', 0, 0},
    {"SUBSTRING", 2, 3, "substr($*)", '1', 0, 0},
    {"LEFT", 2, 2, "substr($1, 1, $2)", '1', 0, 0},
    {"RIGHT", 2, 2, "iif($2 > 0, substr($1, -($2)), '')", '1', 0, 0},
    {"REPLACE", 3, 3, "replace($1, $2, $3)", '1', 0, 0},
    {"REVERSE", 1, 1, "bq_reverse($1)", '1', 0, 0},
    {"REPEAT", 2, 2, "bq_repeat($1, $2)", '1', 0, 0},
    {"STARTS_WITH", 2, 2, "(substr($1, 1, length($2)) = $2)", 'b', 0, 0},
    {"ENDS_WITH", 2, 2, "($2 = '' OR substr($1, -length($2)) = $2)", 'b', 0, 0},
    {"STRPOS", 2, 2, "instr($1, $2)", 'i', 0, 0},
    {"INSTR", 2, 2, "instr($1, $2)", 'i', 0, 0},
    {"CONTAINS_SUBSTR", 2, 2, "(instr(lower($1), lower($2)) > 0)", 'b', 0, 0},
    {"SPLIT", 1, 1, "bq_split($1, ',')", 'S', 0, 0},
    {"SPLIT", 2, 2, "bq_split($1, $2)", 'S', 0, 0},
    {"LPAD", 2, 2, "bq_pad($1, $2, ' ', 1)", 's', 0, 0},
    {"LPAD", 3, 3, "bq_pad($1, $2, $3, 1)", 's', 0, 0},
    {"RPAD", 2, 2, "bq_pad($1, $2, ' ', 0)", 's', 0, 0},
    {"RPAD", 3, 3, "bq_pad($1, $2, $3, 0)", 's', 0, 0},
    {"REGEXP_CONTAINS", 2, 2, "bq_regexp($1, $2)", 'b', 0, 0},
    {"REGEXP_EXTRACT", 2, 2, "bq_regexp_extract($1, $2)", 's', 0, 0},
    {"REGEXP_SUBSTR", 2, 2, "bq_regexp_extract($1, $2)", 's', 0, 0},
    {"REGEXP_EXTRACT_ALL", 2, 2, "bq_regexp_all($1, $2)", 'S', 0, 0},
    {"REGEXP_REPLACE", 3, 3, "bq_regexp_replace($1, $2, $3)", 's', 0, 0},
    {"FORMAT", 1, ANY_NUMBER, "bq_format($*)", 's', 0, 0},
    {"TO_BASE64", 1, 1, "base64($1)", 's', 0, 0},
    {"CODE_POINTS_TO_STRING", 1, 1, "(SELECT group_concat(char(value), '') FROM json_each($1))",
     's', 0, 0},
    {"ASCII", 1, 1, "unicode($1)", 'i', 0, 0},
    {"CHR", 1, 1, "char($1)", 's', 0, 0},

    /* JSON */
    {"TO_JSON_STRING", 1, 2, "json_quote($1)", 's', 0, 0},
    {"TO_JSON", 1, 1, "json_quote($1)", 'j', 0, 0},
    {"PARSE_JSON", 1, 1, "bq_cast('JSON', $1, 'STRING', 0)", 'j', 0, 0},
    {"JSON_VALUE", 1, 1, "bq_json_value($1, '$')", 's', 0, 0},
    {"JSON_VALUE", 2, 2, "bq_json_value($1, $2)", 's', 0, 0},
    {"JSON_EXTRACT_SCALAR", 1, 1, "bq_json_value($1, '$')", 's', 0, 0},
    {"JSON_EXTRACT_SCALAR", 2, 2, "bq_json_value($1, $2)", 's', 0, 0},
    {"JSON_QUERY", 2, 2, "($1 -> $2)", 'j', 0, 0},
    {"JSON_EXTRACT", 2, 2, "($1 -> $2)", 'j', 0, 0},
    {"JSON_EXTRACT_ARRAY", 1, 1, "bq_json_array($1, '$')", 'S', 0, 0},
    {"JSON_EXTRACT_ARRAY", 2, 2, "bq_json_array($1, $2)", 'S', 0, 0},
    {"JSON_QUERY_ARRAY", 2, 2, "bq_json_array($1, $2)", 'S', 0, 0},
    {"JSON_VALUE_ARRAY", 2, 2, "json($1 -> $2)", 'S', 0, 0},
    {"JSON_EXTRACT_STRING_ARRAY", 2, 2, "json($1 -> $2)", 'S', 0, 0},

    /* arrays */
    {"ARRAY_LENGTH", 1, 1, "json_array_length($1)", 'i', 0, 0},
    {"ARRAY_CONCAT", 1, ANY_NUMBER, "bq_array_concat($*)", '1', 0, 0},
    {"ARRAY_REVERSE", 1, 1, "bq_array_reverse($1)", '1', 0, 0},
    {"ARRAY_TO_STRING", 2, 3, "bq_array_join($*)", 's', 0, 0},
    {"ARRAY_FIRST", 1, 1, "bq_item($1, 0, 0)", 'e', 0, 0},
    {"ARRAY_LAST", 1, 1, "bq_item($1, json_array_length($1) - 1, 0)", 'e', 0, 0},
    {"GENERATE_ARRAY", 2, 2, "bq_sequence($1, $2, 1)", 'I', 0, 0},
    {"GENERATE_ARRAY", 3, 3, "bq_sequence($1, $2, $3)", 'I', 0, 0},
    {"GENERATE_DATE_ARRAY", 2, 2, "bq_dates($1, $2, 1, 'DAY')", 'D', 0, 0},
    {"GENERATE_DATE_ARRAY", 3, 3, "bq_dates($1, $2, $n, $p)", 'D', INTERVAL, 0},

    /* times */
    {"CURRENT_DATE", 0, 1, "bq_time('DATE', bq_now(), $z)", 'd', BARE, 0},
    {"CURRENT_DATETIME", 0, 1, "bq_time('DATETIME', bq_now(), $z)", 't', BARE, 0},
    {"CURRENT_TIME", 0, 1, "bq_time('TIME', bq_now(), $z)", 'h', BARE, 0},
    {"CURRENT_TIMESTAMP", 0, 0, "bq_now()", 'z', BARE, 0},
    {"DATE", 1, 2, "bq_time('DATE', $*)", 'd', 0, 0},
    {"DATE", 3, 3, "bq_make('DATE', $*)", 'd', 0, 0},
    {"DATETIME", 1, 2, "bq_time('DATETIME', $*)", 't', 0, 0},
    {"DATETIME", 6, 6, "bq_make('DATETIME', $*)", 't', 0, 0},
    {"TIMESTAMP", 1, 2, "bq_time('TIMESTAMP', $*)", 'z', 0, 0},
    {"TIME", 1, 2, "bq_time('TIME', $*)", 'h', 0, 0},
    {"TIME", 3, 3, "bq_make('TIME', $*)", 'h', 0, 0},
    {"STRING", 1, 1, "bq_cast('STRING', $1, '', 0)", 's', 0, 0},
    {"DATE_ADD", 2, 2, "bq_shift('$k', $1, $n, $p)", 'k', INTERVAL, BQ_DATE},
    {"DATE_SUB", 2, 2, "bq_shift('$k', $1, -($n), $p)", 'k', INTERVAL, BQ_DATE},
    {"DATETIME_ADD", 2, 2, "bq_shift('$k', $1, $n, $p)", 'k', INTERVAL, BQ_DATETIME},
    {"DATETIME_SUB", 2, 2, "bq_shift('$k', $1, -($n), $p)", 'k', INTERVAL, BQ_DATETIME},
    {"TIMESTAMP_ADD", 2, 2, "bq_shift('$k', $1, $n, $p)", 'k', INTERVAL, BQ_TIMESTAMP},
    {"TIMESTAMP_SUB", 2, 2, "bq_shift('$k', $1, -($n), $p)", 'k', INTERVAL, BQ_TIMESTAMP},
    {"TIME_ADD", 2, 2, "bq_shift('$k', $1, $n, $p)", 'k', INTERVAL, BQ_TIME},
    {"TIME_SUB", 2, 2, "bq_shift('$k', $1, -($n), $p)", 'k', INTERVAL, BQ_TIME},
    {"DATE_DIFF", 3, 3, "bq_diff('$k', $1, $2, $p)", 'i', PART_3, BQ_DATE},
    {"DATETIME_DIFF", 3, 3, "bq_diff('$k', $1, $2, $p)", 'i', PART_3, BQ_DATETIME},
    {"TIMESTAMP_DIFF", 3, 3, "bq_diff('TIMESTAMP', $1, $2, $p)", 'i', PART_3, BQ_TIMESTAMP},
    {"TIME_DIFF", 3, 3, "bq_diff('TIME', $1, $2, $p)", 'i', PART_3, BQ_TIME},
    {"DATE_TRUNC", 2, 2, "bq_trunc('$k', $1, $p)", 'k', PART_2, BQ_DATE},
    {"DATETIME_TRUNC", 2, 2, "bq_trunc('$k', $1, $p)", 'k', PART_2, BQ_DATETIME},
    {"TIMESTAMP_TRUNC", 2, 3, "bq_trunc('$k', $1, $p)", 'k', PART_2, BQ_TIMESTAMP},
    {"TIME_TRUNC", 2, 2, "bq_trunc('$k', $1, $p)", 'k', PART_2, BQ_TIME},
    {"LAST_DAY", 1, 1, "bq_last_day($1, 'MONTH')", 'd', 0, 0},
    {"LAST_DAY", 2, 2, "bq_last_day($1, $p)", 'd', PART_2, BQ_DATE},
    {"FORMAT_DATE", 2, 2, "bq_strftime($1, $2)", 's', 0, 0},
    {"FORMAT_DATETIME", 2, 2, "bq_strftime($1, $2)", 's', 0, 0},
    {"FORMAT_TIMESTAMP", 2, 3, "bq_strftime($*)", 's', 0, 0},
    {"FORMAT_TIME", 2, 2, "bq_strftime($1, $2)", 's', 0, 0},
    {"PARSE_DATE", 2, 2, "bq_strptime('DATE', $1, $2)", 'd', 0, 0},
    {"PARSE_DATETIME", 2, 2, "bq_strptime('DATETIME', $1, $2)", 't', 0, 0},
    {"PARSE_TIMESTAMP", 2, 3, "bq_strptime('TIMESTAMP', $1, $2)", 'z', 0, 0},
    {"PARSE_TIME", 2, 2, "bq_strptime('TIME', $1, $2)", 'h', 0, 0},
    {"UNIX_SECONDS", 1, 1, "bq_unix($1, 1000000)", 'i', 0, 0},
    {"UNIX_MILLIS", 1, 1, "bq_unix($1, 1000)", 'i', 0, 0},
    {"UNIX_MICROS", 1, 1, "bq_unix($1, 1)", 'i', 0, 0},
    {"UNIX_DATE", 1, 1, "bq_unix($1, 86400000000)", 'i', 0, 0},
    {"TIMESTAMP_SECONDS", 1, 1, "bq_of_unix('TIMESTAMP', $1, 1000000)", 'z', 0, 0},
    {"TIMESTAMP_MILLIS", 1, 1, "bq_of_unix('TIMESTAMP', $1, 1000)", 'z', 0, 0},
    {"TIMESTAMP_MICROS", 1, 1, "bq_of_unix('TIMESTAMP', $1, 1)", 'z', 0, 0},
    {"DATE_FROM_UNIX_DATE", 1, 1, "bq_of_unix('DATE', $1, 86400000000)", 'd', 0, 0},
};

static const struct function *find_sql_function(struct str name, size_t n)
{
    const struct function *any = NULL;

    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        const struct function *f = &functions[i];
        if (!str_iis(name, f->name))
            continue;
        any = f;
        if (n >= f->min && n <= f->max)
            return f;
    }
    return any;
}

bool bq_is_aggregate(struct str name)
{
    const struct function *f = find_sql_function(name, 1);

    return f && f->flags & AGGREGATE;
}

bool bq_is_bare_call(struct str name)
{
    const struct function *f = find_sql_function(name, 0);

    return f && f->flags & BARE;
}

/* ---- the call at hand ---- */

struct bq_call {
    struct bq_gen *g;
    const struct bq_expr *e;
    const struct bq_scope *scope;
    const struct function *f;
    struct bq_sql args[MAX_ARGS];
    size_t n;
    struct str part, number, over; /* quoted; SQL; SQL */
};

static bool is_time_kind(enum bq_kind kind)
{
    return kind == BQ_DATE || kind == BQ_DATETIME || kind == BQ_TIMESTAMP || kind == BQ_TIME;
}

static enum bq_kind time_kind(const struct bq_call *c)
{
    return c->n > 0 && is_time_kind(c->args[0].type->kind) ? c->args[0].type->kind : c->f->family;
}

/* MONTH, WEEK(MONDAY) */
static bool read_date_part(struct bq_call *c, const struct bq_expr *e)
{
    struct str name = STR_NULL;

    if (e->kind == BQ_E_PATH && !e->first->next)
        name = e->first->text;
    else if (e->kind == BQ_E_CALL && e->first && e->first->kind == BQ_E_PATH)
        name =
            bq_printf(c->g, STR_FMT "_" STR_FMT, STR_ARG(e->text), STR_ARG(e->first->first->text));
    if (!name.p) {
        bq_fail(c->g, e, "A valid date part name is required");
        return false;
    }
    c->part = bq_quote(c->g, name);
    return c->part.p;
}

static bool read_bq_interval(struct bq_call *c, const struct bq_expr *e)
{
    if (e->kind != BQ_E_INTERVAL) {
        bq_fail(c->g, e, "Expected INTERVAL expression");
        return false;
    }
    c->number = bq_gen_expr(c->g, e->first, c->scope).sql;
    c->part = bq_quote(c->g, e->text);
    return c->number.p && c->part.p;
}

static bool read_call_args(struct bq_call *c)
{
    for (const struct bq_expr *e = c->e->first; e; e = e->next) {
        bool is_part = (c->f->flags & PART_2 && c->n == 1) || (c->f->flags & PART_3 && c->n == 2);
        size_t interval_at = c->f->max == 3 ? 2 : 1;
        if (c->n == MAX_ARGS)
            return false;
        struct bq_sql *to = &c->args[c->n++];
        *to = (struct bq_sql){.sql = STR("NULL"), .type = &bq_scalars[BQ_ANY]};
        if (is_part ? !read_date_part(c, e) : false)
            return false;
        if (is_part)
            continue;
        if (c->f->flags & INTERVAL && c->n == interval_at + 1) {
            if (!read_bq_interval(c, e))
                return false;
            continue;
        }
        if (e->kind == BQ_E_STAR) {
            to->sql = STR("*");
            continue;
        }
        *to = bq_gen_expr(c->g, e, c->scope);
        if (!to->sql.p)
            return false;
    }
    return true;
}

/* " OVER (…)", or "" */
static bool read_window(struct bq_call *c)
{
    const struct bq_window *w = c->e->over;
    auto_buf struct buf b = BUF_INIT(1 << 20);

    c->over = STR("");
    if (!w)
        return true;
    for (const struct bq_expr *e = w->partition; e; e = e->next) {
        struct bq_sql v = bq_gen_expr(c->g, e, c->scope);
        if (!v.sql.p)
            return false;
        (void)buf_printf(&b, "%s(" STR_FMT ")", b.len > 0 ? ", " : "PARTITION BY ", STR_ARG(v.sql));
    }
    struct str sorts = bq_gen_sorts(c->g, w->sorts, c->scope);
    c->over = bq_printf(c->g, " OVER (" STR_FMT STR_FMT STR_FMT ")", STR_ARG(buf_str(&b)),
                        STR_ARG(sorts), STR_ARG(w->frame));
    return sorts.p && c->over.p;
}

/* ---- types ---- */

static const struct bq_type *bq_common_type(struct bq_call *c, size_t from)
{
    const struct bq_type *t = &bq_scalars[BQ_ANY];

    for (size_t i = from; i < c->n; i++) {
        const struct bq_type *next = bq_common(t, c->args[i].type);
        /* A text that is a date in the place of one. */
        if (!next && bq_coerce(c->g, &c->args[i], t))
            next = t;
        if (!next)
            return NULL;
        t = next;
    }
    return t;
}

static const struct bq_type *result_type(struct bq_call *c)
{
    static const struct {
        char letter;
        enum bq_kind kind;
        bool is_array;
    } letters[] = {{'i', BQ_INT64, false},     {'f', BQ_FLOAT64, false}, {'b', BQ_BOOL, false},
                   {'s', BQ_STRING, false},    {'y', BQ_BYTES, false},   {'d', BQ_DATE, false},
                   {'t', BQ_DATETIME, false},  {'h', BQ_TIME, false},    {'j', BQ_JSON, false},
                   {'z', BQ_TIMESTAMP, false}, {'S', BQ_STRING, true},   {'I', BQ_INT64, true},
                   {'D', BQ_DATE, true}};
    const struct bq_type *first = c->n > 0 ? c->args[0].type : &bq_scalars[BQ_ANY];

    for (size_t i = 0; i < ARRAY_LEN(letters); i++) {
        if (letters[i].letter != c->f->type)
            continue;
        const struct bq_type *t = &bq_scalars[letters[i].kind];
        return letters[i].is_array ? bq_array_of(c->g, t) : t;
    }
    switch (c->f->type) {
    case 'n': {
        bool is_number = first->kind == BQ_INT64 || first->kind == BQ_FLOAT64 ||
                         first->kind == BQ_NUMERIC || first->kind == BQ_ANY;
        return is_number ? first : NULL;
    }
    case '2': return bq_common_type(c, 1);
    case '*': return bq_common_type(c, 0);
    case 'k': return &bq_scalars[time_kind(c)];
    case 'a': return bq_array_of(c->g, first);
    case 'e': return first->item ? first->item : &bq_scalars[BQ_ANY];
    default: return first;
    }
}

static struct bq_sql no_call_signature(struct bq_call *c)
{
    auto_buf struct buf b = BUF_INIT(4096);
    char name[64];

    for (size_t i = 0; i < c->n; i++)
        (void)buf_printf(&b, "%s" STR_FMT, i > 0 ? ", " : "",
                         STR_ARG(bq_type_text(c->g->arena, c->args[i].type)));
    (void)snprintf(name, sizeof name, "%s", c->f->name);
    if (c->n == 0)
        bq_fail(c->g, c->e, "No matching signature for function %s with no arguments", name);
    else
        bq_fail(c->g, c->e, "No matching signature for function %s for argument types: " STR_FMT,
                name, STR_ARG(buf_str(&b)));
    return failed;
}

/* ---- SQL ---- */

static void put_all_args(struct buf *b, const struct bq_call *c)
{
    for (size_t i = 0; i < c->n; i++)
        (void)buf_printf(b, "%s" STR_FMT, i > 0 ? ", " : "", STR_ARG(c->args[i].sql));
}

/* What "$WHAT" stands for. */
static void put_variable(struct buf *b, const struct bq_call *c, char what)
{
    if (what >= '1' && what <= '9') {
        size_t i = (size_t)(what - '1');
        (void)buf_add_str(b, i < c->n ? c->args[i].sql : STR("NULL"));
        return;
    }
    switch (what) {
    case '*': put_all_args(b, c); break;
    case 'p': (void)buf_add_str(b, c->part); break;
    case 'n': (void)buf_add_str(b, c->number); break;
    case 'o': (void)buf_add_str(b, c->over); break;
    case 'd': (void)buf_add_str(b, c->e->is_distinct ? STR("DISTINCT ") : STR("")); break;
    case 'k': (void)buf_printf(b, "%s", bq_kind_name(time_kind(c))); break;
    case 'z': (void)buf_add_str(b, c->n > 0 ? c->args[0].sql : STR("'UTC'")); break;
    default: break;
    }
}

static struct str fill_call_template(const struct bq_call *c)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    for (const char *p = c->f->sql; *p; p++) {
        if (*p == '$' && p[1] && p[1] != '\'')
            put_variable(&b, c, *++p);
        else
            (void)buf_add_char(&b, *p);
    }
    return bq_printf(c->g, STR_FMT, STR_ARG(buf_str(&b)));
}

/* ARRAY_AGG and STRING_AGG: the values with what they are sorted by, put in order afterwards. */
static struct str fill_ordered(struct bq_call *c)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    auto_buf struct buf order = BUF_INIT(256);
    bool is_text = c->f->type == 's';
    struct str limit = STR("-1");

    (void)buf_printf(&b, "json_array(" STR_FMT, STR_ARG(bq_json_arg(c->g, &c->args[0])));
    for (const struct bq_sort *s = c->e->sorts; s; s = s->next) {
        struct bq_sql key = bq_gen_expr(c->g, s->expr, c->scope);
        if (!key.sql.p)
            return STR_NULL;
        (void)buf_printf(&b, ", " STR_FMT, STR_ARG(key.sql));
        (void)buf_add_char(&order, s->is_descending ? 'd' : 'a');
    }
    if (c->e->limit)
        limit = bq_gen_expr(c->g, c->e->limit, c->scope).sql;
    if (!limit.p)
        return STR_NULL;
    return bq_printf(c->g,
                     "bq_collect(json_group_array(" STR_FMT "))" STR_FMT ", '" STR_FMT
                     "', %d, " STR_FMT ", " STR_FMT ")",
                     STR_ARG(buf_str(&b)), STR_ARG(c->over), STR_ARG(buf_str(&order)),
                     (c->e->is_distinct ? 1 : 0) | (c->e->ignores_nulls || is_text ? 2 : 0),
                     STR_ARG(limit),
                     STR_ARG(!is_text   ? STR("NULL")
                             : c->n > 1 ? c->args[1].sql
                                        : STR("','")));
}

static bool check_call_args(struct bq_call *c)
{
    const struct bq_expr *e = c->e;
    size_t n = 0;

    for (const struct bq_expr *arg = e->first; arg; arg = arg->next)
        n++;
    c->f = find_sql_function(e->text, n);
    if (!c->f) {
        bq_fail(c->g, e, "Function not found: " STR_FMT, STR_ARG(e->text));
        return false;
    }
    if (c->f->flags & WINDOW && !e->over) {
        bq_fail(c->g, e, "Analytic function %s cannot be called without an OVER clause",
                c->f->name);
        return false;
    }
    if (e->over && !(c->f->flags & (WINDOW | AGGREGATE))) {
        bq_fail(c->g, e, "Function %s does not support an OVER clause", c->f->name);
        return false;
    }
    return true;
}

/* SAFE.f(): NULL where f() fails. Most of them never do. */
static bool has_safe_form(const struct function *f)
{
    static const char *const forms[] = {"bq_time(", "bq_strptime(", "bq_mod(", "bq_div("};

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (str_starts(str_of(f->sql), str_of(forms[i])))
            return true;
    }
    return false;
}

struct bq_sql bq_gen_call(struct bq_gen *g, const struct bq_expr *e, const struct bq_scope *s)
{
    struct bq_call *c = arena_new(g->arena, struct bq_call);

    if (!c)
        return failed;
    c->g = g;
    c->e = e;
    c->scope = s;
    if (!check_call_args(c) || !read_call_args(c) || !read_window(c))
        return failed;
    if (c->n < c->f->min || c->n > c->f->max)
        return no_call_signature(c);
    const struct bq_type *t = result_type(c);
    if (!t)
        return no_call_signature(c);
    struct str sql = c->f->flags & ORDERED ? fill_ordered(c) : fill_call_template(c);
    if (sql.p && e->is_safe && has_safe_form(c->f))
        sql = bq_printf(g, "safe_" STR_FMT, STR_ARG(sql));
    return (struct bq_sql){.sql = sql, .type = t};
}
