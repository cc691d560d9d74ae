/* SPDX-License-Identifier: MIT */
/* What a proxy drops from a request and what it adds. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "proxy/rewrite.h"

static const char *const params[] = {"port", "api_key", NULL};

static const struct {
    const char *query, *rest;
} queries[] = {
    {"", ""},
    {"a=1", "a=1"},
    {"port=1", ""},
    {"port", ""},
    {"a=1&port=2&b=%2f%2F+x", "a=1&b=%2f%2F+x"},
    {"api_key=x&z=1&a=2&port=3", "z=1&a=2"},
    {"p%6frt=1&x", "x"},
    {"api%5Fkey=1&a", "a"},
    {"ports=1&xport=2", "ports=1&xport=2"},
    {"PORT=1", "PORT=1"},
    {"a=port=1", "a=port=1"},
    {"a&&b", "a&&b"},
    {"&port=1&", "&"},
    {"%zz=1&port=2", "%zz=1"},
    {"port=1&port=2&q", "q"},
};

static void parameters_are_dropped_and_the_rest_stays(void **state)
{
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        struct str got = rewrite_query(&a, str_of(queries[i].query), params);
        if (!str_is(got, queries[i].rest))
            fail_msg("'%s' became '" STR_FMT "'", queries[i].query, STR_ARG(got));
    }
    assert_str(rewrite_query(&a, STR("a=1&b"), NULL), "a=1&b");
}

static const struct {
    const char *url, *rest;
} urls[] = {
    {"http://h/p", "http://h/p"},
    {"http://h/p?api_key=k", "http://h/p"},
    {"http://h/p?a=1&api_key=k#f?x", "http://h/p?a=1#f?x"},
    {"http://h/p?api_key=k#f", "http://h/p#f"},
    {"http://h/#a?api_key=k", "http://h/#a?api_key=k"},
    {"", ""},
};

static void parameters_are_dropped_out_of_urls(void **state)
{
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct str got = rewrite_url(&a, str_of(urls[i].url), params);
        if (!str_is(got, urls[i].rest))
            fail_msg("'%s' became '" STR_FMT "'", urls[i].url, STR_ARG(got));
    }
}

static const char *const key[] = {"key", NULL}, *const two[] = {"key", "b", NULL};

static const struct {
    const char *value, *rest, *got;
} cookies[] = {
    {"key=1", "", "1"},
    {"a=1; key=2; b=3", "a=1; b=3", "2"},
    {"key=1;key=2", "", "1"},
    {"a=1;b=2", "a=1; b=2", NULL},
    {"a;b;c;d;e;f;g", "a; b; c; d; e; f; g", NULL},
    {"keys=1; xkey=2", "keys=1; xkey=2", NULL},
    {" key = 1 ; c", "c", "1"},
    {"key", "", NULL},
    {"", "", NULL},
    {";;", "", NULL},
};

static void cookies_are_found_and_dropped(void **state)
{
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cookies); i++) {
        struct str value = str_of(cookies[i].value), left = value;
        struct str got = rewrite_cookie_next(&left, "key");
        struct str rest = rewrite_cookie(&a, value, key);
        /* What comes behind it in the arena is not its own. */
        memset(arena_alloc(&a, 16), '!', 16);
        if (!str_is(rest, cookies[i].rest))
            fail_msg("rest of '%s'", cookies[i].value);
        if ((got.p != NULL) != (cookies[i].got != NULL) || (got.p && !str_is(got, cookies[i].got)))
            fail_msg("value in '%s': " STR_FMT, cookies[i].value, STR_ARG(got));
    }
    assert_str(rewrite_cookie(&a, STR("a=1; b=2; key=3; c=4"), two), "a=1; c=4");
}

static void all_cookies_of_a_name_are_found(void **state)
{
    struct str rest = STR("key=1; a=2; key; key=3");

    (void)state;
    assert_str(rewrite_cookie_next(&rest, "key"), "1");
    assert_str(rewrite_cookie_next(&rest, "key"), "3");
    assert_null(rewrite_cookie_next(&rest, "key").p);
    assert_null(rewrite_cookie_next(&rest, "key").p);
}

static const struct {
    const char *value, *path, *want;
} set_cookies[] = {
    {"a=1", "", "a=1"},
    {"a=1", "/p", "a=1"},
    {"a=1; Path=/", "", "a=1; Path=/"},
    {"a=1; Path=/", "/p", "a=1; Path=/p/"},
    {"a=1 ;path = /x;HttpOnly", "/p", "a=1; Path=/p/x; HttpOnly"},
    {"a=1; Path=/p", "/p", "a=1; Path=/p"},
    {"a=1; Path=/p/x", "/p", "a=1; Path=/p/x"},
    {"a=1; Path=/pp", "/p", "a=1; Path=/p/pp"},
    {"a=1; Path=/p; Path=/q", "/p", "a=1; Path=/p; Path=/p/q"},
    {"a=1; Path=x", "/p", "a=1; Path=x"},
    {"a=1; Path", "/p", "a=1; Path"},
    {"a=1; Domain=h.test; Secure", "", "a=1; Secure"},
    {"a=1; DOMAIN = .h; Secure; domain", "/p", "a=1; Secure"},
    {"a=Domain=x; Max-Age=1", "/p", "a=Domain=x; Max-Age=1"},
    {"Domain=x", "", "Domain=x"},
    {"", "/p", ""},
};

static void cookies_of_answers_are_kept_in_bounds(void **state)
{
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(set_cookies); i++) {
        struct str got =
            rewrite_set_cookie(&a, str_of(set_cookies[i].value), str_of(set_cookies[i].path));
        if (!str_is(got, set_cookies[i].want))
            fail_msg("'%s' became '" STR_FMT "'", set_cookies[i].value, STR_ARG(got));
    }
}

static void cookies_that_answers_set(void **state)
{
    static const char *const own[] = {"key=1",  "key=1; Path=/", " key = 1", "key",
                                      "=key=1", " = = key=1",    "key;x"};
    static const char *const others[] = {"keys=1", "a=key=1", "a=1; key=2", "", "Key=1", ";key=1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (!rewrite_sets_cookie(str_of(own[i]), key))
            fail_msg("'%s' is not seen", own[i]);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (rewrite_sets_cookie(str_of(others[i]), key))
            fail_msg("'%s' is taken for it", others[i]);
}

/* ---- headers ---- */

static const struct {
    const char *in, *out; /* lines; the headers that tell about the client are not listed */
} headers[] = {
    {"Accept: */*\nX-A: 1\n", "Accept: */*\nX-A: 1\n"},
    {"Connection: x-hop, close\nX-Hop: 1\nKeep-Alive: 5\nTE: gzip\nTrailer: x\n", ""},
    {"Content-Length: 3\nTransfer-Encoding: chunked\nExpect: 100-continue\nHost: x\n", ""},
    {"Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Key: k\n", "Sec-WebSocket-Key: k\n"},
    {"X-API-Key: k\nx-api-key: k2\nAuthorization: Basic x\n", "Authorization: Basic x\n"},
    {"Cookie: key=1\n", ""},
    {"Cookie: a=2; key=1\nCookie: b=3\n", "Cookie: a=2\nCookie: b=3\n"},
    {"Referer: http://h/?api_key=k&a\n", "Referer: http://h/?a\n"},
    {"X-Forwarded-Proto: evil\nX-Forwarded-Host: evil\nX-Request-Id: evil\n", ""},
    {"X-Forwarded-Prefix: /evil\nX-Empty: \n", "X-Empty: \n"},
};

static const char *const dropped[] = {"X-API-Key", NULL};
static const struct http_header own = {STR_INIT("X-Own"), STR_INIT("o")};
static const struct rewrite_rules rules = {.headers = dropped,
                                           .params = params,
                                           .cookies = key,
                                           .prefix = STR_INIT("/p"),
                                           .add = &own,
                                           .n_add = 1};

/* Parses lines of headers. */
static void read_lines(struct arena *a, const char *text, struct http_headers *ret)
{
    struct str rest = str_of(text);

    ret->items = arena_zalloc(a, 16, sizeof *ret->items);
    ret->n = 0;
    while (rest.len > 0) {
        struct str line = str_cut(&rest, '\n');
        struct str name = str_cut(&line, ':');
        ret->items[ret->n++] = (struct http_header){name, str_trim(line)};
    }
}

static const char *write_lines(struct buf *out, const struct http_headers *h)
{
    buf_clear(out);
    for (size_t i = 0; i < h->n; i++)
        (void)buf_printf(out, STR_FMT ": " STR_FMT "\n", STR_ARG(h->items[i].name),
                         STR_ARG(h->items[i].value));
    return buf_cstr(out);
}

#define ADDED                                                                                      \
    "X-Forwarded-For: 10.0.0.9\nX-Forwarded-Proto: http\nX-Forwarded-Host: h:1\n"                  \
    "X-Forwarded-Prefix: /p\nX-Request-Id: 0123456789abcdef\nX-Own: o\n"

static void headers_are_dropped_and_added(void **state)
{
    struct buf text auto_buf = BUF_INIT(65536);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        struct arena a auto_arena;
        arena_init(&a, 1 << 20);
        struct http_req r = {.arena = &a, .peer = "10.0.0.9", .id = "0123456789abcdef"};
        struct http_headers out;
        char want[512];
        r.head.host = STR("h:1");
        read_lines(&a, headers[i].in, &r.head.headers);
        assert_int_equal(rewrite_headers(&r, &rules, &out), 0);
        (void)snprintf(want, sizeof want, "%s" ADDED, headers[i].out);
        assert_string_equal(write_lines(&text, &out), want);
    }
}

static void addresses_are_appended(void **state)
{
    struct arena a auto_arena;
    struct buf text auto_buf = BUF_INIT(65536);
    struct http_headers out;

    (void)state;
    arena_init(&a, 1 << 20);
    struct http_req r = {.arena = &a, .peer = "::1", .id = "1", .is_tls = true};
    read_lines(&a, "X-Forwarded-For: a, b\nx-forwarded-for: c\n", &r.head.headers);
    assert_int_equal(rewrite_headers(&r, &(struct rewrite_rules){0}, &out), 0);
    assert_string_equal(write_lines(&text, &out),
                        "X-Forwarded-For: a, b, c, ::1\nX-Forwarded-Proto: https\n"
                        "X-Request-Id: 1\n");
}

static void no_memory_is_told(void **state)
{
    struct arena a auto_arena;
    struct http_headers out;

    (void)state;
    arena_init(&a, 0);
    struct http_req r = {.arena = &a, .peer = "x", .id = "1"};
    assert_int_equal(rewrite_headers(&r, &rules, &out), -ENOMEM);
    assert_null(rewrite_query(&a, STR("a"), params).p);
    assert_null(rewrite_cookie(&a, STR("a"), key).p);
    assert_null(rewrite_url(&a, STR("/?a"), params).p);
    assert_null(rewrite_set_cookie(&a, STR("a=1"), STR("/p")).p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_dropped_and_the_rest_stays),
        cmocka_unit_test(parameters_are_dropped_out_of_urls),
        cmocka_unit_test(cookies_are_found_and_dropped),
        cmocka_unit_test(all_cookies_of_a_name_are_found),
        cmocka_unit_test(cookies_that_answers_set),
        cmocka_unit_test(cookies_of_answers_are_kept_in_bounds),
        cmocka_unit_test(headers_are_dropped_and_added),
        cmocka_unit_test(addresses_are_appended),
        cmocka_unit_test(no_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
