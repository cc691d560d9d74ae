/* SPDX-License-Identifier: MIT */
/* YAML text to JSON values, with the line of every value.
 *
 * One document, scalars typed as YAML 1.2's core schema says (so `no` and `on` are strings, `0o17`
 * is 15). What a configuration does not need is refused, because it can surprise or explode:
 * anchors and aliases, tags other than !!str, duplicate keys, keys that are no scalars, infinities
 * and NaN. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

#define YAML_MAX_BYTES (1UL << 20)
#define YAML_MAX_DEPTH 32
#define YAML_MAX_NODES 16384

struct yaml_doc {
    struct json *root; /* null for an empty document */
    uint32_t *lines;   /* of the values in document order; for a member the line of its key */
    uint32_t n_lines;
};

/* Parses TEXT into A. -EINVAL malformed or refused, -E2BIG over a limit, -ENOMEM; E says where:
 * "NAME:12: …", and for bad syntax in libyaml's words. */
int yaml_parse(struct arena *a, struct str text, const char *name, struct yaml_doc *ret,
               struct err *e);

/* The line (from 1) of a value of DOC; 0 when V is none of its values. */
uint32_t yaml_line(const struct yaml_doc *doc, const struct json *v);
