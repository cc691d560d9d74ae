/* SPDX-License-Identifier: MIT */
#include "api/view.h"

#include "api/internal.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "sys/digest.h"

/* "EXPIRES.KEY.SIGNATURE", all hex digits. */
enum { MAC_LEN = 2 * DIGEST_SHA256_LEN, TIME_MAX = 16 };

static bool is_hex(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (enc_hex_digit(s.p[i]) < 0)
            return false;
    return s.len > 0;
}

static int64_t read_view_time(struct str s)
{
    uint64_t n = 0;

    if (s.len >= TIME_MAX)
        return 0;
    for (size_t i = 0; i < s.len; i++)
        n = n << 4 | (uint64_t)enc_hex_digit(s.p[i]);
    return (int64_t)n;
}

/* Nothing in it can hold a line's end. */
static bool sign_view_link(struct api_req *r, const struct sandbox *sb, struct str key_id,
                           struct str expires, char out[MAC_LEN + 1])
{
    unsigned char key[DIGEST_SHA256_LEN], mac[DIGEST_SHA256_LEN];
    struct str text = arena_printf(r->arena, "%s\n" STR_FMT "\n" STR_FMT, sb->id, STR_ARG(key_id),
                                   STR_ARG(expires));

    if (!text.p)
        return false;
    digest_hmac_sha256(key, str_n((const char *)r->core->secret, CORE_SECRET_LEN),
                       STR("views of sandboxes"));
    digest_hmac_sha256(mac, str_n((const char *)key, sizeof key), text);
    enc_hex(out, mac, sizeof mac);
    mem_wipe(key, sizeof key);
    return true;
}

struct str view_token(struct api_req *r, const struct sandbox *sb, const struct account_key *k)
{
    int64_t until = clock_real_us() / 1000000 + VIEW_HOURS * 3600;
    struct str expires = arena_printf(r->arena, "%llx", (unsigned long long)until);
    char mac[MAC_LEN + 1];

    if (!expires.p || !sign_view_link(r, sb, str_of(k->id), expires, mac))
        return STR_NULL;
    return arena_printf(r->arena, STR_FMT ".%s.%s", STR_ARG(expires), k->id, mac);
}

struct account_key *view_find(struct api_req *r, const struct sandbox *sb, struct str token)
{
    struct str mac = token, expires = str_cut(&mac, '.'), id = str_cut(&mac, '.');
    struct account_key *k = id.len > 0 ? accounts_by_id(r->core->accounts, id) : NULL;
    char want[MAC_LEN + 1];

    if (!k || k->revoked_us != 0 || mac.len != MAC_LEN || !is_hex(expires) ||
        read_view_time(expires) < clock_real_us() / 1000000 ||
        !sign_view_link(r, sb, id, expires, want))
        return NULL;
    return mem_eq_const(want, mac.p, MAC_LEN) ? k : NULL;
}

struct str view_cut(struct str *path)
{
    struct str rest = *path, token = str_cut(&rest, '/'), mac = str_skip(token, 1);

    if (!str_starts(token, STR("~")) || !is_hex(str_cut(&mac, '.')) ||
        !is_hex(str_cut(&mac, '.')) || mac.len != MAC_LEN || !is_hex(mac))
        return STR_NULL;
    *path = rest.p ? rest : STR("");
    return str_skip(token, 1);
}
