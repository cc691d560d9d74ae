/* SPDX-License-Identifier: MIT */
/* The graph of the server "localmemory" as a file, for the table in requests.c. */
#pragma once

#include "local/request.h"

/* Replaces the file by the body; the parameter "benchmark" says which file it is. */
void memory_put(struct request *q);
/* Nobody has called for a while: lets go of the memory that calls use again. */
void memory_rest(void);
