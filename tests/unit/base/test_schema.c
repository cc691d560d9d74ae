/* SPDX-License-Identifier: MIT */
/* JSON Schema: the vectors of tests/vectors/schema.json, messages, defaults, limits. */
#include "../check.h"

#include <errno.h>

#include "base/fault.h"
#include "base/schema.h"
#include "vectors.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 64UL << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct json *parse(struct str text)
{
    struct err e = ERR_INIT;
    struct json *v = json_parse(&arena, text, NULL, &e);

    if (!v)
        fail_msg("%s", err_text(&e));
    return v;
}

static struct schema *compile(const char *text)
{
    struct err e = ERR_INIT;
    struct schema *s = schema_compile(&arena, parse(str_of(text)), &e);

    if (!s)
        fail_msg("%s", err_text(&e));
    return s;
}

/* ---- vectors ---- */

static void say(const struct json *schema, const struct json *row, const char *got)
{
    struct buf b auto_buf = BUF_INIT(VECTORS_MAX);

    (void)json_write(&b, schema, JSON_COMPACT);
    (void)buf_add_lit(&b, "  ");
    (void)json_write(&b, row, JSON_COMPACT);
    print_message("# does not hold: %s: got %s\n", buf_cstr(&b), got);
}

static bool row_holds(const struct json *doc, const struct schema *s, const struct json *row)
{
    struct schema_error err = {.keyword = "-"};
    char got[512] = "";
    int r = schema_check(s, json_at(row, 0), &err);

    if (r == -EINVAL)
        (void)snprintf(got, sizeof got, "%s at %s", err.keyword, err.path);
    else if (r == -E2BIG)
        (void)snprintf(got, sizeof got, "E2BIG");
    /* Whether somebody wants to know the reason must make no difference. */
    bool same = schema_check(s, json_at(row, 0), NULL) == r;
    if (same && str_is(json_str(json_at(row, 1), STR("")), got))
        return true;
    say(doc, row, got);
    return false;
}

static int group_failures(const struct json *group, int *rows)
{
    struct err e = ERR_INIT;
    const struct json *doc = json_get(group, "schema"), *list = json_get(group, "rows");
    const struct schema *s = schema_compile(&arena, doc, &e);
    int failed = 0;

    if (!s) {
        say(doc, NULL, err_text(&e));
        return 1;
    }
    for (uint32_t i = 0; i < list->n; i++, (*rows)++)
        failed += !row_holds(doc, s, json_at(list, i));
    return failed;
}

static void vectors_hold(void **state)
{
    struct buf file auto_buf = BUF_INIT(0);
    int rows = 0, failed = 0;

    (void)state;
    vectors_read(&file, "schema.json");
    const struct json *groups = json_get(parse(buf_str(&file)), "check");
    for (uint32_t i = 0; i < groups->n; i++)
        failed += group_failures(json_at(groups, i), &rows);
    assert_true(rows >= 120);
    assert_int_equal(failed, 0);
}

static void mistakes_are_found(void **state)
{
    struct buf file auto_buf = BUF_INIT(0);
    int failed = 0;

    (void)state;
    vectors_read(&file, "schema.json");
    const struct json *rows = json_get(parse(buf_str(&file)), "mistakes");
    assert_true(rows->n >= 30);
    for (uint32_t i = 0; i < rows->n; i++) {
        struct err e = ERR_INIT;
        const struct json *row = json_at(rows, i);
        const struct schema *s = schema_compile(&arena, json_at(row, 0), &e);
        if (s || e.code != -EINVAL || !str_is(json_str(json_at(row, 1), STR("")), err_text(&e))) {
            say(NULL, row, s ? "no mistake" : err_text(&e));
            failed++;
        }
    }
    assert_int_equal(failed, 0);
    assert_null(schema_compile(&arena, NULL, NULL));
}

/* ---- messages ---- */

static void messages_say_what_is_wrong(void **state)
{
    static const struct {
        const char *schema, *value, *text;
    } rows[] = {
        {"{\"type\":\"integer\"}", "\"x\"", "expected integer, got string"},
        {"{\"type\":[\"null\",\"string\",\"array\"]}", "1.5",
         "expected null or string or array, got number"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "{}",
         "expected null or string, got object"},
        {"{\"minLength\":3}", "\"\\u00e9\"", "has 1 characters, needs 3"},
        {"{\"maxLength\":0}", "\"ab\"", "has 2 characters, at most 0"},
        {"{\"minItems\":1}", "[]", "has 0 items, needs 1"},
        {"{\"maxItems\":1}", "[1,2]", "has 2 items, at most 1"},
        {"{\"minimum\":1.5}", "1", "1 is not at least 1.5"},
        {"{\"exclusiveMaximum\":10}", "10.0", "10 is not less than 10"},
        {"{\"required\":[\"id\"]}", "{}", "lacks the property 'id'"},
        {"{\"additionalProperties\":false}", "{\"x\":1}", "has the unknown property 'x'"},
        {"{\"propertyNames\":{\"minLength\":2}}", "{\"x\":1}",
         "has the property 'x', whose name is not allowed"},
        {"{\"pattern\":\"^a$\"}", "\"b\"", "does not match the pattern ^a$"},
        {"{\"format\":\"date\"}", "\"b\"", "is not a valid date"},
        {"{\"enum\":[1,2]}", "3", "is not one of the 2 values allowed"},
        {"{\"oneOf\":[{},{}]}", "3", "matches more than one alternative"},
        {"{\"anyOf\":[{\"minimum\":4},{\"maximum\":2}]}", "3", "matches none of 2 alternatives"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct schema_error err = {.keyword = ""};
        const struct json *v = parse(str_of(rows[i].value));
        assert_int_equal(schema_check(compile(rows[i].schema), v, &err), -EINVAL);
        assert_string_equal(err.text, rows[i].text);
    }
}

static void long_paths_are_cut(void **state)
{
    struct buf b auto_buf = BUF_INIT(1 << 16);
    struct schema_error err = {.keyword = ""};

    (void)state;
    for (int i = 0; i < 100; i++)
        (void)buf_add_lit(&b, "{\"a/rather~long name\":");
    (void)buf_add_lit(&b, "{\"v\":1}");
    for (int i = 0; i < 100; i++)
        (void)buf_add_char(&b, '}');
    const struct schema *s = compile("{\"properties\":{\"v\":{\"type\":\"null\"}},"
                                     "\"additionalProperties\":{\"$ref\":\"#\"}}");
    assert_int_equal(schema_check(s, parse(buf_str(&b)), &err), -EINVAL);
    assert_int_equal(strlen(err.path), SCHEMA_PATH_MAX - 1);
    assert_int_equal(strncmp(err.path, "/a~1rather~0long name/a~1", 25), 0);
}

/* ---- defaults ---- */

static const char *filled(struct buf *b, const char *schema, const char *value, int expected)
{
    struct json *v = parse(str_of(value));

    buf_clear(b);
    assert_int_equal(schema_defaults(&arena, compile(schema), v), expected);
    assert_int_equal(json_write(b, v, JSON_COMPACT), 0);
    return buf_cstr(b);
}

static void defaults_fill_what_is_absent(void **state)
{
    static const struct {
        const char *schema, *value, *expected;
    } rows[] = {
        {"{\"properties\":{\"a\":{\"default\":1},\"b\":{\"default\":[1]},\"c\":{}}}", "{\"a\":5}",
         "{\"a\":5,\"b\":[1]}"},
        {"{\"properties\":{\"a\":{\"default\":null}}}", "{}", "{\"a\":null}"},
        {"{\"properties\":{\"a\":{\"default\":1}}}", "[]", "[]"},
        {"{\"properties\":{\"o\":{\"properties\":{\"x\":{\"default\":1}}}}}", "{}", "{}"},
        {"{\"properties\":{\"o\":{\"properties\":{\"x\":{\"default\":1}}}}}", "{\"o\":{}}",
         "{\"o\":{\"x\":1}}"},
        {"{\"items\":{\"properties\":{\"x\":{\"default\":1}}}}", "[{},{\"x\":2},3]",
         "[{\"x\":1},{\"x\":2},3]"},
        {"{\"$ref\":\"#/$defs/d\",\"$defs\":{\"d\":{\"properties\":{\"x\":{\"default\":1}}}}}",
         "{}", "{\"x\":1}"},
        {"{\"allOf\":[{\"properties\":{\"x\":{\"default\":1}}}]}", "{}", "{\"x\":1}"},
        {"{\"anyOf\":[{\"properties\":{\"x\":{\"default\":1}}}]}", "{}", "{}"},
        {"{\"properties\":{\"kid\":{\"$ref\":\"#\",\"default\":{}},\"n\":{\"default\":0}}}",
         "{\"kid\":{\"n\":1}}", "{\"kid\":{\"n\":1,\"kid\":{}},\"n\":0}"},
    };
    struct buf b auto_buf = BUF_INIT(1 << 16);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(filled(&b, rows[i].schema, rows[i].value, 0), rows[i].expected);
    assert_string_equal(filled(&b, "{\"allOf\":[{\"$ref\":\"#\"}]}", "{}", -E2BIG), "{}");
}

/* What was filled in must not be the schema's own. */
static void defaults_are_copies(void **state)
{
    struct json *doc = parse(STR("{\"properties\":{\"l\":{\"default\":[1]}}}"));
    const struct schema *s = schema_compile(&arena, doc, NULL);
    struct json *v = json_new_object(&arena);

    (void)state;
    assert_int_equal(schema_defaults(&arena, s, v), 0);
    json_at(json_get(v, "l"), 0)->i = 2;
    assert_int_equal(json_pointer(doc, "/properties/l/default/0")->i, 1);
}

/* ---- limits ---- */

static void work_is_limited(void **state)
{
    struct buf b auto_buf = BUF_INIT(1 << 22);
    struct schema_error err = {.keyword = NULL};
    const struct schema *s = compile("{\"items\":{\"pattern\":\"(a?){100}(b?){100}c$\"}}");

    (void)state;
    (void)buf_add_char(&b, '[');
    for (int i = 0; i < 1000; i++)
        (void)buf_printf(&b, "%s\"%0*dc\"", i ? "," : "", 200, 0);
    (void)buf_add_char(&b, ']');
    assert_int_equal(schema_check(s, parse(buf_str(&b)), &err), -E2BIG);
    assert_string_equal(err.text, "takes too much work to check");
    assert_string_equal(err.path, "");
}

static void ordinary_large_values_are_within_the_limit(void **state)
{
    struct buf b auto_buf = BUF_INIT(1 << 24);
    const struct schema *s =
        compile("{\"items\":{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":"
                "{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"integer\",\"minimum\":0}]},"
                "\"name\":{\"type\":\"string\",\"maxLength\":20,\"pattern\":\"^n[0-9]+$\"}},"
                "\"additionalProperties\":false}}");

    (void)state;
    (void)buf_add_char(&b, '[');
    for (int i = 0; i < 50000; i++)
        (void)buf_printf(&b, "%s{\"id\":%d,\"name\":\"n%d\"}", i ? "," : "", i, i);
    (void)buf_add_char(&b, ']');
    assert_int_equal(schema_check(s, parse(buf_str(&b)), NULL), 0);
}

static void long_chains_of_references_compile_without_recursion(void **state)
{
    struct buf b auto_buf = BUF_INIT(1 << 24);

    (void)state;
    (void)buf_add_lit(&b, "{\"$defs\":{");
    for (int i = 0; i < 20000; i++)
        (void)buf_printf(&b, "\"d%d\":{\"items\":{\"$ref\":\"#/$defs/d%d\"}},", i, i + 1);
    (void)buf_add_lit(&b, "\"d20000\":{}},\"$ref\":\"#/$defs/d0\"}");
    assert_non_null(schema_compile(&arena, parse(buf_str(&b)), NULL));
}

#ifdef TIDEPOOL_FAULT
static void every_allocation_may_fail(void **state)
{
    struct buf b auto_buf = BUF_INIT(1 << 20);
    bool fired = true;
    unsigned n = 0;

    (void)state;
    (void)buf_add_lit(&b, "{\"properties\":{");
    for (int i = 0; i < 60; i++)
        (void)buf_printf(&b,
                         "\"p%d\":{\"anyOf\":[{\"pattern\":\"^[a-f]{1,5}$\"},{\"$ref\":\"#\"}],"
                         "\"default\":{\"x\":[1,\"y\"]}},",
                         i);
    (void)buf_add_lit(&b, "\"z\":true}}");
    const struct json *doc = parse(buf_str(&b));
    while (fired) {
        struct arena a auto_arena;
        struct err e = ERR_INIT;
        arena_init(&a, 8UL << 20);
        struct json *v = json_new_object(&a);
        fault_arm(FAULT_ALLOC, ++n);
        const struct schema *s = schema_compile(&a, doc, &e);
        int r = s ? schema_defaults(&a, s, v) : e.code;
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(r, fired ? -ENOMEM : 0);
    }
    assert_true(n > 50);
}
#endif

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(vectors_hold),
        TEST(mistakes_are_found),
        TEST(messages_say_what_is_wrong),
        TEST(long_paths_are_cut),
        TEST(defaults_fill_what_is_absent),
        TEST(defaults_are_copies),
        TEST(work_is_limited),
        TEST(ordinary_large_values_are_within_the_limit),
        TEST(long_chains_of_references_compile_without_recursion),
#ifdef TIDEPOOL_FAULT
        TEST(every_allocation_may_fail),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
