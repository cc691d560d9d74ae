/* SPDX-License-Identifier: MIT */
/* Arena, buffers, strings, maps, errors, encodings, clocks and ids. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/err.h"
#include "base/id.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"

static void err_adds_context_once_per_layer(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(err_sys(&e, -ENOENT, "open '%s'", "x"), -ENOENT);
    assert_int_equal(err_ctx(&e, -ENOENT, "state"), -ENOENT);
    assert_string_equal(err_text(&e), "state: open 'x': No such file or directory");
    assert_int_equal(err_set(NULL, -EIO, "ignored"), -EIO);
}

static void err_cuts_long_messages(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    for (int i = 0; i < 100; i++)
        (void)err_ctx(&e, -EIO, "layer %d", i);
    assert_int_equal(strlen(e.text), ERR_TEXT_MAX - 1);
}

static void arena_stays_within_its_maximum(void **state)
{
    struct arena a;

    (void)state;
    arena_init(&a, 10000);
    assert_non_null(arena_alloc(&a, 10000));
    assert_null(arena_alloc(&a, 1));
    arena_done(&a);
    assert_non_null(arena_alloc(&a, 1));
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_zalloc(&a, SIZE_MAX / 2, 3));
    arena_done(&a);
}

static void arena_memory_is_aligned_and_separate(void **state)
{
    struct arena a;
    char *parts[200];

    (void)state;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < 200; i++) {
        parts[i] = arena_alloc(&a, i);
        assert_int_equal((uintptr_t)parts[i] % 16, 0);
        memset(parts[i], (int)i, i);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal((unsigned char)parts[i][j], i);
    assert_str(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    arena_reset(&a);
    assert_int_equal(a.used, ARENA_BLOCK);
    arena_done(&a);
}

static void arena_uses_its_blocks_again(void **state)
{
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    for (int i = 0; i < 3; i++)
        assert_non_null(arena_alloc(&a, ARENA_BLOCK - 100));
    assert_non_null(arena_alloc(&a, (size_t)10 * ARENA_BLOCK)); /* is not kept */
    arena_recycle(&a, (size_t)2 * ARENA_BLOCK);
    assert_int_equal(a.used, 0);
    for (int i = 0; i < 8; i++)
        memset(arena_alloc(&a, ARENA_BLOCK), i, ARENA_BLOCK);
    assert_int_equal(a.used, 8 * ARENA_BLOCK);
    arena_recycle(&a, 1 << 20);
    arena_recycle(&a, 1 << 20);
    assert_non_null(arena_alloc(&a, ARENA_BLOCK));
    /* What is spare does not count. */
    assert_int_equal(a.used, ARENA_BLOCK);
    arena_reset(&a);
    assert_non_null(arena_alloc(&a, 1));
}

static void buf_refuses_what_passes_its_maximum(void **state)
{
    struct buf b = BUF_INIT(5);

    (void)state;
    assert_int_equal(buf_add(&b, "12345", 5), 0);
    assert_int_equal(buf_add_char(&b, '6'), -ENOBUFS);
    assert_int_equal(buf_add(&b, "", 0), -ENOBUFS);
    assert_str(buf_str(&b), "12345");
    buf_clear(&b);
    assert_int_equal(buf_printf(&b, "%s", "abcde"), 0);
    assert_int_equal(buf_printf(&b, "%s", "f"), -ENOBUFS);
    buf_done(&b);
}

static void buf_consumes_from_the_front(void **state)
{
    struct buf b auto_buf = BUF_INIT(1 << 20);

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(buf_printf(&b, "%03d,", i), 0);
    assert_int_equal(b.len, 4000);
    buf_consume(&b, 3996);
    assert_string_equal(buf_cstr(&b), "999,");
    buf_consume(&b, 10);
    assert_int_equal(b.len, 0);
}

static void strings_cut_trim_and_convert(void **state)
{
    struct str s = STR("a,,b");
    int64_t i;
    uint64_t u;

    (void)state;
    assert_str(str_cut(&s, ','), "a");
    assert_str(str_cut(&s, ','), "");
    assert_str(str_cut(&s, ','), "b");
    assert_null(s.p);
    assert_str(str_trim(STR(" \tx y\t ")), "x y");
    assert_int_equal(str_to_i64(STR("-9223372036854775808"), &i), 0);
    assert_true(i == INT64_MIN);
    assert_int_equal(str_to_i64(STR("9223372036854775808"), &i), -ERANGE);
    assert_int_equal(str_to_u64(STR("18446744073709551615"), &u), 0);
    assert_int_equal(str_to_u64(STR("18446744073709551616"), &u), -ERANGE);
    assert_int_equal(str_to_i64(STR(""), &i), -EINVAL);
    assert_int_equal(str_to_i64(STR("1 "), &i), -EINVAL);
    assert_int_equal(str_to_i64(STR("-"), &i), -EINVAL);
    assert_true(str_ieq(STR("Content-Type"), STR("content-tYPE")));
    assert_false(str_ieq(STR("a"), STR("b")));
    assert_true(str_starts(STR("abc"), STR("ab")) && str_ends(STR("abc"), STR("bc")));
    assert_int_equal(str_find(STR("hello"), STR("ll")), 2);
    assert_int_equal(str_find(STR("hello"), STR("lol")), -1);
}

static void utf8_is_checked_strictly(void **state)
{
    (void)state;
    assert_true(str_is_utf8(STR("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80")));
    assert_false(str_is_utf8(STR("\xc0\x80")));         /* overlong */
    assert_false(str_is_utf8(STR("\xed\xa0\x80")));     /* surrogate */
    assert_false(str_is_utf8(STR("\xf4\x90\x80\x80"))); /* past U+10FFFF */
    assert_false(str_is_utf8(STR("\xe2\x82")));         /* cut */
    assert_false(str_is_utf8(STR("\x80")));
}

static void map_keeps_many_entries_through_growth(void **state)
{
    struct map m;
    char key[16];

    (void)state;
    map_init(&m, 5000);
    for (uintptr_t i = 1; i <= 5000; i++) {
        (void)snprintf(key, sizeof key, "k%lu", (unsigned long)i);
        assert_int_equal(map_put(&m, str_of(key), (void *)i, NULL), 0);
    }
    assert_int_equal(map_put(&m, STR("one more"), &m, NULL), -ENOBUFS);
    for (uintptr_t i = 2; i <= 5000; i += 2) {
        (void)snprintf(key, sizeof key, "k%lu", (unsigned long)i);
        assert_ptr_equal(map_del(&m, str_of(key)), (void *)i);
        assert_null(map_del(&m, str_of(key)));
    }
    size_t seen = 0;
    for (size_t i = 0; map_next(&m, &i, NULL, NULL);)
        seen++;
    assert_int_equal(seen, 2500);
    assert_ptr_equal(map_get(&m, STR("k4999")), (void *)4999);
    assert_null(map_get(&m, STR("k5000")));
    void *old = NULL;
    assert_int_equal(map_put(&m, STR("k1"), &m, &old), 0);
    assert_ptr_equal(old, (void *)1);
    map_done(&m);
}

static void map_survives_endless_add_and_remove(void **state)
{
    struct map m;

    (void)state;
    map_init(&m, 10);
    for (int i = 0; i < 10000; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "%d", i);
        assert_int_equal(map_put(&m, str_of(key), &m, NULL), 0);
        assert_ptr_equal(map_del(&m, str_of(key)), &m);
    }
    assert_true(m.cap <= 32);
    map_done(&m);
}

static void list_pops_in_order(void **state)
{
    struct list head = LIST_INIT(head), n[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        list_append(&head, &n[i]);
    list_del(&n[1]);
    list_del(&n[1]);
    assert_ptr_equal(list_pop(&head), &n[0]);
    assert_ptr_equal(list_pop(&head), &n[2]);
    assert_null(list_pop(&head));
}

static void encodings_round_trip(void **state)
{
    struct buf b auto_buf = BUF_INIT(4096), c auto_buf = BUF_INIT(4096);
    char raw[64], hex[129];

    (void)state;
    for (size_t n = 0; n < sizeof raw; n++) {
        id_random(raw, n);
        buf_clear(&b);
        buf_clear(&c);
        assert_int_equal(enc_base64(&b, str_n(raw, n)), 0);
        assert_int_equal(enc_unbase64(&c, buf_str(&b)), 0);
        assert_int_equal(c.len, n);
        assert_memory_equal(c.p ? c.p : raw, raw, n);
        enc_hex(hex, raw, n);
        char back[64];
        assert_int_equal(enc_unhex(back, n, str_of(hex)), 0);
        assert_memory_equal(back, raw, n);
    }
}

static void encodings_match_known_values(void **state)
{
    static const struct {
        const char *plain, *base64, *base64url;
    } rows[] = {
        {"", "", ""},
        {"f", "Zg==", "Zg"},
        {"fo", "Zm8=", "Zm8"},
        {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
        {"\xff\xfe\xfd", "//79", "__79"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf b auto_buf = BUF_INIT(64), c auto_buf = BUF_INIT(64);
        assert_int_equal(enc_base64(&b, str_of(rows[i].plain)), 0);
        assert_string_equal(buf_cstr(&b), rows[i].base64);
        assert_int_equal(enc_base64url(&c, str_of(rows[i].plain)), 0);
        assert_string_equal(buf_cstr(&c), rows[i].base64url);
    }
}

static void malformed_encodings_are_refused(void **state)
{
    static const char *const bad[] = {"Z", "Zg=", "Zh==", "Zg===", "Z!==", "=", "====", "Zm=v"};
    char raw[2];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct buf b auto_buf = BUF_INIT(64);
        if (enc_unbase64(&b, str_of(bad[i])) != -EINVAL)
            fail_msg("accepted %s", bad[i]);
    }
    assert_int_equal(enc_unhex(raw, 2, STR("12g4")), -EINVAL);
    assert_int_equal(enc_unhex(raw, 2, STR("123")), -EINVAL);
}

static void percent_encoding(void **state)
{
    struct buf b auto_buf = BUF_INIT(64);

    (void)state;
    assert_int_equal(enc_percent(&b, STR("a b/\xc3\xbc~")), 0);
    assert_string_equal(buf_cstr(&b), "a%20b%2F%C3%BC~");
    buf_clear(&b);
    assert_int_equal(enc_unpercent(&b, STR("a+b%2fc"), true), 0);
    assert_string_equal(buf_cstr(&b), "a b/c");
    assert_int_equal(enc_unpercent(&b, STR("%2"), true), -EINVAL);
    assert_int_equal(enc_unpercent(&b, STR("%zz"), true), -EINVAL);
}

static int64_t fixed_time(void)
{
    return 1769508000123456;
}

static void clock_can_be_replaced_and_printed(void **state)
{
    static const struct clock_source fake = {fixed_time, fixed_time};
    char text[CLOCK_RFC3339_MAX];

    (void)state;
    clock_set_source(&fake);
    clock_rfc3339(text, clock_real_us());
    assert_string_equal(text, "2026-01-27T10:00:00Z");
    clock_rfc3339_us(text, clock_real_us());
    assert_string_equal(text, "2026-01-27T10:00:00.123456Z");
    clock_http_date(text, clock_real_us());
    assert_string_equal(text, "Tue, 27 Jan 2026 10:00:00 GMT");
    clock_set_source(NULL);
    assert_true(clock_real_us() != fixed_time());
}

static void times_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
    } rows[] = {
        {"2026-01-27T10:00:00Z", 1769508000000000},
        {"2026-01-27 10:00:00.123456z", 1769508000123456},
        {"2026-01-27T10:00:00.1234567Z", 1769508000123456},
        {"2026-01-27T11:30:00+01:30", 1769508000000000},
        {"2026-01-27T02:00:00-08:00", 1769508000000000},
        {"2024-02-29T00:00:00Z", 1709164800000000},
        {"2026-02-29T00:00:00Z", -1},
        {"2026-01-27T10:00:00", -1},
        {"2026-01-27T10:00:00+1:30", -1},
        {"2026-01-27T10:00:00+24:00", -1},
        {"2026-01-27T10:00:00Zx", -1},
        {"2026-13-27T10:00:00Z", -1},
        {"yesterday at five past six", -1},
        {"", -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t us = -1;
        assert_int_equal(clock_parse_rfc3339(str_of(rows[i].text), &us),
                         rows[i].us < 0 ? -EINVAL : 0);
        assert_int_equal(us, rows[i].us);
    }
}

static void ids_have_the_asked_length(void **state)
{
    char a[41], b[41];

    (void)state;
    id_hex(a, 40);
    id_hex(b, 40);
    assert_int_equal(strlen(a), 40);
    assert_int_equal(strspn(a, "0123456789abcdef"), 40);
    assert_string_not_equal(a, b);
    id_hex(a, 0);
    assert_string_equal(a, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(err_adds_context_once_per_layer),
        cmocka_unit_test(err_cuts_long_messages),
        cmocka_unit_test(arena_stays_within_its_maximum),
        cmocka_unit_test(arena_memory_is_aligned_and_separate),
        cmocka_unit_test(arena_uses_its_blocks_again),
        cmocka_unit_test(buf_refuses_what_passes_its_maximum),
        cmocka_unit_test(buf_consumes_from_the_front),
        cmocka_unit_test(strings_cut_trim_and_convert),
        cmocka_unit_test(utf8_is_checked_strictly),
        cmocka_unit_test(map_keeps_many_entries_through_growth),
        cmocka_unit_test(map_survives_endless_add_and_remove),
        cmocka_unit_test(list_pops_in_order),
        cmocka_unit_test(encodings_round_trip),
        cmocka_unit_test(encodings_match_known_values),
        cmocka_unit_test(malformed_encodings_are_refused),
        cmocka_unit_test(percent_encoding),
        cmocka_unit_test(clock_can_be_replaced_and_printed),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(ids_have_the_asked_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
