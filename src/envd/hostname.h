/* SPDX-License-Identifier: MIT */
/* The cell's name, as uname(2) says it and as /etc/hostname and /etc/hosts say it (sudo, Java and
 * others look the name up). */
#pragma once

#include <stddef.h>

enum { HOSTNAME_MAX = 64 };

/* Sets the name of the calling process's cell; bytes that a hostname cannot have become '-'. Files
 * that are not there, or are no regular files, are left alone. 0 or -errno. */
int hostname_set(const char *name);
/* Writes NAME as a valid hostname: for tests. */
void hostname_clean(char ret[HOSTNAME_MAX], const char *name);
