/* SPDX-License-Identifier: MIT */
/* The functions of scripts for texts and objects: text_match, html_text, adf_text, json_pick,
 * csv_row, slack_text, slack_date, sheets_rows, sheets_merge. */
#include "../check.h"

#include <stdio.h>
#include <unistd.h>

#include "apps/db/db.h"

/* Each is a script of its own: the functions are there in calls only. */
static const struct {
    const char *sql, *result;
} cases[] = {
    {"html_text('plain')", "plain"},
    {"html_text('<p>a &amp; b</p><p>c</p>')", "a & b\nc\n"},
    {"html_text('x<br/>y<BR />z')", "x\ny\nz"},
    {"html_text('<a href=\"u\">link</a> &lt;b&gt; &unknown; 1 < 2')", "link <b> &unknown; 1 < 2"},
    {"html_text('open <b')", "open "},
    {"html_text('&')", "&"},
    {"html_text(NULL) IS NULL", "1"},
    {"adf_doc('a\"b')", "{\"type\":\"doc\",\"version\":1,\"content\":[{\"type\":\"paragraph\","
                        "\"content\":[{\"type\":\"text\",\"text\":\"a\\\"b\"}]}]}"},
    {"adf_doc('')", "{\"type\":\"doc\",\"version\":1,\"content\":[]}"},
    {"adf_text(adf_doc('two\nlines'))", "two\nlines"},
    {"adf_text(adf_doc(''))", ""},
    {"adf_text(NULL) IS NULL", "1"},
    {"adf_text('not a document')", "not a document"},
    {"adf_text('{\"type\":\"doc\",\"content\":[{\"type\":\"paragraph\",\"content\":[{\"type\":"
     "\"text\",\"text\":\"a\"},{\"type\":\"hardBreak\"},{\"type\":\"mention\",\"attrs\":{\"text\":"
     "\"@b\"}}]},{\"type\":\"paragraph\",\"content\":[{\"type\":\"inlineCard\",\"attrs\":{\"url\":"
     "\"c\"}}]}]}')",
     "a\n@b\nc"},
    {"json_pick('a, c', '{\"a\":1,\"b\":2,\"c\":null}')", "{\"a\":1,\"c\":null}"},
    {"json_pick('*all', '{\"a\":1}', NULL, '{\"a\":2,\"b\":3}')", "{\"a\":1,\"b\":3}"},
    {"json_pick('', '{\"a\":1}')", "{}"},
    {"csv_row('a', 'b,c', NULL, 'd\"e', 7, 'f g', ' h', 'i\nj', '')",
     "a,\"b,c\",,\"d\"\"e\",7,f g,\" h\",\"i\nj\",\n"},
    {"csv_row('\\.', '\\')", "\"\\.\",\\\n"},
    {"slack_text('  Ça va?  *Yes*, it''s \t(done)! ')", "Ça va? Yes, its done"},
    {"slack_text('<@U1> see <https://a.example/x?y=1#z|the page> and <https://b.example>')",
     "U1 see https://a.example/x?y=1#z - the page, and https://b.example"},
    {"slack_text('[docs!](http://a.example) ')", "http://a.example - docs"},
    {"slack_text('<https://a.example|open [x](y) [] 5 °C ✅🚀 日本 — ok')",
     "https://a.exampleopen xy 5 C 日本 ok"},
    {"slack_text('http:// <>') || slack_text('') || slack_text(NULL)", "http://"},
    {"slack_date('2026-01-15', now())", "2026-01-15"},
    {"slack_date(' 2026/2/3 ', now())", "2026-02-03"},
    {"slack_date('02-03-2026', now())", "2026-02-03"},
    {"slack_date('23/02/2026', now())", "2026-02-23"},
    {"slack_date('Feb 3, 2026', now())", "2026-02-03"},
    {"slack_date('3 February 2026', now())", "2026-02-03"},
    {"slack_date('2026-sept-3', now())", "2026-09-03"},
    {"slack_date('July 2025', now()) || slack_date('2025 jul', now())", "2025-07-012025-07-01"},
    {"slack_date('Yesterday', '2026-03-01T09:00:00Z')", "2026-02-28"},
    {"slack_date('tomorrow', '2026-03-01')", "2026-03-02"},
    {"slack_date('3 days ago', '2026-03-01')", "2026-02-26"},
    {"coalesce(slack_date('July', now()), slack_date('', now()), slack_date('30 Feb 2026', now()), "
     "slack_date('2026-13-01', now()), slack_date('1-2-26', now()), slack_date('a b c', now()), "
     "slack_date('1 2 3 2026', now()), slack_date('today', 'x'), 'none')",
     "none"},
    {"text_match('cold boot', 'a boot, COLD')", "1"},
    {"text_match('cold boot', 'cold', 'boot')", "1"},
    {"text_match('\"cold boot\"', 'cold', 'boot')", "0"},
    {"text_match('\"cold boots\"', 'a cold boot')", "1"},
    {"text_match('back-pressure', 'queue back pressure')", "1"},
    {"text_match('back-pressure', 'pressure back')", "0"},
    {"text_match('planning', 'plans')", "1"},
    {"text_match('class', 'clas')", "0"},
    {"text_match('telemtry~', 'telemetry')", "1"},
    {"text_match('telemtry', 'telemetry')", "0"},
    {"text_match('bat~', 'cat')", "0"},
    {"text_match('lida* -harbor', 'lidar tower')", "1"},
    {"text_match('lida* -tower', 'lidar tower')", "0"},
    {"text_match('', 'x')", "1"},
    {"text_match('x', NULL)", "0"},
    {"text_match('É', 'é')", "1"},
    {"json_nest('[{\"i\":\"1\",\"p\":null},{\"i\":\"2\",\"p\":\"1\"}]', 'i', 'p', 'c', 1)",
     "[{\"c\":[{}]}]"},
    {"json_nest('[{\"i\":\"1\",\"p\":null,\"c\":[]},{\"i\":\"2\",\"p\":\"1\",\"c\":[]}]', 'i', "
     "'p', 'c')",
     "[{\"i\":\"1\",\"c\":[{\"i\":\"2\",\"c\":[]}]}]"},
    {"sheets_rows('[[2,1,\"a\"],[2,3,1],[4,2,true]]', 1, 1, '\"\"')",
     "[[],[\"a\",\"\",1],[],[\"\",true]]"},
    {"sheets_rows('[]', 0, 0, '{}')", "[]"},
    {"sheets_merge('[{\"a.b\":1,\"a.c\":{\"d\":2}},{\"a.b\":null,\"e.f\":null}]')",
     "{\"a\":{\"c\":{\"d\":2}}}"},
    {"sheets_update('{}', 'x', '[]')", "{\"error\":\"line 1 column 1: expected a value\"}"},
};

static void test_cases(void **state)
{
    struct arena arena auto_arena;
    struct err e = ERR_INIT;
    char path[64];

    (void)state;
    arena_init(&arena, 16 << 20);
    (void)snprintf(path, sizeof path, "/tmp/test_functions_text.%d.db", (int)getpid());
    (void)unlink(path);
    assert_int_equal(appdb_create(path, "CREATE TABLE t (id INTEGER PRIMARY KEY)", &e), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scripts scripts;
        struct appdb *db auto_(appdb_close) = NULL;
        struct str text = arena_printf(&arena, "-- name: x\nSELECT %s AS result;\n", cases[i].sql);
        assert_int_equal(scripts_parse(&arena, text, &scripts, &e), 0);
        struct appdb_env env = {.scripts = &scripts, .seed = 1, .start_us = 1};
        assert_int_equal(appdb_open(path, false, &env, &db, &e), 0);
        struct app_call call = {.script = &scripts.items[0], .arena = &arena};
        if (appdb_run(db, &call, &e) < 0)
            fail_msg("%s: %s", cases[i].sql, err_text(&e));
        if (!str_is(call.result, cases[i].result))
            fail_msg("%s: '%.*s', not '%s'", cases[i].sql, (int)call.result.len, call.result.p,
                     cases[i].result);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
