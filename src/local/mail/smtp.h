/* SPDX-License-Identifier: MIT */
/* A session of SMTP (RFC 5321) with SIZE, 8BITMIME, PIPELINING, AUTH PLAIN and LOGIN: bytes in,
 * bytes out, no descriptors. Nobody has to log in: the listener is on the sandbox's loopback, and
 * mail goes nowhere else. */
#pragma once

#include <stdbool.h>

#include "base/str.h"

struct smtp;
struct mail_store;

enum {
    SMTP_LINE_MAX = 4096,           /* bytes of a command */
    SMTP_DATA_LINE_MAX = 256 << 10, /* of a line of a message */
    SMTP_ERRORS_MAX = 50            /* refused commands, then the session ends */
};

/* Passes on what the session says; false: nobody listens any more. */
typedef bool smtp_write(void *ctx, struct str bytes);

/* A session that has greeted; NULL: no memory. */
struct smtp *smtp_new(struct mail_store *store, smtp_write *write, void *ctx);
void smtp_free(struct smtp *s);
/* Takes bytes of the client, in any pieces. False: the session is over. */
bool smtp_feed(struct smtp *s, struct str bytes);
