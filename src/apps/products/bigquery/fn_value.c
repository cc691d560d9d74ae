/* SPDX-License-Identifier: MIT */
/* Functions of numbers, arrays and JSON, and conversions. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/db/value.h"
#include "apps/products/bigquery/fn.h"
#include "base/cleanup.h"
#include "base/enc.h"

/* ---- casts ---- */

static void cast_failed(sqlite3_context *x, struct str text, enum bq_kind to)
{
    static const char *const words[BQ_KIND_COUNT] = {[BQ_INT64] = "Bad int64 value",
                                                     [BQ_FLOAT64] = "Bad double value",
                                                     [BQ_NUMERIC] = "Invalid NUMERIC value",
                                                     [BQ_BOOL] = "Bad bool value",
                                                     [BQ_DATE] = "Invalid date",
                                                     [BQ_DATETIME] = "Invalid datetime string",
                                                     [BQ_TIME] = "Invalid time string",
                                                     [BQ_TIMESTAMP] = "Invalid timestamp",
                                                     [BQ_JSON] = "Invalid input to PARSE_JSON"};
    const char *quote = to == BQ_INT64 || to == BQ_FLOAT64 || to == BQ_BOOL ? "" : "'";

    bq_fn_fail(x, "%s: %s" STR_FMT "%s", words[to] ? words[to] : "Could not cast", quote,
               STR_ARG(str_slice(text, 0, 100)), quote);
}

static bool to_bq_int(sqlite3_context *x, sqlite3_value *v)
{
    int64_t n;

    if (sqlite3_value_type(v) == SQLITE_INTEGER) {
        sqlite3_result_int64(x, sqlite3_value_int64(v));
        return true;
    }
    if (sqlite3_value_type(v) == SQLITE_FLOAT) {
        double d = round(sqlite3_value_double(v));
        if (!(d >= -9.2e18 && d <= 9.2e18))
            return false;
        sqlite3_result_int64(x, (int64_t)d);
        return true;
    }
    struct str text = str_trim(fn_text(v));
    if (str_starts(text, STR("+")))
        text = str_skip(text, 1);
    if (str_to_i64(text, &n) < 0)
        return false;
    sqlite3_result_int64(x, n);
    return true;
}

static bool to_real(sqlite3_context *x, sqlite3_value *v)
{
    char *end;
    char text[400];

    if (sqlite3_value_type(v) != SQLITE_TEXT) {
        sqlite3_result_double(x, sqlite3_value_double(v));
        return true;
    }
    struct str s = str_trim(fn_text(v));
    if (s.len == 0 || s.len >= sizeof text)
        return false;
    (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(s));
    double d = strtod(text, &end);
    /* What JSON and SQLite cannot keep is no number here. */
    if (*end || !isfinite(d))
        return false;
    sqlite3_result_double(x, d);
    return true;
}

static bool to_bool(sqlite3_context *x, sqlite3_value *v)
{
    struct str text = str_trim(fn_text(v));
    bool is_number = sqlite3_value_type(v) != SQLITE_TEXT;
    bool is_true = is_number ? sqlite3_value_int64(v) != 0 : str_iis(text, "true");

    if (!is_number && !is_true && !str_iis(text, "false"))
        return false;
    sqlite3_result_int(x, is_true);
    return true;
}

/* 1.0 is "1", 0.1 "0.1". */
static bool to_text(sqlite3_context *x, sqlite3_value *v, enum bq_kind from)
{
    auto_buf struct buf b = BUF_INIT(64);

    if (from == BQ_BOOL) {
        sqlite3_result_text(x, sqlite3_value_int(v) ? "true" : "false", -1, SQLITE_STATIC);
    } else if (sqlite3_value_type(v) == SQLITE_FLOAT) {
        const struct json d = {.type = JSON_REAL, .d = sqlite3_value_double(v)};
        (void)json_write(&b, &d, JSON_CANONICAL);
        fn_give(x, &b);
    } else {
        sqlite3_result_value(x, v);
    }
    return true;
}

static bool to_moment(sqlite3_context *x, sqlite3_value *v, enum bq_kind to)
{
    struct bq_moment m;

    if (sqlite3_value_type(v) != SQLITE_TEXT || bq_moment_read(fn_text(v), &m) < 0 ||
        (to == BQ_TIME ? !m.has_time : !m.has_date))
        return false;
    bq_fn_give_moment(x, to, m.us);
    return true;
}

static bool to_json(sqlite3_context *x, sqlite3_value *v)
{
    struct arena a auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    arena_init(&a, BQ_FN_ARENA);
    const struct json *value = json_parse(&a, fn_text(v), NULL, NULL);
    if (!value)
        return false;
    (void)json_write(&b, value, JSON_COMPACT);
    fn_give_json(x, &b);
    return true;
}

/* bq_cast(kind, value, kind of the value, is_safe) */
static void cast(sqlite3_context *x, int n, sqlite3_value **v)
{
    enum bq_kind to = bq_kind_of(fn_text(v[0])), from = bq_kind_of(fn_text(v[2]));
    bool is_done = true;

    (void)n;
    if (sqlite3_value_type(v[1]) == SQLITE_NULL)
        return;
    switch ((int)to) {
    case BQ_INT64: is_done = to_bq_int(x, v[1]); break;
    case BQ_FLOAT64:
    case BQ_NUMERIC: is_done = to_real(x, v[1]); break;
    case BQ_BOOL: is_done = to_bool(x, v[1]); break;
    case BQ_STRING: is_done = to_text(x, v[1], from); break;
    case BQ_DATE:
    case BQ_DATETIME:
    case BQ_TIME:
    case BQ_TIMESTAMP: is_done = to_moment(x, v[1], to); break;
    case BQ_JSON: is_done = to_json(x, v[1]); break;
    default: sqlite3_result_value(x, v[1]); break;
    }
    if (is_done)
        return;
    if (sqlite3_value_int(v[3]))
        sqlite3_result_null(x);
    else
        cast_failed(x, fn_text(v[1]), to);
}

/* ---- numbers ---- */

static void fn_divide(sqlite3_context *x, int n, sqlite3_value **v)
{
    double b = sqlite3_value_double(v[1]);

    if (bq_fn_has_null(n, v))
        return;
    if (b == 0)
        bq_fn_fail(x, "division by zero: " STR_FMT " / " STR_FMT, STR_ARG(fn_text(v[0])),
                   STR_ARG(fn_text(v[1])));
    else
        sqlite3_result_double(x, sqlite3_value_double(v[0]) / b);
}

static void divide_ints(sqlite3_context *x, sqlite3_value **v, bool is_rest, bool is_safe)
{
    int64_t a = sqlite3_value_int64(v[0]), b = sqlite3_value_int64(v[1]);
    bool is_real =
        sqlite3_value_type(v[0]) == SQLITE_FLOAT || sqlite3_value_type(v[1]) == SQLITE_FLOAT;

    if (bq_fn_has_null(2, v))
        return;
    if (is_real && is_rest && sqlite3_value_double(v[1]) != 0)
        sqlite3_result_double(x, fmod(sqlite3_value_double(v[0]), sqlite3_value_double(v[1])));
    else if (b != 0 && !(a == INT64_MIN && b == -1))
        sqlite3_result_int64(x, is_rest ? a % b : a / b);
    else if (!is_safe)
        bq_fn_fail(x, "division by zero: %s(" STR_FMT ", " STR_FMT ")", is_rest ? "MOD" : "DIV",
                   STR_ARG(fn_text(v[0])), STR_ARG(fn_text(v[1])));
}

static void fn_div(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    divide_ints(x, v, false, false);
}

static void fn_bq_mod(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    divide_ints(x, v, true, false);
}

static void fn_safe_div(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    divide_ints(x, v, false, true);
}

static void fn_safe_mod(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    divide_ints(x, v, true, true);
}

/* bq_round(value, digits): halves away from zero; of decimal digits, as they are written. */
static void fn_bq_round(sqlite3_context *x, int n, sqlite3_value **v)
{
    int64_t digits = sqlite3_value_int64(v[1]);

    if (bq_fn_has_null(n, v))
        return;
    if (sqlite3_value_type(v[0]) == SQLITE_INTEGER && digits >= 0) {
        sqlite3_result_value(x, v[0]);
        return;
    }
    double d = sqlite3_value_double(v[0]), scale = pow(10, (double)(digits < -18 ? -18 : digits));
    if (digits > 15 || !isfinite(d * scale))
        sqlite3_result_double(x, d);
    else
        sqlite3_result_double(x, round(d * scale + (d < 0 ? -1e-9 : 1e-9)) / scale);
}

/* bq_variance(sum of squares, sum, count) */
static void fn_variance(sqlite3_context *x, int n, sqlite3_value **v)
{
    double squares = sqlite3_value_double(v[0]), sum = sqlite3_value_double(v[1]);
    double count = sqlite3_value_double(v[2]);

    if (bq_fn_has_null(n, v) || count < 2)
        return;
    double value = (squares - sum * sum / count) / (count - 1);
    sqlite3_result_double(x, value < 0 ? 0 : value);
}

static void fn_bq_error(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    bq_fn_fail(x, STR_FMT, STR_ARG(str_slice(fn_text(v[0]), 0, 400)));
}

/* ---- arrays ---- */

static const struct json *bq_fn_array(sqlite3_context *x, sqlite3_value *v, struct arena *a)
{
    const struct json *array = json_parse(a, fn_text(v), NULL, NULL);

    if (json_is(array, JSON_ARRAY))
        return array;
    bq_fn_fail(x, "The value is no array");
    return NULL;
}

static void give_bq_value(sqlite3_context *x, const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    switch ((int)(v ? v->type : JSON_NULL)) {
    case JSON_BOOL: sqlite3_result_int(x, v->b); break;
    case JSON_INT: sqlite3_result_int64(x, v->i); break;
    case JSON_REAL: sqlite3_result_double(x, v->d); break;
    case JSON_STRING: sqlite3_result_text(x, v->s.p, (int)v->s.len, SQLITE_TRANSIENT); break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        (void)json_write(&b, v, JSON_COMPACT);
        fn_give_json(x, &b);
        break;
    default: break;
    }
}

/* bq_item(array, index, is_safe) */
static void fn_item(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    int64_t i = sqlite3_value_int64(v[1]);

    arena_init(&a, BQ_FN_ARENA);
    if (bq_fn_has_null(n, v))
        return;
    const struct json *array = bq_fn_array(x, v[0], &a);
    if (!array)
        return;
    if (i >= 0 && i < array->n)
        give_bq_value(x, &array->items[i]);
    else if (!sqlite3_value_int(v[2]))
        bq_fn_fail(x, "Array index %lld is out of bounds", (long long)i);
}

static void fn_array_concat(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    arena_init(&a, BQ_FN_ARENA);
    struct json *all = json_new_array(&a);
    if (bq_fn_has_null(n, v))
        return;
    for (int i = 0; all && i < n; i++) {
        const struct json *one = bq_fn_array(x, v[i], &a);
        for (size_t k = 0; one && k < one->n; k++)
            (void)json_push(&a, all, &one->items[k]);
        if (!one)
            return;
    }
    if (all)
        give_bq_value(x, all);
}

static void fn_array_reverse(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    arena_init(&a, BQ_FN_ARENA);
    if (bq_fn_has_null(n, v))
        return;
    const struct json *array = bq_fn_array(x, v[0], &a);
    for (size_t i = 0; array && i < array->n / 2; i++) {
        struct json swap = array->items[i];
        array->items[i] = array->items[array->n - 1 - i];
        array->items[array->n - 1 - i] = swap;
    }
    if (array)
        give_bq_value(x, array);
}

static void put_plain(struct buf *b, const struct json *v)
{
    if (v->type == JSON_STRING)
        (void)buf_add_str(b, v->s);
    else if (v->type != JSON_NULL)
        (void)json_write(b, v, JSON_CANONICAL);
}

/* bq_array_join(array, separator [, text of NULL]) */
static void fn_array_join(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    bool is_first = true;

    arena_init(&a, BQ_FN_ARENA);
    const struct json *array = n < 2 || bq_fn_has_null(n, v) ? NULL : bq_fn_array(x, v[0], &a);
    if (!array)
        return;
    for (size_t i = 0; i < array->n; i++) {
        if (json_is(&array->items[i], JSON_NULL) && n < 3)
            continue;
        if (!is_first)
            (void)buf_add_str(&b, fn_text(v[1]));
        is_first = false;
        if (json_is(&array->items[i], JSON_NULL))
            (void)buf_add_str(&b, fn_text(v[2]));
        else
            put_plain(&b, &array->items[i]);
    }
    fn_give(x, &b);
}

/* bq_sequence(from, to, step) */
static void fn_bq_sequence(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(4 << 20);
    int64_t from = sqlite3_value_int64(v[0]), to = sqlite3_value_int64(v[1]);
    int64_t step = sqlite3_value_int64(v[2]);

    if (bq_fn_has_null(n, v))
        return;
    if (step == 0) {
        bq_fn_fail(x, "Sequence step cannot be 0.");
        return;
    }
    (void)buf_add_char(&b, '[');
    for (int64_t at = from, i = 0; step > 0 ? at <= to : at >= to; at += step, i++) {
        if (i == 16000) {
            bq_fn_fail(x, "Cannot generate arrays with more than 16000 elements.");
            return;
        }
        (void)buf_printf(&b, "%s%lld", i > 0 ? "," : "", (long long)at);
        if (step > 0 ? at > INT64_MAX - step : at < INT64_MIN - step)
            break;
    }
    (void)buf_add_char(&b, ']');
    fn_give_json(x, &b);
}

/* ---- what aggregates collect ---- */

static _Thread_local const char *order; /* of the sort under way */

static int by_value_keys(const void *a, const void *b)
{
    const struct json *x = a, *y = b;

    for (size_t i = 0; order[i]; i++) {
        int r = value_compare(json_at(x, i + 1), json_at(y, i + 1));
        if (r != 0)
            return order[i] == 'd' ? -r : r;
    }
    return 0;
}

static bool is_value_there(const struct json *items, size_t n, const struct json *v)
{
    for (size_t i = 0; i < n; i++) {
        if (json_equal(&items[i], v))
            return true;
    }
    return false;
}

enum { IS_DISTINCT = 1, IGNORES_NULLS = 2 };

/* bq_collect(array of [value, key…], order, flags, limit, separator or NULL) */
static void fn_collect(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    int flags = sqlite3_value_int(v[2]);
    int64_t limit = sqlite3_value_int64(v[3]);
    size_t kept = 0;

    (void)n;
    arena_init(&a, BQ_FN_ARENA);
    const struct json *rows = bq_fn_array(x, v[0], &a);
    if (!rows || rows->n == 0)
        return;
    order = fn_text(v[1]).p;
    /* qsort is no stable sort, but that of glibc is one while memory lasts. */
    qsort(rows->items, rows->n, sizeof rows->items[0], by_value_keys);
    for (size_t i = 0; i < rows->n && (limit < 0 || (int64_t)kept < limit); i++) {
        const struct json value = *json_at(&rows->items[i], 0);
        if ((flags & IGNORES_NULLS && json_is(&value, JSON_NULL)) ||
            (flags & IS_DISTINCT && is_value_there(rows->items, kept, &value)))
            continue;
        rows->items[kept++] = value;
    }
    if (sqlite3_value_type(v[4]) == SQLITE_NULL) {
        const struct json all = {.type = JSON_ARRAY, .n = (uint32_t)kept, .items = rows->items};
        give_bq_value(x, &all);
        return;
    }
    for (size_t i = 0; i < kept; i++) {
        (void)buf_add_str(&b, i > 0 ? fn_text(v[4]) : STR(""));
        put_plain(&b, &rows->items[i]);
    }
    if (kept > 0)
        fn_give(x, &b);
}

static int by_value(const void *a, const void *b)
{
    return value_compare(a, b);
}

/* bq_quantiles(array, n): n + 1 values. */
static void fn_quantiles(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    int64_t parts = sqlite3_value_int64(v[1]);
    size_t kept = 0;

    (void)n;
    arena_init(&a, BQ_FN_ARENA);
    const struct json *all = bq_fn_array(x, v[0], &a);
    struct json *result = json_new_array(&a);
    if (!all || !result || parts < 1 || parts > 1000)
        return;
    for (size_t i = 0; i < all->n; i++) {
        if (!json_is(&all->items[i], JSON_NULL))
            all->items[kept++] = all->items[i];
    }
    if (kept == 0)
        return;
    qsort(all->items, kept, sizeof all->items[0], by_value);
    for (int64_t i = 0; i <= parts; i++) {
        size_t at = (size_t)llround((double)i * (double)(kept - 1) / (double)parts);
        (void)json_push(&a, result, &all->items[at]);
    }
    give_bq_value(x, result);
}

/* ---- JSON ---- */

/* What PATH ("$.a[0].b", "$['a']") leads to in TEXT. */
static const struct json *follow_json_path(struct arena *a, sqlite3_value **v)
{
    const struct json *at = json_parse(a, fn_text(v[0]), NULL, NULL);
    struct str path = str_skip(fn_text(v[1]), 1);
    uint64_t index;

    while (at && path.len > 0) {
        bool is_bracket = path.p[0] == '[';
        path = str_skip(path, 1);
        size_t n = 0;
        while (n < path.len && (is_bracket ? path.p[n] != ']' : !strchr(".[", path.p[n])))
            n++;
        struct str name = str_slice(path, 0, n);
        path = str_skip(path, is_bracket ? n + 1 : n);
        if (name.len > 1 && (name.p[0] == '\'' || name.p[0] == '"'))
            name = str_slice(name, 1, name.len - 1);
        else if (is_bracket && str_to_u64(name, &index) == 0) {
            at = json_at(at, index);
            continue;
        }
        at = json_get_str(at, name);
    }
    return at;
}

/* bq_json_value(json, path): a text, of scalars alone. */
static void fn_json_value(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    arena_init(&a, BQ_FN_ARENA);
    const struct json *at = bq_fn_has_null(n, v) ? NULL : follow_json_path(&a, v);
    if (!at || at->type == JSON_NULL || at->type == JSON_ARRAY || at->type == JSON_OBJECT)
        return;
    put_plain(&b, at);
    fn_give(x, &b);
}

/* bq_json_array(json, path): an array of JSON texts. */
static void fn_json_array(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    arena_init(&a, BQ_FN_ARENA);
    const struct json *at = bq_fn_has_null(n, v) ? NULL : follow_json_path(&a, v);
    struct json *all = json_is(at, JSON_ARRAY) ? json_new_array(&a) : NULL;
    for (size_t i = 0; all && i < at->n; i++) {
        auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
        (void)json_write(&b, &at->items[i], JSON_COMPACT);
        const struct json *text = json_new_str(&a, buf_str(&b));
        if (!text || json_push(&a, all, text) < 0)
            return;
    }
    if (all)
        give_bq_value(x, all);
}

/* bq_type_name(field of a schema): "ARRAY<INT64>" */
static void fn_type_name(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, 1 << 20);
    const struct json *field = json_parse(&a, fn_text(v[0]), NULL, NULL);
    const struct bq_type *t = bq_type_of_field(&a, field);
    if (t)
        sqlite3_result_text(x, bq_type_text(&a, t).p, -1, SQLITE_TRANSIENT);
}

#define PURE SQLITE_DETERMINISTIC
#define JSON (PURE | SQLITE_SUBTYPE)

const struct sql_function functions_bigquery_value[] = {
    {"bq_cast", 4, JSON, cast},
    {"bq_divide", 2, PURE, fn_divide},
    {"bq_div", 2, PURE, fn_div},
    {"bq_mod", 2, PURE, fn_bq_mod},
    {"safe_bq_div", 2, PURE, fn_safe_div},
    {"safe_bq_mod", 2, PURE, fn_safe_mod},
    {"bq_round", 2, PURE, fn_bq_round},
    {"bq_variance", 3, PURE, fn_variance},
    {"bq_error", 1, 0, fn_bq_error},
    {"bq_item", 3, JSON, fn_item},
    {"bq_array_concat", -1, JSON, fn_array_concat},
    {"bq_array_reverse", 1, JSON, fn_array_reverse},
    {"bq_array_join", -1, PURE, fn_array_join},
    {"bq_sequence", 3, JSON, fn_bq_sequence},
    {"bq_collect", 5, JSON, fn_collect},
    {"bq_quantiles", 2, JSON, fn_quantiles},
    {"bq_json_value", 2, PURE, fn_json_value},
    {"bq_json_array", 2, JSON, fn_json_array},
    {"bq_type_name", 1, PURE, fn_type_name},
    {NULL, 0, 0, NULL},
};
