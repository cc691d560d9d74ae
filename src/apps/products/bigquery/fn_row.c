/* SPDX-License-Identifier: MIT */
/* What scripts need around tables: rows as they come in and go out, lists of names, types of
 * files. */
#include "apps/products/bigquery/fn.h"
#include "base/cleanup.h"

static void put_fitting(struct jw *w, const struct json *v, enum bq_kind kind)
{
    auto_buf struct buf b = BUF_INIT(64);
    struct bq_moment m;
    bool is_time =
        kind == BQ_DATE || kind == BQ_DATETIME || kind == BQ_TIME || kind == BQ_TIMESTAMP;

    if (json_is(v, JSON_BOOL))
        jw_int(w, v->b);
    else if (is_time && json_is(v, JSON_STRING) && bq_moment_read(v->s, &m) == 0 &&
             bq_moment_write(&b, kind, m.us) == 0)
        jw_str(w, buf_str(&b));
    else
        jw_value(w, v);
}

/* Whether V can be a value of that kind. */
static bool is_value_of_kind(const struct json *v, enum bq_kind kind, bool is_list)
{
    struct bq_moment m;

    if (!v || v->type == JSON_NULL)
        return true;
    if (is_list || v->type == JSON_ARRAY)
        return is_list && v->type == JSON_ARRAY;
    switch ((int)kind) {
    case BQ_INT64: return v->type == JSON_INT;
    case BQ_FLOAT64:
    case BQ_NUMERIC: return json_is_number(v);
    case BQ_BOOL: return v->type == JSON_BOOL || v->type == JSON_INT;
    case BQ_DATE:
    case BQ_DATETIME:
    case BQ_TIME:
    case BQ_TIMESTAMP: return v->type == JSON_STRING && bq_moment_read(v->s, &m) == 0;
    case BQ_STRUCT: return v->type == JSON_OBJECT;
    case BQ_JSON: return true;
    default: return v->type == JSON_STRING;
    }
}

/* bq_row(fields, row): the row, an object or an array, as tables have it; NULL when it does not
 * fit. */
static void fn_bq_row(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf out = BUF_INIT(APPDB_RESULT_MAX);
    struct jw w = jw_to(&out);

    (void)n;
    arena_init(&a, BQ_FN_ARENA);
    const struct json *fields = json_parse(&a, fn_text(v[0]), NULL, NULL);
    const struct json *row = json_parse(&a, fn_text(v[1]), NULL, NULL);
    if (!json_is(fields, JSON_ARRAY) || (!json_is(row, JSON_OBJECT) && !json_is(row, JSON_ARRAY)))
        return;
    jw_array(&w);
    for (size_t i = 0; i < fields->n; i++) {
        const struct json *f = json_at(fields, i);
        enum bq_kind kind = bq_kind_of(json_str(json_get(f, "type"), STR("")));
        bool is_list = str_iis(json_str(json_get(f, "mode"), STR("")), "REPEATED");
        const struct json *value = json_is(row, JSON_ARRAY)
                                       ? json_at(row, i)
                                       : json_get_str(row, json_str(json_get(f, "name"), STR("")));
        if (!is_value_of_kind(value, kind, is_list))
            return;
        put_fitting(&w, value, kind);
    }
    jw_end(&w);
    if (row->n <= fields->n)
        fn_give_json(x, &out);
}

/* bq_row_object(fields, row): back again, without what is null. */
static void fn_row_object(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf out = BUF_INIT(APPDB_RESULT_MAX);
    struct jw w = jw_to(&out);

    (void)n;
    arena_init(&a, BQ_FN_ARENA);
    const struct json *fields = json_parse(&a, fn_text(v[0]), NULL, NULL);
    const struct json *row = json_parse(&a, fn_text(v[1]), NULL, NULL);
    jw_object(&w);
    for (size_t i = 0; json_is(fields, JSON_ARRAY) && i < fields->n; i++) {
        const struct json *f = json_at(fields, i), *value = json_at(row, i);
        enum bq_kind kind = bq_kind_of(json_str(json_get(f, "type"), STR("")));
        if (!value || value->type == JSON_NULL)
            continue;
        jw_key_str(&w, json_str(json_get(f, "name"), STR("")));
        if (kind == BQ_BOOL && value->type == JSON_INT)
            jw_bool(&w, value->i != 0);
        else
            jw_value(&w, value);
    }
    jw_end(&w);
    fn_give_json(x, &out);
}

/* list_allows(list, name): a list "a,b*" has the name; an empty one has all. */
static void fn_list_allows(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    sqlite3_result_int(x, bq_is_allowed(fn_text(v[0]), fn_text(v[1])));
}

/* mime_of(path): by the end of its name. */
static void fn_mime_of(sqlite3_context *x, int n, sqlite3_value **v)
{
    static const char *const types[][2] = {
        {".txt", "text/plain"},      {".csv", "text/csv"},        {".json", "application/json"},
        {".html", "text/html"},      {".md", "text/markdown"},    {".pdf", "application/pdf"},
        {".png", "image/png"},       {".jpg", "image/jpeg"},      {".jpeg", "image/jpeg"},
        {".gif", "image/gif"},       {".xml", "application/xml"}, {".zip", "application/zip"},
        {".gz", "application/gzip"}, {".py", "text/x-python"},    {".log", "text/plain"},
        {".js", "text/javascript"},  {".svg", "image/svg+xml"},   {".tar", "application/x-tar"},
    };
    struct str path = fn_text(v[0]);

    (void)n;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!str_ends(path, str_of(types[i][0])))
            continue;
        sqlite3_result_text(x, types[i][1], -1, SQLITE_STATIC);
        return;
    }
    sqlite3_result_text(x, "application/octet-stream", -1, SQLITE_STATIC);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_bigquery_row[] = {
    {"bq_row", 2, PURE | SQLITE_SUBTYPE, fn_bq_row},
    {"bq_row_object", 2, PURE | SQLITE_SUBTYPE, fn_row_object},
    {"list_allows", 2, PURE, fn_list_allows},
    {"mime_of", 1, PURE, fn_mime_of},
    {NULL, 0, 0, NULL},
};
