/* SPDX-License-Identifier: MIT */
/* The audit chain on the command line. Opens the store read-only, so a service may be running. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/config.h"

/* Recomputes the hash of every event. 0 when the chain is whole; -EBADMSG when it is not, with the
 * first broken event in OUT. */
int audit_verify(const struct config *c, bool is_json, struct buf *out, struct err *e);

struct audit_list_args {
    const char *account, *sandbox; /* NULL: all */
    int64_t after;                 /* event numbers greater than this */
    int64_t limit;                 /* newest so many */
    bool is_json;                  /* one object a line */
};
int audit_list(const struct config *c, const struct audit_list_args *args, struct buf *out,
               struct err *e);
