/* SPDX-License-Identifier: MIT */
/* SOQL, the query language of Salesforce: a whole query becomes one expression, whose value is the
 * answer as JSON, {"totalSize", "done", "records"}, records without what they have no value for.
 *
 * The app has all objects in one table: record (id, object, place, fields), fields being JSON. What
 * objects there are, says app.json /languages/soql/objects: NAME: {"fields": {NAME: its type, text,
 * long (cannot be compared), number, bool, date or time}, "parents": {NAME: the object that the
 * field NAMEId names}, "children": {NAME: [object, its field]}}.
 *
 * Not there: TYPEOF, ROLLUP and CUBE, geolocation, currencies, bind variables. */
#include "apps/lang/soql.h"

#include <errno.h>

enum { MAX_ITEMS = 60, MAX_GROUPS = 8, MAX_QUERIES = 2, MAX_OFFSET = 2000 };

/* What stands behind SELECT. */
struct soql_item {
    enum { ITEM_FIELD, ITEM_CHILD, ITEM_ALL } kind;
    struct soql_operand operand;
    struct str alias;
    size_t alias_at;
    struct soql_token child; /* the SELECT of a query in parentheses */
};

struct soql_query {
    struct soql_item items[MAX_ITEMS];
    size_t n;
    struct soql_scope scope;
    const struct soql_scope *outer; /* of a query in the list of another one */
    bool is_grouped, is_count;
};

/* An item, and how many names of its path lead to where it is shown. */
struct soql_place {
    size_t item;
    unsigned level;
};

static int emit_query(struct soql *q, const struct soql_scope *outer);

/* ---- the list ---- */

/* Skips a query in parentheses, which is read when its place in the answer has come. */
static int skip_child(struct soql *q, struct soql_item *it)
{
    int depth = 1, r;

    *it = (struct soql_item){.kind = ITEM_CHILD, .child = q->token};
    while (depth > 0) {
        depth += soql_is(q, "(") ? 1 : soql_is(q, ")") ? -1 : 0;
        if (q->token.kind == SOQL_END)
            return soql_unexpected(q);
        if ((r = soql_next(q)) < 0)
            return r;
    }
    return 0;
}

static int read_soql_item(struct soql *q, struct soql_item *it)
{
    int r;

    if ((r = soql_take(q, "(")) != 0)
        return r < 0 ? r : soql_is(q, "SELECT") ? skip_child(q, it) : soql_unexpected(q);
    if (soql_is(q, "FIELDS")) {
        *it = (struct soql_item){.kind = ITEM_ALL};
        if ((r = soql_next(q)) < 0 || (r = soql_need(q, "(")) < 0)
            return r;
        if (!soql_is(q, "ALL") && !soql_is(q, "STANDARD"))
            return soql_unexpected(q);
        return (r = soql_next(q)) < 0 ? r : soql_need(q, ")");
    }
    *it = (struct soql_item){.kind = ITEM_FIELD};
    if ((r = soql_operand(q, &it->operand)) < 0)
        return r;
    if (q->token.kind == SOQL_WORD && !soql_is(q, "FROM")) {
        it->alias = q->token.text;
        it->alias_at = q->token.at;
        return soql_next(q);
    }
    return 0;
}

static int read_items(struct soql *q, struct soql_query *u)
{
    int r = soql_need(q, "SELECT");

    while (r >= 0 && u->n < MAX_ITEMS) {
        struct soql_item *it = &u->items[u->n++];
        if ((r = read_soql_item(q, it)) < 0)
            return r;
        if (it->kind == ITEM_FIELD && soql_is_aggregate(it->operand.fn))
            u->is_grouped = true;
        if ((r = soql_take(q, ",")) == 0)
            break;
    }
    u->is_count = u->n == 1 && str_iis(u->items[0].operand.fn, "COUNT") &&
                  u->items[0].operand.path.len == 0 && !u->items[0].alias.p;
    return r < 0 ? r : soql_need(q, "FROM");
}

/* Of a missing comma, too: "SELECT Id Name". */
static int refuse_aliases(struct soql *q, const struct soql_query *u)
{
    for (size_t i = 0; !u->is_grouped && i < u->n; i++) {
        if (u->items[i].alias.p)
            return soql_fail(q, u->items[i].alias_at, "MALFORMED_QUERY",
                             "only aggregate expressions use field aliasing");
    }
    return 0;
}

static bool is_clause(const struct soql *q)
{
    static const char *const words[] = {"WHERE", "WITH",   "GROUP", "HAVING", "ORDER",
                                        "LIMIT", "OFFSET", "FOR",   "ALL",    "USING"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (soql_is(q, words[i]))
            return true;
    }
    return q->token.kind != SOQL_WORD;
}

/* The object, and the name that the query has for it. */
static int read_from_clause(struct soql *q, struct soql_query *u)
{
    struct soql_token name = q->token;
    const struct json_member *child = NULL;
    int r;

    if (name.kind != SOQL_WORD)
        return soql_unexpected(q);
    if (u->outer) {
        child = soql_member(u->outer->object, "children", name.text);
        if (!child)
            return soql_fail(q, name.at, "INVALID_TYPE",
                             "Didn't understand relationship '" STR_FMT
                             "' in FROM part of query call.",
                             STR_ARG(name.text));
        name.text = json_str(json_at(&child->value, 0), STR(""));
    }
    u->scope.object = soql_object(q, name.text, &u->scope.name);
    if (!u->scope.object)
        return soql_fail(q, name.at, "INVALID_TYPE",
                         "sObject type '" STR_FMT "' is not supported. If you are attempting to "
                         "use a custom object, be sure to append the '__c' after the entity name.",
                         STR_ARG(name.text));
    u->scope.row = q->n_rows++;
    if ((r = soql_next(q)) < 0 || (!soql_is(q, "AS") && is_clause(q)))
        return r;
    if ((r = soql_take(q, "AS")) < 0)
        return r;
    u->scope.alias = q->token.text;
    return q->token.kind == SOQL_WORD ? soql_next(q) : soql_unexpected(q);
}

/* ---- records ---- */

/* Whether A and B have the same first LEVEL names. */
static bool is_same_way(struct str a, struct str b, unsigned level)
{
    for (unsigned i = 0; i < level; i++) {
        if (!a.p || !b.p || !str_ieq(str_cut(&a, '.'), str_cut(&b, '.')))
            return false;
    }
    return true;
}

static struct str path_name_at(struct str path, unsigned level)
{
    struct str name = str_cut(&path, '.');

    for (; level > 0 && path.p; level--)
        name = str_cut(&path, '.');
    return level > 0 ? STR("") : name;
}

static bool has_level(struct str path, unsigned level)
{
    return path_name_at(path, level).len > 0;
}

/* Whether the item I is one of the way of the first LEVEL names of the item FIRST, and none before
 * it has the same next name. */
static bool is_first_of(const struct soql_query *u, size_t i, size_t first, unsigned level)
{
    struct str path = soql_own_path(&u->scope, u->items[i].operand.path);
    struct str way = soql_own_path(&u->scope, u->items[first].operand.path);

    if (u->items[i].kind != ITEM_FIELD || !has_level(path, level) || !is_same_way(path, way, level))
        return false;
    for (size_t k = first; k < i; k++) {
        struct str other = soql_own_path(&u->scope, u->items[k].operand.path);
        if (u->items[k].kind == ITEM_FIELD && is_same_way(other, path, level + 1))
            return false;
    }
    return true;
}

static int emit_members(struct soql *q, const struct soql_query *u, const struct soql_scope *s,
                        struct soql_place at);

/* The member that the item AT is, or that it leads to. */
static int emit_soql_member(struct soql *q, const struct soql_query *u, const struct soql_scope *s,
                            struct soql_place at)
{
    const struct soql_item *it = &u->items[at.item];
    struct str path = soql_own_path(&u->scope, it->operand.path);
    bool is_parent = has_level(path, at.level + 1);
    const struct json_member *m =
        soql_member(s->object, is_parent ? "parents" : "fields", path_name_at(path, at.level));
    int r;

    /* What is wrong with it, the value says. */
    if (!m || at.level > 3)
        return (r = soql_emit(q, &u->scope, &it->operand, NULL)) < 0
                   ? r
                   : soql_fail(q, it->operand.at, "MALFORMED_QUERY",
                               "too many relationships in a path");
    lang_sql(&q->out, "'" STR_FMT "', ", STR_ARG(m->key));
    if (!is_parent) {
        lang_sql(&q->out, "json(r%u.fields -> '" STR_FMT "')", s->row, STR_ARG(m->key));
        return 0;
    }
    struct soql_scope up = {.row = q->n_rows++};
    up.object = soql_object(q, json_str(&m->value, STR("")), &up.name);
    lang_sql(&q->out, "(SELECT json_object(");
    if ((r = emit_members(q, u, &up, (struct soql_place){at.item, at.level + 1})) < 0)
        return r;
    lang_sql(&q->out, ") FROM record r%u WHERE r%u.id = r%u.fields ->> '" STR_FMT "Id')", up.row,
             up.row, s->row, STR_ARG(m->key));
    return 0;
}

/* The members that the items have from AT on; each parent once. */
static int emit_members(struct soql *q, const struct soql_query *u, const struct soql_scope *s,
                        struct soql_place at)
{
    const char *comma = "";
    int r = 0;

    for (size_t i = at.item; r == 0 && i < u->n; i++) {
        if (!is_first_of(u, i, at.item, at.level))
            continue;
        lang_sql(&q->out, "%s", comma);
        comma = ", ";
        r = emit_soql_member(q, u, s, (struct soql_place){i, at.level});
    }
    return r;
}

/* Reads on to what stands behind the FROM of the query that is about to begin. */
static int read_to_from(struct soql *q)
{
    int depth = 0, r;

    do {
        if ((r = soql_next(q)) < 0)
            return r;
        depth += soql_is(q, "(") ? 1 : soql_is(q, ")") ? -1 : 0;
    } while (q->token.kind != SOQL_END && (depth > 0 || !soql_is(q, "FROM")));
    return q->token.kind == SOQL_END ? soql_unexpected(q) : soql_next(q);
}

/* The queries in the list. */
static int emit_children(struct soql *q, const struct soql_query *u)
{
    struct soql_token token = q->token;
    size_t at = q->at;
    int r;

    for (size_t i = 0; i < u->n; i++) {
        if (u->items[i].kind != ITEM_CHILD)
            continue;
        q->at = u->items[i].child.at;
        if ((r = read_to_from(q)) < 0)
            return r;
        const struct json_member *m = soql_member(u->scope.object, "children", q->token.text);
        lang_sql(&q->out, ", '" STR_FMT "', ", STR_ARG(m ? m->key : STR("")));
        q->at = u->items[i].child.at;
        if ((r = soql_next(q)) < 0 || (r = emit_query(q, &u->scope)) < 0)
            return r;
        if (!soql_is(q, ")"))
            return soql_unexpected(q);
    }
    q->token = token;
    q->at = at;
    return 0;
}

/* Whether the words GROUP BY come before the end of this query. */
static bool has_groups(const struct soql *q)
{
    struct soql ahead = *q;
    int depth = 0;

    while (depth >= 0 && ahead.token.kind != SOQL_END) {
        depth += soql_is(&ahead, "(") ? 1 : soql_is(&ahead, ")") ? -1 : 0;
        if (depth == 0 && soql_is(&ahead, "GROUP"))
            return true;
        struct err unused = ERR_INIT;
        ahead.err = &unused;
        if (soql_next(&ahead) < 0)
            return false;
    }
    return false;
}

/* A row of a query with GROUP BY or with functions over all rows. */
static int emit_soql_group(struct soql *q, const struct soql_query *u)
{
    unsigned n_expr = 0;
    int r;

    for (size_t i = 0; i < u->n; i++) {
        const struct soql_item *it = &u->items[i];
        struct str path = it->operand.path, last = path;
        if (it->kind != ITEM_FIELD)
            return soql_fail(q, it->child.at, "MALFORMED_QUERY", "Grouped query cannot use this");
        if (it->operand.fn.len == 0 && !has_groups(q))
            return soql_fail(q, it->operand.at, "MALFORMED_QUERY",
                             "Field must be grouped or aggregated: " STR_FMT, STR_ARG(path));
        while (path.p)
            last = str_cut(&path, '.');
        const struct json_member *own = soql_member(u->scope.object, "fields", last);
        lang_sql(&q->out, i > 0 ? ", " : "");
        if (it->alias.p)
            lang_text(&q->out, it->alias);
        else if (it->operand.fn.len > 0)
            lang_sql(&q->out, "'expr%u'", n_expr++);
        else
            lang_text(&q->out, own ? own->key : last);
        lang_sql(&q->out, ", ");
        if ((r = soql_emit(q, &u->scope, &it->operand, NULL)) < 0)
            return r;
    }
    return 0;
}

static int emit_record(struct soql *q, const struct soql_query *u)
{
    bool has_all = false, has_fields = false;
    int r = 0;

    lang_sql(&q->out, "json_patch('{}', ");
    for (size_t i = 0; i < u->n; i++) {
        has_all |= u->items[i].kind == ITEM_ALL;
        has_fields |= u->items[i].kind == ITEM_FIELD;
    }
    if (has_all) {
        lang_sql(&q->out, "r%u.fields)", u->scope.row);
        return 0;
    }
    lang_sql(&q->out, "json_object(");
    size_t first = 0;
    while (first + 1 < u->n && u->items[first].kind != ITEM_FIELD)
        first++;
    if (u->is_grouped)
        r = emit_soql_group(q, u);
    else if (has_fields)
        r = emit_members(q, u, &u->scope, (struct soql_place){first, 0});
    else
        lang_sql(&q->out, "'', NULL");
    if (r == 0 && !u->is_grouped)
        r = emit_children(q, u);
    lang_sql(&q->out, "))");
    return r;
}

/* ---- clauses ---- */

static int read_soql_groups(struct soql *q, const struct soql_query *u)
{
    struct soql_operand groups[MAX_GROUPS];
    struct soql_scope rows = u->scope;
    size_t n = 0;
    int r;

    rows.is_grouped = false;
    lang_sql(&q->out, " GROUP BY ");
    do {
        if (n == MAX_GROUPS)
            return soql_unexpected(q);
        lang_sql(&q->out, n > 0 ? ", " : "");
        if ((r = soql_operand(q, &groups[n])) < 0 ||
            (r = soql_emit(q, &rows, &groups[n], NULL)) < 0)
            return r;
        n++;
    } while ((r = soql_take(q, ",")) > 0);
    for (size_t i = 0; r == 0 && i < u->n; i++) {
        const struct soql_operand *o = &u->items[i].operand;
        bool is_there = soql_is_aggregate(o->fn);
        for (size_t k = 0; k < n; k++)
            is_there |= str_ieq(groups[k].path, o->path) && str_ieq(groups[k].fn, o->fn);
        if (!is_there)
            return soql_fail(q, o->at, "MALFORMED_QUERY",
                             "Field must be grouped or aggregated: " STR_FMT, STR_ARG(o->path));
    }
    return r;
}

/* LIMIT and OFFSET, which have a number each. */
static int read_row_count(struct soql *q, const char *word, int64_t *ret)
{
    int r = soql_take(q, word);

    if (r <= 0)
        return r;
    if (q->token.kind != SOQL_LITERAL || str_to_i64(q->token.text, ret) < 0 || *ret < 0)
        return soql_unexpected(q);
    if (str_is(str_of(word), "OFFSET") && *ret > MAX_OFFSET)
        return soql_fail(q, q->token.at, "NUMBER_OUTSIDE_VALID_RANGE",
                         "Maximum SOQL offset allowed is %d", MAX_OFFSET);
    return soql_next(q);
}

/* What changes nothing here. */
static int skip_rest(struct soql *q)
{
    int r;

    if ((r = soql_take(q, "FOR")) < 0)
        return r;
    if (r > 0)
        return soql_is(q, "VIEW") || soql_is(q, "REFERENCE") || soql_is(q, "UPDATE")
                   ? soql_next(q)
                   : soql_unexpected(q);
    if ((r = soql_take(q, "ALL")) <= 0)
        return r;
    return soql_need(q, "ROWS");
}

static int read_where(struct soql *q, const struct soql_query *u)
{
    struct soql_scope rows = u->scope;
    int r = soql_take(q, "WHERE");

    rows.is_grouped = false;
    if (r > 0) {
        lang_sql(&q->out, " AND ");
        r = soql_condition(q, &rows);
    }
    if (r < 0 || (r = soql_take(q, "WITH")) <= 0)
        return r;
    return soql_is(q, "SECURITY_ENFORCED") || soql_is(q, "USER_MODE") || soql_is(q, "SYSTEM_MODE")
               ? soql_next(q)
               : soql_unexpected(q);
}

static int read_having(struct soql *q, const struct soql_query *u)
{
    int r = soql_take(q, "GROUP");

    if (r > 0)
        r = (r = soql_need(q, "BY")) < 0 ? r : read_soql_groups(q, u);
    if (r < 0 || (!u->is_grouped && soql_is(q, "HAVING")))
        return r < 0 ? r : soql_unexpected(q);
    if ((r = soql_take(q, "HAVING")) <= 0)
        return r;
    lang_sql(&q->out, " HAVING ");
    return soql_condition(q, &u->scope);
}

static int read_soql_order(struct soql *q, const struct soql_query *u)
{
    int r = soql_take(q, "ORDER");

    if (r > 0) {
        if ((r = soql_need(q, "BY")) < 0 || (r = soql_order(q, &u->scope)) < 0)
            return r;
        if (!u->is_grouped)
            lang_sql(&q->out, ", r%u.place", u->scope.row);
    } else if (!u->is_grouped) {
        lang_sql(&q->out, " ORDER BY r%u.place", u->scope.row);
    }
    return r;
}

/* All behind FROM and its object. */
static int read_clauses(struct soql *q, const struct soql_query *u)
{
    int64_t limit = -1, offset = 0;
    int r;

    if ((r = read_where(q, u)) < 0 || (r = read_having(q, u)) < 0 ||
        (r = read_soql_order(q, u)) < 0)
        return r;
    if ((r = read_row_count(q, "LIMIT", &limit)) < 0 ||
        (r = read_row_count(q, "OFFSET", &offset)) < 0)
        return r;
    if (limit >= 0 || offset > 0) {
        lang_sql(&q->out, " LIMIT ");
        lang_int(&q->out, limit);
        lang_sql(&q->out, " OFFSET ");
        lang_int(&q->out, offset);
    }
    return skip_rest(q);
}

static void emit_from(struct soql *q, const struct soql_query *u)
{
    unsigned row = u->scope.row;

    lang_sql(&q->out, " FROM record r%u WHERE r%u.object = '" STR_FMT "'", row, row,
             STR_ARG(u->scope.name));
}

/* OUTER: the row whose children it is about, or NULL. */
static int emit_query(struct soql *q, const struct soql_scope *outer)
{
    struct soql_query *u = arena_alloc(q->out.arena, sizeof *u);
    struct str list;
    int r;

    if (!u)
        return soql_fail(q, q->token.at, "MALFORMED_QUERY", "out of memory");
    *u = (struct soql_query){.outer = outer};
    q->stack += SOQL_STACK_QUERY;
    if ((r = read_items(q, u)) < 0)
        return r;
    list = q->token.text;
    if ((r = read_from_clause(q, u)) < 0)
        return r;
    u->is_grouped |= has_groups(q);
    u->scope.is_grouped = u->is_grouped;
    if ((r = refuse_aliases(q, u)) < 0)
        return r;
    if (outer && u->is_grouped)
        return soql_unexpected(q);
    if (u->is_count && !has_groups(q))
        lang_sql(&q->out, "(SELECT json_object('totalSize', ifnull(max(n), 0), 'done',"
                          " json('true'), 'records',"
                          " json_array()) FROM (SELECT count(*) AS n");
    else
        lang_sql(&q->out,
                 "(SELECT %sjson_object('totalSize', count(*), 'done', json('true'), 'records',"
                 " json_group_array(json(j)))%s FROM (SELECT ",
                 outer ? "iif(count(*) = 0, NULL, " : "", outer ? ")" : "");
    if (!(u->is_count && !has_groups(q))) {
        if ((r = emit_record(q, u)) < 0)
            return r;
        lang_sql(&q->out, " AS j");
    }
    emit_from(q, u);
    if (outer) {
        const struct json_member *m = soql_member(outer->object, "children", list);
        lang_sql(&q->out, " AND r%u.fields ->> '" STR_FMT "' = r%u.id", u->scope.row,
                 STR_ARG(json_str(json_at(m ? &m->value : NULL, 1), STR(""))), outer->row);
    }
    r = read_clauses(q, u);
    lang_sql(&q->out, "))");
    q->stack -= SOQL_STACK_QUERY;
    return r;
}

int soql_values(struct soql *q)
{
    struct soql_query u = {.n = 0};
    int r;

    if (++q->n_within > MAX_QUERIES)
        return soql_fail(q, q->token.at, "MALFORMED_QUERY", "the query is nested too deeply");
    q->stack += SOQL_STACK_VALUES;
    if ((r = read_items(q, &u)) < 0)
        return r;
    if (u.n != 1 || u.is_grouped || u.items[0].kind != ITEM_FIELD)
        return soql_unexpected(q);
    if ((r = read_from_clause(q, &u)) < 0)
        return r;
    lang_sql(&q->out, "SELECT ");
    if ((r = soql_emit(q, &u.scope, &u.items[0].operand, NULL)) < 0)
        return r;
    emit_from(q, &u);
    if ((r = read_where(q, &u)) < 0)
        return r;
    q->n_within--;
    q->stack -= SOQL_STACK_VALUES;
    return 0;
}

int lang_soql(const struct json *config, struct str text, struct arena *a,
              struct appdb_predicate *ret, struct err *e)
{
    struct soql q = {.objects = json_get(config, "objects"), .text = text, .err = e};
    int r;

    if (!json_is(q.objects, JSON_OBJECT))
        return err_set(e, -EOPNOTSUPP, "app.json: /languages/soql/objects is missing");
    lang_begin(&q.out, a);
    if ((r = soql_next(&q)) >= 0 && (r = emit_query(&q, NULL)) >= 0 && q.token.kind != SOQL_END)
        r = soql_unexpected(&q);
    if (r < 0) {
        lang_drop(&q.out);
        return r;
    }
    return lang_end(&q.out, ret, e);
}
