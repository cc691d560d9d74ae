/* SPDX-License-Identifier: MIT */
/* Between calc.c (the language), number.c (numbers) and math.c (functions). */
#pragma once

#include <openssl/bn.h>
#include <stdbool.h>

#include "apps/calc/calc.h"

enum num_kind { NUM_INT, NUM_REAL, NUM_TEXT };

struct num {
    enum num_kind kind;
    BIGNUM *n;    /* NUM_INT, of the expression's pool */
    bool is_bool; /* an integer that is shown as True or False */
    double d;
    char text[96]; /* NUM_TEXT: what can only be shown */
};

/* An expression under evaluation. The first fault of a calculation is kept while the text is read
 * on, because a fault of the syntax goes before it. */
struct calc {
    struct str all, rest;
    int depth, n_open; /* brackets */
    BN_CTX *pool;
    bool has_fault, is_syntax;
    struct err *err;
};

/* Records the fault, if it is the first one. Returns zero, to go on with. */
struct num calc_fault(struct calc *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- numbers ---- */

struct num num_int(struct calc *c, int64_t value);
struct num num_real(double d);
struct num num_bool(struct calc *c, bool value);
/* A new integer, 0. */
struct num num_new(struct calc *c);
/* Of digits in BASE 10 or 16. */
struct num num_parse(struct calc *c, const char *digits, int base);
/* D, cut to an integer. */
struct num num_trunc(struct calc *c, double d);
/* As a float; a fault when it is too large. */
double num_double(struct calc *c, const struct num *a);
/* -1, 0, 1; nothing is true of NaN: 2. */
int num_compare(struct calc *c, const struct num *a, const struct num *b);
/* OP: + - * / % ^ and 'f' for the division that rounds down. */
struct num num_op(struct calc *c, char op, const struct num *a, const struct num *b);
struct num num_negate(struct calc *c, const struct num *a);
/* As Python prints it; may be a fault. */
void num_print(struct calc *c, const struct num *a, struct buf *out);
/* A fault when A is larger than integers may be. */
bool num_fits(struct calc *c, const struct num *a);

/* ---- functions ---- */

struct calc_function;
/* NULL when there is none of that name. */
const struct calc_function *calc_function(struct str name);
const char *calc_function_name(const struct calc_function *f);
struct num calc_call(struct calc *c, const struct calc_function *f, struct num *args, int n);
/* False when there is none. */
bool calc_constant(struct str name, double *ret);
