/* SPDX-License-Identifier: MIT */
/* A request as handlers see it: routed, authorised, its body read. A handler decodes, asks core and
 * encodes; it ends with exactly one of the answers below, now or in a later callback. Everything
 * that it needs until then comes from the request's arena. */
#pragma once

#include <stdbool.h>

#include "api/fault.h"
#include "api/router.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "core/account.h"
#include "core/core.h"
#include "net/http_server.h"

struct api;
struct api_long_body;
struct forward;
struct store_tx;

struct api_req {
    struct http_req *http;
    struct arena *arena;
    struct api *api;
    struct core *core;
    struct router_match match;
    struct account_key *key;         /* who asks, with a reference; NULL on open routes */
    struct json *body;               /* of ROUTE_JSON: NULL when the body was empty */
    struct api_long_body *long_body; /* of ROUTE_LONG_JSON, when it is long; see parse.h */
    struct api_idem *idem;           /* of a creating request with an Idempotency-Key, else NULL */
    struct forward *forward;         /* of a request that is passed on into a sandbox, else NULL */
    struct json *warnings;           /* texts: see warn.h; NULL: none */
    bool is_create;                  /* counts as a create of its key until it ends */
    bool has_cors;                   /* what other origins may read is said */
    struct str cause;                /* of an internal error, for the log */
};

/* Parameter NAME of the path; must be one of the route's. */
struct str api_param(const struct api_req *r, const char *name);
/* Query parameter NAME, decoded; STR_NULL when absent. */
struct str api_query(const struct api_req *r, const char *name);
/* True when the caller may see what belongs to ACCOUNT. */
bool api_may_see(const struct api_req *r, struct str account);

/* Records the answer of a creating request in the transaction that creates, so that it can be
 * repeated; does nothing without an Idempotency-Key. 0 or -E2BIG. */
int api_record(struct api_req *r, struct store_tx *tx, int status, struct str body);
/* The same of an answer that is forgotten with THING: see idem_tx_forget(). */
int api_record_of(struct api_req *r, struct str thing, struct store_tx *tx, int status,
                  struct str body);
/* The Idempotency-Key of the request, empty when it has none. */
struct str api_idem_key(const struct api_req *r);

/* ---- answers; R must not be used afterwards ---- */

void api_reply(struct api_req *r, int status, const char *content_type, struct str body);
/* The JSON text in B; a buffer that failed becomes a 500. */
void api_reply_json(struct api_req *r, int status, const struct buf *b);
/* An error in the shape of the request's surface. */
void api_error(struct api_req *r, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void api_fault(struct api_req *r, enum api_fault_kind kind, struct str text);
/* What a failed call into core means to a client: -EINVAL 400, -ENOENT 404, -EEXIST 409, -EDQUOT
 * 429, -EBUSY 503; anything else is 500, and only the log learns why. */
void api_fail(struct api_req *r, int code, const struct err *e);
