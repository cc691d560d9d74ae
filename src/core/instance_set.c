/* SPDX-License-Identifier: MIT */
/* The set of instances: opening, what a restart finds, stopping. */
#include "core/instance_set.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/db/deadline.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/app_checks.h"
#include "core/config.h"
#include "core/core.h"
#include "core/instance_calls.h"
#include "core/instance_internal.h"
#include "core/instance_keep.h"
#include "core/instance_slot.h"
#include "core/metrics.h"
#include "core/share.h"
#include "sys/io.h"

enum {
    MAX_JOBS = 65536,
    RESERVE = 16,         /* threads for accounts that have nothing under way */
    MAX_OVERDUE = 64,     /* jobs whose threads are replaced */
    OVERDUE_MS = 5000,    /* after which they are */
    STOP_MS = 1000,       /* for jobs to end by themselves when the service stops */
    STOP_HURRY_MS = 2000, /* and after they were asked to */
    TICK_MS = 2000,
    IDLE_MS = 10000,              /* an open database that nobody used */
    CONNECTION_IDLE_MS = 60000,   /* a shared connection */
    TEMPLATE_IDLE_MS = 10 * 60000 /* a template that nobody refers to */
};

/* ---- apps ---- */

struct app_registry *instances_registry(const struct config *config, struct err *e)
{
    char built_in[PATH_MAX], own[PATH_MAX];
    const char *dirs[] = {config->apps.dir ? config->apps.dir : built_in, own, NULL};

    if (!config->apps.dir && share_dir(config, "apps", built_in, e) < 0)
        return NULL;
    (void)snprintf(own, sizeof own, "%s/" INSTANCES_OWN, config->state);
    struct app_registry *registry = app_registry_new(dirs);
    if (!registry)
        (void)err_sys(e, -ENOMEM, "apps");
    return registry;
}

static int open_registry(struct instances *set, struct err *e)
{
    char own[PATH_MAX];

    set->registry = instances_registry(set->core->config, e);
    if (!set->registry)
        return e->code;
    (void)snprintf(own, sizeof own, "%s/" INSTANCES_OWN, set->core->config->state);
    return io_mkdirs(own, 0700, e);
}

/* ---- after a restart ---- */

/* A lease whose app is gone keeps its row until its time is over or it is released. */
static void restore_lease(struct instance *in, struct str key_id)
{
    struct instances *set = in->set;
    struct app_entry *entry auto_(app_entry_unref) = NULL;
    struct err e = ERR_INIT;

    in->key = accounts_by_id(set->core->accounts, key_id);
    if (in->key) {
        /* It lives already: the limit is not asked. */
        in->key->use.n_live++;
        (void)account_key_ref(in->key);
    }
    instance_add_lease(in);
    in->own->is_restored = true;
    entry = instance_find_app(in);
    if (entry)
        in->own->template = template_get(set, entry, str_of(in->data), &e);
    (void)map_put(&set->by_lease, str_of(in->lease), in, NULL);
    sm_move(&in->sm, INSTANCE_ACQUIRING);
    instance_make_known(in);
}

static void enter_instance_row(struct instance *in, struct str key_id)
{
    struct instances *set = in->set;
    struct instance_pool *pool = instance_pool(set, in->account, in->server);

    if (!pool || instance_enter(in) < 0 || (in->lease[0] && instance_begin_own(in) < 0)) {
        instance_free(in);
        return;
    }
    instance_add_slot(in);
    if (in->lease[0])
        restore_lease(in, key_id);
    else if (!in->has_own_email)
        list_append(&pool->idle, &in->idle_node);
}

/* What a look through the files of an engine finds. */
struct instance_look {
    struct instances *set;
    const struct app_engine *engine;
    struct app_home *home;
    const char *kind;
};

static void drop_stray_file(const struct instance_look *l, const char *word)
{
    char name[INSTANCE_NAME_MAX];

    (void)snprintf(name, sizeof name, "%s/%s", l->kind, word);
    (void)l->engine->drop(l->home, name, NULL);
}

/* The occupied instance that WORD begins with the id of, or NULL. */
static struct instance *owner_of(const struct instance_look *l, const char *word)
{
    size_t len = strlen(word);
    struct str id = str_n(word, len < INSTANCE_ID_LEN ? len : INSTANCE_ID_LEN);
    struct instance *in = map_get(&l->set->by_id, id);

    return in && in->own ? in : NULL;
}

static void see(void *ctx, const char *word)
{
    struct instance_look *l = ctx;

    if (!owner_of(l, word))
        drop_stray_file(l, word);
}

/* Records of leases that have ended. */
static int sweep_calls(struct instances *set, struct err *e)
{
    char path[PATH_MAX];
    const struct instance_look l = {.set = set};
    const struct dirent *d;

    (void)snprintf(path, sizeof path, "%s/calls", set->dir);
    int r = io_mkdirs(path, 0700, e);
    DIR *dir = r < 0 ? NULL : opendir(path);
    if (!dir)
        return r < 0 ? r : err_sys(e, -errno, "open '%s'", path);
    while ((d = readdir(dir))) {
        if (d->d_name[0] != '.' && !owner_of(&l, d->d_name))
            (void)unlinkat(dirfd(dir), d->d_name, 0);
    }
    (void)closedir(dir);
    return 0;
}

/* Databases without an owner, of the engine that is always there. */
static int sweep_instance_files(struct instances *set, struct err *e)
{
    static const char *const kinds[] = {"instances", "bases", "snapshots"};
    struct instance_look l = {.set = set, .engine = &app_engine_sqlite};
    int r = l.engine->start(set->dir, &set->homes[0].home, e);

    l.home = set->homes[0].home;
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(kinds); i++) {
        l.kind = kinds[i];
        r = l.engine->each(l.home, l.kind, see, &l);
    }
    return r < 0 ? err_ctx(e, r, "databases of instances") : 0;
}

/* ---- the set ---- */

/* SQLite's, the one engine that shares connections; it is started with the set. */
static struct app_home *shared_home(const struct instances *set)
{
    return set->homes[0].home;
}

static void tidy_engines(struct instances *set, int64_t before_ms)
{
    if (shared_home(set))
        app_engine_sqlite.tidy(shared_home(set), NULL, before_ms);
}

static void on_instance_tick(struct loop_timer *t)
{
    struct instances *set = container_of(t, struct instances, tick);
    int64_t now_ms = loop_now_ms(set->core->loop);
    void *value;

    instances_close_idle(set, now_ms - IDLE_MS, (unsigned)set->core->config->apps.max_open);
    for (size_t i = 0; map_next(&set->templates, &i, NULL, &value);)
        template_close_readers(value, now_ms - IDLE_MS);
    tidy_engines(set, now_ms - CONNECTION_IDLE_MS);
    if (templates_forget(set, now_ms - TEMPLATE_IDLE_MS))
        instances_sweep_kept(set, false);
    calls_flush_all(set);
    work_pool_look(set->workers);
    (void)loop_timer_start(set->core->loop, t, TICK_MS, on_instance_tick);
}

static int open_all_instances(struct instances *set, struct err *e)
{
    const struct config *config = set->core->config;
    int r = core_path(config, "apps", &set->dir);

    if (r < 0)
        return err_sys(e, r, "apps");
    r = io_mkdirs(set->dir, 0700, e);
    if (r == 0)
        r = open_registry(set, e);
    if (r < 0)
        return r;
    const struct work_opts workers = {.n = (unsigned)config->apps.threads,
                                      .n_reserve = RESERVE,
                                      .n_overdue = MAX_OVERDUE,
                                      .max_queued = MAX_JOBS,
                                      .max_ms = OVERDUE_MS};
    deadline_resume_all();
    set->workers = work_pool_make(&workers, e);
    if (!set->workers)
        return e && e->code ? e->code : -ENOMEM;
    r = instances_load(set, enter_instance_row, e);
    if (r == 0)
        instances_sweep_kept(set, true);
    if (r == 0)
        r = sweep_instance_files(set, e);
    if (r == 0)
        r = sweep_calls(set, e);
    return r < 0 ? r : loop_timer_start(set->core->loop, &set->tick, TICK_MS, on_instance_tick);
}

struct instances *instances_open(struct core *c, struct err *e)
{
    struct instances *set = mem_zalloc(1, sizeof *set);

    if (!set) {
        (void)err_sys(e, -ENOMEM, "instances");
        return NULL;
    }
    set->core = c;
    map_init(&set->by_id, INSTANCE_MAX + 1); /* one more while a slot changes its id */
    map_init(&set->by_lease, INSTANCE_MAX);
    map_init(&set->by_email, INSTANCE_MAX);
    map_init(&set->pools, INSTANCE_MAX);
    map_init(&set->templates, APP_REGISTRY_MAX);
    map_init(&set->checked, APP_REGISTRY_MAX);
    list_init(&set->occupied);
    list_init(&set->open);
    list_init(&set->unwritten);
    for (size_t i = 0; i < INSTANCE_MAX_ENGINES; i++)
        (void)pthread_mutex_init(&set->homes[i].lock, NULL);
    if (open_all_instances(set, e) == 0)
        return set;
    instances_stop(set);
    instances_free(set);
    return NULL;
}

void instances_stop(struct instances *set)
{
    void *value;

    if (!set || set->is_stopped)
        return;
    set->is_stopped = true;
    loop_timer_stop(&set->tick);
    for (size_t i = 0; map_next(&set->by_id, &i, NULL, &value);)
        loop_timer_stop(&((struct instance *)value)->timer);
    if (!set->workers)
        return;
    set->n_abandoned = work_pool_end(take(set->workers), STOP_MS, STOP_HURRY_MS, deadline_stop_all);
    /* What the workers did is reported now. */
    (void)loop_run_once(set->core->loop, 0);
}

unsigned instances_n_abandoned(const struct instances *set)
{
    return set ? set->n_abandoned : 0;
}

static void free_all(struct map *m, void (*fn)(void *value))
{
    void *value;

    for (size_t i = 0; map_next(m, &i, NULL, &value);)
        fn(value);
    map_done(m);
}

static void free_instance(void *value)
{
    struct instance *in = value;

    instance_free(in);
}

static void stop_engines(struct instances *set)
{
    for (size_t i = 0; i < INSTANCE_MAX_ENGINES; i++) {
        const struct app_engine *engine = app_engine_at(i);
        if (!set->homes[i].home)
            continue;
        void (*end)(struct app_home * h) = set->n_abandoned > 0 ? engine->halt : engine->stop;
        if (end)
            end(set->homes[i].home);
    }
}

void instances_free(struct instances *set)
{
    void *value;

    if (!set)
        return;
    if (set->n_abandoned > 0) {
        stop_engines(set);
        return; /* what runs still uses the rest */
    }
    free_all(&set->by_id, free_instance);
    map_done(&set->by_lease);
    map_done(&set->by_email);
    free_all(&set->pools, free);
    for (size_t i = 0; map_next(&set->templates, &i, NULL, &value);)
        template_unref(value);
    map_done(&set->templates);
    stop_engines(set);
    for (size_t i = 0; i < INSTANCE_MAX_ENGINES; i++)
        (void)pthread_mutex_destroy(&set->homes[i].lock);
    app_checks_free(set);
    app_registry_free(set->registry);
    free(set->dir);
    free(set);
}

struct app_registry *instances_apps(const struct instances *set)
{
    return set->registry;
}

unsigned instances_n_live(const struct instances *set)
{
    return set->n_live;
}

unsigned instances_n_open(const struct instances *set)
{
    struct app_home *home = shared_home(set);

    return set->n_open + (home ? app_engine_sqlite.n_open(home) : 0);
}

void instances_sample(struct instances *set)
{
    struct metrics *m = set->core->metrics;

    metrics_set(m, METRIC_APPS_LIVE, set->n_live);
    metrics_set(m, METRIC_APPS_OPEN, instances_n_open(set));
    if (!set->workers)
        return;
    const struct work_stats jobs = work_pool_stats(set->workers);
    metrics_set(m, METRIC_APPS_RUNNING, jobs.running);
    metrics_set(m, METRIC_APPS_WAITING, jobs.queued);
    metrics_set(m, METRIC_APPS_OVERDUE, jobs.overdue);
}
