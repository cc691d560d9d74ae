/* SPDX-License-Identifier: MIT */
/* Instances: slots, leases, and what happens to their content. */
#include "../check.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "core/config.h"
#include "core/core.h"
#include "core/instance.h"
#include "core/instance_set.h"

#define SHOP VECTORS_DIR "/../lib"

static char dir[64];
static struct config config;
static struct loop *loop;
static struct core core;
static struct account_key *key;
static struct arena arena;

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static void open_core(void)
{
    struct err e = ERR_INIT;

    if (core_open(&core, loop, &config, &e) < 0)
        fail_msg("%s", err_text(&e));
    key = accounts_find(core.accounts, STR("a-user-of-tests"));
    assert_non_null(key);
}

static int setup(void **state)
{
    char state_env[96];
    char *env[] = {state_env,
                   (char *)(uintptr_t) "TIDEPOOL_CELLS_ENABLED=false",
                   (char *)(uintptr_t) "TIDEPOOL_APPS_DIR=" SHOP,
                   (char *)(uintptr_t) "TIDEPOOL_APPS_MAX_OPEN=2",
                   (char *)(uintptr_t) "TIDEPOOL_APPS_MAX_LIVE=40",
                   (char *)(uintptr_t) "TIDEPOOL_API_TOKENS=a-user-of-tests,another-user",
                   NULL};
    const struct config_args args = {.env = env, .home = "/", .no_search = true};
    const char *parent = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";

    (void)state;
    (void)snprintf(dir, sizeof dir, "%s/tidepool-test-XXXXXX", parent);
    assert_non_null(mkdtemp(dir));
    (void)snprintf(state_env, sizeof state_env, "TIDEPOOL_STATE=%s", dir);
    assert_int_equal(config_load(&config, &args, NULL), 0);
    loop = loop_new(NULL);
    assert_non_null(loop);
    arena_init(&arena, 64 << 20);
    open_core();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_close(&core);
    loop_free(loop);
    config_done(&config);
    arena_done(&arena);
    return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void restart_unused(void) __attribute__((unused));
static void restart_unused(void)
{
    core_close(&core);
    open_core();
}

/* ---- asking ---- */

struct told {
    bool is_done;
    int code;
    char text[200];
    size_t n;
    struct instance *items[64];
};

static void wait_for(const bool *is_done)
{
    while (!*is_done)
        assert_int_equal(loop_run_once(loop, 1000), 0);
}

static void on_acquired(void *ctx, struct instance **items, size_t n, const struct err *e)
{
    struct told *t = ctx;

    t->is_done = true;
    t->code = e ? e->code : 0;
    t->n = n;
    (void)snprintf(t->text, sizeof t->text, "%s", e ? err_text(e) : "");
    for (size_t i = 0; i < n && i < ARRAY_LEN(t->items); i++)
        t->items[i] = items[i];
}

static int try_acquire(struct instance_args args, struct instance **ret)
{
    struct told t = {0};

    args.key = args.key ? args.key : key;
    args.server = args.server.len ? args.server : STR("shop");
    instances_acquire(core.instances, &args, on_acquired, &t);
    wait_for(&t.is_done);
    if (ret)
        *ret = t.items[0];
    return t.code;
}

static struct instance *acquire(struct instance_args args)
{
    struct instance *in = NULL;

    assert_int_equal(try_acquire(args, &in), 0);
    return in;
}

static void on_released(void *ctx, struct instance *in, const struct err *e)
{
    (void)in;
    assert_null(e);
    *(bool *)ctx = true;
}

static void release(struct instance *in, const char *lease)
{
    bool is_done = false;

    instance_release(in, str_of(lease), false, on_released, &is_done);
    wait_for(&is_done);
}

struct asked {
    struct instance_op op;
    bool is_done;
    int code;
};

static void on_done(struct instance_op *op, const struct err *e)
{
    struct asked *a = container_of(op, struct asked, op);

    a->is_done = true;
    a->code = e ? e->code : 0;
}

static struct asked ask(struct instance *in, enum instance_do what, const char *name,
                        const char *args)
{
    struct asked a = {
        .op = {.what = what, .name = str_of(name), .arena = &arena, .done = on_done, .limit = 100}};

    if (args) {
        a.op.args = json_parse(&arena, str_of(args), NULL, NULL);
        assert_non_null(a.op.args);
    }
    instance_do(in, &a.op);
    wait_for(&a.is_done);
    return a;
}

static const char *call(struct instance *in, const char *tool, const char *args)
{
    struct asked a = ask(in, INSTANCE_CALL, tool, args);

    assert_int_equal(a.code, 0);
    return a.op.answer.text.p;
}

static const struct instance_args plain = {.data = STR_INIT("default")};

/* ---- tests ---- */

static void a_lease(void **state)
{
    struct instance *in = acquire(plain);
    char id[INSTANCE_ID_LEN + 1], lease[INSTANCE_ID_LEN + 1];

    (void)state;
    assert_string_equal(instance_status(in), "occupied");
    assert_string_equal(instance_app(in)->name, "shop");
    assert_ptr_equal(instance_by_lease(core.instances, str_of(in->lease)), in);
    assert_ptr_equal(instance_find(core.instances, str_of(in->id), key), in);
    assert_null(instance_find(core.instances, str_of(in->id),
                              accounts_find(core.accounts, STR("another-user"))));
    memcpy(id, in->id, sizeof id);
    memcpy(lease, in->lease, sizeof lease);

    release(in, "another-lease");
    assert_string_equal(in->lease, lease);
    release(in, lease);
    assert_string_equal(instance_status(in), "idle");
    assert_null(instance_by_lease(core.instances, str_of(lease)));
    assert_int_equal(ask(in, INSTANCE_CALL, "get_order", "{}").code, -ENOENT);

    in = acquire(plain);
    assert_string_equal(in->id, id);
    assert_string_not_equal(in->lease, lease);
}

static void content(void **state)
{
    struct instance *a = acquire(plain), *b = acquire(plain);

    (void)state;
    assert_non_null(strstr(call(a, "create_order", "{\"product\": \"tea\"}"), "1001"));
    assert_non_null(strstr(call(a, "get_order", "{\"order_id\": 1001}"), "tea"));
    assert_non_null(strstr(call(b, "get_order", "{\"order_id\": 1001}"), "does not exist"));
    assert_non_null(strstr(call(b, "create_order", "{\"product\": \"tea\"}"), "1001"));
    assert_int_equal(ask(a, INSTANCE_RESET, "", NULL).code, 0);
    assert_non_null(strstr(call(a, "get_order", "{\"order_id\": 1001}"), "does not exist"));
    assert_non_null(strstr(call(b, "get_order", "{\"order_id\": 1001}"), "tea"));
    assert_non_null(strstr(call(b, "no_such_tool", "{}"), "Unknown tool"));
    release(b, "");
    b = acquire(plain);
    assert_non_null(strstr(call(b, "get_order", "{\"order_id\": 1001}"), "does not exist"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lease, setup, teardown),
        cmocka_unit_test_setup_teardown(content, setup, teardown),
    };

    return cmocka_run_group_tests_name("instance", tests, NULL, NULL);
}
