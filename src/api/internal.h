/* SPDX-License-Identifier: MIT */
/* What the files of api/ share and handlers do not need. */
#pragma once

#include "api/req.h"
#include "core/sandbox_set.h"

struct event_streams;
struct klavis;
struct locals;
struct mcp_server;
struct proxy;
struct webhook;
struct work_pool;
struct schemas;

/* How many tokens may be tried against signatures in a second, and at once. */
#define TRAFFIC_TRIES 50000

/* A store of such tries that fills up as time passes. */
struct traffic_tries {
    int64_t left, at_us;
};

struct api {
    struct core *core;
    struct router *router;
    struct http_server *server; /* may be NULL */
    struct proxy *proxy;        /* into sandboxes */
    struct sandbox_watch ends;  /* of sandboxes, and with them of what is passed on */
    struct mcp_server *mcp;     /* the service's own tools */
    struct mcp_server *cell;    /* those that work in one sandbox */
    struct schemas *schemas;
    struct klavis *klavis;
    struct locals *locals;         /* local sandboxes */
    struct work_pool *readers;     /* of the whole store; NULL before they are needed */
    struct work_pool *parsers;     /* of long bodies, see parse.h; NULL before the first */
    struct event_streams *streams; /* of events; NULL before the first */
    struct webhook *webhook;       /* NULL: none is set */
    struct buf openapi;
    struct router_match traffic; /* of requests that a host name or headers bring into sandboxes */
    struct traffic_tries tries;
    char url[256]; /* under which this machine reaches the service; "": not known */
    char boot[33]; /* distinguishes this start of the service from others */
};

/* The token that a request carries: Authorization: Bearer, X-API-Key, ?api_key=; the first that is
 * not empty. STR_NULL when there is none. */
struct str api_token(const struct http_req *r);
/* The token of an Authorization header's value; STR_NULL when its scheme carries none of ours. */
struct str api_bearer(struct str value);
/* Makes K the one who asks, unless its quota is used up: then answers and returns false. */
bool api_admit(struct api_req *r, struct account_key *k);
/* Lets pages of other origins read the answer, where the surface allows it. */
void api_add_cors(struct api_req *r);

/* Appends QUERY as it may be logged: the values of keys and tokens replaced. */
int api_mask_query(struct buf *out, struct str query);
/* One line for a request that has ended; R is NULL when it never reached the API. */
void api_log(const struct http_req *h, const struct api_req *r);

/* Answers OPTIONS: which methods there are, and the CORS preflight. */
void api_options(struct api_req *r);

/* Appends the OpenAPI document of all surfaces. */
int openapi_write(struct buf *out, const struct surface *const *surfaces, size_t n);

/* The last step before a request's handler: its body is looked at. */
void api_begin(struct api_req *r);
/* Runs the handler of a creating request: at once without an Idempotency-Key, else after the answer
 * of an earlier request was looked for. */
void api_idem_run(struct api_req *r);
/* The request ends: releases what others with the same Idempotency-Key wait for. */
void api_idem_end(struct api_req *r);
