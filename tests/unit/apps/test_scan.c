/* SPDX-License-Identifier: MIT */
/* The kit of readers: words, text in quotes, figures, places. */
#include "../check.h"

#include <errno.h>

#include "apps/text/scan.h"
#include "base/arena.h"
#include "base/ascii.h"

static void test_words(void **state)
{
    struct str s = STR("  And_1 (x)");

    (void)state;
    scan_blanks(&s);
    assert_true(str_is(scan_peek(s, ascii_is_word), "And_1"));
    assert_false(scan_keyword(&s, ascii_is_word, "and_1"));
    assert_false(scan_ikeyword(&s, ascii_is_word, "and"));
    assert_true(scan_ikeyword(&s, ascii_is_word, "and_1"));
    scan_blanks(&s);
    assert_int_equal(scan_word(&s, ascii_is_word).len, 0);
    assert_true(scan_char(&s, '('));
    assert_true(str_is(scan_word(&s, ascii_is_word), "x"));
    assert_true(str_is(s, ")"));
}

static void test_quotes(void **state)
{
    static const struct {
        const char *text;
        enum scan_escape how;
        const char *inner, *rest; /* inner NULL: not closed */
    } rows[] = {
        {"'it\\'s' x", SCAN_BACKSLASH, "it's", " x"},
        {"'a\\nb'", SCAN_BACKSLASH, "anb", ""},
        {"'a\\nb\\\\'", SCAN_BACKSLASH_QUOTE, "a\\nb\\", ""},
        {"\"it's\"'", SCAN_BACKSLASH_QUOTE, "it's", "'"},
        {"'it''s'", SCAN_DOUBLED, "it's", ""},
        {"''''", SCAN_DOUBLED, "'", ""},
        {"''", SCAN_DOUBLED, "", ""},
        {"'a\\'b", SCAN_DOUBLED, "a\\", "b"},
        {"'a''", SCAN_DOUBLED, NULL, NULL},
        {"'a\\'", SCAN_BACKSLASH, NULL, NULL},
        {"'", SCAN_BACKSLASH, NULL, NULL},
        {"'a\\", SCAN_BACKSLASH, NULL, NULL},
    };
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 16);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str s = str_of(rows[i].text), text = STR_NULL;
        int r = scan_quoted(&s, rows[i].how, &a, &text);
        assert_int_equal(r, rows[i].inner ? 0 : -EINVAL);
        assert_int_equal(scan_quoted_len(str_of(rows[i].text), rows[i].how),
                         rows[i].inner ? strlen(rows[i].text) - s.len : 0);
        if (rows[i].inner) {
            assert_true(str_is(text, rows[i].inner));
            assert_true(str_is(s, rows[i].rest));
        }
    }
}

static void test_nul_in_quotes_is_a_space(void **state)
{
    struct arena a auto_arena;
    struct str s = STR("'a\0b'"), text;

    (void)state;
    arena_init(&a, 1 << 16);
    assert_int_equal(scan_quoted(&s, SCAN_DOUBLED, &a, &text), 0);
    assert_true(str_is(text, "a b"));
}

static void test_figures(void **state)
{
    double d;

    (void)state;
    assert_true(scan_fits(STR("2026-01-30T10:00"), "9999-99-99"));
    assert_false(scan_fits(STR("2026-1-30"), "9999-99-99"));
    assert_false(scan_fits(STR("2026-01"), "9999-99-99"));
    assert_true(scan_number(STR("-2.5e1"), &d));
    assert_true(d == -25);
    assert_false(scan_number(STR("2 5"), &d));
    assert_false(scan_number(STR(""), &d));
    assert_false(scan_number(STR("1111111111111111111111111111111111111111"), &d));
}

static void test_positions(void **state)
{
    struct str text = STR("ab\ncd\n");
    struct scan_position p = scan_position(text, 0);

    (void)state;
    assert_int_equal(p.line, 1);
    assert_int_equal(p.column, 1);
    p = scan_position(text, 4);
    assert_int_equal(p.line, 2);
    assert_int_equal(p.column, 2);
    p = scan_position(text, 100);
    assert_int_equal(p.line, 3);
    assert_int_equal(p.column, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_nul_in_quotes_is_a_space),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_positions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
