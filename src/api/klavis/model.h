/* SPDX-License-Identifier: MIT */
/* Validation as the original's framework does it. A model is a JSON Schema; a value is read
 * leniently ("90" is an integer where one is wanted, "yes" a boolean), members that the model does
 * not know are dropped unless it keeps them (refused where the schema has additionalProperties
 * false), and every fault is reported, not only the first: with its type, its place, a message and
 * what was sent.
 *
 * Of JSON Schema it knows: type, properties, required, additionalProperties, items, prefixItems,
 * enum, const, anyOf, $ref, minimum, maximum, exclusiveMinimum, minLength, maxLength, pattern,
 * minItems, maxItems and the format email; no other keyword is looked at. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

enum {
    MODEL_MAX_ITEMS = 100,      /* faults that are reported */
    MODEL_MAX_INPUT = 16 << 10, /* bytes of JSON: what is larger is not repeated in an item */
    MODEL_MAX_DETAIL = 2 << 20  /* bytes of all items */
};

/* Where a value is: a list that ends at the root. */
struct model_place {
    const struct model_place *in;
    struct str name; /* .p NULL: an index */
    size_t index;
};

struct model {
    struct arena *arena;
    struct buf *items; /* the faults: JSON objects with commas between them */
    size_t n_items;
    /* The document of a $ref that is not "#/$defs/…"; may be NULL. */
    const struct json *(*find)(void *ctx, struct str name);
    void *ctx;
    /* Told of each member NAME at AT that SCHEMA does not know and that is dropped; may be NULL. */
    void (*on_dropped)(struct model *m, const struct json *schema, const struct model_place *at,
                       struct str name);
    bool keeps_unknown; /* members that the model does not know stay as they are */
    bool has_failed;    /* no memory */
};

/* VALUE (NULL: absent) as MODEL's node SCHEMA in document DOC has it; what needs no change is not
 * copied. NULL when it has faults, which were added to M. */
struct json *model_read(struct model *m, const struct json *doc, struct json *value,
                        const struct model_place *at);

/* A fault. */
struct model_fault {
    const char *type;
    struct str msg;
    const struct json *input; /* NULL: null */
    struct str ctx;           /* JSON text, or empty */
};
void model_add(struct model *m, const struct model_place *at, const struct model_fault *f);

/* The fault of a value that is none of N words: "Input should be 'a', 'b' or 'c'". TYPE is "enum"
 * or "literal_error". */
void model_add_choice(struct model *m, const struct model_place *at, const char *type,
                      const struct json *input, const struct json *words);
