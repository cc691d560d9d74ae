/* SPDX-License-Identifier: MIT */
/* Models: what is taken, what it becomes, and what is said of the rest, as pydantic says it. */
#include "../check.h"

#include <stdio.h>

#include "api/klavis/klavis.h"
#include "base/cleanup.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 8 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct json *find(void *ctx, struct str name)
{
    (void)ctx;
    for (const struct route_schema *s = klavis_schemas; s->name; s++)
        if (str_is(name, s->name))
            return json_parse(&arena, str_of(s->json), NULL, NULL);
    return NULL;
}

/* What becomes of VALUE: its text, or the items of its faults. */
static struct str read_as(const struct json *doc, const char *value)
{
    static const struct model_place body = {.name = STR_INIT("body")};
    struct buf items auto_buf = BUF_INIT(MODEL_MAX_DETAIL), out auto_buf = BUF_INIT(1 << 20);
    struct model m = {.arena = &arena, .items = &items, .find = find};
    struct json *v = value ? json_parse(&arena, str_of(value), NULL, NULL) : NULL;

    assert_non_null(doc);
    assert_true(v || !value);
    struct json *got = model_read(&m, doc, v, &body);
    assert_false(m.has_failed);
    assert_int_equal(got == NULL, m.n_items > 0);
    if (!got)
        return arena_str(&arena, buf_str(&items));
    (void)json_write(&out, got, JSON_COMPACT);
    return arena_str(&arena, buf_str(&out));
}

#define ITEM(type, loc, msg, input)                                                                \
    "{\"type\":\"" type "\",\"loc\":[\"body\"" loc "],\"msg\":\"" msg "\",\"input\":" input "}"
#define ITEM_CTX(type, loc, msg, input, ctx)                                                       \
    "{\"type\":\"" type "\",\"loc\":[\"body\"" loc "],\"msg\":\"" msg "\",\"input\":" input        \
    ",\"ctx\":{" ctx "}}"
#define LOCALS                                                                                     \
    "'filesystem', 'git', 'terminal', 'desktop-commander', 'arxiv', 'excel', 'word', "             \
    "'powerpoint', 'code-executor', 'code-runner', 'pdf-tools', 'google_cloud', "                  \
    "'poste_email_toolathlon', 'localmemory', 'canvas' or 'playwright'"

static const struct {
    const char *schema, *value, *expect;
} requests[] = {
    {"AcquireSandboxRequest", "{}", "{}"},
    {"AcquireSandboxRequest", "{\"unknown\":1}", "{}"},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":60}", "{\"ttl_seconds\":60}"},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":86400}", "{\"ttl_seconds\":86400}"},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":\" 90 \"}", "{\"ttl_seconds\":90}"},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":90.0}", "{\"ttl_seconds\":90}"},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":null}", "{\"ttl_seconds\":null}"},
    {"AcquireSandboxRequest", "{\"tags\":{\"a\":1}}", "{\"tags\":{\"a\":1}}"},
    {"AcquireSandboxRequest", "{\"tags\":[\"a\"]}", "{\"tags\":[\"a\"]}"},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":5}",
     ITEM_CTX("greater_than_equal", ",\"ttl_seconds\"",
              "Input should be greater than or equal to 60", "5", "\"ge\":60")},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":86401}",
     ITEM_CTX("less_than_equal", ",\"ttl_seconds\"", "Input should be less than or equal to 86400",
              "86401", "\"le\":86400")},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":\"abc\"}",
     ITEM("int_parsing", ",\"ttl_seconds\"",
          "Input should be a valid integer, unable to parse string as an integer", "\"abc\"")},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":90.5}",
     ITEM("int_from_float", ",\"ttl_seconds\"",
          "Input should be a valid integer, got a number with a fractional part", "90.5")},
    {"AcquireSandboxRequest", "{\"ttl_seconds\":[]}",
     ITEM("int_type", ",\"ttl_seconds\"", "Input should be a valid integer", "[]")},
    {"AcquireSandboxRequest", "{\"tag\":5}",
     ITEM("string_type", ",\"tag\"", "Input should be a valid string", "5")},
    {"AcquireSandboxRequest", "{\"benchmark\":\"x\",\"tag\":5}",
     ITEM_CTX(
         "enum", ",\"benchmark\"", "Input should be 'MCP_Atlas', 'Toolathlon' or 'MCP_Mark'",
         "\"x\"",
         "\"expected\":\"'MCP_Atlas', 'Toolathlon' or 'MCP_Mark'\"") "," ITEM("string_type",
                                                                              ",\"tag\"",
                                                                              "Input should be a "
                                                                              "valid string",
                                                                              "5")},
    {"AcquireSandboxRequest", "{\"tags\":5}",
     ITEM("dict_type", ",\"tags\",\"dict[str,any]\"", "Input should be a valid dictionary",
          "5") "," ITEM("list_type", ",\"tags\",\"list[str]\"", "Input should be a valid list",
                        "5")},
    {"AcquireSandboxRequest", "[]",
     ITEM("model_attributes_type", "",
          "Input should be a valid dictionary or object to extract fields from", "[]")},
    {"AcquireLocalSandboxRequest", NULL, ITEM("missing", "", "Field required", "null")},
    {"AcquireLocalSandboxRequest", "{}",
     ITEM("missing", ",\"server_names\"", "Field required", "{}")},
    {"AcquireLocalSandboxRequest", "{\"server_names\":[]}", "{\"server_names\":[]}"},
    {"AcquireLocalSandboxRequest", "{\"server_names\":\"ALL\"}", "{\"server_names\":\"ALL\"}"},
    {"AcquireLocalSandboxRequest", "{\"server_names\":\"x\"}",
     ITEM("list_type", ",\"server_names\",\"list[str-enum[LocalSandboxMCPServer]]\"",
          "Input should be a valid list",
          "\"x\"") "," ITEM_CTX("literal_error", ",\"server_names\",\"literal['ALL']\"",
                                "Input should be 'ALL'", "\"x\"", "\"expected\":\"'ALL'\"")},
    {"AcquireLocalSandboxRequest", "{\"server_names\":[\"git\",\"x\"]}",
     ITEM_CTX("enum", ",\"server_names\",\"list[str-enum[LocalSandboxMCPServer]]\",1",
              "Input should be " LOCALS, "\"x\"",
              "\"expected\":\"" LOCALS
              "\"") "," ITEM_CTX("literal_error", ",\"server_names\",\"literal['ALL']\"",
                                 "Input should be 'ALL'", "[\"git\",\"x\"]",
                                 "\"expected\":\"'ALL'\"")},
    {"QueryBool", "\"yes\"", "true"},
    {"QueryBool", "\"OFF\"", "false"},
    {"QueryBool", "1", "true"},
    {"QueryBool", "\"2\"",
     ITEM("bool_parsing", "", "Input should be a valid boolean, unable to interpret input",
          "\"2\"")},
    {"QueryBool", "{}", ITEM("bool_type", "", "Input should be a valid boolean", "{}")},
};

static void requests_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct str got = read_as(find(NULL, str_of(requests[i].schema)), requests[i].value);
        if (!str_is(got, requests[i].expect))
            fail_msg("%s: got %.*s, want %s", requests[i].value, STR_ARG(got), requests[i].expect);
    }
}

static const char data_schema[] =
    "{\"type\":\"object\",\"properties\":{\"rows\":{\"anyOf\":[{\"type\":\"array\",\"items\":{"
    "\"$ref\":\"#/$defs/Row\"}},{\"type\":\"null\"}]},\"by\":{\"type\":\"object\","
    "\"additionalProperties\":{\"type\":\"number\"}}},\"$defs\":{\"Row\":{\"type\":\"object\","
    "\"required\":[\"name\",\"kind\"],\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":"
    "1,\"maxLength\":3},\"kind\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"]},\"mail\":{\"type\":"
    "\"string\",\"format\":\"email\"},\"value\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":"
    "\"integer\"},{\"type\":\"number\"},{\"type\":\"boolean\"},{\"type\":\"null\"}]},\"day\":{"
    "\"type\":\"string\",\"pattern\":\"^\\\\d{2}:\\\\d{2}$\"},\"in\":{\"$ref\":\"#/$defs/Row\"},"
    "\"pair\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":2,\"items\":{}},\"size\":{\"type\":"
    "\"number\",\"exclusiveMinimum\":0}}}}}";

#define ROW(rest) "{\"rows\":[{\"name\":\"n\",\"kind\":\"a\"," rest "}]}"

static const struct {
    const char *value, *expect;
} data[] = {
    {"{\"rows\":null}", "{\"rows\":null}"},
    {ROW("\"value\":5"), ROW("\"value\":5")},
    {ROW("\"value\":1.5"), ROW("\"value\":1.5")},
    {ROW("\"value\":true"), ROW("\"value\":true")},
    {ROW("\"value\":null,\"x\":1"), ROW("\"value\":null")},
    {ROW("\"size\":\"1e2\""), ROW("\"size\":100.0")},
    {"{\"by\":{\"a\":\"1.5\"}}", "{\"by\":{\"a\":1.5}}"},
    {"{\"rows\":[{\"kind\":\"c\"}]}",
     ITEM("missing", ",\"rows\",0,\"name\"", "Field required", "{\"kind\":\"c\"}") "," ITEM_CTX(
         "literal_error", ",\"rows\",0,\"kind\"", "Input should be 'a' or 'b'", "\"c\"",
         "\"expected\":\"'a' or 'b'\"")},
    {"{\"rows\":[1]}",
     ITEM("model_attributes_type", ",\"rows\",0",
          "Input should be a valid dictionary or object to extract fields from", "1")},
    {"{\"rows\":{}}", ITEM("list_type", ",\"rows\"", "Input should be a valid list", "{}")},
    {"{\"by\":{\"a\":\"x\"}}",
     ITEM("float_parsing", ",\"by\",\"a\"",
          "Input should be a valid number, unable to parse string as a number", "\"x\"")},
    {"{\"rows\":[{\"name\":\"\",\"kind\":\"a\"},{\"name\":\"vier\",\"kind\":\"a\"}]}",
     ITEM_CTX("string_too_short", ",\"rows\",0,\"name\"", "String should have at least 1 character",
              "\"\"", "\"min_length\":1") "," ITEM_CTX("string_too_long", ",\"rows\",1,\"name\"",
                                                       "String should have at most 3 characters",
                                                       "\"vier\"", "\"max_length\":3")},
    {ROW("\"mail\":\"x\""),
     ITEM_CTX("value_error", ",\"rows\",0,\"mail\"",
              "value is not a valid email address: An email address must have an @-sign.", "\"x\"",
              "\"reason\":\"An email address must have an @-sign.\"")},
    {ROW("\"day\":\"1:2\""), ITEM_CTX("string_pattern_mismatch", ",\"rows\",0,\"day\"",
                                      "String should match pattern '^\\\\d{2}:\\\\d{2}$'",
                                      "\"1:2\"", "\"pattern\":\"^\\\\d{2}:\\\\d{2}$\"")},
    {ROW("\"pair\":[1]"),
     ITEM_CTX("too_short", ",\"rows\",0,\"pair\"",
              "List should have at least 2 items after validation, not 1", "[1]",
              "\"field_type\":\"List\",\"min_length\":2,\"actual_length\":1")},
    {ROW("\"size\":0"), ITEM_CTX("greater_than", ",\"rows\",0,\"size\"",
                                 "Input should be greater than 0", "0", "\"gt\":0")},
    {ROW("\"value\":[]"),
     ITEM("string_type", ",\"rows\",0,\"value\",\"str\"", "Input should be a valid string",
          "[]") "," ITEM("int_type", ",\"rows\",0,\"value\",\"int\"",
                         "Input should be a valid integer",
                         "[]") "," ITEM("float_type", ",\"rows\",0,\"value\",\"float\"",
                                        "Input should be a valid number",
                                        "[]") "," ITEM("bool_type",
                                                       ",\"rows\",0,\"value\",\"bool\"",
                                                       "Input should be a valid boolean", "[]")},
};

static void data_is_read(void **state)
{
    struct json *doc = json_parse(&arena, str_of(data_schema), NULL, NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(data); i++) {
        struct str got = read_as(doc, data[i].value);
        if (!str_is(got, data[i].expect))
            fail_msg("%s: got %.*s, want %s", data[i].value, STR_ARG(got), data[i].expect);
    }
}

/* A value that refers to itself ends, and so does a long list of faults. */
static void there_are_limits(void **state)
{
    struct json *doc = json_parse(&arena, str_of(data_schema), NULL, NULL);
    struct buf deep auto_buf = BUF_INIT(1 << 20), wide auto_buf = BUF_INIT(1 << 20);
    size_t n = 0;

    (void)state;
    (void)buf_add_lit(&deep, "{\"rows\":[");
    for (int i = 0; i < 100; i++)
        (void)buf_add_lit(&deep, "{\"name\":\"n\",\"kind\":\"a\",\"in\":");
    (void)buf_add_lit(&deep, "0");
    for (int i = 0; i < 100; i++)
        (void)buf_add_char(&deep, '}');
    (void)buf_add_lit(&deep, "]}");
    assert_true(str_find(read_as(doc, buf_cstr(&deep)), STR("recursion_loop")) > 0);

    (void)buf_add_lit(&wide, "{\"rows\":[0");
    for (int i = 0; i < 2 * MODEL_MAX_ITEMS; i++)
        (void)buf_add_lit(&wide, ",0");
    (void)buf_add_lit(&wide, "]}");
    struct str got = read_as(doc, buf_cstr(&wide));
    for (ptrdiff_t at; (at = str_find(got, STR("\"loc\""))) >= 0; n++)
        got = str_skip(got, (size_t)at + 5);
    assert_int_equal(n, MODEL_MAX_ITEMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(data_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(there_are_limits, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
