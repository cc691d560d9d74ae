/* SPDX-License-Identifier: MIT */
#include "api/local/vault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/local/local.h"
#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "loop/work.h"
#include "sys/io.h"

enum {
    THREADS = 4,
    JOBS_MAX = 1024,
    FIRST_SWEEP_MS = 500, /* when the sandboxes of the last start are known */
    SWEEP_MS = 60000,
    FILES_MAX = 100000,
    SWEEP_BYTES = 1 << 20 /* a file of that size may have taken the place of another */
};

struct vault {
    struct locals *locals;
    struct loop *loop;
    struct work_pool *pool;
    struct loop_timer timer;
    struct sweep *sweep; /* under way */
    bool sweeps_again;
    struct vault_uses *uses;
    char dir[PATH_MAX];
};

/* A file that was found. */
struct vault_found {
    char file[LOCAL_ID_LEN + VAULT_NAME_MAX + 2];
    int64_t age_s, size;
    bool is_unwanted;
};

struct sweep {
    struct work work;
    struct vault *vault;
    struct vault_found *items;
    size_t n;
};

/* ---- names ---- */

void vault_path(const struct vault *v, struct str id, const char *name, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s/" STR_FMT ".%s", v->dir, STR_ARG(id), name);
}

static void new_part(char name[VAULT_NAME_MAX])
{
    char hex[17];

    id_hex(hex, 16);
    hex[16] = '\0';
    (void)snprintf(name, VAULT_NAME_MAX, "part-%s", hex);
}

int vault_create(const struct vault *v, struct str id, char name[VAULT_NAME_MAX])
{
    char path[PATH_MAX];

    new_part(name);
    vault_path(v, id, name, path);
    return io_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
}

int vault_open(const struct vault *v, struct str id, const char *name, uint64_t *ret_size)
{
    char path[PATH_MAX];
    struct stat st;

    vault_path(v, id, name, path);
    int fd = io_open(path, O_RDONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0) {
        int r = -errno;
        (void)close(fd);
        return r;
    }
    *ret_size = (uint64_t)st.st_size;
    return fd;
}

bool vault_has(const struct vault *v, struct str id, const char *name)
{
    char path[PATH_MAX];

    vault_path(v, id, name, path);
    return access(path, F_OK) == 0;
}

int vault_rename(const struct vault *v, struct str id, const char *from, const char *to)
{
    char old[PATH_MAX], new[PATH_MAX];

    vault_path(v, id, from, old);
    vault_path(v, id, to, new);
    return rename(old, new) < 0 ? -errno : 0;
}

int vault_link(const struct vault *v, struct str id, const char *from, char name[VAULT_NAME_MAX])
{
    char old[PATH_MAX], new[PATH_MAX];

    new_part(name);
    vault_path(v, id, from, old);
    vault_path(v, id, name, new);
    return link(old, new) < 0 ? -errno : 0;
}

void vault_init_name(unsigned i, char name[VAULT_NAME_MAX])
{
    (void)snprintf(name, VAULT_NAME_MAX, "init-%03u", i);
}

unsigned vault_n_inits(const struct vault *v, struct str id)
{
    char name[VAULT_NAME_MAX];

    for (unsigned i = 0; i < VAULT_INITS_MAX; i++) {
        vault_init_name(i, name);
        if (!vault_has(v, id, name))
            return i;
    }
    return VAULT_INITS_MAX;
}

struct vault_use vault_begin(struct vault *v, struct str id)
{
    const struct sandbox *sb = locals_find(v->locals, id);

    return sb ? vault_use_begin(v->uses, sb->account) : (struct vault_use){0};
}

void vault_end(struct vault *v, struct vault_use *use, bool is_kept)
{
    bool is_large = is_kept && use->taken >= SWEEP_BYTES;

    vault_use_end(use, is_kept);
    if (is_large)
        vault_sweep(v);
}

struct work_pool *vault_pool(const struct vault *v)
{
    return v->pool;
}

/* ---- keeping ---- */

struct keeping {
    struct work work;
    struct vault *vault;
    char id[LOCAL_ID_LEN + 1], part[VAULT_NAME_MAX], to[VAULT_NAME_MAX];
    int result;
    spool_fn *fn;
    void *ctx;
    char *data; /* of a small file */
};

static int sync_file(const char *path)
{
    auto_close int fd = io_open(path, O_RDONLY, 0);

    return fd < 0 ? fd : fsync(fd) < 0 ? -errno : 0;
}

static void keep_file(struct work *w)
{
    struct keeping *k = container_of(w, struct keeping, work);
    char part[PATH_MAX], upload[PATH_MAX], kept[PATH_MAX], name[VAULT_NAME_MAX];
    struct stat a, b;
    struct str id = str_of(k->id);

    vault_init_name(vault_n_inits(k->vault, id), name);
    vault_path(k->vault, id, k->part, part);
    vault_path(k->vault, id, "upload", upload);
    vault_path(k->vault, id, name, kept);
    k->result = sync_file(part);
    if (k->result == 0 && rename(part, kept) < 0)
        k->result = -errno;
    bool is_same = stat(kept, &a) == 0 && stat(upload, &b) == 0 && a.st_ino == b.st_ino;
    if (k->result == 0 && is_same && unlink(upload) < 0)
        k->result = -errno;
    if (k->result == 0)
        k->result = io_sync_parent(kept);
}

static void publish_file(struct work *w)
{
    struct keeping *k = container_of(w, struct keeping, work);
    char part[PATH_MAX], path[PATH_MAX];

    vault_path(k->vault, str_of(k->id), k->part, part);
    vault_path(k->vault, str_of(k->id), k->to, path);
    k->result = sync_file(part);
    if (k->result == 0 && rename(part, path) < 0)
        k->result = -errno;
    if (k->result == 0)
        k->result = io_sync_parent(path);
}

static void on_vault_kept(struct work *w)
{
    struct keeping *k = container_of(w, struct keeping, work);

    k->fn(k->ctx, k->result);
    free(k->data);
    free(k);
}

static void write_file(struct work *w)
{
    struct keeping *k = container_of(w, struct keeping, work);
    char path[PATH_MAX];

    vault_path(k->vault, str_of(k->id), k->part, path);
    k->result = io_write_file(path, str_of(k->data), 0600, NULL);
}

static void submit_keeping(struct keeping *k)
{
    k->work.done = on_vault_kept;
    k->result = work_submit(k->vault->pool, k->vault->loop, &k->work);
    if (k->result < 0)
        on_vault_kept(&k->work);
}

static struct keeping *new_keeping(struct vault *v, struct str id, const char *name, spool_fn *fn,
                                   void *ctx)
{
    struct keeping *k = mem_zalloc(1, sizeof *k);

    if (!k)
        return NULL;
    k->vault = v;
    k->fn = fn;
    k->ctx = ctx;
    (void)snprintf(k->id, sizeof k->id, STR_FMT, STR_ARG(id));
    (void)snprintf(k->part, sizeof k->part, "%s", name);
    return k;
}

void vault_keep(struct vault *v, struct str id, const char *part, spool_fn *fn, void *ctx)
{
    struct keeping *k = new_keeping(v, id, part, fn, ctx);

    if (!k) {
        fn(ctx, -ENOMEM);
        return;
    }
    k->work.run = keep_file;
    submit_keeping(k);
}

void vault_publish(struct vault *v, const struct vault_move *m, spool_fn *fn, void *ctx)
{
    struct keeping *k = new_keeping(v, m->id, m->from, fn, ctx);

    if (!k) {
        fn(ctx, -ENOMEM);
        return;
    }
    (void)snprintf(k->to, sizeof k->to, "%s", m->to);
    k->work.run = publish_file;
    submit_keeping(k);
}

void vault_write(struct vault *v, const struct vault_file *f, spool_fn *fn, void *ctx)
{
    struct keeping *k = new_keeping(v, f->id, f->name, fn, ctx);

    if (k)
        k->data = mem_strndup(f->data.p, f->data.len);
    if (!k || !k->data) {
        free(k);
        fn(ctx, -ENOMEM);
        return;
    }
    k->work.run = write_file;
    submit_keeping(k);
}

/* Its directory may be long: a thread looks through it. */
static void limit_dumps(struct work *w)
{
    struct keeping *k = container_of(w, struct keeping, work);
    DIR *dir = opendir(k->vault->dir);
    char oldest[NAME_MAX + 1] = "";
    time_t when = 0;
    unsigned n = 0;

    for (struct dirent *d; dir && (d = readdir(dir));) {
        struct stat st;
        if (!str_starts(str_of(d->d_name), str_of(k->id)) ||
            strncmp(d->d_name + LOCAL_ID_LEN, ".dump-", 6) != 0 ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (n++ == 0 || st.st_mtime < when) {
            when = st.st_mtime;
            (void)snprintf(oldest, sizeof oldest, "%s", d->d_name);
        }
    }
    if (n >= VAULT_DUMPS_MAX)
        (void)unlinkat(dirfd(dir), oldest, 0);
    if (dir)
        (void)closedir(dir);
}

static void on_limited(void *ctx, int result)
{
    (void)ctx;
    (void)result; /* the next dump, or the next sweep, looks again */
}

void vault_limit_dumps(struct vault *v, struct str id)
{
    struct keeping *k = new_keeping(v, id, "", on_limited, NULL);

    if (!k)
        return;
    k->work.run = limit_dumps;
    submit_keeping(k);
}

/* ---- removing ---- */

void vault_unlink(const struct vault *v, struct str id, const char *name)
{
    char path[PATH_MAX];

    vault_path(v, id, name, path);
    (void)unlink(path);
}

struct vault_removal {
    struct work work;
    char path[PATH_MAX];
};

static void remove_vault_file(struct work *w)
{
    (void)unlink(container_of(w, struct vault_removal, work)->path);
}

static void free_removal(struct work *w)
{
    free(container_of(w, struct vault_removal, work));
}

void vault_remove(struct vault *v, struct str id, const char *name)
{
    struct vault_removal *m = mem_zalloc(1, sizeof *m);

    if (!m)
        return; /* the next sweep finds it */
    vault_path(v, id, name, m->path);
    m->work.run = remove_vault_file;
    m->work.done = free_removal;
    if (work_submit(v->pool, v->loop, &m->work) < 0)
        free(m);
}

/* ---- sweeping ---- */

static bool add_found(struct sweep *s, size_t *cap, const char *file, const struct stat *st)
{
    if (s->n == *cap) {
        size_t n = *cap ? 2 * *cap : 64;
        struct vault_found *items = mem_realloc(s->items, n * sizeof *items);
        if (!items)
            return false;
        s->items = items;
        *cap = n;
    }
    struct vault_found *f = &s->items[s->n++];
    *f = (struct vault_found){.age_s = time(NULL) - st->st_mtime, .size = st->st_size};
    (void)snprintf(f->file, sizeof f->file, "%s", file);
    return true;
}

static void look_for_archives(struct work *w)
{
    struct sweep *s = container_of(w, struct sweep, work);
    DIR *dir = opendir(s->vault->dir);
    size_t cap = 0;

    for (struct dirent *d; dir && s->n < FILES_MAX && (d = readdir(dir));) {
        struct stat st;
        if (strlen(d->d_name) <= LOCAL_ID_LEN || d->d_name[LOCAL_ID_LEN] != '.' ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (!add_found(s, &cap, d->d_name, &st))
            break;
    }
    if (dir)
        (void)closedir(dir);
}

static void sweep_away(struct work *w)
{
    struct sweep *s = container_of(w, struct sweep, work);
    char path[PATH_MAX];

    for (size_t i = 0; i < s->n; i++) {
        if (!s->items[i].is_unwanted)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", s->vault->dir, s->items[i].file);
        (void)unlink(path);
    }
}

static void end_vault_sweep(struct work *w)
{
    struct sweep *s = container_of(w, struct sweep, work);
    struct vault *v = s->vault;

    free(s->items);
    free(s);
    v->sweep = NULL;
    if (take(v->sweeps_again))
        vault_sweep(v);
}

/* What is not complete counts where it comes from. */
static void count_found_archive(struct vault *v, const struct vault_found *f)
{
    const struct sandbox *sb = locals_find(v->locals, str_n(f->file, LOCAL_ID_LEN));

    if (sb && !f->is_unwanted && strncmp(f->file + LOCAL_ID_LEN, ".part-", 6) != 0)
        vault_uses_found(v->uses, sb->account, f->size);
}

/* Back on the loop's thread, which knows the sandboxes. */
static void judge_found_archives(struct work *w)
{
    struct sweep *s = container_of(w, struct sweep, work);
    bool is_any = false;

    for (size_t i = 0; i < s->n; i++) {
        struct vault_found *f = &s->items[i];
        const char *name = f->file + LOCAL_ID_LEN + 1;
        bool is_lent = strncmp(name, "dump-", 5) == 0 || strncmp(name, "part-", 5) == 0;
        f->is_unwanted = !locals_knows(s->vault->locals, str_n(f->file, LOCAL_ID_LEN)) ||
                         (is_lent && f->age_s > VAULT_KEEP_S);
        is_any = is_any || f->is_unwanted;
        count_found_archive(s->vault, f);
    }
    vault_uses_apply(s->vault->uses);
    s->work.run = sweep_away;
    s->work.done = end_vault_sweep;
    if (!is_any || work_submit(s->vault->pool, s->vault->loop, &s->work) < 0)
        end_vault_sweep(&s->work);
}

static void on_vault_timer(struct loop_timer *t)
{
    struct vault *v = container_of(t, struct vault, timer);

    (void)loop_timer_start(v->loop, &v->timer, SWEEP_MS, on_vault_timer);
    vault_sweep(v);
}

void vault_sweep(struct vault *v)
{
    struct sweep *s = v->sweep ? NULL : mem_zalloc(1, sizeof *s);

    v->sweeps_again = v->sweep;
    if (!s)
        return;
    s->vault = v;
    s->work.run = look_for_archives;
    s->work.done = judge_found_archives;
    vault_uses_look(v->uses);
    if (work_submit(v->pool, v->loop, &s->work) < 0)
        free(s);
    else
        v->sweep = s;
}

/* ---- the vault ---- */

void vault_each(struct vault *v, const char *name, void (*fn)(void *ctx, struct str id), void *ctx)
{
    DIR *dir = opendir(v->dir);

    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (strlen(d->d_name) > LOCAL_ID_LEN && d->d_name[LOCAL_ID_LEN] == '.' &&
            strcmp(d->d_name + LOCAL_ID_LEN + 1, name) == 0)
            fn(ctx, str_n(d->d_name, LOCAL_ID_LEN));
    }
    if (dir)
        (void)closedir(dir);
}

/* What was not complete when the service ended never will be. */
static void remove_parts(struct vault *v)
{
    DIR *dir = opendir(v->dir);

    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (strlen(d->d_name) > LOCAL_ID_LEN + 6 &&
            strncmp(d->d_name + LOCAL_ID_LEN, ".part-", 6) == 0)
            (void)unlinkat(dirfd(dir), d->d_name, 0);
    }
    if (dir)
        (void)closedir(dir);
}

struct vault *vault_new(struct locals *locals, struct core *core, const char *dir, struct err *e)
{
    struct vault *v = mem_zalloc(1, sizeof *v);

    if (!v) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    v->locals = locals;
    v->loop = core->loop;
    v->uses = vault_uses_new(core);
    (void)snprintf(v->dir, sizeof v->dir, "%s", dir);
    if (v->uses && io_mkdirs(dir, 0700, e) == 0)
        v->pool = work_pool_new(THREADS, JOBS_MAX, e);
    if (!v->pool) {
        vault_uses_free(v->uses);
        free(v);
        return NULL;
    }
    remove_parts(v);
    (void)loop_timer_start(v->loop, &v->timer, FIRST_SWEEP_MS, on_vault_timer);
    return v;
}

void vault_free(struct vault *v)
{
    if (!v)
        return;
    loop_timer_stop(&v->timer);
    work_pool_free(v->pool);
    if (v->sweep) {
        work_take_back(&v->sweep->work);
        free(v->sweep->items);
        free(v->sweep);
    }
    vault_uses_free(v->uses);
    free(v);
}
