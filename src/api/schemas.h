/* SPDX-License-Identifier: MIT */
/* The schemas of all surfaces by name, parsed: see struct route_schema. */
#pragma once

#include "base/err.h"
#include "base/json.h"

struct schemas;

struct schemas *schemas_new(struct err *e);
void schemas_free(struct schemas *s);
/* NULL when there is none of that name. */
struct json *schemas_get(const struct schemas *s, struct str name);
