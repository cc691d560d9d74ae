/* SPDX-License-Identifier: MIT */
/* Requests of the command line to the service that runs on the same state directory, through its
 * local socket and with the system key. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "core/config.h"

struct client_request {
    const char *method, *target;
    struct str body; /* JSON, or empty */
};

/* Asks and waits; *ret_data is the "data" of the answer, in A. 0; -ENOTCONN when no service is
 * running; -ENOENT for 404; -EPROTO for other refusals, with the service's words in E. */
int client_ask(const struct config *c, struct arena *a, const struct client_request *rq,
               struct json **ret_data, struct err *e);
