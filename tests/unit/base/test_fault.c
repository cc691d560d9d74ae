/* SPDX-License-Identifier: MIT */
/* Every allocation of the base structures fails once: the failure is reported, nothing leaks and
 * what was there before is still there. Built everywhere, meaningful with -Dfault=true. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/map.h"

#ifdef TIDEPOOL_FAULT

enum { N_KEYS = 100 };

static int fill_map(struct map *m)
{
    for (int i = 0; i < N_KEYS; i++) {
        char key[8];
        (void)snprintf(key, sizeof key, "%d", i);
        int r = map_put(m, str_of(key), m, NULL);
        if (r < 0)
            return r;
        assert_ptr_equal(map_get(m, str_of(key)), m);
    }
    return 0;
}

static int fill_buf(struct buf *b)
{
    for (int i = 0; i < N_KEYS; i++)
        (void)buf_printf(b, "%0100d", i);
    return b->error;
}

static int fill_arena(struct arena *a)
{
    for (int i = 0; i < N_KEYS; i++)
        if (!arena_printf(a, "%0100d", i).p)
            return -ENOMEM;
    return 0;
}

/* Runs the three with the Nth allocation failing; false when none was reached any more. */
static bool fails_at(unsigned nth)
{
    struct map m;
    struct buf b auto_buf = BUF_INIT(1 << 20);
    struct arena a auto_arena;

    map_init(&m, 1000);
    arena_init(&a, 1 << 20);
    fault_arm(FAULT_ALLOC, nth);
    int map_result = fill_map(&m), buf_result = fill_buf(&b), arena_result = fill_arena(&a);
    bool fired = fault_fired(FAULT_ALLOC);
    fault_arm(FAULT_ALLOC, 0);
    int n_failed = (map_result == -ENOMEM) + (buf_result == -ENOMEM) + (arena_result == -ENOMEM);
    assert_int_equal(n_failed, fired ? 1 : 0);
    assert_int_equal(map_result == -ENOMEM ? fill_map(&m) : 0, 0);
    assert_int_equal(m.n, N_KEYS);
    map_done(&m);
    return fired;
}

static void every_allocation_may_fail(void **state)
{
    unsigned n = 1;

    (void)state;
    while (fails_at(n))
        n++;
    assert_true(n > N_KEYS);
}

#else

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_false(fault_hit(FAULT_ALLOC)); /* ordinary builds carry no injection */
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
