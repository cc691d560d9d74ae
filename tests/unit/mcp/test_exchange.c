/* SPDX-License-Identifier: MIT */
/* Exchanges: from their request to their answer, whoever leaves first; and the checks of origins.
 */
#include "mcp_world.h"

#include <stdio.h>
#include <string.h>

#include "mcp/exchange.h"

/* ---- servers ---- */

static void defaults_of_limits(void **state)
{
    const struct mcp_limits *l = &server->table.desc.limits;

    (void)state;
    assert_int_equal(l->max_body, 4 << 20);
    assert_int_equal(l->max_answer, 8 << 20);
    assert_int_equal(l->max_sessions, 10000);
    assert_int_equal(l->max_calls, 4096);
    assert_int_equal(l->session_idle_ms, 3600000);
    assert_int_equal(l->max_tasks, 64);
    assert_int_equal(l->max_task_bytes, 32 << 20);
    assert_int_equal(l->max_task_ttl_ms, 25 * 3600000);
    assert_int_equal(l->task_keep_ms, 15 * 60000);
    assert_int_equal(l->task_grace_ms, 500);
    make_server((struct mcp_limits){.max_calls = 3, .task_grace_ms = 7}, "");
    assert_int_equal(server->table.desc.limits.max_calls, 3);
    assert_int_equal(server->table.desc.limits.task_grace_ms, 7);
}

static void freed_with_calls_that_do_not_listen(void **state)
{
    (void)state;
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    struct mcp_call *late = held;
    late->on_cancel = NULL;
    mcp_server_free(server);
    server = NULL;
    assert_int_equal(n_released, 0);
    /* The answer comes when the server is gone for everybody else: nobody gets it. */
    mcp_reply_text(late, STR("late"), false);
    assert_int_equal(n_released, 1);
    assert_false(holds(more_of(0), "late"));
}

static void scopes_are_released_once(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    check(post(session, CALL(1, "echo", "{}")), 200, "said");
    check(post(session, "{"), 400, "-32700");
    (void)open_stream(1, session, "");
    (void)post(session, CALL(1, "hold", "{}"));
    assert_int_equal(n_released, 4);
    mcp_reply_text(held, STR("x"), false);
    assert_int_equal(n_released, 5);
}

/* ---- who leaves ---- */

static void a_session_survives_its_connection(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)post(session, CALL(1, "hold", "{}"));
    hang_up(0);
    turn();
    assert_int_equal(n_cancelled, 0);
    mcp_reply_text(held, STR("nobody reads it"), false);
    assert_int_equal(n_released, 2);
}

static void a_closed_stream_cancels_without_a_session(void **state)
{
    (void)state;
    (void)modern(0, "tools/call", "hold", "\"name\":\"hold\"");
    pass_ms(MCP_HEARTBEAT_MS);
    check(more_of(0), 200, "text/event-stream");
    hang_up(0);
    turn();
    assert_int_equal(n_cancelled, 1);
    assert_int_equal(n_released, 1);
}

static void all_calls_of_a_batch_are_waited_for(void **state)
{
    (void)state;
    (void)post(JSON_TYPES, "[" CALL(1, "hold", "{}") "," CALL(2, "echo", "{}") "]");
    assert_int_equal(more_of(0).len, 0);
    mcp_reply_text(held, STR("last"), false);
    struct str answer = more_of(0);
    check(answer, 200, "[{\"jsonrpc\":\"2.0\",\"id\":2,");
    assert_true(holds(answer, "\"id\":1,") && holds(answer, "last"));
}

static void events_alone_are_taken(void **state)
{
    struct str answer = post(JSON_TYPES "Accept: text/event-stream\r\n", CALL(4, "echo", "{}"));

    (void)state;
    check(answer, 200, "text/event-stream");
    assert_true(holds(answer, "data: {\"jsonrpc\":\"2.0\",\"id\":4,"));
}

static void a_task_of_a_client_that_takes_events_alone(void **state)
{
    struct str answer = old(0, OLD_HEADERS "Accept: text/event-stream\r\n", "tools/call",
                            "\"name\":\"must\",\"task\":{}");

    (void)state;
    check(answer, 200, "text/event-stream");
    assert_true(holds(answer, "\"result\":{\"task\":{\"taskId\":"));
    mcp_reply_text(held, STR("done"), false);
    assert_false(holds(more_of(0), "done"));
}

/* ---- errors ---- */

static void errors_have_their_data(void **state)
{
    (void)state;
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    mcp_reply_error(held, -32042, STR("a \"quote\""), STR("{\"x\":1}"));
    check(more_of(0), 200,
          "\"error\":{\"code\":-32042,\"message\":\"a \\\"quote\\\"\",\"data\":{\"x\":1}}");
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    mcp_reply_fail(held, MCP_INTERNAL_ERROR, "%d of %s", 3, "all");
    struct str answer = more_of(0);
    check(answer, 200, "\"message\":\"3 of all\"");
    assert_false(holds(answer, "\"data\""));
}

static void results_of_json(void **state)
{
    (void)state;
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    mcp_reply_json(held, STR("{\"a\":1}"));
    check(more_of(0), 200, "\"text\":\"{\\\"a\\\":1}\"}],\"structuredContent\":{\"a\":1}");
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    mcp_reply_json(held, STR("[1]"));
    struct str answer = more_of(0);
    check(answer, 200, "\"text\":\"[1]\"");
    assert_false(holds(answer, "structuredContent"));
}

/* ---- objects with _meta ---- */

static void meta_is_added(void **state)
{
    static const char *const rows[][2] = {
        {"{}", "{\"_meta\":{\"m\":1}}"},
        {"{\"a\":1}", "{\"a\":1,\"_meta\":{\"m\":1}}"},
        {"{\"a\":{}}", "{\"a\":{},\"_meta\":{\"m\":1}}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b auto_buf = BUF_INIT(1000);
        struct jw w = jw_to(&b);
        mcp_put_with_meta(&w, str_of(rows[i][0]), STR("{\"m\":1}"));
        assert_string_equal(buf_cstr(&b), rows[i][1]);
    }
}

/* ---- origins ---- */

static void origins(void **state)
{
    static const struct {
        const char *origin;
        int status;
    } rows[] = {
        {"http://localhost", 200},
        {"https://LOCALHOST:1", 200},
        {"http://127.0.0.1:80", 200},
        {"http://[::1]", 200},
        {"http://app.localhost:3000", 200},
        {"http://[::1", 403},
        {"http://[::1]x", 403},
        {"http://[::g]", 403},
        {"http://localhost:", 403},
        {"http://localhost:80x", 403},
        {"http://localhost/path", 403},
        {"http://localhost evil", 403},
        {"http://localhost%2e", 403},
        {"http://127.0.0.2", 403},
        {"http://evillocalhost", 403},
        {"http://a", 403}, /* the server's own name, which proves nothing without a key */
        {"ftp://localhost", 403},
        {"localhost", 403},
        {"null", 403},
        {"http://", 403},
    };
    char headers[200];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)snprintf(headers, sizeof headers, JSON_TYPES "Origin: %s\r\n", rows[i].origin);
        struct str answer = post(headers, CALL(1, "echo", "{}"));
        if (status_of(answer) != rows[i].status)
            fail_msg("%s: %d", rows[i].origin, status_of(answer));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MCP_TEST(defaults_of_limits),
        MCP_TEST(freed_with_calls_that_do_not_listen),
        MCP_TEST(scopes_are_released_once),
        MCP_TEST(a_session_survives_its_connection),
        MCP_TEST(a_closed_stream_cancels_without_a_session),
        MCP_TEST(all_calls_of_a_batch_are_waited_for),
        MCP_TEST(events_alone_are_taken),
        MCP_TEST(a_task_of_a_client_that_takes_events_alone),
        MCP_TEST(errors_have_their_data),
        MCP_TEST(results_of_json),
        MCP_TEST(meta_is_added),
        MCP_TEST(origins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
