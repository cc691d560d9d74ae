/* SPDX-License-Identifier: MIT */
/* Log lines: levels, escaping, cutting. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static char line[2 * LOG_LINE_MAX];

static int64_t fixed_time(void)
{
    return 1769508000123456;
}

static const struct clock_source fake = {fixed_time, fixed_time};

static int setup(void **state)
{
    int fd = memfd_create("log", MFD_CLOEXEC);

    *state = (void *)(intptr_t)fd;
    clock_set_source(&fake);
    log_setup(LOG_INFO, fd);
    return fd < 0;
}

static int teardown(void **state)
{
    clock_set_source(NULL);
    log_setup(LOG_INFO, STDERR_FILENO);
    return close((int)(intptr_t)*state);
}

static const char *written(void **state)
{
    ssize_t n = pread((int)(intptr_t)*state, line, sizeof line - 1, 0);

    line[n < 0 ? 0 : n] = '\0';
    return line;
}

static void a_line_is_one_json_object(void **state)
{
    log_warn("disk full", LOG_S("path", "/a\"b\\c\n"), LOG_I("free", -1), LOG_V("id", STR("x")));
    assert_string_equal(written(state),
                        "{\"ts\":\"2026-01-27T10:00:00.123456Z\",\"level\":\"warn\","
                        "\"msg\":\"disk full\",\"path\":\"/a\\u0022b\\u005cc\\u000a\","
                        "\"free\":-1,\"id\":\"x\"}\n");
}

static void lines_below_the_level_are_dropped(void **state)
{
    log_debug("quiet");
    assert_string_equal(written(state), "");
    assert_false(log_enabled(LOG_DEBUG));
    log_setup(LOG_DEBUG, (int)(intptr_t)*state);
    log_debug("loud");
    assert_non_null(strstr(written(state), "\"msg\":\"loud\""));
}

static void text_that_is_no_utf8_is_escaped(void **state)
{
    log_info("m", LOG_S("good", "gr\xc3\xbcn"), LOG_S("bad", "\xff"));
    assert_non_null(strstr(written(state), "\"good\":\"gr\xc3\xbcn\",\"bad\":\"\\u00ff\"}"));
}

static void long_values_are_cut_and_the_line_stays_whole(void **state)
{
    static char big[3 * LOG_LINE_MAX];

    memset(big, '\n', sizeof big - 1); /* the escape is six times as long */
    log_info("m", LOG_S("big", big), LOG_S("after", big), LOG_S("last", "x"));
    size_t len = strlen(written(state));
    assert_true(len <= LOG_LINE_MAX);
    assert_string_equal(line + len - 3, "\"}\n");
}

static void levels_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < LOG_LEVEL_COUNT; i++)
        assert_non_null(log_level_name((enum log_level)i));
    assert_string_equal(log_level_name(LOG_WARN), "warn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_is_one_json_object, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_below_the_level_are_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(text_that_is_no_utf8_is_escaped, setup, teardown),
        cmocka_unit_test_setup_teardown(long_values_are_cut_and_the_line_stays_whole, setup,
                                        teardown),
        cmocka_unit_test(levels_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
