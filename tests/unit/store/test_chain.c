/* SPDX-License-Identifier: MIT */
/* The audit chain: its format, what the verifier finds, and retention. */
#include "fixture.h"

#include <errno.h>
#include <sqlite3.h>

#include "base/enc.h"
#include "store/chain.h"

static void verify(struct store *s, struct chain_report *rep)
{
    struct err e = ERR_INIT;

    if (chain_verify(s, rep, &e) < 0)
        fail_msg("%s", err_text(&e));
}

/* Edits the closed database behind the store's back. */
static void edit(const char *sql)
{
    sqlite3 *c;

    assert_int_equal(sqlite3_open(fixture_path("db"), &c), SQLITE_OK);
    assert_int_equal(sqlite3_exec(c, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(c), SQLITE_OK);
}

static void log_n(struct store *s, int n)
{
    for (int i = 0; i < n; i++) {
        char message[32];
        (void)snprintf(message, sizeof message, "event %d", i);
        assert_int_equal(fixture_log(s, message), 0);
    }
}

/* The format is for ever: these bytes were computed with another program (Python's hashlib). */
static void links_have_the_documented_bytes(void **state)
{
    const struct store_event ev = {.at_us = 1769508000000000,
                                   .account = STR_INIT("acme"),
                                   .sandbox = STR_INIT("box"),
                                   .kind = STR_INIT("Sandbox"),
                                   .type = STR_INIT("Normal"),
                                   .reason = STR_INIT("SandboxCreated"),
                                   .message = STR_INIT("hello")};
    struct chain_link first = {0}, back;
    char text[CHAIN_TEXT_MAX];

    (void)state;
    struct chain_link one = chain_next(&first, &ev), two = chain_next(&one, &ev);
    chain_format(text, &one);
    assert_string_equal(text, "1:1c9097069144cea8283630e96ed775a7461cfc2b72fa9db0110550b523381eb9");
    chain_format(text, &two);
    assert_string_equal(text, "2:5353c3f61134ca5be768ceacd8f7f4d298b5dc10e3e97605c8a44cf70c27ec36");
    assert_int_equal(chain_parse(str_of(text), &back), 0);
    assert_memory_equal(&back, &two, sizeof two);
}

static void bytes_moved_between_fields_change_the_hash(void **state)
{
    const struct store_event a = {.account = STR_INIT("ab"), .sandbox = STR_INIT("c")};
    const struct store_event b = {.account = STR_INIT("a"), .sandbox = STR_INIT("bc")};
    struct chain_link first = {0};

    (void)state;
    assert_memory_not_equal(chain_next(&first, &a).hash, chain_next(&first, &b).hash, 32);
}

static void malformed_links_are_refused(void **state)
{
    static const char *const bad[] = {"", ":", "1", "1:", "x:00", "-1:00", "1:zz", "1:0011"};
    struct chain_link link;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(chain_parse(str_of(bad[i]), &link), -EINVAL);
}

static void an_empty_store_verifies(void **state)
{
    struct store *s = fixture_open();
    struct chain_report rep;

    (void)state;
    verify(s, &rep);
    assert_int_equal(rep.fault, CHAIN_OK);
    assert_int_equal(rep.n_events, 0);
    store_close(s);
}

struct tampering {
    const char *sql;
    enum chain_fault fault;
    int64_t seq;
};

static const struct tampering tamperings[] = {
    {"UPDATE event SET message = 'nothing happened' WHERE seq = 4", CHAIN_BAD_HASH, 4},
    {"UPDATE event SET account = 'x' WHERE seq = 1", CHAIN_BAD_HASH, 1},
    {"UPDATE event SET at_us = at_us + 1 WHERE seq = 10", CHAIN_BAD_HASH, 10},
    {"UPDATE event SET hash = zeroblob(32) WHERE seq = 6", CHAIN_BAD_HASH, 6},
    {"UPDATE event SET prev = zeroblob(32) WHERE seq = 6", CHAIN_BAD_PREV, 6},
    {"UPDATE event SET prev = 'x' WHERE seq = 6", CHAIN_BAD_PREV, 6},
    {"DELETE FROM event WHERE seq = 5", CHAIN_MISSING, 5},
    {"DELETE FROM event WHERE seq <= 3", CHAIN_MISSING, 1},
    {"DELETE FROM event WHERE seq = 10", CHAIN_CUT, 10},
    {"DELETE FROM event WHERE seq >= 8", CHAIN_CUT, 8},
    {"DELETE FROM event", CHAIN_CUT, 1},
    {"DELETE FROM meta WHERE name = 'event_head'", CHAIN_BAD_HEAD, 10},
    {"UPDATE meta SET value = 'x' WHERE name = 'event_head'", CHAIN_BAD_HEAD, 10},
    {"UPDATE meta SET value = replace(value, '10:', '9:') WHERE name = 'event_head'",
     CHAIN_BAD_HEAD, 10},
};

static void every_edit_is_found(void **state)
{
    for (size_t i = 0; i < sizeof tamperings / sizeof tamperings[0]; i++) {
        const struct tampering *t = &tamperings[i];
        struct chain_report rep;
        struct store *s = fixture_open();
        log_n(s, 10);
        store_close(s);
        edit(t->sql);
        s = fixture_audit();
        verify(s, &rep);
        if (rep.fault != t->fault || rep.seq != t->seq)
            fail_msg("%s: %s at %d", t->sql, chain_fault_text(rep.fault), (int)rep.seq);
        store_close(s);
        assert_int_equal(fixture_teardown(state), 0);
        assert_int_equal(fixture_setup(state), 0);
    }
}

/* The service goes on after such an edit, but never covers it up. */
static void a_cut_stays_visible(void **state)
{
    struct store *s = fixture_open();
    struct chain_report rep;

    (void)state;
    log_n(s, 10);
    store_close(s);
    edit("DELETE FROM event WHERE seq >= 8");
    s = fixture_open();
    log_n(s, 5);
    verify(s, &rep);
    assert_int_equal(rep.fault, CHAIN_MISSING);
    assert_int_equal(rep.seq, 8);
    store_close(s);
}

static void the_chain_goes_on_after_a_restart(void **state)
{
    struct chain_report rep;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct store *s = fixture_open();
        log_n(s, 3);
        verify(s, &rep);
        assert_int_equal(rep.fault, CHAIN_OK);
        assert_int_equal(rep.head.seq, 3 * (i + 1));
        store_close(s);
    }
}

static void old_events_are_removed_and_the_rest_verifies(void **state)
{
    struct store *s = fixture_open_with((struct store_opts){.keep_events = 40});
    struct chain_report rep;

    (void)state;
    for (int i = 0; i < 200; i++) {
        assert_int_equal(fixture_log(s, "made"), 0);
        /* One batch (40 / 8) may wait, and the newest event's turn to prune comes after it. */
        assert_true(fixture_count(s) <= 40 + 5);
    }
    verify(s, &rep);
    assert_int_equal(rep.fault, CHAIN_OK);
    assert_int_equal(rep.head.seq, 200);
    assert_true(rep.n_events >= 40 && rep.n_events < 45);
    store_close(s);
    /* The beginning is still guarded. */
    edit("DELETE FROM event WHERE seq = (SELECT MIN(seq) FROM event)");
    s = fixture_audit();
    verify(s, &rep);
    assert_int_equal(rep.fault, CHAIN_MISSING);
    store_close(s);
}

static void a_smaller_limit_is_reached_without_new_events(void **state)
{
    struct store *s = fixture_open();
    struct chain_report rep;

    (void)state;
    log_n(s, 100);
    store_close(s);
    s = fixture_open_with((struct store_opts){.keep_events = 10});
    for (int i = 0; i < 1000 && fixture_count(s) > 10; i++)
        (void)usleep(1000);
    assert_int_equal(fixture_count(s), 10);
    verify(s, &rep);
    assert_int_equal(rep.fault, CHAIN_OK);
    assert_int_equal(rep.n_events, 10);
    store_close(s);
}

static void long_chains_are_read_in_pages(void **state)
{
    struct store *s = fixture_open();
    struct chain_report rep;

    (void)state;
    for (int i = 0; i < 10; i++) {
        struct store_tx *tx = store_tx_new();
        for (int k = 0; k < 200; k++)
            fixture_event(tx, "box", "made");
        assert_int_equal(fixture_run(s, tx), 0);
    }
    verify(s, &rep);
    assert_int_equal(rep.fault, CHAIN_OK);
    assert_int_equal(rep.n_events, 2000);
    store_close(s);
    edit("UPDATE event SET reason = 'x' WHERE seq = 1500");
    s = fixture_audit();
    verify(s, &rep);
    assert_int_equal(rep.fault, CHAIN_BAD_HASH);
    assert_int_equal(rep.seq, 1500);
    store_close(s);
}

static void an_audit_runs_beside_the_service(void **state)
{
    struct store *s = fixture_open_with((struct store_opts){.keep_events = 100});

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct chain_report rep;
        log_n(s, 20);
        struct store *audit = fixture_audit();
        verify(audit, &rep);
        assert_int_equal(rep.fault, CHAIN_OK);
        assert_int_equal(rep.head.seq, 20 * (i + 1));
        assert_int_equal(fixture_run(audit, fixture_set("a", "b")), -EROFS);
        assert_int_equal(fixture_log(audit, "not me"), -EROFS);
        store_close(audit);
    }
    store_close(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_have_the_documented_bytes),
        cmocka_unit_test(bytes_moved_between_fields_change_the_hash),
        cmocka_unit_test(malformed_links_are_refused),
        TEST(an_empty_store_verifies),
        TEST(every_edit_is_found),
        TEST(a_cut_stays_visible),
        TEST(the_chain_goes_on_after_a_restart),
        TEST(old_events_are_removed_and_the_rest_verifies),
        TEST(a_smaller_limit_is_reached_without_new_events),
        TEST(long_chains_are_read_in_pages),
        TEST(an_audit_runs_beside_the_service),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
