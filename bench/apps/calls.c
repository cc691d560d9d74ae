/* SPDX-License-Identifier: MIT */
/* One tool of an app, called again and again without a network: see run.
 *
 *     bench_apps MODE SECONDS DIR APP SEED TOOL ARGUMENTS
 *
 * MODE is "bare", a loop that binds and steps the tool's statements, prepared once, in a
 * transaction, and copies the result; or "engine", the call as the service makes it: arguments
 * checked against the schema, completed, statements found, limits watched; or "shared", the same
 * on a database that is open for reading only. All on a database of their own in DIR, made with
 * SEED (a file for import). Prints calls, seconds and CPU seconds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apps/db/db_internal.h"
#include "apps/db/memory.h"
#include "apps/engine/engine.h"
#include "apps/engine/template.h"
#include "base/clock.h"
#include "sys/io.h"

enum { MAX_PARAMS = 64, MAX_STATEMENTS = SCRIPT_MAX_STATEMENTS };

static int64_t end_us;
static const struct app *app;
static const struct app_tool *tool;
static struct arena kept;
static struct str arguments;

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "bench_apps: %s\n", what);
    exit(1);
}

static double cpu_seconds(void)
{
    struct rusage u;

    (void)getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static bool is_over(uint64_t n)
{
    return n % 64 == 0 && clock_mono_us() >= end_us;
}

static void must(int r, const struct err *e)
{
    if (r < 0)
        die(err_text(e));
}

/* ---- as the service does ---- */

/* IS_SHARED: as those that only read, on the template that all share. */
static uint64_t run_engine(struct app_home *h, bool is_shared)
{
    struct app_handle *x = NULL;
    struct err e = ERR_INIT;
    uint64_t n = 0;
    struct arena a;

    must(app_engine_sqlite.open(h, app, "instances/x", is_shared, &x, &e), &e);
    arena_init(&a, 64 << 20);
    for (; !is_over(n); n++) {
        struct app_answer answer;
        struct app_call call = {
            .tool = tool, .args = json_parse(&a, arguments, NULL, &e), .arena = &a};
        must(app_call(x, app, &call, &answer, &e), &e);
        if (answer.is_failure)
            die(answer.text.p);
        arena_reset(&a);
    }
    app_engine_sqlite.close(x, false);
    arena_done(&a);
    return n;
}

/* ---- bare ---- */

/* Where a parameter comes from: an argument, or a column of an earlier statement. */
struct source {
    const struct json *value;
    int statement, column; /* -1: the argument */
};

struct statement {
    sqlite3_stmt *stmt;
    struct source params[MAX_PARAMS];
    int n_params, result; /* column of the result, or -1 */
};

static struct statement statements[MAX_STATEMENTS];

static struct source find_source(const struct json *args, int before, const char *name)
{
    struct source s = {json_get(args, name), -1, 0};

    for (int k = before - 1; k >= 0; k--) {
        for (int i = 0; i < sqlite3_column_count(statements[k].stmt); i++) {
            if (strcmp(sqlite3_column_name(statements[k].stmt, i), name) == 0)
                return (struct source){NULL, k, i};
        }
    }
    if (strcmp(name, "args") == 0)
        s.value = json_new_str(&kept, arguments);
    return s;
}

/* The values of ST's queries become arguments; how the statement looks with them, a call before has
 * left in DB: its queries are compiled once here, the arguments are always the same. */
static struct str compose(const struct appdb *db, const struct script_statement *st, size_t *at,
                          struct json *args)
{
    const struct appdb_env env = template_env(app, 1, 1);
    struct err e = ERR_INIT;
    size_t n = 0;

    if (st->n_queries == 0)
        return st->sql;
    for (unsigned k = 0; k < st->n_queries; k++) {
        struct str text = json_str(json_get_str(args, st->queries[k].param), STR(""));
        struct appdb_predicate p;
        must(env.compile(env.ctx, st->queries[k].language, text, &kept, &p, &e), &e);
        for (size_t i = 0; p.values && i < p.values->n; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "_%zu", ++n);
            (void)json_set(&kept, args, name, json_at(p.values, i));
        }
    }
    return str_of(db->composed[(*at)++].sql);
}

static void prepare(const struct appdb *db, struct json *args)
{
    size_t at = 0;

    for (size_t k = 0; k < tool->script->n; k++) {
        struct statement *s = &statements[k];
        struct str sql = compose(db, &tool->script->statements[k], &at, args);
        if (sqlite3_prepare_v3(db->c, sql.p, (int)sql.len, SQLITE_PREPARE_PERSISTENT, &s->stmt,
                               NULL) != SQLITE_OK)
            die(sqlite3_errmsg(db->c));
        s->result = -1;
        for (int i = 0; i < sqlite3_column_count(s->stmt); i++) {
            if (strcmp(sqlite3_column_name(s->stmt, i), "result") == 0)
                s->result = i;
        }
        s->n_params = sqlite3_bind_parameter_count(s->stmt);
        for (int i = 0; i < s->n_params && i < MAX_PARAMS; i++)
            s->params[i] =
                find_source(args, (int)k, sqlite3_bind_parameter_name(s->stmt, i + 1) + 1);
    }
}

static void bind(struct statement *s)
{
    for (int i = 0; i < s->n_params; i++) {
        const struct source *from = &s->params[i];
        const struct json *v = from->value;
        if (from->statement >= 0)
            (void)sqlite3_bind_value(
                s->stmt, i + 1,
                sqlite3_column_value(statements[from->statement].stmt, from->column));
        else if (json_is(v, JSON_STRING))
            (void)sqlite3_bind_text(s->stmt, i + 1, v->s.p, (int)v->s.len, SQLITE_STATIC);
        else if (json_is(v, JSON_INT))
            (void)sqlite3_bind_int64(s->stmt, i + 1, v->i);
        else if (json_is(v, JSON_BOOL))
            (void)sqlite3_bind_int(s->stmt, i + 1, v->b);
        else
            (void)sqlite3_bind_null(s->stmt, i + 1);
    }
}

static void step_all(struct arena *a)
{
    for (size_t k = 0; k < tool->script->n; k++) {
        struct statement *s = &statements[k];
        bind(s);
        int rc = sqlite3_step(s->stmt);
        if (rc == SQLITE_ROW && s->result >= 0) {
            const char *text = (const char *)sqlite3_column_text(s->stmt, s->result);
            struct str all = str_n(text, (size_t)sqlite3_column_bytes(s->stmt, s->result));
            if (!arena_str(a, all).p)
                die("out of memory");
        }
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            die(sqlite3_errmsg(sqlite3_db_handle(s->stmt)));
    }
    for (size_t k = 0; k < tool->script->n; k++)
        (void)sqlite3_reset(statements[k].stmt);
}

static void mark(sqlite3_stmt *stmt)
{
    if (sqlite3_step(stmt) != SQLITE_DONE)
        die("transaction");
    (void)sqlite3_reset(stmt);
}

static uint64_t run_bare(const char *path)
{
    const struct appdb_env env = template_env(app, 1, 1);
    struct json *args = json_parse(&kept, arguments, NULL, NULL);
    struct appdb *db = NULL;
    struct err e = ERR_INIT;
    uint64_t n = 0;
    struct arena a;

    must(appdb_open(path, false, &env, &db, &e), &e);
    (void)schema_defaults(&kept, tool->schema, args);
    (void)sqlite3_set_authorizer(db->c, NULL, NULL);
    sqlite3_progress_handler(db->c, 0, NULL, NULL);
    arena_init(&a, 64 << 20);
    struct app_call first = {
        .script = tool->script, .args = args, .arena = &a, .is_write = !tool->is_read_only};
    must(appdb_run(db, &first, &e), &e);
    prepare(db, args);
    for (; !is_over(n); n++) {
        mark(tool->is_read_only ? db->begin : db->begin_write);
        step_all(&a);
        mark(db->commit);
        arena_reset(&a);
    }
    for (size_t k = 0; k < tool->script->n; k++)
        (void)sqlite3_finalize(statements[k].stmt);
    appdb_close(db);
    arena_done(&a);
    return n;
}

int main(int argc, char **argv)
{
    struct app_home *h = NULL;
    struct app *loaded = NULL;
    struct err e = ERR_INIT;
    struct buf seed = BUF_INIT(APP_FILE_MAX);
    char path[4096];
    double seconds;

    if (argc != 8 || sscanf(argv[2], "%lf", &seconds) != 1)
        die("MODE SECONDS DIR APP SEED TOOL ARGUMENTS");
    if (strcmp(argv[1], "bare") != 0)
        memory_setup();
    arena_init(&kept, 512UL << 20);
    must(app_load(argv[4], &loaded, &e), &e);
    app = loaded;
    tool = app_tool(app, str_of(argv[6]));
    if (!tool)
        die("there is no such tool");
    arguments = str_of(argv[7]);
    must(io_read_file(argv[5], &seed, &e), &e);
    must(app_engine_sqlite.start(argv[3], &h, &e), &e);
    const struct json *body = json_parse(&kept, buf_str(&seed), NULL, &e);
    if (!body)
        die(err_text(&e));
    must(app_engine_sqlite.make(h, app, "instances/x", body, &e), &e);
    (void)snprintf(path, sizeof path, "%s/instances/x.db", argv[3]);
    double cpu = cpu_seconds();
    int64_t start_us = clock_mono_us();
    end_us = start_us + (int64_t)(seconds * 1e6);
    uint64_t n = strcmp(argv[1], "bare") == 0 ? run_bare(path)
                                              : run_engine(h, strcmp(argv[1], "shared") == 0);
    cpu = cpu_seconds() - cpu;
    (void)printf("%" PRIu64 " %.6f %.6f\n", n, (double)(clock_mono_us() - start_us) / 1e6, cpu);
    (void)app_engine_sqlite.drop(h, "instances/x", NULL);
    app_engine_sqlite.stop(h);
    app_free(loaded);
    buf_done(&seed);
    arena_done(&kept);
    return 0;
}
