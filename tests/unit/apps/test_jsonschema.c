/* SPDX-License-Identifier: MIT */
/* What Python's jsonschema (4.26) says of values: the messages are as it printed them. */
#include "../check.h"

#include "apps/text/jsonschema.h"
#include "base/arena.h"
#include "base/buf.h"

static void test_messages(void **state)
{
    static const struct {
        const char *schema, *value, *text; /* NULL: nothing is wrong */
    } rows[] = {
        {"{\"required\":[\"a\",\"b\"]}", "{}", "'a' is a required property"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"b\"]}",
         "{\"a\":5}", "'b' is a required property"},
        {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":5}",
         "5 is not of type 'string'"},
        {"{\"properties\":{\"a\":{\"type\":[\"string\",\"null\"]}}}", "{\"a\":1.5}",
         "1.5 is not of type 'string', 'null'"},
        {"{\"properties\":{\"a\":{\"type\":\"integer\"}}}", "{\"a\":true}",
         "True is not of type 'integer'"},
        {"{\"properties\":{\"a\":{\"type\":\"integer\"}}}", "{\"a\":2.0}", NULL},
        {"{\"properties\":{\"a\":{\"enum\":[\"x\",\"y\"]}}}", "{\"a\":\"it's\"}",
         "\"it's\" is not one of ['x', 'y']"},
        {"{\"properties\":{\"a\":{\"const\":null}}}", "{\"a\":[1,{\"b\":null}]}",
         "None was expected"},
        {"{\"properties\":{\"a\":{\"minLength\":1}}}", "{\"a\":\"\"}", "'' should be non-empty"},
        {"{\"properties\":{\"a\":{\"minLength\":3}}}", "{\"a\":\"é\"}", "'é' is too short"},
        {"{\"properties\":{\"a\":{\"maxLength\":2}}}", "{\"a\":\"abc\"}", "'abc' is too long"},
        {"{\"properties\":{\"a\":{\"minItems\":1}}}", "{\"a\":[]}", "[] should be non-empty"},
        {"{\"properties\":{\"a\":{\"minItems\":2}}}", "{\"a\":[1]}", "[1] is too short"},
        {"{\"properties\":{\"a\":{\"maxItems\":0}}}", "{\"a\":[1]}", "[1] is expected to be empty"},
        {"{\"properties\":{\"a\":{\"minimum\":1}}}", "{\"a\":0}",
         "0 is less than the minimum of 1"},
        {"{\"properties\":{\"a\":{\"maximum\":100}}}", "{\"a\":100.5}",
         "100.5 is greater than the maximum of 100"},
        {"{\"properties\":{\"a\":{\"exclusiveMinimum\":0}}}", "{\"a\":0}",
         "0 is less than or equal to the minimum of 0"},
        {"{\"properties\":{\"a\":{\"exclusiveMaximum\":1}}}", "{\"a\":1}",
         "1 is greater than or equal to the maximum of 1"},
        {"{\"properties\":{\"a\":{\"pattern\":\"^[0-9]+$\"}}}", "{\"a\":\"x1\"}",
         "'x1' does not match '^[0-9]+$'"},
        {"{\"properties\":{\"a\":{\"not\":{\"type\":\"null\"}}}}", "{\"a\":null}",
         "None should not be valid under {'type': 'null'}"},
        {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"z\":1,\"b\":2,\"a\":3}",
         "Additional properties are not allowed ('b', 'z' were unexpected)"},
        {"{\"additionalProperties\":false}", "{\"z\":1}",
         "Additional properties are not allowed ('z' was unexpected)"},
        {"{\"additionalProperties\":{\"type\":\"integer\"}}", "{\"z\":\"1\"}",
         "'1' is not of type 'integer'"},
        {"{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}}}",
         "{\"a\":5}", "5 is not valid under any of the given schemas"},
        {"{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},{"
         "\"type\":\"null\"}]}}}",
         "{\"a\":[\"x\",5]}", "5 is not of type 'string'"},
        {"{\"properties\":{\"a\":{\"oneOf\":[{\"type\":\"string\",\"minLength\":3},{\"type\":"
         "\"integer\"}]}}}",
         "{\"a\":\"x\"}", "'x' is too short"},
        {"{\"properties\":{\"a\":{\"items\":{\"type\":\"object\",\"required\":[\"n\"]}}}}",
         "{\"a\":[{\"n\":1},{}]}", "'n' is a required property"},
        {"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}}}",
         "{\"a\":1,\"b\":2}", "2 is not of type 'string'"},
        {"{\"properties\":{\"a\":{\"properties\":{\"c\":{\"type\":\"string\"}}},\"b\":{\"type\":"
         "\"string\"}}}",
         "{\"a\":{\"c\":1},\"b\":2}", "2 is not of type 'string'"},
        {"{\"$defs\":{\"t\":{\"type\":\"string\"}},\"properties\":{\"a\":{\"$ref\":\"#/$defs/"
         "t\"}}}",
         "{\"a\":false}", "False is not of type 'string'"},
        {"{\"properties\":{\"a\":false}}", "{\"a\":\"x\"}", "False schema does not allow 'x'"},
        {"{\"allOf\":[{\"required\":[\"q\"]}]}", "{}", "'q' is a required property"},
        {"{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}", "'ab' is too long"},
        {"{\"properties\":{\"a\":{\"format\":\"email\"}}}", "{\"a\":\"no\"}", NULL},
    };
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf out = BUF_INIT(4096);
        const struct json *schema = json_parse(&a, str_of(rows[i].schema), NULL, NULL);
        const struct json *value = json_parse(&a, str_of(rows[i].value), NULL, NULL);
        bool is_wrong = jsonschema_explain(&a, schema, value, &out);
        assert_int_equal(is_wrong, rows[i].text != NULL);
        if (is_wrong)
            assert_string_equal(buf_cstr(&out), rows[i].text);
    }
}

/* A schema that leads into itself for ever is given up on. */
static void test_endless(void **state)
{
    struct arena a auto_arena;
    auto_buf struct buf out = BUF_INIT(4096);

    (void)state;
    arena_init(&a, 1 << 20);
    const struct json *schema = json_parse(&a, STR("{\"$ref\":\"#\"}"), NULL, NULL);
    const struct json *value = json_parse(&a, STR("{}"), NULL, NULL);
    assert_false(jsonschema_explain(&a, schema, value, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_endless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
