/* SPDX-License-Identifier: MIT */
/* URLs that carry their own permission, for a while: to upload or to download one archive of a
 * local sandbox, without a key. The signature covers the purpose, the sandbox, the file and the
 * time, with a key that is derived from the server's secret, so that they outlive a restart. */
#pragma once

#include "api/req.h"

enum { SIGNED_MINUTES = 30 };

enum signed_purpose {
    SIGNED_UPLOAD,
    SIGNED_EXECUTION,
    SIGNED_DOWNLOAD,
    SIGNED_MEMORY, /* the graph of localmemory: see retired.c */
    SIGNED_PURPOSE_COUNT
};

/* A URL for NAME of the local sandbox ID, in R's arena; .p is NULL when memory ran out. */
struct str signed_url(struct api_req *r, enum signed_purpose purpose, struct str id,
                      struct str name);
/* Whether R's own URL is good for PURPOSE; else answers 403 and is false. */
bool signed_check(struct api_req *r, enum signed_purpose purpose);
/* Which purpose R's URL names; SIGNED_PURPOSE_COUNT: none. */
enum signed_purpose signed_purpose(const struct api_req *r);
