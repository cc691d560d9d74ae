/* SPDX-License-Identifier: MIT */
/* An arena as the state of a test, and texts compared so that both are shown. */
#pragma once

#include "../check.h"

#include <stdlib.h>

#include "base/arena.h"

static inline int make_arena(void **state)
{
    struct arena *a = malloc(sizeof *a);

    if (!a)
        return -1;
    arena_init(a, 64 << 20);
    *state = a;
    return 0;
}

static inline int drop_arena(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

#define unit_test_with_arena(f) cmocka_unit_test_setup_teardown(f, make_arena, drop_arena)

static inline void check_text(struct str got, const char *want)
{
    if (!str_is(got, want))
        fail_msg("got '%.*s', want '%s'", STR_ARG(got), want);
}
