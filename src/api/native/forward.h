/* SPDX-License-Identifier: MIT */
/* Requests that are answered inside a sandbox: by its own service (files, log, terminal) or by
 * whatever listens on a port there. */
#pragma once

#include "api/forward.h"

/* Passes R on to PORT inside SB, as PASS says; faults are reported as the surface does. */
void native_forward(struct api_req *r, struct sandbox *sb, uint16_t port, enum origin_kind origin,
                    const struct proxy_pass *pass);

/* The same for the sandbox's own service, without anything that names the caller. When ENVELOPE is
 * set, JSON of a success gets the envelope of the surface and the members that name the
 * sandbox. */
void native_forward_own(struct api_req *r, struct sandbox *sb, struct str target, bool envelope);
/* The same with BODY, which is in R's arena, in place of the request's; a success passes as it is.
 */
void native_forward_body(struct api_req *r, struct sandbox *sb, struct str target, struct str body);
