/* SPDX-License-Identifier: MIT */
/* Small languages of the tools: names in archives and targets of links, words of command lines,
 * Python's texts, what pdfinfo prints, queries of arXiv. */
#include "arena_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/python.h"
#include "local/archive/names.h"
#include "local/arxiv/paper.h"
#include "local/kit/shell_words.h"
#include "local/pdf/parse.h"

/* ---- names in archives ---- */

static void names_are_cleaned_or_refused(void **state)
{
    static const struct {
        const char *name, *clean; /* NULL: refused */
    } rows[] = {
        {"a", "a"},          {"./a//b/", "a/b"},
        {".", ""},           {"", ""},
        {"a/./b", "a/b"},    {"...", "..."},
        {"a/..b", "a/..b"},  {"a/.tidepool", "a/.tidepool"},
        {"/a", NULL},        {"..", NULL},
        {"a/../b", NULL},    {"a/..", NULL},
        {".tidepool", NULL}, {"./.tidepool/x", NULL},
    };
    char out[TREE_PATH_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = ERR_INIT;
        int r = names_clean(str_of(rows[i].name), out, &e);
        assert_int_equal(r, rows[i].clean ? 0 : -EINVAL);
        if (rows[i].clean)
            assert_string_equal(out, rows[i].clean);
        else
            assert_non_null(strstr(err_text(&e), rows[i].name));
    }
}

static void names_end_at_their_limits(void **state)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    char out[TREE_PATH_MAX];
    struct err e = ERR_INIT;

    (void)state;
    for (int i = 0; i < TREE_NAME_MAX; i++)
        (void)buf_add_char(&b, 'x');
    assert_int_equal(names_clean(buf_str(&b), out, &e), 0);
    (void)buf_add_char(&b, 'x');
    assert_int_equal(names_clean(buf_str(&b), out, &e), -EINVAL);
    buf_clear(&b);
    for (int i = 0; i < TREE_DEPTH_MAX; i++)
        (void)buf_add_lit(&b, "d/");
    assert_int_equal(names_clean(buf_str(&b), out, &e), 0);
    (void)buf_add_lit(&b, "d");
    assert_int_equal(names_clean(buf_str(&b), out, &e), -EINVAL);
    buf_clear(&b);
    /* 4095 bytes and a NUL fit, one more does not. */
    for (int i = 0; i < 16; i++)
        (void)buf_printf(&b, "%0255d%s", i, i < 15 ? "/" : "");
    assert_int_equal(b.len, TREE_PATH_MAX - 1);
    assert_int_equal(names_clean(buf_str(&b), out, &e), 0);
    assert_int_equal(strlen(out), TREE_PATH_MAX - 1);
    (void)buf_add_lit(&b, "/x");
    assert_int_equal(names_clean(buf_str(&b), out, &e), -EINVAL);
}

static void targets_of_links_stay_inside(void **state)
{
    static const struct {
        const char *path, *target, *want; /* NULL: leads out */
    } rows[] = {
        {"a", "b", "b"},
        {"d/a", "../b", "../b"},
        {"d/a", "/data/x", "../x"},
        {"d/e/a", "/data", "../../."},
        {"a", "/data/", "."},
        {"a", "/data//x", "x"},
        {"a", "x/../y", "x/../y"},
        {"a", "..", NULL},
        {"d/a", "../..", NULL},
        {"d/a", "../../d/b", NULL},
        {"a", "/etc/passwd", NULL},
        {"a", "/database", NULL},
        {"a", "/data/../etc", NULL},
        {"a", "/", NULL},
    };
    char out[TREE_PATH_MAX], far[TREE_PATH_MAX + 8];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int r = names_target("/data", rows[i].path, str_of(rows[i].target), out);
        assert_int_equal(r, rows[i].want ? 0 : -EXDEV);
        if (rows[i].want)
            assert_string_equal(out, rows[i].want);
    }
    memset(far, 'x', sizeof far);
    assert_int_equal(names_target("/data", "a", str_n(far, TREE_PATH_MAX - 1), out), 0);
    assert_int_equal(names_target("/data", "a", str_n(far, TREE_PATH_MAX), out), -EXDEV);
}

/* ---- command lines ---- */

static void command_lines_become_words(void **state)
{
    static const struct {
        const char *line;
        size_t n;
        const char *last; /* of N words; NULL: refused */
    } rows[] = {
        {"", 0, ""},
        {" \t\n ", 0, ""},
        {"a", 1, "a"},
        {"a b\tc\nd", 4, "d"},
        {"'a b'", 1, "a b"},
        {"a'b'\"c\"d", 1, "abcd"},
        {"''", 1, ""},
        {"x \"\"", 2, ""},
        {"\"a\\\"b\\\\c\\d\"", 1, "a\"b\\c\\d"},
        {"'a\\'", 1, "a\\"},
        {"a\\ b", 1, "a b"},
        {"\\'", 1, "'"},
        {"$HOME `x` | ;", 4, ";"},
        {"'a", 0, NULL},
        {"\"a\\\"", 0, NULL},
        {"a\\", 0, NULL},
    };
    const char *why;
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char **words = words_split(*state, str_of(rows[i].line), &n, &why);
        if (!rows[i].last) {
            assert_null(words);
            assert_string_equal(why, strchr(rows[i].line, '\\') == rows[i].line + 1 &&
                                             strlen(rows[i].line) == 2
                                         ? "No escaped character"
                                         : "No closing quotation");
            continue;
        }
        assert_non_null(words);
        assert_int_equal(n, rows[i].n);
        assert_null(words[n]);
        if (n > 0)
            assert_string_equal(words[n - 1], rows[i].last);
    }
}

static void command_lines_have_a_last_word(void **state)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    const char *why;
    size_t n;

    for (int i = 0; i < WORDS_MAX; i++)
        (void)buf_add_lit(&b, "w ");
    assert_non_null(words_split(*state, buf_str(&b), &n, &why));
    assert_int_equal(n, WORDS_MAX);
    (void)buf_add_lit(&b, "w");
    assert_null(words_split(*state, buf_str(&b), &n, &why));
    assert_string_equal(why, "too many words");
}

static void python_shows_texts_so(void **state)
{
    static const struct {
        const char *text, *repr;
    } rows[] = {
        {"", "''"},           {"a", "'a'"},
        {"it's", "\"it's\""}, {"say \"it's\"", "'say \"it\\'s\"'"},
        {"a\\b", "'a\\\\b'"}, {"\n\r\t\1\x7f", "'\\n\\r\\t\\x01\\x7f'"},
        {"ä", "'ä'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_buf struct buf b = BUF_INIT(1000);
        python_str(&b, str_of(rows[i].text));
        check_text(buf_str(&b), rows[i].repr);
    }
}

/* ---- PDF ---- */

static void a_pdf_has_a_head_and_an_end(void **state)
{
    char head[PDF_EDGE_BYTES + 8], tail[PDF_EDGE_BYTES + 8];

    (void)state;
    assert_null(pdf_check(STR("%PDF-1.7\n"), STR("%%EOF\n")));
    assert_string_equal(pdf_check(STR(""), STR("")), "Cannot read an empty file");
    assert_string_equal(pdf_check(STR("PK"), STR("%%EOF")), "invalid pdf header");
    assert_string_equal(pdf_check(STR("%PDF-"), STR("%%EO")), "EOF marker not found");
    /* The marks may be anywhere in the first and last bytes, but whole. */
    memset(head, ' ', sizeof head);
    memset(tail, ' ', sizeof tail);
    memcpy(head + PDF_EDGE_BYTES - 5, "%PDF-", 5);
    memcpy(tail + 8, "%%EOF", 5);
    assert_null(pdf_check(str_n(head, sizeof head), str_n(tail, sizeof tail)));
    memmove(head + 1, head, sizeof head - 1);
    assert_non_null(pdf_check(str_n(head, sizeof head), str_n(tail, sizeof tail)));
    memcpy(head, "%PDF-", 5);
    memcpy(tail + 7, "%%EOF ", 6);
    assert_non_null(pdf_check(str_n(head, sizeof head), str_n(tail, sizeof tail)));
}

static void pdfinfo_is_read(void **state)
{
    static const char text[] = "Title:          A: B\nAuthor: \nPages: 1\nTitle: second\n"
                               "Pages:          3\nEncrypted:      yes (print:yes)\n"
                               "Page    1 MediaBox:      0.00     0.00   612.00   792.00\n"
                               "Page    3 MediaBox:      0.00     0.00   1.00   2.00\n"
                               "Page    2 MediaBox:      10     -20   110   30.5\n"
                               "Page    3 MediaBox:      0 0 x 1\nPage    3 CropBox: 0 0 1 1\n";
    struct pdf_info info;

    assert_int_equal(pdf_info_parse(*state, str_of(text), &info), 0);
    check_text(info.title, "A: B");
    check_text(info.author, "");
    assert_null(info.subject.p);
    assert_int_equal(info.n_pages, 3);
    assert_true(info.is_encrypted);
    assert_int_equal(info.n_sizes, 2); /* only in order, only whole */
    assert_true(info.sizes[1].width == 100.0 && info.sizes[1].height == 50.5);
    assert_int_equal(pdf_info_parse(*state, STR("Title: x\n"), &info), -EINVAL);
    assert_int_equal(pdf_info_parse(*state, STR("Pages: 4294967296\n"), &info), -EINVAL);
    assert_int_equal(pdf_info_parse(*state, STR("Pages: -1\n"), &info), -EINVAL);
    assert_int_equal(pdf_info_parse(*state, STR(""), &info), -EINVAL);
}

static void pages_are_cut_and_counted(void **state)
{
    struct str rest = STR("one\r\n\n\f\ftwo\f"), page;
    static const struct {
        int64_t first, last, n, want_first, want_last;
    } rows[] = {
        {1, 3, 5, 1, 3},   {4, 2, 5, 2, 4}, {0, 99, 5, 1, 5},
        {-7, -2, 5, 1, 1}, {8, 9, 5, 5, 5}, {INT64_MIN, INT64_MAX, 1, 1, 1},
    };

    (void)state;
    assert_true(pdf_next_page(&rest, &page));
    check_text(page, "one");
    assert_true(pdf_next_page(&rest, &page));
    check_text(page, "");
    assert_true(pdf_next_page(&rest, &page));
    check_text(page, "two");
    assert_false(pdf_next_page(&rest, &page));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t first = rows[i].first, last = rows[i].last;
        pdf_clamp(&first, &last, rows[i].n);
        assert_int_equal(first, rows[i].want_first);
        assert_int_equal(last, rows[i].want_last);
    }
}

static void page_numbers_become_ranges(void **state)
{
    static const int64_t pages[] = {3, 1, 5, 6, 7, 7, 8, 2};
    auto_buf struct buf b = BUF_INIT(100), small = BUF_INIT(3);

    (void)state;
    assert_int_equal(pdf_ranges(&b, pages, ARRAY_LEN(pages)), 0);
    check_text(buf_str(&b), "3,1,5-7,7-8,2");
    buf_clear(&b);
    assert_int_equal(pdf_ranges(&b, pages, 0), 0);
    assert_int_equal(b.len, 0);
    assert_int_equal(pdf_ranges(&small, pages, ARRAY_LEN(pages)), -ENOBUFS);
}

/* ---- arXiv ---- */

static void ids_of_papers(void **state)
{
    static const char *const good[] = {"1706.03762", "1706.03762v7", "hep-th/9711200",
                                       "math.GT/0309136v1"};
    static const char *const bad[] = {
        "",      "abc",      "123",     "../1234", "/1234",
        "1 234", "a/b/1234", "1234?x=", "1234\n",  "12345678901234567890123456789012345678901"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(arxiv_is_id(str_of(good[i])));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(arxiv_is_id(str_of(bad[i])));
    check_text(arxiv_base_id(STR("1706.03762v12")), "1706.03762");
    check_text(arxiv_base_id(STR("1706.03762")), "1706.03762");
    check_text(arxiv_base_id(STR("v1")), "v1");
    check_text(arxiv_base_id(STR("1v")), "1v");
    check_text(arxiv_base_id(STR("")), "");
}

static void days_of_papers(void **state)
{
    static const struct {
        const char *text;
        int64_t first, last;
    } rows[] = {
        {"2017-06-12", 20170612, 20170612},
        {"20170612", 20170612, 20170612},
        {"2017/06", 20170601, 20170631},
        {"2017", 20170101, 20171231},
        {" 2017-06-12T17:57:34Z", 20170612, 20170612},
        {"201706121757", 20170612, 20170612},
        {"2017-13", 0, 0},
        {"2017-00-01", 0, 0},
        {"2017-06-32", 0, 0},
        {"0999", 0, 0},
        {"201", 0, 0},
        {"2017-6", 0, 0},
        {"2017-06-12x", 0, 0},
        {"", 0, 0},
        {"abcd", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(arxiv_day(str_of(rows[i].text), false), rows[i].first);
        assert_int_equal(arxiv_day(str_of(rows[i].text), true), rows[i].last);
    }
}

static void queries_find_papers(void **state)
{
    struct str authors[] = {STR("Ashish Vaswani"), STR("Noam Shazeer")}, cats[] = {STR("cs.CL")};
    const struct arxiv_paper paper = {
        .id = STR("1706.03762v7"),
        .title = STR("Attention Is All You Need"),
        .summary = STR("We propose the Transformer, based on attention mechanisms."),
        .published = STR("2017-06-12T17:57:34Z"),
        .authors = authors,
        .categories = cats,
        .n_authors = 2,
        .n_categories = 1,
    };
    static const struct {
        const char *query;
        bool is_found;
    } rows[] = {
        {"attention", true},
        {"ATTENTION", true},
        {"ti:attention", true},
        {"ti:transformer", false},
        {"abs:transformer", true},
        {"transformers", true}, /* an s does not count */
        {"trans*", true},
        {"\"all you need\"", true},
        {"\"you all need\"", false},
        {"au:vaswani AND cat:cs.CL", true},
        {"au:vaswani AND cat:cs.CV", false},
        {"au:nobody OR ti:attention", true},
        {"ti:attention ANDNOT au:vaswani", false},
        {"ti:attention NOT au:nobody", true},
        {"(au:nobody OR au:shazeer) AND ti:attention", true},
        {"au:nobody OR au:shazeer AND ti:nothing", false}, /* OR binds less */
        {"submittedDate:[20170101 TO 20171231]", true},
        {"submittedDate:[20180101 TO 20181231]", false},
        {"id:1706.03762", true},
        {"jr:attention", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = ERR_INIT;
        struct arxiv_query *q = arxiv_query_parse(*state, str_of(rows[i].query), &e);
        assert_non_null(q);
        if ((arxiv_query_score(q, &paper, false) > 0) != rows[i].is_found)
            fail_msg("%s: %s", rows[i].query, rows[i].is_found ? "not found" : "found");
    }
}

static void queries_are_refused(void **state)
{
    static const struct {
        const char *query;
        int code;
    } rows[] = {
        {"", -EINVAL},     {"   ", -EINVAL},    {"ti:", -EINVAL}, {"a AND", -EINVAL},
        {"(a", -EINVAL},   {"a)", -EINVAL},     {"()", -EINVAL},  {"a ]", -EINVAL},
        {"(a))", -EINVAL}, {"a OR )", -EINVAL},
    };
    auto_buf struct buf b = BUF_INIT(1 << 20);
    struct err e = ERR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        e = (struct err)ERR_INIT;
        assert_null(arxiv_query_parse(*state, str_of(rows[i].query), &e));
        assert_int_equal(e.code, rows[i].code);
    }
    /* As deep as may be, and one more. */
    for (int n = 32; n <= 33; n++) {
        buf_clear(&b);
        for (int i = 0; i < n; i++)
            (void)buf_add_char(&b, '(');
        (void)buf_add_char(&b, 'a');
        for (int i = 0; i < n; i++)
            (void)buf_add_char(&b, ')');
        e = (struct err)ERR_INIT;
        assert_int_equal(arxiv_query_parse(*state, buf_str(&b), &e) == NULL, n == 33);
        assert_int_equal(e.code, n == 33 ? -E2BIG : 0);
    }
    buf_clear(&b);
    while (b.len < ARXIV_QUERY_MAX)
        (void)buf_add_char(&b, 'a');
    assert_non_null(arxiv_query_parse(*state, buf_str(&b), &e));
    (void)buf_add_char(&b, 'a');
    assert_null(arxiv_query_parse(*state, buf_str(&b), &e));
    buf_clear(&b);
    for (int i = 0; i < 300; i++)
        (void)buf_add_lit(&b, "a OR ");
    (void)buf_add_lit(&b, "a");
    e = (struct err)ERR_INIT;
    assert_null(arxiv_query_parse(*state, buf_str(&b), &e));
    assert_int_equal(e.code, -E2BIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_with_arena(names_are_cleaned_or_refused),
        unit_test_with_arena(names_end_at_their_limits),
        unit_test_with_arena(targets_of_links_stay_inside),
        unit_test_with_arena(command_lines_become_words),
        unit_test_with_arena(command_lines_have_a_last_word),
        unit_test_with_arena(python_shows_texts_so),
        unit_test_with_arena(a_pdf_has_a_head_and_an_end),
        unit_test_with_arena(pdfinfo_is_read),
        unit_test_with_arena(pages_are_cut_and_counted),
        unit_test_with_arena(page_numbers_become_ranges),
        unit_test_with_arena(ids_of_papers),
        unit_test_with_arena(days_of_papers),
        unit_test_with_arena(queries_find_papers),
        unit_test_with_arena(queries_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
