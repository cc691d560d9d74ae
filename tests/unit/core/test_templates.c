/* SPDX-License-Identifier: MIT */
/* Templates: finding them, what dynamic ones make of a name, who wins, what a host lacks, and the
 * sandbox template. What is refused is tested from outside (tests/api/test_templates.py). */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "core/core.h"
#include "core/sandbox_args.h"
#include "core/template_blueprint.h"
#include "core/templates.h"

#define ONE(name, more) "{\"name\":\"" name "\",\"image\":\"i\",\"description\":\"d\"" more "}"

static struct template_list *parse(const char *text)
{
    struct err e = ERR_INIT;
    struct template_list *l = template_list_parse(str_of(text), &e);

    if (!l)
        fail_msg("%s", err_text(&e));
    return l;
}

static void what_ships(void **state)
{
    static const char *const known[] = {"default",      "base",     "code-interpreter",
                                        "sandbox-base", "base-v12", "code-interpreter-v1",
                                        "aio",          "desktop",  "minimal"};
    static const char *const unknown[] = {"",        "bas",      "base-v", "base-1",    "-v1",
                                          "base-vx", "default ", "Base",   "base-v1-v2"};
    static const char *const images[] = {"base", "default:latest", "tidepool/default:latest"};
    static const char *const foreign[] = {
        "python:3.12", "docker.io/library/base", "x/base", "", "tidepool/", "tidepool/x", ":base"};
    struct core core = {0};
    struct templates *t = templates_open(&core, NULL);

    (void)state;
    assert_non_null(t);
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        assert_non_null(templates_find(t, str_of(known[i])));
    for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
        assert_null(templates_find(t, str_of(unknown[i])));
    for (size_t i = 0; i < ARRAY_LEN(images); i++)
        assert_true(template_is_host_image(str_of(images[i])));
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
        assert_false(template_is_host_image(str_of(foreign[i])));
    assert_true(str_is(templates_id(t, STR("code-interpreter-v1")), "code-interpreter"));
    assert_true(str_is(templates_id(t, STR("sandbox-base")), "sandbox-base"));
    templates_free(t);
}

static void exact_names_come_first(void **state)
{
    struct template_list *l = parse(
        "[" ONE("b", ",\"type\":\"dynamic\",\"pattern\":\"(?P<name>t)(?P<version>.*)\"") "," ONE(
            "t-v1", "") "," ONE("t", ",\"aliases\":[\"u\"]") "]");

    (void)state;
    assert_string_equal(template_list_find(l, STR("t-v1"))->name, "t-v1");
    assert_string_equal(template_list_find(l, STR("t-v2"))->name, "t");
    assert_string_equal(template_list_find(l, STR("u"))->name, "t");
    assert_string_equal(template_list_find(l, STR("tx"))->name, "b");
    assert_true(str_is(template_list_id(l, STR("tx-v1")), "tx-v1"));
    assert_null(template_list_find(l, STR("b")));
    assert_null(template_list_find(l, STR("x")));
    template_list_unref(l);
}

static void dynamic_images(void **state)
{
    static const struct {
        const char *pattern, *image, *name, *result;
    } rows[] = {
        {"^faas-code-(?P<name>[a-z]+)\\\\.(?P<version>[0-9.]+)$", "reg/<name>:<version>",
         "faas-code-python.3.11", "reg/python:3.11"},
        {"^(x|y)-(?<version>[0-9]+)-(?P<name>[(a-z]+)$", "<name><name>/<version>/<other>",
         "y-12-ab", "abab/12/<other>"},
        {"^(?P<name>a)(?P<version>b)?$", "<name>:<version>", "a", "a:"},
        {"^\\\\((?P<name>[a-z]+)\\\\)(?P<version>.)", "<name>", "(q)1", "q"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[512];
        struct arena a auto_arena;
        arena_init(&a, 1 << 20);
        (void)snprintf(text, sizeof text,
                       "[{\"name\":\"d\",\"image\":\"%s\",\"description\":\"d\",\"type\":"
                       "\"dynamic\",\"pattern\":\"%s\"}]",
                       rows[i].image, rows[i].pattern);
        struct template_list *l = parse(text);
        const struct template *t = template_list_find(l, str_of(rows[i].name));
        if (!t || !str_is(template_image(t, str_of(rows[i].name), &a), rows[i].result))
            fail_msg("row %zu", i);
        template_list_unref(l);
    }
}

static const struct json *value(struct arena *a, const char *text)
{
    const struct json *v = json_parse(a, str_of(text), NULL, NULL);

    assert_non_null(v);
    return v;
}

static void the_request_wins(void **state)
{
    struct template_list *l = parse("[" ONE(
        "t", ",\"port\":81,\"cmd\":\"c\",\"args\":[\"a\"],\"workdir\":\"/w\",\"user\":\"u\","
             "\"envVars\":{\"A\":\"t\",\"B\":\"t\"},\"metadata\":{\"m\":\"t\"},"
             "\"resources\":{\"cpuLimit\":\"1\",\"memoryLimit\":\"1Gi\"}") "]");
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 1 << 20);
    const struct template *t = template_hold(template_list_at(l, 0));
    template_list_unref(l); /* the template keeps it */
    struct sandbox_args some = {.env = value(&a, "{\"B\":\"r\",\"C\":\"r\"}"),
                                .cpu_limit = STR_INIT("2"),
                                .args = value(&a, "[\"r\"]")};
    assert_int_equal(template_merge(t, &some, &a), 0);
    assert_true(json_equal(some.env, value(&a, "{\"A\":\"t\",\"B\":\"r\",\"C\":\"r\"}")));
    assert_true(json_equal(some.metadata, value(&a, "{\"m\":\"t\"}")));
    assert_true(str_is(some.cpu_limit, "2") && str_is(some.memory_limit, "1Gi"));
    assert_true(json_equal(some.args, value(&a, "[\"r\"]")) && some.cmd.len == 0);
    assert_int_equal(some.port, 81);
    struct sandbox_args none = {0};
    assert_int_equal(template_merge(t, &none, &a), 0);
    assert_true(str_is(none.cmd, "c") && none.args->n == 1 && str_is(none.workdir, "/w"));
    assert_true(str_is(none.user, "u"));
    template_release(t);
}

static void what_a_host_lacks(void **state)
{
    struct template_list *l = parse("[" ONE("a", "") "," ONE(
        "b", ",\"requires\":[\"sh\",\"no-such "
             "| dpkg\",\"/bin/sh\"]") "," ONE("c", ",\"requires\":[\"sh\",\"no-such | "
                                                   "nor-this\",\"nope\",\"/no/file\"]") "]");
    struct err e = ERR_INIT;

    (void)state;
    assert_int_equal(template_check(template_list_at(l, 0), &e), 0);
    assert_int_equal(template_check(template_list_at(l, 1), &e), 0);
    assert_int_equal(template_check(template_list_at(l, 2), &e), -ENOENT);
    assert_string_equal(err_text(&e), "template c needs what this host lacks: no-such | nor-this, "
                                      "nope, /no/file; apt-get install no-such nope");
    template_list_unref(l);
}

static void defaults_of_all(void **state)
{
    const struct blueprint_values values = {
        .name = STR_INIT("n\"\n: x"), .user = STR_INIT("u"), .id = STR_INIT("7")};
    struct arena a auto_arena;
    struct blueprint b;
    struct err e = ERR_INIT;

    (void)state;
    arena_init(&a, 1 << 20);
    assert_int_equal(blueprint_parse(&a,
                                     STR("app: {{.Sandbox.Name}}-{{ .Sandbox.User }}\n"
                                         "timeout: 60\nport: 8\ncmd: x\n"
                                         "args: ['{{.Sandbox.ID}}', y]\n"
                                         "envVars: {A: '{{.Sandbox.User}}', B: b}\n"),
                                     &b, &e),
                     0);
    struct sandbox_args args = {.port = 9, .env = value(&a, "{\"B\":\"r\"}")};
    assert_int_equal(blueprint_apply(&b, &values, &args, &a), 0);
    assert_true(str_is(args.app, "n\"\n: x-u"));
    assert_true(args.timeout_s == 60 && args.port == 9 && str_is(args.cmd, "x"));
    assert_true(json_equal(args.args, value(&a, "[\"7\",\"y\"]")));
    assert_true(json_equal(args.env, value(&a, "{\"A\":\"u\",\"B\":\"r\"}")));
    struct sandbox_args main = {.args = value(&a, "[\"r\"]")};
    assert_int_equal(blueprint_apply(&b, &values, &main, &a), 0);
    assert_true(main.cmd.len == 0 && main.args->n == 1);
}

/* Every allocation fails once. */
static void without_memory(void **state)
{
    bool fired = true;

    (void)state;
    for (unsigned n = 1; fired && n < 500; n++) {
        struct core core = {0};
        struct err e = ERR_INIT;
        fault_arm(FAULT_ALLOC, n);
        struct templates *t = templates_open(&core, &e);
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_true(t || e.code != 0);
        templates_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ships),        cmocka_unit_test(exact_names_come_first),
        cmocka_unit_test(dynamic_images),    cmocka_unit_test(the_request_wins),
        cmocka_unit_test(what_a_host_lacks), cmocka_unit_test(defaults_of_all),
        cmocka_unit_test(without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
