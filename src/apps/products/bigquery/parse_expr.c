/* SPDX-License-Identifier: MIT */
/* Reading expressions. */
#include <errno.h>

#include "apps/products/bigquery/parse.h"
#include "base/cleanup.h"

enum { MAX_HEIGHT = 400 };

/* FIRST, and SECOND behind it, become what E is of. */
static struct bq_expr *join_operands(struct bq_parser *p, struct bq_expr *e, struct bq_expr *first,
                                     struct bq_expr *second)
{
    if (!e || !first || p->has_failed)
        return NULL;
    e->first = first;
    first->next = second;
    e->line = first->line;
    e->column = first->column;
    e->height = 1 + first->height;
    if (second && second->height >= e->height)
        e->height = 1 + second->height;
    if (e->height > MAX_HEIGHT)
        return bq_unexpected(p, "a shorter expression");
    return e;
}

/* ---- types ---- */

static const struct bq_type *parse_struct_type(struct bq_parser *p)
{
    struct bq_type *t = arena_new(p->arena, struct bq_type);
    struct bq_field *fields = NULL;
    size_t cap = 0;

    if (!t || !bq_need_sign(p, "<"))
        return NULL;
    t->kind = BQ_STRUCT;
    do {
        fields = arena_grow(p->arena, fields, t->n, &cap, sizeof *fields);
        if (!fields)
            return bq_no_memory(p);
        struct str name = bq_is_sign(bq_peek_at(p, 1), ",") || bq_is_sign(bq_peek_at(p, 1), ">") ||
                                  bq_is_sign(bq_peek_at(p, 1), "<")
                              ? STR("")
                              : bq_need_name(p);
        fields[t->n] = (struct bq_field){name, bq_parse_type(p)};
        if (!fields[t->n++].type)
            return NULL;
    } while (bq_take_sign(p, ","));
    t->fields = fields;
    return t;
}

/* ">" closes; of ">>" the first half does. */
static bool close_type(struct bq_parser *p)
{
    if (bq_is_sign(bq_peek(p), ">>")) {
        p->tokens[p->at].text = STR(">");
        return true;
    }
    return bq_need_sign(p, ">");
}

static void skip_size(struct bq_parser *p)
{
    if (!bq_take_sign(p, "("))
        return;
    while (bq_peek(p)->kind == BQ_INT || bq_is_sign(bq_peek(p), ","))
        p->at++;
    (void)bq_need_sign(p, ")");
}

const struct bq_type *bq_parse_type(struct bq_parser *p)
{
    const struct bq_token *t = bq_peek(p);
    enum bq_kind kind = t->kind == BQ_WORD ? bq_kind_of(t->text) : BQ_KIND_COUNT;
    const struct bq_type *item = NULL;

    if (p->has_failed || !bq_enter(p))
        return NULL;
    if (kind == BQ_KIND_COUNT) {
        if (t->kind != BQ_WORD)
            return bq_unexpected(p, NULL);
        p->has_failed = true;
        (void)err_set(p->err, -EINVAL, "Type not found: " STR_FMT " at [%u:%u]",
                      STR_ARG(str_slice(t->text, 0, 60)), t->line, t->column);
        return NULL;
    }
    p->at++;
    if (kind == BQ_STRUCT) {
        item = parse_struct_type(p);
        bq_leave(p);
        return item && close_type(p) ? item : NULL;
    }
    if (kind == BQ_ARRAY) {
        struct bq_type *own = arena_new(p->arena, struct bq_type);
        if (!own || !bq_need_sign(p, "<"))
            return own ? NULL : bq_no_memory(p);
        *own = (struct bq_type){.kind = BQ_ARRAY, .item = bq_parse_type(p)};
        bq_leave(p);
        return own->item && close_type(p) ? own : NULL;
    }
    skip_size(p);
    bq_leave(p);
    return &bq_scalars[kind];
}

/* ---- what stands for itself ---- */

static struct bq_expr *parse_literal(struct bq_parser *p, enum bq_kind kind)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_LITERAL);

    if (!e)
        return NULL;
    e->text = bq_peek(p)->text;
    e->type = &bq_scalars[kind];
    p->at++;
    return e;
}

/* DATE '2026-01-15' */
static struct bq_expr *parse_typed_literal(struct bq_parser *p)
{
    enum bq_kind kind = bq_kind_of(bq_peek(p)->text);

    p->at++;
    return parse_literal(p, kind);
}

static struct bq_expr *parse_interval(struct bq_parser *p)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_INTERVAL);
    struct bq_expr *n = e ? bq_parse_expr(p) : NULL;
    struct str part = n ? bq_need_name(p) : STR_NULL;

    if (!part.p)
        return NULL;
    e->text = part;
    return join_operands(p, e, n, NULL);
}

static struct bq_expr *parse_case(struct bq_parser *p)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_CASE), **end = e ? &e->first : NULL;

    if (!e)
        return NULL;
    if (!bq_is_word(bq_peek(p), "WHEN")) {
        e->has_operand = true;
        *end = bq_parse_expr(p);
        if (!*end)
            return NULL;
        end = &(*end)->next;
    }
    while (bq_take_word(p, "WHEN")) {
        *end = bq_parse_expr(p);
        if (!*end || !bq_need_word(p, "THEN"))
            return NULL;
        end = &(*end)->next;
        *end = bq_parse_expr(p);
        if (!*end)
            return NULL;
        end = &(*end)->next;
    }
    if (bq_take_word(p, "ELSE")) {
        e->has_else = true;
        *end = bq_parse_expr(p);
    }
    return bq_need_word(p, "END") ? e : NULL;
}

static struct bq_expr *parse_cast(struct bq_parser *p, bool is_safe)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_CAST);

    if (!e || !bq_need_sign(p, "("))
        return NULL;
    e->is_safe = is_safe;
    e->first = bq_parse_expr(p);
    if (!e->first || !bq_need_word(p, "AS"))
        return NULL;
    e->type = bq_parse_type(p);
    return e->type && bq_need_sign(p, ")") ? e : NULL;
}

static struct bq_expr *parse_extract(struct bq_parser *p)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_EXTRACT);

    if (!e || !bq_need_sign(p, "("))
        return NULL;
    e->text = bq_need_name(p);
    if (bq_take_sign(p, "(")) { /* WEEK(MONDAY) */
        e->alias = bq_need_name(p);
        (void)bq_need_sign(p, ")");
    }
    if (!bq_need_word(p, "FROM"))
        return NULL;
    e->first = bq_parse_expr(p);
    if (e->first && bq_take_word(p, "AT")) {
        (void)bq_take_words(p, "TIME", "ZONE");
        e->first->next = bq_parse_expr(p);
    }
    return bq_need_sign(p, ")") ? e : NULL;
}

static struct bq_expr *parse_array_expr(struct bq_parser *p)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_ARRAY);

    if (!e || !bq_need_sign(p, "["))
        return NULL;
    if (bq_take_sign(p, "]"))
        return e;
    e->first = bq_parse_list(p);
    return e->first && bq_need_sign(p, "]") ? e : NULL;
}

static struct bq_expr *parse_struct(struct bq_parser *p)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_STRUCT), **end = e ? &e->first : NULL;

    if (!e)
        return NULL;
    if (bq_is_sign(bq_peek(p), "<")) {
        const struct bq_type *t = parse_struct_type(p);
        if (!t || !close_type(p))
            return NULL;
        e->type = t;
    }
    if (!bq_need_sign(p, "("))
        return NULL;
    if (bq_take_sign(p, ")"))
        return e;
    do {
        *end = bq_parse_expr(p);
        if (!*end)
            return NULL;
        if (bq_take_word(p, "AS"))
            (*end)->alias = bq_need_name(p);
        end = &(*end)->next;
    } while (bq_take_sign(p, ","));
    return bq_need_sign(p, ")") ? e : NULL;
}

static bool is_query_ahead(const struct bq_parser *p, size_t n)
{
    const struct bq_token *t = bq_peek_at(p, n);

    while (bq_is_sign(t, "("))
        t = bq_peek_at(p, ++n);
    return bq_is_word(t, "SELECT") || bq_is_word(t, "WITH");
}

/* "(" is next, and a query in it. */
static struct bq_expr *parse_subquery(struct bq_parser *p, struct str what)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_QUERY);

    if (!e || !bq_need_sign(p, "("))
        return NULL;
    e->text = what;
    e->query = bq_parse_query(p);
    return e->query && bq_need_sign(p, ")") ? e : NULL;
}

/* (a), (a, b) or (SELECT …) */
static struct bq_expr *parse_parens(struct bq_parser *p)
{
    if (is_query_ahead(p, 0))
        return parse_subquery(p, STR(""));
    struct bq_expr *e = bq_expr_new(p, BQ_E_STRUCT);
    if (!e || !bq_need_sign(p, "("))
        return NULL;
    e->first = bq_parse_list(p);
    if (!e->first || !bq_need_sign(p, ")"))
        return NULL;
    return e->first->next ? e : e->first;
}

/* ---- calls ---- */

/* ROWS BETWEEN 6 PRECEDING AND CURRENT ROW, as it stands. */
static struct str parse_frame(struct bq_parser *p)
{
    static const char *const words[] = {"ROWS",      "RANGE",     "BETWEEN", "UNBOUNDED", "AND",
                                        "PRECEDING", "FOLLOWING", "CURRENT", "ROW"};
    auto_buf struct buf b = BUF_INIT(1 << 10);

    for (;; p->at++) {
        const struct bq_token *t = bq_peek(p);
        bool is_known = t->kind == BQ_INT;
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            is_known |= bq_is_word(t, words[i]);
        if (!is_known)
            break;
        (void)buf_printf(&b, " " STR_FMT, STR_ARG(t->text));
    }
    return arena_str(p->arena, buf_str(&b));
}

static struct bq_window *parse_window(struct bq_parser *p)
{
    struct bq_window *w = arena_new(p->arena, struct bq_window);

    if (!w)
        return bq_no_memory(p);
    if (!bq_need_sign(p, "("))
        return NULL;
    if (bq_take_words(p, "PARTITION", "BY"))
        w->partition = bq_parse_list(p);
    if (bq_take_words(p, "ORDER", "BY"))
        w->sorts = bq_parse_sorts(p);
    w->frame = parse_frame(p);
    return bq_need_sign(p, ")") ? w : NULL;
}

static void parse_arguments(struct bq_parser *p, struct bq_expr *e)
{
    e->is_distinct = bq_take_word(p, "DISTINCT");
    if (bq_is_sign(bq_peek(p), "*") && bq_is_sign(bq_peek_at(p, 1), ")")) {
        e->first = bq_expr_new(p, BQ_E_STAR);
        p->at++;
    } else if (!bq_is_sign(bq_peek(p), ")")) {
        e->first = bq_parse_list(p);
    }
    if (bq_take_words(p, "IGNORE", "NULLS"))
        e->ignores_nulls = true;
    else
        (void)bq_take_words(p, "RESPECT", "NULLS");
    if (bq_take_words(p, "ORDER", "BY"))
        e->sorts = bq_parse_sorts(p);
    if (bq_take_word(p, "LIMIT"))
        e->limit = bq_parse_expr(p);
    (void)bq_need_sign(p, ")");
}

static struct bq_expr *parse_bq_call(struct bq_parser *p, const struct bq_token *name, bool is_safe)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_CALL);

    if (!e || !bq_need_sign(p, "("))
        return NULL;
    e->text = name->text;
    e->line = name->line;
    e->column = name->column;
    e->is_safe = is_safe;
    parse_arguments(p, e);
    if (bq_take_word(p, "OVER"))
        e->over = parse_window(p);
    return p->has_failed ? NULL : e;
}

/* @@row_count, @@error.message: a variable of that name. */
static struct bq_expr *parse_system(struct bq_parser *p)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_PATH), *name = bq_expr_new(p, BQ_E_NAME);

    if (!e || !name || !bq_need_sign(p, "@@"))
        return NULL;
    struct str word = bq_need_name(p);
    name->text = word.p ? arena_printf(p->arena, "@@" STR_FMT, STR_ARG(word)) : word;
    e->first = name;
    return name->text.p ? e : p->has_failed ? NULL : bq_no_memory(p);
}

/* A column, a.b.c, or a function. */
static struct bq_expr *parse_column_or_call(struct bq_parser *p)
{
    const struct bq_token *t = bq_peek(p);
    bool is_call = t->kind == BQ_WORD && bq_is_sign(bq_peek_at(p, 1), "(");
    bool is_safe = bq_is_word(t, "SAFE") && bq_is_sign(bq_peek_at(p, 1), ".") &&
                   bq_peek_at(p, 2)->kind == BQ_WORD && bq_is_sign(bq_peek_at(p, 3), "(");

    if (bq_is_sign(t, "@@"))
        return parse_system(p);
    if (is_safe) {
        p->at += 3;
        return parse_bq_call(p, bq_peek_at(p, (size_t)-1), true);
    }
    if (is_call) {
        p->at++;
        return parse_bq_call(p, t, false);
    }
    struct bq_expr *e = bq_expr_new(p, BQ_E_PATH), *name = bq_expr_new(p, BQ_E_NAME);
    if (!name)
        return NULL;
    name->text = bq_take_name(p);
    if (!name->text.p)
        return bq_unexpected(p, NULL);
    e->first = name;
    return e;
}

/* Words that begin something of their own before "(". */
static struct bq_expr *parse_form(struct bq_parser *p, bool *is_it)
{
    *is_it = true;
    if (bq_is_sign(bq_peek_at(p, 1), "(")) {
        if (bq_take_word(p, "CAST"))
            return parse_cast(p, false);
        if (bq_take_word(p, "SAFE_CAST"))
            return parse_cast(p, true);
        if (bq_take_word(p, "EXTRACT"))
            return parse_extract(p);
        if (bq_take_word(p, "ARRAY"))
            return parse_subquery(p, STR("ARRAY"));
    }
    *is_it = false;
    return NULL;
}

/* Words that begin something of their own. */
static struct bq_expr *parse_keyword(struct bq_parser *p, bool *is_it)
{
    *is_it = true;
    if (bq_take_word(p, "NULL"))
        return bq_expr_new(p, BQ_E_NULL);
    if (bq_is_word(bq_peek(p), "TRUE") || bq_is_word(bq_peek(p), "FALSE"))
        return parse_literal(p, BQ_BOOL);
    if (bq_take_word(p, "CASE"))
        return parse_case(p);
    if (bq_take_word(p, "INTERVAL"))
        return parse_interval(p);
    if (bq_take_word(p, "STRUCT"))
        return parse_struct(p);
    if (bq_take_word(p, "EXISTS"))
        return parse_subquery(p, STR("EXISTS"));
    return parse_form(p, is_it);
}

/* ARRAY<INT64>[1, 2] */
static struct bq_expr *parse_typed_array(struct bq_parser *p)
{
    const struct bq_type *t = bq_is_sign(bq_peek_at(p, 1), "[") ? &bq_scalars[BQ_ANY] : NULL;

    if (t)
        p->at++;
    else
        t = bq_parse_type(p);
    struct bq_expr *e = t ? parse_array_expr(p) : NULL;
    if (e && t->kind == BQ_ARRAY)
        e->type = t;
    return e;
}

static bool is_typed_literal(const struct bq_parser *p)
{
    static const char *const words[] = {"DATE",    "DATETIME", "TIMESTAMP",  "TIME",
                                        "NUMERIC", "DECIMAL",  "BIGNUMERIC", "JSON"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (bq_is_word(bq_peek(p), words[i]))
            return bq_peek_at(p, 1)->kind == BQ_TEXT;
    }
    return false;
}

static struct bq_expr *parse_bq_primary(struct bq_parser *p)
{
    const struct bq_token *t = bq_peek(p);
    bool is_it;

    switch ((int)t->kind) {
    case BQ_INT: return parse_literal(p, BQ_INT64);
    case BQ_REAL: return parse_literal(p, BQ_FLOAT64);
    case BQ_TEXT: return parse_literal(p, BQ_STRING);
    case BQ_BINARY: return parse_literal(p, BQ_BYTES);
    default: break;
    }
    if (bq_is_sign(t, "("))
        return parse_parens(p);
    if (bq_is_sign(t, "["))
        return parse_array_expr(p);
    if (is_typed_literal(p))
        return parse_typed_literal(p);
    if (bq_is_word(t, "ARRAY") &&
        (bq_is_sign(bq_peek_at(p, 1), "<") || bq_is_sign(bq_peek_at(p, 1), "[")))
        return parse_typed_array(p);
    struct bq_expr *e = parse_keyword(p, &is_it);
    if (is_it || p->has_failed)
        return e;
    if (bq_is_word(t, "IF") || bq_is_word(t, "LEFT") || bq_is_word(t, "RIGHT") ||
        !bq_is_keyword(t->text) || t->kind == BQ_NAME)
        return parse_column_or_call(p);
    return bq_unexpected(p, NULL);
}

/* [OFFSET(0)], [1] */
static struct bq_expr *parse_index(struct bq_parser *p, struct bq_expr *of)
{
    static const char *const kinds[] = {"OFFSET", "ORDINAL", "SAFE_OFFSET", "SAFE_ORDINAL"};
    struct bq_expr *e = bq_expr_new(p, BQ_E_INDEX);

    if (!e || !bq_need_sign(p, "["))
        return NULL;
    e->text = STR("OFFSET");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (bq_is_word(bq_peek(p), kinds[i]) && bq_is_sign(bq_peek_at(p, 1), "(")) {
            e->text = str_of(kinds[i]);
            p->at++;
        }
    }
    struct bq_expr *n = bq_parse_expr(p);
    return n && bq_need_sign(p, "]") ? join_operands(p, e, of, n) : NULL;
}

/* ".name" behind a path makes it longer, behind anything else it is a field of that. */
static struct bq_expr *parse_field(struct bq_parser *p, struct bq_expr *of)
{
    struct bq_expr *e = bq_expr_new(p, of->kind == BQ_E_PATH ? BQ_E_NAME : BQ_E_FIELD), *last;
    const struct bq_token *t = bq_peek(p);

    if (!e || (t->kind != BQ_WORD && t->kind != BQ_NAME))
        return bq_unexpected(p, "identifier");
    p->at++;
    e->text = t->text;
    if (of->kind != BQ_E_PATH)
        return join_operands(p, e, of, NULL);
    for (last = of->first; last->next;)
        last = last->next;
    last->next = e;
    return of;
}

static struct bq_expr *parse_postfix(struct bq_parser *p)
{
    struct bq_expr *e = parse_bq_primary(p);

    while (e && !p->has_failed) {
        if (bq_is_sign(bq_peek(p), ".") && !bq_is_sign(bq_peek_at(p, 1), "*")) {
            p->at++;
            e = parse_field(p, e);
        } else if (bq_is_sign(bq_peek(p), "[")) {
            e = parse_index(p, e);
        } else {
            break;
        }
    }
    return e;
}

/* ---- operators ---- */

static struct bq_expr *parse_bq_unary(struct bq_parser *p)
{
    const struct bq_token *t = bq_peek(p);

    if (!bq_is_sign(t, "-") && !bq_is_sign(t, "+") && !bq_is_sign(t, "~"))
        return parse_postfix(p);
    struct bq_expr *e = bq_enter(p) ? bq_expr_new(p, BQ_E_UNARY) : NULL;
    if (!e)
        return NULL;
    p->at++;
    e->text = t->text;
    e = join_operands(p, e, parse_bq_unary(p), NULL);
    bq_leave(p);
    return e;
}

/* From the one that binds most to the one that binds least. */
static const char *const levels[][4] = {
    {"*", "/", "||", "%"}, {"+", "-"}, {"<<", ">>"}, {"&"}, {"^"}, {"|"},
};

static struct bq_expr *parse_level(struct bq_parser *p, size_t level)
{
    struct bq_expr *left = level == 0 ? parse_bq_unary(p) : parse_level(p, level - 1);

    while (left && !p->has_failed) {
        const char *op = NULL;
        for (size_t i = 0; i < ARRAY_LEN(levels[level]) && levels[level][i] && !op; i++)
            op = bq_take_sign(p, levels[level][i]) ? levels[level][i] : NULL;
        if (!op)
            break;
        struct bq_expr *e = bq_expr_new(p, BQ_E_BINARY);
        struct bq_expr *right = level == 0 ? parse_bq_unary(p) : parse_level(p, level - 1);
        if (!e || !right)
            return NULL;
        e->text = str_of(op);
        left = join_operands(p, e, left, right);
    }
    return left;
}

static struct bq_expr *parse_sum(struct bq_parser *p)
{
    return parse_level(p, ARRAY_LEN(levels) - 1);
}

static struct bq_expr *parse_in(struct bq_parser *p, struct bq_expr *left, bool is_not)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_IN), *right = NULL;

    if (!e)
        return NULL;
    e->is_not = is_not;
    if (bq_take_word(p, "UNNEST")) {
        e->kind = BQ_E_IN_ARRAY;
        right = bq_need_sign(p, "(") ? bq_parse_expr(p) : NULL;
        return right && bq_need_sign(p, ")") ? join_operands(p, e, left, right) : NULL;
    }
    if (is_query_ahead(p, 0) && bq_take_sign(p, "("))
        e->query = bq_parse_query(p);
    else if (bq_need_sign(p, "("))
        right = bq_parse_list(p);
    if (!bq_need_sign(p, ")"))
        return NULL;
    return join_operands(p, e, left, right);
}

static struct bq_expr *parse_between(struct bq_parser *p, struct bq_expr *left, bool is_not)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_BETWEEN), *low = parse_sum(p);

    if (!e || !low || !bq_need_word(p, "AND"))
        return NULL;
    low->next = parse_sum(p);
    e->is_not = is_not;
    return low->next ? join_operands(p, e, left, low) : NULL;
}

static struct bq_expr *parse_is(struct bq_parser *p, struct bq_expr *left)
{
    struct bq_expr *e = bq_expr_new(p, BQ_E_IS);

    if (!e)
        return NULL;
    e->is_not = bq_take_word(p, "NOT");
    if (bq_take_words(p, "DISTINCT", "FROM")) {
        e->text = STR("DISTINCT");
        return join_operands(p, e, left, parse_sum(p));
    }
    static const char *const words[] = {"NULL", "TRUE", "FALSE"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!bq_take_word(p, words[i]))
            continue;
        e->text = str_of(words[i]);
        return join_operands(p, e, left, NULL);
    }
    return bq_unexpected(p, "keyword NULL or keyword TRUE or keyword FALSE");
}

static struct bq_expr *parse_comparison(struct bq_parser *p)
{
    static const char *const signs[] = {"=", "!=", "<>", "<=", ">=", "<", ">"};
    struct bq_expr *left = parse_sum(p), *e;
    const char *op = NULL;

    if (!left)
        return NULL;
    bool is_not = bq_is_word(bq_peek(p), "NOT") && bq_take_word(p, "NOT");
    if (bq_take_word(p, "IN"))
        return parse_in(p, left, is_not);
    if (bq_take_word(p, "BETWEEN"))
        return parse_between(p, left, is_not);
    if (bq_take_word(p, "LIKE"))
        op = "LIKE";
    else if (is_not)
        return bq_unexpected(p, "keyword BETWEEN or keyword IN or keyword LIKE");
    else if (bq_take_word(p, "IS"))
        return parse_is(p, left);
    for (size_t i = 0; i < ARRAY_LEN(signs) && !op; i++)
        op = bq_take_sign(p, signs[i]) ? signs[i] : NULL;
    if (!op)
        return left;
    e = bq_expr_new(p, BQ_E_BINARY);
    struct bq_expr *right = e ? parse_sum(p) : NULL;
    if (!right)
        return NULL;
    e->text = str_is(str_of(op), "<>") ? STR("!=") : str_of(op);
    e->is_not = is_not;
    return join_operands(p, e, left, right);
}

static struct bq_expr *parse_bq_not(struct bq_parser *p)
{
    if (!bq_take_word(p, "NOT"))
        return parse_comparison(p);
    struct bq_expr *e = bq_enter(p) ? bq_expr_new(p, BQ_E_UNARY) : NULL;
    if (!e)
        return NULL;
    e->text = STR("NOT");
    e = join_operands(p, e, parse_bq_not(p), NULL);
    bq_leave(p);
    return e;
}

static struct bq_expr *parse_chain(struct bq_parser *p, const char *word,
                                   struct bq_expr *(*part)(struct bq_parser *p))
{
    struct bq_expr *left = part(p);

    while (left && bq_take_word(p, word)) {
        struct bq_expr *e = bq_expr_new(p, BQ_E_BINARY), *right = part(p);
        if (!e || !right)
            return NULL;
        e->text = str_of(word);
        left = join_operands(p, e, left, right);
    }
    return left;
}

static struct bq_expr *parse_and(struct bq_parser *p)
{
    return parse_chain(p, "AND", parse_bq_not);
}

struct bq_expr *bq_parse_expr(struct bq_parser *p)
{
    if (!bq_enter(p))
        return NULL;
    struct bq_expr *e = parse_chain(p, "OR", parse_and);
    bq_leave(p);
    return p->has_failed ? NULL : e;
}

struct bq_expr *bq_parse_list(struct bq_parser *p)
{
    struct bq_expr *first = NULL, **end = &first;

    do {
        *end = bq_parse_expr(p);
        if (!*end)
            return NULL;
        end = &(*end)->next;
    } while (bq_take_sign(p, ","));
    return first;
}

struct bq_sort *bq_parse_sorts(struct bq_parser *p)
{
    struct bq_sort *first = NULL, **end = &first;

    do {
        struct bq_sort *s = arena_new(p->arena, struct bq_sort);
        if (!s)
            return bq_no_memory(p);
        *s = (struct bq_sort){.expr = bq_parse_expr(p), .nulls = ""};
        if (!s->expr)
            return NULL;
        s->is_descending = bq_take_word(p, "DESC");
        if (!s->is_descending)
            (void)bq_take_word(p, "ASC");
        if (bq_take_words(p, "NULLS", "FIRST"))
            s->nulls = " NULLS FIRST";
        else if (bq_take_words(p, "NULLS", "LAST"))
            s->nulls = " NULLS LAST";
        *end = s;
        end = &s->next;
    } while (bq_take_sign(p, ","));
    return first;
}
