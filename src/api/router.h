/* SPDX-License-Identifier: MIT */
/* Finds the route of a request. All tables are compiled once into a tree of path segments; a
 * lookup visits each node of the tree at most once and allocates only for escaped segments.
 *
 * Which paths are the same:
 *  - segments are compared decoded ("/%61pi" is "/api"), but an encoded slash stays inside its
 *    segment: "/a%2Fb" is one segment;
 *  - "." and ".." segments, escaped or not, and malformed escapes are refused (400), never
 * resolved;
 *  - one slash at the end is ignored unless a pattern ends in one; other empty segments match
 *    nothing but the rest of a "{name*}";
 *  - literal segments win over "{name}", and both over "{name*}"; where the better pattern lacks
 *    the method, the next one is asked;
 *  - a "{name!}" takes a segment that router_set_known() knows, and then no other parameter at its
 *    place is asked;
 *  - HEAD is served by GET. */
#pragma once

#include "api/route.h"
#include "base/arena.h"
#include "base/err.h"

enum { ROUTER_MAX_PARAMS = 8, ROUTER_MAX_DEPTH = 16 };

struct router;

enum router_result {
    ROUTER_FOUND,
    ROUTER_NO_PATH,   /* 404 */
    ROUTER_NO_METHOD, /* 405, or the answer to OPTIONS */
    ROUTER_BAD_PATH   /* 400 */
};

struct router_match {
    const struct surface *surface; /* always: whose error shape to use */
    const struct route *route;     /* when found */
    unsigned index;                /* of the route among all; router_count() when there is none */
    unsigned allow;                /* methods known at this path, 1 << enum http_method */
    unsigned n_params;
    const struct str *names; /* of the parameters */
    struct str params[ROUTER_MAX_PARAMS];
};

/* Compiles the tables of N surfaces. NULL with E filled when a row is malformed, lies outside
 * its surface's prefixes, or two rows answer the same method and path. */
struct router *router_new(const struct surface *const *surfaces, size_t n, struct err *e);
void router_free(struct router *r);
/* Which segments "{name!}" takes; none before this is called. */
void router_set_known(struct router *r, bool (*is_known)(void *ctx, struct str segment), void *ctx);

/* Finds METHOD and PATH (as sent, without the query). Decoded segments live in A. */
enum router_result router_find(const struct router *r, struct arena *a, enum http_method method,
                               struct str path, struct router_match *ret);
/* The surface that PATH belongs to, known or not. */
const struct surface *router_surface(const struct router *r, struct str path);

/* How many routes there are, and the one of an index (for metrics and documentation). */
unsigned router_count(const struct router *r);
const struct route *router_route(const struct router *r, unsigned index);

/* "GET, HEAD, OPTIONS" for an allow set. */
#define ROUTER_ALLOW_MAX 64
void router_allow_text(char out[ROUTER_ALLOW_MAX], unsigned allow);
