/* SPDX-License-Identifier: MIT */
#include "core/instance_template.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/instance_internal.h"
#include "core/instance_keep.h"

/* An open database that nobody uses now. */
struct reader {
    struct list node;
    struct app_handle *handle;
    int64_t used_ms;
};

enum { SEED_ARENA = 256 << 20, ANSWERS = 2048, ANSWERS_BYTES = 8 << 20 };

struct instance_template *template_ref(struct instance_template *t)
{
    t->n_refs++;
    return t;
}

void template_unref(struct instance_template *t)
{
    if (!t || --t->n_refs > 0)
        return;
    template_close_readers(t, INT64_MAX);
    const struct app_engine *engine = t->entry->app->engine;
    if (t->home && engine->tidy)
        engine->tidy(t->home, t->entry->app, INT64_MAX);
    (void)map_del(&t->set->templates, str_of(t->name));
    app_entry_unref(t->entry);
    answers_clear(&t->answers);
    free(t);
}

struct instance_template *template_get(struct instances *set, struct app_entry *entry,
                                       struct str data, struct err *e)
{
    char name[INSTANCE_NAME_MAX];

    (void)snprintf(name, sizeof name, "templates/%s-%s-" STR_FMT, entry->app->name, entry->digest,
                   STR_ARG(data));
    struct instance_template *t = map_get(&set->templates, str_of(name));
    if (t) {
        t->used_ms = clock_mono_ms();
        return template_ref(t);
    }
    t = mem_zalloc(1, sizeof *t);
    if (!t || map_put(&set->templates, str_of(name), t, NULL) < 0) {
        free(t);
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    t->set = set;
    t->n_refs = 2; /* one of the set's */
    t->used_ms = clock_mono_ms();
    t->entry = app_entry_ref(entry);
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    (void)snprintf(t->data, sizeof t->data, STR_FMT, STR_ARG(data));
    list_init(&t->waiting);
    list_init(&t->readers);
    answers_init(&t->answers, ANSWERS, ANSWERS_BYTES);
    return t;
}

bool templates_forget(struct instances *set, int64_t before_ms)
{
    bool is_less = false;
    void *value;

    for (size_t i = 0; map_next(&set->templates, &i, NULL, &value);) {
        struct instance_template *t = value;
        if (t->n_refs == 1 && t->used_ms < before_ms) {
            template_unref(t);
            is_less = true;
        }
    }
    return is_less;
}

/* ---- making ---- */

/* On a worker's thread; two at once start one home. */
static struct app_home *start_home(struct instances *set, const struct app_engine *engine,
                                   struct err *e)
{
    struct instance_home *h = NULL;

    for (size_t i = 0; i < INSTANCE_MAX_ENGINES; i++) {
        if (app_engine_at(i) == engine)
            h = &set->homes[i];
    }
    if (!h) {
        (void)err_set(e, -EOPNOTSUPP, "no place for the engine %s", engine->name);
        return NULL;
    }
    (void)pthread_mutex_lock(&h->lock);
    if (!h->home && engine->start(set->dir, &h->home, e) < 0)
        h->home = NULL;
    struct app_home *home = h->home;
    (void)pthread_mutex_unlock(&h->lock);
    return home;
}

static int make_instance_template(struct instance_template *t, struct err *e)
{
    const struct app *app = t->entry->app;
    struct arena a auto_arena;
    const struct json *seed = NULL;

    arena_init(&a, SEED_ARENA);
    instances_keep(t->set, t->entry);
    t->home = start_home(t->set, app->engine, e);
    if (!t->home)
        return e->code;
    if (!app->engine->has(t->home, t->name)) {
        if (t->data[0] && !(seed = app_seed(app, t->data, &a, e)))
            return e->code;
        int r = app->engine->make(t->home, app, t->name, seed, e);
        if (r < 0)
            return r;
    }
    t->size = app->engine->size(t->home, t->name);
    return 0;
}

static void run_instance_template(struct work *w)
{
    struct instance_template *t = container_of(w, struct instance_template, work);
    int r = make_instance_template(t, &t->err);

    if (r < 0)
        (void)err_ctx(&t->err, r, "template of %s", t->entry->app->name);
}

/* Whoever waits may let go of T. */
static void tell_template_waiters(struct instance_template *t)
{
    struct err e = t->err;
    struct list *node;

    t->state = e.code ? TEMPLATE_UNMADE : TEMPLATE_READY;
    t->err = (struct err)ERR_INIT;
    (void)template_ref(t);
    while ((node = list_pop(&t->waiting))) {
        struct template_wait *w = list_entry(node, struct template_wait, node);
        w->fn(w, e.code ? &e : NULL);
    }
    template_unref(t);
}

static void on_instance_template_made(struct work *w)
{
    struct instance_template *t = container_of(w, struct instance_template, work);

    if (w->is_dropped)
        (void)err_set(&t->err, -ESHUTDOWN, "the service is stopping");
    tell_template_waiters(t);
    template_unref(t);
}

void template_want(struct instance_template *t, struct template_wait *w)
{
    struct instances *set = t->set;

    if (t->state == TEMPLATE_READY) {
        list_init(&w->node);
        w->fn(w, NULL);
        return;
    }
    list_append(&t->waiting, &w->node);
    if (t->state == TEMPLATE_MAKING)
        return;
    t->state = TEMPLATE_MAKING;
    t->work = (struct work){.run = run_instance_template, .done = on_instance_template_made};
    (void)template_ref(t);
    int r = instances_submit(set, &t->work);
    if (r == 0)
        return;
    (void)err_set(&t->err, r, "too many pending jobs");
    on_instance_template_made(&t->work);
}

/* ---- readers ---- */

struct app_handle *template_take_reader(struct instance_template *t)
{
    struct list *node = list_pop(&t->readers);

    if (!node)
        return NULL;
    struct reader *r = list_entry(node, struct reader, node);
    struct app_handle *x = r->handle;
    free(r);
    return x;
}

void template_give_reader(struct instance_template *t, struct app_handle *x)
{
    struct reader *r = mem_zalloc(1, sizeof *r);

    if (!r) {
        t->entry->app->engine->close(x, false);
        return;
    }
    r->handle = x;
    r->used_ms = clock_mono_ms();
    list_add(&t->readers, &r->node);
}

void template_close_readers(struct instance_template *t, int64_t before_ms)
{
    list_each(node, &t->readers)
    {
        struct reader *r = list_entry(node, struct reader, node);
        if (r->used_ms >= before_ms)
            continue;
        list_del(node);
        t->entry->app->engine->close(r->handle, false);
        free(r);
    }
}
