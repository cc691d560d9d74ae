/* SPDX-License-Identifier: MIT */
/* The limits that every sandbox has, and which of them this host cannot keep sandboxes to. A limit
 * that nobody asked for is left off then, which the log, /metrics and `tidepool doctor` say; one
 * that a create asks for is refused by the engine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct account;
struct sandbox;
struct sandbox_args;
struct sandboxes;

enum sandbox_limit {
    SANDBOX_LIMIT_MEMORY,
    SANDBOX_LIMIT_PIDS,
    SANDBOX_LIMIT_CPU,
    SANDBOX_LIMIT_DISK,
    SANDBOX_LIMIT_COUNT
};

extern const char *const sandbox_limit_names[SANDBOX_LIMIT_COUNT];

/* -EINVAL with E filled when A asks for more than the machine has, or than sandboxes of ACCOUNT may
 * ask for (limits.def). No limit at all, "0", is for the operator. */
int sandboxes_check_asked(const struct sandboxes *set, const struct sandbox_args *a,
                          const struct account *account, struct err *e);
/* The longest timeout that SB can be given, in seconds. */
int64_t sandbox_max_timeout_s(const struct sandbox *sb);
/* Whether it can be given that one; less than 0 is none. */
bool sandbox_may_last(const struct sandbox *sb, int64_t timeout_s);

/* Finds out, once there is an engine; what is known of disks is set before. */
void sandboxes_find_lacks(struct sandboxes *set);
/* Why sandboxes go without a limit that they have by default; NULL: they do not. */
const struct err *sandboxes_lack(const struct sandboxes *set, enum sandbox_limit limit);
/* All of these, one after the other; nothing when all limits are kept. Returns as buf_add(). */
int sandboxes_put_lacks(const struct sandboxes *set, struct buf *out);
