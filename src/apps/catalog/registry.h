/* SPDX-License-Identifier: MIT */
/* The apps that there are: folders of folders, loaded when they are first asked for, and again when
 * their files have changed. What is in use stays as it was loaded until nobody needs it. Belongs to
 * one thread.
 *
 * Whether something changed is looked at with every app_registry_get(): names, sizes and times of
 * the files, no content. A folder and its variants are one: what changes in one of them, all are
 * loaded again for. */
#pragma once

#include "apps/engine/app.h"

struct app_registry;

enum {
    APP_REGISTRY_MAX = 1024, /* apps */
    APP_DIGEST_LEN = 16      /* hex digits */
};

/* An app as it was at one time. */
struct app_entry {
    unsigned n_refs;
    struct app *app;
    char *root, *name;               /* its folder; NAME, or NAME/VARIANT for one of its variants */
    char digest[APP_DIGEST_LEN + 1]; /* of its name and its files, wherever they are */
};

/* The app in the folder ROOT, or its variant when NAME has one: a reference of the caller's. NULL
 * with E filled. */
struct app_entry *app_entry_load(const char *root, const char *name, struct err *e);

/* A folder's name has small letters only. DIRS (NULL-terminated, copied) may be missing; of two
 * apps with one name the one in the later directory counts. NULL without memory. */
struct app_registry *app_registry_new(const char *const *dirs);
void app_registry_free(struct app_registry *r);

/* The app of that name, in any case of letters, as its files are now: a reference of the caller's.
 * NULL with E filled: -ENOENT; -EUCLEAN when it is broken, E says where. */
struct app_entry *app_registry_get(struct app_registry *r, struct str name, struct err *e);
/* The same with the tools of BENCHMARK, when the app has a variant for it. */
struct app_entry *app_registry_get_for(struct app_registry *r, struct str name,
                                       struct str benchmark, struct err *e);
struct app_entry *app_entry_ref(struct app_entry *x);
void app_entry_unref(struct app_entry *x);
DEFINE_CLEANUP(struct app_entry *, app_entry_unref)

/* The names of all folders, in their order, in A; N of them. NULL without memory. */
const char **app_registry_names(const struct app_registry *r, struct arena *a, size_t *n);
/* Calls FN once for each version of an app that could not be loaded, those of before included. */
void app_registry_on_broken(struct app_registry *r, void (*fn)(void *ctx, const struct err *e),
                            void *ctx);
