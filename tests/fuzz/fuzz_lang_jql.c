/* SPDX-License-Identifier: MIT */
/* JQL: whatever a query is, the expression, the check and the order of it are made or refused
 * alike, and what is made is a statement that SQLite takes. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "apps/lang/lang.h"
#include "fuzz.h"

enum { MAX_MEMORY = 64 << 20 };

static const char config[] =
    "{\"jql_check\": \"jql\", \"jql_order\": \"jql\", \"jql\": {\"tie\": \"i.id\", \"fields\": {"
    "\"status\": {\"is\": \"i.s = {v}\", \"in\": \"i.s IN ({f})\", \"empty\": \"i.s IS NULL\","
    "\"exists\": \"SELECT 1 WHERE {v} = 'x'\", \"rank\": \"i.r\", \"rank_of\": \"(SELECT {v})\","
    "\"changed\": \"SELECT 1 FROM h WHERE 1\"}, \"created\": {\"date\": \"i.c\"},"
    "\"due\": {\"date\": \"i.c\", \"is_day\": true, \"empty\": \"i.c IS NULL\"},"
    "\"points\": {\"number\": \"i.r\"}, \"text\": {\"text\": [\"i.s\", \"i.c\"]},"
    "\"type\": \"status\"}, \"functions\": {\"me\": \"SELECT 1\", \"of\": \"SELECT {1} || {2}\"}}}";

static sqlite3 *open_tables(void)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "CREATE TABLE i (id, s, r, c); CREATE TABLE h (created, author, from_text, "
                     "to_text)",
                     NULL, NULL, NULL) != SQLITE_OK)
        abort();
    return db;
}

static void nothing(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    (void)v;
    sqlite3_result_null(x);
}

static void must_prepare(sqlite3 *db, const char *begin, struct str sql, struct arena *a)
{
    struct str all = arena_printf(a, "%s " STR_FMT, begin, STR_ARG(sql));
    sqlite3_stmt *stmt = NULL;

    if (!all.p || sqlite3_prepare_v2(db, all.p, (int)all.len, &stmt, NULL) != SQLITE_OK)
        abort();
    (void)sqlite3_finalize(stmt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sqlite3 *db;
    struct arena a auto_arena;
    struct err e = ERR_INIT;
    struct str text = str_n((const char *)data, size);
    struct appdb_predicate where, check, order;

    if (!db) {
        db = open_tables();
        (void)sqlite3_create_function(db, "now", 0, SQLITE_UTF8, NULL, nothing, NULL, NULL);
        (void)sqlite3_create_function(db, "text_match", -1, SQLITE_UTF8, NULL, nothing, NULL, NULL);
    }
    arena_init(&a, MAX_MEMORY);
    struct json *c = json_parse(&a, str_of(config), NULL, NULL);
    int r = lang_compile(c, STR("jql"), text, &a, &where, &e);
    if (r != 0 && (r != -EINVAL || e.text[0] == '\0'))
        abort();
    if (lang_compile(c, STR("jql_check"), text, &a, &check, NULL) != r)
        abort();
    if (r == 0) {
        must_prepare(db, "SELECT 1 FROM i WHERE", where.sql, &a);
        must_prepare(db, "SELECT", check.sql, &a);
    }
    if (lang_compile(c, STR("jql_order"), text, &a, &order, NULL) == 0)
        must_prepare(db, "SELECT 1 FROM i ORDER BY", order.sql, &a);
    return 0;
}
