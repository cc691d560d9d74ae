/* SPDX-License-Identifier: MIT */
/* Where systemd rules the control groups (version 2), a spawner and its cells live in a scope of
 * their own, which systemd delegates to us: `tidepool-cells-ID.scope` in `tidepool.slice`. Whatever
 * happens to the service's own unit then never touches them, and all controllers are there,
 * wherever the service was started (docs/adr/0013).
 *
 * The conversation is D-Bus by libsystemd, which is loaded for its time. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { SCOPE_NAME_MAX = 128 };
#define SCOPE_SLICE "tidepool.slice"

/* Whether spawners need a scope: BOOTED is a directory (NULL: /run/systemd/system, which systemd
 * makes as init) and MOUNTINFO, the content of /proc/self/mountinfo, has controllers of version 2
 * only. */
bool scope_is_needed(const char *booted, const char *mountinfo);
/* The same for this machine. */
bool scope_is_needed_here(void);

/* The name of the scope for the control groups of INSTANCE. */
void scope_name(char ret[SCOPE_NAME_MAX], const char *instance);

/* Makes the scope NAME with PID in it, and returns when it is there; blocks, for some milliseconds
 * as a rule and for SCOPE_WAIT_MS at most. A scope of this name that is left from a dead spawner is
 * killed first. ADDRESS is that of the bus; NULL: the system bus, and root's own way to systemd
 * where no bus runs. 0 or -errno with E filled. */
enum { SCOPE_WAIT_MS = 15000 };
int scope_enter(pid_t pid, const char *name, const char *address, struct err *e);
