/* SPDX-License-Identifier: MIT */
/* Descriptions: what is compiled of them, what is refused, and where memory runs out. */
#include "mcp/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "loop/loop.h"

static void nothing(struct mcp_call *c)
{
    (void)c;
}

static const struct mcp_tool tools[] = {
    {"a", "A", "first", NULL, NULL, NULL, .call = nothing},
    {"b", NULL, "second", "{ \"type\": \"object\" }", "{\"type\":\"object\"}",
     "{\"readOnlyHint\":true}", .call = nothing},
    {"c", NULL, "third", NULL, NULL, NULL, .call = nothing},
};

static void test_lists_are_texts(void **state)
{
    const struct mcp_desc desc = {.name = "t", .version = "1", .tools = tools, .n_tools = 3};
    struct mcp_table t = {0};

    (void)state;
    assert_int_equal(mcp_table_init(&t, &desc, NULL), 0);
    const struct mcp_catalog *c = &t.lists[MCP_LIST_TOOLS];
    assert_int_equal(c->n, 3);
    assert_true(str_is(c->items[1],
                       "{\"name\":\"b\",\"description\":\"second\",\"inputSchema\":{\"type\":"
                       "\"object\"},\"outputSchema\":{\"type\":\"object\"},\"annotations\":{"
                       "\"readOnlyHint\":true}}"));
    assert_true(str_starts(c->whole[0], STR("{\"tools\":[{\"name\":\"a\",\"title\":\"A\"")));
    assert_true(str_find(c->whole[1], STR("\"ttlMs\":")) > 0);
    assert_true(str_find(c->whole[1], STR("\"resultType\":\"complete\"")) > 0);
    assert_true(str_is(t.capabilities[1], "{\"tools\":{\"listChanged\":true}}"));
    assert_non_null(map_get(&t.tools, STR("c")));
    mcp_table_done(&t);
}

static void test_pages_have_no_whole(void **state)
{
    struct mcp_desc desc = {.name = "t", .version = "1", .tools = tools, .n_tools = 3, .page = 2};
    struct mcp_table t = {0};
    struct buf b auto_buf = BUF_INIT(4096);

    (void)state;
    assert_int_equal(mcp_table_init(&t, &desc, NULL), 0);
    assert_null(t.lists[MCP_LIST_TOOLS].whole[0].p);
    struct jw w = jw_to(&b);
    jw_object(&w);
    mcp_write_list(&w, &t, MCP_LIST_TOOLS, 0, 2);
    jw_end(&w);
    assert_true(str_ends(buf_str(&b), STR("\"nextCursor\":\"2\"}")));
    buf_clear(&b);
    w = jw_to(&b);
    jw_object(&w);
    mcp_write_list(&w, &t, MCP_LIST_TOOLS, 2, 4);
    jw_end(&w);
    assert_true(str_find(buf_str(&b), STR("nextCursor")) < 0);
    mcp_table_done(&t);
}

static void test_mistakes_are_named(void **state)
{
    static const struct {
        struct mcp_tool tool;
        const char *says;
    } rows[] = {
        {{"x", NULL, "d", "{", NULL, NULL, .call = nothing}, "tool 'x': input schema"},
        {{"x", NULL, "d", "{\"type\":\"thing\"}", NULL, NULL, .call = nothing}, "input schema"},
        {{"x", NULL, "d", NULL, "[", NULL, .call = nothing}, "tool 'x': outputSchema"},
        {{"x", NULL, "d", NULL, NULL, "]", .call = nothing}, "tool 'x': annotations"},
        {{"x", NULL, "d", "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"b c\"}}}",
          NULL, NULL, .call = nothing},
         "/a: bad x-mcp-header"},
        {{"x", NULL, "d",
          "{\"properties\":{\"a\":{\"x-mcp-header\":\"H\"},\"b\":{\"x-mcp-header\":\"h\"}}}", NULL,
          NULL, .call = nothing},
         "twice"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct mcp_desc desc = {
            .name = "t", .version = "1", .tools = &rows[i].tool, .n_tools = 1};
        struct mcp_table t = {0};
        struct err e = ERR_INIT;
        assert_true(mcp_table_init(&t, &desc, &e) < 0);
        assert_non_null(strstr(err_text(&e), rows[i].says));
    }
}

static void test_templates(void **state)
{
    static const struct {
        const char *template, *uri, *vars[2];
    } rows[] = {
        {"t://{a}/data", "t://7/data", {"7"}},
        {"t://{a}/data", "t://7/8/data", {NULL}},
        {"t://{a}/data", "t:///data", {""}},
        {"t://{a}", "t://x/y", {NULL}},
        {"t://{+a}", "t://x/y", {"x/y"}},
        {"t://{+a}/{b}", "t://x/y/z", {"x/y", "z"}},
        {"t://{a}-{b}", "t://1-2-3", {"1", "2-3"}},
        {"t://x", "t://x", {""}},
        {"t://x", "t://xy", {NULL}},
        {"t://{a", "t://x", {NULL}},
        {"{a}{b}{c}{d}{e}", "x", {NULL}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str vars[MCP_MAX_VARS] = {{0}};
        bool matches = mcp_uri_match(rows[i].template, str_of(rows[i].uri), vars);
        assert_int_equal(matches, rows[i].vars[0] != NULL);
        for (int k = 0; matches && k < 2 && rows[i].vars[k]; k++)
            assert_true(str_is(vars[k], rows[i].vars[k]));
    }
}

/* Every allocation fails once: nothing leaks, and the last try succeeds. */
static void test_no_memory(void **state)
{
    const struct mcp_desc desc = {.name = "t", .version = "1", .tools = tools, .n_tools = 3};
    struct loop *l = loop_new(NULL);
    struct mcp_server *s = NULL;

    (void)state;
    for (unsigned n = 1; !s; n++) {
        struct err e = ERR_INIT;
        assert_true(n < 1000);
        fault_arm(FAULT_ALLOC, n);
        s = mcp_server_new(l, &desc, &e);
        fault_arm(FAULT_ALLOC, 0);
        assert_true(s || e.code < 0);
    }
    mcp_server_free(s);
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_are_texts),    cmocka_unit_test(test_pages_have_no_whole),
        cmocka_unit_test(test_mistakes_are_named), cmocka_unit_test(test_templates),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
