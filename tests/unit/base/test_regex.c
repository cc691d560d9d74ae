/* SPDX-License-Identifier: MIT */
/* Regular expressions: the vectors of tests/vectors/regex.txt, work limits, failing memory. */
#include "../check.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/fault.h"
#include "base/regex.h"
#include "vectors.h"

static bool error_is(const struct err *e, struct str expected)
{
    char text[ERR_TEXT_MAX + 32];

    (void)snprintf(text, sizeof text, "%s %s", strerrorname_np(-e->code), err_text(e));
    return str_is(expected, text);
}

/* True when the row "VERDICT PATTERN SUBJECT" holds. */
static bool row_holds(struct str verdict, struct str pattern, struct str subject)
{
    struct arena a auto_arena;
    struct err e = ERR_INIT;

    arena_init(&a, 1 << 20);
    const struct regex *re = regex_compile(&a, pattern, &e);
    if (!re)
        return str_is(verdict, "error") && error_is(&e, subject);
    return regex_search(re, subject, NULL) == str_is(verdict, "match") && !str_is(verdict, "error");
}

static void vectors_hold(void **state)
{
    struct buf file auto_buf = BUF_INIT(0);
    int rows = 0, failed = 0;

    (void)state;
    vectors_read(&file, "regex.txt");
    struct str rest = buf_str(&file);
    while (rest.p) {
        struct buf pattern auto_buf = BUF_INIT(VECTORS_MAX), text auto_buf = BUF_INIT(VECTORS_MAX);
        struct str line = str_cut(&rest, '\n'), row = line;
        if (line.len == 0 || line.p[0] == '#')
            continue;
        struct str verdict = str_cut(&row, '\t');
        assert_int_equal(enc_unpercent(&pattern, str_cut(&row, '\t'), false), 0);
        assert_int_equal(enc_unpercent(&text, row, false), 0);
        rows++;
        if (!row_holds(verdict, buf_str(&pattern), buf_str(&text))) {
            print_message("# does not hold: " STR_FMT "\n", STR_ARG(line));
            failed++;
        }
    }
    assert_true(rows >= 200);
    assert_int_equal(failed, 0);
}

static void work_is_limited(void **state)
{
    struct arena a auto_arena;
    char text[1000];
    uint64_t enough = 10000, little = 100;

    (void)state;
    arena_init(&a, 1 << 20);
    memset(text, 'x', sizeof text);
    const struct regex *re = regex_compile(&a, STR("xy$"), NULL);
    assert_int_equal(regex_search(re, str_n(text, sizeof text), &enough), 0);
    assert_true(enough < 10000 - sizeof text);
    assert_int_equal(regex_search(re, str_n(text, sizeof text), &little), -E2BIG);
    assert_int_equal(little, 0);
}

static void bytes_that_are_no_text_match_as_one_character(void **state)
{
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    const struct regex *re = regex_compile(&a, STR("^a..b$"), NULL);
    assert_int_equal(regex_search(re, STR("a\xff\xe2\x62"), NULL), 1);
    assert_int_equal(regex_search(re, STR("a\xffyyb"), NULL), 0);
}

/* What Python's re.search() finds, IGNORECASE and MULTILINE as the flags say. */
static void matches_are_where_python_finds_them(void **state)
{
    static const struct {
        const char *pattern, *text;
        unsigned flags;
        int from, start, end; /* -1: no match */
    } rows[] = {
        {"b+", "abbbc", 0, 0, 1, 4},
        {"b+?", "abbbc", 0, 0, 1, 2},
        {"b*?c", "abbbc", 0, 0, 1, 5},
        {"b*", "abbbc", 0, 0, 0, 0},
        {"b*", "abbbc", 0, 1, 1, 4},
        {"a|ab", "ab", 0, 0, 0, 1},
        {"ab|a", "ab", 0, 0, 0, 2},
        {"(a|ab)(c|bcd)", "abcd", 0, 0, 0, 4},
        {"x{2,3}", "xxxx", 0, 0, 0, 3},
        {"x{2,3}?", "xxxx", 0, 0, 0, 2},
        {"x??y", "xy", 0, 0, 0, 2},
        {"<.*>", "<a><b>", 0, 0, 0, 6},
        {"<.*?>", "<a><b>", 0, 0, 0, 3},
        {"<.*?>", "<a><b>", 0, 1, 3, 6},
        {"(?:a*)*b", "aaab", 0, 0, 0, 4},
        {"\\bcat\\b", "concat cat", 0, 0, 7, 10},
        {"\\bcat", "concat", 0, 3, -1, 0},
        {"^b", "a\nb", 0, 0, -1, 0},
        {"^b", "a\nb", REGEX_LINES, 0, 2, 3},
        {"a$", "a\nb", REGEX_LINES, 0, 0, 1},
        {"^$", "a\n\nb", REGEX_LINES, 0, 2, 2},
        {"HeLLo", "say hEllO", REGEX_IGNORE_CASE, 0, 4, 9},
        {"[a-c]+", "xABCx", REGEX_IGNORE_CASE, 0, 1, 4},
        {"[^a]", "Ab", REGEX_IGNORE_CASE, 0, 1, 2},
        {"\u00fcber",
         "\xc3\x9c"
         "BER",
         REGEX_IGNORE_CASE, 0, 0, 5},
        {"\u0416", "\xd0\xb6", REGEX_IGNORE_CASE, 0, 0, 2},
        {"\u0139", "\xc4\xba", REGEX_IGNORE_CASE, 0, 0, 2},
        {"total: \\$\\d+\\.\\d{2}", "Total: $12.50", REGEX_IGNORE_CASE, 0, 0, 13},
        {"nope", "text", 0, 0, -1, 0},
        {"", "abc", 0, 3, 3, 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a auto_arena;
        struct regex_match m = {0};
        arena_init(&a, 1 << 20);
        const struct regex *re = regex_compile(&a, str_of(rows[i].pattern), NULL);
        assert_non_null(re);
        struct regex_find f = {.re = re,
                               .text = str_of(rows[i].text),
                               .from = (size_t)rows[i].from,
                               .flags = rows[i].flags};
        int found = regex_find(&a, &f, &m);
        if (found != (rows[i].start >= 0) ||
            (found && (m.start != (size_t)rows[i].start || m.end != (size_t)rows[i].end)))
            fail_msg("%s in %s: %d at %zu to %zu", rows[i].pattern, rows[i].text, found, m.start,
                     m.end);
    }
}

static void the_first_group_is_found(void **state)
{
    static const struct {
        const char *pattern, *text;
        int start, end; /* start -1: it takes no part */
    } rows[] = {
        {"a(b)c", "xabc", 2, 3},          {"(?:a)(b)(c)", "abc", 1, 2},
        {"(?<x>b+)", "abbb", 1, 4},       {"(a)|b", "b", -1, 0},
        {"(a|b)*c", "abac", 2, 3},        {"(a*)b", "b", 0, 0},
        {"(\\w+?)@", "me@x you@y", 0, 2}, {"x(a(b))", "xab", 1, 3},
        {"(a){2,3}", "aaaa", 2, 3},       {"abc", "abc", -1, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a auto_arena;
        struct regex_match m = {0};
        arena_init(&a, 1 << 20);
        const struct regex *re = regex_compile(&a, str_of(rows[i].pattern), NULL);
        assert_non_null(re);
        assert_int_equal(regex_has_group(re), strchr(rows[i].pattern, '(') != NULL);
        struct regex_find f = {.re = re, .text = str_of(rows[i].text)};
        assert_int_equal(regex_find(&a, &f, &m), 1);
        size_t start = rows[i].start < 0 ? SIZE_MAX : (size_t)rows[i].start;
        size_t end = rows[i].start < 0 ? SIZE_MAX : (size_t)rows[i].end;
        if (m.group_start != start || m.group_end != end)
            fail_msg("%s in %s: %zd to %zd", rows[i].pattern, rows[i].text, (ssize_t)m.group_start,
                     (ssize_t)m.group_end);
    }
}

static void finding_is_limited(void **state)
{
    struct arena a auto_arena;
    char text[1000];
    uint64_t steps = 100;
    struct regex_match m;

    (void)state;
    arena_init(&a, 1 << 20);
    memset(text, 'x', sizeof text);
    struct regex_find f = {.re = regex_compile(&a, STR("xy$"), NULL),
                           .text = str_n(text, sizeof text),
                           .steps = &steps};
    assert_int_equal(regex_find(&a, &f, &m), -E2BIG);
    f.from = 1001;
    assert_int_equal(regex_find(&a, &f, &m), 0);
}

#ifdef TIDEPOOL_FAULT
static void every_allocation_may_fail(void **state)
{
    static const char part[] = "([a-z\\d\\W\\u1234-\\u2345xyzXYZ]+|\\s.{2,7}\\b)?";
    struct buf pattern auto_buf = BUF_INIT(1 << 16);
    bool fired = true;
    unsigned n = 0;

    (void)state;
    for (int i = 0; i < 40; i++)
        (void)buf_add_str(&pattern, str_of(part));
    while (fired) {
        struct arena a auto_arena;
        struct err e = ERR_INIT;
        arena_init(&a, 1 << 20);
        fault_arm(FAULT_ALLOC, ++n);
        const struct regex *re = regex_compile(&a, buf_str(&pattern), &e);
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(re == NULL, fired);
        assert_int_equal(e.code, fired ? -ENOMEM : 0);
    }
    assert_true(n > 10);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_hold),
        cmocka_unit_test(work_is_limited),
        cmocka_unit_test(bytes_that_are_no_text_match_as_one_character),
        cmocka_unit_test(matches_are_where_python_finds_them),
        cmocka_unit_test(finding_is_limited),
        cmocka_unit_test(the_first_group_is_found),
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
