/* SPDX-License-Identifier: MIT */
/* The limits that every sandbox has, and which of them this host cannot keep sandboxes to. A limit
 * that nobody asked for is left off then, which the log, /metrics and `tidepool doctor` say; one
 * that a create asks for is refused by the engine. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct sandboxes;

enum sandbox_limit {
    SANDBOX_LIMIT_MEMORY,
    SANDBOX_LIMIT_PIDS,
    SANDBOX_LIMIT_CPU,
    SANDBOX_LIMIT_DISK,
    SANDBOX_LIMIT_COUNT
};

extern const char *const sandbox_limit_names[SANDBOX_LIMIT_COUNT];

/* Finds out, once there is an engine; what is known of disks is set before. */
void sandboxes_find_lacks(struct sandboxes *set);
/* Why sandboxes go without a limit that they have by default; NULL: they do not. */
const struct err *sandboxes_lack(const struct sandboxes *set, enum sandbox_limit limit);
/* All of these, one after the other; nothing when all limits are kept. Returns as buf_add(). */
int sandboxes_put_lacks(const struct sandboxes *set, struct buf *out);
