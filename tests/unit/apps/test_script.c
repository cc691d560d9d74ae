/* SPDX-License-Identifier: MIT */
/* Files of scripts: what they give, and what is wrong with them. */
#include "../check.h"

#include <errno.h>

#include "apps/source/script.h"

static struct arena arena;
static struct scripts scripts;
static struct err e;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    e = (struct err)ERR_INIT;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void scripts_have_names_and_statements(void **state)
{
    static const char text[] = "-- Tools of a shop.\n"
                               "-- name: get_order\n"
                               "-- One of them.\n"
                               "SELECT id AS order_id FROM orders WHERE id = :id;\n"
                               "SELECT 'a;b' AS \"x;y\", [c;d] /* ; */ -- ;\n"
                               " FROM t;\n"
                               "\n"
                               "-- name: drop_order\r\n"
                               "DELETE FROM orders; SELECT '{}' AS result;\n";

    (void)state;
    assert_int_equal(scripts_parse(&arena, str_of(text), &scripts, &e), 0);
    assert_int_equal(scripts.n, 2);
    const struct script *s = scripts_find(&scripts, STR("get_order"));
    assert_non_null(s);
    assert_int_equal(s->line, 2);
    assert_int_equal(s->n, 2);
    assert_int_equal(s->statements[0].line, 4);
    assert_string_equal(s->statements[0].sql.p, "SELECT id AS order_id FROM orders WHERE id = :id");
    assert_int_equal(s->statements[1].line, 5);
    s = scripts_find(&scripts, STR("drop_order"));
    assert_non_null(s);
    assert_int_equal(s->n, 2);
    assert_string_equal(s->statements[1].sql.p, "SELECT '{}' AS result");
    assert_null(scripts_find(&scripts, STR("drop")));
}

static void queries_are_found(void **state)
{
    static const char text[] = "-- name: search\n"
                               "SELECT '{{no}}' FROM i WHERE {{jql :q}} AND {{ text  :words }};\n";

    (void)state;
    assert_int_equal(scripts_parse(&arena, str_of(text), &scripts, &e), 0);
    const struct script_statement *st = &scripts.items[0].statements[0];
    assert_int_equal(st->n_queries, 2);
    assert_true(str_is(st->queries[0].language, "jql"));
    assert_true(str_is(st->queries[0].param, "q"));
    assert_true(str_is(
        str_slice(st->sql, st->queries[0].offset, st->queries[0].offset + st->queries[0].len),
        "{{jql :q}}"));
    assert_true(str_is(st->queries[1].language, "text"));
    assert_true(str_is(st->queries[1].param, "words"));
}

static void parts_stand_where_they_are_included(void **state)
{
    static const char base[] = "-- part: who\n"
                               "SELECT id AS me FROM user;\n"
                               "-- part: both\n"
                               "-- include: who\n"
                               "SELECT 2 AS two;\n";
    static const char text[] = "-- part: last\n"
                               "SELECT :me AS result;\n"
                               "-- name: tell\n"
                               "-- include: both\n"
                               "SELECT 3 AS three;\n"
                               "-- include: last\r\n";
    struct scripts below;

    (void)state;
    assert_int_equal(scripts_parse(&arena, str_of(base), &below, &e), 0);
    assert_null(scripts_find(&below, STR("both")));
    const struct script_source from = {.base = &below};
    assert_int_equal(scripts_parse_from(&from, &arena, str_of(text), &scripts, &e), 0);
    const struct script *s = scripts_find(&scripts, STR("tell"));
    assert_non_null(s);
    assert_int_equal(s->n, 4);
    assert_string_equal(s->statements[0].sql.p, "SELECT id AS me FROM user");
    assert_string_equal(s->statements[2].sql.p, "SELECT 3 AS three");
    assert_string_equal(s->statements[3].sql.p, "SELECT :me AS result");
    assert_int_equal(scripts_parse(&arena, str_of(text), &scripts, &e), -EINVAL);
    assert_string_equal(err_text(&e), "line 4: no part named 'both' before it");
}

static void mistakes_are_told_with_their_line(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"SELECT 1;\n", "line 1: expected a line '-- name: …'"},
        {"\n\n-- name:\nSELECT 1;\n", "line 3: the name is missing"},
        {"-- name: a\n\n-- name: b\nSELECT 1;\n", "line 1: a has no statements"},
        {"-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n", "line 3: a is in line 1 already"},
        {"-- name: a\nSELECT 1;\nSELECT 2\n", "line 3: the statement does not end with ';'"},
        {"-- name: a\nSELECT 1\n-- name: b\nSELECT 2;\n",
         "line 2: the statement does not end with ';'"},
        {"-- name: a\nSELECT 'x;\n", "line 2: a string has no end"},
        {"-- name: a\nSELECT \"x;\n", "line 2: a quoted name has no end"},
        {"-- name: a\nSELECT /* x;\n", "line 2: a comment has no end"},
        {"-- name: a\nSELECT {{jql :q;\n", "line 2: a query has no end"},
        {"-- name: a\nSELECT {{jql q}};\n", "line 2: a query is {{language :argument}}"},
        {"-- name: a\nSELECT {{jql}};\n", "line 2: a query is {{language :argument}}"},
        {"-- name: a\nSELECT {{a :b}} {{a :b}} {{a :b}} {{a :b}} {{a :b}};\n",
         "line 2: more than 4 queries in one statement"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(scripts_parse(&arena, str_of(cases[i].text), &scripts, &e), -EINVAL);
        assert_string_equal(err_text(&e), cases[i].error);
    }
}

static void nothing_is_no_mistake(void **state)
{
    (void)state;
    assert_int_equal(scripts_parse(&arena, STR(" \n-- nothing\n"), &scripts, &e), 0);
    assert_int_equal(scripts.n, 0);
}

static int find_text(void *ctx, struct str name, struct str *ret, struct err *err)
{
    if (!str_is(name, "common/two"))
        return err_set(err, -EINVAL, "no file " STR_FMT, STR_ARG(name));
    *ret = str_of(ctx);
    return 0;
}

static void files_stand_for_their_statements(void **state)
{
    static const char text[] = "-- name: a\nSELECT 1 AS one;\n-- include: common/two\n"
                               "SELECT 4 AS result;\n";
    static char two[] = "-- Two.\nSELECT 2 AS two;\nSELECT 3\n AS three;\n";
    static char torn[] = "SELECT 1;\nSELECT 'x;\n";
    struct script_source from = {.include = find_text, .ctx = two};

    (void)state;
    assert_int_equal(scripts_parse_from(&from, &arena, str_of(text), &scripts, &e), 0);
    assert_int_equal(scripts.items[0].n, 4);
    assert_string_equal(scripts.items[0].statements[2].sql.p, "SELECT 3\n AS three");
    /* They are where they are included. */
    assert_int_equal(scripts.items[0].statements[1].line, 3);
    assert_int_equal(scripts.items[0].statements[2].line, 3);
    assert_int_equal(scripts.items[0].statements[3].line, 4);
    from.ctx = torn;
    assert_int_equal(scripts_parse_from(&from, &arena, str_of(text), &scripts, &e), -EINVAL);
    assert_string_equal(err_text(&e), "common/two.sql: line 2: a string has no end");
    assert_int_equal(
        scripts_parse_from(&from, &arena, STR("-- name: a\n-- include: x/y\n"), &scripts, &e),
        -EINVAL);
    assert_string_equal(err_text(&e), "line 2: no file x/y");
    /* Where there are none, a slash is no more than a letter. */
    assert_int_equal(scripts_parse(&arena, str_of(text), &scripts, &e), -EINVAL);
    assert_string_equal(err_text(&e), "line 3: no part named 'common/two' before it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scripts_have_names_and_statements, setup, teardown),
        cmocka_unit_test_setup_teardown(queries_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_stand_where_they_are_included, setup, teardown),
        cmocka_unit_test_setup_teardown(files_stand_for_their_statements, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_are_told_with_their_line, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_no_mistake, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
