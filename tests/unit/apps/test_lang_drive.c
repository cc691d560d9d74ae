/* SPDX-License-Identifier: MIT */
/* The queries and orders of Google Drive: what is found by them. */
#include "lang_check.h"

#define MATCH "f.n IN (SELECT rowid FROM fts_f WHERE fts_f MATCH ?)"

static struct lang_check check = {
    .schema =
        "CREATE TABLE f (n INTEGER PRIMARY KEY, name, mime, content, modified, parent, owner,"
        " trashed, starred, shared);"
        "INSERT INTO f VALUES"
        " (1, 'HelloWorld plan', 'application/vnd.google-apps.document', 'alpha beta',"
        "  1767225600000, 'root', 'ann', 0, 1, 0),"
        " (2, 'It''s a test', 'text/plain', 'beta gamma delta', 1768000000000, 'd1', 'bob', 0, 0,"
        "  1),"
        " (3, 'World news', 'image/png', '', 1768450000000, 'd1', 'ann', 1, 0, 0);"
        "CREATE VIRTUAL TABLE fts_f USING fts5 (name, content);"
        "INSERT INTO fts_f (rowid, name, content) SELECT n, name, content FROM f;",
    .languages = "{\"drive\": {\"fields\": {\"match\": \"" MATCH "\", \"name\": \"f.name\","
                 "\"mimeType\": \"f.mime\", \"modifiedTime\": \"f.modified\","
                 "\"trashed\": \"f.trashed\", \"starred\": \"f.starred\","
                 "\"sharedWithMe\": \"f.shared\", \"parents\": \"f.parent = ?\","
                 "\"owners\": \"f.owner = ?\"}},"
                 "\"drive_order\": {\"fields\": {\"name\": \"f.name\","
                 "\"modifiedTime\": \"f.modified\"}}}",
    .scripts = "-- name: find\n"
               "SELECT ifnull(group_concat(n), '') AS result FROM (SELECT n FROM f WHERE"
               " {{drive :q}} ORDER BY n);\n"
               "-- name: sort\n"
               "SELECT group_concat(n) AS result FROM (SELECT n FROM f ORDER BY"
               " {{drive_order :q}}, n);\n",
};

#define INVALID "error: Invalid Value"

static const struct lang_case cases[] = {
    {"", "1,2,3"},
    {"name = 'World news'", "3"},
    {"name != 'World news'", "1,2"},
    {"name contains 'hello'", "1"},
    {"name contains 'world'", "3"}, /* beginnings of words */
    {"name contains 'world ne'", "3"},
    {"not name contains 'hello'", "2,3"},
    {"name not contains 'hello'", "2,3"},
    {"name contains 'it\\'s'", "2"},
    {"fullText contains 'beta'", "1,2"},
    {"fullText contains 'gamma beta'", "2"},
    {"fullText contains '\"gamma beta\"'", ""},
    {"fullText contains '\"beta gamma\"'", "2"},
    {"fullText contains 'news'", "3"},
    {"mimeType = 'image/png'", "3"},
    {"mimeType contains 'image/'", "3"},
    {"mimeType contains 'png'", ""},
    {"trashed = true", "3"},
    {"trashed=false", "1,2"},
    {"trashed != true and starred = true", "1"},
    {"sharedWithMe", "2"},
    {"not sharedWithMe and trashed = false", "1"},
    {"'d1' in parents", "2,3"},
    {"'d1' in parents and 'ann' in owners", "3"},
    {"'x' in parents or 'ann' in owners and trashed = false", "1"},
    {"('d1' in parents or 'root' in parents) and trashed = false", "1,2"},
    {"modifiedTime > '2026-01-01T00:00:00'", "2,3"},
    {"modifiedTime >= '2026-01-01T00:00:00Z' and modifiedTime < '2026-01-14T12:00:00-08:00'",
     "1,2"},
    {"modifiedTime <= '2026-01-01T01:00:00+01:00'", "1"},
    {"name = '\\'; DROP TABLE f; --'", ""},
    {"name", INVALID},
    {"name = hello", INVALID},
    {"name = 'open", INVALID},
    {"name > 'a'", INVALID},
    {"name = 'a' and", INVALID},
    {"name = 'a' name = 'b'", INVALID},
    {"(name = 'a'", INVALID},
    {"trashed = 'true'", INVALID},
    {"modifiedTime > 'yesterday'", INVALID},
    {"modifiedTime contains '2026'", INVALID},
    {"fullText = 'a'", INVALID},
    {"'a' in name", INVALID},
    {"parents = 'a'", INVALID},
    {"colour = 'red'", INVALID},
    {"not", INVALID},
    {"not not not not not not not not trashed = true", "3"},
    {"not not not not not not not not not trashed = true", INVALID},
    {"trashed = true or trashed = false and (trashed = true or trashed = false and (trashed = true "
     "or"
     " trashed = false and (trashed = true or trashed = false and (trashed = true or trashed = "
     "false"
     " and (trashed = true or trashed = false and (trashed = true or trashed = false and (trashed ="
     " true or trashed = false and (fullText contains 'beta'))))))))",
     "1,2,3"},
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
        {"name desc", "3,2,1"},
        {"modifiedTime desc,name", "3,2,1"},
        {" modifiedTime , name desc", "1,2,3"},
        {"colour", INVALID},
        {"name up", INVALID},
        {"name,,name", INVALID},
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
