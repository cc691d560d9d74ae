/* SPDX-License-Identifier: MIT */
/* The log of a main process as lines, and characters that a terminal splits. */
#include "../check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "envd/log_lines.h"
#include "envd/pty.h"

static void add(struct lines *l, int64_t now_us, const char *text)
{
    assert_int_equal(lines_add(l, now_us, str_of(text)), 0);
}

static void lines_are_put_together(void **state)
{
    struct lines l;
    struct line line;

    (void)state;
    lines_init(&l);
    add(&l, 10, "one\ntwo");
    add(&l, 20, " and a half\n\nthree");
    struct lines_cursor c = lines_seek(&l, 1);
    assert_true(lines_next(&c, &line));
    assert_str(line.text, "one");
    assert_int_equal(line.number, 1);
    assert_int_equal(line.time_us, 10);
    assert_true(lines_next(&c, &line));
    assert_str(line.text, "two and a half");
    assert_int_equal(line.time_us, 10); /* when it began */
    assert_true(lines_next(&c, &line));
    assert_str(line.text, "");
    assert_false(lines_next(&c, &line));
    assert_int_equal(lines_flush(&l), 0);
    assert_int_equal(lines_flush(&l), 0);
    c = lines_seek(&l, 4);
    assert_true(lines_next(&c, &line));
    assert_str(line.text, "three");
    assert_int_equal(line.time_us, 20);
    assert_int_equal(l.end, 5);
    c = lines_seek(&l, 99);
    assert_false(lines_next(&c, &line));
    lines_done(&l);
}

static void long_lines_are_cut(void **state)
{
    static char text[3 * LINES_TEXT_MAX + 5];
    struct lines l;
    struct line line;
    size_t total = 0;

    (void)state;
    lines_init(&l);
    memset(text, 'x', sizeof text - 2);
    text[sizeof text - 2] = '\n';
    assert_int_equal(lines_add(&l, 1, str_n(text, sizeof text - 1)), 0);
    assert_int_equal(l.end, 5);
    struct lines_cursor c = lines_seek(&l, 0);
    while (lines_next(&c, &line)) {
        assert_true(line.text.len <= LINES_TEXT_MAX);
        total += line.text.len;
    }
    assert_int_equal(total, sizeof text - 2);
    /* A line of exactly the limit, in one piece and in two. */
    assert_int_equal(lines_add(&l, 1, str_n(text, LINES_TEXT_MAX - 1)), 0);
    add(&l, 1, "x\nnext\n");
    c = lines_seek(&l, 5);
    assert_true(lines_next(&c, &line));
    assert_int_equal(line.text.len, LINES_TEXT_MAX);
    assert_true(lines_next(&c, &line));
    assert_str(line.text, "next");
    uint64_t end = l.end;
    assert_int_equal(lines_add(&l, 1, str_n(text, LINES_TEXT_MAX)), 0);
    add(&l, 1, "\n\nafter\n");
    assert_int_equal(l.end, end + 3);
    lines_done(&l);
}

static void the_oldest_lines_go(void **state)
{
    struct lines l;
    struct line line;
    char text[200];

    (void)state;
    lines_init(&l);
    assert_int_equal(lines_first(&l), 1);
    for (int i = 1; i <= 50000; i++) {
        (void)snprintf(text, sizeof text, "line %d %0*d\n", i, i % 100 + 1, 0);
        add(&l, i, text);
    }
    assert_int_equal(l.n_blocks, LINES_BLOCKS_MAX);
    uint64_t first = lines_first(&l);
    assert_true(first > 1 && first < 50000);
    /* From any place on they are complete and in order. */
    for (uint64_t from = 1; from <= 50001; from += 777) {
        struct lines_cursor c = lines_seek(&l, from);
        uint64_t want = from > first ? from : first;
        while (lines_next(&c, &line)) {
            assert_int_equal(line.number, want);
            assert_int_equal(line.time_us, want);
            (void)snprintf(text, sizeof text, "line %d ", (int)want++);
            assert_true(str_starts(line.text, str_of(text)));
        }
        assert_int_equal(want, 50001);
    }
    lines_done(&l);
}

static void split_characters_are_recognized(void **state)
{
    static const struct {
        const char *text;
        size_t partial;
    } cases[] = {
        {"", 0},
        {"abc", 0},
        {"a\xc3", 1},
        {"a\xc3\xa4", 0},
        {"\xe2", 1},
        {"\xe2\x82", 2},
        {"\xe2\x82\xac", 0},
        {"\xf0\x9f", 2},
        {"\xf0\x9f\x8c", 3},
        {"\xf0\x9f\x8c\x8a", 0},
        {"\x80", 0},
        {"\x80\x80\x80\x80", 0},
        {"a\xff", 0},
        {"\xc0", 0},
        {"\xf5\x80", 0},
        {"\xc3\x28", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(pty_partial(str_of(cases[i].text)), cases[i].partial);
    /* Every character, cut anywhere: what was kept back completes it. */
    for (uint32_t point = 0x80; point <= 0x10ffff; point += 97) {
        char text[UTF8_MAX];
        if (point >= 0xd800 && point <= 0xdfff)
            continue;
        size_t len = utf8_encode(text, point);
        for (size_t cut = 1; cut < len; cut++)
            assert_int_equal(pty_partial(str_n(text, cut)), cut);
        assert_int_equal(pty_partial(str_n(text, len)), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_put_together),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(the_oldest_lines_go),
        cmocka_unit_test(split_characters_are_recognized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
