/* SPDX-License-Identifier: MIT */
/* The files of apps: see files.h. */
#include "apps/catalog/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/catalog/registry.h"
#include "apps/engine/app.h"
#include "apps/source/folder.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "sys/io.h"

enum { MAX_SEEDS = 256 };

static const char *const files[] = {"app.json",  "tools.json", "schema.sql",
                                    "tools.sql", "data.sql",   "data.json"};

static int order_file_names(const void *a, const void *b)
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
        qsort(names, *n, sizeof *names, order_file_names);
    return names;
}

/* ---- going through them ---- */

typedef int file_fn(void *ctx, const char *path, const char *name);

struct files_walk {
    const char *root;
    bool is_near; /* all that the app might include, without reading what it does */
    file_fn *fn;
    void *ctx;
    struct arena arena;
    struct map common; /* the names of what is included */
};

static int visit_file(struct files_walk *w, const char *dir, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return w->fn(w->ctx, path, name);
}

/* The files with SUFFIX in FOLDER of the app, which ends with a slash. */
static int visit_folder(struct files_walk *w, const char *folder, const char *suffix)
{
    char dir[PATH_MAX], name[PATH_MAX];
    size_t n;
    int r = 0;

    (void)snprintf(dir, sizeof dir, "%s/%s", w->root, folder);
    const char **names = app_files_list(dir, suffix, &w->arena, &n);
    for (size_t i = 0; r == 0 && i < n && i < MAX_SEEDS; i++) {
        (void)snprintf(name, sizeof name, "%s%s", folder, names[i]);
        r = visit_file(w, w->root, name);
    }
    return r;
}

/* ---- what is included ---- */

/* A file of "common/", the app's own or one beside it. */
static int note_name(struct files_walk *w, struct str name)
{
    char *own = name.p ? arena_strdup(&w->arena, name.p) : NULL;

    return own ? map_put(&w->common, str_of(own), own, NULL) : -ENOMEM;
}

static int note_includes(struct files_walk *w, const char *file)
{
    auto_buf struct buf text = BUF_INIT(APP_FILE_MAX);
    char path[PATH_MAX];
    size_t at = 0, from = 0;
    struct str name;
    int r = 0;

    (void)snprintf(path, sizeof path, "%s/%s", w->root, file);
    if (!str_ends(str_of(file), STR(".sql")) || io_read_file(path, &text, NULL) < 0)
        return 0;
    while (r == 0 && (name = folder_next_include(buf_str(&text), &at, &from)).p)
        if (folder_is_common(name))
            r = note_name(w, arena_printf(&w->arena, STR_FMT ".sql", STR_ARG(name)));
    return r;
}

static int note_common(struct files_walk *w, const char *dir)
{
    char path[PATH_MAX];
    size_t n;
    int r = 0;

    (void)snprintf(path, sizeof path, "%s/" FOLDER_COMMON, dir);
    const char **names = app_files_list(path, ".sql", &w->arena, &n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = note_name(w, arena_printf(&w->arena, FOLDER_COMMON "%s", names[i]));
    return r;
}

/* In the order of their names, wherever they are: a copy of the app has them all itself. */
static int visit_noted(struct files_walk *w, const char *beside)
{
    const char **names = arena_zalloc(&w->arena, w->common.n + 1, sizeof *names);
    char path[PATH_MAX];
    size_t n = 0;
    void *value;
    int r = names ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && map_next(&w->common, &i, NULL, &value);)
        names[n++] = value;
    if (n > 1)
        qsort(names, n, sizeof *names, order_file_names);
    for (size_t i = 0; r == 0 && i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", w->root, names[i]);
        r = visit_file(w, access(path, F_OK) == 0 ? w->root : beside, names[i]);
    }
    return r;
}

static int visit_common(struct files_walk *w)
{
    char beside[PATH_MAX];
    int r = note_common(w, w->root);

    folder_beside(w->root, beside, sizeof beside);
    if (r == 0 && w->is_near)
        r = note_common(w, beside);
    return r < 0 ? r : visit_noted(w, beside);
}

/* ---- all ---- */

/* PREFIX is "", or a variant with a slash behind. */
static int each_in(struct files_walk *w, const char *prefix)
{
    char name[PATH_MAX];
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
        (void)snprintf(name, sizeof name, "%s%s", prefix, files[i]);
        r = visit_file(w, w->root, name);
        if (r == 0 && !w->is_near)
            r = note_includes(w, name);
    }
    (void)snprintf(name, sizeof name, "%sseed/", prefix);
    return r < 0 ? r : visit_folder(w, name, ".json");
}

static int visit_variant(struct files_walk *w, const char *variant)
{
    char about[PATH_MAX], name[PATH_MAX];

    if (snprintf(about, sizeof about, "%s/%s/app.json", w->root, variant) >= PATH_MAX ||
        access(about, R_OK) < 0)
        return 0;
    (void)snprintf(name, sizeof name, "%s/", variant);
    int r = each_in(w, name);
    (void)snprintf(name, sizeof name, "%s/" FOLDER_COMMON, variant);
    return r < 0 ? r : visit_folder(w, name, ".sql");
}

static int visit_app_files(struct files_walk *w)
{
    size_t n;
    int r = each_in(w, "");
    const char **names = app_files_list(w->root, "", &w->arena, &n);

    for (size_t i = 0; r == 0 && i < n; i++)
        r = visit_variant(w, names[i]);
    return r < 0 ? r : visit_common(w);
}

static int walk_all(const char *root, bool is_near, file_fn *fn, void *ctx)
{
    struct files_walk w = {.root = root, .is_near = is_near, .fn = fn, .ctx = ctx};

    arena_init(&w.arena, 1 << 20);
    map_init(&w.common, APP_REGISTRY_MAX);
    int r = visit_app_files(&w);
    map_done(&w.common);
    arena_done(&w.arena);
    return r;
}

/* ---- digests ---- */

/* Name, size and times of the file, or that it is not there. */
static int add_looks(void *ctx, const char *path, const char *name)
{
    struct stat st = {0};

    (void)stat(path, &st);
    return buf_printf(ctx, "%s %ju %jd %jd.%09ld\n", name, (uintmax_t)st.st_ino,
                      (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static int add_content(void *ctx, const char *path, const char *name)
{
    struct buf *out = ctx;

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
    int r = walk_all(root, has_looks, has_looks ? add_looks : add_content, &all);
    digest_sha256(out, buf_str(&all));
    return r;
}

/* ---- names ---- */

struct visit {
    int (*fn)(void *ctx, const char *path, const char *name);
    void *ctx;
};

static int visit_one(void *ctx, const char *path, const char *name)
{
    const struct visit *v = ctx;

    return access(path, R_OK) == 0 ? v->fn(v->ctx, path, name) : 0;
}

int app_files_each(const char *root, int (*fn)(void *ctx, const char *path, const char *name),
                   void *ctx)
{
    struct visit v = {fn, ctx};

    return walk_all(root, false, visit_one, &v);
}
