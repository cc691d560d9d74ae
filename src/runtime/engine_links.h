/* SPDX-License-Identifier: MIT */
/* Which spawner makes the next cell, and what becomes of the others. Internal header of the engine.
 */
#pragma once

#include "runtime/engine_link.h"

/* The one for the next cell, engine.spawner from now on; NULL: none now, though one may be on its
 * way. */
struct spawner_link *engine_link_choose(struct engine *en);
/* One that will make cells is on its way. */
bool engine_link_is_starting(const struct engine *en);
/* -ENOTCONN with E filled when no cell can be made, nor soon. */
int engine_link_check(struct engine *en, struct err *e);
/* Something is being built: looks now and then whether spawners answer. */
void engine_link_listen(struct engine *en);
/* S has lost a cell: it ends when that was the last, unless new ones are made by it. */
void engine_link_look(struct spawner_link *s);

/* An attempt to reach S has ended: 0, or R < 0 with the reason. S may be freed. */
void engine_attached(struct spawner_link *s, int r, const struct err *e);

/* Reaches all spawners; waits for that. */
int engine_links_open(struct engine *en, struct err *e);
/* Lets go of them. */
void engine_links_close(struct engine *en);
/* Ends them with all cells, within a few seconds, before that. */
void engine_links_end(struct engine *en);
