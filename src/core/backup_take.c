/* SPDX-License-Identifier: MIT */
/* Taking backups: see backup_take.h. */
#include "core/backup_take.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/event.h"
#include "core/instance.h"
#include "core/instance_backup.h"
#include "core/instance_set.h"
#include "core/metrics.h"
#include "loop/work.h"
#include "store/pin.h"
#include "store/store.h"
#include "sys/io.h"

/* Copies that are on their way into a backup, in the state directory. */
#define COPIES_DIR "backup"

/* ---- what is in it ---- */

/* Files and folders of the state directory that are taken as they are. */
static const struct {
    const char *name;
    bool is_needed;   /* a file without which nothing can be restored */
    bool is_cold;     /* only where no service runs: else there are copies of them */
    bool is_archives; /* only where asked for */
} parts[] = {
    {.name = CORE_SECRET_FILE, .is_needed = true},
    {.name = CORE_KEY_FILE},
    {.name = "logs"},
    {.name = INSTANCES_OWN},
    {.name = "apps/kept"},
    {.name = "apps/instances", .is_cold = true},
    {.name = "apps/bases", .is_cold = true},
    {.name = "apps/snapshots", .is_cold = true},
    {.name = "apps/calls", .is_cold = true},
    {.name = "local", .is_archives = true},
};

static int add_backup_part(struct backup *b, const char *state, size_t i, struct err *e)
{
    char name[BACKUP_NAME_MAX], path[PATH_MAX];

    (void)snprintf(name, sizeof name, BACKUP_STATE "/%s", parts[i].name);
    if (snprintf(path, sizeof path, "%s/%s", state, parts[i].name) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "'%s'", state);
    bool is_file = parts[i].is_needed || strcmp(parts[i].name, CORE_KEY_FILE) == 0;
    if (!is_file)
        return backup_add_tree(b, name, path, e);
    int r = backup_add(b, name, path, parts[i].is_needed);
    return r < 0 ? err_sys(e, r, "backup") : 0;
}

struct contents {
    const char *state;
    bool is_cold, has_archives;
    const struct instances_saved *saved; /* NULL when it is cold */
};

/* Files of instances that nobody can write to. */
static int add_as_they_are(struct backup *b, const struct contents *c, const char *kind,
                           struct err *e)
{
    char dir[PATH_MAX], path[PATH_MAX], name[BACKUP_NAME_MAX];
    const struct dirent *d;
    int r = 0;

    (void)snprintf(dir, sizeof dir, "%s/apps/%s", c->state, kind);
    DIR *all = opendir(dir);
    while (all && r == 0 && (d = readdir(all))) {
        size_t len = strlen(d->d_name);
        struct str id = str_n(d->d_name, len < INSTANCE_ID_LEN ? len : INSTANCE_ID_LEN);
        if (!map_get(&c->saved->as_they_are, id))
            continue;
        (void)snprintf(name, sizeof name, BACKUP_STATE "/apps/%s/%s", kind, d->d_name);
        if (snprintf(path, sizeof path, "%s/%s", dir, d->d_name) < (int)sizeof path)
            r = backup_add(b, name, path, false);
    }
    if (all)
        (void)closedir(all);
    return r < 0 ? err_sys(e, r, "backup") : 0;
}

static int add_saved(struct backup *b, const struct contents *c, struct err *e)
{
    static const char *const kinds[] = {"instances", "bases", "snapshots", "calls"};
    char dir[PATH_MAX];
    int r = 0;

    (void)snprintf(dir, sizeof dir, "%s/apps/" INSTANCES_SAVED, c->state);
    r = backup_add_tree(b, BACKUP_STATE "/apps", dir, e);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(kinds); i++)
        r = add_as_they_are(b, c, kinds[i], e);
    return r;
}

static void write_left_out(struct jw *w, const struct contents *c)
{
    jw_key(w, "left_out");
    jw_array(w);
    jw_cstr(w, "processes, memory and disks of sandboxes");
    jw_cstr(w, "volumes");
    if (!c->has_archives)
        jw_cstr(w, "archives of local sandboxes");
    if (c->is_cold || c->saved->n_left > 0)
        jw_cstr(w, "databases of apps with a server of their own (postgres)");
    jw_end(w);
}

static int add_head(struct backup *b, const struct contents *c, struct err *e)
{
    struct buf text auto_buf = BUF_INIT(64 << 10);
    struct jw w = jw_to(&text);
    char now[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(now, clock_real_us());
    jw_object(&w);
    jw_key(&w, "format");
    jw_cstr(&w, BACKUP_FORMAT);
    jw_key(&w, "version");
    jw_int(&w, BACKUP_VERSION);
    jw_key(&w, "tidepool");
    jw_cstr(&w, TIDEPOOL_VERSION);
    jw_key(&w, "made_at");
    jw_cstr(&w, now);
    write_left_out(&w, c);
    jw_end(&w);
    (void)buf_add_char(&text, '\n');
    int r = buf_ok(&text) ? backup_add_text(b, BACKUP_HEAD, buf_str(&text)) : text.error;
    return r < 0 ? err_sys(e, r, "backup") : 0;
}

/* The store's copy is at DB. */
static int gather_backup(struct backup *b, const struct contents *c, const char *db, struct err *e)
{
    int r = add_head(b, c, e);

    if (r == 0 && (r = backup_add(b, BACKUP_STATE "/" CORE_STORE_FILE, db, true)) < 0)
        return err_sys(e, r, "backup");
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(parts); i++) {
        bool is_wanted =
            (!parts[i].is_cold || c->is_cold) && (!parts[i].is_archives || c->has_archives);
        r = is_wanted ? add_backup_part(b, c->state, i, e) : 0;
    }
    return r == 0 && !c->is_cold ? add_saved(b, c, e) : r;
}

/* Copies the store of PIN into DIR, which is made; DB gets the path. */
static int copy_store(struct store_pin *pin, const char *dir, char db[PATH_MAX], struct err *e)
{
    int r = io_mkdirs(dir, 0700, e);

    if (r < 0)
        return r;
    if (snprintf(db, PATH_MAX, "%s/" CORE_STORE_FILE, dir) >= PATH_MAX)
        return err_sys(e, -ENAMETOOLONG, "'%s'", dir);
    return store_pin_copy(pin, db, e);
}

void backup_sweep(const struct config *config)
{
    static const char *const dirs[] = {COPIES_DIR, "apps/" INSTANCES_SAVED};
    char path[PATH_MAX];

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        if (snprintf(path, sizeof path, "%s/%s", config->state, dirs[i]) < (int)sizeof path)
            (void)io_remove_tree(path);
}

/* ---- of a running service ---- */

struct backup_take {
    struct core *core;
    backup_take_fn *fn;
    void *ctx;
    bool has_archives, has_saved;
    struct work_pool *pool; /* one thread */
    struct work work;
    struct store_pin *pin;
    struct backup *file;
    struct instances_saved saved;
    struct err err;
    void (*ended)(void *ctx);
};

static void take_free(struct backup_take *t)
{
    if (t->core->backup == t)
        t->core->backup = NULL;
    work_pool_free(t->pool);
    store_pin_free(t->pin);
    backup_free(t->file);
    if (t->has_saved)
        map_done(&t->saved.as_they_are);
    free(t);
}

struct backup *backup_take_file(const struct backup_take *t)
{
    return t->file;
}

int backup_take_run(struct backup_take *t, struct work *w)
{
    return work_submit(t->pool, t->core->loop, w);
}

/* On the thread. */
static void run_gather(struct work *w)
{
    struct backup_take *t = container_of(w, struct backup_take, work);
    const char *state = t->core->config->state;
    const struct contents c = {.state = state, .has_archives = t->has_archives, .saved = &t->saved};
    char dir[PATH_MAX], db[PATH_MAX];

    (void)snprintf(dir, sizeof dir, "%s/" COPIES_DIR, state);
    int r = copy_store(t->pin, dir, db, &t->err);
    store_pin_free(take(t->pin));
    if (r == 0)
        (void)gather_backup(t->file, &c, db, &t->err);
}

static void on_gathered(struct work *w)
{
    struct backup_take *t = container_of(w, struct backup_take, work);

    t->fn(t->ctx, t, t->err.code ? &t->err : NULL);
}

static void on_instances(void *ctx, const struct err *e)
{
    struct backup_take *t = ctx;

    if (e)
        t->err = *e;
    t->work = (struct work){.run = run_gather, .done = on_gathered};
    if (!e && work_submit(t->pool, t->core->loop, &t->work) == 0)
        return;
    if (!e)
        (void)err_sys(&t->err, -EBUSY, "backup");
    t->fn(t->ctx, t, &t->err);
}

static int prepare_backup(struct backup_take *t, struct err *e)
{
    char *path auto_free = NULL;

    backup_sweep(t->core->config);
    if (core_path(t->core->config, CORE_STORE_FILE, &path) < 0)
        return err_sys(e, -ENOMEM, "backup");
    t->file = backup_new(BACKUP_SUMS);
    t->pool = work_pool_new(1, 8, e);
    t->pin = t->file && t->pool ? store_pin(path, e) : NULL;
    if (t->pin)
        return 0;
    return e && e->code ? e->code : err_sys(e, -ENOMEM, "backup");
}

/* The store is fixed here, the instances a moment later in the same turn of the loop: nobody is
 * answered in between, so both show the same moment to whoever waited for an answer. */
struct backup_take *backup_take(struct core *c, bool has_archives, backup_take_fn *fn, void *ctx,
                                struct err *e)
{
    if (c->backup) {
        (void)err_set(e, -EBUSY, "another backup is in progress");
        return NULL;
    }
    struct backup_take *t = mem_zalloc(1, sizeof *t);
    if (!t) {
        (void)err_sys(e, -ENOMEM, "backup");
        return NULL;
    }
    *t = (struct backup_take){.core = c, .fn = fn, .ctx = ctx, .has_archives = has_archives};
    if (prepare_backup(t, e) < 0) {
        take_free(t);
        return NULL;
    }
    c->backup = t;
    t->has_saved = true;
    instances_save(c->instances, &t->saved, on_instances, t);
    return t;
}

static void run_backup_sweep(struct work *w)
{
    struct backup_take *t = container_of(w, struct backup_take, work);

    backup_sweep(t->core->config);
}

static void on_backup_swept(struct work *w)
{
    struct backup_take *t = container_of(w, struct backup_take, work);
    void (*ended)(void *ctx) = t->ended;
    void *ctx = t->ctx;

    take_free(t);
    ended(ctx);
}

static void on_backup_noted(struct store_tx *tx, int result, void *ctx)
{
    (void)tx;
    (void)result;
    (void)ctx;
}

static void note_made(struct core *c, uint64_t bytes)
{
    struct store_tx *tx = store_tx_new();

    metrics_add(c->metrics, METRIC_BACKUPS, 1);
    event_add(tx, EVENT_BACKUP_MADE, STR_NULL, STR("tidepool"), "Backup of %llu bytes taken",
              (unsigned long long)bytes);
    (void)store_submit(c->store, tx, c->loop, on_backup_noted, NULL);
}

void backup_take_end(struct backup_take *t, bool is_done, void (*fn)(void *ctx), void *ctx)
{
    t->ended = fn;
    t->ctx = ctx;
    if (is_done)
        note_made(t->core, backup_size(t->file));
    t->work = (struct work){.run = run_backup_sweep, .done = on_backup_swept};
    if (work_submit(t->pool, t->core->loop, &t->work) < 0)
        on_backup_swept(&t->work);
}

/* ---- of a state directory that no service has ---- */

static int take_cold(const struct config *config, bool has_archives, struct backup_cold *ret,
                     struct err *e)
{
    const struct contents c = {
        .state = config->state, .is_cold = true, .has_archives = has_archives};
    char *path auto_free = NULL, db[PATH_MAX];

    if (core_path(config, CORE_STORE_FILE, &path) < 0 ||
        core_path(config, COPIES_DIR, &ret->dir) < 0)
        return err_sys(e, -ENOMEM, "backup");
    if (access(path, R_OK) < 0)
        return err_sys(e, -errno, "'%s' is not a Tidepool state directory", config->state);
    ret->lock = store_lock(path, e);
    if (ret->lock < 0)
        return ret->lock;
    backup_sweep(config);
    struct store_pin *pin = store_pin(path, e);
    int r = pin ? copy_store(pin, ret->dir, db, e) : -EIO;
    store_pin_free(pin);
    ret->file = r == 0 ? backup_new(BACKUP_SUMS) : NULL;
    if (r == 0 && !ret->file)
        r = err_sys(e, -ENOMEM, "backup");
    return r < 0 ? r : gather_backup(ret->file, &c, db, e);
}

int backup_take_cold(const struct config *config, bool has_archives, struct backup_cold *ret,
                     struct err *e)
{
    *ret = (struct backup_cold){.lock = -1};
    int r = take_cold(config, has_archives, ret, e);

    if (r < 0)
        backup_cold_done(ret);
    return r;
}

void backup_cold_done(struct backup_cold *c)
{
    backup_free(take(c->file));
    if (c->dir)
        (void)io_remove_tree(c->dir);
    free(take(c->dir));
    if (c->lock >= 0)
        (void)close(take_fd(c->lock));
}
