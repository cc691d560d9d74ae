/* SPDX-License-Identifier: MIT */
/* What lets a browser in to one sandbox, for a while, in the name of one key: in a cookie for
 * addresses that a person opens, and in the addresses of its pages, "/sandbox/NAME/~TOKEN/…", for
 * what these load. It opens nothing else, so it does no harm where the sandbox's own pages see it,
 * and ends with its key and with its sandbox. Signed with a key that is derived from the server's
 * secret; nothing is stored. */
#pragma once

#include "api/req.h"

struct sandbox;

enum { VIEW_HOURS = 24 };

/* The cookie, and its name where browsers can hold it to TLS. */
#define VIEW_COOKIE        "tidepool_view"
#define VIEW_COOKIE_SECURE "__Secure-tidepool_view"

/* A token for SB in the name of K, in R's arena; .p is NULL when memory ran out. */
struct str view_token(struct api_req *r, const struct sandbox *sb, const struct account_key *k);
/* The valid key in whose name TOKEN lets in to SB, or NULL. */
struct account_key *view_find(struct api_req *r, const struct sandbox *sb, struct str token);
/* Takes "~TOKEN" off the start of PATH, which begins behind a slash, and the slash that follows;
 * returns the token, or STR_NULL when there is none. */
struct str view_cut(struct str *path);
