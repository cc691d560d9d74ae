/* SPDX-License-Identifier: MIT */
/* The cell engine, as the daemon uses it: cells from a stock or built on demand, commands in them,
 * freezing, figures, their end. It talks to the spawner (src/envd), a process of its own that
 * outlives the daemon together with the cells; engine_open() finds a living one again.
 *
 * All functions and callbacks run on the loop's thread. A callback may call any function here,
 * except engine_close(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "runtime/cgroup.h"
#include "runtime/proto.h"

struct egress;
struct egress_cell;
struct engine;
struct engine_cell;
struct engine_root;
struct http_client;

struct engine_options {
    const char *state;    /* absolute; created when missing */
    const char *envd;     /* the program tidepool-envd */
    const char *instance; /* names the control groups; NULL: made from the state directory's path */
    enum cgroup_version cgroup; /* CGROUP_NONE: what the host has */
    const char *const *etc;     /* see struct template_source; outlives the engine */
    size_t n_etc;
    unsigned stock;       /* how many cells are kept ready */
    unsigned per_spawner; /* how many cells die with a spawner at most; 0: any number */
    struct cell_spec stock_spec;
    int64_t images_keep_ms;    /* an empty image that nobody uses is removed after this time */
    bool allows_unenforced;    /* create cells although the host cannot keep them to their limits */
    bool is_claimed_by_caller; /* who creates a cell sets its hostname, with /claim */
    struct egress *egress;     /* the way out of cells; NULL: they have none. Outlives the engine */

    /* What templates are made of (engine_root.h); NULL: there is none but "default". */
    int (*find_root)(void *ctx, const char *name, struct engine_root *ret);

    /* Called when a claimed cell is gone, whoever ended it; the cell is freed afterwards. STATUS is
     * that of waitpid(2), or -1 when the spawner died with all cells. May be NULL. */
    void (*on_gone)(void *ctx, struct engine_cell *c, int status);
    void *ctx;
};

/* Connects to the spawner of this build in the state directory, or starts one, and to those of
 * other builds, which go on for the cells that they have; blocks for some milliseconds. NULL with E
 * filled. */
struct engine *engine_open(struct loop *l, const struct engine_options *o, struct err *e);
/* Lets go of everything; cells and spawner go on. Pending callbacks are not called. */
void engine_close(struct engine *en);
/* Ends all cells and the spawner, waits for that, and closes. */
void engine_shutdown(struct engine *en);

/* Whether it can keep cells to a limit; as cgroup_can_limit(). */
bool engine_can_limit(const struct engine *en, unsigned can, struct err *e);
/* Cells that wait in the stock / that were claimed. */
unsigned engine_n_stock(const struct engine *en);
unsigned engine_n_cells(const struct engine *en);
/* Of these: cells of another build of tidepool-envd. */
unsigned engine_n_old_cells(const struct engine *en);
/* Being built, for the stock and for callers. */
unsigned engine_n_building(const struct engine *en);
/* Somebody is busy with cells: refilling the stock waits for a while, so that it does not take the
 * processors from them. Claims, commands and kills count by themselves. */
void engine_note_use(struct engine *en);
/* Process id of the spawner. */
uint32_t engine_spawner_pid(const struct engine *en);

/* What its cells have at their loop devices; see disk_hold.h. */
const char *engine_owner(const struct engine *en);

/* ---- cells ---- */

typedef void engine_cell_fn(void *ctx, struct engine_cell *c, const struct err *e);

/* Hands out a cell called LABEL (also its hostname when the spec names none): from the stock when
 * one fits, and then FN is called before this returns, else built. FN gets NULL and the reason on
 * failure. Returns -errno, without a call, when the request itself is wrong. */
int engine_create(struct engine *en, const char *label, const struct cell_spec *spec,
                  engine_cell_fn *fn, void *ctx, struct err *e);
/* Calls FN for every claimed cell; after engine_open() these are the ones found alive. */
void engine_each(struct engine *en, engine_cell_fn *fn, void *ctx);
/* The claimed cell with this label, or NULL. */
struct engine_cell *engine_find(struct engine *en, const char *label);

const struct cell_info *engine_cell_info(const struct engine_cell *c);
/* False as soon as its first process has ended, also before that is reported. */
bool engine_cell_is_alive(const struct engine_cell *c);
/* Its way out, which allows nothing until it gets a policy; NULL when it has none. Made by the
 * first call, which takes a moment; cells of the stock have it already. */
struct egress_cell *engine_cell_egress(struct engine_cell *c);

/* Ends a cell; on_gone follows. Safe to repeat. */
void engine_cell_kill(struct engine_cell *c);
int engine_cell_limit(struct engine_cell *c, const struct cgroup_limits *l, struct err *e);
int engine_cell_usage(const struct engine_cell *c, struct cgroup_usage *ret, struct err *e);
struct engine_storage {
    uint64_t cache_bytes;           /* of the memory in use: cached files */
    uint64_t disk_used, disk_total; /* bytes, as the cell sees its root; 0: not known */
};
/* What is dearer to find out than the rest of its use. */
void engine_cell_storage(const struct engine_cell *c, struct engine_storage *ret);
/* A TCP connection to PORT inside, first on 127.0.0.1, then on ::1. Non-blocking descriptor, maybe
 * still connecting; -errno (-ECONNREFUSED: nobody listens). */
int engine_cell_connect(struct engine_cell *c, uint16_t port);

/* The first process of a cell serves HTTP (src/envd/serve.h lists the routes). Two ways to it: the
 * engine's client, under this address, which is never reused for another cell; or a connected
 * non-blocking descriptor of one's own (-errno). Requests to a frozen cell wait. The answers come
 * from inside: they are the cell's word. */
struct http_client *engine_http(struct engine *en);
const char *engine_cell_address(const struct engine_cell *c);
int engine_cell_dial(struct engine_cell *c);

struct engine_run {
    const char *user, *cwd;               /* NULL: root; the user's home */
    const char *const *argv, *const *env; /* NULL-terminated; env may be NULL */
    struct str input;
    uint32_t timeout_ms; /* 0: none */
    uint32_t max_output; /* 0: PROTO_OUTPUT_MAX */
    bool is_tied;        /* it ends when nobody waits for it any more */
};

struct engine_result {
    int status; /* of waitpid(2) */
    bool is_timed_out, is_output_cut;
    struct str out, err; /* any bytes; valid during the callback */
};

/* R is NULL when the command could not be started or the cell went away; E says why. */
typedef void engine_run_fn(void *ctx, const struct engine_result *r, const struct err *e);
int engine_cell_run(struct engine_cell *c, const struct engine_run *run, engine_run_fn *fn,
                    void *ctx, struct err *e);
/* Breaks off what was started with CTX and is_tied: FN is called with -ECANCELED. Does nothing when
 * that is over. */
void engine_cell_cancel(struct engine_cell *c, const void *ctx);
/* The body of POST /run (src/envd/serve_run.c) for RUN; the outputs come while it runs. */
int engine_put_stream(struct buf *out, const struct engine_run *run);
