/* SPDX-License-Identifier: MIT */
/* Compression against our own decompression and zlib's: every kind of data, input in pieces of any
 * size, the limits of codes, pieces that are compressed by themselves. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/crc32.h"
#include "base/deflate.h"
#include "base/gunzip.h"

enum { MAX = 8 << 20 };

static int collect(void *ctx, const char *p, size_t len)
{
    return buf_add(ctx, p, len);
}

static void pack(struct str data, size_t piece, enum deflate_format format, struct buf *out)
{
    struct deflate *d = deflate_new(format, collect, out);

    assert_non_null(d);
    for (; data.len > 0; data = str_skip(data, piece)) {
        struct str part = str_slice(data, 0, piece);
        assert_int_equal(deflate_feed(d, part.p, part.len), 0);
    }
    assert_int_equal(deflate_finish(d), 0);
    deflate_free(d);
}

static void unpack_ours(struct str data, struct buf *out)
{
    struct gunzip *z = gunzip_new(collect, out);

    assert_non_null(z);
    assert_int_equal(gunzip_feed(z, data.p, data.len), 0);
    assert_int_equal(gunzip_finish(z), 0);
    gunzip_free(z);
}

static void unpack_zlib(struct str data, enum deflate_format format, struct buf *out)
{
    z_stream s = {0};

    assert_int_equal(inflateInit2(&s, format == DEFLATE_RAW ? -15 : 15 + 16), Z_OK);
    assert_int_equal(buf_reserve(out, MAX), 0);
    s.next_in = (Bytef *)(uintptr_t)data.p;
    s.avail_in = (uInt)data.len;
    s.next_out = (Bytef *)out->p;
    s.avail_out = MAX;
    assert_int_equal(inflate(&s, Z_FINISH), Z_STREAM_END);
    assert_int_equal(s.avail_in, 0);
    out->len = s.total_out;
    assert_int_equal(inflateEnd(&s), Z_OK);
}

/* Ours and zlib's give DATA back. The compressed size. */
static size_t check_all(struct str data, size_t piece)
{
    auto_buf struct buf gz = BUF_INIT(2 * MAX), raw = BUF_INIT(2 * MAX);
    auto_buf struct buf a = BUF_INIT(2 * MAX), b = BUF_INIT(2 * MAX), c = BUF_INIT(2 * MAX);

    pack(data, piece, DEFLATE_GZIP, &gz);
    pack(data, piece, DEFLATE_RAW, &raw);
    unpack_ours(buf_str(&gz), &a);
    unpack_zlib(buf_str(&gz), DEFLATE_GZIP, &b);
    unpack_zlib(buf_str(&raw), DEFLATE_RAW, &c);
    assert_true(str_eq(data, buf_str(&a)));
    assert_true(str_eq(data, buf_str(&b)));
    assert_true(str_eq(data, buf_str(&c)));
    return gz.len;
}

static uint32_t seed = 1;

static uint32_t next(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static const char *const words[] = {"the ",  "workspace ", "of ", "a ",     "tide ", "pool ",
                                    "file ", "\n",         "is ", "shell ", "sand ", "water "};

static void add_text(struct buf *b, size_t len)
{
    for (size_t end = b->len + len; b->len < end;)
        assert_int_equal(buf_printf(b, "%s%u", words[next() % ARRAY_LEN(words)], next() % 50), 0);
}

static void add_noise(struct buf *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        assert_int_equal(buf_add_char(b, (char)next()), 0);
}

static void add_again(struct buf *b, size_t from, size_t len)
{
    assert_int_equal(buf_reserve(b, len), 0);
    memcpy(b->p + b->len, b->p + from, len);
    b->len += len;
}

static void test_small(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX);

    (void)state;
    for (size_t len = 0; len < 300; len++) {
        (void)check_all(buf_str(&b), 1 + len % 7);
        assert_int_equal(buf_add_char(&b, (char)("abcabcabd"[next() % 9])), 0);
    }
    assert_true(check_all(STR(""), 1) <= 20);
    assert_true(check_all(STR("a"), 1) <= 21);
}

static void test_kinds(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX);

    (void)state;
    add_text(&b, 1 << 20);
    assert_true(check_all(buf_str(&b), 10000) < b.len / 2);
    buf_clear(&b);
    add_noise(&b, 1 << 20);
    assert_true(check_all(buf_str(&b), 70000) < b.len + b.len / 1000);
    buf_clear(&b);
    for (size_t i = 0; i < 2 << 20; i++)
        assert_int_equal(buf_add_char(&b, 'x'), 0);
    assert_true(check_all(buf_str(&b), 1 << 20) < 8000);
    add_noise(&b, 100000);
    add_text(&b, 300000);
    add_again(&b, 5, 40000);
    (void)check_all(buf_str(&b), 65537);
}

/* What repeats at the farthest distance that there is, and one past it. */
static void test_distances(void **state)
{
    (void)state;
    for (size_t gap = 32760; gap < 32776; gap++) {
        auto_buf struct buf b = BUF_INIT(MAX);
        add_noise(&b, gap);
        add_again(&b, 0, 300);
        (void)check_all(buf_str(&b), 4096);
    }
}

/* Counts that grow like Fibonacci's numbers make the deepest trees: codes have to be cut. */
static void test_code_limits(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX);
    uint32_t x = 1, y = 1;

    (void)state;
    for (int symbol = 0; symbol < 24; symbol++) {
        for (uint32_t i = 0; i < x; i++)
            assert_int_equal(buf_add_char(&b, (char)(symbol * 7)), 0);
        uint32_t sum = x + y;
        x = y;
        y = sum;
    }
    for (size_t i = b.len - 1; i > 0; i--) {
        size_t k = next() % (i + 1);
        char c = b.p[i];
        b.p[i] = b.p[k];
        b.p[k] = c;
    }
    (void)check_all(buf_str(&b), 50000);
}

/* Pieces by themselves, each with what is before it, one behind another. */
static void test_pieces(void **state)
{
    auto_buf struct buf b = BUF_INIT(MAX), gz = BUF_INIT(MAX), out = BUF_INIT(MAX);
    struct deflate_work *w = deflate_work_new();
    uint32_t crc = 0;
    size_t step = 100001;

    (void)state;
    assert_non_null(w);
    add_text(&b, 1 << 20);
    add_noise(&b, 200000);
    add_text(&b, 1 << 19);
    assert_int_equal(deflate_gzip_head(&gz), 0);
    for (size_t at = 0; at < b.len; at += step) {
        size_t len = b.len - at < step ? b.len - at : step;
        size_t dict = at < DEFLATE_WINDOW ? at : DEFLATE_WINDOW;
        const struct deflate_piece piece = {b.p + at, len, dict, at + len == b.len};
        assert_int_equal(deflate_piece(w, &piece, &gz), 0);
        crc = crc32_join(crc, crc32_add(0, b.p + at, len), len);
    }
    assert_int_equal(crc, crc32_add(0, b.p, b.len));
    assert_int_equal(deflate_gzip_tail(&gz, crc, b.len), 0);
    unpack_ours(buf_str(&gz), &out);
    assert_true(str_eq(buf_str(&b), buf_str(&out)));
    deflate_work_free(w);
}

static int refuse(void *ctx, const char *p, size_t len)
{
    (void)ctx;
    (void)p;
    (void)len;
    return -EPIPE;
}

static void test_a_sink_that_fails(void **state)
{
    struct deflate *d = deflate_new(DEFLATE_GZIP, refuse, NULL);

    (void)state;
    assert_non_null(d);
    assert_int_equal(deflate_feed(d, "x", 1), 0);
    assert_int_equal(deflate_finish(d), -EPIPE);
    assert_int_equal(deflate_feed(d, "x", 1), -EPIPE);
    deflate_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),     cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_distances), cmocka_unit_test(test_code_limits),
        cmocka_unit_test(test_pieces),    cmocka_unit_test(test_a_sink_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
