/* SPDX-License-Identifier: MIT */
/* Between airtable.c and airtable_functions.c: types, and the table of functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Of an expression, as far as the formula shows. */
enum formula_type {
    FORMULA_TEXT,
    FORMULA_NUMBER,
    FORMULA_BOOL,
    FORMULA_DATE, /* text that SQLite's date functions take, or NULL */
    FORMULA_ANY,  /* only known when it is calculated */
    FORMULA_TYPE_COUNT
};

/* A function is SQL with places for its arguments:
 *
 *     $1 … $9   the argument of that number, in parentheses where it needs them
 *     $@        all of them, with JOIN between
 *     $#        how many there are
 *     $U        what the unit of time is worth: milliseconds, or months in MONTHS
 *     $S        the part of a date that the unit compares
 *
 * ARGS has a letter for each: t text, n number, b yes or no, d date, a as it is, u the name of a
 * unit, which has to be a constant; '*' repeats the last one. */
struct formula_function {
    const char *name, *args, *sql;
    enum formula_type type;
    const char *join;
    const char *months; /* in the place of SQL for units of months; NULL: the same */
};

/* The function NAME (any case) with N arguments; NULL with *RET_IS_KNOWN when others of the name
 * take another number of them. */
const struct formula_function *formula_function(struct str name, size_t n, bool *ret_is_known);
/* What the letter of argument I is. */
char formula_arg(const struct formula_function *f, size_t i);

struct formula_unit {
    const char *name; /* in the singular */
    int64_t ms;       /* of it, or 0 */
    int months;       /* of it, or 0 */
    const char *same; /* strftime format; NULL: cannot be compared */
};

/* "days", "day", "d"; NULL when it is none. */
const struct formula_unit *formula_unit(struct str name);
