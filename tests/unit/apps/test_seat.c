/* SPDX-License-Identifier: MIT */
/* One connection for many files: exchanges, commits that fail or are cut off by the death of the
 * process at any of their reads and writes, files of earlier versions, the pool. */
#include "../check.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/db/db_internal.h"
#include "apps/engine/pool.h"
#include "base/fault.h"
#include "base/mem.h"
#include "sys/io.h"

/* The two sides are always the same; they are on different pages. */
static const char schema[] =
    "CREATE TABLE west (id INTEGER PRIMARY KEY, n INTEGER, t TEXT);"
    "CREATE TABLE east (id INTEGER PRIMARY KEY, n INTEGER, t TEXT);"
    "CREATE TABLE bulk (id INTEGER PRIMARY KEY, t TEXT);"
    "CREATE VIRTUAL TABLE fts_note USING fts5 (body);"
    "INSERT INTO west SELECT value, 0, hex(zeroblob(1500)) FROM json_each('[1,2,3,4]');"
    "INSERT INTO east SELECT value, 0, hex(zeroblob(1500)) FROM json_each('[1,2,3,4]');";

static const char text[] =
    "-- name: set\n"
    "UPDATE west SET n = :n;\n"
    "UPDATE east SET n = :n;\n"
    "INSERT INTO bulk (t) VALUES (hex(zeroblob(3000)));\n"
    "SELECT 'refused' AS error WHERE :n < 0;\n"
    "SELECT rand_text('{hex:8}') AS result;\n"
    "-- name: get\n"
    "SELECT CASE WHEN (SELECT min(n) FROM west) = (SELECT max(n) FROM east)\n"
    "  AND (SELECT max(n) FROM west) = (SELECT min(n) FROM east)\n"
    "  THEN (SELECT max(n) FROM west) || '/' || (SELECT count(*) FROM bulk) ELSE 'torn' END"
    " AS result;\n"
    "-- name: fill\n"
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000)\n"
    "INSERT INTO bulk (t) SELECT hex(zeroblob(2000)) FROM c;\n"
    "UPDATE west SET n = :n;\n"
    "UPDATE east SET n = :n;\n"
    "SELECT 'refused' AS error WHERE :n < 0;\n"
    "SELECT 'done' AS result;\n"
    "-- name: note\n"
    "INSERT INTO fts_note (body) VALUES (:body);\n"
    "SELECT 'done' AS result;\n"
    "-- name: find\n"
    "SELECT ifnull(group_concat(body, ','), '') AS result FROM fts_note"
    " WHERE fts_note MATCH :body;\n";

static struct arena arena;
static struct scripts scripts;
static struct err e;
static char dir[64], template[96];
static struct app_call call;

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static unsigned n;
    char *path = paths[n++ % 4];

    (void)snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static struct appdb_env env_of(void)
{
    return (struct appdb_env){.scripts = &scripts, .home = dir};
}

static void copy_file(const char *from, const char *to)
{
    auto_buf struct buf all = BUF_INIT(64 << 20);

    assert_int_equal(io_read_file(from, &all, &e), 0);
    (void)unlink(to);
    assert_int_equal(io_write_file(to, buf_str(&all), 0600, &e), 0);
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    e = (struct err)ERR_INIT;
    (void)snprintf(dir, sizeof dir, "/tmp/tidepool-seat-XXXXXX");
    assert_non_null(mkdtemp(dir));
    (void)snprintf(template, sizeof template, "%s/template.db", dir);
    if (scripts_parse(&arena, str_of(text), &scripts, &e) < 0 ||
        appdb_create(template, schema, &e) < 0) {
        print_message("%s\n", err_text(&e));
        return -1;
    }
    copy_file(template, path_of("a.db"));
    copy_file(template, path_of("b.db"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return io_remove_tree(dir);
}

static struct appdb *open_db(const char *path, bool is_read_only)
{
    const struct appdb_env env = env_of();
    struct appdb *db = NULL;

    if (appdb_open(path, is_read_only, &env, &db, &e) < 0)
        fail_msg("%s", err_text(&e));
    return db;
}

static int run(struct appdb *db, const char *name, const char *args)
{
    call = (struct app_call){.script = scripts_find(&scripts, str_of(name)),
                             .args = json_parse(&arena, str_of(args), NULL, NULL),
                             .arena = &arena,
                             .limits = APPDB_BULK,
                             .is_write = strcmp(name, "get") != 0 && strcmp(name, "find") != 0};
    return appdb_run(db, &call, &e);
}

static const char *result(struct appdb *db, const char *name, const char *args)
{
    if (run(db, name, args) < 0)
        fail_msg("%s: %s", name, err_text(&e));
    assert_non_null(call.result.p);
    return call.result.p;
}

/* As a process that opens the file later sees it; what SQLite itself finds wrong is a failure. */
static const char *content(const char *path)
{
    struct appdb *db auto_(appdb_close) = open_db(path, true);
    sqlite3 *c = NULL;
    sqlite3_stmt *st = NULL;

    assert_int_equal(sqlite3_open_v2(path, &c, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(c, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_string_equal(sqlite3_column_text(st, 0), "ok");
    (void)sqlite3_finalize(st);
    (void)sqlite3_close(c);
    return result(db, "get", "{}");
}

static void sit(struct appdb *db, const char *path, bool is_read_only, struct appdb_own *own)
{
    struct seat_file f;

    assert_int_equal(appdb_open_file(&f, path, dir, is_read_only), 0);
    assert_true(appdb_fits(db, &f));
    assert_int_equal(appdb_seat(db, &f, own, &e), 0);
}

/* ---- exchanges ---- */

static void files_keep_apart(void **state)
{
    struct appdb *db auto_(appdb_close) = open_db(template, true);
    struct appdb_own a = {.seed = 1}, b = {.seed = 1};
    char first[16], second[16];

    (void)state;
    for (int round = 0; round < 3; round++) {
        sit(db, path_of("a.db"), false, &a);
        (void)snprintf(first, sizeof first, "%s", result(db, "set", "{\"n\":7}"));
        sit(db, path_of("b.db"), false, &b);
        (void)snprintf(second, sizeof second, "%s", result(db, "set", "{\"n\":8}"));
        /* The same seed and as many draws before. */
        assert_string_equal(first, second);
        sit(db, template, true, &a);
        assert_string_equal(result(db, "get", "{}"), "0/0");
        assert_int_equal(run(db, "set", "{\"n\":9}"), -EROFS);
    }
    assert_int_equal(a.n_draws, b.n_draws);
    struct appdb_own again = {.seed = 1};
    sit(db, path_of("a.db"), false, &again);
    assert_int_equal(again.n_draws, b.n_draws);
    assert_string_equal(result(db, "get", "{}"), "7/3");
    appdb_unseat(db);
    assert_string_equal(content(path_of("a.db")), "7/3");
    assert_string_equal(content(path_of("b.db")), "8/3");
    assert_string_equal(content(template), "0/0");
}

/* A virtual table keeps things of its own in memory. */
static void indexes_of_words_keep_apart(void **state)
{
    struct appdb *db auto_(appdb_close) = open_db(template, true);
    struct appdb_own a = {0}, b = {0};

    (void)state;
    for (int round = 0; round < 3; round++) {
        sit(db, path_of("a.db"), false, &a);
        (void)result(db, "note", "{\"body\":\"tea\"}");
        assert_string_equal(result(db, "find", "{\"body\":\"cup\"}"), "");
        sit(db, path_of("b.db"), false, &b);
        (void)result(db, "note", "{\"body\":\"cup\"}");
        assert_string_equal(result(db, "find", "{\"body\":\"tea\"}"), "");
    }
    assert_string_equal(result(db, "find", "{\"body\":\"cup\"}"), "cup,cup,cup");
    sit(db, path_of("a.db"), false, &a);
    assert_string_equal(result(db, "find", "{\"body\":\"tea\"}"), "tea,tea,tea");
    sit(db, template, true, &b);
    assert_string_equal(result(db, "find", "{\"body\":\"tea\"}"), "");
}

/* As many statements, so that SQLite's own number of the schema is the same. */
static void another_schema_does_not_fit(void **state)
{
    static const char one[] = "CREATE TABLE t (a, b)", other[] = "CREATE TABLE t (b, a)";
    struct appdb *db auto_(appdb_close) = NULL;
    const struct appdb_env env = env_of();
    struct seat_file f;

    (void)state;
    assert_int_equal(appdb_create(path_of("one.db"), one, &e), 0);
    assert_int_equal(appdb_create(path_of("other.db"), other, &e), 0);
    assert_int_equal(appdb_create(path_of("same.db"), one, &e), 0);
    assert_int_equal(appdb_open(path_of("one.db"), false, &env, &db, &e), 0);
    assert_int_equal(appdb_open_file(&f, path_of("other.db"), dir, false), 0);
    assert_false(appdb_fits(db, &f));
    seat_file_close(&f);
    assert_int_equal(appdb_open_file(&f, path_of("same.db"), dir, false), 0);
    assert_true(appdb_fits(db, &f));
    seat_file_close(&f);
    assert_int_equal(appdb_open_file(&f, path_of("none.db"), dir, false), -ENOENT);
}

/* More pages than are kept in memory: they are read back from the redo meanwhile. */
static void large_transactions(void **state)
{
    struct appdb *db auto_(appdb_close) = open_db(path_of("a.db"), false);
    struct stat before, after;

    (void)state;
    assert_int_equal(stat(path_of("a.db"), &before), 0);
    assert_int_equal(run(db, "fill", "{\"n\":-1}"), 0);
    assert_non_null(call.error.p);
    assert_string_equal(result(db, "get", "{}"), "0/0");
    assert_int_equal(stat(path_of("a.db"), &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_string_equal(content(path_of("a.db")), "0/0");
    assert_string_equal(result(db, "fill", "{\"n\":5}"), "done");
    assert_string_equal(result(db, "get", "{}"), "5/1000");
    assert_string_equal(content(path_of("a.db")), "5/1000");
    (void)result(db, "set", "{\"n\":6}");
    assert_string_equal(content(path_of("a.db")), "6/1001");
}

/* ---- earlier versions ---- */

/* Files of earlier versions have a log, which a death left beside them, and no fingerprint. */
static void old_files_are_settled(void **state)
{
    sqlite3 *c = NULL;

    (void)state;
    assert_int_equal(sqlite3_open(path_of("a.db"), &c), SQLITE_OK);
    assert_int_equal(sqlite3_exec(c,
                                  "PRAGMA journal_mode = WAL; PRAGMA user_version = 0;"
                                  "PRAGMA application_id = 0; UPDATE west SET n = 3;"
                                  "UPDATE east SET n = 3",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    copy_file(path_of("a.db"), path_of("old.db"));
    copy_file(path_of("a.db-wal"), path_of("old.db-wal"));
    (void)sqlite3_close(c);
    struct seat_file f;
    assert_int_equal(appdb_open_file(&f, path_of("old.db"), dir, false), -EUCLEAN);
    struct appdb *db auto_(appdb_close) = open_db(path_of("old.db"), false);
    assert_string_equal(result(db, "get", "{}"), "3/0");
    assert_int_equal(access(path_of("old.db-wal"), F_OK), -1);
    /* It is one of the others now. */
    struct appdb_own own = {0};
    sit(db, path_of("b.db"), false, &own);
    assert_string_equal(result(db, "get", "{}"), "0/0");
}

/* ---- failures and deaths ---- */

static int recover(void)
{
    return redo_recover(dir, &e);
}

#ifdef TIDEPOOL_FAULT

enum { MANY = 5000 };

/* The Nth read or write of a call fails: nothing is changed, and the next call is right. */
static bool fails_at(const char *name, unsigned nth)
{
    copy_file(template, path_of("a.db"));
    struct appdb *db auto_(appdb_close) = open_db(path_of("a.db"), false);
    char before[32];

    (void)result(db, "set", "{\"n\":1}");
    (void)snprintf(before, sizeof before, "%s", result(db, "get", "{}"));
    fault_arm(FAULT_IO, nth);
    int r = run(db, name, "{\"n\":2}");
    bool fired = fault_fired(FAULT_IO);
    fault_arm(FAULT_IO, 0);
    /* Clearing the redo is the last one, and no failure. */
    if (r < 0)
        assert_string_equal(content(path_of("a.db")), before);
    else
        assert_true(str_starts(str_of(content(path_of("a.db"))), STR("2/")));
    assert_true(fired || r == 0);
    (void)result(db, "set", "{\"n\":3}");
    assert_true(str_starts(str_of(result(db, "get", "{}")), STR("3/")));
    assert_true(str_starts(str_of(content(path_of("a.db"))), STR("3/")));
    assert_int_equal(recover(), 0);
    assert_true(str_starts(str_of(content(path_of("a.db"))), STR("3/")));
    return fired;
}

static void failures(void **state)
{
    unsigned n = 1;

    (void)state;
    while (fails_at("set", n))
        n++;
    assert_in_range(n, 5, MANY);
    /* There are thousands; the steps grow. */
    for (n = 1; fails_at("fill", n); n += 1 + n / 4)
        ;
    assert_in_range(n, 500, MANY * 10);
}

/* A child that dies at the Nth read or write of a call; false when it was done before. */
static bool dies_at(const char *name, unsigned nth)
{
    copy_file(template, path_of("a.db"));
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        const struct appdb_env env = env_of();
        struct appdb *db = NULL;
        if (appdb_open(path_of("a.db"), false, &env, &db, &e) < 0 || run(db, "set", "{\"n\":1}"))
            _exit(1);
        fault_arm_death(FAULT_IO, nth);
        _exit(run(db, name, "{\"n\":2}") < 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static void deaths(void **state)
{
    static const char *const names[] = {"set", "fill"};
    bool was_old = false, was_new = false, died = true;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        died = true;
        for (unsigned n = 1; died; n += i == 0 ? 1 : 1 + n / 2) {
            died = dies_at(names[i], n);
            assert_int_equal(recover(), 0);
            struct str now = str_of(content(path_of("a.db")));
            assert_true(str_starts(now, STR("1/1")) || str_starts(now, STR("2/")));
            was_old |= str_starts(now, STR("1/"));
            was_new |= died && str_starts(now, STR("2/"));
            assert_true(died || str_starts(now, STR("2/")));
        }
    }
    assert_true(was_old && was_new);
}

/* Reads the one redo that is there; its path, or NULL when there is none with something in it. */
static const char *find_redo(struct buf *ret)
{
    DIR *d = opendir(path_of("redo"));
    const char *found = NULL;
    const struct dirent *entry;

    while (d && !found && (entry = readdir(d))) {
        char name[300];
        (void)snprintf(name, sizeof name, "redo/%s", entry->d_name);
        ret->len = 0;
        if (entry->d_name[0] != '.' && io_read_file(path_of(name), ret, NULL) == 0 &&
            ret->len > 8 && memcmp(ret->p, "tdredo01", 8) == 0)
            found = arena_strdup(&arena, path_of(name));
    }
    if (d)
        (void)closedir(d);
    return found;
}

/* The redo of a child that died between it and the pages' places; its path. */
static const char *leave_redo(struct buf *ret)
{
    const char *path = NULL;

    for (unsigned n = 1; n < 100 && !path; n++) {
        assert_int_equal(recover(), 0);
        assert_true(dies_at("set", n));
        path = find_redo(ret);
    }
    return path;
}

static void parts_of_a_redo_are_nothing(void **state)
{
    auto_buf struct buf redo = BUF_INIT(1 << 20);
    const char *path = leave_redo(&redo);

    (void)state;
    assert_non_null(path);
    for (size_t n = 0; n < redo.len; n += 509) {
        assert_int_equal(io_write_file(path, str_n(redo.p, n), 0600, &e), 0);
        assert_int_equal(recover(), 0);
        assert_string_equal(content(path_of("a.db")), "1/1");
        assert_int_equal(access(path, F_OK), -1);
    }
    redo.p[redo.len / 2] ^= 1;
    assert_int_equal(io_write_file(path, buf_str(&redo), 0600, &e), 0);
    assert_int_equal(recover(), 0);
    assert_string_equal(content(path_of("a.db")), "1/1");
    redo.p[redo.len / 2] ^= 1;
    /* Of a file that was replaced since. */
    (void)rename(path_of("a.db"), path_of("kept.db"));
    copy_file(template, path_of("a.db"));
    assert_int_equal(io_write_file(path, buf_str(&redo), 0600, &e), 0);
    assert_int_equal(recover(), 0);
    assert_string_equal(content(path_of("a.db")), "0/0");
    (void)rename(path_of("kept.db"), path_of("a.db"));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(io_write_file(path, buf_str(&redo), 0600, &e), 0);
        assert_int_equal(recover(), 0);
        assert_string_equal(content(path_of("a.db")), "2/2");
    }
}

#else

static void failures(void **state)
{
    (void)state;
    assert_int_equal(recover(), 0);
    skip();
}
#define deaths                      failures
#define parts_of_a_redo_are_nothing failures

#endif

/* A disk without room, as the kernel reports it. */
static void full_disk(void **state)
{
    struct appdb *db auto_(appdb_close) = open_db(path_of("a.db"), false);

    (void)state;
    (void)result(db, "set", "{\"n\":1}");
    pid_t child = fork();
    int status;
    assert_true(child >= 0);
    if (child == 0) {
        struct stat st;
        (void)stat(path_of("a.db"), &st);
        const struct rlimit limit = {(rlim_t)st.st_size, (rlim_t)st.st_size};
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        int r = run(db, "fill", "{\"n\":2}");
        _exit(r == -ENOSPC ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(content(path_of("a.db")), "1/1");
}

/* ---- the pool ---- */

static void connections_are_shared(void **state)
{
    const struct app app = {.scripts = scripts}, other = {.scripts = scripts};
    struct pool_connection *c, *d;
    struct pool_file a, b;
    struct pool p;

    (void)state;
    pool_init(&p, dir);
    assert_int_equal(pool_file_init(&a, &app, path_of("a.db"), false), 0);
    assert_int_equal(pool_file_init(&b, &app, path_of("b.db"), false), 0);
    assert_int_equal(pool_take(&p, &a, true, &c, &e), -EAGAIN);
    assert_int_equal(pool_take(&p, &a, false, &c, &e), 0);
    assert_string_equal(result(c->db, "get", "{}"), "0/0");
    assert_false(pool_is_ready(&p, &app));
    /* It is in use, so there is another one. */
    assert_int_equal(pool_take(&p, &b, true, &d, &e), -EAGAIN);
    assert_int_equal(pool_take(&p, &b, false, &d, &e), 0);
    assert_ptr_not_equal(c, d);
    assert_int_equal(pool_n_open(&p), 2);
    struct appdb *of_a = c->db;
    pool_give(&p, c);
    pool_give(&p, d);
    assert_true(pool_is_ready(&p, &app));
    assert_false(pool_is_ready(&p, &other));
    /* The one that has the file. */
    assert_int_equal(pool_take(&p, &a, true, &c, &e), 0);
    assert_ptr_equal(c->db, of_a);
    (void)result(c->db, "set", "{\"n\":4}");
    pool_give(&p, c);
    /* A file that is replaced is not seen as it was. */
    pool_file_done(&p, &a);
    copy_file(template, path_of("a.db"));
    assert_int_equal(pool_file_init(&a, &app, path_of("a.db"), false), 0);
    assert_int_equal(pool_take(&p, &a, true, &c, &e), 0);
    assert_string_equal(result(c->db, "get", "{}"), "0/0");
    pool_give(&p, c);
    pool_close(&p, &other, INT64_MAX);
    assert_int_equal(pool_n_open(&p), 2);
    pool_close(&p, NULL, INT64_MAX);
    assert_int_equal(pool_n_open(&p), 0);
    pool_file_done(&p, &a);
    pool_file_done(&p, &b);
    pool_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_keep_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(indexes_of_words_keep_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_schema_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_transactions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_files_are_settled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deaths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_of_a_redo_are_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(connections_are_shared, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
