/* SPDX-License-Identifier: MIT */
/* What can be done with sandboxes: the moves of their life cycle, and using them. See sandbox.h.
 *
 * Every function with a callback returns 0, or -errno without calling it. -ENOENT: the sandbox is
 * ending; -EBUSY: another move of it is under way. */
#pragma once

#include "core/sandbox_args.h"

struct account_key;
struct err;
struct sandbox;
struct sandboxes;
struct store_tx;

/* SB is valid during the call; E is NULL on success. */
typedef void sandbox_fn(void *ctx, struct sandbox *sb, const struct err *e);

struct sandbox_create {
    struct account_key *key; /* who asks */
    struct sandbox_args args;
    /* Adds to the transaction that creates (the answer to repeat); may be NULL. 0 or -errno. */
    int (*record)(void *ctx, struct sandbox *sb, struct store_tx *tx);
    sandbox_fn *fn;
    void *ctx;
};

/* FN is called when the sandbox runs and that is durable, or with the reason why not (SB is NULL
 * then). Returns without a call when the request itself is refused: -EINVAL a malformed field,
 * -EEXIST the name is taken (one that is ending is waited for), -EDQUOT over the key's limit,
 * -ENOBUFS too many in all, -EOPNOTSUPP this host cannot do it, -ENOTCONN no cells here. */
int sandbox_create(struct sandboxes *set, const struct sandbox_create *rq, struct err *e);

/* Ends it; FN is called when its processes are gone and that is durable. */
int sandbox_delete(struct sandbox *sb, sandbox_fn *fn, void *ctx);
/* Calls FN when the sandbox NAME, which is ending already and cannot be found any more, is gone and
 * its name free. -ENOENT when there is none that KEY may know of. */
int sandbox_await_end(const struct sandboxes *set, struct str name, const struct account_key *key,
                      sandbox_fn *fn, void *ctx);

/* Freezes it; done at once when it is paused already. */
int sandbox_pause(struct sandbox *sb, sandbox_fn *fn, void *ctx);
/* Ends all its processes first: only the files stay, and a resume starts the main process again.
 * -EALREADY when it is paused. */
int sandbox_halt(struct sandbox *sb, sandbox_fn *fn, void *ctx);

struct sandbox_resume {
    int64_t timeout_s; /* from now on; 0: its own, -1: never */
    int64_t least_s;   /* it lasts at least that long now, whatever its own time is */
    bool reboots;      /* its processes end first, as if it had been paused by sandbox_halt() */
    bool sets_auto_pause, auto_pause;
};

/* Continues it; done at once when it runs already. */
int sandbox_resume(struct sandbox *sb, const struct sandbox_resume *how, sandbox_fn *fn, void *ctx);

/* It ends (or pauses) TIMEOUT_S from now, -1: never, 0 is -EINVAL. A paused one only learns it. FN
 * may be NULL. */
int sandbox_set_timeout(struct sandbox *sb, int64_t timeout_s, sandbox_fn *fn, void *ctx);
/* The same unless it lasts longer already. */
int sandbox_extend_timeout(struct sandbox *sb, int64_t timeout_s, sandbox_fn *fn, void *ctx);
/* Its time is up now. Only for a running one. */
int sandbox_expire(struct sandbox *sb);

/* Replaces what it may reach; open connections that are not allowed any more are cut. -EINVAL with
 * E filled when the network of A, the only part of it that counts, is malformed. */
int sandbox_set_network(struct sandbox *sb, const struct sandbox_args *a, sandbox_fn *fn, void *ctx,
                        struct err *e);

/* Somebody wants to use it: notes the activity and resumes it first when it is paused and may be
 * resumed by use, for SANDBOX_WOKEN_S at least. FN gets -EHOSTDOWN when it is paused and stays so;
 * it may be called before this returns. */
int sandbox_use(struct sandbox *sb, sandbox_fn *fn, void *ctx);
/* Activity from now until the release. */
void sandbox_hold(struct sandbox *sb);
void sandbox_release(struct sandbox *sb);
