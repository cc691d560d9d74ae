/* SPDX-License-Identifier: MIT */
#include "apps/registry.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/enc.h"
#include "base/map.h"
#include "base/mem.h"
#include "sys/digest.h"
#include "sys/io.h"

enum { MAX_DIRS = 8, MAX_SEEDS = 256 };

/* An app that was asked for. */
struct known {
    unsigned char looks[DIGEST_SHA256_LEN]; /* of the files, when they were last loaded */
    struct app_entry *entry;                /* NULL: broken */
    struct err why;
    bool is_told; /* somebody heard that it is broken */
};

struct app_registry {
    char *dirs[MAX_DIRS];
    size_t n_dirs;
    struct map known; /* name → struct known */
    void (*broken)(void *ctx, const struct err *e);
    void *ctx;
};

static const char *const files[] = {"app.json", "tools.json", "schema.sql", "tools.sql",
                                    "data.sql"};

struct app_entry *app_entry_ref(struct app_entry *x)
{
    x->n_refs++;
    return x;
}

void app_entry_unref(struct app_entry *x)
{
    if (!x || --x->n_refs > 0)
        return;
    app_free(x->app);
    free(x);
}

struct app_registry *app_registry_new(const char *const *dirs)
{
    struct app_registry *r = mem_zalloc(1, sizeof *r);

    if (!r)
        return NULL;
    map_init(&r->known, APP_REGISTRY_MAX);
    for (size_t i = 0; dirs[i] && r->n_dirs < MAX_DIRS; i++) {
        r->dirs[r->n_dirs] = mem_strdup(dirs[i]);
        if (!r->dirs[r->n_dirs]) {
            app_registry_free(r);
            return NULL;
        }
        r->n_dirs++;
    }
    return r;
}

void app_registry_free(struct app_registry *r)
{
    void *value;

    if (!r)
        return;
    for (size_t i = 0; map_next(&r->known, &i, NULL, &value);) {
        struct known *k = value;
        app_entry_unref(k->entry);
        free(k);
    }
    map_done(&r->known);
    for (size_t i = 0; i < r->n_dirs; i++)
        free(r->dirs[i]);
    free(r);
}

static void tell_broken(struct app_registry *r, struct known *k)
{
    if (k->entry || k->is_told || !r->broken)
        return;
    k->is_told = true;
    r->broken(r->ctx, &k->why);
}

void app_registry_on_broken(struct app_registry *r, void (*fn)(void *ctx, const struct err *e),
                            void *ctx)
{
    void *value;

    r->broken = fn;
    r->ctx = ctx;
    for (size_t i = 0; map_next(&r->known, &i, NULL, &value);)
        tell_broken(r, value);
}

/* ---- files ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The entries of DIR that end with SUFFIX, in their order, in A. */
static const char **list_dir(const char *dir, const char *suffix, struct arena *a, size_t *n)
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

/* Name, size and times of the file, or that it is not there. */
static void add_looks(struct buf *out, const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct stat st = {0};

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    (void)stat(path, &st);
    (void)buf_printf(out, "%s %ju %jd %jd.%09ld\n", name, (uintmax_t)st.st_ino,
                     (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

static void add_content(struct buf *out, const char *dir, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    (void)buf_printf(out, "\n%s\n", name);
    (void)io_read_file(path, out, NULL);
}

typedef void add_fn(struct buf *out, const char *dir, const char *name);

static void add_files(struct buf *out, const char *dir, add_fn *add, struct arena *a)
{
    char seeds[PATH_MAX], name[PATH_MAX];
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        add(out, dir, files[i]);
    (void)snprintf(seeds, sizeof seeds, "%s/seed", dir);
    const char **names = list_dir(seeds, ".json", a, &n);
    for (size_t i = 0; i < n && i < MAX_SEEDS; i++) {
        (void)snprintf(name, sizeof name, "seed/%s", names[i]);
        add(out, dir, name);
    }
}

static void add_variants(struct buf *out, const char *dir, add_fn *add, struct arena *a)
{
    char path[PATH_MAX], about[PATH_MAX];
    size_t n;
    const char **names = list_dir(dir, "", a, &n);

    for (size_t i = 0; i < n; i++) {
        if (snprintf(path, sizeof path, "%s/%s", dir, names[i]) < PATH_MAX &&
            snprintf(about, sizeof about, "%s/app.json", path) < PATH_MAX &&
            access(about, R_OK) == 0)
            add_files(out, path, add, a);
    }
}

/* SHA-256 over NAME and all files of the app in ROOT and of its variants, as ADD puts them. */
static int digest_app(const char *root, const char *name, add_fn *add,
                      unsigned char out[DIGEST_SHA256_LEN])
{
    struct arena a auto_arena;
    auto_buf struct buf all = BUF_INIT(4 * (size_t)APP_FILE_MAX);

    arena_init(&a, 1 << 20);
    (void)buf_printf(&all, "%s\n%s\n", root, name);
    add_files(&all, root, add, &a);
    add_variants(&all, root, add, &a);
    digest_sha256(out, buf_str(&all));
    return buf_ok(&all) ? 0 : all.error;
}

/* ---- loading ---- */

/* Where an app is: DIR is ROOT, or a variant in it. */
struct place {
    const char *name, *root, *dir;
    const unsigned char *looks; /* of the files; NULL when they cannot be told */
};

static int load(struct known *k, const struct place *p, struct err *e)
{
    unsigned char digest[DIGEST_SHA256_LEN];
    struct app_entry *x = mem_zalloc(1, sizeof *x);

    if (!x)
        return err_set(e, -ENOMEM, "out of memory");
    x->n_refs = 1;
    int r = app_load(p->dir, &x->app, e);
    if (r == 0)
        r = digest_app(p->root, p->name, add_content, digest);
    if (r < 0) {
        app_entry_unref(x);
        return err_ctx(e, r, "load");
    }
    char hex[2 * DIGEST_SHA256_LEN + 1];
    enc_hex(hex, digest, sizeof digest);
    (void)snprintf(x->digest, sizeof x->digest, "%.*s", APP_DIGEST_LEN, hex);
    app_entry_unref(k->entry);
    k->entry = x;
    return 0;
}

/* Loads anew when the files look different. */
static void refresh(struct app_registry *r, struct known *k, const struct place *p)
{
    if (!p->looks || memcmp(p->looks, k->looks, sizeof k->looks) == 0)
        return;
    memcpy(k->looks, p->looks, sizeof k->looks);
    k->why = (struct err)ERR_INIT;
    if (load(k, p, &k->why) == 0)
        return;
    app_entry_unref(take(k->entry));
    k->is_told = false;
    tell_broken(r, k);
}

static bool find_dir(const struct app_registry *r, const char *name, char out[PATH_MAX])
{
    char path[PATH_MAX];
    struct stat st;

    for (size_t i = r->n_dirs; i > 0; i--) {
        int n = snprintf(out, PATH_MAX, "%s/%s", r->dirs[i - 1], name);
        if (n < PATH_MAX && snprintf(path, sizeof path, "%s/app.json", out) < PATH_MAX &&
            stat(path, &st) == 0)
            return true;
    }
    return false;
}

/* Small letters; -EINVAL when it cannot be a folder's name. */
static int lower(struct str name, char out[APP_NAME_MAX + 1])
{
    if (name.len < 1 || name.len > APP_NAME_MAX || name.p[0] == '.')
        return -EINVAL;
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '/' || name.p[i] == 0)
            return -EINVAL;
        out[i] = (char)tolower((unsigned char)name.p[i]);
    }
    out[name.len] = 0;
    return 0;
}

static struct known *know(struct app_registry *r, const char *name)
{
    struct known *k = map_get(&r->known, str_of(name));

    if (k)
        return k;
    k = mem_zalloc(1, sizeof *k);
    if (k && map_put(&r->known, str_of(name), k, NULL) < 0)
        free(take(k));
    return k;
}

static struct app_entry *get(struct app_registry *r, const struct place *p, struct err *e)
{
    struct known *k = know(r, p->name);

    if (!k) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    refresh(r, k, p);
    if (k->entry)
        return app_entry_ref(k->entry);
    (void)err_set(e, -EUCLEAN, "%s", err_text(&k->why));
    return NULL;
}

/* The files are looked at once for both. */
struct app_entry *app_registry_get_for(struct app_registry *r, struct str name,
                                       struct str benchmark, struct err *e)
{
    unsigned char looks[DIGEST_SHA256_LEN];
    char word[APP_NAME_MAX + 1], root[PATH_MAX], key[PATH_MAX], dir[PATH_MAX];

    if (lower(name, word) < 0 || !find_dir(r, word, root)) {
        (void)err_set(e, -ENOENT, "there is no app '" STR_FMT "'", STR_ARG(name));
        return NULL;
    }
    struct place p = {.name = word, .root = root, .dir = root};
    if (digest_app(root, "", add_looks, looks) == 0)
        p.looks = looks;
    struct app_entry *x auto_(app_entry_unref) = get(r, &p, e);
    if (!x)
        return NULL;
    struct str folder = json_str(json_get_str(x->app->benchmarks, benchmark), STR_NULL);
    if (!folder.p)
        return take(x);
    (void)snprintf(key, sizeof key, "%s/%s", word, folder.p);
    (void)snprintf(dir, sizeof dir, "%s/%s", root, folder.p);
    p.name = key;
    p.dir = dir;
    return get(r, &p, e);
}

struct app_entry *app_registry_get(struct app_registry *r, struct str name, struct err *e)
{
    return app_registry_get_for(r, name, STR(""), e);
}

const char **app_registry_names(const struct app_registry *r, struct arena *a, size_t *n)
{
    const char **all = arena_zalloc(a, r->n_dirs * APP_REGISTRY_MAX + 1, sizeof *all);
    char path[PATH_MAX];
    size_t n_all = 0;

    *n = 0;
    for (size_t i = 0; all && i < r->n_dirs; i++) {
        size_t n_here;
        const char **here = list_dir(r->dirs[i], "", a, &n_here);
        for (size_t k = 0; k < n_here; k++) {
            if (find_dir(r, here[k], path))
                all[n_all++] = here[k];
        }
    }
    if (n_all > 1)
        qsort(all, n_all, sizeof *all, by_name);
    for (size_t i = 0; i < n_all; i++) {
        if (*n == 0 || strcmp(all[*n - 1], all[i]) != 0)
            all[(*n)++] = all[i];
    }
    return all;
}
