/* SPDX-License-Identifier: MIT */
/* Reading statements: what is done with queries, rows, tables and datasets. */
#include <stdio.h>

#include "apps/products/bigquery/parse.h"
#include "base/cleanup.h"

/* ---- changes ---- */

/* (1, 'x'), as a BQ_E_STRUCT. */
static struct bq_expr *parse_row(struct bq_parser *p)
{
    struct bq_expr *row = bq_expr_new(p, BQ_E_STRUCT);

    if (!row || !bq_need_sign(p, "("))
        return NULL;
    row->first = bq_parse_list(p);
    return row->first && bq_need_sign(p, ")") ? row : NULL;
}

static bool parse_insert(struct bq_parser *p, struct bq_statement *s)
{
    struct bq_expr **end = &s->rows;

    s->kind = BQ_S_INSERT;
    (void)bq_take_word(p, "INTO");
    s->table = bq_parse_path(p);
    if (s->table && bq_is_sign(bq_peek(p), "(") && !bq_is_query(p))
        s->columns = bq_parse_names(p, NULL);
    if (!bq_take_word(p, "VALUES")) {
        s->query = bq_parse_query(p);
        return s->query;
    }
    do {
        *end = parse_row(p);
        if (!*end)
            return false;
        end = &(*end)->next;
    } while (bq_take_sign(p, ","));
    return true;
}

/* SET a = 1, t.b = 2: the values, with the columns as aliases. */
static struct bq_expr *parse_sets(struct bq_parser *p)
{
    struct bq_expr *first = NULL, **end = &first;

    if (!bq_need_word(p, "SET"))
        return NULL;
    do {
        struct str name = bq_need_name(p);
        if (bq_take_sign(p, ".")) /* t.column */
            name = bq_need_name(p);
        if (!name.p || !bq_need_sign(p, "="))
            return NULL;
        *end = bq_parse_expr(p);
        if (!*end)
            return NULL;
        (*end)->alias = name;
        end = &(*end)->next;
    } while (bq_take_sign(p, ","));
    return first;
}

static bool parse_update(struct bq_parser *p, struct bq_statement *s)
{
    s->kind = BQ_S_UPDATE;
    s->table = bq_parse_path(p);
    s->alias = bq_take_alias(p);
    s->sets = s->table ? parse_sets(p) : NULL;
    if (!s->sets)
        return false;
    if (bq_take_word(p, "FROM"))
        s->from = bq_parse_joins(p);
    if (!bq_need_word(p, "WHERE"))
        return false;
    s->where = bq_parse_expr(p);
    return s->where;
}

static bool parse_delete(struct bq_parser *p, struct bq_statement *s)
{
    s->kind = BQ_S_DELETE;
    (void)bq_take_word(p, "FROM");
    s->table = bq_parse_path(p);
    s->alias = bq_take_alias(p);
    if (!s->table || !bq_need_word(p, "WHERE"))
        return false;
    s->where = bq_parse_expr(p);
    return s->where;
}

/* ---- MERGE ---- */

/* INSERT [(a, b)] VALUES (1, 2), or ROW for all of the source. */
static bool parse_merge_insert(struct bq_parser *p, struct bq_when *w)
{
    if (bq_is_sign(bq_peek(p), "("))
        w->columns = bq_parse_names(p, NULL);
    if (bq_take_word(p, "ROW"))
        return true;
    if (!bq_take_word(p, "VALUES"))
        return bq_unexpected(p, "keyword VALUES or keyword ROW");
    w->row = parse_row(p);
    return w->row;
}

static bool parse_merge_action(struct bq_parser *p, struct bq_when *w)
{
    if (w->of == BQ_W_SOURCE_ONLY) {
        w->does = BQ_W_INSERT;
        return bq_need_word(p, "INSERT") && parse_merge_insert(p, w);
    }
    if (bq_take_word(p, "DELETE")) {
        w->does = BQ_W_DELETE;
        return true;
    }
    w->does = BQ_W_UPDATE;
    if (!bq_take_word(p, "UPDATE"))
        return bq_unexpected(p, "keyword DELETE or keyword UPDATE");
    w->sets = parse_sets(p);
    return w->sets;
}

/* Behind WHEN. */
static struct bq_when *parse_when(struct bq_parser *p)
{
    struct bq_when *w = arena_new(p->arena, struct bq_when);

    if (!w)
        return bq_no_memory(p);
    bool is_not = bq_take_word(p, "NOT");
    if (!bq_need_word(p, "MATCHED"))
        return NULL;
    w->of = is_not ? BQ_W_SOURCE_ONLY : BQ_W_BOTH;
    if (is_not && bq_take_words(p, "BY", "SOURCE"))
        w->of = BQ_W_TARGET_ONLY;
    else if (is_not)
        (void)bq_take_words(p, "BY", "TARGET");
    w->where = bq_take_word(p, "AND") ? bq_parse_expr(p) : NULL;
    return bq_need_word(p, "THEN") && parse_merge_action(p, w) ? w : NULL;
}

static bool parse_merge(struct bq_parser *p, struct bq_statement *s)
{
    struct bq_when **end = &s->whens;

    s->kind = BQ_S_MERGE;
    (void)bq_take_word(p, "INTO");
    s->table = bq_parse_path(p);
    s->alias = bq_take_alias(p);
    if (!s->table || !bq_need_word(p, "USING"))
        return false;
    s->from = bq_parse_source(p);
    if (!s->from || !bq_need_word(p, "ON"))
        return false;
    s->where = bq_parse_expr(p);
    if (!s->where || !bq_is_word(bq_peek(p), "WHEN"))
        return bq_need_word(p, "WHEN");
    while (bq_take_word(p, "WHEN")) {
        *end = parse_when(p);
        if (!*end)
            return false;
        end = &(*end)->next;
    }
    return !p->has_failed;
}

/* ---- tables and datasets ---- */

/* OPTIONS(…), PARTITION BY …, CLUSTER BY …, DEFAULT …: read and not used. */
static void skip_options(struct bq_parser *p)
{
    unsigned depth = 0;

    while (bq_peek(p)->kind != BQ_END && !p->has_failed) {
        const struct bq_token *t = bq_peek(p);
        if (depth == 0 &&
            (bq_is_word(t, "AS") || bq_is_sign(t, ";") || bq_is_sign(t, ",") || bq_is_sign(t, ")")))
            return;
        depth += bq_is_sign(t, "(");
        depth -= bq_is_sign(t, ")");
        p->at++;
    }
}

static void skip_table_options(struct bq_parser *p)
{
    while (bq_is_word(bq_peek(p), "PARTITION") || bq_is_word(bq_peek(p), "CLUSTER") ||
           bq_is_word(bq_peek(p), "OPTIONS")) {
        p->at++;
        skip_options(p);
        while (bq_take_sign(p, ","))
            skip_options(p);
    }
}

static const struct bq_type *parse_columns(struct bq_parser *p)
{
    struct bq_type *row = arena_new(p->arena, struct bq_type);
    struct bq_field *fields = NULL;
    size_t cap = 0;

    if (!row || !bq_need_sign(p, "("))
        return NULL;
    row->kind = BQ_STRUCT;
    do {
        if (bq_is_sign(bq_peek(p), ")"))
            break;
        fields = arena_grow(p->arena, fields, row->n, &cap, sizeof *fields);
        if (!fields || row->n == BQ_MAX_COLUMNS)
            return bq_no_memory(p);
        fields[row->n].name = bq_need_name(p);
        fields[row->n].type = bq_parse_type(p);
        if (!fields[row->n++].type)
            return NULL;
        skip_options(p); /* NOT NULL, DEFAULT, OPTIONS */
    } while (bq_take_sign(p, ","));
    row->fields = fields;
    return bq_need_sign(p, ")") ? row : NULL;
}

/* What is left of CREATE TABLE behind the name. */
static bool parse_create_table(struct bq_parser *p, struct bq_statement *s)
{
    if (bq_is_sign(bq_peek(p), "(")) {
        s->row = parse_columns(p);
        if (!s->row)
            return false;
    }
    skip_table_options(p);
    if (bq_take_word(p, "AS"))
        s->query = bq_parse_query(p);
    else if (!s->row)
        return bq_unexpected(p, "\"(\" or keyword AS");
    return !p->has_failed;
}

static bool parse_create_view(struct bq_parser *p, struct bq_statement *s)
{
    if (bq_is_sign(bq_peek(p), "("))
        s->columns = bq_parse_names(p, skip_options);
    skip_table_options(p);
    if (!bq_need_word(p, "AS"))
        return false;
    size_t begin = bq_peek(p)->begin;
    s->query = bq_parse_query(p);
    s->text = str_trim(str_slice(p->text, begin, bq_peek(p)->begin));
    return s->query;
}

/* The kinds of things that are made and dropped. */
static const struct {
    const char *word;
    enum bq_statement_kind create, drop;
} things[] = {
    {"TABLE", BQ_S_CREATE_TABLE, BQ_S_DROP_TABLE},
    {"VIEW", BQ_S_CREATE_VIEW, BQ_S_DROP_VIEW},
    {"SCHEMA", BQ_S_CREATE_SCHEMA, BQ_S_DROP_SCHEMA},
};

static bool take_thing(struct bq_parser *p, size_t *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(things); i++) {
        *ret = i;
        if (bq_take_word(p, things[i].word))
            return true;
    }
    if (bq_peek(p)->kind == BQ_WORD)
        return bq_refuse(p, "Only tables, views and schemas are supported");
    return bq_unexpected(p, "keyword TABLE, keyword VIEW or keyword SCHEMA");
}

static bool parse_create(struct bq_parser *p, struct bq_statement *s)
{
    size_t thing;

    s->is_or_replace = bq_take_words(p, "OR", "REPLACE");
    s->is_temp = bq_take_word(p, "TEMP") || bq_take_word(p, "TEMPORARY");
    if (!take_thing(p, &thing))
        return false;
    s->kind = things[thing].create;
    if (bq_take_word(p, "IF"))
        s->is_if_not_exists = bq_need_word(p, "NOT") && bq_need_word(p, "EXISTS");
    s->table = bq_parse_path(p);
    if (!s->table)
        return false;
    if (s->kind == BQ_S_CREATE_TABLE)
        return parse_create_table(p, s);
    if (s->kind == BQ_S_CREATE_VIEW)
        return parse_create_view(p, s);
    skip_table_options(p);
    return true;
}

static bool parse_drop(struct bq_parser *p, struct bq_statement *s)
{
    size_t thing;

    if (!take_thing(p, &thing))
        return false;
    s->kind = things[thing].drop;
    s->is_if_exists = bq_take_words(p, "IF", "EXISTS");
    s->table = bq_parse_path(p);
    s->is_cascade = bq_take_word(p, "CASCADE");
    return s->table;
}

/* What BigQuery has and this has not. */
static bool is_unsupported(const struct bq_parser *p)
{
    static const char *const words[] = {
        "ALTER",   "ASSERT", "BREAK",  "CALL",   "CASE",    "CLONE",  "CONTINUE",
        "EXECUTE", "EXPORT", "FOR",    "GRANT",  "ITERATE", "LEAVE",  "LOAD",
        "LOOP",    "RAISE",  "REPEAT", "RETURN", "REVOKE",  "UNDROP", "WHILE"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (bq_is_word(bq_peek(p), words[i]))
            return true;
    }
    return false;
}

static bool refuse_unsupported(struct bq_parser *p)
{
    char text[64];
    bool is_execute = bq_is_word(bq_peek(p), "EXECUTE");

    (void)snprintf(text, sizeof text, "Statement not supported: " STR_FMT "%s",
                   STR_ARG(str_slice(bq_peek(p)->text, 0, 16)), is_execute ? " IMMEDIATE" : "");
    return bq_refuse(p, text);
}

bool bq_parse_statement(struct bq_parser *p, struct bq_statement *s)
{
    const struct bq_token *t = bq_peek(p);

    if (bq_take_word(p, "INSERT"))
        return parse_insert(p, s);
    if (bq_take_word(p, "UPDATE"))
        return parse_update(p, s);
    if (bq_take_word(p, "DELETE"))
        return parse_delete(p, s);
    if (bq_take_word(p, "MERGE"))
        return parse_merge(p, s);
    if (bq_take_word(p, "CREATE"))
        return parse_create(p, s);
    if (bq_take_word(p, "DROP"))
        return parse_drop(p, s);
    if (bq_take_words(p, "TRUNCATE", "TABLE")) {
        s->kind = BQ_S_TRUNCATE;
        s->table = bq_parse_path(p);
        return s->table;
    }
    if (is_unsupported(p))
        return refuse_unsupported(p);
    if (!bq_is_word(t, "SELECT") && !bq_is_word(t, "WITH") && !bq_is_sign(t, "("))
        return bq_unexpected(p, NULL);
    s->kind = BQ_S_SELECT;
    s->query = bq_parse_query(p);
    return s->query;
}

struct bq_query *bq_parse_text(struct bq_parser *p, struct str text)
{
    struct bq_query *q = bq_lex(p, text) == 0 ? bq_parse_query(p) : NULL;

    if (q && bq_peek(p)->kind != BQ_END)
        return bq_unexpected(p, "end of input");
    return q;
}
