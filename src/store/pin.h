/* SPDX-License-Identifier: MIT */
/* The store as it is at one moment, while its writer goes on: what a backup copies. A pin is a
 * connection of its own with a read transaction; as long as it is held the log of the database
 * cannot be cut back, so it should not be kept for longer than a copy takes. */
#pragma once

#include "base/err.h"

struct store_pin;

/* Pins what is committed in the database at PATH. Takes about a millisecond. NULL with E filled. */
struct store_pin *store_pin(const char *path, struct err *e);
void store_pin_free(struct store_pin *p);
/* Writes a database of that moment to TO, which must not be there; nothing is left of it on
 * failure. Any thread, as long as it is one at a time. 0 or -errno with E filled. */
int store_pin_copy(struct store_pin *p, const char *to, struct err *e);

/* Keeps every service away from the database at PATH until the descriptor is closed. -EBUSY when
 * one has it. */
int store_lock(const char *path, struct err *e);
