/* SPDX-License-Identifier: MIT */
/* Gmail's search: what is found by it. */
#include "lang_check.h"

static struct lang_check check = {
    .schema =
        "CREATE TABLE m (n INTEGER PRIMARY KEY, sender, receivers, subject, body, files, date,"
        " size, header, labels);"
        "INSERT INTO m VALUES"
        " (1, 'Ann Lee <ann@x.example>', 'me@x.example', 'Budget plan', 'numbers attached',"
        "  'budget.xlsx', 1767225600000, 5000000, 'a@x', ',INBOX,UNREAD,work,'),"
        " (2, 'Bob <bob@y.example>', 'ann@x.example', 'Lunch on Friday?', 'pizza or \"sushi\"', '',"
        "  1768000000000, 900, 'b@x', ',INBOX,STARRED,'),"
        " (3, 'Me <me@x.example>', 'bob@y.example', 'Re: Lunch on Friday?', 'Tomás says pizza', '',"
        "  1768380000000, 800, 'c@x', ',SENT,'),"
        " (4, 'Shop <ads@z.example>', 'me@x.example', 'Cheap pizza', 'buy now', '',"
        "  1768450000000, 700, 'd@x', ',SPAM,'),"
        " (5, 'Ann Lee <ann@x.example>', 'me@x.example', 'plan B', 'a budget for 100%', '',"
        "  1768460000000, 20000, 'e@x', ',my project,CATEGORY_PERSONAL,');"
        "CREATE VIRTUAL TABLE f USING fts5 (sender, receivers, subject, body, files,"
        " tokenize = 'unicode61 remove_diacritics 2');"
        "INSERT INTO f (rowid, sender, receivers, subject, body, files)"
        " SELECT n, sender, receivers, subject, body, files FROM m;",
    .languages =
        "{\"gmail\": {\"me\": \"me@x.example\", \"date\": \"m.date\", \"size\": \"m.size\","
        "\"match\": \"m.n IN (SELECT rowid FROM f WHERE f MATCH ?)\","
        "\"columns\": {\"from\": \"sender\", \"to\": \"receivers\", \"subject\": \"subject\","
        " \"filename\": \"files\"},"
        "\"label\": \"instr(lower(replace(m.labels, ' ', '-')), lower(',' || ? || ',')) > 0\","
        "\"is_visible\": \"m.labels NOT LIKE '%,SPAM,%'\","
        "\"has\": {\"attachment\": \"m.files <> ''\"}, \"rfc822msgid\": \"m.header = ?\"}}",
    .scripts = "-- name: find\n"
               "SELECT ifnull(group_concat(n), '') AS result FROM (SELECT n FROM m WHERE"
               " {{gmail :q}} ORDER BY n);\n",
};

static const struct lang_case cases[] = {
    {"", "1,2,3,5"},
    {"pizza", "2,3"},
    {"PIZZA friday", "2,3"},
    {"\"or sushi\"", "2"},
    {"\"sushi or\"", ""},
    {"pizza -sushi", "3"},
    {"-pizza", "1,5"},
    {"tomas", "3"},
    {"piz*", "2,3"},
    {"from:ann", "1,5"},
    {"from:ann@x.example subject:plan", "1,5"},
    {"from: ann budget.xlsx", "1"},
    {"FROM:bob", "2"},
    {"from:me", "3"},
    {"to:me", "1,5"},
    {"subject:(plan budget)", "1"},
    {"subject:{plan lunch}", "1,2,3,5"},
    {"subject:\"plan b\"", "5"},
    {"subject:(plan -budget)", "5"},
    {"from:(ann OR bob)", "1,2,5"},
    {"from:ann OR from:bob pizza", "2"}, /* OR joins its neighbours only */
    {"from:ann (subject:b OR subject:budget)", "1,5"},
    {"{from:bob is:sent}", "2,3"},
    {"-{from:bob is:sent}", "1,5"},
    {"NOT from:ann", "2,3"},
    {"pizza AND from:bob", "2"},
    {"pizza | budget", "1,2,3,5"},
    {"in:inbox", "1,2"},
    {"in:sent", "3"},
    {"in:spam", "4"},
    {"in:anywhere pizza", "2,3,4"},
    {"-in:spam pizza", "2,3"},
    {"is:unread", "1"},
    {"is:read", "2,3,5"},
    {"is:starred", "2"},
    {"in:archive", "5"},
    {"label:work", "1"},
    {"label:my-project", "5"},
    {"label:none", ""},
    {"category:primary", "5"},
    {"has:attachment", "1"},
    {"has:nothing", ""},
    {"filename:xlsx", "1"},
    {"after:2026/01/14", "3,5"},
    {"after:2026-01-14 before:2026/01/15", "3"},
    {"before:01/02/2026", "1"},
    {"after:1768400000", "5"},
    {"after:tomorrow", ""},
    {"after:2026/13/01", ""},
    {"older_than:1w", "1"},
    {"newer_than:2d", "3,5"},
    {"newer_than:3h", "5"},
    {"older_than:1y", ""},
    {"newer_than:2x", ""},
    {"larger:1M", "1"},
    {"larger:10K smaller:4mb", "5"},
    {"size:5000000", ""},
    {"larger:big", ""},
    {"rfc822msgid:<b@x>", "2"},
    {"rfc822msgid:b@x", "2"},
    {"unknown:pizza", ""}, /* words */
    {"100%", "5"},
    {"-", "1,2,3,5"},
    {"\"", "1,2,3,5"},
    {"()", "1,2,3,5"},
    {"from:", "1,2,3,5"},
    {") pizza (", "2,3"},
    {"(pizza", "2,3"},
    {"OR pizza OR", "2,3"},
    {"from:ann' OR '1'='1", "1,5"},
    {"\"pizza\" OR \"budget", "1,2,3,5"},
    {"{qq qqq OR -{qq qqq OR -{qq qqq OR -{qq qqq OR -{qq qqq OR -{qq qqq OR -label:work}}}}}}",
     "1"},
};

static void finds(void **state)
{
    (void)state;
    lang_check_all(&check, cases, ARRAY_LEN(cases));
}

/* As many terms as allowed, and one more; as deep as allowed, and deeper. */
static void has_limits(void **state)
{
    char query[256];

    (void)state;
    for (size_t i = 0; i < sizeof query; i++)
        query[i] = i % 2 ? ' ' : 'a';
    assert_str(lang_check_find(&check, str_n(query, 196)), "5");
    assert_str(lang_check_find(&check, str_n(query, 220)),
               "error: Invalid query: more than 100 terms or 6 levels");
    for (size_t i = 0; i < sizeof query; i++)
        query[i] = '(';
    assert_str(lang_check_find(&check, str_n(query, 6)), "1,2,3,5");
    assert_str(lang_check_find(&check, str_n(query, 7)),
               "error: Invalid query: more than 100 terms or 6 levels");
    assert_str(lang_check_find(&check, str_n("pizza\0-sushi", 12)), "3");
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),
        cmocka_unit_test(has_limits),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
