/* SPDX-License-Identifier: MIT */
/* Formulas of spreadsheets: compiled once, calculated as often as needed. Where products differ,
 * this is how Google Sheets does it.
 *
 * This part knows nothing of how cells are stored: values are asked for by callbacks. What belongs
 * to a whole workbook (order of calculation, circles, results of several cells) is in
 * apps/formula/book.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "apps/formula/a1.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    FORMULA_MAX_TEXT = 50000,  /* bytes of a formula or of a text in a cell */
    FORMULA_MAX_DEPTH = 64,    /* of what is nested in a formula */
    FORMULA_MAX_CHAIN = 256,   /* operators one behind the other */
    FORMULA_MAX_ARGS = 255,    /* of a function */
    FORMULA_MAX_ITEMS = 100000 /* of an array */
};

enum formula_type {
    FORMULA_BLANK,
    FORMULA_NUMBER,
    FORMULA_TEXT,
    FORMULA_BOOL,
    FORMULA_ERROR,
    FORMULA_ARRAY,
    FORMULA_AREA, /* cells, not read yet; never the result of a formula */
    FORMULA_TYPE_COUNT
};

enum formula_error {
    FORMULA_ERROR_NULL,
    FORMULA_ERROR_DIV0,
    FORMULA_ERROR_VALUE,
    FORMULA_ERROR_REF, /* also: circular */
    FORMULA_ERROR_NAME,
    FORMULA_ERROR_NUM,
    FORMULA_ERROR_NA,
    FORMULA_ERROR_PARSE, /* "#ERROR!": the formula cannot be read */
    FORMULA_ERROR_COUNT
};

/* How a number wants to be shown when its cell has no format of its own. */
enum formula_look {
    FORMULA_LOOK_PLAIN,
    FORMULA_LOOK_PERCENT,
    FORMULA_LOOK_CURRENCY,
    FORMULA_LOOK_DATE,
    FORMULA_LOOK_TIME,
    FORMULA_LOOK_DATETIME,
    FORMULA_LOOK_COUNT
};

struct formula_area {
    int sheet;
    struct a1_range range;
};

struct formula_value {
    enum formula_type type : 8;
    enum formula_look look : 8; /* of a number: dates are numbers of days since 1899-12-30 */
    union {
        double number;
        struct str text;
        bool flag;
        enum formula_error error;
        const struct formula_array *array;
        const struct formula_area *area;
    };
};

struct formula_array {
    uint32_t rows, cols;
    struct formula_value *items; /* row by row */
};

struct formula_place {
    int sheet;
    uint32_t row, col;
};

/* The size of a sheet, and of the part that is not blank. */
struct formula_extent {
    uint32_t rows, cols, used_rows, used_cols;
};

/* Where values come from. */
struct formula_env {
    /* The number of the sheet of that name, without regard to case; -1: none. */
    int (*sheet)(void *ctx, struct str name);
    void (*extent)(void *ctx, int sheet, struct formula_extent *ret);
    /* The value of a cell: no array, no area. */
    void (*cell)(void *ctx, struct formula_place at, struct formula_value *ret);
    double (*random)(void *ctx); /* from 0 to below 1 */
    void *ctx;
    double now; /* the time of the calculation, as a date */

    struct arena *arena; /* for texts and arrays of values */
    uint64_t steps;      /* that are left; each part of a formula and each cell read is one */
    bool is_over;        /* they did not suffice, or the arena did not: the value is none */
};

struct formula;

/* Compiles TEXT, with its '=' or without, for a cell of SHEET into A. Other sheets are looked up in
 * ENV. NULL with E: -EINVAL "Formula parse error.", -E2BIG over a limit above, -ENOMEM. */
const struct formula *formula_compile(struct arena *a, struct str text,
                                      const struct formula_env *env, int sheet, struct err *e);
/* What the formula reads, as far as its text says it; how many. */
size_t formula_areas(const struct formula *f, const struct formula_area **ret);
/* It reads what its text does not say (the time, random numbers, INDIRECT): always to be calculated
 * again. */
bool formula_is_volatile(const struct formula *f);

/* The value of F in the cell AT: one of the first five types, or an array that wants the cells
 * beside and below it too. */
void formula_eval(const struct formula *f, struct formula_env *env, struct formula_place at,
                  struct formula_value *ret);

/* "#DIV/0!" */
const char *formula_error_text(enum formula_error error);
/* FORMULA_ERROR_COUNT when it is the text of none. */
enum formula_error formula_error_of(struct str text);

/* What a person who types TEXT into a cell means by it: a number (also as money, percents, a date
 * or a time), TRUE, or text. FORMAT is a pattern for formula_show, or "". Text behind an
 * apostrophe stays text; formulas are not looked at. */
struct formula_entry {
    struct formula_value value;
    const char *format;
};
void formula_enter(struct str text, struct formula_entry *ret);

/* Appends V as its cell shows it, by PATTERN ("#,##0.00", "yyyy-mm-dd"; "" as it looks). */
void formula_show(struct buf *out, const struct formula_value *v, struct str pattern);
