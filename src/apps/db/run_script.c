/* SPDX-License-Identifier: MIT */
/* Calls of scripts: parameters in, rows out, one transaction.
 *
 * A script is a list of statements (apps/source/script.h). They run in order; the first row of each
 * counts, and what its columns are called decides what becomes of them:
 *
 *     error             ends the script; everything is rolled back, the text is the product's error
 *     result, content   the answer, so far; a later statement may replace it
 *     any other name    a variable, which the parameters of later statements find before arguments
 *
 * A parameter `:name` is a variable, else an argument, else NULL; `:args` is all arguments as JSON.
 * `{{LANGUAGE :name}}` in a statement stands for a query of the client's in that language, compiled
 * to SQL (env->compile()): its values become parameters `:_1`, `:_2`, … and never part of the text.
 * Statements without such queries are prepared once and kept with the database; the composed ones
 * are kept in a small cache by their text.
 *
 * All memory of a call is the caller's arena, so there is nothing to free on any way out.
 * Statements are reset by run_prepared() whatever happened; a call that leaves one open would hold
 * the transaction open as well. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apps/db/clocks.h"
#include "apps/db/db_internal.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"

/* Bytes of a query that is compiled on the loop's thread. */
enum { BRIEF_QUERY = 2048 };

/* A column of an earlier SELECT. */
struct variable {
    struct str name;
    struct json value;
};

/* A script that runs: lives on the stack of appdb_run(). */
struct script_run {
    struct appdb *db;
    struct app_call *call;
    struct err *err;
    struct variable vars[APPDB_MAX_PARAMETERS];
    unsigned n_vars;
    struct json *values;  /* of the queries in the statement: ":_1", ":_2", … */
    struct str args_text; /* ":args", when it was asked for */
    bool is_over;         /* the script said `error` */
};

static int no_memory_for_script(struct script_run *run)
{
    return err_set(run->err, -ENOMEM, "out of memory");
}

/* ---- preparing ---- */

static int prepare_text(struct script_run *run, struct str sql, unsigned flags, sqlite3_stmt **ret,
                        unsigned line)
{
    struct appdb *db = run->db;
    char where[32];

    if (clocks_refuse(sql, line, run->err) < 0)
        return -EACCES;
    int rc = sqlite3_prepare_v3(db->c, sql.p, (int)sql.len, flags, ret, NULL);
    if (rc == SQLITE_OK && *ret)
        return 0;
    (void)snprintf(where, sizeof where, "line %u", line);
    if (rc == SQLITE_OK)
        return err_set(run->err, -EINVAL, "%s: an empty statement", where);
    return appdb_fail(db, rc, run->err, where);
}

static struct prepared *prepared_of(struct appdb *db, const struct script *s, size_t k)
{
    size_t i = (size_t)(s - db->env.scripts->items);

    assert(i < db->env.scripts->n);
    if (!db->prepared[i])
        db->prepared[i] = mem_zalloc(s->n, sizeof *db->prepared[i]);
    return db->prepared[i] ? &db->prepared[i][k] : NULL;
}

static int set_var(struct script_run *run, struct str name, const struct json *value)
{
    for (unsigned i = 0; i < run->n_vars; i++) {
        if (!str_eq(run->vars[i].name, name))
            continue;
        run->vars[i].value = *value;
        return 0;
    }
    if (run->n_vars == APPDB_MAX_PARAMETERS)
        return err_set(run->err, -EINVAL, "more than %d columns are kept", APPDB_MAX_PARAMETERS);
    run->vars[run->n_vars++] = (struct variable){name, *value};
    return 0;
}

/* The values of a predicate become the parameters :_1, :_2, … behind the N that there are. */
static int add_row_values(struct script_run *run, const struct json *values, unsigned *n)
{
    for (size_t i = 0; i < (values ? values->n : 0); i++, ++*n) {
        if (json_push(run->call->arena, run->values, json_at(values, i)) < 0)
            return no_memory_for_script(run);
    }
    return 0;
}

/* The predicate's ":_K" count from BASE on, so that two predicates can stand in one statement. */
static void add_predicate(struct buf *out, struct str sql, unsigned base)
{
    while (sql.len > 0) {
        ptrdiff_t at = str_find(sql, STR(":_"));
        (void)buf_add_str(out, at < 0 ? sql : str_slice(sql, 0, (size_t)at));
        if (at < 0)
            return;
        sql = str_skip(sql, (size_t)at + 2);
        size_t n = 0;
        unsigned number = 0;
        for (; n < sql.len && sql.p[n] >= '0' && sql.p[n] <= '9'; n++)
            number = number * 10 + (unsigned)(sql.p[n] - '0');
        (void)buf_printf(out, ":_%u", base + number);
        sql = str_skip(sql, n);
    }
}

static int write_json(struct script_run *run, const struct json *v, struct str *ret)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);

    if (json_write(&b, v, JSON_COMPACT) < 0)
        return err_set(run->err, -E2BIG, "the arguments are too large");
    *ret = arena_str(run->call->arena, buf_str(&b));
    return ret->p ? 0 : no_memory_for_script(run);
}

static const struct json *find_param(const struct script_run *run, struct str name)
{
    uint64_t number;

    if (run->values && str_starts(name, STR("_")) && str_to_u64(str_skip(name, 1), &number) == 0)
        return json_at(run->values, number - 1);
    for (unsigned i = run->n_vars; i > 0; i--) {
        if (str_eq(run->vars[i - 1].name, name))
            return &run->vars[i - 1].value;
    }
    return json_get_str(run->call->args, name);
}

/* The text of the query Q; an absent one is empty. */
static int query_text(struct script_run *run, const struct script_query *q, struct str *ret)
{
    const struct json *v = find_param(run, q->param);

    *ret = STR("");
    if (!v || json_is(v, JSON_NULL))
        return 0;
    *ret = json_str(v, STR_NULL);
    return ret->p ? 0 : write_json(run, v, ret);
}

static int compile_query(struct script_run *run, const struct script_query *q,
                         struct appdb_predicate *ret)
{
    const struct appdb_env *env = &run->db->env;
    struct err own = ERR_INIT;
    struct str text;
    int r = query_text(run, q, &text);

    if (r == 0 && run->call->limits == APPDB_BRIEF && text.len > BRIEF_QUERY)
        return err_set(run->err, -EAGAIN, "the query is long");
    if (r < 0)
        return r;
    if (!env->compile)
        return err_set(run->err, -EOPNOTSUPP, "the app has no query languages");
    r = env->compile(env->ctx, q->language, text, run->call->arena, ret, &own);
    if (r == -EINVAL) {
        run->call->error = arena_str(run->call->arena, str_of(err_text(&own)));
        run->call->is_query_error = run->is_over = true;
        return run->call->error.p ? 0 : no_memory_for_script(run);
    }
    return r < 0 ? err_set(run->err, r, "%s", err_text(&own)) : 0;
}

/* A statement with queries is made for them. */
static int compile_queries(struct script_run *run, const struct script_statement *st,
                           struct buf *out)
{
    unsigned n = 0;
    size_t at = 0;

    run->values = json_new_array(run->call->arena);
    if (!run->values)
        return no_memory_for_script(run);
    for (unsigned i = 0; i < st->n_queries; i++) {
        const struct script_query *q = &st->queries[i];
        struct appdb_predicate p = {0};
        int r = compile_query(run, q, &p);
        if (r < 0 || run->is_over)
            return r;
        (void)buf_add_str(out, str_slice(st->sql, at, q->offset));
        (void)buf_add_str(out, p.is_order ? STR(" ") : STR("("));
        add_predicate(out, p.sql, n);
        (void)buf_add_str(out, p.is_order ? STR(" ") : STR(")"));
        at = q->offset + q->len;
        r = add_row_values(run, p.values, &n);
        if (r < 0)
            return r;
    }
    (void)buf_add_str(out, str_skip(st->sql, at));
    return buf_ok(out) ? 0 : no_memory_for_script(run);
}

/* ---- parameters ---- */

static int bind_value(struct script_run *run, sqlite3_stmt *stmt, int at, const struct json *v)
{
    struct str s = STR_NULL;

    switch (v ? v->type : JSON_NULL) {
    case JSON_BOOL: return sqlite3_bind_int(stmt, at, v->b);
    case JSON_INT: return sqlite3_bind_int64(stmt, at, v->i);
    case JSON_REAL: return sqlite3_bind_double(stmt, at, v->d);
    case JSON_STRING: return sqlite3_bind_text(stmt, at, v->s.p, (int)v->s.len, SQLITE_STATIC);
    case JSON_ARRAY:
    case JSON_OBJECT:
        if (write_json(run, v, &s) < 0)
            return SQLITE_NOMEM;
        return sqlite3_bind_text(stmt, at, s.p, (int)s.len, SQLITE_STATIC);
    case JSON_NULL:
    case JSON_TYPE_COUNT: break;
    }
    return sqlite3_bind_null(stmt, at);
}

static int bind_args(struct script_run *run, sqlite3_stmt *stmt, int at)
{
    if (!run->args_text.p && write_json(run, run->call->args, &run->args_text) < 0)
        return SQLITE_NOMEM;
    return sqlite3_bind_text(stmt, at, run->args_text.p, (int)run->args_text.len, SQLITE_STATIC);
}

static int bind_all_values(struct script_run *run, sqlite3_stmt *stmt)
{
    int n = sqlite3_bind_parameter_count(stmt);

    for (int i = 1; i <= n; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt, i);
        int rc;
        if (name && strcmp(name, ":args") == 0)
            rc = bind_args(run, stmt, i);
        else
            rc = bind_value(run, stmt, i, name ? find_param(run, str_of(name + 1)) : NULL);
        if (rc != SQLITE_OK)
            return appdb_fail(run->db, rc, run->err, "parameters");
    }
    return 0;
}

/* ---- rows ---- */

static int take_text_column(struct script_run *run, sqlite3_stmt *stmt, int i, struct str *ret)
{
    const char *p = (const char *)sqlite3_column_text(stmt, i);
    int len = sqlite3_column_bytes(stmt, i);

    *ret = arena_str(run->call->arena, str_n(p ? p : "", (size_t)len));
    return ret->p ? 0 : err_set(run->err, -E2BIG, "the answer is too large");
}

static int take_value_column(struct script_run *run, sqlite3_stmt *stmt, int i, struct json *ret)
{
    *ret = (struct json){.type = JSON_NULL};
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
        *ret = (struct json){.type = JSON_INT, .i = sqlite3_column_int64(stmt, i)};
        return 0;
    case SQLITE_FLOAT:
        *ret = (struct json){.type = JSON_REAL, .d = sqlite3_column_double(stmt, i)};
        return 0;
    case SQLITE_TEXT:
    case SQLITE_BLOB: ret->type = JSON_STRING; return take_text_column(run, stmt, i, &ret->s);
    default: return 0;
    }
}

static int take_column(struct script_run *run, sqlite3_stmt *stmt, int i, bool has_row)
{
    struct app_call *call = run->call;
    const char *name = sqlite3_column_name(stmt, i);
    const struct {
        const char *name;
        struct str *to;
    } answers[] = {{"error", &call->error}, {"result", &call->result}, {"content", &call->content}};
    struct json value = {.type = JSON_NULL};

    if (!name)
        return no_memory_for_script(run);
    for (size_t k = 0; k < ARRAY_LEN(answers); k++) {
        if (strcmp(name, answers[k].name) != 0)
            continue;
        if (!has_row || sqlite3_column_type(stmt, i) == SQLITE_NULL)
            return 0;
        run->is_over = k == 0;
        return take_text_column(run, stmt, i, answers[k].to);
    }
    struct str kept = arena_str(call->arena, str_of(name));
    if (!kept.p || (has_row && take_value_column(run, stmt, i, &value) < 0))
        return no_memory_for_script(run);
    return set_var(run, kept, &value);
}

/* Only the first row counts; a statement that writes is run to its end all the same. */
static int step_through_rows(struct script_run *run, sqlite3_stmt *stmt, unsigned line)
{
    char where[32];
    int rc = sqlite3_step(stmt);
    int n = sqlite3_column_count(stmt);

    for (int i = 0; i < n && !run->is_over && (rc == SQLITE_ROW || rc == SQLITE_DONE); i++) {
        int r = take_column(run, stmt, i, rc == SQLITE_ROW);
        if (r < 0)
            return r;
    }
    while (rc == SQLITE_ROW && !run->is_over && !sqlite3_stmt_readonly(stmt))
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        return 0;
    (void)snprintf(where, sizeof where, "line %u", line);
    return appdb_fail(run->db, rc, run->err, where);
}

static int run_prepared(struct script_run *run, sqlite3_stmt *stmt, unsigned line)
{
    if (!run->call->is_write && !sqlite3_stmt_readonly(stmt))
        return err_set(run->err, -EINVAL, "line %u: writes in a call that only reads", line);
    int r = bind_all_values(run, stmt);
    if (r == 0)
        r = step_through_rows(run, stmt, line);
    (void)sqlite3_reset(stmt);
    (void)sqlite3_clear_bindings(stmt);
    return r;
}

/* The one that was kept, or the one that was unused for longest, empty now. */
static struct composed *find_composed(struct appdb *db, struct str sql)
{
    struct composed *oldest = &db->composed[0];

    for (size_t i = 0; i < APPDB_COMPOSED_MAX; i++) {
        struct composed *c = &db->composed[i];
        if (c->stmt && str_is(sql, c->sql))
            return c;
        if (c->used < oldest->used)
            oldest = c;
    }
    (void)sqlite3_finalize(take(oldest->stmt));
    free(take(oldest->sql));
    return oldest;
}

static int run_with_queries(struct script_run *run, const struct script_statement *st)
{
    auto_buf struct buf sql = BUF_INIT(1 << 20);
    int r = compile_queries(run, st, &sql);

    if (r < 0 || run->is_over)
        return r;
    struct composed *c = find_composed(run->db, buf_str(&sql));
    if (!c->stmt) {
        c->sql = mem_strndup(sql.p, sql.len);
        if (!c->sql)
            return no_memory_for_script(run);
        r = prepare_text(run, buf_str(&sql), 0, &c->stmt, st->line);
    }
    c->used = ++run->db->n_composed;
    return r < 0 ? r : run_prepared(run, c->stmt, st->line);
}

static int run_script_statement(struct script_run *run, const struct script *s, size_t k)
{
    const struct script_statement *st = &s->statements[k];
    struct prepared *p = prepared_of(run->db, s, k);
    int r = 0;

    if (st->n_queries > 0)
        return run_with_queries(run, st);
    if (!p)
        return no_memory_for_script(run);
    if (!p->stmt)
        r = prepare_text(run, st->sql, SQLITE_PREPARE_PERSISTENT, &p->stmt, st->line);
    /* It has nothing of the arguments yet: the script does not fit the tables. */
    if (r == -EINVAL)
        r = run->err->code = -EPROTO;
    return r < 0 ? r : run_prepared(run, p->stmt, st->line);
}

/* ---- the call ---- */

static int do_mark(struct appdb *db, sqlite3_stmt *mark, struct err *e, const char *what)
{
    int rc = sqlite3_step(mark);

    (void)sqlite3_reset(mark);
    return rc == SQLITE_DONE ? 0 : appdb_fail(db, rc, e, what);
}

static int write_meta(struct appdb *db, const char *key, int64_t value, struct err *e)
{
    (void)sqlite3_bind_text(db->set_meta, 1, key, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(db->set_meta, 2, value);
    return do_mark(db, db->set_meta, e, key);
}

int appdb_rewind(struct appdb *db, struct err *e)
{
    int r = write_meta(db, "draws", 0, e);

    if (r == 0)
        r = write_meta(db, "ticks", 0, e);
    if (r == 0)
        db->own->n_draws = db->own->n_ticks = 0;
    return r;
}

/* What the call used of the clock and the random numbers. */
static int keep_counts(struct script_run *run, int64_t draws_before)
{
    struct appdb *db = run->db;
    int r = 0;

    if (!run->call->is_write)
        return 0;
    if (db->own->n_draws != draws_before)
        r = write_meta(db, "draws", db->own->n_draws, run->err);
    if (r == 0 && db->own->start_us != 0)
        r = write_meta(db, "ticks", ++db->own->n_ticks, run->err);
    return r;
}

static int run_all_statements(struct script_run *run, int64_t draws_before)
{
    const struct script *s = run->call->script;
    int r = 0;

    for (size_t k = 0; r == 0 && !run->is_over && k < s->n; k++)
        r = run_script_statement(run, s, k);
    return r < 0 || run->is_over ? r : keep_counts(run, draws_before);
}

static int run_script_call(struct appdb *db, struct app_call *call, struct err *e)
{
    struct script_run run = {.db = db, .call = call, .err = e};
    int64_t draws = db->own->n_draws, ticks = db->own->n_ticks;

    call->error = call->result = call->content = STR_NULL;
    call->is_query_error = call->is_fixed = db->is_volatile = false;
    if (call->is_write && seat_is_read_only(db->seat))
        return err_set(e, -EROFS, "the database is open for reading only");
    appdb_limit(db, call->limits);
    db->now_us = db->own->start_us ? db->own->start_us + ticks * 1000000 : clock_real_us();
    clocks_show(db->now_us, &db->is_volatile);
    int r = do_mark(db, call->is_write ? db->begin_write : db->begin, e, "begin");
    if (r < 0)
        return r;
    r = run_all_statements(&run, draws);
    /* Passed within a function that made something else of it: not to be tried here. */
    if (r == 0 && db->limit && call->limits == APPDB_BRIEF)
        r = err_set(e, -EAGAIN, "%s", db->limit);
    call->is_fixed = !call->is_write && !db->is_volatile && !call->script->is_volatile;
    if (r == 0 && !run.is_over)
        r = do_mark(db, db->commit, e, "commit");
    if (r == 0 && !run.is_over)
        return 0;
    appdb_limit(db, APPDB_USUAL);
    (void)do_mark(db, db->rollback, NULL, "rollback");
    db->own->n_draws = draws;
    db->own->n_ticks = ticks;
    return r;
}

int appdb_run(struct appdb *db, struct app_call *call, struct err *e)
{
    appdb_guard(db);
    int r = run_script_call(db, call, e);
    appdb_guard(NULL);

    clocks_show(0, NULL);
    return r;
}

/* ---- checking ---- */

static int check_params(struct script_run *run, sqlite3_stmt *stmt, const struct json *properties,
                        unsigned line)
{
    int n = sqlite3_bind_parameter_count(stmt);

    for (int i = 1; i <= n; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt, i);
        if (!name || name[0] != ':')
            return err_set(run->err, -EINVAL, "line %u: a parameter has to be :name", line);
        struct str word = str_of(name + 1);
        if (!str_is(word, "args") && !find_param(run, word) && !json_get_str(properties, word))
            return err_set(
                run->err, -EINVAL,
                "line %u: %s is neither an argument nor a column of an earlier statement", line,
                name);
    }
    return 0;
}

static int check_columns(struct script_run *run, sqlite3_stmt *stmt)
{
    struct json null = {.type = JSON_NULL};

    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        const char *name = sqlite3_column_name(stmt, i);
        struct str kept = name ? arena_str(run->call->arena, str_of(name)) : STR_NULL;
        if (!kept.p)
            return no_memory_for_script(run);
        int r = set_var(run, kept, &null);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_statement(struct script_run *run, const struct script_statement *st,
                           const struct json *properties, bool *writes)
{
    sqlite3_stmt *stmt = NULL;
    auto_buf struct buf sql = BUF_INIT(1 << 20);
    size_t at = 0;

    for (unsigned i = 0; i < st->n_queries; i++) {
        const struct script_query *q = &st->queries[i];
        if (!json_get_str(properties, q->param) && !find_param(run, q->param))
            return err_set(run->err, -EINVAL,
                           "line %u: :" STR_FMT " is neither an argument nor an earlier column",
                           st->line, STR_ARG(q->param));
        (void)buf_add_str(&sql, str_slice(st->sql, at, q->offset));
        (void)buf_add_lit(&sql, "1");
        at = q->offset + q->len;
    }
    (void)buf_add_str(&sql, str_skip(st->sql, at));
    if (!buf_ok(&sql))
        return no_memory_for_script(run);
    int r = prepare_text(run, buf_str(&sql), 0, &stmt, st->line);
    if (r == 0)
        r = check_params(run, stmt, properties, st->line);
    if (r == 0)
        r = check_columns(run, stmt);
    *writes |= r == 0 && !sqlite3_stmt_readonly(stmt);
    (void)sqlite3_finalize(stmt);
    return r;
}

int appdb_check(struct appdb *db, const struct script *s, const struct json *properties,
                bool is_write, struct err *e)
{
    struct arena arena auto_arena;
    struct app_call call = {.script = s, .arena = &arena};
    struct script_run run = {.db = db, .call = &call, .err = e};
    bool writes = false;

    arena_init(&arena, 1 << 20);
    appdb_limit(db, APPDB_USUAL);
    for (size_t k = 0; k < s->n; k++) {
        int r = check_statement(&run, &s->statements[k], properties, &writes);
        if (r < 0)
            return r;
    }
    if (writes && !is_write)
        return err_set(e, -EINVAL, "line %u: writes, but is said to only read", s->line);
    if (!find_param(&run, STR("result")) && !find_param(&run, STR("content")))
        return err_set(e, -EINVAL, "line %u: no statement has a column result or content", s->line);
    return 0;
}
