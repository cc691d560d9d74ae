/* SPDX-License-Identifier: MIT */
/* Engines: what keeps the databases of apps and runs their tools. An app says in app.json which one
 * it needs ("engine", else SQLite).
 *
 * A database has a name of the form "KIND/WORD": "templates/jira-4f1c…-default",
 * "instances/0b6e…", "snapshots/…". A template is made once and then only read and copied; the
 * others begin as a copy of another one.
 *
 * Every function may block and may be called on any thread, but never two at once for the same
 * handle, nor for a database that is being changed: who calls sees to that. Where a call was
 * answered with success, its effect survives the death of this process; each engine says in its
 * file what the loss of power may cost. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "apps/engine/app.h"
#include "apps/engine/call.h"
#include "base/buf.h"

struct app_home;   /* an engine's own: where its databases are, the server that it runs */
struct app_handle; /* an engine's own: an open database */

struct app_engine {
    const char *name;
    /* Calls usually take microseconds, so they are tried on the loop's thread first, with brief
     * limits; opening and closing are always done there, as handles share connections. */
    bool is_quick;

    /* DIR is there, and all engines have it together: SQLite has the folders of its kinds in it,
     * others one of their own name. -EOPNOTSUPP: this machine lacks what it needs; E says what. */
    int (*start)(const char *dir, struct app_home **ret, struct err *e);
    /* All handles are closed. The databases stay. */
    void (*stop)(struct app_home *h);
    /* Ends what runs outside this process, while threads that do not end still use H; may be
     * NULL. */
    void (*halt)(struct app_home *h);

    /* ---- databases ---- */

    /* Makes NAME of APP's schema and, with SEED, what import makes of it; all or nothing. */
    int (*make)(struct app_home *h, const struct app *app, const char *name,
                const struct json *seed, struct err *e);
    bool (*has)(struct app_home *h, const char *name);
    /* Bytes that it takes, or -errno. */
    int64_t (*size)(struct app_home *h, const char *name);
    /* TO is replaced, all or nothing. FROM has no handle that writes, TO none at all. */
    int (*copy)(struct app_home *h, const char *from, const char *to, struct err *e);
    /* 0 also when there is none. NAME has no handle. */
    int (*drop)(struct app_home *h, const char *name, struct err *e);
    /* Calls FN for the WORD of every database of KIND, for sweeping what has no owner. */
    int (*each)(struct app_home *h, const char *kind, void (*fn)(void *ctx, const char *word),
                void *ctx);

    /* ---- shared connections; NULL: every handle has its own ---- */

    /* True when a call of APP finds one, so that it may be brief. */
    bool (*is_ready)(struct app_home *h, const struct app *app);
    /* Closes those of APP (NULL: of all) that nobody used since BEFORE_MS. All of them have to be
     * closed before APP is freed. */
    void (*tidy)(struct app_home *h, const struct app *app, int64_t before_ms);
    unsigned (*n_open)(struct app_home *h);

    /* ---- open databases ---- */

    int (*open)(struct app_home *h, const struct app *app, const char *name, bool is_read_only,
                struct app_handle **ret, struct err *e);
    /* IS_DROPPED: the database goes right after, so nothing has to be tidied. */
    void (*close)(struct app_handle *x, bool is_dropped);
    /* The seed and the clock (apps/db/db.h) of what follows. */
    void (*tune)(struct app_handle *x, uint64_t seed, int64_t start_us);

    /* Runs C->script, which app_call() (apps/engine/call.h) has prepared; what came of it is in C.
     * -errno with E: nothing was changed. -EAGAIN: it would take longer than C->limits allow. */
    int (*run)(struct app_handle *x, struct app_call *c, struct err *e);
    /* BODY's records are added. *RET is {"TYPE": how many}, JSON in A. -EINVAL: BODY is not fit,
     * E says why in words for the one who sent it. -EDOM: a value in it cannot be stored; E is
     * "MEMBER: what the engine says", which is for the log, and MEMBER may be empty. -EOPNOTSUPP:
     * the app has no data of its own. */
    int (*import)(struct app_handle *x, const struct json *body, struct arena *a, struct str *ret,
                  struct err *e);
    /* What import would take, JSON in A. */
    int (*export)(struct app_handle *x, struct arena *a, struct str *ret, struct err *e);

    /* ---- closed databases: no handle writes to them ---- */

    /* Appends what is different in NAME from BASE; apps/engine/changes.h has the form. -E2BIG: more
     * than OUT takes. */
    int (*diff)(struct app_home *h, const char *base, const char *name, struct buf *out,
                struct err *e);
    /* Appends what came of each of CHECKS; apps/engine/verify.h has the forms. -EINVAL: CHECKS are
     * not of that form. */
    int (*verify)(struct app_home *h, const struct app *app, const char *name,
                  const struct json *checks, struct buf *out, struct err *e);
};

/* app.json's /engine; NULL when there is none of that name. */
const struct app_engine *app_engine_find(struct str name);
/* All of them, number I, or NULL past the end. */
const struct app_engine *app_engine_at(size_t i);

extern const struct app_engine app_engine_sqlite;
extern const struct app_engine app_engine_pg;
