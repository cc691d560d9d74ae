/* SPDX-License-Identifier: MIT */
/* What is on a slide: shapes, by their number in the tree. Lengths are English metric units. */
#pragma once

#include "local/powerpoint/pp.h"

struct box {
    int64_t x, y, cx, cy;
};

/* ---- looking ---- */

size_t shape_count(const struct slide *s);
struct xml *shape_at(const struct slide *s, size_t i); /* or NULL */
struct xml *shape_next(const struct xml *shape);
struct str shape_name(const struct xml *shape);
/* "TEXT_BOX (17)", as the original names it; "None" for what has no name there. */
const char *shape_type(const struct xml *shape);
/* p:spPr, or what a group has in its place; NULL for frames. */
struct xml *shape_properties(const struct xml *shape);
/* Its place and size, or that of the layout's or the master's placeholder. */
bool shape_box(struct deck *d, const struct slide *s, const struct xml *shape, struct box *ret);

/* ---- placeholders ---- */

struct xml *shape_ph(const struct xml *shape); /* p:ph, or NULL */
int64_t shape_ph_idx(const struct xml *shape);
const char *shape_ph_type(const struct xml *shape); /* "CENTER_TITLE (3)" */
struct xml *shape_title(const struct slide *s);
struct xml *shape_placeholder(const struct slide *s, int64_t idx);
/* The next placeholder in the order of idx, behind that of AFTER (NULL: the first). */
struct xml *shape_ph_by_idx(const struct slide *s, const struct xml *after);
/* Puts the placeholders of a layout on a new slide; not date, footer and number. */
void shape_clone_placeholders(const struct slide *layout, struct slide *s);

/* ---- adding; NULL when the slide is full or memory ran out ---- */

struct shape_new {
    const char *name; /* "Rectangle": gets a number */
    struct box box;
    const char *geometry; /* "rect" */
    bool is_text_box;
};

struct xml *shape_add(struct slide *s, const struct shape_new *n);
/* IMAGE is the relationship of the picture. */
struct xml *shape_add_picture(struct slide *s, const struct shape_new *n, struct str image);
/* GRAPHIC is what a:graphicData holds, for URI. */
struct xml *shape_add_frame(struct slide *s, const struct shape_new *n, const char *uri,
                            const char *graphic);
/* From one point to another one; N's box is ignored. */
struct xml *shape_add_connector(struct slide *s, const struct shape_new *n, const int64_t from[2],
                                const int64_t to[2]);

/* ---- looks ---- */

/* The children of p:spPr in the schema's order, for xml_need(). */
extern const char *const shape_order[];
/* A color as the fill of NODE, placed by ORDER. */
struct xml *shape_fill(struct xml_doc *doc, struct xml *node, const char *const order[],
                       const char *rgb);
/* From one color to another one; ANGLE in degrees. */
struct xml *shape_gradient(struct xml_doc *doc, struct xml *node, const char *const order[],
                           const char *const rgb[2], int angle);
/* The outline: RGB NULL leaves the color, EMU 0 the width. */
void shape_line(struct xml_doc *doc, struct xml *properties, const char *rgb, int64_t emu);
