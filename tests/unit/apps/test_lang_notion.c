/* SPDX-License-Identifier: MIT */
/* Notion's filters and sorts: which pages they find, and in which order. */
#include "lang_check.h"

#include "base/buf.h"

#define ID(n) "00000000-0000-4000-8000-00000000000" #n

static const char tables[] =
    "CREATE TABLE page (id TEXT PRIMARY KEY, created TEXT, edited TEXT, by TEXT, properties TEXT);"
    "INSERT INTO page VALUES"
    " ('1', '2026-01-01T08:00:00.000Z', '2026-01-15T08:00:00.000Z', '" ID(
        1) "',"
           "  '{\"title\":{\"title\":[{\"plain_text\":\"Ant \"},{\"plain_text\":\"hill\"}]},"
           "    \"n\":{\"number\":5},\"s\":{\"select\":{\"name\":\"Todo\"}},"
           "    \"m\":{\"multi_select\":[{\"name\":\"red\"},{\"name\":\"blue\"}]},"
           "    \"d\":{\"date\":{\"start\":\"2026-01-10\"}},\"c\":{\"checkbox\":true},"
           "    \"p\":{\"people\":[{\"id\":\"" ID(
               7) "\"}]},\"u\":{\"url\":\"https://a.example\"}}'),"
                  " ('2', '2026-01-10T08:00:00.000Z', '2026-01-14T08:00:00.000Z', '" ID(
                      2) "',"
                         "  "
                         "'{\"title\":{\"title\":[{\"plain_text\":\"bee\"}]},\"n\":{\"number\":-2."
                         "5},"
                         "    "
                         "\"s\":{\"select\":{\"name\":\"Done\"}},\"m\":{\"multi_select\":[{"
                         "\"name\":\"blue\"}]},"
                         "    "
                         "\"d\":{\"date\":{\"start\":\"2026-01-15T10:30:00.000Z\"}},\"c\":{"
                         "\"checkbox\":false},"
                         "    \"r\":{\"relation\":[{\"id\":\"" ID(
                             8) "\"}]}}'),"
                                " ('3', '2026-01-12T08:00:00.000Z', '2026-01-13T08:00:00.000Z', "
                                "'" ID(1) "',"
                                          "  "
                                          "'{\"title\":{\"title\":[{\"plain_text\":\"Cat\"}]},"
                                          "\"n\":{\"number\":0},"
                                          "    "
                                          "\"d\":{\"date\":{\"start\":\"2026-02-20\"}},\"m\":{"
                                          "\"multi_select\":[]},"
                                          "    \"f\":{\"files\":[{\"name\":\"x\"}]}}'),"
                                          " ('4', '2025-11-01T08:00:00.000Z', "
                                          "'2026-01-12T08:00:00.000Z', '" ID(1) "', '{}');";

#define FIELDS                                                                                     \
    "{\"fields\": {\"properties\": \"p.properties\", \"created_time\": \"p.created\","             \
    " \"last_edited_time\": \"p.edited\", \"created_by\": \"p.by\", \"last_edited_by\": "          \
    "\"p.by\"}}"

static const char config[] = "{\"notion_filter\": " FIELDS ", \"notion_sort\": " FIELDS "}";

static const char schema[] =
    "{\"Name\":{\"id\":\"title\",\"type\":\"title\"},\"Count\":{\"id\":\"n\",\"type\":\"number\"},"
    "\"State\":{\"id\":\"s\",\"type\":\"select\",\"select\":{\"options\":[{\"name\":\"Todo\"},"
    "{\"name\":\"Done\"}]}},\"Tags\":{\"id\":\"m\",\"type\":\"multi_select\"},"
    "\"Due\":{\"id\":\"d\",\"type\":\"date\"},\"Is on\":{\"id\":\"c\",\"type\":\"checkbox\"},"
    "\"Who\":{\"id\":\"p\",\"type\":\"people\"},\"Rel\":{\"id\":\"r\",\"type\":\"relation\"},"
    "\"Link\":{\"id\":\"u\",\"type\":\"url\"},\"Files\":{\"id\":\"f\",\"type\":\"files\"},"
    "\"Made\":{\"id\":\"t\",\"type\":\"created_time\"},\"By\":{\"id\":\"b\",\"type\":\"created_"
    "by\"}"
    ",\"Evil\":{\"id\":\"a') --\",\"type\":\"number\"}}";

static const char scripts_text[] =
    "-- name: find\n"
    "SELECT ifnull(group_concat(id), '') AS result FROM (SELECT p.id FROM page p WHERE "
    "{{notion_filter :q}} ORDER BY p.id);\n"
    "-- name: sort\n"
    "SELECT group_concat(id) AS result FROM (SELECT p.id FROM page p ORDER BY "
    "{{notion_sort :q}}, p.id);\n";

/* "!" for what is refused. */
static const struct {
    const char *filter, *found;
} cases[] = {
    {"null", "1,2,3,4"},
    {"{}", "1,2,3,4"},
    {"{\"property\":\"Name\",\"title\":{\"equals\":\"ant hill\"}}", "1"},
    {"{\"property\":\"title\",\"title\":{\"contains\":\"A\"}}", "1,3"},
    {"{\"property\":\"Name\",\"rich_text\":{\"starts_with\":\"B\"}}", "2"},
    {"{\"property\":\"Name\",\"title\":{\"ends_with\":\"t\"}}", "3"},
    {"{\"property\":\"Name\",\"title\":{\"does_not_contain\":\"a\"}}", "2,4"},
    {"{\"property\":\"Name\",\"title\":{\"does_not_equal\":\"bee\"}}", "1,3,4"},
    {"{\"property\":\"Name\",\"title\":{\"is_empty\":true}}", "4"},
    {"{\"property\":\"Name\",\"title\":{\"is_not_empty\":true}}", "1,2,3"},
    {"{\"property\":\"Name\",\"title\":{\"is_empty\":false}}", "!"},
    {"{\"property\":\"Name\",\"title\":{\"equals\":\"' OR 1\"}}", ""},
    {"{\"property\":\"Link\",\"url\":{\"contains\":\"a.example\"}}", "1"},
    {"{\"property\":\"Link\",\"rich_text\":{\"is_empty\":true}}", "2,3,4"},
    {"{\"property\":\"Count\",\"number\":{\"equals\":5}}", "1"},
    {"{\"property\":\"Count\",\"number\":{\"does_not_equal\":5}}", "2,3,4"},
    {"{\"property\":\"Count\",\"number\":{\"greater_than\":-3,\"less_than\":1}}", "2,3"},
    {"{\"property\":\"Count\",\"number\":{\"greater_than_or_equal_to\":0}}", "1,3"},
    {"{\"property\":\"Count\",\"number\":{\"less_than_or_equal_to\":-2.5}}", "2"},
    {"{\"property\":\"Count\",\"number\":{\"is_empty\":true}}", "4"},
    {"{\"property\":\"Count\",\"number\":{\"equals\":\"5\"}}", "!"},
    {"{\"property\":\"Is on\",\"checkbox\":{\"equals\":true}}", "1"},
    {"{\"property\":\"Is on\",\"checkbox\":{\"does_not_equal\":true}}", "2,3,4"},
    {"{\"property\":\"State\",\"select\":{\"equals\":\"Todo\"}}", "1"},
    {"{\"property\":\"State\",\"select\":{\"does_not_equal\":\"Todo\"}}", "2,3,4"},
    {"{\"property\":\"s\",\"select\":{\"is_empty\":true}}", "3,4"},
    {"{\"property\":\"State\",\"status\":{\"equals\":\"Todo\"}}", "!"},
    {"{\"property\":\"State\",\"select\":{\"contains\":\"Todo\"}}", "!"},
    {"{\"property\":\"Tags\",\"multi_select\":{\"contains\":\"blue\"}}", "1,2"},
    {"{\"property\":\"Tags\",\"multi_select\":{\"does_not_contain\":\"red\"}}", "2,3,4"},
    {"{\"property\":\"Tags\",\"multi_select\":{\"is_empty\":true}}", "3,4"},
    {"{\"property\":\"Tags\",\"multi_select\":{\"is_not_empty\":true}}", "1,2"},
    {"{\"property\":\"Due\",\"date\":{\"equals\":\"2026-01-15\"}}", "2"},
    {"{\"property\":\"Due\",\"date\":{\"equals\":\"2026-01-15T11:30:00+01:00\"}}", "2"},
    {"{\"property\":\"Due\",\"date\":{\"before\":\"2026-01-15\"}}", "1"},
    {"{\"property\":\"Due\",\"date\":{\"after\":\"2026-01-15T10:00:00Z\"}}", "2,3"},
    {"{\"property\":\"Due\",\"date\":{\"on_or_before\":\"2026-01-15\"}}", "1,2"},
    {"{\"property\":\"Due\",\"date\":{\"on_or_after\":\"2026-01-15\"}}", "2,3"},
    {"{\"property\":\"Due\",\"date\":{\"is_empty\":true}}", "4"},
    {"{\"property\":\"Due\",\"date\":{\"past_week\":{}}}", "1,2"},
    {"{\"property\":\"Due\",\"date\":{\"this_week\":{}}}", "2"},
    {"{\"property\":\"Due\",\"date\":{\"next_week\":{}}}", "2"},
    {"{\"property\":\"Due\",\"date\":{\"next_month\":{}}}", "2"},
    {"{\"property\":\"Due\",\"date\":{\"next_year\":{}}}", "2,3"},
    {"{\"property\":\"Due\",\"date\":{\"equals\":\"soon\"}}", "!"},
    {"{\"property\":\"Who\",\"people\":{\"contains\":\"" ID(7) "\"}}", "1"},
    {"{\"property\":\"Who\",\"people\":{\"contains\":\"00000000000040008000000000000007\"}}", "1"},
    {"{\"property\":\"Who\",\"people\":{\"does_not_contain\":\"" ID(7) "\"}}", "2,3,4"},
    {"{\"property\":\"Rel\",\"relation\":{\"contains\":\"" ID(8) "\"}}", "2"},
    {"{\"property\":\"Rel\",\"relation\":{\"is_empty\":true}}", "1,3,4"},
    {"{\"property\":\"Files\",\"files\":{\"is_not_empty\":true}}", "3"},
    {"{\"property\":\"By\",\"created_by\":{\"contains\":\"" ID(2) "\"}}", "2"},
    {"{\"property\":\"Made\",\"created_time\":{\"past_month\":{}}}", "1,2,3"},
    {"{\"timestamp\":\"created_time\",\"created_time\":{\"before\":\"2026-01-01\"}}", "4"},
    {"{\"timestamp\":\"last_edited_time\",\"last_edited_time\":{\"on_or_after\":\"2026-01-14\"}}",
     "1,2"},
    {"{\"timestamp\":\"created_time\",\"last_edited_time\":{\"past_week\":{}}}", "!"},
    {"{\"and\":[]}", "1,2,3,4"},
    {"{\"and\":[{\"property\":\"Name\",\"title\":{\"contains\":\"a\"}},{\"property\":\"Count\","
     "\"number\":{\"less_than\":5}}]}",
     "3"},
    {"{\"or\":[{\"property\":\"Count\",\"number\":{\"equals\":5}},{\"and\":[{\"property\":"
     "\"State\","
     "\"select\":{\"equals\":\"Done\"}},{\"property\":\"Count\",\"number\":{\"less_than\":0}}]}]}",
     "1,2"},
    {"{\"and\":[{}],\"or\":[]}", "!"},
    {"{\"and\":[{}]}", "!"},
    {"{\"property\":\"Nope\",\"number\":{\"equals\":1}}", "!"},
    {"{\"property\":\"Evil\",\"number\":{\"equals\":1}}", "!"},
    {"{\"property\":\"Count\"}", "!"},
    {"{\"number\":{\"equals\":1}}", "!"},
    {"{\"property\":\"Count\",\"number\":{}}", "!"},
    {"{\"property\":\"Count\",\"number\":5}", "!"},
    {"[]", "!"},
    {"5", "!"},
};

static const struct {
    const char *sorts, *order;
} orders[] = {
    {"null", "1,2,3,4"},
    {"[]", "1,2,3,4"},
    {"[{\"property\":\"Name\",\"direction\":\"ascending\"}]", "4,1,2,3"},
    {"[{\"property\":\"Name\",\"direction\":\"descending\"}]", "3,2,1,4"},
    {"[{\"property\":\"Count\"}]", "2,3,1,4"},
    {"[{\"property\":\"Count\",\"direction\":\"descending\"}]", "1,3,2,4"},
    {"[{\"property\":\"State\",\"direction\":\"descending\"}]", "2,1,3,4"},
    {"[{\"property\":\"Due\",\"direction\":\"descending\"}]", "3,2,1,4"},
    {"[{\"timestamp\":\"last_edited_time\",\"direction\":\"ascending\"}]", "4,3,2,1"},
    {"[{\"property\":\"Is on\",\"direction\":\"descending\"},{\"timestamp\":\"created_time\","
     "\"direction\":\"descending\"}]",
     "1,2,3,4"},
    {"[{\"property\":\"Nope\"}]", "!"},
    {"[{\"property\":\"Name\",\"direction\":\"up\"}]", "!"},
    {"[{\"timestamp\":\"title\"}]", "!"},
    {"[{}]", "!"},
    {"[5]", "!"},
};

static struct lang_check check = {.schema = tables, .languages = config, .scripts = scripts_text};

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

static struct str run(const char *script, const char *filter, const char *sorts)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    (void)buf_printf(&b, "{\"filter\":%s,\"sorts\":%s,\"schema\":%s}", filter, sorts, schema);
    assert_true(buf_ok(&b));
    struct app_call call =
        lang_check_run(&check, scripts_find(&check.parsed, str_of(script)), buf_str(&b));
    return call.is_query_error ? STR("!") : call.result;
}

static void test_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str found = run("find", cases[i].filter, "null");
        if (!str_is(found, cases[i].found))
            fail_msg("%s: found '%s', not '%s'", cases[i].filter, found.p, cases[i].found);
    }
}

static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct str order = run("sort", "null", orders[i].sorts);
        if (!str_is(order, orders[i].order))
            fail_msg("%s: '%s', not '%s'", orders[i].sorts, order.p, orders[i].order);
    }
}

/* Many conditions and deep nesting are refused, before SQLite would. */
static void test_limits(void **state)
{
    (void)state;
    for (size_t n = 79; n <= 82; n++) {
        auto_buf struct buf b = BUF_INIT(1 << 20);
        for (size_t i = 0; i < n; i++)
            (void)buf_printf(&b, "%s{\"property\":\"Count\",\"number\":{\"is_empty\":true}}",
                             i == 0 ? "{\"or\":[" : ",");
        (void)buf_add_lit(&b, "]}");
        assert_string_equal(run("find", buf_cstr(&b), "null").p, n <= 80 ? "4" : "!");
    }
    for (size_t n = 16; n <= 18; n++) {
        auto_buf struct buf b = BUF_INIT(1 << 20);
        for (size_t i = 0; i < n; i++)
            (void)buf_add_lit(&b, "{\"and\":[");
        for (size_t i = 0; i < n; i++)
            (void)buf_add_lit(&b, "]}");
        assert_string_equal(run("find", buf_cstr(&b), "null").p, n <= 17 ? "1,2,3,4" : "!");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
