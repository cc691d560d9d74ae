/* SPDX-License-Identifier: MIT */
/* Idempotency keys: once is once, whatever the client and the machine do. */
#include "../store/fixture.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "core/idem.h"

static int64_t now_us;

static int64_t fake_us(void)
{
    return now_us;
}

static const struct clock_source fake_source = {fake_us, fake_us};

/* What idem_begin() told. */
struct told {
    int verdict, n;
    struct idem_op *op;
    int status;
    char type[64], body[64];
};

static struct store *s;
static struct loop *loop;
static struct idem *im;

static void open_all(void)
{
    s = fixture_open();
    loop = loop_new(NULL);
    im = idem_new(s, loop, NULL);
    assert_non_null(loop);
    assert_non_null(im);
}

static void close_all(void)
{
    idem_free(im);
    store_close(s);
    assert_int_equal(loop_run_once(loop, 0), 0);
    loop_free(loop);
}

static int setup(void **state)
{
    now_us = 1769508000000000;
    clock_set_source(&fake_source);
    if (fixture_setup(state) != 0)
        return -1;
    open_all();
    return 0;
}

static int teardown(void **state)
{
    close_all();
    clock_set_source(NULL);
    return fixture_teardown(state);
}

static void on_begun(struct idem_op *op, int verdict, const struct idem_answer *a, void *ctx)
{
    struct told *t = ctx;

    t->n++;
    t->verdict = verdict;
    t->op = op;
    assert_int_equal(op != NULL, verdict == IDEM_NEW);
    assert_int_equal(a != NULL, verdict == IDEM_REPLAY);
    if (!a)
        return;
    t->status = a->status;
    (void)snprintf(t->type, sizeof t->type, STR_FMT, STR_ARG(a->content_type));
    (void)snprintf(t->body, sizeof t->body, STR_FMT, STR_ARG(a->body));
}

static struct idem_request request(const char *key, const char *body)
{
    return (struct idem_request){.account = STR("acme"),
                                 .route = STR("POST /api/v1/sandbox"),
                                 .key = str_of(key),
                                 .body = str_of(body)};
}

static struct told begin(struct idem_request rq)
{
    struct told t = {.verdict = -1000};

    assert_int_equal(idem_begin(im, &rq, on_begun, &t), 0);
    while (t.n == 0)
        assert_int_equal(loop_run_once(loop, 1000), 0);
    assert_int_equal(t.n, 1);
    return t;
}

/* Does the work of a request: an effect and its answer in one transaction. */
static int finish(struct told *t, const char *effect, const char *body)
{
    const struct idem_answer a = {
        .status = 201, .content_type = STR_INIT("application/json"), .body = str_of(body)};
    struct store_tx *tx = fixture_set(effect, "done");

    assert_int_equal(idem_add(t->op, tx, &a), 0);
    int r = fixture_run(s, tx);
    idem_end(t->op);
    return r;
}

static void keys_are_visible_ascii(void **state)
{
    char key[IDEM_MAX_KEY + 2];
    static const char *const bad[] = {"", " ", "a b", "a\tb", "caf\xc3\xa9", "a\x7f", "\x01"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct told t = {0};
        struct idem_request rq = request(bad[i], "");
        assert_false(idem_key_is_valid(str_of(bad[i])));
        assert_int_equal(idem_begin(im, &rq, on_begun, &t), -EINVAL);
        assert_int_equal(t.n, 0);
    }
    memset(key, '~', sizeof key);
    assert_true(idem_key_is_valid(str_n(key, IDEM_MAX_KEY)));
    assert_false(idem_key_is_valid(str_n(key, IDEM_MAX_KEY + 1)));
    assert_true(idem_key_is_valid(STR("!")));
}

static void a_repetition_gets_the_same_answer(void **state)
{
    struct told t = begin(request("k", "{}"));

    (void)state;
    assert_int_equal(t.verdict, IDEM_NEW);
    assert_int_equal(finish(&t, "box", "{\"id\":1}"), 0);
    for (int i = 0; i < 2; i++) {
        t = begin(request("k", "{}"));
        assert_int_equal(t.verdict, IDEM_REPLAY);
        assert_int_equal(t.status, 201);
        assert_string_equal(t.type, "application/json");
        assert_string_equal(t.body, "{\"id\":1}");
        /* Also after a restart: the answer was committed with the effect. */
        close_all();
        open_all();
        assert_true(fixture_has(s, "box", "done"));
    }
}

static void another_body_is_a_mismatch(void **state)
{
    struct told t = begin(request("k", "{\"a\":1}"));

    (void)state;
    assert_int_equal(begin(request("k", "{\"a\":2}")).verdict, IDEM_MISMATCH); /* in flight */
    assert_int_equal(finish(&t, "box", "ok"), 0);
    assert_int_equal(begin(request("k", "{\"a\":2}")).verdict, IDEM_MISMATCH); /* recorded */
    assert_int_equal(begin(request("k", "{\"a\":1}")).verdict, IDEM_REPLAY);
}

static void the_scope_is_account_and_route(void **state)
{
    struct told t = begin(request("k", ""));
    struct idem_request other = request("k", "");

    (void)state;
    assert_int_equal(finish(&t, "box", "ok"), 0);
    other.account = STR("zeta");
    t = begin(other);
    assert_int_equal(t.verdict, IDEM_NEW);
    assert_int_equal(finish(&t, "box", "zeta's"), 0);
    other.route = STR("POST /api/v1/pool");
    t = begin(other);
    assert_int_equal(t.verdict, IDEM_NEW);
    idem_end(t.op);
    /* Parts do not run into each other. */
    struct told a =
        begin((struct idem_request){.account = STR("ab"), .route = STR("c"), .key = STR("k")});
    struct told b =
        begin((struct idem_request){.account = STR("a"), .route = STR("bc"), .key = STR("k")});
    assert_int_equal(b.verdict, IDEM_NEW);
    idem_end(a.op);
    idem_end(b.op);
}

static void only_one_is_processed_at_a_time(void **state)
{
    struct told first = {0}, second = {0};
    struct idem_request rq = request("k", "x");

    (void)state;
    /* The second comes while the first is still being looked up. */
    assert_int_equal(idem_begin(im, &rq, on_begun, &first), 0);
    assert_int_equal(idem_begin(im, &rq, on_begun, &second), 0);
    assert_int_equal(second.n, 1);
    assert_int_equal(second.verdict, IDEM_IN_FLIGHT);
    while (first.n == 0)
        assert_int_equal(loop_run_once(loop, 1000), 0);
    assert_int_equal(first.verdict, IDEM_NEW);
    assert_int_equal(begin(rq).verdict, IDEM_IN_FLIGHT);
    idem_end(first.op);
    /* It was given up, so the next may try. */
    first = begin(rq);
    assert_int_equal(first.verdict, IDEM_NEW);
    assert_int_equal(finish(&first, "box", "ok"), 0);
}

static void a_failed_effect_records_nothing(void **state)
{
    struct told t = begin(request("k", ""));
    const struct idem_answer a = {.status = 200, .body = STR_INIT("ok")};
    struct store_tx *tx = fixture_set("box", "done");

    (void)state;
    assert_int_equal(idem_add(t.op, tx, &a), 0);
    store_tx_add(tx, STORE_KEY_REVOKE);
    store_tx_text(tx, STR("no such key"));
    store_tx_int(tx, 1);
    store_tx_expect(tx, 1, -ENOENT);
    assert_int_equal(fixture_run(s, tx), -ENOENT);
    idem_end(t.op);
    t = begin(request("k", ""));
    assert_int_equal(t.verdict, IDEM_NEW);
    idem_end(t.op);
}

static void long_answers_are_not_kept(void **state)
{
    struct told t = begin(request("k", ""));
    auto_free char *body = calloc(1, IDEM_MAX_BODY + 1);
    struct idem_answer a = {.status = 200, .body = str_n(body, IDEM_MAX_BODY + 1)};
    struct store_tx *tx = store_tx_new();

    (void)state;
    assert_int_equal(idem_add(t.op, tx, &a), -E2BIG);
    a.body.len--;
    assert_int_equal(idem_add(t.op, tx, &a), 0);
    assert_int_equal(fixture_run(s, tx), 0);
    idem_end(t.op);
    assert_int_equal(begin(request("k", "")).verdict, IDEM_REPLAY);
}

static void in_flight_requests_are_bounded(void **state)
{
    struct told *told = calloc(IDEM_MAX_IN_FLIGHT, sizeof *told);
    struct told more = {0};
    struct idem_request rq = request("one-too-many", "");

    (void)state;
    assert_non_null(told);
    for (int i = 0; i < IDEM_MAX_IN_FLIGHT; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "k%d", i);
        struct idem_request nth = request(key, "");
        assert_int_equal(idem_begin(im, &nth, on_begun, &told[i]), 0);
    }
    assert_int_equal(idem_begin(im, &rq, on_begun, &more), -EBUSY);
    for (int i = 0; i < IDEM_MAX_IN_FLIGHT; i++) {
        while (told[i].n == 0)
            assert_int_equal(loop_run_once(loop, 1000), 0);
        idem_end(told[i].op);
    }
    more = begin(rq);
    assert_int_equal(more.verdict, IDEM_NEW);
    idem_end(more.op);
    free(told);
}

static int64_t n_records(void)
{
    int64_t n = 0;

    for (int i = 0; i < 1200; i++) {
        char key[16];
        struct store_tx *tx = store_tx_new();
        (void)snprintf(key, sizeof key, "k%d", i);
        store_tx_add(tx, STORE_IDEM_GET);
        store_tx_text(tx, STR("acme"));
        store_tx_text(tx, STR("POST /api/v1/sandbox"));
        store_tx_text(tx, str_of(key));
        assert_int_equal(store_run(s, tx, NULL), 0);
        n += (int64_t)store_tx_n_rows(tx, 0);
        store_tx_free(tx);
    }
    return n;
}

static void records_end_after_a_day(void **state)
{
    struct told t = begin(request("k", "1"));

    (void)state;
    assert_int_equal(finish(&t, "box", "first"), 0);
    now_us += (int64_t)IDEM_KEEP_S * 1000000;
    assert_int_equal(begin(request("k", "1")).verdict, IDEM_REPLAY);
    now_us += 1;
    t = begin(request("k", "2"));
    assert_int_equal(t.verdict, IDEM_NEW);
    assert_int_equal(finish(&t, "box", "second"), 0);
    t = begin(request("k", "2"));
    assert_int_equal(t.verdict, IDEM_REPLAY);
    assert_string_equal(t.body, "second");
}

static void old_records_are_swept(void **state)
{
    (void)state;
    for (int i = 0; i < 1200; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "k%d", i);
        struct told t = begin(request(key, ""));
        assert_int_equal(finish(&t, "box", "x"), 0);
        if (i == 1099)
            now_us += 3600 * (int64_t)1000000;
    }
    assert_int_equal(n_records(), 1200);
    now_us += ((int64_t)IDEM_KEEP_S - 60) * 1000000;
    /* Batches of 500 follow each other at once: 1100 take three. */
    for (int i = 0; i < 60 && n_records() > 100; i++) {
        now_us += 100000;
        assert_int_equal(loop_run_once(loop, 10), 0);
    }
    assert_int_equal(n_records(), 100);
}

#ifdef TIDEPOOL_FAULT
static void without_memory_there_is_an_error(void **state)
{
    bool fired = true;

    (void)state;
    for (unsigned n = 1; fired; n++) {
        struct told t = {0};
        struct idem_request rq = request("k", "");
        fault_arm(FAULT_ALLOC, n);
        int r = idem_begin(im, &rq, on_begun, &t);
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(r, fired ? -ENOMEM : 0);
        if (r < 0)
            continue;
        while (t.n == 0)
            assert_int_equal(loop_run_once(loop, 1000), 0);
        assert_int_equal(t.verdict, IDEM_NEW);
        idem_end(t.op);
    }
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_are_visible_ascii),           TEST(a_repetition_gets_the_same_answer),
        TEST(another_body_is_a_mismatch),       TEST(the_scope_is_account_and_route),
        TEST(only_one_is_processed_at_a_time),  TEST(a_failed_effect_records_nothing),
        TEST(long_answers_are_not_kept),        TEST(in_flight_requests_are_bounded),
        TEST(records_end_after_a_day),          TEST(old_records_are_swept),
#ifdef TIDEPOOL_FAULT
        TEST(without_memory_there_is_an_error),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
