/* SPDX-License-Identifier: MIT */
/* The spawners of an engine: the connections to them and the directories that they live in.
 * Internal header of the engine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "loop/loop.h"
#include "runtime/cgroup.h"

struct engine;
struct engine_cell;

enum { ENGINE_OLD_MAX = 16, ENGINE_PLACE_MAX = 64, ENGINE_SLOTS_MAX = 65536 };

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
    unsigned n_cells;           /* of engine.cells */
    bool is_quitting;           /* it was asked to end */
    struct engine_cell **slots; /* its cells by slot, those of the stock included */
    uint32_t n_slots;
};

/* ---- engine_link.c: what is sent to a spawner, without waiting ---- */

void spawner_link_init(struct spawner_link *s, struct engine *en);
/* Sends engine.out, or queues it. */
int spawner_link_send(struct spawner_link *s);
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

/* ---- engine_place.c: directories of spawners ---- */

/* Names the place of this build's spawner, and makes it. */
int engine_place_choose(struct engine *en, struct err *e);
/* Calls FN with every other place that a spawner left or lives in, until it returns < 0. */
int engine_place_each(struct engine *en,
                      int (*fn)(struct engine *en, const char *place, struct err *e),
                      struct err *e);
/* Its path, and what its control groups are called. */
int engine_place_path(const struct engine *en, const char *place, char *ret, size_t size);
void engine_place_instance(const struct engine *en, const char *place, char *ret, size_t size);
/* The spawner of PLACE has ended in good order: its files go to the trash. */
void engine_place_remove(struct engine *en, const char *place);

/* Removes default templates that no cell can have any more, while there are no cells. */
void engine_place_tidy(struct engine *en);

/* ---- engine_spawner.c: starting, greeting, listing; all blocking ---- */

/* Finds the spawner of its place, or starts one. */
int engine_attach(struct spawner_link *s, struct err *e);
void engine_detach(struct spawner_link *s);
