/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/glob.h"
#include "check.h"

static const struct {
    const char *pattern, *path;
    bool is_match;
} rows[] = {
    {"*.txt", "a.txt", true},
    {"*.txt", "d/a.txt", false},
    {"*", ".hidden", true},
    {"?.txt", "ab.txt", false},
    {"**/*.py", "x.py", true},
    {"**/*.py", "a/b/x.py", true},
    {"**/deep/**", "a/deep/y", true},
    {"**/deep/**", "a/deep", false},
    {"a/**/z", "a/z", true},
    {"a/**/z", "a/b/c/z", true},
    {"a/**/z", "a/b/c", false},
    {"**/a/**/b", "x/a/y/a/z/b", true},
    {"**", "a/b", true},
    {"[ab].c", "b.c", true},
    {"[!ab].c", "b.c", false},
    {"[a-f]x", "ex", true},
    {"[]x]", "]", true},
    {"[x", "[x", true},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"*.{txt,md}", "a.md", true},
    {"*.{txt,md}", "a.c", false},
    {"{a,b{1,2}}/c", "b2/c", true},
    {"{a}", "{a}", true},
    {"!*.c", "a.h", true},
    {"!*.c", "a.c", false},
    {"a*b*c", "aXbYbZc", true},
    {"a*b*c", "aXbYbZ", false},
    {"", "", true},
    {"", "a", false},
};

static void patterns_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (glob_match(str_of(rows[i].pattern), str_of(rows[i].path)) != rows[i].is_match)
            fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].path);
    }
}

/* What would take ages by trying all ways. */
static void bad_patterns_end(void **state)
{
    char pattern[4000], path[4000];

    (void)state;
    for (size_t i = 0; i < sizeof pattern; i++) {
        pattern[i] = i % 2 ? 'a' : '*';
        path[i] = 'a';
    }
    path[sizeof path - 1] = 'b';
    assert_false(glob_match(str_n(pattern, sizeof pattern), str_n(path, sizeof path)));
    for (size_t i = 0; i + 3 < sizeof pattern; i += 3)
        memcpy(pattern + i, "**/", 3);
    assert_false(glob_match(str_n(pattern, sizeof pattern), str_n(path, sizeof path)));
    for (size_t i = 0; i + 5 <= sizeof pattern; i += 5)
        memcpy(pattern + i, "{a,b}", 5);
    assert_false(glob_match(str_n(pattern, sizeof pattern), STR("x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match),
        cmocka_unit_test(bad_patterns_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
