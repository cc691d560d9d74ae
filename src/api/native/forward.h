/* SPDX-License-Identifier: MIT */
/* Requests that are answered inside of a sandbox: by its own service (files, log, terminal) or by
 * whatever listens on a port there. */
#pragma once

#include "api/req.h"
#include "proxy/proxy.h"

struct sandbox;

/* The port of the sandbox's own service. */
#define FORWARD_OWN 0

/* dial() of the API's proxy; CTX is the struct core, an address "ID:PORT". */
int native_dial(void *ctx, const char *address, struct err *e);

/* Resumes SB if need be and passes R on to PORT inside, as PASS says; address, fail, done and ctx
 * of it are filled in here. The request counts as use of the sandbox until it is over. */
void native_forward(struct api_req *r, struct sandbox *sb, uint16_t port,
                    const struct proxy_pass *pass);

/* The same for the sandbox's own service, without anything that names the caller. When ENVELOPE is
 * set, JSON that tells a success gets the envelope of the surface and the members that name the
 * sandbox. */
void native_forward_own(struct api_req *r, struct sandbox *sb, struct str target, bool envelope);
