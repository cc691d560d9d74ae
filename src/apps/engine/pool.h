/* SPDX-License-Identifier: MIT */
/* Connections for the databases of the SQLite engine (docs/adr/0038). One serves all instances of
 * an app, one after another: it has the app's schema parsed and its statements prepared, and the
 * file below it is exchanged (apps/db/seat.h). There are as many as are needed at the same time.
 * Any thread may take one, and has it to itself until it gives it back. */
#pragma once

#include <pthread.h>

#include "apps/db/db.h"
#include "apps/engine/app.h"
#include "base/list.h"

enum { POOL_IDLE_MAX = 128 /* connections that nobody uses, of all apps */ };

struct pool {
    pthread_mutex_t lock;
    const char *home;
    struct list idle; /* struct pool_connection, the one used last comes first */
    unsigned n_idle, n_busy;
};

/* A database that connections are taken for; never two at once. */
struct pool_file {
    const struct app *app;
    uint64_t id; /* of this use of the file */
    bool is_read_only;
    struct appdb_own own;
    char *path;
};

struct pool_connection {
    struct list node;
    struct appdb *db;
    const struct app *app;
    uint64_t file; /* the id of the one that it has; 0: none */
    int64_t used_ms;
};

/* HOME must stay. */
void pool_init(struct pool *p, const char *home);
void pool_done(struct pool *p);

int pool_file_init(struct pool_file *f, const struct app *app, const char *path, bool is_read_only);
/* No connection has the file any more: it may be replaced or removed. */
void pool_file_done(struct pool *p, struct pool_file *f);

/* A connection that has F. IS_BRIEF: -EAGAIN when that takes more than microseconds. */
int pool_take(struct pool *p, struct pool_file *f, bool is_brief, struct pool_connection **ret,
              struct err *e);
void pool_give(struct pool *p, struct pool_connection *c);
/* True when there is a connection of APP that nobody uses. */
bool pool_is_ready(struct pool *p, const struct app *app);
/* Closes those of APP (NULL: of all) that nobody uses and used since BEFORE_MS. */
void pool_close(struct pool *p, const struct app *app, int64_t before_ms);
unsigned pool_n_open(struct pool *p);
