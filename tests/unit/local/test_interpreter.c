/* SPDX-License-Identifier: MIT */
/* The code interpreter: events, frames, languages. */
#include "arena_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "local/interpreter/event.h"
#include "local/interpreter/frame.h"
#include "local/interpreter/language.h"

enum { OUT_MAX = 4096 };

/* ---- events ---- */

static void check_result(struct arena *a, const char *bundle, bool is_main, const char *line)
{
    struct buf out auto_buf = BUF_INIT(OUT_MAX);

    event_put_result(&out, json_parse(a, str_of(bundle), NULL, NULL), is_main);
    assert_string_equal(buf_cstr(&out), line);
}

static void results_have_names_for_types(void **state)
{
    struct arena *a = *state;

    check_result(a, "{\"text/plain\":\"1\"}", true,
                 "{\"type\":\"result\",\"text\":\"1\",\"extra\":{},\"is_main_result\":true}\n");
    check_result(a, "{\"text/plain\":\"'it'\",\"image/png\":\"AA==\",\"x/y\":[1]}", false,
                 "{\"type\":\"result\",\"text\":\"it\",\"png\":\"AA==\",\"extra\":{\"x/y\":[1]},"
                 "\"is_main_result\":false}\n");
    check_result(a, "{\"text/plain\":\"'\",\"e2b/chart\":{\"type\":\"pie\"}}", false,
                 "{\"type\":\"result\",\"text\":\"'\",\"chart\":{\"type\":\"pie\"},\"extra\":{},"
                 "\"is_main_result\":false}\n");
    check_result(a, "{\"text/html\":null}", false,
                 "{\"type\":\"result\",\"extra\":{},\"is_main_result\":false}\n");
}

static void events_are_ascii(void **state)
{
    struct buf out auto_buf = BUF_INIT(OUT_MAX);

    (void)state;
    event_put_text(&out, false, STR("\xc3\xa9 \xf0\x9f\x98\x80 \xe2\x80\xa8 \xff\n"), 1500000);
    assert_string_equal(
        buf_cstr(&out),
        "{\"type\":\"stdout\",\"text\":\"\\u00e9 \\ud83d\\ude00 \\u2028 \\ufffd\\n\","
        "\"timestamp\":\"1970-01-01T00:00:01.500000+00:00\"}\n");
    buf_clear(&out);
    event_put_error(&out, STR("E"), STR("\xc3\xbc"), STR("a\nb"));
    assert_string_equal(buf_cstr(&out), "{\"type\":\"error\",\"name\":\"E\",\"value\":\"\\u00fc\","
                                        "\"traceback\":\"a\\nb\"}\n");
    buf_clear(&out);
    event_put_count(&out, 7);
    event_put_keepalive(&out);
    event_put_end(&out);
    assert_string_equal(buf_cstr(&out),
                        "{\"type\":\"number_of_executions\",\"execution_count\":7}\n"
                        "{\"type\":\"keepalive\"}\n{\"type\":\"end_of_execution\"}\n");
}

static void events_past_their_maximum_fail(void **state)
{
    struct buf fits auto_buf = BUF_INIT(100), past auto_buf = BUF_INIT(60);

    (void)state;
    event_put_error(&fits, STR("N"), STR("0123456789"), STR(""));
    event_put_error(&past, STR("N"), STR("0123456789"), STR(""));
    assert_true(buf_ok(&fits));
    assert_false(buf_ok(&past));
}

static void characters_are_not_split(void **state)
{
    static const struct {
        const char *text;
        size_t whole;
    } rows[] = {
        {"", 0},
        {"ab", 2},
        {"a\xc3\xa9", 3},
        {"a\xc3", 1},
        {"\xe2\x82", 0},
        {"\xe2\x82\xac", 3},
        {"x\xf0\x9f\x98", 1},
        {"x\xf0\x9f\x98\x80", 5},
        {"a\x80\x80\x80", 4}, /* not UTF-8 at all: nothing to wait for */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(event_whole(str_of(rows[i].text)), rows[i].whole);
}

/* ---- frames ---- */

static void frames_carry_any_bytes(void **state)
{
    struct buf out auto_buf = BUF_INIT(OUT_MAX);

    (void)state;
    (void)frame_put_execute(&out, FRAME_PLAIN, STR("a\nb"));
    (void)frame_put_env(&out, FRAME_PLAIN, STR("K"), STR("v=w"));
    (void)frame_put_env(&out, FRAME_PLAIN, STR("K"), STR_NULL);
    (void)frame_put_cwd(&out, FRAME_PLAIN, STR("/x y"));
    assert_string_equal(buf_cstr(&out), "execute 3\na\nbenv 5\nK=v=wenv 1\nKcwd 4\n/x y");
}

static void bash_gets_quoted_words(void **state)
{
    struct buf out auto_buf = BUF_INIT(OUT_MAX);

    (void)state;
    (void)frame_put_execute(&out, FRAME_BASH, STR("echo 'it'\0s"));
    assert_string_equal(buf_cstr(&out), "eval 'echo '\\''it'\\''s' </dev/null 4>&-\n"
                                        "__report_end \"$?\"\n");
    buf_clear(&out);
    (void)frame_put_env(&out, FRAME_BASH, STR("A_1"), STR("$(id)'"));
    (void)frame_put_env(&out, FRAME_BASH, STR("A_1"), STR_NULL);
    (void)frame_put_env(&out, FRAME_BASH, STR("1A"), STR("x"));
    (void)frame_put_env(&out, FRAME_BASH, STR("A;id"), STR("x"));
    (void)frame_put_cwd(&out, FRAME_BASH, STR("-a b"));
    assert_string_equal(buf_cstr(&out), "export A_1='$(id)'\\'''\nunset A_1\ncd -- '-a b'\n");
}

/* ---- languages ---- */

static void languages_are_found_by_any_name(void **state)
{
    (void)state;
    assert_string_equal(language_find(STR(""))->name, "python");
    assert_string_equal(language_find(STR(" Python "))->name, "python");
    assert_string_equal(language_find(STR("JS"))->name, "javascript");
    assert_string_equal(language_find(STR("ts"))->name, "typescript");
    assert_string_equal(language_find(STR("r"))->name, "r");
    assert_null(language_find(STR("cobol")));
    for (size_t i = 0; language_at(i); i++)
        assert_ptr_equal(language_find(str_of(language_at(i)->name)), language_at(i));
}

static void a_missing_program_is_named_with_its_cure(void **state)
{
    static const struct language missing = {
        .name = "cobol", .program = "no-such-cobol", .cure = "gnucobol"};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(language_check(&missing, &e), -ENOENT);
    assert_non_null(strstr(err_text(&e), "no-such-cobol is not installed (apt install gnucobol)"));
    assert_int_equal(language_check(language_find(STR("bash")), NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_with_arena(results_have_names_for_types),
        cmocka_unit_test(events_are_ascii),
        cmocka_unit_test(events_past_their_maximum_fail),
        cmocka_unit_test(characters_are_not_split),
        cmocka_unit_test(frames_carry_any_bytes),
        cmocka_unit_test(bash_gets_quoted_words),
        cmocka_unit_test(languages_are_found_by_any_name),
        cmocka_unit_test(a_missing_program_is_named_with_its_cure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
