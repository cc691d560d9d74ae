/* SPDX-License-Identifier: MIT */
/* Notion's objects: rich text, blocks, the properties of databases and their values on pages. They
 * come in as the API takes them and are kept as it shows them. Everything is made in the arena;
 * NULL: the API would not take it (or there is no memory, which looks the same). */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

enum {
    NOTION_TEXT_MAX = 2000,     /* characters of one piece of rich text */
    NOTION_LIST_MAX = 100,      /* pieces of rich text, blocks in a list, options at once */
    NOTION_DEPTH_MAX = 8,       /* of blocks in blocks */
    NOTION_PROPERTIES_MAX = 500 /* of a database */
};

/* ---- ids ---- */

#define NOTION_ID_MAX 37
/* IN with its dashes and in small letters; false when it is no UUID. */
bool notion_id(struct str in, char ret[NOTION_ID_MAX]);

/* ---- rich text ---- */

/* A piece of text; the styles may be NULL. */
struct notion_style {
    bool is_bold, is_italic, is_struck, is_code;
    struct str link; /* p NULL: none */
};
struct json *notion_piece(struct arena *a, struct str text, const struct notion_style *style);
/* An array with one piece, none for "". */
struct json *notion_text(struct arena *a, struct str text);
/* IN: an array as the API takes it, or a text. */
struct json *notion_rich_text(struct arena *a, const struct json *in);
/* Appends what is read of it. */
void notion_plain(struct buf *out, const struct json *rich_text);

/* ---- blocks ---- */

/* Markdown as an array of blocks, nested by "children". */
struct json *notion_markdown(struct arena *a, struct str text);
/* Blocks as a flat array of {"n", "parent", "type", "data"}, parents before their children; the
 * parent is -1 on the outside. A block {"block_type", "content"} of the seed format is taken, too.
 */
struct json *notion_flatten(struct arena *a, const struct json *children);

/* ---- properties ---- */

/* The properties of a database by their names: OLD (may be NULL) changed by IN. */
struct json *notion_schema(struct arena *a, const struct json *old, const struct json *in);
/* {"values": by the ids of the properties, "schema"}: OLD (may be NULL) changed by IN, whose keys
 * are names or ids. Missing options of selects are created. IS_LOOSE: plain values are
 * taken. */
struct json *notion_values(struct arena *a, const struct json *schema, const struct json *old,
                           const struct json *in, bool is_loose);
/* All properties by their names, as a page shows them. ABOUT: {"created_time", "last_edited_time",
 * "created_by", "last_edited_by"}; ONLY: an array of ids, or NULL. */
struct json *notion_show(struct arena *a, const struct json *schema, const struct json *values,
                         const struct json *about, const struct json *only);

/* ---- for these files ---- */

/* Sets a member; a NULL object or value gives NULL, else OBJECT. */
struct json *notion_set(struct arena *a, struct json *object, const char *key,
                        const struct json *value);
