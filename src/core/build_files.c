/* SPDX-License-Identifier: MIT */
/* The files of COPY steps: STATE/builds/ACCOUNT.HASH, an archive for each hash. They are a cache:
 * the oldest go, and clients upload again what is missing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/build_internal.h"
#include "core/core.h"
#include "core/limits.h"
#include "loop/work.h"

/* COUNTED_MIN: many small ones are a burden, too. */
enum { HASH_LEN = 64, COUNTED_MIN = 1 << 20 };

int build_file_path(const struct builds *set, const char *account, struct str hash,
                    char ret[PATH_MAX])
{
    for (size_t i = 0; i < hash.len; i++)
        if (!(hash.p[i] >= '0' && hash.p[i] <= '9') && !(hash.p[i] >= 'a' && hash.p[i] <= 'f'))
            return -EINVAL;
    if (hash.len != HASH_LEN ||
        snprintf(ret, PATH_MAX, "%s/%s." STR_FMT, set->dir, account, STR_ARG(hash)) >= PATH_MAX)
        return -EINVAL;
    return 0;
}

/* True when NAME is ACCOUNT.HASH; ACCOUNT NULL: of anybody. */
static bool is_file_of(const char *name, const char *account)
{
    const char *dot = strrchr(name, '.');

    if (!dot || strlen(dot + 1) != HASH_LEN)
        return false;
    return !account || (strlen(account) == (size_t)(dot - name) &&
                        strncmp(name, account, strlen(account)) == 0);
}

/* ---- trimming, on a worker ---- */

struct build_file {
    char name[NAME_MAX + 1];
    struct timespec at;
    uint64_t bytes;
};

struct build_trim {
    struct work work;
    char dir[PATH_MAX], account[ACCOUNT_ID_MAX + 1], path[PATH_MAX];
    uint64_t max; /* 0: no limit */
    struct build_file *files;
    size_t n, cap;
};

static int by_file_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct build_file *)a)->at,
                          *y = &((const struct build_file *)b)->at;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static struct build_file *add_build_file(struct build_trim *t)
{
    if (t->n == t->cap) {
        size_t cap = t->cap > 0 ? 2 * t->cap : 64;
        struct build_file *more = realloc(t->files, cap * sizeof *more);
        if (!more)
            return NULL;
        t->files = more;
        t->cap = cap;
    }
    return &t->files[t->n++];
}

/* All that the account has; how much that is. */
static uint64_t list_build_files(struct build_trim *t, DIR *dir)
{
    uint64_t bytes = 0;
    struct stat st;

    for (const struct dirent *d; (d = readdir(dir));) {
        if (!is_file_of(d->d_name, t->account) || fstatat(dirfd(dir), d->d_name, &st, 0) < 0)
            continue;
        struct build_file *f = add_build_file(t);
        if (!f)
            break;
        (void)snprintf(f->name, sizeof f->name, "%s", d->d_name);
        f->at = st.st_mtim;
        f->bytes = st.st_size > COUNTED_MIN ? (uint64_t)st.st_size : COUNTED_MIN;
        bytes += f->bytes;
    }
    return bytes;
}

static void run_file_trim(struct work *w)
{
    struct build_trim *t = container_of(w, struct build_trim, work);

    if (t->path[0])
        (void)unlink(t->path);
    DIR *dir = t->max > 0 ? opendir(t->dir) : NULL;
    if (!dir)
        return;
    uint64_t bytes = list_build_files(t, dir);
    if (bytes > t->max && t->n > 0)
        qsort(t->files, t->n, sizeof *t->files, by_file_age);
    for (size_t i = 0; bytes > t->max && i < t->n; i++) {
        (void)unlinkat(dirfd(dir), t->files[i].name, 0);
        bytes -= t->files[i].bytes;
    }
    (void)closedir(dir);
}

static void end_file_trim(struct work *w)
{
    struct build_trim *t = container_of(w, struct build_trim, work);

    free(t->files);
    free(t);
}

void build_files_trim(struct builds *set, const char *account, const char *path)
{
    struct core *core = set->core;
    struct build_trim *t = mem_zalloc(1, sizeof *t);

    if (!t)
        return;
    (void)snprintf(t->dir, sizeof t->dir, "%s", set->dir);
    (void)snprintf(t->account, sizeof t->account, "%s", account);
    (void)snprintf(t->path, sizeof t->path, "%s", path ? path : "");
    t->max = (uint64_t)limits_max(core->limits, accounts_account(core->accounts, str_of(account)),
                                  LIMIT_ACCOUNT_BUILD_FILES);
    t->work =
        (struct work){.owner = str_of(t->account), .run = run_file_trim, .done = end_file_trim};
    if (work_submit(set->workers, core->loop, &t->work) < 0)
        free(t); /* the next one, or the next start, finds them */
}

/* ---- uploads ---- */

int build_upload_begin(struct builds *set, struct build_upload *u, struct str account,
                       struct err *e)
{
    unsigned n = 0;

    list_each(node, &set->uploads) n +=
        str_is(account, list_entry(node, struct build_upload, node)->account);
    if (n >= BUILD_UPLOADS_MAX)
        return err_set(e, -EDQUOT, "you have reached the maximum number of concurrent uploads (%d)",
                       BUILD_UPLOADS_MAX);
    (void)snprintf(u->account, sizeof u->account, STR_FMT, STR_ARG(account));
    list_append(&set->uploads, &u->node);
    return 0;
}

void build_upload_end(struct build_upload *u)
{
    list_del(&u->node);
}

void build_files_sweep(const struct builds *set)
{
    DIR *dir = opendir(set->dir);

    for (const struct dirent *d; dir && (d = readdir(dir));)
        if (d->d_name[0] != '.' && !is_file_of(d->d_name, NULL))
            (void)unlinkat(dirfd(dir), d->d_name, 0);
    if (dir)
        (void)closedir(dir);
}
