/* SPDX-License-Identifier: MIT */
/* Patterns for paths as JavaScript's tools write them: "*" and "?" within a part of the path, "**"
 * over any number of parts, "[a-z]" "[!x]", "{a,b}" alternatives, "\" before an ordinary character.
 * Names that begin with a dot are nothing special. */
#pragma once

#include <stdbool.h>

#include "base/str.h"

enum { GLOB_MAX_ALTERNATIVES = 256 /* of braces, multiplied out */ };

/* False also for a pattern that is over the limits. Takes at most a time that grows with the
 * product of the lengths. */
bool glob_match(struct str pattern, struct str path);
