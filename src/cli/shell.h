/* SPDX-License-Identifier: MIT */
/* A terminal in a sandbox on the terminal here. */
#pragma once

#include "base/buf.h"
#include "cli/remote.h"

/* Runs a shell in the sandbox NAME until it ends. Returns its exit status, 128 and the number of
 * the signal that ended the session here, or CLI_FAILED after telling why. */
int shell_run(struct remote *r, const char *name);

/* Appends the message for LEN typed bytes; an incomplete character at their end stays out of it.
 * Returns how many bytes are in the message. */
size_t shell_put_input(struct buf *out, const char *p, size_t len);
