/* SPDX-License-Identifier: MIT */
/* Tasks: the table of their statuses, both wires, questions in the middle, cancelling, expiry,
 * whose they are, their limits, and what is said of those that were lost. */
#include "mcp_world.h"

#include <stdio.h>
#include <string.h>

#include "mcp/task.h"

enum { ID_SIZE = 80 };

/* ---- the status ---- */

static void statuses(void **state)
{
    (void)state;
    for (unsigned from = 0; from < MCP_STATUS_COUNT; from++) {
        bool is_over = from >= MCP_COMPLETED;
        assert_int_equal(mcp_status_is_over(from), is_over);
        for (unsigned to = 0; to < MCP_STATUS_COUNT; to++)
            assert_int_equal(mcp_status_may(from, to), !is_over && from != to);
    }
    assert_string_equal(mcp_status_names[MCP_INPUT_REQUIRED], "input_required");
}

static void a_message_is_cut_between_characters(void **state)
{
    struct mcp_task t = {.text = ""};
    char text[2 * MCP_TASK_TEXT_MAX];

    (void)state;
    mcp_task_say(&t, "short");
    assert_string_equal(t.text, "short");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    mcp_task_say(&t, text);
    assert_int_equal(strlen(t.text), MCP_TASK_TEXT_MAX - 1);
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "ü", 2);
    mcp_task_say(&t, text);
    assert_int_equal(strlen(t.text) % 2, 0);
}

/* ---- 2026-07-28 ---- */

static void begin_modern(int client, const char *tool, const char *arguments, char id[ID_SIZE])
{
    char params[512];

    (void)snprintf(params, sizeof params, "\"name\":\"%s\",\"arguments\":%s", tool, arguments);
    struct str answer = modern(client, "tools/call", tool, params);
    if (answer.len == 0) {
        pass_ms(500);
        (void)hear(client);
        answer = heard(client);
    }
    check(answer, 200, "\"resultType\":\"task\"");
    find_text(answer, "taskId", id, ID_SIZE);
}

static struct str about(const char *method, const char *id, const char *more)
{
    char params[1024];

    (void)snprintf(params, sizeof params, "\"taskId\":\"%s\"%s%s", id, more[0] ? "," : "", more);
    return modern(3, method, id, params);
}

static void a_call_that_takes_long_becomes_a_task(void **state)
{
    char id[ID_SIZE];

    (void)state;
    struct str answer =
        modern(0, "tools/call", "work", "\"name\":\"work\",\"arguments\":{\"ms\":5000}");
    assert_int_equal(answer.len, 0);
    pass_ms(499);
    assert_int_equal(more_of(0).len, 0);
    pass_ms(1);
    answer = more_of(0);
    check(answer, 200, "\"resultType\":\"task\"");
    assert_true(holds(answer, "\"ttlMs\":905000") && holds(answer, "\"pollIntervalMs\":1000"));
    find_text(answer, "taskId", id, sizeof id);
    answer = about("tasks/get", id, "");
    check(answer, 200, "\"status\":\"working\"");
    assert_true(!holds(answer, "\"result\":{\"resultType\":\"complete\",\"content\""));
    /* The connection may go: the work does not. */
    hang_up(0);
    turn();
    assert_int_equal(n_cancelled, 0);
    mcp_reply_text(held, STR("worked"), false);
    answer = about("tasks/get", id, "");
    check(answer, 200, "\"status\":\"completed\"");
    assert_true(holds(answer,
                      "\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\","
                      "\"text\":\"worked\"}],\"_meta\":"));
}

static void a_quick_call_is_none(void **state)
{
    (void)state;
    (void)modern(0, "tools/call", "work", "\"name\":\"work\"");
    pass_ms(100);
    mcp_reply_text(held, STR("soon"), false);
    struct str answer = more_of(0);
    check(answer, 200, "\"resultType\":\"complete\"");
    assert_true(holds(answer, "soon") && !holds(answer, "taskId"));
    pass_ms(1000);
    assert_int_equal(more_of(0).len, 0);
}

static void a_client_without_tasks_waits(void **state)
{
    (void)state;
    modern_can = "{}";
    (void)modern(0, "tools/call", "work", "\"name\":\"work\"");
    pass_ms(5000);
    assert_int_equal(more_of(0).len, 0);
    mcp_reply_text(held, STR("at last"), false);
    check(more_of(0), 200, "at last");
    check(modern(0, "tools/call", "must", "\"name\":\"must\""), 400, "-32021");
    check(modern(0, "tools/call", "later", "\"name\":\"later\""), 400,
          "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");
    check(modern(0, "tasks/get", "x", "\"taskId\":\"x\""), 400, "-32021");
    check(modern(0, "tasks/cancel", "x", "\"taskId\":\"x\""), 400, "-32021");
    check(modern(0, "tasks/update", "x", "\"taskId\":\"x\",\"inputResponses\":{}"), 400, "-32021");
}

static void what_2026_does_not_have(void **state)
{
    (void)state;
    check(modern(0, "tasks/result", NULL, "\"taskId\":\"x\""), 404, "-32601");
    check(modern(0, "tasks/list", NULL, ""), 404, "-32601");
    check(modern(0, "tasks/get", "x", "\"taskId\":\"x\""), 200, "-32602");
    check(modern(0, "tasks/get", "y", "\"taskId\":\"x\""), 400, "-32020");
    check(modern(0, "tasks/get", NULL, "\"taskId\":\"x\""), 400, "-32020");
    check(modern(0, "tasks/get", NULL, ""), 200, "-32602");
    check(modern(0, "server/discover", NULL, ""), 200,
          "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}");
    /* What 2025-11-25 would take as a wish is nothing here. */
    check(modern(0, "tools/call", "echo", "\"name\":\"echo\",\"task\":{\"ttl\":5}"), 200, "said");
}

static void an_outcome_at_once(void **state)
{
    char id[ID_SIZE];

    (void)state;
    begin_modern(0, "must_echo", "{}", id);
    check(about("tasks/get", id, ""), 200, "\"status\":\"completed\"");
    begin_modern(0, "must", "{}", id);
    mcp_reply_text(held, STR("bad"), true);
    check(about("tasks/get", id, ""), 200, "\"isError\":true");
    begin_modern(0, "must", "{}", id);
    mcp_reply_error(held, -32042, STR("broken"), STR("[1]"));
    struct str answer = about("tasks/get", id, "");
    check(answer, 200, "\"status\":\"failed\"");
    assert_true(holds(answer, "\"error\":{\"code\":-32042,\"message\":\"broken\",\"data\":[1]}"));
}

/* ---- questions ---- */

static void questions_wait_in_the_task(void **state)
{
    char id[ID_SIZE];

    (void)state;
    modern_can = "{\"elicitation\":{},\"sampling\":{},\"extensions\":{"
                 "\"io.modelcontextprotocol/tasks\":{}}}";
    begin_modern(0, "must_ask", "{}", id);
    struct str answer = about("tasks/get", id, "");
    check(answer, 200, "\"status\":\"input_required\"");
    assert_true(holds(answer, "\"inputRequests\":{\"name\":{\"method\":\"elicitation/create\","
                              "\"params\":{\"message\":\"who?\"}},\"model\":"));
    check(about("tasks/update", id, ""), 200, "inputResponses must be an object");
    check(about("tasks/update", id, "\"inputResponses\":{\"name\":1}"), 200, "-32602");
    check(about("tasks/update", id, "\"inputResponses\":{\"other\":{}}"), 200, "complete");
    check(about("tasks/update", id, "\"inputResponses\":{\"model\":{\"x\":1}}"), 200, "complete");
    answer = about("tasks/get", id, "");
    assert_true(holds(answer, "input_required") && holds(answer, "\"name\":{\"method\""));
    assert_false(holds(answer, "\"model\":{\"method\""));
    check(about("tasks/update", id, "\"inputResponses\":{\"name\":{\"action\":\"accept\"}}"), 200,
          "complete");
    answer = about("tasks/get", id, "");
    check(answer, 200, "\"status\":\"completed\"");
    assert_true(holds(answer, "\"text\":\"accept\"") && !holds(answer, "inputRequests"));
    check(about("tasks/update", id, "\"inputResponses\":{\"name\":{}}"), 200, "complete");
}

static void questions_that_are_cancelled(void **state)
{
    char id[ID_SIZE];

    (void)state;
    begin_modern(0, "must_ask", "{}", id);
    check(about("tasks/cancel", id, ""), 200, "\"resultType\":\"complete\"");
    struct str answer = about("tasks/get", id, "");
    check(answer, 200, "\"status\":\"cancelled\"");
    assert_false(holds(answer, "no answer"));
    assert_int_equal(n_released, 3);
}

static void a_task_that_begins_behind_its_questions(void **state)
{
    char request_state[512], params[1024], id[ID_SIZE];

    (void)state;
    struct str answer = modern(0, "tools/call", "later", "\"name\":\"later\"");
    check(answer, 200, "\"resultType\":\"input_required\"");
    assert_false(holds(answer, "taskId"));
    find_text(answer, "requestState", request_state, sizeof request_state);
    (void)snprintf(params, sizeof params,
                   "\"name\":\"later\",\"requestState\":\"%s\",\"inputResponses\":{\"name\":{}}",
                   request_state);
    answer = modern(0, "tools/call", "later", params);
    check(answer, 200, "\"resultType\":\"task\"");
    assert_false(holds(answer, "requestState"));
    find_text(answer, "taskId", id, sizeof id);
    mcp_reply_text(held, STR("named"), false);
    check(about("tasks/get", id, ""), 200, "named");
}

/* ---- 2025-11-25 ---- */

#define TASK_CALL(name, ttl) "\"name\":\"" name "\",\"task\":{" ttl "}"

static void begin_old(const char *params, char id[ID_SIZE])
{
    struct str answer = old(0, OLD_HEADERS, "tools/call", params);

    check(answer, 200, "\"result\":{\"task\":{\"taskId\":");
    find_text(answer, "taskId", id, ID_SIZE);
}

static struct str old_about(int client, const char *method, const char *id)
{
    char params[256];

    (void)snprintf(params, sizeof params, "\"taskId\":\"%s\"", id);
    return old(client, OLD_HEADERS, method, params);
}

static void a_client_asks_for_a_task(void **state)
{
    char id[ID_SIZE], related[200];

    (void)state;
    begin_old(TASK_CALL("work", "\"ttl\":60000"), id);
    struct str answer = old_about(1, "tasks/get", id);
    check(answer, 200, "\"status\":\"working\"");
    assert_true(holds(answer, "\"ttl\":60000,\"pollInterval\":1000"));
    assert_true(holds(answer, "\"statusMessage\":\"half way\""));
    check(old(1, OLD_HEADERS, "tasks/list", ""), 200, id);
    /* Two wait for it. */
    assert_int_equal(old_about(1, "tasks/result", id).len, 0);
    assert_int_equal(old_about(2, "tasks/result", id).len, 0);
    mcp_reply_text(held, STR("ready"), false);
    (void)snprintf(related, sizeof related,
                   "\"text\":\"ready\"}],\"_meta\":{\"io.modelcontextprotocol/related-task\":{"
                   "\"taskId\":\"%s\"}}}",
                   id);
    check(more_of(1), 200, related);
    check(more_of(2), 200, related);
    check(old_about(1, "tasks/result", id), 200, related);
    check(old_about(1, "tasks/cancel", id), 200, "-32602");
    check(old_about(1, "tasks/get", id), 200, "\"status\":\"completed\"");
}

static void which_tools_can(void **state)
{
    (void)state;
    check(old(0, OLD_HEADERS, "tools/call", TASK_CALL("echo", "")), 200, "-32601");
    check(old(0, OLD_HEADERS, "tools/call", "\"name\":\"must\""), 200, "-32601");
    check(old(0, OLD_HEADERS, "tools/call", "\"name\":\"later\""), 200, "-32601");
    /* An older revision has no such wish. */
    check(old(0, JSON_TYPES, "tools/call", TASK_CALL("echo", "")), 200, "said");
    check(old(0, JSON_TYPES, "tools/call", "\"name\":\"must_echo\""), 200,
          "must be called as a task");
    struct str tools = old(0, OLD_HEADERS, "tools/list", "");
    check(tools, 200, "\"execution\":{\"taskSupport\":\"optional\"}");
    assert_true(holds(tools, "\"execution\":{\"taskSupport\":\"required\"}"));
    check(old(0, OLD_HEADERS, "tasks/list", "\"cursor\":\"1\""), 200, "-32602");
    check(old(0, OLD_HEADERS, "tasks/list", "\"cursor\":null"), 200, "\"tasks\":[]");
    check(old(0, OLD_HEADERS, "tasks/update", ""), 200, "-32601");
}

static void cancelling(void **state)
{
    char id[ID_SIZE];

    (void)state;
    begin_old(TASK_CALL("work", ""), id);
    assert_int_equal(old_about(1, "tasks/result", id).len, 0);
    check(old_about(2, "tasks/cancel", id), 200, "\"status\":\"cancelled\"");
    assert_int_equal(n_cancelled, 1);
    check(more_of(1), 200, "the task was cancelled");
    check(old_about(2, "tasks/get", id), 200, "\"status\":\"cancelled\"");
    check(old_about(2, "tasks/result", id), 200, "-32603");
    assert_false(holds(old_about(2, "tasks/get", id), "too late"));
}

static void who_waits_may_leave(void **state)
{
    char id[ID_SIZE];

    (void)state;
    begin_old(TASK_CALL("work", ""), id);
    assert_int_equal(old_about(1, "tasks/result", id).len, 0);
    hang_up(1);
    turn();
    mcp_reply_text(held, STR("still"), false);
    check(old_about(2, "tasks/result", id), 200, "still");
}

static void questions_go_to_who_waits(void **state)
{
    char session[256], id[ID_SIZE], params[256], body[256];

    (void)state;
    begin_session(session, "2025-11-25", "{\"elicitation\":{}}");
    struct str answer = old(0, session, "tools/call", TASK_CALL("must_ask", ""));
    check(answer, 200, "\"task\":{");
    find_text(answer, "taskId", id, sizeof id);
    (void)snprintf(params, sizeof params, "\"taskId\":\"%s\"", id);
    check(old(1, session, "tasks/get", params), 200, "input_required");
    answer = old(1, session, "tasks/result", params);
    check(answer, 200, "text/event-stream");
    assert_true(holds(answer, "\"method\":\"elicitation/create\",\"params\":{\"message\":\"who?\","
                              "\"_meta\":{\"io.modelcontextprotocol/related-task\":"));
    ptrdiff_t at = str_find(answer, STR("\"id\":"));
    int number = (int)strtol(answer.p + at + 5, NULL, 10);
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":\"decline\"}}", number);
    check(post_to(2, "/mcp", session, body), 202, "");
    answer = more_of(1);
    assert_true(holds(answer, "\"text\":\"decline\""));
    check(post_to(2, "/mcp", session, body), 202, ""); /* once more: nobody asks */
}

static void a_question_outlives_its_session(void **state)
{
    char session[256], id[ID_SIZE], params[256];

    (void)state;
    begin_session(session, "2025-11-25", "{\"elicitation\":{}}");
    struct str answer = old(0, session, "tools/call", TASK_CALL("must_ask", ""));
    find_text(answer, "taskId", id, sizeof id);
    (void)snprintf(params, sizeof params, "\"taskId\":\"%s\"", id);
    check(old(1, session, "tasks/result", params), 200, "elicitation/create");
    struct mcp_task *t = mcp_task_find(server, str_of(id), STR("me"));
    assert_non_null(t);
    mcp_session_free(map_get(&server->sessions, str_of(t->session)));
    turn();
    check(about("tasks/update", id, "\"inputResponses\":{\"name\":{\"action\":\"cancel\"}}"), 200,
          "complete");
    check(about("tasks/get", id, ""), 200, "\"text\":\"cancel\"");
}

static void an_error_is_an_answer(void **state)
{
    char session[256], id[ID_SIZE], params[256], body[256];

    (void)state;
    begin_session(session, "2025-11-25", "{\"elicitation\":{}}");
    struct str answer = old(0, session, "tools/call", TASK_CALL("must_ask", ""));
    find_text(answer, "taskId", id, sizeof id);
    (void)snprintf(params, sizeof params, "\"taskId\":\"%s\"", id);
    answer = old(1, session, "tasks/result", params);
    ptrdiff_t at = str_find(answer, STR("\"id\":"));
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":1,\"message\":\"no\"}}",
                   (int)strtol(answer.p + at + 5, NULL, 10));
    check(post_to(2, "/mcp", session, body), 202, "");
    assert_true(holds(more_of(1), "no answer"));
    check(old_about(2, "tasks/get", id), 200, "\"status\":\"completed\"");
}

/* ---- the end of their time ---- */

static void expiry(void **state)
{
    char id[ID_SIZE];

    (void)state;
    begin_old(TASK_CALL("work", "\"ttl\":2000"), id);
    assert_int_equal(old_about(1, "tasks/result", id).len, 0);
    pass_ms(1999);
    check(old_about(2, "tasks/get", id), 200, "working");
    pass_ms(1);
    assert_int_equal(n_cancelled, 1);
    check(more_of(1), 200, "Task not found");
    check(old_about(2, "tasks/get", id), 200, "-32602");
    check(old(2, OLD_HEADERS, "tasks/list", ""), 200, "\"tasks\":[]");
}

static void times_to_live(void **state)
{
    static const struct {
        const char *params;
        const char *part;
    } rows[] = {
        {TASK_CALL("must_echo", "\"ttl\":1"), "\"ttl\":1,"},
        {TASK_CALL("must_echo", "\"ttl\":0"), "\"ttl\":1,"},
        {TASK_CALL("must_echo", "\"ttl\":-5"), "\"ttl\":1,"},
        {TASK_CALL("must_echo", "\"ttl\":2500.5"), "\"ttl\":2500,"},
        {TASK_CALL("must_echo", "\"ttl\":5000"), "\"ttl\":5000,"},
        {TASK_CALL("must_echo", "\"ttl\":5001"), "\"ttl\":5000,"},
        {TASK_CALL("must_echo", "\"ttl\":9007199254740991"), "\"ttl\":5000,"},
        {TASK_CALL("must_echo", "\"ttl\":null"), "\"ttl\":4000,"},
        {TASK_CALL("must_echo", ""), "\"ttl\":4000,"},
        {TASK_CALL("work", "") ",\"arguments\":{\"ms\":500}", "\"ttl\":4500,"},
        {TASK_CALL("work", "") ",\"arguments\":{\"ms\":50000}", "\"ttl\":5000,"},
    };

    (void)state;
    make_server((struct mcp_limits){.max_task_ttl_ms = 5000, .task_keep_ms = 4000}, "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(old(0, OLD_HEADERS, "tools/call", rows[i].params), 200, rows[i].part);
    pass_ms(5000);
    check(old(0, OLD_HEADERS, "tasks/list", ""), 200, "\"tasks\":[]");
    assert_int_equal(n_cancelled, 2);
}

/* ---- whose they are, and how many ---- */

static void other_owners(void **state)
{
    char id[ID_SIZE];

    (void)state;
    begin_old(TASK_CALL("work", ""), id);
    owner = "you";
    check(old_about(1, "tasks/get", id), 200, "-32602");
    check(old_about(1, "tasks/cancel", id), 200, "-32602");
    check(old_about(1, "tasks/result", id), 200, "-32602");
    check(about("tasks/update", id, "\"inputResponses\":{}"), 200, "-32602");
    check(old(1, OLD_HEADERS, "tasks/list", ""), 200, "\"tasks\":[]");
    mcp_forget(server, STR("you"));
    assert_int_equal(n_cancelled, 0);
    owner = "me";
    check(old_about(1, "tasks/get", id), 200, "working");
    mcp_forget(server, STR("me"));
    assert_int_equal(n_cancelled, 1);
    check(old_about(1, "tasks/get", id), 200, "-32602");
}

static void there_is_a_most(void **state)
{
    char first[ID_SIZE], second[ID_SIZE];

    (void)state;
    make_server((struct mcp_limits){.max_tasks = 2}, "");
    begin_old(TASK_CALL("must_echo", ""), first);
    begin_old(TASK_CALL("must_echo", ""), second);
    check(old(0, OLD_HEADERS, "tools/call", TASK_CALL("must_echo", "")), 200, "too many tasks");
    owner = "you";
    check(old(0, OLD_HEADERS, "tools/call", TASK_CALL("must_echo", "")), 200, "\"task\"");
    owner = "me";
    /* What was fetched makes room, and nothing else does. */
    check(old_about(1, "tasks/result", second), 200, "nothing");
    check(old(0, OLD_HEADERS, "tools/call", TASK_CALL("must_echo", "")), 200, "\"task\"");
    check(old_about(1, "tasks/get", second), 200, "-32602");
    check(old_about(1, "tasks/get", first), 200, "completed");
    /* A call that became too long goes on as a call. */
    (void)modern(2, "tools/call", "work", "\"name\":\"work\"");
    pass_ms(600);
    assert_int_equal(more_of(2).len, 0);
    mcp_reply_text(held, STR("as before"), false);
    check(more_of(2), 200, "as before");
}

static void results_have_a_most(void **state)
{
    char first[ID_SIZE], second[ID_SIZE];

    (void)state;
    make_server((struct mcp_limits){.max_task_bytes = 4000}, "");
    begin_old(TASK_CALL("must_big", "") ",\"arguments\":{\"n\":3000}", first);
    begin_old(TASK_CALL("must_big", "") ",\"arguments\":{\"n\":2000}", second);
    check(old_about(1, "tasks/get", first), 200, "completed");
    check(old_about(1, "tasks/get", second), 200, "failed");
    check(old_about(1, "tasks/result", second), 200, "no room to keep the result");
    check(old_about(1, "tasks/result", first), 200, "xxx");
    begin_old(TASK_CALL("must_big", "") ",\"arguments\":{\"n\":2000}", second);
    check(old_about(1, "tasks/result", second), 200, "xxx");
    check(old_about(1, "tasks/get", first), 200, "-32602");
}

/* ---- what was lost ---- */

static void a_lost_task_is_not_an_unknown_one(void **state)
{
    char id[ID_SIZE];

    (void)state;
    make_server((struct mcp_limits){0}, "secret");
    begin_old(TASK_CALL("work", "\"ttl\":5000"), id);
    assert_int_equal(strlen(id), MCP_SESSION_ID_LEN);
    make_server((struct mcp_limits){0}, "secret");
    assert_int_equal(n_cancelled, 1);
    struct str answer = about("tasks/get", id, "");
    check(answer, 200, "\"status\":\"failed\"");
    assert_true(holds(answer, "the service restarted") && holds(answer, "\"ttlMs\":5000"));
    check(old_about(1, "tasks/result", id), 200, "\"error\":{\"code\":-32603");
    check(old_about(1, "tasks/cancel", id), 200, "-32602");
    check(about("tasks/cancel", id, ""), 200, "complete");
    check(about("tasks/update", id, "\"inputResponses\":{\"a\":{}}"), 200, "complete");
    owner = "you";
    check(about("tasks/get", id, ""), 200, "-32602");
    owner = "me";
    make_server((struct mcp_limits){0}, "other");
    check(about("tasks/get", id, ""), 200, "-32602");
    make_server((struct mcp_limits){0}, "secret");
    char last = id[63];
    id[63] = last == '0' ? '1' : '0';
    check(about("tasks/get", id, ""), 200, "-32602");
    id[63] = last;
    check(about("tasks/get", id, ""), 200, "failed");
    pass_ms(6000);
    check(about("tasks/get", id, ""), 200, "-32602");
}

static void the_server_ends_before_its_tasks(void **state)
{
    char id[ID_SIZE];

    (void)state;
    begin_old(TASK_CALL("work", ""), id);
    assert_int_equal(old_about(1, "tasks/result", id).len, 0);
    begin_old(TASK_CALL("must_ask", ""), id);
    mcp_server_free(server);
    server = NULL;
    assert_int_equal(n_cancelled, 1);
    turn();
    assert_int_equal(n_released, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MCP_TEST(statuses),
        MCP_TEST(a_message_is_cut_between_characters),
        MCP_TEST(a_call_that_takes_long_becomes_a_task),
        MCP_TEST(a_quick_call_is_none),
        MCP_TEST(a_client_without_tasks_waits),
        MCP_TEST(what_2026_does_not_have),
        MCP_TEST(an_outcome_at_once),
        MCP_TEST(questions_wait_in_the_task),
        MCP_TEST(questions_that_are_cancelled),
        MCP_TEST(a_task_that_begins_behind_its_questions),
        MCP_TEST(a_client_asks_for_a_task),
        MCP_TEST(which_tools_can),
        MCP_TEST(cancelling),
        MCP_TEST(who_waits_may_leave),
        MCP_TEST(questions_go_to_who_waits),
        MCP_TEST(a_question_outlives_its_session),
        MCP_TEST(an_error_is_an_answer),
        MCP_TEST(expiry),
        MCP_TEST(times_to_live),
        MCP_TEST(other_owners),
        MCP_TEST(there_is_a_most),
        MCP_TEST(results_have_a_most),
        MCP_TEST(a_lost_task_is_not_an_unknown_one),
        MCP_TEST(the_server_ends_before_its_tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
