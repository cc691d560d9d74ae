/* SPDX-License-Identifier: MIT */
/* Calls of scripts on a database: parameters, rows, errors, limits, the clock and random numbers.
 */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps/db/db.h"

#define START_US 1768467600000000 /* 2026-01-15T09:00:00Z */

static const char schema[] = "CREATE TABLE item (id TEXT PRIMARY KEY, name TEXT, n INTEGER);"
                             "INSERT INTO item VALUES ('a', 'Apple', 1), ('b', 'Bean', 2);";

static const char text[] =
    "-- name: get\n"
    "SELECT id AS item_id, name, n FROM item WHERE id = :id;\n"
    "SELECT 'no item ' || :id AS error WHERE :item_id IS NULL;\n"
    "SELECT json_object('id', :item_id, 'name', :name, 'n', :n + 1) AS result;\n"
    "-- name: add\n"
    "INSERT INTO item VALUES (new_id('item'), :name, :n) RETURNING id AS item_id;\n"
    "SELECT 'too large' AS error WHERE :n > 100;\n"
    "SELECT json_object('id', :item_id, 'at', now(), 'tag', rand_text('t{base62:12}')) AS result;\n"
    "-- name: all\n"
    "SELECT json_group_array(name) AS result FROM (SELECT name FROM item ORDER BY id);\n"
    "-- name: echo\n"
    "SELECT json_array(:s, :i, :d, :b, :o, :none, json(:args)) AS result;\n"
    "-- name: find\n"
    "SELECT group_concat(id) AS result FROM item WHERE {{test :q}} AND {{test :q}};\n"
    "-- name: count\n"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :to)\n"
    "SELECT count(*) AS result FROM n;\n"
    "-- name: spin\n"
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) AS result FROM "
    "c;\n"
    "-- name: hoard\n"
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000)\n"
    "SELECT json_group_array(hex(zeroblob(1000))) AS result FROM c;\n"
    "-- name: attach\n"
    "ATTACH ':memory:' AS x;\n"
    "-- name: pragma\n"
    "PRAGMA journal_mode = DELETE;\n"
    "-- name: drop\n"
    "DROP TABLE item;\n"
    "-- name: files\n"
    "SELECT load_extension('x') AS result;\n"
    "-- name: typo\n"
    "SELECT :itm AS result;\n"
    "-- name: silent\n"
    "SELECT 1 AS x;\n"
    "-- name: nulls\n"
    "SELECT json_array(drop_nulls(json_object('a', 1, 'b', NULL, 'c', json('{\"d\":null}')))) AS "
    "result;\n";

static struct arena arena;
static struct scripts scripts;
static struct appdb *db;
static struct app_call call;
static struct err e;
static char path[64];

/* "LEAST n": rows from that n on. */
static int compile(void *ctx, struct str language, struct str query, struct arena *a,
                   struct appdb_predicate *ret, struct err *err)
{
    struct json *values = json_new_array(a);
    int64_t n;

    (void)ctx;
    assert_true(str_is(language, "test"));
    if (!str_starts(query, STR("LEAST ")) || str_to_i64(str_skip(query, 6), &n) < 0)
        return err_set(err, -EINVAL, "cannot read '" STR_FMT "'", STR_ARG(query));
    assert_int_equal(json_push(a, values, json_new_int(a, n)), 0);
    *ret = (struct appdb_predicate){.sql = STR("n >= :_1"), .values = values};
    return 0;
}

static void open_db(int64_t start_us, bool is_read_only)
{
    struct appdb_env env = {
        .scripts = &scripts,
        .ids = json_parse(&arena, STR("{\"item\":\"I{seq:100}-{hex:4}\"}"), NULL, NULL),
        .seed = 7,
        .start_us = start_us,
        .compile = compile};

    appdb_close(db);
    db = NULL;
    if (appdb_open(path, is_read_only, &env, &db, &e) < 0)
        fail_msg("%s", err_text(&e));
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    e = (struct err)ERR_INIT;
    (void)snprintf(path, sizeof path, "/tmp/tidepool-apps.%d.db", (int)getpid());
    if (scripts_parse(&arena, str_of(text), &scripts, &e) < 0 ||
        appdb_create(path, schema, &e) < 0) {
        print_message("%s\n", err_text(&e));
        return -1;
    }
    open_db(START_US, false);
    return 0;
}

static int teardown(void **state)
{
    char wal[80];

    (void)state;
    appdb_close(db);
    db = NULL;
    arena_done(&arena);
    (void)snprintf(wal, sizeof wal, "%s-wal", path);
    (void)unlink(wal);
    return unlink(path);
}

static int run_within(enum appdb_limits limits, const char *name, const char *args, bool is_write)
{
    call = (struct app_call){.script = scripts_find(&scripts, str_of(name)),
                             .args = json_parse(&arena, str_of(args), NULL, NULL),
                             .arena = &arena,
                             .is_write = is_write,
                             .limits = limits};
    assert_non_null(call.script);
    assert_non_null(call.args);
    return appdb_run(db, &call, &e);
}

static int run(const char *name, const char *args, bool is_write)
{
    return run_within(APPDB_USUAL, name, args, is_write);
}

static const char *result(const char *name, const char *args, bool is_write)
{
    if (run(name, args, is_write) < 0)
        fail_msg("%s: %s", name, err_text(&e));
    if (call.error.p)
        fail_msg("%s says %s", name, call.error.p);
    assert_non_null(call.result.p);
    return call.result.p;
}

static void columns_become_parameters(void **state)
{
    (void)state;
    assert_string_equal(result("get", "{\"id\":\"b\"}", false),
                        "{\"id\":\"b\",\"name\":\"Bean\",\"n\":3}");
    /* Prepared by now. */
    assert_string_equal(result("get", "{\"id\":\"a\"}", false),
                        "{\"id\":\"a\",\"name\":\"Apple\",\"n\":2}");
}

static void errors_end_the_call(void **state)
{
    (void)state;
    assert_int_equal(run("get", "{\"id\":\"z\"}", false), 0);
    assert_string_equal(call.error.p, "no item z");
    assert_null(call.result.p);
}

static void a_failed_call_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(run("add", "{\"name\":\"Cherry\",\"n\":101}", true), 0);
    assert_string_equal(call.error.p, "too large");
    assert_string_equal(result("all", "{}", false), "[\"Apple\",\"Bean\"]");
    /* Neither the number, the clock nor the random digits are used up. */
    char first[128];
    (void)snprintf(first, sizeof first, "%s", result("add", "{\"name\":\"Cherry\",\"n\":1}", true));
    (void)teardown(NULL);
    assert_int_equal(setup(NULL), 0);
    assert_string_equal(result("add", "{\"name\":\"Cherry\",\"n\":1}", true), first);
}

static void values_keep_their_types(void **state)
{
    static const char args[] = "{\"s\":\"x\\u00e9\",\"i\":9007199254740993,\"d\":0.5,\"b\":true,"
                               "\"o\":{\"k\":[1]}}";
    char want[256];

    (void)state;
    (void)snprintf(
        want, sizeof want, "[\"x\xc3\xa9\",9007199254740993,0.5,1,\"{\\\"k\\\":[1]}\",null,%s]",
        "{\"s\":\"x\xc3\xa9\",\"i\":9007199254740993,\"d\":0.5,\"b\":true,\"o\":{\"k\":[1]"
        "}}");
    assert_string_equal(result("echo", args, false), want);
    assert_string_equal(result("nulls", "{}", false), "[{\"a\":1,\"c\":{\"d\":null}}]");
}

static void the_same_calls_give_the_same_bytes(void **state)
{
    char first[2][128];

    (void)state;
    for (int i = 0; i < 2; i++)
        (void)snprintf(first[i], sizeof first[i], "%s",
                       result("add", "{\"name\":\"Cherry\",\"n\":1}", true));
    assert_string_not_equal(first[0], first[1]);
    assert_non_null(strstr(first[0], "\"at\":\"2026-01-15T09:00:00.000Z\""));
    assert_non_null(strstr(first[1], "\"at\":\"2026-01-15T09:00:01.000Z\""));
    assert_non_null(strstr(first[0], "\"id\":\"I100-"));
    assert_non_null(strstr(first[1], "\"id\":\"I101-"));
    (void)teardown(NULL);
    assert_int_equal(setup(NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(result("add", "{\"name\":\"Cherry\",\"n\":1}", true), first[i]);
        open_db(START_US, false); /* also over a restart */
    }
}

static void queries_become_part_of_the_statement(void **state)
{
    (void)state;
    assert_string_equal(result("find", "{\"q\":\"LEAST 1\"}", false), "a,b");
    assert_string_equal(result("find", "{\"q\":\"LEAST 2\"}", false), "b");
    assert_int_equal(run("find", "{\"q\":\"MOST 2\"}", false), 0);
    assert_true(call.is_query_error);
    assert_string_equal(call.error.p, "cannot read 'MOST 2'");
}

static void calls_have_limits(void **state)
{
    (void)state;
    assert_int_equal(run("spin", "{}", false), -ETIME);
    assert_true(run("hoard", "{}", false) < 0);
    assert_int_equal(run_within(APPDB_BRIEF, "count", "{\"to\":20000}", false), -EAGAIN);
    assert_int_equal(run("count", "{\"to\":20000}", false), 0);
    assert_int_equal(run("count", "{\"to\":3000000}", false), -ETIME);
    assert_int_equal(run_within(APPDB_BULK, "count", "{\"to\":3000000}", false), 0);
    /* And the next one is well. */
    assert_string_equal(result("all", "{}", false), "[\"Apple\",\"Bean\"]");
}

static void scripts_cannot_leave_their_tables(void **state)
{
    static const char *const names[] = {"attach", "pragma", "drop", "files"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (run(names[i], "{}", true) == 0)
            fail_msg("%s was allowed", names[i]);
    }
    assert_string_equal(result("all", "{}", false), "[\"Apple\",\"Bean\"]");
}

static void readers_cannot_write(void **state)
{
    (void)state;
    assert_int_equal(run("add", "{\"name\":\"Cherry\",\"n\":1}", false), -EINVAL);
    open_db(START_US, true);
    assert_int_equal(run("add", "{\"name\":\"Cherry\",\"n\":1}", true), -EROFS);
    assert_string_equal(result("all", "{}", false), "[\"Apple\",\"Bean\"]");
}

static int check(const char *name, const char *properties, bool is_write)
{
    e = (struct err)ERR_INIT;
    return appdb_check(db, scripts_find(&scripts, str_of(name)),
                       json_parse(&arena, str_of(properties), NULL, NULL), is_write, &e);
}

static void scripts_can_be_checked(void **state)
{
    (void)state;
    assert_int_equal(check("get", "{\"id\":{}}", false), 0);
    assert_int_equal(check("add", "{\"name\":{},\"n\":{}}", true), 0);
    assert_int_equal(check("find", "{\"q\":{}}", false), 0);
    assert_int_equal(check("add", "{\"name\":{},\"n\":{}}", false), -EINVAL);
    assert_string_equal(err_text(&e), "line 5: writes, but is said to only read");
    assert_int_equal(check("typo", "{\"item\":{}}", false), -EINVAL);
    assert_string_equal(
        err_text(&e), "line 32: :itm is neither an argument nor a column of an earlier statement");
    assert_int_equal(check("silent", "{}", false), -EINVAL);
    assert_string_equal(err_text(&e), "line 33: no statement has a column result or content");
    assert_int_equal(check("find", "{}", false), -EINVAL);
    assert_true(check("drop", "{}", true) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_become_parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_end_the_call, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failed_call_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(values_keep_their_types, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_calls_give_the_same_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(queries_become_part_of_the_statement, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_have_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(scripts_cannot_leave_their_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(readers_cannot_write, setup, teardown),
        cmocka_unit_test_setup_teardown(scripts_can_be_checked, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
