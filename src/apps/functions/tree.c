/* SPDX-License-Identifier: MIT */
/* JSON for scripts beyond SQLite's own: trees of flat rows, and text with line breaks. */
#include <errno.h>

#include "apps/functions/functions.h"
#include "base/map.h"

/* Each level is an object in an array, and the writer has 63. */
enum { TREE_MAX = 20000, DEPTH_MAX = 60 };

/* One row of the array. */
struct tree_node {
    struct tree_node *parent, *first_child, *last_child, *next;
    const struct json *value;
};

struct node_tree {
    struct map by_id;
    struct tree_node *nodes;
    size_t n;
    struct str id, parent, children; /* names of members */
    bool drops_ids;
};

static struct tree_node *find_tree_row(const struct node_tree *t, const struct json *row,
                                       struct str member)
{
    struct str id = json_str(json_get_str(row, member), STR_NULL);

    return id.p ? map_get(&t->by_id, id) : NULL;
}

static void adopt_child(struct tree_node *parent, struct tree_node *child)
{
    child->parent = parent;
    if (parent->last_child)
        parent->last_child->next = child;
    else
        parent->first_child = child;
    parent->last_child = child;
}

/* Every node below its parent, but for one that would close a circle. */
static void link_nodes(const struct node_tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct tree_node *child = &t->nodes[i];
        struct tree_node *parent = find_tree_row(t, child->value, t->parent), *up = parent;
        while (up && up != child)
            up = up->parent;
        if (parent && !up)
            adopt_child(parent, child);
    }
}

/* Members of the row that do not go out: the array is rewritten where it has something. */
static bool is_tree_dropped(const struct node_tree *t, const struct tree_node *node,
                            struct str name)
{
    return str_eq(name, t->parent) || (t->drops_ids && str_eq(name, t->id)) ||
           (node->first_child && str_eq(name, t->children));
}

static void write_tree_node(const struct node_tree *t, const struct tree_node *node, struct jw *w,
                            int depth)
{
    jw_object(w);
    for (size_t i = 0; i < node->value->n; i++) {
        if (is_tree_dropped(t, node, node->value->members[i].key))
            continue;
        jw_key_str(w, node->value->members[i].key);
        jw_value(w, &node->value->members[i].value);
    }
    if (node->first_child && depth < DEPTH_MAX) {
        jw_key_str(w, t->children);
        jw_array(w);
        for (const struct tree_node *c = node->first_child; c; c = c->next)
            write_tree_node(t, c, w, depth + 2);
        jw_end(w);
    }
    jw_end(w);
}

static int read_rows(struct node_tree *t, const struct json *rows, struct arena *a)
{
    t->nodes = arena_zalloc(a, rows->n + 1, sizeof *t->nodes);
    if (!t->nodes)
        return -ENOMEM;
    for (size_t i = 0; i < rows->n && i < TREE_MAX; i++) {
        const struct json *row = json_at(rows, i);
        struct tree_node *node = &t->nodes[t->n];
        struct str id = json_str(json_get_str(row, t->id), STR_NULL);
        if (!json_is(row, JSON_OBJECT))
            continue;
        node->value = row;
        t->n++;
        if (id.p && map_put(&t->by_id, id, node, NULL) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int nest(struct node_tree *t, const struct json *rows, struct arena *a, struct buf *out)
{
    struct jw w = jw_to(out);
    int r = read_rows(t, rows, a);

    if (r < 0)
        return r;
    link_nodes(t);
    jw_array(&w);
    for (size_t i = 0; i < t->n; i++) {
        if (!t->nodes[i].parent)
            write_tree_node(t, &t->nodes[i], &w, 1);
    }
    jw_end(&w);
    return 0;
}

/* json_nest(rows, id, parent, children): the array of objects ROWS as trees. A row whose member
 * PARENT is the member ID of another one goes to the array CHILDREN of that; PARENT is left out,
 * with a fifth argument that is true ID as well. The order of the rows is kept. */
static void fn_json_nest(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct node_tree t = {.id = fn_text(v[1]), .parent = fn_text(v[2]), .children = fn_text(v[3])};
    struct err e = ERR_INIT;

    t.drops_ids = n > 4 && sqlite3_value_int(v[4]);
    arena_init(&arena, 8 * (size_t)APPDB_RESULT_MAX);
    map_init(&t.by_id, TREE_MAX);
    const struct json *rows = json_parse(&arena, fn_text(v[0]), NULL, &e);
    if (!json_is(rows, JSON_ARRAY))
        sqlite3_result_error(x, e.code ? err_text(&e) : "json_nest: not an array", -1);
    else if (nest(&t, rows, &arena, &b) < 0)
        sqlite3_result_error_nomem(x);
    else
        fn_give_json(x, &b);
    map_done(&t.by_id);
}

/* json_indent(text): with line breaks, two spaces deep. */
static void fn_json_indent(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct err e = ERR_INIT;

    (void)n;
    arena_init(&arena, 8 * (size_t)APPDB_RESULT_MAX);
    const struct json *in = json_parse(&arena, fn_text(v[0]), NULL, &e);
    if (!in) {
        sqlite3_result_error(x, err_text(&e), -1);
        return;
    }
    (void)json_write(&b, in, JSON_PRETTY);
    fn_give(x, &b);
}

const struct sql_function functions_tree[] = {
    {"json_indent", 1, SQLITE_DETERMINISTIC, fn_json_indent},
    {"json_nest", 4, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_json_nest},
    {"json_nest", 5, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_json_nest},
    {NULL, 0, 0, NULL},
};
