/* SPDX-License-Identifier: MIT */
/* What scripts call: queries and files. */
#include <errno.h>

#include "apps/products/bigquery/fn.h"
#include "base/cleanup.h"

static struct str project_of(sqlite3 *db, struct arena *a)
{
    sqlite3_stmt *st = NULL;
    struct str project = STR("project");

    if (sqlite3_prepare_v2(db, "SELECT id FROM project", -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        project = arena_str(a, str_of((const char *)sqlite3_column_text(st, 0)));
    (void)sqlite3_finalize(st);
    return project.p ? project : STR("project");
}

static void put_failure(struct jw *w, const struct bq_run *q, const struct err *e)
{
    jw_key(w, "error");
    jw_cstr(w, err_text(e));
    jw_key(w, "code");
    jw_int(w, q->code);
    jw_key(w, "reason");
    jw_cstr(w, q->reason);
}

static void put_success(struct jw *w, const struct bq_run *q)
{
    jw_key(w, "rows");
    jw_str(w, q->text.p ? buf_str(&q->text) : STR(""));
    jw_key(w, "total");
    jw_int(w, q->n_rows);
    jw_key(w, "returned");
    jw_int(w, q->n_returned);
    jw_key(w, "bytes");
    jw_int(w, q->n_bytes);
}

/* bq_query(query, allowed datasets, max rows, is_dry): what came of it, as JSON; see put_*. */
static void fn_query(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct appdb *db = fn_db(x);
    struct arena a auto_arena;
    auto_buf struct buf out = BUF_INIT(APPDB_RESULT_MAX);
    struct jw w = jw_to(&out);
    struct err e = ERR_INIT;

    (void)n;
    arena_init(&a, 64UL << 20);
    /* What a caller's own statement costs is not known beforehand. */
    if (db->limits == APPDB_BRIEF) {
        db->limit = "takes too long";
        sqlite3_result_error_code(x, SQLITE_INTERRUPT);
        return;
    }
    struct bq_run q = {.db = db->c,
                       .arena = &a,
                       .project = project_of(db->c, &a),
                       .allowed = fn_text(v[1]),
                       .max_rows = sqlite3_value_int64(v[2]),
                       .is_dry = sqlite3_value_int(v[3]),
                       .now_us = appdb_now_us(db),
                       .text = BUF_INIT(4 << 20)};
    struct str text = arena_str(&a, fn_text(v[0]));
    int r = text.p ? bq_run(&q, text, &e) : -ENOMEM;
    jw_object(&w);
    jw_key(&w, "kind");
    jw_cstr(&w, q.kind);
    if (r < 0)
        put_failure(&w, &q, &e);
    else
        put_success(&w, &q);
    jw_end(&w);
    buf_done(&q.text);
    if (q.has_hit_limits)
        appdb_forgive(db);
    fn_give_json(x, &out);
}

/* bq_view(query, names or NULL): {"fields": […]} or {"error"}. */
static void fn_view(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct appdb *db = fn_db(x);
    struct arena a auto_arena;
    auto_buf struct buf out = BUF_INIT(APPDB_RESULT_MAX);
    auto_buf struct buf fields = BUF_INIT(1 << 20);
    struct err e = ERR_INIT;
    struct jw w = jw_to(&out);

    (void)n;
    arena_init(&a, 64UL << 20);
    struct bq_run q = {.db = db->c,
                       .arena = &a,
                       .project = project_of(db->c, &a),
                       .allowed = STR(""),
                       .now_us = appdb_now_us(db),
                       .is_dry = true};
    const struct json *names =
        sqlite3_value_type(v[1]) == SQLITE_NULL ? NULL : json_parse(&a, fn_text(v[1]), NULL, NULL);
    struct str query = arena_str(&a, fn_text(v[0]));
    int r = query.p ? bq_view_fields(&q, query, names, &fields, &e) : -ENOMEM;
    jw_object(&w);
    jw_key(&w, r < 0 ? "error" : "fields");
    if (r < 0)
        jw_cstr(&w, err_text(&e));
    else
        jw_raw(&w, buf_str(&fields));
    jw_end(&w);
    fn_give_json(x, &out);
}

/* bq_csv(text, has_header, fields or NULL): {"fields": […], "rows": […]} or {"error"}. */
static void fn_csv(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf out = BUF_INIT(APPDB_RESULT_MAX);
    auto_buf struct buf fields = BUF_INIT(1 << 20);
    auto_buf struct buf rows = BUF_INIT(APPDB_RESULT_MAX);
    struct err e = ERR_INIT;
    struct jw w = jw_to(&out);

    (void)n;
    arena_init(&a, 4 << 20);
    const struct json *known =
        sqlite3_value_type(v[2]) == SQLITE_NULL ? NULL : json_parse(&a, fn_text(v[2]), NULL, NULL);
    int r = bq_read_csv(fn_text(v[0]), sqlite3_value_int(v[1]), known, &fields, &rows, &e);
    jw_object(&w);
    jw_key(&w, r < 0 ? "error" : "rows");
    if (r < 0)
        jw_cstr(&w, err_text(&e));
    else
        jw_raw(&w, buf_str(&rows));
    if (r == 0 && fields.len > 0) {
        jw_key(&w, "fields");
        jw_raw(&w, buf_str(&fields));
    }
    jw_end(&w);
    fn_give_json(x, &out);
}

/* py_repr(json): as Python prints it. */
static void fn_repr(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf out = BUF_INIT(APPDB_RESULT_MAX);

    (void)n;
    arena_init(&a, BQ_FN_ARENA);
    const struct json *value = json_parse(&a, fn_text(v[0]), NULL, NULL);
    bq_repr(&out, value, &bq_scalars[BQ_ANY]);
    fn_give(x, &out);
}

static void put_csv_cell(struct buf *out, const struct json *v, enum bq_kind kind)
{
    if (!v || v->type == JSON_NULL)
        return;
    if (kind == BQ_BOOL && v->type == JSON_INT) {
        (void)buf_printf(out, "%s", v->i ? "true" : "false");
        return;
    }
    auto_buf struct buf cell = BUF_INIT(1 << 20);
    if (v->type == JSON_STRING)
        (void)buf_add_str(&cell, v->s);
    else
        (void)json_write(&cell, v, JSON_CANONICAL);
    struct str s = buf_str(&cell);
    bool is_plain = true;
    for (size_t i = 0; i < s.len; i++)
        is_plain &= !strchr(",\"\r\n", s.p[i]);
    if (is_plain) {
        (void)buf_add_str(out, s);
        return;
    }
    (void)buf_add_char(out, '"');
    for (size_t i = 0; i < s.len; i++)
        (void)buf_add_str(out, s.p[i] == '"' ? STR("\"\"") : str_slice(s, i, i + 1));
    (void)buf_add_char(out, '"');
}

/* csv_line(array, fields or NULL): a line of CSV, with its end. */
static void fn_csv_line(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf out = BUF_INIT(APPDB_RESULT_MAX);

    (void)n;
    arena_init(&a, BQ_FN_ARENA);
    const struct json *row = json_parse(&a, fn_text(v[0]), NULL, NULL);
    const struct json *fields = json_parse(&a, fn_text(v[1]), NULL, NULL);
    for (size_t i = 0; json_is(row, JSON_ARRAY) && i < row->n; i++) {
        struct str type = json_str(json_get(json_at(fields, i), "type"), STR(""));
        (void)buf_add_str(&out, i > 0 ? STR(",") : STR(""));
        put_csv_cell(&out, &row->items[i], bq_kind_of(type));
    }
    (void)buf_add_char(&out, '\n');
    fn_give(x, &out);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_bigquery_query[] = {
    {"bq_query", 4, SQLITE_DIRECTONLY | SQLITE_SUBTYPE, fn_query},
    {"bq_view", 2, SQLITE_DIRECTONLY | SQLITE_SUBTYPE, fn_view},
    {"bq_csv", 3, PURE | SQLITE_SUBTYPE, fn_csv},
    {"py_repr", 1, PURE, fn_repr},
    {"csv_line", 2, PURE, fn_csv_line},
    {NULL, 0, 0, NULL},
};
