/* SPDX-License-Identifier: MIT */
/* Which sandbox a request is for, by what its head says. Decided before any path is looked at, so
 * that a service inside a sandbox may have every path that we have ourselves. In this order:
 *
 *   Host: PORT-ID.anything             a port of a sandbox; what follows the id in the first label
 *                                      ("-CLIENT", as old clients write it) is ignored
 *   Host: api.DOMAIN                   the E2B control plane, at the root
 *   E2b-Sandbox-Id, E2b-Sandbox-Port   a port of a sandbox. Where the host can be nothing but the
 *                                      door to all of them (localhost, an address, sandbox.*), one
 *                                      without the other is a mistake; elsewhere it means nothing.
 *                                      With a path /sandboxes/router/ID/ of the same id the path
 *                                      decides
 *
 * Pure parsing: whether there is such a sandbox is not known here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/http.h"

enum destination_kind {
    DESTINATION_HERE,    /* the service itself */
    DESTINATION_E2B,     /* the E2B control plane at the root */
    DESTINATION_SANDBOX, /* a port of a sandbox */
    DESTINATION_BAD      /* names a sandbox, but not as it should */
};

enum { DESTINATION_ID_MAX = 63 };

struct destination {
    enum destination_kind kind;
    uint16_t port;
    bool is_by_host;                 /* DESTINATION_SANDBOX: the host is that sandbox's alone */
    char id[DESTINATION_ID_MAX + 1]; /* lower case */
    const char *why;                 /* DESTINATION_BAD */
};

/* DOMAIN is what sandboxes are reached under; it may have a port. */
void destination_find(struct destination *ret, const struct http_head *head, struct str domain);

/* The host under which a browser that reached us by HOST reaches PORT of the sandbox ID: below
 * DOMAIN, with the port of HOST. STR_NULL when HOST is not of the domain, so that nobody knows
 * whether the browser could resolve such a name, or memory ran out. */
struct str destination_host(struct arena *a, struct str host, struct str domain, uint16_t port,
                            const char *id);

/* A port as text: 1 to 65535, digits only; 0 for anything else. */
uint16_t destination_port(struct str text);
