/* SPDX-License-Identifier: MIT */
/* gzip decompression against zlib's compression: every level and strategy, input in pieces of any
 * size, and every kind of damage. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/crc32.h"
#include "base/gunzip.h"

enum { MAX = 4 << 20 };

static int collect(void *ctx, const char *p, size_t len)
{
    return buf_add(ctx, p, len);
}

/* Decompresses DATA in pieces of PIECE bytes; 0 or the error, with its reason. */
static int unpack(struct str data, size_t piece, struct buf *out, const char **ret_reason)
{
    struct gunzip *z = gunzip_new(collect, out);
    int r = 0;

    assert_non_null(z);
    for (; r == 0 && data.len > 0; data = str_skip(data, piece)) {
        struct str part = str_slice(data, 0, piece);
        r = gunzip_feed(z, part.p, part.len);
    }
    if (r == 0)
        r = gunzip_finish(z);
    if (ret_reason)
        *ret_reason = gunzip_reason(z); /* a literal */
    gunzip_free(z);
    return r;
}

static void pack(struct str data, int level, int strategy, struct buf *out)
{
    z_stream s = {0};

    assert_int_equal(deflateInit2(&s, level, Z_DEFLATED, 15 + 16, 8, strategy), Z_OK);
    assert_int_equal(buf_reserve(out, deflateBound(&s, data.len)), 0);
    s.next_in = (Bytef *)(uintptr_t)data.p;
    s.avail_in = (uInt)data.len;
    s.next_out = (Bytef *)out->p + out->len;
    s.avail_out = (uInt)(out->cap - out->len);
    assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
    out->len += s.total_out;
    assert_int_equal(deflateEnd(&s), Z_OK);
}

/* Text with repeats near and far, then noise, then a long run. */
static void make_sample(struct buf *b, size_t len)
{
    uint32_t seed = 1;

    while (b->len < len) {
        seed = seed * 1664525 + 1013904223;
        if (b->len % 70000 < 40000)
            (void)buf_printf(b, "line %u of the sample, %s\n", seed >> 20,
                             seed & 0x10000 ? "as ever" : "and something else");
        else if (b->len % 70000 < 60000)
            (void)buf_add(b, &seed, 3);
        else
            (void)buf_add_lit(b, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    }
    assert_true(buf_ok(b));
}

static void all_levels_and_strategies(void **state)
{
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE,
                                     Z_FIXED};
    static const size_t sizes[] = {0, 1, 2, 300, 33000, 400000};
    auto_buf struct buf sample = BUF_INIT(MAX), packed = BUF_INIT(MAX), out = BUF_INIT(MAX);

    (void)state;
    make_sample(&sample, 400000);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (int level = 0; level <= 9; level++)
            for (size_t k = 0; k < ARRAY_LEN(strategies); k++) {
                struct str want = str_slice(buf_str(&sample), 0, sizes[i]);
                buf_clear(&packed);
                buf_clear(&out);
                pack(want, level, strategies[k], &packed);
                assert_int_equal(unpack(buf_str(&packed), 65536, &out, NULL), 0);
                assert_true(str_eq(buf_str(&out), want));
            }
}

static void input_in_pieces(void **state)
{
    static const size_t pieces[] = {1, 2, 3, 5, 7, 8, 9, 64, 1000, 100000};
    auto_buf struct buf sample = BUF_INIT(MAX), packed = BUF_INIT(MAX), out = BUF_INIT(MAX);

    (void)state;
    make_sample(&sample, 200000);
    for (int level = 0; level <= 9; level += 3) {
        buf_clear(&packed);
        pack(buf_str(&sample), level, Z_DEFAULT_STRATEGY, &packed);
        for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
            buf_clear(&out);
            assert_int_equal(unpack(buf_str(&packed), pieces[i], &out, NULL), 0);
            assert_true(str_eq(buf_str(&out), buf_str(&sample)));
        }
    }
}

static void members_in_a_row_are_one_stream(void **state)
{
    auto_buf struct buf packed = BUF_INIT(MAX), out = BUF_INIT(MAX);
    const char *reason;

    (void)state;
    pack(STR("one,"), 6, Z_DEFAULT_STRATEGY, &packed);
    pack(STR(""), 6, Z_DEFAULT_STRATEGY, &packed);
    pack(STR("two"), 0, Z_DEFAULT_STRATEGY, &packed);
    assert_int_equal(unpack(buf_str(&packed), 1, &out, NULL), 0);
    assert_str(buf_str(&out), "one,two");
    /* Nothing else may follow. */
    (void)buf_add_lit(&packed, "trailing garbage");
    assert_int_equal(unpack(buf_str(&packed), 65536, &out, &reason), -EINVAL);
    assert_string_equal(reason, "gzip: invalid header");
}

/* Deflated bytes alone: a gzip file without its head and trailer. */
static int unpack_raw(struct str data, size_t piece, struct buf *out)
{
    struct gunzip *z = gunzip_new_raw(collect, out);
    int r = 0;

    assert_non_null(z);
    for (; r == 0 && data.len > 0; data = str_skip(data, piece)) {
        struct str part = str_slice(data, 0, piece);
        r = gunzip_feed(z, part.p, part.len);
    }
    if (r == 0)
        r = gunzip_finish(z);
    gunzip_free(z);
    return r;
}

static void deflated_bytes_alone(void **state)
{
    static const size_t pieces[] = {1, 7, 4096, 1000000};
    auto_buf struct buf sample = BUF_INIT(MAX), packed = BUF_INIT(MAX), out = BUF_INIT(MAX);

    (void)state;
    make_sample(&sample, 100000);
    for (int level = 0; level <= 9; level += 3) {
        buf_clear(&packed);
        pack(buf_str(&sample), level, Z_DEFAULT_STRATEGY, &packed);
        struct str raw = str_slice(buf_str(&packed), 10, packed.len - 8);
        for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
            buf_clear(&out);
            assert_int_equal(unpack_raw(raw, pieces[i], &out), 0);
            assert_true(str_eq(buf_str(&out), buf_str(&sample)));
        }
        assert_int_equal(unpack_raw(str_slice(raw, 0, raw.len - 1), 4096, &out), -EINVAL);
        /* Nothing may follow. */
        assert_int_equal(unpack_raw(str_n(raw.p, raw.len + 1), 4096, &out), -EINVAL);
    }
}

static void heads_with_everything(void **state)
{
    auto_buf struct buf packed = BUF_INIT(MAX), file = BUF_INIT(MAX), out = BUF_INIT(MAX);
    const char *reason;

    (void)state;
    pack(STR("x"), 6, Z_DEFAULT_STRATEGY, &packed);
    (void)buf_add(&file, "\x1f\x8b\x08\x1e\0\0\0\0\0\x03\x04\0abcdname\0comment\0", 29);
    uint32_t sum = crc32_add(0, file.p, file.len);
    (void)buf_add_char(&file, (char)(sum & 0xff));
    (void)buf_add_char(&file, (char)(sum >> 8 & 0xff));
    (void)buf_add(&file, packed.p + 10, packed.len - 10);
    assert_int_equal(unpack(buf_str(&file), 1, &out, NULL), 0);
    assert_str(buf_str(&out), "x");
    file.p[20] ^= 1;
    assert_int_equal(unpack(buf_str(&file), 1, &out, &reason), -EINVAL);
    assert_string_equal(reason, "gzip: invalid header");
}

static void damage_is_found(void **state)
{
    auto_buf struct buf sample = BUF_INIT(MAX), packed = BUF_INIT(MAX), out = BUF_INIT(MAX);
    const char *reason;

    (void)state;
    make_sample(&sample, 5000);
    pack(buf_str(&sample), 6, Z_DEFAULT_STRATEGY, &packed);
    /* Cut anywhere. */
    for (size_t n = 0; n < packed.len; n++) {
        buf_clear(&out);
        assert_int_equal(unpack(str_n(packed.p, n), 4096, &out, &reason), -EINVAL);
        assert_string_equal(reason, "unexpected EOF");
    }
    /* One bit wrong, except where nobody looks: the time, the flags of the packer and its system,
     * and what fills the last byte of the data. */
    for (size_t i = 0; i < packed.len * 8; i++) {
        if ((i >= 32 && i < 80) || i == 24 || i / 8 == packed.len - 9)
            continue;
        packed.p[i / 8] = (char)(packed.p[i / 8] ^ 1 << i % 8);
        buf_clear(&out);
        assert_int_equal(unpack(buf_str(&packed), 4096, &out, &reason), -EINVAL);
        assert_true(*reason);
        packed.p[i / 8] = (char)(packed.p[i / 8] ^ 1 << i % 8);
    }
}

static int refuse(void *ctx, const char *p, size_t len)
{
    (void)ctx;
    (void)p;
    (void)len;
    return -ENOSPC;
}

static void a_failing_sink_ends_it(void **state)
{
    auto_buf struct buf packed = BUF_INIT(MAX);
    struct gunzip *z = gunzip_new(refuse, NULL);

    (void)state;
    pack(STR("text"), 6, Z_DEFAULT_STRATEGY, &packed);
    assert_int_equal(gunzip_feed(z, packed.p, packed.len), -ENOSPC);
    assert_int_equal(gunzip_feed(z, "", 0), -ENOSPC);
    assert_int_equal(gunzip_finish(z), -ENOSPC);
    assert_string_equal(gunzip_reason(z), "");
    gunzip_free(z);
}

static void crc_as_everybody_has_it(void **state)
{
    auto_buf struct buf sample = BUF_INIT(MAX);

    (void)state;
    make_sample(&sample, 3000);
    assert_int_equal(crc32_add(0, "123456789", 9), 0xcbf43926);
    for (size_t n = 0; n < 40; n++)
        assert_int_equal(crc32_add(crc32_add(0, sample.p, n), sample.p + n, 2000),
                         crc32(0, (const Bytef *)sample.p, (uInt)n + 2000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_levels_and_strategies),
        cmocka_unit_test(input_in_pieces),
        cmocka_unit_test(members_in_a_row_are_one_stream),
        cmocka_unit_test(deflated_bytes_alone),
        cmocka_unit_test(heads_with_everything),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(a_failing_sink_ends_it),
        cmocka_unit_test(crc_as_everybody_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
