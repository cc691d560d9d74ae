/* SPDX-License-Identifier: MIT */
/* What tools of local sandboxes are told of requests. */
#include "../check.h"

#include <stdio.h>

#include "api/local/caller.h"
#include "base/cleanup.h"

static void headers_are(struct http_header *items, size_t n, const char *want)
{
    struct arena arena auto_arena;
    const struct http_headers h = {items, n};

    arena_init(&arena, 1 << 20);
    struct str got = local_headers_of(&arena, &h);
    if (!want)
        assert_null(got.p);
    else
        assert_string_equal(got.p, want);
}

static void headers_with_x_are_passed_on(void **state)
{
    struct http_header items[] = {
        {STR_INIT("Host"), STR_INIT("a")},      {STR_INIT("X-Email-Config"), STR_INIT("e30=")},
        {STR_INIT("x-"), STR_INIT("nothing")},  {STR_INIT("x-a"), STR_INIT("1 \"2\"")},
        {STR_INIT("X-A"), STR_INIT("3")},       {STR_INIT("Xa-b"), STR_INIT("4")},
        {STR_INIT("x-bytes"), STR_INIT("\xff")}};

    (void)state;
    headers_are(items, 0, "{}");
    headers_are(
        items, ARRAY_LEN(items),
        "{\"x-email-config\":\"e30=\",\"x-a\":\"1 \\\"2\\\", 3\",\"x-bytes\":\"\xef\xbf\xbd\"}");
}

static void headers_have_limits(void **state)
{
    static struct http_header many[LOCAL_HEADERS_MAX + 1];
    static char names[LOCAL_HEADERS_MAX + 1][8], big[LOCAL_HEADERS_BYTES_MAX + 1];
    struct arena arena auto_arena;

    (void)state;
    arena_init(&arena, 4 << 20);
    for (size_t i = 0; i < ARRAY_LEN(many); i++) {
        (void)snprintf(names[i], sizeof names[i], "x-%zu", i);
        many[i] = (struct http_header){str_of(names[i]), STR("")};
    }
    assert_non_null(local_headers_of(&arena, &(struct http_headers){many, LOCAL_HEADERS_MAX}).p);
    headers_are(many, LOCAL_HEADERS_MAX + 1, NULL);
    memset(big, 'b', sizeof big);
    many[0] = (struct http_header){STR("x-b"), {big, LOCAL_HEADERS_BYTES_MAX - 3}};
    assert_non_null(local_headers_of(&arena, &(struct http_headers){many, 1}).p);
    many[0].value.len++;
    headers_are(many, 1, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_with_x_are_passed_on),
        cmocka_unit_test(headers_have_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
