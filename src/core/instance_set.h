/* SPDX-License-Identifier: MIT */
/* All instances of the service, from its start to its stop. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct app_registry;
struct config;
struct core;
struct instances;

/* Reads what the store has; leases that have ended meanwhile are released, files without an owner
 * removed. NULL with E filled. */
struct instances *instances_open(struct core *c, struct err *e);
/* Waits a few seconds for the operations under way. Nothing may be asked afterwards. */
void instances_stop(struct instances *set);
/* How many of them did not end. When that is not 0, instances_free() frees nothing, and the process
 * has to end by _exit(). NULL is allowed. */
unsigned instances_n_abandoned(const struct instances *set);
void instances_free(struct instances *set);

/* Where the installation's own apps are, in the state directory. */
#define INSTANCES_OWN "apps/own"
/* The apps that the service would have; freed by the caller. NULL with E filled. */
struct app_registry *instances_registry(const struct config *config, struct err *e);

/* The apps that can be acquired. */
struct app_registry *instances_apps(const struct instances *set);
/* Whether an app of that name is in use, perhaps one whose folder is gone. */
bool instances_serve(const struct instances *set, struct str name);
unsigned instances_n_live(const struct instances *set);
unsigned instances_n_open(const struct instances *set);
/* Brings the sampled metrics up to date. */
void instances_sample(struct instances *set);
