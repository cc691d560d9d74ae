/* SPDX-License-Identifier: MIT */
/* Who may reach what listens inside a sandbox, and how it sees them. Every sandbox has two
 * secrets of its own, made with it and kept until its end, through pauses and restarts. */
#pragma once

#include <stdbool.h>

#include "base/str.h"

enum {
    SANDBOX_TOKEN_LEN = 64, /* hex digits */
    SANDBOX_MASK_HOST_MAX = 255
};

struct sandbox_access {
    char envd_token[SANDBOX_TOKEN_LEN + 1];    /* for the service on port 49983 */
    char traffic_token[SANDBOX_TOKEN_LEN + 1]; /* for all other ports */
    bool is_secure;       /* the service inside asks for its token; false: it asks for nothing */
    bool is_public;       /* the other ports ask for none */
    struct str mask_host; /* Host that the other ports see, "${PORT}" in it is the port; empty: as
                             sent */
};

/* Makes both secrets. */
void sandbox_access_make(struct sandbox_access *a);
/* True when GIVEN is TOKEN, which is one of the two; in constant time. */
bool sandbox_token_is(const char token[SANDBOX_TOKEN_LEN + 1], struct str given);
