/* SPDX-License-Identifier: MIT */
#include "api/local/signed.h"

#include <stdio.h>

#include "api/klavis/klavis.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "sys/digest.h"

enum { HEX_LEN = 2 * DIGEST_SHA256_LEN };

static const char *const purposes[SIGNED_PURPOSE_COUNT] = {
    [SIGNED_UPLOAD] = "upload",
    [SIGNED_EXECUTION] = "execution",
    [SIGNED_DOWNLOAD] = "download",
    [SIGNED_MEMORY] = "memory",
};

/* What is signed has a line for each part, none of which can hold a line's end. */
static bool sign_local_link(struct api_req *r, enum signed_purpose purpose, struct str path,
                            int64_t expires, char out[HEX_LEN + 1])
{
    unsigned char key[DIGEST_SHA256_LEN], mac[DIGEST_SHA256_LEN];
    struct str text = arena_printf(r->arena, "%s\n" STR_FMT "\n%lld", purposes[purpose],
                                   STR_ARG(path), (long long)expires);

    if (!text.p)
        return false;
    digest_hmac_sha256(key, str_n((const char *)r->core->secret, CORE_SECRET_LEN),
                       STR("URLs of archives"));
    digest_hmac_sha256(mac, str_n((const char *)key, sizeof key), text);
    enc_hex(out, mac, sizeof mac);
    out[HEX_LEN] = '\0';
    mem_wipe(key, sizeof key);
    return true;
}

struct str signed_url(struct api_req *r, enum signed_purpose purpose, struct str id,
                      struct str name)
{
    int64_t expires = clock_real_us() / 1000000 + SIGNED_MINUTES * 60;
    struct str path = arena_printf(r->arena, "/local-sandbox/" STR_FMT "/archive/" STR_FMT,
                                   STR_ARG(id), STR_ARG(name));
    char signature[HEX_LEN + 1];

    if (!path.p || !sign_local_link(r, purpose, path, expires, signature))
        return STR_NULL;
    return arena_printf(r->arena, STR_FMT STR_FMT "?purpose=%s&expires=%lld&signature=%s",
                        STR_ARG(klavis_base(r)), STR_ARG(path), purposes[purpose],
                        (long long)expires, signature);
}

enum signed_purpose signed_purpose(const struct api_req *r)
{
    struct str given = api_query(r, "purpose");
    unsigned i = 0;

    while (i < SIGNED_PURPOSE_COUNT && !str_is(given, purposes[i]))
        i++;
    return (enum signed_purpose)i;
}

bool signed_check(struct api_req *r, enum signed_purpose purpose)
{
    struct str given = api_query(r, "signature");
    int64_t expires = 0;
    char want[HEX_LEN + 1];

    if (signed_purpose(r) != purpose || str_to_i64(api_query(r, "expires"), &expires) < 0 ||
        given.len != HEX_LEN || !sign_local_link(r, purpose, r->http->head.path, expires, want) ||
        !mem_eq_const(want, given.p, HEX_LEN)) {
        api_error(r, 403, "This URL is not valid: its signature does not match");
        return false;
    }
    if (clock_real_us() / 1000000 <= expires)
        return true;
    api_error(r, 403, "This URL has expired; ask for a new one");
    return false;
}
