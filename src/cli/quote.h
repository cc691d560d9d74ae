/* SPDX-License-Identifier: MIT */
/* Words for a POSIX shell. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends WORD so that a shell reads it as one word, unchanged. Returns as buf_add(). */
int quote_word(struct buf *out, struct str word);
/* Appends a command line: a single word as it is, because it is text for the shell; several ones
 * quoted, because they are to reach the command unchanged. */
int quote_command(struct buf *out, const char *const *words, size_t n);
