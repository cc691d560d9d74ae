/* SPDX-License-Identifier: MIT */
/* Transactions: what they do together, what a failing one leaves alone, and how they end. */
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "loop/loop.h"
#include "store/group.h"

/* ---- values ---- */

static void add_key(struct store_tx *tx, const char *id, struct str hash)
{
    store_tx_add(tx, STORE_KEY_INSERT);
    store_tx_text(tx, str_of(id));
    store_tx_text(tx, STR("acme"));
    store_tx_text(tx, STR("laptop"));
    store_tx_text(tx, STR("tp_ab…"));
    store_tx_blob(tx, hash);
    store_tx_int(tx, 42);
    store_tx_null(tx);
    store_tx_int(tx, 3);
    store_tx_null(tx);
    store_tx_text(tx, STR(""));
}

static void values_come_back_as_they_went_in(void **state)
{
    struct store *s = fixture_open();
    struct store_tx *tx = store_tx_new();

    (void)state;
    add_key(tx, "k1", STR("\0\xff\x80 bytes\0"));
    add_key(tx, "k2", STR_NULL);
    store_tx_add(tx, STORE_KEY_LIST_OF);
    store_tx_text(tx, STR("acme"));
    assert_int_equal(store_run(s, tx, NULL), 0);
    assert_int_equal(store_tx_changed(tx, 0), 1);
    assert_int_equal(store_tx_n_rows(tx, 0), 0);
    assert_int_equal(store_tx_n_rows(tx, 2), 2);

    struct store_row row = store_tx_row(tx, 2, 0);
    assert_int_equal(row.n_cols, 11);
    assert_str(row.cols[0].s, "k1");
    assert_int_equal(row.cols[4].type, STORE_BLOB);
    assert_str(row.cols[4].s, "\0\xff\x80 bytes\0");
    assert_int_equal(row.cols[5].type, STORE_INT);
    assert_int_equal(row.cols[5].i, 42);
    assert_int_equal(row.cols[6].type, STORE_NULL);
    assert_int_equal(row.cols[7].type, STORE_NULL);
    assert_int_equal(row.cols[8].i, 3);
    row = store_tx_row(tx, 2, 1);
    assert_int_equal(row.cols[4].type, STORE_BLOB);
    assert_int_equal(row.cols[4].s.len, 0);
    store_tx_free(tx);
    store_close(s);
}

static void text_is_kept_across_a_restart(void **state)
{
    struct store *s = fixture_open();

    (void)state;
    assert_int_equal(fixture_run(s, fixture_set("name", "größe \xf0\x9f\x90\x99")), 0);
    assert_int_equal(fixture_run(s, fixture_set("name", "größe 2")), 0);
    store_close(s);
    s = fixture_open();
    assert_true(fixture_has(s, "name", "größe 2"));
    store_close(s);
}

/* A long log is moved into the tables when nobody waits, not only at the end. */
static void the_log_is_tidied(void **state)
{
    enum { BYTES = 400000, TIMES = 12 };
    struct store *s = fixture_open();
    auto_free char *value = calloc(1, BYTES);
    struct stat st = {0};

    (void)state;
    assert_non_null(value);
    memset(value, 'x', BYTES - 1);
    for (int i = 0; i < TIMES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(fixture_run(s, fixture_set(name, value)), 0);
    }
    for (int i = 0; i < 2000 && st.st_size < (off_t)BYTES * TIMES; i++) {
        (void)usleep(10000);
        assert_int_equal(stat(fixture_path("db"), &st), 0);
    }
    assert_true(st.st_size >= (off_t)BYTES * TIMES);
    assert_true(fixture_has(s, "v0", value));
    store_close(s);
}

/* ---- failures ---- */

static void conflicts_are_told_apart(void **state)
{
    struct store *s = fixture_open();
    struct store_tx *tx = store_tx_new();

    (void)state;
    add_key(tx, "k1", STR("h1"));
    assert_int_equal(fixture_run(s, tx), 0);
    tx = store_tx_new();
    add_key(tx, "k1", STR("h2"));
    assert_int_equal(fixture_run(s, tx), -EEXIST);
    tx = store_tx_new();
    add_key(tx, "k2", STR("h1"));
    assert_int_equal(fixture_run(s, tx), -EEXIST);
    /* A NULL where none may be, and a parameter too few, are mistakes of the program. */
    tx = store_tx_new();
    store_tx_add(tx, STORE_META_SET);
    store_tx_text(tx, STR("a"));
    store_tx_null(tx);
    assert_int_equal(fixture_run(s, tx), -EINVAL);
    tx = store_tx_new();
    store_tx_add(tx, STORE_META_SET);
    store_tx_text(tx, STR("a"));
    assert_int_equal(fixture_run(s, tx), -EINVAL);
    store_close(s);
}

static void expectations_decide(void **state)
{
    struct store *s = fixture_open();
    struct store_tx *tx = store_tx_new();

    (void)state;
    add_key(tx, "k1", STR("h1"));
    store_tx_expect(tx, 1, -ENOENT);
    assert_int_equal(fixture_run(s, tx), 0);
    for (int i = 0; i < 2; i++) {
        tx = fixture_set("revoked", i == 0 ? "once" : "twice");
        store_tx_add(tx, STORE_KEY_REVOKE);
        store_tx_text(tx, STR("k1"));
        store_tx_int(tx, 99);
        store_tx_expect(tx, 1, -ENOENT);
        fixture_event(tx, "k1", "revoked");
        assert_int_equal(store_run(s, tx, NULL), i == 0 ? 0 : -ENOENT);
        assert_int_equal(store_tx_seq(tx, 0), i == 0 ? 1 : 0);
        store_tx_free(tx);
    }
    assert_true(fixture_has(s, "revoked", "once"));
    assert_int_equal(fixture_count(s), 1);
    store_close(s);
}

static void too_much_is_refused_when_it_is_submitted(void **state)
{
    struct store *s = fixture_open();
    struct store_tx *tx = store_tx_new();

    (void)state;
    for (int i = 0; i < STORE_MAX_STMTS; i++)
        store_tx_add(tx, STORE_EVENT_COUNT);
    assert_int_equal(fixture_run(s, tx), 0);
    tx = store_tx_new();
    for (int i = 0; i < STORE_MAX_STMTS + 1; i++)
        store_tx_add(tx, STORE_EVENT_COUNT);
    assert_int_equal(fixture_run(s, tx), -E2BIG);
    tx = store_tx_new();
    for (int i = 0; i < STORE_MAX_STMTS + 1; i++)
        fixture_event(tx, "box", "hello");
    assert_int_equal(fixture_run(s, tx), -E2BIG);
    tx = store_tx_new();
    store_tx_add(tx, STORE_META_SET);
    for (int i = 0; i < STORE_MAX_PARAMS + 1; i++)
        store_tx_int(tx, i);
    assert_int_equal(fixture_run(s, tx), -E2BIG);
    assert_int_equal(store_run(s, NULL, NULL), -ENOMEM);
    assert_int_equal(store_submit(s, NULL, NULL, NULL, NULL), -ENOMEM);
    store_close(s);
}

/* ---- groups ---- */

static void one_that_fails_leaves_its_neighbours_alone(void **state)
{
    static const int64_t seqs[] = {2, 4, 6, 0, 8};
    struct group g = {.driver = &store_driver_sqlite, .keep_events = -1};
    struct store_tx *txs[5];
    struct err e = ERR_INIT;
    const struct store_opts opts = {.path = fixture_path("db")};

    (void)state;
    g.db = g.driver->open(&opts, &e);
    assert_non_null(g.db);
    for (int i = 0; i < 5; i++) {
        char id[2] = {(char)('a' + i), 0};
        txs[i] = fixture_set(id, "set");
        add_key(txs[i], i == 3 ? "b" : id, str_of(id)); /* 3 repeats the key of 1 */
        fixture_event(txs[i], id, "made");
        fixture_event(txs[i], id, "used");
        if (i > 0)
            txs[i - 1]->next = txs[i];
    }
    group_apply(&g, txs[0], 5);
    assert_int_equal(g.commits, 1);
    assert_int_equal(g.head.seq, 8);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(txs[i]->result, i == 3 ? -EEXIST : 0);
        assert_int_equal(store_tx_seq(txs[i], 1), seqs[i]);
        store_tx_free(txs[i]);
    }
    g.driver->close(g.db);

    struct store *s = fixture_open();
    assert_true(fixture_has(s, "c", "set"));
    assert_true(fixture_has(s, "d", NULL));
    assert_true(fixture_has(s, "e", "set"));
    struct chain_report rep;
    assert_int_equal(chain_verify(s, &rep, NULL), 0);
    assert_int_equal(rep.fault, CHAIN_OK);
    assert_int_equal(rep.n_events, 8);
    store_close(s);
}

/* A database that runs out of space once: it rolls everything back, as SQLite does then. */
static int n_until_full;

static int full_once_exec(struct store_db *db, struct store_stmt *st, struct arena *a)
{
    if (--n_until_full != 0)
        return store_driver_sqlite.exec(db, st, a);
    (void)store_driver_sqlite.mark(db, STORE_ROLLBACK);
    return -ENOSPC;
}

/* What is tried again alone and succeeds is reported as done: its rows are there. */
static void a_second_attempt_counts(void **state)
{
    struct store_driver driver = store_driver_sqlite;
    struct group g = {.driver = &driver, .keep_events = -1};
    const struct store_opts opts = {.path = fixture_path("db")};

    (void)state;
    driver.exec = full_once_exec;
    g.db = driver.open(&opts, NULL);
    assert_non_null(g.db);
    for (int n = 1; n <= 4; n++) {
        struct store_tx *a = fixture_set("a", "1"), *b = fixture_set("b", "1");
        fixture_event(a, "a", "made");
        fixture_event(b, "b", "made");
        a->next = b;
        n_until_full = n;
        group_apply(&g, a, 2);
        assert_true(n_until_full < 0);
        assert_int_equal(a->result, 0);
        assert_int_equal(b->result, 0);
        assert_int_equal(g.head.seq, 2 * n);
        store_tx_free(a);
        store_tx_free(b);
    }
    driver.close(g.db);
}

/* ---- loops ---- */

struct tally {
    struct loop *loop;
    struct store *store;
    int n, n_failed, wanted;
    int64_t last_seq;
};

static void on_done(struct store_tx *tx, int result, void *ctx)
{
    struct tally *t = ctx;

    assert_true(loop_is_mine(t->loop));
    if (result == 0) {
        assert_true(store_tx_seq(tx, 0) > t->last_seq);
        t->last_seq = store_tx_seq(tx, 0);
    }
    t->n_failed += result < 0;
    if (++t->n == t->wanted)
        loop_stop(t->loop);
}

static void submissions_end_in_order_on_their_loop(void **state)
{
    struct tally t = {.loop = loop_new(NULL), .store = fixture_open(), .wanted = 3000};

    (void)state;
    for (int i = 0; i < t.wanted; i++) {
        struct store_tx *tx = fixture_set("n", "x");
        fixture_event(tx, "box", "made");
        if (i % 10 == 9) {
            store_tx_add(tx, STORE_EVENT_PRUNE);
            store_tx_int(tx, 0);
            store_tx_expect(tx, 1, -ESTALE);
        }
        assert_int_equal(store_submit(t.store, tx, t.loop, on_done, &t), 0);
    }
    assert_int_equal(loop_run(t.loop), 0);
    assert_int_equal(t.n_failed, 300);
    struct store_stats st = store_stats(t.store);
    assert_int_equal(st.transactions, 2700);
    assert_int_equal(st.failures, 300);
    assert_int_equal(st.queued, 0);
    assert_true(st.commits < 1000);
    assert_int_equal(fixture_count(t.store), 2700);
    store_close(t.store);
    loop_free(t.loop);
}

static void what_is_put_off_is_written_all_the_same(void **state)
{
    struct tally t = {.loop = loop_new(NULL), .store = fixture_open(), .wanted = 1};

    (void)state;
    /* Alone, and as the first of two; on_done() checks the order. */
    for (int i = 0; i < 20; i++) {
        struct store_tx *tx = store_tx_new();
        fixture_event(tx, "box", "made");
        store_tx_put_off(tx);
        assert_int_equal(store_submit(t.store, tx, t.loop, on_done, &t), 0);
        if (i % 2) {
            tx = store_tx_new();
            fixture_event(tx, "box", "made");
            assert_int_equal(store_submit(t.store, tx, t.loop, on_done, &t), 0);
            t.wanted++;
        }
        assert_int_equal(loop_run(t.loop), 0);
        t.wanted = t.n + 1;
    }
    assert_int_equal(fixture_count(t.store), 30);
    store_tx_put_off(NULL);
    store_close(t.store);
    loop_free(t.loop);
}

static void *submit_from_a_thread(void *arg)
{
    struct tally *t = arg;

    t->loop = loop_new(NULL);
    for (int i = 0; i < t->wanted; i++) {
        struct store_tx *tx = store_tx_new();
        fixture_event(tx, "box", "made");
        assert_int_equal(store_submit(t->store, tx, t->loop, on_done, t), 0);
        if (i % 50 == 0)
            assert_int_equal(loop_run_once(t->loop, 0), 0);
    }
    if (t->n < t->wanted)
        assert_int_equal(loop_run(t->loop), 0);
    loop_free(t->loop);
    return NULL;
}

static void several_loops_share_the_store(void **state)
{
    struct store *s = fixture_open();
    struct tally t[4] = {0};
    pthread_t threads[4];
    struct chain_report rep;

    (void)state;
    for (int i = 0; i < 4; i++) {
        t[i] = (struct tally){.store = s, .wanted = 500};
        assert_int_equal(pthread_create(&threads[i], NULL, submit_from_a_thread, &t[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(t[i].n, 500);
    assert_int_equal(chain_verify(s, &rep, NULL), 0);
    assert_int_equal(rep.fault, CHAIN_OK);
    assert_int_equal(rep.n_events, 2000);
    store_close(s);
}

static void closing_applies_what_was_submitted(void **state)
{
    struct tally t = {.loop = loop_new(NULL), .store = fixture_open(), .wanted = 100};

    (void)state;
    for (int i = 0; i < t.wanted; i++) {
        struct store_tx *tx = store_tx_new();
        fixture_event(tx, "box", "made");
        assert_int_equal(store_submit(t.store, tx, t.loop, on_done, &t), 0);
    }
    store_close(t.store);
    assert_int_equal(loop_run(t.loop), 0);
    assert_int_equal(t.n, 100);
    loop_free(t.loop);
    t.store = fixture_open();
    assert_int_equal(fixture_count(t.store), 100);
    store_close(t.store);
}

/* ---- memory ---- */

#ifdef TIDEPOOL_FAULT
static void a_transaction_without_memory_says_so(void **state)
{
    struct store *s = fixture_open();
    bool fired = true;

    (void)state;
    for (unsigned n = 1; fired; n++) {
        fault_arm(FAULT_ALLOC, n);
        struct store_tx *tx = fixture_set("name", "value");
        for (int i = 0; i < 6; i++)
            fixture_event(tx, "box", "a message that takes a little of the arena");
        add_key(tx, "key", STR("hash"));
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(fixture_run(s, tx), fired ? -ENOMEM : 0);
    }
    assert_int_equal(fixture_count(s), 6);
    store_close(s);
}

static void a_result_without_memory_fails_alone(void **state)
{
    struct group g = {.driver = &store_driver_sqlite, .keep_events = -1};
    const struct store_opts opts = {.path = fixture_path("db")};
    bool fired = true;

    (void)state;
    g.db = g.driver->open(&opts, NULL);
    assert_non_null(g.db);
    for (unsigned n = 1; fired; n++) {
        struct store_tx *a = fixture_set("a", "1"), *b = store_tx_new();
        for (int i = 0; i < 10; i++) {
            store_tx_add(b, STORE_META_GET);
            store_tx_text(b, STR("a"));
        }
        a->next = b;
        fault_arm(FAULT_ALLOC, n);
        group_apply(&g, a, 2);
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(a->result, 0);
        assert_int_equal(b->result, fired ? -ENOMEM : 0);
        assert_int_equal(store_tx_n_rows(b, 9), fired ? 0 : 1);
        store_tx_free(a);
        store_tx_free(b);
    }
    g.driver->close(g.db);
}

static void opening_without_memory_says_so(void **state)
{
    bool fired = true;

    (void)state;
    for (unsigned kind = 0; kind < FAULT_COUNT; kind++, fired = true)
        for (unsigned n = 1; fired; n++) {
            struct err e = ERR_INIT;
            const struct store_opts opts = {.path = fixture_path("db")};
            fault_arm(kind, n);
            struct store *s = store_open(&opts, &e);
            fired = fault_fired(kind);
            fault_arm(kind, 0);
            assert_int_equal(s == NULL, fired);
            if (fired)
                assert_true(e.code == -ENOMEM || e.code == -EIO);
            store_close(s);
            if (!fired)
                assert_int_equal(unlink(fixture_path("db")), 0);
        }
}
#endif

/* A disk that others fill does not stop the store at once. */
static void the_files_have_blocks_ahead(void **state)
{
    struct store *s = fixture_open();
    struct stat st;

    (void)state;
    assert_int_equal(fixture_log(s, "x"), 0);
    assert_int_equal(stat(fixture_path("db-wal"), &st), 0);
    assert_true(st.st_size < 1 << 20 && (st.st_blocks << 9) >= 8 << 20);
    assert_int_equal(stat(fixture_path("db"), &st), 0);
    assert_true(st.st_size < 1 << 20 && (st.st_blocks << 9) >= (8 << 20) + st.st_size);
    store_close(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_come_back_as_they_went_in),
        TEST(text_is_kept_across_a_restart),
        TEST(the_log_is_tidied),
        TEST(conflicts_are_told_apart),
        TEST(expectations_decide),
        TEST(too_much_is_refused_when_it_is_submitted),
        TEST(one_that_fails_leaves_its_neighbours_alone),
        TEST(a_second_attempt_counts),
        TEST(submissions_end_in_order_on_their_loop),
        TEST(what_is_put_off_is_written_all_the_same),
        TEST(several_loops_share_the_store),
        TEST(closing_applies_what_was_submitted),
        TEST(the_files_have_blocks_ahead),
#ifdef TIDEPOOL_FAULT
        TEST(a_transaction_without_memory_says_so),
        TEST(a_result_without_memory_fails_alone),
        TEST(opening_without_memory_says_so),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
