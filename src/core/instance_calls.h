/* SPDX-License-Identifier: MIT */
/* The record of the calls of a lease, for core/instance*.c. Lines of JSON in two files,
 * apps/calls/SLOT.jsonl and the one before it, SLOT.old: together they hold the newest
 * INSTANCE_MAX_CALLS at most. A line is
 *
 *     {"n": 1, "at": "…Z", "tool": "…", "arguments": {…}, "result": "…", "is_error": false, "us":
 * 80}
 *
 * with "is_cut" when arguments or result are longer than INSTANCE_CALL_TEXT_MAX; arguments have
 * their defaults. Of a call that writes the line is written before it is answered; lines of others
 * wait a moment for company, so the death of the service may cost some of those. */
#pragma once

#include "core/instance.h"

struct instance_calls;

/* Adds the call OP, which has ended. On the loop's thread. */
void calls_record(struct instance *in, const struct instance_op *op);
/* Writes what waits, of all that no operation has now. */
void calls_flush_all(struct instances *set);
/* Gives the array for INSTANCE_CALLS. */
int calls_read(struct instance *in, struct instance_op *op, struct err *e);
/* Copies the files into the folder for backups. On a worker's thread, within an operation. */
int calls_save(struct instance *in, struct err *e);
/* Removes all of it, files included. */
void calls_drop(struct instance *in);
/* Flushes and forgets what is in memory. */
void calls_free(struct instance *in);
