/* SPDX-License-Identifier: MIT */
/* The set of roots: see root.h. */
#include "core/root.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/image.h"
#include "core/limits.h"
#include "core/root_internal.h"
#include "runtime/engine_root.h"
#include "sys/io.h"

enum {
    ARENA_MAX = 4 * ROOT_FILE_MAX,
    QUEUE_MAX = 4096,
    /* Threads that copy: nobody waits for large copies of another account. */
    CAPTURE_THREADS = 2,
    CAPTURE_RESERVE = 4,
    CAPTURE_OVERDUE = 8,
    CAPTURE_MS = 5000,
    TICK_MS = 1000
};

struct layer_use {
    unsigned n;
};

/* ---- uses of layers ---- */

int roots_pin(struct roots *set, const char *layer)
{
    int r = 0;

    (void)pthread_mutex_lock(&set->lock);
    struct layer_use *use = map_get(&set->uses, str_of(layer));
    if (!use) {
        use = mem_zalloc(1, sizeof *use);
        r = use ? map_put(&set->uses, str_of(layer), use, NULL) : -ENOMEM;
        if (r < 0)
            free(take(use));
    }
    if (use)
        use->n++;
    (void)pthread_mutex_unlock(&set->lock);
    return r;
}

void roots_unpin(struct roots *set, const char *layer)
{
    (void)pthread_mutex_lock(&set->lock);
    struct layer_use *use = map_get(&set->uses, str_of(layer));
    if (use && --use->n == 0)
        free(map_del(&set->uses, str_of(layer)));
    (void)pthread_mutex_unlock(&set->lock);
}

/* ---- sweeping ---- */

struct root_sweep {
    struct work work;
    struct roots *set;
};

/* Nobody can begin to use it between the look and its end: it has another name then. */
static void sweep_layer(void *ctx, const char *id)
{
    struct roots *set = ctx;
    char trash[PATH_MAX];
    int r = -EBUSY;

    (void)pthread_mutex_lock(&set->lock);
    if (!map_get(&set->uses, str_of(id)))
        r = layer_retire(set->state, id, trash);
    (void)pthread_mutex_unlock(&set->lock);
    if (r == 0)
        (void)io_remove_tree(trash);
}

static void run_root_sweep(struct work *w)
{
    struct roots *set = container_of(w, struct root_sweep, work)->set;

    layer_each(set->state, sweep_layer, set);
    layer_sweep(set->state);
}

static void end_root_sweep(struct work *w)
{
    struct root_sweep *s = container_of(w, struct root_sweep, work);
    struct roots *set = s->set;

    set->sweep = NULL;
    free(s);
    if (set->is_sweep_due)
        roots_sweep(set);
}

/* What was removed, or was only for forks, and no sandbox came back with. */
static void settle_roots(struct roots *set)
{
    void *value;

    set->is_settled = true;
    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);) {
        struct root *r = value;
        if (r->is_removed)
            root_unref(r);
        else if (r->args.kind == ROOT_FORK)
            root_remove(r);
    }
}

void roots_sweep(struct roots *set)
{
    if (!set->is_settled)
        settle_roots(set);
    set->is_sweep_due = set->sweep != NULL;
    if (set->sweep || set->is_stopped)
        return;
    struct root_sweep *s = mem_zalloc(1, sizeof *s);
    if (!s)
        return;
    s->set = set;
    s->work = (struct work){.run = run_root_sweep, .done = end_root_sweep};
    if (work_submit(set->movers, set->core->loop, &s->work) < 0)
        free(s);
    else
        set->sweep = s;
}

/* ---- one root ---- */

static void root_free(struct root *r)
{
    for (size_t i = 0; i < r->args.n_layers; i++)
        roots_unpin(r->set, r->args.layers[i]);
    if (r->tally)
        tally_give(r->tally, (int64_t)r->args.bytes);
    if (r->count)
        tally_give(r->count, 1);
    list_del(&r->node);
    arena_done(&r->arena);
    free(r);
}

struct root *root_ref(struct root *r)
{
    r->n_refs++;
    return r;
}

void root_unref(struct root *r)
{
    if (!r || --r->n_refs > 0)
        return;
    struct roots *set = r->set;
    char path[PATH_MAX];

    /* The description first: layers without one are swept, one without layers would be found. */
    if (!set->is_stopped && root_file(r, path) == 0)
        (void)unlink(path);
    (void)map_del(&set->by_id, str_of(r->id));
    root_free(r);
    roots_sweep(set);
}

void root_remove(struct root *r)
{
    char path[PATH_MAX], gone[PATH_MAX];

    if (r->is_removed)
        return;
    /* Not found after a restart either, though a sandbox may have it. */
    if (root_file(r, path) == 0) {
        r->is_removed = true;
        if (root_file(r, gone) == 0)
            (void)rename(path, gone);
    }
    r->is_removed = true;
    list_del(&r->node);
    root_unref(r);
}

struct root *root_find(const struct roots *set, struct str id)
{
    return set ? map_get(&set->by_id, id) : NULL;
}

struct root *root_next(const struct roots *set, const struct root *r)
{
    const struct list *next = r ? r->node.next : set ? set->known.next : NULL;

    return !next || next == &set->known ? NULL : list_entry(next, struct root, node);
}

struct root *root_find_name(const struct roots *set, enum root_kind kind, struct str name,
                            const char *account)
{
    for (struct root *r = NULL; (r = root_next(set, r));) {
        bool is_his = r->args.account.len == 0 || (account && str_is(r->args.account, account));
        if (r->args.kind == kind && is_his && str_eq(r->args.name, name))
            return r;
    }
    return NULL;
}

struct root *root_find_image(const struct roots *set, struct str reference, const char *account)
{
    char name[ROOT_NAME_MAX];
    struct root *r = root_find_name(set, ROOT_IMAGE, reference, account);

    if (r || reference.len + sizeof ":latest" > sizeof name)
        return r;
    (void)snprintf(name, sizeof name, STR_FMT ":latest", STR_ARG(reference));
    return root_find_name(set, ROOT_IMAGE, str_of(name), account);
}

bool root_is_visible(const struct root *r, const struct account_key *key)
{
    return r->args.account.len == 0 || (key && (key->account->role == ACCOUNT_SYSTEM ||
                                                str_is(r->args.account, key->account->id)));
}

const struct json *root_get(const struct root *r, const char *name)
{
    return r ? json_get(r->args.config, name) : NULL;
}

struct str root_get_str(const struct root *r, const char *name, struct str fallback)
{
    struct str s = json_str(root_get(r, name), STR_NULL);

    return s.len > 0 ? s : fallback;
}

int roots_for_engine(const struct roots *set, const char *id, struct engine_root *ret)
{
    const struct root *r = root_find(set, str_of(id));

    if (!r)
        return -ENOENT;
    *ret = (struct engine_root){
        .layers = r->paths, .n_layers = r->args.n_layers, .is_on_default = r->args.is_on_default};
    return 0;
}

/* ---- taking in ---- */

static int count_root_bytes(struct root *r, bool is_new, struct err *e)
{
    struct core *core = r->set->core;
    struct account *account =
        r->args.account.len > 0 ? accounts_account(core->accounts, r->args.account) : NULL;

    if (r->args.account.len == 0)
        return 0;
    const struct {
        enum limit id;
        int64_t n;
        struct tally **to;
    } rows[] = {{LIMIT_ACCOUNT_ROOTS, 1, &r->count},
                {LIMIT_ACCOUNT_SNAPSHOTS, (int64_t)r->args.bytes, &r->tally}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tally *t = limits_tally(core->limits, account, rows[i].id);
        int c = is_new ? limits_take(core->limits, account, rows[i].id, rows[i].n, e) : 0;
        if (c < 0)
            return c;
        if (!is_new)
            tally_add(t, rows[i].n);
        *rows[i].to = t;
    }
    return 0;
}

static int pin_layers(struct root *r)
{
    size_t n = r->args.n_layers;

    r->args.n_layers = 0;
    for (size_t i = 0; i < n; i++) {
        int c = roots_pin(r->set, r->args.layers[i]);
        if (c < 0)
            return c;
        r->args.n_layers++;
    }
    return 0;
}

enum origin { NEW, FOUND, FOUND_REMOVED };

static struct root *load_root_row(struct roots *set, const char *id, enum origin origin,
                                  struct err *e)
{
    struct root *r = mem_zalloc(1, sizeof *r);

    if (!r) {
        (void)err_sys(e, -ENOMEM, "root");
        return NULL;
    }
    r->set = set;
    r->n_refs = 1;
    list_init(&r->node);
    arena_init(&r->arena, ARENA_MAX);
    (void)snprintf(r->id, sizeof r->id, "%s", id);
    r->is_removed = origin == FOUND_REMOVED;
    int c = root_read(r, set->state, e);
    size_t n_layers = r->args.n_layers;
    if (c < 0)
        r->args.n_layers = 0;
    if (c == 0)
        c = pin_layers(r);
    if (c == 0 && n_layers == r->args.n_layers)
        c = count_root_bytes(r, origin == NEW, e);
    if (c == 0)
        c = map_put(&set->by_id, str_of(r->id), r, NULL);
    if (c == 0)
        return r;
    if (e && !e->code)
        (void)err_sys(e, c, "root '%s'", id);
    root_free(r);
    return NULL;
}

struct root *roots_take_in(struct roots *set, const char *id, struct err *e)
{
    char path[PATH_MAX];
    struct root *r = set->by_id.n < ROOTS_MAX ? load_root_row(set, id, NEW, e) : NULL;

    if (!r) {
        if (set->by_id.n >= ROOTS_MAX)
            (void)err_set(e, -ENOBUFS, "too many images and snapshots: the limit is %d", ROOTS_MAX);
        if (root_file_path(set->state, id, false, path) == 0)
            (void)unlink(path);
        roots_sweep(set);
        return NULL;
    }
    list_append(set->known.next, &r->node);
    return root_ref(r);
}

/* ---- the set ---- */

static int by_root_age(const void *a, const void *b)
{
    const struct root *x = *(struct root *const *)a, *y = *(struct root *const *)b;

    return (x->created_us > y->created_us) - (x->created_us < y->created_us);
}

/* What cannot be read is left where it is, for whoever looks after it. */
static void load_one(struct roots *set, struct str name, const char *suffix, enum origin origin)
{
    char id[ROOT_ID_MAX];

    if (!str_ends(name, str_of(suffix)) || name.len >= sizeof id || set->by_id.n >= ROOTS_MAX)
        return;
    (void)snprintf(id, sizeof id, STR_FMT, STR_ARG(str_slice(name, 0, name.len - strlen(suffix))));
    if (layer_is_id(str_of(id)))
        (void)load_root_row(set, id, origin, NULL);
}

static void load_all_roots(struct roots *set, DIR *dir)
{
    for (struct dirent *d; (d = readdir(dir));) {
        load_one(set, str_of(d->d_name), ROOT_SUFFIX, FOUND);
        load_one(set, str_of(d->d_name), ROOT_SUFFIX_REMOVED, FOUND_REMOVED);
    }
}

static int sort_all(struct roots *set)
{
    struct root **all auto_free = mem_zalloc(set->by_id.n + 1, sizeof *all);
    size_t n = 0;
    void *value;

    if (!all)
        return -ENOMEM;
    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);)
        all[n++] = value;
    qsort(all, n, sizeof *all, by_root_age);
    for (size_t i = 0; i < n; i++)
        if (!all[i]->is_removed)
            list_append(set->known.next, &all[i]->node);
    return 0;
}

static int open_files(struct roots *set, struct err *e)
{
    char folder[PATH_MAX];

    if (snprintf(folder, sizeof folder, "%s/" ROOT_FOLDER, set->state) >= (int)sizeof folder)
        return err_sys(e, -ENAMETOOLONG, "roots");
    int r = io_mkdirs(folder, 0700, e);
    if (r < 0)
        return r;
    DIR *dir = opendir(folder);
    if (!dir)
        return err_sys(e, -errno, "list '%s'", folder);
    load_all_roots(set, dir);
    (void)closedir(dir);
    return sort_all(set);
}

/* Copies that take long give their threads' places to others. */
static void on_roots_tick(struct loop_timer *t)
{
    struct roots *set = container_of(t, struct roots, tick);

    work_pool_look(set->captures);
    (void)loop_timer_start(set->core->loop, t, TICK_MS, on_roots_tick);
}

static int start_root_threads(struct roots *set, struct err *e)
{
    const struct work_opts o = {.n = CAPTURE_THREADS,
                                .n_reserve = CAPTURE_RESERVE,
                                .n_overdue = CAPTURE_OVERDUE,
                                .max_queued = QUEUE_MAX,
                                .max_ms = CAPTURE_MS};

    set->captures = work_pool_make(&o, e);
    set->movers = work_pool_new(1, QUEUE_MAX, e);
    if (!set->captures || !set->movers)
        return -ENOMEM;
    return loop_timer_start(set->core->loop, &set->tick, TICK_MS, on_roots_tick);
}

struct roots *roots_open(struct core *c, struct err *e)
{
    struct roots *set = mem_zalloc(1, sizeof *set);

    if (!set) {
        (void)err_sys(e, -ENOMEM, "roots");
        return NULL;
    }
    set->core = c;
    (void)pthread_mutex_init(&set->lock, NULL);
    map_init(&set->by_id, ROOTS_MAX + 1);
    map_init(&set->uses, (size_t)ROOTS_MAX * ROOT_LAYERS_MAX);
    list_init(&set->known);
    list_init(&set->capturing);
    list_init(&set->importing);
    int r = realpath(c->config->state, set->state) ? 0 : err_sys(e, -errno, "state directory");
    if (r == 0)
        r = open_files(set, e);
    if (r == 0)
        r = start_root_threads(set, e);
    if (r == 0)
        return set;
    roots_free(set);
    return NULL;
}

void roots_stop(struct roots *set)
{
    if (!set || set->is_stopped)
        return;
    __atomic_store_n(&set->is_stopped, true, __ATOMIC_RELAXED);
    loop_timer_stop(&set->tick);
    roots_stop_captures(set);
    work_pool_free(take(set->captures));
    work_pool_free(take(set->movers));
}

void roots_free(struct roots *set)
{
    void *value;

    if (!set)
        return;
    roots_stop(set);
    /* What the threads have posted. */
    (void)loop_run_once(set->core->loop, 0);
    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);)
        root_free(value);
    for (size_t i = 0; map_next(&set->uses, &i, NULL, &value);)
        free(value);
    image_imports_free(set);
    map_done(&set->by_id);
    map_done(&set->uses);
    (void)pthread_mutex_destroy(&set->lock);
    free(set);
}
