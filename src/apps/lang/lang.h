/* SPDX-License-Identifier: MIT */
/* Query languages: what a caller wrote in a product's own language becomes an SQL expression, with
 * every value as a parameter. A language is a row of the table in lang.c and a file NAME.c;
 * which columns its fields are, says app.json under /languages/NAME; a string there is the name of
 * the language whose fields it has. */
#pragma once

#include "apps/db/db.h"

enum {
    LANG_MAX_TEXT = 64 << 10, /* bytes of a query */
    LANG_MAX_DEPTH = 64,      /* of what is nested in it */
    LANG_MAX_VALUES = 1000
};

struct lang {
    const char *name;
    /* TEXT is "" when the argument is absent, JSON when it is an object or an array. CONFIG is
     * app.json's /languages/NAME, or NULL. -EINVAL: E says what is wrong with the query, in the
     * product's own words. */
    int (*compile)(const struct json *config, struct str text, struct arena *a,
                   struct appdb_predicate *ret, struct err *e);
    /* Makes the terms of an ORDER BY, not an expression. */
    bool is_order;
};

/* NULL when there is none of that name. */
const struct lang *lang_find(struct str name);

/* For appdb_env.compile; CTX is app.json's /languages. */
int lang_compile(void *ctx, struct str language, struct str text, struct arena *a,
                 struct appdb_predicate *ret, struct err *e);
