/* SPDX-License-Identifier: MIT */
/* What the command line shows and reads: tables, progress, figures, names of copies, quoting. */
#include "../check.h"

#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "cli/cp.h"
#include "cli/human.h"
#include "cli/progress.h"
#include "cli/quote.h"
#include "cli/shell.h"
#include "cli/table.h"

/* ---- figures ---- */

static void bytes_have_the_unit_that_fits(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {10188, "9.9 KiB"},
        {10189, "10 KiB"},
        {1048063, "1023 KiB"},
        {1048064, "1.0 MiB"},
        {52428800, "50 MiB"},
        {UINT64_C(5) << 40, "5.0 TiB"},
        {UINT64_MAX, "16 EiB"},
    };
    char out[HUMAN_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        human_bytes(out, rows[i].bytes);
        assert_string_equal(out, rows[i].text);
    }
}

static void spans_and_clocks(void **state)
{
    static const struct {
        int64_t s;
        const char *span, *clock;
    } rows[] = {
        {-5, "0s", "0:00"},          {0, "0s", "0:00"},          {119, "119s", "1:59"},
        {120, "2m", "2:00"},         {7199, "119m", "1:59:59"},  {7200, "2h", "2:00:00"},
        {172799, "47h", "47:59:59"}, {172800, "2d", "48:00:00"},
    };
    char out[HUMAN_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        human_span(out, rows[i].s);
        assert_string_equal(out, rows[i].span);
        human_clock(out, rows[i].s);
        assert_string_equal(out, rows[i].clock);
    }
}

static void times_are_read(void **state)
{
    static const char *const wrong[] = {"", "now", "2026-01-27", "2026-01-27T10:00:00",
                                        "2026-01-27T10:00:00+01:00"};
    int64_t s = 7;

    (void)state;
    assert_int_equal(human_time(STR("1970-01-02T00:00:01Z"), &s), 0);
    assert_int_equal(s, 86401);
    assert_int_equal(human_time(STR("2026-01-27T10:00:00.123456Z"), &s), 0);
    assert_int_equal(s, 1769508000);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(human_time(str_of(wrong[i]), &s), -EINVAL);
    assert_int_equal(s, 1769508000);
}

/* ---- tables ---- */

static const struct table_col cols[] = {
    {.title = "NAME", .may_shrink = true}, {.title = "N", .is_right = true}, {.title = "STATUS"}};

/* The table of CELLS (NULL at the end) in WIDTH columns must be WANT. */
static void check_table(const char *const *cells, size_t width, const char *want)
{
    struct arena a auto_arena;
    struct buf out auto_buf = BUF_INIT(1 << 20);

    arena_init(&a, 1 << 20);
    struct table t = table_new(&a, cols, ARRAY_LEN(cols));
    for (; *cells; cells++)
        table_add(&t, str_of(*cells));
    assert_int_equal(table_write(&t, width, &out), 0);
    assert_string_equal(buf_cstr(&out), want);
}

static void columns_are_as_wide_as_what_is_in_them(void **state)
{
    const char *const cells[] = {"a", "1", "ok", "longer", "1000", "", NULL};

    (void)state;
    check_table((const char *const[]){NULL}, 0, "NAME  N  STATUS\n");
    check_table(cells, 0,
                "NAME       N  STATUS\n"
                "a          1  ok\n"
                "longer  1000  -\n");
    check_table(cells, 20,
                "NAME       N  STATUS\n"
                "a          1  ok\n"
                "longer  1000  -\n");
}

static void narrow_terminals_cut(void **state)
{
    const char *const cells[] = {"sandbox-with-a-name", "5", "running", NULL};

    (void)state;
    check_table(cells, 20,
                "NAME      N  STATUS\n"
                "sandbox…  5  running\n");
}

static void no_line_is_wider_than_the_terminal(void **state)
{
    const char *const cells[] = {"sandbox-with-a-name", "12345", "running", "x", "1", "gone", NULL};

    (void)state;
    for (size_t width = 1; width < 60; width++) {
        struct arena a auto_arena;
        struct buf out auto_buf = BUF_INIT(1 << 20);
        arena_init(&a, 1 << 20);
        struct table t = table_new(&a, cols, ARRAY_LEN(cols));
        for (size_t i = 0; cells[i]; i++)
            table_add(&t, str_of(cells[i]));
        assert_int_equal(table_write(&t, width, &out), 0);
        struct str rest = buf_str(&out);
        for (int line = 0; line < 3; line++)
            assert_true(table_width(str_cut(&rest, '\n')) <= width);
        assert_int_equal(rest.len, 0);
    }
}

static void no_cell_can_steer_the_terminal(void **state)
{
    (void)state;
    check_table((const char *const[]){"\033[2Jx", "\xc2\x9b", "\xff\xfe", NULL}, 0,
                "NAME   N  STATUS\n"
                "?[2Jx  ?  ??\n");
}

static void columns_count_characters(void **state)
{
    struct buf out auto_buf = BUF_INIT(100);

    (void)state;
    assert_int_equal(table_width(STR("grüße")), 5);
    (void)table_put_text(&out, STR("grüße"), 4);
    assert_string_equal(buf_cstr(&out), "grü…");
    buf_clear(&out);
    (void)table_put_text(&out, STR("grüße"), 5);
    assert_string_equal(buf_cstr(&out), "grüße");
    buf_clear(&out);
    (void)table_put_text(&out, STR("grüße"), 0);
    assert_int_equal(out.len, 0);
}

static void a_table_without_memory_fails(void **state)
{
    struct arena a auto_arena;
    struct buf out auto_buf = BUF_INIT(1000);

    (void)state;
    arena_init(&a, 100);
    struct table t = table_new(&a, cols, ARRAY_LEN(cols));
    for (int i = 0; i < 100; i++)
        table_add(&t, STR("cell"));
    assert_int_equal(table_write(&t, 80, &out), -ENOMEM);
    assert_int_equal(out.len, 0);
}

/* ---- progress ---- */

static void check_progress(const struct progress *p, int64_t now_ms, size_t width, const char *want)
{
    struct buf out auto_buf = BUF_INIT(1000);

    assert_int_equal(progress_line(p, now_ms, width, &out), 0);
    assert_string_equal(buf_cstr(&out), want);
}

static void progress_tells_bytes_rate_and_time(void **state)
{
    struct progress p = {.label = STR("data.bin"), .total = 100 << 20, .start_ms = 1000};

    (void)state;
    check_progress(&p, 1000, 79, "data.bin    0%        0 B of 100 MiB        0 B/s");
    p.done = 25 << 20;
    check_progress(&p, 2000, 79, "data.bin   25%     25 MiB of 100 MiB     25 MiB/s  0:03 left");
    p.done = 100 << 20;
    check_progress(&p, 6000, 79, "data.bin  100%    100 MiB of 100 MiB     20 MiB/s  in 0:05");
    p.total = -1;
    check_progress(&p, 6000, 79, "data.bin    100 MiB     20 MiB/s");
    p = (struct progress){.label = STR("empty")};
    check_progress(&p, 0, 79, "empty  100%        0 B of 0 B        0 B/s  in 0:00");
}

static void progress_fits_the_line(void **state)
{
    struct progress p = {
        .label = STR("a-file-with-a-really-long-name"), .total = 2000, .done = 500};

    (void)state;
    for (size_t width = 1; width < 100; width++) {
        struct buf out auto_buf = BUF_INIT(1000);
        assert_int_equal(progress_line(&p, 1000, width, &out), 0);
        assert_true(table_width(buf_str(&out)) <= (width < 8 ? 8 : width));
    }
}

/* ---- copies ---- */

static void names_of_copies(void **state)
{
    static const struct {
        const char *text, *sandbox, *path;
    } rows[] = {
        {"box:/tmp/x", "box", "/tmp/x"},
        {"box:x", "box", "x"},
        {"box:", "box", "."},
        {"box-1:/a:b", "box-1", "/a:b"},
        {"./box:/x", "", "./box:/x"},
        {"/box:/x", "", "/box:/x"},
        {"Box:/x", "", "Box:/x"},
        {"a b:/x", "", "a b:/x"},
        {":/x", "", ":/x"},
        {"box", "", "box"},
        {"-", "", "-"},
        {"", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cp_path p = cp_parse(rows[i].text);
        assert_true(str_is(p.sandbox, rows[i].sandbox));
        assert_string_equal(p.path, rows[i].path);
    }
}

static void last_components(void **state)
{
    (void)state;
    assert_str(cp_base("/a/b.txt"), "b.txt");
    assert_str(cp_base("b.txt"), "b.txt");
    assert_str(cp_base("/a/b//"), "b");
    assert_str(cp_base("a/"), "a");
    assert_str(cp_base("/"), "/");
    assert_str(cp_base("//"), "/");
}

/* ---- words and keys ---- */

static void check_command(const char *const *words, size_t n, const char *want)
{
    struct buf out auto_buf = BUF_INIT(1000);

    assert_int_equal(quote_command(&out, words, n), 0);
    assert_string_equal(buf_cstr(&out), want);
}

static void commands_are_quoted(void **state)
{
    (void)state;
    check_command((const char *const[]){"ls | wc"}, 1, "ls | wc");
    check_command((const char *const[]){"echo", "a b", "$x"}, 3, "'echo' 'a b' '$x'");
    check_command((const char *const[]){"echo", "it's", "", "'"}, 4,
                  "'echo' 'it'\\''s' '' ''\\'''");
}

static void typed_characters_stay_whole(void **state)
{
    static const struct {
        const char *typed;
        size_t sent;
        const char *message;
    } rows[] = {
        {"ls\r", 3, "{\"type\":\"input\",\"data\":\"ls\\r\"}"},
        {"\x03", 1, "{\"type\":\"input\",\"data\":\"\\u0003\"}"},
        {"ü", 2, "{\"type\":\"input\",\"data\":\"ü\"}"},
        {"a\xc3", 1, "{\"type\":\"input\",\"data\":\"a\"}"},
        {"\xf0\x9f\x90", 0, "{\"type\":\"input\",\"data\":\"\"}"},
        {"\xf0\x9f\x90\x9a", 4, "{\"type\":\"input\",\"data\":\"🐚\"}"},
        {"x\x80\x80\x80\x80", 5,
         "{\"type\":\"input\",\"data\":\"x\xef\xbf\xbd\xef\xbf\xbd"
         "\xef\xbf\xbd\xef\xbf\xbd\"}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out auto_buf = BUF_INIT(1000);
        size_t sent = shell_put_input(&out, rows[i].typed, strlen(rows[i].typed));
        assert_int_equal(sent, rows[i].sent);
        assert_string_equal(buf_cstr(&out), rows[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_have_the_unit_that_fits),
        cmocka_unit_test(spans_and_clocks),
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(columns_are_as_wide_as_what_is_in_them),
        cmocka_unit_test(narrow_terminals_cut),
        cmocka_unit_test(no_line_is_wider_than_the_terminal),
        cmocka_unit_test(no_cell_can_steer_the_terminal),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(a_table_without_memory_fails),
        cmocka_unit_test(progress_tells_bytes_rate_and_time),
        cmocka_unit_test(progress_fits_the_line),
        cmocka_unit_test(names_of_copies),
        cmocka_unit_test(last_components),
        cmocka_unit_test(commands_are_quoted),
        cmocka_unit_test(typed_characters_stay_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
