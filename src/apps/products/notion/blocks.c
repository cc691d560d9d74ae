/* SPDX-License-Identifier: MIT */
/* Blocks as the API takes them, made flat and whole. */
#include "apps/products/notion/notion.h"
#include "base/cleanup.h"

/* What a type of block has. */
enum {
    HAS_TEXT = 1 << 0,     /* rich_text and color */
    HAS_CHILDREN = 1 << 1, /* may have blocks in it */
    HAS_CAPTION = 1 << 2,
    NEEDS_URL = 1 << 3,
    NEEDS_FILE = 1 << 4, /* external or file */
    NEEDS_CELLS = 1 << 5,
    HAS_CHECK = 1 << 6,
    HAS_TOGGLE = 1 << 7,
    HAS_LANGUAGE = 1 << 8,
    NEEDS_EXPRESSION = 1 << 9,
};

static const struct block_type {
    const char *name;
    unsigned has;
} types[] = {
    {"audio", NEEDS_FILE | HAS_CAPTION},
    {"bookmark", NEEDS_URL | HAS_CAPTION},
    {"breadcrumb", 0},
    {"bulleted_list_item", HAS_TEXT | HAS_CHILDREN},
    {"callout", HAS_TEXT | HAS_CHILDREN},
    {"code", HAS_TEXT | HAS_CAPTION | HAS_LANGUAGE},
    {"column", HAS_CHILDREN},
    {"column_list", HAS_CHILDREN},
    {"divider", 0},
    {"embed", NEEDS_URL | HAS_CAPTION},
    {"equation", NEEDS_EXPRESSION},
    {"file", NEEDS_FILE | HAS_CAPTION},
    {"heading_1", HAS_TEXT | HAS_CHILDREN | HAS_TOGGLE},
    {"heading_2", HAS_TEXT | HAS_CHILDREN | HAS_TOGGLE},
    {"heading_3", HAS_TEXT | HAS_CHILDREN | HAS_TOGGLE},
    {"image", NEEDS_FILE | HAS_CAPTION},
    {"link_to_page", 0},
    {"numbered_list_item", HAS_TEXT | HAS_CHILDREN},
    {"paragraph", HAS_TEXT | HAS_CHILDREN},
    {"pdf", NEEDS_FILE | HAS_CAPTION},
    {"quote", HAS_TEXT | HAS_CHILDREN},
    {"synced_block", HAS_CHILDREN},
    {"table", HAS_CHILDREN},
    {"table_of_contents", 0},
    {"table_row", NEEDS_CELLS},
    {"to_do", HAS_TEXT | HAS_CHILDREN | HAS_CHECK},
    {"toggle", HAS_TEXT | HAS_CHILDREN},
    {"video", NEEDS_FILE | HAS_CAPTION},
};

static const struct block_type *find_block_type(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (str_is(name, types[i].name))
            return &types[i];
    }
    return NULL;
}

/* ---- one block ---- */

/* DATA[KEY] when it is of that type, else FALLBACK (copied when it is missing). */
static struct json *keep_or(struct arena *a, struct json *data, const char *key, enum json_type t,
                            const struct json *fallback)
{
    const struct json *there = json_get(data, key);

    if (there && !json_is(there, JSON_NULL))
        return there->type == t ? data : NULL;
    return notion_set(a, data, key, fallback);
}

static struct json *complete_rich(struct arena *a, struct json *data, const char *key)
{
    const struct json *rich = json_get(data, key);

    return notion_set(a, data, key, rich ? notion_rich_text(a, rich) : json_new_array(a));
}

static struct json *complete_cells(struct arena *a, struct json *data)
{
    struct json *cells = json_get(data, "cells");

    if (!json_is(cells, JSON_ARRAY))
        return NULL;
    for (size_t i = 0; i < cells->n; i++) {
        const struct json *cell = notion_rich_text(a, json_at(cells, i));
        if (!cell)
            return NULL;
        cells->items[i] = *cell;
    }
    return data;
}

static struct json *complete_text(struct arena *a, struct json *data)
{
    data = complete_rich(a, data, "rich_text");
    return keep_or(a, data, "color", JSON_STRING, json_new_str(a, STR("default")));
}

static struct json *complete_caption(struct arena *a, struct json *data)
{
    return complete_rich(a, data, "caption");
}

static struct json *complete_check(struct arena *a, struct json *data)
{
    return keep_or(a, data, "checked", JSON_BOOL, json_new_bool(a, false));
}

static struct json *complete_toggle(struct arena *a, struct json *data)
{
    return keep_or(a, data, "is_toggleable", JSON_BOOL, json_new_bool(a, false));
}

static struct json *complete_language(struct arena *a, struct json *data)
{
    return keep_or(a, data, "language", JSON_STRING, json_new_str(a, STR("plain text")));
}

static struct json *complete_url(struct arena *a, struct json *data)
{
    (void)a;
    return json_is(json_get(data, "url"), JSON_STRING) ? data : NULL;
}

static struct json *complete_expression(struct arena *a, struct json *data)
{
    (void)a;
    return json_is(json_get(data, "expression"), JSON_STRING) ? data : NULL;
}

static struct json *complete_file(struct arena *a, struct json *data)
{
    const char *kind = json_get(data, "external") ? "external" : "file";
    const struct json *url = json_get(json_get(data, kind), "url");

    return json_is(url, JSON_STRING) ? notion_set(a, data, "type", json_new_str(a, str_of(kind)))
                                     : NULL;
}

/* DATA with all that the type has, or NULL. */
static struct json *complete_block(struct arena *a, const struct block_type *t, struct json *data)
{
    static const struct {
        unsigned has;
        struct json *(*complete)(struct arena *a, struct json *data);
    } steps[] = {
        {HAS_TEXT, complete_text},         {HAS_CAPTION, complete_caption},
        {HAS_CHECK, complete_check},       {HAS_TOGGLE, complete_toggle},
        {HAS_LANGUAGE, complete_language}, {NEEDS_CELLS, complete_cells},
        {NEEDS_URL, complete_url},         {NEEDS_EXPRESSION, complete_expression},
        {NEEDS_FILE, complete_file},
    };

    for (size_t i = 0; data && i < ARRAY_LEN(steps); i++) {
        if (t->has & steps[i].has)
            data = steps[i].complete(a, data);
    }
    return data;
}

/* The data of a block of the seed format. */
static struct json *data_of_content(struct arena *a, const struct block_type *t, struct str content)
{
    struct json *data = json_new_object(a);
    struct json *text;

    if (t->has & HAS_CHECK) {
        bool is_done = str_starts(content, STR("[x] ")), is_open = str_starts(content, STR("[ ] "));
        content = is_done || is_open ? str_skip(content, 4) : content;
        data = notion_set(a, data, "checked", json_new_bool(a, is_done));
    }
    text = json_new_str(a, content);
    if (t->has & HAS_TEXT)
        return notion_set(a, data, "rich_text", text);
    if (t->has & NEEDS_URL)
        return notion_set(a, data, "url", text);
    if (t->has & NEEDS_EXPRESSION)
        return notion_set(a, data, "expression", text);
    if (t->has & NEEDS_FILE)
        return notion_set(a, data, "external", notion_set(a, json_new_object(a), "url", text));
    return data;
}

/* The type of the block: what it says, or the member that is named like one. */
static const struct block_type *block_type_of(const struct json *block)
{
    struct str name = json_str(json_get(block, "type"), STR_NULL);

    if (name.p)
        return find_block_type(name);
    name = json_str(json_get(block, "block_type"), STR_NULL);
    if (name.p)
        return find_block_type(name);
    for (size_t i = 0; json_is(block, JSON_OBJECT) && i < block->n; i++) {
        const struct block_type *t = find_block_type(block->members[i].key);
        if (t)
            return t;
    }
    return NULL;
}

static struct json *block_data_of(struct arena *a, const struct json *block,
                                  const struct block_type *t)
{
    const struct json *content = json_get(block, "content");
    const struct json *data = json_get(block, t->name);

    if (json_get(block, "block_type"))
        return data_of_content(a, t, json_str(content, STR("")));
    if (!data)
        return json_new_object(a);
    return json_is(data, JSON_OBJECT) ? json_copy(a, data) : NULL;
}

/* ---- all of them ---- */

static int flatten(struct arena *a, const struct json *blocks, int64_t parent, unsigned depth,
                   struct json *out);

static int flatten_one(struct arena *a, const struct json *block, int64_t parent, unsigned depth,
                       struct json *out)
{
    const struct block_type *t = block_type_of(block);
    struct json *data = t ? block_data_of(a, block, t) : NULL;
    struct json *children = json_get(data, "children"), *flat = json_new_object(a);
    int64_t n = out->n;

    if (!data)
        return -1;
    if (!children)
        children = json_get(block, "children");
    if (children && !(t->has & HAS_CHILDREN))
        return -1;
    (void)json_del(data, STR("children"));
    data = complete_block(a, t, data);
    flat = notion_set(a, flat, "n", json_new_int(a, n));
    flat = notion_set(a, flat, "parent", json_new_int(a, parent));
    flat = notion_set(a, flat, "type", json_new_str(a, str_of(t->name)));
    flat = notion_set(a, flat, "data", data);
    if (!flat || json_push(a, out, flat) < 0)
        return -1;
    return children ? flatten(a, children, n, depth + 1, out) : 0;
}

static int flatten(struct arena *a, const struct json *blocks, int64_t parent, unsigned depth,
                   struct json *out)
{
    if (!json_is(blocks, JSON_ARRAY) || blocks->n > 10 * NOTION_LIST_MAX ||
        depth > NOTION_DEPTH_MAX)
        return -1;
    for (size_t i = 0; i < blocks->n; i++) {
        if (flatten_one(a, json_at(blocks, i), parent, depth, out) < 0)
            return -1;
    }
    return 0;
}

struct json *notion_flatten(struct arena *a, const struct json *children)
{
    struct json *out = json_new_array(a);

    return out && flatten(a, children, -1, 0, out) == 0 ? out : NULL;
}
