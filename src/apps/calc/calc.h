/* SPDX-License-Identifier: MIT */
/* Arithmetic as Python does it: integers of any size (within CALC_MAX_BITS), floats, the operators
 * + - * / // % ** and comparisons, the functions and constants of Python's module math, and abs,
 * round, min, max. '^' is a power; '×' and '÷' are understood. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    CALC_MAX_TEXT = 4096,   /* bytes of an expression */
    CALC_MAX_DEPTH = 64,    /* of brackets and signs */
    CALC_MAX_ARGS = 64,     /* of a function */
    CALC_MAX_BITS = 1 << 15 /* of an integer */
};

/* Appends what Python would print. -EINVAL: E says what Python would. */
int calc_eval(struct str expression, struct buf *out, struct err *e);
