/* SPDX-License-Identifier: MIT */
/* Signatures, encodings, names and metadata of the E2B file service. */
#include "../check.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "envd/rest.h"

#define TOKEN "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0"

static struct rest_signed sample(void)
{
    return (struct rest_signed){.path = STR("hello.txt"),
                                .operation = STR("read"),
                                .username = STR("user"),
                                .token = STR(TOKEN)};
}

static void a_signature_as_clients_make_it(void **state)
{
    struct rest_signed s = sample();
    char text[REST_SIGNATURE_MAX];

    (void)state;
    rest_sign(text, &s);
    assert_string_equal(text, "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
    assert_null(rest_check_signature(&s, str_of(text), 1700000000));
    assert_string_equal(rest_check_signature(&s, STR_NULL, 0), "missing signature query parameter");
    assert_string_equal(rest_check_signature(&s, STR(""), 0), "invalid signature");
    assert_string_equal(rest_check_signature(&s, STR("v1_gUtH"), 0), "invalid signature");
    s.operation = STR("write");
    assert_string_equal(rest_check_signature(&s, str_of(text), 0), "invalid signature");
}

static void a_signature_ends(void **state)
{
    struct rest_signed s = sample();
    char text[REST_SIGNATURE_MAX];

    (void)state;
    s.expiration = STR("1700000000");
    rest_sign(text, &s);
    assert_null(rest_check_signature(&s, str_of(text), 1700000000));
    assert_string_equal(rest_check_signature(&s, str_of(text), 1700000001),
                        "signature is already expired");
    /* What is not signed right is not called expired. */
    s.path = STR("other");
    assert_string_equal(rest_check_signature(&s, str_of(text), 1700000001), "invalid signature");
}

static void encodings(void **state)
{
    static const struct {
        const char *value;
        enum rest_encoding want;
    } cases[] = {
        {NULL, REST_IDENTITY},
        {"", REST_IDENTITY},
        {"gzip, deflate", REST_IDENTITY},
        {"br", REST_IDENTITY},
        {"*;q=0, identity", REST_IDENTITY},
        {"identity;q=0.5, gzip", REST_IDENTITY},
        {"identity;q=0, gzip", REST_GZIP},
        {"GZIP ; q=1 , Identity; Q=0.000", REST_GZIP},
        {"identity;q=0, *", REST_GZIP},
        {"gzip, *;q=0", REST_GZIP},
        {"identity;q=0", REST_NO_ENCODING},
        {"identity;q=0, gzip;q=0", REST_NO_ENCODING},
        {"*;q=0", REST_NO_ENCODING},
        {"identity;q=0, br", REST_NO_ENCODING},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(rest_accept_encoding(str_of(cases[i].value)), cases[i].want);
    assert_true(rest_accepts_gzip(STR("deflate, gzip;q=0.1")));
    assert_false(rest_accepts_gzip(STR("deflate, gzip;q=0")));
    assert_false(rest_accepts_gzip(STR("*")));
    assert_false(rest_accepts_gzip(STR_NULL));
}

static void names(void **state)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"hello.txt", "inline; filename=hello.txt"},
        {"a b.txt", "inline; filename=\"a b.txt\""},
        {"a\"b\\c", "inline; filename=\"a\\\"b\\\\c\""},
        {"\xe6\x97\xa5.txt", "inline; filename*=utf-8''%E6%97%A5.txt"},
        {"a\nb", "inline; filename*=utf-8''a%0Ab"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf struct buf b = BUF_INIT(256);
        assert_int_equal(rest_put_disposition(&b, str_of(cases[i].name)), 0);
        assert_string_equal(buf_cstr(&b), cases[i].want);
    }
}

static void types(void **state)
{
    (void)state;
    assert_string_equal(rest_media_type(STR("a.HTML"), STR("")), "text/html; charset=utf-8");
    assert_string_equal(rest_media_type(STR("a.json"), STR("\x01")), "application/json");
    assert_string_equal(rest_media_type(STR("a"), STR("\x89PNG\r\n\x1a\nx")), "image/png");
    assert_string_equal(rest_media_type(STR("a.b.c"), STR("text\t\n")),
                        "text/plain; charset=utf-8");
    assert_string_equal(rest_media_type(STR(""), STR("a\x01")), "application/octet-stream");
}

static void metadata(void **state)
{
    struct http_header items[] = {
        {STR("X-Metadata-Author"), STR("Ann")},
        {STR("Content-Type"), STR("x")},
        {STR("x-metadata-note two"), STR("")},
        {STR("X-METADATA-AUTHOR"), STR("Bob")},
    };
    struct http_headers h = {items, 4};
    struct arena a auto_arena;
    struct rest_meta *meta;
    struct err e = ERR_INIT;
    char text[4096];

    (void)state;
    arena_init(&a, 1 << 20);
    assert_int_equal(rest_read_meta(&a, &h, &meta, &e), 0);
    assert_string_equal(meta->key, "note two");
    assert_string_equal(meta->next->key, "author");
    assert_str(meta->next->value, "Ann");
    assert_null(meta->next->next);
    /* At the limit, and one past it. */
    memset(text, 'v', sizeof text);
    h.n = 1;
    items[0].value = str_n(text, 4096 - 9 - 6);
    assert_int_equal(rest_read_meta(&a, &h, &meta, &e), 0);
    items[0].value.len++;
    assert_int_equal(rest_read_meta(&a, &h, &meta, &e), -EINVAL);
    assert_int_equal(strncmp(e.text, "invalid metadata: ", 18), 0);
    items[0].value = STR("\xc3\xa4");
    assert_int_equal(rest_read_meta(&a, &h, &meta, &e), -EINVAL);
    items[0] = (struct http_header){STR("X-Metadata-"), STR("x")};
    assert_int_equal(rest_read_meta(&a, &h, &meta, &e), -EINVAL);
    memcpy(text, "X-Metadata-", 11);
    items[0].name = str_n(text, 11 + 246);
    assert_int_equal(rest_read_meta(&a, &h, &meta, &e), 0);
    items[0].name.len++;
    assert_int_equal(rest_read_meta(&a, &h, &meta, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signature_as_clients_make_it),
        cmocka_unit_test(a_signature_ends),
        cmocka_unit_test(encodings),
        cmocka_unit_test(names),
        cmocka_unit_test(types),
        cmocka_unit_test(metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
