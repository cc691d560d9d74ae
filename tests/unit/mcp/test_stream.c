/* SPDX-License-Identifier: MIT */
/* Streams: numbers of events, what is kept for those who come back, and what is forgotten. */
#include "mcp_world.h"

#include <stdio.h>
#include <string.h>

#include "mcp/exchange.h"

/* The session of the headers in SESSION. */
static struct mcp_session *session_in(const char *session)
{
    struct str id = str_of(strstr(session, "Mcp-Session-Id: ") + 16);

    id.len = (size_t)str_chr(id, '\r');
    return mcp_session_find(server, id, STR("me"));
}

static void events_are_numbered(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    struct str begun = open_stream(1, session, "");
    check(begun, 200, "id: 1-0");
    assert_true(holds(begun, "retry: 1000"));
    struct mcp_session *n = session_in(session);
    mcp_stream_send(n->main, STR_NULL, STR("{\"a\":1}"));
    mcp_stream_send(n->main, STR_NULL, STR("{\"a\":2}"));
    struct str got = more_of(1);
    assert_true(holds(got, "id: 1-1") && holds(got, "data: {\"a\":1}"));
    assert_true(holds(got, "id: 1-2") && holds(got, "data: {\"a\":2}"));
    assert_false(holds(got, "retry"));
}

static void older_revisions_get_no_empty_event(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-06-18", "{}");
    struct str begun = open_stream(1, session, "");
    check(begun, 200, "text/event-stream");
    assert_false(holds(begun, "id: "));
}

static void who_comes_back_gets_the_rest(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(1, session, "");
    struct mcp_session *n = session_in(session);
    for (int i = 1; i <= 4; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "\"e%d\"", i);
        mcp_stream_send(n->main, STR_NULL, str_of(text));
    }
    (void)more_of(1);
    hang_up(1);
    turn();
    mcp_stream_send(n->main, STR_NULL, STR("\"missed\""));
    struct str got = open_stream(1, session, "Last-Event-ID: 1-2\r\n");
    assert_true(!holds(got, "\"e2\"") && holds(got, "\"e3\"") && holds(got, "\"e4\""));
    assert_true(holds(got, "\"missed\"") && holds(got, "id: 1-5"));
    /* Another connection takes the stream over. */
    got = open_stream(2, session, "Last-Event-ID: 1-5\r\n");
    assert_false(holds(got, "missed"));
    mcp_stream_send(n->main, STR_NULL, STR("\"next\""));
    assert_true(holds(more_of(2), "\"next\""));
    assert_false(holds(more_of(1), "\"next\""));
}

static void ids_of_events(void **state)
{
    static const char *const bad[] = {"", "1", "1-", "-1", "x-1", "1-x", "2-1", "1-4294967296"};
    char session[256];
    uint32_t seq = 7;

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(1, session, "");
    struct mcp_session *n = session_in(session);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(mcp_stream_find(n, str_of(bad[i]), &seq));
    assert_int_equal(seq, 7);
    assert_ptr_equal(mcp_stream_find(n, STR("1-4294967295"), &seq), n->main);
    assert_int_equal(seq, UINT32_MAX);
}

static void so_many_events_are_kept(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(1, session, "");
    struct mcp_session *n = session_in(session);
    hang_up(1);
    turn();
    for (int i = 1; i <= MCP_MAX_EVENTS + 1; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "\"e%d.\"", i);
        mcp_stream_send(n->main, STR_NULL, str_of(text));
    }
    assert_int_equal(n->main->n_events, MCP_MAX_EVENTS);
    struct str got = open_stream(1, session, "Last-Event-ID: 1-0\r\n");
    assert_true(!holds(got, "\"e1.\"") && holds(got, "\"e2.\"") && holds(got, "\"e257.\""));
}

static void so_many_bytes_are_kept(void **state)
{
    static char text[MCP_MAX_KEPT / 2 + 1];
    char session[256];

    (void)state;
    memset(text, 'x', sizeof text);
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(1, session, "");
    struct mcp_session *n = session_in(session);
    hang_up(1);
    turn();
    mcp_stream_send(n->main, STR_NULL, str_n(text, sizeof text));
    assert_int_equal(n->kept, sizeof text);
    mcp_stream_send(n->main, STR_NULL, str_n(text, sizeof text));
    assert_int_equal(n->main->n_events, 1);
    assert_int_equal(n->kept, sizeof text);
    mcp_stream_free(n->main);
    assert_int_equal(n->kept, 0);
    assert_null(n->main);
}

static void complete_streams_are_forgotten_first(void **state)
{
    char session[256];
    uint32_t seq;

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    struct mcp_session *n = session_in(session);
    for (int i = 0; i < MCP_MAX_STREAMS; i++)
        check(post(session, CALL(1, "notes", "{}")), 200, "text/event-stream");
    assert_int_equal(n->n_streams, MCP_MAX_STREAMS);
    assert_non_null(mcp_stream_find(n, STR("1-0"), &seq));
    check(post(session, CALL(1, "notes", "{}")), 200, "text/event-stream");
    assert_int_equal(n->n_streams, MCP_MAX_STREAMS);
    assert_null(mcp_stream_find(n, STR("1-0"), &seq));
    assert_non_null(mcp_stream_find(n, STR("2-0"), &seq));
    struct str again = open_stream(1, session, "Last-Event-ID: 2-0\r\n");
    assert_true(holds(again, "\"text\":\"end\""));
}

static void a_call_hangs_up_and_goes_on(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)post(session, CALL(1, "hold", "{}"));
    mcp_call_hang_up(held, 50);
    struct str got = more_of(0);
    assert_true(holds(got, "retry: 50") && holds(got, "id: 1-0"));
    mcp_reply_text(held, STR("later"), false);
    assert_true(holds(open_stream(1, session, "Last-Event-ID: 1-0\r\n"), "\"text\":\"later\""));
    /* Where nothing is kept the connection stays. */
    (void)post_to(2, "/mcp", JSON_TYPES, CALL(1, "hold", "{}"));
    mcp_call_hang_up(held, 50);
    (void)more_of(2);
    mcp_reply_text(held, STR("here"), false);
    assert_true(holds(more_of(2), "here"));
}

static void patience_ends_in_a_stream(void **state)
{
    (void)state;
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    pass_ms(MCP_HEARTBEAT_MS);
    check(more_of(0), 200, "text/event-stream");
    mcp_reply_text(held, STR("done"), false);
    assert_true(holds(more_of(0), "done"));
    (void)post_to(1, "/mcp", JSON_TYPES "Accept: application/json\r\n", CALL(1, "hold", "{}"));
    pass_ms(MCP_HEARTBEAT_MS);
    assert_int_equal(more_of(1).len, 0);
    mcp_reply_text(held, STR("json"), false);
    check(more_of(1), 200, "application/json");
}

static void another_get_takes_the_place(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(1, session, "");
    (void)open_stream(2, session, "");
    (void)more_of(1);
    struct mcp_session *n = session_in(session);
    mcp_stream_send(n->main, STR_NULL, STR("\"x\""));
    assert_true(holds(more_of(2), "\"x\""));
    assert_false(holds(more_of(1), "\"x\""));
    check(open_stream(3, JSON_TYPES, ""), 405, "without a session");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MCP_TEST(events_are_numbered),
        MCP_TEST(older_revisions_get_no_empty_event),
        MCP_TEST(who_comes_back_gets_the_rest),
        MCP_TEST(ids_of_events),
        MCP_TEST(so_many_events_are_kept),
        MCP_TEST(so_many_bytes_are_kept),
        MCP_TEST(complete_streams_are_forgotten_first),
        MCP_TEST(a_call_hangs_up_and_goes_on),
        MCP_TEST(patience_ends_in_a_stream),
        MCP_TEST(another_get_takes_the_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
