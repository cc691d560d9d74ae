/* SPDX-License-Identifier: MIT */
#include "core/instance_backup.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/instance_internal.h"

struct instance_backup_saving {
    struct instances_saved *result;
    instances_saved_fn *fn;
    void *ctx;
    unsigned n_pending;
    struct err err;
};

struct one {
    struct instance_op op;
    struct instance_backup_saving *all;
};

static void finish_instance_backup(struct instance_backup_saving *s)
{
    if (--s->n_pending > 0)
        return;
    s->fn(s->ctx, s->err.code ? &s->err : NULL);
    free(s);
}

static void take_as_it_is(struct instance_backup_saving *s, const struct instance *in)
{
    static char mark;

    if (map_put(&s->result->as_they_are, str_of(in->id), &mark, NULL) < 0)
        (void)err_sys(&s->err, -ENOMEM, "backup");
}

/* Without its template an operation is not even begun: nobody has the files then. */
static void on_instance_backup_saved(struct instance_op *op, const struct err *e)
{
    struct one *one = container_of(op, struct one, op);
    struct instance_backup_saving *s = one->all;
    const struct instance *in = op->in;

    if (e && in->own->template && in->own->template->state != TEMPLATE_READY)
        take_as_it_is(s, in);
    else if (e && !s->err.code)
        s->err = *e;
    else if (!e && in->own->template->entry->app->engine != &app_engine_sqlite)
        s->result->n_left++;
    else if (!e)
        s->result->n++;
    free(one);
    finish_instance_backup(s);
}

static void save_one(struct instance_backup_saving *s, struct instance *in)
{
    if (!in->own->template) {
        take_as_it_is(s, in);
        return;
    }
    struct one *one = mem_zalloc(1, sizeof *one);
    if (!one) {
        (void)err_sys(&s->err, -ENOMEM, "backup");
        return;
    }
    one->all = s;
    one->op.what = (enum instance_do)INSTANCE_SAVE;
    one->op.done = on_instance_backup_saved;
    s->n_pending++;
    instance_enqueue(in, &one->op);
}

void instances_save(struct instances *set, struct instances_saved *result, instances_saved_fn *fn,
                    void *ctx)
{
    struct instance_backup_saving *s = mem_zalloc(1, sizeof *s);
    struct err e = ERR_INIT;

    *result = (struct instances_saved){0};
    map_init(&result->as_they_are, INSTANCE_MAX);
    if (!s) {
        (void)err_sys(&e, -ENOMEM, "backup");
        fn(ctx, &e);
        return;
    }
    *s = (struct instance_backup_saving){.result = result, .fn = fn, .ctx = ctx, .n_pending = 1};
    list_each(node, &set->occupied) save_one(s, list_entry(node, struct instance, node));
    finish_instance_backup(s);
}
