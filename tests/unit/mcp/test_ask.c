/* SPDX-License-Identifier: MIT */
/* Questions: the abilities of clients, answers in a session, and rounds of 2026-07-28 with the
 * state that travels between them. */
#include "mcp_world.h"

#include <stdio.h>
#include <string.h>

#include "mcp/exchange.h"

static unsigned abilities_in(const char *text)
{
    struct arena a auto_arena;

    arena_init(&a, 1 << 16);
    return mcp_capabilities(json_parse(&a, str_of(text), NULL, NULL));
}

static void abilities(void **state)
{
    static const struct {
        const char *text;
        unsigned bits;
    } rows[] = {
        {"{}", 0},
        {"[]", 0},
        {"{\"sampling\":{}}", MCP_CAN_SAMPLE},
        {"{\"sampling\":true}", 0},
        {"{\"elicitation\":{\"form\":{}},\"roots\":{}}", MCP_CAN_ELICIT | MCP_CAN_ROOTS},
        {"{\"tasks\":{}}", 0},
        {"{\"extensions\":{}}", 0},
        {"{\"extensions\":{\"io.modelcontextprotocol/tasks\":true}}", 0},
        {CAN_TASKS, MCP_CAN_ELICIT | MCP_CAN_TASKS},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(abilities_in(rows[i].text), rows[i].bits);
    assert_int_equal(mcp_ask_needs("elicitation/create"), MCP_CAN_ELICIT);
    assert_int_equal(mcp_ask_needs("sampling/createMessage"), MCP_CAN_SAMPLE);
    assert_int_equal(mcp_ask_needs("roots/list"), MCP_CAN_ROOTS);
    assert_int_equal(mcp_ask_needs("ping"), 0);
}

/* Calls "ask" with the members MORE of params. */
static struct str ask(const char *more)
{
    char params[3000];

    (void)snprintf(params, sizeof params, "\"name\":\"ask\"%s%s", more[0] ? "," : "", more);
    return modern(0, "tools/call", "ask", params);
}

static struct str ask_with_state(const char *request_state, const char *responses)
{
    char more[2000];

    (void)snprintf(more, sizeof more, "\"requestState\":\"%s\",\"inputResponses\":%s",
                   request_state, responses);
    return ask(more);
}

static void rounds(void **state)
{
    char carried[1000];

    (void)state;
    struct str answer = ask("");
    check(answer, 200, "\"resultType\":\"input_required\"");
    assert_true(holds(answer, "\"inputRequests\":{\"name\":{\"method\":\"elicitation/create\","
                              "\"params\":{\"message\":\"who?\"}}}"));
    find_text(answer, "requestState", carried, sizeof carried);
    check(ask_with_state(carried, "{\"other\":{}}"), 200, "input_required");
    check(ask_with_state(carried, "{\"name\":{\"action\":\"accept\"}}"), 200,
          "\"text\":\"accept\"");
    /* Answers without a question before are as good. */
    check(ask("\"inputResponses\":{\"name\":{\"action\":\"decline\"}}"), 200, "decline");
    check(ask("\"inputResponses\":[]"), 200, "inputResponses must be an object");
    check(ask("\"inputResponses\":{\"name\":\"ann\"}"), 200, "'name' must be an object");
}

static void answers_travel_in_the_state(void **state)
{
    char carried[1000];

    (void)state;
    modern_can = "{\"elicitation\":{},\"sampling\":{}}";
    struct str answer = ask("\"inputResponses\":{\"extra\":{\"x\":1}}");
    find_text(answer, "requestState", carried, sizeof carried);
    size_t before = strlen(carried);
    answer = ask("");
    find_text(answer, "requestState", carried, sizeof carried);
    assert_true(strlen(carried) < before);
}

static void a_state_is_for_its_call(void **state)
{
    char carried[1000], params[1200];

    (void)state;
    find_text(ask(""), "requestState", carried, sizeof carried);
    owner = "you";
    check(ask_with_state(carried, "{}"), 200, "requestState is not valid");
    owner = "me";
    (void)snprintf(params, sizeof params, "\"name\":\"later\",\"requestState\":\"%s\"", carried);
    check(modern(0, "tools/call", "later", params), 200, "requestState is not valid");
    check(ask_with_state(carried, "{}"), 200, "input_required");
    for (size_t i = 0; i < strlen(carried); i += 7) {
        char was = carried[i];
        carried[i] = was == 'A' ? 'B' : 'A';
        check(ask_with_state(carried, "{}"), 200, "requestState is not valid");
        carried[i] = was;
    }
    check(ask_with_state("", "{}"), 200, "not valid");
    check(ask_with_state("AAAA", "{}"), 200, "not valid");
    check(ask("\"requestState\":7"), 200, "not valid");
}

static void a_state_ends(void **state)
{
    char carried[1000];

    (void)state;
    find_text(ask(""), "requestState", carried, sizeof carried);
    pass_ms(599000);
    hang_up(0); /* as the server did, which saw nothing for long */
    check(ask_with_state(carried, "{}"), 200, "input_required");
    pass_ms(2000);
    check(ask_with_state(carried, "{}"), 200, "not valid");
}

static void a_restart_ends_it(void **state)
{
    char carried[1000];

    (void)state;
    find_text(ask(""), "requestState", carried, sizeof carried);
    make_server((struct mcp_limits){0}, "");
    check(ask_with_state(carried, "{}"), 200, "not valid");
}

static void what_a_client_lacks(void **state)
{
    (void)state;
    modern_can = "{\"sampling\":{}}";
    struct str answer = ask("");
    check(answer, 400, "-32021");
    assert_true(holds(answer, "{\"requiredCapabilities\":{\"elicitation\":{}}}"));
}

/* ---- in a session ---- */

static void an_error_is_no_answer(void **state)
{
    char session[256], body[200];

    (void)state;
    begin_session(session, "2025-11-25", "{\"elicitation\":{}}");
    struct str asked = post(session, CALL(1, "ask", "{}"));
    ptrdiff_t at = str_find(asked, STR("\"id\":"));
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":-1,\"message\":\"no\"}}",
                   (int)strtol(asked.p + at + 5, NULL, 10));
    check(post_to(1, "/mcp", session, body), 202, "");
    assert_true(holds(more_of(0), "no answer"));
    check(post_to(1, "/mcp", session, body), 202, "");
}

static void an_answer_of_another_session_is_none(void **state)
{
    char session[256], other[256], body[200];

    (void)state;
    begin_session(session, "2025-11-25", "{\"elicitation\":{}}");
    begin_session(other, "2025-11-25", "{\"elicitation\":{}}");
    struct str asked = post(session, CALL(1, "ask", "{}"));
    ptrdiff_t at = str_find(asked, STR("\"id\":"));
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":\"accept\"}}",
                   (int)strtol(asked.p + at + 5, NULL, 10));
    check(post_to(1, "/mcp", other, body), 202, "");
    assert_int_equal(more_of(0).len, 0);
    check(post_to(1, "/mcp", session, body), 202, "");
    assert_true(holds(more_of(0), "accept"));
}

static void without_a_stream_nobody_is_asked(void **state)
{
    char session[256], plain[300];

    (void)state;
    begin_session(session, "2025-11-25", "{\"elicitation\":{}}");
    (void)snprintf(plain, sizeof plain, "%sAccept: application/json\r\n", session);
    check(post(plain, CALL(1, "ask", "{}")), 200, "no answer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MCP_TEST(abilities),
        MCP_TEST(rounds),
        MCP_TEST(answers_travel_in_the_state),
        MCP_TEST(a_state_is_for_its_call),
        MCP_TEST(a_state_ends),
        MCP_TEST(a_restart_ends_it),
        MCP_TEST(what_a_client_lacks),
        MCP_TEST(an_error_is_no_answer),
        MCP_TEST(an_answer_of_another_session_is_none),
        MCP_TEST(without_a_stream_nobody_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
