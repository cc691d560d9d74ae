/* SPDX-License-Identifier: MIT */
/* Office files with a password, and the compound files that hold them. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "office/agile.h"
#include "office/cfb.h"

enum { MAX = 64 << 20 };

static int setup(void **state)
{
    struct arena *a = malloc(sizeof *a);

    if (!a)
        return -1;
    arena_init(a, (size_t)4 * MAX);
    *state = a;
    return 0;
}

static int teardown(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

/* LEN bytes that do not repeat soon. */
static struct str pattern(struct arena *a, size_t len)
{
    char *p = arena_alloc(a, len + 1);

    assert_non_null(p);
    for (size_t i = 0; i < len; i++)
        p[i] = (char)(i * 131 + i / 251);
    return str_n(p, len);
}

/* Small and large streams, at the borders between them, and so many sectors that their table has a
 * table (above 109 * 128). */
static void streams_come_back(void **state)
{
    static const size_t sizes[] = {1, 63, 64, 65, 4095, 4096, 4097, 70000, 9 << 20};
    struct arena *a = *state;
    struct cfb_item items[ARRAY_LEN(sizes) + 2] = {{"folder", -1, STR_NULL},
                                                   {"empty", -1, STR("")}};
    auto_buf struct buf out = BUF_INIT(MAX);

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct str name = arena_printf(a, "stream %zu", i);
        items[i + 2] = (struct cfb_item){name.p, i % 2 ? 0 : -1, pattern(a, sizes[i])};
    }
    assert_int_equal(cfb_write(&out, a, items, ARRAY_LEN(items)), 0);
    assert_int_equal(out.len % 512, 0);
    assert_true(cfb_is(buf_str(&out)));
    for (size_t i = 1; i < ARRAY_LEN(items); i++) {
        struct str got;
        assert_int_equal(cfb_stream(a, buf_str(&out), items[i].name, &got), 0);
        assert_int_equal(got.len, items[i].data.len);
        assert_memory_equal(got.p, items[i].data.p, got.len);
    }
    struct str got;
    assert_int_equal(cfb_stream(a, buf_str(&out), "folder", &got), -ENOENT);
    assert_int_equal(cfb_stream(a, str_slice(buf_str(&out), 0, 4096), "stream 8", &got), -EINVAL);
    assert_int_equal(cfb_stream(a, STR("PK"), "stream 8", &got), -EINVAL);
}

static void password_opens(void **state)
{
    static const size_t sizes[] = {0, 4096, 30001};
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        auto_buf struct buf out = BUF_INIT(MAX);
        struct str plain = pattern(a, sizes[i]), got;
        assert_int_equal(agile_encrypt(&out, a, plain, STR("sécret 🌊")), 0);
        assert_int_equal(agile_decrypt(&got, a, buf_str(&out), STR("sécret 🌊")), 0);
        assert_int_equal(got.len, plain.len);
        assert_memory_equal(got.p, plain.p, plain.len);
    }
}

static void others_do_not(void **state)
{
    struct arena *a = *state;
    auto_buf struct buf out = BUF_INIT(MAX);
    struct str got, plain = pattern(a, 9000);

    assert_int_equal(agile_encrypt(&out, a, plain, STR("secret")), 0);
    assert_int_equal(agile_decrypt(&got, a, buf_str(&out), STR("Secret")), -EKEYREJECTED);
    assert_int_equal(agile_decrypt(&got, a, buf_str(&out), STR("")), -EKEYREJECTED);
    assert_int_equal(agile_decrypt(&got, a, plain, STR("secret")), -EINVAL);
    /* A byte of the content: the small streams are before it. */
    out.p[out.len / 2] ^= 1;
    assert_int_equal(agile_decrypt(&got, a, buf_str(&out), STR("secret")), -EBADMSG);
}

static void password_has_a_limit(void **state)
{
    struct arena *a = *state;
    auto_buf struct buf out = BUF_INIT(MAX);
    char text[AGILE_PASSWORD_MAX + 1];

    memset(text, 'x', sizeof text);
    assert_int_equal(agile_encrypt(&out, a, STR("x"), str_n(text, sizeof text)), -EINVAL);
    assert_int_equal(agile_encrypt(&out, a, STR("x"), str_n(text, AGILE_PASSWORD_MAX)), 0);
    assert_int_equal(agile_encrypt(&out, a, STR("x"), STR("\xff")), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streams_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(password_opens, setup, teardown),
        cmocka_unit_test_setup_teardown(others_do_not, setup, teardown),
        cmocka_unit_test_setup_teardown(password_has_a_limit, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
