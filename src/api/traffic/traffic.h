/* SPDX-License-Identifier: MIT */
/* Requests to what listens inside sandboxes, as clients of E2B address it: by host name, by
 * headers (proxy/destination.h), by /sandboxes/router/{id}/{port}/…, or by the signature of a
 * file's address, which names nothing at all.
 *
 * Port 49983 is the sandbox's own service, which asks for its own token; the other ports belong to
 * whatever runs inside, and are open to anybody unless the sandbox was made private. Keys of ours
 * never reach the inside, wherever they stand; everything else of a request does. */
#pragma once

#include "api/origin.h"
#include "api/req.h"
#include "api/route.h"
#include "proxy/destination.h"

struct sandbox;
struct traffic_tries;

/* The port of the service that E2B calls envd. */
#define TRAFFIC_ENVD_PORT 49983
/* Tells that service one start of the daemon from another; clients cannot set it. */
#define TRAFFIC_BOOT_HEADER "x-tidepool-boot"
/* The row that all traffic is counted under. */
#define TRAFFIC_PATTERN "/sandboxes/router/{id}/{port}/{path*}"

/* A request to a port of a sandbox. */
struct traffic {
    struct str id;
    uint16_t port;
    struct str target; /* path and query as the service is to see them */
    struct str prefix; /* what was taken off the path; empty: nothing */
    enum origin_kind origin;
    bool is_proven; /* the sandbox's token was shown: it may be resumed */
};

/* Answers a request whose place is a sandbox, or a mistake. */
void traffic_handle(struct api_req *r, const struct destination *place);
/* True when R asks for a file by nothing but a signature: then it is answered. */
bool traffic_handle_signed(struct api_req *r);
/* /sandboxes/router/{id}/{port}/{path*} */
api_handler traffic_router;

/* ---- signatures (signed.c) ---- */

struct signature;
/* The signature that R's query carries for a file; NULL when R is no such request. */
const struct signature *traffic_signature(struct api_req *r);
/* True when it was made with TOKEN, of a sandbox; in constant time. */
bool traffic_is_signed_with(const struct signature *s, const char *token);

/* The sandbox whose token made S; NULL when there is none, or T has no tries left (*RET_BUSY). */
struct sandbox *traffic_find_signer(struct traffic_tries *t, const struct core *core,
                                    const struct signature *s, bool *ret_busy);

/* ---- faults (faults.c) ---- */

struct traffic_fault {
    int status;
    struct str id;
    uint16_t port; /* 0: the fault is not about one */
    const char *message;
};

/* {"sandboxId","message","port","code"}; a page when a browser asks for one. */
void traffic_fault(struct api_req *r, const struct traffic_fault *f);
/* The answer when there is no such sandbox, or it does not run. */
void traffic_not_found(struct api_req *r, struct str id);
