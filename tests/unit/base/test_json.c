/* SPDX-License-Identifier: MIT */
/* JSON: the vectors of tests/vectors/json.txt, limits, access, construction and writing. */
#include "../check.h"

#include <errno.h>
#include <math.h>

#include "base/enc.h"
#include "base/fault.h"
#include "base/json.h"
#include "vectors.h"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 256UL << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct json *parse(const char *text)
{
    struct err e = ERR_INIT;
    struct json *v = json_parse(&arena, str_of(text), NULL, &e);

    if (!v)
        print_message("%s: %s\n", text, err_text(&e));
    return v;
}

static const char *written(struct buf *b, const struct json *v, enum json_style style)
{
    buf_clear(b);
    assert_int_equal(json_write(b, v, style), 0);
    return buf_cstr(b);
}

/* ---- vectors ---- */

static bool is_same_real(const struct json *a, const struct json *b)
{
    return a->type != JSON_REAL || memcmp(&a->d, &b->d, sizeof a->d) == 0;
}

/* Every style must give a text that reads back as the same value. */
static bool is_fixed_point(const struct json *v, struct str compact)
{
    static const enum json_style styles[] = {JSON_COMPACT, JSON_PRETTY, JSON_CANONICAL};

    for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
        struct buf once auto_buf = BUF_INIT(VECTORS_MAX), twice auto_buf = BUF_INIT(VECTORS_MAX);
        if (json_write(&once, v, styles[i]) < 0)
            return false;
        const struct json *again = json_parse(&arena, buf_str(&once), NULL, NULL);
        if (!again || !json_equal(v, again) || json_write(&twice, again, styles[i]) < 0)
            return false;
        if (!str_eq(buf_str(&once), buf_str(&twice)))
            return false;
        if (styles[i] == JSON_COMPACT &&
            (!str_eq(buf_str(&once), compact) || !is_same_real(v, again)))
            return false;
    }
    return true;
}

/* True when the row "VERDICT TEXT EXPECTED" holds. */
static bool row_holds(struct str verdict, struct str text, struct str expected)
{
    struct err e = ERR_INIT;
    const struct json *v = json_parse(&arena, text, NULL, &e);
    unsigned line, column;
    int at = 0;
    char where[512];

    if (str_is(verdict, "accept"))
        return v && is_fixed_point(v, expected);
    if (v || e.code != -EINVAL)
        return false;
    if (sscanf(e.text, "line %u column %u: %n", &line, &column, &at) != 2 || at == 0)
        return false;
    (void)snprintf(where, sizeof where, "%u:%u: %s", line, column, e.text + at);
    return str_is(expected, where);
}

static void vectors_hold(void **state)
{
    struct buf file auto_buf = BUF_INIT(0);
    int rows = 0, failed = 0;

    (void)state;
    vectors_read(&file, "json.txt");
    struct str rest = buf_str(&file);
    while (rest.p) {
        struct buf text auto_buf = BUF_INIT(VECTORS_MAX), expected auto_buf = BUF_INIT(VECTORS_MAX);
        struct str line = str_cut(&rest, '\n'), row = line;
        if (line.len == 0 || line.p[0] == '#')
            continue;
        struct str verdict = str_cut(&row, '\t');
        assert_int_equal(enc_unpercent(&text, str_cut(&row, '\t'), false), 0);
        assert_int_equal(enc_unpercent(&expected, row, false), 0);
        rows++;
        /* An exact copy on the heap, so that reading past the end is noticed. */
        auto_free char *exact = malloc(text.len ? text.len : 1);
        if (text.len)
            memcpy(exact, text.p, text.len);
        if (!row_holds(verdict, str_n(exact, text.len), buf_str(&expected))) {
            print_message("# does not hold: " STR_FMT "\n", STR_ARG(line));
            failed++;
        }
    }
    assert_true(rows >= 150);
    assert_int_equal(failed, 0);
}

/* ---- limits ---- */

static int nested(uint32_t depth, uint32_t max_depth)
{
    struct buf b auto_buf = BUF_INIT(1 << 20);
    struct json_limits limits = JSON_LIMITS_DEFAULT;
    struct err e = ERR_INIT;

    limits.max_depth = max_depth;
    for (uint32_t i = 0; i < depth; i++)
        (void)buf_add_char(&b, '[');
    for (uint32_t i = 0; i < depth; i++)
        (void)buf_add_char(&b, ']');
    const struct json *v = json_parse(&arena, buf_str(&b), &limits, &e);
    if (!v)
        return e.code;
    buf_clear(&b);
    return json_write(&b, v, JSON_COMPACT) == 0 && json_equal(v, json_copy(&arena, v)) ? 0 : -EIO;
}

static void depth_is_limited(void **state)
{
    (void)state;
    assert_int_equal(nested(128, 128), 0);
    assert_int_equal(nested(129, 128), -E2BIG);
    assert_int_equal(nested(1, 0), -E2BIG);
    assert_int_equal(nested(JSON_DEPTH_MAX, UINT32_MAX), 0);
    assert_int_equal(nested(JSON_DEPTH_MAX + 1, UINT32_MAX), -E2BIG);
}

static void size_is_limited(void **state)
{
    struct json_limits limits = {.max_depth = 8, .max_bytes = 4};
    struct arena small;
    struct err e = ERR_INIT;

    (void)state;
    assert_non_null(json_parse(&arena, STR("1234"), &limits, &e));
    assert_null(json_parse(&arena, STR("12345"), &limits, &e));
    assert_int_equal(e.code, -E2BIG);
    limits = (struct json_limits){.max_depth = 8, .max_bytes = 100, .max_values = 5};
    assert_non_null(json_parse(&arena, STR("{\"a\":[1,2],\"b\":[3]}"), &limits, &e));
    assert_null(json_parse(&arena, STR("{\"a\":[1,2],\"b\":[3,4]}"), &limits, &e));
    assert_int_equal(e.code, -E2BIG);
    arena_init(&small, 200);
    assert_null(json_parse(&small, STR("[1,2,3,4,5,6,7,8,9,10]"), NULL, &e));
    assert_int_equal(e.code, -ENOMEM);
    arena_done(&small);
}

/* Many members, every name twice: seconds if looking for duplicates were quadratic. */
static void many_members_parse_in_order(void **state)
{
    enum { N = 200000 };
    struct buf b auto_buf = BUF_INIT(1 << 24);

    (void)state;
    for (int i = 0; i < 2 * N; i++)
        (void)buf_printf(&b, "%s\"name %d\":%d", i ? "," : "{", (int)(i * 7919L % N), i);
    (void)buf_add_char(&b, '}');
    const struct json *v = json_parse(&arena, buf_str(&b), NULL, NULL);
    assert_non_null(v);
    assert_int_equal(v->n, N);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(v->members[i].value.i, N + i);
    struct json *other = json_copy(&arena, v);
    assert_true(json_equal(v, other));
    struct json_member first = other->members[0];
    memmove(other->members, other->members + 1, (N - 1) * sizeof first);
    other->members[N - 1] = first;
    assert_true(json_equal(v, other));
    other->members[5].value.i++;
    assert_false(json_equal(v, other));
}

/* ---- access ---- */

static void strings_end_in_nul_and_may_hold_it(void **state)
{
    const struct json *v = parse("{\"k\":\"a\\u0000b\"}");

    (void)state;
    assert_str(json_str(json_get(v, "k"), STR("")), "a\0b");
    assert_int_equal(v->members[0].value.s.p[3], '\0');
    assert_string_equal(v->members[0].key.p, "k");
}

static void numbers_convert_when_nothing_is_lost(void **state)
{
    const struct json *v = parse("[3, 3.0, 3.5, -0, 9223372036854775808, -9223372036854775808.0]");

    (void)state;
    assert_int_equal(json_int(json_at(v, 0), -1), 3);
    assert_int_equal(json_int(json_at(v, 1), -1), 3);
    assert_int_equal(json_int(json_at(v, 2), -1), -1);
    assert_int_equal(json_int(json_at(v, 3), -1), 0);
    assert_int_equal(json_int(json_at(v, 4), -1), -1);
    assert_true(json_int(json_at(v, 5), -1) == INT64_MIN);
    assert_true(json_real(json_at(v, 0), 0) == 3.0);
    assert_true(signbit(json_real(json_at(v, 3), 1)));
    assert_true(json_is_number(json_at(v, 0)) && json_is_number(json_at(v, 2)));
}

static void absent_values_give_the_fallback(void **state)
{
    const struct json *v = parse("{\"a\":[1,true]}");

    (void)state;
    assert_null(json_get(json_get(json_get(v, "x"), "y"), "z"));
    assert_null(json_at(json_get(v, "a"), 2));
    assert_null(json_at(v, 0));
    assert_null(json_get(json_get(v, "a"), "0"));
    assert_int_equal(json_int(json_get(v, "x"), 7), 7);
    assert_int_equal(json_int(json_at(json_get(v, "a"), 1), 7), 7);
    assert_true(json_bool(json_at(json_get(v, "a"), 1), false));
    assert_true(json_bool(json_at(json_get(v, "a"), 0), true));
    assert_str(json_str(NULL, STR("none")), "none");
    assert_false(json_is_number(NULL));
    assert_true(json_equal(NULL, NULL));
    assert_false(json_equal(v, NULL));
}

static void pointers_follow_rfc_6901(void **state)
{
    static const struct {
        const char *pointer, *value; /* NULL: nothing there */
    } rows[] = {
        {"/foo", "[\"bar\",\"baz\"]"},
        {"/foo/0", "\"bar\""},
        {"/foo/1", "\"baz\""},
        {"/foo/2", NULL},
        {"/foo/01", NULL},
        {"/foo/-", NULL},
        {"/foo/", NULL},
        {"/foo/0/0", NULL},
        {"/", "0"},
        {"/a~1b", "1"},
        {"/c%d", "2"},
        {"/e^f", "3"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/m~0n", "8"},
        {"/m~n", NULL},
        {"/m~", NULL},
        {"/m~01n", NULL},
        {"/deep/er/0/x", "null"},
        {"//", NULL},
        {"foo", NULL},
    };
    const struct json *v = parse("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,"
                                 "\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8,"
                                 "\"deep\":{\"er\":[{\"x\":null}]}}");
    struct buf b auto_buf = BUF_INIT(1000);

    (void)state;
    assert_ptr_equal(json_pointer(v, ""), v);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct json *hit = json_pointer(v, rows[i].pointer);
        assert_int_equal(hit != NULL, rows[i].value != NULL);
        if (hit)
            assert_string_equal(written(&b, hit, JSON_COMPACT), rows[i].value);
    }
}

static void equality_is_that_of_json_schema(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"1", "1.0", true},
        {"0", "-0.0", true},
        {"1", "1.5", false},
        {"9007199254740993", "9007199254740992.0", false},
        {"9223372036854775807", "9223372036854775808", false},
        {"1", "true", false},
        {"0", "false", false},
        {"\"1\"", "1", false},
        {"null", "false", false},
        {"\"a\"", "\"\\u0061\"", true},
        {"\"a\"", "\"b\"", false},
        {"[1,2]", "[1.0,2.0]", true},
        {"[1,2]", "[2,1]", false},
        {"[1]", "[1,1]", false},
        {"[]", "{}", false},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1.0}", true},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":[{\"x\":1,\"y\":2}]}", "{\"a\":[{\"y\":2,\"x\":1}]}", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct json *a = parse(rows[i].a), *b = parse(rows[i].b);
        struct buf x auto_buf = BUF_INIT(1000), y auto_buf = BUF_INIT(1000);
        assert_int_equal(json_equal(a, b), rows[i].equal);
        assert_int_equal(json_equal(b, a), rows[i].equal);
        int differs = strcmp(written(&x, a, JSON_CANONICAL), written(&y, b, JSON_CANONICAL));
        assert_int_equal(differs == 0, rows[i].equal);
    }
}

/* ---- construction ---- */

static void values_can_be_built(void **state)
{
    struct json *o = json_new_object(&arena), *list = json_new_array(&arena);
    struct buf b auto_buf = BUF_INIT(1 << 16);

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(json_push(&arena, list, json_new_int(&arena, i)), 0);
    assert_int_equal(json_at(list, 99)->i, 99);
    assert_int_equal(json_set(&arena, o, "list", json_new_array(&arena)), 0);
    assert_int_equal(json_push(&arena, json_get(o, "list"), json_new_real(&arena, 0.5)), 0);
    assert_int_equal(json_push(&arena, json_get(o, "list"), json_new_real(&arena, NAN)), 0);
    assert_int_equal(json_set(&arena, o, "text", json_new_str(&arena, STR("x"))), 0);
    assert_int_equal(json_set(&arena, o, "flag", json_new_bool(&arena, true)), 0);
    assert_int_equal(json_set(&arena, o, "text", json_new_null(&arena)), 0);
    assert_int_equal(json_set(&arena, o, "last", json_new_int(&arena, -1)), 0);
    assert_string_equal(written(&b, o, JSON_COMPACT),
                        "{\"list\":[0.5,null],\"text\":null,\"flag\":true,\"last\":-1}");
    assert_true(json_del(o, STR("text")));
    assert_false(json_del(o, STR("text")));
    assert_true(json_del(o, STR("last")));
    assert_string_equal(written(&b, o, JSON_COMPACT), "{\"list\":[0.5,null],\"flag\":true}");
    assert_int_equal(json_push(&arena, NULL, o), -ENOMEM);
    assert_int_equal(json_set(&arena, o, "x", NULL), -ENOMEM);
}

/* Nodes that share their entries must not see each other grow. */
static void copied_nodes_grow_apart(void **state)
{
    struct json *list = json_new_array(&arena), *outer = json_new_array(&arena);
    struct buf b auto_buf = BUF_INIT(1000);

    (void)state;
    assert_int_equal(json_push(&arena, list, json_new_int(&arena, 1)), 0);
    assert_int_equal(json_push(&arena, outer, list), 0);
    assert_int_equal(json_push(&arena, json_at(outer, 0), json_new_int(&arena, 2)), 0);
    assert_int_equal(json_push(&arena, list, json_new_int(&arena, 3)), 0);
    assert_int_equal(json_push(&arena, list, list), 0);
    assert_string_equal(written(&b, outer, JSON_COMPACT), "[[1,2]]");
    assert_string_equal(written(&b, list, JSON_COMPACT), "[1,3,[1,3]]");

    struct json *parsed = parse("{\"a\":[1,2,3],\"b\":{\"x\":1}}"), *copy;
    copy = json_copy(&arena, parsed);
    assert_int_equal(json_push(&arena, json_get(parsed, "a"), json_new_int(&arena, 4)), 0);
    assert_int_equal(json_set(&arena, json_get(parsed, "b"), "y", json_new_int(&arena, 2)), 0);
    assert_string_equal(written(&b, parsed, JSON_COMPACT),
                        "{\"a\":[1,2,3,4],\"b\":{\"x\":1,\"y\":2}}");
    assert_string_equal(written(&b, copy, JSON_COMPACT), "{\"a\":[1,2,3],\"b\":{\"x\":1}}");
}

/* ---- writing ---- */

static void styles_look_as_promised(void **state)
{
    const struct json *v = parse("{\"b\":[1,{}],\"a\":{\"z\":[],\"y\":2.0},\"c\":\"/\"}");
    struct buf b auto_buf = BUF_INIT(1000);

    (void)state;
    assert_string_equal(written(&b, v, JSON_COMPACT),
                        "{\"b\":[1,{}],\"a\":{\"z\":[],\"y\":2.0},\"c\":\"/\"}");
    assert_string_equal(written(&b, v, JSON_CANONICAL),
                        "{\"a\":{\"y\":2,\"z\":[]},\"b\":[1,{}],\"c\":\"/\"}");
    assert_string_equal(written(&b, v, JSON_PRETTY),
                        "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": {\n    \"z\": [],\n"
                        "    \"y\": 2.0\n  },\n  \"c\": \"/\"\n}");
    assert_string_equal(written(&b, NULL, JSON_COMPACT), "null");
}

static void strings_are_always_valid_text(void **state)
{
    struct buf b auto_buf = BUF_INIT(1000);

    (void)state;
    assert_int_equal(json_write_str(&b, STR("a\"\\\n\x01\x1f\x7f\0z")), 0);
    assert_str(buf_str(&b), "\"a\\\"\\\\\\n\\u0001\\u001f\x7f\\u0000z\"");
    buf_clear(&b);
    assert_int_equal(json_write_str(&b, STR("\xc3\xa9\xff\xe2\x82-\xed\xa0\x80")), 0);
    assert_str(buf_str(&b), "\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd-"
                            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    buf_clear(&b);
    assert_int_equal(json_write_str(&b, STR_NULL), 0);
    assert_str(buf_str(&b), "\"\"");
}

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* The text must read back as the same bits, and no text with one digit less may. */
static void real_is_shortest(double d)
{
    struct buf b auto_buf = BUF_INIT(100);
    char shorter[64];
    int digits = 0;

    const struct json v = {.type = JSON_REAL, .d = d};
    const char *text = written(&b, &v, JSON_COMPACT);
    const struct json *again = json_parse(&arena, str_of(text), NULL, NULL);
    assert_non_null(again);
    assert_memory_equal(&again->d, &d, sizeof d);
    assert_true(strtod(text, NULL) == d);
    (void)snprintf(shorter, sizeof shorter, "%.17g", d);
    for (const char *p = text; *p && *p != 'e'; p++)
        digits += *p >= '0' && *p <= '9' && (digits > 0 || *p != '0');
    for (const char *p = text + strcspn(text, "e"); p > text && (p[-1] == '0' || p[-1] == '.'); p--)
        digits -= p[-1] == '0';
    if (digits < 2)
        return;
    (void)snprintf(shorter, sizeof shorter, "%.*e", digits - 2, d);
    if (strtod(shorter, NULL) == d)
        fail_msg("%s is longer than %s", text, shorter);
}

static void reals_are_written_shortest(void **state)
{
    uint64_t seed = 0x9e3779b97f4a7c15;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&seed);
        double d;
        memcpy(&d, &bits, sizeof d);
        if (isfinite(d) && d != 0)
            real_is_shortest(d);
        real_is_shortest((double)(bits % 1000000007 + 1) / 1000.0);
        real_is_shortest(ldexp(1.0, (int)(bits % 2046) - 1022));
        arena_reset(&arena);
    }
}

static void stream_places_commas(void **state)
{
    struct buf b auto_buf = BUF_INIT(1000);
    struct jw w = jw_to(&b);

    (void)state;
    jw_object(&w);
    jw_key(&w, "id");
    jw_str(&w, STR("x\n"));
    jw_key_str(&w, STR("list"));
    jw_array(&w);
    jw_int(&w, 1);
    jw_real(&w, 2.5);
    jw_bool(&w, false);
    jw_null(&w);
    jw_cstr(&w, NULL);
    jw_cstr(&w, "s");
    jw_object(&w);
    jw_end(&w);
    jw_array(&w);
    jw_end(&w);
    jw_end(&w);
    jw_key(&w, "value");
    jw_value(&w, parse("{\"a\":[1]}"));
    jw_key(&w, "raw");
    jw_raw(&w, STR("[0]"));
    jw_key(&w, "inf");
    jw_real(&w, INFINITY);
    jw_end(&w);
    assert_true(buf_ok(&b));
    assert_str(buf_str(&b), "{\"id\":\"x\\n\",\"list\":[1,2.5,false,null,null,\"s\",{},[]],"
                            "\"value\":{\"a\":[1]},\"raw\":[0],\"inf\":null}");
}

static void stream_depth_is_limited(void **state)
{
    struct buf b auto_buf = BUF_INIT(1000);
    struct jw w = jw_to(&b);

    (void)state;
    for (int i = 0; i < 63; i++)
        jw_array(&w);
    assert_true(buf_ok(&b));
    for (int i = 0; i < 63; i++)
        jw_end(&w);
    jw_end(&w);
    assert_int_equal(b.len, 126);
    buf_clear(&b);
    w = jw_to(&b);
    for (int i = 0; i < 64; i++)
        jw_object(&w);
    assert_int_equal(b.error, -ENOBUFS);
}

static void full_buffers_stop_the_writer(void **state)
{
    const struct json *v = parse("{\"key\":[1,2.5,\"text with \\\" escape\",null]}");
    struct buf whole auto_buf = BUF_INIT(1000);

    (void)state;
    assert_int_equal(json_write(&whole, v, JSON_PRETTY), 0);
    for (size_t max = 0; max < whole.len; max++) {
        struct buf b auto_buf = BUF_INIT(max);
        assert_int_equal(json_write(&b, v, JSON_PRETTY), -ENOBUFS);
        assert_true(b.len <= max);
    }
    struct buf b auto_buf = BUF_INIT(whole.len);
    assert_int_equal(json_write(&b, v, JSON_PRETTY), 0);
}

/* ---- failing allocations ---- */

#ifdef TIDEPOOL_FAULT
static int everything(void)
{
    struct arena a auto_arena;
    struct buf b auto_buf = BUF_INIT(1 << 20), text auto_buf = BUF_INIT(1 << 20);
    struct err e = ERR_INIT;

    arena_init(&a, 1 << 20);
    /* More members than fit on the first stack, so that stack, sorting and arena all allocate. */
    for (int i = 0; i < 100; i++)
        if (buf_printf(&text, "%s\"k%d\":[%d,\"some text\"]", i ? "," : "{", i % 90, i) < 0)
            return -ENOMEM;
    if (buf_add_char(&text, '}') < 0)
        return -ENOMEM;
    struct json *v = json_parse(&a, buf_str(&text), NULL, &e);
    if (!v)
        return e.code;
    for (int i = 0; i < 100; i++)
        if (json_set(&a, v, "new", json_copy(&a, json_get(v, "k1"))) < 0 ||
            json_push(&a, json_get(v, "new"), json_new_str(&a, STR("x"))) < 0)
            return -ENOMEM;
    if (json_write(&b, v, JSON_PRETTY) < 0 || json_write(&b, v, JSON_CANONICAL) < 0)
        return b.error;
    return 0;
}

static void every_allocation_may_fail(void **state)
{
    bool fired = true;
    unsigned n = 0;

    (void)state;
    while (fired) {
        fault_arm(FAULT_ALLOC, ++n);
        int r = everything();
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(r, fired ? -ENOMEM : 0);
    }
    assert_true(n > 20);
}

static void comparing_needs_no_memory(void **state)
{
    struct buf b auto_buf = BUF_INIT(1 << 16);

    (void)state;
    for (int i = 0; i < 40; i++)
        (void)buf_printf(&b, "%s\"k%d\":%d", i ? "," : "{", i, i);
    (void)buf_add_char(&b, '}');
    const struct json *v = json_parse(&arena, buf_str(&b), NULL, NULL);
    const struct json *w = json_copy(&arena, v);
    for (unsigned n = 1; n <= 2; n++) {
        fault_arm(FAULT_ALLOC, n);
        assert_true(json_equal(v, w));
        assert_true(fault_fired(FAULT_ALLOC));
        fault_arm(FAULT_ALLOC, 0);
    }
}
#endif

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(vectors_hold),
        TEST(depth_is_limited),
        TEST(size_is_limited),
        TEST(many_members_parse_in_order),
        TEST(strings_end_in_nul_and_may_hold_it),
        TEST(numbers_convert_when_nothing_is_lost),
        TEST(absent_values_give_the_fallback),
        TEST(pointers_follow_rfc_6901),
        TEST(equality_is_that_of_json_schema),
        TEST(values_can_be_built),
        TEST(copied_nodes_grow_apart),
        TEST(styles_look_as_promised),
        TEST(strings_are_always_valid_text),
        TEST(reals_are_written_shortest),
        TEST(stream_places_commas),
        TEST(stream_depth_is_limited),
        TEST(full_buffers_stop_the_writer),
#ifdef TIDEPOOL_FAULT
        TEST(every_allocation_may_fail),
        TEST(comparing_needs_no_memory),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
