/* SPDX-License-Identifier: MIT */
/* Events as they are written and as the API shows them. */
#include "../store/fixture.h"

#include <errno.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/json.h"
#include "core/event.h"

static int64_t now_us;

static int64_t fake_us(void)
{
    return now_us;
}

static const struct clock_source fake_source = {fake_us, fake_us};

struct answer {
    struct loop *loop;
    struct arena arena;
    struct json *items;
    int result;
};

static struct store *s;
static struct answer answer;

static int setup(void **state)
{
    now_us = 1769508000000000; /* 2026-01-27T10:00:00Z */
    clock_set_source(&fake_source);
    if (fixture_setup(state) != 0)
        return -1;
    s = fixture_open();
    answer = (struct answer){.loop = loop_new(NULL)};
    arena_init(&answer.arena, 64 << 20);
    return answer.loop ? 0 : -1;
}

static int teardown(void **state)
{
    store_close(s);
    loop_free(answer.loop);
    arena_done(&answer.arena);
    clock_set_source(NULL);
    return fixture_teardown(state);
}

static void on_answer(int result, struct str items, void *ctx)
{
    struct answer *a = ctx;

    assert_ptr_equal(a, &answer);
    assert_true(loop_is_mine(a->loop));
    a->result = result;
#ifdef TIDEPOOL_FAULT
    fault_arm(FAULT_ALLOC, 0); /* what follows is the test's own */
#endif
    a->items = result < 0 ? NULL : json_parse(&a->arena, items, NULL, NULL);
    assert_int_equal(a->items == NULL, result < 0);
    loop_stop(a->loop);
}

/* The items as parsed JSON. */
static const struct json *query(struct event_filter f)
{
    assert_int_equal(event_query(s, answer.loop, &f, on_answer, &answer), 0);
    assert_int_equal(loop_run(answer.loop), 0);
    assert_int_equal(answer.result, 0);
    return answer.items;
}

static const struct json *query_system(void)
{
    return query((struct event_filter){.is_system = true});
}

/* One event a second. */
static void happen(enum event_reason reason, const char *account, const char *object,
                   const char *message)
{
    struct store_tx *tx = store_tx_new();

    event_add(tx, reason, str_of(account), str_of(object), "%s", message);
    assert_int_equal(fixture_run(s, tx), 0);
    now_us += 1000000;
}

static struct str text_at(const struct json *items, const char *pointer)
{
    return json_str(json_pointer(items, pointer), STR("(none)"));
}

static void an_item_has_the_published_shape(void **state)
{
    struct buf out auto_buf = BUF_INIT(4096);

    (void)state;
    happen(EVENT_SANDBOX_CREATED, "acme", "box-1", "created from template aio");
    assert_int_equal(json_write(&out, query_system(), JSON_COMPACT), 0);
    assert_str(buf_str(&out),
               "[{\"name\":\"box-1.1\",\"reason\":\"SandboxCreated\",\"type\":\"Normal\","
               "\"message\":\"created from template aio\",\"count\":1,"
               "\"eventTime\":\"2026-01-27T10:00:00.000000Z\","
               "\"firstTimestamp\":\"2026-01-27T10:00:00.000000Z\","
               "\"lastTimestamp\":\"2026-01-27T10:00:00.000000Z\","
               "\"involvedObject\":{\"kind\":\"Sandbox\",\"name\":\"box-1\","
               "\"namespace\":\"default\",\"apiVersion\":\"v1\",\"fieldPath\":\"\"}}]");
}

static void nothing_is_an_empty_list(void **state)
{
    (void)state;
    assert_true(json_is(query_system(), JSON_ARRAY));
    assert_int_equal(query_system()->n, 0);
}

static void newest_come_first(void **state)
{
    (void)state;
    happen(EVENT_SERVICE_STARTED, "", "", "version 1");
    happen(EVENT_SANDBOX_CREATED, "acme", "a", "x");
    happen(EVENT_SANDBOX_OOM_KILLED, "acme", "a", "y");
    const struct json *items = query_system();
    assert_int_equal(items->n, 3);
    assert_str(text_at(items, "/0/reason"), "SandboxOOMKilled");
    assert_str(text_at(items, "/0/type"), "Warning");
    assert_str(text_at(items, "/2/reason"), "ServiceStarted");
    assert_str(text_at(items, "/2/name"), "Service.1");
    assert_str(text_at(items, "/2/involvedObject/kind"), "Service");
    assert_str(text_at(items, "/2/involvedObject/name"), "");
}

static void filters_hide_what_is_not_asked_for(void **state)
{
    const struct {
        struct event_filter filter;
        const char *messages; /* newest first, one letter each */
    } cases[] = {
        {{.is_system = true}, "edcba"},
        {{.is_system = true, .sandbox = STR_INIT("box")}, "cb"},
        {{.account = STR_INIT("acme")}, "db"},
        {{.account = STR_INIT("zeta")}, "c"},
        {{.account = STR_INIT("acme"), .sandbox = STR_INIT("box")}, "b"},
        {{.account = STR_INIT("zeta"), .sandbox = STR_INIT("other")}, ""},
        {{.account = STR_INIT("nobody")}, ""},
        {{.account = STR_INIT("")}, "ea"}, /* no account at all: not "all accounts" */
        {{.is_system = true, .sandbox = STR_INIT("' OR 1=1")}, ""},
        {{.is_system = true, .limit = 2}, "ed"},
    };

    (void)state;
    happen(EVENT_SERVICE_STARTED, "", "", "a");
    happen(EVENT_SANDBOX_CREATED, "acme", "box", "b");
    happen(EVENT_SANDBOX_CREATED, "zeta", "box", "c");
    happen(EVENT_SANDBOX_CREATED, "acme", "other", "d");
    happen(EVENT_SERVICE_STOPPED, "", "", "e");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct json *items = query(cases[i].filter);
        assert_int_equal(items->n, strlen(cases[i].messages));
        for (uint32_t k = 0; k < items->n; k++)
            assert_int_equal(json_str(json_get(json_at(items, k), "message"), STR_NULL).p[0],
                             cases[i].messages[k]);
    }
}

static void repetitions_become_a_count(void **state)
{
    (void)state;
    happen(EVENT_SANDBOX_EXITED, "acme", "box", "exit 1");
    for (int i = 0; i < 5; i++)
        happen(EVENT_SANDBOX_EXITED, "acme", "box", "exit 2");
    happen(EVENT_SANDBOX_EXITED, "acme", "box", "exit 1");
    const struct json *items = query_system();
    assert_int_equal(items->n, 3);
    assert_int_equal(json_int(json_pointer(items, "/0/count"), 0), 1);
    assert_int_equal(json_int(json_pointer(items, "/1/count"), 0), 5);
    assert_str(text_at(items, "/1/name"), "box.2");
    assert_str(text_at(items, "/1/firstTimestamp"), "2026-01-27T10:00:01.000000Z");
    assert_str(text_at(items, "/1/lastTimestamp"), "2026-01-27T10:00:05.000000Z");
    assert_str(text_at(items, "/1/eventTime"), "2026-01-27T10:00:05.000000Z");
    /* The limit counts items, not rows. */
    items = query((struct event_filter){.is_system = true, .limit = 2});
    assert_int_equal(items->n, 2);
    assert_int_equal(json_int(json_pointer(items, "/1/count"), 0), 5);
}

/* N events, alternating when APART. */
static void happen_often(int n, bool apart)
{
    for (int at = 0; at < n;) {
        struct store_tx *tx = store_tx_new();
        for (int i = 0; i < 200 && at < n; i++, at++)
            event_add(tx, EVENT_POOL_ACQUIRED, STR("acme"), STR("pool"), "%d", apart ? at % 2 : 0);
        assert_int_equal(fixture_run(s, tx), 0);
    }
}

static void limits_are_clamped(void **state)
{
    (void)state;
    happen_often(700, true);
    assert_int_equal(query_system()->n, EVENT_DEFAULT_LIMIT);
    assert_int_equal(query((struct event_filter){.is_system = true, .limit = 500})->n, 500);
    assert_int_equal(query((struct event_filter){.is_system = true, .limit = 501})->n, 500);
    assert_int_equal(query((struct event_filter){.is_system = true, .limit = 1})->n, 1);
}

static void counting_crosses_pages_and_stops_somewhere(void **state)
{
    (void)state;
    happen_often(1700, false);
    assert_int_equal(json_int(json_pointer(query_system(), "/0/count"), 0), 1700);
    happen_often(EVENT_MAX_SCAN, false);
    const struct json *items = query_system();
    assert_int_equal(items->n, 1);
    assert_int_equal(json_int(json_pointer(items, "/0/count"), 0), EVENT_MAX_SCAN);
}

static void messages_are_cut_and_made_valid(void **state)
{
    char longest[3 * EVENT_MAX_MESSAGE];

    (void)state;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    memcpy(longest + EVENT_MAX_MESSAGE - 1, "\xc3\xb6", 2); /* ö across the end */
    happen(EVENT_SANDBOX_EXITED, "acme", "box", longest);
    happen(EVENT_SANDBOX_EXITED, "acme", "box",
           "gr\xc3\xb6\xc3\x9f"
           "e");
    happen(EVENT_SANDBOX_EXITED, "acme", "box", "bad \xff\xc3 bytes");
    const struct json *items = query_system();
    assert_str(text_at(items, "/0/message"), "bad ?? bytes");
    assert_str(text_at(items, "/1/message"), "gr\xc3\xb6\xc3\x9f"
                                             "e");
    assert_int_equal(text_at(items, "/2/message").len, EVENT_MAX_MESSAGE - 1);
}

static void every_reason_has_a_row(void **state)
{
    (void)state;
    for (enum event_reason r = 0; r < EVENT_REASON_COUNT; r++) {
        happen(r, "acme", "thing", "x");
        const struct json *items = query((struct event_filter){.is_system = true, .limit = 1});
        assert_string_equal(text_at(items, "/0/reason").p, event_reason_name(r));
        assert_true(str_is(text_at(items, "/0/type"), "Normal") ||
                    str_is(text_at(items, "/0/type"), "Warning"));
    }
}

#ifdef TIDEPOOL_FAULT
static void without_memory_there_is_an_error(void **state)
{
    bool fired = true;

    (void)state;
    happen_often(600, true);
    for (unsigned n = 1; fired; n++) {
        const struct event_filter f = {.is_system = true};
        fault_arm(FAULT_ALLOC, n);
        int r = event_query(s, answer.loop, &f, on_answer, &answer);
        if (r == 0) {
            assert_int_equal(loop_run(answer.loop), 0);
            r = answer.result;
        }
        fired = r < 0;
        assert_true(r == 0 || r == -ENOMEM);
        fault_arm(FAULT_ALLOC, 0);
    }
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_item_has_the_published_shape),
        TEST(nothing_is_an_empty_list),
        TEST(newest_come_first),
        TEST(filters_hide_what_is_not_asked_for),
        TEST(repetitions_become_a_count),
        TEST(limits_are_clamped),
        TEST(counting_crosses_pages_and_stops_somewhere),
        TEST(messages_are_cut_and_made_valid),
        TEST(every_reason_has_a_row),
#ifdef TIDEPOOL_FAULT
        TEST(without_memory_there_is_an_error),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
