/* SPDX-License-Identifier: MIT */
/* Notion's objects: what the API takes and as what it is kept. */
#include "../check.h"

#include "apps/products/notion/notion.h"
#include "base/cleanup.h"

static struct arena arena;

static struct json *parse(const char *text)
{
    return text ? json_parse(&arena, str_of(text), NULL, NULL) : NULL;
}

static const char *text_of(const struct json *v)
{
    static char out[8192];
    auto_buf struct buf b = BUF_INIT(sizeof out - 1);

    if (!v)
        return "refused";
    (void)json_write(&b, v, JSON_COMPACT);
    assert_true(buf_ok(&b));
    memcpy(out, b.p, b.len);
    out[b.len] = '\0';
    return out;
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 256 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void test_ids(void **state)
{
    char id[NOTION_ID_MAX];

    (void)state;
    assert_true(notion_id(STR("0123456789ABCDEF0123456789abcdef"), id));
    assert_string_equal(id, "01234567-89ab-cdef-0123-456789abcdef");
    assert_true(notion_id(STR("01234567-89ab-cdef-0123-456789abcdef"), id));
    assert_false(notion_id(STR("0123456789abcdef0123456789abcde"), id));
    assert_false(notion_id(STR("0123456789abcdef0123456789abcdef0"), id));
    assert_false(notion_id(STR("g123456789abcdef0123456789abcdef"), id));
    assert_false(notion_id(STR(""), id));
}

/* ---- rich text ---- */

#define PLAIN                                                                                      \
    "\"annotations\":{\"bold\":false,\"italic\":false,\"strikethrough\":false,"                    \
    "\"underline\":false,\"code\":false,\"color\":\"default\"}"

static void test_rich_text(void **state)
{
    static const struct {
        const char *in, *kept;
    } cases[] = {
        {"[]", "[]"},
        {"[{\"text\":{\"content\":\"a\"}}]",
         "[{\"type\":\"text\",\"text\":{\"content\":\"a\",\"link\":null}," PLAIN
         ",\"plain_text\":\"a\",\"href\":null}]"},
        {"[{\"type\":\"equation\",\"equation\":{\"expression\":\"e=mc\"}}]",
         "[{\"type\":\"equation\",\"equation\":{\"expression\":\"e=mc\"}," PLAIN
         ",\"plain_text\":\"e=mc\",\"href\":null}]"},
        {"[{\"text\":{}}]", "refused"},
        {"[{\"text\":\"a\"}]", "refused"},
        {"[{\"type\":\"image\",\"image\":{}}]", "refused"},
        {"[5]", "refused"},
        {"{}", "refused"},
        {"5", "refused"},
    };
    auto_buf struct buf b = BUF_INIT(64);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(text_of(notion_rich_text(&arena, parse(cases[i].in))), cases[i].kept);
    notion_plain(&b, notion_rich_text(&arena, parse("[{\"text\":{\"content\":\"a\"}},"
                                                    "{\"text\":{\"content\":\"b\"}}]")));
    assert_string_equal(buf_cstr(&b), "ab");
}

static void test_text_limits(void **state)
{
    (void)state;
    for (size_t n = NOTION_TEXT_MAX; n <= NOTION_TEXT_MAX + 1; n++) {
        auto_buf struct buf b = BUF_INIT(64 << 10);
        (void)buf_add_lit(&b, "[{\"text\":{\"content\":\"");
        for (size_t i = 0; i < n; i++)
            (void)buf_add_lit(&b, "é");
        (void)buf_add_lit(&b, "\"}}]");
        bool is_taken = notion_rich_text(&arena, parse(buf_cstr(&b))) != NULL;
        assert_int_equal(is_taken, n == NOTION_TEXT_MAX);
    }
}

/* ---- blocks ---- */

static void test_blocks(void **state)
{
    static const struct {
        const char *in, *kept;
    } cases[] = {
        {"[]", "[]"},
        {"[{\"divider\":{}}]", "[{\"n\":0,\"parent\":-1,\"type\":\"divider\",\"data\":{}}]"},
        {"[{\"type\":\"to_do\",\"to_do\":{\"rich_text\":[],\"children\":[{\"quote\":{}}]}}]",
         "[{\"n\":0,\"parent\":-1,\"type\":\"to_do\",\"data\":{\"rich_text\":[],\"color\":"
         "\"default\",\"checked\":false}},{\"n\":1,\"parent\":0,\"type\":\"quote\",\"data\":"
         "{\"rich_text\":[],\"color\":\"default\"}}]"},
        {"[{\"block_type\":\"bookmark\",\"content\":\"https://a.example\"}]",
         "[{\"n\":0,\"parent\":-1,\"type\":\"bookmark\",\"data\":{\"url\":\"https://a.example\","
         "\"caption\":[]}}]"},
        {"[{\"image\":{\"external\":{\"url\":\"u\"}}}]",
         "[{\"n\":0,\"parent\":-1,\"type\":\"image\",\"data\":{\"external\":{\"url\":\"u\"},"
         "\"caption\":[],\"type\":\"external\"}}]"},
        {"[{\"table_row\":{\"cells\":[[],[]]}}]",
         "[{\"n\":0,\"parent\":-1,\"type\":\"table_row\",\"data\":{\"cells\":[[],[]]}}]"},
        {"[{\"divider\":{\"children\":[]}}]", "refused"},
        {"[{\"image\":{}}]", "refused"},
        {"[{\"bookmark\":{}}]", "refused"},
        {"[{\"equation\":{}}]", "refused"},
        {"[{\"table_row\":{}}]", "refused"},
        {"[{\"type\":\"child_page\",\"child_page\":{\"title\":\"x\"}}]", "refused"},
        {"[{\"paragraph\":5}]", "refused"},
        {"[{\"to_do\":{\"checked\":\"yes\"}}]", "refused"},
        {"[{}]", "refused"},
        {"[{\"children\":[]}]", "refused"},
        {"[{\"type\":\"spaceship\",\"children\":[{}]}]", "refused"},
        {"[5]", "refused"},
        {"{}", "refused"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(text_of(notion_flatten(&arena, parse(cases[i].in))), cases[i].kept);
}

static void test_block_depth(void **state)
{
    (void)state;
    for (size_t n = NOTION_DEPTH_MAX; n <= NOTION_DEPTH_MAX + 2; n++) {
        auto_buf struct buf b = BUF_INIT(64 << 10);
        for (size_t i = 0; i < n; i++)
            (void)buf_add_lit(&b, "[{\"quote\":{\"children\":");
        (void)buf_add_lit(&b, "[]");
        for (size_t i = 0; i < n; i++)
            (void)buf_add_lit(&b, "}}]");
        bool is_taken = notion_flatten(&arena, parse(buf_cstr(&b))) != NULL;
        assert_int_equal(is_taken, n <= NOTION_DEPTH_MAX);
    }
}

/* Types and texts of the blocks: "heading_1:Title paragraph:a". */
static void outline(struct buf *out, const struct json *flat)
{
    for (size_t i = 0; i < flat->n; i++) {
        const struct json *block = json_at(flat, i), *data = json_get(block, "data");
        (void)buf_printf(out, "%s%s:", i == 0 ? "" : " ", json_get(block, "type")->s.p);
        notion_plain(out, json_get(data, "rich_text"));
        if (json_int(json_get(block, "parent"), -1) >= 0)
            (void)buf_printf(out, "@%d", (int)json_int(json_get(block, "parent"), -1));
        if (json_bool(json_get(data, "checked"), false))
            (void)buf_add_lit(out, "!");
    }
}

static void test_markdown(void **state)
{
    static const struct {
        const char *text, *blocks;
    } cases[] = {
        {"", ""},
        {"\n \n", ""},
        {"a\nb", "paragraph:a paragraph:b"},
        {"a\r\nb\r\n", "paragraph:a paragraph:b"},
        {"# A\n## B\n### C\n#### D", "heading_1:A heading_2:B heading_3:C heading_3:D"},
        {"#A", "paragraph:#A"},
        {"- a\n* b\n+ c", "bulleted_list_item:a bulleted_list_item:b bulleted_list_item:c"},
        {"1. a\n2) b", "numbered_list_item:a numbered_list_item:b"},
        {"- [ ] a\n- [x] b\n- [X] c", "to_do:a to_do:b! to_do:c!"},
        {"- a\n  - b\n    - c\n  - d\n- e",
         "bulleted_list_item:a bulleted_list_item:b@0 bulleted_list_item:c@1 "
         "bulleted_list_item:d@0 bulleted_list_item:e"},
        {"- a\n\t1. b\n\nc\n  - d",
         "bulleted_list_item:a numbered_list_item:b@0 paragraph:c bulleted_list_item:d"},
        {"> q", "quote:q"},
        {"---\n***", "divider: divider:"},
        {"```\na\n\n  b\n```\nc", "code:a\n\n  b paragraph:c"},
        {"```py\na", "code:a"},
        {"```", "code:"},
        {"**a** *b* `c` ~~d~~ __e__ [f](g)", "paragraph:a b c d e f"},
        {"2 * 3 * 4 and a_b_c", "paragraph:2 * 3 * 4 and a_b_c"},
        {"** a ** [x] [y]( z", "paragraph:** a ** [x] [y]( z"},
        {"**", "paragraph:**"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf struct buf b = BUF_INIT(4096);
        const struct json *blocks = notion_markdown(&arena, str_of(cases[i].text));
        assert_non_null(blocks);
        const struct json *flat = notion_flatten(&arena, blocks);
        assert_non_null(flat);
        outline(&b, flat);
        assert_string_equal(b.len ? buf_cstr(&b) : "", cases[i].blocks);
    }
}

/* ---- properties ---- */

static void test_schema(void **state)
{
    static const struct {
        const char *old, *in, *kept;
    } cases[] = {
        {NULL, "{\"N\":{\"title\":{}}}",
         "{\"N\":{\"id\":\"title\",\"name\":\"N\",\"type\":\"title\",\"title\":{}}}"},
        {NULL, "{\"N\":\"title\"}",
         "{\"N\":{\"id\":\"title\",\"name\":\"N\",\"type\":\"title\",\"title\":{}}}"},
        {"{\"N\":{\"id\":\"title\",\"name\":\"N\",\"type\":\"title\",\"title\":{}}}",
         "{\"N\":{\"name\":\"M\"}}",
         "{\"M\":{\"id\":\"title\",\"name\":\"M\",\"type\":\"title\",\"title\":{}}}"},
        {"{\"N\":{\"id\":\"title\",\"name\":\"N\",\"type\":\"title\",\"title\":{}},\"A\":{\"id\":"
         "\"a\",\"name\":\"A\",\"type\":\"url\",\"url\":{}}}",
         "{\"a\":{\"number\":{}}}",
         "{\"N\":{\"id\":\"title\",\"name\":\"N\",\"type\":\"title\",\"title\":{}},\"A\":{\"id\":"
         "\"a\",\"name\":\"A\",\"type\":\"number\",\"number\":{\"format\":\"number\"}}}"},
        {"{\"N\":{\"id\":\"title\",\"name\":\"N\",\"type\":\"title\",\"title\":{}},\"A\":{\"id\":"
         "\"a\",\"name\":\"A\",\"type\":\"url\",\"url\":{}}}",
         "{\"A\":null}",
         "{\"N\":{\"id\":\"title\",\"name\":\"N\",\"type\":\"title\",\"title\":{}}}"},
        {"{\"N\":{\"id\":\"title\",\"name\":\"N\",\"type\":\"title\",\"title\":{}},\"A\":{\"id\":"
         "\"a\",\"name\":\"A\",\"type\":\"url\",\"url\":{}}}",
         "{\"A\":{\"name\":\"N\"}}", "refused"},
        {NULL, "{\"N\":{\"url\":{}}}", "refused"},
        {NULL, "{\"N\":{\"title\":{}},\"M\":{\"title\":{}}}", "refused"},
        {NULL, "{\"N\":{\"title\":{}},\"M\":{\"magic\":{}}}", "refused"},
        {NULL, "{\"N\":{\"title\":{}},\"R\":{\"relation\":{}}}", "refused"},
        {NULL, "{\"N\":{\"title\":{}},\"S\":{\"select\":{\"options\":[{\"name\":\"a,b\"}]}}}",
         "refused"},
        {NULL, "[]", "refused"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(text_of(notion_schema(&arena, parse(cases[i].old), parse(cases[i].in))),
                            cases[i].kept);
}

#define UUID "00000000-0000-4000-8000-000000000001"

static void test_values(void **state)
{
    static const struct {
        const char *in, *kept, *loose; /* loose NULL: the same */
    } cases[] = {
        {"{\"Num\":{\"number\":5}}", "{\"n\":{\"type\":\"number\",\"number\":5}}", NULL},
        {"{\"n\":{\"number\":null}}", "{\"n\":{\"type\":\"number\",\"number\":null}}", NULL},
        {"{\"Num\":5}", "refused", "{\"n\":{\"type\":\"number\",\"number\":5}}"},
        {"{\"Num\":{\"number\":\"5\"}}", "refused", NULL},
        {"{\"Num\":{\"url\":\"5\"}}", "refused", NULL},
        {"{\"Box\":{\"checkbox\":true}}", "{\"c\":{\"type\":\"checkbox\",\"checkbox\":true}}",
         NULL},
        {"{\"Box\":{\"checkbox\":null}}", "refused", NULL},
        {"{\"Sel\":{\"select\":{\"name\":\"A\"}}}",
         "{\"s\":{\"type\":\"select\",\"select\":{\"id\":\"1\",\"name\":\"A\",\"color\":\"red\"}}}",
         NULL},
        {"{\"Sel\":{\"select\":{\"id\":\"1\"}}}",
         "{\"s\":{\"type\":\"select\",\"select\":{\"id\":\"1\",\"name\":\"A\",\"color\":\"red\"}}}",
         NULL},
        {"{\"Sel\":\"A\"}", "refused",
         "{\"s\":{\"type\":\"select\",\"select\":{\"id\":\"1\",\"name\":\"A\",\"color\":\"red\"}}"
         "}"},
        {"{\"Sel\":{\"select\":null}}", "{\"s\":{\"type\":\"select\",\"select\":null}}", NULL},
        {"{\"Sel\":{\"select\":{}}}", "refused", NULL},
        {"{\"Due\":{\"date\":{\"start\":\"2026-01-30\"}}}",
         "{\"d\":{\"type\":\"date\",\"date\":{\"start\":\"2026-01-30\",\"end\":null,"
         "\"time_zone\":null}}}",
         NULL},
        {"{\"Due\":{\"date\":{\"start\":\"tomorrow\"}}}", "refused", NULL},
        {"{\"Due\":{\"date\":{\"start\":\"2026-01-30\",\"end\":\"x\"}}}", "refused", NULL},
        {"{\"Who\":{\"people\":[{\"id\":\"" UUID "\"}]}}",
         "{\"p\":{\"type\":\"people\",\"people\":[{\"object\":\"user\",\"id\":\"" UUID "\"}]}}",
         NULL},
        {"{\"Who\":{\"people\":[{\"id\":\"Maya\"}]}}", "refused",
         "{\"p\":{\"type\":\"people\",\"people\":[{\"object\":\"user\",\"id\":\"Maya\"}]}}"},
        {"{\"Made\":{\"created_time\":\"2026-01-30\"}}", "refused", "{}"},
        {"{\"Nope\":{\"number\":5}}", "refused", NULL},
        {"[]", "refused", NULL},
    };
    const struct json *schema = parse(
        "{\"Name\":{\"id\":\"title\",\"type\":\"title\"},\"Num\":{\"id\":\"n\",\"type\":\"number\"}"
        ","
        "\"Box\":{\"id\":\"c\",\"type\":\"checkbox\"},\"Due\":{\"id\":\"d\",\"type\":\"date\"},"
        "\"Sel\":{\"id\":\"s\",\"name\":\"Sel\",\"type\":\"select\",\"select\":{\"options\":["
        "{\"id\":\"1\",\"name\":\"A\",\"color\":\"red\"}]}},\"Who\":{\"id\":\"p\",\"type\":"
        "\"people\"},\"Made\":{\"id\":\"m\",\"type\":\"created_time\"}}");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *loose = cases[i].loose ? cases[i].loose : cases[i].kept;
        const struct json *in = parse(cases[i].in);
        const struct json *made = notion_values(&arena, schema, NULL, in, false);
        assert_string_equal(text_of(json_get(made, "values")), cases[i].kept);
        made = notion_values(&arena, schema, NULL, in, true);
        assert_string_equal(text_of(json_get(made, "values")), loose);
    }
    /* An option that there is not becomes one; of a status it does not. */
    const struct json *made = notion_values(
        &arena, schema, NULL, parse("{\"Sel\":{\"select\":{\"name\":\"B\"}}}"), false);
    assert_int_equal(json_pointer(made, "/schema/Sel/select/options")->n, 2);
    assert_int_equal(json_get(json_get(json_get(schema, "Sel"), "select"), "options")->n, 1);
}

static void test_show(void **state)
{
    const struct json *schema =
        parse("{\"A\":{\"id\":\"a\",\"type\":\"select\",\"select\":{\"options\":[{\"id\":\"1\","
              "\"name\":\"X\",\"color\":\"blue\"}]}},\"B\":{\"id\":\"b\",\"type\":\"people\"},"
              "\"C\":{\"id\":\"c\",\"type\":\"created_by\"}}");
    const struct json *values = parse("{\"a\":{\"type\":\"select\",\"select\":{\"id\":\"1\","
                                      "\"name\":\"X\",\"color\":\"red\"}}}");
    const struct json *about = parse("{\"created_by\":\"u\"}");

    (void)state;
    assert_string_equal(text_of(notion_show(&arena, schema, values, about, NULL)),
                        "{\"A\":{\"id\":\"a\",\"type\":\"select\",\"select\":{\"id\":\"1\","
                        "\"name\":\"X\",\"color\":\"blue\"}},\"B\":{\"id\":\"b\",\"type\":"
                        "\"people\",\"people\":[]},\"C\":{\"id\":\"c\",\"type\":\"created_by\","
                        "\"created_by\":{\"object\":\"user\",\"id\":\"u\"}}}");
    assert_string_equal(text_of(notion_show(&arena, schema, values, about, parse("[\"b\"]"))),
                        "{\"B\":{\"id\":\"b\",\"type\":\"people\",\"people\":[]}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),         cmocka_unit_test(test_rich_text),
        cmocka_unit_test(test_text_limits), cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_block_depth), cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_schema),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_show),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
