/* SPDX-License-Identifier: MIT */
/* Notices: lists that changed, resources that were updated, tasks that went on; who gets which. */
#include "mcp_world.h"

#include <stdio.h>

#include "mcp/exchange.h"

static struct str listen_to(int client, const char *filter)
{
    char params[1024];

    (void)snprintf(params, sizeof params, "\"notifications\":%s", filter);
    return modern(client, "subscriptions/listen", NULL, params);
}

static void listeners_get_what_they_asked_for(void **state)
{
    (void)state;
    struct str ack = listen_to(0, "{\"toolsListChanged\":true,\"promptsListChanged\":false}");
    check(ack, 200, "notifications/subscriptions/acknowledged");
    assert_true(holds(ack, "\"notifications\":{\"toolsListChanged\":true}}"));
    assert_true(holds(ack, "\"io.modelcontextprotocol/subscriptionId\":1"));
    mcp_list_changed(server, STR_NULL, MCP_LIST_PROMPTS);
    assert_int_equal(more_of(0).len, 0);
    mcp_list_changed(server, STR_NULL, MCP_LIST_TOOLS);
    struct str got = more_of(0);
    assert_true(holds(got, "notifications/tools/list_changed"));
    assert_true(holds(got, "\"io.modelcontextprotocol/subscriptionId\":1"));
    mcp_resource_updated(server, STR_NULL, STR("t://fixed"));
    assert_int_equal(more_of(0).len, 0);
}

static void resources_are_named(void **state)
{
    (void)state;
    struct str ack = listen_to(0, "{\"resourceSubscriptions\":[\"t://fixed\",\"t://of/x\"]}");
    check(ack, 200, "\"resourceSubscriptions\":[\"t://fixed\",\"t://of/x\"]");
    mcp_resource_updated(server, STR_NULL, STR("t://other"));
    assert_int_equal(more_of(0).len, 0);
    mcp_resource_updated(server, STR("me"), STR("t://of/x"));
    assert_true(holds(more_of(0), "\"uri\":\"t://of/x\""));
    mcp_resource_updated(server, STR("you"), STR("t://of/x"));
    assert_int_equal(more_of(0).len, 0);
}

static void filters_that_are_none(void **state)
{
    (void)state;
    check(listen_to(0, "7"), 200, "-32602");
    check(listen_to(0, "[]"), 200, "-32602");
    check(modern(0, "subscriptions/listen", NULL, ""), 200, "-32602");
    assert_true(holds(listen_to(1, "{\"resourceSubscriptions\":[\"\"]}"), "-32602"));
    assert_true(holds(listen_to(2, "{\"resourceSubscriptions\":[7]}"), "-32602"));
}

static void sessions_get_them_on_their_stream(void **state)
{
    char session[256], other[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(1, session, "");
    owner = "you";
    begin_session(other, "2025-11-25", "{}");
    (void)open_stream(2, other, "");
    owner = "me";
    mcp_list_changed(server, STR("me"), MCP_LIST_RESOURCES);
    assert_true(holds(more_of(1), "notifications/resources/list_changed"));
    assert_int_equal(more_of(2).len, 0);
    check(old(0, session, "resources/subscribe", "\"uri\":\"t://fixed\""), 200, "{}");
    mcp_resource_updated(server, STR_NULL, STR("t://fixed"));
    struct str got = more_of(1);
    assert_true(holds(got, "\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":"
                           "\"t://fixed\"}}"));
    assert_int_equal(more_of(2).len, 0);
    check(old(0, session, "resources/unsubscribe", "\"uri\":\"t://fixed\""), 200, "{}");
    mcp_resource_updated(server, STR_NULL, STR("t://fixed"));
    assert_int_equal(more_of(1).len, 0);
    mcp_list_changed(server, STR_NULL, MCP_LIST_TEMPLATES);
    assert_true(holds(more_of(1), "resources/list_changed"));
    assert_true(holds(more_of(2), "resources/list_changed"));
}

static void forgetting_ends_streams(void **state)
{
    char session[256];

    (void)state;
    check(listen_to(3, "{\"toolsListChanged\":true}"), 200, "acknowledged");
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(2, session, "");
    assert_int_equal(server->n_listeners, 1);
    mcp_forget(server, STR("you"));
    assert_int_equal(server->n_listeners, 1);
    mcp_forget(server, STR("me"));
    assert_int_equal(server->n_listeners, 0);
    assert_int_equal(mcp_server_n_sessions(server), 0);
}

static void hanging_up_keeps_sessions(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(1, session, "");
    check(listen_to(2, "{\"toolsListChanged\":true}"), 200, "acknowledged");
    mcp_hang_up(server);
    assert_int_equal(server->n_listeners, 0);
    assert_int_equal(mcp_server_n_sessions(server), 1);
    check(post(session, CALL(1, "echo", "{}")), 200, "said");
    mcp_list_changed(server, STR_NULL, MCP_LIST_TOOLS);
    assert_false(holds(more_of(1), "list_changed"));
}

static void listeners_have_a_most(void **state)
{
    (void)state;
    server->n_listeners = MCP_MAX_LISTENERS;
    check(listen_to(0, "{\"toolsListChanged\":true}"), 503, "too many listeners");
    server->n_listeners = MCP_MAX_LISTENERS - 1;
    check(listen_to(0, "{\"toolsListChanged\":true}"), 200, "acknowledged");
    server->n_listeners = 1;
}

static void tasks_are_listened_to(void **state)
{
    char id[80], filter[512];

    (void)state;
    find_text(modern(0, "tools/call", "must", "\"name\":\"must\""), "taskId", id, sizeof id);
    (void)snprintf(filter, sizeof filter, "{\"taskIds\":[\"%s\",\"unknown\",7]}", id);
    struct str got = listen_to(1, filter);
    check(got, 200, "acknowledged");
    assert_false(holds(got, "unknown"));
    assert_true(holds(got, "\"method\":\"notifications/tasks\"") && holds(got, "working"));
    mcp_reply_text(held, STR("all of it"), false);
    got = more_of(1);
    assert_true(holds(got, "\"status\":\"completed\"") && holds(got, "all of it"));
    assert_true(holds(got, "\"io.modelcontextprotocol/subscriptionId\":1"));
    owner = "you";
    got = listen_to(2, filter);
    check(got, 200, "\"taskIds\":[]");
    assert_false(holds(got, "notifications/tasks\""));
    owner = "me";
    modern_can = "{}";
    check(listen_to(3, filter), 400, "-32021");
}

static void sessions_learn_of_their_tasks(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)open_stream(1, session, "");
    check(old(0, session, "tools/call", "\"name\":\"must\",\"task\":{}"), 200, "\"task\"");
    mcp_reply_text(held, STR("quiet"), false);
    struct str got = more_of(1);
    assert_true(holds(got, "\"method\":\"notifications/tasks/status\",\"params\":{\"taskId\":"));
    assert_true(holds(got, "\"status\":\"completed\"") && !holds(got, "quiet"));
    /* One that began elsewhere is not theirs to hear of. */
    check(old(0, OLD_HEADERS, "tools/call", "\"name\":\"must\",\"task\":{}"), 200, "\"task\"");
    mcp_reply_text(held, STR("quiet"), false);
    assert_int_equal(more_of(1).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MCP_TEST(listeners_get_what_they_asked_for),
        MCP_TEST(resources_are_named),
        MCP_TEST(filters_that_are_none),
        MCP_TEST(sessions_get_them_on_their_stream),
        MCP_TEST(forgetting_ends_streams),
        MCP_TEST(hanging_up_keeps_sessions),
        MCP_TEST(listeners_have_a_most),
        MCP_TEST(tasks_are_listened_to),
        MCP_TEST(sessions_learn_of_their_tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
