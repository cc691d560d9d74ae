/* SPDX-License-Identifier: MIT */
/* Notion's filters and sorts, over a database with a property of each kind; and its Markdown. */
#include "apps/products/notion/notion.h"
#include "fuzz_lang.h"

#define FIELDS                                                                                     \
    "{\"fields\": {\"properties\": \"p.properties\", \"created_time\": \"p.created\","             \
    "\"last_edited_time\": \"p.edited\", \"created_by\": \"p.by\", \"last_edited_by\": \"p.by\"}}"

static const char *const functions[] = {"notion_id", "notion_plain", NULL};

/* Both use the one database of fuzz_lang_try. */
static const struct fuzz_lang targets[] = {
    {.name = "notion_filter",
     .config = "{\"notion_filter\": " FIELDS "}",
     .schema = "CREATE TABLE page (properties, created, edited, by);",
     .from = "page p",
     .functions = functions},
    {.name = "notion_sort",
     .config = "{\"notion_sort\": " FIELDS "}",
     .schema = "CREATE TABLE page (properties, created, edited, by);",
     .from = "page p",
     .functions = functions},
};

static const char object[] =
    "{\"schema\": {\"T\": {\"id\": \"title\", \"type\": \"title\"},"
    "\"R\": {\"id\": \"a1\", \"type\": \"rich_text\"}, \"N\": {\"id\": \"a2\", \"type\": "
    "\"number\"},"
    "\"S\": {\"id\": \"a3\", \"type\": \"select\", \"select\": {\"options\": [{\"name\": \"x\"}]}},"
    "\"M\": {\"id\": \"a4\", \"type\": \"multi_select\"}, \"D\": {\"id\": \"a5\", \"type\": "
    "\"date\"},"
    "\"P\": {\"id\": \"a6\", \"type\": \"people\"}, \"C\": {\"id\": \"a7\", \"type\": "
    "\"checkbox\"},"
    "\"L\": {\"id\": \"a8\", \"type\": \"relation\"}, \"F\": {\"id\": \"a9\", \"type\": \"files\"},"
    "\"B\": {\"id\": \"b1\", \"type\": \"created_by\"}, \"U\": {\"id\": \"b2\", \"type\": \"url\"},"
    "\"E\": {\"id\": \"b3\", \"type\": \"last_edited_time\"}, \"bad\": {\"id\": \"a'\", \"type\": "
    "\"number\"}, \"Q\": {\"id\": \"b4\", \"type\": \"status\", \"status\": {\"options\": []}}}}";

/* Whatever it is, it is taken or refused; what was taken is taken again. */
static void try_objects(struct arena *a, const struct json *v)
{
    const struct json *own = json_get(json_parse(a, str_of(object), NULL, NULL), "schema");
    const struct json *kept = notion_schema(a, NULL, v), *rich = notion_rich_text(a, v);

    (void)notion_flatten(a, v);
    (void)notion_values(a, own, NULL, v, false);
    const struct json *made = notion_values(a, own, NULL, v, true);
    if (made && !notion_show(a, json_get(made, "schema"), json_get(made, "values"), NULL, v))
        abort();
    if ((rich && !notion_rich_text(a, rich)) || (kept && !notion_schema(a, kept, v)))
        abort();
}

/* Whatever it is, it becomes blocks that can be stored. */
static void try_markdown(struct str text)
{
    struct arena a auto_arena;

    arena_init(&a, 256UL << 20);
    const struct json *blocks = notion_markdown(&a, text);
    if (!blocks || (blocks->n <= 1000 && !notion_flatten(&a, blocks)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct arena a auto_arena;
    struct str text = str_n((const char *)data, size);

    arena_init(&a, 64 << 20);
    if (size > 16 << 10)
        return 0;
    if (str_is_utf8(text))
        try_markdown(text);
    const struct json *v = json_parse(&a, text, NULL, NULL);
    if (!v)
        return 0;
    try_objects(&a, v);
    (void)buf_add_lit(&b, "{\"filter\": ");
    (void)buf_add_str(&b, text);
    (void)buf_add_lit(&b, ", \"sorts\": ");
    (void)buf_add_str(&b, text);
    (void)buf_add_lit(&b, ", ");
    (void)buf_add_str(&b, str_of(object + 1));
    if (buf_ok(&b)) {
        fuzz_lang_try(&targets[0], (const uint8_t *)b.p, b.len);
        fuzz_lang_try(&targets[1], (const uint8_t *)b.p, b.len);
    }
    return 0;
}
