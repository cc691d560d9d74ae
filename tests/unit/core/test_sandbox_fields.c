/* SPDX-License-Identifier: MIT */
/* The table of a sandbox's fields: what one surface says, another can read. */
#include "../check.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/sandbox_fields.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static const struct json *doc_of(const char *text)
{
    const struct json *doc = json_parse(&arena, str_of(text), NULL, NULL);

    assert_non_null(doc);
    return doc;
}

static struct str written(const struct sandbox_args *a, enum sandbox_face face)
{
    struct buf out auto_buf = BUF_INIT(1 << 16);
    struct jw w = jw_to(&out);

    jw_object(&w);
    sandbox_fields_write(&w, a, face);
    jw_end(&w);
    assert_true(buf_ok(&out));
    return arena_str(&arena, buf_str(&out));
}

static const char everything[] =
    "{\"name\":\"n\",\"template\":\"t\",\"image\":\"i\",\"cmd\":\"c\",\"args\":[\"a\"],"
    "\"app\":\"p\",\"workdir\":\"/w\",\"envVars\":{\"E\":\"1\"},\"metadata\":{\"m\":\"2\"},"
    "\"timeout\":60,\"idle_timeout\":30,\"autoPause\":true,\"autoResume\":true,\"cpu\":\"1\","
    "\"memory\":\"1Gi\",\"cpu_limit\":\"2\",\"memory_limit\":\"2Gi\",\"disk\":\"3Gi\",\"pids\":7,"
    "\"port\":80,\"allowInternetAccess\":false,\"network\":{\"allowOut\":[\"x\"]}}";

static void test_the_api_writes_what_it_reads(void **state)
{
    struct sandbox_args a = {0};

    (void)state;
    assert_int_equal(sandbox_fields_read(&a, doc_of(everything), SANDBOX_FACE_API, &arena, NULL),
                     0);
    assert_true(a.has_name && a.is_offline && a.auto_pause);
    assert_int_equal(a.idle_timeout_s, 30);
    assert_string_equal(written(&a, SANDBOX_FACE_API).p, everything);
}

static void test_the_store_keeps_all_that_has_no_column(void **state)
{
    struct sandbox_args a = {.is_insecure = true, .is_private = true, .forgets_memory = true},
                        b = {0};

    (void)state;
    assert_int_equal(sandbox_fields_read(&a, doc_of(everything), SANDBOX_FACE_API, &arena, NULL),
                     0);
    a.mask_host = STR("h");
    a.extra = doc_of("{\"x\":1}");
    struct str kept = written(&a, SANDBOX_FACE_STORE);
    assert_int_equal(sandbox_fields_read(&b, doc_of(kept.p), SANDBOX_FACE_STORE, &arena, NULL), 0);
    assert_false(b.has_name);
    assert_int_equal(b.timeout_s, 0);
    assert_true(b.is_insecure && b.is_private && b.forgets_memory && b.is_offline);
    assert_true(str_is(b.mask_host, "h"));
    b.name = a.name;
    b.timeout_s = a.timeout_s;
    assert_string_equal(written(&b, SANDBOX_FACE_API).p, everything);
    assert_string_equal(written(&b, SANDBOX_FACE_STORE).p, kept.p);
}

static void test_mcp_has_its_own_names_and_takes_numbers(void **state)
{
    struct sandbox_args a = {0};

    (void)state;
    assert_int_equal(sandbox_fields_read(&a,
                                         doc_of("{\"sandbox_name\":\"n\",\"cpu\":2,\"memory\":"
                                                "\"1Gi\",\"idle_timeout\":9,\"name\":5}"),
                                         SANDBOX_FACE_MCP, &arena, NULL),
                     0);
    assert_true(str_is(a.name, "n") && str_is(a.cpu_limit, "2") && str_is(a.memory_limit, "1Gi"));
    assert_int_equal(a.idle_timeout_s, 9);
    assert_int_equal(a.cpu.len + a.memory.len, 0);
}

static void test_null_is_absent(void **state)
{
    struct sandbox_args a = {.pids = 3};

    (void)state;
    assert_int_equal(sandbox_fields_read(&a, doc_of("{\"pids\":null,\"envVars\":null}"),
                                         SANDBOX_FACE_API, &arena, NULL),
                     0);
    assert_int_equal(sandbox_fields_read(&a, NULL, SANDBOX_FACE_API, &arena, NULL), 0);
    assert_int_equal(a.pids, 3);
    assert_null(a.env);
}

static void test_other_types_are_refused(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{\"name\":1}", "name must be a string"},
        {"{\"cpu_limit\":2}", "cpu_limit must be a string"},
        {"{\"idle_timeout\":\"1\"}", "idle_timeout must be an integer"},
        {"{\"autoPause\":1}", "autoPause must be true or false"},
        {"{\"allowInternetAccess\":\"no\"}", "allowInternetAccess must be true or false"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sandbox_args a = {0};
        struct err e = ERR_INIT;
        assert_int_equal(
            sandbox_fields_read(&a, doc_of(cases[i].text), SANDBOX_FACE_API, &arena, &e), -EINVAL);
        assert_string_equal(err_text(&e), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_api_writes_what_it_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_store_keeps_all_that_has_no_column, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_mcp_has_its_own_names_and_takes_numbers, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_null_is_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_types_are_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
