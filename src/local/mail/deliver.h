/* SPDX-License-Identifier: MIT */
/* Delivery: every recipient has an account here, whatever the domain; nothing leaves the sandbox.
 */
#pragma once

#include "local/mail/store.h"

enum { MAIL_RECIPIENTS_MAX = 500 };

struct envelope {
    struct str from; /* may be empty: a bounce */
    const struct str *to;
    size_t n_to;
    const char *via; /* "SMTP", "ESMTPA", … */
};

/* Puts RAW into the INBOX of each recipient, once, with the fields that a server adds: where it
 * came from, and Date and Message-ID when they are missing. 0 or the first -errno. */
int mail_deliver(struct mail_store *s, const struct envelope *e, struct str raw);
