/* SPDX-License-Identifier: MIT */
#include "local/mail/utf7.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,";

/* A run of UTF-16 that is being written or read, six bits at a time. */
struct utf7_run {
    uint32_t bits;
    unsigned n_bits;
};

static void put_unit(struct buf *b, struct utf7_run *r, uint32_t unit)
{
    r->bits = r->bits << 16 | unit;
    r->n_bits += 16;
    while (r->n_bits >= 6) {
        r->n_bits -= 6;
        (void)buf_add_char(b, digits[r->bits >> r->n_bits & 63]);
    }
    r->bits &= (1U << r->n_bits) - 1;
}

static void end_utf7_run(struct buf *b, struct utf7_run *r)
{
    if (r->n_bits > 0)
        (void)buf_add_char(b, digits[r->bits << (6 - r->n_bits) & 63]);
    (void)buf_add_char(b, '-');
}

static bool is_direct(uint32_t c)
{
    return c >= ' ' && c < 0x7f;
}

struct str utf7_encode(struct arena *a, struct str s)
{
    auto_buf struct buf b = BUF_INIT(8 * s.len + 16);
    struct utf7_run run = {0};
    bool is_open = false;
    uint32_t c;

    for (size_t n; s.len > 0 && (n = utf8_decode(s.p, s.len, &c)) > 0; s = str_skip(s, n)) {
        if (is_direct(c)) {
            if (is_open)
                end_utf7_run(&b, &run);
            is_open = false;
            (void)buf_add_str(&b, c == '&' ? STR("&-") : str_n(s.p, 1));
            continue;
        }
        if (!is_open) {
            (void)buf_add_char(&b, '&');
            run = (struct utf7_run){0};
            is_open = true;
        }
        if (c >= 0x10000) {
            put_unit(&b, &run, 0xd800 + ((c - 0x10000) >> 10));
            c = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        put_unit(&b, &run, c);
    }
    if (is_open)
        end_utf7_run(&b, &run);
    struct str out = buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
    return out.p ? out : STR("");
}

/* The run behind "&", up to "-": false when it is malformed. */
static bool read_utf7_run(struct buf *b, struct str text)
{
    struct utf7_run run = {0};
    uint32_t high = 0;
    char out[UTF8_MAX];

    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.p[i] ? strchr(digits, text.p[i]) : NULL;
        if (!digit)
            return false;
        run.bits = (run.bits << 6 | (uint32_t)(digit - digits)) & 0x3fffff;
        run.n_bits += 6;
        if (run.n_bits < 16)
            continue;
        run.n_bits -= 16;
        uint32_t c = run.bits >> run.n_bits & 0xffff;
        bool is_low = c >= 0xdc00 && c < 0xe000;
        if (is_low != (high != 0))
            return false;
        if (c >= 0xd800 && c < 0xdc00) {
            high = c;
            continue;
        }
        if (is_low)
            c = 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00);
        high = 0;
        (void)buf_add(b, out, utf8_encode(out, c));
    }
    /* Nothing but fewer bits than a digit has may be left, all of them 0. */
    return !high && run.n_bits < 6 && (run.bits & ((1U << run.n_bits) - 1)) == 0;
}

struct str utf7_decode(struct arena *a, struct str s)
{
    auto_buf struct buf b = BUF_INIT(4 * s.len + 16);
    struct str rest = s;

    while (rest.len > 0) {
        if (rest.p[0] != '&') {
            (void)buf_add_char(&b, rest.p[0]);
            rest = str_skip(rest, 1);
            continue;
        }
        ptrdiff_t end = str_chr(rest, '-');
        if (end < 0)
            return s;
        struct str run = str_slice(rest, 1, (size_t)end);
        if (run.len == 0)
            (void)buf_add_char(&b, '&');
        else if (!read_utf7_run(&b, run))
            return s;
        rest = str_skip(rest, (size_t)end + 1);
    }
    struct str out = buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
    return out.p ? out : s;
}
