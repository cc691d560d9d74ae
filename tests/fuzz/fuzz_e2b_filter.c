/* SPDX-License-Identifier: MIT */
/* Filters and places of E2B's lists. Everything up to the first LF is a filter of metadata, up to
 * the second a time, the rest a token. What is taken must be within its limits, and a place that
 * was read must come back out of the token that is written for it. */
#include <stdlib.h>
#include <string.h>

#include "api/e2b/filter.h"
#include "base/buf.h"
#include "fuzz.h"

static void check(bool is_right)
{
    if (!is_right)
        abort();
}

static void check_metadata(struct str text)
{
    auto_arena struct arena a;
    struct e2b_metadata m;
    struct err e = ERR_INIT;

    arena_init(&a, 1 << 20);
    int r = e2b_metadata_parse(&a, text, &m, &e);
    check(r == 0 || e.code == r);
    check(m.n <= E2B_METADATA_MAX);
    for (size_t i = 0; r == 0 && i < m.n; i++)
        check(m.pairs[i].key.p && m.pairs[i].value.p &&
              m.pairs[i].key.len + m.pairs[i].value.len < text.len);
}

static void check_token(struct str text)
{
    struct buf token auto_buf = BUF_INIT(4096);
    struct e2b_cursor c, back;

    if (e2b_cursor_parse(text, &c) < 0)
        return;
    check(strlen(c.id) == SANDBOX_ID_LEN);
    check(e2b_cursor_write(&token, &c) == 0);
    check(e2b_cursor_parse(buf_str(&token), &back) == 0);
    check(e2b_order(&c, &back) == 0 && c.is_ascending == back.is_ascending);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data, size);
    struct str metadata = str_cut(&rest, '\n'), time = str_cut(&rest, '\n');
    int64_t us;

    check_metadata(metadata);
    if (time.p)
        (void)e2b_time_parse(time, &us);
    if (rest.p)
        check_token(rest);
    return 0;
}
