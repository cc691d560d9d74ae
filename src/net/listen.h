/* SPDX-License-Identifier: MIT */
/* Listening sockets by address text. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Binds and listens on "127.0.0.1:10000", "[::1]:0", "localhost:80", "*:80", "unix:/path" or
 * "unix:@name" (no file: a name of the network namespace); with REUSEPORT several threads may
 * listen on one address. A socket file that nobody listens on any more is replaced. Descriptor
 * (non-blocking) or -errno. */
int http_listen(const char *address, bool reuseport, struct err *e);
/* The port a listening descriptor got, or -errno. */
int http_listen_port(int fd);
