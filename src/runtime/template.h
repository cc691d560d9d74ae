/* SPDX-License-Identifier: MIT */
/* The default template: to its user a cell is the machine that it runs on, with everything that is
 * installed there and nothing that is the host's own. Its /usr is the host's. Everything else of a
 * root file system (/etc, /home, /root, /var, /tmp …) is built once below the state directory and
 * used as a lower layer: a skeleton of ours, what Debian's packages put into /etc, and a copy of
 * dpkg's database (docs/adr/0014).
 *
 * Files below /usr are public to every cell, whatever their mode says: root of a cell reads them as
 * root. Debian keeps no secrets there; operators must not either. */
#pragma once

#include <stddef.h>

#include "base/err.h"

/* Where default templates are, below the state directory: one for each state of the host. */
#define TEMPLATE_DEFAULTS "templates/default"
/* Where cells have the tools of workspaces (src/local). */
#define TEMPLATE_LOCAL "opt/tidepool/tidepool-local"
/* Other names of it. */
#define TEMPLATE_GATEWAY     "usr/bin/mcp-gateway"
#define TEMPLATE_INTERPRETER "usr/bin/code-interpreter"

struct template_source {
    const char *root;       /* the host's root directory; NULL: "/" */
    const char *local;      /* the program tidepool-local; cells do without when there is none */
    const char *const *etc; /* more paths below /etc that the operator wants in cells */
    size_t n_etc;
};

/* Makes sure that the template for this host is in STATE/templates/default/KEY and stores its path.
 * KEY changes with what is copied from the host, so that a template in use never changes. Blocks
 * for a few milliseconds, or much longer when there is something to build; any thread may call. */
int template_build_default(const char *state, const struct template_source *from, char *ret_path,
                           size_t size, struct err *e);
