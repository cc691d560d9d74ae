/* SPDX-License-Identifier: MIT */
/* The HTTP client against a scripted peer: every kind of response in every split, the bytes of
 * requests, the pool, retries, timeouts, backpressure, upgrades, aborts and faults. */
#include "record.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"

/* ---- responses ---- */

struct response {
    const char *name, *method;
    struct str bytes;
    const char *log; /* ends with "." or "!" */
};

#define CL(n)   "HTTP/1.1 200 OK\r\nContent-Length: " n "\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* The peer closes after the bytes. */
static const struct response responses[] = {
    {"length", "GET", STR_INIT(CL("5") "hello"), "h200 hello."},
    {"empty", "GET", STR_INIT(CL("0")), "h200 ."},
    {"until close", "GET", STR_INIT("HTTP/1.1 200 OK\r\n\r\nhello"), "h200 hello."},
    {"until close, empty", "GET", STR_INIT("HTTP/1.1 200 OK\r\n\r\n"), "h200 ."},
    {"1.0", "GET", STR_INIT("HTTP/1.0 200 OK\r\n\r\nhello"), "h200 hello."},
    {"chunked", "GET", STR_INIT(CHUNKED "5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n\r\n"), "h200 hello!."},
    {"trailers", "GET", STR_INIT(CHUNKED "1\r\na\r\n0\r\nX: y\r\n\r\n"), "h200 a."},
    {"head with a length", "HEAD", STR_INIT(CL("5")), "h200 ."},
    {"head, chunked", "HEAD", STR_INIT(CHUNKED), "h200 ."},
    {"204", "GET", STR_INIT("HTTP/1.1 204 No Content\r\n\r\n"), "h204 ."},
    {"304 with a length", "GET", STR_INIT("HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n"), "h304 ."},
    {"404", "GET", STR_INIT("HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx"), "h404 x."},
    {"no reason", "GET", STR_INIT("HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\nx"), "h200 x."},
    {"100 first", "POST", STR_INIT("HTTP/1.1 100 Continue\r\n\r\n" CL("1") "x"), "i100 h200 x."},
    {"several 1xx", "GET",
     STR_INIT("HTTP/1.1 103 a\r\nLink: x\r\n\r\nHTTP/1.1 102 b\r\n\r\n" CL("1") "x"),
     "i103 i102 h200 x."},
    {"bytes behind the end", "GET", STR_INIT(CL("1") "xyz"), "h200 x."},
    /* broken */
    {"nothing", "GET", STR_INIT(""), "!"},
    {"half a head", "GET", STR_INIT("HTTP/1.1 200 OK\r\nContent-"), "!"},
    {"not HTTP", "GET", STR_INIT("hello\r\n\r\n"), "!"},
    {"HTTP/2", "GET", STR_INIT("HTTP/2.0 200 OK\r\n\r\n"), "!"},
    {"body cut", "GET", STR_INIT(CL("5") "hel"), "h200 hel!"},
    {"chunk cut", "GET", STR_INIT(CHUNKED "5\r\nhel"), "h200 hel!"},
    {"last chunk missing", "GET", STR_INIT(CHUNKED "1\r\na\r\n"), "h200 a!"},
    {"bad chunk", "GET", STR_INIT(CHUNKED "1\r\nab\r\n"), "h200 a!"},
    {"two lengths", "GET",
     STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"), "!"},
    {"length and chunked", "GET",
     STR_INIT("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), "!"},
    {"only 1xx", "GET", STR_INIT("HTTP/1.1 100 Continue\r\n\r\n"), "i100 !"},
    {"101 not asked for", "GET",
     STR_INIT("HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: y\r\n\r\n"), "!"},
};

static void check_response(const struct response *row, size_t at)
{
    struct http_client *c = new_client();
    struct http_request req = get;
    struct buf in auto_buf = BUF_INIT(65536);
    struct record r;

    record_init(&r);
    req.method = str_of(row->method);
    int fd = start(c, &r, req);
    /* A socket that is closed with unread bytes is reset. */
    peer_expect(loop, fd, &in, "\r\n\r\n");
    peer_send(loop, fd, str_slice(row->bytes, 0, at));
    if (r.n_ends == 0 && at < row->bytes.len)
        peer_send(loop, fd, str_skip(row->bytes, at));
    (void)close(fd);
    peer_settle(loop);
    assert_int_equal(r.n_ends, 1);
    if (!str_is(buf_str(&r.log), row->log))
        fail_msg("%s, split at %zu: %s (%s)", row->name, at, buf_cstr(&r.log), r.why);
    http_client_free(c);
    buf_done(&r.log);
}

static void responses_in_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(responses); i++)
        for (size_t at = 0; at <= responses[i].bytes.len; at++)
            check_response(&responses[i], at);
}

static void too_many_1xx_and_too_large_heads_are_refused(void **state)
{
    struct http_client *c = new_client();
    struct record r;

    (void)state;
    record_init(&r);
    int fd = start(c, &r, get);
    for (int i = 0; i < 17; i++)
        peer_send(loop, fd, STR("HTTP/1.1 102 x\r\n\r\n"));
    assert_int_equal(r.result, -EPROTO);
    (void)close(fd);
    r.n_ends = 0;
    fd = start(c, &r, get);
    peer_send(loop, fd, STR("HTTP/1.1 200 OK\r\nX: "));
    for (int i = 0; i < 40 && r.n_ends == 0; i++) {
        char filler[1024];
        memset(filler, 'a', sizeof filler);
        peer_send(loop, fd, str_n(filler, sizeof filler));
    }
    assert_int_equal(r.result, -EPROTO);
    (void)close(fd);
    http_client_free(c);
    buf_done(&r.log);
}

/* ---- requests ---- */

static const struct http_header two_headers[] = {{STR_INIT("X-A"), STR_INIT("1")},
                                                 {STR_INIT("x-b"), STR_INIT("two words")}};

static const struct {
    struct http_request req;
    const char *bytes;
} requests[] = {
    {{.method = STR_INIT("GET"), .target = STR_INIT("/")},
     "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"},
    {{.method = STR_INIT("GET"), .target = STR_INIT("/a?b"), .address = "10.0.0.1:80"},
     "GET /a?b HTTP/1.1\r\nHost: 10.0.0.1:80\r\n\r\n"},
    {{.method = STR_INIT("GET"), .target = STR_INIT("/"), .address = "unix:/run/x"},
     "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"},
    {{.method = STR_INIT("DELETE"),
      .target = STR_INIT("/"),
      .address = "x:1",
      .host = STR_INIT("h"),
      .headers = two_headers,
      .n_headers = 2},
     "DELETE / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-b: two words\r\n\r\n"},
    {{.method = STR_INIT("POST"), .target = STR_INIT("/"), .address = "x:1"},
     "POST / HTTP/1.1\r\nHost: x:1\r\nContent-Length: 0\r\n\r\n"},
    {{.method = STR_INIT("PUT"),
      .target = STR_INIT("/"),
      .address = "x:1",
      .body = STR_INIT("hello")},
     "PUT / HTTP/1.1\r\nHost: x:1\r\nContent-Length: 5\r\n\r\nhello"},
    {{.method = STR_INIT("POST"),
      .target = STR_INIT("/"),
      .address = "x:1",
      .is_streamed = true,
      .length = 7},
     "POST / HTTP/1.1\r\nHost: x:1\r\nContent-Length: 7\r\n\r\n"},
    {{.method = STR_INIT("POST"),
      .target = STR_INIT("/"),
      .address = "x:1",
      .is_streamed = true,
      .length = -1},
     "POST / HTTP/1.1\r\nHost: x:1\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {{.method = STR_INIT("GET"), .target = STR_INIT("/"), .address = "x:1", .upgrade = "y"},
     "GET / HTTP/1.1\r\nHost: x:1\r\nConnection: Upgrade\r\nUpgrade: y\r\n\r\n"},
};

static void requests_have_these_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct http_client *c = new_client();
        struct buf in auto_buf = BUF_INIT(65536);
        struct record r;
        record_init(&r);
        int fd = start(c, &r, requests[i].req);
        (void)peer_take(fd, &in);
        assert_string_equal(buf_cstr(&in), requests[i].bytes);
        http_call_abort(r.call);
        (void)close(fd);
        http_client_free(c);
        assert_int_equal(r.n_ends, 0);
    }
}

static void bad_requests_are_refused(void **state)
{
    static const struct http_header bad[] = {
        {STR_INIT("Host"), STR_INIT("x")},
        {STR_INIT("content-length"), STR_INIT("1")},
        {STR_INIT("Connection"), STR_INIT("close")},
        {STR_INIT("Transfer-Encoding"), STR_INIT("x")},
        {STR_INIT("Upgrade"), STR_INIT("x")},
        {STR_INIT("a b"), STR_INIT("x")},
        {STR_INIT(""), STR_INIT("x")},
        {STR_INIT("a"), STR_INIT("x\r\nEvil: y")},
        {STR_INIT("a"), STR_INIT("x\0y")},
    };
    static const struct http_request rows[] = {
        {.method = STR_INIT("GET"), .target = STR_INIT("/")},
        {.method = STR_INIT("G T"), .target = STR_INIT("/"), .address = "x:1"},
        {.method = STR_INIT(""), .target = STR_INIT("/"), .address = "x:1"},
        {.method = STR_INIT("GET"), .target = STR_INIT(""), .address = "x:1"},
        {.method = STR_INIT("GET"), .target = STR_INIT("/a b"), .address = "x:1"},
        {.method = STR_INIT("GET"), .target = STR_INIT("/\r\n"), .address = "x:1"},
        {.method = STR_INIT("GET"),
         .target = STR_INIT("/"),
         .address = "x:1",
         .host = STR_INIT("a\nb")},
    };
    struct http_client *c = new_client();
    struct err e = ERR_INIT;
    int fds[2];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_null(http_client_call(c, &rows[i], &record_ops, NULL, &e));
        assert_int_equal(e.code, -EINVAL);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_request req = get;
        char byte;
        peer_pair(fds);
        req.fd = fds[0];
        req.headers = &bad[i];
        req.n_headers = 1;
        assert_null(http_client_call(c, &req, &record_ops, NULL, &e));
        assert_int_equal(e.code, -EINVAL);
        assert_int_equal(read(fds[1], &byte, 1), 0); /* taken over and closed */
        (void)close(fds[1]);
    }
    http_client_free(c);
}

static void addresses(void **state)
{
    static const struct {
        const char *address;
        int result;
    } rows[] = {
        {"unix:/nonexistent/socket", -ENOENT},
        {"unix:", -ENAMETOOLONG},
        {"unix:/0123456789012345678901234567890123456789012345678901234567890123456789"
         "01234567890123456789012345678901234567890123456789",
         -ENAMETOOLONG},
        {"", -EINVAL},
        {"127.0.0.1", -EINVAL},
        {":80", -EINVAL},
        {"127.0.0.1:", -EINVAL},
        {"127.0.0.1:0", -EINVAL},
        {"127.0.0.1:65536", -EINVAL},
        {"127.0.0.1:8x", -EINVAL},
        {"::1:80", -EINVAL},
        {"[::1:80", -EINVAL},
        {"[]:80", -EINVAL},
        {"some.name:80", -ENOENT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = ERR_INIT;
        if (http_dial(rows[i].address, false, &e) != rows[i].result)
            fail_msg("%s: %s", rows[i].address, err_text(&e));
    }
}

/* ---- request bodies ---- */

static void streamed_bodies(void **state)
{
    struct http_client *c = new_client();
    struct buf in auto_buf = BUF_INIT(65536);
    struct http_request req = {.method = STR("POST"), .target = STR("/"), .is_streamed = true};
    struct record r;
    int fds[2];

    (void)state;
    record_init(&r);
    req.length = 5;
    int fd = start(c, &r, req);
    assert_int_equal(r.n_drains, 1); /* connected */
    assert_int_equal(http_call_write(r.call, "hel", 3), 0);
    assert_int_equal(http_call_end(r.call), -EINVAL);
    assert_int_equal(http_call_write(r.call, "lo!", 3), -EMSGSIZE);
    assert_int_equal(http_call_write(r.call, "lo", 2), 0);
    assert_int_equal(http_call_end(r.call), 0);
    assert_int_equal(http_call_write(r.call, "x", 1), -EPIPE);
    peer_expect(loop, fd, &in, "\r\n\r\nhello");
    peer_send(loop, fd, STR(CL("0")));
    assert_int_equal(r.n_ends, 1);
    (void)close(fd);

    /* Written before the connection is made, chunked. */
    req.length = -1;
    peer_pair(fds);
    req.fd = fds[0];
    buf_clear(&in);
    r.call = http_client_call(c, &req, &record_ops, &r, NULL);
    assert_true(http_call_is_full(r.call));
    assert_int_equal(http_call_write(r.call, "0123456789abcdef", 16), 0);
    assert_int_equal(http_call_write(r.call, "", 0), 0);
    peer_settle(loop);
    assert_false(http_call_is_full(r.call));
    assert_int_equal(http_call_write(r.call, "x", 1), 0);
    assert_int_equal(http_call_end(r.call), 0);
    peer_expect(loop, fds[1], &in, "\r\n\r\n10\r\n0123456789abcdef\r\n1\r\nx\r\n0\r\n\r\n");
    peer_send(loop, fds[1], STR(CL("0")));
    assert_int_equal(r.n_ends, 2);
    (void)close(fds[1]);
    http_client_free(c);
    buf_done(&r.log);
}

static void a_held_head_leaves_with_the_body(void **state)
{
    struct http_client *c = new_client();
    struct http_request req = {.method = STR("POST"), .target = STR("/"), .length = 2};
    struct record r;
    char all[256];

    (void)state;
    record_init(&r);
    req.is_streamed = req.is_held = true;
    int fd = start(c, &r, req);
    assert_int_equal(recv(fd, all, sizeof all, MSG_DONTWAIT), -1);
    assert_int_equal(http_call_write(r.call, "ab", 2), 0);
    ssize_t n = recv(fd, all, sizeof all, MSG_DONTWAIT);
    assert_true(n > 0 && str_ends(str_n(all, (size_t)n), STR("\r\n\r\nab")));
    peer_send(loop, fd, STR(CHUNKED "1\r\na\r\n1\r\nb\r\n"));
    assert_int_equal(r.n_caught_up, 1);
    (void)close(fd);
    /* An answer to nothing ends the call like any other. */
    fd = start(c, &r, req);
    peer_send(loop, fd, STR(CL("0")));
    assert_string_equal(buf_cstr(&r.log), "h200 ab!h200 .");
    (void)close(fd);
    http_client_free(c);
    buf_done(&r.log);
}

static void a_large_upload_waits_for_the_peer(void **state)
{
    enum { TOTAL = 8 << 20, PIECE = 100000 };
    struct http_client *c = new_client();
    struct buf in auto_buf = BUF_INIT(TOTAL + 65536);
    struct http_request req = {
        .method = STR("PUT"), .target = STR("/"), .is_streamed = true, .length = TOTAL};
    auto_free char *piece = calloc(1, PIECE);
    size_t left = TOTAL;
    int waits = 0;
    struct record r;

    (void)state;
    record_init(&r);
    int fd = start(c, &r, req);
    while (left > 0) {
        size_t n = left < PIECE ? left : PIECE;
        if (http_call_is_full(r.call)) {
            int drains = r.n_drains;
            waits++;
            peer_settle(loop);
            assert_int_equal(r.n_drains, drains); /* nobody reads: no drain */
            while (r.n_drains == drains) {
                (void)peer_take(fd, &in);
                peer_settle(loop);
            }
        }
        assert_int_equal(http_call_write(r.call, piece, n), 0);
        left -= n;
    }
    assert_int_equal(http_call_end(r.call), 0);
    for (int i = 0; i < 1000 && in.len < TOTAL; i++) {
        (void)peer_take(fd, &in);
        peer_settle(loop);
    }
    assert_true(in.len > TOTAL);
    assert_true(waits > 3);
    peer_send(loop, fd, STR(CL("0")));
    assert_string_equal(buf_cstr(&r.log), "h200 .");
    (void)close(fd);
    http_client_free(c);
    buf_done(&r.log);
}

static void a_paused_download_holds_the_peer_back(void **state)
{
    enum { TOTAL = 4 << 20 };
    struct http_client *c = new_client();
    struct buf in auto_buf = BUF_INIT(65536);
    char head[64];
    size_t sent = 0;
    auto_free char *body = malloc(TOTAL);
    struct record r;

    (void)state;
    for (size_t i = 0; i < TOTAL; i++)
        body[i] = (char)(i * 7 + (i >> 9));
    record_init(&r);
    r.pause_in_data = true;
    int fd = start(c, &r, get);
    peer_expect(loop, fd, &in, "\r\n\r\n");
    (void)snprintf(head, sizeof head, CL("%d"), TOTAL);
    peer_send(loop, fd, str_of(head));
    for (int stuck = 0; stuck < 20; stuck++) {
        ssize_t n = send(fd, body + sent, TOTAL - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
            stuck = 0;
        }
        peer_settle(loop);
    }
    assert_true(sent < TOTAL / 2); /* what the socket holds, and one piece */
    peer_wait(loop, 60000);
    assert_int_equal(r.n_ends, 0); /* waiting for us is no timeout */
    while (sent < TOTAL) {
        http_call_resume(r.call); /* each piece pauses again */
        ssize_t n = send(fd, body + sent, TOTAL - sent, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        peer_settle(loop);
    }
    /* The peer is gone before the rest is read. */
    (void)close(fd);
    for (int i = 0; i < 1000 && r.n_ends == 0; i++) {
        http_call_resume(r.call);
        peer_settle(loop);
    }
    assert_int_equal(r.n_ends, 1);
    assert_string_equal(r.why, "");
    assert_int_equal(r.log.len, 5 + TOTAL + 1);
    assert_memory_equal(r.log.p + 5, body, TOTAL);
    http_client_free(c);
    buf_done(&r.log);
}

/* What waited while the call was paused comes before the end of the connection behind it. */
static void bytes_kept_by_a_pause_come_before_the_end(void **state)
{
    struct http_client *c = new_client();
    struct buf in auto_buf = BUF_INIT(65536);
    struct record r;

    (void)state;
    record_init(&r);
    r.pause_in_data = true;
    int fd = start(c, &r, get);
    peer_expect(loop, fd, &in, "\r\n\r\n");
    peer_send(loop, fd, STR(CHUNKED "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"));
    (void)close(fd);
    for (int i = 0; i < 4; i++) {
        peer_settle(loop);
        if (r.n_ends == 0)
            http_call_resume(r.call);
    }
    assert_string_equal(buf_cstr(&r.log), "h200 abc.");
    http_client_free(c);
    buf_done(&r.log);
}

static void an_answer_before_the_end_of_the_request_ends_the_call(void **state)
{
    struct http_client *c = new_client();
    struct http_request req = {.method = STR("POST"),
                               .target = STR("/"),
                               .is_streamed = true,
                               .length = -1,
                               .address = "kept"};
    struct buf in auto_buf = BUF_INIT(65536);
    struct record r;

    (void)state;
    record_init(&r);
    int fd = start(c, &r, req);
    peer_send(loop, fd, STR("HTTP/1.1 413 x\r\nContent-Length: 0\r\n\r\n"));
    assert_string_equal(buf_cstr(&r.log), "h413 .");
    assert_int_equal(http_client_stats(c).n_kept, 0);
    peer_expect_end(loop, fd, &in);
    (void)close(fd);
    http_client_free(c);
    buf_done(&r.log);
}

/* ---- upgrades ---- */

static ssize_t raw_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    (void)s;
    (void)buf_add(&((struct record *)ctx)->log, p, len);
    return (ssize_t)len;
}

static void raw_close(struct stream *s, void *ctx, int reason)
{
    (void)s;
    (void)buf_printf(&((struct record *)ctx)->log, "closed %d", reason);
}

static const struct stream_ops raw_ops = {.on_data = raw_data, .on_close = raw_close};

#define SWITCH "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: y\r\n\r\n"

static void an_upgrade_hands_over_the_stream_and_what_came_behind_the_head(void **state)
{
    static const struct str bytes = STR_INIT(SWITCH "raw");

    (void)state;
    for (size_t at = 0; at <= bytes.len; at++) {
        struct http_client *c = new_client();
        struct http_request req = get;
        struct buf in auto_buf = BUF_INIT(65536);
        struct record r;
        record_init(&r);
        req.upgrade = "y";
        r.upgrade = &raw_ops;
        int fd = start(c, &r, req);
        peer_send(loop, fd, str_slice(bytes, 0, at));
        peer_send(loop, fd, str_skip(bytes, at));
        assert_string_equal(buf_cstr(&r.log), "h101 raw");
        assert_int_equal(http_client_stats(c).n_calls, 0);
        http_client_free(c); /* the stream is not the client's any more */
        assert_int_equal(stream_write(r.stream, "back", 4), 0);
        peer_expect(loop, fd, &in, "back");
        peer_wait(loop, 600000);
        (void)close(fd);
        peer_settle(loop);
        assert_string_equal(buf_cstr(&r.log), "h101 rawclosed 0");
        assert_int_equal(r.n_ends, 0);
        buf_done(&r.log);
    }
}

static void an_upgrade_may_be_refused_by_either_side(void **state)
{
    struct http_client *c = new_client();
    struct http_request req = get;
    struct record r;

    (void)state;
    record_init(&r);
    req.upgrade = "y";
    int fd = start(c, &r, req);
    peer_send(loop, fd, STR("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno"));
    assert_string_equal(buf_cstr(&r.log), "h403 no.");
    (void)close(fd);
    buf_clear(&r.log);
    fd = start(c, &r, req);
    peer_send(loop, fd, STR(SWITCH));
    assert_string_equal(buf_cstr(&r.log), "h101 !");
    assert_int_equal(r.result, -EPROTO);
    (void)close(fd);
    http_client_free(c);
    buf_done(&r.log);
}

/* ---- time ---- */

static void time_runs_out(void **state)
{
    struct http_client *c = new_client();
    struct record r;

    (void)state;
    record_init(&r);
    /* head */
    int fd = start(c, &r, get);
    peer_wait(loop, 1999);
    assert_int_equal(r.n_ends, 0);
    peer_wait(loop, 2);
    assert_int_equal(r.result, -ETIMEDOUT);
    assert_string_equal(r.why, "response: timed out");
    (void)close(fd);
    /* body */
    fd = start(c, &r, get);
    peer_send(loop, fd, STR(CL("5") "h"));
    for (int i = 0; i < 3; i++) {
        peer_wait(loop, 2999);
        peer_send(loop, fd, STR("e"));
    }
    assert_int_equal(r.n_ends, 1);
    peer_wait(loop, 3001);
    assert_int_equal(r.n_ends, 2);
    assert_string_equal(r.why, "response body: timed out");
    (void)close(fd);
    http_client_free(c);
    buf_done(&r.log);
}

static void the_head_is_waited_for_from_the_end_of_the_request(void **state)
{
    struct http_client *c = new_client();
    struct http_request req = {
        .method = STR("POST"), .target = STR("/"), .is_streamed = true, .length = 2};
    struct record r;

    (void)state;
    record_init(&r);
    int fd = start(c, &r, req);
    peer_wait(loop, 10000);
    assert_int_equal(http_call_write(r.call, "a", 1), 0);
    peer_wait(loop, 10000);
    assert_int_equal(http_call_write(r.call, "b", 1), 0);
    assert_int_equal(http_call_end(r.call), 0);
    peer_wait(loop, 1999);
    assert_int_equal(r.n_ends, 0);
    peer_wait(loop, 2);
    assert_int_equal(r.result, -ETIMEDOUT);
    (void)close(fd);
    http_client_free(c);
    buf_done(&r.log);
}

static void connecting_takes_too_long(void **state)
{
    struct http_client *c = new_client();
    struct http_request req = get;
    char filler[4096] = {0};
    int fds[2];
    struct record r;

    (void)state;
    record_init(&r);
    /* A socket that cannot be written to looks like one that is still connecting. */
    peer_pair(fds);
    while (send(fds[0], filler, sizeof filler, MSG_NOSIGNAL) > 0)
        ;
    req.fd = fds[0];
    r.call = http_client_call(c, &req, &record_ops, &r, NULL);
    assert_non_null(r.call);
    peer_wait(loop, 999);
    assert_int_equal(r.n_ends, 0);
    peer_wait(loop, 2);
    assert_int_equal(r.result, -ETIMEDOUT);
    assert_string_equal(r.why, "connect: timed out");
    (void)close(fds[1]);
    http_client_free(c);
    buf_done(&r.log);
}

/* ---- ends ---- */

static void aborts_in_every_state_are_silent(void **state)
{
    struct http_client *c = new_client();
    struct buf in auto_buf = BUF_INIT(65536);
    struct http_request req = get;
    struct record r;
    int fds[2];

    (void)state;
    for (int when = 0; when < 5; when++) {
        record_init(&r);
        r.abort_in = "  hd "[when];
        peer_pair(fds);
        req.fd = fds[0];
        r.call = http_client_call(c, &req, &record_ops, &r, NULL);
        if (when == 0) /* connecting */
            http_call_abort(r.call);
        peer_settle(loop);
        if (when == 1) /* sent */
            http_call_abort(r.call);
        peer_send(loop, fds[1], when < 2 ? STR_NULL : STR(CL("9") "body"));
        if (when == 4)
            http_call_abort(r.call);
        peer_expect_end(loop, fds[1], &in);
        assert_int_equal(r.n_ends, 0);
        assert_int_equal(http_client_stats(c).n_calls, 0);
        (void)close(fds[1]);
        buf_done(&r.log);
    }
    http_client_free(c);
}

static void a_reader_may_refuse_the_body(void **state)
{
    struct http_client *c = new_client();
    struct record r;

    (void)state;
    record_init(&r);
    r.data_result = -EFBIG;
    int fd = start(c, &r, get);
    peer_send(loop, fd, STR(CL("9") "body"));
    assert_int_equal(r.result, -EFBIG);
    assert_int_equal(r.n_ends, 1);
    (void)close(fd);
    http_client_free(c);
    buf_done(&r.log);
}

static void freeing_the_client_ends_its_calls(void **state)
{
    struct http_client *c = new_client();
    struct http_request req = get;
    int fds[2];
    struct record a, b;

    (void)state;
    record_init(&a);
    record_init(&b);
    int fd = start(c, &a, get);
    peer_pair(fds);
    req.fd = fds[0];
    b.call = http_client_call(c, &req, &record_ops, &b, NULL);
    http_client_free(c);
    assert_int_equal(a.result, -ECANCELED);
    assert_int_equal(b.result, -ECANCELED);
    (void)close(fd);
    (void)close(fds[1]);
    buf_done(&a.log);
    buf_done(&b.log);
}

#ifdef TIDEPOOL_FAULT
/* One whole call with the fault armed; true when it was reached. Whatever fails, the call either
 * does not start or ends exactly once. */
static bool run_with_fault(enum fault_kind kind, unsigned nth)
{
    char room[4096];
    struct record r = {.log = {.p = room, .cap = sizeof room, .max = sizeof room}};
    struct http_request req = {.method = STR("POST"),
                               .target = STR("/"),
                               .address = "kept",
                               .headers = two_headers,
                               .n_headers = 2,
                               .is_streamed = true,
                               .length = -1};
    int fds[2];

    peer_pair(fds);
    req.fd = fds[0];
    fault_arm(kind, nth);
    struct http_client_opts opts = {.loop = loop, .timeouts = timeouts};
    struct http_client *c = http_client_new(&opts, NULL);
    if (!c)
        (void)close(fds[0]);
    r.call = c ? http_client_call(c, &req, &record_ops, &r, NULL) : NULL;
    if (r.call) {
        (void)http_call_write(r.call, "early", 5);
        for (int i = 0; i < 3; i++)
            (void)loop_run_once(loop, 0);
        if (r.n_ends == 0) {
            (void)http_call_write(r.call, "late", 4);
            (void)http_call_end(r.call);
        }
        (void)send(fds[1], CHUNKED "5\r\nhel", sizeof CHUNKED "5\r\nhel" - 1, MSG_NOSIGNAL);
        for (int i = 0; i < 3; i++)
            (void)loop_run_once(loop, 0);
        (void)send(fds[1], "lo\r\n0\r\n\r\n", 9, MSG_NOSIGNAL);
        for (int i = 0; i < 3; i++)
            (void)loop_run_once(loop, 0);
    }
    bool fired = fault_fired(kind);
    fault_arm(kind, 0);
    if (r.call && r.n_ends == 0)
        peer_wait(loop, 5000);
    assert_int_equal(r.n_ends, r.call ? 1 : 0);
    if (!fired)
        assert_string_equal(buf_cstr(&r.log), "h200 hello.");
    http_client_free(c);
    (void)close(fds[1]);
    peer_settle(loop);
    return fired;
}

static void every_fault_ends_the_call_once(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        unsigned nth = 1;
        while (run_with_fault((enum fault_kind)kind, nth))
            assert_true(++nth < 200);
        assert_true(nth > 3);
    }
}
#endif

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(responses_in_every_split),
        TEST(too_many_1xx_and_too_large_heads_are_refused),
        TEST(requests_have_these_bytes),
        TEST(bad_requests_are_refused),
        TEST(addresses),
        TEST(streamed_bodies),
        TEST(a_held_head_leaves_with_the_body),
        TEST(a_large_upload_waits_for_the_peer),
        TEST(a_paused_download_holds_the_peer_back),
        TEST(bytes_kept_by_a_pause_come_before_the_end),
        TEST(an_answer_before_the_end_of_the_request_ends_the_call),
        TEST(an_upgrade_hands_over_the_stream_and_what_came_behind_the_head),
        TEST(an_upgrade_may_be_refused_by_either_side),
        TEST(time_runs_out),
        TEST(the_head_is_waited_for_from_the_end_of_the_request),
        TEST(connecting_takes_too_long),
        TEST(aborts_in_every_state_are_silent),
        TEST(a_reader_may_refuse_the_body),
        TEST(freeing_the_client_ends_its_calls),
#ifdef TIDEPOOL_FAULT
        TEST(every_fault_ends_the_call_once),
#endif
    };
    return cmocka_run_group_tests_name("http_client", tests, NULL, NULL);
}
