/* SPDX-License-Identifier: MIT */
/* Searches of chats: what is found by them. */
#include "lang_check.h"

static const char schema[] =
    "CREATE TABLE m (id INTEGER PRIMARY KEY, at TEXT, who TEXT, place TEXT, text TEXT);"
    "INSERT INTO m VALUES"
    " (1, '2025-12-31 23:59:59', 'ann', 'lab', 'Robots drifting left'),"
    " (2, '2026-01-01 00:00:00', 'bob', 'lab', 'see https://x.example \"quoted\" 100%'),"
    " (3, '2026-01-12 14:05:00', 'ann', 'ops', 'queue is full, <@bob> look'),"
    " (4, '2026-01-14 23:59:59', 'cy', 'ops', 'the queue drains; is it full? :tada:'),"
    " (5, '2026-01-15 08:00:00', 'bob', 'lab', 'Tomás wrote -- \"is full queue\" !!!');"
    "CREATE VIRTUAL TABLE fts_m USING fts5 (text, content = 'm', content_rowid = 'id',"
    " tokenize = 'porter unicode61 remove_diacritics 2');"
    "INSERT INTO fts_m (rowid, text) SELECT id, text FROM m;";

static const char config[] =
    "{\"slack\": {\"words\": \"id IN (SELECT rowid FROM fts_m WHERE fts_m MATCH {})\","
    "\"plain\": \"instr(text, {}) > 0\", \"mention\": \"instr(text, '<@' || {} || '>') > 0\","
    "\"time\": \"unixepoch(at)\", \"from\": \"who = {}\", \"in\": \"place = {}\","
    "\"hasmy\": \"{} = 'tada' AND id = 4\","
    "\"has\": {\"\": \"instr(text, ':' || {} || ':') > 0\", \"link\": \"instr(text, '://') > 0\"},"
    "\"is\": {\"odd\": \"id % 2\"}},"
    "\"slack_score\": {\"score\": \"ifnull((SELECT rank FROM fts_m WHERE fts_m MATCH {} AND rowid "
    "= id), 0)\"}}";

static const char scripts_text[] =
    "-- name: find\n"
    "SELECT ifnull(group_concat(id), '') AS result FROM (SELECT id FROM m WHERE {{slack :q}} ORDER "
    "BY id);\n"
    "-- name: best\n"
    "SELECT group_concat(id) AS result FROM (SELECT id FROM m ORDER BY {{slack_score :q}}, id);\n";

static const struct {
    const char *query, *found;
} cases[] = {
    {"", "1,2,3,4,5"},
    {"  \t ", "1,2,3,4,5"},
    {"queue", "3,4,5"},
    {"QUEUE full", "3,4,5"},
    {"\"queue is full\"", "3"},
    {"\"queue is full", "3"},
    {"queue -drains", "3,5"},
    {"-\"is full\" queue", "4"},
    {"drift", "1"}, /* by the stem */
    {"robo*", "1"},
    {"rob", ""},
    {"tomas", "5"},
    {"!!!", "5"},
    {"%", "2"},
    {"-", "5"},
    {"\"", "1,2,3,4,5"},
    {"\"\"", "1,2,3,4,5"},
    {"a\"b OR c", ""},
    {"queue OR robots", ""}, /* not an operator */
    {"from:ann", "1,3"},
    {"FROM:@ann", "1,3"},
    {"from:<@ann>", "1,3"},
    {"from:<@ann|Ann A>", ""},
    {"from:<@ann|Ann>", "1,3"},
    {"from:\"ann\"", "1,3"},
    {"from:ann from:cy", "1,3,4"},
    {"from:ann from:bob in:#lab", "1,2,5"},
    {"-from:ann", "2,4,5"},
    {"-from:ann -from:bob", "4"},
    {"from:' OR 1", ""},
    {"from: ann", ""}, /* two words */
    {"in:lab in:ops from:cy", "4"},
    {"@bob", "3"},
    {"<@bob>", "3"},
    {"-@bob in:ops", "4"},
    {"has:link", "2"},
    {"has::tada:", "4"},
    {"-has::tada: in:ops", "3"},
    {"has:magic", ""},
    {"hasmy::tada:", "4"},
    {"is:odd", "1,3,5"},
    {"-is:odd", "2,4"},
    {"is:new", ""},
    {"to:me", ""}, /* no SQL for it here */
    {"on:2026-01-01", "2"},
    {"before:2026-01-01", "1"},
    {"after:2026-01-01", "3,4,5"},
    {"after:2025-12-31 before:2026-01-14", "2,3"},
    {"during:2026", "2,3,4,5"},
    {"during:2025-12", "1"},
    {"during:dec", "1"},
    {"during:December", "1"},
    {"during:jan", "2,3,4,5"},
    {"before:january", "1"},
    {"on:today", "5"},
    {"on:Yesterday", "4"},
    {"during:week", "3,4,5"},
    {"during:month", "2,3,4,5"},
    {"before:month", "1"},
    {"during:year", "2,3,4,5"},
    {"on:2026-1-1", ""},
    {"on:2026-13-45", ""},
    {"on:someday", ""},
    {"-on:someday", "1,2,3,4,5"},
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
        struct app_call call = search("find", str_of(cases[i].query));
        if (!str_is(call.result, cases[i].found))
            fail_msg("%s: found '%.*s', not '%s'", cases[i].query, (int)call.result.len,
                     call.result.p, cases[i].found);
    }
}

/* The text that has the word more often for its length comes first. */
static void test_score(void **state)
{
    (void)state;
    assert_str(search("best", STR("queue")).result, "3,5,4,1,2");
    assert_str(search("best", STR("robots -queue from:ann")).result, "1,2,3,4,5");
    assert_str(search("best", STR("from:ann")).result, "1,2,3,4,5");
}

static void test_limits(void **state)
{
    char query[3 * 41 + 1];

    (void)state;
    for (size_t i = 0; i < sizeof query - 1; i++)
        query[i] = "-a "[i % 3];
    assert_true(search("find", str_n(query, 3 * 40)).result.p);
    struct app_call call = search("find", str_n(query, sizeof query - 1));
    assert_true(call.is_query_error);
    assert_str(call.error, "query_too_complex");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
