/* SPDX-License-Identifier: MIT */
/* Opening: new files, files that must be refused and stay as they are, the lock. */
#include "fixture.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "store/sqlite.h"

static const struct {
    int number;
    const char *sql;
} migrations[] = {
#define SQL_INT                 "INTEGER"
#define SQL_BYTES               "BLOB"
#define MIGRATION(number, text) {number, text},
#include "store/migrations.def"
#undef MIGRATION
};

static void write_db(struct str data)
{
    assert_int_equal(io_write_file(fixture_path("db"), data, 0600, NULL), 0);
}

static void read_db(struct buf *b)
{
    buf_clear(b);
    assert_int_equal(io_read_file(fixture_path("db"), b, NULL), 0);
}

static void sql(const char *text)
{
    sqlite3 *c;

    assert_int_equal(sqlite3_open(fixture_path("db"), &c), SQLITE_OK);
    assert_int_equal(sqlite3_exec(c, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(c), SQLITE_OK);
}

/* Everything in the directory but the lock. */
static int n_files(void)
{
    DIR *d = opendir(fixture_dir);
    const struct dirent *entry;
    int n = 0;

    assert_non_null(d);
    while ((entry = readdir(d)))
        n += entry->d_name[0] != '.' && strcmp(entry->d_name, "db.lock") != 0;
    (void)closedir(d);
    return n;
}

/* The file is refused with WORDS, for writing and for reading, and nothing changes. */
static void is_refused(const char *words, int code)
{
    struct buf before auto_buf = BUF_INIT(64 << 20), after auto_buf = BUF_INIT(64 << 20);
    int n = n_files();

    read_db(&before);
    for (int i = 0; i < 2; i++) {
        struct err e = ERR_INIT;
        const struct store_opts opts = {.path = fixture_path("db"), .is_read_only = i == 1};
        struct store *s = store_open(&opts, &e);
        assert_null(s);
        assert_int_equal(e.code, code);
        if (!strstr(err_text(&e), words))
            fail_msg("'%s' not in '%s'", words, err_text(&e));
        read_db(&after);
        assert_int_equal(before.len, after.len);
        assert_memory_equal(before.p, after.p, before.len);
        if (i == 0)
            assert_int_equal(n_files(), n);
    }
}

static void a_new_file_is_private_and_complete(void **state)
{
    struct store *s = fixture_open();
    struct stat st;

    (void)state;
    assert_int_equal(stat(fixture_path("db"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(stat(fixture_path("db-wal"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    store_close(s);
    assert_int_equal(n_files(), 1);
}

static void an_empty_file_becomes_a_database(void **state)
{
    (void)state;
    write_db(STR_NULL);
    struct store *s = fixture_open();
    assert_int_equal(fixture_run(s, fixture_set("a", "b")), 0);
    store_close(s);
}

static void leftovers_of_a_crash_do_not_matter(void **state)
{
    (void)state;
    assert_int_equal(io_write_file(fixture_path("db.new"), STR("half a da"), 0600, NULL), 0);
    assert_int_equal(io_write_file(fixture_path("db.new-journal"), STR("x"), 0600, NULL), 0);
    struct store *s = fixture_open();
    store_close(s);
    assert_int_equal(n_files(), 1);
}

static void another_format_is_refused(void **state)
{
    (void)state;
    write_db(STR("# notes\n"));
    is_refused("not a database", -EUCLEAN);
    write_db(STR("SQLite format 3"));
    is_refused("not a database", -EUCLEAN);
    assert_int_equal(unlink(fixture_path("db")), 0);
    sql("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    is_refused("another program", -EUCLEAN);
    sql("PRAGMA application_id = 252006673"); /* Fossil's */
    is_refused("another program", -EUCLEAN);
}

static void a_newer_version_is_refused(void **state)
{
    (void)state;
    store_close(fixture_open());
    sql("PRAGMA user_version = 1000");
    is_refused("newer version", -EUCLEAN);
    sql("PRAGMA user_version = 0");
    is_refused("no format number", -EUCLEAN);
}

/* The version may still be in the log, not in the header. */
static void a_newer_version_in_the_log_is_refused(void **state)
{
    sqlite3 *c;
    struct err e = ERR_INIT;
    struct buf before auto_buf = BUF_INIT(1 << 20), after auto_buf = BUF_INIT(1 << 20);
    char newest[64];

    (void)state;
    store_close(fixture_open());
    assert_int_equal(sqlite3_open(fixture_path("db"), &c), SQLITE_OK);
    (void)sqlite3_db_config(c, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    assert_int_equal(sqlite3_exec(c, "PRAGMA user_version = 1007", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(c), SQLITE_OK);
    read_db(&before);
    const struct store_opts opts = {.path = fixture_path("db")};
    assert_null(store_open(&opts, &e));
    assert_non_null(strstr(err_text(&e), "format 1007"));
    read_db(&after);
    assert_memory_equal(before.p, after.p, before.len);
    (void)snprintf(newest, sizeof newest, "PRAGMA user_version = %d",
                   migrations[ARRAY_LEN(migrations) - 1].number);
    sql(newest);
    store_close(fixture_open());
}

/* A store as a program of format VERSION left it, with one event. */
static void write_format(int version)
{
    char mark[80];

    assert_int_equal(unlink(fixture_path("db")), 0);
    for (size_t i = 0; i < ARRAY_LEN(migrations) && migrations[i].number <= version; i++)
        sql(migrations[i].sql);
    sql("INSERT INTO event VALUES (1, 2, 'a', 'box', 'Sandbox', 'Normal', 'Old', 'kept',"
        " zeroblob(32), zeroblob(32))");
    (void)snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                   SQLITE_APPLICATION_ID, version);
    sql(mark);
}

/* A file of any earlier format gets the tables of the later ones and keeps what it has. */
static void every_older_version_is_brought_up(void **state)
{
    (void)state;
    store_close(fixture_open());
    for (size_t i = 0; i + 1 < ARRAY_LEN(migrations); i++) {
        write_format(migrations[i].number);
        struct store *s = fixture_open();
        struct store_tx *tx = store_tx_new();
        store_tx_add(tx, STORE_SANDBOX_PAGE);
        store_tx_text(tx, STR(""));
        store_tx_int(tx, 10);
        store_tx_add(tx, STORE_EVENT_COUNT);
        assert_int_equal(store_run(s, tx, NULL), 0);
        assert_int_equal(store_tx_n_rows(tx, 0), 0);
        assert_int_equal(store_tx_row(tx, 1, 0).cols[0].i, 1);
        store_tx_free(tx);
        store_close(s);
    }
}

static void fill(void)
{
    struct store *s = fixture_open();

    for (int i = 0; i < 20; i++) {
        struct store_tx *tx = store_tx_new();
        for (int k = 0; k < 50; k++)
            fixture_event(tx, "box", "a message that is long enough to fill a few pages");
        assert_int_equal(fixture_run(s, tx), 0);
    }
    store_close(s);
}

static void a_damaged_file_is_refused(void **state)
{
    struct buf whole auto_buf = BUF_INIT(64 << 20);
    struct err e = ERR_INIT;
    const struct store_opts opts = {.path = fixture_path("db")};

    (void)state;
    fill();
    read_db(&whole);
    assert_true(whole.len > 20 * 4096);
    /* Every page in turn is overwritten; the data of leaf pages is not checksummed, so the head of
     * the page is what must be noticed. */
    for (size_t page = 1; page < whole.len / 4096; page++) {
        struct buf b auto_buf = BUF_INIT(64 << 20);
        assert_int_equal(buf_add_str(&b, buf_str(&whole)), 0);
        memset(b.p + page * 4096, 0xa5, 64);
        write_db(buf_str(&b));
        struct buf after auto_buf = BUF_INIT(64 << 20);
        struct store *s = store_open(&opts, &e);
        if (s)
            fail_msg("page %zu is damaged and nobody noticed", page);
        assert_int_equal(e.code, -EUCLEAN);
        assert_non_null(strstr(err_text(&e), "damaged"));
        read_db(&after);
        assert_memory_equal(after.p, b.p, b.len);
    }
    write_db(str_n(whole.p, whole.len / 2));
    assert_null(store_open(&opts, &e));
    assert_non_null(strstr(err_text(&e), "damaged"));
    write_db(buf_str(&whole));
    store_close(fixture_open());
}

static void missing_tables_are_refused(void **state)
{
    struct err e = ERR_INIT;
    const struct store_opts opts = {.path = fixture_path("db")};

    (void)state;
    store_close(fixture_open());
    sql("DROP TABLE idem");
    assert_null(store_open(&opts, &e));
    assert_non_null(strstr(err_text(&e), "tables"));
}

static void a_log_without_its_database_is_refused(void **state)
{
    struct err e = ERR_INIT;
    const struct store_opts opts = {.path = fixture_path("db")};

    (void)state;
    assert_int_equal(io_write_file(fixture_path("db-wal"), STR("log"), 0600, NULL), 0);
    assert_null(store_open(&opts, &e));
    assert_non_null(strstr(err_text(&e), "db-wal"));
    assert_int_equal(n_files(), 1);
}

static void what_is_no_file_is_refused(void **state)
{
    static const struct {
        const char *path;
        int code;
    } bad[] = {{"/", -EINVAL}, {"/dev/null", -EINVAL}, {"/nonexistent/db", -ENOENT}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = ERR_INIT;
        const struct store_opts opts = {.path = bad[i].path, .is_read_only = true};
        assert_null(store_open(&opts, &e));
        assert_int_equal(e.code, bad[i].code);
    }
}

static void one_process_at_a_time(void **state)
{
    struct store *s = fixture_open();
    struct err e = ERR_INIT;
    struct store_opts opts = {.path = fixture_path("db")};

    (void)state;
    assert_null(store_open(&opts, &e));
    assert_int_equal(e.code, -EBUSY);
    assert_non_null(strstr(err_text(&e), "in use"));
    assert_int_equal(symlink(fixture_path("db"), fixture_path("link")), 0);
    opts.path = fixture_path("link");
    assert_null(store_open(&opts, &e));
    assert_int_equal(e.code, -EBUSY);
    store_close(fixture_audit());
    store_close(s);
    store_close(fixture_open());
}

/* What was acknowledged is there after the process died without closing. */
static void an_unclosed_database_opens(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct store_opts opts = {.path = fixture_path("db")};
        struct store *s = store_open(&opts, NULL);
        _exit(s && store_run(s, fixture_set("a", "kept"), NULL) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(n_files() > 1);
    struct store *s = fixture_open();
    assert_true(fixture_has(s, "a", "kept"));
    store_close(s);
}

static void odd_names_work(void **state)
{
    static const char *const names[] = {"a b", "q?x=1", "p%41#", "ö"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (int k = 0; k < 2; k++) {
            const struct store_opts opts = {.path = fixture_path(names[i])};
            struct err e = ERR_INIT;
            struct store *s = store_open(&opts, &e);
            if (!s)
                fail_msg("%s", err_text(&e));
            store_close(s);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_is_private_and_complete),
        TEST(an_empty_file_becomes_a_database),
        TEST(leftovers_of_a_crash_do_not_matter),
        TEST(another_format_is_refused),
        TEST(a_newer_version_is_refused),
        TEST(every_older_version_is_brought_up),
        TEST(a_newer_version_in_the_log_is_refused),
        TEST(a_damaged_file_is_refused),
        TEST(missing_tables_are_refused),
        TEST(a_log_without_its_database_is_refused),
        TEST(what_is_no_file_is_refused),
        TEST(one_process_at_a_time),
        TEST(an_unclosed_database_opens),
        TEST(odd_names_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
