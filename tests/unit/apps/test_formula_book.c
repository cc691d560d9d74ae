/* SPDX-License-Identifier: MIT */
/* Workbooks: the order of calculation, what has to be calculated again, circles, arrays that fill
 * cells, limits. A workbook is written as "A1 text|B1 =A1|Other!A1 5". */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/formula/book.h"
#include "base/cleanup.h"

static const struct formula_sheet sheets[] = {{STR_INIT("Main"), 100, 26},
                                              {STR_INIT("Other"), 100, 26}};
static struct arena arena;
static struct formula_book book;

static struct formula_cell *find(struct str place)
{
    struct a1_ref ref;

    assert_int_equal(a1_parse(&arena, place, &ref), 0);
    int sheet = ref.sheet.p && str_is(ref.sheet, "Other");
    for (size_t i = 0; i < book.n_cells; i++) {
        struct formula_place *at = &book.cells[i].at;
        if (at->sheet == sheet && at->row == ref.range.row0 && at->col == ref.range.col0)
            return &book.cells[i];
    }
    book.cells[book.n_cells] = (struct formula_cell){.at = {sheet, ref.range.row0, ref.range.col0}};
    return &book.cells[book.n_cells++];
}

/* Types "PLACE TEXT" into its cell. */
static void enter(struct str entry)
{
    struct str text = entry, place = str_cut(&text, ' ');
    struct formula_cell *c = find(place);
    struct formula_entry e = {.format = ""};

    c->is_changed = true;
    c->is_spilled = false;
    c->formula = STR_NULL;
    if (text.len > 0 && text.p[0] == '=') {
        c->formula = text;
        return;
    }
    formula_enter(text, &e);
    c->value = e.value;
}

static void calculate(void)
{
    assert_int_equal(formula_book_calculate(&book), 0);
}

static void begin(const char *text)
{
    struct str rest = str_of(text);

    arena_reset(&arena);
    book = (struct formula_book){.sheets = sheets,
                                 .n_sheets = 2,
                                 .is_new = true,
                                 .now = 46037.375,
                                 .seed = 1,
                                 .arena = &arena};
    book.cells = arena_zalloc(&arena, 5000, sizeof *book.cells);
    assert_non_null(book.cells);
    while (rest.p)
        enter(str_cut(&rest, '|'));
    calculate();
    book.is_new = false;
}

/* Types it, calculates, and says which cells changed besides: "B1 C1". */
static const char *change(const char *entry)
{
    static struct buf out = BUF_INIT(4096);
    struct formula_cell *cells = arena_zalloc(&arena, book.n_cells + 100, sizeof *cells);
    struct str place = str_of(entry);

    buf_clear(&out);
    assert_non_null(cells);
    (void)memcpy(cells, book.cells, book.n_cells * sizeof *cells);
    book.cells = cells;
    for (size_t i = 0; i < book.n_cells; i++)
        cells[i].is_changed = false;
    enter(str_of(entry));
    calculate();
    place = str_cut(&place, ' ');
    for (size_t i = 0; i < book.n_cells; i++) {
        char name[A1_COLUMN_MAX];
        auto_buf struct buf b = BUF_INIT(64);
        a1_column_name(name, book.cells[i].at.col);
        (void)buf_printf(&b, "%s%s%u", book.cells[i].at.sheet ? "Other!" : "", name,
                         book.cells[i].at.row + 1);
        if (book.cells[i].is_changed && !str_eq(buf_str(&b), place))
            (void)buf_printf(&out, "%s" STR_FMT, out.len > 0 ? " " : "", STR_ARG(buf_str(&b)));
    }
    return buf_cstr(&out);
}

static const char *shown(const char *place)
{
    static struct buf out = BUF_INIT(1 << 16);

    buf_clear(&out);
    formula_show(&out, &find(str_of(place))->value, STR(""));
    return buf_cstr(&out);
}

static void test_order(void **state)
{
    (void)state;
    begin("A1 =B1+1|B1 =C1+1|C1 5|D1 =SUM(A1:C1)|Other!A1 =Main!D1*2|E1 =Other!A1");
    assert_string_equal(shown("A1"), "7");
    assert_string_equal(shown("D1"), "18");
    assert_string_equal(shown("E1"), "36");
}

static void test_dependants(void **state)
{
    (void)state;
    begin("A1 1|B1 =A1*2|C1 =B1+1|D1 10|E1 =D1|F1 =IF(A1>0,\"pos\",\"neg\")");
    assert_string_equal(change("A1 5"), "B1 C1");
    assert_string_equal(shown("C1"), "11");
    assert_string_equal(shown("F1"), "pos");
    assert_string_equal(change("D1 11"), "E1");
    assert_string_equal(change("B1 7"), "C1");
    assert_string_equal(shown("C1"), "8");
    assert_string_equal(change("A1 -1"), "F1");
    assert_string_equal(change("C1 =F1&A1"), "");
    assert_string_equal(shown("C1"), "neg-1");
    /* A cell that was blank is read too. */
    begin("B1 =SUM(A:A)");
    assert_string_equal(shown("B1"), "0");
    assert_string_equal(change("A9 4"), "B1");
    assert_string_equal(shown("B1"), "4");
}

static void test_circles(void **state)
{
    (void)state;
    begin("A1 =A1");
    assert_string_equal(shown("A1"), "#REF!");
    begin("A1 =B1|B1 =C1|C1 =A1+1|D1 =A1+1|E1 =IFERROR(A1,\"ok\")|F1 =SUM(F:F)");
    assert_string_equal(shown("A1"), "#REF!");
    assert_string_equal(shown("B1"), "#REF!");
    assert_string_equal(shown("C1"), "#REF!");
    assert_string_equal(shown("D1"), "#REF!");
    assert_string_equal(shown("E1"), "ok");
    assert_string_equal(shown("F1"), "#REF!");
    /* Broken up, it calculates again. */
    assert_string_equal(change("C1 1"), "A1 B1 D1 E1");
    assert_string_equal(shown("D1"), "2");
    begin("A1 =INDIRECT(\"B1\")|B1 =INDIRECT(\"A1\")");
    assert_string_equal(shown("A1"), "#REF!");
}

static void test_volatile(void **state)
{
    (void)state;
    begin("A1 =TODAY()|B1 =A1+1|C1 =RAND()|D1 =INDIRECT(\"E\"&1)|E1 7|F1 =RAND()");
    assert_string_equal(shown("B1"), "1/16/2026");
    assert_string_equal(shown("D1"), "7");
    double first = find(STR("C1"))->value.number;
    assert_true(first != find(STR("F1"))->value.number);
    book.now += 1;
    assert_string_equal(change("E1 8"), "A1 B1 D1");
    assert_string_equal(shown("B1"), "1/17/2026");
    assert_true(first == find(STR("C1"))->value.number);
    book.seed = 2;
    assert_string_equal(change("E1 9"), "C1 D1 F1");
}

static void test_early(void **state)
{
    (void)state;
    /* INDIRECT finds formulas that stand behind it. */
    begin("A1 =INDIRECT(\"B1\")+1|B1 =C1*2|C1 =INDIRECT(\"D1\")|D1 4");
    assert_string_equal(shown("A1"), "9");
    (void)change("D1 5");
    assert_string_equal(shown("A1"), "11");
}

static void test_malformed(void **state)
{
    (void)state;
    begin("A1 =1+|B1 =A1|C1 =ISERROR(A1)");
    assert_string_equal(shown("A1"), "#ERROR!");
    assert_string_equal(shown("B1"), "#ERROR!");
    assert_string_equal(shown("C1"), "TRUE");
}

static void test_arrays(void **state)
{
    (void)state;
    begin("A1 =SEQUENCE(3)|B1 =SUM(A1:A3)|C3 =A3*10|D1 9");
    assert_string_equal(shown("A3"), "3");
    assert_string_equal(shown("B1"), "6");
    assert_string_equal(shown("C3"), "30");
    assert_true(find(STR("A2"))->is_spilled);
    assert_false(find(STR("A1"))->is_spilled);
    /* Nothing happens when nothing is different. */
    assert_string_equal(change("D1 8"), "");
    /* Something in the way. */
    assert_string_equal(change("A2 x"), "A1 A3 B1 C3");
    assert_string_equal(shown("A1"), "#REF!");
    assert_string_equal(shown("A3"), "");
    assert_string_equal(shown("C3"), "0");
    (void)change("A2 ");
    assert_string_equal(shown("B1"), "6");
    /* It shrinks with what it reads, and others read what it filled. */
    begin("A1 n|A2 1|A3 2|A4 3|B1 1|C1 =FILTER(A2:A4,A2:A4>B1)|D1 =SORT(C1:C3,1,FALSE)|E1 =D2");
    assert_string_equal(shown("C2"), "3");
    assert_string_equal(shown("D1"), "3");
    assert_string_equal(shown("E1"), "2");
    assert_string_equal(change("B1 0"), "C1 C2 C3 D3");
    assert_string_equal(shown("D3"), "1");
    assert_string_equal(shown("E1"), "2");
    (void)change("B1 2");
    assert_string_equal(shown("C1"), "3");
    assert_string_equal(shown("C2"), "");
    /* Two arrays that want the same cells, and one that leaves the sheet. */
    begin("A2 =SEQUENCE(1,3)|B1 =SEQUENCE(3)|Y1 =SEQUENCE(1,3)");
    assert_true(strcmp(shown("A2"), "#REF!") == 0 || strcmp(shown("B1"), "#REF!") == 0);
    assert_string_equal(shown("Y1"), "#REF!");
}

static void test_long_chain(void **state)
{
    char text[64];

    (void)state;
    begin("A1 1");
    book.cells = arena_zalloc(&arena, 5000, sizeof *book.cells);
    assert_non_null(book.cells);
    book.n_cells = 0;
    enter(STR("A1 1"));
    /* Each reads the one below it, so the first found needs all others. */
    for (unsigned i = 4000; i > 1; i--) {
        book.cells[book.n_cells++] = (struct formula_cell){.at = {0, i - 1, 0}, .is_changed = true};
        (void)snprintf(text, sizeof text, "=A%u+1", i - 1);
        book.cells[book.n_cells - 1].formula = arena_str(&arena, str_of(text));
    }
    calculate();
    assert_string_equal(shown("A4000"), "4000");
}

static void test_limits(void **state)
{
    (void)state;
    /* What is too much for one formula is its error; others go on. */
    begin("A1 =SUMPRODUCT(COUNTIF(SEQUENCE(9999),SEQUENCE(9999)))|B1 =1+1");
    assert_string_equal(shown("A1"), "#ERROR!");
    assert_string_equal(shown("B1"), "2");
    struct arena small;
    arena_init(&small, 20000);
    book.arena = &small;
    book.n_cells = 0;
    enter(STR("A1 =REPT(\"a\",30000)"));
    assert_int_equal(formula_book_calculate(&book), 0);
    assert_string_equal(shown("A1"), "#ERROR!");
    arena_done(&small);
    book.arena = &arena;
    book.n_cells = FORMULA_BOOK_MAX_CELLS + 1;
    assert_int_equal(formula_book_calculate(&book), -E2BIG);
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),   cmocka_unit_test(test_dependants),
        cmocka_unit_test(test_circles), cmocka_unit_test(test_volatile),
        cmocka_unit_test(test_early),   cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_arrays),  cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
