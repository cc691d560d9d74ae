/* SPDX-License-Identifier: MIT */
/* json_patch() compares every member of one object with those of the other, so two long ones take
 * the product of both. Here that is charged beforehand; the work itself is SQLite's, on connections
 * that have nothing but its own functions. */
#include <pthread.h>
#include <stdlib.h>

#include "apps/functions/functions.h"
#include "base/list.h"
#include "base/mem.h"

enum { COMPARE_UNITS = 4 }; /* of work, for two members */

struct patch_plain {
    struct list node;
    sqlite3 *c;
    sqlite3_stmt *patch;
};

/* Those that no thread uses now; there are at most as many as threads, and they stay. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list idle = LIST_INIT(idle);

static struct patch_plain *plain_new(void)
{
    struct patch_plain *p = mem_zalloc(1, sizeof *p);

    if (p &&
        sqlite3_open_v2(":memory:", &p->c,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) == SQLITE_OK &&
        sqlite3_prepare_v3(p->c, "SELECT json_patch(?1, ?2)", -1, SQLITE_PREPARE_PERSISTENT,
                           &p->patch, NULL) == SQLITE_OK)
        return p;
    if (p)
        (void)sqlite3_close(p->c);
    free(p);
    return NULL;
}

static struct patch_plain *take_plain_text(void)
{
    (void)pthread_mutex_lock(&lock);
    struct list *node = list_pop(&idle);
    (void)pthread_mutex_unlock(&lock);
    return node ? list_entry(node, struct patch_plain, node) : plain_new();
}

static void give_plain_text(struct patch_plain *p)
{
    (void)pthread_mutex_lock(&lock);
    list_add(&idle, &p->node);
    (void)pthread_mutex_unlock(&lock);
}

/* The arguments stay for as long as the statement is used. */
static void bind_patch_arg(sqlite3_stmt *st, int at, sqlite3_value *v)
{
    if (sqlite3_value_type(v) == SQLITE_TEXT)
        (void)sqlite3_bind_text(st, at, (const char *)sqlite3_value_text(v), sqlite3_value_bytes(v),
                                SQLITE_STATIC);
    else
        (void)sqlite3_bind_value(st, at, v);
}

static void give_result(sqlite3_context *x, struct patch_plain *p)
{
    int rc = sqlite3_step(p->patch);

    if (rc != SQLITE_ROW) {
        sqlite3_result_error(x, sqlite3_errmsg(p->c), -1);
        /* After the text, which it would replace. */
        if ((rc & 0xff) != SQLITE_ERROR)
            sqlite3_result_error_code(x, rc);
        return;
    }
    if (sqlite3_column_type(p->patch, 0) == SQLITE_NULL)
        return;
    sqlite3_result_text(x, (const char *)sqlite3_column_text(p->patch, 0),
                        sqlite3_column_bytes(p->patch, 0), SQLITE_TRANSIENT);
    sqlite3_result_subtype(x, 'J');
}

/* At least the members of all objects in it. */
static int64_t count_members(sqlite3_value *v)
{
    struct str s = sqlite3_value_type(v) == SQLITE_TEXT ? fn_text(v) : STR("");
    int64_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += s.p[i] == ':';
    return n;
}

static void fn_json_patch(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    if (!fn_spend(x, COMPARE_UNITS * count_members(v[0]) * count_members(v[1])))
        return;
    struct patch_plain *p = take_plain_text();
    if (!p) {
        sqlite3_result_error_nomem(x);
        return;
    }
    bind_patch_arg(p->patch, 1, v[0]);
    bind_patch_arg(p->patch, 2, v[1]);
    give_result(x, p);
    (void)sqlite3_reset(p->patch);
    (void)sqlite3_clear_bindings(p->patch);
    give_plain_text(p);
}

const struct sql_function functions_patch[] = {
    {"json_patch", 2, SQLITE_DETERMINISTIC, fn_json_patch},
    {NULL, 0, 0, NULL},
};
