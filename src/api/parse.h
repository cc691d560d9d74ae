/* SPDX-License-Identifier: MIT */
/* Bodies that may be long (ROUTE_LONG_JSON): what takes long to parse is parsed on a worker, in
 * turn by account. */
#pragma once

#include "api/req.h"

/* Parses R's body and calls THEN with R's `long_body` set, perhaps before this returns; answers
 * itself when it cannot be done. Of a short one nothing is done but THEN. */
void api_parse_long(struct api_req *r, void (*then)(struct api_req *r));

/* R's body as JSON; NULL when it is empty, or with E. */
struct json *api_parsed(struct api_req *r, struct err *e);
