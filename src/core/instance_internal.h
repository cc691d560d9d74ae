/* SPDX-License-Identifier: MIT */
/* What the files of core/instance*.c share. */
#pragma once

#include <pthread.h>

#include "apps/catalog/registry.h"
#include "apps/engine/engine.h"
#include "base/map.h"
#include "core/instance.h"
#include "core/instance_set.h"
#include "core/instance_template.h"
#include "store/store.h"

/* ---- engines ---- */

enum { INSTANCE_MAX_ENGINES = 4 };

/* An engine as this service uses it: started when first needed, on a worker's thread. */
struct instance_home {
    pthread_mutex_t lock;
    struct app_home *home;
};

/* ---- an instance that is not idle ---- */

enum { INSTANCE_OWN_NAME = INSTANCE_ID_LEN + 16 };

struct instance_own {
    struct instance *in;
    char name[INSTANCE_OWN_NAME], base[INSTANCE_OWN_NAME]; /* of its databases */
    struct instance_template *template;                    /* NULL: its app is not there any more */
    struct app_handle *handle;                             /* of its own database */
    struct app_handle *reader; /* of the template's, while an operation needs it */
    struct answers *answers;   /* of its own database; NULL: none */
    bool has_copy;             /* there is an own database */
    bool has_base;             /* there is the state after the last import */
    bool is_busy;              /* an operation is under way */
    bool is_restored;          /* what its engine has of it was not looked at yet */
    bool is_waiting;           /* for the template */
    bool is_closing;           /* there is an operation that closes the handle */
    bool is_draining;          /* the queue is being looked at, further up the stack */
    unsigned n_queued;
    struct list queue; /* struct instance_op */
    struct list open;  /* in the set's list of open handles, the one used last comes last */
    int64_t used_ms;
    struct list releasers; /* struct releaser */
    struct template_wait wait;
    struct instance_op drop;                 /* of the release */
    bool is_ttl;                             /* of the release: its time was over */
    char *snapshots[INSTANCE_MAX_SNAPSHOTS]; /* their names */
    unsigned n_snapshots;
    struct instance_calls *calls; /* NULL: none yet */
    struct list unwritten;        /* in the set's list of those with calls that wait */
};

/* Not of instance_op.h: what releases, forks, the limit on open databases and backups do. */
enum { INSTANCE_DROP = INSTANCE_DO_COUNT, INSTANCE_COPY_OUT, INSTANCE_CLOSE, INSTANCE_SAVE };

/* ---- the set ---- */

/* The idle slots of one account and app. */
struct instance_pool {
    struct list idle; /* longest idle first */
};

struct instances {
    struct core *core;
    struct app_registry *registry;
    struct work_pool *workers;
    struct instance_home homes[INSTANCE_MAX_ENGINES];
    struct map by_id, by_lease, by_email; /* the last by account, server and address */
    struct map pools;                     /* by account and server */
    struct map templates;                 /* by name */
    struct map checked;                   /* of app_checks.c, by the app's name */
    struct list occupied;                 /* newest lease first */
    struct list open;                     /* struct instance_own with a handle */
    struct list unwritten;                /* struct instance_own with calls that wait */
    unsigned n_open, n_closing, n_live;
    unsigned n_abandoned; /* jobs that did not end when it was stopped */
    struct loop_timer tick;
    char *dir; /* of the databases */
    bool is_stopped;
};

/* ---- instance.c ---- */

/* An idle slot that nobody knows; NULL without memory. */
struct instance *instance_new(struct instances *set);
void instance_free(struct instance *in);
/* Into the maps / out of them. -ENOMEM, -ENOBUFS, -EEXIST. */
int instance_enter(struct instance *in);
void instance_leave(struct instance *in);
/* A new id for an idle slot, which its row gets with the next update. -ENOMEM. */
int instance_renew_id(struct instance *in);
int instance_begin_own(struct instance *in);
void instance_end_own(struct instance *in);
/* The slot of that address, or NULL. */
struct instance *instance_by_email(const struct instances *set, const char *account,
                                   const char *server, struct str email);
struct instance_pool *instance_pool(struct instances *set, const char *account, const char *server);
/* Makes the lease that IN has been given known, with its timer. */
void instance_make_known(struct instance *in);
void instance_forget_lease(struct instance *in);
int instance_copy_text(char **to, struct str text);
/* Whether it is a part of something else. */
bool instance_is_owned(const struct instance *in);

/* ---- instance_content.c ---- */

/* Does OP, on either thread; what came of it is in OP. IS_BRIEF: -EAGAIN when it takes long. */
int content_run(struct instance_op *op, bool is_brief);
/* True when it is short enough for the loop's thread, as far as its kind shows. */
bool content_is_short(enum instance_do what);

/* ---- instance_op.c ---- */

/* For a worker of the set; -EBUSY, or -ESHUTDOWN when it is stopping. */
int instances_submit(struct instances *set, struct work *w);
/* instance_do() without its checks. */
void instance_forget_answers(struct instance *in);
void instance_enqueue(struct instance *in, struct instance_op *op);
/* All that wait end with -ENOENT, but for what a backup has asked for. */
void instance_fail_queue(struct instance *in);
void instance_close_handle(struct instance *in, bool is_dropped);
/* Closes what was not used since BEFORE_MS, and the longest unused over MAX. */
void instances_close_idle(struct instances *set, int64_t before_ms, unsigned max);

/* ---- instance_store.c ---- */

void instance_tx_insert(struct store_tx *tx, const struct instance *in);
void instance_tx_delete(struct store_tx *tx, const struct instance *in);
void instance_tx_update(struct store_tx *tx, const struct instance *in);
void instance_tx_acquired(struct store_tx *tx, const struct instance *in);
void instance_tx_released(struct store_tx *tx, const struct instance *in, bool is_ttl);
/* Reads all rows; FN owns what it gets. */
int instances_load(struct instances *set, void (*fn)(struct instance *in, struct str key_id),
                   struct err *e);

/* ---- instance_lease.c ---- */

void instance_on_timer(struct loop_timer *t);
