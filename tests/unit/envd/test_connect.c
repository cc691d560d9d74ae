/* SPDX-License-Identifier: MIT */
/* Remote calls of the Connect protocol, one thread and a clock that stands still: one message each
 * way, streams in both directions, deadlines, and everything that a caller can get wrong. */
#include "../net/http_world.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "envd/connect.h"
#include "envd/e2b.h"
#include "envd/serve_internal.h"

static struct serve service;
static struct connect_call *held;
static int n_over, n_messages;
static bool has_end;
static const char *default_user;

/* ---- what connect.c needs of the service ---- */

const char *e2b_default_user(const struct serve *s)
{
    (void)s;
    return default_user;
}

int e2b_find_user(const char *name, struct user *ret)
{
    if (strcmp(name, "user") != 0)
        return -ENOENT;
    *ret = (struct user){.uid = 1000, .name = "user"};
    return 0;
}

/* ---- methods ---- */

struct ask {
    uint32_t has;
    struct str text;
};

static const struct pjson_field fields[] = {
    {.name = "text", .type = PJSON_STRING, .offset = offsetof(struct ask, text)}};
static const struct pjson_message request = {sizeof(struct ask), 1, fields};

static void note_over(struct connect_call *c)
{
    (void)c;
    n_over++;
    held = NULL;
}

static void hold_call(struct connect_call *c)
{
    held = c;
    c->on_over = note_over;
}

static void handle_unary(struct connect_call *c)
{
    const struct ask *m = c->message;
    auto_buf struct buf b = BUF_INIT(1000);

    if (str_is(m->text, "hold")) {
        hold_call(c);
        return;
    }
    if (str_is(m->text, "fail")) {
        connect_fail(c, CONNECT_NOT_FOUND, "no such thing: %s", "x");
        return;
    }
    if (str_is(m->text, "user")) {
        const struct user *u = connect_user(c);
        if (!u)
            return;
        (void)buf_printf(&b, "{\"uid\":%u}", (unsigned)u->uid);
    } else if (str_is(m->text, "big")) {
        for (int i = 0; i < 1001; i++)
            (void)buf_add_char(&b, 'x');
    } else {
        (void)buf_printf(&b, "{\"said\":\"" STR_FMT "\"}", STR_ARG(m->text));
    }
    connect_reply(c, &b);
}

static void send_text(struct connect_call *c, const char *json)
{
    auto_buf struct buf b = BUF_INIT(1000);

    connect_message(&b);
    (void)buf_add_str(&b, str_of(json));
    connect_send(c, &b);
}

static void handle_stream(struct connect_call *c)
{
    send_text(c, "{\"n\":1}");
    hold_call(c);
}

static void handle_input(struct connect_call *c)
{
    const struct ask *m = c->message;

    c->on_over = note_over;
    if (!m) {
        has_end = true;
        connect_reply_empty(c);
        return;
    }
    n_messages++;
    if (str_is(m->text, "fail"))
        connect_fail(c, CONNECT_ABORTED, "enough");
}

static const struct connect_method methods[] = {
    {"/unary", CONNECT_UNARY, &request, handle_unary, NULL},
    {"/stream", CONNECT_STREAM, &request, handle_stream, "{\"keepalive\":{}}"},
    {"/input", CONNECT_INPUT, &request, handle_input, NULL},
};

static void serve_method(struct http_req *r, void *ctx)
{
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (str_is(r->head.path, methods[i].path)) {
            connect_serve(&service, r, &methods[i], NULL);
            return;
        }
    http_reply(r, 404, NULL, STR(""));
}

static int setup(void **state)
{
    if (world_setup(state) < 0)
        return -1;
    world.handler = serve_method;
    service.loop = world.loop;
    held = NULL;
    n_over = n_messages = 0;
    has_end = false;
    default_user = "user";
    connect_client(0);
    return 0;
}

/* ---- a caller ---- */

static struct str bytes_heard(void)
{
    turn();
    (void)hear(0);
    return heard(0);
}

static void send_bytes(const char *p, size_t len)
{
    assert_int_equal(send(world.fds[0], p, len, MSG_NOSIGNAL), len);
    turn();
}

/* An envelope of TEXT in B. */
static void add_envelope(struct buf *b, unsigned flags, const char *text)
{
    assert_int_equal(envelope_put_head(b, (uint8_t)flags, strlen(text)), 0);
    assert_int_equal(buf_add_str(b, str_of(text)), 0);
}

static struct str post(const char *path, const char *headers, struct str body)
{
    char head[1024];

    if (hear(0)) { /* the server closes after some refusals */
        hang_up(0);
        connect_client(0);
    }
    int n =
        snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: a\r\n%sContent-Length: %zu\r\n\r\n",
                 path, headers, body.len);
    send_bytes(head, (size_t)n);
    if (body.len > 0)
        send_bytes(body.p, body.len);
    return bytes_heard();
}

/* Whether S has TEXT, which may be behind a NUL. */
static bool has_text(struct str s, const char *text)
{
    return str_find(s, str_of(text)) >= 0;
}

static void check(struct str answer, int status, const char *part)
{
    if (status_of(answer) != status || !has_text(answer, part))
        fail_msg("got '%.*s', want %d with '%s'", STR_ARG(answer), status, part);
}

#define UNARY  "Content-Type: application/json\r\n"
#define STREAM "Content-Type: application/connect+json\r\n"

/* ---- tests ---- */

static void one_message_each_way(void **state)
{
    static const struct {
        const char *headers, *body;
        int status;
        const char *part;
    } rows[] = {
        {UNARY, "{\"text\":\"hi\"}", 200, "{\"said\":\"hi\"}"},
        {UNARY, "{}", 200, "{\"said\":\"\"}"},
        {UNARY, "{\"unknown\":[1]}", 200, "said"},
        {"Content-Type: Application/JSON; charset=utf-8\r\n", "{}", 200, "said"},
        {UNARY "Connect-Protocol-Version: 1\r\n", "{}", 200, "said"},
        {UNARY "Content-Encoding: identity\r\n", "{}", 200, "said"},
        {UNARY "Connect-Timeout-Ms: 60000.0\r\n", "{}", 200, "said"},
        {STREAM, "{}", 415, "Accept-Post: application/json"},
        {"", "{}", 415, "Accept-Post"},
        {UNARY "Connect-Protocol-Version: 2\r\n", "{}", 400, "must be \\\"1\\\": got \\\"2\\\""},
        {UNARY "Content-Encoding: gzip\r\n", "{}", 501, "unknown compression \\\"gzip\\\""},
        {UNARY "Connect-Timeout-Ms: soon\r\n", "{}", 400, "parse timeout"},
        {UNARY "Connect-Timeout-Ms: -1\r\n", "{}", 400, "parse timeout"},
        {UNARY "Connect-Timeout-Ms: 1.x\r\n", "{}", 400, "parse timeout"},
        {UNARY "Connect-Timeout-Ms: 12345678901\r\n", "{}", 400, "parse timeout"},
        {UNARY "Connect-Timeout-Ms: 1234567890\r\n", "{}", 200, "said"},
        {UNARY, "", 400, "zero-length payload"},
        {UNARY, "{", 400, "\"code\":\"invalid_argument\",\"message\":\"unmarshal message: "},
        {UNARY, "[]", 400, "unmarshal message"},
        {UNARY, "{\"text\":1}", 400, "unmarshal message"},
        {UNARY, "{\"text\":\"fail\"}", 404,
         "{\"code\":\"not_found\",\"message\":\"no such thing: x\"}"},
        {UNARY, "{\"text\":\"big\"}", 429, "\"code\":\"resource_exhausted\""},
        {UNARY, "{\"text\":\"user\"}", 200, "{\"uid\":1000}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(post("/unary", rows[i].headers, str_of(rows[i].body)), rows[i].status, rows[i].part);
    default_user = "nobody";
    check(post("/unary", UNARY, STR("{\"text\":\"user\"}")), 401, "invalid default user: 'nobody'");
}

static void a_deadline_ends_the_call_once(void **state)
{
    (void)state;
    assert_int_equal(
        post("/unary", UNARY "Connect-Timeout-Ms: 500\r\n", STR("{\"text\":\"hold\"}")).len, 0);
    pass_ms(499);
    assert_int_equal(bytes_heard().len, 0);
    pass_ms(1);
    check(bytes_heard(), 504, "\"code\":\"deadline_exceeded\"");
    assert_int_equal(n_over, 1);
    /* Without one it waits. */
    (void)post("/unary", UNARY "Connect-Timeout-Ms: 0\r\n", STR("{\"text\":\"hold\"}"));
    pass_ms(3600000);
    assert_int_equal(n_over, 1);
    connect_reply_empty(held);
    check(bytes_heard(), 200, "{}");
    assert_int_equal(n_over, 2);
}

static void a_caller_that_leaves_ends_it(void **state)
{
    (void)state;
    (void)post("/unary", UNARY, STR("{\"text\":\"hold\"}"));
    hang_up(0);
    assert_int_equal(n_over, 1);
    connect_client(0);
    auto_buf struct buf b = BUF_INIT(100);
    add_envelope(&b, 0, "{}");
    (void)post("/stream", STREAM, buf_str(&b));
    hang_up(0);
    turn();
    assert_int_equal(n_over, 2);
}

static void streams_end_with_an_envelope(void **state)
{
    auto_buf struct buf b = BUF_INIT(1000);

    (void)state;
    add_envelope(&b, 0, "{}");
    struct str begun = post("/stream", STREAM, buf_str(&b));
    check(begun, 200, "application/connect+json");
    assert_true(str_find(begun, str_n("\0\0\0\0\7{\"n\":1}", 12)) > 0);
    send_text(held, "{\"n\":2}");
    connect_end(held);
    struct str rest = bytes_heard();
    assert_true(str_find(rest, str_n("\0\0\0\0\7{\"n\":2}", 12)) >= 0);
    assert_true(str_find(rest, str_n("\2\0\0\0\2{}", 7)) > 0);
    assert_int_equal(n_over, 1);
    (void)post("/stream", STREAM, buf_str(&b));
    connect_fail(held, CONNECT_DATA_LOSS, "%s", "lost");
    check(bytes_heard(), 0, "{\"error\":{\"code\":\"data_loss\",\"message\":\"lost\"}}");
}

static void streams_say_that_nothing_happens(void **state)
{
    auto_buf struct buf b = BUF_INIT(1000);

    (void)state;
    add_envelope(&b, 0, "{}");
    (void)post("/stream", STREAM "Keepalive-Ping-Interval: 5\r\n", buf_str(&b));
    pass_ms(4999);
    assert_int_equal(bytes_heard().len, 0);
    pass_ms(1);
    assert_true(has_text(bytes_heard(), "{\"keepalive\":{}}"));
    /* Anything that is sent counts. */
    pass_ms(3000);
    send_text(held, "{\"n\":3}");
    (void)bytes_heard();
    pass_ms(4999);
    assert_int_equal(bytes_heard().len, 0);
    connect_end(held);
    (void)bytes_heard();
    pass_ms(100000);
    assert_int_equal(bytes_heard().len, 0);
}

static void a_stream_has_one_request(void **state)
{
    auto_buf struct buf b = BUF_INIT(1000);

    (void)state;
    check(post("/stream", STREAM, STR("")), 200, "unary stream has no messages");
    check(post("/stream", STREAM, str_n("\0\0\0\0\5{}", 7)), 200, "incomplete envelope");
    check(post("/stream", STREAM, str_n("\0\0\0\0", 4)), 200, "incomplete envelope");
    check(post("/stream", STREAM, str_n("\0\x7f\xff\xff\xff", 5)), 200, "larger than configured");
    add_envelope(&b, ENVELOPE_COMPRESSED, "{}");
    check(post("/stream", STREAM, buf_str(&b)), 200, "without compression support");
    buf_clear(&b);
    add_envelope(&b, 4, "{}");
    check(post("/stream", STREAM, buf_str(&b)), 200, "invalid envelope flags 4");
    buf_clear(&b);
    add_envelope(&b, 0, "{}");
    add_envelope(&b, 0, "{}");
    check(post("/stream", STREAM, buf_str(&b)), 200, "unary stream has multiple messages");
    check(post("/stream", STREAM "Connect-Content-Encoding: br\r\n", buf_str(&b)), 200,
          "unknown compression \\\"br\\\"");
    check(post("/stream", UNARY, STR("{}")), 415, "Accept-Post: application/connect+json");
    assert_null(held);
}

static void many_requests_in_pieces_of_any_size(void **state)
{
    auto_buf struct buf b = BUF_INIT(1000);
    char head[200];

    (void)state;
    add_envelope(&b, 0, "{\"text\":\"a\"}");
    add_envelope(&b, 0, "{}");
    add_envelope(&b, 0, "{\"text\":\"c\"}");
    for (size_t piece = 1; piece < 20; piece += 3) {
        n_messages = 0;
        has_end = false;
        int n = snprintf(head, sizeof head,
                         "POST /input HTTP/1.1\r\nHost: a\r\n" STREAM "Content-Length: %zu\r\n\r\n",
                         b.len);
        send_bytes(head, (size_t)n);
        for (struct str rest = buf_str(&b); rest.len > 0; rest = str_skip(rest, piece)) {
            struct str part = str_slice(rest, 0, piece);
            send_bytes(part.p, part.len);
        }
        check(bytes_heard(), 200, "application/connect+json");
        assert_int_equal(n_messages, 3);
        assert_true(has_end);
    }
}

static void many_requests_until_one_fails(void **state)
{
    auto_buf struct buf b = BUF_INIT(1000);

    (void)state;
    add_envelope(&b, 0, "{}");
    add_envelope(&b, 0, "{\"text\":\"fail\"}");
    add_envelope(&b, 0, "{}");
    check(post("/input", STREAM, buf_str(&b)), 200, "{\"error\":{\"code\":\"aborted\"");
    assert_int_equal(n_messages, 2);
    assert_false(has_end);
    assert_int_equal(n_over, 1);
    check(post("/input", STREAM, str_n("\0\0\0\0\5{}", 7)), 200, "incomplete envelope");
    check(post("/input", STREAM, str_n("\0\0\0\0\1{", 6)), 200, "unmarshal message");
    check(post("/input", STREAM, str_n("\0\xff\xff\xff\xff", 5)), 200, "larger than configured");
    check(post("/input", STREAM "Connect-Protocol-Version: 0\r\n", STR("")), 200, "must be");
    assert_false(has_end);
}

static void long_messages_lose_their_middle(void **state)
{
    auto_buf struct buf text = BUF_INIT(1 << 20);

    (void)state;
    (void)post("/unary", UNARY, STR("{\"text\":\"hold\"}"));
    for (int i = 0; i < 20000; i++)
        (void)buf_add_lit(&text, "ä");
    connect_fail(held, CONNECT_UNKNOWN, "begin %s end", buf_cstr(&text));
    struct str answer = bytes_heard();
    check(answer, 500, "\"message\":\"begin ä");
    assert_true(has_text(answer, " … ") && has_text(answer, "ä end\"}"));
    assert_true(body_of(answer).len < 8192);
    assert_true(str_is_utf8(body_of(answer)));
}

static void every_code_has_a_name(void **state)
{
    (void)state;
    for (int i = CONNECT_CANCELED; i < CONNECT_CODE_COUNT; i++)
        assert_non_null(connect_code_name((enum connect_code)i));
    assert_string_equal(connect_code_name(CONNECT_UNAUTHENTICATED), "unauthenticated");
}

#define CONNECT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONNECT_TEST(one_message_each_way),
        CONNECT_TEST(a_deadline_ends_the_call_once),
        CONNECT_TEST(a_caller_that_leaves_ends_it),
        CONNECT_TEST(streams_end_with_an_envelope),
        CONNECT_TEST(streams_say_that_nothing_happens),
        CONNECT_TEST(a_stream_has_one_request),
        CONNECT_TEST(many_requests_in_pieces_of_any_size),
        CONNECT_TEST(many_requests_until_one_fails),
        CONNECT_TEST(long_messages_lose_their_middle),
        CONNECT_TEST(every_code_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
