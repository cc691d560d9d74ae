/* SPDX-License-Identifier: MIT */
/* Differences and merges of texts, and the names of git's objects. */
#include "../check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps/db/db.h"
#include "apps/text/merge.h"
#include "base/textdiff.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 256 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const char *patch_of(struct str a, struct str b)
{
    auto_buf struct buf out = BUF_INIT(1 << 20);
    struct textdiff d;

    assert_int_equal(textdiff_lines(&d, a, b, &arena, NULL), 0);
    assert_int_equal(textdiff_write(&out, &d, 3, TEXTDIFF_GIT), 0);
    return arena_str(&arena, buf_str(&out)).p;
}

static void test_patches(void **state)
{
    static const struct {
        struct str a, b;
        const char *patch;
    } cases[] = {
        {STR_INIT(""), STR_INIT(""), ""},
        {STR_INIT("a\n"), STR_INIT("a\n"), ""},
        {STR_INIT(""), STR_INIT("a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n"},
        {STR_INIT("a\n"), STR_INIT(""), "@@ -1 +0,0 @@\n-a\n"},
        {STR_INIT("a"), STR_INIT("a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
        {STR_INIT("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), STR_INIT("1\n2\n3\n4\nx\n6\n7\n8\n9\n"),
         "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
        /* Six lines between two changes: one hunk; seven: two. */
        {STR_INIT("a\n1\n2\n3\n4\n5\n6\nb\n"), STR_INIT("A\n1\n2\n3\n4\n5\n6\nB\n"),
         "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"},
        {STR_INIT("a\n1\n2\n3\n4\n5\n6\n7\nb\n"), STR_INIT("A\n1\n2\n3\n4\n5\n6\n7\nB\n"),
         "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(patch_of(cases[i].a, cases[i].b), cases[i].patch);
}

/* Lines of a few letters, so that many are the same. */
static struct str random_text(uint32_t *seed, size_t n_lines)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);

    for (size_t i = 0; i < n_lines; i++) {
        *seed = *seed * 1664525 + 1013904223;
        (void)buf_printf(&b, "%c\n", 'a' + (int)(*seed >> 24) % 6);
    }
    return arena_str(&arena, buf_str(&b));
}

/* The new text, made of the old one and the changes. */
static struct str apply(const struct textdiff *d)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    int32_t at = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct textdiff_change *c = &d->changes[i];
        assert_true(c->a >= at && c->n_a + c->n_b > 0 && c->a + c->n_a <= d->n_a);
        assert_true(i == 0 || c->a > at);
        for (; at < c->a; at++)
            (void)buf_add_str(&b, d->a[at]);
        for (int32_t k = c->b; k < c->b + c->n_b; k++)
            (void)buf_add_str(&b, d->b[k]);
        at += c->n_a;
    }
    for (; at < d->n_a; at++)
        (void)buf_add_str(&b, d->a[at]);
    return arena_str(&arena, buf_str(&b));
}

static void test_random(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (size_t i = 0; i < 500; i++) {
        struct str a = random_text(&seed, i % 23), b = random_text(&seed, (i * 7) % 31);
        struct textdiff d;
        assert_int_equal(textdiff_lines(&d, a, b, &arena, NULL), 0);
        assert_true(str_eq(apply(&d), b));
    }
    /* Past the limit of edits. */
    struct str a = random_text(&seed, 9000), b = random_text(&seed, 9000);
    struct textdiff d;
    assert_int_equal(textdiff_lines(&d, a, b, &arena, NULL), 0);
    assert_true(str_eq(apply(&d), b));
}

static void test_merges(void **state)
{
    static const struct {
        struct str base, sides[2];
        const char *merged; /* NULL: in conflict */
    } cases[] = {
        {STR_INIT("a\nb\nc\n"), {STR_INIT("a\nb\nc\n"), STR_INIT("x\n")}, "x\n"},
        {STR_INIT("a\nb\nc\n"), {STR_INIT("A\nb\nc\n"), STR_INIT("a\nb\nC\n")}, "A\nb\nC\n"},
        {STR_INIT("a\nb\nc\n"), {STR_INIT("A\nb\nc\n"), STR_INIT("A\nb\nC\n")}, "A\nb\nC\n"},
        {STR_INIT("a\nb\nc\n"), {STR_INIT("a\nX\nc\n"), STR_INIT("a\nY\nc\n")}, NULL},
        {STR_INIT("a\nb\nc\n"), {STR_INIT("a\nX\nc\n"), STR_INIT("a\nX\nc\n")}, "a\nX\nc\n"},
        {STR_INIT("a\nb\n"), {STR_INIT("a\nX\n"), STR_INIT("Y\nb\n")}, NULL}, /* side by side */
        {STR_INIT("a\nb\nc\n"), {STR_INIT("b\nc\n"), STR_INIT("a\nb\nc\nd\n")}, "b\nc\nd\n"},
        {STR_INIT(""), {STR_INIT("x\n"), STR_INIT("y\n")}, NULL},
        {STR_INIT("1\n2\n3\n4\n5\n6\n"),
         {STR_INIT("1\n1b\n2\n3\n4\n6\n"), STR_INIT("0\n1\n2\n3\nX\n4\n5\n6\n")},
         "0\n1\n1b\n2\n3\nX\n4\n6\n"},
        {STR_INIT("1\n2\n3\n4\n5\n6\n"),
         {STR_INIT("1\n2\n2b\n3\n4\n5\n"), STR_INIT("0\n1\n2\n3\n4\nX\n5\n6\n")},
         "0\n1\n2\n2b\n3\n4\nX\n5\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf struct buf out = BUF_INIT(4096);
        int r = merge_texts(&arena, cases[i].base, cases[i].sides, &out, NULL);
        assert_int_equal(r, cases[i].merged ? 0 : 1);
        if (cases[i].merged)
            assert_string_equal(buf_cstr(&out), cases[i].merged);
    }
}

/* ---- by SQL ---- */

static const struct {
    const char *sql, *result;
} queries[] = {
    /* What git 2.39 says of the same. */
    {"git_blob('hello' || char(10))", "ce013625030ba8dba906f756967f9e9ca394464a"},
    {"git_blob('')", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
    {"git_trees('[]') ->> '$[0].sha'", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
    {"git_trees('[[\"src/m.c\",\"f7fb5910a6050ac2cd2cc4563a8651c523a2c526\"],"
     "[\"a/z\",\"c1b0730e0133447badcfd47fd144e254807b06e1\"],"
     "[\"a.txt\",\"ce013625030ba8dba906f756967f9e9ca394464a\"],"
     "[\"src/deep/e\",\"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\"]]') ->> '$[#-1].sha'",
     "7f9843f2e8b163d051879af10ef052c3ea67244a"},
    {"git_commit('7f9843f2e8b163d051879af10ef052c3ea67244a', '[]', 'Maya Chen <m@x.example>',"
     " 'GitHub <n@x.example>', 1768467600, 'First')",
     "38142035f828f358344de0ca8f73136226cd104c"},
    {"git_folders('[[\"b\",\"B\"],[\"a/c\",\"C\"]]')",
     "{\"name\":\"root\",\"path\":\"/\",\"files\":[{\"name\":\"b\",\"path\":\"b\",\"content\":"
     "\"B\"}],\"folders\":[{\"name\":\"a\",\"path\":\"a\",\"files\":[{\"name\":\"c\",\"path\":"
     "\"a/c\",\"content\":\"C\"}],\"folders\":[]}]}"},
    {"diff_patch('a', 'a')", "{\"additions\":0,\"deletions\":0,\"patch\":null}"},
    {"diff_patch(NULL, 'a' || char(10)) ->> 'patch'", "@@ -0,0 +1 @@\n+a"},
    {"ifnull(diff_merge('a', 'b', 'c'), 'conflict')", "conflict"},
    {"diff_merge('a', 'a', 'c')", "c"},
    {"text_has('Robots drifting', 'DRIFT')", "1"},
    {"text_has('adrift', 'drift')", "0"},
    {"text_has('x', '')", "1"},
    {"github_failure(NULL, 'failed to get issue', '{\"message\":\"Not Found\"}')",
     "failed to get issue: {\"message\":\"Not Found\"}"},
    {"github_failure('octokit', 'failed', '{\"message\":\"Not Found\",\"documentation_url\":"
     "\"https://d.example\"}')",
     "Error: Not Found - https://d.example"},
    {"github_failure('octokit', 'failed', '{\"message\":\"Invalid\",\"errors\":[\"a\",{\"b\":1}],"
     "\"documentation_url\":\"d\"}')",
     "Error: Invalid: \"a\", {\"b\":1} - d"},
    {"github_failure('GET u', 'failed', '{\"message\":\"Not Found\",\"status\":\"404\"}')",
     "failed: GET u: 404 Not Found []"},
    {"github_failure('GET u', 'failed', '{\"message\":\"Bad\",\"status\":\"422\",\"errors\":["
     "{\"resource\":\"Issue\",\"field\":\"title\",\"code\":\"missing\"},\"no\"]}')",
     "failed: GET u: 422 Bad [{Resource:Issue Field:title Code:missing Message:} "
     "{Resource: Field: Code: Message:no}]"},
    {"github_failure('GET u', 'failed', 'no JSON')", "failed: GET u: 500  []"},
};

static void test_functions(void **state)
{
    struct scripts scripts;
    struct appdb *db auto_(appdb_close) = NULL;
    struct err e = ERR_INIT;
    auto_buf struct buf text = BUF_INIT(64 << 10);
    char path[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++)
        (void)buf_printf(&text, "-- name: q%zu\nSELECT %s AS result;\n", i, queries[i].sql);
    (void)buf_printf(&text, "-- name: bad\nSELECT git_trees(:files) AS result;\n");
    assert_int_equal(scripts_parse(&arena, buf_str(&text), &scripts, &e), 0);
    (void)snprintf(path, sizeof path, "/tmp/test_diff.%d.db", (int)getpid());
    (void)unlink(path);
    struct appdb_env env = {.scripts = &scripts, .seed = 1};
    assert_int_equal(appdb_create(path, "", &e), 0);
    assert_int_equal(appdb_open(path, false, &env, &db, &e), 0);
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        struct app_call call = {.script = &scripts.items[i], .arena = &arena};
        if (appdb_run(db, &call, &e) < 0)
            fail_msg("%s: %s", queries[i].sql, err_text(&e));
        assert_string_equal(call.result.p, queries[i].result);
    }
    static const char *const bad[] = {"{\"files\": \"[1]\"}", "{\"files\": \"x\"}",
                                      "{\"files\": \"[[\\\"a//b\\\",\\\"\\\"]]\"}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct app_call call = {.script = scripts_find(&scripts, STR("bad")),
                                .args = json_parse(&arena, str_of(bad[i]), NULL, NULL),
                                .arena = &arena};
        assert_true(appdb_run(db, &call, &e) < 0);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_merges),
        cmocka_unit_test(test_functions),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
