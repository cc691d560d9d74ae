/* SPDX-License-Identifier: MIT */
/* The text of formulas when the cells that they name move. */
#include "../check.h"

#include "apps/formula/edit.h"
#include "base/cleanup.h"

static const struct formula_edit insert_rows = {
    .kind = FORMULA_EDIT_INSERT, .sheet = STR_INIT("Own"), .is_rows = true, .at = 2, .n = 3};
static const struct formula_edit insert_cols = {
    .kind = FORMULA_EDIT_INSERT, .sheet = STR_INIT("Other"), .at = 1, .n = 1};
static const struct formula_edit delete_rows = {
    .kind = FORMULA_EDIT_DELETE, .sheet = STR_INIT("Own"), .is_rows = true, .at = 2, .n = 3};
static const struct formula_edit delete_cols = {
    .kind = FORMULA_EDIT_DELETE, .sheet = STR_INIT("Own"), .at = 1, .n = 1};
static const struct formula_edit renamed = {
    .kind = FORMULA_EDIT_RENAME, .sheet = STR_INIT("Other"), .name = STR_INIT("It's new")};
static const struct formula_edit dropped = {.kind = FORMULA_EDIT_DROP, .sheet = STR_INIT("Other")};
static const struct formula_edit down = {.kind = FORMULA_EDIT_SHIFT, .rows = 2, .cols = 1};
static const struct formula_edit up = {.kind = FORMULA_EDIT_SHIFT, .rows = -2, .cols = -1};

static const struct {
    const struct formula_edit *edit;
    const char *before, *behind;
} cases[] = {
    {&insert_rows, "=A1+A2+A3+$A$4", "=A1+A2+A6+$A$7"},
    {&insert_rows, "=SUM(A1:B3)*SUM(A3:A)", "=SUM(A1:B6)*SUM(A6:A)"},
    {&insert_rows, "=SUM(A1:B2, 3:5, C:C)", "=SUM(A1:B2, 6:8, C:C)"},
    {&insert_rows, "=own!A9&'OWN'!A9&Other!A9", "=own!A12&'OWN'!A12&Other!A9"},
    {&insert_rows, "=\"A9 \"\"A9\"\"\"&A9", "=\"A9 \"\"A9\"\"\"&A12"},
    {&insert_rows, "=LOG10(A9)+1E5+3.5+TRUE+#REF!+#N/A", "=LOG10(A12)+1E5+3.5+TRUE+#REF!+#N/A"},
    {&insert_rows, "=B9:A3", "=A6:B12"},
    {&insert_rows, "=A9999999", "=#REF!"},
    {&insert_rows, "=\"open A9", "=\"open A9"},
    {&insert_rows, "='open A9", "='open A9"},
    {&insert_rows, "=$+A9$", "=$+A9$"},
    {&insert_cols, "=B1+Other!B1+Other!A1:$C$2", "=B1+Other!C1+Other!A1:$D$2"},
    {&insert_cols, "=Other!1:2+Other!B:C", "=Other!1:2+Other!C:D"},
    {&delete_rows, "=A2+A3+A5+A6", "=A2+#REF!+#REF!+A3"},
    {&delete_rows, "=SUM(A1:A4)+SUM(A4:A9)+SUM(A1:A9)+SUM(A3:A5)",
     "=SUM(A1:A2)+SUM(A3:A6)+SUM(A1:A6)+SUM(#REF!)"},
    {&delete_rows, "=SUM(A4:A)", "=SUM(A3:A)"},
    {&delete_cols, "=A1+B1+$C1", "=A1+#REF!+$B1"},
    {&renamed, "=Other!A1+'other'!B:B+Own!A1+A1", "='It''s new'!A1+'It''s new'!B:B+Own!A1+A1"},
    {&dropped, "=Other!A1+SUM('Other'!A1:B2)+A1", "=#REF!+SUM(#REF!)+A1"},
    {&down, "=A1+$A1+A$1+$A$1+Other!A1:B2", "=B3+$A3+B$1+$A$1+Other!B3:C4"},
    {&up, "=B3+A3+$A$1", "=A1+#REF!+$A$1"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf struct buf out = BUF_INIT(1 << 16);
        formula_edit(&out, str_of(cases[i].before), STR("Own"), cases[i].edit);
        assert_true(buf_ok(&out));
        assert_string_equal(buf_cstr(&out), cases[i].behind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
