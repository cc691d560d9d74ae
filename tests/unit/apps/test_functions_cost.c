/* SPDX-License-Identifier: MIT */
/* No function does more than it is charged for: every row of the tables is called with arguments
 * that double until its budget stops it, and the CPU time for each unit of work that it was charged
 * with has a bound. A function whose time grows faster than what it says would pass any bound. */
#include "../check.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "apps/db/memory.h"
#include "apps/functions/functions.h"
#include "apps/lang/lang.h"
#include "base/clock.h"
#include "sys/io.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOWNESS = 4 };
#else
enum { SLOWNESS = 1 };
#endif

enum {
    SHORTEST = 2 << 10, /* bytes of an argument */
    LONGEST = 32 << 10,
    MAX_NS = 1000 * SLOWNESS,       /* of CPU per unit; tens are usual */
    MAX_QUERY_NS = 3000 * SLOWNESS, /* of CPU per byte of a query, for compiling it */
    NOTICED_MS = 20                 /* below it nothing is said about a call */
};

/* What takes less with the shortest argument would not be noticed with the longest, even if its
 * time grew with the square. */
#define UNTOLD_NS                                                                                  \
    (NOTICED_MS * INT64_C(1000000) / ((LONGEST / SHORTEST) * (int64_t)(LONGEST / SHORTEST)))

static unsigned n_faults;

/* Texts that make what is not linear show: one letter, lines, words, nesting, wildcards, JSON. */
static const char *const fillings[] = {
    "a",      "ab ",          "x\n",  "(",      "[",           "{\"a\":", "\"",
    "%a",     "*a*",          "é",    "a,b\n",  "<b>",         "> ",      "- x\n",
    "1+",     "[a](b)",       "&lt;", "[1,2],", "**a",         "0",       "\\",
    "`",      "a b c d e f ", "@u ",  "<x|",    "2026-01-01,", "#",       "/a",
    "A1:B2,", "=SUM(A1)+",    "|",
};

struct shape {
    const char *before, *after;
};

static const struct shape shapes[] = {{"", ""}, {"", "b"}, {"[", "0]"}, {"{\"a\":\"", "\"}"}};

static int64_t cpu_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* LEN bytes or a few more of it. */
static struct str make_text(const char *filling, const struct shape *s, size_t len)
{
    struct buf b = BUF_INIT(4UL * LONGEST);

    (void)buf_add_str(&b, str_of(s->before));
    while (b.len < len)
        (void)buf_add_str(&b, str_of(filling));
    (void)buf_add_str(&b, str_of(s->after));
    return buf_str(&b);
}

static sqlite3_stmt *prepare(struct appdb *db, const struct sql_function *f, int n)
{
    char sql[256];
    sqlite3_stmt *st = NULL;
    size_t len = (size_t)snprintf(sql, sizeof sql, "SELECT \"%s\"(", f->name);

    for (int i = 1; i <= n; i++)
        len += (size_t)snprintf(sql + len, sizeof sql - len, "%s?%d", i > 1 ? "," : "", i);
    (void)snprintf(sql + len, sizeof sql - len, ")");
    if (sqlite3_prepare_v2(db->c, sql, -1, &st, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db->c));
    return st;
}

/* Which arguments are long: a bit each; the others are short, or a number. False: a longer text
 * says nothing more. */
static bool call(struct appdb *db, const struct sql_function *f, sqlite3_stmt *st, unsigned is_long,
                 struct str text)
{
    int n = sqlite3_bind_parameter_count(st);

    appdb_limit(db, APPDB_USUAL);
    db->deadline_ms += 3600 * 1000; /* work alone counts here */
    int64_t left = db->work_left, begun = cpu_ns();
    for (int i = 0; i < n; i++) {
        /* Every other one is its second half: what is searched for in the first. */
        size_t from = i % 2 ? text.len / 2 : 0;
        if (is_long & (1U << i))
            (void)sqlite3_bind_text(st, i + 1, text.p + from, (int)(text.len - from),
                                    SQLITE_STATIC);
        else if (is_long & (1U << (8 + i)))
            (void)sqlite3_bind_int64(st, i + 1, (int64_t)text.len);
        else
            (void)sqlite3_bind_text(st, i + 1, "a", 1, SQLITE_STATIC);
    }
    (void)sqlite3_step(st);
    bool is_over = db->limit != NULL;
    (void)sqlite3_reset(st);
    int64_t ns = cpu_ns() - begun, units = left - db->work_left;
    if (ns > NOTICED_MS * INT64_C(1000000) && ns > units * MAX_NS) {
        n_faults++;
        print_error("%s of %d arguments (long: %x), %zu bytes of '%.12s': %lld ms for %lld units\n",
                    f->name, n, is_long, text.len, text.p, (long long)ns / 1000000,
                    (long long)units);
        return false;
    }
    return !is_over && ns > UNTOLD_NS;
}

static void double_it(struct appdb *db, const struct sql_function *f, int n, unsigned is_long)
{
    sqlite3_stmt *st = prepare(db, f, n);

    for (size_t i = 0; i < 2 * sizeof fillings / sizeof fillings[0]; i++) {
        const struct shape *s = &shapes[i % 2 ? 0 : 1 + i / 2 % 3];
        bool goes_on = true;
        for (size_t len = SHORTEST; goes_on && len <= LONGEST; len *= LONGEST / SHORTEST) {
            struct str text = make_text(fillings[i / 2], s, len);
            goes_on = call(db, f, st, is_long, text);
            free((char *)text.p);
        }
    }
    (void)sqlite3_finalize(st);
}

static struct appdb *open_db(void)
{
    static const struct scripts none = {0};
    const struct appdb_env env = {.scripts = &none, .seed = 1, .start_us = 1};
    struct appdb *db = NULL;
    struct err e = ERR_INIT;
    char path[64];

    (void)snprintf(path, sizeof path, "/tmp/test_functions_cost.%d.db", (int)getpid());
    (void)unlink(path);
    assert_int_equal(appdb_create(path, "CREATE TABLE t (id INTEGER PRIMARY KEY)", &e), 0);
    assert_int_equal(appdb_open(path, true, &env, &db, &e), 0);
    (void)unlink(path);
    return db;
}

static void functions_are_charged_for_what_they_do(void **state)
{
    struct appdb *db auto_(appdb_close) = open_db();
    const struct sql_function *table;
    const char *only = getenv("COST_OF"); /* one function, for looking at it */

    (void)state;
    n_faults = 0;
    for (size_t t = 0; (table = functions_table(t)); t++) {
        for (const struct sql_function *f = table; f->name; f++) {
            int n = f->n_args < 0 ? 3 : f->n_args;
            if (only && strcmp(only, f->name) != 0)
                continue;
            unsigned all = (1U << n) - 1;
            const unsigned sets[] = {all, 1, 1 | 2 << 8};
            for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
                if (n > 0 && (sets[i] & 0xff) <= all && (sets[i] >> 8) <= all &&
                    (i == 0 || sets[i] != all))
                    double_it(db, f, n, sets[i]);
            }
        }
    }
    assert_int_equal(n_faults, 0);
}

/* ---- SQLite's own ---- */

enum {
    LONGEST_JSON = 512 << 10,
    NATIVE_MS = 300 /* after which the limits end a statement here */
};

/* Everything of SQLite's that SQL of a caller can reach and whose time depends on what it gets: ?1
 * and ?2 are long. */
static const char *const natives[] = {
    "json(?1)",
    "json_valid(?1)",
    "json_type(?1)",
    "json_type(?1, '$.k9')",
    "json_array_length(?1)",
    "json_extract(?1, '$.k1', '$[#-1]', '$.k99999')",
    "?1 -> '$[#-1]'",
    "?1 ->> 'k1'",
    "json_set(?1, '$.new', ?2)",
    "json_insert(?1, '$.new', ?2, '$[#]', 1)",
    "json_replace(?1, '$.k1', ?2)",
    "json_remove(?1, '$.k1', '$[0]')",
    "json_patch(?1, ?2)",
    "json_patch(json_patch(?1, ?2), ?1)",
    "json_array(?1, json(?2))",
    "json_object('a', ?1, 'b', json(?2))",
    "json_quote(?1)",
    "(SELECT json_group_array(value) FROM json_each(?1))",
    "(SELECT json_group_object(key, value) FROM json_each(?1))",
    "(SELECT count(fullkey || path) FROM json_tree(?1))",
    "(SELECT count(*) FROM json_each(?1) a JOIN json_each(?2) b ON a.value = b.key)",
    "(SELECT group_concat(value, 'and') FROM json_each(?1))",
    "(SELECT group_concat(value, ?2) FROM json_each(?1))",
    "(SELECT count(*) FROM (SELECT value FROM json_each(?1) ORDER BY value || key))",
    "(SELECT count(DISTINCT value || key) FROM json_each(?1))",
    "(SELECT max(length(x)) FROM (SELECT group_concat(value) OVER (ORDER BY key ROWS 500 PRECEDING)"
    " AS x FROM json_each(?1)))",
    "(SELECT max(length(x)) FROM (SELECT json_group_array(value) OVER (ORDER BY key ROWS 500 "
    "PRECEDING) AS x FROM json_each(?1)))",
    "(SELECT sum(value) + max(value) + count(value) FROM json_each(?1))",
    "quote(?1)",
    "unicode(?1)",
    "?1 = ?2",
    "?1 || ?2",
    "max(?1, ?2)",
    "coalesce(nullif(?1, ?2), ?2)",
    "?1 + 0",
    "abs(?1)",
    "round(?1, 3)",
    "CAST(?1 AS INTEGER) + CAST(?2 AS REAL)",
    "typeof(CAST(?1 AS NUMERIC))",
    "quote(zeroblob(length(?1)))",
    "?1 COLLATE NOCASE = ?2",
    "?1 COLLATE RTRIM = ?2",
};

/* What JSON can be long in: members, values, depth, one text, digits. */
static struct str make_json(int kind, size_t len)
{
    struct buf b = BUF_INIT(4UL * LONGEST_JSON);

    (void)buf_add_str(&b, kind == 0 ? STR("{\"k\":0") : kind == 3 ? STR("\"") : STR("[0"));
    for (unsigned i = 0; b.len < len; i++) {
        switch (kind) {
        case 0: (void)buf_printf(&b, ",\"k%u\":%u", i, i); break;
        case 1: (void)buf_printf(&b, ",%u", i); break;
        case 2: (void)buf_add_lit(&b, ",[0"); break;
        case 3: (void)buf_add_lit(&b, "a\\u0061é"); break;
        default: (void)buf_add_lit(&b, "123456789"); break;
        }
        if (kind == 2 && i == 1500)
            len = b.len; /* deeper is no JSON */
    }
    for (unsigned i = 0; kind == 2 && i < 1500 && i < (len - 2) / 3; i++)
        (void)buf_add_char(&b, ']');
    (void)buf_add_str(&b, kind == 0 ? STR("}") : kind == 3 ? STR("\"") : STR("]"));
    return buf_str(&b);
}

static bool run_native(struct appdb *db, const char *expression, int kind, struct str text)
{
    char sql[512];
    sqlite3_stmt *st = NULL;

    (void)snprintf(sql, sizeof sql, "SELECT %s", expression);
    appdb_limit(db, APPDB_USUAL);
    db->deadline_ms = clock_mono_ms() + NATIVE_MS;
    int64_t begun = cpu_ns();
    if (sqlite3_prepare_v2(db->c, sql, -1, &st, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db->c));
    (void)sqlite3_bind_text(st, 1, text.p, (int)text.len, SQLITE_STATIC);
    (void)sqlite3_bind_text(st, 2, text.p, (int)text.len, SQLITE_STATIC);
    (void)sqlite3_step(st);
    bool is_over = db->limit != NULL;
    (void)sqlite3_finalize(st);
    int64_t ns = cpu_ns() - begun;
    /* Linear, or ended soon after the limits. */
    if (ns > 2 * SLOWNESS * NATIVE_MS * INT64_C(1000000) && ns > (int64_t)text.len * MAX_NS) {
        n_faults++;
        print_error("%s, kind %d of %zu bytes: %lld ms\n", expression, kind, text.len,
                    (long long)ns / 1000000);
        return false;
    }
    return !is_over;
}

static void sqlites_own_are_linear_or_end(void **state)
{
    struct appdb *db auto_(appdb_close) = open_db();

    (void)state;
    n_faults = 0;
    for (size_t i = 0; i < 5 * sizeof natives / sizeof natives[0]; i++) {
        bool goes_on = true;
        for (size_t len = 4096; goes_on && len <= LONGEST_JSON; len *= 2) {
            struct str text = make_json((int)(i % 5), len);
            goes_on = run_native(db, natives[i / 5], (int)(i % 5), text);
            free((char *)text.p);
        }
    }
    assert_int_equal(n_faults, 0);
}

/* A row of many long values goes straight on: no step of it looks at the limits. */
static void statements_get_no_more_memory_than_they_may(void **state)
{
    struct appdb *db auto_(appdb_close) = open_db();
    struct buf sql auto_buf = BUF_INIT(4096);
    sqlite3_stmt *st = NULL;

    (void)state;
    (void)buf_add_lit(&sql, "SELECT x || 0");
    for (int i = 1; i < 20; i++)
        (void)buf_printf(&sql, ", x || %d", i);
    (void)buf_add_lit(&sql, " FROM (SELECT printf('%.*c', 15000000, 'a') AS x)");
    appdb_limit(db, APPDB_USUAL);
    assert_int_equal(sqlite3_prepare_v2(db->c, buf_cstr(&sql), -1, &st, NULL), SQLITE_OK);
    appdb_guard(db);
    int rc = sqlite3_step(st);
    appdb_guard(NULL);
    (void)sqlite3_finalize(st);
    assert_int_equal(rc & 0xff, SQLITE_NOMEM);
    assert_string_equal(db->limit, "needs too much memory");
}

/* ---- query languages ---- */

static const char *const queries[] = {
    "(",
    "a ",
    "a:b ",
    "a = 1 AND ",
    "NOT ",
    "'",
    "\"a\" ",
    "a,",
    "{a} & ",
    "-a ",
    "[",
    "a or ",
    "1+",
    "IF(",
    "\\",
    "{\"and\":[",
    "a eq 'b' and ",
    "SELECT ",
    "from:a ",
    "(a OR b) ",
    "a in (b) ",
    "label:x ",
    "a LIKE '%' OR ",
    "contains(a,'",
    "a~\"b*\" ",
    "ORDER BY a ",
};

/* LANGUAGE, as an app has it, compiles long texts in time that is in proportion to them. */
static void compile_all(struct json *languages, struct str language)
{
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        struct arena a auto_arena;
        struct appdb_predicate p;
        struct err e = ERR_INIT;
        struct str text = make_text(queries[i], &shapes[0], LANG_MAX_TEXT - 100);
        arena_init(&a, 256UL << 20);
        int64_t begun = cpu_ns();
        (void)lang_compile(languages, language, text, &a, &p, &e);
        int64_t ns = cpu_ns() - begun;
        if (ns > (int64_t)text.len * MAX_QUERY_NS) {
            n_faults++;
            print_error("%.*s: '%.20s' takes %lld ms\n", (int)language.len, language.p, text.p,
                        (long long)ns / 1000000);
        }
        free((char *)text.p);
    }
}

static void languages_compile_in_linear_time(void **state)
{
    glob_t apps;
    unsigned n = 0;

    (void)state;
    n_faults = 0;
    assert_int_equal(glob(VECTORS_DIR "/../../apps/*/app.json", 0, NULL, &apps), 0);
    for (size_t i = 0; i < apps.gl_pathc; i++) {
        struct arena a auto_arena;
        struct buf text auto_buf = BUF_INIT(4 << 20);
        struct err e = ERR_INIT;
        arena_init(&a, 16 << 20);
        assert_int_equal(io_read_file(apps.gl_pathv[i], &text, &e), 0);
        const struct json *app = json_parse(&a, buf_str(&text), NULL, &e);
        struct json *languages = json_get(app, "languages");
        for (size_t k = 0; languages && k < languages->n; k++, n++)
            compile_all(languages, languages->members[k].key);
    }
    globfree(&apps);
    assert_true(n >= 20);
    assert_int_equal(n_faults, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(languages_compile_in_linear_time),
        cmocka_unit_test(sqlites_own_are_linear_or_end),
        cmocka_unit_test(statements_get_no_more_memory_than_they_may),
        cmocka_unit_test(functions_are_charged_for_what_they_do),
    };

    memory_setup();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
