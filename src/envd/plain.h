/* SPDX-License-Identifier: MIT */
/* Commands that have nothing for a shell in them: a program and its arguments, all of them plain
 * words. Most commands of agents are such, and the start of a shell is the larger part of them. */
#pragma once

#include "base/arena.h"

/* The words of COMMAND in A, NULL-terminated; NULL when a shell might make something else of them
 * than the program of the first word with the others as arguments, or when memory ran out. */
char **plain_words(struct arena *a, const char *command);
