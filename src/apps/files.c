/* SPDX-License-Identifier: MIT */
/* The files of apps: see files.h. */
#include "apps/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/app.h"
#include "apps/registry.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/io.h"

enum { MAX_SEEDS = 256 };

static const char *const files[] = {"app.json",  "tools.json", "schema.sql",
                                    "tools.sql", "data.sql",   "data.json"};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **app_files_list(const char *dir, const char *suffix, struct arena *a, size_t *n)
{
    size_t cap = 0;
    const char **names = NULL;
    DIR *d = opendir(dir);
    struct dirent *entry;

    *n = 0;
    while (d && (entry = readdir(d)) && *n < APP_REGISTRY_MAX) {
        if (entry->d_name[0] == '.' || !str_ends(str_of(entry->d_name), str_of(suffix)))
            continue;
        names = arena_grow(a, names, *n, &cap, sizeof *names);
        char *name = names ? arena_strdup(a, entry->d_name) : NULL;
        if (!name) {
            *n = 0;
            break;
        }
        names[(*n)++] = name;
    }
    if (d)
        (void)closedir(d);
    if (*n > 1)
        qsort(names, *n, sizeof *names, by_name);
    return names;
}

/* ---- going through them ---- */

/* NAME is below ROOT. */
typedef int file_fn(void *ctx, const char *root, const char *name);

struct walk {
    const char *root;
    file_fn *fn;
    void *ctx;
    struct arena arena;
};

/* PREFIX is "", or a variant with a slash behind. */
static int each_in(struct walk *w, const char *prefix)
{
    char seeds[PATH_MAX], name[PATH_MAX];
    size_t n;
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
        (void)snprintf(name, sizeof name, "%s%s", prefix, files[i]);
        r = w->fn(w->ctx, w->root, name);
    }
    (void)snprintf(seeds, sizeof seeds, "%s/%sseed", w->root, prefix);
    const char **names = app_files_list(seeds, ".json", &w->arena, &n);
    for (size_t i = 0; r == 0 && i < n && i < MAX_SEEDS; i++) {
        (void)snprintf(name, sizeof name, "%sseed/%s", prefix, names[i]);
        r = w->fn(w->ctx, w->root, name);
    }
    return r;
}

static int each(struct walk *w)
{
    char about[PATH_MAX], prefix[PATH_MAX];
    size_t n;
    int r = each_in(w, "");
    const char **names = app_files_list(w->root, "", &w->arena, &n);

    for (size_t i = 0; r == 0 && i < n; i++) {
        if (snprintf(about, sizeof about, "%s/%s/app.json", w->root, names[i]) >= PATH_MAX ||
            access(about, R_OK) < 0)
            continue;
        (void)snprintf(prefix, sizeof prefix, "%s/", names[i]);
        r = each_in(w, prefix);
    }
    return r;
}

static int walk_all(const char *root, file_fn *fn, void *ctx)
{
    struct walk w = {.root = root, .fn = fn, .ctx = ctx};

    arena_init(&w.arena, 1 << 20);
    int r = each(&w);
    arena_done(&w.arena);
    return r;
}

/* ---- digests ---- */

/* Name, size and times of the file, or that it is not there. */
static int add_looks(void *ctx, const char *root, const char *name)
{
    char path[PATH_MAX];
    struct stat st = {0};

    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    (void)stat(path, &st);
    return buf_printf(ctx, "%s %ju %jd %jd.%09ld\n", name, (uintmax_t)st.st_ino,
                      (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static int add_content(void *ctx, const char *root, const char *name)
{
    struct buf *out = ctx;
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    (void)buf_printf(out, "\n%s\n", name);
    (void)io_read_file(path, out, NULL);
    return out->error;
}

int app_files_digest(const char *root, const char *name, enum app_files_what what,
                     unsigned char out[DIGEST_SHA256_LEN])
{
    auto_buf struct buf all = BUF_INIT(4 * (size_t)APP_FILE_MAX);
    bool has_looks = what == APP_FILES_LOOKS;

    (void)buf_printf(&all, "%s\n%s\n", has_looks ? root : "", name);
    int r = walk_all(root, has_looks ? add_looks : add_content, &all);
    digest_sha256(out, buf_str(&all));
    return r;
}

/* ---- names ---- */

struct visit {
    int (*fn)(void *ctx, const char *name);
    void *ctx;
};

static int visit_one(void *ctx, const char *root, const char *name)
{
    const struct visit *v = ctx;
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return access(path, R_OK) == 0 ? v->fn(v->ctx, name) : 0;
}

int app_files_each(const char *root, int (*fn)(void *ctx, const char *name), void *ctx)
{
    struct visit v = {fn, ctx};

    return walk_all(root, visit_one, &v);
}
