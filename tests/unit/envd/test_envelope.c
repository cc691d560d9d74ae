/* SPDX-License-Identifier: MIT */
/* Envelopes: whole, in pieces, too long. */
#include "../check.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "envd/envelope.h"

enum { MAX = 20 };

/* Feeds TEXT in pieces of SIZE; appends "flags:payload;" for each envelope. */
static ssize_t read_all(struct str text, size_t size, struct buf *out, bool *ret_is_partial)
{
    struct envelope_reader r;
    ssize_t used = 0;

    envelope_reader_init(&r, MAX);
    while (text.len > 0 && used >= 0) {
        struct str piece = str_slice(text, 0, size);
        text = str_skip(text, piece.len);
        while (piece.len > 0) {
            struct envelope env;
            bool is_whole;
            used = envelope_read(&r, piece, &env, &is_whole);
            if (used < 0)
                break;
            piece = str_skip(piece, (size_t)used);
            if (is_whole)
                (void)buf_printf(out, "%u:" STR_FMT ";", (unsigned)env.flags, STR_ARG(env.payload));
        }
    }
    *ret_is_partial = envelope_is_partial(&r);
    envelope_reader_done(&r);
    return used < 0 ? used : 0;
}

static void put(struct buf *b, uint8_t flags, const char *text)
{
    assert_int_equal(envelope_put_head(b, flags, strlen(text)), 0);
    assert_int_equal(buf_add_str(b, str_of(text)), 0);
}

static void pieces_of_any_size_give_the_same(void **state)
{
    auto_buf struct buf text = BUF_INIT(1000);

    (void)state;
    put(&text, 0, "one");
    put(&text, 0, "");
    put(&text, 2, "12345678901234567890");
    put(&text, 0, "{}");
    for (size_t size = 1; size <= text.len; size++) {
        auto_buf struct buf out = BUF_INIT(1000);
        bool is_partial;
        assert_int_equal(read_all(buf_str(&text), size, &out, &is_partial), 0);
        assert_string_equal(buf_cstr(&out), "0:one;0:;2:12345678901234567890;0:{};");
        assert_false(is_partial);
    }
}

static void a_part_is_kept_and_known(void **state)
{
    auto_buf struct buf text = BUF_INIT(1000), out = BUF_INIT(1000);
    bool is_partial;

    (void)state;
    put(&text, 0, "whole");
    put(&text, 0, "part");
    for (size_t cut = 1; cut < ENVELOPE_HEAD + 4; cut++) {
        buf_clear(&out);
        struct str most = str_slice(buf_str(&text), 0, text.len - cut);
        assert_int_equal(read_all(most, 3, &out, &is_partial), 0);
        assert_string_equal(buf_cstr(&out), "0:whole;");
        assert_true(is_partial);
    }
}

static void what_is_too_long_is_refused_by_its_head(void **state)
{
    static const char heads[][ENVELOPE_HEAD] = {
        {0, 0, 0, 0, MAX + 1}, {0, 1, 0, 0, 0}, {0, '\xff', '\xff', '\xff', '\xff'}};

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        for (size_t size = 1; size <= ENVELOPE_HEAD; size++) {
            auto_buf struct buf out = BUF_INIT(1000);
            bool is_partial;
            struct str head = str_n(heads[i], ENVELOPE_HEAD);
            assert_int_equal(read_all(head, size, &out, &is_partial), -EMSGSIZE);
        }
}

static void heads_are_big_endian(void **state)
{
    auto_buf struct buf b = BUF_INIT(100);

    (void)state;
    assert_int_equal(envelope_put_head(&b, 2, 0x01020304), 0);
    assert_memory_equal(b.p, "\x02\x01\x02\x03\x04", ENVELOPE_HEAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size_give_the_same),
        cmocka_unit_test(a_part_is_kept_and_known),
        cmocka_unit_test(what_is_too_long_is_refused_by_its_head),
        cmocka_unit_test(heads_are_big_endian),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
