/* SPDX-License-Identifier: MIT */
/* Between the files of this folder: the compiled form, and what functions are made with. A family
 * of functions is a file with a table, which functions.c lists. */
#pragma once

#include "apps/formula/formula.h"
#include "base/cleanup.h"

/* How a function gets its arguments. */
enum fx_kind {
    FX_SCALAR, /* single values, errors are dealt with; within arrays it is called for each item */
    FX_VALUES, /* values, areas and arrays as they are */
    FX_ARRAY,  /* the same, and within its arguments everything is calculated for whole areas */
    FX_LAZY    /* not at all: it calculates those that it needs */
};
enum {
    FX_ERRORS = 1,   /* a scalar that wants errors */
    FX_VOLATILE = 2, /* see formula_is_volatile() */
    FX_EACH0 = 4,    /* within arrays it is called for each item of its first argument */
    FX_EACH1 = 8     /* of its second */
};

struct fx_node;
struct fx_scope;

struct fx_args {
    size_t n;
    struct formula_value *v;
    struct fx_node *const *nodes; /* for FX_LAZY */
};

/* A calculation under way. */
struct fx {
    struct formula_env *env;
    struct formula_place at;
    bool is_array;                /* whole areas are meant, not the value in this row or column */
    const struct fx_scope *names; /* of LET and LAMBDA, see lambda.c */
    uint32_t depth;               /* of the lambdas that are being applied */
};

typedef void (*fx_fn)(struct fx *x, const struct fx_args *a, struct formula_value *ret);

struct fx_function {
    const char *name; /* NULL ends a table */
    uint8_t min, max, kind, flags;
    fx_fn fn;
};

enum fx_node_kind {
    FX_NODE_VALUE,
    FX_NODE_CALL,
    FX_NODE_ARRAY,
    FX_NODE_NAME,
    FX_NODE_APPLY, /* of a lambda: it, or its name, and the arguments */
    FX_NODE_MISSING
};

struct fx_node {
    enum fx_node_kind kind;
    struct formula_value value;         /* VALUE */
    struct str name;                    /* NAME */
    const struct fx_function *function; /* CALL */
    struct fx_node **args;              /* CALL, APPLY; ARRAY: row by row */
    uint32_t n, depth;                  /* args; of what is below */
    uint32_t *rows;                     /* ARRAY: how many of them each of its rows has */
    uint32_t n_rows;
};

struct formula {
    struct fx_node *root;
    struct formula_area *areas;
    size_t n_areas;
    bool is_volatile;
};

/* ---- functions.c ---- */
const struct fx_function *fx_find(struct str name);
extern const struct fx_function fx_operators[], fx_math[], fx_stat[], fx_logic[], fx_lookup[],
    fx_text[], fx_dates[], fx_criteria[], fx_arrays[], fx_money[], fx_info[], fx_lambdas[],
    fx_regexes[];

/* ---- eval.c ---- */
/* As it is: may be an area or an array. */
void fx_eval(struct fx *x, const struct fx_node *n, struct formula_value *ret);
/* One value: of an area the one in the formula's row or column, of an array the first. */
void fx_scalar(struct fx *x, struct formula_value *v);
/* Items of V as if it were an array: how many, and each; a single value is one of 1 x 1. */
void fx_size(struct fx *x, const struct formula_value *v, uint32_t *ret_rows, uint32_t *ret_cols);
void fx_item(struct fx *x, const struct formula_value *v, uint32_t row, uint32_t col,
             struct formula_value *ret);
/* An empty array for RET; NULL (and RET is an error) when it would be too large. */
struct formula_array *fx_new_array(struct fx *x, uint32_t rows, uint32_t cols,
                                   struct formula_value *ret);
/* V with all areas read. */
void fx_load(struct fx *x, struct formula_value *v);
/* Calls FN with every value in A from argument FROM on until it says false. IS_DIRECT: written in
 * the formula, not from cells. Blank cells are left out. */
typedef bool (*fx_each_fn)(void *ctx, const struct formula_value *v, bool is_direct);
void fx_each(struct fx *x, const struct fx_args *a, size_t from, fx_each_fn fn, void *ctx);
/* F for single values applied to V, which may be arrays, item by item. */
void fx_map(struct fx *x, const struct fx_function *f, const struct fx_args *a,
            struct formula_value *ret);
bool fx_step(struct fx *x); /* false: no more */
void fx_charge(struct fx *x, uint64_t n_steps);

/* ---- lambda.c ---- */
void fx_eval_name(struct fx *x, const struct fx_node *n, struct formula_value *ret);
void fx_eval_apply(struct fx *x, const struct fx_node *n, struct formula_value *ret);

/* ---- value.c: results and conversions; false: RET has the error ---- */
void fx_give(struct formula_value *ret, double number);
void fx_give_look(struct formula_value *ret, double number, enum formula_look look);
void fx_give_text(struct fx *x, struct formula_value *ret, struct str text); /* copies */
void fx_give_buf(struct fx *x, struct formula_value *ret, const struct buf *b);
void fx_give_bool(struct formula_value *ret, bool flag);
void fx_give_error(struct formula_value *ret, enum formula_error error);
bool fx_number(const struct formula_value *v, double *out, struct formula_value *ret);
bool fx_bool(const struct formula_value *v, bool *out, struct formula_value *ret);
bool fx_string(struct fx *x, const struct formula_value *v, struct str *out,
               struct formula_value *ret);
/* Argument I as a number, or FALLBACK when there are fewer. */
bool fx_arg(const struct fx_args *a, size_t i, double fallback, double *out,
            struct formula_value *ret);
/* A whole number from LOW to HIGH, cut towards zero; else RET is #NUM!. */
bool fx_arg_int(const struct fx_args *a, size_t i, int64_t bounds[2], int64_t *out,
                struct formula_value *ret);
/* Numbers before texts before booleans; texts without regard to case. */
int fx_compare(const struct formula_value *a, const struct formula_value *b);
/* As it is joined with texts: up to 15 digits. */
void fx_write_number(struct buf *out, double number, int n_digits);

/* ---- read.c ---- */
/* "1,234.5", "$5", "12%", "2026-01-15", "9:30 PM": a number, and how it looks; false: text. */
bool fx_read_number(struct str text, double *ret, struct formula_entry *entry);

/* ---- serial_day.c ---- */
struct fx_date {
    int year, month, day; /* from 1 */
};
double fx_serial(int year, int month, int day); /* months and days may be out of their bounds */
struct fx_date fx_civil(double serial);
int fx_days_in_month(int year, int month);
