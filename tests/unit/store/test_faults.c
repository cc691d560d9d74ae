/* SPDX-License-Identifier: MIT */
/* The store on a disk that fails, is full or slow, and without memory: a transaction happens whole
 * or not at all, the result tells which, and the store goes on. */
#include "fixture.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "faults.h"
#include "loop/loop.h"
#include "store/group.h"

static void verify(struct store *s, int64_t n_events)
{
    struct chain_report rep;

    assert_int_equal(chain_verify(s, &rep, NULL), 0);
    if (rep.fault != CHAIN_OK)
        fail_msg("%d: %s", (int)rep.seq, chain_fault_text(rep.fault));
    assert_int_equal(rep.n_events, n_events);
}

static bool is_fault(int r)
{
    return r == -EIO || r == -ENOSPC || r == -ENOMEM;
}

/* Sets "n" to N and "copy" to N, with an event. */
static struct store_tx *step(int n)
{
    char value[16];

    (void)snprintf(value, sizeof value, "%d", n);
    struct store_tx *tx = fixture_set("n", value);
    store_tx_add(tx, STORE_META_SET);
    store_tx_text(tx, STR("copy"));
    store_tx_text(tx, str_of(value));
    fixture_event(tx, "box", value);
    return tx;
}

static void is_at(struct store *s, int n)
{
    char value[16];

    (void)snprintf(value, sizeof value, "%d", n);
    assert_true(fixture_has(s, "n", value));
    assert_true(fixture_has(s, "copy", value));
}

/* ---- the n-th call fails ---- */

/* Runs steps with fault N armed each time until it is not reached any more. */
static void fail_each(void (*arm)(int nth))
{
    struct store *s = fixture_open();
    int done = 0, n_events = 1;
    bool fired = true;

    assert_int_equal(fixture_run(s, step(0)), 0);
    for (int n = 1; fired; n++) {
        struct store_tx *tx = step(n);
        arm(n);
        int r = fixture_run(s, tx);
        fired = faults_fired();
        arm(0);
        if (r == 0) {
            done = n;
            n_events++;
        } else {
            assert_true(fired && is_fault(r));
        }
        is_at(s, done);
        verify(s, n_events);
    }
    store_close(s);
    s = fixture_open();
    is_at(s, done);
    verify(s, n_events);
    store_close(s);
}

static void every_write_and_sync_may_fail(void **state)
{
    (void)state;
    fail_each(faults_fail_io);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fail_each(faults_fail_alloc);
}

/* Large enough that every transaction moves the log into the database as well. */
static void every_write_of_a_checkpoint_may_fail(void **state)
{
    struct store *s = fixture_open();
    const size_t len = 5 << 20;
    auto_free char *large = mem_alloc(len);
    int n_events = 0;
    bool fired = true;

    (void)state;
    memset(large, 'x', len);
    for (int n = 1; fired; n += 101) {
        struct store_tx *tx = step(n);
        store_tx_add(tx, STORE_META_SET);
        store_tx_text(tx, STR("large"));
        store_tx_text(tx, str_n(large, len));
        faults_fail_io(n);
        int r = fixture_run(s, tx);
        fired = faults_fired();
        faults_fail_io(0);
        n_events += r == 0;
        assert_true(r == 0 || (fired && is_fault(r)));
        verify(s, n_events);
    }
    store_close(s);
    s = fixture_open();
    verify(s, n_events);
    store_close(s);
}

/* In a group, what failed for one reason or another and what did not are told apart. */
static void a_group_meets_a_failing_disk(void **state)
{
    struct group g = {.driver = &store_driver_sqlite, .keep_events = -1};
    const struct store_opts opts = {.path = fixture_path("db")};
    bool fired = true;
    int64_t n_events = 0;

    (void)state;
    g.db = g.driver->open(&opts, NULL);
    assert_non_null(g.db);
    for (int n = 1; fired; n++) {
        struct store_tx *txs[4];
        for (int i = 0; i < 4; i++) {
            txs[i] = step(i);
            if (i == 1) {
                store_tx_add(txs[i], STORE_EVENT_PRUNE);
                store_tx_int(txs[i], 0);
                store_tx_int(txs[i], 0);
                store_tx_int(txs[i], 0);
                store_tx_expect(txs[i], 7, -ESTALE);
            }
            if (i > 0)
                txs[i - 1]->next = txs[i];
        }
        faults_fail_io(n);
        group_apply(&g, txs[0], 4);
        fired = faults_fired();
        faults_fail_io(0);
        for (int i = 0; i < 4; i++) {
            int r = txs[i]->result;
            assert_true(i == 1 ? r == -ESTALE || is_fault(r) : r == 0 || is_fault(r));
            n_events += r == 0;
            store_tx_free(txs[i]);
        }
        assert_int_equal(g.head.seq, n_events);
    }
    g.driver->close(g.db);
    struct store *s = fixture_open();
    verify(s, n_events);
    store_close(s);
}

/* ---- opening ---- */

/* Opening allocates thousands of times; the later ones are taken in growing steps. */
static void open_each(void (*arm)(int nth))
{
    bool fired = true;

    for (int n = 1; fired; n += 1 + n / 40) {
        struct err e = ERR_INIT;
        const struct store_opts opts = {.path = fixture_path("db")};
        arm(n);
        struct store *s = store_open(&opts, &e);
        fired = faults_fired();
        arm(0);
        assert_true(s || (fired && e.code < 0));
        store_close(s);
    }
}

static void a_new_file_may_fail_at_every_step(void **state)
{
    (void)state;
    open_each(faults_fail_io);
    assert_int_equal(unlink(fixture_path("db")), 0);
    open_each(faults_fail_alloc);
    store_close(fixture_open());
}

/* With a log to recover, as after a crash. */
static void an_old_file_may_fail_at_every_step(void **state)
{
    struct buf db auto_buf = BUF_INIT(64 << 20), wal auto_buf = BUF_INIT(64 << 20);
    struct store *s = fixture_open();

    (void)state;
    for (int i = 0; i < 10; i++)
        assert_int_equal(fixture_run(s, step(i)), 0);
    assert_int_equal(io_read_file(fixture_path("db"), &db, NULL), 0);
    assert_int_equal(io_read_file(fixture_path("db-wal"), &wal, NULL), 0);
    store_close(s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(io_write_file(fixture_path("db"), buf_str(&db), 0600, NULL), 0);
        assert_int_equal(io_write_file(fixture_path("db-wal"), buf_str(&wal), 0600, NULL), 0);
        open_each(i == 0 ? faults_fail_io : faults_fail_alloc);
        s = fixture_open();
        is_at(s, 9);
        verify(s, 10);
        store_close(s);
    }
}

/* ---- a full disk ---- */

static void service_goes_on_when_space_returns(void **state)
{
    struct store *s = fixture_open();

    (void)state;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(fixture_run(s, step(round)), 0);
        faults_set_full(true);
        for (int i = 0; i < 20; i++)
            assert_int_equal(fixture_run(s, step(1000 + i)), -ENOSPC);
        is_at(s, round); /* reading goes on meanwhile */
        faults_set_full(false);
    }
    verify(s, 3);
    struct store_stats st = store_stats(s);
    assert_int_equal(st.failures, 60);
    store_close(s);
}

static void retention_waits_for_space(void **state)
{
    struct store *s = fixture_open_with((struct store_opts){.keep_events = 10});

    (void)state;
    for (int i = 0; i < 10; i++)
        assert_int_equal(fixture_log(s, "x"), 0);
    faults_set_full(true);
    assert_int_equal(fixture_log(s, "x"), -ENOSPC);
    faults_set_full(false);
    for (int i = 0; i < 10; i++)
        assert_int_equal(fixture_log(s, "x"), 0);
    verify(s, 10);
    store_close(s);
}

/* ---- a slow disk ---- */

static void on_done(struct store_tx *tx, int result, void *ctx)
{
    (void)tx;
    assert_int_equal(result, 0);
    (*(int *)ctx)++;
}

static void what_waits_is_committed_together(void **state)
{
    struct store *s = fixture_open();
    struct loop *loop = loop_new(NULL);
    int n_done = 0;

    (void)state;
    assert_non_null(loop);
    faults_hold_sync();
    assert_int_equal(store_submit(s, step(0), loop, on_done, &n_done), 0);
    faults_wait_until_held();
    for (int i = 1; i <= 1000; i++)
        assert_int_equal(store_submit(s, step(i), loop, on_done, &n_done), 0);
    assert_int_equal(store_stats(s).queued, 1000);
    /* Nothing is told before it is durable. */
    assert_int_equal(loop_run_once(loop, 20), 0);
    assert_int_equal(n_done, 0);
    faults_release_sync();
    while (n_done < 1001)
        assert_int_equal(loop_run_once(loop, 1000), 0);
    struct store_stats st = store_stats(s);
    assert_int_equal(st.transactions, 1001);
    assert_int_equal(st.commits, 2);
    is_at(s, 1000);
    verify(s, 1001);
    store_close(s);
    loop_free(loop);
}

static struct store_tx *later(int i)
{
    struct store_tx *tx = step(i);

    store_tx_sync_later(tx);
    return tx;
}

static void wait_for(struct loop *loop, const int *n_done, int wanted)
{
    while (*n_done < wanted)
        assert_int_equal(loop_run_once(loop, 1000), 0);
}

/* The answer does not wait for the disk, the disk is not forgotten, and whoever must wait for it
 * does, also for what came before. */
static void what_may_be_synced_later_is(void **state)
{
    struct store *s = fixture_open();
    struct loop *loop = loop_new(NULL);
    int n_done = 0;

    (void)state;
    store_tx_sync_later(NULL);
    assert_non_null(loop);
    assert_int_equal(fixture_run(s, step(0)), 0);
    assert_false(store_stats(s).is_unsynced);
    faults_hold_sync();
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(store_submit(s, later(i), loop, on_done, &n_done), 0);
        wait_for(loop, &n_done, i);
    }
    faults_wait_until_held();
    assert_true(store_stats(s).is_unsynced);
    faults_release_sync();
    while (store_stats(s).is_unsynced)
        assert_int_equal(loop_run_once(loop, 1), 0);
    /* One of each kind in a group: the disk first. */
    faults_hold_sync();
    assert_int_equal(store_submit(s, step(4), loop, on_done, &n_done), 0);
    faults_wait_until_held();
    assert_int_equal(store_submit(s, later(5), loop, on_done, &n_done), 0);
    assert_int_equal(store_submit(s, step(6), loop, on_done, &n_done), 0);
    assert_int_equal(loop_run_once(loop, 20), 0);
    assert_int_equal(n_done, 3);
    faults_release_sync();
    wait_for(loop, &n_done, 6);
    assert_false(store_stats(s).is_unsynced);
    is_at(s, 6);
    verify(s, 7);
    store_close(s);
    loop_free(loop);
}

/* A sync that fails is tried again. */
static void a_late_sync_may_fail(void **state)
{
    struct store *s = fixture_open();
    struct loop *loop = loop_new(NULL);
    int n_done = 0;

    (void)state;
    assert_non_null(loop);
    assert_int_equal(fixture_run(s, step(0)), 0);
    assert_int_equal(store_submit(s, later(1), loop, on_done, &n_done), 0);
    wait_for(loop, &n_done, 1);
    faults_fail_io(1);
    while (!faults_fired())
        assert_int_equal(loop_run_once(loop, 1), 0);
    while (store_stats(s).is_unsynced)
        assert_int_equal(loop_run_once(loop, 1), 0);
    is_at(s, 1);
    store_close(s);
    loop_free(loop);
}

static void the_queue_is_bounded(void **state)
{
    struct store *s = fixture_open_with((struct store_opts){.max_queued = 10});
    struct loop *loop = loop_new(NULL);
    int n_done = 0;

    (void)state;
    assert_non_null(loop);
    faults_hold_sync();
    assert_int_equal(store_submit(s, step(0), loop, on_done, &n_done), 0);
    faults_wait_until_held();
    for (int i = 1; i <= 10; i++)
        assert_int_equal(store_submit(s, step(i), loop, on_done, &n_done), 0);
    assert_int_equal(store_submit(s, step(11), loop, on_done, &n_done), -EBUSY);
    assert_int_equal(fixture_run(s, step(11)), -EBUSY);
    faults_release_sync();
    while (n_done < 11)
        assert_int_equal(loop_run_once(loop, 1000), 0);
    verify(s, 11);
    store_close(s);
    loop_free(loop);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_may_be_synced_later_is),          TEST(a_late_sync_may_fail),
        TEST(every_write_and_sync_may_fail),        TEST(every_allocation_may_fail),
        TEST(every_write_of_a_checkpoint_may_fail), TEST(a_group_meets_a_failing_disk),
        TEST(a_new_file_may_fail_at_every_step),    TEST(an_old_file_may_fail_at_every_step),
        TEST(service_goes_on_when_space_returns),   TEST(retention_waits_for_space),
        TEST(what_waits_is_committed_together),     TEST(the_queue_is_bounded),
    };

    faults_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
