/* SPDX-License-Identifier: MIT */
/* The engine on a PostgreSQL server of its own: databases are copied and dropped, what one has no
 * other sees, and a call that takes too long is ended. */
#include "../check.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/engine/engine.h"

#define ENGINE (&app_engine_pg)

static char dir[] = "/tmp/test_engine_pg.XXXXXX";
static struct app *app;
static struct app_home *home;
static struct arena arena;
static struct err e;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(app_load(VECTORS_DIR "/../../apps/postgres", &app, &e), 0);
    if (ENGINE->start(dir, &home, &e) < 0)
        fail_msg("%s", err_text(&e));
    const struct json *seed = app_seed(app, "default", &arena, &e);
    assert_non_null(seed);
    assert_int_equal(ENGINE->make(home, app, "templates/t", seed, &e), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ENGINE->stop(home);
    app_free(app);
    arena_done(&arena);
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

static struct app_handle *open_one(const char *name)
{
    struct app_handle *x = NULL;

    if (ENGINE->open(home, app, name, false, &x, &e) < 0)
        fail_msg("%s: %s", name, err_text(&e));
    return x;
}

static const char *run(struct app_handle *x, const char *tool, const char *sql)
{
    struct json *args = json_new_object(&arena);
    struct app_call c = {.tool = app_tool(app, str_of(tool)), .args = args, .arena = &arena};
    struct app_answer got = {0};

    assert_int_equal(json_set(&arena, args, "sql", json_new_str(&arena, str_of(sql))), 0);
    if (app_call(x, app, &c, &got, &e) < 0)
        fail_msg("%s: %s", sql, err_text(&e));
    return arena_str(&arena, got.text).p;
}

static void copies_are_apart(void **state)
{
    (void)state;
    assert_int_equal(ENGINE->copy(home, "templates/t", "instances/a", &e), 0);
    /* Also while the template is being read. */
    struct app_handle *reader = open_one("templates/t");
    assert_int_equal(ENGINE->copy(home, "templates/t", "instances/b", &e), 0);
    struct app_handle *a = open_one("instances/a"), *b = open_one("instances/b");
    assert_string_equal(run(a, "execute_sql", "DELETE FROM orders"), "No results");
    assert_string_equal(run(a, "execute_sql", "SELECT count(*) FROM orders"), "[{'count': 0}]");
    assert_string_equal(run(b, "execute_sql", "SELECT count(*) FROM orders"), "[{'count': 5}]");
    assert_string_equal(run(reader, "execute_sql", "SELECT count(*) FROM orders"),
                        "[{'count': 5}]");
    /* What was copied belongs to the role of the copy. */
    assert_string_equal(run(b, "execute_sql", "DROP TABLE orders"), "No results");
    ENGINE->close(a, false);
    ENGINE->close(b, false);
    ENGINE->close(reader, false);
}

static void snapshots_are_copies(void **state)
{
    (void)state;
    assert_int_equal(ENGINE->copy(home, "templates/t", "instances/s", &e), 0);
    struct app_handle *x = open_one("instances/s");
    (void)run(x, "execute_sql", "UPDATE customers SET name = 'new'");
    ENGINE->close(x, false);
    assert_int_equal(ENGINE->copy(home, "instances/s", "snapshots/s.one", &e), 0);
    x = open_one("instances/s");
    (void)run(x, "execute_sql", "DROP TABLE customers");
    ENGINE->close(x, false);
    assert_int_equal(ENGINE->copy(home, "snapshots/s.one", "instances/s", &e), 0);
    x = open_one("instances/s");
    assert_string_equal(run(x, "execute_sql", "SELECT DISTINCT name FROM customers"),
                        "[{'name': 'new'}]");
    ENGINE->close(x, false);
    assert_true(ENGINE->size(home, "instances/s") > 1 << 20);
}

static void see(void *ctx, const char *word)
{
    (void)strncat(ctx, word, 40);
}

static void dropped_is_gone(void **state)
{
    char words[200] = "";

    (void)state;
    assert_int_equal(ENGINE->copy(home, "templates/t", "forks/f", &e), 0);
    assert_true(ENGINE->has(home, "forks/f"));
    assert_int_equal(ENGINE->each(home, "forks", see, words), 0);
    assert_string_equal(words, "f");
    assert_int_equal(ENGINE->drop(home, "forks/f", &e), 0);
    assert_int_equal(ENGINE->drop(home, "forks/f", &e), 0);
    assert_false(ENGINE->has(home, "forks/f"));
    assert_false(ENGINE->has(home, "forks/never"));
}

/* Neither by asking for more time, nor for more than there is. */
static void callers_have_limits(void **state)
{
    (void)state;
    assert_int_equal(ENGINE->copy(home, "templates/t", "instances/l", &e), 0);
    struct app_handle *x = open_one("instances/l");
    assert_string_equal(run(x, "execute_sql", "SET statement_timeout = 0; SELECT pg_sleep(600)"),
                        "Error: canceling statement due to user request");
    assert_string_equal(run(x, "execute_sql", "SELECT 1 AS x"), "[{'x': 1}]");
    const char *text =
        run(x, "execute_sql", "SELECT repeat('x', 1000000) FROM generate_series(1, 50)");
    assert_true(strstr(text, "Error: the answer is larger than"));
    text = run(x, "execute_sql",
               "SELECT datname FROM pg_database WHERE has_database_privilege("
               "datname, 'CONNECT') AND datname <> current_database()");
    assert_string_equal(text, "[{'datname': 'template0'}]");
    ENGINE->close(x, false);
}

static void a_lost_connection_is_made_again(void **state)
{
    (void)state;
    assert_int_equal(ENGINE->copy(home, "templates/t", "instances/c", &e), 0);
    struct app_handle *x = open_one("instances/c"), *other = open_one("instances/c");
    (void)run(other, "execute_sql",
              "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = "
              "current_database() AND pid <> pg_backend_pid()");
    assert_string_equal(run(x, "execute_sql", "SELECT 1 AS x"), "[{'x': 1}]");
    ENGINE->close(x, false);
    ENGINE->close(other, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_apart),
        cmocka_unit_test(snapshots_are_copies),
        cmocka_unit_test(dropped_is_gone),
        cmocka_unit_test(callers_have_limits),
        cmocka_unit_test(a_lost_connection_is_made_again),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
