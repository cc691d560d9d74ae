/* SPDX-License-Identifier: MIT */
/* Who asks for a page of a sandbox, by whichever of the ways that programs and browsers have: a key
 * in a header, in the query (api_key); or what a browser was given for such a key, in the address
 * or in a cookie (view.h). */
#pragma once

#include "api/req.h"

struct sandbox;

enum visitor_way {
    VISITOR_UNKNOWN,
    VISITOR_BY_HEADER,
    VISITOR_BY_ADDRESS, /* "~TOKEN" */
    VISITOR_BY_QUERY,
    VISITOR_BY_COOKIE
};

struct visitor {
    struct sandbox *sandbox; /* NULL: no such sandbox */
    struct str top;          /* "/sandbox/NAME" */
    struct str prefix;       /* the same, or with "/~TOKEN" */
    uint16_t port;           /* of "/~PORT" behind that, which is no part of it; 0: none */
    struct str path;         /* what follows, without a slash before it */
    struct account_key *key; /* the first valid one; NULL: none */
    enum visitor_way way;    /* that it came by */
    bool has_token;          /* valid or not */
    bool has_view;           /* the address lets in, whatever else does */
    bool is_bearer_a_key;    /* Authorization is ours, not the service's */
};

/* 0 or -ENOMEM. */
int visitor_read(struct visitor *ret, struct api_req *r);
/* True when V may reach the sandbox; else R is answered. Without a key nobody learns which names
 * exist. */
bool visitor_admit(const struct visitor *v, struct api_req *r);
/* True when anybody may reach it. */
bool visitor_is_anybody(const struct visitor *v);
/* Adds the cookie that lets V in again to R's answer. 0 or -errno. */
int visitor_set_cookie(const struct visitor *v, struct api_req *r, struct str token);
