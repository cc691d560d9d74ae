/* SPDX-License-Identifier: MIT */
/* Files of SQL scripts. A line "-- name: NAME" begins a script, which goes on to the next such
 * line; its statements end with ';'. Where a statement says "{{LANGUAGE :param}}", the argument is
 * a query that becomes a part of the statement (see docs/adr/0006). A line "-- part: NAME" begins
 * statements that are no script of their own: "-- include: NAME" behind it, in a script or another
 * part, stands for them. A NAME with a slash is a file of statements. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
    SCRIPT_MAX_STATEMENTS = 96, /* in a script */
    SCRIPT_MAX_QUERIES = 4      /* in a statement */
};

/* "{{LANGUAGE :param}}" at OFFSET of the statement, LEN bytes of it. */
struct script_query {
    size_t offset, len;
    struct str language, param;
};

struct script_statement {
    struct str sql; /* NUL-terminated, without the ';' */
    unsigned line;  /* in the file, from 1 */
    struct script_query queries[SCRIPT_MAX_QUERIES];
    unsigned n_queries;
};

struct script {
    struct str name;
    unsigned line;
    struct script_statement *statements;
    size_t n;
    /* It may say something else each time: it has SQLite's own clock or random numbers in it. */
    bool is_volatile;
    bool is_part;
};

struct scripts {
    struct script *items; /* in the order of the file */
    size_t n;
};

/* Reads TEXT into A. -EINVAL with "line 12: …" in E: text before the first name, a name twice or
 * without statements, a statement without its ';', an open quote or comment, a malformed query, a
 * part that is not known. */
int scripts_parse(struct arena *a, struct str text, struct scripts *ret, struct err *e);
/* What a file of scripts may include besides its own parts. */
struct script_source {
    const struct scripts *base; /* parts of others; may be NULL */
    /* Finds the file NAME; NULL: there are none. A statement of it has the line that includes it.
     */
    int (*include)(void *ctx, struct str name, struct str *ret, struct err *e);
    void *ctx;
};
int scripts_parse_from(const struct script_source *from, struct arena *a, struct str text,
                       struct scripts *ret, struct err *e);
/* NULL when there is none of that name; parts are not looked at. */
const struct script *scripts_find(const struct scripts *s, struct str name);
/* Whether WORD is in one of its statements. */
bool script_mentions(const struct script *s, struct str word);
