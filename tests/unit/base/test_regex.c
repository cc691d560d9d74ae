/* SPDX-License-Identifier: MIT */
/* Regular expressions: the vectors of tests/vectors/regex.txt, work limits, failing memory. */
#include "../check.h"

#include <errno.h>

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
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
