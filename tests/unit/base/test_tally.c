/* SPDX-License-Identifier: MIT */
/* Tallies at their maximum and one past it, alone and as parts of a whole. */
#include "../check.h"

#include <errno.h>

#include "base/tally.h"

static void at_the_maximum_and_past_it(void **state)
{
    uint64_t refused = 0;
    struct tally t = {.max = 3, .n_refused = &refused};

    (void)state;
    assert_int_equal(tally_take(&t, 2), 0);
    assert_int_equal(tally_take(&t, 2), -ENOBUFS);
    assert_int_equal(tally_take(&t, 1), 0);
    assert_int_equal(tally_take(&t, 1), -ENOBUFS);
    assert_int_equal(refused, 2);
    tally_give(&t, 1);
    assert_int_equal(tally_take(&t, 1), 0);
    assert_int_equal(t.n, 3);
    /* What is there already is not asked. */
    tally_add(&t, 5);
    assert_int_equal(t.n, 8);
    assert_int_equal(tally_take(&t, 1), -ENOBUFS);
}

static void none_is_no_limit(void **state)
{
    struct tally t = {0};

    (void)state;
    for (int i = 0; i < 100000; i++)
        assert_int_equal(tally_take(&t, 1), 0);
}

static void parts_are_refused_before_the_whole(void **state)
{
    uint64_t by_part = 0, by_whole = 0;
    struct tally all = {.max = 5, .n_refused = &by_whole};
    struct tally a = {.max = 3, .n_refused = &by_part, .whole = &all};
    struct tally b = {.max = 3, .n_refused = &by_part, .whole = &all};
    struct tally cell = {.max = 10, .whole = &b};

    (void)state;
    assert_int_equal(tally_take(&a, 4), -EDQUOT);
    assert_int_equal(all.n, 0);
    assert_int_equal(tally_take(&a, 3), 0);
    assert_int_equal(tally_take(&cell, 4), -EDQUOT);
    assert_int_equal(tally_take(&cell, 3), -ENOBUFS);
    assert_int_equal(by_part, 2);
    assert_int_equal(by_whole, 1);
    assert_int_equal(tally_take(&cell, 2), 0);
    assert_int_equal(cell.n, 2);
    assert_int_equal(b.n, 2);
    assert_int_equal(all.n, 5);
    tally_give(&cell, 2);
    assert_int_equal(b.n, 0);
    assert_int_equal(all.n, 3);
}

static void the_reserve_is_for_those_who_have_little(void **state)
{
    struct tally all = {.max = 100, .reserve = 10, .modest = 2};
    struct tally greedy = {.whole = &all}, new = {.whole = &all};
    struct tally operator= {.is_unbound = true, .whole = &all};

    (void)state;
    assert_int_equal(tally_take(&greedy, 90), 0);
    assert_int_equal(tally_take(&greedy, 1), -ENOBUFS);
    assert_int_equal(tally_take(&new, 1), 0);
    assert_int_equal(tally_take(&new, 1), 0);
    assert_int_equal(tally_take(&new, 1), -ENOBUFS);
    assert_int_equal(tally_take(&operator, 8), 0);
    assert_int_equal(tally_take(&operator, 1), -ENOBUFS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_maximum_and_past_it),
        cmocka_unit_test(none_is_no_limit),
        cmocka_unit_test(parts_are_refused_before_the_whole),
        cmocka_unit_test(the_reserve_is_for_those_who_have_little),
    };

    return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
