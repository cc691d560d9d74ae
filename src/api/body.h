/* SPDX-License-Identifier: MIT */
/* Members of the request's body, which is an object or absent. Each leaves *RET as it is when the
 * member is absent or null, and answers 400 and returns -EINVAL when it is of another type. */
#pragma once

#include "api/req.h"

int api_body_object(struct api_req *r);
int api_body_str(struct api_req *r, const char *name, struct str *ret);
int api_body_int(struct api_req *r, const char *name, int64_t *ret);
int api_body_bool(struct api_req *r, const char *name, bool *ret);
/* The member, or NULL when it is absent or null. */
const struct json *api_body_member(const struct api_req *r, const char *name);
