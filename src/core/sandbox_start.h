/* SPDX-License-Identifier: MIT */
/* What a sandbox has to do after its cell got its identity and before anybody gets it: opening the
 * port by which its template says that it is ready, and running the template's startup command. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct sandbox;
struct sandbox_start;

/* How long a port may take to open, and a startup command to end. */
enum { SANDBOX_PROBE_MS = 60000, SANDBOX_STARTUP_MS = 60000 };

/* True when the template of SB has something to wait for: its port when the main process was just
 * started, else the startup command only. */
bool sandbox_start_is_needed(const struct sandbox *sb, bool has_waited);

/* Waits for the port of SB (unless HAS_WAITED), then runs its startup command (unless FOR_POOL),
 * and calls FN, later and once: E is NULL, or says what went wrong (-ETIMEDOUT, -ECONNRESET). SB
 * must outlive this; its cell may go. NULL without memory. */
struct sandbox_start_args {
    struct sandbox *sb;
    bool has_waited, for_pool;
    void (*fn)(void *ctx, const struct err *e);
    void *ctx;
};
struct sandbox_start *sandbox_start_begin(const struct sandbox_start_args *args);
/* Breaks it off; FN is not called. NULL is allowed. */
void sandbox_start_abort(struct sandbox_start *s);
