/* SPDX-License-Identifier: MIT */
/* Instances: slots, leases, and what happens to their content. */
#include "../check.h"

#include <errno.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "core/config.h"
#include "core/core.h"
#include "core/instance.h"
#include "core/instance_internal.h"
#include "core/instance_set.h"
#include "core/limits.h"

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
                   (char *)(uintptr_t) "TIDEPOOL_APPS_MAX_LIVE=40",
                   (char *)(uintptr_t) "TIDEPOOL_QUOTA_ACCOUNT_APPS=0",
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

static void restart(void)
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

    /* The slot is lent again, under ids that nobody knows from before. */
    assert_ptr_equal(instance_find(core.instances, str_of(id), key), in);
    assert_ptr_equal(acquire(plain), in);
    assert_string_not_equal(in->id, id);
    assert_string_not_equal(in->lease, lease);
    assert_null(instance_find(core.instances, str_of(id), key));
    assert_ptr_equal(instance_find(core.instances, str_of(in->id), key), in);
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

static struct instance *again(const char *lease)
{
    return instance_by_lease(core.instances, str_of(lease));
}

static void a_restart(void **state)
{
    struct instance_args args = {.data = STR("default"),
                                 .benchmark = STR("MCP_Atlas"),
                                 .email = STR("Ada@larkspur.example"),
                                 .has_seed = true,
                                 .seed = 7,
                                 .ttl_s = -1};
    char lease[INSTANCE_ID_LEN + 1], id[INSTANCE_ID_LEN + 1];

    (void)state;
    args.tags = json_parse(&arena, STR("{\"team\": \"x\"}"), NULL, NULL);
    struct instance *in = acquire(args);
    struct instance *idle = acquire(plain);
    memcpy(lease, in->lease, sizeof lease);
    release(idle, "");
    memcpy(id, idle->id, sizeof id);
    (void)call(in, "create_order", "{\"product\": \"tea\"}");
    assert_int_equal(ask(in, INSTANCE_SNAPSHOT, "one", NULL).code, 0);
    restart();

    in = again(lease);
    assert_non_null(in);
    assert_string_equal(in->email, "Ada@larkspur.example");
    assert_string_equal(in->benchmark, "MCP_Atlas");
    assert_int_equal(in->seed, 7);
    assert_int_equal(in->expires_us, 0);
    assert_true(instance_has_tag(in, STR("team")));
    assert_true(instance_has_tag(in, STR("x")));
    assert_false(instance_has_tag(in, STR("y")));
    assert_non_null(strstr(call(in, "get_order", "{\"order_id\": 1001}"), "tea"));
    assert_int_equal(ask(in, INSTANCE_RESTORE, "one", NULL).code, 0);
    assert_int_equal(ask(in, INSTANCE_RESTORE, "two", NULL).code, -ENOENT);
    assert_non_null(strstr(call(in, "create_order", "{\"product\": \"tea\"}"), "1002"));
    struct asked calls = ask(in, INSTANCE_CALLS, "", NULL);
    assert_non_null(strstr(calls.op.text.p, "[{\"n\":1,"));
    assert_non_null(strstr(calls.op.text.p, "{\"n\":3,"));
    idle = instance_find(core.instances, str_of(id), key);
    assert_string_equal(instance_status(idle), "idle");
    assert_ptr_equal(acquire(plain), idle);
    memcpy(id, idle->id, sizeof id);
    release(in, "");
    restart();
    assert_null(again(lease));
    idle = instance_find(core.instances, str_of(id), key);
    assert_string_equal(instance_status(idle), "occupied");
    assert_int_equal(ask(acquire(plain), INSTANCE_RESTORE, "one", NULL).code, -ENOENT);
}

static _Atomic int64_t skipped_us;

static int64_t later_mono_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000 + skipped_us;
}

static int64_t later_real_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000 + skipped_us;
}

static void time_is_over(void **state)
{
    static const struct clock_source later = {later_mono_us, later_real_us};
    struct instance_args args = plain;
    char leases[2][INSTANCE_ID_LEN + 1];

    (void)state;
    args.ttl_s = 60;
    struct instance *a = acquire(args), *b = acquire(plain);
    memcpy(leases[0], a->lease, sizeof leases[0]);
    memcpy(leases[1], b->lease, sizeof leases[1]);
    assert_int_equal(b->expires_us - b->updated_us, INSTANCE_TTL_DEFAULT_S * INT64_C(1000000));
    core_close(&core);
    skipped_us = INT64_C(61) * 1000000;
    clock_set_source(&later);
    open_core();
    while (again(leases[0]))
        assert_int_equal(loop_run_once(loop, 1000), 0);
    assert_non_null(again(leases[1]));
    skipped_us = (INSTANCE_TTL_DEFAULT_S + 1) * INT64_C(1000000);
    while (again(leases[1]))
        assert_int_equal(loop_run_once(loop, 1000), 0);
    core_close(&core);
    clock_set_source(NULL);
    skipped_us = 0;
    open_core();
    assert_int_equal(instances_n_live(core.instances), 0);
}

static void who_gets_what(void **state)
{
    struct instance_args args = {.email = STR("ada@larkspur.example")};
    struct instance *in = acquire(args);
    struct told t = {0};

    (void)state;
    assert_int_equal(try_acquire(args, NULL), -EAGAIN);
    release(in, "");
    /* A test account that somebody named is for those who name it. */
    assert_ptr_not_equal(acquire(plain), in);
    args.email = STR("ADA@larkspur.example");
    assert_ptr_equal(acquire(args), in);

    assert_int_equal(try_acquire((struct instance_args){.server = STR("none")}, NULL), -ENOENT);
    assert_int_equal(try_acquire((struct instance_args){.server = STR("../lib/shop")}, NULL),
                     -ENOENT);
    assert_int_equal(try_acquire((struct instance_args){.data = STR("none")}, NULL), -EINVAL);
    assert_int_equal(try_acquire((struct instance_args){.data = STR("../x")}, NULL), -EINVAL);
    assert_int_equal(try_acquire((struct instance_args){.ttl_s = 59}, NULL), -EINVAL);
    assert_int_equal(try_acquire((struct instance_args){.count = 1001}, NULL), -EINVAL);
    assert_int_equal(try_acquire((struct instance_args){.server = STR("SHOP")}, &in), 0);
    assert_string_equal(in->server, "shop");

    /* 3 of 40 are lent. */
    args = plain;
    args.key = key;
    args.server = STR("shop");
    args.count = 38;
    assert_int_equal(try_acquire(args, NULL), -EAGAIN);
    assert_int_equal(instances_n_live(core.instances), 3);
    args.count = 37;
    instances_acquire(core.instances, &args, on_acquired, &t);
    wait_for(&t.is_done);
    assert_int_equal(t.n, 37);
    assert_int_equal(try_acquire(plain, NULL), -EAGAIN);
    for (size_t i = 0; i < t.n; i++)
        (void)call(t.items[i], "create_order", "{\"product\": \"cup\"}");
    /* One connection serves many: there are as many as were in use at once. */
    assert_in_range(instances_n_open(core.instances), 1, config.apps.threads + 1);
    for (size_t i = 0; i < t.n; i++)
        assert_non_null(strstr(call(t.items[i], "get_order", "{\"order_id\": 1001}"), "cup"));
}

/* What is a part of something else counts for nobody, and nobody sees it. */
static void a_part(void **state)
{
    struct instance_args args = {.data = STR("default"), .owner = STR("the-whole"), .ttl_s = -1};
    int64_t max_live = key->limits.max_live;
    char lease[INSTANCE_ID_LEN + 1];

    (void)state;
    key->limits.max_live = 1;
    struct instance *in = acquire(args);
    memcpy(lease, in->lease, sizeof lease);
    assert_int_equal(key->use.n_live, 0);
    assert_false(instance_is_visible(in, key));
    assert_null(instance_find(core.instances, str_of(in->id), key));
    struct instance *other = acquire(plain);
    assert_int_equal(try_acquire(plain, NULL), -EDQUOT);
    assert_int_equal(try_acquire(args, NULL), 0);
    key->limits.max_live = max_live;
    (void)call(in, "create_order", "{\"product\": \"tea\"}");
    release(other, "");
    restart();

    in = again(lease);
    assert_string_equal(in->owner, "the-whole");
    assert_int_equal(key->use.n_live, 0);
    assert_false(instance_is_visible(in, key));
    assert_non_null(strstr(call(in, "get_order", "{\"order_id\": 1001}"), "tea"));
    release(in, "");
    /* The slot is as any other. */
    assert_true(instance_is_visible(in, key));
    assert_int_equal(key->use.n_live, 0);
}

static void what_changed(void **state)
{
    struct instance *in = acquire(plain);
    struct asked a;

    (void)state;
    a = ask(in, INSTANCE_DIFF, "", NULL);
    assert_string_equal(a.op.text.p, "{\"inserted\":0,\"updated\":0,\"deleted\":0,\"tables\":{}}");
    (void)call(in, "create_order", "{\"product\": \"tea\", \"quantity\": 3}");
    a = ask(in, INSTANCE_DIFF, "", NULL);
    assert_int_equal(a.code, 0);
    assert_non_null(strstr(a.op.text.p, "{\"inserted\":1,\"updated\":1,\"deleted\":0,"));
    assert_non_null(strstr(a.op.text.p, "{\"key\":{\"name\":\"tea\"},\"old\":{\"stock\":10},"
                                        "\"new\":{\"stock\":7}}"));
    assert_non_null(strstr(a.op.text.p, "\"id\":1001,\"product\":\"tea\",\"quantity\":3,"));

    a = ask(in, INSTANCE_IMPORT, "",
            "{\"products\": [{\"name\": \"pot\", \"price\": 1,"
            " \"stock\": 1}]}");
    assert_int_equal(a.code, 0);
    a = ask(in, INSTANCE_DIFF, "", NULL);
    assert_non_null(strstr(a.op.text.p, "{\"inserted\":0,\"updated\":0,"));
    a = ask(in, INSTANCE_DIFF, "initial", NULL);
    assert_non_null(strstr(a.op.text.p, "{\"inserted\":2,\"updated\":1,"));
    assert_int_equal(ask(in, INSTANCE_RESET, "", NULL).code, 0);
    a = ask(in, INSTANCE_DIFF, "", NULL);
    assert_non_null(strstr(a.op.text.p, "\"tables\":{}"));
}

static void what_is_true(void **state)
{
    static const char checks[] =
        "[{\"table\": \"orders\", \"where\": {\"product\": \"tea\"}, \"count\": 1},"
        " {\"sql\": \"SELECT stock FROM product WHERE name = ?\", \"params\": [\"tea\"],"
        "  \"equals\": 9},"
        " {\"sql\": \"SELECT name FROM product ORDER BY 1\", \"rows\": [[\"cup\"], [\"tea\"]]},"
        " {\"sql\": \"SELECT json_array(1, 2)\", \"equals\": [1, 2]},"
        " {\"name\": \"wrong\", \"table\": \"orders\", \"count\": 5},"
        " {\"sql\": \"DELETE FROM orders RETURNING id\"},"
        " {\"sql\": \"ATTACH 'x' AS y\"}, {\"sql\": \"PRAGMA table_list\"},"
        " {\"sql\": \"SELECT 1; SELECT 2\"}, {\"table\": \"none\"}]";
    struct instance *in = acquire(plain);

    (void)state;
    (void)call(in, "create_order", "{\"product\": \"tea\"}");
    struct asked a = ask(in, INSTANCE_VERIFY, "", checks);
    assert_int_equal(a.code, 0);
    const struct json *results = json_parse(&arena, a.op.text, NULL, NULL);
    assert_int_equal(results->n, 10);
    for (size_t i = 0; i < results->n; i++) {
        const struct json *result = json_at(results, i);
        if (json_bool(json_get(result, "passed"), false) != (i < 4) ||
            !json_get(result, "error") != (i < 5))
            fail_msg("%zu: %s", i, a.op.text.p);
    }
    assert_non_null(strstr(a.op.text.p, "{\"name\":\"wrong\",\"passed\":false,\"actual\":1}"));
    assert_int_equal(ask(in, INSTANCE_VERIFY, "", "{}").code, -EINVAL);
    assert_int_equal(ask(in, INSTANCE_VERIFY, "", "[{}]").code, -EINVAL);
    assert_non_null(strstr(call(in, "get_order", "{\"order_id\": 1001}"), "tea"));
}

static void forks(void **state)
{
    struct instance_args args = plain;
    struct told t = {0};

    (void)state;
    args.has_seed = true;
    args.seed = 5;
    args.start_us = INT64_C(1768467600000000);
    struct instance *in = acquire(args);
    (void)call(in, "create_order", "{\"product\": \"tea\"}");
    args = (struct instance_args){.key = key, .count = 2};
    instance_fork(in, &args, on_acquired, &t);
    wait_for(&t.is_done);
    assert_int_equal(t.n, 2);
    assert_non_null(strstr(call(t.items[0], "get_order", "{\"order_id\": 1001}"), "tea"));
    /* They go on alike, each for itself. */
    const char *first = call(in, "create_order", "{\"product\": \"tea\"}");
    assert_string_equal(call(t.items[0], "create_order", "{\"product\": \"tea\"}"), first);
    assert_string_equal(call(t.items[1], "create_order", "{\"product\": \"tea\"}"), first);
    assert_int_equal(ask(t.items[1], INSTANCE_RESET, "", NULL).code, 0);
    assert_non_null(strstr(call(t.items[1], "get_order", "{\"order_id\": 1001}"), "not exist"));
    assert_non_null(strstr(call(t.items[0], "get_order", "{\"order_id\": 1002}"), "tea"));
}

static void the_same_again(void **state)
{
    struct instance_args args = plain;
    const char *texts[2][2];

    (void)state;
    args.has_seed = true;
    args.seed = 99;
    args.start_us = INT64_C(1768467600000000);
    for (size_t i = 0; i < 2; i++) {
        struct instance *in = acquire(args);
        texts[i][0] = call(in, "create_order", "{\"product\": \"tea\"}");
        texts[i][1] = call(in, "get_order", "{\"order_id\": 1001}");
    }
    assert_string_equal(texts[0][0], texts[1][0]);
    assert_string_equal(texts[0][1], texts[1][1]);
    struct instance *other = acquire(plain);
    assert_string_not_equal(call(other, "create_order", "{\"product\": \"tea\"}"), texts[0][0]);
}

/* Rows of instances past the first N cannot be written; -1: all can. */
static void let_rows(int n)
{
    char path[96], sql[200];
    sqlite3 *db;

    (void)snprintf(path, sizeof path, "%s/tidepool.db", dir);
    (void)snprintf(sql, sizeof sql,
                   n < 0 ? "DROP TRIGGER few"
                         : "CREATE TRIGGER few BEFORE INSERT ON instance WHEN"
                           " (SELECT count(*) FROM instance) >= %d"
                           " BEGIN SELECT RAISE(ABORT, 'no more'); END",
                   n);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 10000);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Some batches are written, the last is not. What was given back meanwhile belongs to whoever took
 * it, and is not taken away again. */
static void a_preparation_that_fails_late(void **state)
{
    const struct instance_args many = {.key = key, .server = STR("shop"), .count = 1000};
    const struct instance_args one = {.key = key, .server = STR("shop")};
    struct told prepared = {0}, taken = {0};
    bool is_asked = false;
    size_t n = 0;

    (void)state;
    release(acquire(plain), ""); /* the template is there */
    const struct list *idle = &instance_pool(core.instances, key->account->id, "shop")->idle;
    let_rows(950);
    instances_prepare(core.instances, &many, on_acquired, &prepared);
    while (!prepared.is_done) {
        assert_int_equal(loop_run_once(loop, 1000), 0);
        if (prepared.is_done || is_asked || list_is_empty(idle))
            continue;
        is_asked = true;
        instances_acquire(core.instances, &one, on_acquired, &taken);
    }
    assert_int_not_equal(prepared.code, 0);
    if (!is_asked)
        instances_acquire(core.instances, &one, on_acquired, &taken);
    wait_for(&taken.is_done);
    assert_int_equal(taken.code, 0);
    assert_int_equal(instance_state(taken.items[0]), INSTANCE_OCCUPIED);
    assert_ptr_equal(instance_by_lease(core.instances, str_of(taken.items[0]->lease)),
                     taken.items[0]);
    list_each(node, idle) n++;
    assert_int_equal(n, 899); /* nine batches are written; one of them is lent */
    let_rows(-1);
}

/* The same of leases: none is to be seen before all are, and none is left. */
static void an_acquisition_that_fails_late(void **state)
{
    struct told t = {0};

    (void)state;
    limits_set_whole(core.limits, LIMIT_ACCOUNT_APPS, 0);
    release(acquire(plain), "");
    const struct list *idle = &instance_pool(core.instances, key->account->id, "shop")->idle;
    let_rows(950);
    instances_acquire(core.instances,
                      &(struct instance_args){.key = key, .server = STR("shop"), .count = 1000},
                      on_acquired, &t);
    while (!t.is_done) {
        assert_int_equal(loop_run_once(loop, 1000), 0);
        assert_int_equal(t.is_done ? 0 : instances_n_live(core.instances), 0);
    }
    assert_int_not_equal(t.code, 0);
    for (size_t n = 0; n < 900;) {
        assert_int_equal(loop_run_once(loop, 1000), 0);
        n = 0;
        list_each(node, idle) n++;
    }
    assert_int_equal(instances_n_live(core.instances), 0);
    let_rows(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lease, setup, teardown),
        cmocka_unit_test_setup_teardown(content, setup, teardown),
        cmocka_unit_test_setup_teardown(a_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(time_is_over, setup, teardown),
        cmocka_unit_test_setup_teardown(who_gets_what, setup, teardown),
        cmocka_unit_test_setup_teardown(a_part, setup, teardown),
        cmocka_unit_test_setup_teardown(what_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_true, setup, teardown),
        cmocka_unit_test_setup_teardown(forks, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_preparation_that_fails_late, setup, teardown),
        cmocka_unit_test_setup_teardown(an_acquisition_that_fails_late, setup, teardown),
    };

    return cmocka_run_group_tests_name("instance", tests, NULL, NULL);
}
