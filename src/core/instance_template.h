/* SPDX-License-Identifier: MIT */
/* Templates of instances, for core/instance*.c: made once for each version of an app and data set,
 * on a worker's thread, then shared by all that only read. Belongs to the loop's thread. */
#pragma once

#include "apps/catalog/registry.h"
#include "apps/engine/engine.h"
#include "base/list.h"
#include "core/instance.h"
#include "core/instance_answers.h"
#include "loop/work.h"

/* Of the name of a database; "templates/APP-DIGEST-DATA" is the longest. */
#define INSTANCE_NAME_MAX (32 + APP_NAME_MAX + APP_DIGEST_LEN + INSTANCE_WORD_MAX)

enum template_state { TEMPLATE_UNMADE, TEMPLATE_MAKING, TEMPLATE_READY };

/* A version of an app with a data set. Kept while somebody refers to it, and some minutes more. */
struct instance_template {
    struct instances *set;
    unsigned n_refs;
    struct app_entry *entry;
    struct app_home *home; /* once it is ready */
    char name[INSTANCE_NAME_MAX];
    char data[INSTANCE_WORD_MAX + 1]; /* "": the schema alone */
    enum template_state state;
    struct list waiting; /* struct template_wait */
    struct list readers; /* struct reader: open for reading, in nobody's use */
    int64_t size, used_ms;
    struct work work;
    struct err err;
    unsigned char slow[APP_MAX_TOOLS]; /* tools that had to go to a worker */
    struct answers answers;
};

struct template_wait {
    struct list node;
    void (*fn)(struct template_wait *w, const struct err *e);
};

/* The template of ENTRY and DATA, made or not: a reference of the caller's. */
struct instance_template *template_get(struct instances *set, struct app_entry *entry,
                                       struct str data, struct err *e);
struct instance_template *template_ref(struct instance_template *t);
void template_unref(struct instance_template *t);
/* Lets go of those that nobody refers to or asked for since BEFORE_MS. True when there were some.
 */
bool templates_forget(struct instances *set, int64_t before_ms);
/* Calls W->fn when T is ready, perhaps at once, or cannot be. W->node stays linked until then. */
void template_want(struct instance_template *t, struct template_wait *w);
/* An open reader that nobody uses, or NULL; and back. */
struct app_handle *template_take_reader(struct instance_template *t);
void template_give_reader(struct instance_template *t, struct app_handle *x);
/* Closes the readers that nobody used since BEFORE_MS. */
void template_close_readers(struct instance_template *t, int64_t before_ms);
