/* SPDX-License-Identifier: MIT */
#include "apps/catalog/registry.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/catalog/files.h"
#include "base/enc.h"
#include "base/map.h"
#include "base/mem.h"
#include "sys/digest.h"

enum { MAX_DIRS = 8 };

/* An app that was asked for. */
struct registry_known {
    unsigned char looks[DIGEST_SHA256_LEN]; /* of the files, when they were last loaded */
    struct app_entry *entry;                /* NULL: broken */
    struct err why;
    bool is_told; /* somebody heard that it is broken */
};

struct app_registry {
    char *dirs[MAX_DIRS];
    size_t n_dirs;
    struct map known; /* name → struct registry_known */
    void (*broken)(void *ctx, const struct err *e);
    void *ctx;
};

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
    free(x->root);
    free(x->name);
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
        struct registry_known *k = value;
        app_entry_unref(k->entry);
        free(k);
    }
    map_done(&r->known);
    for (size_t i = 0; i < r->n_dirs; i++)
        free(r->dirs[i]);
    free(r);
}

static void tell_broken(struct app_registry *r, struct registry_known *k)
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

/* ---- loading ---- */

/* Where an app is. */
struct registry_place {
    const char *name, *root;    /* NAME/VARIANT when it is one */
    const unsigned char *looks; /* of the files; NULL when they cannot be read */
};

struct app_entry *app_entry_load(const char *root, const char *name, struct err *e)
{
    const char *variant = strchr(name, '/');
    char dir[PATH_MAX], hex[2 * DIGEST_SHA256_LEN + 1];
    unsigned char digest[DIGEST_SHA256_LEN];
    struct app_entry *x = mem_zalloc(1, sizeof *x);

    if (!x || !(x->root = mem_strdup(root)) || !(x->name = mem_strdup(name))) {
        if (x)
            free(x->root);
        free(x);
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    x->n_refs = 1;
    (void)snprintf(dir, sizeof dir, "%s%s", root, variant ? variant : "");
    int r = app_load(dir, &x->app, e);
    if (r == 0)
        r = app_files_digest(root, name, APP_FILES_CONTENT, digest);
    if (r < 0) {
        app_entry_unref(x);
        (void)err_ctx(e, r, "load");
        return NULL;
    }
    enc_hex(hex, digest, sizeof digest);
    (void)snprintf(x->digest, sizeof x->digest, "%.*s", APP_DIGEST_LEN, hex);
    return x;
}

/* Reloads when the files look different. */
static void refresh_app(struct app_registry *r, struct registry_known *k,
                        const struct registry_place *p)
{
    if (!p->looks || memcmp(p->looks, k->looks, sizeof k->looks) == 0)
        return;
    memcpy(k->looks, p->looks, sizeof k->looks);
    k->why = (struct err)ERR_INIT;
    app_entry_unref(k->entry);
    k->entry = app_entry_load(p->root, p->name, &k->why);
    if (k->entry)
        return;
    k->is_told = false;
    tell_broken(r, k);
}

static bool find_app_dir(const struct app_registry *r, const char *name, char out[PATH_MAX])
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
static int fold_app_name(struct str name, char out[APP_NAME_MAX + 1])
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

static struct registry_known *know_app(struct app_registry *r, const char *name)
{
    struct registry_known *k = map_get(&r->known, str_of(name));

    if (k)
        return k;
    k = mem_zalloc(1, sizeof *k);
    if (k && map_put(&r->known, str_of(name), k, NULL) < 0)
        free(take(k));
    return k;
}

static struct app_entry *get_app(struct app_registry *r, const struct registry_place *p,
                                 struct err *e)
{
    struct registry_known *k = know_app(r, p->name);

    if (!k) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    refresh_app(r, k, p);
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
    char word[APP_NAME_MAX + 1], root[PATH_MAX], key[PATH_MAX];

    if (fold_app_name(name, word) < 0 || !find_app_dir(r, word, root)) {
        (void)err_set(e, -ENOENT, "no app named '" STR_FMT "'", STR_ARG(name));
        return NULL;
    }
    struct registry_place p = {.name = word, .root = root};
    if (app_files_digest(root, "", APP_FILES_LOOKS, looks) == 0)
        p.looks = looks;
    struct app_entry *x auto_(app_entry_unref) = get_app(r, &p, e);
    if (!x)
        return NULL;
    struct str folder = json_str(json_get_str(x->app->benchmarks, benchmark), STR_NULL);
    if (!folder.p)
        return take(x);
    (void)snprintf(key, sizeof key, "%s/%s", word, folder.p);
    p.name = key;
    return get_app(r, &p, e);
}

struct app_entry *app_registry_get(struct app_registry *r, struct str name, struct err *e)
{
    return app_registry_get_for(r, name, STR(""), e);
}

static int order_app_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **app_registry_names(const struct app_registry *r, struct arena *a, size_t *n)
{
    const char **all = arena_zalloc(a, r->n_dirs * APP_REGISTRY_MAX + 1, sizeof *all);
    char path[PATH_MAX];
    size_t n_all = 0;

    *n = 0;
    for (size_t i = 0; all && i < r->n_dirs; i++) {
        size_t n_here;
        const char **here = app_files_list(r->dirs[i], "", a, &n_here);
        for (size_t k = 0; k < n_here; k++) {
            if (find_app_dir(r, here[k], path))
                all[n_all++] = here[k];
        }
    }
    if (n_all > 1)
        qsort(all, n_all, sizeof *all, order_app_names);
    for (size_t i = 0; i < n_all; i++) {
        if (*n == 0 || strcmp(all[*n - 1], all[i]) != 0)
            all[(*n)++] = all[i];
    }
    return all;
}
