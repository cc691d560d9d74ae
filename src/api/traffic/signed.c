/* SPDX-License-Identifier: MIT */
/* Signed addresses of files: GET and POST /files?path=&username=&signature=&signature_expiration=.
 *
 * The signature is "v1_" and the base64 of SHA-256 over "PATH:read:USER:TOKEN" (":write" for POST,
 * and ":EXPIRATION" behind, when there is one). On a host of all sandboxes nothing else says whose
 * file it is, so that the tokens are tried. Whether the signature has expired is asked inside. */
#include <errno.h>

#include "api/internal.h"
#include "api/traffic/traffic.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "core/sandbox.h"
#include "sys/digest.h"

enum { BYTES_A_TRY = 256 }; /* a longer text costs more than one */

struct signature {
    struct str head; /* "PATH:OPERATION:USER:" */
    struct str tail; /* ":EXPIRATION", or empty */
    unsigned char digest[DIGEST_SHA256_LEN];
};

static struct str or_empty(struct str s)
{
    return s.p ? s : STR("");
}

/* What the address allows: a preflight asks on behalf of the request that follows. */
static const char *operation(const struct http_head *head)
{
    struct str wanted = http_header_get(&head->headers, "access-control-request-method");

    if (head->method == HTTP_POST || (head->method == HTTP_OPTIONS && str_is(wanted, "POST")))
        return "write";
    return "read";
}

static bool read_digest(struct str text, unsigned char out[DIGEST_SHA256_LEN])
{
    struct buf bytes auto_buf = BUF_INIT(2 * DIGEST_SHA256_LEN);

    if (!str_starts(text, STR("v1_")) || enc_unbase64(&bytes, str_skip(text, 3)) < 0 ||
        bytes.len != DIGEST_SHA256_LEN)
        return false;
    memcpy(out, bytes.p, DIGEST_SHA256_LEN);
    return true;
}

const struct signature *traffic_signature(struct api_req *r)
{
    const struct http_head *head = &r->http->head;

    if (!str_is(head->path, "/files"))
        return NULL;
    struct str text = api_query(r, "signature"), expires = api_query(r, "signature_expiration");
    struct signature *s = text.p ? arena_new(r->arena, struct signature) : NULL;
    if (!s)
        return NULL;
    struct str path = or_empty(api_query(r, "path")), user = or_empty(api_query(r, "username"));
    s->head = arena_printf(r->arena, STR_FMT ":%s:" STR_FMT ":", STR_ARG(path), operation(head),
                           STR_ARG(user));
    s->tail = expires.len ? arena_printf(r->arena, ":" STR_FMT, STR_ARG(expires)) : STR("");
    /* One that cannot be read fits nothing. */
    if (!s->head.p || !s->tail.p || !read_digest(text, s->digest))
        s->head = STR_NULL;
    return s;
}

bool traffic_is_signed_with(const struct signature *s, const char *token)
{
    const struct str parts[] = {s->head, str_of(token), s->tail};
    unsigned char digest[DIGEST_SHA256_LEN];

    if (!s->head.p)
        return false;
    digest_sha256_parts(digest, parts, ARRAY_LEN(parts));
    return mem_eq_const(digest, s->digest, sizeof digest) != 0;
}

static void refill_tries(struct traffic_tries *t)
{
    int64_t now = clock_mono_us(), passed = now - t->at_us;

    t->at_us = now;
    t->left += passed < 1000000 ? passed * TRAFFIC_TRIES / 1000000 : TRAFFIC_TRIES;
    if (t->left > TRAFFIC_TRIES)
        t->left = TRAFFIC_TRIES;
}

struct sandbox *traffic_find_signer(struct traffic_tries *t, const struct core *core,
                                    const struct signature *s, bool *ret_busy)
{
    int64_t cost = 1 + (int64_t)(s->head.len / BYTES_A_TRY);
    struct sandbox *sb = NULL;

    refill_tries(t);
    *ret_busy = false;
    while (s->head.p && (sb = sandbox_next(core->sandboxes, sb))) {
        if (!sb->access.is_secure)
            continue;
        t->left -= cost;
        *ret_busy = t->left < 0;
        if (*ret_busy)
            return NULL;
        if (traffic_is_signed_with(s, sb->access.envd_token))
            return sb;
    }
    return NULL;
}
