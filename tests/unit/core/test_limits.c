/* SPDX-License-Identifier: MIT */
/* The table of maxima: what accounts may have, who is not bound, what is shown. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/account.h"
#include "core/config.h"
#include "core/limits.h"
#include "core/sandbox_args.h"

struct world {
    struct config config;
    struct limits *limits;
};

static void open_world(struct world *w, const char *setting)
{
    const struct config_args args = {
        .env = (char *const[]){(char *)setting, NULL}, .home = "/nonexistent", .no_search = true};
    struct err e = ERR_INIT;

    assert_int_equal(config_load(&w->config, &args, &e), 0);
    w->limits = limits_new(&w->config, &e);
    assert_non_null(w->limits);
}

static void close_world(struct world *w, struct account *a)
{
    free(a->uses);
    limits_free(w->limits);
    config_done(&w->config);
}

static void the_whole_is_what_there_is(void **state)
{
    struct world w;
    struct account a = {.role = ACCOUNT_USER};

    (void)state;
    open_world(&w, "TIDEPOOL_APPS_MAX_LIVE=100");
    assert_int_equal(limits_whole(&w.config, "quota.account_sandboxes"), SANDBOX_MAX);
    assert_int_equal(w.config.quota.account_sandboxes, SANDBOX_MAX / 4);
    assert_true(w.config.quota.sandbox_memory > 0);
    assert_true(w.config.quota.sandbox_cpu > 0);
    assert_true(w.config.quota.sandbox_pids >= w.config.cells.pids);
    close_world(&w, &a);
}

static void users_are_bound_and_operators_are_not(void **state)
{
    struct world w;
    struct account a = {.id = "ada", .role = ACCOUNT_USER};
    struct account op = {.id = "system", .role = ACCOUNT_SYSTEM};
    struct err e = ERR_INIT;
    enum limit id = LIMIT_ACCOUNT_SANDBOXES;

    (void)state;
    open_world(&w, "TIDEPOOL_QUOTA_ACCOUNT_SANDBOXES=2");
    assert_int_equal(limits_max(w.limits, &a, id), 2);
    assert_int_equal(limits_max(w.limits, &op, id), 0);
    assert_int_equal(limits_take(w.limits, &a, id, 2, &e), 0);
    assert_int_equal(limits_take(w.limits, &a, id, 1, &e), -EDQUOT);
    assert_non_null(strstr(err_text(&e), "maximum of sandboxes (2/2)"));
    assert_int_equal(limits_take(w.limits, &op, id, 4094, &e), 0);
    assert_int_equal(limits_take(w.limits, &op, id, 1, &e), -ENOBUFS);
    assert_non_null(strstr(err_text(&e), "no room for more sandboxes (4096/4096)"));
    /* Nobody's count as well. */
    assert_ptr_equal(limits_tally(w.limits, NULL, id), limits_tally(w.limits, &a, id)->whole);
    free(op.uses);
    close_world(&w, &a);
}

static void they_can_be_lifted(void **state)
{
    struct world w;
    struct account a = {.id = "ada", .role = ACCOUNT_USER};

    (void)state;
    open_world(&w, "TIDEPOOL_QUOTA_ENABLED=false");
    for (int i = 0; i < LIMIT_COUNT; i++)
        assert_int_equal(limits_max(w.limits, &a, (enum limit)i), 0);
    assert_int_equal(limits_take(w.limits, &a, LIMIT_ACCOUNT_SANDBOXES, 4096, NULL), 0);
    close_world(&w, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_is_what_there_is),
        cmocka_unit_test(users_are_bound_and_operators_are_not),
        cmocka_unit_test(they_can_be_lifted),
    };

    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
