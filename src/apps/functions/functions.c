/* SPDX-License-Identifier: MIT */
/* The functions that scripts have besides SQLite's own. */
#include "apps/functions/functions.h"

#include <errno.h>
#include <string.h>

#include "apps/db/product_id.h"
#include "base/ascii.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

/* What a function is defined with. */
struct fn_use {
    struct appdb *db;
    const struct sql_function *f;
};

enum {
    CALL_UNITS = 64, /* of work, for calling a function at all */
    STEP_UNITS = 4   /* for a step of a regular expression */
};

struct appdb *fn_db(sqlite3_context *x)
{
    const struct fn_use *use = sqlite3_user_data(x);

    return use->db;
}

bool fn_spend(sqlite3_context *x, int64_t units)
{
    if (appdb_spend(fn_db(x), units))
        return true;
    /* As SQLite's own limits end a statement. */
    sqlite3_result_error_code(x, SQLITE_INTERRUPT);
    return false;
}

uint64_t fn_steps(sqlite3_context *x)
{
    int64_t left = fn_db(x)->work_left;

    return left > 0 ? (uint64_t)left / STEP_UNITS : 0;
}

bool fn_spent(sqlite3_context *x, uint64_t given, uint64_t left)
{
    /* One more than there was when it did not suffice. */
    return fn_spend(x, (int64_t)(given - left) * STEP_UNITS + (left == 0 ? STEP_UNITS : 0));
}

struct str fn_text(sqlite3_value *v)
{
    const char *p = (const char *)sqlite3_value_text(v);

    return str_n(p ? p : "", (size_t)sqlite3_value_bytes(v));
}

void fn_give(sqlite3_context *x, const struct buf *b)
{
    if (buf_ok(b))
        sqlite3_result_text(x, b->p ? b->p : "", (int)b->len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_toobig(x);
}

void fn_give_json(sqlite3_context *x, const struct buf *b)
{
    fn_give(x, b);
    if (buf_ok(b))
        sqlite3_result_subtype(x, 'J');
}

/* now(): "2026-01-15T09:00:00.000Z" */
static void fn_clock_now(sqlite3_context *x, int n, sqlite3_value **v)
{
    char text[CLOCK_RFC3339_MAX];

    (void)n;
    (void)v;
    clock_rfc3339_us(text, appdb_now_us(fn_db(x)));
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
    sqlite3_result_int64(x, appdb_now_us(fn_db(x)) / 1000);
}

/* new_id(kind) by the app's format of that kind. */
static void fn_new_id(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1024);
    struct err e = ERR_INIT;
    struct str kind = fn_text(v[0]);
    struct str format = json_str(json_get_str(appdb_ids(fn_db(x)), kind), STR_NULL);

    (void)n;
    if (!format.p)
        (void)err_set(&e, -EINVAL, "new_id(" STR_FMT "): the app has no such ids", STR_ARG(kind));
    else
        (void)id_next(fn_db(x), kind, format, &b, &e);
    if (e.code)
        sqlite3_result_error(x, err_text(&e), -1);
    else
        fn_give(x, &b);
}

/* rand_text(format): an id of a format given here; it has no {seq}. */
static void fn_rand_text(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(1024);
    struct err e = ERR_INIT;

    (void)n;
    if (id_next(fn_db(x), STR("rand_text"), fn_text(v[0]), &b, &e) < 0)
        sqlite3_result_error(x, err_text(&e), -1);
    else
        fn_give(x, &b);
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
    uint64_t span = (uint64_t)high - (uint64_t)low + 1, r = appdb_random(fn_db(x));
    sqlite3_result_int64(x, (int64_t)((uint64_t)low + (span ? r % span : r)));
}

/* drop_nulls(object): without the members that are null. */
static void fn_drop_nulls(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct err e = ERR_INIT;

    (void)n;
    arena_init(&arena, 8 * (size_t)APPDB_RESULT_MAX);
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    const struct json *in = json_parse(&arena, fn_text(v[0]), NULL, &e);
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
    fn_give_json(x, &b);
}

static bool is_word_char(char c)
{
    return ascii_is_alnum(c) || (unsigned char)c >= 0x80;
}

/* text_has(text, phrase): the phrase is in it from the beginning of a word on, so that "drift" also
 * finds "drifts". Without regard to ASCII case. */
static void fn_text_has(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct str text = fn_text(v[0]), phrase = fn_text(v[1]);
    bool is_there = false;

    (void)n;
    for (size_t i = 0; !is_there && i + phrase.len <= text.len; i++) {
        /* Most do not even begin so, in either case. */
        if (phrase.len > 0 && ((text.p[i] ^ phrase.p[0]) & ~0x20) != 0)
            continue;
        if (i > 0 && is_word_char(text.p[i - 1]) && is_word_char(text.p[i]))
            continue;
        /* What begins the same may be the same for long. */
        size_t few = phrase.len < 8 ? phrase.len : 8;
        if (!str_ieq_bytes(text.p + i, phrase.p, few))
            continue;
        if (!fn_spend(x, (int64_t)phrase.len))
            return;
        is_there = str_ieq_bytes(text.p + i + few, phrase.p + few, phrase.len - few);
    }
    sqlite3_result_int(x, is_there);
}

static const struct sql_function functions[] = {
    {"now", 0, 0, fn_clock_now},
    {"now_ms", 0, 0, fn_now_ms},
    {"new_id", 1, 0, fn_new_id},
    {"rand_text", 1, 0, fn_rand_text},
    {"rand_int", 2, 0, fn_rand_int},
    {"drop_nulls", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_drop_nulls},
    {"text_has", 2, SQLITE_DETERMINISTIC, fn_text_has},
    {NULL, 0, 0, NULL},
};

static const struct sql_function *const tables[] = {
    functions,
    functions_airtable,
    functions_calc,
    functions_csv,
    functions_diff,
    functions_dropbox,
    functions_git,
    functions_github,
    functions_json,
    functions_mail,
    functions_markup,
    functions_notion,
    functions_patch,
    functions_printf,
    functions_search,
    functions_slack,
    functions_sqlite,
    functions_time,
    functions_tree,
    functions_a1,
    functions_formula,
    functions_sheets,
    functions_bigquery_query,
    functions_bigquery_regex,
    functions_bigquery_row,
    functions_bigquery_text,
    functions_bigquery_time,
    functions_bigquery_value,
};

/* Bytes of what a function is called with. */
static int64_t count_arg_bytes(int n, sqlite3_value **v)
{
    int64_t bytes = 0;

    for (int i = 0; i < n; i++) {
        int type = sqlite3_value_type(v[i]);
        /* Numbers would become texts. */
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            bytes += sqlite3_value_bytes(v[i]);
    }
    return bytes;
}

static void call_counted_function(sqlite3_context *x, int n, sqlite3_value **v)
{
    const struct fn_use *use = sqlite3_user_data(x);

    if (fn_spend(x, CALL_UNITS + count_arg_bytes(n, v)))
        use->f->fn(x, n, v);
}

/* Newer versions of SQLite, as Debian 13 has, require to know which functions mark their results as
 * JSON (fn_give_json()), and end the statement of one that does so without. Older ones ignore it.
 */
#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0x001000000
#endif

static int define(struct fn_use *use, struct err *e)
{
    const struct sql_function *f = use->f;
    int rc = sqlite3_create_function_v2(use->db->c, f->name, f->n_args,
                                        SQLITE_UTF8 | SQLITE_RESULT_SUBTYPE | f->flags, use,
                                        call_counted_function, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : appdb_fail(use->db, rc, e, f->name);
}

const struct sql_function *functions_table(size_t i)
{
    return i < ARRAY_LEN(tables) ? tables[i] : NULL;
}

int functions_define(struct appdb *db, struct err *e)
{
    size_t n = 0;
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        for (const struct sql_function *f = tables[i]; f->name; f++)
            n++;
    }
    db->uses = mem_zalloc(n, sizeof *db->uses);
    if (!db->uses)
        return err_set(e, -ENOMEM, "out of memory");
    struct fn_use *use = db->uses;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        for (const struct sql_function *f = tables[i]; r == 0 && f->name; f++, use++) {
            *use = (struct fn_use){db, f};
            r = define(use, e);
        }
    }
    return r;
}
