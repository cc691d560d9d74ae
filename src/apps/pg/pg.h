/* SPDX-License-Identifier: MIT */
/* PostgreSQL for apps that are a database: the server, connections to it, and what apps say. The
 * engine (engine_pg.c) is made of these; nothing else uses them. Everything here may block.
 *
 * The server is Debian's, started on a unix socket in the state directory when it is first needed.
 * It does not run as root: of a service that does, it is started as the user of the package, in a
 * mount namespace where the directory is reachable for it. It outlives a service that is killed;
 * the next one finds it. Nothing is synced, as with the other engine: a loss of power may cost all
 * databases, nothing else does.
 *
 * SQL of callers is run by a role of the database's own, which is no superuser, owns only what is
 * in it and cannot connect elsewhere: no files, no programs, no other instances. Who waits too
 * long for an answer cancels it; the processes of the server have a limit on their memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "apps/pg/libpq.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"

enum {
    PG_START_MAX_MS = 60000,
    PG_CALL_MAX_MS = 10000,      /* of one call of a tool */
    PG_ADMIN_MAX_MS = 120000,    /* of what we do ourselves */
    PG_MAX_CONNECTIONS = 400,    /* of the server */
    PG_ROLE_CONNECTIONS = 8,     /* of one role */
    PG_RESULT_MAX = 16 << 20,    /* bytes of an answer */
    PG_DATABASE_MAX = 512 << 20, /* bytes of a database that may still be written to */
    PG_MEMORY_MAX = 2000 << 20,  /* bytes of a process of the server, shared ones included */
    PG_NAME_LEN = 31,            /* of databases and roles */
};

/* ---- the server ---- */

struct pg_server {
    char *dir; /* ours; holds the socket */
    char *bin; /* of the package */
    int pid;   /* 0: it was running already */
};

/* DIR is made. -EOPNOTSUPP: the package is not installed. */
int pg_server_start(struct pg_server *s, const char *dir, struct err *e);
void pg_server_stop(struct pg_server *s);
/* The same, but S stays as it is. */
void pg_server_halt(const struct pg_server *s);

/* ---- connections ---- */

#define PG_ADMIN "tidepool" /* the superuser, which is ours alone */

/* A connection as ROLE to DATABASE; NULL with E. */
PGconn *pg_connect(const struct pg_server *s, const char *database, const char *role,
                   struct err *e);
static inline void pg_finish(PGconn *c)
{
    PQfinish(c);
}
DEFINE_CLEANUP(PGconn *, pg_finish)
static inline void pg_clear(PGresult *r)
{
    PQclear(r);
}
DEFINE_CLEANUP(PGresult *, pg_clear)

struct pg_query {
    const char *sql;
    const char *const *values; /* N parameters as text, NULL is null */
    int n;
    bool is_simple; /* may be several statements; without parameters */
    int max_ms;
};

/* Runs Q to its end, or cancels it. *RET is the last result. -EINVAL: the server refuses it, E has
 * its words. -ETIME, -EIO: the connection is of no use any more. */
int pg_run(PGconn *c, const struct pg_query *q, PGresult **ret, struct err *e);
/* One statement of our own, with parameters up to a NULL. */
int pg_do(PGconn *c, const char *sql, PGresult **ret, struct err *e);
int pg_do_with(PGconn *c, const char *sql, const char *const *values, int n, PGresult **ret,
               struct err *e);

/* ---- scripts ---- */

struct app_call;
/* Runs a script as appdb_run() does, with these differences: it is PostgreSQL's SQL; "{{sql :x}}"
 * is the text of the argument itself, and a statement that is nothing else may be several; a last
 * statement without a column `result` gives its rows. One that only reads is rolled back. */
int pg_script(PGconn *c, struct app_call *call, struct err *e);

/* ---- texts as a server in Python has them ---- */

/* Rows as a list of dictionaries. */
void pg_repr_rows(struct buf *b, const PGresult *r);
/* One value: text as it is, JSON as dictionaries and lists. */
void pg_repr_value(struct buf *b, const PGresult *r, int row, int column);

/* ---- data ---- */

/* Adds what BODY has ({"schemas": […]}) in one transaction. -EINVAL: it is not fit. */
int pg_import(PGconn *c, const struct json *body, struct buf *counts, struct err *e);
int pg_export(PGconn *c, struct buf *out, struct err *e);

/* ---- for graders ---- */

/* Appends the changes that make the database of BASE into that of C; both as PG_ADMIN. */
int pg_changes(PGconn *base, PGconn *c, struct buf *out, struct err *e);
struct verify_source;
extern const struct verify_source pg_verify; /* of a connection */
