/* SPDX-License-Identifier: MIT */
/* What is read from a request before anybody decides: the key it carries, and how its query is
 * logged. */
#include "../check.h"

#include "api/internal.h"
#include "base/cleanup.h"

static void tokens(void **state)
{
    static const struct {
        const char *authorization, *x_api_key, *query, *token;
    } cases[] = {
        {NULL, NULL, "", NULL},
        {"Bearer abc", NULL, "", "abc"},
        {"bEARER  abc \t", NULL, "", "abc"},
        {"Bearer", NULL, "", NULL},
        {"Bearer ", "def", "", "def"},
        {"Basic abc", NULL, "", NULL},
        {"Basic abc", "def", "api_key=ghi", "def"},
        {"Bearerabc", NULL, "", NULL},
        {"Bearer a b", NULL, "", "a b"},
        {NULL, "  def ", "", "def"},
        {NULL, "", "api_key=ghi", "ghi"},
        {NULL, NULL, "x=1&api_key=g%2Dh", "g-h"},
        {NULL, NULL, "api_key=", NULL},
        {NULL, NULL, "api_key=%zz", NULL},
        {NULL, NULL, "api_keys=ghi", NULL},
        {"Bearer abc", "def", "api_key=ghi", "abc"},
    };
    struct arena arena auto_arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_header headers[2];
        struct http_req r = {.arena = &arena};
        r.head.headers.items = headers;
        r.head.query = str_of(cases[i].query);
        if (cases[i].authorization)
            headers[r.head.headers.n++] =
                (struct http_header){STR("Authorization"), str_of(cases[i].authorization)};
        if (cases[i].x_api_key)
            headers[r.head.headers.n++] =
                (struct http_header){STR("X-API-KEY"), str_of(cases[i].x_api_key)};
        struct str got = api_token(&r);
        if (!str_eq(got, str_of(cases[i].token)) || !got.p != !cases[i].token)
            fail_msg("case %zu: got '" STR_FMT "'", i, STR_ARG(got));
    }
}

static void queries_are_masked(void **state)
{
    static const struct {
        const char *query, *shown;
    } cases[] = {
        {"", ""},
        {"a=b", "a=b"},
        {"api_key=secret", "api_key=***"},
        {"a=b&api_key=secret&c=d", "a=b&api_key=***&c=d"},
        {"API_KEY=secret", "API_KEY=***"},
        {"api%5Fkey=secret", "api%5Fkey=***"},
        {"%61pi_key=secret", "%61pi_key=***"},
        {"api_key", "api_key"},
        {"api_key=", "api_key=***"},
        {"api_key=a=b", "api_key=***"},
        {"token=x&signature=y&access_token=z", "token=***&signature=***&access_token=***"},
        {"%zz=secret", "%zz=***"},
        {"&&=&a", "&&=&a"},
        {"api_key=one&api_key=two", "api_key=***&api_key=***"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out auto_buf = BUF_INIT(1024);
        assert_int_equal(api_mask_query(&out, str_of(cases[i].query)), 0);
        assert_string_equal(buf_cstr(&out), cases[i].shown);
    }
}

/* The document is one JSON value with an operation for every row. */
/* "/a/{name}/b" without the names of parameters, which do not tell two paths apart. */
static void bare_path(char out[256], const char *pattern)
{
    size_t n = 0;

    for (const char *p = pattern; *p && n < 255; p++) {
        out[n++] = *p;
        if (*p == '{')
            p += strcspn(p, "}") - 1;
    }
    out[n] = '\0';
}

/* A row for every method is documented by one. */
static int method_of(const struct route *row)
{
    return (int)row->method == ROUTE_ANY ? HTTP_GET : (int)row->method;
}

/* No row before number K of S has its method and path. */
static bool is_first(const struct surface *s, size_t k)
{
    char mine[256], other[256];

    bare_path(mine, s->routes[k].pattern);
    for (size_t i = 0; i < k; i++) {
        bare_path(other, s->routes[i].pattern);
        if (method_of(&s->routes[i]) == method_of(&s->routes[k]) && strcmp(mine, other) == 0)
            return false;
    }
    return true;
}

static void openapi_has_every_route(void **state)
{
    struct arena arena auto_arena;
    struct buf out auto_buf = BUF_INIT(1 << 20);
    struct err e = ERR_INIT;

    (void)state;
    arena_init(&arena, 16 << 20);
    assert_int_equal(openapi_write(&out, api_surfaces, api_n_surfaces), 0);
    const struct json *doc = json_parse(&arena, buf_str(&out), NULL, &e);
    if (!doc)
        fail_msg("%s", err_text(&e));
    const struct json *paths = json_get(doc, "paths");
    size_t n_rows = 0, n_operations = 0;
    for (size_t i = 0; i < api_n_surfaces; i++)
        for (size_t k = 0; k < api_surfaces[i]->n_routes; k++)
            n_rows += is_first(api_surfaces[i], k);
    for (size_t i = 0; i < paths->n; i++)
        n_operations += paths->members[i].value.n;
    assert_int_equal(n_operations, n_rows);
    for (size_t i = 0; i < api_n_surfaces; i++)
        assert_non_null(
            json_get(json_pointer(doc, "/components/schemas"), api_surfaces[i]->error_schema));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),
        cmocka_unit_test(queries_are_masked),
        cmocka_unit_test(openapi_has_every_route),
    };

    return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
