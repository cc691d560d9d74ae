/* SPDX-License-Identifier: MIT */
/* Files for scripts: what a data: URI holds, and the digest that Dropbox returns for a file. */
#include "apps/functions/functions.h"
#include "base/enc.h"
#include "sys/digest.h"

#define BLOCK ((size_t)4 << 20)

static struct str value_bytes(sqlite3_value *v)
{
    const void *p = sqlite3_value_blob(v);

    return str_n(p ? p : "", (size_t)sqlite3_value_bytes(v));
}

/* data_uri(text): what the URI holds, as text when it is UTF-8; NULL when it is no data: URI. */
static void fn_data_uri(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str uri = fn_text(v[0]);
    ptrdiff_t comma = str_chr(uri, ',');

    (void)n;
    if (!str_starts(uri, STR("data:")) || comma < 0)
        return;
    struct str head = str_slice(uri, 0, (size_t)comma);
    struct str data = str_slice(uri, (size_t)comma + 1, uri.len);
    int r =
        str_ends(head, STR(";base64")) ? enc_unbase64(&b, data) : enc_unpercent(&b, data, false);
    if (r < 0)
        return;
    const char *p = b.p ? b.p : "";
    if (str_is_utf8(buf_str(&b)) && str_chr(buf_str(&b), '\0') < 0)
        sqlite3_result_text(x, p, (int)b.len, SQLITE_TRANSIENT);
    else
        sqlite3_result_blob(x, p, (int)b.len, SQLITE_TRANSIENT);
}

/* dropbox_hash(bytes): SHA-256 of the SHA-256 of every 4 MiB, in hex. */
static void fn_hash(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    unsigned char digest[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];
    struct str rest = value_bytes(v[0]);

    (void)n;
    while (rest.len > 0) {
        size_t len = rest.len < BLOCK ? rest.len : BLOCK;
        digest_sha256(digest, str_slice(rest, 0, len));
        (void)buf_add(&b, digest, sizeof digest);
        rest = str_slice(rest, len, rest.len);
    }
    digest_sha256(digest, buf_str(&b));
    enc_hex(hex, digest, sizeof digest);
    sqlite3_result_text(x, hex, -1, SQLITE_TRANSIENT);
}

const struct sql_function functions_dropbox[] = {
    {"data_uri", 1, SQLITE_DETERMINISTIC, fn_data_uri},
    {"dropbox_hash", 1, SQLITE_DETERMINISTIC, fn_hash},
    {NULL, 0, 0, NULL},
};
