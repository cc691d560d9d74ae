/* SPDX-License-Identifier: MIT */
#include "apps/engine/pool.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "apps/db/db_internal.h"
#include "apps/engine/template.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"

void pool_init(struct pool *p, const char *home)
{
    *p = (struct pool){.home = home};
    (void)pthread_mutex_init(&p->lock, NULL);
    list_init(&p->idle);
}

static void close_connection(struct pool_connection *c)
{
    appdb_close(c->db);
    free(c);
}

void pool_done(struct pool *p)
{
    pool_close(p, NULL, INT64_MAX);
    (void)pthread_mutex_destroy(&p->lock);
}

/* ---- files ---- */

int pool_file_init(struct pool_file *f, const struct app *app, const char *path, bool is_read_only)
{
    static atomic_ullong n_made;

    *f = (struct pool_file){.app = app,
                            .id = atomic_fetch_add(&n_made, 1) + 1,
                            .is_read_only = is_read_only,
                            .path = mem_strdup(path)};
    return f->path ? 0 : -ENOMEM;
}

/* Out of those that nobody uses, under the lock. */
static struct pool_connection *pick_connection(struct pool *p, struct list *node)
{
    struct pool_connection *c = list_entry(node, struct pool_connection, node);

    list_del(node);
    p->n_idle--;
    p->n_busy++;
    return c;
}

/* The one that has F already; NULL: none. */
static struct pool_connection *pick_seated(struct pool *p, const struct pool_file *f)
{
    struct pool_connection *found = NULL;

    (void)pthread_mutex_lock(&p->lock);
    list_each(node, &p->idle)
    {
        if (list_entry(node, struct pool_connection, node)->file == f->id) {
            found = pick_connection(p, node);
            break;
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    return found;
}

void pool_file_done(struct pool *p, struct pool_file *f)
{
    struct pool_connection *c = f->path ? pick_seated(p, f) : NULL;

    if (c) {
        appdb_unseat(c->db);
        c->file = 0;
        pool_give(p, c);
    }
    free(take(f->path));
}

/* ---- taking ---- */

/* One of F's app that FILE fits, the longest unused, so that files which are used often stay where
 * they are; NULL: none. */
static struct pool_connection *pick_fitting(struct pool *p, const struct pool_file *f,
                                            const struct seat_file *file)
{
    struct pool_connection *found = NULL;

    (void)pthread_mutex_lock(&p->lock);
    for (struct list *node = p->idle.prev; node != &p->idle && !found; node = node->prev) {
        const struct pool_connection *c = list_entry(node, struct pool_connection, node);
        if (c->app == f->app && appdb_fits(c->db, file)) {
            found = pick_connection(p, node);
            break;
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    return found;
}

static struct pool_connection *open_connection(struct pool *p, const struct pool_file *f,
                                               struct err *e)
{
    struct appdb_env env = template_env(f->app, 0, 0);
    struct pool_connection *c = mem_zalloc(1, sizeof *c);

    env.home = p->home;
    if (!c) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    list_init(&c->node);
    c->app = f->app;
    if (appdb_open(f->path, f->is_read_only, &env, &c->db, e) < 0) {
        free(c);
        return NULL;
    }
    (void)pthread_mutex_lock(&p->lock);
    p->n_busy++;
    (void)pthread_mutex_unlock(&p->lock);
    return c;
}

static int open_pooled_file(const struct pool *p, const struct pool_file *f, bool is_brief,
                            struct seat_file *ret, struct err *e)
{
    int r = appdb_open_file(ret, f->path, p->home, f->is_read_only);

    if (r == -EUCLEAN && is_brief)
        return -EAGAIN;
    if (r == -EUCLEAN) {
        r = seat_settle(f->path, e);
        if (r < 0)
            return r;
        r = appdb_open_file(ret, f->path, p->home, f->is_read_only);
    }
    return r < 0 ? err_sys(e, r, "open '%s'", f->path) : 0;
}

int pool_take(struct pool *p, struct pool_file *f, bool is_brief, struct pool_connection **ret,
              struct err *e)
{
    struct pool_connection *c = pick_seated(p, f);
    struct seat_file file;
    int r;

    if (c) {
        *ret = c;
        return 0;
    }
    r = open_pooled_file(p, f, is_brief, &file, e);
    if (r < 0)
        return r;
    c = pick_fitting(p, f, &file);
    if (!c && !is_brief)
        c = open_connection(p, f, e);
    if (!c) {
        seat_file_close(&file);
        return is_brief ? -EAGAIN : e->code;
    }
    c->file = f->id;
    r = appdb_seat(c->db, &file, &f->own, e);
    if (r < 0) {
        c->file = 0;
        pool_give(p, c);
        return r;
    }
    *ret = c;
    return 0;
}

/* ---- giving back ---- */

void pool_give(struct pool *p, struct pool_connection *c)
{
    struct pool_connection *unused = NULL;
    /* Another file could not be put below one that still reads. */
    bool is_idle = sqlite3_txn_state(c->db->c, NULL) == SQLITE_TXN_NONE;

    c->used_ms = clock_mono_ms();
    (void)pthread_mutex_lock(&p->lock);
    p->n_busy--;
    if (is_idle) {
        list_add(&p->idle, &c->node);
        p->n_idle++;
    } else {
        unused = c;
    }
    if (p->n_idle > POOL_IDLE_MAX) {
        unused = list_entry(p->idle.prev, struct pool_connection, node);
        list_del(&unused->node);
        p->n_idle--;
    }
    (void)pthread_mutex_unlock(&p->lock);
    if (unused)
        close_connection(unused);
}

bool pool_is_ready(struct pool *p, const struct app *app)
{
    bool is_ready = false;

    (void)pthread_mutex_lock(&p->lock);
    list_each(node, &p->idle)
    {
        if (list_entry(node, struct pool_connection, node)->app == app) {
            is_ready = true;
            break;
        }
    }
    (void)pthread_mutex_unlock(&p->lock);
    return is_ready;
}

void pool_close(struct pool *p, const struct app *app, int64_t before_ms)
{
    struct list closing, *closed;

    list_init(&closing);
    (void)pthread_mutex_lock(&p->lock);
    list_each(node, &p->idle)
    {
        const struct pool_connection *c = list_entry(node, struct pool_connection, node);
        if ((app && c->app != app) || c->used_ms >= before_ms)
            continue;
        list_del(node);
        list_append(&closing, node);
        p->n_idle--;
    }
    (void)pthread_mutex_unlock(&p->lock);
    while ((closed = list_pop(&closing)))
        close_connection(list_entry(closed, struct pool_connection, node));
}

unsigned pool_n_open(struct pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    unsigned n = p->n_idle + p->n_busy;
    (void)pthread_mutex_unlock(&p->lock);
    return n;
}
