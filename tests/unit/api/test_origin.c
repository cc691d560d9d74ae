/* SPDX-License-Identifier: MIT */
/* Whose page sends a request, by what browsers say of it, and what an answer of a sandbox may say
 * to a browser. */
#include "../net/http_world.h"

#include <stdio.h>

#include "api/forward.h"
#include "api/internal.h"
#include "api/origin.h"
#include "base/cleanup.h"

enum { HEADERS = 4 };

struct sample {
    struct arena arena;
    struct http_header headers[HEADERS];
    struct http_req http;
};

static void make_sample(struct sample *s, enum http_method method)
{
    *s = (struct sample){.http = {.head = {.method = method, .host = STR("pool.example:8080")}}};
    arena_init(&s->arena, 1 << 20);
    s->http.arena = &s->arena;
    s->http.head.headers.items = s->headers;
}

static void add_header(struct sample *s, const char *name, const char *value)
{
    if (value)
        s->headers[s->http.head.headers.n++] = (struct http_header){str_of(name), str_of(value)};
}

static void cookies_count_for_pages_of_the_service(void **state)
{
    static const struct {
        const char *site, *origin, *agent, *accept;
        bool is_own;
    } rows[] = {
        {NULL, NULL, NULL, NULL, true}, /* a program */
        {NULL, NULL, "curl/8", NULL, true},
        {"same-origin", NULL, "Mozilla/5.0", NULL, true},
        {"none", NULL, "Mozilla/5.0", "text/html", true}, /* an address was typed */
        {"same-site", NULL, "Mozilla/5.0", "text/html", false},
        {"cross-site", NULL, "Mozilla/5.0", "text/html", false},
        {"", NULL, "Mozilla/5.0", NULL, false},
        {NULL, NULL, "Mozilla/5.0", "text/html,*/*", true}, /* silent, but a person opens it */
        {NULL, NULL, "Mozilla/5.0", "*/*", false},
        {"same-origin", "http://pool.example:8080", "Mozilla/5.0", NULL, true},
        {"same-origin", "HTTPS://POOL.example:8080", "Mozilla/5.0", NULL, true},
        {"same-origin", "http://pool.example", "Mozilla/5.0", NULL, false},
        {"same-origin", "http://evil.example", "Mozilla/5.0", NULL, false},
        {"same-origin", "http://pool.example:8080.evil", "Mozilla/5.0", NULL, false},
        {"same-origin", "null", "Mozilla/5.0", NULL, false},
        {"same-origin", "", "Mozilla/5.0", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sample s;
        make_sample(&s, HTTP_GET);
        add_header(&s, "Sec-Fetch-Site", rows[i].site);
        add_header(&s, "Origin", rows[i].origin);
        add_header(&s, "User-Agent", rows[i].agent);
        add_header(&s, "Accept", rows[i].accept);
        if (origin_is_own(&s.http) != rows[i].is_own)
            fail_msg("row %zu", i);
        arena_done(&s.arena);
    }
}

static void a_visit_is_a_get_of_a_page(void **state)
{
    static const struct {
        enum http_method method;
        bool is_upgrade;
        const char *accept;
        bool is_visit;
    } rows[] = {
        {HTTP_GET, false, "text/html,application/xhtml+xml", true},
        {HTTP_GET, false, "*/*", false},
        {HTTP_GET, false, NULL, false},
        {HTTP_GET, true, "text/html", false},
        {HTTP_POST, false, "text/html", false},
        {HTTP_HEAD, false, "text/html", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sample s;
        make_sample(&s, rows[i].method);
        s.http.head.is_upgrade = rows[i].is_upgrade;
        add_header(&s, "Accept", rows[i].accept);
        assert_int_equal(origin_is_visit(&s.http), rows[i].is_visit);
        arena_done(&s.arena);
    }
}

/* ---- answers of sandboxes ---- */

static struct forward forward;

static void answer_guarded(struct http_req *http, void *ctx)
{
    struct api_req r = {.http = http, .arena = http->arena};

    (void)ctx;
    if (origin_guard(&r, &forward))
        http_reply(http, 200, NULL, STR("page"));
}

static bool drops(const char *name)
{
    for (const char *const *h = forward.pass.rules.answer_headers; *h; h++)
        if (str_is(str_of(name), *h))
            return true;
    return false;
}

static void pages_of_sandboxes_have_no_origin(void **state)
{
    static const struct {
        enum origin_kind kind;
        const char *origin;
        bool is_sandboxed, is_allowed, has_credentials;
    } rows[] = {
        {ORIGIN_OWN, "Origin: null\r\n", false, false, false},
        {ORIGIN_SHARED, "", true, false, false},
        {ORIGIN_SHARED, "Origin: null\r\n", true, false, false},
        {ORIGIN_PUBLIC, "", true, false, false},
        {ORIGIN_PUBLIC, "Origin: http://evil.example\r\n", true, false, false},
        {ORIGIN_PUBLIC, "Origin: null\r\n", true, true, false}, /* no cookies: anybody's page */
        {ORIGIN_PAGE, "Origin: null\r\n", true, true, true},
        {ORIGIN_PAGE, "Origin: NULL\r\n", true, false, false},
    };

    (void)state;
    world.handler = answer_guarded;
    connect_client(0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char request[200];
        forward = (struct forward){.origin = rows[i].kind};
        (void)snprintf(request, sizeof request, "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n",
                       rows[i].origin);
        say(0, request);
        struct str answer = heard(0);
        assert_int_equal(status_of(answer), 200);
        assert_int_equal(holds(answer, "Content-Security-Policy: sandbox "), rows[i].is_sandboxed);
        assert_false(holds(answer, "allow-same-origin"));
        assert_int_equal(holds(answer, "Access-Control-Allow-Origin: null"), rows[i].is_allowed);
        assert_int_equal(holds(answer, "Access-Control-Allow-Credentials: true"),
                         rows[i].has_credentials);
        /* Nobody's answer may clear or change what the browser keeps for others. */
        assert_true(drops("clear-site-data"));
        assert_int_equal(drops("strict-transport-security"), rows[i].is_sandboxed);
        assert_int_equal(drops("access-control-allow-origin"), rows[i].is_allowed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cookies_count_for_pages_of_the_service),
        cmocka_unit_test(a_visit_is_a_get_of_a_page),
        WORLD_TEST(pages_of_sandboxes_have_no_origin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
