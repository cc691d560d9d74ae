/* SPDX-License-Identifier: MIT */
/* The default template: nothing of the host shows through but its /usr. Everything else of a root
 * file system (/etc, /home, /root, /var, /tmp …) is a small skeleton of ours, built once below the
 * state directory and used as a lower layer.
 *
 * Files below /usr are public to every cell, whatever their mode says: root of a cell reads them as
 * root. Debian keeps no secrets there; operators must not either. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* Where cells have the tools of workspaces (src/local). */
/* Where default templates are, below the state directory: one for each state of the host. */
#define TEMPLATE_DEFAULTS "templates/default"
#define TEMPLATE_LOCAL    "opt/tidepool/tidepool-local"

/* Makes sure that the skeleton for this host is in STATE/templates/default/KEY and stores its path.
 * KEY changes with what is copied from the host, so that a template in use never changes. LOCAL is
 * the program tidepool-local; cells do without it when it is not there. */
int template_build_default(const char *state, const char *local, char *ret_path, size_t size,
                           struct err *e);
