/* SPDX-License-Identifier: MIT */
/* What lists of E2B sandboxes are asked for: metadata that is encoded three times, times, places in
 * a list and its order. */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/e2b/filter.h"
#include "base/cleanup.h"
#include "net/http.h"

/* ---- metadata ---- */

static void metadata(void **state)
{
    static const struct {
        const char *query; /* as it is sent */
        const char *pairs; /* "[k]=[v]…"; NULL: refused */
    } rows[] = {
        {"a%3Db", "[a]=[b]"},
        {"a=b", "[a]=[b]"},
        /* What npm's client sends for {"k ey": "v&l=1", "b": "c"}. */
        {"k%252520ey%3Dv%252526l%25253D1%26b%3Dc", "[k ey]=[v&l=1][b]=[c]"},
        {"a%3Db%252520c", "[a]=[b c]"},
        {"a%3D%2525C3%2525A4", "[a]=[\xc3\xa4]"},
        {"a%3D%25252B", "[a]=[+]"},
        {"a%3D%252525", "[a]=[%]"},
        {"a%3D", "[a]=[]"},
        {"", ""},
        {"a", NULL},
        {"%3Db", NULL},
        {"a%3Db%3Dc", NULL},
        {"a%3Db%26", "[a]=[b]"},
        {"a%3Db%26%26c%3Dd", NULL},
        {"a%3D%25zz", NULL},
        {"a%3D%2525zz", NULL},
        {"a%3D%2525", NULL},
        {"a%3D%252500", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_arena struct arena a;
        struct buf got auto_buf = BUF_INIT(4096);
        struct e2b_metadata m;
        struct err e = ERR_INIT;
        arena_init(&a, 1 << 20);
        struct str once = http_decode_query(&a, str_of(rows[i].query));
        int r = e2b_metadata_parse(&a, once, &m, &e);
        for (size_t k = 0; r == 0 && k < m.n; k++)
            (void)buf_printf(&got, "[" STR_FMT "]=[" STR_FMT "]", STR_ARG(m.pairs[k].key),
                             STR_ARG(m.pairs[k].value));
        if ((r == 0) != (rows[i].pairs != NULL) || (r < 0 && r != -EINVAL) ||
            (r == 0 && strcmp(buf_cstr(&got), rows[i].pairs) != 0))
            fail_msg("%s: %d %s", rows[i].query, r, buf_cstr(&got));
    }
}

static void metadata_is_bounded(void **state)
{
    auto_arena struct arena a;
    struct buf text auto_buf = BUF_INIT(4096);
    struct e2b_metadata m;
    struct err e = ERR_INIT;

    (void)state;
    arena_init(&a, 1 << 20);
    for (int i = 0; i < E2B_METADATA_MAX; i++)
        (void)buf_printf(&text, "%sk%d=v", i ? "&" : "", i);
    assert_int_equal(e2b_metadata_parse(&a, buf_str(&text), &m, &e), 0);
    assert_int_equal(m.n, E2B_METADATA_MAX);
    (void)buf_add_str(&text, STR("&one=more"));
    assert_int_equal(e2b_metadata_parse(&a, buf_str(&text), &m, &e), -EINVAL);
    assert_non_null(strstr(err_text(&e), "more than 64"));
}

/* ---- times ---- */

static void times(void **state)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-01-27T10:00:00Z", 1769508000000000},
        {"2026-01-27T10:00:00.123456Z", 1769508000123456},
        {"2026-01-27T10:00:00.1Z", 1769508000100000},
        {"2026-01-27T10:00:00.123456789Z", 1769508000123456},
        {"2026-01-27T12:00:00+02:00", 1769508000000000},
        {"2026-01-27T04:30:00-05:30", 1769508000000000},
        {"2024-02-29T00:00:00Z", 1709164800000000},
        {"2024-03-01T00:00:00Z", 1709251200000000},
        {"2000-12-31T23:59:59Z", 978307199000000},
        {"", -1},
        {"2026-01-27", -1},
        {"2026-01-27T10:00:00", -1},
        {"2026-01-27T10:00Z", -1},
        {"2026-13-27T10:00:00Z", -1},
        {"2026-00-27T10:00:00Z", -1},
        {"2026-01-32T10:00:00Z", -1},
        {"2026-01-27T24:00:00Z", -1},
        {"2026-01-27T10:60:00Z", -1},
        {"2026-01-27T10:00:00Zx", -1},
        {"2026-01-27T10:00:00.Z", -1},
        {"2026-01-27T10:00:00+2:00", -1},
        {"2026-01-27T10:00:00+24:00", -1},
        {"+026-01-27T10:00:00Z", -1},
        {"yesterday", -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t us = -1;
        int r = e2b_time_parse(str_of(rows[i].text), &us);
        if (us != rows[i].us || (r == 0) != (rows[i].us >= 0))
            fail_msg("%s: %d %lld", rows[i].text, r, (long long)us);
    }
}

/* ---- places ---- */

static struct e2b_cursor place(int64_t us, const char *id, bool is_ascending)
{
    struct e2b_cursor c = {.started_us = us, .is_ascending = is_ascending};

    (void)snprintf(c.id, sizeof c.id, "%s", id);
    return c;
}

#define ID_A "00000000000000000000000000000001"
#define ID_B "ffffffffffffffffffffffffffffffff"

static void tokens_come_back(void **state)
{
    const struct e2b_cursor rows[] = {
        place(1769508000123456, ID_A, false),
        place(1769508000000000, ID_B, true),
        place(0, ID_B, false),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf token auto_buf = BUF_INIT(1024);
        struct e2b_cursor back;
        assert_int_equal(e2b_cursor_write(&token, &rows[i]), 0);
        assert_int_equal(e2b_cursor_parse(buf_str(&token), &back), 0);
        assert_int_equal(back.started_us, rows[i].started_us);
        assert_string_equal(back.id, rows[i].id);
        assert_int_equal(back.is_ascending, rows[i].is_ascending);
    }
}

static void what_is_no_token(void **state)
{
    static const char *const rows[] = {
        "",
        "x",
        "!!!!",
        "bm90IGEgdG9rZW4",
        /* "2026-01-27T10:00:00Z__", and with an id that is none */
        "MjAyNi0wMS0yN1QxMDowMDowMFpfXw",
        "MjAyNi0wMS0yN1QxMDowMDowMFpfXy4uLy4u",
    };
    char longest[2048];
    struct e2b_cursor c;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (e2b_cursor_parse(str_of(rows[i]), &c) != -EINVAL)
            fail_msg("%s was taken", rows[i]);
    memset(longest, 'A', sizeof longest);
    assert_int_equal(e2b_cursor_parse(str_n(longest, sizeof longest), &c), -EINVAL);
}

static void order(void **state)
{
    const struct e2b_cursor old = place(1, ID_A, false), young = place(2, ID_A, false);
    const struct e2b_cursor twin = place(2, ID_B, false);
    const struct e2b_cursor up_old = place(1, ID_A, true), up_young = place(2, ID_A, true),
                            up_twin = place(2, ID_B, true);

    (void)state;
    assert_true(e2b_order(&young, &old) < 0);
    assert_true(e2b_order(&young, &twin) < 0);
    assert_true(e2b_order(&twin, &old) < 0);
    assert_int_equal(e2b_order(&twin, &twin), 0);
    assert_true(e2b_order(&up_old, &up_twin) < 0);
    assert_true(e2b_order(&up_twin, &up_young) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata),
        cmocka_unit_test(metadata_is_bounded),
        cmocka_unit_test(times),
        cmocka_unit_test(tokens_come_back),
        cmocka_unit_test(what_is_no_token),
        cmocka_unit_test(order),
    };

    return cmocka_run_group_tests_name("api_e2b_filter", tests, NULL, NULL);
}
