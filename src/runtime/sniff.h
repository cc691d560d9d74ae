/* SPDX-License-Identifier: MIT */
/* The name that a client states in the first bytes of a connection: server_name of a TLS
 * ClientHello (RFC 6066), or Host of an HTTP/1 request. Pure. */
#pragma once

#include <stddef.h>

#define SNIFF_MAX      16384 /* bytes that are looked at */
#define SNIFF_NAME_MAX 254   /* with the NUL */

enum sniff {
    SNIFF_MORE, /* it may still come */
    SNIFF_NONE, /* something else, malformed, or no name in it */
    SNIFF_NAME,
    SNIFF_COUNT
};

/* Looks at the first LEN bytes of a connection. With SNIFF_NAME the name is in RET, in lower case,
 * without port or last dot; an address is no name. */
enum sniff sniff_name(char ret[SNIFF_NAME_MAX], const void *p, size_t len);
