/* SPDX-License-Identifier: MIT */
/* The service itself. */
#pragma once

#include "base/err.h"
#include "core/config.h"

/* A sandbox takes five descriptors of the service and three of the spawner, which inherits the
 * limit; each connection takes one. Root may have more than it was given, up to fs.nr_open. */
enum { SERVE_WANTED_FILES = 262144 };

/* Runs the service until SIGTERM or SIGINT. 0 after an orderly stop, -errno with E filled when it
 * could not start or broke down. The log is set up by the caller. */
int serve_run(const struct config *c, struct err *e);
