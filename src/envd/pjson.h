/* SPDX-License-Identifier: MIT */
/* The JSON mapping of proto3, as far as E2B's messages use it: a message is a table of fields, and
 * one function reads any message by its table. Writing is done by hand with base/json.h and the
 * helpers below, which leave out what has its default.
 *
 * Accepted: lowerCamel and snake_case names, enum names and numbers, numbers as text, both base64
 * alphabets with or without padding; null is absent, unknown members are ignored, an unknown enum
 * name is 0. Two members of one oneof are an error. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

enum pjson_type {
    PJSON_STRING,  /* struct str */
    PJSON_BYTES,   /* struct str, decoded */
    PJSON_BOOL,    /* bool */
    PJSON_U32,     /* uint32_t */
    PJSON_ENUM,    /* int32_t; of: the table of names */
    PJSON_STRINGS, /* char **, NULL-terminated; a NUL byte inside one is an error */
    PJSON_MAP,     /* const struct json *, an object with strings only */
    PJSON_MESSAGE, /* pointer to the struct of the message; of: its table */
    PJSON_TYPE_COUNT
};

struct pjson_name {
    const char *name; /* NULL: the end */
    int32_t value;
};

struct pjson_message;

struct pjson_field {
    const char *name; /* lowerCamel */
    enum pjson_type type;
    uint8_t oneof; /* members of one oneof have the same number; 0: none */
    size_t offset; /* in the struct of the message */
    union {
        const struct pjson_message *message;
        const struct pjson_name *names;
    };
};

/* The struct of a message begins with `uint32_t has`: bit i says that field i was there. */
struct pjson_message {
    size_t size;
    size_t n_fields; /* at most 32 */
    const struct pjson_field *fields;
};

enum { PJSON_STRINGS_MAX = 4096, PJSON_MAP_MAX = 1024 };

/* Reads V (an object) as a message TYPE into a new struct in A: absent fields are zero. NULL with E
 * filled (-EINVAL, -ENOMEM). Strings point into V. */
void *pjson_read(struct arena *a, const struct pjson_message *type, const struct json *v,
                 struct err *e);
/* True when field INDEX of the struct at MESSAGE was there. */
static inline bool pjson_has(const void *message, unsigned index)
{
    return *(const uint32_t *)message >> index & 1;
}

/* Write a member unless it has its default. */
void pjson_put_str(struct jw *w, const char *key, struct str s);
void pjson_put_u32(struct jw *w, const char *key, uint32_t v);
void pjson_put_bool(struct jw *w, const char *key, bool v);
/* As decimal text, which is how 64 bits are written. */
void pjson_put_i64(struct jw *w, const char *key, int64_t v);
/* Write a member always. */
void pjson_put_bytes(struct jw *w, const char *key, struct str bytes);
/* RFC 3339 with 0, 3, 6 or 9 digits of fraction. */
void pjson_put_time(struct jw *w, const char *key, int64_t seconds, uint32_t nanos);
