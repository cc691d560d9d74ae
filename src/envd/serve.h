/* SPDX-License-Identifier: MIT */
/* Requests to a cell, as frames on the connections of its control socket (runtime/proto.h). This is
 * the only file that knows the transport. */
#pragma once

#include "base/err.h"
#include "envd/proc.h"
#include "loop/loop.h"

/* Accepts connections on LISTEN_FD for ever. */
int serve_start(struct loop *l, int listen_fd, struct proc_table *procs, struct err *e);
