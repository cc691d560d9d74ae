/* SPDX-License-Identifier: MIT */
/* Signatures in addresses of files. */
#include "../check.h"

#include "api/traffic/traffic.h"
#include "base/cleanup.h"

#define TOKEN "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0"

static bool is_signed(enum http_method method, const char *query, const char *wanted)
{
    struct arena arena auto_arena;
    struct http_header header = {STR("Access-Control-Request-Method"), str_of(wanted)};

    arena_init(&arena, 1 << 20);
    struct http_req http = {.arena = &arena};
    http.head.method = method;
    http.head.path = STR("/files");
    http.head.query = str_of(query);
    if (wanted)
        http.head.headers = (struct http_headers){&header, 1};
    struct api_req r = {.http = &http, .arena = &arena};
    const struct signature *s = traffic_signature(&r);
    return s && traffic_is_signed_with(s, TOKEN);
}

/* The first one is from the tests of E2B's clients. */
#define READ                                                                                       \
    "path=hello.txt&username=user&signature=v1_gUtH%2Fs9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E"
#define WRITE "path=a+b%2Fc&signature=v1_Ly9FOtlMmT5Eqj5tPrnMSYoBUvK83Fe5jNd77f83OLg"
#define TIMED "path=x&signature_expiration=1700000000&signature=v1_"

static void signatures_are_those_of_a_token(void **state)
{
    (void)state;
    assert_true(is_signed(HTTP_GET, READ, NULL));
    assert_true(is_signed(HTTP_HEAD, READ, NULL));
    assert_true(is_signed(HTTP_OPTIONS, READ, "GET"));
    assert_false(is_signed(HTTP_POST, READ, NULL));
    assert_false(is_signed(HTTP_OPTIONS, READ, "POST"));
    assert_false(is_signed(HTTP_GET, READ "&signature_expiration=1", NULL));
    assert_false(is_signed(HTTP_GET, "x&" READ "A", NULL));
    assert_false(is_signed(HTTP_GET, "path=hello.txt&username=user&signature=", NULL));
    assert_false(is_signed(HTTP_GET, "path=hello.txt&username=user&signature=v1_", NULL));
    assert_false(is_signed(HTTP_GET, "path=hello.txt&username=user&signature=v2_gUtH", NULL));
    assert_false(is_signed(HTTP_GET, "path=hello.txt&username=user", NULL));
    assert_false(is_signed(HTTP_GET,
                           "path=other&username=user&signature=v1_gUtH%2Fs9YCJWgCizjfUxuW"
                           "fhFE4QSydOWEIIvfLwDr6E",
                           NULL));
}

static void operation_user_and_expiration_are_signed(void **state)
{
    (void)state;
    assert_true(is_signed(HTTP_POST, WRITE, NULL));
    assert_true(is_signed(HTTP_OPTIONS, WRITE, "POST"));
    assert_false(is_signed(HTTP_GET, WRITE, NULL));
    assert_false(is_signed(HTTP_POST, WRITE "&username=user", NULL));
    assert_true(is_signed(HTTP_GET, TIMED "A9cLBJR50u19xUjV%2BfXPsW%2BrL6DCLSiQRrJSy32YPS4", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_are_those_of_a_token),
        cmocka_unit_test(operation_user_and_expiration_are_signed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
