/* SPDX-License-Identifier: MIT */
/* What every unit test includes: cmocka in the order that it wants. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"

/* Compares a struct str with a literal. */
#define assert_str(s, lit)                                                                         \
    do {                                                                                           \
        struct str assert_str_ = (s);                                                              \
        assert_int_equal(assert_str_.len, sizeof(lit) - 1);                                        \
        assert_memory_equal(assert_str_.p, lit, sizeof(lit) - 1);                                  \
    } while (0)
