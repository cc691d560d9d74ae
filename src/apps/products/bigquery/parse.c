/* SPDX-License-Identifier: MIT */
/* Reading queries. */
#include "apps/products/bigquery/parse.h"

#include "base/cleanup.h"

/* ---- names ---- */

static struct bq_expr *add_path_name(struct bq_parser *p, struct bq_expr *path, struct str text)
{
    struct bq_expr *name = bq_expr_new(p, BQ_E_NAME), **end = &path->first;

    if (!name)
        return NULL;
    name->text = text;
    while (*end)
        end = &(*end)->next;
    *end = name;
    return name;
}

/* my-project-1: words and numbers with dashes between them. */
static struct str parse_dashed(struct bq_parser *p)
{
    struct str name = bq_need_name(p);
    auto_buf struct buf b = BUF_INIT(1 << 10);

    if (!name.p || !bq_is_sign(bq_peek(p), "-"))
        return name;
    (void)buf_add_str(&b, name);
    while (bq_take_sign(p, "-")) {
        const struct bq_token *t = bq_peek(p);
        if (t->kind != BQ_WORD && t->kind != BQ_INT) {
            (void)bq_unexpected(p, NULL);
            return STR_NULL;
        }
        (void)buf_printf(&b, "-" STR_FMT, STR_ARG(t->text));
        p->at++;
    }
    name = arena_str(p->arena, buf_str(&b));
    return name.p ? name : STR_NULL;
}

struct bq_expr *bq_parse_path(struct bq_parser *p)
{
    struct bq_expr *path = bq_expr_new(p, BQ_E_PATH);

    if (!path)
        return NULL;
    do {
        bool is_first = !path->first;
        const struct bq_token *t = bq_peek(p);
        struct str name;
        if (t->kind == BQ_NAME || is_first) {
            name = parse_dashed(p);
        } else { /* behind a dot keywords are names */
            name = t->kind == BQ_WORD ? t->text : STR_NULL;
            p->at += name.p != NULL;
        }
        if (!name.p)
            return p->has_failed ? NULL : bq_unexpected(p, "identifier");
        while (name.p) {
            if (!add_path_name(p, path, str_cut(&name, '.')))
                return NULL;
        }
    } while (bq_take_sign(p, "."));
    return path;
}

struct bq_expr *bq_parse_names(struct bq_parser *p, void (*skip)(struct bq_parser *p))
{
    struct bq_expr *first = NULL, **end = &first;

    if (!bq_need_sign(p, "("))
        return NULL;
    do {
        struct bq_expr *e = bq_expr_new(p, BQ_E_NAME);
        if (!e)
            return NULL;
        e->text = bq_need_name(p);
        *end = e;
        end = &e->next;
        if (skip)
            skip(p);
    } while (bq_take_sign(p, ","));
    return bq_need_sign(p, ")") ? first : NULL;
}

/* ---- FROM ---- */

static struct bq_from *from_new(struct bq_parser *p, enum bq_from_kind kind)
{
    struct bq_from *f = p->has_failed ? NULL : arena_new(p->arena, struct bq_from);

    if (!f)
        return p->has_failed ? NULL : bq_no_memory(p);
    f->kind = kind;
    f->line = bq_peek(p)->line;
    f->column = bq_peek(p)->column;
    return f;
}

static struct bq_from *parse_unnest(struct bq_parser *p)
{
    struct bq_from *f = from_new(p, BQ_F_UNNEST);

    if (!f || !bq_need_sign(p, "("))
        return NULL;
    f->expr = bq_parse_expr(p);
    if (!f->expr || !bq_need_sign(p, ")"))
        return NULL;
    f->alias = bq_take_alias(p);
    if (bq_take_words(p, "WITH", "OFFSET")) {
        f->offset = bq_take_alias(p);
        if (!f->offset.p)
            f->offset = STR("offset");
    }
    return f;
}

bool bq_is_query(const struct bq_parser *p)
{
    size_t n = 0;

    while (bq_is_sign(bq_peek_at(p, n), "("))
        n++;
    return bq_is_word(bq_peek_at(p, n), "SELECT") || bq_is_word(bq_peek_at(p, n), "WITH");
}

struct bq_from *bq_parse_source(struct bq_parser *p)
{
    struct bq_from *f;

    if (bq_take_word(p, "UNNEST"))
        return parse_unnest(p);
    if (bq_is_sign(bq_peek(p), "(") && !bq_is_query(p)) {
        p->at++;
        f = bq_enter(p) ? bq_parse_joins(p) : NULL;
        bq_leave(p);
        return f && bq_need_sign(p, ")") ? f : NULL;
    }
    f = from_new(p, bq_is_sign(bq_peek(p), "(") ? BQ_F_QUERY : BQ_F_TABLE);
    if (!f)
        return NULL;
    if (bq_take_sign(p, "(")) {
        f->query = bq_parse_query(p);
        if (!f->query || !bq_need_sign(p, ")"))
            return NULL;
    } else {
        f->expr = bq_parse_path(p);
    }
    f->alias = bq_take_alias(p);
    if (bq_take_words(p, "WITH", "OFFSET")) { /* of an array in a column */
        f->offset = bq_take_alias(p);
        if (!f->offset.p)
            f->offset = STR("offset");
    }
    return p->has_failed ? NULL : f;
}

/* The kind of the join that comes next; NULL: none. */
static const char *take_join(struct bq_parser *p)
{
    static const char *const sides[][2] = {
        {"LEFT", " LEFT JOIN "}, {"RIGHT", " RIGHT JOIN "}, {"FULL", " FULL JOIN "}};

    if (bq_take_sign(p, ","))
        return " CROSS JOIN ";
    if (bq_take_words(p, "CROSS", "JOIN"))
        return " CROSS JOIN ";
    if (bq_take_word(p, "JOIN") || bq_take_words(p, "INNER", "JOIN"))
        return " JOIN ";
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (!bq_take_word(p, sides[i][0]))
            continue;
        (void)bq_take_word(p, "OUTER");
        return bq_need_word(p, "JOIN") ? sides[i][1] : NULL;
    }
    return NULL;
}

struct bq_from *bq_parse_joins(struct bq_parser *p)
{
    struct bq_from *left = bq_parse_source(p);
    unsigned n = 0;
    const char *join;

    while (left && (join = take_join(p))) {
        struct bq_from *f = from_new(p, BQ_F_JOIN);
        if (!f)
            return NULL;
        f->join = join;
        f->left = left;
        f->right = bq_parse_source(p);
        if (!f->right)
            return NULL;
        if (bq_take_word(p, "ON"))
            f->on = bq_parse_expr(p);
        else if (bq_take_word(p, "USING"))
            f->with = bq_parse_names(p, NULL);
        if (++n > BQ_MAX_DEPTH)
            return bq_unexpected(p, "fewer tables");
        left = f;
    }
    return p->has_failed ? NULL : left;
}

/* ---- SELECT ---- */

/* What may follow a star. */
static bool parse_star(struct bq_parser *p, struct bq_item *item)
{
    if (bq_take_word(p, "EXCEPT"))
        item->except = bq_parse_names(p, NULL);
    if (!bq_take_word(p, "REPLACE"))
        return !p->has_failed;
    struct bq_expr **end = &item->replace;
    if (!bq_need_sign(p, "("))
        return false;
    do {
        *end = bq_parse_expr(p);
        if (!*end || !bq_need_word(p, "AS"))
            return false;
        (*end)->alias = bq_need_name(p);
        end = &(*end)->next;
    } while (bq_take_sign(p, ","));
    return bq_need_sign(p, ")");
}

static struct bq_item *parse_item(struct bq_parser *p)
{
    struct bq_item *item = arena_new(p->arena, struct bq_item);

    if (!item)
        return bq_no_memory(p);
    if (bq_take_sign(p, "*"))
        return parse_star(p, item) ? item : NULL;
    struct bq_expr *e = bq_parse_expr(p);
    if (!e)
        return NULL;
    if (bq_is_sign(bq_peek(p), ".") && bq_is_sign(bq_peek_at(p, 1), "*")) {
        p->at += 2;
        item->of = e;
        return parse_star(p, item) ? item : NULL;
    }
    item->expr = e;
    item->alias = bq_take_alias(p);
    return p->has_failed ? NULL : item;
}

static struct bq_item *parse_bq_items(struct bq_parser *p)
{
    struct bq_item *first = NULL, **end = &first;

    do {
        if (first && (bq_is_word(bq_peek(p), "FROM") || bq_peek(p)->kind == BQ_END))
            break; /* a comma at the end is allowed */
        *end = parse_item(p);
        if (!*end)
            return NULL;
        end = &(*end)->next;
    } while (bq_take_sign(p, ","));
    return first;
}

static struct bq_select *parse_select(struct bq_parser *p)
{
    struct bq_select *s = arena_new(p->arena, struct bq_select);

    if (!s)
        return bq_no_memory(p);
    s->is_distinct = bq_take_word(p, "DISTINCT");
    (void)bq_take_word(p, "ALL");
    if (bq_take_words(p, "AS", "STRUCT"))
        s->is_struct = true;
    else
        (void)bq_take_words(p, "AS", "VALUE");
    s->items = parse_bq_items(p);
    if (s->items && bq_take_word(p, "FROM"))
        s->from = bq_parse_joins(p);
    if (bq_take_word(p, "WHERE"))
        s->where = bq_parse_expr(p);
    if (bq_take_words(p, "GROUP", "BY"))
        s->groups = bq_parse_list(p);
    if (bq_take_word(p, "HAVING"))
        s->having = bq_parse_expr(p);
    if (bq_take_word(p, "QUALIFY"))
        s->qualify = bq_parse_expr(p);
    return p->has_failed ? NULL : s;
}

static struct bq_body *parse_term(struct bq_parser *p)
{
    struct bq_body *b = p->has_failed ? NULL : arena_new(p->arena, struct bq_body);

    if (!b)
        return p->has_failed ? NULL : bq_no_memory(p);
    if (bq_take_sign(p, "(")) {
        b->query = bq_parse_query(p);
        return b->query && bq_need_sign(p, ")") ? b : NULL;
    }
    if (!bq_need_word(p, "SELECT"))
        return NULL;
    b->select = parse_select(p);
    return b->select ? b : NULL;
}

static const char *take_set_op(struct bq_parser *p)
{
    if (bq_take_words(p, "UNION", "ALL"))
        return " UNION ALL ";
    if (bq_take_words(p, "UNION", "DISTINCT"))
        return " UNION ";
    if (bq_take_words(p, "INTERSECT", "DISTINCT"))
        return " INTERSECT ";
    if (bq_take_words(p, "EXCEPT", "DISTINCT"))
        return " EXCEPT ";
    if (bq_take_word(p, "UNION") || bq_take_word(p, "INTERSECT") || bq_take_word(p, "EXCEPT"))
        (void)bq_unexpected(p, "keyword ALL or keyword DISTINCT");
    return NULL;
}

static struct bq_body *parse_body(struct bq_parser *p)
{
    struct bq_body *left = parse_term(p);
    const char *op;
    unsigned n = 0;

    while (left && (op = take_set_op(p))) {
        struct bq_body *b = arena_new(p->arena, struct bq_body);
        if (!b)
            return bq_no_memory(p);
        *b = (struct bq_body){.op = op, .left = left, .right = parse_term(p)};
        if (!b->right)
            return NULL;
        if (++n >= BQ_MAX_DEPTH)
            return bq_unexpected(p, "fewer queries");
        left = b;
    }
    return p->has_failed ? NULL : left;
}

static struct bq_cte *parse_ctes(struct bq_parser *p)
{
    struct bq_cte *first = NULL, **end = &first;

    do {
        struct bq_cte *c = arena_new(p->arena, struct bq_cte);
        if (!c)
            return bq_no_memory(p);
        c->name = bq_need_name(p);
        if (!bq_need_word(p, "AS") || !bq_need_sign(p, "("))
            return NULL;
        c->query = bq_parse_query(p);
        if (!c->query || !bq_need_sign(p, ")"))
            return NULL;
        *end = c;
        end = &c->next;
    } while (bq_take_sign(p, ","));
    return first;
}

static struct bq_query *parse_query(struct bq_parser *p)
{
    struct bq_query *q = arena_new(p->arena, struct bq_query);

    if (!q)
        return bq_no_memory(p);
    if (bq_take_word(p, "WITH")) {
        q->is_recursive = bq_take_word(p, "RECURSIVE");
        q->ctes = parse_ctes(p);
        if (!q->ctes)
            return NULL;
    }
    q->body = parse_body(p);
    if (q->body && bq_take_words(p, "ORDER", "BY"))
        q->sorts = bq_parse_sorts(p);
    if (bq_take_word(p, "LIMIT"))
        q->limit = bq_parse_expr(p);
    if (bq_take_word(p, "OFFSET"))
        q->offset = bq_parse_expr(p);
    return p->has_failed ? NULL : q;
}

struct bq_query *bq_parse_query(struct bq_parser *p)
{
    if (!bq_enter(p))
        return NULL;
    struct bq_query *q = parse_query(p);
    bq_leave(p);
    return q;
}
