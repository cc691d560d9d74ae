/* SPDX-License-Identifier: MIT */
/* Filters of Cloud Logging: which entries they find. */
#include "lang_check.h"

static struct lang_check check = {
    .schema = "CREATE TABLE e (id INTEGER PRIMARY KEY, level, at, text, json);"
              "INSERT INTO e VALUES (1, 200, '2026-01-12T14:00:00Z', 'Queue is full', NULL),"
              " (2, 500, '2026-01-12T15:00:00Z', NULL, '{\"code\": 503, \"a\": {\"b\": \"x\"}}'),"
              " (3, 400, '2026-01-13T00:00:00Z', 'it''s 100%', NULL);",
    .languages = "{\"logging\": {\"fields\": {\"severity\": \"level\", \"timestamp\": \"at\","
                 "\"textPayload\": \"text\", \"jsonPayload\": \"json\","
                 "\"all\": \"ifnull(text, '') || ifnull(json, '')\"}}}",
    .scripts = "-- name: find\nSELECT ifnull(group_concat(id), '') AS result"
               " FROM (SELECT id FROM e WHERE {{logging :q}} ORDER BY id);\n",
};

static const struct lang_case cases[] = {
    {"", "1,2,3"},
    {"severity>=WARNING", "2,3"},
    {"severity=warning", "3"},
    {"severity != ERROR", "1,3"},
    {"severity=(INFO OR ERROR)", "1,2"},
    {"textPayload:\"queue\"", "1"},
    {"textPayload=\"queue is full\"", "1"},
    {"textPayload:*", "1,3"},
    {"-textPayload:*", "2"},
    {"NOT full", "2,3"},
    {"full OR 100", "1,3"},
    {"severity>INFO AND full OR 503", "2"}, /* OR binds more than AND */
    {"(severity>INFO AND full) OR 503", "2"},
    {"jsonPayload.code=503", "2"},
    {"jsonPayload.code>500 jsonPayload.a.b=X", "2"},
    {"timestamp<\"2026-01-12T15:00:00Z\"", "1"},
    {"timestamp>=\"2026-01-12T16:00:00+01:00\"", "2,3"},
    {"textPayload=~\"^Q.*ll$\"", "1"},
    {"SEARCH(\"it's\")", "3"},
    {"nothing.like.it=5", ""},
    {"severity>=", "error: Unparseable filter: syntax error at line 1, column 11, token 'EOF'"},
    {"severity=LOUD", "error: Unparseable filter: invalid enum value \"LOUD\" for field "
                      "'severity'"},
    {"(full", "error: Unparseable filter: syntax error at line 1, column 6, token 'EOF'"},
    {"full)", "error: Unparseable filter: syntax error at line 1, column 5, token ')'"},
    {"((((((((((a))))))))))", "error: Unparseable filter: too many nested expressions"},
    {"a=\"open", "error: Unparseable filter: syntax error at line 1, column 3, token '\"'"},
    {"drop('x')", "error: Unparseable filter: syntax error at line 1, column 9, token ')'"},
};

static void test_filters(void **state)
{
    (void)state;
    lang_check_all(&check, cases, ARRAY_LEN(cases));
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_filters)};

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
