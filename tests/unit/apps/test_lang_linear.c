/* SPDX-License-Identifier: MIT */
/* Linear's filters: what is found by them. */
#include "lang_check.h"

static const char schema[] =
    "CREATE TABLE u (id INTEGER PRIMARY KEY, name TEXT, me INTEGER);"
    "INSERT INTO u VALUES (1, 'Ann', 1), (2, 'Bob', 0);"
    "CREATE TABLE c (i INTEGER, body TEXT, PRIMARY KEY (i, body));"
    "INSERT INTO c VALUES (1, 'good'), (1, 'bad'), (2, 'good');"
    "CREATE TABLE i (id INTEGER PRIMARY KEY, title TEXT, n REAL, at TEXT, owner INTEGER);"
    "INSERT INTO i VALUES"
    " (1, 'Cold boot', 1, '2025-12-31T23:59:59Z', 1),"
    " (2, 'cold store', 2, '2026-01-08T09:00:00Z', 2),"
    " (3, '100% queue', 0, '2026-01-14T10:00:00.500Z', NULL),"
    " (4, NULL, 4, NULL, 1);";

static const char config[] =
    "{\"linear_issues\": {\"type\": \"IssueFilter\", \"types\": {\"IssueFilter\": {"
    "\"title\": {\"text\": \"i.title\"}, \"n\": {\"number\": \"i.n\"}, \"at\": {\"date\": "
    "\"i.at\"},"
    "\"owner\": {\"one\": \"u WHERE u.id = i.owner\", \"type\": \"UserFilter\"},"
    "\"comments\": {\"many\": \"c WHERE c.i = i.id\", \"type\": \"CommentFilter\"}},"
    "\"UserFilter\": {\"name\": {\"text\": \"u.name\"}, \"me\": {\"bool\": \"u.me\"}},"
    "\"CommentFilter\": {\"body\": {\"text\": \"c.body\"}}}}}";

static const char scripts_text[] =
    "-- name: find\n"
    "SELECT ifnull(group_concat(id), '') AS result FROM (SELECT id FROM i WHERE "
    "{{linear_issues :q}} ORDER BY id);\n";

static const struct {
    const char *filter, *found;
} cases[] = {
    {"", "1,2,3,4"},
    {"{}", "1,2,3,4"},
    {"{'title': {}}", "1,2,3,4"},
    {"{'title': null, 'n': {'eq': null}}", "1,2,3,4"},
    {"{'title': {'eq': ''}}", "1,2,3,4"},
    {"{'title': {'eq': 'Cold boot'}}", "1"},
    {"{'title': 'Cold boot'}", "1"},
    {"{'title': {'neq': 'Cold boot'}}", "2,3,4"},
    {"{'title': {'in': ['Cold boot', 'x', '100% queue']}}", "1,3"},
    {"{'title': {'nin': ['Cold boot']}}", "2,3,4"},
    {"{'title': {'in': []}}", ""},
    {"{'title': {'contains': 'old'}}", "1,2"},
    {"{'title': {'contains': '%'}}", "3"},
    {"{'title': {'notContains': 'old'}}", "3,4"},
    {"{'title': {'containsIgnoreCase': 'COLD'}}", "1,2"},
    {"{'title': {'notContainsIgnoreCase': 'COLD'}}", "3,4"},
    {"{'title': {'startsWith': 'cold'}}", "2"},
    {"{'title': {'startsWithIgnoreCase': 'cold'}}", "1,2"},
    {"{'title': {'notStartsWith': 'cold'}}", "1,3,4"},
    {"{'title': {'eqIgnoreCase': 'COLD BOOT'}}", "1"},
    {"{'title': {'neqIgnoreCase': 'COLD BOOT'}}", "2,3,4"},
    {"{'title': {'null': true}}", "4"},
    {"{'title': {'null': false}}", "1,2,3"},
    {"{'title': {'startsWith': 'c', 'contains': 'store'}}", "2"},
    {"{'title': {'eq': \"' OR 1 --\"}}", ""},
    {"{'n': 2}", "2"},
    {"{'n': {'gt': 1}}", "2,4"},
    {"{'n': {'gte': 1, 'lt': 4}}", "1,2"},
    {"{'n': {'lte': 0.5}}", "3"},
    {"{'n': {'in': [0, 4]}}", "3,4"},
    {"{'at': {'lt': '2026-01-01'}}", "1"},
    {"{'at': {'gte': '2026-01-14T10:00:00.500Z'}}", "3"},
    {"{'at': {'gt': '2026-01-14T11:00:00.500+01:00'}}", ""},
    {"{'at': {'gt': '-P1D'}}", "3"},
    {"{'at': {'gte': '-P1W'}}", "2,3"},
    {"{'at': {'lt': '-P10D'}}", "1"},
    {"{'at': {'lt': 'P1Y2M3DT4H5M6S'}}", "1,2,3"},
    {"{'at': {'gt': '-PT24H'}}", "3"},
    {"{'owner': {'name': {'eq': 'Ann'}}}", "1,4"},
    {"{'owner': {'me': {'eq': false}}}", "2"},
    {"{'owner': {'null': true}}", "3"},
    {"{'owner': {'null': false}}", "1,2,4"},
    {"{'comments': {'some': {'body': {'eq': 'good'}}}}", "1,2"},
    {"{'comments': {'body': {'eq': 'bad'}}}", "1"},
    {"{'comments': {'every': {'body': {'eq': 'good'}}}}", "2,3,4"},
    {"{'comments': {'length': {'gte': 1}}}", "1,2"},
    {"{'comments': {'length': 0}}", "3,4"},
    {"{'or': [{'n': 4}, {'title': {'contains': 'boot'}}]}", "1,4"},
    {"{'and': [{'n': {'gt': 0}}, {'owner': {'name': 'Ann'}}], 'title': {'null': false}}", "1"},
    {"{'or': [], 'n': 1}", "1"},
    {"{'and': []}", "1,2,3,4"},
    {"{'owner': {'or': [{'name': 'Bob'}, {'me': true}]}, 'n': {'neq': 4}}", "1,2"},
};

static const struct {
    const char *filter, *error;
} errors[] = {
    {"[", "Variable \"$filter\" got invalid value; line 1 column 2: unexpected end"},
    {"[]", "Variable \"$filter\" got invalid value at \"IssueFilter\"; Expected type to be an "
           "object."},
    {"{'x': {'eq': 1}}",
     "Variable \"$filter\" got invalid value; Field \"x\" is not defined by type \"IssueFilter\"."},
    {"{'owner': {'x': 1}}",
     "Variable \"$filter\" got invalid value; Field \"x\" is not defined by type \"UserFilter\"."},
    {"{'owner': 1}",
     "Variable \"$filter\" got invalid value at \"owner\"; Expected type to be an object."},
    {"{'title': {'lt': 'x'}}",
     "Variable \"$filter\" got invalid value; Field \"lt\" is not defined by type \"Comparator\"."},
    {"{'n': {'eq': 'x'}}",
     "Variable \"$filter\" got invalid value at \"eq\"; Float cannot represent non numeric value."},
    {"{'title': {'in': 'x'}}",
     "Variable \"$filter\" got invalid value at \"in\"; Expected a list."},
    {"{'or': {'n': 1}}", "Variable \"$filter\" got invalid value at \"or\"; Expected a list."},
    {"{'owner': {'me': {'eq': 1}}}", "Variable \"$filter\" got invalid value at \"eq\"; Boolean "
                                     "cannot represent a non boolean value."},
    {"{'at': {'eq': 'P'}}", "Variable \"$filter\" got invalid value at \"eq\"; Expected a date, a "
                            "time or a duration in ISO 8601."},
    {"{'at': {'eq': 'P1X'}}",
     "Variable \"$filter\" got invalid value at \"eq\"; Expected a date, a "
     "time or a duration in ISO 8601."},
    {"{'at': {'eq': 'P1D2'}}", "Variable \"$filter\" got invalid value at \"eq\"; Expected a date, "
                               "a time or a duration in ISO 8601."},
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

/* FILTER has apostrophes for quotes, but not in a text with quotes. */
static struct app_call search(const char *filter)
{
    char *text = arena_strdup(&check.arena, filter);
    bool is_quoted = false;

    for (char *p = text; *p; p++) {
        is_quoted ^= *p == '"';
        if (*p == '\'' && !is_quoted)
            *p = '"';
    }
    return lang_check_run(&check, &check.parsed.items[0], str_of(text));
}

static void test_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct app_call call = search(cases[i].filter);
        if (!str_is(call.result, cases[i].found))
            fail_msg("%s: found '%.*s', not '%s'", cases[i].filter, (int)call.result.len,
                     call.result.p ? call.result.p : call.error.p, cases[i].found);
    }
}

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        struct app_call call = search(errors[i].filter);
        assert_true(call.is_query_error);
        assert_string_equal(call.error.p, errors[i].error);
    }
}

/* N filters in each other. */
static bool nests(unsigned n)
{
    auto_buf struct buf b = BUF_INIT(4096);

    for (unsigned i = 1; i < n; i++)
        (void)buf_add_lit(&b, "{'and':[");
    (void)buf_add_lit(&b, "{'n':1}");
    for (unsigned i = 1; i < n; i++)
        (void)buf_add_lit(&b, "]}");
    return !search(buf_cstr(&b)).is_query_error;
}

static bool takes_list(unsigned n)
{
    auto_buf struct buf b = BUF_INIT(4096);

    (void)buf_add_lit(&b, "{'n':{'in':[0");
    for (unsigned i = 1; i < n; i++)
        (void)buf_add_lit(&b, ",1");
    (void)buf_add_lit(&b, "]}}");
    return !search(buf_cstr(&b)).is_query_error;
}

static void test_limits(void **state)
{
    (void)state;
    assert_true(nests(12));
    assert_false(nests(13));
    assert_true(takes_list(58));
    assert_false(takes_list(59));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
