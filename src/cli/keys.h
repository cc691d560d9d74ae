/* SPDX-License-Identifier: MIT */
/* Keys on the command line: of the service that WHERE means, or in the store of its state directory
 * when it is stopped and the caller named it. All append their report to OUT: text for people, or
 * JSON. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/client.h"

struct keys_create_args {
    const char *account;                    /* made when missing; NULL: one of its own */
    const char *name;                       /* label; NULL: none */
    const char *role;                       /* "user", "system", "grader", "metrics" */
    const char *grades;                     /* the account that a grader looks at; NULL: none */
    int64_t max_live, max_creates, max_rps; /* -1: as configured */
    bool is_json;
};

/* Makes a key and shows it, the only time that it can be seen. */
int keys_create(const struct client_where *where, const struct keys_create_args *args,
                struct buf *out, struct err *e);
/* ACCOUNT NULL: all; revoked keys only with SHOW_REVOKED. */
struct keys_list_args {
    const char *account;
    bool show_revoked, is_json;
};
int keys_list(const struct client_where *where, const struct keys_list_args *args, struct buf *out,
              struct err *e);
/* ID is what keys_list() shows. -ENOENT when there is no such key. */
int keys_revoke(const struct client_where *where, const char *id, struct buf *out, struct err *e);
