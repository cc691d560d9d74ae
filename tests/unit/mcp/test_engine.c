/* SPDX-License-Identifier: MIT */
/* The engine over HTTP, in one thread with a clock that stands still: sessions and their owners,
 * batches, limits, cancelling, questions to the client, streams that are resumed, and the checks of
 * revision 2026-07-28. */
#include "mcp_world.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* ---- messages ---- */

static void what_is_not_a_message(void **state)
{
    static const struct {
        const char *headers, *body;
        int status;
        const char *part;
    } rows[] = {
        {"Content-Type: text/plain\r\n", "{}", 415, "application/json"},
        {JSON_TYPES "Accept: text/html\r\n", "{}", 406, "Not Acceptable"},
        {JSON_TYPES, "{", 400, "-32700"},
        {JSON_TYPES, "", 400, "-32700"},
        {JSON_TYPES, "1", 400, "-32600"},
        {JSON_TYPES, "{}", 400, "-32600"},
        {JSON_TYPES, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", 400, "-32600"},
        {JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", 400, "-32600"},
        {JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1}", 400, "-32600"},
        {JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}", 200, "-32601"},
        {JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}", 200,
         "\"id\":\"x\",\"result\":{}"},
        {JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 202, ""},
        {JSON_TYPES "Mcp-Session-Id: none\r\n", CALL(1, "echo", "{}"), 404, "Session not found"},
        {JSON_TYPES "Origin: http://evil.example\r\n", CALL(1, "echo", "{}"), 403, "origin"},
        {JSON_TYPES "Origin: http://localhost:1@evil.example\r\n", CALL(1, "echo", "{}"), 403,
         "origin"},
        {JSON_TYPES "Origin: http://localhost:8080\r\n", CALL(1, "echo", "{}"), 200, "said"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(post(rows[i].headers, rows[i].body), rows[i].status, rows[i].part);
    assert_int_equal(n_released, ARRAY_LEN(rows));
}

static void tools_are_called_with_what_their_schema_says(void **state)
{
    (void)state;
    check(post(JSON_TYPES, CALL(7, "echo", "{\"text\":\"hi\"}")), 200,
          "\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]");
    check(post(JSON_TYPES, CALL(1, "echo", "{}")), 200, "\"said\"");
    check(post(JSON_TYPES, CALL(1, "echo", "null")), 200, "\"said\"");
    check(post(JSON_TYPES, CALL(1, "echo", "[]")), 200, "arguments must be an object");
    check(post(JSON_TYPES, CALL(1, "echo", "{\"n\":\"1\"}")), 200, "\"isError\":true");
    check(post(JSON_TYPES, CALL(1, "echo", "{\"other\":1}")), 200,
          "Invalid arguments for tool echo");
    check(post(JSON_TYPES, CALL(1, "nobody", "{}")), 200, "Unknown tool: nobody");
    check(post(JSON_TYPES, CALL(1, "", "{}")), 200, "name must be a string");
    check(post(JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}"), 200,
          "name must be a string");
}

static void answers_have_a_limit(void **state)
{
    (void)state;
    make_server((struct mcp_limits){.max_answer = 4096}, "");
    check(post(JSON_TYPES, CALL(1, "big", "{\"n\":3000}")), 200, "xxx");
    struct str answer = post(JSON_TYPES, CALL(1, "big", "{\"n\":5000}"));
    check(answer, 200, "\"error\"");
    assert_false(holds(answer, "xxx"));
}

static void resources_and_templates(void **state)
{
#define READ(uri)                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":" uri "}}"
    (void)state;
    check(post(JSON_TYPES, READ("\"t://fixed\"")), 200, "contents");
    check(post(JSON_TYPES, READ("\"t://of/ann\"")), 200, "[\"ann\"]");
    check(post(JSON_TYPES, READ("\"t://of/ann/b\"")), 200, "-32002");
    check(post(JSON_TYPES, READ("1")), 200, "-32602");
    check(post(JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":"
                           "{\"cursor\":\"99\"}}"),
          200, "invalid cursor");
    check(post(JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/list\"}"), 200,
          "-32601");
}

/* ---- batches ---- */

static void batches_are_of_the_old_revisions(void **state)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    char session[256];

    (void)state;
    check(post(JSON_TYPES, "[]"), 400, "batches are not supported");
    struct str two = post(JSON_TYPES, "[" CALL(1, "echo", "{}") ",5," CALL(2, "nobody", "{}") "]");
    check(two, 200, "[{\"jsonrpc\":\"2.0\",\"id\":1,");
    assert_true(holds(two, "-32600") && holds(two, "Unknown tool"));
    check(post(JSON_TYPES, "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}]"), 202, "");
    for (int n = 64; n <= 65; n++) {
        buf_clear(&b);
        for (int i = 0; i < n; i++)
            (void)buf_printf(&b, "%s" CALL(1, "echo", "{}"), i > 0 ? "," : "[");
        (void)buf_add_char(&b, ']');
        check(post(JSON_TYPES, buf_cstr(&b)), n == 64 ? 200 : 400, n == 64 ? "said" : "-32600");
    }
    begin_session(session, "2025-06-18", "{}");
    check(post(session, "[" CALL(1, "echo", "{}") "]"), 400, "batches are not supported");
}

/* ---- sessions ---- */

static void a_session_is_its_owners(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    assert_int_equal(mcp_server_n_sessions(server), 1);
    check(post(session, CALL(1, "echo", "{}")), 200, "said");
    owner = "you";
    check(post(session, CALL(1, "echo", "{}")), 404, "Session not found");
    mcp_forget(server, STR("you"));
    assert_int_equal(mcp_server_n_sessions(server), 1);
    mcp_forget(server, STR("me"));
    owner = "me";
    check(post(session, CALL(1, "echo", "{}")), 404, "Session not found");
}

static void versions_are_agreed_upon(void **state)
{
    (void)state;
    check(post(JSON_TYPES, INITIALIZE("2024-11-05", "{}")), 200,
          "\"protocolVersion\":\"2024-11-05\"");
    check(post(JSON_TYPES, INITIALIZE("1999-01-01", "{}")), 200,
          "\"protocolVersion\":\"2025-11-25\"");
    check(post(JSON_TYPES, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}"), 200,
          "protocolVersion is required");
}

static void the_oldest_session_makes_room(void **state)
{
    char first[256], second[256], third[256];

    (void)state;
    make_server((struct mcp_limits){.max_sessions = 2}, "");
    begin_session(first, "2025-11-25", "{}");
    begin_session(second, "2025-11-25", "{}");
    /* Using it makes it the younger one. */
    check(post(first, CALL(1, "echo", "{}")), 200, "said");
    begin_session(third, "2025-11-25", "{}");
    assert_int_equal(mcp_server_n_sessions(server), 2);
    check(post(second, CALL(1, "echo", "{}")), 404, "");
    check(post(first, CALL(1, "echo", "{}")), 200, "said");
}

static void sessions_in_use_are_not_given_away(void **state)
{
    char first[256];

    (void)state;
    make_server((struct mcp_limits){.max_sessions = 1}, "");
    begin_session(first, "2025-11-25", "{}");
    assert_int_equal(post(first, CALL(1, "hold", "{}")).len, 0);
    check(post_to(1, "/mcp", JSON_TYPES, INITIALIZE("2025-11-25", "{}")), 503, "too many sessions");
    mcp_reply_text(held, STR("now"), false);
    turn();
    (void)hear(0);
    check(heard(0), 200, "now");
    check(post_to(1, "/mcp", JSON_TYPES, INITIALIZE("2025-11-25", "{}")), 200, "serverInfo");
}

static void idle_sessions_end(void **state)
{
    char session[256];

    (void)state;
    make_server((struct mcp_limits){.session_idle_ms = 10000}, "");
    begin_session(session, "2025-11-25", "{}");
    pass_ms(9000);
    check(post(session, CALL(1, "echo", "{}")), 200, "said");
    for (int i = 0; i < 9; i++)
        pass_ms(1000);
    assert_int_equal(mcp_server_n_sessions(server), 1);
    for (int i = 0; i < 9; i++)
        pass_ms(1000);
    assert_int_equal(mcp_server_n_sessions(server), 0);
}

static void signed_sessions_outlive_the_server(void **state)
{
    char session[256];

    (void)state;
    make_server((struct mcp_limits){0}, "secret");
    begin_session(session, "2025-06-18", "{}");
    make_server((struct mcp_limits){0}, "secret");
    check(post(session, CALL(1, "echo", "{}")), 200, "said");
    owner = "you";
    check(post(session, CALL(1, "echo", "{}")), 404, "");
    owner = "me";
    make_server((struct mcp_limits){0}, "other");
    check(post(session, CALL(1, "echo", "{}")), 404, "");
    make_server((struct mcp_limits){0}, "");
    check(post(session, CALL(1, "echo", "{}")), 404, "");
    /* A digit of the id changed. */
    make_server((struct mcp_limits){0}, "secret");
    char *digit = strstr(session, "Mcp-Session-Id: ") + 20;
    *digit = *digit == 'a' ? 'b' : 'a';
    check(post(session, CALL(1, "echo", "{}")), 404, "");
}

static void an_ended_session_stays_ended(void **state)
{
    char session[256], request[600];

    (void)state;
    make_server((struct mcp_limits){0}, "secret");
    begin_session(session, "2025-11-25", "{}");
    (void)snprintf(request, sizeof request, "DELETE /mcp HTTP/1.1\r\nHost: a\r\n%s\r\n", session);
    say(0, request);
    turn();
    (void)hear(0);
    check(heard(0), 204, "");
    check(post(session, CALL(1, "echo", "{}")), 404, "");
    say(0, request);
    turn();
    (void)hear(0);
    check(heard(0), 404, "");
}

/* ---- calls that last ---- */

static void calls_have_a_limit(void **state)
{
    (void)state;
    make_server((struct mcp_limits){.max_calls = 1}, "");
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    assert_non_null(held);
    check(post_to(1, "/mcp", JSON_TYPES, CALL(2, "echo", "{}")), 503, "too many calls");
    mcp_reply_text(held, STR("done"), false);
    check(post_to(1, "/mcp", JSON_TYPES, CALL(2, "echo", "{}")), 200, "said");
}

static void a_client_that_leaves_cancels(void **state)
{
    (void)state;
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    hang_up(0);
    turn();
    assert_int_equal(n_cancelled, 1);
    assert_int_equal(n_released, 1);
}

static void a_notice_cancels_one_call(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)post(session, CALL(5, "hold", "{}"));
    static const char cancel[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                                 "\"params\":{\"requestId\":%s}}";
    char body[200];
    (void)snprintf(body, sizeof body, cancel, "\"5\"");
    check(post_to(1, "/mcp", session, body), 202, "");
    assert_int_equal(n_cancelled, 0); /* a text is another id */
    (void)snprintf(body, sizeof body, cancel, "5");
    check(post_to(1, "/mcp", session, body), 202, "");
    assert_int_equal(n_cancelled, 1);
    (void)hear(0);
    assert_false(holds(heard(0), "too late"));
}

static void freeing_the_server_cancels_calls(void **state)
{
    (void)state;
    (void)post(JSON_TYPES, CALL(1, "hold", "{}"));
    mcp_server_free(server);
    server = NULL;
    assert_int_equal(n_cancelled, 1);
}

static void notes_make_a_stream(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    static const char call[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"notes\",\"_meta\":{\"progressToken\":\"p\"}}}";
    struct str all = post(session, call);
    check(all, 200, "text/event-stream");
    assert_true(holds(all, "\"loud\"") && !holds(all, "\"quiet\""));
    assert_true(holds(all, "\"progressToken\":\"p\"") && holds(all, "\"text\":\"end\""));
    /* One that takes JSON alone gets the answer and no notes. */
    char plain[300];
    (void)snprintf(plain, sizeof plain, "%sAccept: application/json\r\n", session);
    struct str only = post(plain, call);
    check(only, 200, "\"text\":\"end\"");
    assert_false(holds(only, "loud"));
}

/* ---- questions ---- */

static void a_question_is_answered_in_another_request(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{\"elicitation\":{}}");
    struct str asked = post(session, CALL(1, "ask", "{}"));
    check(asked, 200, "elicitation/create");
    ptrdiff_t at = str_find(asked, STR("\"id\":"));
    assert_true(at > 0);
    char body[200];
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":"
                   "\"accept\"}}",
                   (int)strtol(asked.p + at + 5, NULL, 10));
    check(post_to(1, "/mcp", session, "{\"jsonrpc\":\"2.0\",\"id\":999999,\"result\":{}}"), 202,
          "");
    check(post_to(1, "/mcp", session, body), 202, "");
    (void)hear(0);
    assert_true(holds(heard(0), "\"text\":\"accept\""));
}

static void a_client_that_cannot_answer_is_not_asked(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    check(post(session, CALL(1, "ask", "{}")), 200, "lacks a required capability");
}

static void a_question_does_not_wait_for_ever(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{\"elicitation\":{}}");
    check(post(session, CALL(1, "ask", "{}")), 200, "elicitation/create");
    for (int i = 0; i < 61; i++)
        pass_ms(10000);
    (void)hear(0);
    assert_true(holds(heard(0), "no answer"));
}

/* ---- the older pair ---- */

static void the_older_pair_answers_on_its_stream(void **state)
{
    char path[200];

    (void)state;
    connect_client(1);
    say(1, GET("/sse"));
    turn();
    (void)hear(1);
    struct str begun = heard(1);
    check(begun, 200, "event: endpoint");
    ptrdiff_t at = str_find(begun, STR("/messages?sessionId="));
    assert_true(at > 0);
    struct str rest = str_skip(begun, (size_t)at);
    (void)snprintf(path, sizeof path, "%.*s", (int)strcspn(rest.p, "\r\n"), rest.p);
    check(post_to(0, path, JSON_TYPES, CALL(3, "echo", "{}")), 202, "");
    (void)hear(1);
    assert_true(holds(heard(1), "\"id\":3"));
    check(post_to(0, "/messages?sessionId=none", JSON_TYPES, CALL(3, "echo", "{}")), 404, "");
    check(post_to(0, "/messages", JSON_TYPES, CALL(3, "echo", "{}")), 404, "");
    owner = "you";
    check(post_to(0, path, JSON_TYPES, CALL(3, "echo", "{}")), 404, "");
}

/* ---- 2026-07-28 ---- */

#define MODERN_META                                                                                \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN_HEADERS JSON_TYPES "MCP-Protocol-Version: 2026-07-28\r\n"

static void modern_headers_repeat_the_body(void **state)
{
    static const char call[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"echo\",\"arguments\":{}," MODERN_META "}}";
    static const struct {
        const char *headers;
        int status;
        const char *part;
    } rows[] = {
        {MODERN_HEADERS "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n", 200, "said"},
        {MODERN_HEADERS "Mcp-Method: tools/call\r\nMcp-Name: =?base64?ZWNobw==?=\r\n", 200, "said"},
        {MODERN_HEADERS "Mcp-Method: tools/call\r\nMcp-Name: =?base64?ZWNobw?=\r\n", 400, "-32020"},
        {MODERN_HEADERS "Mcp-Method: tools/call\r\nMcp-Name: other\r\n", 400, "-32020"},
        {MODERN_HEADERS "Mcp-Method: tools/call\r\n", 400, "Mcp-Name header is required"},
        {MODERN_HEADERS "Mcp-Method: ping\r\nMcp-Name: echo\r\n", 400, "-32020"},
        {MODERN_HEADERS "Mcp-Name: echo\r\n", 400, "Mcp-Method header is required"},
        {JSON_TYPES "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n", 400, "MCP-Protocol-Version"},
        {JSON_TYPES "MCP-Protocol-Version: 2025-06-18\r\nMcp-Method: tools/call\r\n", 400,
         "-32020"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(post(rows[i].headers, call), rows[i].status, rows[i].part);
    check(post(MODERN_HEADERS, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}"),
          400, "params._meta is required");
    check(post(MODERN_HEADERS "Mcp-Method: ping\r\n",
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" MODERN_META "}}"),
          404, "-32601");
    check(
        post(MODERN_HEADERS "Mcp-Method: server/discover\r\n",
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" MODERN_META
             "}}"),
        200, "\"supportedVersions\":[\"2026-07-28\"");
}

static void modern_versions_that_are_unknown(void **state)
{
    (void)state;
    check(
        post(JSON_TYPES "MCP-Protocol-Version: 2099-01-01\r\nMcp-Method: server/discover\r\n",
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{\"_meta\":{"
             "\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\","
             "\"io.modelcontextprotocol/clientCapabilities\":{}}}}"),
        400, "\"requested\":\"2099-01-01\"");
}

#define ENGINE_TEST(f) MCP_TEST(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TEST(what_is_not_a_message),
        ENGINE_TEST(tools_are_called_with_what_their_schema_says),
        ENGINE_TEST(answers_have_a_limit),
        ENGINE_TEST(resources_and_templates),
        ENGINE_TEST(batches_are_of_the_old_revisions),
        ENGINE_TEST(a_session_is_its_owners),
        ENGINE_TEST(versions_are_agreed_upon),
        ENGINE_TEST(the_oldest_session_makes_room),
        ENGINE_TEST(sessions_in_use_are_not_given_away),
        ENGINE_TEST(idle_sessions_end),
        ENGINE_TEST(signed_sessions_outlive_the_server),
        ENGINE_TEST(an_ended_session_stays_ended),
        ENGINE_TEST(calls_have_a_limit),
        ENGINE_TEST(a_client_that_leaves_cancels),
        ENGINE_TEST(a_notice_cancels_one_call),
        ENGINE_TEST(freeing_the_server_cancels_calls),
        ENGINE_TEST(notes_make_a_stream),
        ENGINE_TEST(a_question_is_answered_in_another_request),
        ENGINE_TEST(a_client_that_cannot_answer_is_not_asked),
        ENGINE_TEST(a_question_does_not_wait_for_ever),
        ENGINE_TEST(the_older_pair_answers_on_its_stream),
        ENGINE_TEST(modern_headers_repeat_the_body),
        ENGINE_TEST(modern_versions_that_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
