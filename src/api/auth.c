/* SPDX-License-Identifier: MIT */
/* The key that a request carries. */
#include "api/internal.h"

/* "Bearer T": T. Other schemes carry no key of ours: Basic names a user inside a sandbox. */
struct str api_bearer(struct str value)
{
    struct str rest = str_trim(value);
    struct str scheme = str_cut(&rest, ' ');

    return str_iis(scheme, "bearer") ? str_trim(rest) : STR_NULL;
}

struct str api_token(const struct http_req *r)
{
    struct str token = api_bearer(http_header_get(&r->head.headers, "authorization"));

    if (token.len == 0)
        token = str_trim(http_header_get(&r->head.headers, "x-api-key"));
    if (token.len == 0 && r->head.query.len > 0)
        token = str_trim(http_query_get(r->arena, r->head.query, "api_key"));
    return token.len > 0 ? token : STR_NULL;
}
