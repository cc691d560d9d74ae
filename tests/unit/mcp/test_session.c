/* SPDX-License-Identifier: MIT */
/* Sessions: their ids and owners, how many there may be, which one goes, and what ends with one. */
#include "mcp_world.h"

#include <stdio.h>
#include <string.h>

#include "mcp/exchange.h"

static const struct mcp_hello hello = {MCP_V_2025_11_25, MCP_CAN_ELICIT | MCP_CAN_TASKS};

static void ids_have_a_signature_where_there_is_a_secret(void **state)
{
    struct mcp_session *one = mcp_session_new(server, STR("me"), &hello);
    struct mcp_session *two = mcp_session_new(server, STR("me"), &hello);

    (void)state;
    assert_int_equal(strlen(one->id), MCP_SESSION_NAME_LEN);
    assert_string_not_equal(one->id, two->id);
    make_server((struct mcp_limits){0}, "secret");
    one = mcp_session_new(server, STR("me"), &hello);
    assert_int_equal(strlen(one->id), MCP_SESSION_ID_LEN);
}

static void signatures_depend_on_everything(void **state)
{
    char name[MCP_SESSION_NAME_LEN + 1] = "0123456789abcdef0123456789abcdef";
    char a[MCP_SESSION_ID_LEN + 1], b[MCP_SESSION_ID_LEN + 1];

    (void)state;
    make_server((struct mcp_limits){0}, "secret");
    mcp_sign_id(server, "kind\n", STR("me"), str_of(name), a);
    mcp_sign_id(server, "kind\n", STR("me"), str_of(name), b);
    assert_string_equal(a, b);
    assert_memory_equal(a, name, MCP_SESSION_NAME_LEN);
    mcp_sign_id(server, "other\n", STR("me"), str_of(name), b);
    assert_string_not_equal(a, b);
    mcp_sign_id(server, "kind\n", STR("you"), str_of(name), b);
    assert_string_not_equal(a, b);
    name[0] = '1';
    mcp_sign_id(server, "kind\n", STR("me"), str_of(name), b);
    assert_string_not_equal(a + MCP_SESSION_NAME_LEN, b + MCP_SESSION_NAME_LEN);
    make_server((struct mcp_limits){0}, "");
    mcp_sign_id(server, "kind\n", STR("me"), str_of(name), b);
    assert_string_equal(b, name);
}

static void found_by_id_and_owner(void **state)
{
    struct mcp_session *n = mcp_session_new(server, STR("me"), &hello);

    (void)state;
    assert_ptr_equal(mcp_session_find(server, str_of(n->id), STR("me")), n);
    assert_null(mcp_session_find(server, str_of(n->id), STR("you")));
    assert_null(mcp_session_find(server, str_of(n->id), STR("")));
    assert_null(mcp_session_find(server, STR(""), STR("me")));
    assert_null(mcp_session_find(server, STR_NULL, STR("me")));
    /* Without a secret nothing is made again. */
    char id[MCP_SESSION_ID_LEN + 1];
    (void)snprintf(id, sizeof id, "%s", n->id);
    mcp_session_free(n);
    assert_null(mcp_session_resume(server, str_of(id), STR("me")));
}

static void resumed_with_what_the_client_said(void **state)
{
    char id[MCP_SESSION_ID_LEN + 1];

    (void)state;
    make_server((struct mcp_limits){0}, "secret");
    struct mcp_session *n = mcp_session_new(server, STR("me"), &hello);
    (void)snprintf(id, sizeof id, "%s", n->id);
    n->level = MCP_ERROR;
    assert_ptr_equal(mcp_session_resume(server, str_of(id), STR("me")), n);
    mcp_session_free(n);
    assert_null(mcp_session_resume(server, str_of(id), STR("you")));
    n = mcp_session_resume(server, str_of(id), STR("me"));
    assert_non_null(n);
    assert_string_equal(n->id, id);
    assert_int_equal(n->version, MCP_V_2025_11_25);
    assert_int_equal(n->can, hello.can);
    assert_int_equal(n->level, MCP_INFO); /* that is not in the id */
    mcp_session_end(n);
    assert_null(mcp_session_resume(server, str_of(id), STR("me")));
}

static void nothing_can_be_made_up(void **state)
{
    char id[MCP_SESSION_ID_LEN + 1];

    (void)state;
    make_server((struct mcp_limits){0}, "secret");
    struct mcp_session *n = mcp_session_new(server, STR("me"), &hello);
    (void)snprintf(id, sizeof id, "%s", n->id);
    mcp_session_free(n);
    /* Each digit counts: those of the revision and of the abilities as well. */
    for (size_t i = 0; i < MCP_SESSION_ID_LEN; i++) {
        char was = id[i];
        id[i] = was == '3' ? '4' : '3';
        if (id[i] != was)
            assert_null(mcp_session_resume(server, str_of(id), STR("me")));
        id[i] = was;
    }
    assert_null(mcp_session_resume(server, str_n(id, MCP_SESSION_ID_LEN - 1), STR("me")));
    assert_null(mcp_session_resume(server, str_n(id, MCP_SESSION_NAME_LEN), STR("me")));
    assert_non_null(mcp_session_resume(server, str_of(id), STR("me")));
}

static void the_one_used_longest_ago_goes(void **state)
{
    (void)state;
    make_server((struct mcp_limits){.max_sessions = 3}, "");
    struct mcp_session *n[3];
    char ids[3][MCP_SESSION_ID_LEN + 1];
    for (size_t i = 0; i < 3; i++) {
        n[i] = mcp_session_new(server, STR("me"), &hello);
        (void)snprintf(ids[i], sizeof ids[i], "%s", n[i]->id);
    }
    assert_non_null(mcp_session_find(server, str_of(ids[0]), STR("me")));
    assert_non_null(mcp_session_new(server, STR("me"), &hello));
    assert_int_equal(mcp_server_n_sessions(server), 3);
    assert_null(mcp_session_find(server, str_of(ids[1]), STR("me")));
    assert_non_null(mcp_session_find(server, str_of(ids[0]), STR("me")));
    assert_non_null(mcp_session_find(server, str_of(ids[2]), STR("me")));
}

static void one_with_a_stream_is_in_use(void **state)
{
    char session[256];

    (void)state;
    make_server((struct mcp_limits){.max_sessions = 1, .session_idle_ms = 10000}, "");
    begin_session(session, "2025-11-25", "{}");
    check(open_stream(1, session, ""), 200, "text/event-stream");
    assert_null(mcp_session_new(server, STR("me"), &hello));
    for (int i = 0; i < 30; i++)
        pass_ms(1000);
    assert_int_equal(mcp_server_n_sessions(server), 1);
    hang_up(1);
    turn();
    for (int i = 0; i < 30; i++)
        pass_ms(1000);
    assert_int_equal(mcp_server_n_sessions(server), 0);
    assert_non_null(mcp_session_new(server, STR("me"), &hello));
}

static void the_end_of_one_ends_its_calls(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    (void)post(session, CALL(1, "hold", "{}"));
    (void)post_to(1, "/mcp", JSON_TYPES, CALL(2, "echo", "{}"));
    assert_int_equal(n_cancelled, 0);
    mcp_forget(server, STR("me"));
    assert_int_equal(n_cancelled, 1);
    assert_int_equal(mcp_server_n_sessions(server), 0);
    assert_false(holds(more_of(0), "too late"));
}

static void levels_and_subscriptions(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    check(old(0, session, "logging/setLevel", "\"level\":\"loud\""), 200, "-32602");
    check(old(0, session, "logging/setLevel", "\"level\":\"emergency\""), 200, "\"result\":{}");
    check(post(session, CALL(1, "notes", "{}")), 200, "\"text\":\"end\"");
    assert_false(holds(post(session, CALL(1, "notes", "{}")), "loud"));
    check(old(0, session, "resources/subscribe", "\"uri\":\"t://fixed\""), 200, "\"result\":{}");
    check(old(0, session, "resources/subscribe", "\"uri\":7"), 200, "-32602");
    check(old(0, session, "resources/unsubscribe", "\"uri\":\"t://fixed\""), 200, "\"result\":{}");
}

static void subscriptions_have_a_most(void **state)
{
    char session[256], params[64];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    for (int i = 0; i < MCP_MAX_SUBSCRIBED; i++) {
        (void)snprintf(params, sizeof params, "\"uri\":\"t://of/%d\"", i);
        check(old(0, session, "resources/subscribe", params), 200, "\"result\":{}");
    }
    check(old(0, session, "resources/subscribe", "\"uri\":\"t://of/more\""), 200, "\"error\"");
    check(old(0, session, "resources/unsubscribe", "\"uri\":\"t://of/0\""), 200, "\"result\":{}");
    check(old(0, session, "resources/subscribe", "\"uri\":\"t://of/more\""), 200, "\"result\":{}");
}

static void initialize_again_changes_it(void **state)
{
    char session[256];

    (void)state;
    begin_session(session, "2025-11-25", "{}");
    check(post(session, CALL(1, "ask", "{}")), 200, "lacks a required capability");
    check(post(session, INITIALIZE("2025-06-18", "{\"elicitation\":{}}")), 200, "2025-06-18");
    assert_int_equal(mcp_server_n_sessions(server), 1);
    check(post(session, CALL(1, "ask", "{}")), 200, "elicitation/create");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MCP_TEST(ids_have_a_signature_where_there_is_a_secret),
        MCP_TEST(signatures_depend_on_everything),
        MCP_TEST(found_by_id_and_owner),
        MCP_TEST(resumed_with_what_the_client_said),
        MCP_TEST(nothing_can_be_made_up),
        MCP_TEST(the_one_used_longest_ago_goes),
        MCP_TEST(one_with_a_stream_is_in_use),
        MCP_TEST(the_end_of_one_ends_its_calls),
        MCP_TEST(levels_and_subscriptions),
        MCP_TEST(subscriptions_have_a_most),
        MCP_TEST(initialize_again_changes_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
