/* SPDX-License-Identifier: MIT */
/* What a sandbox is made with: quantities, names, checks, and the description that the
 * store keeps. The life cycle itself is tested on real cells (tests/cells). */
#include "../check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/config.h"
#include "core/core.h"
#include "core/quantity.h"
#include "core/sandbox_internal.h"
#include "core/sandbox_template.h"
#include "core/templates.h"

/* ---- quantities ---- */

static void quantities(void **state)
{
    static const struct {
        const char *text;
        int64_t milli, units; /* -1: -EINVAL, -2: -ERANGE */
    } rows[] = {
        {"0", 0, 0},
        {"1", 1000, 1},
        {"2.5", 2500, 3},
        {"0.1", 100, 1},
        {".5", 500, 1},
        {"5.", 5000, 5},
        {"200m", 200, 1},
        {"1500m", 1500, 2},
        {"0.0001", 1, 1},
        {"1k", 1000000, 1000},
        {"500Mi", 524288000000, 524288000},
        {"1.5Gi", 1610612736000, 1610612736},
        {"2G", 2000000000000, 2000000000},
        {"1e3", 1000000, 1000},
        {"1E+3", 1000000, 1000},
        {"12e-1", 1200, 2},
        {"1Ki", 1024000, 1024},
        {"999999999999999999", -2, 999999999999999999},
        {"", -1, -1},
        {".", -1, -1},
        {"-1", -1, -1},
        {"+1", -1, -1},
        {"1 ", -1, -1},
        {"1mi", -1, -1},
        {"Mi", -1, -1},
        {"1.2.3", -1, -1},
        {"1e", -1, -1},
        {"1e99", -2, -2},
        {"1234567890123456789", -2, -2},
        {"99999Pi", -2, -2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t v = 0;
        int r = quantity_milli(str_of(rows[i].text), &v);
        int64_t got = r == 0 ? (int64_t)v : r == -EINVAL ? -1 : -2;
        if (got != rows[i].milli)
            fail_msg("\"%s\": %lld thousandths", rows[i].text, (long long)got);
        r = quantity_units(str_of(rows[i].text), &v);
        got = r == 0 ? (int64_t)v : r == -EINVAL ? -1 : -2;
        if (got != rows[i].units)
            fail_msg("\"%s\": %lld units", rows[i].text, (long long)got);
    }
}

/* ---- a set without cells ---- */

struct fixture {
    struct config config;
    struct core core;
    struct sandboxes set;
    struct arena arena;
};

static int setup(void **state)
{
    static struct fixture f;
    const struct config_args args = {.home = "/", .no_search = true};

    f = (struct fixture){0};
    assert_int_equal(config_load(&f.config, &args, NULL), 0);
    f.core.config = &f.config;
    f.core.templates = templates_open(&f.core, NULL);
    assert_non_null(f.core.templates);
    f.set.core = &f.core;
    f.set.disk = (struct disk_spec){DISK_TMPFS, 64 << 20};
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    templates_free(f->core.templates);
    config_done(&f->config);
    arena_done(&f->arena);
    return 0;
}

static int fill(struct fixture *f, const struct sandbox_args *args, struct err *e)
{
    struct sandbox *sb = sandbox_new(&f->set);
    struct sandbox_args all = *args;
    struct arena a auto_arena;

    arena_init(&a, 1 << 20);
    int r = sandbox_resolve(sb, &all, &a, e);
    if (r == 0)
        r = sandbox_fill(sb, &all, e);
    sandbox_unref(sb);
    return r;
}

static void names(void **state)
{
    static const char *const good[] = {
        "a",          "0",    "a-b",
        "sandbox-01", "a--b", "12345678901234567890123456789012345678901234567890"};
    static const char *const bad[] = {"",
                                      "-",
                                      "-a",
                                      "a-",
                                      "A",
                                      "a_b",
                                      "a.b",
                                      "a b",
                                      "\xc3\xa4",
                                      "a/b",
                                      "github",
                                      "wikipedia",
                                      "123456789012345678901234567890123456789012345678901"};

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        const struct sandbox_args args = {.name = str_of(good[i]), .has_name = true};
        assert_int_equal(fill(*state, &args, NULL), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct sandbox_args args = {.name = str_of(bad[i]), .has_name = true};
        struct err e = ERR_INIT;
        assert_int_equal(fill(*state, &args, &e), -EINVAL);
        assert_non_null(strstr(err_text(&e), "invalid sandbox name"));
    }
    const struct sandbox_args none = {.template_name = STR_INIT("sandbox-base-code")};
    for (int i = 0; i < 100; i++) {
        struct fixture *f = *state;
        struct sandbox *sb = sandbox_new(&f->set);
        assert_int_equal(sandbox_fill(sb, &none, NULL), 0);
        assert_int_equal(sandbox_name(sb, &none, NULL), 0);
        assert_true(sandbox_name_is_valid(str_of(sb->name)));
        assert_true(str_starts(str_of(sb->name), STR("sbx-sandbox-base-code-")));
        sandbox_unref(sb);
    }
}

static const struct json *parse(struct fixture *f, const char *text)
{
    const struct json *v = json_parse(&f->arena, str_of(text), NULL, NULL);

    assert_non_null(v);
    return v;
}

static void what_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct sandbox_args rows[] = {
        {.timeout_s = 86401},
        {.idle_timeout_s = 86401},
        {.port = 65536},
        {.port = -1},
        {.pids = -1},
        {.pids = 1000001},
        {.cpu = STR_INIT("x")},
        {.cpu_limit = STR_INIT("9m")},
        {.memory = STR_INIT("1q")},
        {.memory_limit = STR_INIT("16383Ki")},
        {.disk = STR_INIT("1")},
        {.workdir = STR_INIT("tmp")},
        {.workdir = STR_INIT("/a\0b")},
        {.template_name = STR_INIT("nope")},
        {.image = STR_INIT("python:3")},
        {.env = parse(f, "[]")},
        {.env = parse(f, "{\"A\":1}")},
        {.env = parse(f, "{\"\":\"x\"}")},
        {.env = parse(f, "{\"A=B\":\"x\"}")},
        {.env = parse(f, "{\"A\":\"a\\u0000b\"}")},
        {.metadata = parse(f, "{\"A\":null}")},
        {.args = parse(f, "{}")},
        {.args = parse(f, "[1]")},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = ERR_INIT;
        if (fill(f, &rows[i], &e) != -EINVAL || e.code != -EINVAL)
            fail_msg("row %zu was not refused", i);
    }
    const struct sandbox_args limits = {.timeout_s = 86400,
                                        .idle_timeout_s = 86400,
                                        .port = 65535,
                                        .pids = 1000000,
                                        .cpu_limit = STR_INIT("10m"),
                                        .memory_limit = STR_INIT("16Mi"),
                                        .disk = STR_INIT("16Mi"),
                                        .metadata = parse(f, "{\"a=b\":\"\"}")};
    assert_int_equal(fill(f, &limits, NULL), 0);
}

/* Too much of anything is an error of the request, not of the service. */
static void a_description_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct json *env = json_new_object(&f->arena);
    auto_free char *big = malloc(SANDBOX_SPEC_MAX);
    char name[16];

    assert_non_null(big);
    memset(big, 'x', SANDBOX_SPEC_MAX);
    const struct sandbox_args args = {.app = str_n(big, SANDBOX_SPEC_MAX)};
    assert_int_equal(fill(f, &args, NULL), -EINVAL);
    const struct sandbox_args many = {.env = env};
    for (int i = 0; i < SANDBOX_ENV_MAX; i++) {
        (void)snprintf(name, sizeof name, "V%d", i);
        assert_int_equal(json_set(&f->arena, env, name, json_new_str(&f->arena, STR("x"))), 0);
    }
    assert_int_equal(fill(f, &many, NULL), 0);
    assert_int_equal(json_set(&f->arena, env, "W", json_new_str(&f->arena, STR("x"))), 0);
    assert_int_equal(fill(f, &many, NULL), -EINVAL);
}

/* ---- the description ---- */

static void descriptions_come_back(void **state)
{
    struct fixture *f = *state;
    const struct sandbox_args args = {
        .template_name = STR_INIT("base"),
        .timeout_s = 99,
        .idle_timeout_s = 7,
        .auto_pause = true,
        .forgets_memory = true,
        .is_insecure = true,
        .is_private = true,
        .mask_host = STR_INIT("app:${PORT}"),
        .workdir = STR_INIT("/tmp"),
        .cmd = STR_INIT("python3"),
        .args = parse(f, "[\"-m\",\"http.server\"]"),
        .env = parse(f, "{\"A\":\"b \\\"c\\\"\"}"),
        .metadata = parse(f, "{\"k\":\"\xc3\xa4\"}"),
        .cpu_limit = STR_INIT("0.25"),
        .memory_limit = STR_INIT("64Mi"),
        .disk = STR_INIT("64Mi"),
        .pids = 12,
        .port = 9,
        .extra = parse(f, "{\"secure\":true}"),
    };
    struct sandbox *a = sandbox_new(&f->set), *b = sandbox_new(&f->set);
    struct buf first auto_buf = BUF_INIT(65536), second auto_buf = BUF_INIT(65536);
    struct err e = ERR_INIT;

    assert_int_equal(sandbox_fill(a, &args, &e), 0);
    assert_int_equal(a->cell_spec.limits.cpu_milli, 250);
    assert_int_equal(a->cell_spec.limits.memory_bytes, 64 << 20);
    assert_int_equal(a->cell_spec.limits.pids, 12);
    assert_int_equal(a->cell_spec.disk.bytes, 64 << 20);
    assert_string_equal(a->cell_spec.template_name, "default");
    assert_int_equal(sandbox_spec_write(&first, a), 0);
    b->timeout_s = a->timeout_s;
    assert_int_equal(sandbox_spec_read(b, buf_str(&first), &e), 0);
    assert_int_equal(sandbox_spec_write(&second, b), 0);
    assert_true(str_eq(buf_str(&first), buf_str(&second)));
    assert_memory_equal(&a->cell_spec, &b->cell_spec, sizeof a->cell_spec);
    assert_int_equal(b->spec.timeout_s, 99);
    assert_true(b->spec.auto_pause && b->spec.forgets_memory && !b->spec.auto_resume);
    assert_false(b->access.is_secure || b->access.is_public);
    assert_true(str_is(b->access.mask_host, "app:${PORT}"));
    assert_true(json_bool(json_get(b->spec.extra, "secure"), false));
    assert_int_equal(sandbox_spec_read(b, STR("{"), &e), -EINVAL);
    sandbox_unref(a);
    sandbox_unref(b);
}

static void secrets(void **state)
{
    struct sandbox_access a, b;

    (void)state;
    sandbox_access_make(&a);
    sandbox_access_make(&b);
    assert_int_equal(strlen(a.envd_token), SANDBOX_TOKEN_LEN);
    assert_int_equal(strlen(a.traffic_token), SANDBOX_TOKEN_LEN);
    assert_true(sandbox_token_is(a.envd_token, str_of(a.envd_token)));
    assert_false(sandbox_token_is(a.envd_token, str_of(a.traffic_token)));
    assert_false(sandbox_token_is(a.envd_token, str_of(b.envd_token)));
    assert_false(sandbox_token_is(a.envd_token, str_n(a.envd_token, SANDBOX_TOKEN_LEN - 1)));
    assert_false(sandbox_token_is(a.envd_token, STR_NULL));
}

static void series(void **state)
{
    struct sandbox_series s = {0};

    (void)state;
    assert_null(sandbox_series_at(&s, 0));
    for (uint32_t i = 0; i < 2 * SANDBOX_POINTS_MAX + 7; i++) {
        sandbox_series_add(&s, &(struct sandbox_point){.at_s = i});
        size_t n = i < SANDBOX_POINTS_MAX ? i + 1 : SANDBOX_POINTS_MAX;
        assert_int_equal(sandbox_series_at(&s, 0)->at_s, i + 1 - n);
        assert_int_equal(sandbox_series_at(&s, n - 1)->at_s, i);
        assert_null(sandbox_series_at(&s, n));
    }
    sandbox_series_done(&s);
}

static const char *value_of(const char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return "(none)";
}

static void environments(void **state)
{
    struct fixture *f = *state;
    const struct sandbox_args args = {
        .env = parse(f, "{\"A\":\"1\",\"B\":\"2\",\"AGENT_SANDBOX_NAME\":\"forged\"}")};
    struct sandbox *sb = sandbox_new(&f->set);

    (void)snprintf(sb->name, sizeof sb->name, "box");
    (void)snprintf(sb->id, sizeof sb->id, "0123");
    assert_int_equal(sandbox_fill(sb, &args, NULL), 0);
    assert_int_equal(sandbox_add_identity(sb), 0);
    const char *const *env = sandbox_env(sb, parse(f, "{\"B\":\"3\",\"C\":\"\"}"), &f->arena);
    assert_non_null(env);
    assert_string_equal(value_of(env, "A"), "1");
    assert_string_equal(value_of(env, "B"), "3");
    assert_string_equal(value_of(env, "C"), "");
    assert_string_equal(value_of(env, "AGENT_SANDBOX_ID"), "0123");
    assert_string_equal(value_of(env, "AGENT_SANDBOX_NAME"), "box");
    assert_string_equal(value_of(env, "INSTANCE_NAME"), "box");
    sandbox_unref(sb);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities), TEST(names),
        TEST(what_is_refused),        TEST(a_description_is_bounded),
        TEST(descriptions_come_back), cmocka_unit_test(series),
        cmocka_unit_test(secrets),    TEST(environments),
    };

    return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
