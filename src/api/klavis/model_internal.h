/* SPDX-License-Identifier: MIT */
/* Between model.c and model_scalar.c. */
#pragma once

#include "api/klavis/model.h"

struct model_walk {
    struct model *m;
    const struct json *doc; /* what "#/$defs/…" is in */
    unsigned depth;
    bool is_strict; /* nothing is converted */
};

/* Strings, numbers, booleans, null, and what may be anything. */
struct json *model_scalar(struct model_walk *k, const struct json *schema, struct json *value,
                          const struct model_place *at);
/* Adds a fault without ctx; NULL. */
struct json *model_refuse(struct model *m, const struct model_place *at, const char *type,
                          const char *msg, const struct json *input);
