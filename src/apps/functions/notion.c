/* SPDX-License-Identifier: MIT */
/* Notion's objects for scripts; JSON in and out, NULL for what the API would not take. */
#include "apps/products/notion/notion.h"
#include "apps/functions/functions.h"

#define ARENA_MAX (8 * (size_t)APPDB_RESULT_MAX)

static struct json *arg(struct arena *a, sqlite3_value *v)
{
    return sqlite3_value_type(v) == SQLITE_NULL ? NULL : json_parse(a, fn_text(v), NULL, NULL);
}

static void give_notion_json(sqlite3_context *x, const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    if (!v)
        return;
    (void)json_write(&b, v, JSON_COMPACT);
    fn_give_json(x, &b);
}

/* notion_id(text): with its dashes and in small letters; NULL when it is no UUID. */
static void fn_id(sqlite3_context *x, int n, sqlite3_value **v)
{
    char id[NOTION_ID_MAX];

    (void)n;
    if (notion_id(fn_text(v[0]), id))
        sqlite3_result_text(x, id, -1, SQLITE_TRANSIENT);
}

/* notion_rich_text(array or text) */
static void fn_rich_text(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, ARENA_MAX);
    const struct json *in = arg(&a, v[0]);
    give_notion_json(x, json_is(in, JSON_ARRAY) ? notion_rich_text(&a, in) : NULL);
}

/* notion_text(text): as rich text of one piece. */
static void fn_rich(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, ARENA_MAX);
    give_notion_json(x, notion_text(&a, fn_text(v[0])));
}

/* notion_plain(rich text): what is read of it. */
static void fn_plain(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    (void)n;
    arena_init(&a, ARENA_MAX);
    notion_plain(&b, arg(&a, v[0]));
    fn_give(x, &b);
}

enum { MARKDOWN_UNITS = 16 }; /* of work for a byte */

/* notion_markdown(text): an array of blocks. */
static void fn_markdown(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, ARENA_MAX);
    /* Every character may begin a mark, whose end is looked for; every line becomes a block. */
    if (fn_spend(x, MARKDOWN_UNITS * (int64_t)sqlite3_value_bytes(v[0])))
        give_notion_json(x, notion_markdown(&a, fn_text(v[0])));
}

/* notion_blocks(array): flat, [{"n", "parent", "type", "data"}]. */
static void fn_blocks(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, ARENA_MAX);
    const struct json *in = arg(&a, v[0]);
    give_notion_json(x, in ? notion_flatten(&a, in) : NULL);
}

/* notion_schema(old or NULL, changes) */
static void fn_schema(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, ARENA_MAX);
    const struct json *old = arg(&a, v[0]), *in = arg(&a, v[1]);
    give_notion_json(x, notion_schema(&a, old, in));
}

/* notion_values(schema, old or NULL, changes, is_loose): {"values", "schema"}. */
static void fn_values(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, ARENA_MAX);
    const struct json *schema = arg(&a, v[0]), *old = arg(&a, v[1]), *in = arg(&a, v[2]);
    give_notion_json(x, notion_values(&a, schema, old, in, sqlite3_value_int(v[3]) != 0));
}

/* notion_fill(schema, object of changes): {"schema", "values": of each}, plain values taken; what
 * one adds to the schema, the next ones find. {"bad": its key} when one of them does not fit. */
static void fn_fill(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, ARENA_MAX);
    const struct json *schema = arg(&a, v[0]), *in = arg(&a, v[1]);
    struct json *all = json_new_object(&a), *out = json_new_object(&a);
    for (size_t i = 0; all && json_is(in, JSON_OBJECT) && i < in->n; i++) {
        struct str key = in->members[i].key;
        const struct json *made = notion_values(&a, schema, NULL, &in->members[i].value, true);
        if (!made || json_set_str(&a, all, key, json_get(made, "values")) < 0) {
            give_notion_json(x, notion_set(&a, out, "bad", json_new_str(&a, key)));
            return;
        }
        schema = json_get(made, "schema");
    }
    give_notion_json(x, notion_set(&a, notion_set(&a, out, "schema", schema), "values", all));
}

/* notion_show(schema, values, about, only or NULL): the properties of a page. */
static void fn_notion_show(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena a auto_arena;

    (void)n;
    arena_init(&a, ARENA_MAX);
    const struct json *schema = arg(&a, v[0]), *values = arg(&a, v[1]), *about = arg(&a, v[2]);
    give_notion_json(x, notion_show(&a, schema, values, about, arg(&a, v[3])));
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_notion[] = {
    {"notion_blocks", 1, PURE | SQLITE_SUBTYPE, fn_blocks},
    {"notion_fill", 2, PURE | SQLITE_SUBTYPE, fn_fill},
    {"notion_id", 1, PURE, fn_id},
    {"notion_markdown", 1, PURE | SQLITE_SUBTYPE, fn_markdown},
    {"notion_plain", 1, PURE, fn_plain},
    {"notion_rich_text", 1, PURE | SQLITE_SUBTYPE, fn_rich_text},
    {"notion_schema", 2, PURE | SQLITE_SUBTYPE, fn_schema},
    {"notion_show", 4, PURE | SQLITE_SUBTYPE, fn_notion_show},
    {"notion_text", 1, PURE | SQLITE_SUBTYPE, fn_rich},
    {"notion_values", 4, PURE | SQLITE_SUBTYPE, fn_values},
    {NULL, 0, 0, NULL},
};
