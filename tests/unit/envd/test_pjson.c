/* SPDX-License-Identifier: MIT */
/* The JSON mapping of proto3, with a message that has a field of every type. */
#include "../check.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "envd/pjson.h"

enum { TEXT, BYTES, FLAG, COUNT, KIND, LIST, MAP, INNER, LEFT, RIGHT };

struct inner {
    uint32_t has;
    uint32_t deep_number;
};

struct all {
    uint32_t has;
    struct str text, bytes;
    bool is_flag;
    uint32_t count;
    int32_t kind;
    char **list;
    const struct json *map;
    const struct inner *inner;
    uint32_t left, right;
};

static const struct pjson_field inner_fields[] = {
    {"deepNumber", PJSON_U32, .offset = offsetof(struct inner, deep_number)},
};
static const struct pjson_message inner_message = {sizeof(struct inner), 1, inner_fields};

static const struct pjson_name kinds[] = {{"KIND_NONE", 0}, {"KIND_BIG", 7}, {NULL, 0}};

static const struct pjson_field fields[] = {
    [TEXT] = {"text", PJSON_STRING, .offset = offsetof(struct all, text)},
    [BYTES] = {"bytes", PJSON_BYTES, .offset = offsetof(struct all, bytes)},
    [FLAG] = {"isFlag", PJSON_BOOL, .offset = offsetof(struct all, is_flag)},
    [COUNT] = {"count", PJSON_U32, .offset = offsetof(struct all, count)},
    [KIND] = {"kind", PJSON_ENUM, .offset = offsetof(struct all, kind), .names = kinds},
    [LIST] = {"list", PJSON_STRINGS, .offset = offsetof(struct all, list)},
    [MAP] = {"map", PJSON_MAP, .offset = offsetof(struct all, map)},
    [INNER] = {"inner", PJSON_MESSAGE, .offset = offsetof(struct all, inner),
               .message = &inner_message},
    [LEFT] = {"left", PJSON_U32, 1, offsetof(struct all, left), {NULL}},
    [RIGHT] = {"right", PJSON_U32, 1, offsetof(struct all, right), {NULL}},
};
static const struct pjson_message all_message = {sizeof(struct all), ARRAY_LEN(fields), fields};

static struct arena arena;

/* NULL when it is refused, which must have a reason. */
static const struct all *read_text(const char *text)
{
    struct err e = ERR_INIT;
    const struct json *v = json_parse(&arena, str_of(text), NULL, NULL);

    assert_non_null(v);
    const struct all *m = pjson_read(&arena, &all_message, v, &e);
    assert_int_equal(m ? 0 : -EINVAL, e.code);
    return m;
}

static void every_type_is_read(void **state)
{
    const struct all *m =
        read_text("{\"text\":\"t\",\"bytes\":\"aGk=\",\"isFlag\":true,\"count\":5,\"kind\":"
                  "\"KIND_BIG\",\"list\":[\"a\",\"b\"],\"map\":{\"k\":\"v\"},\"inner\":{"
                  "\"deepNumber\":9},\"right\":0,\"new\":[]}");

    (void)state;
    assert_true(str_is(m->text, "t"));
    assert_true(str_is(m->bytes, "hi"));
    assert_true(m->is_flag);
    assert_int_equal(m->count, 5);
    assert_int_equal(m->kind, 7);
    assert_string_equal(m->list[1], "b");
    assert_null(m->list[2]);
    assert_true(str_is(json_str(json_get(m->map, "k"), STR("")), "v"));
    assert_int_equal(m->inner->deep_number, 9);
    assert_true(pjson_has(m, RIGHT) && !pjson_has(m, LEFT));
}

static void absent_is_zero_and_null_is_absent(void **state)
{
    const struct all *m = read_text("{\"text\":null,\"bytes\":null,\"inner\":null,\"left\":null,"
                                    "\"right\":1}");

    (void)state;
    assert_int_equal(m->has, 1U << RIGHT);
    assert_null(m->text.p);
    assert_null(m->inner);
    assert_int_equal(read_text("{}")->has, 0);
    assert_true(pjson_has(read_text("{\"text\":\"\"}"), TEXT));
}

static void other_spellings_are_taken(void **state)
{
    (void)state;
    assert_true(read_text("{\"is_flag\":true}")->is_flag);
    assert_int_equal(read_text("{\"inner\":{\"deep_number\":\"3\"}}")->inner->deep_number, 3);
    assert_int_equal(read_text("{\"count\":\"4294967295\"}")->count, UINT32_MAX);
    assert_int_equal(read_text("{\"count\":3.0}")->count, 3);
    assert_int_equal(read_text("{\"kind\":7}")->kind, 7);
    assert_int_equal(read_text("{\"kind\":-3}")->kind, -3);
    assert_int_equal(read_text("{\"kind\":\"KIND_NEW\"}")->kind, 0);
    assert_true(str_is(read_text("{\"bytes\":\"_-8\"}")->bytes, "\xff\xef"));
    assert_true(str_is(read_text("{\"bytes\":\"/+8=\"}")->bytes, "\xff\xef"));
}

static void what_does_not_fit_is_refused(void **state)
{
    static const char *const texts[] = {
        "[]",
        "\"x\"",
        "{\"text\":1}",
        "{\"bytes\":\"a\"}",
        "{\"bytes\":\"a===\"}",
        "{\"isFlag\":\"true\"}",
        "{\"count\":-1}",
        "{\"count\":4294967296}",
        "{\"count\":1.5}",
        "{\"count\":\"1x\"}",
        "{\"count\":\"\"}",
        "{\"kind\":[]}",
        "{\"kind\":2147483648}",
        "{\"list\":\"a\"}",
        "{\"list\":[1]}",
        "{\"list\":[\"a\\u0000\"]}",
        "{\"map\":[]}",
        "{\"map\":{\"a\":1}}",
        "{\"map\":{\"a\":null}}",
        "{\"inner\":[]}",
        "{\"inner\":{\"deepNumber\":-1}}",
        "{\"left\":1,\"right\":2}",
        "{\"left\":0,\"right\":0}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_null(read_text(texts[i]));
}

static void defaults_are_not_written(void **state)
{
    auto_buf struct buf b = BUF_INIT(1000);
    struct jw w = jw_to(&b);

    (void)state;
    jw_object(&w);
    pjson_put_str(&w, "a", STR(""));
    pjson_put_u32(&w, "b", 0);
    pjson_put_bool(&w, "c", false);
    pjson_put_i64(&w, "d", 0);
    pjson_put_bytes(&w, "e", STR(""));
    pjson_put_str(&w, "f", STR("x"));
    pjson_put_u32(&w, "g", 4294967295U);
    pjson_put_bool(&w, "h", true);
    pjson_put_i64(&w, "i", INT64_MIN);
    pjson_put_bytes(&w, "j", STR("hi"));
    jw_end(&w);
    assert_string_equal(buf_cstr(&b), "{\"e\":\"\",\"f\":\"x\",\"g\":4294967295,\"h\":true,\"i\":"
                                      "\"-9223372036854775808\",\"j\":\"aGk=\"}");
}

static void times_have_as_many_digits_as_they_need(void **state)
{
    static const struct {
        uint32_t nanos;
        const char *text;
    } cases[] = {
        {0, "2023-11-14T22:13:20Z"},
        {123000000, "2023-11-14T22:13:20.123Z"},
        {123456000, "2023-11-14T22:13:20.123456Z"},
        {1, "2023-11-14T22:13:20.000000001Z"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_buf struct buf b = BUF_INIT(1000);
        struct jw w = jw_to(&b);
        struct arena *a = &arena;
        jw_object(&w);
        pjson_put_time(&w, "t", 1700000000, cases[i].nanos);
        jw_end(&w);
        assert_string_equal(buf_cstr(&b), arena_printf(a, "{\"t\":\"%s\"}", cases[i].text).p);
    }
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(absent_is_zero_and_null_is_absent),
        cmocka_unit_test(other_spellings_are_taken),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(defaults_are_not_written),
        cmocka_unit_test(times_have_as_many_digits_as_they_need),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
