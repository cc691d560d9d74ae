/* SPDX-License-Identifier: MIT */
/* JQL: what is found by queries, in which order, and what is said of wrong ones. */
#include "lang_check.h"

#include <errno.h>

#include "apps/lang/aql.h"

static const char schema[] =
    "CREATE TABLE i (id INTEGER PRIMARY KEY, state TEXT, who TEXT, pri TEXT, points REAL,"
    " at TEXT, due TEXT, text TEXT);"
    "INSERT INTO i VALUES"
    " (1, 'Open', 'ann', 'High', 5, '2026-01-14T10:00:00.000Z', '2026-01-15', 'Robot drifts left'),"
    " (2, 'Done', 'bob', 'Low', 0.5, '2026-01-11T00:00:00.000Z', '2026-01-31', 'planning a stop'),"
    " (3, 'Open', NULL, 'High', NULL, '2025-12-31T23:59:59.000Z', NULL, 'Tomás: version 4.2'),"
    " (4, 'In Work', 'ann', NULL, 8, '2026-01-15T08:30:00.000Z', '2026-01-10', 'cold boot slow');"
    "CREATE TABLE label (id INTEGER, label TEXT, PRIMARY KEY (id, label));"
    "INSERT INTO label VALUES (1, 'a'), (1, 'b'), (2, 'b');"
    "CREATE TABLE h (k INTEGER PRIMARY KEY, id INTEGER, author TEXT, created TEXT, from_text TEXT,"
    " to_text TEXT);"
    "INSERT INTO h VALUES (1, 2, 'ann', '2026-01-10T00:00:00.000Z', 'Open', 'In Work'),"
    " (2, 2, 'bob', '2026-01-12T12:00:00.000Z', 'In Work', 'Done');";

#define STATES "SELECT 1 FROM (SELECT 'Open' AS n UNION SELECT 'Done' UNION SELECT 'In Work')"

static const char config[] =
    "{\"jql_check\": \"jql\", \"jql_order\": \"jql\", \"jql\": {\"order\": \"i.id DESC\","
    "\"tie\": \"i.id\", \"fields\": {"
    "\"status\": {\"is\": \"i.state = {v} COLLATE NOCASE\", \"empty\": \"i.state IS NULL\","
    "\"exists\": \"" STATES " WHERE n = {v} COLLATE NOCASE\","
    "\"changed\": \"SELECT 1 FROM h WHERE h.id = i.id\"},"
    "\"state\": \"status\","
    "\"assignee\": {\"is\": \"i.who = {v}\", \"in\": \"i.who IN ({f})\","
    "\"empty\": \"i.who IS NULL\", \"sort\": \"i.who\"},"
    "\"priority\": {\"is\": \"i.pri = {v}\", \"empty\": \"i.pri IS NULL\","
    "\"rank\": \"instr('LowHigh', i.pri)\", \"rank_of\": \"instr('LowHigh', {v})\"},"
    "\"labels\": {\"is\": \"EXISTS (SELECT 1 FROM label x WHERE x.id = i.id AND x.label = {v})\","
    "\"empty\": \"NOT EXISTS (SELECT 1 FROM label x WHERE x.id = i.id)\"},"
    "\"points\": {\"number\": \"i.points\", \"empty\": \"i.points IS NULL\"},"
    "\"customfield_7\": \"points\","
    "\"created\": {\"date\": \"i.at\"},"
    "\"due\": {\"date\": \"i.due\", \"is_day\": true, \"empty\": \"i.due IS NULL\"},"
    "\"text\": {\"text\": [\"i.text\", \"i.who\"]}},"
    "\"functions\": {\"loop\": \"SELECT {f}\", \"currentUser\": \"SELECT 'ann'\", \"either\": "
    "\"SELECT {1} UNION SELECT "
    "{2}\"}}}";

static const char scripts_text[] =
    "-- name: find\n"
    "SELECT ifnull(group_concat(id), '') AS result FROM (SELECT i.id FROM i WHERE {{jql :q}} ORDER "
    "BY id);\n"
    "-- name: order\n"
    "SELECT group_concat(id) AS result FROM (SELECT i.id FROM i WHERE {{jql :q}} ORDER BY "
    "{{jql_order :q}});\n"
    "-- name: check\n"
    "SELECT ifnull({{jql_check :q}}, '') AS result;\n";

static const struct {
    const char *query, *found;
} cases[] = {
    {"", "1,2,3,4"},
    {"status = open", "1,3"},
    {"Status = \"In Work\"", "4"},
    {"STATE='In Work'", "4"},
    {"status != Open", "2,4"},
    {"status in (Open, Done)", "1,2,3"},
    {"status not in (Open, Done)", "4"},
    {"status = Open AND assignee = ann", "1"},
    {"status = Done OR status = Open AND assignee = ann", "1,2"},
    {"(status = Done OR status = Open) AND assignee = ann", "1"},
    {"status = Done || status = Open && assignee = ann", "1,2"},
    {"NOT status = Open", "2,4"},
    {"!(status = Open or assignee = bob)", "4"},
    {"not not status = Open", "1,3"},
    {"assignee is empty", "3"},
    {"assignee is not EMPTY", "1,2,4"},
    {"assignee = null", "3"},
    {"assignee != ann", "2"}, /* what is empty is not unequal */
    {"assignee in (ann, empty)", "1,3,4"},
    {"assignee = currentUser()", "1,4"},
    {"assignee not in (currentUser())", "2"},
    {"assignee in either(ann, bob)", "1,2,4"},
    {"assignee in either(bob)", "2"},
    {"labels = b", "1,2"},
    {"labels in (a, c)", "1"},
    {"labels != a", "2"},
    {"labels is empty", "3,4"},
    {"priority = High", "1,3"},
    {"priority < High", "2"},
    {"priority >= Low", "1,2,3"},
    {"points > 0.5", "1,4"},
    {"points = 5", "1"},
    {"cf[7] <= 5", "1,2"},
    {"points in (5, 8)", "1,4"},
    {"created >= -22h", "4"},
    {"created >= -1d", "1,4"},
    {"created >= \"-22h 59m\"", "4"},
    {"created >= -2d", "1,4"},
    {"created >= -1w", "1,2,4"},
    {"created < \"2026-01-01\"", "3"},
    {"created < 2026-01-01", "3"},
    {"created <= \"2026/01/14 10:00\"", "1,2,3"},
    {"created = \"2026-01-11\"", "2"},
    {"created > startOfDay()", "4"},
    {"created > startOfDay(-1)", "1,4"},
    {"created > startOfDay(\"-1d\")", "1,4"},
    {"created >= startOfWeek()", "1,2,4"}, /* from Sunday on */
    {"created > startOfWeek()", "1,4"},
    {"created <= endOfYear(-1y)", "3"},
    {"created <= endOfYear(-1)", "3"},
    {"created >= startOfMonth() and created < now()", "1,2,4"},
    {"due = 2026-01-15", "1"},
    {"due <= endOfDay()", "1,4"},
    {"due < now()", "4"},
    {"due <= endOfMonth()", "1,2,4"},
    {"due is empty", "3"},
    {"text ~ drift", "1"},
    {"text ~ \"DRIFTING robots\"", "1"},
    {"text ~ plan", "2"},
    {"text ~ stopped", "2"},
    {"text ~ bob", "2"},
    {"text ~ \"bo*\"", "2,4"},
    {"text ~ \"boot cold\"", "4"},
    {"text ~ \"\\\"boot cold\\\"\"", ""},
    {"text ~ \"\\\"cold boot\\\"\"", "4"},
    {"text ~ \"cold OR drift\"", "1,4"},
    {"text ~ \"ann -cold\"", "1"},
    {"text ~ TOMÁS", "3"},
    {"text ~ 4.2", "3"},
    {"text ~ 4", ""},
    {"text !~ ann", "2,3"},
    {"status was Open", "1,2,3"},
    {"status was \"In Work\"", "2,4"},
    {"status was not \"In Work\"", "1,3"},
    {"status was in (Done, \"In Work\")", "2,4"},
    {"status changed", "2"},
    {"status changed to Done", "2"},
    {"status changed from Open to Done", ""},
    {"status changed from Open to \"In Work\" by ann", "2"},
    {"status changed to Done by currentUser()", ""},
    {"status changed after -5d", "2"},
    {"status changed to \"In Work\" after -5d", ""},
    {"status changed on \"2026-01-12\"", "2"},
    {"status changed during (\"2026-01-11\", now())", "2"},
    {"status was Open before \"2026-01-11\"", "2"},
    {"assignee = \"x' OR 1 --\"", ""},
    {"assignee = \"\\u0061nn\"", "1,4"},
};

static const struct {
    const char *query, *found;
} orders[] = {
    {"", "4,3,2,1"},
    {"order by points", "2,1,4,3"},
    {"ORDER BY points DESC", "3,4,1,2"},
    {"status = Open order by created asc", "3,1"},
    {"order by assignee, created desc", "4,1,2,3"},
    {"order by priority desc", "4,1,3,2"},
};

#define WHERE " (line 1, character "

static const struct {
    const char *query, *error;
} errors[] = {
    {"colour = red", "Field 'colour' does not exist or you do not have permission to view it."},
    {"status", "Error in the JQL Query: Expecting operator before the end of the query. The valid "
               "operators are '=', '!=', '<', '>', '<=', '>=', '~', '!~', 'IN', 'NOT IN', 'IS' and "
               "'IS NOT'."},
    {"status = ", "Error in the JQL Query: Expecting either a value, list or function before the "
                  "end of the query."},
    {"status = and",
     "Error in the JQL Query: Expecting either a value, list or function but got "
     "'and'. You must surround 'and' in quotation marks to use it as a value." WHERE "10)"},
    {"and = 3", "Error in the JQL Query: Expecting a field name but got 'and'. You must surround "
                "'and' in quotation marks to use it as a field." WHERE "1)"},
    {"status = Open Done", "Error in the JQL Query: Expecting either 'OR' or 'AND' but got "
                           "'Done'." WHERE "15)"},
    {"status = Open\nand )", "Error in the JQL Query: Expecting a field name but got ')'. (line 2, "
                             "character 5)"},
    {"(status = Open", "Error in the JQL Query: Expecting ')' before the end of the query."},
    {"status = \"Open", "Error in the JQL Query: The quoted string 'Open' has not been "
                        "completed." WHERE "10)"},
    {"assignee = a@b",
     "Error in the JQL Query: The character '@' is a reserved JQL character. You "
     "must enclose it in a string or use the escape '\\u0040' instead." WHERE "13)"},
    {"status in Open", ""},
    {"status = (Open)", "Operator '=' does not support the list value for field 'status'."},
    {"status is Open", "The operator 'is' only supports the values EMPTY and NULL, not 'Open'."},
    {"status ~ Open", "The operator '~' is not supported by the 'status' field."},
    {"status > Open", "The operator '>' is not supported by the 'status' field."},
    {"text = x", "The operator '=' is not supported by the 'text' field."},
    {"text ~ \"\"", "The field 'text' does not support searching for an empty string."},
    {"created > soon",
     "Date value 'soon' for field 'created' is invalid. Valid formats include: 'yyyy/MM/dd HH:mm', "
     "'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period format e.g. '-5d', '4w 2d'."},
    {"created > \"2026-13-01\"",
     "Date value '2026-13-01' for field 'created' is invalid. Valid formats include: 'yyyy/MM/dd "
     "HH:mm', 'yyyy-MM-dd HH:mm', 'yyyy/MM/dd', 'yyyy-MM-dd', or a period format e.g. '-5d', '4w "
     "2d'."},
    {"points > many", "The value 'many' for the field 'points' is not a number."},
    {"assignee in nobody()", "Unable to find JQL function 'nobody()'."},
    {"assignee was ann", "History searches do not support the 'assignee' field."},
    {"order by labels", "Not able to sort using field 'labels'."},
    {"order status", "Error in the JQL Query: Expecting 'BY' but got 'status'." WHERE "7)"},
};

static const struct {
    const char *query, *said;
} checks[] = {
    {"status = Open and assignee = nobody", ""},
    {"status = Closed", "The value 'Closed' does not exist for the field 'status'."},
    {"assignee = a or not state in (Open, Closed, Shut)",
     "The value 'Closed' does not exist for the field 'state'."},
    {"status is empty", ""},
    {"status was Closed", "The value 'Closed' does not exist for the field 'status'."},
};

static struct lang_check check = {.schema = schema, .languages = config, .scripts = scripts_text};

static int set_up(void **state)
{
    (void)state;
    lang_check_open(&check);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lang_check_close(&check);
    return 0;
}

static struct app_call search(const char *script, struct str query)
{
    return lang_check_run(&check, scripts_find(&check.parsed, str_of(script)), query);
}

static void expect(const char *script, const char *query, const char *expected)
{
    struct app_call call = search(script, str_of(query));
    struct str got = call.error.p ? call.error : call.result;

    if (!str_is(got, expected))
        fail_msg("%s: '%.*s', not '%s'", query, (int)got.len, got.p, expected);
}

static void test_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect("find", cases[i].query, cases[i].found);
}

static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        expect("order", orders[i].query, orders[i].found);
}

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        if (errors[i].error[0])
            expect("order", errors[i].query, errors[i].error);
    }
}

static void test_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        expect("check", checks[i].query, checks[i].said);
}

/* N times PART behind each other, between BEGIN and END. */
static struct str repeated(const char *begin, const char *part, size_t n, const char *end)
{
    struct buf b = BUF_INIT(1 << 20);

    (void)buf_add_str(&b, str_of(begin));
    for (size_t i = 0; i < n; i++)
        (void)buf_add_str(&b, str_of(part));
    (void)buf_add_str(&b, str_of(end));
    struct str all = arena_str(&check.arena, buf_str(&b));
    buf_done(&b);
    return all;
}

static void test_limits(void **state)
{
    (void)state;
    /* Each clause has a value too. */
    struct str most = repeated("points=5", " or points=5", AQL_MAX_TERMS / 2 - 1, "");
    assert_str(search("find", most).result, "1");
    struct app_call call =
        search("find", repeated("points=5", " or points=5", AQL_MAX_TERMS / 2, ""));
    assert_str(call.error, "The query has more than 500 clauses and values.");
    assert_str(search("find", repeated("assignee in (ann", ",x", AQL_MAX_TERMS - 2, ")")).result,
               "1,4");
    struct str deep = repeated("", "not ", AQL_MAX_DEPTH - 1, "status = Open");
    assert_str(search("find", deep).result, "2,4");
    call = search("find", repeated("", "not ", AQL_MAX_DEPTH, "status = Open"));
    assert_str(call.error, "The query is nested deeper than 40 levels.");
    call = search("find", repeated("text ~ \"", "a", LANG_MAX_TEXT, "\""));
    assert_true(call.is_query_error);
    call = search("order", repeated("order by points", ", points", AQL_MAX_SORTS, ""));
    assert_str(call.error, "The query is sorted by more than 16 fields.");
}

/* A function of app.json that names itself is the app's fault, not the query's. */
static void test_bad_config(void **state)
{
    struct err e = ERR_INIT;
    struct appdb_predicate p;

    (void)state;
    struct json *languages = json_parse(&check.arena, str_of(config), NULL, &e);
    assert_int_equal(
        lang_compile(languages, STR("jql"), STR("assignee = loop()"), &check.arena, &p, &e),
        -EOPNOTSUPP);
    assert_string_equal(err_text(&e), "app.json: {f} where no function can be");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),  cmocka_unit_test(test_order),
        cmocka_unit_test(test_errors), cmocka_unit_test(test_check),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_bad_config),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
