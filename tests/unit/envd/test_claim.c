/* SPDX-License-Identifier: MIT */
/* What processes in a cell are started with: environments and arguments out of JSON. */
#include "../check.h"

#include <errno.h>
#include <string.h>

#include "envd/claim.h"
#include "envd/proc_launch.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct json *parse(const char *text)
{
    struct json *v = json_parse(&arena, str_of(text), NULL, NULL);

    assert_non_null(v);
    return v;
}

static void environments_are_checked(void **state)
{
    static const char *const bad[] = {"{\"A=B\":\"x\"}", "{\"\":\"x\"}", "{\"A\":[]}",
                                      "{\"A\":null}",    "[]",           "{\"A\":\"a\\u0000b\"}",
                                      "\"A=b\""};
    struct err e = ERR_INIT;

    (void)state;
    char **env = claim_env(&arena, parse("{\"A\":\"b=c\",\"N\":-5,\"T\":true,\"E\":\"\"}"), &e);
    assert_non_null(env);
    assert_string_equal(env[0], "A=b=c");
    assert_string_equal(env[1], "N=-5");
    assert_string_equal(env[2], "T=true");
    assert_string_equal(env[3], "E=");
    assert_null(env[4]);
    env = claim_env(&arena, NULL, &e);
    assert_non_null(env);
    assert_null(env[0]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_null(claim_env(&arena, parse(bad[i]), &e));
        assert_int_equal(e.code, -EINVAL);
    }
}

static void lists_of_strings_are_checked(void **state)
{
    struct err e = ERR_INIT;

    (void)state;
    char **list = claim_strings(&arena, parse("[\"a\",\"\"]"), "argv", &e);
    assert_non_null(list);
    assert_string_equal(list[0], "a");
    assert_string_equal(list[1], "");
    assert_null(list[2]);
    assert_null(claim_strings(&arena, parse("[1]"), "argv", &e));
    assert_null(claim_strings(&arena, parse("\"ls\""), "argv", &e));
    assert_null(claim_strings(&arena, parse("[\"a\\u0000b\"]"), "argv", &e));
    assert_int_equal(e.code, -EINVAL);
}

static void a_claim_keeps_what_it_is_not_told(void **state)
{
    struct claim c = {0};
    struct err e = ERR_INIT;

    (void)state;
    /* No hostname: it would be that of this machine. */
    assert_int_equal(claim_set(&c, parse("{\"user\":\"u1\",\"env\":{\"A\":\"1\"}}"), &e), 0);
    assert_string_equal(claim_user(&c), "u1");
    assert_int_equal(claim_set(&c, parse("{\"workdir\":\"/w\",\"user\":\"\"}"), &e), 0);
    assert_string_equal(c.user, "u1");
    assert_string_equal(c.workdir, "/w");
    assert_string_equal(c.env[0], "A=1");
    assert_int_equal(claim_set(&c, parse("{\"user\":5}"), &e), -EINVAL);
    assert_int_equal(claim_set(&c, parse("{\"env\":5}"), &e), -EINVAL);
    assert_string_equal(c.env[0], "A=1");
    claim_done(&c);
}

static unsigned count(char **env, const char *pair)
{
    unsigned n = 0;

    for (; *env; env++)
        n += strcmp(*env, pair) == 0;
    return n;
}

static void the_request_wins_over_the_claim_over_the_defaults(void **state)
{
    char *argv[] = {strdup("prog"), NULL};
    char *own[] = {strdup("A=own"), strdup("HOME=/own"), NULL};
    char *base[] = {strdup("A=base"), strdup("B=base"), strdup("PATH=/p:/q"), NULL};
    struct proc_args args = {.user = "root", .argv = argv, .env = own, .base_env = base};
    struct launch l = {.args = &args};
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(launch_prepare(&l, &arena, &e), 0);
    assert_int_equal(count(l.env, "A=own"), 1);
    assert_int_equal(count(l.env, "A=base"), 0);
    assert_int_equal(count(l.env, "B=base"), 1);
    assert_int_equal(count(l.env, "HOME=/own"), 1);
    assert_int_equal(count(l.env, "USER=root"), 1);
    assert_int_equal(count(l.env, "LOGNAME=root"), 1);
    assert_int_equal(count(l.env, "TERM=xterm-256color"), 0);
    assert_int_equal(l.n_paths, 2);
    assert_string_equal(l.paths[0], "/p/prog");
    assert_string_equal(l.paths[1], "/q/prog");
    args.has_pty = true;
    l = (struct launch){.args = &args};
    assert_int_equal(launch_prepare(&l, &arena, &e), 0);
    assert_int_equal(count(l.env, "TERM=xterm-256color"), 1);
    free(argv[0]);
    for (size_t i = 0; i < 2; i++)
        free(own[i]);
    for (size_t i = 0; i < 3; i++)
        free(base[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environments_are_checked),
        cmocka_unit_test(lists_of_strings_are_checked),
        cmocka_unit_test(a_claim_keeps_what_it_is_not_told),
        cmocka_unit_test(the_request_wins_over_the_claim_over_the_defaults),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
