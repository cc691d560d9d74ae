/* SPDX-License-Identifier: MIT */
/* A member of a pool, from the request for its cell to its hand-out. Internal to core/pool*.c. */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "core/sandbox.h"
#include "net/http_client.h"

struct pool;
struct pool_ask;
struct pool_member;
struct sandbox_start;

/* It is ready (E is NULL), or could not be made; the callee may free it. */
typedef void pool_member_fn(void *ctx, struct pool_member *m, const struct err *e);

struct pool_member_args {
    struct core *core;
    const struct template *template;
    struct list *asks; /* struct pool_ask: cells that are being built; outlives all members */
    pool_member_fn *fn;
    void *ctx;
};

struct pool_member {
    struct list node;  /* in its pool */
    struct pool *pool; /* whose it is */
    struct pool_member_args args;
    struct sandbox *sb;          /* what it is shown as; in no set */
    struct pool_ask *ask;        /* for its cell, while that is waited for */
    struct http_call *claim;     /* in progress, or NULL */
    struct buf body;             /* of the claim */
    struct sandbox_start *start; /* in progress, or NULL */
    int64_t began_us;
    uint64_t root; /* of its cell, as it was */
    bool is_ready;
};

/* One that nobody knows yet; NULL with E filled. */
struct pool_member *pool_member_new(const struct pool_member_args *args, struct err *e);
/* Asks for its cell; FN follows, perhaps before this returns. 0, or -errno after FN was called. */
int pool_member_begin(struct pool_member *m);
/* Forgets the cells that no engine will report any more. */
void pool_asks_free(struct list *asks);
/* Ends what is left of it. */
void pool_member_free(struct pool_member *m);
/* It belongs to T now, which says the same as its template. */
void pool_member_follow(struct pool_member *m, const struct template *t);
/* Whether the root of cells is another one since it was built. */
bool pool_member_is_outdated(const struct pool_member *m);
/* Whether SB can have its cell. */
bool pool_member_fits(const struct pool_member *m, const struct sandbox *sb);
/* Gives SB its cell, under SB's id and with SB's limits. 0, or -errno: then it has none any more.
 */
int pool_member_give(struct pool_member *m, struct sandbox *sb);
