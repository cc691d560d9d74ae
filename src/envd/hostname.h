/* SPDX-License-Identifier: MIT */
/* The cell's name, as uname(2) says it; files say it, too (facts.h). */
#pragma once

#include <stddef.h>

enum { HOSTNAME_MAX = 64 };

/* Sets the name of the calling process's cell; bytes that a hostname cannot have become '-'. 0 or
 * -errno. */
int hostname_set(const char *name);
/* Writes NAME as a valid hostname. */
void hostname_clean(char ret[HOSTNAME_MAX], const char *name);
