/* SPDX-License-Identifier: MIT */
/* Between the files of this folder: a spreadsheet in memory, and what requests are made with. A
 * request returns 0 or what sheets_fail() gives. */
#pragma once

#include "apps/formula/edit.h"
#include "apps/formula/formula.h"
#include "apps/products/sheets/update.h"
#include "base/cleanup.h"

struct cell {
    uint32_t row, col;
    struct str formula, format; /* formula.p is NULL: none */
    struct formula_value value;
};

/* The ends do not belong to it; A1_OPEN: the sheet's own. */
struct range {
    uint32_t row0, col0, row1, col1;
};

struct feature {
    struct str kind;
    struct range range;
    const struct json *body;
};

struct sheet {
    int64_t id;
    struct str title;
    uint32_t rows, cols;
    /* By row, then by column, but for those at the end that a request has put there. */
    struct cell *cells;
    size_t n_cells, n_sorted, cap_cells;
    struct feature *features;
    size_t n_features, cap_features;
};

struct sheets {
    struct arena *arena;
    struct str title;
    struct sheet *sheets[SHEETS_MAX_SHEETS];
    size_t n_sheets;
    const struct json *numbers;
    size_t n_numbers;   /* that were taken */
    struct json *reply; /* of the request under way */
    size_t request;     /* its number */
    uint64_t n_steps;   /* of all requests */
    const char *name;   /* its name */
    struct err *err;
};

typedef int (*request_fn)(struct sheets *b, const struct json *body);
struct request {
    const char *name; /* NULL ends a table */
    request_fn fn;
};
extern const struct request requests_of_sheets[], requests_of_lines[], requests_of_cells[],
    requests_of_ranges[], requests_of_features[];

/* ---- update.c ---- */
/* "Invalid requests[0].NAME: …" */
int sheets_fail(struct sheets *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int sheets_no_memory(struct sheets *b);
/* False: all requests together look at too many cells and features; b failed. */
bool sheets_charge(struct sheets *b, uint64_t n);

/* ---- book.c ---- */
int sheets_read(struct sheets *b, const struct json *state);
void sheets_write(struct jw *w, const struct sheets *b);
/* By its number in JSON, which is 0 when it is not there; NULL: b failed. */
struct sheet *sheets_sheet(struct sheets *b, const struct json *id);
size_t sheets_index(const struct sheets *b, const struct sheet *s);
/* The cell there, which is made when there is none; NULL: no memory. Between two calls of
 * sheets_compact() once for each place. */
struct cell *sheets_put(struct sheets *b, struct sheet *s, uint32_t row, uint32_t col);
void sheets_clear(struct cell *c);
/* Forgets cells that sheets_clear() cleared, and puts all in order; also done behind a request. */
void sheets_compact(struct sheet *s);
/* One that has not been one before; NULL: b failed. */
struct feature *sheets_add_feature(struct sheets *b, struct sheet *s, struct feature f);
void sheets_drop_feature(struct sheet *s, size_t i);
/* Changes all formulas of all sheets. */
int sheets_edit(struct sheets *b, const struct formula_edit *edit);
int sheets_edit_cell(struct sheets *b, struct cell *c, struct str own,
                     const struct formula_edit *edit);
/* False: the sheets would be larger than they may be; b failed. */
bool sheets_may_grow(struct sheets *b, uint64_t n_cells);
/* What is entered as if it was typed. */
int sheets_type(struct sheets *b, struct cell *c, struct str text);

/* ---- grid.c: places in JSON ---- */
/* A GridRange within its sheet; NULL: b failed. */
struct sheet *grid_range(struct sheets *b, const struct json *json, struct range *ret);
/* R with the sheet's own ends. */
struct range grid_close(const struct sheet *s, struct range r);
/* A GridCoordinate. */
struct sheet *grid_place(struct sheets *b, const struct json *json, uint32_t *row, uint32_t *col);
/* A DimensionRange. */
struct lines {
    struct sheet *sheet;
    bool is_rows;
    uint32_t from, to; /* to does not belong to it */
};
int grid_lines(struct sheets *b, const struct json *json, struct lines *ret);
bool grid_has(const struct range *r, uint32_t row, uint32_t col);
bool grid_is_within(const struct range *inner, const struct range *outer);
bool grid_meets(const struct range *a, const struct range *b);

/* ---- mask.c: "title,gridProperties(rowCount,columnCount)" ---- */
struct mask {
    struct str *paths; /* with dots */
    size_t n, cap;
    bool is_all; /* "*" */
};
int mask_read(struct sheets *b, const struct json *fields, struct mask *ret);
/* PATH, or what it is in, is one. */
bool mask_has(const struct mask *m, const char *path);
/* The member of V at PATH, or NULL. */
const struct json *mask_value(const struct json *v, struct str path);

/* ---- on_cells.c ---- */
/* The members of CellData that MASK names, besides the value, for all of R. */
int cells_dress(struct sheets *b, struct sheet *s, const struct range *r, const struct mask *mask,
                const struct json *data);
