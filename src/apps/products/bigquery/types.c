/* SPDX-License-Identifier: MIT */
/* The types of BigQuery. */
#include "apps/products/bigquery/bq.h"
#include "base/cleanup.h"

const struct bq_type bq_scalars[BQ_KIND_COUNT] = {
    [BQ_ANY] = {.kind = BQ_ANY},
    [BQ_INT64] = {.kind = BQ_INT64},
    [BQ_FLOAT64] = {.kind = BQ_FLOAT64},
    [BQ_NUMERIC] = {.kind = BQ_NUMERIC},
    [BQ_BOOL] = {.kind = BQ_BOOL},
    [BQ_STRING] = {.kind = BQ_STRING},
    [BQ_BYTES] = {.kind = BQ_BYTES},
    [BQ_DATE] = {.kind = BQ_DATE},
    [BQ_DATETIME] = {.kind = BQ_DATETIME},
    [BQ_TIME] = {.kind = BQ_TIME},
    [BQ_TIMESTAMP] = {.kind = BQ_TIMESTAMP},
    [BQ_JSON] = {.kind = BQ_JSON},
    [BQ_ARRAY] = {.kind = BQ_ARRAY},
    [BQ_STRUCT] = {.kind = BQ_STRUCT},
};

/* The first name of a kind is the one that is shown. */
static const struct {
    const char *name;
    enum bq_kind kind;
} names[] = {
    {"INT64", BQ_INT64},         {"FLOAT64", BQ_FLOAT64},    {"NUMERIC", BQ_NUMERIC},
    {"BOOL", BQ_BOOL},           {"STRING", BQ_STRING},      {"BYTES", BQ_BYTES},
    {"DATE", BQ_DATE},           {"DATETIME", BQ_DATETIME},  {"TIME", BQ_TIME},
    {"TIMESTAMP", BQ_TIMESTAMP}, {"JSON", BQ_JSON},          {"ARRAY", BQ_ARRAY},
    {"STRUCT", BQ_STRUCT},       {"INTEGER", BQ_INT64},      {"INT", BQ_INT64},
    {"SMALLINT", BQ_INT64},      {"BIGINT", BQ_INT64},       {"TINYINT", BQ_INT64},
    {"BYTEINT", BQ_INT64},       {"FLOAT", BQ_FLOAT64},      {"DECIMAL", BQ_NUMERIC},
    {"BIGNUMERIC", BQ_NUMERIC},  {"BIGDECIMAL", BQ_NUMERIC}, {"BOOLEAN", BQ_BOOL},
    {"RECORD", BQ_STRUCT},       {"GEOGRAPHY", BQ_STRING},
};

enum bq_kind bq_kind_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_iis(name, names[i].name))
            return names[i].kind;
    }
    return BQ_KIND_COUNT;
}

const char *bq_kind_name(enum bq_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (names[i].kind == kind)
            return names[i].name;
    }
    return "INT64"; /* what BigQuery takes NULL for */
}

static void put_type(struct buf *b, const struct bq_type *t)
{
    (void)buf_printf(b, "%s", bq_kind_name(t->kind));
    if (t->kind == BQ_ARRAY) {
        (void)buf_add_char(b, '<');
        put_type(b, t->item ? t->item : &bq_scalars[BQ_ANY]);
        (void)buf_add_char(b, '>');
    }
    for (size_t i = 0; t->kind == BQ_STRUCT && i < t->n; i++) {
        (void)buf_printf(b, "%s" STR_FMT "%s", i > 0 ? ", " : "<", STR_ARG(t->fields[i].name),
                         t->fields[i].name.len > 0 ? " " : "");
        put_type(b, t->fields[i].type);
    }
    if (t->kind == BQ_STRUCT && t->n > 0)
        (void)buf_add_char(b, '>');
}

struct str bq_type_text(struct arena *a, const struct bq_type *t)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);

    put_type(&b, t);
    struct str text = arena_str(a, buf_str(&b));
    return text.p ? text : STR("");
}

const struct bq_type *bq_type_of_field(struct arena *a, const struct json *field)
{
    enum bq_kind kind = bq_kind_of(json_str(json_get(field, "type"), STR("")));
    const struct json *parts = json_get(field, "fields");
    struct bq_type *t = arena_new(a, struct bq_type);

    if (!t || kind == BQ_KIND_COUNT)
        return NULL;
    t->kind = kind;
    if (kind == BQ_STRUCT) {
        size_t n = json_is(parts, JSON_ARRAY) ? parts->n : 0;
        struct bq_field *fields = arena_zalloc(a, n + 1, sizeof *fields);
        for (size_t i = 0; fields && i < n; i++) {
            fields[i].name = json_str(json_get(json_at(parts, i), "name"), STR(""));
            fields[i].type = bq_type_of_field(a, json_at(parts, i));
            if (!fields[i].type)
                return NULL;
        }
        if (!fields)
            return NULL;
        t->fields = fields;
        t->n = n;
    }
    if (!str_iis(json_str(json_get(field, "mode"), STR("")), "REPEATED"))
        return t;
    struct bq_type *list = arena_new(a, struct bq_type);
    if (list)
        *list = (struct bq_type){.kind = BQ_ARRAY, .item = t};
    return list;
}

void bq_put_field(struct jw *w, struct str name, const struct bq_type *t)
{
    const struct bq_type *item = t->kind == BQ_ARRAY && t->item ? t->item : t;
    /* As the API says them. */
    static const char *const old[BQ_KIND_COUNT] = {[BQ_ANY] = "INTEGER",
                                                   [BQ_INT64] = "INTEGER",
                                                   [BQ_FLOAT64] = "FLOAT",
                                                   [BQ_BOOL] = "BOOLEAN",
                                                   [BQ_STRUCT] = "RECORD"};

    jw_object(w);
    jw_key(w, "name");
    jw_str(w, name);
    jw_key(w, "type");
    jw_cstr(w, old[item->kind] ? old[item->kind] : bq_kind_name(item->kind));
    jw_key(w, "mode");
    jw_cstr(w, t->kind == BQ_ARRAY ? "REPEATED" : "NULLABLE");
    if (item->kind == BQ_STRUCT) {
        jw_key(w, "fields");
        jw_array(w);
        for (size_t i = 0; i < item->n; i++)
            bq_put_field(w, item->fields[i].name, item->fields[i].type);
        jw_end(w);
    }
    jw_end(w);
}
