/* SPDX-License-Identifier: MIT */
/* See changes.h. */
#include "apps/engine/changes.h"

#include <errno.h>
#include <stdlib.h>

#include "apps/db/value.h"

enum { ARENA_MAX = 256 << 20 };

static const char *const kinds[CHANGES_KINDS] = {"inserted", "updated", "deleted"};

/* The changes of one table. */
struct changes_table {
    const char *name;
    struct change *changes;
    size_t n, cap;
    size_t counts[CHANGES_KINDS];
};

void changes_init(struct changes *c)
{
    *c = (struct changes){0};
    arena_init(&c->arena, ARENA_MAX);
}

void changes_done(struct changes *c)
{
    arena_done(&c->arena);
}

int changes_table(struct changes *c, const char *name, struct err *e)
{
    char *own = arena_strdup(&c->arena, name);

    c->tables = arena_grow(&c->arena, c->tables, c->n, &c->cap, sizeof *c->tables);
    if (!own || !c->tables)
        return err_set(e, -ENOMEM, "more changes than memory");
    c->tables[c->n++] = (struct changes_table){.name = own};
    return 0;
}

int changes_add(struct changes *c, const struct change *change, struct err *e)
{
    struct changes_table *t = &c->tables[c->n - 1];

    t->changes = arena_grow(&c->arena, t->changes, t->n, &t->cap, sizeof *t->changes);
    if (!t->changes)
        return err_set(e, -ENOMEM, "more changes than memory");
    t->changes[t->n++] = *change;
    t->counts[change->kind]++;
    return 0;
}

/* ---- writing ---- */

static int by_key(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    for (size_t i = 0; i < x->key->n && i < y->key->n; i++) {
        int r = value_compare(&x->key->members[i].value, &y->key->members[i].value);
        if (r != 0)
            return r;
    }
    return 0;
}

static void put_change(struct jw *w, const struct change *c)
{
    if (c->kind != CHANGES_UPDATED) {
        jw_value(w, c->kind == CHANGES_INSERTED ? c->new : c->old);
        return;
    }
    jw_object(w);
    jw_key(w, "key");
    jw_value(w, c->key);
    jw_key(w, "old");
    jw_value(w, c->old);
    jw_key(w, "new");
    jw_value(w, c->new);
    jw_end(w);
}

static void put_changed_table(struct jw *w, const struct changes_table *t)
{
    size_t at = 0;

    jw_key(w, t->name);
    jw_object(w);
    for (unsigned k = 0; k < CHANGES_KINDS; k++) {
        jw_key(w, kinds[k]);
        jw_array(w);
        for (; at < t->n && t->changes[at].kind == k; at++)
            put_change(w, &t->changes[at]);
        jw_end(w);
    }
    jw_end(w);
}

int changes_write(struct changes *c, struct buf *out, struct err *e)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    for (unsigned k = 0; k < CHANGES_KINDS; k++) {
        size_t n = 0;
        for (size_t i = 0; i < c->n; i++)
            n += c->tables[i].counts[k];
        jw_key(&w, kinds[k]);
        jw_int(&w, (int64_t)n);
    }
    jw_key(&w, "tables");
    jw_object(&w);
    for (size_t i = 0; i < c->n; i++) {
        struct changes_table *t = &c->tables[i];
        if (t->n > 1)
            qsort(t->changes, t->n, sizeof *t->changes, by_key);
        if (t->n > 0)
            put_changed_table(&w, t);
    }
    jw_end(&w);
    jw_end(&w);
    return buf_ok(out) ? 0 : err_set(e, -E2BIG, "there are too many changes");
}

int changes_write_none(struct buf *out)
{
    struct changes none = {0};

    return changes_write(&none, out, NULL);
}
