/* SPDX-License-Identifier: MIT */
/* The store of layers: see layer.h. */
#include "runtime/layer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/id.h"
#include "sys/io.h"

#define DRAFT_PREFIX ".new-"

enum { NAME_LEN = 40 };

bool layer_is_id(struct str id)
{
    for (size_t i = 0; i < id.len; i++)
        if (!ascii_is_alnum(id.p[i]) && id.p[i] != '-')
            return false;
    return id.len > 0 && id.len < LAYER_ID_MAX && id.p[0] != '-';
}

static int put_layer_path(char ret[PATH_MAX], const char *state, const char *id, const char *below)
{
    int n = snprintf(ret, PATH_MAX, "%s/" LAYER_FOLDER "/%s%s", state, id, below);

    return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int layer_path(const char *state, const char *id, char ret[PATH_MAX])
{
    return put_layer_path(ret, state, id, "/fs");
}

bool layer_exists(const char *state, const char *id)
{
    char path[PATH_MAX];
    struct stat st;

    return layer_path(state, id, path) == 0 && lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ".new-PROCESS-UNIQUE": what other processes have left can be told from what is being made. */
static void make_layer_name(char out[NAME_LEN])
{
    static char process[9];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char unique[17];

    (void)pthread_mutex_lock(&lock);
    if (!process[0])
        id_hex(process, sizeof process - 1);
    (void)pthread_mutex_unlock(&lock);
    id_hex(unique, sizeof unique - 1);
    (void)snprintf(out, NAME_LEN, DRAFT_PREFIX "%s-%s", process, unique);
}

int layer_retire(const char *state, const char *id, char ret[PATH_MAX])
{
    char path[PATH_MAX], name[NAME_LEN];

    make_layer_name(name);
    if (put_layer_path(path, state, id, "") < 0 || put_layer_path(ret, state, name, "") < 0)
        return -ENAMETOOLONG;
    return rename(path, ret) < 0 ? -errno : 0;
}

static DIR *open_folder(const char *state)
{
    char path[PATH_MAX];

    return put_layer_path(path, state, "", "") == 0 ? opendir(path) : NULL;
}

void layer_each(const char *state, void (*fn)(void *ctx, const char *id), void *ctx)
{
    DIR *dir = open_folder(state);

    for (struct dirent *d; dir && (d = readdir(dir));)
        if (layer_is_id(str_of(d->d_name)))
            fn(ctx, d->d_name);
    if (dir)
        (void)closedir(dir);
}

void layer_sweep(const char *state)
{
    DIR *dir = open_folder(state);
    char own[NAME_LEN], path[PATH_MAX];

    make_layer_name(own);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        bool is_draft = str_starts(str_of(d->d_name), STR(DRAFT_PREFIX));
        bool is_own = strncmp(d->d_name, own, sizeof DRAFT_PREFIX + 8) == 0;
        if (is_draft && !is_own && put_layer_path(path, state, d->d_name, "") == 0)
            (void)io_remove_tree(path);
    }
    if (dir)
        (void)closedir(dir);
}

/* ---- drafts ---- */

int layer_begin(struct layer_draft *d, const char *state, const struct layer_size *max,
                struct err *e)
{
    char folder[PATH_MAX], tree[PATH_MAX], name[NAME_LEN];

    *d = (struct layer_draft){.fd = -1, .state = state, .max = *max, .is_stopped = d->is_stopped};
    make_layer_name(name);
    if (put_layer_path(folder, state, "", "") < 0 || put_layer_path(d->path, state, name, "") < 0 ||
        put_layer_path(tree, state, name, "/fs") < 0)
        return err_sys(e, -ENAMETOOLONG, "layer");
    /* Others must not reach the setuid programs in here. */
    int r = io_mkdirs(folder, 0700, e);
    if (r < 0)
        return r;
    if (mkdir(d->path, 0700) < 0)
        return err_sys(e, -errno, "create '%s'", d->path);
    if (mkdir(tree, 0755) < 0 || chmod(tree, 0755) < 0) {
        r = err_sys(e, -errno, "create '%s'", tree);
        layer_drop(d);
        return r;
    }
    d->fd = io_open(tree, O_RDONLY | O_DIRECTORY, 0);
    if (d->fd >= 0)
        return 0;
    r = err_sys(e, d->fd, "open '%s'", tree);
    layer_drop(d);
    return r;
}

int layer_commit(struct layer_draft *d, const char *id, bool is_durable, struct err *e)
{
    char path[PATH_MAX];
    int r = put_layer_path(path, d->state, id, "");

    if (r == 0 && is_durable && syncfs(d->fd) < 0)
        r = -errno;
    if (r == 0 && !layer_exists(d->state, id) && rename(d->path, path) < 0)
        r = -errno;
    if (r == 0 && is_durable)
        r = io_sync_parent(path);
    layer_drop(d);
    return r < 0 ? err_sys(e, r, "layer '%s'", id) : 0;
}

void layer_drop(struct layer_draft *d)
{
    close_p(&d->fd);
    d->fd = -1;
    if (d->path[0])
        (void)io_remove_tree(d->path);
    d->path[0] = '\0';
}

int layer_count(struct layer_draft *d, uint64_t len, bool is_part, struct err *e)
{
    d->size.bytes += len;
    d->size.n_files += is_part ? 0 : 1;
    if (d->is_stopped && __atomic_load_n(d->is_stopped, __ATOMIC_RELAXED))
        return err_sys(e, -ECANCELED, "layer");
    if (d->size.n_files > d->max.n_files)
        return err_set(e, -EMFILE, "more than %llu files", (unsigned long long)d->max.n_files);
    if (d->size.bytes > d->max.bytes)
        return err_set(e, -EFBIG, "larger than %llu bytes", (unsigned long long)d->max.bytes);
    return 0;
}
