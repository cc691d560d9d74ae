/* SPDX-License-Identifier: MIT */
/* The graph of the server "localmemory", read from its file: a line of JSON per entity and
 * relation. One at a time: the caller holds the server's lock. */
#pragma once

#include "local/local.h"

struct memory_graph {
    struct json *entities, *relations; /* arrays */
};

/* The graph of the file PATH in C's arena, to be changed; empty without a file. 0 or -errno. */
int memory_load(struct local_call *c, const char *path, struct memory_graph *ret);
/* The same to be read only, and only while the lock is held: what was read last stays for the next
 * call as long as the file is the same. */
int memory_look(struct local_call *c, const char *path, struct memory_graph *ret);
/* Lets go of what stayed. */
void memory_forget(void);

/* Puts the members of V that an entity or a relation has, in their order, into a new object behind
 * ARRAY's items. */
void memory_push_entity(struct arena *a, struct json *array, const struct json *v);
void memory_push_relation(struct arena *a, struct json *array, const struct json *v);
