/* SPDX-License-Identifier: MIT */
/* SOQL: what queries find, and what is said of those that cannot be understood. */
#include "lang_check.h"

#define OBJECTS                                                                                    \
    "{\"soql\": {\"objects\": {"                                                                   \
    "\"Account\": {\"fields\": {\"Id\": \"text\", \"Name\": \"text\", \"Size\": \"number\","       \
    " \"Note\": \"long\", \"IsOld\": \"bool\", \"OwnerId\": \"text\"},"                            \
    " \"parents\": {\"Owner\": \"User\"}, \"children\": {\"Contacts\": [\"Contact\","              \
    " \"AccountId\"]}},"                                                                           \
    "\"Contact\": {\"fields\": {\"Id\": \"text\", \"Name\": \"text\", \"AccountId\": \"text\","    \
    " \"Born\": \"date\", \"Seen\": \"time\"}, \"parents\": {\"Account\": \"Account\"}},"          \
    "\"User\": {\"fields\": {\"Id\": \"text\", \"Name\": \"text\"}}}}}"

static struct lang_check check = {
    .schema = "CREATE TABLE record (id TEXT, object TEXT, place INTEGER, fields TEXT);"
              "INSERT INTO record VALUES"
              " ('u1', 'User', 1, '{\"Id\":\"u1\",\"Name\":\"Maya\"}'),"
              " ('a1', 'Account', 2, '{\"Id\":\"a1\",\"Name\":\"Acme\",\"Size\":10,"
              "\"IsOld\":true,\"OwnerId\":\"u1\"}'),"
              " ('a2', 'Account', 3, '{\"Id\":\"a2\",\"Name\":\"beta 5%\",\"Size\":2.5,"
              "\"IsOld\":false}'),"
              " ('a3', 'Account', 4, '{\"Id\":\"a3\",\"Name\":\"It''s\"}'),"
              " ('c1', 'Contact', 5, '{\"Id\":\"c1\",\"Name\":\"Ann\",\"AccountId\":\"a1\","
              "\"Born\":\"2026-01-14\",\"Seen\":\"2026-01-15T08:00:00.000+0000\"}'),"
              " ('c2', 'Contact', 6, '{\"Id\":\"c2\",\"Name\":\"Bob\",\"AccountId\":\"a1\","
              "\"Born\":\"2025-12-31\",\"Seen\":\"2026-01-12T08:00:00.000+0000\"}'),"
              " ('c3', 'Contact', 7, '{\"Id\":\"c3\",\"Name\":\"Cleo\",\"Born\":\"2026-02-01\"}');",
    .languages = OBJECTS,
    .scripts = "-- name: find\n"
               "SELECT {{soql :q}} AS raw;\n"
               "SELECT (SELECT ifnull(group_concat(value ->> 'Id'), '')"
               " FROM json_each(:raw, '$.records')) AS result;\n"
               "-- name: all\n"
               "SELECT {{soql :q}} AS result;\n",
};

#define A "SELECT Id FROM Account WHERE "
#define C "SELECT Id FROM Contact WHERE "

static const struct lang_case found[] = {
    {"SELECT Id FROM Account", "a1,a2,a3"},
    {"select id from account order by name desc", "a3,a2,a1"},
    {A "Name = 'ACME'", "a1"},
    {A "Name != 'acme'", "a2,a3"},
    {A "Name <> 'acme'", "a2,a3"},
    {A "Name LIKE 'b%'", "a2"},
    {A "Name LIKE '%5\\%'", "a2"},
    {A "Name LIKE '%\\%_'", ""},
    {A "Name = 'It\\'s'", "a3"},
    {A "Name > 'b'", "a2,a3"},
    {A "Name IN ('acme', 'it\\'s')", "a1,a3"},
    {A "Name NOT IN ('acme')", "a2,a3"},
    {A "Size = null", "a3"},
    {A "Size != NULL", "a1,a2"},
    {A "Size >= 2.5 AND Size < 10", "a2"},
    {A "Size != 10", "a2,a3"},
    {A "Size IN (10, 2.5)", "a1,a2"},
    {A "IsOld = true", "a1"},
    {A "IsOld = FALSE", "a2"},
    {A "NOT IsOld = true", "a2,a3"},
    {A "NOT (Name = 'acme' OR Size = null)", "a2"},
    {A "(Name = 'acme' OR Size = null) AND Id != 'a1'", "a3"},
    {A "Owner.Name = 'maya'", "a1"},
    {A "Owner.Name = null", "a2,a3"},
    {A "Id IN (SELECT AccountId FROM Contact WHERE Name = 'ann')", "a1"},
    {A "Id NOT IN (SELECT AccountId FROM Contact)", "a2,a3"},
    {C "Account.Owner.Name = 'Maya' ORDER BY Account.Name, Name DESC", "c2,c1"},
    {C "Born = 2026-01-14", "c1"},
    {C "Born > 2026-01-14", "c3"},
    {C "Born = YESTERDAY", "c1"},
    {C "Born = THIS_MONTH", "c1"},
    {C "Born = LAST_MONTH", "c2"},
    {C "Born > THIS_MONTH", "c3"},
    {C "Born >= THIS_MONTH", "c1,c3"},
    {C "Born < THIS_YEAR", "c2"},
    {C "Born <= THIS_QUARTER", "c1,c2,c3"},
    {C "Born != LAST_QUARTER", "c1,c3"},
    {C "Born = LAST_N_DAYS:1", "c1"},
    {C "Born = NEXT_N_DAYS:17", "c3"},
    {C "Born = NEXT_N_DAYS:16", ""},
    {C "Born = NEXT_FISCAL_QUARTER", ""},
    {C "Seen = TODAY", "c1"},
    {C "Seen = THIS_WEEK", "c1,c2"},
    {C "Seen > 2026-01-12T08:00:00Z", "c1"},
    {C "Seen >= 2026-01-12T10:00:00+02:00", "c1,c2"},
    {C "CALENDAR_YEAR(Born) = 2025", "c2"},
    {C "DAY_ONLY(Seen) = 2026-01-15", "c1"},
    {"SELECT Id FROM Contact ORDER BY Seen", "c3,c2,c1"},
    {"SELECT Id FROM Contact ORDER BY Seen NULLS LAST", "c2,c1,c3"},
    {"SELECT Id FROM Contact LIMIT 2", "c1,c2"},
    {"SELECT Id FROM Contact LIMIT 2 OFFSET 1", "c2,c3"},
    {"SELECT c.Id FROM Contact c WHERE c.Account.Name = 'acme'", "c1,c2"},
    {"SELECT Contact.Id FROM Contact WITH SECURITY_ENFORCED LIMIT 1 FOR VIEW", "c1"},
};

#define HEAD "{\"totalSize\":"
static const struct lang_case answers[] = {
    {"SELECT COUNT() FROM Contact LIMIT 0", HEAD "0,\"done\":true,\"records\":[]}"},
    {"SELECT COUNT() FROM Contact", HEAD "3,\"done\":true,\"records\":[]}"},
    {"SELECT COUNT(Id), max(Born) last FROM Contact",
     HEAD "1,\"done\":true,\"records\":[{\"expr0\":3,\"last\":\"2026-02-01\"}]}"},
    {"SELECT accountid, COUNT(Id) n FROM Contact GROUP BY AccountId HAVING COUNT(Id) > 1",
     HEAD "1,\"done\":true,\"records\":[{\"AccountId\":\"a1\",\"n\":2}]}"},
    {"SELECT name, account.name, account.owner.name, account.size FROM Contact WHERE Name = 'Ann'",
     HEAD "1,\"done\":true,\"records\":[{\"Name\":\"Ann\",\"Account\":{\"Name\":\"Acme\","
          "\"Owner\":{\"Name\":\"Maya\"},\"Size\":10}}]}"},
    {"SELECT Name, IsOld, (SELECT Name FROM Contacts WHERE Born < 2026-01-01) FROM Account "
     "WHERE Size != null",
     HEAD "2,\"done\":true,\"records\":[{\"Name\":\"Acme\",\"IsOld\":true,\"Contacts\":"
          "{\"totalSize\":1,\"done\":true,\"records\":[{\"Name\":\"Bob\"}]}},"
          "{\"Name\":\"beta 5%\",\"IsOld\":false}]}"},
    {"SELECT FIELDS(ALL) FROM User",
     HEAD "1,\"done\":true,\"records\":[{\"Id\":\"u1\",\"Name\":\"Maya\"}]}"},
};

/* What has to be in the text of the failure. */
static const struct lang_case wrong[] = {
    {"", "unexpected token: '<EOF>'"},
    {"SELECT", "unexpected token: '<EOF>'"},
    {"SELECT * FROM Account", "unexpected token: '*'"},
    {"SELECT Id FROM Thing", "sObject type 'Thing' is not supported"},
    {"SELECT Foo FROM Account", "No such column 'Foo' on entity 'Account'"},
    {"SELECT Foo.Name FROM Account", "Didn't understand relationship 'Foo'"},
    {"SELECT Owner.Foo FROM Account", "No such column 'Foo' on entity 'User'"},
    {"SELECT (SELECT Id FROM Foos) FROM Account", "Didn't understand relationship 'Foos'"},
    {"SELECT Id FROM Account\nWHERE Foo = 1", "ERROR at Row:2:Column:7"},
    {A "Name = 5", "must be of type string and should be enclosed in quotes"},
    {A "Size = '5'", "must be of type double and should not be enclosed in quotes"},
    {A "IsOld = 'true'", "must be of type boolean"},
    {A "Note = 'x'", "can not be filtered in a query call"},
    {C "Seen > 2026-01-01", "must be of type dateTime"},
    {C "Born > 2026-01-01T00:00:00Z", "must be of type date and"},
    {C "Born = LAST_N_DAYS", "unexpected token: 'LAST_N_DAYS'"},
    {C "Born = SOMEDAY", "unexpected token: 'SOMEDAY'"},
    {A "Size LIKE 5", "invalid operator LIKE"},
    {A "Size > null", "invalid operator >"},
    {A "Name = 'a' AND Name = 'b' OR Name = 'c'", "unexpected token: 'OR'"},
    {A "Name = 'a", "unexpected token: '''"},
    {A "Name", "unexpected token: '<EOF>'"},
    {A "Name IN ()", "unexpected token: ')'"},
    {A "(((((((Name = 'a')))))))", "nested too deeply"},
    {"SELECT Id FROM Account LIMIT x", "unexpected token: 'x'"},
    {"SELECT Id FROM Account OFFSET 2001", "Maximum SOQL offset allowed is 2000"},
    {"SELECT Id FROM Account ORDER BY Note", "can not be sorted"},
    {"SELECT Id FROM Account nonsense here", "unexpected token: 'here'"},
    {"SELECT Name, COUNT(Id) FROM Account", "Field must be grouped or aggregated: Name"},
    {"SELECT Name FROM Account GROUP BY Size", "Field must be grouped or aggregated: Name"},
    {"SELECT Id FROM Account HAVING COUNT(Id) > 1", "unexpected token: 'HAVING'"},
    {A "COUNT(Id) > 1", "Aggregate functions are not allowed here: COUNT"},
    {"SELECT Name, (SELECT Name FROM Contacts WHERE Account.Owner.Name = 'a' AND AccountId IN "
     "(SELECT Id FROM Account WHERE ((((Id IN (SELECT Account.OwnerId FROM Contact WHERE "
     "(Account.Owner.Name = 'x')))))))) FROM Account",
     "the filter conditions are too complicated"},
    {"SELECT SUM(Name) FROM Account", "does not support aggregate operator SUM"},
    {"SELECT Id FROM Account; DROP TABLE record", "unexpected token: ';'"},
};

static void finds(void **state)
{
    (void)state;
    check.script = 0;
    lang_check_all(&check, found, ARRAY_LEN(found));
}

static void answers_are_whole(void **state)
{
    (void)state;
    check.script = 1;
    lang_check_all(&check, answers, ARRAY_LEN(answers));
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    check.script = 1;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct str got = lang_check_find(&check, str_of(wrong[i].query));
        if (!str_starts(got, STR("error: ")) || str_find(got, str_of(wrong[i].found)) < 0)
            fail_msg("%s: '" STR_FMT "'", wrong[i].query, STR_ARG(got));
    }
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
        cmocka_unit_test(answers_are_whole),
        cmocka_unit_test(says_what_is_wrong),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
