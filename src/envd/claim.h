/* SPDX-License-Identifier: MIT */
/* What a cell got when it was handed out, and what later processes take from it. */
#pragma once

#include "base/json.h"

struct claim {
    char *name;    /* of the sandbox; NULL: not claimed yet */
    char *user;    /* default user; NULL: `user` when the cell has one, else root */
    char *workdir; /* default directory; NULL: the user's home */
    char **env;    /* "NAME=value", NULL-terminated; may be NULL */
};

/* Takes hostname, user, workdir and env of BODY; what is absent stays. 0; -EINVAL or -ENOMEM with E
 * filled, and then nothing has changed. */
int claim_set(struct claim *c, const struct json *body, struct err *e);
void claim_done(struct claim *c);
/* The user for a request that names none. */
const char *claim_user(const struct claim *c);

/* The members of OBJECT as "NAME=value" in A, NULL-terminated. OBJECT may be NULL; numbers and
 * booleans are taken as text. NULL with E filled when a name or a value cannot be in an
 * environment. */
char **claim_env(struct arena *a, const struct json *object, struct err *e);
/* A copy of LIST on the heap, and its end. */
char **claim_copy_strings(char **list);
void claim_free_strings(char **list);
/* The strings of ARRAY (may be NULL) in A, NULL-terminated. NULL with E filled. */
char **claim_strings(struct arena *a, const struct json *array, const char *what, struct err *e);
