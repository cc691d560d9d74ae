/* SPDX-License-Identifier: MIT */
/* Warnings about what nobody reads: the words, their limits, and where they go. */
#include "../check.h"

#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "api/schemas.h"
#include "api/warn.h"
#include "base/cleanup.h"

static struct arena arena;
static struct json *schema;

static int setup(void **state)
{
    static const char text[] = "{\"properties\":{\"timeout\":{},\"template\":{},\"name\":{}}}";

    (void)state;
    arena_init(&arena, 1 << 20);
    schema = json_parse(&arena, str_of(text), NULL, NULL);
    return schema ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void the_nearest_name(void **state)
{
    static const struct {
        const char *name, *nearest; /* NULL: none */
    } rows[] = {
        {"timout", "timeout"},
        {"Timeout", "timeout"},
        {"tiemout", "timeout"},
        {"templates", "template"},
        {"nmae", "name"},
        {"zzz", NULL},
        {"", NULL},
        {"a name that is longer than any word that could have been meant by anybody", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str got = warn_nearest(schema, str_of(rows[i].name));
        if (!rows[i].nearest ? got.p != NULL : !str_is(got, rows[i].nearest))
            fail_msg("'%s': got '%.*s'", rows[i].name, STR_ARG(got));
    }
    assert_null(warn_nearest(NULL, STR("timeout")).p);
    assert_null(warn_nearest(json_new_array(&arena), STR("timeout")).p);
}

static void texts_are_fit_for_headers(void **state)
{
    char name[WARN_NAME_MAX + 10];

    (void)state;
    assert_str(warn_text(&arena, schema, STR(""), STR("nam")),
               "unknown field 'nam'; did you mean 'name'?");
    assert_str(warn_text(&arena, schema, STR("a.b"), STR("zzz")), "unknown field 'a.b.zzz'");
    assert_str(warn_text(&arena, schema, STR(""), STR("x\r\nSet-Cookie: a")),
               "unknown field 'x??Set-Cookie: a'");
    assert_str(warn_text(&arena, schema, STR(""), STR("\xc3\xa4\x7f")), "unknown field '?\?\?'");
    memset(name, 'x', sizeof name);
    for (size_t n = WARN_NAME_MAX; n <= WARN_NAME_MAX + 1; n++) {
        struct str text = warn_text(&arena, schema, STR(""), str_n(name, n));
        assert_int_equal(text.len, strlen("unknown field ''") + WARN_NAME_MAX);
    }
}

static void warnings_are_few_and_different(void **state)
{
    struct api_req r = {.arena = &arena};
    char text[32];

    (void)state;
    api_warn(&r, STR_NULL);
    api_warn(&r, STR("same"));
    api_warn(&r, STR("same"));
    assert_int_equal(r.warnings->n, 1);
    for (int i = 0; i < 2 * WARN_MAX; i++) {
        (void)snprintf(text, sizeof text, "number %d", i);
        api_warn(&r, arena_str(&arena, str_of(text)));
    }
    assert_int_equal(r.warnings->n, WARN_MAX);
}

static void they_become_the_last_member(void **state)
{
    static const struct {
        const char *body, *want;
    } rows[] = {
        {"{}", "{\"warnings\":[\"w\"]}"},
        {"{ }", "{ \"warnings\":[\"w\"]}"},
        {"{\"a\":1}", "{\"a\":1,\"warnings\":[\"w\"]}"},
        {"[1]", "[1]"},
        {"null", "null"},
        {"", ""},
    };
    struct surface with = {.has_warnings = true}, without = {.has_warnings = false};
    struct api_req r = {.arena = &arena, .match = {.surface = &with}};

    (void)state;
    assert_true(str_is(api_with_warnings(&r, STR("{}")), "{}"));
    api_warn(&r, STR("w"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str got = api_with_warnings(&r, str_of(rows[i].body));
        if (!str_is(got, rows[i].want))
            fail_msg("got '%.*s', want '%s'", STR_ARG(got), rows[i].want);
    }
    r.match.surface = &without;
    assert_true(str_is(api_with_warnings(&r, STR("{}")), "{}"));
}

static void query_parameters_that_no_row_names(void **state)
{
    const struct surface s = {.has_warnings = true};
    struct route row = {
        .method = HTTP_GET, .auth = ROUTE_KEY, .query = {{.name = "limit"}, {.name = "cursor"}}};
    struct http_req http = {.head = {.query = STR("limit=1&&limt=2&api_key=x&zzz&=3&limt=4")}};
    struct api_req r = {.arena = &arena, .http = &http, .match = {.surface = &s, .route = &row}};

    (void)state;
    api_check_query(&r);
    assert_int_equal(r.warnings->n, 2);
    assert_str(r.warnings->items[0].s, "unknown query parameter 'limt'; did you mean 'limit'?");
    assert_str(r.warnings->items[1].s, "unknown query parameter 'zzz'");
    /* What goes into a sandbox, or needs no key, is not looked at. */
    r.warnings = NULL;
    row.auth = ROUTE_OPEN;
    api_check_query(&r);
    row.auth = ROUTE_KEY;
    row.method = ROUTE_ANY;
    api_check_query(&r);
    assert_null(r.warnings);
}

static void members_that_no_schema_knows(void **state)
{
    struct api api = {.schemas = schemas_new(NULL)};
    const struct surface s = {.has_warnings = true};
    const struct route row = {.method = HTTP_POST, .auth = ROUTE_KEY, .request = "NewSandbox"};
    struct api_req r = {.arena = &arena, .api = &api, .match = {.surface = &s, .route = &row}};

    (void)state;
    assert_non_null(api.schemas);
    assert_non_null(schemas_get(api.schemas, STR("NewSandbox")));
    assert_null(schemas_get(api.schemas, STR("NoSuchThing")));
    r.body =
        json_parse(&arena, STR("{\"template\":\"base\",\"tmeout\":1,\"metadata\":{\"any\":\"x\"}}"),
                   NULL, NULL);
    assert_true(api_check_body(&r));
    assert_int_equal(r.warnings->n, 1);
    assert_str(r.warnings->items[0].s, "unknown field 'tmeout'; did you mean 'timeout'?");
    r.warnings = NULL;
    r.body = NULL;
    assert_true(api_check_body(&r));
    assert_null(r.warnings);
    schemas_free(api.schemas);
}

#define WARN_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WARN_TEST(the_nearest_name),
        WARN_TEST(texts_are_fit_for_headers),
        WARN_TEST(warnings_are_few_and_different),
        WARN_TEST(they_become_the_last_member),
        WARN_TEST(query_parameters_that_no_row_names),
        WARN_TEST(members_that_no_schema_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
