/* SPDX-License-Identifier: MIT */
/* What a proxy takes out of requests and looks for in pages. Byte 0: where pages are split. Then a
 * query, a cookie header and a page, each up to LF. What was dropped must not be found any more, by
 * the functions that our own server finds it with; dropping twice changes nothing; and a page's
 * head is where it is, however the page arrives. */
#include <stdlib.h>

#include "base/buf.h"
#include "fuzz.h"
#include "proxy/html.h"
#include "proxy/rewrite.h"

static const char *const names[] = {"api_key", "port", NULL}, *const key[] = {"key", NULL};

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

static void check_query(struct arena *a, struct str query)
{
    struct str rest = rewrite_query(a, query, names);

    check(rest.p && rest.len <= query.len);
    for (const char *const *n = names; *n; n++)
        check(!http_query_get(a, rest, *n).p);
    check(str_eq(rewrite_query(a, rest, names), rest));
    struct str url = arena_printf(a, "http://h/?" STR_FMT, STR_ARG(query));
    struct str clean = rewrite_url(a, url, names);
    check(clean.p && clean.len <= url.len);
    check(str_eq(rewrite_url(a, clean, names), clean));
}

static void check_cookie(struct arena *a, struct str value)
{
    struct str rest = rewrite_cookie(a, value, key), left = rest;

    check(rest.p && !rewrite_cookie_next(&left, "key").p);
    check(str_eq(rewrite_cookie(a, rest, key), rest));
    /* The same text as one that an answer sets: keeping it in bounds once is enough. */
    struct str set = rewrite_set_cookie(a, value, STR("/p"));
    check(set.p && str_eq(rewrite_set_cookie(a, set, STR("/p")), set));
}

static void check_page(struct str page, size_t split)
{
    struct html_scan whole = {0}, parts = {0};
    ptrdiff_t at = html_find_head(&whole, page.p, page.len), got;

    split = page.len ? split % (page.len + 1) : 0;
    got = html_find_head(&parts, page.p, split);
    if (got < 0) {
        got = html_find_head(&parts, page.p + split, page.len - split);
        got += got < 0 ? 0 : (ptrdiff_t)split;
    }
    check(at == got);
    check(at < 0 || (at >= 6 && page.p[at - 1] == '>'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a auto_arena;
    struct str rest = str_n((const char *)data, size);

    arena_init(&a, (size_t)64 << 20);
    if (size == 0)
        return 0;
    rest = str_skip(rest, 1);
    struct str query = str_cut(&rest, '\n'), cookie = rest.p ? str_cut(&rest, '\n') : STR("");
    check_query(&a, query);
    check_cookie(&a, cookie);
    check_page(rest.p ? rest : STR(""), data[0]);
    return 0;
}
