/* SPDX-License-Identifier: MIT */
/* Between the files of xml.h. */
#pragma once

#include "office/xml.h"

/* ---- xml_names.c ---- */

/* Prefixes that are bound while a document is parsed; the innermost last. */
struct xml_scope {
    struct {
        struct str prefix; /* empty: the default */
        struct str ours;   /* our prefix for the namespace; .p NULL: not in the table */
    } bound[512];
    size_t n;
    unsigned generation; /* changes with what is bound */
};

/* Binds PREFIX: 0 or -E2BIG. */
int xml_bind(struct xml_scope *s, struct str prefix, struct str uri);
void xml_unbind(struct xml_scope *s, size_t n); /* back to N bindings */

/* The name WRITTEN of an element or attribute in what is parsed; NULL when the document failed. */
const struct xml_name *xml_name_read(struct xml_doc *d, struct xml_scope *s, struct str written,
                                     bool is_attr);
/* The name with our prefix for a new element in PARENT, or a new attribute of it. When its prefix
 * is not bound there, *MISSING is the namespace to declare, else NULL. */
const struct xml_name *xml_name_new(struct xml_doc *d, const struct xml *parent, struct str key,
                                    bool is_attr, const char **missing);

/* ---- xml.c ---- */

/* Marks the document failed; returns NULL. */
void *xml_fail(struct xml_doc *d, int error);
/* A node in no tree. */
struct xml *xml_node(struct xml_doc *d, enum xml_kind kind);
/* An element in no tree that will be put into PARENT, by its name with our prefix. */
struct xml *xml_element(struct xml_doc *d, const struct xml *parent, struct str key);
/* Sets the attribute with that name of ours; the value is not copied. */
void xml_attr_set(struct xml_doc *d, struct xml *n, struct str key, struct str value);
