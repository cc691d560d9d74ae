/* SPDX-License-Identifier: MIT */
/* What the files of the E2B file service share, and its watches. Internal header of src/envd. */
#pragma once

#include "envd/connect.h"
#include "envd/watch.h"

/* How many directories or trees may be watched at the same time, by streams and by polling. */
#define E2B_WATCHES_MAX 256
/* What one watch may hold back for a client that does not read; past it its events are lost, which
 * it is told. */
#define E2B_WATCH_EVENTS_MAX 65536
#define E2B_WATCH_BYTES_MAX  (8 << 20)

struct e2b_watches {
    struct watch_hub hub;
    struct list polled; /* watches that outlive their calls */
    size_t n;
};

void e2b_watches_init(struct e2b_watches *w, struct loop *l);

/* The path that the caller means. NULL: the call has failed. */
const char *e2b_fs_path(struct connect_call *c, struct str path);
