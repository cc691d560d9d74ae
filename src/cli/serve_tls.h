/* SPDX-License-Identifier: MIT */
/* The certificates of the running service: read at the start, and again soon after their
 * files have changed, or at once when asked to. What cannot be read leaves the old ones in use. */
#pragma once

#include "base/err.h"
#include "core/config.h"
#include "loop/loop.h"

struct serve_tls;
struct tls_ctx;

/* *RET is NULL when the configuration has no certificate; that is allowed in all others. 0, or
 * -errno with E filled. */
int serve_tls_open(struct serve_tls **ret, struct loop *loop, const struct config *c,
                   struct err *e);
struct tls_ctx *serve_tls_ctx(const struct serve_tls *t);
/* Reads the files now. */
void serve_tls_reload(struct serve_tls *t);
void serve_tls_close(struct serve_tls *t);
