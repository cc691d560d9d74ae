/* SPDX-License-Identifier: MIT */
/* Messages: what they are, and their ids. */
#include "mcp/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "mcp/exchange.h"

static void test_kinds(void **state)
{
    static const struct {
        const char *text, *id;
        enum mcp_kind kind;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", "1", MCP_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":\"\\u00e9\\n\",\"method\":\"a\"}", "\"é\\n\"", MCP_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}", "null", MCP_NOTIFICATION},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", "null", MCP_MALFORMED},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"a\"}", "null", MCP_MALFORMED},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "1", MCP_RESPONSE},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", "1", MCP_RESPONSE},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{},\"result\":{}}", "1", MCP_MALFORMED},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", "1", MCP_MALFORMED},
        {"{\"jsonrpc\":\"2.0\",\"result\":{}}", "null", MCP_MALFORMED},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[]}", "1", MCP_MALFORMED},
        {"{\"id\":1,\"method\":\"a\"}", "1", MCP_MALFORMED},
        {"[]", "null", MCP_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a auto_arena;
        struct str id;
        arena_init(&a, 1 << 20);
        struct json *v = json_parse(&a, str_of(rows[i].text), NULL, NULL);
        assert_non_null(v);
        assert_int_equal(mcp_classify(&a, v, &id), rows[i].kind);
        assert_true(str_is(id, rows[i].id));
    }
}

static void test_longest_id(void **state)
{
    struct arena a auto_arena;
    char text[MCP_MAX_ID + 64];
    struct str id;

    (void)state;
    arena_init(&a, 1 << 20);
    for (int over = 0; over < 2; over++) {
        int n = MCP_MAX_ID - 2 + over;
        (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"id\":\"%0*d\"}",
                       n, 0);
        struct json *v = json_parse(&a, str_of(text), NULL, NULL);
        assert_int_equal(mcp_classify(&a, v, &id), over ? MCP_MALFORMED : MCP_REQUEST);
    }
}

static void test_error(void **state)
{
    struct buf b auto_buf = BUF_INIT(1024);

    (void)state;
    mcp_write_error(&b, STR("\"x\""), -32602, STR("no \"y\""), STR("{\"z\":1}"));
    assert_string_equal(buf_cstr(&b),
                        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32602,"
                        "\"message\":\"no \\\"y\\\"\",\"data\":{\"z\":1}}}");
}

static void test_versions(void **state)
{
    (void)state;
    assert_int_equal(mcp_version_of(STR("2025-06-18")), MCP_V_2025_06_18);
    assert_int_equal(mcp_version_of(STR("2025-06-19")), MCP_V_COUNT);
    assert_int_equal(mcp_version_of(STR_NULL), MCP_V_COUNT);
}

static void test_methods_of_wires(void **state)
{
    (void)state;
    assert_non_null(mcp_method_find(STR("initialize"), false));
    assert_null(mcp_method_find(STR("initialize"), true));
    assert_null(mcp_method_find(STR("server/discover"), false));
    assert_non_null(mcp_method_find(STR("server/discover"), true));
    assert_non_null(mcp_method_find(STR("tools/call"), true));
    assert_null(mcp_method_find(STR("tools/cal"), true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_longest_id),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_methods_of_wires),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
