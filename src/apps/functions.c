/* SPDX-License-Identifier: MIT */
/* The functions that scripts have besides SQLite's own. */
#include <errno.h>
#include <string.h>

#include "apps/db_impl.h"
#include "apps/id.h"
#include "base/buf.h"
#include "base/clock.h"

static struct appdb *db_of(sqlite3_context *x)
{
    return sqlite3_user_data(x);
}

static struct str text_of(sqlite3_value *v)
{
    const char *p = (const char *)sqlite3_value_text(v);

    return str_n(p ? p : "", (size_t)sqlite3_value_bytes(v));
}

static void give(sqlite3_context *x, const struct buf *b)
{
    if (buf_ok(b))
        sqlite3_result_text(x, b->p ? b->p : "", (int)b->len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_toobig(x);
}

/* now(): "2026-01-15T09:00:00.000Z" */
static void fn_now(sqlite3_context *x, int n, sqlite3_value **v)
{
    char text[CLOCK_RFC3339_MAX];

    (void)n;
    (void)v;
    clock_rfc3339_us(text, appdb_now_us(db_of(x)));
    /* Milliseconds are what the products show. */
    char *dot = strchr(text, '.');
    if (dot)
        (void)memcpy(dot + 4, "Z", 2);
    sqlite3_result_text(x, text, -1, SQLITE_TRANSIENT);
}

static void fn_now_ms(sqlite3_context *x, int n, sqlite3_value **v)
{
    (void)n;
    (void)v;
    sqlite3_result_int64(x, appdb_now_us(db_of(x)) / 1000);
}

/* new_id(kind) by the app's format of that kind. */
static void fn_new_id(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1024);
    struct err e = ERR_INIT;
    struct str kind = text_of(v[0]);
    struct str format = json_str(json_get_str(appdb_ids(db_of(x)), kind), STR_NULL);

    (void)n;
    if (!format.p)
        (void)err_set(&e, -EINVAL, "new_id(" STR_FMT "): the app has no such ids", STR_ARG(kind));
    else
        (void)id_next(db_of(x), kind, format, &b, &e);
    if (e.code)
        sqlite3_result_error(x, err_text(&e), -1);
    else
        give(x, &b);
}

/* rand_text(format): an id of a format given here; it has no {seq}. */
static void fn_rand_text(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1024);
    struct err e = ERR_INIT;

    (void)n;
    if (id_next(db_of(x), STR("rand_text"), text_of(v[0]), &b, &e) < 0)
        sqlite3_result_error(x, err_text(&e), -1);
    else
        give(x, &b);
}

/* rand_int(low, high): both may come out. */
static void fn_rand_int(sqlite3_context *x, int n, sqlite3_value **v)
{
    int64_t low = sqlite3_value_int64(v[0]), high = sqlite3_value_int64(v[1]);

    (void)n;
    if (high < low) {
        sqlite3_result_error(x, "rand_int: the second number is the smaller one", -1);
        return;
    }
    uint64_t span = (uint64_t)high - (uint64_t)low + 1, r = appdb_random(db_of(x));
    sqlite3_result_int64(x, (int64_t)((uint64_t)low + (span ? r % span : r)));
}

/* drop_nulls(object): without the members that are null. */
static void fn_drop_nulls(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct err e = ERR_INIT;

    (void)n;
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    arena_init(&arena, 8 * (size_t)APPDB_RESULT_MAX);
    const struct json *in = json_parse(&arena, text_of(v[0]), NULL, &e);
    if (!json_is(in, JSON_OBJECT)) {
        sqlite3_result_error(x, e.code ? err_text(&e) : "drop_nulls: not an object", -1);
        return;
    }
    struct jw w = jw_to(&b);
    jw_object(&w);
    for (size_t i = 0; i < in->n; i++) {
        if (json_is(&in->members[i].value, JSON_NULL))
            continue;
        jw_key_str(&w, in->members[i].key);
        jw_value(&w, &in->members[i].value);
    }
    jw_end(&w);
    give(x, &b);
    /* The mark by which json_object() and the like take it as JSON, not as text. */
    sqlite3_result_subtype(x, 'J');
}

int functions_define(struct appdb *db, struct err *e)
{
    static const struct {
        const char *name;
        int n_args, flags;
        void (*fn)(sqlite3_context *x, int n, sqlite3_value **v);
    } functions[] = {
        {"now", 0, 0, fn_now},
        {"now_ms", 0, 0, fn_now_ms},
        {"new_id", 1, 0, fn_new_id},
        {"rand_text", 1, 0, fn_rand_text},
        {"rand_int", 2, 0, fn_rand_int},
        {"drop_nulls", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_drop_nulls},
    };

    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        int rc = sqlite3_create_function_v2(db->c, functions[i].name, functions[i].n_args,
                                            SQLITE_UTF8 | functions[i].flags, db, functions[i].fn,
                                            NULL, NULL, NULL);
        if (rc != SQLITE_OK)
            return appdb_fail(db, rc, e, functions[i].name);
    }
    return 0;
}
