/* SPDX-License-Identifier: MIT */
/* Charts on slides: a part with the picture's description, and in it a workbook with the same
 * numbers, which is what PowerPoint shows when somebody edits the data. */
#pragma once

#include "local/powerpoint/shape.h"

enum { CHART_SERIES_MAX = 255, CHART_POINTS_MAX = 100000 };

struct chart_series {
    struct str name;
    const struct json *values; /* an array of numbers; null is no value */
};

struct chart_data {
    const struct json *categories; /* an array of texts */
    struct chart_series *series;
    size_t n_series;
};

struct chart_look {
    bool has_legend, has_labels;
    const char *legend;                 /* "r" */
    struct str title, x_title, y_title; /* .len 0: none */
    const char (*colors)[7];            /* of series, in turn; NULL: as the theme has them */
    size_t n_colors;
};

/* The names of the kinds, divided by ", ". */
struct str chart_kinds(struct arena *a);
bool chart_is_kind(struct str kind);

/* The chart of a shape, or NULL when it is none. */
struct part *chart_of(struct deck *d, const struct slide *s, const struct xml *shape);
struct xml *chart_add(struct deck *d, struct slide *s, const struct box *box, struct str kind,
                      const struct chart_data *data);
void chart_format(struct deck *d, struct part *chart, const struct chart_look *look);
/* Replaces the numbers; series that were there keep their looks. 0 or -errno with E. */
int chart_update(struct deck *d, struct part *chart, const struct chart_data *data, struct err *e);

/* chart_book.c: the workbook as bytes in A; .p NULL when memory ran out. */
struct str chart_book(struct arena *a, const struct chart_data *data);
/* "A", "B", … "AA" for 0, 1, … 26. */
struct str chart_column(struct arena *a, size_t i);
