/* SPDX-License-Identifier: MIT */
/* The fields of a sandbox as a table, made from sandbox_fields.def: what surfaces and the store
 * call them, how they are read and written. */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "core/sandbox_args.h"

enum sandbox_kind {
    SANDBOX_NAME,
    SANDBOX_TEXT,
    SANDBOX_AMOUNT,
    SANDBOX_SECONDS,
    SANDBOX_NUMBER,
    SANDBOX_FLAG,
    SANDBOX_UNLESS,
    SANDBOX_STRINGS,
    SANDBOX_LIST,
    SANDBOX_NETWORK,
    SANDBOX_VALUE
};

/* Who reads or writes: each has names of its own for the fields. */
enum sandbox_face { SANDBOX_FACE_API, SANDBOX_FACE_STORE, SANDBOX_FACE_MCP, SANDBOX_FACE_COUNT };

struct sandbox_field {
    enum sandbox_kind kind;
    size_t offset;                         /* in struct sandbox_args */
    const char *names[SANDBOX_FACE_COUNT]; /* NULL: not there */
    const char *option, *title, *help;     /* see sandbox_fields.def; NULL: none */
};

extern const struct sandbox_field sandbox_fields[];
extern const size_t sandbox_n_fields;

/* Reads the members of DOC, an object or NULL, into A, which borrows from it. Absent and null leave
 * a field as it is. -EINVAL with "timeout must be an integer" in E. Quantities may be numbers for
 * MCP only; they are written into ARENA. */
int sandbox_fields_read(struct sandbox_args *a, const struct json *doc, enum sandbox_face face,
                        struct arena *arena, struct err *e);
/* Writes members of an object: texts that are not empty, values that are not NULL, all numbers and
 * flags. The API says allowInternetAccess only where it is false. */
void sandbox_fields_write(struct jw *w, const struct sandbox_args *a, enum sandbox_face face);
