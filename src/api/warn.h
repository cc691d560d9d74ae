/* SPDX-License-Identifier: MIT */
/* What a request has and nobody reads: most often a misspelt member. Where the original of a
 * surface ignores it, the answer says so beside its result, in the header Tidepool-Warning and,
 * where the surface has it, in the member "warnings"; where a schema is closed
 * ("additionalProperties": false) the request is refused. */
#pragma once

#include "api/req.h"

enum { WARN_MAX = 8, WARN_NAME_MAX = 64 }; /* warnings of a request; bytes of a name in one */

/* The property of SCHEMA that NAME was probably meant to be; STR_NULL when none is near. */
struct str warn_nearest(const struct json *schema, struct str name);
/* "unknown field 'WHERE.NAME'; did you mean …?", fit for a header; in the arena. */
struct str warn_text(struct arena *a, const struct json *schema, struct str where, struct str name);
/* Adds a text to what the answer of R will warn of; one that is there already is not added. */
void api_warn(struct api_req *r, struct str text);

/* Looks for query parameters that R's row does not name, where it is a row of a key's. */
void api_check_query(struct api_req *r);
/* Looks for members of R's JSON body that the schema of its row does not know. False after
 * refusing the request. */
bool api_check_body(struct api_req *r);
/* BODY with R's warnings as its last member, where it is an object and the surface has them. */
struct str api_with_warnings(struct api_req *r, struct str body);
/* Adds the header, when there are warnings. */
void api_add_warnings(struct api_req *r);
