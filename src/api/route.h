/* SPDX-License-Identifier: MIT */
/* Routes and surfaces as data. An endpoint is one row of its surface's table: the row decides who
 * may call it, how its body is read, what the documentation says, and which function answers. A
 * surface is a family of paths with its own way of telling errors.
 *
 * Rows never check anything themselves: api/api.c does what the row says, in one order, for all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "net/http.h"

struct api_fault;
struct api_req;
struct buf;

typedef void api_handler(struct api_req *r);
/* Repeats the answer that was recorded for an Idempotency-Key. */
typedef void api_replay(struct api_req *r, int status, struct str body);

enum route_auth {
    ROUTE_OPEN,   /* anybody */
    ROUTE_KEY,    /* any valid key; the handler shows only what belongs to it */
    ROUTE_SYSTEM, /* a key of a system account */
    ROUTE_SCRAPE  /* the same or one that may read the metrics, unless the configuration lets
                   * anybody read them */
};

enum route_body {
    ROUTE_NO_BODY,   /* a body is read and dropped */
    ROUTE_JSON,      /* read whole and parsed; an empty one is an absent value */
    ROUTE_BYTES,     /* read whole */
    ROUTE_LONG_JSON, /* the same, and parsed on a worker when it is long: see parse.h */
    ROUTE_STREAM     /* the handler reads it */
};

enum route_flag {
    ROUTE_CREATES = 1, /* a creating POST: honours Idempotency-Key and the limit on creates */
    ROUTE_QUIET = 2,   /* successes are logged at debug only: health checks, scrapes */
    ROUTE_GRADES = 4,  /* also for keys of graders, which can call nothing else */
    ROUTE_REPEATS = 8  /* honours Idempotency-Key; every handler of such a row calls api_record() */
};

/* The method of a row that takes every method. */
#define ROUTE_ANY HTTP_METHOD_COUNT

/* A query parameter or header, for the documentation. */
struct route_arg {
    const char *name, *type, *text;
};

#define ROUTE_MAX_ARGS 8

struct route {
    enum http_method method;
    /* Segments are literal, "{name}" (one segment, not empty), "{name!}" (one that is known, see
     * router.h) or, last, "{name*}" (all the rest, undecoded, may be empty). */
    const char *pattern;
    enum route_auth auth;
    enum route_body body;
    size_t max_body; /* bytes; 0: API_BODY_MAX */
    api_handler *handler;
    api_replay *replay; /* NULL: the recorded body is the answer */
    unsigned flags;
    /* Documentation: the success status (0: 200) and names out of the surface's schemas. */
    int status;
    const char *summary, *request, *response;
    /* Their content types, with commas between several; NULL: application/json where a schema is
     * named, else no body. Of what is not JSON the documentation says that it is text or bytes. */
    const char *request_type, *response_type;
    struct route_arg query[ROUTE_MAX_ARGS];
};

/* The largest JSON body of a route that names no limit of its own. */
#define API_BODY_MAX ((size_t)1 << 20)

/* A named schema: JSON text. They are written in schemas/SURFACE.json, and serve for the
 * documentation and for reading what clients send. */
struct route_schema {
    const char *name, *json;
};
/* Each ends with a row of zeroes. */
extern const struct route_schema e2b_schemas[], klavis_schemas[], mcp_schemas[], native_schemas[],
    openapi_schemas[], ops_schemas[];

/* Appends the body that reports F as a surface does; returns the HTTP status. */
typedef int surface_shape(struct buf *out, const struct api_fault *f);

struct surface {
    const char *name;
    /* Whole leading segments of its paths, NULL-terminated. The surface without any has the paths
     * that no other has. */
    const char *const *prefixes;
    /* Unknown paths need a key too: 401 comes before 404, so that nobody can explore. */
    bool is_guarded;
    bool has_cors; /* browsers of any origin may call it: keys come by header, never by cookie */
    surface_shape *shape;
    const char *error_schema; /* what shape() writes, for the documentation */
    const struct route *routes;
    size_t n_routes;
    const struct route_schema *schemas; /* NULL: none */
    /* Successful answers say in a member "warnings" what of the request was ignored; the header
     * says it on all surfaces. */
    bool has_warnings;
};

/* All surfaces, in the order of the documentation. */
extern const struct surface *const api_surfaces[];
extern const size_t api_n_surfaces;

extern const struct surface surface_ops, surface_native, surface_e2b, surface_klavis, surface_mcp,
    surface_traffic;
