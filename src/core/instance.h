/* SPDX-License-Identifier: MIT */
/* Instances of apps: slots that are lent.
 *
 *     idle → acquiring → occupied → releasing → idle
 *
 * A slot (a test account) belongs to one account and one app and stays. A lease of it has two UUIDs
 * that no other lease ever has: the sandbox id to manage it by, and the instance id, with which an
 * agent calls tools and which is dead when the lease ends. The sandbox id names the idle slot until
 * the next lease, so that a release may be repeated; from then on it names nothing. Slots and
 * leases are rows of the store; whoever asked is answered when the row is durable.
 *
 * The content of an instance begins as its template (the app's schema and a data set), which all
 * share for reading; the first write makes a copy. What was acknowledged survives the death of the
 * service; a loss of power may cost the last seconds of it, or all: then it is as after a reset.
 *
 * Everything belongs to the loop's thread; callbacks may come before their function returns. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "apps/catalog/registry.h"
#include "apps/engine/call.h"
#include "base/list.h"
#include "base/sm.h"
#include "core/account.h"
#include "core/instance_op.h"
#include "loop/loop.h"

struct instances;
struct store_tx;
enum {
    INSTANCE_ID_LEN = 36, /* a UUID in text */
    INSTANCE_MAX = 65536, /* slots in the installation */
    INSTANCE_TTL_DEFAULT_S = 7200,
    INSTANCE_TTL_MIN_S = 60,
    INSTANCE_TTL_MAX_S = 86400,
    INSTANCE_BATCH_MAX = 1000,
    INSTANCE_RECORD_MAX = 200, /* that are lent in one transaction */
    INSTANCE_EMAIL_MAX = 254,
    INSTANCE_WORD_MAX = 64,   /* bytes of a benchmark's or data set's name */
    INSTANCE_TAGS_MAX = 4096, /* bytes of the tags, as JSON */
    INSTANCE_QUEUE_MAX = 1024 /* operations that wait for one instance */
};

enum instance_state {
    INSTANCE_IDLE,
    INSTANCE_ACQUIRING,
    INSTANCE_OCCUPIED,
    INSTANCE_RELEASING,
    INSTANCE_STATE_COUNT
};

struct instance {
    struct sm sm; /* enum instance_state */
    struct instances *set;
    char id[INSTANCE_ID_LEN + 1];        /* "sandbox_id", of the lease or of the last one */
    char stored_id[INSTANCE_ID_LEN + 1]; /* of its row, when that has another one; else "" */
    char lease[INSTANCE_ID_LEN + 1];     /* "instance_id"; "" when there is none */
    char account[ACCOUNT_ID_MAX + 1], server[APP_NAME_MAX + 1]; /* server: the app's name */
    char *email;                                                /* of the test account */
    bool has_own_email; /* which somebody asked for by name */
    bool is_new;        /* not written down yet */
    int64_t created_us, updated_us;

    /* Of the lease. */
    char app[APP_DIGEST_LEN + 1]; /* the digest of the app it was made from; "": not known */
    char *spelling;               /* of the server's name, as it was asked for */
    char *benchmark, *data;       /* "" when none was named */
    char *tags;                   /* JSON: array, object, or "null" */
    char *owner;                  /* see instance_args; NULL or "" when it has none */
    int64_t ttl_s, expires_us;    /* -1 and 0: never */
    int64_t start_us;             /* of its clock; 0: the time of the day */
    uint64_t seed;
    bool has_seed;               /* somebody asked for this one */
    struct instance_own *own;    /* of instance*.c; NULL while idle */
    struct account_key *key;     /* whose quota it counts against, or NULL */
    struct tally *slot, *lent;   /* where the slot and its lease count, or NULL */
    struct loop_timer timer;     /* its end */
    struct list node, idle_node; /* in the set, newest lease first; among the idle ones */
};

/* ---- acquiring ---- */

/* Zeroes and empty strings mean the default; values may point anywhere, they are copied. */
struct instance_args {
    struct account_key *key;
    struct str server;   /* an app's name, in any case */
    struct str spelling; /* to be returned; empty: the app's name */
    struct str email, benchmark;
    struct str data;         /* name of the data set; empty: the benchmark's when there is one */
    const struct json *tags; /* array of strings, or object; or NULL */
    struct str owner;        /* of what it is a part of: then it is in no list and no quota */
    int64_t ttl_s;           /* 0: the default; -1: never */
    bool has_seed;
    uint64_t seed;
    int64_t start_us;
    unsigned count;      /* 0: one */
    struct str snapshot; /* of a fork: the kept state that it begins with; empty: the present one */
    /* NULL, or adds to the one transaction that lends all of ITEMS; CTX is FN's. */
    int (*record)(void *ctx, struct instance **items, size_t n, struct store_tx *tx);
};

typedef void instances_fn(void *ctx, struct instance **items, size_t n, const struct err *e);
typedef void instance_fn(void *ctx, struct instance *in, const struct err *e);

/* Lends one slot, or all of `count`. -ENOENT: no such app; -EAGAIN: none is idle and no more can be
 * made, or the test account is taken; -EDQUOT: the key's limit; -EINVAL: what was asked for cannot
 * be (no such data set); -EUCLEAN: the app is broken; -EOPNOTSUPP: its engine is not here; -ENOMEM,
 * -EBUSY. */
void instances_acquire(struct instances *set, const struct instance_args *args, instances_fn *fn,
                       void *ctx);
/* Makes slots and the template ahead of demand. */
void instances_prepare(struct instances *set, const struct instance_args *args, instances_fn *fn,
                       void *ctx);
/* A new instance with IN's content, clock and random numbers. ARGS: server and data are IN's. */
void instance_fork(struct instance *in, const struct instance_args *args, instances_fn *fn,
                   void *ctx);

/* Ends the lease: what it wrote is dropped, its URL is dead at once. With LEASE not empty and not
 * the present one nothing is done, and FN sees it by IN's state. FN may be NULL. */
void instance_release(struct instance *in, struct str lease, bool is_ttl, instance_fn *fn,
                      void *ctx);

/* ---- finding ---- */

/* The slot with that sandbox id, lent or idle, when KEY may know of it; or NULL. */
struct instance *instance_find(const struct instances *set, struct str id,
                               const struct account_key *key);
/* The occupied one with that lease, or NULL. */
struct instance *instance_by_lease(const struct instances *set, struct str lease);
/* The occupied ones, newest first: the one after IN (NULL: the first), or NULL. */
struct instance *instance_next(const struct instances *set, const struct instance *in);
bool instance_is_visible(const struct instance *in, const struct account_key *key);
/* True when its tags have TAG (an item; a key or a value of an object) / all members of TAGS. */
bool instance_has_tag(const struct instance *in, struct str tag);
bool instance_has_tags(const struct instance *in, const struct json *tags);

static inline enum instance_state instance_state(const struct instance *in)
{
    return (enum instance_state)in->sm.state;
}
/* "idle" or "occupied" */
const char *instance_status(const struct instance *in);
/* Its app; NULL while idle. Lives at least until the loop's next round. */
const struct app *instance_app(const struct instance *in);
/* Changes whenever the app was reloaded: for what is kept per app. */
const char *instance_app_digest(const struct instance *in);
/* A token for auth_data that belongs to this lease: PREFIX and 40 hex digits, always the same. */
struct str instance_token(const struct instance *in, const char *prefix, struct arena *a);
