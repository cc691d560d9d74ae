/* SPDX-License-Identifier: MIT */
/* The server of memories in this process: what is stored once, what goes together, and a file that
 * others may have written. */
#include "tool_fixture.h"

#define ENTITY(name, type, seen)                                                                   \
    "{\"name\":\"" name "\",\"entityType\":\"" type "\",\"observations\":[" seen "]}"
#define RELATION(from, to, type)                                                                   \
    "{\"from\":\"" from "\",\"to\":\"" to "\",\"relationType\":\"" type "\"}"

static void add_three(void)
{
    check_call("create_entities",
               "{\"entities\":[" ENTITY("Ann", "person", "\"likes tea\"") "," ENTITY(
                   "Bob", "person", "") "," ENTITY("Pool", "place", "\"wet\",\"salty\"") "]}",
               true, "likes tea");
    check_call("create_relations",
               "{\"relations\":[" RELATION("Ann", "Pool", "visits") "," RELATION("Bob", "Ann",
                                                                                 "knows") "]}",
               true, "visits");
}

static void names_and_relations_are_stored_once(void **state)
{
    (void)state;
    add_three();
    check_call("create_entities", "{\"entities\":[" ENTITY("Ann", "robot", "\"other\"") "]}", true,
               "[]");
    check_call("create_relations", "{\"relations\":[" RELATION("Ann", "Pool", "visits") "]}", true,
               "[]");
    /* Another kind of relation between the same two is another one. */
    check_call("create_relations", "{\"relations\":[" RELATION("Ann", "Pool", "owns") "]}", true,
               "owns");
    assert_true(call("read_graph", "{}"));
    assert_non_null(strstr(answer_text, "\"person\""));
    assert_null(strstr(answer_text, "robot"));
}

static void observations_come_and_go(void **state)
{
    (void)state;
    add_three();
    check_call(
        "add_observations",
        "{\"observations\":[{\"entityName\":\"Ann\",\"contents\":[\"likes tea\",\"sings\"]}]}",
        true, "sings");
    assert_null(strstr(answer_text, "likes tea")); /* only what is new is reported */
    check_call("add_observations",
               "{\"observations\":[{\"entityName\":\"Ann\",\"contents\":[\"lost\"]},"
               "{\"entityName\":\"Nobody\",\"contents\":[\"x\"]}]}",
               false, "Entity with name Nobody not found");
    assert_true(call("read_graph", "{}"));
    assert_null(strstr(answer_text, "lost")); /* all or nothing */
    check_call(
        "delete_observations",
        "{\"deletions\":[{\"entityName\":\"Ann\",\"observations\":[\"likes tea\",\"never\"]},"
        "{\"entityName\":\"Nobody\",\"observations\":[\"x\"]}]}",
        true, "Observations deleted successfully");
    assert_true(call("read_graph", "{}"));
    assert_null(strstr(answer_text, "likes tea"));
    assert_non_null(strstr(answer_text, "sings"));
}

static void an_entity_takes_its_relations_along(void **state)
{
    (void)state;
    add_three();
    check_call("delete_entities", "{\"entityNames\":[\"Ann\",\"Nobody\"]}", true,
               "Entities deleted successfully");
    assert_true(call("read_graph", "{}"));
    assert_null(strstr(answer_text, "Ann"));
    assert_null(strstr(answer_text, "knows"));
    assert_non_null(strstr(answer_text, "Bob"));
    add_three();
    check_call("delete_relations", "{\"relations\":[" RELATION("Ann", "Pool", "visits") "]}", true,
               "Relations deleted successfully");
    assert_true(call("read_graph", "{}"));
    assert_null(strstr(answer_text, "visits"));
    assert_non_null(strstr(answer_text, "knows"));
}

static void searches_look_everywhere_without_case(void **state)
{
    static const struct {
        const char *query, *has, *lacks;
    } rows[] = {
        {"TEA", "Ann", "\"Pool\",\n      \"entityType\""},
        {"person", "Bob", "salty"},
        {"pool", "salty", "\"name\": \"Bob\""},
        {"nothing at all", "\"entities\": []", "Ann"},
    };
    char args[100];

    (void)state;
    add_three();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)snprintf(args, sizeof args, "{\"query\":\"%s\"}", rows[i].query);
        check_call("search_nodes", args, true, rows[i].has);
        if (strstr(answer_text, rows[i].lacks))
            fail_msg("'%s' finds '%s': %s", rows[i].query, rows[i].lacks, answer_text);
    }
    check_call("open_nodes", "{\"names\":[\"Bob\",\"Nobody\"]}", true, "\"name\": \"Bob\"");
    assert_null(strstr(answer_text, "salty"));
}

static void an_empty_graph_is_not_a_failure(void **state)
{
    (void)state;
    check_call("read_graph", "{}", true, "\"entities\": []");
    check_call("delete_entities", "{\"entityNames\":[\"x\"]}", true, "deleted");
    check_call("search_nodes", "{\"query\":\"\"}", true, "\"entities\": []");
}

#define MEMORY_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(names_and_relations_are_stored_once),
        MEMORY_TEST(observations_come_and_go),
        MEMORY_TEST(an_entity_takes_its_relations_along),
        MEMORY_TEST(searches_look_everywhere_without_case),
        MEMORY_TEST(an_empty_graph_is_not_a_failure),
    };

    server_name = "localmemory";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
