/* SPDX-License-Identifier: MIT */
/* Rows as the server in Python that this stands for shows them: the text of a list of dictionaries,
 * with the types that its driver makes of PostgreSQL's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/pg/pg.h"
#include "apps/pg/types.h"
#include "base/python.h"

static void add_json(struct buf *b, const struct json *v, int depth)
{
    bool is_object = json_is(v, JSON_OBJECT);

    switch (v->type) {
    case JSON_NULL: (void)buf_add_lit(b, "None"); return;
    case JSON_BOOL: (void)buf_add_str(b, json_bool(v, false) ? STR("True") : STR("False")); return;
    case JSON_STRING: python_str(b, v->s); return;
    case JSON_ARRAY:
    case JSON_OBJECT: break;
    case JSON_INT:
    case JSON_REAL:
    case JSON_TYPE_COUNT:
    default: (void)json_write(b, v, 0); return;
    }
    (void)buf_add_char(b, is_object ? '{' : '[');
    for (size_t i = 0; i < v->n && depth < 100; i++) {
        if (i > 0)
            (void)buf_add_lit(b, ", ");
        if (is_object) {
            python_str(b, v->members[i].key);
            (void)buf_add_lit(b, ": ");
        }
        add_json(b, is_object ? &v->members[i].value : &v->items[i], depth + 1);
    }
    (void)buf_add_char(b, is_object ? '}' : ']');
}

static void add_json_text(struct buf *b, struct str s)
{
    struct arena a auto_arena;

    arena_init(&a, 8 * (size_t)PG_RESULT_MAX);
    const struct json *v = json_parse(&a, s, NULL, NULL);
    if (v)
        add_json(b, v, 0);
    else
        python_str(b, s);
}

/* "2026-01-15 09:00:00.5+00": only as many parts as Python shows. */
static void add_repr_time(struct buf *b, enum pg_type type, struct str s)
{
    int v[7] = {0}, n;
    char fraction[7] = "000000";
    const char *clock = type == PG_TIME ? s.p : s.p + 11;

    /* NOLINTBEGIN(cert-err34-c): at most four digits cannot overflow */
    if (type != PG_TIME && sscanf(s.p, "%4d-%2d-%2d", &v[0], &v[1], &v[2]) != 3) {
        python_str(b, s); /* infinity, before Christ */
        return;
    }
    if (type == PG_DATE) {
        (void)buf_printf(b, "datetime.date(%d, %d, %d)", v[0], v[1], v[2]);
        return;
    }
    n = sscanf(clock, "%2d:%2d:%2d", &v[3], &v[4], &v[5]);
    /* NOLINTEND(cert-err34-c) */
    const char *dot = n == 3 ? strchr(clock, '.') : NULL;
    for (int i = 0; dot && i < 6 && dot[i + 1] >= '0' && dot[i + 1] <= '9'; i++)
        fraction[i] = dot[i + 1];
    v[6] = (int)strtol(fraction, NULL, 10);
    if (type == PG_TIME)
        (void)buf_printf(b, "datetime.time(%d, %d", v[3], v[4]);
    else
        (void)buf_printf(b, "datetime.datetime(%d, %d, %d, %d, %d", v[0], v[1], v[2], v[3], v[4]);
    if (v[5] || v[6])
        (void)buf_printf(b, ", %d", v[5]);
    if (v[6])
        (void)buf_printf(b, ", %d", v[6]);
    (void)buf_add_str(b, type == PG_TIMESTAMPTZ ? STR(", tzinfo=zoneinfo.ZoneInfo(key='UTC'))")
                                                : STR(")"));
}

/* Takes the next item off S, which is inside "{…}", without its quotes and escapes. */
static bool take_item(struct str *s, struct buf *item)
{
    bool is_quoted = s->p[0] == '"', is_open = is_quoted;
    size_t i = is_quoted;

    buf_clear(item);
    for (; i < s->len && (is_open || s->p[i] != ','); i++) {
        if (s->p[i] == '\\' && i + 1 < s->len)
            (void)buf_add_char(item, s->p[++i]);
        else if (is_open && s->p[i] == '"')
            is_open = false;
        else
            (void)buf_add_char(item, s->p[i]);
    }
    *s = str_skip(*s, i < s->len ? i + 1 : i);
    return is_quoted;
}

/* "{1,NULL,"a b"}" of one dimension. */
static void add_array(struct buf *b, enum pg_type type, struct str s)
{
    bool is_text = type == PG_TEXTS || type == PG_VARCHARS, is_first = true;
    auto_buf struct buf item = BUF_INIT(PG_RESULT_MAX);

    s = str_slice(s, 1, s.len - 1);
    (void)buf_add_char(b, '[');
    while (s.len > 0) {
        bool is_quoted = take_item(&s, &item);
        (void)buf_add_str(b, is_first ? STR("") : STR(", "));
        is_first = false;
        if (!is_quoted && str_is(buf_str(&item), "NULL"))
            (void)buf_add_lit(b, "None");
        else if (is_text)
            python_str(b, item.len > 0 ? buf_str(&item) : STR(""));
        else
            (void)buf_add_str(b, buf_str(&item));
    }
    (void)buf_add_char(b, ']');
}

static void add_repr_value(struct buf *b, enum pg_type type, struct str s)
{
    switch (type) {
    case PG_BOOL: (void)buf_add_str(b, str_is(s, "t") ? STR("True") : STR("False")); break;
    case PG_INT2:
    case PG_INT4:
    case PG_INT8:
    case PG_OID: (void)buf_add_str(b, s); break;
    case PG_FLOAT4:
    case PG_FLOAT8:
        (void)buf_add_str(b, s);
        if (!strpbrk(s.p, ".eEN"))
            (void)buf_add_str(b, strchr(s.p, 'I') ? STR("") : STR(".0"));
        break;
    case PG_NUMERIC: (void)buf_printf(b, "Decimal('" STR_FMT "')", STR_ARG(s)); break;
    case PG_UUID: (void)buf_printf(b, "UUID('" STR_FMT "')", STR_ARG(s)); break;
    case PG_JSON:
    case PG_JSONB: add_json_text(b, s); break;
    case PG_DATE:
    case PG_TIME:
    case PG_TIMESTAMP:
    case PG_TIMESTAMPTZ: add_repr_time(b, type, s); break;
    case PG_INT4S:
    case PG_INT8S:
    case PG_TEXTS:
    case PG_VARCHARS: add_array(b, type, s); break;
    default: python_str(b, s); break;
    }
}

void pg_repr_rows(struct buf *b, const PGresult *r)
{
    int n_columns = PQnfields(r);

    (void)buf_add_char(b, '[');
    for (int i = 0; i < PQntuples(r) && buf_ok(b); i++) {
        (void)buf_add_str(b, i > 0 ? STR(", {") : STR("{"));
        for (int k = 0; k < n_columns; k++) {
            (void)buf_add_str(b, k > 0 ? STR(", ") : STR(""));
            python_str(b, str_of(PQfname(r, k)));
            (void)buf_add_lit(b, ": ");
            if (PQgetisnull(r, i, k))
                (void)buf_add_lit(b, "None");
            else
                add_repr_value(b, (enum pg_type)PQftype(r, k),
                               str_n(PQgetvalue(r, i, k), (size_t)PQgetlength(r, i, k)));
        }
        (void)buf_add_char(b, '}');
    }
    (void)buf_add_char(b, ']');
}

void pg_repr_value(struct buf *b, const PGresult *r, int row, int column)
{
    struct str s = str_n(PQgetvalue(r, row, column), (size_t)PQgetlength(r, row, column));
    enum pg_type type = (enum pg_type)PQftype(r, column);

    if (type == PG_JSON || type == PG_JSONB)
        add_json_text(b, s);
    else
        (void)buf_add_str(b, s);
}
