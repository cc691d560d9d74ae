/* SPDX-License-Identifier: MIT */
/* The requests of tidepool-local: see local/local.h for what they look like. */
#pragma once

#include "base/err.h"
#include "local/local.h"
#include "loop/loop.h"

struct local_serve;

/* Serves on LISTEN_FD, which is taken over. NULL with E filled. */
struct local_serve *local_serve_new(struct loop *loop, const struct local *local, int listen_fd,
                                    struct err *e);
/* Serves on one more, which is taken over. 0 or -errno. */
int local_serve_also(struct local_serve *s, int listen_fd, struct err *e);
