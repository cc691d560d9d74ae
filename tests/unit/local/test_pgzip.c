/* SPDX-License-Identifier: MIT */
/* gzip on several threads: sizes around the edges of pieces, input in parts of any size, one member
 * that other programs read, and sinks that fail. */
#include "../check.h"

#include <errno.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/gunzip.h"
#include "local/archive/pgzip.h"

enum { MAX = 16 << 20 };

static int collect(void *ctx, const char *p, size_t len)
{
    return buf_add(ctx, p, len);
}

/* Lines that repeat across pieces, and some noise. */
static void make_sample(struct buf *b, size_t len)
{
    uint32_t seed = 7;

    while (b->len < len) {
        seed = seed * 1664525 + 1013904223;
        if (seed & 0x100000)
            (void)buf_printf(b, "line %u of the workspace\n", seed >> 22);
        else
            (void)buf_add(b, &seed, 3);
    }
    b->len = len;
    assert_true(buf_ok(b));
}

static void pack(struct str plain, size_t part, struct buf *out)
{
    struct pgzip *g = pgzip_new(collect, out);

    assert_non_null(g);
    for (struct str rest = plain; rest.len > 0; rest = str_skip(rest, part)) {
        struct str piece = str_slice(rest, 0, part);
        assert_int_equal(pgzip_feed(g, piece.p, piece.len), 0);
    }
    assert_int_equal(pgzip_finish(g), 0);
    pgzip_free(g);
}

/* All of PACKED is one member: some readers look at no other. */
static void must_be(struct str packed, struct str plain)
{
    auto_buf struct buf out = BUF_INIT(MAX);
    z_stream z = {0};

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(buf_reserve(&out, plain.len + 1), 0);
    z.next_in = (Bytef *)(uintptr_t)packed.p;
    z.avail_in = (uInt)packed.len;
    z.next_out = (Bytef *)out.p;
    z.avail_out = (uInt)plain.len + 1;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.total_out, plain.len);
    assert_memory_equal(out.p, plain.p ? plain.p : "", plain.len);
    assert_int_equal(inflateEnd(&z), Z_OK);
}

static void sizes_around_the_edges_of_pieces(void **state)
{
    static const size_t sizes[] = {0,
                                   1,
                                   DEFLATE_PIECE - 1,
                                   DEFLATE_PIECE,
                                   DEFLATE_PIECE + 1,
                                   2 * DEFLATE_PIECE,
                                   20 * DEFLATE_PIECE + 5};
    auto_buf struct buf sample = BUF_INIT(MAX);

    (void)state;
    make_sample(&sample, 20 * DEFLATE_PIECE + 5);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        auto_buf struct buf packed = BUF_INIT(MAX);
        struct str plain = str_slice(buf_str(&sample), 0, sizes[i]);
        pack(plain, 100000, &packed);
        must_be(buf_str(&packed), plain);
    }
}

static void parts_of_any_size_give_the_same(void **state)
{
    static const size_t parts[] = {1000, DEFLATE_PIECE, 3 * DEFLATE_PIECE + 1, MAX};
    auto_buf struct buf sample = BUF_INIT(MAX), first = BUF_INIT(MAX);

    (void)state;
    make_sample(&sample, 5 * DEFLATE_PIECE + 17);
    pack(buf_str(&sample), 77777, &first);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        auto_buf struct buf packed = BUF_INIT(MAX);
        pack(buf_str(&sample), parts[i], &packed);
        assert_true(str_eq(buf_str(&packed), buf_str(&first)));
    }
}

static int fail_later(void *ctx, const char *p, size_t len)
{
    int *left = ctx;

    (void)p;
    (void)len;
    return (*left)-- > 0 ? 0 : -EPIPE;
}

static void a_failing_sink_ends_it(void **state)
{
    auto_buf struct buf sample = BUF_INIT(MAX);

    (void)state;
    make_sample(&sample, 4 * DEFLATE_PIECE);
    for (int after = 0; after < 4; after++) {
        int left = after;
        struct pgzip *g = pgzip_new(fail_later, &left);
        int r = 0;
        assert_non_null(g);
        for (int i = 0; i < 20 && r == 0; i++)
            r = pgzip_feed(g, sample.p, sample.len);
        if (r == 0)
            r = pgzip_finish(g);
        assert_int_equal(r, -EPIPE);
        /* And stays so; the threads end all the same. */
        assert_int_equal(pgzip_feed(g, "x", 1), -EPIPE);
        assert_int_equal(pgzip_finish(g), -EPIPE);
        pgzip_free(g);
    }
}

static void one_that_is_dropped_leaves_nothing(void **state)
{
    auto_buf struct buf sample = BUF_INIT(MAX), out = BUF_INIT(MAX);

    (void)state;
    make_sample(&sample, 3 * DEFLATE_PIECE);
    struct pgzip *g = pgzip_new(collect, &out);
    assert_int_equal(pgzip_feed(g, sample.p, sample.len), 0);
    pgzip_free(g);
    g = pgzip_new(collect, &out);
    assert_non_null(g);
    pgzip_free(g);
    pgzip_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_around_the_edges_of_pieces),
        cmocka_unit_test(parts_of_any_size_give_the_same),
        cmocka_unit_test(a_failing_sink_ends_it),
        cmocka_unit_test(one_that_is_dropped_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
