/* SPDX-License-Identifier: MIT */
/* XML documents as trees that keep what they do not know: prefixes, the order of attributes,
 * unknown elements, white space, comments.
 *
 * Names. Office files may bind any prefix to a namespace, so a tree is asked with our own prefixes:
 * "w:p", "a:t", "r:id", "xml:space" (table in xml_names.c; the strict variants of the namespaces
 * are the same ones). Spreadsheets, relationships, content types and properties have none:
 * "sheetData", "Relationship". An element of a namespace that is not in the table has the name it
 * is written with. New elements and attributes get the prefix that the document binds, which is
 * declared where there is none.
 *
 * Failures stick: functions that make something return NULL and mark the document failed, all
 * accept NULL nodes, and xml_write() reports it. No DTD, no entities but the five and numbers.
 * Everything lives in the document's arena. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    XML_DEPTH_MAX = 256,
    XML_NODES_MAX = 2 << 20,
    XML_ATTRS_MAX = 256,    /* of one element */
    XML_NAMES_MAX = 1 << 14 /* different ones in a document */
};

enum xml_kind { XML_ELEMENT, XML_TEXT, XML_CDATA, XML_COMMENT, XML_PI, XML_TOP };

struct xml_name {
    struct str written, key; /* as in the text; with our prefix */
    /* For xml_names.c. */
    struct xml_name *next;
    unsigned generation;
    bool is_attr;
};

struct xml_attr {
    const struct xml_name *name;
    struct str value; /* decoded */
};

struct xml {
    enum xml_kind kind;
    uint16_t n_attrs, attrs_cap;
    const struct xml_name *name; /* of elements */
    struct xml_attr *attrs;
    struct str text; /* of all others: decoded text; comments and instructions as they are */
    struct xml *parent, *first, *last, *next, *prev;
};

struct xml_doc {
    struct arena *arena;
    struct xml top;   /* holds what is before and behind the root, too */
    struct xml *root; /* the element */
    size_t n_nodes, n_names;
    struct xml_name *names[256]; /* by hash */
    int error;                   /* 0, -ENOMEM, -E2BIG */
};

/* ---- whole documents ---- */

/* Parses TEXT (UTF-8, or UTF-16 with a byte order mark), which must stay as long as A. NULL with E:
 * -EINVAL malformed ("line 3: …"), -E2BIG over a limit, -ENOMEM. */
struct xml_doc *xml_parse(struct arena *a, struct str text, struct err *e);
/* Appends the document as UTF-8. 0, the document's error or that of OUT. */
int xml_write(const struct xml_doc *d, struct buf *out);
/* Appends one node with all in it, as part of its document. */
int xml_write_node(const struct xml *n, struct buf *out);

/* ---- looking; NULL nodes have nothing ---- */

/* NAME NULL: any element. */
bool xml_is(const struct xml *n, const char *name);
struct xml *xml_child(const struct xml *n, const char *name); /* the first one */
struct xml *xml_last(const struct xml *n, const char *name);  /* the last child of that name */
struct xml *xml_next(const struct xml *n, const char *name);  /* the next sibling of that name */
struct xml *xml_nth(const struct xml *n, const char *name, size_t i);
size_t xml_count(const struct xml *n, const char *name);
/* Down through first children: "w:pPr/w:rPr/w:b". */
struct xml *xml_path(const struct xml *n, const char *path);
/* The nearest one above N (not N itself). */
struct xml *xml_above(const struct xml *n, const char *name);
/* All elements of that name below TOP, in document order: for (n = NULL; (n = xml_walk(…));) */
struct xml *xml_walk(const struct xml *top, struct xml *n, const char *name);
/* The first element of that name below TOP whose attribute has that value. */
struct xml *xml_find(const struct xml *top, const char *name, const char *attr, struct str value);

/* The value; .p is NULL without the attribute. */
struct str xml_get(const struct xml *n, const char *attr);
int64_t xml_get_int(const struct xml *n, const char *attr, int64_t fallback);
/* "1", "true", "on" and their opposites. */
bool xml_get_bool(const struct xml *n, const char *attr, bool fallback);
/* All text below N, joined; of a single piece not copied. */
struct str xml_text(struct xml_doc *d, const struct xml *n);

/* ---- changing ---- */

/* A new element: last in PARENT, or before BEFORE (a child; NULL: last). */
struct xml *xml_add(struct xml_doc *d, struct xml *parent, const char *name);
struct xml *xml_add_before(struct xml_doc *d, struct xml *parent, const char *name,
                           struct xml *before);
/* The child of that name, made when there is none; ORDER (ends with NULL, or is NULL: last) lists
 * the children in the schema's order, so that the new one gets its place among them. */
struct xml *xml_need(struct xml_doc *d, struct xml *parent, const char *name,
                     const char *const order[]);
/* Always a new one, at its place: behind those of the same name. */
struct xml *xml_place(struct xml_doc *d, struct xml *parent, const char *name,
                      const char *const order[]);
/* Adds what FRAGMENT holds, written with our prefixes; returns the first. The text must stay as
 * long as the document. For literals of the program: a malformed one fails the document. */
struct xml *xml_add_text(struct xml_doc *d, struct xml *parent, struct xml *before,
                         const char *fragment);

/* Values are copied. Setting keeps an attribute's place, new ones come last. */
void xml_set(struct xml_doc *d, struct xml *n, const char *attr, struct str value);
void xml_setf(struct xml_doc *d, struct xml *n, const char *attr, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void xml_unset(struct xml *n, const char *attr);
/* Replaces everything in N by text. Characters that XML cannot hold become U+FFFD. */
void xml_set_text(struct xml_doc *d, struct xml *n, struct str text);

void xml_remove(struct xml *n); /* from its parent */
void xml_remove_all(struct xml *n, const char *name);
void xml_clear(struct xml *n); /* removes all in it, not the attributes */
/* Puts N, which is in no tree, into PARENT. */
void xml_insert(struct xml *parent, struct xml *n, struct xml *before);
/* A deep copy of N, perhaps of another document, that is in no tree yet. */
struct xml *xml_copy(struct xml_doc *d, const struct xml *n);
