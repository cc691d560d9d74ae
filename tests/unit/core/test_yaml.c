/* SPDX-License-Identifier: MIT */
/* YAML to JSON: typing, structure, what is refused, limits, lines. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "core/yaml.h"

/* Parses TEXT and compares the result as compact JSON. */
static const struct {
    const char *text, *json;
} good[] = {
    {"", "null"},
    {"# only a comment\n", "null"},
    {"---\n", "null"},
    {"---\n...\n", "null"},
    {"~", "null"},
    {"null", "null"},
    {"Null", "null"},
    {"nUll", "\"nUll\""},
    {"true", "true"},
    {"False", "false"},
    {"tRue", "\"tRue\""},
    /* YAML 1.1's booleans are words in 1.2. */
    {"yes", "\"yes\""},
    {"no", "\"no\""},
    {"on", "\"on\""},
    {"y", "\"y\""},
    {"0", "0"},
    {"-0", "0"},
    {"+12", "12"},
    {"-12", "-12"},
    {"+-1", "\"+-1\""},
    {"-+1", "\"-+1\""},
    {"012", "12"},
    {"0o17", "15"},
    {"0x1F", "31"},
    {"0o18", "\"0o18\""},
    {"0xg", "\"0xg\""},
    {"0x", "\"0x\""},
    {"-0x1", "\"-0x1\""},
    {"1_000", "\"1_000\""},
    {"12:30:45", "\"12:30:45\""},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"0x7fffffffffffffff", "9223372036854775807"},
    {"0x8000000000000000", "\"0x8000000000000000\""},
    {"1.5", "1.5"},
    {".5", "0.5"},
    {"-.5e1", "-5.0"},
    {"1e3", "1000.0"},
    {"1e", "\"1e\""},
    {"1e+", "\"1e+\""},
    {".", "\".\""},
    {"1.2.3", "\"1.2.3\""},
    {"127.0.0.1:10000", "\"127.0.0.1:10000\""},
    {"'12'", "\"12\""},
    {"\"true\"", "\"true\""},
    {"!!str 12", "\"12\""},
    {"\"a\\0b\"", "\"a\\u0000b\""},
    {"\"\\u00e9\"", "\"\xc3\xa9\""},
    {"\xef\xbb\xbf"
     "a: 1",
     "{\"a\":1}"},
    {"|\n  a\n  b\n", "\"a\\nb\\n\""},
    {">-\n  a\n  b\n", "\"a b\""},
    {"[]", "[]"},
    {"{}", "{}"},
    {"[a, 1, [2], {b: c}]", "[\"a\",1,[2],{\"b\":\"c\"}]"},
    {"- a\n- b: 1\n  c:\n- - d\n", "[\"a\",{\"b\":1,\"c\":null},[\"d\"]]"},
    {"a: {b: [1, 2]}\nc: d", "{\"a\":{\"b\":[1,2]},\"c\":\"d\"}"},
    {"1: a\ntrue: b", "{\"1\":\"a\",\"true\":\"b\"}"},
    {"? a\n: b", "{\"a\":\"b\"}"},
    {"%YAML 1.2\n---\na: 1", NULL}, /* libyaml knows 1.1 and 1.2 */
};

static void values_follow_the_core_schema(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct arena a auto_arena;
        struct buf out auto_buf = BUF_INIT(4096);
        struct err e = ERR_INIT;
        struct yaml_doc doc;
        arena_init(&a, 1 << 20);
        if (yaml_parse(&a, str_of(good[i].text), "t", &doc, &e) < 0)
            fail_msg("'%s': %s", good[i].text, e.text);
        assert_int_equal(json_write(&out, doc.root, JSON_COMPACT), 0);
        if (good[i].json)
            assert_string_equal(buf_cstr(&out), good[i].json);
    }
}

static const struct {
    const char *text;
    int code;
    const char *error; /* how the message begins */
} bad[] = {
    {"a: 1\nb: 2\na: 3\n", -EINVAL, "t:3: duplicate key 'a'"},
    {"x:\n  a: 1\n  'a': 3\n", -EINVAL, "t:3: duplicate key 'a'"},
    {"a: &x 1\nb: *x\n", -EINVAL, "t:1: anchors"},
    {"a: &x [1]\n", -EINVAL, "t:1: anchors"},
    {"a: &x {b: 1}\n", -EINVAL, "t:1: anchors"},
    {"&x a: 1\n", -EINVAL, "t:1: anchors"},
    {"a: 1\nb: *x\n", -EINVAL, "t:2: anchors"},
    {"a: !!int 1\n", -EINVAL, "t:1: tags"},
    {"a: !own 1\n", -EINVAL, "t:1: tags"},
    {"a: !!python/object [1]\n", -EINVAL, "t:1: tags"},
    {"a: !!map {b: 1}\n", -EINVAL, "t:1: tags"},
    {"[a]: b\n", -EINVAL, "t:1: a key must be a scalar"},
    {"? {a: b}\n: c\n", -EINVAL, "t:1: a key must be a scalar"},
    {"a: 1\n---\nb: 2\n", -EINVAL, "t:2: only one document"},
    {"a: .inf\n", -EINVAL, "t:1: infinities"},
    {"a: -.INF\n", -EINVAL, "t:1: infinities"},
    {"a: .NaN\n", -EINVAL, "t:1: infinities"},
    {"\na: 1e999\n", -EINVAL, "t:2: number out of range"},
    {"a: [1, 2\n", -EINVAL, "t:2: "},
    {"a: 'x\n", -EINVAL, "t:2: "},
    {"a: b: c\n", -EINVAL, "t:1: "},
    {"a: 1\n\tb: 2\n", -EINVAL, "t:2: "},
    {"a: \"\\q\"\n", -EINVAL, "t:1: "},
    {"a: 1\nb: \xff\n", -EINVAL, "t:"},
    {"a: \x01\n", -EINVAL, "t:"},
};

static void the_rest_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct arena a auto_arena;
        struct err e = ERR_INIT;
        struct yaml_doc doc;
        arena_init(&a, 1 << 20);
        int r = yaml_parse(&a, str_of(bad[i].text), "t", &doc, &e);
        if (r != bad[i].code || !str_starts(str_of(e.text), str_of(bad[i].error)))
            fail_msg("'%s': %d %s", bad[i].text, r, e.text);
        /* The message is not needed by everybody. */
        assert_int_equal(yaml_parse(&a, str_of(bad[i].text), "t", &doc, NULL), bad[i].code);
    }
}

static void an_empty_name_and_no_text_are_fine(void **state)
{
    struct arena a auto_arena;
    struct yaml_doc doc;

    (void)state;
    arena_init(&a, 1 << 20);
    assert_int_equal(yaml_parse(&a, STR_NULL, "", &doc, NULL), 0);
    assert_int_equal(doc.root->type, JSON_NULL);
    assert_int_equal(yaml_line(&doc, doc.root), 1);
}

/* COUNT times PART, parsed. */
static int parse_repeated(const char *part, size_t count, struct err *e)
{
    struct arena a auto_arena;
    struct buf text auto_buf = BUF_INIT(4 * YAML_MAX_BYTES);
    struct yaml_doc doc;

    arena_init(&a, 64 << 20);
    for (size_t i = 0; i < count; i++)
        (void)buf_add_str(&text, str_of(part));
    return yaml_parse(&a, buf_str(&text), "t", &doc, e);
}

static void limits_hold_at_the_limit_and_one_past_it(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    /* "- - - x" nests without having to be closed. */
    assert_int_equal(parse_repeated("- ", YAML_MAX_DEPTH, &e), 0);
    assert_int_equal(parse_repeated("- ", YAML_MAX_DEPTH + 1, &e), -E2BIG);
    assert_string_equal(e.text, "t:1: nested too deeply");
    /* The sequence itself is a value as well. */
    assert_int_equal(parse_repeated("- 1\n", YAML_MAX_NODES - 1, &e), 0);
    assert_int_equal(parse_repeated("- 1\n", YAML_MAX_NODES, &e), -E2BIG);
    assert_string_equal(e.text, "t:16384: too many values");
    assert_int_equal(parse_repeated(" ", YAML_MAX_BYTES, &e), 0);
    assert_int_equal(parse_repeated(" ", YAML_MAX_BYTES + 1, &e), -E2BIG);
    assert_int_equal(parse_repeated("[", 100000, &e), -E2BIG);
}

static void every_value_has_its_line(void **state)
{
    static const char text[] = "a: 1\n"
                               "b:\n"
                               "  c: 2\n"
                               "  d:\n"
                               "    - x\n"
                               "    - - y\n"
                               "      - z\n"
                               "# comment\n"
                               "e: >\n"
                               "  long\n"
                               "  text\n"
                               "f: {g: 1,\n"
                               "    h: 2}\n";
    static const struct {
        const char *pointer;
        uint32_t line;
    } rows[] = {
        {"", 1},       {"/a", 1},     {"/b", 2},       {"/b/c", 3},     {"/b/d", 4},
        {"/b/d/0", 5}, {"/b/d/1", 6}, {"/b/d/1/0", 6}, {"/b/d/1/1", 7}, {"/e", 9},
        {"/f", 12},    {"/f/g", 12},  {"/f/h", 13},
    };
    struct arena a auto_arena;
    struct json other = {0};
    struct yaml_doc doc;

    (void)state;
    arena_init(&a, 1 << 20);
    assert_int_equal(yaml_parse(&a, str_of(text), "t", &doc, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct json *v = json_pointer(doc.root, rows[i].pointer);
        if (yaml_line(&doc, v) != rows[i].line)
            fail_msg("%s: line %u", rows[i].pointer, yaml_line(&doc, v));
    }
    assert_int_equal(yaml_line(&doc, &other), 0);
    assert_int_equal(yaml_line(&doc, NULL), 0);
}

static void a_small_arena_is_an_error(void **state)
{
    (void)state;
    for (size_t max = 0; max < 20000; max += 500) {
        struct arena a auto_arena;
        struct buf text auto_buf = BUF_INIT(65536);
        struct yaml_doc doc;
        arena_init(&a, max);
        for (int i = 0; i < 300; i++)
            (void)buf_printf(&text, "key%d: [a, b, %d]\n", i, i);
        assert_int_equal(yaml_parse(&a, buf_str(&text), "t", &doc, NULL), -ENOMEM);
    }
}

#ifdef TIDEPOOL_FAULT
static void each_allocation_may_fail(void **state)
{
    struct buf text auto_buf = BUF_INIT(65536);
    bool fired = true;

    (void)state;
    for (int i = 0; i < 200; i++)
        (void)buf_printf(&text, "key%d: {a: [b, %d], c: 'd'}\n", i, i);
    for (unsigned n = 1; fired; n++) {
        struct arena a auto_arena;
        struct yaml_doc doc;
        arena_init(&a, 8 << 20);
        fault_arm(FAULT_ALLOC, n);
        int r = yaml_parse(&a, buf_str(&text), "t", &doc, NULL);
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(r, fired ? -ENOMEM : 0);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_the_core_schema),
        cmocka_unit_test(the_rest_is_refused_with_its_line),
        cmocka_unit_test(an_empty_name_and_no_text_are_fine),
        cmocka_unit_test(limits_hold_at_the_limit_and_one_past_it),
        cmocka_unit_test(every_value_has_its_line),
        cmocka_unit_test(a_small_arena_is_an_error),
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test(each_allocation_may_fail),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
