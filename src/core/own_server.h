/* SPDX-License-Identifier: MIT */
/* MCP servers that the operator adds to local sandboxes: the setting local.servers, a mapping of
 * names to
 *
 *     {command: …, args: […], env: {…}, title: …, timeout: 5m}
 *
 * What they do: docs/adr/0009. */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

enum {
    OWN_SERVERS_MAX = 32,
    OWN_NAME_MAX = 64,
    OWN_SETTINGS_MAX = 32 << 10, /* bytes of one server's */
    OWN_TIMEOUT_MS = 300000
};

struct own_server {
    const char *name;
    const char *title;    /* NULL: none */
    const char *settings; /* for tidepool-local: base64 of JSON, see local/bridge/bridge.h */
};

struct own_servers {
    struct arena arena;
    struct own_server items[OWN_SERVERS_MAX];
    size_t n;
};

/* What is wrong with the mapping V, for the setting's row: -EINVAL, -ENOMEM with E filled, or 0. */
int own_servers_check(const struct json *v, struct err *e);
/* Reads TEXT, a value that was checked, as JSON; NULL: there are none. 0 or -ENOMEM. */
int own_servers_load(struct own_servers *s, const char *text, struct err *e);
void own_servers_done(struct own_servers *s);
const struct own_server *own_server_find(const struct own_servers *s, struct str name);
