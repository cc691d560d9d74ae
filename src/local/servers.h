/* SPDX-License-Identifier: MIT */
/* The servers that there are, for servers.c. */
#pragma once

#include "local/local.h"

extern const struct local_server filesystem_server; /* filesystem.c */
extern const struct local_server memory_server;     /* memory.c */
