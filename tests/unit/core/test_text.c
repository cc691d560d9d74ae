/* SPDX-License-Identifier: MIT */
/* Suggestions and wrapped prose. */
#include "../check.h"

#include "base/cleanup.h"
#include "core/suggest.h"
#include "core/wrap.h"

static void suggestions_are_near(void **state)
{
    static const char *const names[] = {"listen", "state", "tls.cert", "tls.key"};
    static const struct {
        const char *word, *best;
    } rows[] = {
        {"lisetn", "listen"}, {"listn", "listen"}, {"tls.cet", "tls.cert"},
        {"stat", "state"},    {"x", NULL},         {"elephant", NULL},
        {"", NULL},
    };
    char longer[100];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct suggest s = suggest_for(str_of(rows[i].word));
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            suggest_try(&s, names[k]);
        if (!rows[i].best)
            assert_null(s.best);
        else
            assert_string_equal(s.best, rows[i].best);
    }
    assert_int_equal(suggest_distance(STR("kitten"), STR("sitting")), 3);
    assert_int_equal(suggest_distance(STR("ab"), STR("ba")), 1);
    assert_int_equal(suggest_distance(STR(""), STR("abc")), 3);
    memset(longer, 'a', sizeof longer);
    assert_int_equal(suggest_distance(str_n(longer, 64), str_n(longer, 64)), 0);
    assert_true(suggest_distance(str_n(longer, 65), STR("a")) == SIZE_MAX);
}

static void prose_is_wrapped(void **state)
{
    struct buf out auto_buf = BUF_INIT(256);

    (void)state;
    assert_int_equal(wrap_text(&out, STR("aaa bbb  ccc\n\nddd extraordinary"), "> ", 4, 11), 0);
    assert_string_equal(buf_cstr(&out), "aaa bbb\n> ccc\n\n> ddd\n> extraordinary");
}

static void a_full_buffer_is_reported(void **state)
{
    struct buf out auto_buf = BUF_INIT(5);

    (void)state;
    assert_true(wrap_text(&out, STR("too much text"), "", 0, 80) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggestions_are_near),
        cmocka_unit_test(prose_is_wrapped),
        cmocka_unit_test(a_full_buffer_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
