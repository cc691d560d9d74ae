/* SPDX-License-Identifier: MIT */
/* A session of IMAP4rev1 (RFC 3501) with LITERAL+, UIDPLUS, MOVE, IDLE, UNSELECT, ENABLE,
 * NAMESPACE, SPECIAL-USE: bytes in, bytes out, no descriptors. Passwords travel in clear text: the
 * listener is on the sandbox's loopback. */
#pragma once

#include <stdbool.h>

#include "base/str.h"

struct imap;
struct mail_store;

enum {
    IMAP_LINE_MAX = 64 << 10,      /* bytes of a command without its literals */
    IMAP_LITERALS_MAX = 64,        /* in a command */
    IMAP_LITERAL_EARLY_MAX = 4096, /* before the login */
    IMAP_ERRORS_MAX = 50           /* malformed commands, then the session ends */
};

/* Passes on what the session says; false: nobody listens any more. */
typedef bool imap_write(void *ctx, struct str bytes);

/* A session that has greeted; NULL: no memory. */
struct imap *imap_new(struct mail_store *store, imap_write *write, void *ctx);
void imap_free(struct imap *i);
/* Takes bytes of the client, in any pieces. False: the session is over. */
bool imap_feed(struct imap *i, struct str bytes);
/* True between IDLE and DONE: changes are reported by imap_tell(). */
bool imap_is_idle(const struct imap *i);
void imap_tell(struct imap *i);
