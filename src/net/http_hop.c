/* SPDX-License-Identifier: MIT */
/* Which headers a proxy passes on: see http_hop.h. */
#include "net/http_hop.h"

#include <errno.h>

#include "base/cleanup.h"

bool http_is_hop_header(const struct http_headers *all, struct str name)
{
    static const struct str names[] = {
        STR_INIT("connection"),
        STR_INIT("keep-alive"),
        STR_INIT("proxy-connection"),
        STR_INIT("proxy-authenticate"),
        STR_INIT("proxy-authorization"),
        STR_INIT("te"),
        STR_INIT("trailer"),
        STR_INIT("transfer-encoding"),
        STR_INIT("upgrade"),
        STR_INIT("content-length"),
        STR_INIT("expect"),
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_ieq(name, names[i]))
            return true;
    if (str_iis(name, "host"))
        return false;
    for (size_t i = 0; i < all->n; i++) {
        struct str list =
            str_iis(all->items[i].name, "connection") ? all->items[i].value : STR_NULL;
        while (list.p)
            if (str_ieq(str_trim(str_cut(&list, ',')), name))
                return true;
    }
    return false;
}

int http_hop_headers(struct arena *a, const struct http_headers *all, struct http_headers *ret)
{
    struct http_header *items = arena_zalloc(a, all->n ? all->n : 1, sizeof *items);
    size_t n = 0;

    if (!items)
        return -ENOMEM;
    for (size_t i = 0; i < all->n; i++)
        if (!http_is_hop_header(all, all->items[i].name))
            items[n++] = all->items[i];
    *ret = (struct http_headers){.items = items, .n = n};
    return 0;
}
