/* SPDX-License-Identifier: MIT */
/* multipart/form-data: whole bodies as tables, each split at every byte and at random; limits;
 * failing callbacks and allocations. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "base/id.h"
#include "net/multipart.h"

#define TYPE "multipart/form-data; boundary=XX"
#define CD   "Content-Disposition: form-data; name=\"a\"\r\n"

/* Writes what it is told as text: "[name|filename|type]" data "." for each part and "!" at the
 * end. */
struct log {
    struct buf text;
    int fail_at, n_calls; /* call number FAIL_AT (from 1) returns -ECANCELED */
};

static int step(struct log *l)
{
    return ++l->n_calls == l->fail_at ? -ECANCELED : 0;
}

static int log_part(void *ctx, const struct multipart_part *part)
{
    struct log *l = ctx;

    (void)buf_printf(&l->text, "[" STR_FMT, STR_ARG(part->name));
    if (part->filename.p)
        (void)buf_printf(&l->text, "|" STR_FMT, STR_ARG(part->filename));
    if (part->content_type.p)
        (void)buf_printf(&l->text, "|" STR_FMT, STR_ARG(part->content_type));
    (void)buf_add_char(&l->text, ']');
    return step(l);
}

static int log_data(void *ctx, const char *p, size_t len)
{
    struct log *l = ctx;

    assert_true(len > 0);
    (void)buf_add(&l->text, p, len);
    return step(l);
}

static int log_part_end(void *ctx)
{
    (void)buf_add_char(&((struct log *)ctx)->text, '.');
    return step(ctx);
}

static int log_end(void *ctx)
{
    (void)buf_add_char(&((struct log *)ctx)->text, '!');
    return step(ctx);
}

static const struct multipart_ops log_ops = {log_part, log_data, log_part_end, log_end};
static const struct multipart_limits defaults = MULTIPART_LIMITS_DEFAULT;

/* Feeds a copy of exactly that size, so that a read past it is seen. */
static int feed(struct multipart *m, struct str piece)
{
    auto_free char *copy = malloc(piece.len ? piece.len : 1);

    memcpy(copy, piece.p, piece.len);
    return multipart_feed(m, copy, piece.len);
}

/* Parses BODY as [0, at) and then STEP bytes at a time; appends "?reason" on failure. */
static int parse(struct log *l, const char *type, struct str body, size_t at, size_t step_len)
{
    const char *reason;
    struct multipart *m = multipart_new(str_of(type), &defaults, &log_ops, l, &reason);

    buf_clear(&l->text);
    l->n_calls = 0;
    if (!m)
        return -ENOMEM;
    int r = feed(m, str_slice(body, 0, at));
    for (size_t i = at; i < body.len && r == 0; i += step_len)
        r = feed(m, str_slice(body, i, i + step_len));
    if (r == 0)
        r = multipart_finish(m);
    if (r < 0)
        (void)buf_printf(&l->text, "?%s", multipart_reason(m));
    assert_int_equal(multipart_feed(m, "x", 1), r);
    multipart_free(m);
    return r;
}

struct body {
    const char *name;
    struct str body;
    const char *want;
};

#define BODY(s) STR_INIT(s)

static const struct body bodies[] = {
    {"one field", BODY("--XX\r\n" CD "\r\nhello\r\n--XX--\r\n"), "[a]hello.!"},
    {"no CRLF at the end", BODY("--XX\r\n" CD "\r\nhello\r\n--XX--"), "[a]hello.!"},
    {"no part", BODY("--XX--\r\n"), "!"},
    {"empty value", BODY("--XX\r\n" CD "\r\n\r\n--XX--"), "[a].!"},
    {"value without its own CRLF", BODY("--XX\r\n" CD "\r\n--XX--"), "[a].!"},
    {"two fields",
     BODY("--XX\r\n" CD
          "\r\n1\r\n--XX\r\nContent-Disposition: form-data; name=b\r\n\r\n2\r\n--XX--"),
     "[a]1.[b]2.!"},
    {"file",
     BODY("--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.bin\"\r\n"
          "Content-Type: application/octet-stream\r\n\r\n\1\2\3\r\n--XX--"),
     "[f|x.bin|application/octet-stream]\1\2\3.!"},
    {"preamble and epilogue",
     BODY("some\r\n--X\r\ntext\r\n--XX\r\n" CD "\r\nv\r\n--XX--\r\nmore --XX\r\n--XX\r\n"),
     "[a]v.!"},
    {"CRLF before the first boundary", BODY("\r\n--XX\r\n" CD "\r\nv\r\n--XX--"), "[a]v.!"},
    {"blanks behind the boundary",
     BODY("--XX \t \r\n" CD "\r\nv\r\n--XX\t\r\n" CD "\r\nw\r\n--XX--  \r\n"), "[a]v.[a]w.!"},
    {"almost boundaries inside",
     BODY("--XX\r\n" CD "\r\n\r\n--X\r\n-\r\r\n--X-\r\n--\r\n\r\n--XX--"),
     "[a]\r\n--X\r\n-\r\r\n--X-\r\n--\r\n.!"},
    {"boundary not at a line's start", BODY("--XX\r\n" CD "\r\nx--XX\n--XX\r\n--XX--"),
     "[a]x--XX\n--XX.!"},
    {"content that begins like a boundary", BODY("--XX\r\n" CD "\r\n--X\r\n--XX--"), "[a]--X.!"},
    {"CRs", BODY("--XX\r\n" CD "\r\n\r\r\r\n\n\r\r\n--XX--"), "[a]\r\r\r\n\n\r.!"},
    {"names in any case",
     BODY("--XX\r\ncontent-DISPOSITION: Form-Data; NAME=a\r\ncontent-type:text/plain\r\n"
          "X-Other: y\r\n\r\nv\r\n--XX--"),
     "[a|text/plain]v.!"},
    {"quoted escapes",
     BODY("--XX\r\nContent-Disposition: form-data; name=\"a\\\"b\\\\c\"; filename=\"C:\\x;y=z.txt\""
          "\r\n\r\nv\r\n--XX--"),
     "[a\"b\\c|C:\\x;y=z.txt]v.!"},
    {"empty file name",
     BODY("--XX\r\nContent-Disposition: form-data; name=\"\"; filename=\"\"\r\n\r\n\r\n--XX--"),
     "[|].!"},
    {"UTF-8 name",
     BODY("--XX\r\nContent-Disposition: form-data; name=\"\xc3\xa9\"; filename=\"\xe2\x82\xac\"\r\n"
          "\r\nv\r\n--XX--"),
     "[\xc3\xa9|\xe2\x82\xac]v.!"},
    {"extended file name wins",
     BODY("--XX\r\nContent-Disposition: form-data; name=f; filename*=UTF-8'en'%e2%82%ac%20x; "
          "filename=\"euro x\"\r\n\r\nv\r\n--XX--"),
     "[f|\xe2\x82\xac x]v.!"},
    {"extended Latin-1 file name",
     BODY("--XX\r\nContent-Disposition: form-data; name=f; filename*=iso-8859-1''%e9t%E9\r\n\r\nv"
          "\r\n--XX--"),
     "[f|\xc3\xa9t\xc3\xa9]v.!"},
    {"binary transfer encoding",
     BODY("--XX\r\n" CD "Content-Transfer-Encoding: binary\r\n\r\nv\r\n--XX--"), "[a]v.!"},
    /* malformed */
    {"empty body", BODY(""), "?body ends before the closing boundary"},
    {"only preamble", BODY("hello"), "?body ends before the closing boundary"},
    {"not closed", BODY("--XX\r\n" CD "\r\nv"), "[a]v?body ends before the closing boundary"},
    {"half closed", BODY("--XX\r\n" CD "\r\nv\r\n--XX-"),
     "[a]v.?body ends before the closing boundary"},
    {"boundary with more", BODY("--XX\r\n" CD "\r\nv\r\n--XXY\r\n"),
     "[a]v.?bytes behind a boundary"},
    {"boundary and bare LF", BODY("--XX\n" CD "\r\nv\r\n--XX--"), "?bytes behind a boundary"},
    {"dash and something", BODY("--XX-x"), "?bytes behind a boundary"},
    {"CR without LF behind a boundary", BODY("--XX\rx"), "?bytes behind a boundary"},
    {"blank, then dashes", BODY("--XX --"), "?bytes behind a boundary"},
    {"no headers", BODY("--XX\r\n\r\nv\r\n--XX--"), "?part without Content-Disposition"},
    {"no disposition", BODY("--XX\r\nContent-Type: a/b\r\n\r\nv\r\n--XX--"),
     "?part without Content-Disposition"},
    {"bare LF in headers", BODY("--XX\r\nContent-Type: a/b\n" CD "\r\nv"),
     "?header line without CRLF"},
    {"header without colon", BODY("--XX\r\nhello\r\n\r\n"), "?bad header in a part"},
    {"header without name", BODY("--XX\r\n: x\r\n\r\n"), "?bad header in a part"},
    {"space before the colon", BODY("--XX\r\nContent-Type : x\r\n\r\n"), "?bad header in a part"},
    {"folded header", BODY("--XX\r\n" CD " x\r\n\r\n"), "?bad header in a part"},
    {"control byte in a header", BODY("--XX\r\nX: a\1b\r\n\r\n"), "?bad header in a part"},
    {"NUL in a header", BODY("--XX\r\nX: a\0b\r\n\r\n"), "?bad header in a part"},
    {"two dispositions", BODY("--XX\r\n" CD CD "\r\n"), "?bad Content-Disposition"},
    {"two types", BODY("--XX\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n" CD "\r\n"),
     "?two Content-Type headers in a part"},
    {"base64", BODY("--XX\r\n" CD "Content-Transfer-Encoding: base64\r\n\r\n"),
     "?Content-Transfer-Encoding is not supported"},
};

#define DISPOSITION(s)                                                                             \
    {                                                                                              \
        s, BODY("--XX\r\nContent-Disposition: " s "\r\n\r\n"), ""                                  \
    }
/* Each is a bad Content-Disposition. */
static const struct body bad_dispositions[] = {
    DISPOSITION("attachment; name=a"),
    DISPOSITION("form-data"),
    DISPOSITION("form-data;"),
    DISPOSITION("form-data; filename=x"),
    DISPOSITION("form-data; name"),
    DISPOSITION("form-data; =a"),
    DISPOSITION("form-data; name=\"a"),
    DISPOSITION("form-data; name=\"a\\\""),
    DISPOSITION("form-data; name=\"a\"b"),
    DISPOSITION("form-data; name=a\"b\""),
    DISPOSITION("form-data; name=a b"),
    DISPOSITION("form-data; name=a; name=b"),
    DISPOSITION("form-data; name=a; filename=b; filename=c"),
    DISPOSITION("form-data; name=\"\xff\""),
    DISPOSITION("form-data; name=a; filename=\"\xc3\""),
    DISPOSITION("form-data; name=a; filename*=x"),
    DISPOSITION("form-data; name=a; filename*=UTF-8'x"),
    DISPOSITION("form-data; name=a; filename*=UTF-8''%e2%82"),
    DISPOSITION("form-data; name=a; filename*=UTF-8''%00"),
    DISPOSITION("form-data; name=a; filename*=UTF-8''%0d%0a"),
    DISPOSITION("form-data; name=a; filename*=UTF-8''%zz"),
    DISPOSITION("form-data; name=a; filename*=UTF-8''%4"),
    DISPOSITION("form-data; name=a; filename*=UTF-16''a"),
};

static void check_body(struct log *l, const struct body *row, size_t at, size_t step_len)
{
    int r = parse(l, TYPE, row->body, at, step_len);

    if (!str_is(buf_str(&l->text), row->want) || (r < 0) != !!strchr(row->want, '?'))
        fail_msg("%s, split at %zu by %zu: got %d %s", row->name, at, step_len, r,
                 buf_cstr(&l->text));
}

static void bodies_in_every_split(void **state)
{
    struct log l = {.text = BUF_INIT(1 << 16)};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        for (size_t at = 0; at <= bodies[i].body.len; at++)
            check_body(&l, &bodies[i], at, SIZE_MAX / 2);
        for (size_t step_len = 1; step_len < 20; step_len++)
            check_body(&l, &bodies[i], 0, step_len);
    }
    buf_done(&l.text);
}

static void bad_dispositions_are_refused(void **state)
{
    struct log l = {.text = BUF_INIT(1 << 16)};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_dispositions); i++) {
        assert_int_equal(parse(&l, TYPE, bad_dispositions[i].body, 0, SIZE_MAX / 2), -EINVAL);
        if (!str_is(buf_str(&l.text), "?bad Content-Disposition"))
            fail_msg("%s: %s", bad_dispositions[i].name, buf_cstr(&l.text));
    }
    buf_done(&l.text);
}

static void boundaries(void **state)
{
    static const struct {
        const char *type, *boundary; /* NULL: refused */
    } rows[] = {
        {"multipart/form-data; boundary=abc", "abc"},
        {"Multipart/Form-Data;BOUNDARY=abc", "abc"},
        {"multipart/form-data; charset=utf-8; boundary=\"a b(c)'+_,-./:=?\"", "a b(c)'+_,-./:=?"},
        {"multipart/form-data; boundary=----WebKitFormBoundaryAbC123; x=y",
         "----WebKitFormBoundaryAbC123"},
        {"multipart/form-data; boundary=a=b/c", "a=b/c"},
        {"multipart/form-data; "
         "boundary=0123456789012345678901234567890123456789012345678901234567890123456789",
         "0123456789012345678901234567890123456789012345678901234567890123456789"},
        {"multipart/form-data; "
         "boundary=01234567890123456789012345678901234567890123456789012345678901234567890",
         NULL},
        {"multipart/form-data", NULL},
        {"multipart/form-data; boundary=", NULL},
        {"multipart/form-data; boundary=\"\"", NULL},
        {"multipart/form-data; boundary=\"a \"", NULL},
        {"multipart/form-data; boundary=\"a\tb\"", NULL},
        {"multipart/form-data; boundary=a; boundary=b", NULL},
        {"multipart/form-data; boundary=\"a", NULL},
        {"multipart/form-data; boundary=a*b", NULL},
        {"multipart/form-data; boundary=\xc3\xa9", NULL},
        {"multipart/mixed; boundary=a", NULL},
        {"application/json", NULL},
        {"", NULL},
    };
    char out[MULTIPART_BOUNDARY_MAX + 1];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int r = multipart_boundary(str_of(rows[i].type), out);
        if (!rows[i].boundary) {
            assert_int_equal(r, -EINVAL);
            continue;
        }
        assert_int_equal(r, strlen(rows[i].boundary));
        assert_string_equal(out, rows[i].boundary);
    }
}

static int run_limited(const struct multipart_limits *limits, struct str body, const char *reason)
{
    struct log l = {.text = BUF_INIT(1 << 16)};
    const char *why;
    struct multipart *m = multipart_new(STR(TYPE), limits, &log_ops, &l, &why);

    assert_non_null(m);
    int r = multipart_feed(m, body.p, body.len);
    if (r == 0)
        r = multipart_finish(m);
    assert_string_equal(multipart_reason(m), r < 0 ? reason : "");
    multipart_free(m);
    buf_done(&l.text);
    return r;
}

static void limits_hold_at_the_limit_and_fail_one_past_it(void **state)
{
    static const char head[] = CD "\r\n";
    static const char body[] = "--XX\r\n" CD "\r\nv\r\n--XX\r\n" CD "\r\nw\r\n--XX--";
    struct multipart_limits at = {2, sizeof head - 1, sizeof body - 1}, past;

    (void)state;
    assert_int_equal(run_limited(&at, str_of(body), ""), 0);
    past = at;
    past.max_parts--;
    assert_int_equal(run_limited(&past, str_of(body), "too many parts"), -EMSGSIZE);
    past = at;
    past.max_head--;
    assert_int_equal(run_limited(&past, str_of(body), "headers of a part too large"), -EMSGSIZE);
    past = at;
    past.max_total--;
    assert_int_equal(run_limited(&past, str_of(body), "body too large"), -EMSGSIZE);
}

static void a_failing_callback_ends_the_parse(void **state)
{
    const struct body *two = &bodies[5];
    struct log l = {.text = BUF_INIT(1 << 16)};

    (void)state;
    /* part, data, end, part, data, end, end of body */
    for (l.fail_at = 1; l.fail_at <= 7; l.fail_at++) {
        assert_int_equal(parse(&l, TYPE, two->body, 0, SIZE_MAX / 2), -ECANCELED);
        assert_int_equal(l.n_calls, l.fail_at);
    }
    assert_int_equal(parse(&l, TYPE, two->body, 0, SIZE_MAX / 2), 0);
    buf_done(&l.text);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Content made of pieces of the delimiter, cut at random: the worst for the search. */
static void random_contents_in_random_splits(void **state)
{
    static const char *const pieces[] = {"\r",     "\n",      "\r\n", "-",  "--",    "X",
                                         "\r\n--", "\r\n--X", "a",    "XX", "\r\n-", "\r\r\n--XY"};
    struct log l = {.text = BUF_INIT(1 << 16)};
    uint32_t seed = 7;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct buf body auto_buf = BUF_INIT(1 << 16), want auto_buf = BUF_INIT(1 << 16);
        struct buf content auto_buf = BUF_INIT(1 << 16);
        for (uint32_t n = 1 + next_random(&seed) % 40; n > 0; n--)
            (void)buf_add_str(&content, str_of(pieces[next_random(&seed) % ARRAY_LEN(pieces)]));
        /* A delimiter inside would be one. */
        struct str text = buf_str(&content);
        if (str_find(text, STR("\r\n--XX")) >= 0 || str_starts(text, STR("--XX")))
            continue;
        (void)buf_printf(&body, "--XX\r\n" CD "\r\n" STR_FMT "\r\n--XX--", STR_ARG(text));
        (void)buf_printf(&want, "[a]" STR_FMT ".!", STR_ARG(text));
        assert_int_equal(parse(&l, TYPE, buf_str(&body), next_random(&seed) % body.len,
                               1 + next_random(&seed) % 30),
                         0);
        assert_true(str_eq(buf_str(&l.text), buf_str(&want)));
    }
    buf_done(&l.text);
}

#ifdef TIDEPOOL_FAULT
static void every_allocation_may_fail(void **state)
{
    bool fired = true;

    (void)state;
    for (unsigned nth = 1; fired; nth++) {
        char room[4096];
        struct log l = {.text = {.p = room, .cap = sizeof room, .max = sizeof room}};
        /* Row 18 has an extended file name, which takes the most allocations. */
        fault_arm(FAULT_ALLOC, nth);
        int r = parse(&l, "multipart/form-data; boundary=\"XX\"", bodies[18].body, 0, 1);
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(r, fired ? -ENOMEM : 0);
        assert_true(nth < 100);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_in_every_split),
        cmocka_unit_test(bad_dispositions_are_refused),
        cmocka_unit_test(boundaries),
        cmocka_unit_test(limits_hold_at_the_limit_and_fail_one_past_it),
        cmocka_unit_test(a_failing_callback_ends_the_parse),
        cmocka_unit_test(random_contents_in_random_splits),
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };
    return cmocka_run_group_tests_name("multipart", tests, NULL, NULL);
}
