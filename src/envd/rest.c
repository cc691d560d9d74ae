/* SPDX-License-Identifier: MIT */
/* Headers and queries of the E2B file service: see rest.h. */
#include "envd/rest.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/mem.h"
#include "envd/entry.h"
#include "sys/digest.h"

enum { META_KEY_MAX = 246, META_SUM_MAX = 4096 };

/* ---- signatures ---- */

void rest_sign(char out[REST_SIGNATURE_MAX], const struct rest_signed *s)
{
    const struct str colon = STR(":");
    struct str parts[] = {s->path, colon,    s->operation, colon,        s->username,
                          colon,   s->token, colon,        s->expiration};
    unsigned char sum[DIGEST_SHA256_LEN];
    auto_buf struct buf b = BUF_INIT(REST_SIGNATURE_MAX);

    digest_sha256_parts(sum, parts, s->expiration.p ? ARRAY_LEN(parts) : ARRAY_LEN(parts) - 2);
    out[0] = '\0';
    if (buf_add_lit(&b, "v1_") < 0 || enc_base64(&b, str_n((const char *)sum, sizeof sum)) < 0)
        return;
    size_t len = b.len;
    while (len && b.p[len - 1] == '=')
        len--;
    memcpy(out, b.p, len);
    out[len] = '\0';
}

const char *rest_check_signature(const struct rest_signed *s, struct str signature, int64_t now_s)
{
    char right[REST_SIGNATURE_MAX];
    int64_t until;

    if (!signature.p)
        return "missing signature query parameter";
    rest_sign(right, s);
    /* Memory ran out: nothing is right. */
    if (!*right || signature.len != strlen(right) ||
        !mem_eq_const(signature.p, right, signature.len))
        return "invalid signature";
    if (s->expiration.p && (str_to_i64(s->expiration, &until) < 0 || until < now_s))
        return "signature is already expired";
    return NULL;
}

/* ---- encodings ---- */

/* True when the parameters of a coding say that it is not wanted: q=0, q=0.0 … */
static bool is_refused(struct str params)
{
    while (params.p) {
        struct str value = str_trim(str_cut(&params, ';'));
        struct str name = str_trim(str_cut(&value, '='));
        value = str_trim(value);
        if (!str_iis(name, "q") || value.len == 0)
            continue;
        for (size_t i = 0; i < value.len; i++)
            if (value.p[i] != '0' && value.p[i] != '.')
                return false;
        return true;
    }
    return false;
}

enum wish { ABSENT, WANTED, REFUSED };

struct wishes {
    enum wish identity, gzip, other;
};

static struct wishes read_wishes(struct str value)
{
    struct wishes w = {ABSENT, ABSENT, ABSENT};

    while (value.p) {
        struct str params = str_cut(&value, ',');
        struct str name = str_trim(str_cut(&params, ';'));
        enum wish how = is_refused(params) ? REFUSED : WANTED;
        if (str_iis(name, "identity"))
            w.identity = how;
        else if (str_iis(name, "gzip") || str_iis(name, "x-gzip"))
            w.gzip = how;
        else if (str_is(name, "*"))
            w.other = how;
    }
    return w;
}

enum rest_encoding rest_accept_encoding(struct str value)
{
    struct wishes w = read_wishes(value);

    if (w.identity == WANTED || (w.identity == ABSENT && w.other != REFUSED))
        return REST_IDENTITY;
    if (w.gzip == WANTED || (w.gzip == ABSENT && w.other == WANTED))
        return REST_GZIP;
    return REST_NO_ENCODING;
}

bool rest_accepts_gzip(struct str value)
{
    return read_wishes(value).gzip == WANTED;
}

/* ---- names and types ---- */

int rest_put_disposition(struct buf *out, struct str name)
{
    bool is_token = name.len > 0, is_plain = true;

    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.p[i];
        is_plain = is_plain && c >= 0x20 && c < 0x7f;
        is_token = is_token && c > 0x20 && c < 0x7f && !strchr("()<>@,;:\\\"/[]?=", (int)c);
    }
    (void)buf_add_lit(out, "inline; filename");
    if (!is_plain) {
        (void)buf_add_lit(out, "*=utf-8''");
        return enc_percent(out, name);
    }
    (void)buf_add_char(out, '=');
    if (is_token)
        return buf_add_str(out, name);
    (void)buf_add_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '"' || name.p[i] == '\\')
            (void)buf_add_char(out, '\\');
        (void)buf_add_char(out, name.p[i]);
    }
    return buf_add_char(out, '"');
}

static const struct {
    const char *ending, *type;
} endings[] = {
    {".avif", "image/avif"},
    {".css", "text/css; charset=utf-8"},
    {".csv", "text/csv; charset=utf-8"},
    {".gif", "image/gif"},
    {".gz", "application/gzip"},
    {".htm", "text/html; charset=utf-8"},
    {".html", "text/html; charset=utf-8"},
    {".ico", "image/x-icon"},
    {".jpeg", "image/jpeg"},
    {".jpg", "image/jpeg"},
    {".js", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".md", "text/markdown; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".mp3", "audio/mpeg"},
    {".mp4", "video/mp4"},
    {".pdf", "application/pdf"},
    {".png", "image/png"},
    {".svg", "image/svg+xml"},
    {".tar", "application/x-tar"},
    {".txt", "text/plain; charset=utf-8"},
    {".wasm", "application/wasm"},
    {".wav", "audio/x-wav"},
    {".webm", "video/webm"},
    {".webp", "image/webp"},
    {".xml", "text/xml; charset=utf-8"},
    {".zip", "application/zip"},
};

static const struct {
    struct str start;
    const char *type;
} starts[] = {
    {STR_INIT("\x89PNG\r\n\x1a\n"), "image/png"},
    {STR_INIT("\xff\xd8\xff"), "image/jpeg"},
    {STR_INIT("GIF8"), "image/gif"},
    {STR_INIT("%PDF-"), "application/pdf"},
    {STR_INIT("\x1f\x8b\x08"), "application/x-gzip"},
    {STR_INIT("PK\x03\x04"), "application/zip"},
    {STR_INIT("<?xml"), "text/xml; charset=utf-8"},
    {STR_INIT("<!DOCTYPE html"), "text/html; charset=utf-8"},
    {STR_INIT("<html"), "text/html; charset=utf-8"},
    {STR_INIT("\xef\xbb\xbf"), "text/plain; charset=utf-8"},
};

/* Control bytes that no text has. */
static bool is_binary(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x20 && !(c >= '\t' && c <= '\r' && c != '\v') && c != 0x1b)
            return true;
    }
    return false;
}

const char *rest_media_type(struct str name, struct str head)
{
    size_t dot = name.len;

    while (dot > 0 && name.p[dot - 1] != '.')
        dot--;
    struct str ending = dot ? str_skip(name, dot - 1) : STR_NULL;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (str_iis(ending, endings[i].ending))
            return endings[i].type;
    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        if (str_starts(head, starts[i].start))
            return starts[i].type;
    return is_binary(head) ? "application/octet-stream" : "text/plain; charset=utf-8";
}

/* ---- metadata ---- */

static bool is_printable_ascii(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.p[i] < 0x20 || s.p[i] > 0x7e)
            return false;
    return true;
}

static const char *lower_key(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, s.len + 1);

    for (size_t i = 0; out && i < s.len; i++)
        out[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] | 0x20 : s.p[i]);
    if (out)
        out[s.len] = '\0';
    return out;
}

static int check_rest_meta(struct str key, struct str value, size_t sum, struct err *e)
{
    if (key.len == 0 || key.len > META_KEY_MAX)
        return err_set(e, -EINVAL, "invalid metadata: key must have 1 to %d bytes",
                       (int)META_KEY_MAX);
    if (!is_printable_ascii(key))
        return err_set(e, -EINVAL, "invalid metadata: key has bytes outside 0x20 to 0x7E");
    if (!is_printable_ascii(value))
        return err_set(e, -EINVAL,
                       "invalid metadata: value of '" STR_FMT "' has bytes outside 0x20 to 0x7E",
                       STR_ARG(key));
    if (sum > META_SUM_MAX)
        return err_set(e, -EINVAL, "invalid metadata: more than %d bytes in all",
                       (int)META_SUM_MAX);
    return 0;
}

static bool has_key(const struct rest_meta *list, const char *key)
{
    for (; list; list = list->next)
        if (strcmp(list->key, key) == 0)
            return true;
    return false;
}

int rest_read_meta(struct arena *a, const struct http_headers *h, struct rest_meta **ret,
                   struct err *e)
{
    const struct str prefix = STR("x-metadata-");
    struct rest_meta *list = NULL;
    size_t sum = 0;

    for (size_t i = 0; i < h->n; i++) {
        struct str name = h->items[i].name, value = h->items[i].value;
        if (!str_ieq(str_slice(name, 0, prefix.len), prefix))
            continue;
        struct str key = str_skip(name, prefix.len);
        sum += ENTRY_XATTR_LEN + key.len + value.len;
        int r = check_rest_meta(key, value, sum, e);
        if (r < 0)
            return r;
        struct rest_meta *m = arena_new(a, struct rest_meta);
        if (m)
            *m = (struct rest_meta){list, lower_key(a, key), value};
        if (!m || !m->key)
            return err_sys(e, -ENOMEM, "metadata");
        /* Of headers with the same name the first counts. */
        if (!has_key(list, m->key))
            list = m;
    }
    *ret = list;
    return 0;
}
