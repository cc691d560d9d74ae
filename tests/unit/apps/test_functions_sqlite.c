/* SPDX-License-Identifier: MIT */
/* Our versions of SQLite's functions answer as SQLite's own do: the same expressions on a plain
 * connection and on one of ours, over many random values. */
#include "../check.h"

#include <stdio.h>
#include <unistd.h>

#include "apps/db/db_internal.h"

static const char *const expressions[] = {
    "length(?1)",
    "length(CAST(?1 AS BLOB))",
    "substr(?1, ?4)",
    "substr(?1, ?4, ?5)",
    "substring(?1, ?4, ?5)",
    "substr(CAST(?1 AS BLOB), ?4, ?5)",
    "lower(?1)",
    "upper(?1)",
    "hex(?1)",
    "hex(CAST(?1 AS BLOB))",
    "trim(?1)",
    "trim(?1, ?2)",
    "ltrim(?1, ?2)",
    "rtrim(?1, ?2)",
    "instr(?1, ?2)",
    "instr(CAST(?1 AS BLOB), CAST(?2 AS BLOB))",
    "replace(?1, ?2, ?3)",
    "?1 LIKE ?2",
    "?1 LIKE ?2 || '%' || ?3 || '_'",
    "?1 LIKE ?2 ESCAPE '\\'",
    "?1 LIKE ?2 ESCAPE 'a'",
    "?1 GLOB ?2",
    "?1 GLOB ?2 || '*' || ?3 || '?'",
    "printf('%s|%5s|%-5s|%.2s|%!5s|%q|%Q|%w', ?1, ?1, ?1, ?1, ?1, ?1, ?1, ?1)",
    "printf('%d|%5d|%-5d|%05d|%+d|% d|%,d|%x|%#x|%X|%o|%u', ?4, ?4, ?4, ?4, ?4, ?4, ?4, ?4, ?4, "
    "?4, ?4, ?4)",
    "printf('%f|%.3f|%10.2f|%-10.1f|%e|%g|%G|%!.4f', ?6, ?6, ?6, ?6, ?6, ?6, ?6, ?6)",
    "format('%*d|%-*d|%.*f|%*.*f', ?4, ?5, ?5, ?4, ?4, ?6, ?4, ?5, ?6)",
    /* Of no character SQLite writes a NUL. */
    "printf('%c|%5c|%.3c|%-4c|%%|%r', 'x', ifnull(nullif(?1, ''), 'y'), ifnull(nullif(?1, ''), "
    "'é'), 'z', ?4)",
    "printf(?1, ?4, ?5)",
    "printf('%' || ?2 || 'd%s', ?4)",
    "printf('%d %s %f')",
    "printf('100%')",
    "printf('%lld|%ld', ?4, ?4)",
    "json_patch(?1, ?2)",
    "json_patch(?4, json_array(?5, ?6))",
    "json_patch(json_object('a', ?1, 'b', ?2, 'c', ?4), json_object('b', ?3, 'a', NULL, 'd', ?6))",
    "json_patch('{\"a\":{\"b\":1,\"c\":[1,2]}}', json_object('a', json_object('b', ?1, 'c', "
    "NULL)))",
    "json_array(json_patch('{\"x\": 1.50}', json_object(ifnull(?1, 'n'), ?2)), 'text')",
};

/* Few characters, so that there are matches. */
static const char *const pieces[] = {"a",  "b",  "A",     "B",    "%", "_", "*", "?",
                                     "[",  "]",  "^",     "-",    " ", ".", "é", "É",
                                     "日", "\\", "[a-c]", "[^b]", "5", "d", "0", "!"};

static unsigned number;

static unsigned draw(unsigned below)
{
    number = number * 1103515245 + 12345;
    return (number >> 16) % below;
}

static void bind_random(sqlite3_stmt *const st[2], int at)
{
    char text[128] = "";
    unsigned n = draw(at == 1 ? 9 : 4);
    size_t len = 0;

    if (draw(40) == 0)
        return; /* NULL */
    for (unsigned i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s",
                                pieces[draw(sizeof pieces / sizeof pieces[0])]);
    for (int i = 0; i < 2; i++)
        (void)sqlite3_bind_text(st[i], at, text, (int)len, SQLITE_TRANSIENT);
}

/* The result with its type, for comparing and for showing. */
static void put_result(sqlite3_stmt *st, char out[512])
{
    int rc = sqlite3_step(st);

    if (rc == SQLITE_ROW)
        (void)snprintf(out, 512, "type %d: %s", sqlite3_column_type(st, 0),
                       (const char *)sqlite3_column_text(st, 0));
    else
        (void)snprintf(out, 512, "error: %s", sqlite3_errmsg(sqlite3_db_handle(st)));
}

static void compare(sqlite3 *const c[2], const char *expression)
{
    char sql[512], results[2][512];
    sqlite3_stmt *st[2];

    (void)snprintf(sql, sizeof sql, "SELECT %s, ?1, ?2, ?3, ?4, ?5, ?6", expression);
    for (int i = 0; i < 2; i++)
        assert_int_equal(sqlite3_prepare_v2(c[i], sql, -1, &st[i], NULL), SQLITE_OK);
    for (int round = 0; round < 3000; round++) {
        int first = (int)draw(14) - 6, second = (int)draw(14) - 6;
        double real = ((double)draw(2000000) - 1000000) / 1000;
        for (int i = 0; i < 2; i++) {
            (void)sqlite3_reset(st[i]);
            (void)sqlite3_clear_bindings(st[i]);
        }
        bind_random(st, 1);
        bind_random(st, 2);
        bind_random(st, 3);
        for (int i = 0; i < 2; i++) {
            (void)sqlite3_bind_int(st[i], 4, first);
            (void)sqlite3_bind_int(st[i], 5, second);
            (void)sqlite3_bind_double(st[i], 6, real);
            put_result(st[i], results[i]);
        }
        if (strcmp(results[0], results[1]) == 0)
            continue;
        char *text = sqlite3_expanded_sql(st[0]);
        fail_msg("%s:\n  SQLite %s\n  ours   %s", text, results[0], results[1]);
    }
    for (int i = 0; i < 2; i++)
        (void)sqlite3_finalize(st[i]);
}

static void they_answer_the_same(void **state)
{
    const struct scripts none = {0};
    const struct appdb_env env = {.scripts = &none, .seed = 1};
    struct appdb *db auto_(appdb_close) = NULL;
    struct err e = ERR_INIT;
    sqlite3 *plain = NULL;
    char path[64];

    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/test_functions_sqlite.%d.db", (int)getpid());
    (void)unlink(path);
    assert_int_equal(appdb_create(path, "CREATE TABLE t (id INTEGER PRIMARY KEY)", &e), 0);
    assert_int_equal(appdb_open(path, true, &env, &db, &e), 0);
    (void)unlink(path);
    assert_int_equal(sqlite3_open(":memory:", &plain), SQLITE_OK);
    for (size_t i = 0; i < sizeof expressions / sizeof expressions[0]; i++) {
        appdb_limit(db, APPDB_BULK);
        compare((sqlite3 *[]){plain, appdb_handle(db)}, expressions[i]);
    }
    (void)sqlite3_close(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_answer_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
