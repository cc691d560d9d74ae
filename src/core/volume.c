/* SPDX-License-Identifier: MIT */
/* Volumes: see volume.h. A row is written when the files are there, and they go after the row: what
 * a crash leaves between the two is files without a row, which the next start removes. */
#include "core/volume.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/disk_guard.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/sandbox.h"
#include "core/sandbox_volume.h"
#include "loop/work.h"
#include "runtime/disk.h"
#include "runtime/engine.h"
#include "runtime/volume.h"
#include "store/store.h"
#include "sys/io.h"

DEFINE_CLEANUP(struct store_tx *, store_tx_free)

#define VOLUMES_DIR "volumes"

enum {
    PAGE_ROWS = 256,
    MAX_JOBS = 4096,
    THREADS = 2,
    RESERVE = 4,
    OVERDUE = 16,
    JOB_MS = 5000,
    TICK_MS = 1000,
    LOCKS = 64
};

struct volumes {
    struct core *core;
    struct list all; /* struct volume */
    struct work_pool *workers;
    struct loop_timer tick;
    /* Of volume_open(), by the volume: nobody waits while another's is made or looked for. */
    pthread_mutex_t locks[LOCKS];
    char dir[PATH_MAX];
};

/* ---- finding ---- */

struct volume *volume_next(const struct volumes *set, const struct volume *v)
{
    const struct list *node = v ? v->node.next : set->all.next;

    for (; node != &set->all; node = node->next) {
        struct volume *next = list_entry((struct list *)(uintptr_t)node, struct volume, node);
        if (next->is_ready)
            return next;
    }
    return NULL;
}

struct volume *volume_find(const struct volumes *set, struct str id)
{
    for (struct volume *v = NULL; (v = volume_next(set, v));)
        if (str_is(id, v->id))
            return v;
    return NULL;
}

struct volume *volume_by_name(const struct volumes *set, struct str account, struct str name)
{
    for (struct volume *v = NULL; (v = volume_next(set, v));)
        if (str_is(account, v->account) && str_is(name, v->name))
            return v;
    return NULL;
}

/* Also one that is being made or deleted has its name. */
static bool is_name_taken(const struct volumes *set, const char *account, const char *name)
{
    list_each(node, &set->all)
    {
        const struct volume *v = list_entry(node, struct volume, node);
        if (strcmp(v->account, account) == 0 && strcmp(v->name, name) == 0)
            return true;
    }
    return false;
}

static bool volume_name_is_valid(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!ascii_is_alnum(name.p[i]) && name.p[i] != '-' && name.p[i] != '_')
            return false;
    return name.len > 0 && name.len <= VOLUME_NAME_MAX;
}

/* ---- files ---- */

struct work_pool *volumes_pool(const struct volumes *set)
{
    return set->workers;
}

/* Ids are random. */
static pthread_mutex_t *find_volume_lock(const struct volume *v)
{
    unsigned n = (unsigned)v->id[0] * 16 + (unsigned)v->id[1];

    return &v->set->locks[n % LOCKS];
}

int volume_way(const struct volume *v, struct volume_way *ret, struct err *e)
{
    struct engine *engine = sandboxes_engine(v->set->core->sandboxes, e);

    if (!engine)
        return -ENOTCONN;
    (void)snprintf(ret->owner, sizeof ret->owner, "%s", engine_owner(engine));
    (void)snprintf(ret->id, sizeof ret->id, "%s", v->id);
    ret->lock = find_volume_lock(v);
    if (snprintf(ret->path, sizeof ret->path, "%s/%s", v->set->dir, v->id) >= (int)sizeof ret->path)
        return err_sys(e, -ENAMETOOLONG, "volume");
    return 0;
}

static struct volume_place way_place_of(const struct volume_way *w)
{
    return (struct volume_place){.path = w->path, .owner = w->owner, .id = w->id};
}

int volume_way_open(const struct volume_way *w, struct err *e)
{
    struct volume_place p = way_place_of(w);

    (void)pthread_mutex_lock(w->lock);
    int fd = volume_open(&p, e);
    (void)pthread_mutex_unlock(w->lock);
    return fd;
}

/* ---- making ---- */

struct volume_change {
    struct work work;
    struct volume *v;
    struct volume_way way;
    uint64_t bytes;
    volume_fn *fn;
    void *ctx;
    struct err e;
};

static void volume_free(struct volume *v)
{
    if (v->tally)
        tally_give(v->tally, 1);
    if (v->disk_tally)
        tally_give(v->disk_tally, (int64_t)v->bytes);
    list_del(&v->node);
    mem_wipe(v->token, sizeof v->token);
    free(v);
}

static void run_remove(struct work *w)
{
    struct volume_change *c = container_of(w, struct volume_change, work);
    struct volume_place p = way_place_of(&c->way);

    (void)volume_remove(&p, NULL);
}

static void on_volume_removed(struct work *w)
{
    free(container_of(w, struct volume_change, work));
}

/* The files go, whoever waits or not; what cannot be removed now is removed by the next start. */
static void remove_volume_files(struct volume_change *c)
{
    struct volumes *set = c->v->set;

    c->work.run = run_remove;
    c->work.done = on_volume_removed;
    c->work.owner = STR_NULL;
    if (!set->workers || work_submit(set->workers, set->core->loop, &c->work) < 0)
        free(c);
}

static void fail_create(struct volume_change *c)
{
    struct volume *v = c->v;

    c->fn(c->ctx, NULL, &c->e);
    remove_volume_files(c);
    volume_free(v);
}

static void on_inserted(struct store_tx *tx, int result, void *ctx)
{
    struct volume_change *c = ctx;

    (void)tx;
    if (result < 0) {
        (void)err_sys(&c->e, result, "store");
        fail_create(c);
        return;
    }
    c->v->is_ready = true;
    c->fn(c->ctx, c->v, NULL);
    free(c);
}

static int submit_row(struct volume_change *c)
{
    const struct volume *v = c->v;
    struct core *core = v->set->core;
    struct store_tx *tx = store_tx_new();

    store_tx_add(tx, STORE_VOLUME_INSERT);
    store_tx_text(tx, str_of(v->id));
    store_tx_text(tx, str_of(v->account));
    store_tx_text(tx, str_of(v->name));
    store_tx_text(tx, str_of(v->token));
    store_tx_int(tx, (int64_t)v->bytes);
    store_tx_int(tx, v->created_us);
    event_add(tx, EVENT_VOLUME_CREATED, str_of(v->account), str_of(v->name), "Volume %s created",
              v->name);
    return store_submit(core->store, tx, core->loop, on_inserted, c);
}

static void run_volume_make(struct work *w)
{
    struct volume_change *c = container_of(w, struct volume_change, work);
    struct volume_place p = way_place_of(&c->way);

    (void)pthread_mutex_lock(c->way.lock);
    (void)volume_make(&p, c->bytes, &c->e);
    (void)pthread_mutex_unlock(c->way.lock);
}

static void on_volume_made(struct work *w)
{
    struct volume_change *c = container_of(w, struct volume_change, work);

    if (w->is_dropped)
        (void)err_set(&c->e, -ESHUTDOWN, "the service is stopping");
    int r = c->e.code ? 0 : submit_row(c);
    if (r < 0)
        (void)err_sys(&c->e, r, "store");
    if (c->e.code)
        fail_create(c);
}

/* Where the files of sandboxes are in plain directories, because the operator said so, those of
 * volumes are as well. */
static int choose_size(const struct volumes *set, uint64_t *ret_bytes, struct err *e)
{
    const struct config *config = set->core->config;
    struct disk_spec image = {.kind = DISK_IMAGE, .bytes = (uint64_t)config->cells.volume_disk};

    *ret_bytes = image.bytes;
    if (config->cells.disk_kind == CONFIG_DISK_DIR || config->cells.allow_unenforced) {
        if (!disk_can(&image, config->state, NULL) || config->cells.disk_kind == CONFIG_DISK_DIR)
            *ret_bytes = 0;
        return 0;
    }
    if (disk_can(&image, config->state, e))
        return 0;
    return err_ctx(e, -EOPNOTSUPP, "this host cannot limit the size of volumes");
}

static int take_limits(struct volume *v, struct account *account, struct err *e)
{
    struct limits *l = v->set->core->limits;
    int r = limits_take(l, account, LIMIT_ACCOUNT_VOLUMES, 1, e);

    if (r < 0)
        return r;
    v->tally = limits_tally(l, account, LIMIT_ACCOUNT_VOLUMES);
    r = limits_take(l, account, LIMIT_ACCOUNT_DISK, (int64_t)v->bytes, e);
    if (r == 0)
        v->disk_tally = limits_tally(l, account, LIMIT_ACCOUNT_DISK);
    return r;
}

/* What can be said without the disk. */
static int check_create(const struct volumes *set, const struct account_key *key, struct str name,
                        struct err *e)
{
    struct str shown = str_slice(name, 0, 100);

    if (!volume_name_is_valid(name))
        return err_set(e, -EINVAL,
                       "Invalid volume name \"" STR_FMT
                       "\": use 1 to %d letters, digits, '-' and '_'",
                       STR_ARG(shown), VOLUME_NAME_MAX);
    char text[VOLUME_NAME_MAX + 1];
    (void)snprintf(text, sizeof text, STR_FMT, STR_ARG(name));
    if (is_name_taken(set, key->account->id, text))
        return err_set(e, -EEXIST, "Volume with name '" STR_FMT "' already exists", STR_ARG(shown));
    return disk_guard_check(set->core->disk_guard, e);
}

static struct volume *volume_new(struct volumes *set)
{
    struct volume *v = mem_zalloc(1, sizeof *v);

    if (v) {
        v->set = set;
        list_append(&set->all, &v->node);
    }
    return v;
}

static int start_create(struct volume_change *c, struct err *e)
{
    struct volumes *set = c->v->set;
    int r = volume_way(c->v, &c->way, e);

    if (r < 0)
        return r;
    c->bytes = c->v->bytes;
    c->work = (struct work){
        .run = run_volume_make, .done = on_volume_made, .owner = str_of(c->v->account)};
    r = work_submit(set->workers, set->core->loop, &c->work);
    return r < 0 ? err_sys(e, r, "volume") : 0;
}

/* NOLINTNEXTLINE(readability-function-size): whose, which, and whom to notify */
int volume_create(struct volumes *set, const struct account_key *key, struct str name,
                  volume_fn *fn, void *ctx, struct err *e)
{
    int r = check_create(set, key, name, e);

    if (r < 0)
        return r;
    struct volume *v = volume_new(set);
    struct volume_change *c = mem_zalloc(1, sizeof *c);
    if (!v || !c) {
        if (v)
            volume_free(v);
        free(c);
        return -ENOMEM;
    }
    *c = (struct volume_change){.v = v, .fn = fn, .ctx = ctx};
    id_hex(v->id, VOLUME_ID_LEN);
    id_hex(v->token, VOLUME_TOKEN_LEN);
    v->created_us = clock_real_us();
    (void)snprintf(v->account, sizeof v->account, "%s", key->account->id);
    (void)snprintf(v->name, sizeof v->name, STR_FMT, STR_ARG(name));
    r = choose_size(set, &v->bytes, e);
    if (r == 0)
        r = take_limits(v, key->account, e);
    if (r == 0)
        r = start_create(c, e);
    if (r < 0) {
        volume_free(v);
        free(c);
    }
    return r;
}

/* ---- deleting ---- */

static void on_volume_row_deleted(struct store_tx *tx, int result, void *ctx)
{
    struct volume_change *c = ctx;
    struct volume *v = c->v;

    (void)tx;
    if (result < 0) {
        v->is_ready = true;
        (void)err_sys(&c->e, result, "store");
        c->fn(c->ctx, NULL, &c->e);
        free(c);
        return;
    }
    c->fn(c->ctx, v, NULL);
    remove_volume_files(c);
    volume_free(v);
}

int volume_delete(struct volume *v, volume_fn *fn, void *ctx, struct err *e)
{
    struct core *core = v->set->core;
    const struct sandbox *user = sandbox_of_volume(core->sandboxes, v);

    if (user)
        return err_set(e, -EBUSY, "Volume '%s' is in use by sandbox %s", v->name, user->id);
    struct volume_change *c = mem_zalloc(1, sizeof *c);
    int r = c ? volume_way(v, &c->way, e) : -ENOMEM;
    if (r < 0) {
        free(c);
        return r;
    }
    c->v = v;
    c->fn = fn;
    c->ctx = ctx;
    struct store_tx *tx = store_tx_new();
    store_tx_add(tx, STORE_VOLUME_DELETE);
    store_tx_text(tx, str_of(v->id));
    event_add(tx, EVENT_VOLUME_DELETED, str_of(v->account), str_of(v->name), "Volume %s deleted",
              v->name);
    r = store_submit(core->store, tx, core->loop, on_volume_row_deleted, c);
    if (r < 0) {
        free(c);
        return err_sys(e, r, "store");
    }
    v->is_ready = false;
    return 0;
}

/* ---- the set ---- */

static void copy_volume_text(char *to, size_t size, struct str from)
{
    (void)snprintf(to, size, STR_FMT, STR_ARG(from));
}

static int enter_volume_row(struct volumes *set, const struct store_value *cols)
{
    struct volume *v = volume_new(set);

    if (!v)
        return -ENOMEM;
    copy_volume_text(v->id, sizeof v->id, cols[0].s);
    copy_volume_text(v->account, sizeof v->account, cols[1].s);
    copy_volume_text(v->name, sizeof v->name, cols[2].s);
    copy_volume_text(v->token, sizeof v->token, cols[3].s);
    v->bytes = (uint64_t)cols[4].i;
    v->created_us = cols[5].i;
    v->is_ready = true;
    /* It is there already: no limit is asked. */
    struct account *account = accounts_account(set->core->accounts, str_of(v->account));
    v->tally = limits_tally(set->core->limits, account, LIMIT_ACCOUNT_VOLUMES);
    v->disk_tally = limits_tally(set->core->limits, account, LIMIT_ACCOUNT_DISK);
    tally_add(v->tally, 1);
    tally_add(v->disk_tally, (int64_t)v->bytes);
    return 0;
}

static int load_rows(struct volumes *set, struct err *e)
{
    char after[VOLUME_ID_LEN + 1] = "";

    for (;;) {
        struct store_tx *tx auto_(store_tx_free) = store_tx_new();
        store_tx_add(tx, STORE_VOLUME_PAGE);
        store_tx_text(tx, str_of(after));
        store_tx_int(tx, PAGE_ROWS);
        int r = store_run(set->core->store, tx, e);
        size_t n = r < 0 ? 0 : store_tx_n_rows(tx, 0);
        for (size_t i = 0; r == 0 && i < n; i++) {
            const struct store_value *cols = store_tx_row(tx, 0, i).cols;
            r = enter_volume_row(set, cols);
            copy_volume_text(after, sizeof after, cols[0].s);
        }
        if (r < 0)
            return err_ctx(e, r, "volumes");
        if (n < PAGE_ROWS)
            return 0;
    }
}

static bool has_files(const struct volume *v)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s.img", v->set->dir, v->id) >= (int)sizeof path)
        return false;
    if (access(path, F_OK) == 0)
        return true;
    path[strlen(path) - strlen(".img")] = '\0';
    return access(path, F_OK) == 0;
}

/* Backups do not have the files of volumes: after a restore there are rows without them. */
static int drop_lost(struct volumes *set, struct err *e)
{
    for (struct list *node = set->all.next, *next; node != &set->all; node = next) {
        struct volume *v = list_entry(node, struct volume, node);
        next = node->next;
        if (has_files(v))
            continue;
        struct store_tx *tx auto_(store_tx_free) = store_tx_new();
        store_tx_add(tx, STORE_VOLUME_DELETE);
        store_tx_text(tx, str_of(v->id));
        event_add(tx, EVENT_VOLUME_LOST, str_of(v->account), str_of(v->name),
                  "Volume %s was lost: its files are not in the state directory", v->name);
        int r = store_run(set->core->store, tx, e);
        if (r < 0)
            return r;
        volume_free(v);
    }
    return 0;
}

/* What a crash left while a volume was made or deleted. */
static void sweep_volume_files(const struct volumes *set)
{
    DIR *dir = opendir(set->dir);

    for (const struct dirent *d; dir && (d = readdir(dir));) {
        struct str rest = str_of(d->d_name), id = str_cut(&rest, '.');
        char path[PATH_MAX];
        if (d->d_name[0] == '.' || volume_find(set, id) ||
            snprintf(path, sizeof path, "%s/%s", set->dir, d->d_name) >= (int)sizeof path)
            continue;
        (void)io_remove_tree(path);
    }
    if (dir)
        (void)closedir(dir);
}

/* Jobs that take long give their threads' places to others. */
static void on_volumes_tick(struct loop_timer *t)
{
    struct volumes *set = container_of(t, struct volumes, tick);

    work_pool_look(set->workers);
    (void)loop_timer_start(set->core->loop, t, TICK_MS, on_volumes_tick);
}

static int prepare_set(struct volumes *set, struct err *e)
{
    const struct work_opts o = {.n = THREADS,
                                .n_reserve = RESERVE,
                                .n_overdue = OVERDUE,
                                .max_queued = MAX_JOBS,
                                .max_ms = JOB_MS};

    if (snprintf(set->dir, sizeof set->dir, "%s/" VOLUMES_DIR, set->core->config->state) >=
        (int)sizeof set->dir)
        return err_sys(e, -ENAMETOOLONG, "volumes");
    int r = io_mkdirs(set->dir, 0700, e);
    if (r == 0)
        r = load_rows(set, e);
    if (r == 0)
        r = drop_lost(set, e);
    if (r < 0)
        return r;
    sweep_volume_files(set);
    set->workers = work_pool_make(&o, e);
    if (!set->workers)
        return err_ctx(e, -EAGAIN, "volumes");
    return loop_timer_start(set->core->loop, &set->tick, TICK_MS, on_volumes_tick);
}

struct volumes *volumes_open(struct core *c, struct err *e)
{
    struct volumes *set = mem_zalloc(1, sizeof *set);

    if (!set) {
        (void)err_sys(e, -ENOMEM, "volumes");
        return NULL;
    }
    set->core = c;
    list_init(&set->all);
    for (size_t i = 0; i < LOCKS; i++)
        (void)pthread_mutex_init(&set->locks[i], NULL);
    if (prepare_set(set, e) < 0) {
        volumes_free(set);
        return NULL;
    }
    return set;
}

void volumes_stop(struct volumes *set)
{
    if (!set)
        return;
    loop_timer_stop(&set->tick);
    work_pool_free(take(set->workers));
}

void volumes_free(struct volumes *set)
{
    if (!set)
        return;
    volumes_stop(set);
    while (!list_is_empty(&set->all)) {
        struct volume *v = list_entry(set->all.next, struct volume, node);
        v->tally = v->disk_tally = NULL;
        volume_free(v);
    }
    for (size_t i = 0; i < LOCKS; i++)
        (void)pthread_mutex_destroy(&set->locks[i]);
    free(set);
}
