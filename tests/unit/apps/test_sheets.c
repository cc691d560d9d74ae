/* SPDX-License-Identifier: MIT */
/* Requests that change a spreadsheet: what comes of them, what is refused, limits. What agents see
 * of it is in the cases of apps/google_sheets/toolathlon. */
#include "../check.h"

#include <errno.h>

#include "apps/products/sheets/update.h"
#include "base/cleanup.h"

#define BOOK                                                                                       \
    "{\"title\":\"T\",\"sheets\":[[0,\"A\",10,5],[7,\"B\",10,5]],\"cells\":["                      \
    "[0,0,0,null,\"text\",\"n\",\"plain\",\"\"],[0,1,0,null,\"number\",2,\"plain\",\"0.0\"],"      \
    "[0,2,0,\"=A2*2\",\"number\",4,\"plain\",\"\"],"                                               \
    "[1,0,0,\"=SUM(A!A2:A3)\",\"number\",6,\"plain\",\"\"]],\"features\":[]}"
#define R(s, a, b, c, d)                                                                           \
    "{\"sheetId\":" #s ",\"startRowIndex\":" #a ",\"endRowIndex\":" #b ",\"startColumnIndex\":" #c \
    ",\"endColumnIndex\":" #d "}"
#define LINES(s, what, a, b)                                                                       \
    "{\"sheetId\":" #s ",\"dimension\":\"" what "\",\"startIndex\":" #a ",\"endIndex\":" #b "}"

static struct arena arena;
static struct err e;

/* The spreadsheet behind REQUESTS; NULL: e says why not. */
static struct json *update(struct str requests)
{
    auto_buf struct buf out = BUF_INIT(16 << 20);
    struct sheets_args args = {.arena = &arena};

    arena_reset(&arena);
    e = (struct err)ERR_INIT;
    args.state = json_parse(&arena, STR(BOOK), NULL, &e);
    args.requests = json_parse(&arena, requests, NULL, &e);
    args.numbers = json_parse(&arena, STR("[7, 0]"), NULL, &e);
    assert_int_equal(e.code, 0);
    if (sheets_update(&args, &out, &e) < 0)
        return NULL;
    struct json *after = json_parse(&arena, arena_str(&arena, buf_str(&out)), NULL, &e);
    assert_non_null(after);
    return after;
}

static const struct {
    const char *request, *pointer, *value;
} good[] = {
    {"{\"addSheet\":{}}", "/sheets/2", "[8,\"Sheet3\",1000,26]"},
    {"{\"addSheet\":{\"properties\":{\"index\":0,\"sheetId\":3}}}", "/sheets/0/0", "3"},
    {"{\"duplicateSheet\":{\"sourceSheetId\":0}}", "/sheets/0/1", "\"Copy of A\""},
    {"{\"deleteSheet\":{}}", "/cells", "[[0,0,0,\"=SUM(#REF!)\",\"number\",6,\"plain\",\"\"]]"},
    {"{\"insertDimension\":{\"range\":" LINES(0, "ROWS", 1, 2) "}}", "/cells/3/3",
     "\"=SUM(A!A3:A4)\""},
    {"{\"deleteDimension\":{\"range\":" LINES(0, "ROWS", 1, 2) "}}", "/cells/1",
     "[0,1,0,\"=#REF!*2\",\"number\",4,\"plain\",\"\"]"},
    {"{\"updateSheetProperties\":{\"properties\":{\"title\":\"x y\"},\"fields\":\"title\"}}",
     "/cells/3/3", "\"=SUM('x y'!A2:A3)\""},
    {"{\"updateSheetProperties\":{\"properties\":{\"gridProperties\":{\"rowCount\":2}},"
     "\"fields\":\"gridProperties(rowCount)\"}}",
     "/sheets/0", "[0,\"A\",2,5]"},
    {"{\"updateSheetProperties\":{\"properties\":{\"index\":2},\"fields\":\"*\"}}", "/sheets/1/0",
     "0"},
    {"{\"updateCells\":{\"range\":" R(0, 0, 2, 0, 1) ",\"fields\":\"userEnteredValue\"}}",
     "/cells/0/1", "2"},
    {"{\"repeatCell\":{\"range\":" R(0, 0, 2, 1,
                                     3) ",\"fields\":\"userEnteredValue\",\"cell\":{"
                                        "\"userEnteredValue\":{\"formulaValue\":\"=A1\"}}}}",
     "/cells/5/3", "\"=B2\""},
    {"{\"mergeCells\":{\"range\":" R(0, 0, 2, 0, 1) "}}", "/features",
     "[[0,\"merge\",0,0,2,1,{}]]"},
    {"{\"mergeCells\":{\"range\":" R(0, 0, 2, 0, 1) "}}", "/cells/1/1", "2"},
    {"{\"mergeCells\":{\"range\":" R(0, 0, 3, 0, 2) ",\"mergeType\":\"MERGE_COLUMNS\"}}",
     "/features/1", "[0,\"merge\",0,1,3,2,{}]"},
    {"{\"copyPaste\":{\"source\":" R(0, 1, 3, 0, 1) ",\"destination\":" R(0, 3, 7, 1, 2) "}}",
     "/cells/6/3", "\"=B6*2\""},
    {"{\"sortRange\":{\"range\":" R(0, 0, 3, 0, 1) ",\"sortSpecs\":[{\"sortOrder\":"
                                                   "\"DESCENDING\"}]}}",
     "/cells/0/5", "\"n\""},
    {"{\"repeatCell\":{\"range\":" R(
         0, 3, 6, 0,
         1) ",\"fields\":\"userEnteredValue\",\"cell\":{"
            "\"userEnteredValue\":{\"numberValue\":2}}}},{\"deleteDuplicates\":{\"range\":" R(
                0, 0, 10, 0, 2) ",\"comparisonColumns\":[{\"startIndex\":0,\"endIndex\":1}]}}",
     "/replies/1/deleteDuplicates", "{\"duplicatesRemovedCount\":3}"},
    {"{\"repeatCell\":{\"range\":" R(0, 0, 1, 1, 2) ",\"fields\":\"userEnteredValue\",\"cell\":{"
                                                    "\"userEnteredValue\":{\"numberValue\":9}}}}",
     "/cells/1", "[0,0,1,null,\"number\",9,\"plain\",\"\"]"},
    {"{\"findReplace\":{\"find\":\"a2\",\"replacement\":\"A1\",\"allSheets\":true,"
     "\"includeFormulas\":true}}",
     "/replies/0/findReplace",
     "{\"formulasChanged\":2,\"rowsChanged\":2,\"sheetsChanged\":2,"
     "\"occurrencesChanged\":2}"},
    {"{\"repeatCell\":{\"range\":{},\"fields\":\"userEnteredFormat.numberFormat\",\"cell\":{"
     "\"userEnteredFormat\":{\"numberFormat\":{\"type\":\"PERCENT\"}}}}}",
     "/cells/1/7", "\"0.00%\""},
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        auto_buf struct buf b = BUF_INIT(1 << 16);
        (void)buf_printf(&b, "[%s]", good[i].request);
        struct json *after = update(buf_str(&b));
        if (!after)
            fail_msg("%s: %s", good[i].request, err_text(&e));
        buf_clear(&b);
        (void)json_write(&b, json_pointer(after, good[i].pointer), JSON_COMPACT);
        if (!str_is(buf_str(&b), good[i].value))
            fail_msg("%s: %s, not %s", good[i].request, buf_cstr(&b), good[i].value);
    }
}

static const struct {
    const char *request, *text;
} bad[] = {
    {"1", "Invalid requests[0]: No request set."},
    {"{}", "Invalid requests[0]: No request set."},
    {"{\"addSheet\":1}", "Invalid requests[0].addSheet: an object is expected"},
    {"{\"addSheet\":{},\"deleteSheet\":{}}",
     "Invalid value at 'requests[0]' (oneof), oneof field 'kind' is already set. Cannot set "
     "'deleteSheet'"},
    {"{\"addSheet\":{\"properties\":{\"sheetId\":7}}}",
     "Invalid requests[0].addSheet: Duplicate sheet id: 7"},
    {"{\"addSheet\":{\"properties\":{\"title\":\"\"}}}",
     "Invalid requests[0].addSheet: Sheet names must not be empty."},
    {"{\"addSheet\":{\"properties\":{\"gridProperties\":{\"rowCount\":10000000}}}}",
     "Invalid requests[0].addSheet: This action would increase the number of cells in the workbook "
     "above the limit of 10000000 cells."},
    {"{\"addSheet\":{\"properties\":{\"sheetType\":\"OBJECT\"}}}",
     "Invalid requests[0].addSheet: sheetType OBJECT is not supported here"},
    {"{\"appendDimension\":{\"dimension\":\"COLUMNS\",\"length\":18274}}",
     "Invalid requests[0].appendDimension: A sheet cannot have more than 18278 columns."},
    {"{\"deleteDimension\":{\"range\":" LINES(0, "ROWS", 9, 11) "}}",
     "Invalid requests[0].deleteDimension: Cannot delete a row that doesn't exist. Tried to delete "
     "row index 10"},
    {"{\"insertDimension\":{\"range\":{}}}",
     "Invalid requests[0].insertDimension: No dimension specified."},
    {"{\"insertDimension\":{\"inheritFromBefore\":true,\"range\":" LINES(0, "ROWS", 0, 1) "}}",
     "Invalid requests[0].insertDimension: Can't inherit from before when inserting at the "
     "beginning."},
    {"{\"updateCells\":{\"range\":" R(0, 0, 1, 0,
                                      1) ",\"fields\":\"note\",\"rows\":[{},{\"values\":"
                                         "[{}]}]}}",
     "Invalid requests[0].updateCells: Attempting to write row: 1, beyond the last requested row "
     "of: 0"},
    {"{\"repeatCell\":{\"range\":{},\"fields\":\"a(b\"}}",
     "Invalid requests[0].repeatCell: Invalid field mask."},
    {"{\"repeatCell\":{\"range\":{},\"fields\":\"userEnteredValue\",\"cell\":{\"userEnteredValue\":"
     "{\"numberValue\":\"1\"}}}}",
     "Invalid requests[0].repeatCell: Invalid userEnteredValue."},
    {"{\"repeatCell\":{\"range\":" R(0, 2, 2, 0, 1) ",\"fields\":\"note\"}}",
     "Invalid requests[0].repeatCell: endRowIndex[2] must be greater than startRowIndex[2]."},
    {"{\"copyPaste\":{\"source\":" R(0, 0, 2, 0, 1) ",\"destination\":" R(0, 9, 10, 0, 1) "}}",
     "Invalid requests[0].copyPaste: The destination is outside the grid, which has 10 rows and "
     "5 columns."},
    {"{\"sortRange\":{\"range\":{},\"sortSpecs\":[{\"dimensionIndex\":9}]}}",
     "Invalid requests[0].sortRange: dimensionIndex 9 is not within the range."},
    {"{\"findReplace\":{\"find\":\"x\"}}",
     "Invalid requests[0].findReplace: One of range, sheetId and allSheets must be set."},
    {"{\"addConditionalFormatRule\":{\"rule\":{\"ranges\":[{}]}}}",
     "Invalid requests[0].addConditionalFormatRule: A rule must have either a booleanRule or a "
     "gradientRule."},
    {"{\"deleteConditionalFormatRule\":{}}",
     "Invalid requests[0].deleteConditionalFormatRule: No conditional format on sheet: 0 at index: "
     "0"},
    {"{\"moveDimension\":{}}", "Invalid requests[0].moveDimension: not supported here"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        auto_buf struct buf b = BUF_INIT(1 << 16);
        (void)buf_printf(&b, "[%s]", bad[i].request);
        assert_null(update(buf_str(&b)));
        assert_string_equal(err_text(&e), bad[i].text);
        assert_int_equal(e.code, -EINVAL);
    }
}

/* N of REQUEST. */
static struct json *repeat(const char *request, size_t n)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&b, "%s%s", i == 0 ? "[" : ",", request);
    (void)buf_add_char(&b, ']');
    return update(buf_str(&b));
}

static void test_limits(void **state)
{
    static const char merge[] =
        "{\"mergeCells\":{\"range\":" R(0, 0, 1, 0, 2) "}},{\"unmergeCells\":{\"range\":{}}}";

    (void)state;
    assert_non_null(repeat("{\"addSheet\":{}}", SHEETS_MAX_SHEETS - 2));
    assert_null(repeat("{\"addSheet\":{}}", SHEETS_MAX_SHEETS - 1));
    assert_non_null(repeat(merge, SHEETS_MAX_REQUESTS / 2));
    assert_null(repeat(merge, SHEETS_MAX_REQUESTS / 2 + 1));
    assert_string_equal(err_text(&e), "no more than 1000 requests at once");
    assert_null(update(STR("[]")));
    assert_string_equal(err_text(&e), "Must specify at least one request.");
}

/* Rows of a sheet that is large enough are filled up to the limit, and not past it. */
static void test_fill(void **state)
{
    auto_buf struct buf b = BUF_INIT(1 << 16);

    (void)state;
    for (int more = 0; more < 2; more++) {
        buf_clear(&b);
        (void)buf_printf(&b,
                         "[{\"addSheet\":{\"properties\":{\"sheetId\":1,\"gridProperties\":{"
                         "\"rowCount\":%d,\"columnCount\":1}}}},{\"repeatCell\":{\"range\":{"
                         "\"sheetId\":1},\"fields\":\"userEnteredValue\",\"cell\":{"
                         "\"userEnteredValue\":{\"numberValue\":1}}}}]",
                         SHEETS_MAX_FILL + more);
        struct json *after = update(buf_str(&b));
        assert_int_equal(after ? json_get(after, "cells")->n : 0, more ? 0 : SHEETS_MAX_FILL + 4);
    }
    assert_string_equal(err_text(&e), "Invalid requests[1].repeatCell: no more than 200000 cells "
                                      "can be written at once here");
}

/* Each request looks at all cells: no more than so many of them together. */
static void test_steps(void **state)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    size_t n = SHEETS_MAX_STEPS / SHEETS_MAX_FILL;

    (void)state;
    (void)buf_printf(&b,
                     "[{\"addSheet\":{\"properties\":{\"sheetId\":1,\"gridProperties\":{"
                     "\"rowCount\":%d,\"columnCount\":1}}}},{\"repeatCell\":{\"range\":{"
                     "\"sheetId\":1},\"fields\":\"userEnteredValue\",\"cell\":{"
                     "\"userEnteredValue\":{\"numberValue\":1}}}}",
                     SHEETS_MAX_FILL);
    for (size_t i = 0; i < n; i++)
        (void)buf_add_lit(&b, ",{\"clearBasicFilter\":{}}");
    (void)buf_add_char(&b, ']');
    assert_null(update(buf_str(&b)));
    assert_string_equal(err_text(&e), "Invalid requests[251].clearBasicFilter: The requests take "
                                      "too long together; send fewer at once.");
}

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, 256 << 20);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good), cmocka_unit_test(test_bad),   cmocka_unit_test(test_limits),
        cmocka_unit_test(test_fill), cmocka_unit_test(test_steps),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
