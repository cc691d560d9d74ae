/* SPDX-License-Identifier: MIT */
/* The engine of apps that are a PostgreSQL database (apps/pg/pg.h). A database of the engine is one
 * of the server and a role that owns what is in it; both have a name made of the digest of its
 * name, which is the database's comment. The comment comes last: a database without one was not
 * finished.
 *
 * PostgreSQL copies only databases that nobody is connected to. Templates are read while they are
 * copied, so each has a twin that nobody connects to. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/db/db.h"
#include "apps/engine/changes.h"
#include "apps/engine/engine.h"
#include "apps/engine/verify.h"
#include "apps/pg/pg.h"
#include "apps/text/quote.h"
#include "base/mem.h"
#include "sys/digest.h"

struct app_home {
    struct pg_server server;
    char dir[PATH_MAX];
    pthread_mutex_t lock; /* of a restart */
};

struct app_handle {
    struct app_home *home;
    const struct app *app;
    char database[PG_NAME_LEN + 1], role[PG_NAME_LEN + 1];
    PGconn *c;
};

/* ---- names ---- */

static void put_pg_name(char out[PG_NAME_LEN + 1], char kind, const char *name)
{
    unsigned char digest[DIGEST_SHA256_LEN];

    digest_sha256(digest, str_of(name));
    out[0] = kind;
    for (int i = 0; i < (PG_NAME_LEN - 1) / 2; i++)
        (void)snprintf(out + 1 + 2 * i, 3, "%02x", digest[i]);
}

static void put_twin(char out[PG_NAME_LEN + 1], const char *name)
{
    put_pg_name(out, 't', name);
}

/* ---- the server ---- */

static int pg_start(const char *dir, struct app_home **ret, struct err *e)
{
    struct app_home *h = mem_zalloc(1, sizeof *h);

    if (!h)
        return err_set(e, -ENOMEM, "out of memory");
    (void)snprintf(h->dir, sizeof h->dir, "%s/postgres", dir);
    int r = pq_load(e);
    if (r == 0)
        r = pg_server_start(&h->server, h->dir, e);
    if (r < 0) {
        pg_server_stop(&h->server);
        free(h);
        return r;
    }
    (void)pthread_mutex_init(&h->lock, NULL);
    *ret = h;
    return 0;
}

static void pg_stop(struct app_home *h)
{
    pg_server_stop(&h->server);
    (void)pthread_mutex_destroy(&h->lock);
    free(h);
}

static void halt(struct app_home *h)
{
    pg_server_halt(&h->server);
}

/* A server that was killed is started again. */
static PGconn *connect_as(struct app_home *h, const char *database, const char *role, struct err *e)
{
    PGconn *c = pg_connect(&h->server, database, role, e);

    if (c)
        return c;
    (void)pthread_mutex_lock(&h->lock);
    c = pg_connect(&h->server, database, role, e);
    PGconn *admin auto_(pg_finish) = c ? NULL : pg_connect(&h->server, "postgres", PG_ADMIN, NULL);
    if (!c && !admin) {
        pg_server_stop(&h->server);
        h->server = (struct pg_server){0};
        if (pg_server_start(&h->server, h->dir, e) == 0)
            c = pg_connect(&h->server, database, role, e);
    }
    (void)pthread_mutex_unlock(&h->lock);
    return c;
}

static PGconn *admin_of(struct app_home *h, const char *database, struct err *e)
{
    return connect_as(h, database, PG_ADMIN, e);
}

/* One statement with two names in it, neither of which is anybody's text. */
static int admin_do(PGconn *c, struct err *e, const char *fmt, const char *a, const char *b)
{
    auto_buf struct buf sql = BUF_INIT(4096);

    for (const char *p = fmt; *p; p++) {
        if (*p == '@' || *p == '#')
            quote_name(&sql, str_of(*p == '@' ? a : b));
        else
            (void)buf_add_char(&sql, *p);
    }
    return buf_cstr(&sql) ? pg_do(c, sql.p, NULL, e) : err_set(e, -ENOMEM, "out of memory");
}

/* ---- databases ---- */

static bool has_database(PGconn *c, const char *database, bool is_finished)
{
    const char *const values[] = {database};
    PGresult *r auto_(pg_clear) = NULL;
    const char *sql = is_finished ? "SELECT 1 FROM pg_database WHERE datname = $1 AND "
                                    "shobj_description(oid, 'pg_database') IS NOT NULL"
                                  : "SELECT 1 FROM pg_database WHERE datname = $1";

    return pg_do_with(c, sql, values, 1, &r, NULL) == 0 && PQntuples(r) > 0;
}

static bool pg_has(struct app_home *h, const char *name)
{
    char database[PG_NAME_LEN + 1];
    PGconn *c auto_(pg_finish) = admin_of(h, "postgres", NULL);

    put_pg_name(database, 'd', name);
    return c && has_database(c, database, true);
}

static int64_t pg_size(struct app_home *h, const char *name)
{
    char database[PG_NAME_LEN + 1];
    const char *const values[] = {database};
    PGconn *c auto_(pg_finish) = admin_of(h, "postgres", NULL);
    PGresult *r auto_(pg_clear) = NULL;

    put_pg_name(database, 'd', name);
    if (!c)
        return -EIO;
    if (pg_do_with(c, "SELECT pg_database_size($1::name)", values, 1, &r, NULL) < 0)
        return -ENOENT;
    return strtoll(PQgetvalue(r, 0, 0), NULL, 10);
}

static int drop_on(PGconn *c, const char *name, struct err *e)
{
    char database[PG_NAME_LEN + 1], twin[PG_NAME_LEN + 1], role[PG_NAME_LEN + 1];

    put_pg_name(database, 'd', name);
    put_pg_name(role, 'r', name);
    put_twin(twin, name);
    int r = admin_do(c, e, "DROP DATABASE IF EXISTS @ WITH (FORCE)", database, NULL);
    if (r == 0)
        r = admin_do(c, e, "DROP DATABASE IF EXISTS @ WITH (FORCE)", twin, NULL);
    /* A role that something elsewhere still names stays, and can do nothing. */
    (void)admin_do(c, NULL, "DROP ROLE IF EXISTS @", role, NULL);
    return r;
}

static int pg_drop(struct app_home *h, const char *name, struct err *e)
{
    PGconn *c auto_(pg_finish) = admin_of(h, "postgres", e);

    return c ? drop_on(c, name, e) : -EIO;
}

/* A copy of SOURCE. Whoever is still connected to that is sent away: they only read. */
static int copy_database(PGconn *c, const char *source, const char *database, struct err *e)
{
    const char *const values[] = {source};
    int r = 0;

    for (int i = 0; i < 5; i++) {
        (void)pg_do_with(c,
                         "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE "
                         "datname = $1",
                         values, 1, NULL, NULL);
        r = admin_do(c, e, "CREATE DATABASE @ TEMPLATE #", database, source);
        if (r == 0)
            return 0;
    }
    return r;
}

/* A role, and DATABASE of SOURCE that it may connect to; not finished yet. */
static int begin_database(PGconn *c, const char *name, const char *source, struct err *e)
{
    static const char *const steps[] = {
        "CREATE ROLE @ LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT 8",
        "ALTER ROLE @ SET statement_timeout = '10s'",
        "ALTER ROLE @ SET idle_in_transaction_session_timeout = '60s'",
    };
    char database[PG_NAME_LEN + 1], role[PG_NAME_LEN + 1];

    put_pg_name(database, 'd', name);
    put_pg_name(role, 'r', name);
    int r = drop_on(c, name, e);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(steps); i++) {
        struct err own = ERR_INIT;
        r = admin_do(c, &own, steps[i], role, NULL);
        /* The role may have stayed when its database was dropped. */
        if (r < 0 && i > 0)
            return err_set(e, r, "%s", err_text(&own));
        r = 0;
    }
    /* Templates are read by all who have not written yet. */
    if (r == 0 && strncmp(name, "templates/", 10) == 0)
        r = admin_do(c, e, "ALTER ROLE @ CONNECTION LIMIT -1", role, NULL);
    if (r == 0)
        r = copy_database(c, source, database, e);
    if (r == 0)
        r = admin_do(c, e, "REVOKE ALL ON DATABASE @ FROM PUBLIC", database, NULL);
    if (r == 0)
        r = admin_do(c, e, "GRANT CONNECT, CREATE, TEMPORARY ON DATABASE @ TO #", database, role);
    return r;
}

static int finish_database(PGconn *c, const char *name, struct err *e)
{
    char database[PG_NAME_LEN + 1];
    auto_buf struct buf sql = BUF_INIT(4096);

    put_pg_name(database, 'd', name);
    (void)buf_add_lit(&sql, "COMMENT ON DATABASE ");
    quote_name(&sql, str_of(database));
    char *text = PQescapeLiteral(c, name, strlen(name));
    (void)buf_printf(&sql, " IS %s", text ? text : "''");
    PQfreemem(text);
    return buf_cstr(&sql) ? pg_do(c, sql.p, NULL, e) : err_set(e, -ENOMEM, "out of memory");
}

/* ---- making and copying ---- */

/* What the app has in its schema.sql, as the role; then the seed. */
static int fill_pg_database(struct app_home *h, const struct app *app, const char *name,
                            const struct json *seed, struct err *e)
{
    char database[PG_NAME_LEN + 1], role[PG_NAME_LEN + 1];
    auto_buf struct buf counts = BUF_INIT(1024);

    put_pg_name(database, 'd', name);
    put_pg_name(role, 'r', name);
    PGconn *admin auto_(pg_finish) = admin_of(h, database, e);
    int r = admin ? admin_do(admin, e, "ALTER SCHEMA public OWNER TO @", role, NULL) : -EIO;
    PGconn *c auto_(pg_finish) = r == 0 ? connect_as(h, database, role, e) : NULL;
    const struct pg_query q = {
        .sql = app->schema_sql, .is_simple = true, .max_ms = PG_ADMIN_MAX_MS};
    if (!c)
        return r < 0 ? r : -EIO;
    r = pg_run(c, &q, NULL, e);
    if (r < 0)
        return err_ctx(e, r, "schema.sql");
    return seed ? pg_import(c, seed, &counts, e) : 0;
}

static int make_twin(PGconn *c, const char *name, struct err *e)
{
    char database[PG_NAME_LEN + 1], twin[PG_NAME_LEN + 1];

    if (strncmp(name, "templates/", 10) != 0)
        return 0;
    put_pg_name(database, 'd', name);
    put_twin(twin, name);
    int r = copy_database(c, database, twin, e);
    if (r == 0)
        r = admin_do(c, e, "REVOKE ALL ON DATABASE @ FROM PUBLIC", twin, NULL);
    return r == 0 ? admin_do(c, e, "ALTER DATABASE @ ALLOW_CONNECTIONS false", twin, NULL) : r;
}

static int pg_make(struct app_home *h, const struct app *app, const char *name,
                   const struct json *seed, struct err *e)
{
    PGconn *c auto_(pg_finish) = admin_of(h, "postgres", e);
    struct err own = ERR_INIT;
    int r = c ? begin_database(c, name, "template1", &own) : -EIO;

    if (r == 0)
        r = fill_pg_database(h, app, name, seed, &own);
    if (r == 0)
        r = make_twin(c, name, &own);
    if (r == 0)
        r = finish_database(c, name, &own);
    if (r < 0 && c) {
        (void)drop_on(c, name, NULL);
        return err_set(e, r, "%s", err_text(&own));
    }
    return r;
}

static int pg_copy(struct app_home *h, const char *from, const char *to, struct err *e)
{
    char source[PG_NAME_LEN + 1], database[PG_NAME_LEN + 1];
    char old_role[PG_NAME_LEN + 1], role[PG_NAME_LEN + 1];
    PGconn *c auto_(pg_finish) = admin_of(h, "postgres", e);

    put_twin(source, from);
    if (c && !has_database(c, source, false))
        put_pg_name(source, 'd', from);
    put_pg_name(database, 'd', to);
    put_pg_name(old_role, 'r', from);
    put_pg_name(role, 'r', to);
    int r = c ? begin_database(c, to, source, e) : -EIO;
    PGconn *inside auto_(pg_finish) = r == 0 ? admin_of(h, database, e) : NULL;
    if (r == 0)
        r = inside ? admin_do(inside, e, "REASSIGN OWNED BY @ TO #", old_role, role) : -EIO;
    if (r == 0)
        r = finish_database(c, to, e);
    return r;
}

static int pg_each(struct app_home *h, const char *kind, void (*fn)(void *ctx, const char *word),
                   void *ctx)
{
    PGconn *c auto_(pg_finish) = admin_of(h, "postgres", NULL);
    PGresult *r auto_(pg_clear) = NULL;
    const char *const values[] = {kind};

    if (!c || pg_do_with(c,
                         "SELECT substr(d, length($1::text) + 2) FROM (SELECT "
                         "shobj_description(oid, 'pg_database') AS d FROM pg_database) x WHERE "
                         "starts_with(d, $1::text || '/') ORDER BY 1",
                         values, 1, &r, NULL) < 0)
        return -EIO;
    for (int i = 0; i < PQntuples(r); i++)
        fn(ctx, PQgetvalue(r, i, 0));
    return 0;
}

/* ---- open databases ---- */

/* NOLINTNEXTLINE(readability-function-size): a row of a table */
static int pg_open(struct app_home *h, const struct app *app, const char *name, bool is_read_only,
                   struct app_handle **ret, struct err *e)
{
    struct app_handle *x = mem_zalloc(1, sizeof *x);

    (void)is_read_only; /* tools that only read are run in transactions that do */
    if (!x)
        return err_set(e, -ENOMEM, "out of memory");
    x->home = h;
    x->app = app;
    put_pg_name(x->database, 'd', name);
    put_pg_name(x->role, 'r', name);
    x->c = connect_as(h, x->database, x->role, e);
    if (!x->c) {
        free(x);
        return -EIO;
    }
    *ret = x;
    return 0;
}

static void close_pg_database(struct app_handle *x, bool is_dropped)
{
    (void)is_dropped;
    PQfinish(x->c);
    free(x);
}

/* The server has its own clock and random numbers. */
static void pg_tune(struct app_handle *x, uint64_t seed, int64_t start_us)
{
    (void)x;
    (void)seed;
    (void)start_us;
}

/* Connects again when the server was restarted, or sent us away to copy the database. */
static int revive_connection(struct app_handle *x, struct err *e)
{
    if (x->c && pg_do(x->c, "SELECT 1", NULL, NULL) == 0)
        return 0;
    PQfinish(x->c);
    x->c = connect_as(x->home, x->database, x->role, e);
    return x->c ? 0 : -EIO;
}

/* What failed may have left anything behind. */
static void leave_session(struct app_handle *x)
{
    PQfinish(x->c);
    x->c = NULL;
}

static int check_room(struct app_handle *x, struct app_call *call, struct err *e)
{
    PGresult *r auto_(pg_clear) = NULL;
    int n = pg_do(x->c, "SELECT pg_database_size(current_database())", &r, e);

    if (n == 0 && strtoll(PQgetvalue(r, 0, 0), NULL, 10) > PG_DATABASE_MAX)
        call->error = STR("could not extend file: No space left on device");
    return n;
}

static int run_pg_call(struct app_handle *x, struct app_call *c, struct err *e)
{
    if (c->limits == APPDB_BRIEF)
        return -EAGAIN;
    int r = revive_connection(x, e);
    if (r == 0 && c->is_write)
        r = check_room(x, c, e);
    if (r == 0 && !c->error.p)
        r = pg_script(x->c, c, e);
    if (r < 0)
        leave_session(x);
    return r;
}

static int pg_import_body(struct app_handle *x, const struct json *body, struct arena *a,
                          struct str *ret, struct err *e)
{
    auto_buf struct buf counts = BUF_INIT(1024);
    int r = revive_connection(x, e);

    if (r == 0)
        r = pg_import(x->c, body, &counts, e);
    if (r < 0) {
        leave_session(x);
        return r;
    }
    *ret = arena_str(a, buf_str(&counts));
    return ret->p ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int pg_export_body(struct app_handle *x, struct arena *a, struct str *ret, struct err *e)
{
    auto_buf struct buf out = BUF_INIT(4 * (size_t)PG_RESULT_MAX);
    int r = revive_connection(x, e);

    if (r == 0)
        r = pg_export(x->c, &out, e);
    if (r < 0) {
        leave_session(x);
        return r;
    }
    *ret = arena_str(a, buf_str(&out));
    return ret->p ? 0 : err_set(e, -ENOMEM, "out of memory");
}

/* ---- closed databases ---- */

static int pg_diff(struct app_home *h, const char *base, const char *name, struct buf *out,
                   struct err *e)
{
    char before[PG_NAME_LEN + 1], after[PG_NAME_LEN + 1];

    if (strcmp(base, name) == 0)
        return changes_write_none(out);
    put_pg_name(before, 'd', base);
    put_pg_name(after, 'd', name);
    PGconn *a auto_(pg_finish) = admin_of(h, before, e);
    PGconn *b auto_(pg_finish) = a ? admin_of(h, after, e) : NULL;
    return b ? pg_changes(a, b, out, e) : -EIO;
}

/* Checks are run as the role that owns the database: it sees nothing else. */
/* NOLINTNEXTLINE(readability-function-size): a row of a table */
static int pg_verify_database(struct app_home *h, const struct app *app, const char *name,
                              const struct json *checks, struct buf *out, struct err *e)
{
    char database[PG_NAME_LEN + 1], role[PG_NAME_LEN + 1];

    (void)app;
    put_pg_name(database, 'd', name);
    put_pg_name(role, 'r', name);
    PGconn *c auto_(pg_finish) = connect_as(h, database, role, e);
    return c ? verify_run(&pg_verify, c, checks, out, e) : -EIO;
}

const struct app_engine app_engine_pg = {
    .name = "postgres",
    .start = pg_start,
    .stop = pg_stop,
    .halt = halt,
    .make = pg_make,
    .has = pg_has,
    .size = pg_size,
    .copy = pg_copy,
    .drop = pg_drop,
    .each = pg_each,
    .open = pg_open,
    .close = close_pg_database,
    .tune = pg_tune,
    .run = run_pg_call,
    .import = pg_import_body,
    .export = pg_export_body,
    .diff = pg_diff,
    .verify = pg_verify_database,
};
