/* SPDX-License-Identifier: MIT */
/* HTTP messages: heads, chunked coding, targets. tests/http/edge_cases.txt has what is refused. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fault.h"
#include "net/http.h"

static const struct http_limits limits = HTTP_LIMITS_DEFAULT;

static int setup(void **state)
{
    struct arena *a = calloc(1, sizeof *a);

    if (!a)
        return -1;
    arena_init(a, 1 << 20);
    *state = a;
    return 0;
}

static int teardown(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

static ssize_t request(struct arena *a, struct str s, struct http_head *ret)
{
    size_t scanned = 0;
    const char *reason;

    return http_parse_request(a, s.p, s.len, &scanned, &limits, ret, &reason);
}

static ssize_t response(struct arena *a, struct str s, enum http_method m, struct http_head *ret)
{
    size_t scanned = 0;
    const char *reason;

    return http_parse_response(a, s.p, s.len, &scanned, &limits, m, ret, &reason);
}

static void a_request_is_taken_apart(void **state)
{
    const struct str text = STR("PATCH /a%20b/c?x=1&y=2 HTTP/1.1\r\n"
                                "Host: example.com:8080\r\n"
                                "X-One: first\r\n"
                                "x-one:  second \t\r\n"
                                "Accept: text/plain, Text/HTML ,*/*\r\n"
                                "Content-Length: 12\r\n"
                                "\r\nHello world!");
    struct http_head h;

    assert_int_equal(request(*state, text, &h), text.len - 12);
    assert_int_equal(h.method, HTTP_PATCH);
    assert_str(h.method_text, "PATCH");
    assert_str(h.target, "/a%20b/c?x=1&y=2");
    assert_str(h.path, "/a%20b/c");
    assert_str(h.query, "x=1&y=2");
    assert_str(h.host, "example.com:8080");
    assert_int_equal(h.minor, 1);
    assert_int_equal(h.headers.n, 5);
    assert_int_equal(h.content_length, 12);
    assert_true(h.is_keep_alive);
    assert_false(h.is_chunked || h.is_upgrade || h.expects_continue);
    assert_str(http_header_get(&h.headers, "X-ONE"), "first");
    assert_null(http_header_get(&h.headers, "X-Two").p);
    assert_true(http_header_has(&h.headers, "accept", "text/html"));
    assert_true(http_header_has(&h.headers, "x-one", "SECOND"));
    assert_false(http_header_has(&h.headers, "accept", "text"));
}

static void the_head_is_a_copy(void **state)
{
    char text[] = "GET /copy HTTP/1.1\r\nHost: a\r\nX: value\r\n\r\n";
    struct http_head h;

    assert_true(request(*state, str_of(text), &h) > 0);
    memset(text, 'x', sizeof text);
    assert_str(h.path, "/copy");
    assert_str(http_header_get(&h.headers, "x"), "value");
}

static void more_headers_than_the_first_block(void **state)
{
    struct buf text auto_buf = BUF_INIT(8192);
    struct http_head h;

    (void)buf_add_lit(&text, "GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 99; i++)
        (void)buf_printf(&text, "X-%d: %d\r\n", i, i);
    (void)buf_add_lit(&text, "\r\n");
    assert_int_equal(request(*state, buf_str(&text), &h), text.len);
    assert_int_equal(h.headers.n, 100);
    assert_str(http_header_get(&h.headers, "X-0"), "0");
    assert_str(http_header_get(&h.headers, "X-98"), "98");
}

static void every_control_byte_is_refused_wherever_it_stands(void **state)
{
    char text[] = "GET /0123456789012345678901234567890 HTTP/1.1\r\n"
                  "Host: 0123456789012345678901234567890123456789\r\n\r\n";
    struct http_head h;

    for (size_t at = 5; at < sizeof text - 5; at++) {
        char saved = text[at];
        if (saved == '\r' || saved == '\n')
            continue;
        for (int c = 0; c < 0x20; c++) {
            /* Blanks around a value do not belong to it. */
            text[at] = c == '\t' ? '\0' : (char)c;
            assert_int_equal(request(*state, str_n(text, sizeof text - 1), &h), -400);
        }
        text[at] = 0x7f;
        assert_int_equal(request(*state, str_n(text, sizeof text - 1), &h), -400);
        text[at] = saved;
    }
    assert_true(request(*state, str_n(text, sizeof text - 1), &h) > 0);
}

static void a_head_that_trickles_in_is_searched_once(void **state)
{
    const struct str text = STR("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest");
    struct http_head h;
    size_t scanned = 0;
    const char *reason;

    for (size_t len = 0; len < text.len - 4; len++) {
        size_t before = scanned;
        assert_int_equal(http_parse_request(*state, text.p, len, &scanned, &limits, &h, &reason),
                         0);
        assert_true(scanned >= before && scanned <= len);
        assert_true(len - scanned <= 1);
    }
    assert_int_equal(http_parse_request(*state, text.p, text.len, &scanned, &limits, &h, &reason),
                     text.len - 4);
}

static void upgrades_are_seen(void **state)
{
    static const struct {
        struct str text;
        bool is_upgrade;
    } rows[] = {
        {STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\n"
                  "Upgrade: websocket\r\n\r\n"),
         true},
        {STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"), false},
        {STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n\r\n"), false},
        {STR_INIT("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"), false},
        {STR_INIT("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n"
                  "Content-Length: 5\r\n\r\nhello"),
         false},
    };
    struct http_head h;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(request(*state, rows[i].text, &h) > 0);
        assert_int_equal(h.is_upgrade, rows[i].is_upgrade);
    }
}

static void responses_know_their_length(void **state)
{
    static const struct {
        struct str text;
        enum http_method method;
        int64_t length;
        bool is_chunked, is_keep_alive;
    } rows[] = {
        {STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), HTTP_GET, 5, false, true},
        {STR_INIT("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n"), HTTP_GET, 5, false, true},
        {STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), HTTP_HEAD, 0, false, true},
        {STR_INIT("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"), HTTP_GET, 0, false,
         true},
        {STR_INIT("HTTP/1.1 204 No Content\r\n\r\n"), HTTP_GET, 0, false, true},
        {STR_INIT("HTTP/1.1 100 Continue\r\n\r\n"), HTTP_GET, 0, false, true},
        {STR_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), HTTP_GET, -1, true,
         true},
        {STR_INIT("HTTP/1.1 200 OK\r\n\r\n"), HTTP_GET, -1, false, false},
        {STR_INIT("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n"), HTTP_GET, 1, false, false},
        {STR_INIT("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n"), HTTP_GET, 1,
         false, false},
    };
    struct http_head h;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(response(*state, rows[i].text, rows[i].method, &h), rows[i].text.len);
        assert_int_equal(h.content_length, rows[i].length);
        assert_int_equal(h.is_chunked, rows[i].is_chunked);
        assert_int_equal(h.is_keep_alive, rows[i].is_keep_alive);
    }
}

static void bad_responses_are_bad_gateways(void **state)
{
    static const struct str rows[] = {
        STR_INIT("HTTP/2.0 200 OK\r\n\r\n"),
        STR_INIT("HTTP/1.1  200 OK\r\n\r\n"),
        STR_INIT("HTTP/1.1 20 OK\r\n\r\n"),
        STR_INIT("HTTP/1.1 2000 OK\r\n\r\n"),
        STR_INIT("HTTP/1.1 099 OK\r\n\r\n"),
        STR_INIT("HTTP/1.1 600 OK\r\n\r\n"),
        STR_INIT("HTTP/1.1\r\n\r\n"),
        STR_INIT("\r\nHTTP/1.1 200 OK\r\n\r\n"),
        STR_INIT("HTTP/1.1 200 OK\nContent-Length: 1\n\n"),
        STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"),
        STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        STR_INIT("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        STR_INIT("HTTP/1.1 200 OK\r\nX : y\r\n\r\n"),
    };
    struct http_head h;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(response(*state, rows[i], HTTP_GET, &h), -502);
}

static void names_of_methods_and_statuses(void **state)
{
    (void)state;
    assert_string_equal(http_method_name(HTTP_DELETE), "DELETE");
    assert_string_equal(http_status_text(404), "Not Found");
    assert_string_equal(http_status_text(799), "");
}

/* ---- chunked ---- */

/* Decodes TEXT, given in parts that end at A and B. Returns the bytes used or -EINVAL. */
static ssize_t decode(struct str text, size_t a, size_t b, struct buf *out, bool *done)
{
    const size_t ends[] = {a, b, text.len};
    struct http_chunked c = {0};
    size_t at = 0;

    *done = false;
    for (size_t i = 0; i < 3; i++) {
        while (at < ends[i] && !*done) {
            struct str data;
            ssize_t n = http_chunked_decode(&c, text.p + at, ends[i] - at, &data, done);
            if (n < 0)
                return n;
            assert_true(n > 0 && (size_t)n <= ends[i] - at);
            (void)buf_add_str(out, data);
            at += (size_t)n;
        }
    }
    return (ssize_t)at;
}

static void chunks_cut_at_any_two_bytes(void **state)
{
    const struct str text =
        STR("5\r\nhello\r\n1;x=\"y z\"\r\n \r\n00000006\r\nworld!\r\n0\r\nA: b\r\nC:\r\n\r\nNEXT");

    (void)state;
    for (size_t a = 0; a <= text.len; a++) {
        for (size_t b = a; b <= text.len; b++) {
            struct buf out auto_buf = BUF_INIT(64);
            bool done;
            assert_int_equal(decode(text, a, b, &out, &done), text.len - 4);
            assert_true(done);
            assert_str(buf_str(&out), "hello world!");
        }
    }
}

static void bad_chunks_are_refused(void **state)
{
    static const struct str rows[] = {
        STR_INIT("g\r\n"),       STR_INIT("\r\n"),
        STR_INIT("5\n"),         STR_INIT("5\rx"),
        STR_INIT("5 \r\n"),      STR_INIT("1234567890123456\r\n"),
        STR_INIT("5\r\nhelloX"), STR_INIT("5\r\nhello\n"),
        STR_INIT("0\r\nX\r\n"),  STR_INIT("0\r\nX: \x01\r\n"),
        STR_INIT("0\r\n\n"),     STR_INIT("0\r\n X: y\r\n"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out auto_buf = BUF_INIT(64);
        bool done;
        assert_int_equal(decode(rows[i], 0, 0, &out, &done), -EINVAL);
    }
}

static void the_largest_chunk_size(void **state)
{
    struct http_chunked c = {0};
    struct str data;
    bool done;

    (void)state;
    assert_int_equal(http_chunked_decode(&c, "fffffffffffffff\r\nx", 18, &data, &done), 18);
    assert_int_equal(data.len, 1);
    assert_int_equal(c.left, 0xfffffffffffffff - 1);
}

/* ---- targets ---- */

static void targets_are_decoded(void **state)
{
    struct arena *a = *state;

    assert_str(http_decode_segment(a, STR("a%20b+c%2F")), "a b+c/");
    assert_str(http_decode_query(a, STR("a%20b+c%C3%A9")), "a b c\xc3\xa9");
    assert_str(http_decode_segment(a, STR("")), "");
    assert_null(http_decode_segment(a, STR("%")).p);
    assert_null(http_decode_segment(a, STR("%2")).p);
    assert_null(http_decode_segment(a, STR("%zz")).p);
    assert_null(http_decode_segment(a, STR("a%00b")).p);
}

static void query_parameters(void **state)
{
    struct arena *a = *state;
    const struct str query = STR("one=1&two=a%26b&flag&na%6De=x&one=2&empty=&bad=%zz");

    assert_str(http_query_get(a, query, "one"), "1");
    assert_str(http_query_get(a, query, "two"), "a&b");
    assert_str(http_query_get(a, query, "flag"), "");
    assert_str(http_query_get(a, query, "empty"), "");
    assert_str(http_query_get(a, query, "name"), "x");
    assert_null(http_query_get(a, query, "bad").p);
    assert_null(http_query_get(a, query, "on").p);
    assert_null(http_query_get(a, STR_NULL, "one").p);
}

static void no_memory_is_reported(void **state)
{
#ifdef TIDEPOOL_FAULT
    struct http_head h;

    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(request(*state, STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), &h), -503);
    fault_arm(FAULT_ALLOC, 1);
    assert_int_equal(response(*state, STR("HTTP/1.1 200 OK\r\n\r\n"), HTTP_GET, &h), -502);
    fault_arm(FAULT_ALLOC, 0);
#else
    (void)state;
#endif
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_is_taken_apart),
        TEST(the_head_is_a_copy),
        TEST(more_headers_than_the_first_block),
        TEST(every_control_byte_is_refused_wherever_it_stands),
        TEST(a_head_that_trickles_in_is_searched_once),
        TEST(upgrades_are_seen),
        TEST(responses_know_their_length),
        TEST(bad_responses_are_bad_gateways),
        TEST(names_of_methods_and_statuses),
        TEST(chunks_cut_at_any_two_bytes),
        TEST(bad_chunks_are_refused),
        TEST(the_largest_chunk_size),
        TEST(targets_are_decoded),
        TEST(query_parameters),
        TEST(no_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
