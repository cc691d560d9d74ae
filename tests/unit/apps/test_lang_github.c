/* SPDX-License-Identifier: MIT */
/* GitHub's search: what is found by it, and in which order. */
#include "lang_check.h"

static const char schema[] =
    "CREATE TABLE i (id INTEGER PRIMARY KEY, repo, owner, state, label, author, at, n, title, "
    "body);"
    "INSERT INTO i VALUES"
    " (1, 'o/a', 'o', 'open', 'bug', 'ann', '2025-12-31T23:59:59Z', 0, 'Robots drift left', ''),"
    " (2, 'o/a', 'o', 'closed', 'help wanted', 'bob', '2026-01-01T00:00:00Z', 3, 'Queue', "
    "'drifting, \"quoted\" text'),"
    " (3, 'p/b', 'p', 'open', 'docs', 'ann', '2026-01-12T14:05:00Z', 10, 'Cold boot', 'see "
    "queue'),"
    " (4, 'p/c', 'p', 'open', NULL, NULL, '2026-01-15T08:00:00Z', 7, 'Boot cold', NULL);";

static const char config[] =
    "{\"github_issues\": {\"me\": \"ann\", \"text\": {\"title\": \"title\", \"body\": "
    "\"ifnull(body, "
    "'')\"},"
    "\"in\": [\"title\", \"body\"], \"qualifiers\": {"
    "\"repo\": {\"sql\": \"repo = ?\", \"group\": \"scope\"},"
    "\"user\": {\"sql\": \"owner = ?\", \"group\": \"scope\"},"
    "\"is\": {\"values\": {\"open\": \"state = 'open'\", \"closed\": \"state = 'closed'\"}},"
    "\"label\": {\"sql\": \"label = ?\", \"list\": true},"
    "\"author\": {\"sql\": \"author = ? OR author = upper(?)\"},"
    "\"created\": {\"date\": \"at\"}, \"comments\": {\"number\": \"n\"},"
    "\"all\": {\"values\": {\"true\": \"1\"}}}},"
    "\"github_repos\": {\"text\": {\"t\": \"title\"}, \"in\": [\"t\"], \"is_substring\": true,"
    "\"qualifiers\": {\"fork\": {\"values\": {\"true\": \"1\"}}},"
    "\"absent\": {\"fork\": \"owner = 'p'\"}},"
    "\"github_issues_order\": {\"sort\": {\"comments\": \"n\"}, \"default\": \"id\"}}";

static const char scripts_text[] =
    "-- name: find\n"
    "SELECT ifnull(group_concat(id), '') AS result FROM (SELECT id FROM i WHERE "
    "{{github_issues :q}} ORDER BY id);\n"
    "-- name: repos\n"
    "SELECT ifnull(group_concat(id), '') AS result FROM (SELECT id FROM i WHERE "
    "{{github_repos :q}} ORDER BY id);\n"
    "-- name: order\n"
    "SELECT group_concat(id) AS result FROM (SELECT id FROM i ORDER BY {{github_issues_order "
    ":q}});\n";

static const struct {
    const char *script, *query, *found;
} cases[] = {
    {"find", "", "1,2,3,4"},
    {"find", "  \t ", "1,2,3,4"},
    {"find", "drift", "1,2"},
    {"find", "DRIFTING", "2"},
    {"find", "rift", ""}, /* not from the beginning of a word */
    {"find", "cold boot", "3,4"},
    {"find", "\"cold boot\"", "3"},
    {"find", "\"cold boot", "3"},
    {"find", "\"\\\"quoted\\\" text\"", "2"},
    {"find", "queue in:title", "2"},
    {"find", "queue in:body", "3"},
    {"find", "queue in:title,body", "2,3"},
    {"find", "queue -in:title", "2"}, /* says where, excluded or not */
    {"find", "-queue", "1,4"},
    {"find", "NOT queue", "1,4"},
    {"find", "NOT -queue", "2,3"},
    {"find", "cold AND boot", "3,4"},
    {"find", "drift OR cold", "1,2,3,4"},
    {"find", "drift OR cold is:closed", "1,2"},
    {"find", "(drift OR cold) is:closed", "2"},
    {"find", "(drift OR cold", "1,2,3,4"},
    {"find", "-(is:open label:bug)", "2,3,4"},
    {"find", "()", "1,2,3,4"},
    {"find", "OR", "1,2,3,4"},
    {"find", "text)", ""}, /* closes nothing: a part of the word */
    {"find", "is:open", "1,3,4"},
    {"find", "IS:Open", "1,3,4"},
    {"find", "-is:open", "2"},
    {"find", "repo:o/a", "1,2"},
    {"find", "repo:o/a repo:p/b", "1,2,3"},
    {"find", "user:p repo:o/a is:open", "1,3,4"},
    {"find", "-repo:o/a -repo:p/b", "4"},
    {"find", "(user:o) is:open", "1"},
    {"find", "label:bug,docs", "1,3"},
    {"find", "label:\"help wanted\"", "2"},
    {"find", "label:\"bug\" label:docs", ""},
    {"find", "-label:bug", "2,3,4"},
    {"find", "author:@me", "1,3"},
    {"find", "author:' OR 1", ""},
    {"find", "author:", ""}, /* a word */
    {"find", "odd:drift", ""},
    {"find", ":x", ""},
    {"find", "created:2026-01-01", "2"},
    {"find", "created:>2026-01-01", "3,4"},
    {"find", "created:>=2026-01-01", "2,3,4"},
    {"find", "created:<2026-01-01", "1"},
    {"find", "created:<=2026-01-01T00:00:00Z", "1,2"},
    {"find", "created:2026-01-01..2026-01-12", "2,3"},
    {"find", "created:*..2026-01-01", "1,2"},
    {"find", "created:2026-01-12..*", "3,4"},
    {"find", "comments:3", "2"},
    {"find", "comments:>3", "3,4"},
    {"find", "comments:3..7", "2,4"},
    {"find", "-comments:0", "2,3,4"},
    {"find", "sort:comments is:open", "1,3,4"},
    {"repos", "old", "3,4"},
    {"repos", "", "3,4"},
    {"repos", "o fork:true", "1,3,4"},
    {"order", "", "1,2,3,4"},
    {"order", "x sort:comments", "3,4,2,1"},
    {"order", "sort:comments-asc", "1,2,4,3"},
    {"order", "sort:comments-desc y", "3,4,2,1"},
    {"order", "sort:magic", "1,2,3,4"},
};

static const struct {
    const char *query, *error;
} errors[] = {
    {"is:new", "The value is not valid for the qualifier: new"},
    {"is:\"a\\\"b\"", "The value is not valid for the qualifier: a\\\"b"},
    {"comments:x", "\\\"x\\\" is not a number."},
    {"comments:>", "\\\"\\\" is not a number."},
    {"created:soon",
     "\\\"soon\\\" is not a recognized date/time format. Please provide an ISO 8601 "
     "date/time value, such as YYYY-MM-DD."},
    {"created:2026-1-1..2026-02-02",
     "\\\"2026-1-1\\\" is not a recognized date/time format. Please provide an ISO 8601 "
     "date/time value, such as YYYY-MM-DD."},
    {"(((((((((x)))))))))", "The search has too many parentheses."},
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

static struct app_call search(const char *script, struct str query)
{
    return lang_check_run(&check, scripts_find(&check.parsed, str_of(script)), query);
}

static void test_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct app_call call = search(cases[i].script, str_of(cases[i].query));
        if (!str_is(call.result, cases[i].found))
            fail_msg("%s: found '%.*s', not '%s'", cases[i].query, (int)call.result.len,
                     call.result.p ? call.result.p : "", cases[i].found);
    }
}

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        struct app_call call = search("find", str_of(errors[i].query));
        assert_true(call.is_query_error);
        assert_string_equal(call.error.p, errors[i].error);
    }
}

static void test_limits(void **state)
{
    char query[257 + 1];

    (void)state;
    memset(query, 'w', sizeof query - 1);
    assert_false(search("find", str_n(query, 256)).is_query_error);
    struct app_call call = search("find", str_n(query, 257));
    assert_string_equal(call.error.p, "The search is longer than 256 characters.");
    for (size_t i = 0; i < sizeof query - 1; i++)
        query[i] = "-a "[i % 3];
    assert_false(search("find", str_n(query, 3 * 50)).is_query_error);
    call = search("find", str_n(query, 3 * 51));
    assert_string_equal(call.error.p, "The search is too long.");
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
