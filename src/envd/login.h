/* SPDX-License-Identifier: MIT */
/* What a login shell would add to the environment of a program, when that is known: while the files
 * that it reads are those of the default template (runtime/login.h). Whoever changes one of them,
 * or the shell, gets the shell. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "envd/user.h"

struct login {
    char **env;    /* NULL-terminated, and there is room for two more */
    size_t n;      /* of env */
    bool has_name; /* the program's path belongs into it, as "_" */
};

/* The environment of what a login shell of USER executes that was started as SHELL ("/bin/sh" or
 * "/bin/bash", a constant) with ENV; only PWD is left to be added, and the name. False: not known,
 * or memory ran out. */
bool login_env(struct login *l, struct arena *a, const struct user *user, const char *shell,
               char *const *env);
