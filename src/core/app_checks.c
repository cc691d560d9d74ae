/* SPDX-License-Identifier: MIT */
/* Checking the installation's own apps: see app_checks.h. */
#include "core/app_checks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/check/check.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/instance_internal.h"

enum {
    NAMES_MAX = 1 << 20,
    OWN_MAX = 64,
    TURN_US = 4000 /* of loading apps at a time: all of them take over 100 ms */
};

/* What came of a check. */
struct checked {
    struct app_entry *entry; /* a reference */
    char *fault;             /* NULL: none */
};

struct app_check_job {
    struct work work;
    struct loop_timer next; /* between two turns */
    struct arena arena;     /* for the names */
    const char **names;
    size_t n_names, n_seen;
    struct instances *set;
    app_checks_fn *fn;
    void *ctx;
    struct checked *items[OWN_MAX];
    size_t n;
};

static void checked_free(struct checked *c)
{
    if (!c)
        return;
    app_entry_unref(c->entry);
    free(c->fault);
    free(c);
}

/* ---- on a worker ---- */

static void note_check_fault(void *ctx, const char *text)
{
    struct checked *c = ctx;

    if (!c->fault)
        c->fault = mem_strdup(text);
}

static void check_installed_app(struct checked *c, const struct app *app)
{
    struct app_check what = {.app = app, .finding = note_check_fault, .ctx = c};
    const char *tmp = getenv("TMPDIR");
    struct err e = ERR_INIT;

    if (app_check(&what, tmp ? tmp : "/tmp", &e) < 0)
        note_check_fault(c, err_text(&e));
}

static void run_app_checks(struct work *w)
{
    struct app_check_job *j = container_of(w, struct app_check_job, work);

    for (size_t i = 0; i < j->n; i++) {
        const struct app *app = j->items[i]->entry->app;
        const struct json *variants = app->benchmarks;
        check_installed_app(j->items[i], app);
        for (size_t k = 0; variants && k < variants->n; k++) {
            struct app *variant auto_(app_free) = NULL;
            struct err e = ERR_INIT;
            char path[PATH_MAX];
            (void)snprintf(path, sizeof path, "%s/%s", app->dir,
                           json_str(&variants->members[k].value, STR("")).p);
            if (app_load(path, &variant, &e) < 0)
                note_check_fault(j->items[i], err_text(&e));
            else
                check_installed_app(j->items[i], variant);
        }
    }
}

/* ---- on the loop's thread ---- */

static void end_app_checks(struct app_check_job *j)
{
    j->fn(j->ctx);
    arena_done(&j->arena);
    free(j);
}

static void on_app_checks_done(struct work *w)
{
    struct app_check_job *j = container_of(w, struct app_check_job, work);

    for (size_t i = 0; i < j->n; i++) {
        struct checked *c = j->items[i];
        void *old = NULL;
        if (w->is_dropped || map_put(&j->set->checked, str_of(c->entry->app->name), c, &old) < 0)
            checked_free(c);
        checked_free(old);
    }
    end_app_checks(j);
}

const char *app_checks_fault(const struct instances *set, const struct app_entry *x)
{
    const struct checked *c = map_get(&set->checked, str_of(x->app->name));

    return c && c->entry == x ? c->fault : NULL;
}

static void add_app_checked(struct app_check_job *j, const char *name)
{
    struct instances *set = j->set;
    struct app_entry *x auto_(app_entry_unref) =
        app_registry_get(set->registry, str_of(name), NULL);
    const struct checked *known = x ? map_get(&set->checked, str_of(x->app->name)) : NULL;
    char own[PATH_MAX];

    (void)snprintf(own, sizeof own, "%s/" INSTANCES_OWN "/", set->core->config->state);
    if (!x || !str_starts(str_of(x->app->dir), str_of(own)) || (known && known->entry == x))
        return;
    struct checked *c = j->n < OWN_MAX ? mem_zalloc(1, sizeof *c) : NULL;
    if (!c)
        return;
    c->entry = take(x);
    j->items[j->n++] = c;
}

static void check_all(struct app_check_job *j)
{
    if (j->n > 0 && instances_submit(j->set, &j->work) == 0)
        return;
    for (size_t i = 0; i < j->n; i++)
        checked_free(j->items[i]);
    end_app_checks(j);
}

/* Loads what has to be loaded, for a while. */
static void take_turn(struct loop_timer *t)
{
    struct app_check_job *j = container_of(t, struct app_check_job, next);
    int64_t until_us = clock_mono_us() + TURN_US;

    while (j->n_seen < j->n_names && clock_mono_us() < until_us)
        add_app_checked(j, j->names[j->n_seen++]);
    if (j->n_seen == j->n_names || loop_timer_start(j->set->core->loop, t, 1, take_turn) < 0)
        check_all(j);
}

void app_checks_run(struct instances *set, app_checks_fn *fn, void *ctx)
{
    struct app_check_job *j = mem_zalloc(1, sizeof *j);

    if (!j) {
        fn(ctx);
        return;
    }
    *j = (struct app_check_job){.set = set,
                                .fn = fn,
                                .ctx = ctx,
                                .work = {.run = run_app_checks, .done = on_app_checks_done}};
    arena_init(&j->arena, NAMES_MAX);
    j->names = app_registry_names(set->registry, &j->arena, &j->n_names);
    if (!j->names)
        j->n_names = 0;
    take_turn(&j->next);
}

void app_checks_free(struct instances *set)
{
    void *value;

    for (size_t i = 0; map_next(&set->checked, &i, NULL, &value);)
        checked_free(value);
    map_done(&set->checked);
}
