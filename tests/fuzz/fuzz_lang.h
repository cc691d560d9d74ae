/* SPDX-License-Identifier: MIT */
/* For fuzz targets of query languages: whatever the query is, it is either refused with a reason,
 * or it is compiled to SQL that SQLite takes, with all its values as parameters. */
#pragma once

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "apps/lang/lang.h"
#include "base/buf.h"
#include "fuzz.h"

struct fuzz_lang {
    const char *name;             /* of the language */
    const char *config;           /* app.json's /languages, as JSON */
    const char *schema;           /* of the tables that CONFIG names */
    const char *from;             /* behind SELECT … FROM */
    const char *const *functions; /* that it uses besides SQLite's own; NULL-terminated, or NULL */
};

static inline void fuzz_ignore(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    (void)v;
    sqlite3_result_null(x);
}

static inline sqlite3 *fuzz_lang_db(const struct fuzz_lang *f)
{
    sqlite3 *c;

    if (sqlite3_open(":memory:", &c) != SQLITE_OK ||
        sqlite3_create_function_v2(c, "now", 0, SQLITE_UTF8, NULL, fuzz_ignore, NULL, NULL, NULL) !=
            SQLITE_OK ||
        sqlite3_exec(c, f->schema, NULL, NULL, NULL) != SQLITE_OK)
        abort();
    for (const char *const *name = f->functions; name && *name; name++) {
        if (sqlite3_create_function_v2(c, *name, -1, SQLITE_UTF8, NULL, fuzz_ignore, NULL, NULL,
                                       NULL) != SQLITE_OK)
            abort();
    }
    /* As apps/db/db.c has it. */
    (void)sqlite3_limit(c, SQLITE_LIMIT_EXPR_DEPTH, 200);
    return c;
}

static inline void fuzz_lang_try(const struct fuzz_lang *f, const uint8_t *data, size_t size)
{
    static sqlite3 *c;
    auto_arena struct arena a;
    auto_buf struct buf b = BUF_INIT(4 << 20);
    struct appdb_predicate p = {.values = NULL};
    struct err e = ERR_INIT;
    sqlite3_stmt *stmt = NULL;

    if (!c)
        c = fuzz_lang_db(f);
    arena_init(&a, 64 << 20);
    struct json *config = json_parse(&a, str_of(f->config), NULL, NULL);
    int r = lang_compile(config, str_of(f->name), str_n((const char *)data, size), &a, &p, &e);
    if (r < 0) {
        if (r != -EINVAL || e.code != r || !err_text(&e)[0])
            abort();
        return;
    }
    (void)buf_printf(&b, p.is_order ? "SELECT 1 FROM %s ORDER BY " : "SELECT 1 FROM %s WHERE ",
                     f->from);
    (void)buf_add_str(&b, p.sql);
    if (!buf_ok(&b) || sqlite3_prepare_v2(c, b.p, (int)b.len, &stmt, NULL) != SQLITE_OK ||
        sqlite3_bind_parameter_count(stmt) > (int)p.values->n)
        abort();
    (void)sqlite3_finalize(stmt);
}
