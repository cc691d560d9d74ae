/* SPDX-License-Identifier: MIT */
/* The graph of the server "localmemory" as a file, for the table in service/daemon_request_table.c.
 */
#pragma once

#include "local/kit/daemon_request.h"

/* Replaces the file by the body; the parameter "benchmark" says which file it is. */
void memory_put(struct request *q);
/* Nobody has called for a while: lets go of the memory that calls use again. */
void memory_rest(void);
