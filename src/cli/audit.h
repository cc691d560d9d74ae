/* SPDX-License-Identifier: MIT */
/* The audit chain on the command line: asked of the service by its address, or read from the store
 * of the state directory, beside a running service or without one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/client.h"

/* Recomputes the hash of every event. 0 when the chain is whole; -EBADMSG when it is not, with the
 * first broken event in OUT. */
int audit_verify(const struct client_where *where, bool is_json, struct buf *out, struct err *e);

struct audit_list_args {
    const char *account, *sandbox; /* NULL: all */
    int64_t after;                 /* event numbers greater than this */
    int64_t limit;                 /* number of newest ones */
    bool is_json;                  /* one object a line */
};
int audit_list(const struct client_where *where, const struct audit_list_args *args,
               struct buf *out, struct err *e);
