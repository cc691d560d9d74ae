/* SPDX-License-Identifier: MIT */
/* Values as Python prints them: that is how agents see rows. */
#include <stdio.h>
#include <stdlib.h>

#include "apps/calendar/civil.h"
#include "apps/products/bigquery/moment.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "base/python.h"

/* b'…' of base64. */
static void put_repr_bytes(struct buf *out, struct str s)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    (void)enc_unbase64(&b, s);
    (void)buf_add_lit(out, "b'");
    for (size_t i = 0; i < b.len; i++) {
        unsigned char c = (unsigned char)b.p[i];
        if (c < 0x20 || c > 0x7e || c == '\'' || c == '\\')
            (void)buf_printf(out, "\\x%02x", c);
        else
            (void)buf_add_char(out, (char)c);
    }
    (void)buf_add_char(out, '\'');
}

static void put_moment(struct buf *out, struct str text, enum bq_kind kind)
{
    static const char *const names[BQ_KIND_COUNT] = {[BQ_DATE] = "date",
                                                     [BQ_DATETIME] = "datetime",
                                                     [BQ_TIMESTAMP] = "datetime",
                                                     [BQ_TIME] = "time"};
    struct bq_moment m;

    if (bq_moment_read(text, &m) < 0) {
        python_str(out, text);
        return;
    }
    int64_t second = m.us / BQ_SECOND_US - (m.us % BQ_SECOND_US < 0);
    int us = (int)(m.us - second * BQ_SECOND_US);
    struct civil c = civil_of_seconds(second);
    (void)buf_printf(out, "datetime.%s(", names[kind]);
    if (kind != BQ_TIME)
        (void)buf_printf(out, "%d, %d, %d%s", c.year, c.month, c.day, kind == BQ_DATE ? "" : ", ");
    if (kind != BQ_DATE)
        (void)buf_printf(out, "%d, %d", c.hour, c.minute);
    if (kind != BQ_DATE && (c.second != 0 || us != 0))
        (void)buf_printf(out, ", %d", c.second);
    if (kind != BQ_DATE && us != 0)
        (void)buf_printf(out, ", %d", us);
    (void)buf_printf(out, "%s)", kind == BQ_TIMESTAMP ? ", tzinfo=datetime.timezone.utc" : "");
}

static void put_repr_list(struct buf *out, const struct json *v, const struct bq_type *item)
{
    (void)buf_add_char(out, '[');
    for (size_t i = 0; i < v->n; i++) {
        (void)buf_add_str(out, i > 0 ? STR(", ") : STR(""));
        bq_repr(out, &v->items[i], item);
    }
    (void)buf_add_char(out, ']');
}

static void put_repr_members(struct buf *out, const struct json *v, const struct bq_type *t)
{
    (void)buf_add_char(out, '{');
    for (size_t i = 0; i < v->n; i++) {
        const struct bq_type *own = &bq_scalars[BQ_ANY];
        for (size_t k = 0; t->kind == BQ_STRUCT && k < t->n; k++) {
            if (str_ieq(t->fields[k].name, v->members[i].key))
                own = t->fields[k].type;
        }
        (void)buf_add_str(out, i > 0 ? STR(", ") : STR(""));
        python_str(out, v->members[i].key);
        (void)buf_add_lit(out, ": ");
        bq_repr(out, &v->members[i].value, own);
    }
    (void)buf_add_char(out, '}');
}

/* Texts that are JSON are parsed where the type says so. */
static bool put_parsed(struct buf *out, struct str text, const struct bq_type *t)
{
    struct arena a auto_arena;
    static const struct json_limits limits = {.max_depth = 64, .max_bytes = 16UL << 20};

    arena_init(&a, 64UL << 20);
    const struct json *v = json_parse(&a, text, &limits, NULL);
    if (!v || (v->type == JSON_STRING && t->kind != BQ_JSON))
        return false;
    static const struct bq_type any = {.kind = BQ_ANY};
    bq_repr(out, v, t->kind == BQ_JSON ? &any : t);
    return true;
}

static void put_repr_int(struct buf *out, int64_t i, enum bq_kind kind)
{
    if (kind == BQ_BOOL)
        (void)buf_printf(out, "%s", i ? "True" : "False");
    else if (kind == BQ_FLOAT64)
        python_float(out, (double)i);
    else
        (void)buf_printf(out, kind == BQ_NUMERIC ? "Decimal('%lld')" : "%lld", (long long)i);
}

static void put_repr_string(struct buf *out, struct str s, const struct bq_type *t)
{
    bool is_json = t->kind == BQ_ARRAY || t->kind == BQ_STRUCT || t->kind == BQ_JSON;

    if (t->kind == BQ_DATE || t->kind == BQ_DATETIME || t->kind == BQ_TIME ||
        t->kind == BQ_TIMESTAMP)
        put_moment(out, s, t->kind);
    else if (t->kind == BQ_BYTES)
        put_repr_bytes(out, s);
    else if (!is_json || !put_parsed(out, s, t))
        python_str(out, s);
}

void bq_repr(struct buf *out, const struct json *v, const struct bq_type *t)
{
    switch ((int)(v ? v->type : JSON_NULL)) {
    case JSON_BOOL: (void)buf_printf(out, "%s", v->b ? "True" : "False"); break;
    case JSON_INT: put_repr_int(out, v->i, t->kind); break;
    case JSON_REAL:
        if (t->kind == BQ_NUMERIC)
            (void)buf_printf(out, "Decimal('%.15g')", v->d);
        else
            python_float(out, v->d);
        break;
    case JSON_STRING: put_repr_string(out, v->s, t); break;
    case JSON_ARRAY: put_repr_list(out, v, t->item ? t->item : &bq_scalars[BQ_ANY]); break;
    case JSON_OBJECT: put_repr_members(out, v, t); break;
    default: /* an array that is NULL is returned as an empty one */
        (void)buf_printf(out, "%s", t->kind == BQ_ARRAY ? "[]" : "None");
        break;
    }
}
