/* SPDX-License-Identifier: MIT */
/* Numbered output of processes: bounds, readers at different places, coming back. */
#include "../check.h"

#include <stdio.h>
#include <string.h>

#include "envd/proc_ring.h"

static void add(struct ring *r, const char *text)
{
    assert_int_equal(ring_add(r, PROC_STDOUT, text, strlen(text)), 0);
}

static void expect(struct ring *r, struct ring_reader *reader, uint64_t seq, const char *text)
{
    const struct ring_chunk *c = ring_read(r, reader);

    assert_non_null(c);
    assert_int_equal(c->seq, seq);
    assert_int_equal(c->len, strlen(text));
    assert_memory_equal(c->data, text, c->len);
}

static void chunks_come_in_order_to_every_reader(void **state)
{
    struct ring r;
    struct ring_reader a, b;

    (void)state;
    ring_init(&r, 4096);
    ring_attach(&r, &a, 1);
    assert_null(ring_read(&r, &a));
    add(&r, "one");
    expect(&r, &a, 1, "one");
    assert_null(ring_read(&r, &a));
    assert_int_equal(ring_add(&r, PROC_STDERR, "two", 3), 0);
    add(&r, "three");
    ring_attach(&r, &b, 2);
    const struct ring_chunk *c = ring_read(&r, &b);
    assert_int_equal(c->source, PROC_STDERR);
    expect(&r, &b, 3, "three");
    expect(&r, &a, 2, "two");
    expect(&r, &a, 3, "three");
    assert_null(ring_read(&r, &a));
    ring_detach(&r, &a);
    ring_detach(&r, &b);
    ring_done(&r);
}

static void nothing_is_lost_while_somebody_has_to_read_it(void **state)
{
    struct ring r;
    struct ring_reader a;

    (void)state;
    ring_init(&r, 0);
    ring_attach(&r, &a, 1);
    assert_false(ring_is_full(&r));
    add(&r, "x");
    assert_true(ring_is_full(&r));
    add(&r, "y"); /* what a pipe still held at the end */
    expect(&r, &a, 1, "x");
    assert_true(ring_is_full(&r));
    expect(&r, &a, 2, "y");
    assert_false(ring_is_full(&r));
    assert_null(ring_read(&r, &a));
    assert_int_equal(r.bytes, 0);
    ring_detach(&r, &a);
    ring_done(&r);
}

static void without_readers_the_oldest_go(void **state)
{
    struct ring r;
    struct ring_reader a;
    char text[101];
    size_t max = 10 * (sizeof(struct ring_chunk) + 100);

    (void)state;
    ring_init(&r, max);
    for (int i = 1; i <= 1000; i++) {
        (void)snprintf(text, sizeof text, "%0100d", i);
        add(&r, text);
        assert_true(r.bytes <= max);
        assert_false(ring_is_full(&r));
    }
    /* Who asks for what is gone starts at the oldest; who asks for the future waits. */
    ring_attach(&r, &a, 5);
    (void)snprintf(text, sizeof text, "%0100d", 991);
    expect(&r, &a, 991, text);
    ring_detach(&r, &a);
    ring_attach(&r, &a, 995);
    (void)snprintf(text, sizeof text, "%0100d", 995);
    expect(&r, &a, 995, text);
    ring_detach(&r, &a);
    ring_attach(&r, &a, 5000);
    assert_null(ring_read(&r, &a));
    add(&r, "new");
    expect(&r, &a, 1001, "new");
    ring_detach(&r, &a);
    ring_done(&r);
}

static void a_slow_reader_keeps_what_a_fast_one_has_read(void **state)
{
    struct ring r;
    struct ring_reader slow, fast;

    (void)state;
    ring_init(&r, 1);
    ring_attach(&r, &slow, 1);
    ring_attach(&r, &fast, 1);
    for (int i = 0; i < 100; i++) {
        add(&r, "z");
        expect(&r, &fast, (uint64_t)i + 1, "z");
    }
    assert_true(ring_is_full(&r));
    for (uint64_t i = 1; i <= 50; i++)
        expect(&r, &slow, i, "z");
    /* Its owner gives up. */
    ring_detach(&r, &slow);
    assert_false(ring_is_full(&r));
    assert_true(list_is_empty(&r.chunks));
    ring_detach(&r, &fast);
    ring_done(&r);
}

static void the_place_before_a_chunk_is_found_by_bytes(void **state)
{
    struct ring r;

    (void)state;
    ring_init(&r, 4096);
    assert_int_equal(ring_before(&r, 1, 100), 1);
    for (int i = 0; i < 5; i++)
        add(&r, "12345");
    assert_int_equal(ring_before(&r, 6, 0), 5);
    assert_int_equal(ring_before(&r, 6, 5), 5);
    assert_int_equal(ring_before(&r, 6, 6), 4);
    assert_int_equal(ring_before(&r, 4, 10), 2);
    assert_int_equal(ring_before(&r, 4, 1000), 1);
    assert_int_equal(ring_before(&r, UINT64_MAX, 1), 5);
    ring_set_max(&r, 0);
    assert_int_equal(ring_before(&r, 6, 1000), 6);
    ring_done(&r);
}

static void large_chunks_use_the_same_memory_again(void **state)
{
    static const size_t sizes[] = {32768, 32768, 30000, 32768, 100, 32768};
    struct ring r;
    struct ring_reader a;
    static char data[32768];

    (void)state;
    ring_init(&r, 40000);
    ring_attach(&r, &a, 1);
    for (size_t i = 0; i < 60; i++) {
        size_t len = sizes[i % ARRAY_LEN(sizes)];
        memset(data, (int)('a' + i % 26), len);
        assert_int_equal(ring_add(&r, PROC_STDOUT, data, len), 0);
        const struct ring_chunk *c = ring_read(&r, &a);
        assert_int_equal(c->seq, i + 1);
        assert_int_equal(c->len, len);
        assert_memory_equal(c->data, data, len);
        assert_true(c->room >= len && c->room < 2 * len);
        assert_true(r.bytes <= 2 * 40000);
    }
    assert_non_null(r.spare);
    ring_set_max(&r, 0);
    assert_null(r.spare);
    ring_detach(&r, &a);
    ring_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_before_a_chunk_is_found_by_bytes),
        cmocka_unit_test(chunks_come_in_order_to_every_reader),
        cmocka_unit_test(nothing_is_lost_while_somebody_has_to_read_it),
        cmocka_unit_test(without_readers_the_oldest_go),
        cmocka_unit_test(a_slow_reader_keeps_what_a_fast_one_has_read),
        cmocka_unit_test(large_chunks_use_the_same_memory_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
