/* SPDX-License-Identifier: MIT */
/* What the files of core/sandbox*.c share. */
#pragma once

#include "base/map.h"
#include "core/event.h"
#include "core/sandbox.h"
#include "core/sandbox_limits.h"
#include "net/http_client.h"
#include "store/store.h"

/* Why a sandbox ends. */
enum sandbox_end {
    SANDBOX_END_NONE,
    SANDBOX_END_DELETED, /* by its owner */
    SANDBOX_END_TIMEOUT,
    SANDBOX_END_IDLE,
    SANDBOX_END_EXITED, /* by itself */
    SANDBOX_END_FAILED, /* while it was made */
    SANDBOX_END_COUNT
};

struct sandboxes {
    struct core *core;
    struct engine *engine; /* NULL: no cells, see why */
    struct egress *egress; /* NULL: cells have no way out */
    struct err why;
    struct disk_spec disk;                 /* of sandboxes that ask for none */
    uint64_t host_disk;                    /* bytes; no disk can be larger */
    struct err lacks[SANDBOX_LIMIT_COUNT]; /* why there is no such limit; code 0: there is */
    struct map by_name, by_id;             /* all that are not gone yet */
    struct list known;                     /* running and paused, newest first */
    struct list creating;                  /* struct creation */
    struct list talks;                     /* struct talk */
    struct list freezings;                 /* struct freezing, of sandbox_freeze.c */
    struct list logs;                      /* struct sandbox_log, oldest first */
    size_t logs_size;                      /* bytes of all */
    unsigned n_logs;
    int64_t swept_ms; /* when old ones were looked for */
    unsigned n_paused;
    struct loop_timer tick; /* looks at their figures */
    struct sandbox *looked; /* the last one that the tick looked at, or NULL */
    bool is_stopped;
    struct list watches; /* struct sandbox_watch */
};

/* ---- sandbox.c ---- */

/* A sandbox that nobody knows yet; NULL without memory. */
struct sandbox *sandbox_new(struct sandboxes *set);
/* Takes its id and name; -EEXIST when the name is taken. */
int sandbox_enter(struct sandbox *sb);
/* Gives them back, and the place in the quota. */
void sandbox_leave(struct sandbox *sb);
/* The end of a create: SB runs now. */
void sandbox_begin(struct sandbox *sb);
/* Starts what sandbox_begin() and a restart have in common: the clock and the place in the list. */
void sandbox_make_known(struct sandbox *sb);
void sandbox_arm(struct sandbox *sb);
/* The same, but it looks at the time in MS milliseconds. */
void sandbox_arm_in(struct sandbox *sb, int64_t ms);
/* Restarts the timeout, from now. */
void sandbox_start_clock(struct sandbox *sb);
/* The sandbox that is ending and has NAME until then, or NULL. */
struct sandbox *sandbox_holder(const struct sandboxes *set, struct str name);
/* Calls FN when SB is gone. 0 or -ENOMEM. */
int sandbox_await(struct sandbox *sb, sandbox_fn *fn, void *ctx);
/* Ends it for REASON; goes on in sandbox_on_gone(). */
void sandbox_end(struct sandbox *sb, enum sandbox_end reason);
/* Writes down that a move failed; returns the code of E. */
int sandbox_note_failure(struct sandbox *sb, enum event_reason reason, const struct err *e);
/* The engine's report of a cell's end. */
void sandbox_on_gone(void *ctx, struct engine_cell *c, int status);

/* ---- sandbox_spec.c ---- */

/* Checks ARGS, fills defaults in and copies all into SB. 0, -EINVAL, -ENOMEM. */
int sandbox_fill(struct sandbox *sb, const struct sandbox_args *args, struct err *e);
/* Gives SB the name that was asked for, or one of its own. */
int sandbox_name(struct sandbox *sb, const struct sandbox_args *args, struct err *e);
/* Puts its id and name into the environment of its processes. */
int sandbox_add_identity(struct sandbox *sb);
/* What was made of it, as JSON text, and back. */
int sandbox_spec_write(struct buf *out, const struct sandbox *sb);
int sandbox_spec_read(struct sandbox *sb, struct str text, struct err *e);

/* ---- sandbox_net.c ---- */
/* Opens the way out of all cells, unless it is switched off. */
int sandboxes_open_egress(struct sandboxes *set, struct err *e);
int sandbox_fill_network(struct sandbox *sb, const struct sandbox_args *a, struct err *e);
/* Lets the cell of SB out as its description says. When this fails it stays closed; -EOPNOTSUPP
 * when the host cannot open it. */
int sandbox_open_network(struct sandbox *sb, struct err *e);

/* ---- sandbox_store.c ---- */

const char *sandbox_end_name(enum sandbox_end reason);
void sandbox_tx_insert(struct store_tx *tx, const struct sandbox *sb);
/* Its row goes, and with it the answer that a repeated create would get: nobody has it. */
void sandbox_tx_undo(struct store_tx *tx, const struct sandbox *sb);
void sandbox_tx_update(struct store_tx *tx, const struct sandbox *sb);
/* Rewrites its description. */
void sandbox_tx_respec(struct store_tx *tx, const struct sandbox *sb);
/* Its end: the row goes, the event stays. */
void sandbox_tx_delete(struct store_tx *tx, const struct sandbox *sb);
/* Writes down when running sandboxes were last used, where that is LEAST_US past what is written.
 * True when it was done for some only. */
bool sandboxes_note_activity(struct sandboxes *set, int64_t least_us);
/* Hands TX over; FN (may be NULL) is called when it is durable. 0 or -errno without a call. */
int sandbox_submit(struct sandbox *sb, struct store_tx *tx, sandbox_fn *fn, void *ctx);
/* Reads all rows, each as a sandbox that is still being made, with what the row says in `restored`;
 * FN owns it. */
int sandboxes_load(struct sandboxes *set, void (*fn)(struct sandbox *sb), struct err *e);

/* ---- sandbox_create.c ---- */

/* Stops talking to cells; what is being written still ends. */
void sandboxes_stop_creations(struct sandboxes *set);
/* Forgets the creates in progress; nobody is notified. */
void sandboxes_drop_creations(struct sandboxes *set);

/* ---- sandbox_talk.c ---- */

/* True when it has a process of its own to start. */
bool sandbox_has_main(const struct sandbox *sb);
/* What its cell gets, with the main process or without. */
void sandbox_put_claim(struct buf *out, const struct sandbox *sb, bool with_main);
/* POSTs BODY, which must live until the answer, to its first process. NULL when that cannot be. */
typedef void sandbox_answer_fn(void *ctx, const struct http_response *r);
struct http_call *sandbox_post(const struct sandbox *sb, struct str target, const struct buf *body,
                               sandbox_answer_fn *fn, void *ctx);
/* 0 when the answer is a success; else -errno with E filled. */
int sandbox_read_answer(const struct http_response *r, struct err *e);
/* Tells a cell that was found again who it is: a create may have been cut short before that. */
void sandbox_tell_again(struct sandbox *sb);
/* sandbox_halt() for REASON. */
int sandbox_halt_for(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx);
/* Starts a paused one again without the processes it had. */
int sandbox_reboot(struct sandbox *sb, const struct sandbox_resume *how, sandbox_fn *fn, void *ctx);
/* sandbox_freeze() that keeps the log first. */
int sandbox_pause_for(struct sandbox *sb, enum sandbox_end reason, sandbox_fn *fn, void *ctx);
/* Ends the processes of SB, which was running, after its log was kept. */
void sandbox_kill_later(struct sandbox *sb);
/* Breaks off all moves that wait; nobody is notified. */
void sandboxes_stop_talks(struct sandboxes *set);
