/* SPDX-License-Identifier: MIT */
/* Airtable's formulas and sorts: which records they find, and in which order. */
#include "lang_check.h"

#include "base/buf.h"

static const char schema[] =
    "CREATE TABLE tables (id TEXT PRIMARY KEY, primary_field TEXT);"
    "CREATE TABLE record (id TEXT PRIMARY KEY, table_id TEXT, created TEXT, modified TEXT, data);"
    "INSERT INTO tables VALUES ('t1', 'f1');"
    "INSERT INTO record VALUES"
    " ('1', 't1', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '{\"f1\":\"Ant\","
    "  \"f2\":5,\"f3\":true,\"f4\":\"2026-01-10\",\"f5\":[\"2\",\"3\"],\"f6\":[\"red\",\"blue\"],"
    "  \"f7\":\"Todo\",\"f8\":{\"name\":\"Maya Chen\"},\"f9\":7}'),"
    " ('2', 't1', '2026-01-02T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '{\"f1\":\"bee\","
    "  \"f2\":-2.5,\"f4\":\"2026-01-15\",\"f6\":[\"blue\"],\"f7\":\"Done\",\"f9\":\"seven\"}'),"
    " ('3', 't1', '2026-01-03T00:00:00.000Z', '2026-01-03T00:00:00.000Z', '{\"f1\":\"Cat 7\","
    "  \"f2\":0,\"f4\":\"2026-03-20T10:30:00.000Z\",\"f7\":\"Todo\"}'),"
    " ('4', 't1', '2026-01-04T00:00:00.000Z', '2026-01-04T00:00:00.000Z', '{}');";

static const char config[] =
    "{\"airtable_formula\": {\"fields\": {\"data\": \"r.data\", \"id\": \"r.id\","
    " \"created\": \"r.created\", \"modified\": \"r.modified\"}},"
    "\"airtable_sort\": {\"fields\": {\"data\": \"r.data\", \"id\": \"r.id\","
    " \"created\": \"r.created\", \"modified\": \"r.modified\"}}}";

static const char fields[] =
    "[{\"id\":\"f1\",\"name\":\"Name\",\"type\":\"singleLineText\"},"
    "{\"id\":\"f2\",\"name\":\"Count\",\"type\":\"number\"},"
    "{\"id\":\"f3\",\"name\":\"Is on\",\"type\":\"checkbox\"},"
    "{\"id\":\"f4\",\"name\":\"Due\",\"type\":\"date\"},"
    "{\"id\":\"f5\",\"name\":\"Links\",\"type\":\"multipleRecordLinks\"},"
    "{\"id\":\"f6\",\"name\":\"Tags\",\"type\":\"multipleSelects\"},"
    "{\"id\":\"f7\",\"name\":\"State\",\"type\":\"singleSelect\",\"choices\":[\"Todo\",\"Done\"]},"
    "{\"id\":\"f8\",\"name\":\"Who\",\"type\":\"singleCollaborator\"},"
    "{\"id\":\"f9\",\"name\":\"Mixed\",\"type\":\"formula\"},"
    "{\"id\":\"fa\",\"name\":\"Made\",\"type\":\"createdTime\"}]";

static const char scripts_text[] =
    "-- name: find\n"
    "SELECT ifnull(group_concat(id), '') AS result FROM (SELECT r.id FROM record r WHERE "
    "{{airtable_formula :q}} ORDER BY r.id);\n"
    "-- name: sort\n"
    "SELECT group_concat(id) AS result FROM (SELECT r.id FROM record r ORDER BY "
    "{{airtable_sort :q}}, r.id);\n";

static const struct {
    const char *query, *found;
} cases[] = {
    {"", "1,2,3,4"},
    {"1", "1,2,3,4"},
    {"0", ""},
    {"'x'", "1,2,3,4"},
    {"''", ""},
    {"{Name}", "1,2,3"},
    {"Name = 'Ant'", "1"},
    {"{Name}='ant'", ""},
    {"{f1} = \"bee\"", "2"},
    {"{Name} != 'Ant'", "2,3,4"},
    {"{Name} = BLANK()", "4"},
    {"{Name} = ''", "4"},
    {"NOT({Name})", "4"},
    {"LOWER({Name}) = 'ant'", "1"},
    {"{Count} > 0", "1"},
    {"{Count} < 1", "2,3,4"},
    {"{Count} = 0", "3,4"},
    {"{Count} = BLANK()", "4"},
    {"{Count} + 1 = 6", "1"},
    {"{Count} * -2 = 5", "2"},
    {"-{Count} = 2.5", "2"},
    {"{Count} - 1 - 1 = 3", "1"},
    {"2 + 3 * 4 = 14", "1,2,3,4"},
    {"(2 + 3) * 4 = 20", "1,2,3,4"},
    {"5 / 2 = 2.5", "1,2,3,4"},
    {"1 / {Count}", "1,2"},
    {"{Count} & '' = '-2.5'", "2"},
    {"{Count} & {Count} = '55'", "1"},
    {"'a' & 'b' & 'c' = 'abc'", "1,2,3,4"},
    {"{Is on}", "1"},
    {"{Is on} = TRUE()", "1"},
    {"{Is on} = 0", "2,3,4"},
    {"NOT({Is on})", "2,3,4"},
    {"AND({Count} > -5, {Name} != '', {State} = 'Todo')", "1,3"},
    {"OR({State} = 'Done', {Is on})", "1,2"},
    {"XOR({State} = 'Todo', {Is on})", "3"},
    {"IF({Is on}, 'yes', 'no') = 'no'", "2,3,4"},
    {"IF({Count} > 0, {Count}, {Name}) = 'bee'", "2"},
    {"IF({Is on}, 1)", "1"},
    {"SWITCH({State}, 'Todo', 'a', 'Done', 'b', 'c') = 'c'", "4"},
    {"SWITCH({State}, 'Todo', 'a') = 'a'", "1,3"},
    {"{Due} < TODAY()", "1"},
    {"{Due} = TODAY()", "2"},
    {"{Due} > '2026-01-12'", "2,3"},
    {"{Due} = BLANK()", "4"},
    {"IS_BEFORE({Due}, NOW())", "1,2"},
    {"IS_AFTER({Due}, '2026-03-20')", "3"},
    {"IS_SAME({Due}, '2026-03-01', 'month')", "3"},
    {"IS_SAME({Due}, '2026-01-15')", "2"},
    {"DATETIME_DIFF({Due}, TODAY(), 'days') = -5", "1"},
    {"DATETIME_DIFF({Due}, '2026-01-20', 'months') = 2", "3"},
    {"DATETIME_DIFF({Due}, '2026-01-21', 'months') = 1", "3"},
    {"DATEADD({Due}, 1, 'week') = '2026-01-22'", "2"},
    {"DATEADD({Due}, -2, 'months') = '2025-11-15'", "2"},
    {"DATEADD({Due}, 90, 'minutes') > '2026-03-20T11:59:00Z'", "3"},
    {"YEAR({Due}) = 2026", "1,2,3"},
    {"AND(MONTH({Due}) = 3, DAY({Due}) = 20, HOUR({Due}) = 10, MINUTE({Due}) = 30)", "3"},
    {"WEEKDAY({Due}) = 4", "2"},
    {"DATETIME_FORMAT({Due}, 'MMM D, YYYY h:mm A') = 'Mar 20, 2026 10:30 AM'", "3"},
    {"DATESTR({Due}) = '2026-03-20'", "3"},
    {"DATETIME_PARSE('2026-01-10') = {Due}", "1"},
    {"{Links} = 'bee, Cat 7'", "1"},
    {"FIND('bee', {Links})", "1"},
    {"{Tags} = 'red, blue'", "1"},
    {"ARRAYJOIN({Tags}, '|') = 'red|blue'", "1"},
    {"FIND('blue', ARRAYJOIN({Tags})) > 0", "1,2"},
    {"{Who} = 'Maya Chen'", "1"},
    {"{Mixed} = 7", "1"},
    {"{Mixed} = 'seven'", "2"},
    {"RECORD_ID() = '3'", "3"},
    {"CREATED_TIME() > '2026-01-02T12:00:00Z'", "3,4"},
    {"{Made} < '2026-01-02'", "1"},
    {"LAST_MODIFIED_TIME() = CREATED_TIME()", "2,3,4"},
    {"LEN({Name}) = 5", "3"},
    {"LEFT({Name}, 1) = 'C'", "3"},
    {"RIGHT({Name}, 2) = 'nt'", "1"},
    {"MID({Name}, 2, 2) = 'ee'", "2"},
    {"SEARCH('CAT', {Name})", "3"},
    {"FIND('CAT', {Name})", ""},
    {"FIND('e', {Name}, 3) = 3", "2"},
    {"SUBSTITUTE({Name}, 'e', 'o') = 'boo'", "2"},
    {"REPLACE({Name}, 1, 1, 'B') = 'Bee'", "2"},
    {"REPT('ab', 2) & TRIM(' c ') & UPPER('d') = 'ababcD'", "1,2,3,4"},
    {"CONCATENATE({Name}, '-', {Count}) = 'Ant-5'", "1"},
    {"REGEX_MATCH({Name}, '^[A-Z].* \\\\d$')", "3"},
    {"REGEX_MATCH({Name}, '(')", ""},
    {"EXACT({Name}, 'Ant')", "1"},
    {"VALUE('12') = 12", "1,2,3,4"},
    {"ROUND({Count}, 0) = -3", "2"},
    {"ABS({Count}) = 2.5", "2"},
    {"INT({Count}) = -3", "2"},
    {"CEILING(2.1) + FLOOR(2.9) = 5", "1,2,3,4"},
    {"MOD({Count}, 3) = 2", "1"},
    {"MAX({Count}, 1) = 5", "1"},
    {"MIN(3, 2, 4) = 2", "1,2,3,4"},
    {"SUM(1, 2, {Count}) = 8", "1"},
    {"AVERAGE(1, 2) = 1.5", "1,2,3,4"},
    {"POWER(2, 3) = SQRT(64)", "1,2,3,4"},
    {"ROUNDUP(-1.21, 1) = -1.3", "1,2,3,4"},
    {"COUNTA({Name}, {State}, {Who}) = 3", "1"},
    {"'it\\'s' = \"it's\"", "1,2,3,4"},
    {"{Name} = '\\' OR 1'", ""},
};

static const struct {
    const char *query, *error;
} refused[] = {
    {"{Nope} = 1", "Unknown field names: Nope"},
    {"nope", "Unknown field names: nope"},
    {"NOSUCH(1)", "Unknown function names: NOSUCH"},
    {"AND(1", "Invalid formula. Please check your formula text."},
    {"1 +", "Invalid formula. Please check your formula text."},
    {"1 1", "Invalid formula. Please check your formula text."},
    {"'open", "Invalid formula. Please check your formula text."},
    {"{Name", "Invalid formula. Please check your formula text."},
    {"LEFT('a')", "Invalid formula. Please check your formula text."},
    {"AND()", "Invalid formula. Please check your formula text."},
    {"1.2.3", "Invalid formula. Please check your formula text."},
    {"DATEADD({Due}, 1, 'fortnight')", "Invalid formula. Please check your formula text."},
    {"DATEADD({Due}, 1, {Name})", "Invalid formula. Please check your formula text."},
    {"IS_SAME({Due}, {Due}, 'quarter')", "Invalid formula. Please check your formula text."},
};

static const struct {
    const char *sort, *order;
} orders[] = {
    {"null", "1,2,3,4"},
    {"[]", "1,2,3,4"},
    {"[{\"field\":\"Name\"}]", "4,1,2,3"},
    {"[{\"field\":\"Name\",\"direction\":\"desc\"}]", "3,2,1,4"},
    {"[{\"field\":\"Count\",\"direction\":\"asc\"}]", "4,2,3,1"},
    {"[{\"field\":\"State\",\"direction\":\"desc\"},{\"field\":\"Due\",\"direction\":\"desc\"}]",
     "2,3,1,4"},
    {"[{\"field\":\"Made\",\"direction\":\"desc\"}]", "4,3,2,1"},
};

static struct lang_check check = {.schema = schema, .languages = config, .scripts = scripts_text};

static int set_up(void **state)
{
    (void)state;
    lang_check_open(&check);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lang_check_close(&check);
    return 0;
}

/* Runs SCRIPT with the request of QUERY (text) and SORT (JSON). */
static struct app_call run(const char *script, const char *query, const char *sort)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    (void)buf_add_lit(&b, "{\"query\":");
    (void)json_write_str(&b, str_of(query));
    (void)buf_printf(&b, ",\"sort\":%s,\"fields\":%s}", sort, fields);
    assert_true(buf_ok(&b));
    return lang_check_run(&check, scripts_find(&check.parsed, str_of(script)), buf_str(&b));
}

static void test_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct app_call call = run("find", cases[i].query, "null");
        if (call.error.p)
            fail_msg("%s: %s", cases[i].query, call.error.p);
        if (!str_is(call.result, cases[i].found))
            fail_msg("%s: found '%s', not '%s'", cases[i].query, call.result.p, cases[i].found);
    }
}

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct app_call call = run("find", refused[i].query, "null");
        if (!call.is_query_error || !str_is(call.error, refused[i].error))
            fail_msg("%s: says '%s'", refused[i].query, call.error.p ? call.error.p : "nothing");
    }
}

static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct app_call call = run("sort", "", orders[i].sort);
        if (!str_is(call.result, orders[i].order))
            fail_msg("%s: '%s', not '%s'", orders[i].sort, call.result.p ? call.result.p : "error",
                     orders[i].order);
    }
    assert_true(run("sort", "", "[{\"field\":\"Nope\"}]").is_query_error);
}

/* N times BEFORE, then MIDDLE, then N times BEHIND. */
static bool is_refused(size_t n, const char *before, const char *middle, const char *behind)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&b, "%s", before);
    (void)buf_printf(&b, "%s", middle);
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&b, "%s", behind);
    return run("find", buf_cstr(&b), "null").is_query_error;
}

/* Long and deep formulas are refused, before SQLite would. */
static void test_limits(void **state)
{
    static const struct {
        const char *before, *middle, *behind;
        size_t n; /* are taken */
    } shapes[] = {
        {"(", "1", ")", 40},
        {"-", "{Count}", "", 10},
        {"", "{Name}", " & {Name}", 80},
        {"", "{Count}", " + 1", 80},
        {"UPPER(", "{Name}", ")", 12},
        {"IF({Is on}, 'x', ", "{Name}", ")", 7},
        {"IF({Count} > 1, {Count}, ", "{Name}", ")", 7},
        {"AND({Is on}, NOT(", "{Is on}", "))", 3},
        {"ROUNDUP(", "{Count}", ", 1)", 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        const char *before = shapes[i].before, *behind = shapes[i].behind;
        if (is_refused(shapes[i].n, before, shapes[i].middle, behind))
            fail_msg("%zu of %s…%s are refused", shapes[i].n, before, behind);
        for (size_t n = 1; n <= 200; n++)
            (void)is_refused(n, before, shapes[i].middle, behind);
        if (!is_refused(1000, before, shapes[i].middle, behind))
            fail_msg("1000 of %s…%s are taken", before, behind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
