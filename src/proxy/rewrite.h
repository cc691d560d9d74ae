/* SPDX-License-Identifier: MIT */
/* What a proxy changes in a request before it passes it on: parameters, cookies and headers that
 * are not for the other side, and the headers that show who asked; and in its answer: headers
 * and cookies that would reach beyond the service. Names of things to drop come as lists that end
 * with NULL; NULL is an empty list. */
#pragma once

#include "net/http_req.h"

/* QUERY without the parameters NAMES (compared decoded); the rest stays byte for byte. .p is NULL
 * only when memory ran out. */
struct str rewrite_query(struct arena *a, struct str query, const char *const *names);
/* A URL without these parameters in its query. .p as above. */
struct str rewrite_url(struct arena *a, struct str url, const char *const *names);
/* The value of a Cookie header without the cookies called NAMES; empty when none is left. */
struct str rewrite_cookie(struct arena *a, struct str value, const char *const *names);
/* The value of the next cookie called NAME in *REST, which becomes what follows; or STR_NULL. */
struct str rewrite_cookie_next(struct str *rest, const char *name);
/* True when VALUE, of a Set-Cookie header, sets a cookie that a browser would send as one of NAMES.
 */
bool rewrite_sets_cookie(struct str value, const char *const *names);
/* VALUE, of a Set-Cookie header, for the host that sends it alone: without Domain; and, unless PATH
 * is empty, for PATH and what is below. .p is NULL only when memory ran out. */
struct str rewrite_set_cookie(struct arena *a, struct str value, struct str path);

struct rewrite_rules {
    const char *const *headers; /* names of headers to drop */
    const char *const *params;  /* query parameters to drop out of Referer */
    const char *const *cookies; /* names of cookies to drop, also where an answer sets them */
    struct str prefix;          /* X-Forwarded-Prefix; empty: none */
    /* Headers of ours; those of the client with the same names are to be dropped. */
    const struct http_header *add;
    size_t n_add;
    const char *const *answer_headers; /* names of headers to drop out of the answer */
    struct str cookie_path; /* what its cookies are limited to; empty: any path of the host */
};

/* The headers for the other side: those of R without what belongs to the connection or is dropped,
 * and X-Forwarded-For, -Proto, -Host, -Prefix and X-Request-Id. 0 or -ENOMEM. */
int rewrite_headers(const struct http_req *r, const struct rewrite_rules *rules,
                    struct http_headers *ret);
/* Adds the headers of the answer FROM to that of R, without those that belong to the connection,
 * that our server writes itself or that the rules drop. 0 or -errno. */
int rewrite_answer(struct http_req *r, const struct rewrite_rules *rules,
                   const struct http_headers *from);
