/* SPDX-License-Identifier: MIT */
/* Quotas at their limits and one past them, with the time given by hand. */
#include "../check.h"

#include <errno.h>

#include "core/quota.h"

enum { S = 1000000 };

static void off_by_default(void **state)
{
    const struct quota_limits none = {0};
    struct quota_use u = {0};
    int64_t retry = 0;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(quota_request(&u, &none, 5 * S, &retry, NULL), 0);
        assert_int_equal(quota_create_begin(&u, &none, NULL), 0);
        assert_int_equal(quota_live_begin(&u, &none, NULL), 0);
    }
}

static int burst(struct quota_use *u, const struct quota_limits *l, int64_t now)
{
    int64_t retry = 0;
    int n = 0;

    while (n < 1000 && quota_request(u, l, now, &retry, NULL) == 0)
        n++;
    assert_int_equal(retry, 1);
    return n;
}

static void requests_come_back_with_time(void **state)
{
    const struct quota_limits l = {.max_rps = 10};
    struct quota_use u = {0};
    int64_t now = 1000 * (int64_t)S;

    (void)state;
    assert_int_equal(burst(&u, &l, now), 10);
    assert_int_equal(burst(&u, &l, now), 0);
    assert_int_equal(burst(&u, &l, now + S / 10 - 1), 0);
    assert_int_equal(burst(&u, &l, now + S / 10), 1);
    assert_int_equal(burst(&u, &l, now + S / 2), 4);
    /* However long the pause, one second of requests is the most. */
    assert_int_equal(burst(&u, &l, now + 3600 * (int64_t)S), 10);
    /* A clock that stands still or goes back gives nothing. */
    assert_int_equal(burst(&u, &l, now), 0);
}

static void a_steady_rate_is_never_refused(void **state)
{
    const struct quota_limits l = {.max_rps = 7};
    struct quota_use u = {0};
    int64_t now = S, retry = 0;

    (void)state;
    for (int i = 0; i < 7000; i++, now += S / 7 + 1)
        assert_int_equal(quota_request(&u, &l, now, &retry, NULL), 0);
}

static void one_request_a_second(void **state)
{
    const struct quota_limits l = {.max_rps = 1};
    struct quota_use u = {0};
    struct err e = ERR_INIT;
    int64_t retry = 0;

    (void)state;
    assert_int_equal(quota_request(&u, &l, 50 * S, &retry, &e), 0);
    assert_int_equal(quota_request(&u, &l, 50 * S + 1, &retry, &e), -EDQUOT);
    assert_int_equal(retry, 1);
    assert_string_equal(err_text(&e), "rate limit exceeded: more than 1 requests per second, "
                                      "please retry later");
    assert_int_equal(quota_request(&u, &l, 51 * S, &retry, NULL), 0);
}

static void creates_under_way(void **state)
{
    const struct quota_limits l = {.max_creates = 3};
    struct quota_use u = {0};
    struct err e = ERR_INIT;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(quota_create_begin(&u, &l, &e), 0);
    assert_int_equal(quota_create_begin(&u, &l, &e), -EDQUOT);
    assert_string_equal(err_text(&e), "rate limit exceeded: too many concurrent sandbox creation "
                                      "requests (3/3), please retry later");
    quota_create_end(&u);
    assert_int_equal(quota_create_begin(&u, &l, NULL), 0);
    assert_int_equal(quota_create_begin(&u, &l, NULL), -EDQUOT);
}

static void live_sandboxes(void **state)
{
    const struct quota_limits l = {.max_live = 2};
    struct quota_use u = {0};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(quota_live_begin(&u, &l, &e), 0);
    assert_int_equal(quota_live_begin(&u, &l, &e), 0);
    assert_int_equal(quota_live_begin(&u, &l, &e), -EDQUOT);
    assert_string_equal(err_text(&e),
                        "capacity exceeded: you have reached the maximum sandbox limit (2/2), "
                        "please delete some sandboxes before creating new ones");
    quota_live_end(&u);
    assert_int_equal(quota_live_begin(&u, &l, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(off_by_default),       cmocka_unit_test(requests_come_back_with_time),
        cmocka_unit_test(one_request_a_second), cmocka_unit_test(a_steady_rate_is_never_refused),
        cmocka_unit_test(creates_under_way),    cmocka_unit_test(live_sandboxes),
    };

    return cmocka_run_group_tests_name("quota", tests, NULL, NULL);
}
