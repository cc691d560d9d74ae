/* SPDX-License-Identifier: MIT */
#include "core/instance_keep.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "apps/catalog/keep.h"
#include "base/cleanup.h"
#include "sys/io.h"

static void put_kept_dir(const struct instances *set, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s/kept", set->dir);
}

void instances_keep(const struct instances *set, const struct app_entry *entry)
{
    char dir[PATH_MAX];

    put_kept_dir(set, dir);
    (void)app_keep(entry, dir, NULL);
}

/* One that a template has already: many leases come back with the same. */
static struct app_entry *find_known(const struct instances *set, const char *digest)
{
    void *value;

    for (size_t i = 0; map_next(&set->templates, &i, NULL, &value);) {
        const struct instance_template *t = value;
        if (strcmp(t->entry->digest, digest) == 0)
            return app_entry_ref(t->entry);
    }
    return NULL;
}

struct app_entry *instance_find_app(struct instance *in)
{
    struct instances *set = in->set;
    struct app_entry *now auto_(app_entry_unref) = NULL;
    char dir[PATH_MAX];

    now = app_registry_get_for(set->registry, str_of(in->server), str_of(in->benchmark), NULL);
    if (!in->app[0] || (now && strcmp(now->digest, in->app) == 0))
        return take(now);
    struct app_entry *x = find_known(set, in->app);
    if (!x) {
        put_kept_dir(set, dir);
        x = app_kept(dir, in->app, NULL);
    }
    return x ? x : take(now);
}

static bool is_needed(const struct instances *set, const char *digest)
{
    struct app_entry *x auto_(app_entry_unref) = find_known(set, digest);

    return x != NULL;
}

void instances_sweep_kept(const struct instances *set, bool is_start)
{
    char dir[PATH_MAX], path[PATH_MAX];
    const struct dirent *d;

    put_kept_dir(set, dir);
    DIR *all = opendir(dir);
    while (all && (d = readdir(all))) {
        bool is_dot = strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0;
        bool is_draft = d->d_name[0] == '.';
        if (!is_dot && (is_start || !is_draft) && !is_needed(set, d->d_name) &&
            snprintf(path, sizeof path, "%s/%s", dir, d->d_name) < (int)sizeof path)
            (void)io_remove_tree(path);
    }
    if (all)
        (void)closedir(all);
}

bool instances_serve(const struct instances *set, struct str name)
{
    void *value;

    for (size_t i = 0; map_next(&set->templates, &i, NULL, &value);) {
        const struct instance_template *t = value;
        if (str_iis(name, t->entry->app->name))
            return true;
    }
    return false;
}
