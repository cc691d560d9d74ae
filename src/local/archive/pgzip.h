/* SPDX-License-Identifier: MIT */
/* gzip on several threads: a stream like base/deflate.h, whose pieces are compressed beside each
 * other. What fits into one piece needs no thread. */
#pragma once

#include "base/deflate.h"

struct pgzip;

/* SINK is called on the thread of the caller of the functions below. NULL when memory ran out. */
struct pgzip *pgzip_new(deflate_sink *sink, void *ctx);
void pgzip_free(struct pgzip *g);
/* 0, -errno, or what the sink returned; then every further call returns the same. */
int pgzip_feed(struct pgzip *g, const void *p, size_t len);
int pgzip_finish(struct pgzip *g);
