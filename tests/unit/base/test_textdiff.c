/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/textdiff.h"
#include "check.h"

static const struct {
    const char *a, *b, *hunks;
} rows[] = {
    {"", "", ""},
    {"a\n", "a\n", ""},
    {"a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
    {"", "new\n", "@@ -0,0 +1,1 @@\n+new\n"},
    {"old\n", "", "@@ -1,1 +0,0 @@\n-old\n"},
    {"x", "y",
     "@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+y\n"
     "\\ No newline at end of file\n"},
    {"x\n", "x", "@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file\n"},
    {"1\n2\n3\n4\n5\n6\n7\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n",
     "@@ -1,1 +1,2 @@\n+0\n 1\n@@ -7,1 +8,2 @@\n 7\n+8\n"},
    {"1\n2\n3\n", "1\nx\n3\ny\n", "@@ -1,3 +1,4 @@\n 1\n-2\n+x\n 3\n+y\n"},
};

static void hunks_are_as_diff_shows_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena arena auto_arena;
        auto_buf struct buf out = BUF_INIT(1 << 16);
        arena_init(&arena, 1 << 20);
        assert_int_equal(textdiff_hunks(&out, str_of(rows[i].a), str_of(rows[i].b), 1, &arena), 0);
        assert_string_equal(buf_cstr(&out), rows[i].hunks);
    }
}

/* Texts that share nothing are one change, however long they are. */
static void large_changes_stay_cheap(void **state)
{
    struct arena arena auto_arena;
    auto_buf struct buf a = BUF_INIT(4 << 20), b = BUF_INIT(4 << 20), out = BUF_INIT(16 << 20);

    (void)state;
    arena_init(&arena, 256 << 20);
    for (int i = 0; i < 20000; i++) {
        (void)buf_printf(&a, "a%d\n", i);
        (void)buf_printf(&b, "b%d\n", i);
    }
    assert_int_equal(textdiff_hunks(&out, buf_str(&a), buf_str(&b), 3, &arena), 0);
    assert_true(str_starts(buf_str(&out), STR("@@ -1,20000 +1,20000 @@\n-a0\n")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hunks_are_as_diff_shows_them),
        cmocka_unit_test(large_changes_stay_cheap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
