/* SPDX-License-Identifier: MIT */
/* The names of servers that the API knows, whether or not there is an app of that name here: see
 * server.def. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct server {
    const char *name;
    bool has_data;  /* can be initialized and dumped */
    bool is_listed; /* named to those who ask for an unknown one */
};

/* The server of that name or alias, in any case; or NULL. */
const struct server *server_find(struct str name);
/* Number I of all, in the order of the listing; NULL past the end. */
const struct server *server_at(size_t i);
