/* SPDX-License-Identifier: MIT */
/* The spawners of an engine: the connections to them and the directories that they live in.
 * Internal header of the engine. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "loop/loop.h"
#include "runtime/cgroup.h"
#include "runtime/proto.h"

struct engine;
struct engine_cell;
struct spawner_attempt;

enum { ENGINE_OLD_MAX = 64, ENGINE_PLACE_MAX = 64, ENGINE_SLOTS_MAX = 65536 };

/* The names of templates that a spawner knows for sure, last used first: it keeps more. */
enum { LINK_ROOTS_MAX = 16 };
struct link_roots {
    unsigned n;
    char names[LINK_ROOTS_MAX][PROTO_NAME_MAX];
};

/* A spawner, as the engine sees it: that of this build, which makes all new cells, or one of
 * another build, which goes on for the cells that it has (docs/adr/0011). */
struct spawner_link {
    struct list node; /* in engine.old */
    struct engine *engine;
    uint32_t id;                  /* in the addresses of its cells */
    char place[ENGINE_PLACE_MAX]; /* its directory, below the state directory */
    struct loop_io io;
    uint32_t pid;
    uint32_t version; /* of the protocol */
    int sockets_fd;
    struct cgroup cgroup;
    struct list queue; /* packets that its socket had no room for */
    size_t n_queued;
    unsigned n_cells;                /* of engine.cells */
    unsigned n_stock;                /* of engine.stock */
    unsigned n_building;             /* of engine.building */
    char template_root[PATH_MAX];    /* the default template that it knows */
    struct link_roots roots;         /* the others that it has been told of lately */
    bool makes_cells;                /* it is of this build */
    bool is_quitting;                /* it was asked to end */
    bool is_silent;                  /* it has not answered for a while */
    int64_t heard_ms;                /* when something last came from it */
    struct spawner_attempt *attempt; /* to reach it, under way, or NULL */
    struct engine_cell **slots;      /* its cells by slot, those of the stock included */
    uint32_t n_slots;
};

/* ---- engine_link.c: what is sent to a spawner, without waiting ---- */

void spawner_link_init(struct spawner_link *s, struct engine *en);
/* Sends engine.out, or queues it. */
int spawner_link_send(struct spawner_link *s);
/* The same with descriptors, which stay the caller's. */
int spawner_link_send_fds(struct spawner_link *s, const int *fds, size_t n);
/* Sends what was queued, as far as there is room. */
int spawner_link_flush(struct spawner_link *s);
/* Forgets what was queued. */
void spawner_link_drop(struct spawner_link *s);
/* Asks it to end all cells and itself. */
void spawner_link_quit(struct spawner_link *s);
/* Enters C, which takes the place of who had its slot before, or forgets it. */
int spawner_link_enter(struct spawner_link *s, struct engine_cell *c);
void spawner_link_leave(struct spawner_link *s, const struct engine_cell *c);
/* The cell that (SLOT, GENERATION) names, or NULL. */
struct engine_cell *spawner_link_cell(const struct spawner_link *s, uint32_t slot,
                                      uint64_t generation);
/* The one with this id, or NULL. */
struct spawner_link *spawner_link_find(struct engine *en, uint32_t id);

/* ---- engine_spawner_dir.c: directories of spawners ---- */

/* Names the place of this build's spawner, and makes it. */
int engine_place_choose(struct engine *en, struct err *e);
/* Calls FN with every other place that a spawner left or lives in, until it returns < 0. */
int engine_place_each(struct engine *en,
                      int (*fn)(struct engine *en, const char *place, struct err *e),
                      struct err *e);
/* What its control groups are called. */
void engine_place_instance(const struct engine *en, const char *place, char *ret, size_t size);
/* The place of this build's Nth spawner; whether PLACE is one of those. */
void engine_place_number(const struct engine *en, unsigned n, char ret[ENGINE_PLACE_MAX]);
bool engine_place_is_own(const struct engine *en, const char *place);
/* Makes its directories. */
int engine_place_make(const struct engine *en, const char *place);
/* The spawner of PLACE has ended in good order: its files go to the trash. */
void engine_place_remove(struct engine *en, const char *place);

/* Removes default templates that no cell can have any more, while there are no cells. */
void engine_place_tidy(struct engine *en);

/* ---- engine_spawner.c: starting, greeting, listing ---- */

/* Finds the spawner of its place, or starts one, and takes over what it has; waits for that. */
int engine_attach(struct spawner_link *s, struct err *e);
/* The same on a thread; engine_attached() follows. Does nothing while that is under way. */
int engine_attach_later(struct spawner_link *s);
/* While the loop does not go on: takes over what such a thread has found, if it is done. Whether S
 * was reached. */
bool engine_attach_take(struct spawner_link *s);
/* S is about to go: what is under way for it comes to nothing. */
void engine_attach_forget(struct spawner_link *s);
/* Lets go of the connection alone / of everything that S gave us. */
void engine_hang_up(struct spawner_link *s);
void engine_detach(struct spawner_link *s);
/* LAYERS of T as descriptors; how many, or -errno. */
int engine_open_layers(const struct proto_template *t, const char *const *layers,
                       int fds[PROTO_LAYERS_MAX], struct err *e);
int engine_send_template(struct spawner_link *s, bool keeps_cells);
