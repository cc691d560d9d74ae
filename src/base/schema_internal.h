/* SPDX-License-Identifier: MIT */
/* The compiled form of a schema, which schema_compile.c makes and schema.c runs. */
#pragma once

#include <stdbool.h>

#include "base/regex.h"
#include "base/schema.h"

/* Types as JSON Schema counts them: an integer is a number as well. */
enum schema_type {
    SCHEMA_NULL,
    SCHEMA_BOOLEAN,
    SCHEMA_INTEGER,
    SCHEMA_NUMBER,
    SCHEMA_STRING,
    SCHEMA_ARRAY,
    SCHEMA_OBJECT,
    SCHEMA_TYPE_COUNT
};

const char *schema_type_name(enum schema_type t);

struct schema_format {
    const char *name;
    bool (*is_valid)(struct str s);
};

/* The format's row, or NULL when it is one that is not checked. */
const struct schema_format *schema_find_format(struct str name);

struct schema_property {
    struct str name;
    const struct schema *schema;
    const struct json *default_value; /* NULL: none */
};

struct schema_list {
    const struct schema **v;
    uint32_t n;
};

#define SCHEMA_NO_COUNT UINT64_MAX

/* What is absent is NULL, 0 or SCHEMA_NO_COUNT. */
struct schema {
    const struct json *doc;
    struct schema *todo; /* while compiling: the next one to fill in */
    bool is_false;       /* the schema `false`: nothing is valid */
    bool nullable;
    uint8_t types; /* bit per schema_type, 0: any */
    const struct json *enum_values, *const_value;
    uint64_t enum_weight; /* what comparing with all of them costs, in steps */
    uint64_t min_length, max_length, min_items, max_items;
    const struct regex *pattern;
    const struct schema_format *format;
    const struct json *minimum, *maximum, *exclusive_minimum, *exclusive_maximum;
    struct schema_property *properties; /* by name */
    uint32_t n_properties;
    const struct json *required; /* an array of strings */
    const struct schema *additional, *names, *items, *negated, *ref;
    struct schema_list any_of, one_of, all_of;
};
