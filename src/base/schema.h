/* SPDX-License-Identifier: MIT */
/* JSON Schema: validation of values against the keywords that tool catalogs use:
 *
 *   type (name or list) enum const · properties required additionalProperties propertyNames · items
 *   minItems maxItems · minLength maxLength pattern format · minimum maximum exclusiveMinimum
 *   exclusiveMaximum · anyOf oneOf allOf not · $ref (#, #/$defs/x, any local pointer) $defs
 *   definitions · nullable · true / false schemas
 *
 * Formats: date-time date time email hostname ipv4 ipv6 uri uuid; others are not checked. default,
 * description, title, examples and unknown keywords carry no assertion; what stands beside $ref
 * counts. nullable adds null to type. A schema is compiled once (which finds its mistakes) and can
 * then be used from any thread. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct schema;

/* Compiles DOC into A. DOC and A must outlive the schema. NULL with E filled when DOC is not a
 * valid schema (bad type name, unknown $ref, malformed pattern, negative minLength…), as
 * "/properties/n/minLength: must be an integer, 0 or more"; or with -ENOMEM. */
struct schema *schema_compile(struct arena *a, const struct json *doc, struct err *e);

#define SCHEMA_PATH_MAX 256

/* The first violation found. */
struct schema_error {
    char path[SCHEMA_PATH_MAX]; /* JSON pointer to the value, "" is the root */
    const char *keyword;        /* the keyword that failed, "" for the work limit */
    char text[256];             /* "expected integer, got string" */
};

/* 0, or -EINVAL with ERR filled (may be NULL), or -E2BIG when the work limit is passed: steps are
 * bounded so that a small value cannot cost seconds whatever the schema is. */
int schema_check(const struct schema *s, const struct json *value, struct schema_error *err);

/* Gives VALUE's absent members their `default`, in all nested objects that the schema describes by
 * properties (through items, allOf and $ref; not through anyOf/oneOf). A default is taken as it is:
 * what is absent in it stays so. 0, -ENOMEM or, past the work limit, -E2BIG. */
int schema_defaults(struct arena *a, const struct schema *s, struct json *value);
