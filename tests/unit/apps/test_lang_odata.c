/* SPDX-License-Identifier: MIT */
/* The filters and orders of Microsoft Graph: what is found by them. */
#include "lang_check.h"

static struct lang_check check = {
    .schema = "CREATE TABLE m (n INTEGER PRIMARY KEY, subject, sender, is_read, size, received,"
              " begins, parts);"
              "INSERT INTO m VALUES"
              " (1, 'Release plan', 'ann@x.example', 0, 10, 1767225600, 1767225600,"
              "  '[\"ann@x.example\", \"bob@x.example\"]'),"
              " (2, 'It''s a test', 'bob@x.example', 1, 20, 1768000000, 1768000000, '[\"Red\"]'),"
              " (3, 'Re: release PLAN', NULL, 0, 30, 1768450000, 1768450000, '[]');",
    .languages =
        "{\"odata\": {\"type\": \"graph.mail\", \"texts\": {\"subject\": \"m.subject\","
        "\"from/emailAddress/address\": \"m.sender\"}, \"bools\": {\"isRead\": \"m.is_read\"},"
        "\"numbers\": {\"size\": \"m.size\"}, \"times\": {\"receivedDateTime\": \"m.received\"},"
        "\"clocks\": {\"start/dateTime\": \"m.begins\"}, \"sets\": {"
        "\"categories\": {\"any\": \"EXISTS (SELECT 1 FROM json_each(m.parts) c WHERE (?))\","
        "\"texts\": {\"it\": \"c.value\"}},"
        "\"toRecipients\": {\"any\": \"EXISTS (SELECT 1 FROM json_each(m.parts) r WHERE (?))\","
        "\"texts\": {\"emailAddress/address\": \"r.value\"}}}},"
        "\"odata_order\": \"odata\"}",
    .scripts = "-- name: find\n"
               "SELECT ifnull(group_concat(n), '') AS result FROM (SELECT n FROM m WHERE"
               " {{odata :q}} ORDER BY n);\n"
               "-- name: sort\n"
               "SELECT group_concat(n) AS result FROM (SELECT n FROM m ORDER BY"
               " {{odata_order :q}}, n);\n",
};

#define SYNTAX(at, text) "error: Syntax error at position " at " in '" text "'."
#define UNKNOWN(name)    "error: Could not find a property named '" name "' on type 'graph.mail'."
#define MIXED(left, right, op)                                                                     \
    "error: A binary operator with incompatible types was detected. Found operand types"           \
    " '" left "' and '" right "' for operator kind '" op "'."
#define COMPLEX "error: The restriction or sort order is too complex for this operation."

static const struct lang_case cases[] = {
    {"", "1,2,3"},
    {"  ", "1,2,3"},
    {"isRead eq false", "1,3"},
    {"isRead ne false", "2"},
    {"isRead", "2"},
    {"not isRead", "1,3"},
    {"not (isRead eq true)", "1,3"},
    {"not(isRead)", "1,3"},
    {"subject eq 'RELEASE plan'", "1"},
    {"subject eq 'It''s a test'", "2"},
    {"contains(subject, 'plan')", "1,3"},
    {"contains(tolower(subject), 'plan') eq true", "1,3"},
    {"startswith(subject,'re')", "1,3"},
    {"startsWith(subject,'Re:')", "3"},
    {"endswith(subject,'test')", "2"},
    {"not contains(subject,'plan')", "2"},
    {"from/emailAddress/address eq 'ANN@x.example'", "1"},
    {"from/emailAddress/address eq null", "3"},
    {"from/emailAddress/address ne null", "1,2"},
    {"size gt 10 and size le 30", "2,3"},
    {"size eq 10 or size eq 30 and isRead eq true", "1"},
    {"(size eq 10 or size eq 20) and isRead eq true", "2"},
    {"size in (10, 30)", "1,3"},
    {"subject in ('release plan')", "1"},
    {"receivedDateTime ge 2026-01-01T00:00:00Z", "1,2,3"},
    {"receivedDateTime gt 2026-01-01", "2,3"},
    {"receivedDateTime lt 2026-01-01T01:00:00.000+00:30", "1"},
    {"start/dateTime gt '2026-01-01T00:00:00'", "2,3"},
    {"start/dateTime le 2026-01-01T00:00:00Z", "1"},
    {"toRecipients/any(r:r/emailAddress/address eq 'bob@x.example')", "1"},
    {"toRecipients/any(r: contains(r/emailAddress/address, 'x.ex')) and isRead eq false", "1"},
    {"categories/any(c:c eq 'red')", "2"},
    {"categories/any()", "1,2"},
    {"not categories/any()", "3"},
    {"subject eq '''; DROP TABLE m; --'", ""},
    {"isRead eq", SYNTAX("9", "isRead eq")},
    {"subject eq 'open", SYNTAX("11", "subject eq 'open")},
    {"(isRead", SYNTAX("7", "(isRead")},
    {"isRead eq false and", SYNTAX("19", "isRead eq false and")},
    {"isRead eq false isRead", SYNTAX("16", "isRead eq false isRead")},
    {"subject like 'x'", SYNTAX("8", "subject like 'x'")},
    {"subject", SYNTAX("7", "subject")},
    {"= 3", SYNTAX("0", "= 3")},
    {"bodies/any(b:b eq 'x')", SYNTAX("11", "bodies/any(b:b eq 'x')")},
    {"categories/any(c:d eq 'x')", SYNTAX("18", "categories/any(c:d eq 'x')")},
    {"colour eq 'red'", UNKNOWN("colour")},
    {"contains(colour, 'red')", UNKNOWN("colour")},
    {"isRead eq 'true'", MIXED("Edm.Boolean", "Edm.String", "Equal")},
    {"receivedDateTime ge '2026-01-01'",
     MIXED("Edm.DateTimeOffset", "Edm.String", "GreaterThanOrEqual")},
    {"size lt 'x'", MIXED("Edm.Int32", "Edm.String", "LessThan")},
    {"subject eq 5", MIXED("Edm.String", "Edm.Int32", "Equal")},
    {"((((((((isRead))))))))", "2"},
    {"(((((((((isRead)))))))))", COMPLEX},
};

static void finds(void **state)
{
    (void)state;
    lang_check_all(&check, cases, ARRAY_LEN(cases));
}

static void sorts(void **state)
{
    static const struct lang_case orders[] = {
        {"", "1,2,3"},
        {"receivedDateTime desc", "3,2,1"},
        {"isRead desc,receivedDateTime asc", "2,1,3"},
        {"subject", "2,3,1"},
        {" isRead , size DESC", "3,1,2"},
        {"colour", UNKNOWN("colour")},
        {"size up", SYNTAX("5", "size up")},
        {"size,,size", SYNTAX("5", "size,,size")},
    };

    (void)state;
    check.script = 1;
    lang_check_all(&check, orders, ARRAY_LEN(orders));
    check.script = 0;
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),
        cmocka_unit_test(sorts),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
