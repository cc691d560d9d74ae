/* SPDX-License-Identifier: MIT */
/* The name in the first bytes of a connection. */
#include "../check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtime/sniff.h"

static void put(struct buf *b, size_t n, size_t bytes)
{
    while (bytes-- > 0)
        (void)buf_add_char(b, (char)(n >> (8 * bytes)));
}

/* A ClientHello for NAME (NULL: without), as handshake message. */
static void make_hello(struct buf *out, const char *name)
{
    auto_buf struct buf ext = BUF_INIT(4096), body = BUF_INIT(4096);
    size_t len = name ? strlen(name) : 0;

    put(&ext, 10, 2); /* some other extension comes first */
    put(&ext, 4, 2);
    put(&ext, 0x0002001d, 4);
    if (name) {
        put(&ext, 0, 2);
        put(&ext, len + 5, 2);
        put(&ext, len + 3, 2);
        put(&ext, 0, 1);
        put(&ext, len, 2);
        (void)buf_add(&ext, name, len);
    }
    put(&body, 0x0303, 2);
    for (int i = 0; i < 32; i++)
        put(&body, 7, 1);
    put(&body, 0, 1);
    put(&body, 2, 2);
    put(&body, 0x1301, 2);
    put(&body, 0x0100, 2);
    put(&body, ext.len, 2);
    (void)buf_add_str(&body, buf_str(&ext));
    put(out, 1, 1);
    put(out, body.len, 3);
    (void)buf_add_str(out, buf_str(&body));
}

/* The same in records of at most PIECE bytes. */
static void make_records(struct buf *out, struct str hello, size_t piece)
{
    while (hello.len > 0) {
        size_t n = hello.len < piece ? hello.len : piece;
        put(out, 22, 1);
        put(out, 0x0301, 2);
        put(out, n, 2);
        (void)buf_add(out, hello.p, n);
        hello = str_skip(hello, n);
    }
}

static void tls_names_are_found(void **state)
{
    static const size_t pieces[] = {16000, 100, 10, 3, 1};
    char name[SNIFF_NAME_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        auto_buf struct buf hello = BUF_INIT(4096), wire = BUF_INIT(16384);
        make_hello(&hello, "WWW.Example.com");
        make_records(&wire, buf_str(&hello), pieces[i]);
        assert_int_equal(sniff_name(name, wire.p, wire.len), SNIFF_NAME);
        assert_string_equal(name, "www.example.com");
        for (size_t len = 0; len < wire.len; len++) {
            auto_free char *exact = malloc(len ? len : 1);
            assert_non_null(exact);
            memcpy(exact, wire.p, len);
            assert_int_equal(sniff_name(name, exact, len), SNIFF_MORE);
        }
    }
}

static void tls_without_a_good_name_has_none(void **state)
{
    static const char *const names[] = {NULL, "", "10.0.0.1", "a..b", "a b", "a/b", ".a"};
    char name[SNIFF_NAME_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        auto_buf struct buf hello = BUF_INIT(4096), wire = BUF_INIT(16384);
        make_hello(&hello, names[i]);
        make_records(&wire, buf_str(&hello), 16000);
        assert_int_equal(sniff_name(name, wire.p, wire.len), SNIFF_NONE);
    }
    assert_int_equal(sniff_name(name, "\x16\3\1\0\2\2\0", 7), SNIFF_NONE);
    assert_int_equal(sniff_name(name, "\x16\3\1\0\0", 5), SNIFF_NONE);
    assert_int_equal(sniff_name(name, "\x16\3\1\x40\0\1\xff\xff\xff", 9), SNIFF_NONE);
}

static void http_names_are_found(void **state)
{
    static const struct {
        const char *text, *want; /* NULL: none; "": more is needed */
    } rows[] = {
        {"GET / HTTP/1.1\r\nHost: example.com\r\n", "example.com"},
        {"POST /x?y HTTP/1.0\r\nA: b\r\nhOST:Example.COM.:8080\r\n", "example.com"},
        {"GET http://a.example/x HTTP/1.1\r\nHost: b.example\r\n", "a.example"},
        {"GET / HTTP/1.1\r\nHost: exam", ""},
        {"GE", ""},
        {"", ""},
        {"GET / HTTP/1.1\r\n\r\nHost: late.example\r\n", NULL},
        {"GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n", NULL},
        {"GET / HTTP/1.1\r\nHost: x@y.example\r\n", NULL},
        {"GET / HTTP/1.1\r\nHost: [::1]\r\n", NULL},
        {"SSH-2.0-OpenSSH\r\n", NULL},
        {"get / HTTP/1.1\r\n", NULL},
        {"PRI * HTTP/2.0\r\n", NULL},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZ", NULL},
        {" ", NULL},
    };
    char name[SNIFF_NAME_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum sniff want = !rows[i].want ? SNIFF_NONE : rows[i].want[0] ? SNIFF_NAME : SNIFF_MORE;
        if (sniff_name(name, rows[i].text, strlen(rows[i].text)) != want)
            fail_msg("row %zu: %s", i, rows[i].text);
        if (want == SNIFF_NAME)
            assert_string_equal(name, rows[i].want);
    }
}

static void waiting_ends_at_the_limit(void **state)
{
    static char flood[SNIFF_MAX];
    char name[SNIFF_NAME_MAX];

    (void)state;
    memset(flood, 'a', sizeof flood);
    memcpy(flood, "GET /", 5);
    assert_int_equal(sniff_name(name, flood, sizeof flood - 1), SNIFF_MORE);
    assert_int_equal(sniff_name(name, flood, sizeof flood), SNIFF_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tls_names_are_found),
        cmocka_unit_test(tls_without_a_good_name_has_none),
        cmocka_unit_test(http_names_are_found),
        cmocka_unit_test(waiting_ends_at_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
