/* SPDX-License-Identifier: MIT */
/* Connections inside another network namespace, found by a socket that lives there. */
#pragma once

#include "base/err.h"

/* http_dial(ADDRESS) as if this thread were in the network namespace of the socket FD, which stays
 * the caller's. Names of unix sockets that begin with "@" belong to a namespace as ports do.
 * Non-blocking socket or -errno. Needs the rights to enter the namespace. */
int netns_dial(int fd, const char *address, struct err *e);
