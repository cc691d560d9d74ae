/* SPDX-License-Identifier: MIT */
/* BigQuery's SQL: it is refused with a reason, or compiled to SQL that reads and changes only
 * tables of its own. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "apps/products/bigquery/bq.h"
#include "fuzz.h"

static const char schema[] =
    "CREATE TABLE bq_dataset (id TEXT PRIMARY KEY, location, created_at, updated_at);"
    "CREATE TABLE bq_table (n INTEGER PRIMARY KEY, dataset, id, fields, created_at,"
    " view_query, view_columns);"
    "CREATE TABLE bq_row (t INTEGER, n INTEGER, d TEXT, PRIMARY KEY (t, n));"
    "CREATE TABLE secret (x);"
    "INSERT INTO bq_dataset (id) VALUES ('d');"
    "INSERT INTO bq_table VALUES (1, 'd', 't', '[{\"name\":\"a\",\"type\":\"INTEGER\"},"
    "{\"name\":\"s\",\"type\":\"STRING\"},{\"name\":\"l\",\"type\":\"STRING\",\"mode\":"
    "\"REPEATED\"}]', '', NULL, NULL), (2, 'd', 'v', '[{\"name\":\"a\",\"type\":\"INTEGER\"}]', '',"
    "'WITH x AS (SELECT a FROM d.t) SELECT * FROM x', '[\"b\"]'),"
    "(3, 'd', 'w', '[]', '', 'SELECT b FROM d.v JOIN d.w USING (b)', NULL);";

/* NOLINTNEXTLINE(readability-function-size): SQLite asks for so many */
static int authorize(void *ctx, int action, const char *table, const char *more, const char *base,
                     const char *trigger)
{
    (void)ctx;
    (void)more;
    (void)base;
    (void)trigger;
    if ((action == SQLITE_READ || action == SQLITE_DELETE || action == SQLITE_INSERT ||
         action == SQLITE_UPDATE) &&
        table && sqlite3_stricmp(table, "secret") == 0)
        abort();
    return SQLITE_OK;
}

static int stop(void *ctx)
{
    (void)ctx;
    return 1;
}

static void run(sqlite3 *c, struct str text, bool is_dry)
{
    auto_arena struct arena a;
    struct err e = ERR_INIT;

    arena_init(&a, 64 << 20);
    struct bq_run q = {.db = c,
                       .arena = &a,
                       .project = STR("p"),
                       .is_dry = is_dry,
                       .max_rows = 10,
                       .text = BUF_INIT(1 << 20)};
    int r = bq_run(&q, text, &e);
    if (r < 0 && !err_text(&e)[0])
        abort();
    buf_done(&q.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sqlite3 *c;

    if (!c && (sqlite3_open(":memory:", &c) != SQLITE_OK ||
               sqlite3_exec(c, schema, NULL, NULL, NULL) != SQLITE_OK ||
               sqlite3_set_authorizer(c, authorize, NULL) != SQLITE_OK))
        abort();
    sqlite3_progress_handler(c, 20000, stop, NULL);
    for (int i = 0; i < 2; i++) {
        (void)sqlite3_exec(c, "BEGIN", NULL, NULL, NULL);
        run(c, str_n((const char *)data, size), i == 0);
        if (sqlite3_exec(c, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK)
            abort();
    }
    return 0;
}
