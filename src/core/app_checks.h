/* SPDX-License-Identifier: MIT */
/* Whether the installation's own apps pass their check (apps/check/check.h). Those that come with
 * the program were checked before; the others are when somebody asks, on a worker's thread, and
 * again when their files have changed. */
#pragma once

struct app_entry;
struct instances;

/* Loads the apps that were not, a few in each round of the loop, and checks the own ones; FN is
 * called once, perhaps at once. Without memory or a worker fewer are loaded and checked. */
typedef void app_checks_fn(void *ctx);
void app_checks_run(struct instances *set, app_checks_fn *fn, void *ctx);
/* The first thing that was found wrong with the app as X has it; NULL when nothing was, or it was
 * not checked. */
const char *app_checks_fault(const struct instances *set, const struct app_entry *x);
/* Of the set, when it is freed. */
void app_checks_free(struct instances *set);
