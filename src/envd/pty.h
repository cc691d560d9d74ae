/* SPDX-License-Identifier: MIT */
/* Pseudo-terminals of the cell's own devpts. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct pty {
    int master; /* non-blocking */
    int slave;  /* for the child */
};

/* Opens a pair of this size; its terminal belongs to UID. 0 or -errno; the descriptors are the
 * caller's. */
int pty_open(struct pty *ret, uid_t uid, uint16_t cols, uint16_t rows);
/* 0 or -errno. */
int pty_resize(int master, uint16_t cols, uint16_t rows);

enum { PTY_PARTIAL_MAX = 3 };
/* How many bytes at the end of S are the begin of a UTF-8 character whose rest may still come: 0 to
 * PTY_PARTIAL_MAX. */
size_t pty_partial(struct str s);
