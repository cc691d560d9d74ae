/* SPDX-License-Identifier: MIT */
/* Sandboxes: cells with a name, an owner and a life cycle.
 *
 *     creating → running ⇄ paused → ending → gone
 *
 * Every move is written down with its event in one transaction, and the caller gets its answer
 * when that is durable. A sandbox is known (sandbox_find()) from the end of its create to the begin
 * of its end; its name is free again when its processes are gone.
 *
 * Timeout and idle timeout run while it is running, not while it is paused. A resume starts both
 * again. What counts as activity: every sandbox_use() and sandbox_touch(), and the whole time
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
#include "core/sandbox_log.h"
#include "core/sandbox_moves.h"
#include "core/sandbox_set.h"
#include "loop/loop.h"
#include "runtime/proto.h"

struct engine_cell;
struct root;
struct store_tx;
struct tally;
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
    const struct template *template; /* a reference */
    struct root *root;               /* a reference; NULL: the default template's */
    bool is_plain;                   /* it was asked for without a main process of its own */

    /* What it was made with, in the arena; all defaults are filled in. */
    struct arena arena, network_arena; /* the latter for spec.network, which can be replaced */
    struct sandbox_args spec;
    struct cell_spec cell_spec;
    struct sandbox_access access;

    struct engine_cell *cell; /* NULL: not there yet, or gone */

    /* Microseconds since 1970, for people and the store; 0: not so. */
    int64_t timeout_s; /* -1: never */
    int64_t created_us, started_us, expires_us, paused_us, last_active_us;
    /* The same deadlines by the clock that never jumps. */
    int64_t expires_ms, last_active_ms;
    int64_t noted_us; /* last_active_us as it is written down */

    /* Of the life cycle's own. */
    struct loop_timer timer;
    unsigned n_holds;
    bool is_counted;          /* in its key's quota */
    struct tally *disk_tally; /* the same for the bytes of its disk */
    struct tally *tally;      /* where it counts, of its account or the service; or NULL */
    bool is_halted;  /* paused without its processes: a resume starts it again, mere use does not */
    bool is_talking; /* a move waits for an answer of the cell */
    bool is_overdue; /* it could not be paused when its time was up: that is tried again */
    struct sandbox_figures figures;
    unsigned end_reason;         /* enum sandbox_end */
    int end_status;              /* of the cell's first process, when it ended by itself */
    enum sandbox_state restored; /* what its row said at the start of the service */
    struct list waiting;         /* for its end */
    struct list forwards;        /* of who passes requests on into it, and ends them with it */
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
/* Why nothing inside answers, as a sentence without its period; NULL: it runs. */
const char *sandbox_why_away(const struct sandbox *sb);
/* Its cell; NULL when it is not running or paused. */
struct engine_cell *sandbox_cell(const struct sandbox *sb);
static inline enum sandbox_state sandbox_state(const struct sandbox *sb)
{
    return (enum sandbox_state)sb->sm.state;
}
/* What every process inside has in its environment ("NAME=value", NULL-terminated), with MORE (an
 * object of strings, or NULL) over it; in A. NULL without memory. */
const char *const *sandbox_env(const struct sandbox *sb, const struct json *more, struct arena *a);
