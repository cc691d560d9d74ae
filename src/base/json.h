/* SPDX-License-Identifier: MIT */
/* JSON values in an arena: strict parser, access, construction and writer.
 *
 * The parser takes RFC 8259 text and nothing else: one value, valid UTF-8, no lone surrogates, no
 * trailing bytes, within the limits. Integers that fit in 64 signed bits stay exact; every other
 * number is a double, and one that no finite double comes near (1e400) is refused. Of members with
 * the same name the last one counts. "-0" is the real -0.0.
 *
 * A value points into its arena and lives as long as that. Functions that read accept NULL and
 * treat it as an absent value, so that lookups can be chained. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum json_type {
    JSON_NULL,
    JSON_BOOL,
    JSON_INT,
    JSON_REAL,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
    JSON_TYPE_COUNT
};

struct json {
    enum json_type type : 8;
    unsigned room : 8; /* for json.c: there is space for 1 << room entries, 0: for these only */
    uint32_t n;        /* items or members */
    union {
        bool b;
        int64_t i;
        double d;
        struct str s; /* NUL-terminated; may hold NUL bytes itself */
        struct json *items;
        struct json_member *members;
    };
};

struct json_member {
    struct str key;
    struct json value;
};

/* ---- parsing ---- */

/* No value may nest deeper than this, whatever the limits say: reading and writing recurse. */
#define JSON_DEPTH_MAX 1024

struct json_limits {
    uint32_t max_depth, max_values; /* nesting; values in all arrays and objects (0: any number) */
    size_t max_bytes;               /* of text */
};
#define JSON_LIMITS_DEFAULT                                                                        \
    {                                                                                              \
        .max_depth = 128, .max_bytes = 64UL << 20                                                  \
    }

/* Parses TEXT; LIMITS NULL means the defaults. On failure returns NULL and E says what and where
 * ("line 3 column 14: expected ',' or '}'"): -EINVAL malformed, -E2BIG over a limit, -ENOMEM. */
struct json *json_parse(struct arena *a, struct str text, const struct json_limits *limits,
                        struct err *e);

/* ---- access (V may be NULL everywhere) ---- */

const char *json_type_name(enum json_type t);
static inline bool json_is(const struct json *v, enum json_type t)
{
    return v && v->type == t;
}
bool json_is_number(const struct json *v);                    /* integer or real */
struct json *json_get(const struct json *v, const char *key); /* member of an object, or NULL */
struct json *json_get_str(const struct json *v, struct str key);
struct json *json_at(const struct json *v, size_t i); /* item of an array, or NULL */
/* RFC 6901 pointer ("/a/0/b", "" is V itself), or NULL. */
struct json *json_pointer(const struct json *v, const char *pointer);
struct json *json_pointer_str(const struct json *v, struct str pointer);
/* The value when it is of that type, else the fallback. Reals with an integral value that fits
 * count as integers. */
struct str json_str(const struct json *v, struct str fallback);
int64_t json_int(const struct json *v, int64_t fallback);
double json_real(const struct json *v, double fallback);
bool json_bool(const struct json *v, bool fallback);
/* Deep equality as JSON Schema means it: 1 equals 1.0, member order does not matter. */
bool json_equal(const struct json *a, const struct json *b);

/* ---- construction; NULL when the arena is exhausted (and every function passes NULL on) ---- */

struct json *json_new_null(struct arena *a);
struct json *json_new_bool(struct arena *a, bool b);
struct json *json_new_int(struct arena *a, int64_t i);
struct json *json_new_real(struct arena *a, double d);    /* not finite: null */
struct json *json_new_str(struct arena *a, struct str s); /* copies */
struct json *json_new_array(struct arena *a);
struct json *json_new_object(struct arena *a);
/* Copies VALUE's node (not what it points to) behind the others. 0, -ENOMEM. */
int json_push(struct arena *a, struct json *array, const struct json *value);
/* Sets or replaces a member; the key is copied. 0, -ENOMEM. */
int json_set(struct arena *a, struct json *object, const char *key, const struct json *value);
int json_set_str(struct arena *a, struct json *object, struct str key, const struct json *value);
/* Removes a member; true when it was there. */
bool json_del(struct json *object, struct str key);
/* A deep copy into A. */
struct json *json_copy(struct arena *a, const struct json *v);

/* ---- writing ---- */

/* Pretty: two spaces. Canonical: keys in byte order, integral reals as integers, so that equal
 * values give equal text. */
enum json_style { JSON_COMPACT, JSON_PRETTY, JSON_CANONICAL };
/* Appends V (NULL: null) as text; reals in the fewest digits that read back as the same number.
 * Returns as buf_add(); past JSON_DEPTH_MAX the buffer fails. */
int json_write(struct buf *out, const struct json *v, enum json_style style);
/* Appends S as a JSON string, quotes included; bytes that are no UTF-8 become U+FFFD. */
int json_write_str(struct buf *out, struct str s);

/* Streaming writer: commas and quotes are its business, so that answers can be written without
 * building values first. Errors stick in the buffer; check buf_ok() once.
 *     struct jw w = jw_to(&buf);
 *     jw_object(&w); jw_key(&w, "id"); jw_str(&w, id); jw_end(&w); */
struct jw {
    struct buf *out;
    uint64_t stack; /* one bit per open level: 1 = object */
    uint8_t depth;  /* at most 63 */
    bool needs_comma;
};
static inline struct jw jw_to(struct buf *out)
{
    return (struct jw){.out = out};
}
void jw_object(struct jw *w);
void jw_array(struct jw *w);
void jw_end(struct jw *w); /* closes the innermost open level */
void jw_key(struct jw *w, const char *key);
void jw_key_str(struct jw *w, struct str key);
void jw_str(struct jw *w, struct str s);
void jw_cstr(struct jw *w, const char *s); /* NULL writes null */
void jw_int(struct jw *w, int64_t i);
void jw_real(struct jw *w, double d);
void jw_bool(struct jw *w, bool b);
void jw_null(struct jw *w);
void jw_value(struct jw *w, const struct json *v);
void jw_raw(struct jw *w, struct str json_text); /* must be one whole JSON value */
