/* SPDX-License-Identifier: MIT */
/* The data of single servers of local sandboxes: /local-sandbox/SERVER/{id}/initialize and dump. A
 * server that has some is a row in state.c; the file local/data/SERVER.json has the schema of its
 * bodies and the default data. What an initialize made is kept for resets. */
#pragma once

#include "api/local/reset.h"
#include "api/req.h"

api_handler local_state_initialize, local_state_dump;
/* For reset_hooks.c. */
void local_state_reset_mail(struct locals *l, struct sandbox *sb, reset_done_fn *done, void *ctx);
