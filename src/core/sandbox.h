/* SPDX-License-Identifier: MIT */
/* Sandboxes: cells with a name, an owner and a life cycle.
 *
 *     creating → running ⇄ paused → ending → gone
 *
 * Every move is written down with its event in one transaction, and whoever asked for it is told
 * when that is durable. A sandbox is known (sandbox_find()) from the end of its create to the begin
 * of its end; its name is free again when its processes are gone.
 *
 * Timeout and idle timeout run while it is running, not while it is paused. A resume starts both
 * anew. What counts as activity: every sandbox_use() and sandbox_touch(), and the whole time
 * between sandbox_hold() and sandbox_release().
 *
 * Everything belongs to the loop's thread, callbacks included. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/sm.h"
#include "core/account.h"
#include "core/sandbox_access.h"
#include "core/sandbox_args.h"
#include "core/sandbox_figures.h"
#include "core/sandbox_set.h"
#include "loop/loop.h"
#include "runtime/proto.h"

struct engine_cell;
struct store_tx;
struct template;

enum sandbox_state {
    SANDBOX_CREATING,
    SANDBOX_RUNNING,
    SANDBOX_PAUSED,
    SANDBOX_ENDING,
    SANDBOX_GONE,
    SANDBOX_STATE_COUNT
};

struct sandbox {
    struct sm sm; /* enum sandbox_state */
    unsigned n_refs;
    struct sandboxes *set;
    char id[SANDBOX_ID_LEN + 1];
    char name[SANDBOX_NAME_MAX + 1];
    char account[ACCOUNT_ID_MAX + 1];
    char key_id[ACCOUNT_KEY_ID_LEN + 1];
    struct account_key *key; /* whose quota it counts against; NULL when that key is unknown now */
    const struct template *template;

    /* Fixed at the creation, in the arena; all defaults are filled in. */
    struct arena arena;
    struct sandbox_args spec;
    struct cell_spec cell_spec;
    struct sandbox_access access;

    struct engine_cell *cell; /* NULL: not there yet, or gone */

    /* Microseconds since 1970, for people and the store; 0: not so. */
    int64_t timeout_s; /* -1: never */
    int64_t created_us, started_us, expires_us, paused_us, last_active_us;
    /* The same deadlines by the clock that never jumps. */
    int64_t expires_ms, last_active_ms;

    /* Of the life cycle's own. */
    struct loop_timer timer;
    unsigned n_holds;
    bool is_counted; /* in its key's quota */
    bool is_halted;  /* paused without its processes: a resume starts anew, mere use does not */
    struct sandbox_figures figures;
    unsigned end_reason;         /* enum sandbox_end */
    int end_status;              /* of the cell's first process, when it ended by itself */
    enum sandbox_state restored; /* what its row said at the start of the service */
    struct list waiting;         /* for its end */
    struct list node;            /* in the set, newest first */
};

/* ---- finding ---- */

/* The running or paused sandbox of that name / id, or NULL. */
struct sandbox *sandbox_find(const struct sandboxes *set, struct str name);
struct sandbox *sandbox_find_id(const struct sandboxes *set, struct str id);
/* The same, and NULL when KEY may not know of it: neither its account's nor the operator's. ID or
 * name. */
struct sandbox *sandbox_find_for(const struct sandboxes *set, struct str name,
                                 const struct account_key *key);
bool sandbox_is_visible(const struct sandbox *sb, const struct account_key *key);
/* The known ones, newest first: the one after SB (NULL: the first), or NULL. */
struct sandbox *sandbox_next(const struct sandboxes *set, const struct sandbox *sb);

/* A reference keeps the object, not the cell. */
struct sandbox *sandbox_ref(struct sandbox *sb);
void sandbox_unref(struct sandbox *sb);

/* "running" or "paused"; others are shown to nobody. */
const char *sandbox_status(const struct sandbox *sb);
/* Its cell; NULL when it is not running or paused. */
struct engine_cell *sandbox_cell(const struct sandbox *sb);
static inline enum sandbox_state sandbox_state(const struct sandbox *sb)
{
    return (enum sandbox_state)sb->sm.state;
}
/* What every process inside has in its environment ("NAME=value", NULL-terminated), with MORE (an
 * object of strings, or NULL) over it; in A. NULL without memory. */
const char *const *sandbox_env(const struct sandbox *sb, const struct json *more, struct arena *a);

/* ---- moves ---- */

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
 * -EEXIST the name is taken, -EDQUOT over the key's limit, -ENOBUFS too many in all, -EOPNOTSUPP
 * this host cannot do it, -ENOTCONN no cells here. */
int sandbox_create(struct sandboxes *set, const struct sandbox_create *rq, struct err *e);

/* Ends it; FN is called when its processes are gone and that is durable. */
int sandbox_delete(struct sandbox *sb, sandbox_fn *fn, void *ctx);
/* Freezes / continues it. Both are done at once when there is nothing to do. A resume gives it
 * TIMEOUT_S from now on (0: its own). */
int sandbox_pause(struct sandbox *sb, sandbox_fn *fn, void *ctx);
int sandbox_resume(struct sandbox *sb, int64_t timeout_s, sandbox_fn *fn, void *ctx);
/* It ends (or pauses) TIMEOUT_S from now, -1: never, 0 is -EINVAL. A paused one only learns it. FN
 * may be NULL. */
int sandbox_set_timeout(struct sandbox *sb, int64_t timeout_s, sandbox_fn *fn, void *ctx);

/* Somebody wants to use it: notes the activity and resumes it first when it is paused and may be
 * resumed by use. FN gets -EHOSTDOWN when it is paused and stays so; it may be called before this
 * returns. Every call above and this one: 0, or -errno without a call of FN. */
int sandbox_use(struct sandbox *sb, sandbox_fn *fn, void *ctx);
/* Activity now / from now until the release. */
void sandbox_touch(struct sandbox *sb);
void sandbox_hold(struct sandbox *sb);
void sandbox_release(struct sandbox *sb);
