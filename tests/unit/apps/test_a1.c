/* SPDX-License-Identifier: MIT */
/* Places in spreadsheets: read, and written again. */
#include "../check.h"

#include <errno.h>

#include "apps/formula/a1.h"
#include "base/cleanup.h"

static void test_columns(void **state)
{
    static const struct {
        const char *name;
        uint32_t col;
    } rows[] = {{"A", 0},    {"Z", 25},    {"AA", 26},    {"az", 51},
                {"ZZ", 701}, {"AAA", 702}, {"ZZZ", 18277}};
    char name[A1_COLUMN_MAX];
    uint32_t col;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(a1_column(str_of(rows[i].name), &col), 0);
        assert_int_equal(col, rows[i].col);
        a1_column_name(name, col);
        assert_true(str_iis(str_of(name), rows[i].name));
    }
    assert_int_equal(a1_column(STR(""), &col), -EINVAL);
    assert_int_equal(a1_column(STR("AAAA"), &col), -EINVAL);
    assert_int_equal(a1_column(STR("A1"), &col), -EINVAL);
}

static void test_ranges(void **state)
{
    static const struct {
        const char *text, *sheet, *written; /* sheet NULL: none; written NULL: -EINVAL */
        bool is_all;
    } rows[] = {
        {"A1", NULL, "A1", false},
        {"$B$7", NULL, "B7", false},
        {"a1:c10", NULL, "A1:C10", false},
        {"C10:A1", NULL, "A1:C10", false},
        {"C1:A10", NULL, "A1:C10", false},
        {"A:C", NULL, "A:C", false},
        {"2:5", NULL, "2:5", false},
        {"A2:A", NULL, "A2:A", false},
        {"A2:5", NULL, "2:5", false},
        {"B2:5", NULL, "B2:5", false},
        {"Budget!B7", "Budget", "B7", false},
        {"'Q1 plan'!A1:B2", "Q1 plan", "A1:B2", false},
        {"'Bob''s'!A1", "Bob's", "A1", false},
        {"'Q1 plan'", "Q1 plan", "", true},
        {"Budget", "Budget", "", true},
        {"Q1 plan", "Q1 plan", "", true},
        {"A0", "A0", "", true},
        {"ABCD1", "ABCD1", "", true},
        {"Budget!", NULL, NULL, false},
        {"Budget!Z", NULL, NULL, false},
        {"Budget!A1:", NULL, NULL, false},
        {"'open!A1", NULL, NULL, false},
        {"''!A1", NULL, NULL, false},
        {"'x'A1", NULL, NULL, false},
        {"!A1", NULL, NULL, false},
        {"", NULL, NULL, false},
        {"Budget!A5:3x", NULL, NULL, false},
        {"Budget!A10000001", NULL, NULL, false},
        {"Budget!A10000000", "Budget", "A10000000", false},
    };
    struct arena arena auto_arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b = BUF_INIT(256);
        struct a1_ref ref;
        int r = a1_parse(&arena, str_of(rows[i].text), &ref);
        assert_int_equal(r, rows[i].written ? 0 : -EINVAL);
        if (r < 0)
            continue;
        assert_true(rows[i].sheet ? str_is(ref.sheet, rows[i].sheet) : !ref.sheet.p);
        assert_int_equal(ref.is_all, rows[i].is_all);
        if (!ref.is_all)
            a1_write(&b, &ref.range);
        assert_true(str_is(buf_str(&b), rows[i].written));
    }
}

static void test_sheets(void **state)
{
    static const char *const rows[][2] = {
        {"Budget", "Budget"}, {"Q1 plan", "'Q1 plan'"}, {"Bob's", "'Bob''s'"}, {"A1", "'A1'"},
        {"2026", "'2026'"},   {"Team_2", "Team_2"},     {"Größe", "'Größe'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b = BUF_INIT(256);
        a1_write_sheet(&b, str_of(rows[i][0]));
        assert_true(str_is(buf_str(&b), rows[i][1]));
    }
}

static void test_scan(void **state)
{
    struct a1_range range;

    (void)state;
    assert_int_equal(a1_scan(STR("A1+2"), &range), 2);
    assert_int_equal(a1_scan(STR("A1:B2)"), &range), 5);
    assert_int_equal(a1_scan(STR("LOG10(5)"), &range), 0);
    assert_int_equal(a1_scan(STR("A1_x"), &range), 0);
    assert_int_equal(a1_scan(STR("A:5"), &range), 0);
    assert_int_equal(a1_scan(STR("$"), &range), 0);
    assert_int_equal(a1_scan(STR("A1:"), &range), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_sheets),
        cmocka_unit_test(test_scan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
