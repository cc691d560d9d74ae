/* SPDX-License-Identifier: MIT */
/* Which headers of a message a proxy passes on. */
#pragma once

#include "net/http.h"

/* True when the header NAME of a message with headers ALL is for one connection only: the names of
 * RFC 9110 §7.6.1, those that Connection lists (never Host), and what both sides here make
 * themselves: Content-Length and Expect. */
bool http_is_hop_header(const struct http_headers *all, struct str name);
/* The headers of ALL that a proxy passes on. 0 or -ENOMEM. */
int http_hop_headers(struct arena *a, const struct http_headers *all, struct http_headers *ret);
