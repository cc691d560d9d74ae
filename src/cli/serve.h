/* SPDX-License-Identifier: MIT */
/* The service itself. */
#pragma once

#include "base/err.h"
#include "core/config.h"

/* Runs the service until SIGTERM or SIGINT. 0 after an orderly stop, -errno with E filled when it
 * could not start or broke down. The log is set up by the caller. */
int serve_run(const struct config *c, struct err *e);
