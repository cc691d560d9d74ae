/* SPDX-License-Identifier: MIT */
/* What the E2B file service reads from outside: a query (up to LF), then a header value, then the
 * name of a file. Signatures of the query's own making must be right, changed ones wrong; headers
 * that are made of names hold nothing that ends a header. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "envd/path.h"
#include "envd/rest.h"
#include "fuzz.h"

static void check_signature(struct arena *a, struct str query)
{
    struct rest_signed s = {.path = http_query_get(a, query, "path"),
                            .operation = STR("read"),
                            .username = http_query_get(a, query, "username"),
                            .token = STR("secret"),
                            .expiration = http_query_get(a, query, "signature_expiration")};
    char text[REST_SIGNATURE_MAX];

    (void)rest_check_signature(&s, http_query_get(a, query, "signature"), 1700000000);
    rest_sign(text, &s);
    const char *reason = rest_check_signature(&s, str_of(text), 1700000000);
    if (reason && strcmp(reason, "signature is already expired") != 0)
        abort();
    s.operation = STR("write");
    reason = rest_check_signature(&s, str_of(text), 1700000000);
    if (!reason || strcmp(reason, "invalid signature") != 0)
        abort();
}

static void check_path(struct arena *a, struct str given)
{
    static const struct user u = {.name = "user", .home = "/home/user"};
    struct err e = ERR_INIT;
    const char *path = path_resolve(a, given, &u, "/work", &e);

    if (path ? path[0] != '/' : e.code >= 0)
        abort();
    if (!path)
        return;
    const char *clean = path_clean(a, str_of(path));
    if (!clean || strstr(clean, "//") || !path_base(a, path) || *path_dir(a, path) != '/')
        abort();
}

static void check_name(struct str name)
{
    struct buf b = BUF_INIT(1 << 20);

    if (rest_put_disposition(&b, name) == 0)
        for (size_t i = 0; i < b.len; i++)
            if (b.p[i] < 0x20 || b.p[i] > 0x7e)
                abort();
    buf_done(&b);
    if (!*rest_media_type(name, name))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data, size);
    struct str query = str_cut(&rest, '\n'), value = str_cut(&rest, '\n');
    struct http_header item = {STR("X-Metadata-Key"), value};
    struct http_headers headers = {&item, 1};
    struct rest_meta *meta;
    struct arena a;

    arena_init(&a, 1 << 20);
    check_signature(&a, query);
    check_path(&a, rest);
    check_name(rest);
    (void)rest_accept_encoding(value);
    if (rest_read_meta(&a, &headers, &meta, NULL) == 0 && !str_eq(meta->value, value))
        abort();
    arena_done(&a);
    return 0;
}
