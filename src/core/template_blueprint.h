/* SPDX-License-Identifier: MIT */
/* The sandbox template: YAML (or JSON) text with the defaults of all sandboxes, in the words of
 * POST /api/v1/sandbox. {{.Sandbox.Name}} and the like stand for values of the sandbox; they are
 * put in after the text was read, so that no value can add a field. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct sandbox_args;

struct blueprint {
    const struct json *doc; /* an object; the names of values are still in it */
};

/* What the names stand for. */
struct blueprint_values {
    struct str name, id, user, template_name, image;
};

/* Reads TEXT into A. 0, or -EINVAL with E filled ("line 3: …"). */
int blueprint_parse(struct arena *a, struct str text, struct blueprint *ret, struct err *e);
/* Fills what ARGS leaves open; in A. 0 or -ENOMEM. */
int blueprint_apply(const struct blueprint *b, const struct blueprint_values *from,
                    struct sandbox_args *args, struct arena *a);
