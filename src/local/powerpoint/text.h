/* SPDX-License-Identifier: MIT */
/* Texts of shapes and of cells of tables: paragraphs of runs. A line feed divides paragraphs, a
 * vertical tab breaks a line within one. */
#pragma once

#include "local/powerpoint/pp.h"

/* p:txBody of a shape or a:txBody of a cell; NULL when it has none. */
struct xml *text_body(const struct xml *shape);
/* The same, made where a shape can have text; NULL when it cannot. */
struct xml *text_need(struct xml_doc *doc, struct xml *shape);

/* All of it, in A. */
struct str text_get(struct arena *a, const struct xml *body);
struct str text_strip(struct str s);
/* Replaces everything; the first paragraph keeps its properties. */
void text_set(struct xml_doc *doc, struct xml *body, struct str text);
/* Leaves one paragraph without text. */
struct xml *text_clear(struct xml_doc *doc, struct xml *body);
struct xml *text_add_paragraph(struct xml_doc *doc, struct xml *body, struct str text);
struct xml *text_add_run(struct xml_doc *doc, struct xml *paragraph, struct str text);

/* How text looks; 0, NULL and TEXT_KEEP leave things as they are. */
enum { TEXT_NO, TEXT_YES, TEXT_KEEP };
struct text_format {
    double points;
    struct str font;
    int bold, italic, underline;
    const char *rgb;
    const char *align, *anchor; /* "ctr" */
};
#define TEXT_FORMAT_KEEP                                                                           \
    {                                                                                              \
        .bold = TEXT_KEEP, .italic = TEXT_KEEP, .underline = TEXT_KEEP                             \
    }

void text_format(struct xml_doc *doc, struct xml *body, const struct text_format *f);
void text_format_run(struct xml_doc *doc, struct xml *run, const struct text_format *f);
/* 100: as large as the font says. */
void text_spacing(struct xml_doc *doc, struct xml *body, int percent);
/* "left" as "l", "center" as "ctr", …; NULL for other words. */
const char *text_align(struct str word);
const char *text_anchor(struct str word);

/* Links of runs. URL empty: removes it. */
struct str text_link(struct deck *d, struct part *part, const struct xml *run);
void text_set_link(struct deck *d, const struct slide *s, struct xml *run, struct str url);
