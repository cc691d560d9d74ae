/* SPDX-License-Identifier: MIT */
/* Values as Python prints them. */
#include "../check.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/python.h"

static void test_strings(void **state)
{
    static const struct {
        const char *text, *repr;
    } rows[] = {
        {"", "''"},
        {"plain", "'plain'"},
        {"it's", "\"it's\""},
        {"say \"x\"", "'say \"x\"'"},
        {"it's \"x\"", "'it\\'s \"x\"'"},
        {"a\\b\n\r\t", "'a\\\\b\\n\\r\\t'"},
        {"\x01\x7f", "'\\x01\\x7f'"},
        {"\xc3\xa4", "'\xc3\xa4'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b = BUF_INIT(256);
        python_str(&b, str_of(rows[i].text));
        assert_true(str_is(buf_str(&b), rows[i].repr));
    }
}

static void test_floats(void **state)
{
    static const struct {
        double d;
        const char *repr;
    } rows[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {1234567890123456.5, "1234567890123456.5"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {1.5e-7, "1.5e-07"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b = BUF_INIT(256);
        python_float(&b, rows[i].d);
        assert_true(str_is(buf_str(&b), rows[i].repr));
    }
}

static void test_json_strings(void **state)
{
    auto_buf struct buf b = BUF_INIT(256);

    (void)state;
    python_json_str(&b, STR("a\"\\\n\x01\xc3\xa4\xf0\x9f\x98\x80\xff"));
    assert_true(str_is(buf_str(&b), "\"a\\\"\\\\\\n\\u0001\\u00e4\\ud83d\\ude00\\ufffd\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_json_strings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
