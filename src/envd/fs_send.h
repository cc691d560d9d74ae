/* SPDX-License-Identifier: MIT */
/* A regular file as an answer: conditions, one range, and its bytes as fast as the peer reads.
 * Internal header of src/envd. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

struct http_req;

struct fs_send {
    const char *type; /* Content-Type */
    bool is_gzip;     /* wrap it as gzip, not made smaller, for peers that take nothing else */
};

/* Answers R with the file TAKEN, whose state is ST: 200, 206 or 304. The descriptor is taken over.
 * -ERANGE when the range is outside the file, and -ENOMEM: then the caller answers. */
int fs_send(struct http_req *r, int taken, const struct stat *st, const struct fs_send *how);
