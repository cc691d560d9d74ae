/* SPDX-License-Identifier: MIT */
/* What keeps a browser's pages apart that come from sandboxes.
 *
 * A browser trusts by origin: scheme, host and port. What a sandbox answers on the address of the
 * service shares that with the API and with all other sandboxes, so it is sent in a way that gives
 * a page of it no origin at all: it can load, ask and connect, but reads nothing that does not say
 * it may be read, and has neither cookies nor storage. Its answers change nothing that the browser
 * keeps for the whole origin. Where a sandbox has a host to itself, all of that is its own. */
#pragma once

#include "api/req.h"

struct forward;

enum origin_kind {
    ORIGIN_SHARED, /* the service's own */
    ORIGIN_PUBLIC, /* the same, for what anybody may read: pages without an origin may, too */
    ORIGIN_PAGE, /* the same, where the address holds a secret of the sandbox, so that whoever asks
                  * is its own page */
    ORIGIN_OWN   /* the sandbox's alone */
};

/* Adds to the answer of R what its kind asks for, and to F's rules what the service may not say.
 * False when R is answered already: a page without an origin asked what it may send. */
bool origin_guard(struct api_req *r, struct forward *f);

/* True when a cookie of R may count: a browser says that no page of another origin sent it, nor one
 * without; or says nothing, and a person opens an address; or it is no browser. */
bool origin_is_own(const struct http_req *r);
/* True when R opens a page, as a person does. */
bool origin_is_visit(const struct http_req *r);
