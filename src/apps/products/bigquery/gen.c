/* SPDX-License-Identifier: MIT */
/* What the files that make SQL share. */
#include "apps/products/bigquery/gen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"

void bq_fail(struct bq_gen *g, const struct bq_expr *e, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (g->has_failed)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    g->has_failed = true;
    if (e)
        (void)err_set(g->err, -EINVAL, "%s at [%u:%u]", text, e->line, e->column);
    else
        (void)err_set(g->err, -EINVAL, "%s", text);
}

void bq_fail_as(struct bq_gen *g, int code, const char *reason, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (g->has_failed)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    g->has_failed = true;
    g->run->code = code;
    g->run->reason = reason;
    (void)err_set(g->err, -EINVAL, "%s", text);
}

__attribute__((format(printf, 2, 0))) static struct str print(struct bq_gen *g, const char *fmt,
                                                              va_list ap)
{
    struct str s = g->has_failed ? STR_NULL : arena_vprintf(g->arena, fmt, ap);

    if (!s.p && !g->has_failed)
        bq_fail(g, NULL, "Query is too complex: it needs too much memory");
    return s;
}

struct str bq_printf(struct bq_gen *g, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str s = print(g, fmt, ap);
    va_end(ap);
    return s;
}

struct bq_sql bq_made(struct bq_gen *g, const struct bq_type *type, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct bq_sql r = {.sql = print(g, fmt, ap), .type = type};
    va_end(ap);
    return r;
}

struct bq_var *bq_find_var(const struct bq_gen *g, struct str name)
{
    struct bq_var *v = g->vars;

    while (v && !str_ieq(v->name, name))
        v = v->next;
    return v;
}

struct str bq_quote(struct bq_gen *g, struct str s)
{
    auto_buf struct buf b = BUF_INIT(4 << 20);

    (void)buf_add_char(&b, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '\'')
            (void)buf_add_char(&b, '\'');
        (void)buf_add_char(&b, s.p[i]);
    }
    (void)buf_add_char(&b, '\'');
    return bq_printf(g, STR_FMT, STR_ARG(buf_str(&b)));
}

bool bq_add_column(struct bq_gen *g, struct bq_columns *to, const struct bq_column *c)
{
    if (to->n == BQ_MAX_COLUMNS) {
        bq_fail(g, NULL, "Too many columns: at most %d are supported", BQ_MAX_COLUMNS);
        return false;
    }
    to->items = arena_grow(g->arena, to->items, to->n, &to->cap, sizeof *to->items);
    if (!to->items) {
        bq_fail(g, NULL, "Query is too complex: it needs too much memory");
        return false;
    }
    to->items[to->n++] = *c;
    return true;
}

static bool is_json(enum bq_kind kind)
{
    return kind == BQ_ARRAY || kind == BQ_STRUCT || kind == BQ_JSON;
}

struct str bq_json_arg(struct bq_gen *g, const struct bq_sql *value)
{
    if (!is_json(value->type->kind))
        return value->sql;
    return bq_printf(g, "json(" STR_FMT ")", STR_ARG(value->sql));
}

/* ---- types ---- */

static bool is_bq_number(enum bq_kind kind)
{
    return kind == BQ_INT64 || kind == BQ_FLOAT64 || kind == BQ_NUMERIC;
}

const struct bq_type *bq_common(const struct bq_type *a, const struct bq_type *b)
{
    if (a->kind == BQ_ANY)
        return b;
    if (b->kind == BQ_ANY || a->kind == b->kind)
        return a->kind == BQ_ARRAY && a->item && a->item->kind == BQ_ANY && b->item ? b : a;
    if (!is_bq_number(a->kind) || !is_bq_number(b->kind))
        return NULL;
    if (a->kind == BQ_FLOAT64 || b->kind == BQ_FLOAT64)
        return &bq_scalars[BQ_FLOAT64];
    return &bq_scalars[BQ_NUMERIC];
}

const struct bq_type *bq_array_of(struct bq_gen *g, const struct bq_type *item)
{
    struct bq_type *t = arena_new(g->arena, struct bq_type);

    if (!t) {
        bq_fail(g, NULL, "Query is too complex: it needs too much memory");
        return &bq_scalars[BQ_ARRAY];
    }
    *t = (struct bq_type){.kind = BQ_ARRAY, .item = item};
    return t;
}

static bool is_temporal(enum bq_kind kind)
{
    return kind == BQ_DATE || kind == BQ_DATETIME || kind == BQ_TIME || kind == BQ_TIMESTAMP;
}

static bool converts(const struct bq_sql *v, enum bq_kind to)
{
    enum bq_kind from = v->type->kind;

    if (from == to || from == BQ_ANY || to == BQ_ANY)
        return true;
    if (to == BQ_FLOAT64)
        return is_bq_number(from);
    if (to == BQ_NUMERIC)
        return from == BQ_INT64 || (v->is_literal && from == BQ_FLOAT64);
    if (from == BQ_DATE || from == BQ_DATETIME)
        return to == BQ_TIMESTAMP || (from == BQ_DATE && to == BQ_DATETIME);
    return v->is_literal && from == BQ_STRING && (is_temporal(to) || to == BQ_BYTES);
}

bool bq_coerce(struct bq_gen *g, struct bq_sql *value, const struct bq_type *t)
{
    if (!value->sql.p || !converts(value, t->kind))
        return false;
    enum bq_kind from = value->type->kind;
    if (from == t->kind || from == BQ_ANY || t->kind == BQ_ANY)
        return true;
    value->sql = bq_printf(g, "bq_cast('%s', " STR_FMT ", '%s', 0)", bq_kind_name(t->kind),
                           STR_ARG(value->sql), bq_kind_name(from));
    value->type = t;
    return value->sql.p;
}
