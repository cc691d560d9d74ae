/* SPDX-License-Identifier: MIT */
/* Parts of the server "excel": addresses, formulas that move, numbers and dates as Python shows
 * them; and memory that runs out anywhere. */
#include "../check.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "local/excel/book.h"
#include "local/excel/styles.h"

enum { MAX = 16 << 20 };

static void addresses(void **state)
{
    static const struct {
        const char *text;
        unsigned row, col;
    } good[] = {{"A1", 1, 1},
                {"z9", 9, 26},
                {"AA10", 10, 27},
                {"$C$4", 4, 3},
                {"XFD1048576", 1048576, 16384}};
    static const char *const bad[] = {"", "A", "1", "A0", "XFE1", "A1048577", "A1:", "1A", "A-1"};
    struct arena a auto_arena;
    struct range r;
    struct ref at;

    (void)state;
    arena_init(&a, MAX);
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        assert_true(ref_parse(str_of(good[i].text), &at));
        assert_int_equal(at.row, good[i].row);
        assert_int_equal(at.col, good[i].col);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(ref_parse(str_of(bad[i]), &at));
    assert_str(ref_text(&a, (struct ref){1048576, 16384}), "XFD1048576");
    assert_str(ref_text(&a, (struct ref){1, 702}), "ZZ1");
    assert_str(ref_text(&a, (struct ref){1, 703}), "AAA1");
    assert_true(range_parse(STR("C5:A2"), &r));
    assert_str(range_text(&a, r), "A2:C5");
    assert_str(range_formula(&a, STR("It's"), r), "'It''s'!$A$2:$C$5");
    assert_true(range_has(r, (struct ref){3, 3}));
    assert_false(range_has(r, (struct ref){6, 3}));
}

static void formulas_move(void **state)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"A1+B2", "B3+C4"},
        {"$A1+A$1+$A$1", "$A3+B$1+$A$1"},
        {"SUM(A1:C3)*LOG10(A1)", "SUM(B3:D5)*LOG10(B3)"},
        {"\"A1\"&A1", "\"A1\"&B3"},
        {"'Q1 A1'!A1+Q1!A1", "'Q1 A1'!B3+Q1!B3"},
        {"tax_A1+A1x+XFD1", "tax_A1+A1x+#REF!"},
        {"\"open", "\"open"},
        {"", ""},
    };
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, MAX);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str got = formula_moved(&a, str_of(cases[i].from), 2, 1);
        assert_string_equal(got.p, cases[i].to);
    }
    assert_string_equal(formula_moved(&a, STR("A1"), -1, 0).p, "#REF!");
}

static void numbers_as_python_has_them(void **state)
{
    static const struct {
        double d;
        const char *text;
    } cases[] = {{0, "0.0"},
                 {-0.0, "-0.0"},
                 {1, "1.0"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {1e15, "1000000000000000.0"},
                 {1e16, "1e+16"},
                 {1.5e300, "1.5e+300"},
                 {1e-4, "0.0001"},
                 {1e-5, "1e-05"},
                 {123456.789, "123456.789"},
                 {-2.5e-7, "-2.5e-07"},
                 {9007199254740993.0, "9007199254740992.0"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf struct buf b = BUF_INIT(64);
        python_float(&b, cases[i].d);
        assert_string_equal(buf_cstr(&b), cases[i].text);
    }
    auto_buf struct buf b = BUF_INIT(128);
    python_json_str(&b, STR("a\"\\\n\x01\x7f\xc3\xa4\xf0\x9f\x98\x80\xff"));
    assert_string_equal(buf_cstr(&b), "\"a\\\"\\\\\\n\\u0001\\u007f\\u00e4\\ud83d\\ude00\\ufffd\"");
}

static void dates_as_python_has_them(void **state)
{
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, MAX);
    assert_str(date_text(&a, 45351, false, false), "2024-02-29 00:00:00");
    assert_str(date_text(&a, 45351.5625, false, false), "2024-02-29 13:30:00");
    assert_str(date_text(&a, 1, false, false), "1900-01-01 00:00:00");
    assert_str(date_text(&a, 61, false, false), "1900-03-01 00:00:00");
    assert_str(date_text(&a, 1, true, false), "1904-01-02 00:00:00");
    assert_str(date_text(&a, 0.25, false, false), "06:00:00");
    assert_str(date_text(&a, 45351.0000058, false, false), "2024-02-29 00:00:00.501000");
    assert_str(date_text(&a, 1.25, false, true), "1 day, 6:00:00");
    assert_str(date_text(&a, 0.5, false, true), "12:00:00");
}

/* Makes a workbook, changes it, writes it and reads it again within LIMIT bytes. */
static int use(size_t limit)
{
    struct style_change look = {.has_font = true, .is_bold = true, .fill_color = "FF112233"};
    auto_buf struct buf out = BUF_INIT(MAX);
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct book b;

    arena_init(&a, limit);
    int r = book_new(&b, &a, "Sheet1", &e);
    if (r == 0)
        r = sheet_edit(&b, b.sheets[0], &e);
    if (r < 0)
        return r;
    struct sheet *s = b.sheets[0];
    for (unsigned i = 1; i <= 20; i++) {
        struct xml *c = sheet_need_cell(&b, s, (struct ref){i, 21 - i});
        cell_set(&b, s, c, value_text(i % 2 ? STR("=A1+1") : STR("text")));
        (void)cell_value(&b, s, c);
        xml_setf(s->doc, c, "s", "%lld", (long long)style_changed(&b, 0, &look));
    }
    sheet_move_rows(&b, s, 5, 3);
    sheet_move_cols(&b, s, 5, -2);
    if (book_add_sheet(&b, STR("Two"), &e) && b.n_sheets == 2)
        book_remove_sheet(&b, b.sheets[0]);
    book_finish(&b);
    r = package_write(&b.package, &out, &e);
    if (r == 0)
        r = book_read(&b, &a, buf_str(&out), &e);
    return r == 0 ? sheet_load(&b, b.sheets[0], &e) : r;
}

static void memory_may_run_out_anywhere(void **state)
{
    size_t limit = 1000;

    (void)state;
    while (use(limit) < 0) {
        limit += 1500;
        assert_true(limit < MAX);
    }
    assert_int_equal(use(MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(formulas_move),
        cmocka_unit_test(numbers_as_python_has_them),
        cmocka_unit_test(dates_as_python_has_them),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
