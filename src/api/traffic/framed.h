/* SPDX-License-Identifier: MIT */
/* The streams of remote calls (application/connect+…) on their way out of a sandbox: one that is
 * killed or paused ends them with a last frame that says so, where a reset connection would leave
 * clients to guess. */
#pragma once

#include "api/req.h"
#include "proxy/proxy.h"

struct sandbox;

/* For the answer to R, which lives as long; SB does, too. NULL when memory ran out. */
const struct proxy_filter *framed_new(struct api_req *r, const struct sandbox *sb);
