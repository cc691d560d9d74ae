/* SPDX-License-Identifier: MIT */
/* The apps that leases were made from, for core/instance*.c: kept in apps/kept of the state
 * directory while a template of theirs is known, so that an instance goes on with its own tools and
 * tables after a restart with a newer app. */
#pragma once

#include "core/instance_internal.h"

/* Keeps what ENTRY was loaded from. On a worker's thread. What cannot be kept is not: the instance
 * then gets the app as it is at the next start. */
void instances_keep(const struct instances *set, const struct app_entry *entry);
/* The app that IN's lease was made from, as it is or as it was kept: a reference of the caller's.
 * NULL when there is neither; with a lease of before apps were kept, as it is. */
struct app_entry *instance_find_app(struct instance *in);
/* Removes what no template needs; at the start also copies that were not completed. */
void instances_sweep_kept(const struct instances *set, bool is_start);
