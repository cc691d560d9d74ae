/* SPDX-License-Identifier: MIT */
/* Office files: a ZIP archive of parts, their content types, and relationships between them
 * (ECMA-376 part 2). A part that was not changed is saved as it was, byte for byte.
 *
 * Parts have absolute names ("/xl/workbook.xml"). Types of relationships are given by their last
 * segment ("worksheet", "styles", "image"), content types in full. Everything lives in the arena.
 */
#pragma once

#include "office/xml.h"
#include "office/zip.h"

struct part {
    struct str name;
    struct zip_entry *entry;
    struct xml_doc *doc;  /* when it was asked for */
    struct xml_doc *rels; /* its relationships, likewise; NULL: none, or not looked at */
    bool is_changed;      /* DOC is to be saved */
    bool are_rels_changed, are_rels_read;
};

struct package {
    struct arena *arena;
    struct zip zip;
    struct part root;    /* stands for the package in relationships; has no entry */
    struct part **parts; /* those that were asked for or made */
    size_t n_parts, cap;
    struct xml_doc *types;
    bool are_types_changed;
    int error; /* of something that could not be made; package_save() reports it */
};

/* One relationship as it is written. */
struct rel {
    struct str id, type, target; /* target as written */
    bool is_external;
    struct xml *node;
};

/* ---- opening and saving ---- */

/* An empty package: no parts, no relationships. */
int package_new(struct package *p, struct arena *a, struct err *e);
/* BYTES must stay as long as the arena. 0 or -errno with E: -EINVAL when it is no office file. */
int package_read(struct package *p, struct arena *a, struct str bytes, struct err *e);
/* Reads the file at PATH, of at most PACKAGE_MAX bytes. */
int package_open(struct package *p, struct arena *a, const char *path, struct err *e);
/* Appends the package with all changes. 0, or the first error of all that was done to it. */
int package_write(struct package *p, struct buf *out, struct err *e);
/* The same to PATH: a reader sees the old file or the new one, never a part. */
int package_save(struct package *p, const char *path, struct err *e);

enum { PACKAGE_MAX = 64 << 20 }; /* bytes of a file */

/* ---- parts ---- */

/* NULL when there is none. */
struct part *package_part(struct package *p, struct str name);
/* The part that the package itself points to: "officeDocument", "core-properties", … */
struct part *package_main(struct package *p);
/* A new part, or the one of that name with new content. The content type is written down. */
struct part *package_add(struct package *p, struct str name, const char *type, struct str bytes);
/* The first name of the kind "/ppt/slides/slide%u.xml" that is free, counted from 1. */
struct str package_free_name(struct package *p, const char *before, const char *behind);
/* Removes the part, its relationships and its content type; what points to it is the caller's. */
void package_remove(struct package *p, struct part *part);
struct str package_type(struct package *p, const struct part *part);
void package_set_type(struct package *p, const struct part *part, const char *type);

/* The part as XML, parsed once; NULL with E. */
struct xml_doc *part_xml(struct package *p, struct part *part, struct err *e);
/* The same, and it will be saved. */
struct xml_doc *part_edit(struct package *p, struct part *part, struct err *e);
int part_bytes(struct package *p, struct part *part, struct str *ret, struct err *e);
void part_set_bytes(struct package *p, struct part *part, struct str bytes);

/* ---- relationships; PART NULL: of the package ---- */

/* One after another, of TYPE or (NULL) of any: struct rel r = {0}; while (rel_next(…)) */
bool rel_next(struct package *p, struct part *part, const char *type, struct rel *r);
bool rel_get(struct package *p, struct part *part, struct str id, struct rel *ret);
/* The part that it points to; NULL when it is external or there is none. */
struct part *rel_part(struct package *p, struct part *part, const struct rel *r);
struct part *rel_part_by_id(struct package *p, struct part *part, struct str id);
struct part *rel_part_by_type(struct package *p, struct part *part, const char *type);
/* The id ("rId7") of a relationship to TO, made when there is none of that type. */
struct str rel_add(struct package *p, struct part *part, const char *type, const struct part *to);
struct str rel_add_external(struct package *p, struct part *part, const char *type, struct str to);
void rel_remove(struct package *p, struct part *part, struct str id);
