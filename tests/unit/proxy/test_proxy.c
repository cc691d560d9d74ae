/* SPDX-License-Identifier: MIT */
/* The proxy between a client and a service, both played by the test over socket pairs: bytes of
 * requests and answers, bodies, upgrades, ends of all kinds, backpressure, faults. */
#include "../net/peer.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "net/http_server.h"
#include "proxy/proxy.h"

static const char *const dropped[] = {"x-api-key", NULL};

static struct loop *loop;
static struct http_server *server;
static struct proxy *proxy;
static struct proxy_pass pass; /* what the handler does with the next request */
static int client, service;    /* the test's ends */
static struct buf in, at_service;
static int n_done, n_fails, n_answers, n_dials, last_status, last_code;
static bool is_refused; /* the service's socket is one that cannot be used */
static bool is_over;    /* what the service was a part of has ended */

static void on_fail(struct http_req *r, const struct proxy_fault *f)
{
    n_fails++;
    last_code = f->code;
    http_reply(r, f->status, "text/plain", str_of(f->why));
}

static bool is_cut(void *ctx)
{
    (void)ctx;
    return is_over;
}

static void on_done(void *ctx)
{
    (void)ctx;
    n_done++;
}

static void on_answered(struct http_req *r, void *ctx)
{
    (void)ctx;
    n_answers++;
    last_status = r->status;
}

static int open_service(void)
{
    int fds[2];

    if (is_refused)
        return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    peer_pair(fds);
    if (service >= 0)
        (void)close(service);
    service = fds[1];
    return fds[0];
}

static int dial(void *ctx, const char *address, struct err *e)
{
    (void)ctx;
    n_dials++;
    assert_string_equal(address, "there");
    return is_refused ? err_sys(e, -ECONNREFUSED, "dial") : open_service();
}

static void handle(struct http_req *r, void *ctx)
{
    (void)ctx;
    struct proxy_pass p = pass;
    if (!p.address)
        p.fd = open_service();
    p.target = p.target.len ? p.target : r->head.target;
    proxy_pass(proxy, r, &p);
}

static void connect_client(void)
{
    int fds[2];

    peer_pair(fds);
    if (client >= 0)
        (void)close(client);
    client = fds[1];
    buf_clear(&in);
    http_server_adopt(server, fds[0]);
}

static int setup(void **state)
{
    const struct http_server_opts opts = {.handler = handle, .on_done = on_answered};

    (void)state;
    peer_stop_clock();
    client = service = -1;
    n_done = n_fails = n_answers = n_dials = last_status = last_code = 0;
    is_refused = is_over = false;
    buf_init(&in, 256 << 20);
    buf_init(&at_service, 256 << 20);
    pass = (struct proxy_pass){
        .fail = on_fail, .done = on_done, .rules = {.headers = dropped, .prefix = STR_INIT("/p")}};
    loop = loop_new(NULL);
    struct http_server_opts o = opts;
    o.loop = loop;
    server = http_server_new(&o, NULL);
    proxy = proxy_new(&(struct proxy_opts){.loop = loop, .dial = dial}, NULL);
    connect_client();
    return server && proxy ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    proxy_free(proxy);
    http_server_free(server);
    if (client >= 0)
        (void)close(client);
    if (service >= 0)
        (void)close(service);
    buf_done(&in);
    buf_done(&at_service);
    loop_free(loop);
    clock_set_source(NULL);
    return 0;
}

/* The client sends TEXT; the service sees the head that follows from it. */
static void ask(const char *text)
{
    buf_clear(&at_service);
    peer_send(loop, client, str_of(text));
    peer_expect(loop, service, &at_service, "\r\n\r\n");
}

static void answer(const char *text)
{
    peer_send(loop, service, str_of(text));
}

static bool client_has(const char *text)
{
    return str_find(buf_str(&in), str_of(text)) >= 0;
}

static bool service_has(const char *text)
{
    return str_find(buf_str(&at_service), str_of(text)) >= 0;
}

#define GET "GET /x?a=1 HTTP/1.1\r\nHost: h\r\n\r\n"
#define OK  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

/* ---- heads ---- */

static void requests_are_passed_on(void **state)
{
    (void)state;
    pass.target = STR("/y%2f?b=%20");
    pass.host = STR("localhost:8080");
    ask("GET /x HTTP/1.1\r\nHost: h\r\nX-API-Key: secret\r\nAccept: a\r\nConnection: x-b\r\n"
        "X-B: 1\r\n\r\n");
    assert_true(str_starts(buf_str(&at_service),
                           STR("GET /y%2f?b=%20 HTTP/1.1\r\nHost: localhost:8080\r\nAccept: a\r\n"
                               "X-Forwarded-For: unix\r\nX-Forwarded-Proto: http\r\n"
                               "X-Forwarded-Host: h\r\nX-Forwarded-Prefix: /p\r\nX-Request-Id: ")));
    assert_false(service_has("secret"));
    assert_false(service_has("X-B"));
    assert_int_equal(proxy_n_active(proxy), 1);
    answer(OK);
    peer_expect(loop, client, &in, "hi");
    assert_int_equal(n_done, 1);
    assert_int_equal(proxy_n_active(proxy), 0);
}

static void answers_are_passed_on(void **state)
{
    (void)state;
    ask(GET);
    answer("HTTP/1.1 418 Short\r\nX-A: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nServer: evil\r\n"
           "Date: never\r\nX-Request-Id: evil\r\nConnection: close, x-hop\r\nX-Hop: 1\r\n"
           "Content-Length: 3\r\n\r\nabc");
    peer_expect(loop, client, &in, "\r\n\r\nabc");
    assert_true(client_has("HTTP/1.1 418 "));
    assert_true(client_has("X-A: 1\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n"));
    assert_true(client_has("Content-Length: 3\r\n"));
    assert_false(client_has("evil"));
    assert_false(client_has("never"));
    assert_false(client_has("X-Hop"));
    assert_false(client_has("Connection: close"));
}

static void connections_of_clients_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        ask(GET);
        answer(OK);
        peer_expect(loop, client, &in, "hi");
        buf_clear(&in);
    }
    assert_int_equal(n_done, 3);
    assert_int_equal(n_answers, 3);
}

static void connections_to_services_are_kept_for_a_while(void **state)
{
    (void)state;
    pass.address = "there";
    for (int i = 0; i < 5; i++) {
        if (i == 3)
            peer_wait(loop, PROXY_KEEP_MS);
        ask(GET);
        assert_false(service_has("Connection: close"));
        answer(OK);
        peer_expect(loop, client, &in, "hi");
        buf_clear(&in);
        assert_int_equal(n_dials, i < 3 ? 1 : 2);
    }
    /* Bodies go out on them at once. */
    ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    peer_expect(loop, service, &at_service, "\r\n\r\nabc");
    answer(OK);
    peer_expect(loop, client, &in, "hi");
    buf_clear(&in);
    assert_int_equal(n_dials, 2);
    /* One that the service has closed is not used. */
    (void)close(take_fd(service));
    peer_send(loop, client, STR(GET));
    buf_clear(&at_service);
    peer_expect(loop, service, &at_service, "\r\n\r\n");
    answer(OK);
    peer_expect(loop, client, &in, "hi");
    assert_int_equal(n_dials, 3);
}

static void services_that_cannot_be_dialled_are_502(void **state)
{
    (void)state;
    pass.address = "there";
    is_refused = true;
    peer_send(loop, client, STR(GET));
    peer_expect(loop, client, &in, "Connection refused");
    assert_true(client_has("HTTP/1.1 502 "));
    assert_int_equal(last_code, -ECONNREFUSED);
    assert_int_equal(n_done, 1);
}

static void info_answers_end_here(void **state)
{
    (void)state;
    ask(GET);
    answer("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n");
    answer(OK);
    peer_expect(loop, client, &in, "hi");
    assert_false(client_has("103"));
}

static const struct {
    const char *name, *request, *answer;
    const char *expected[3]; /* parts of what the client gets */
    bool is_closed;          /* the service closes behind its answer */
} answers[] = {
    {"chunked",
     GET,
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
     {"Transfer-Encoding: chunked\r\n", "\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
     false},
    {"until close",
     GET,
     "HTTP/1.1 200 OK\r\n\r\nabc",
     {"Transfer-Encoding: chunked\r\n", "\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
     true},
    {"chunked for 1.0",
     "GET / HTTP/1.0\r\nHost: h\r\n\r\n",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
     {"Connection: close\r\n", "\r\n\r\nabc"},
     false},
    {"head",
     "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n",
     "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n",
     {"Content-Length: 77\r\n"},
     false},
    {"204", GET, "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", {"HTTP/1.1 204 ", "X-A: 1"}, false},
    {"304", GET, "HTTP/1.1 304 x\r\nETag: \"a\"\r\n\r\n", {"HTTP/1.1 304 ", "ETag: \"a\""}, false},
    {"empty", GET, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", {"Content-Length: 0"}, false},
};

static void answers_of_all_kinds_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        connect_client();
        ask(answers[i].request);
        answer(answers[i].answer);
        if (answers[i].is_closed)
            (void)close(take_fd(service));
        peer_settle(loop);
        (void)peer_take(client, &in);
        for (int k = 0; k < 3 && answers[i].expected[k]; k++)
            if (!client_has(answers[i].expected[k]))
                fail_msg("%s: %s", answers[i].name, buf_cstr(&in));
        assert_int_equal(n_done, (int)i + 1);
    }
}

/* ---- bodies of requests ---- */

static void bodies_are_streamed(void **state)
{
    (void)state;
    ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabc");
    assert_true(service_has("Content-Length: 6\r\n"));
    peer_expect(loop, service, &at_service, "\r\n\r\nabc");
    peer_send(loop, client, STR("def"));
    peer_expect(loop, service, &at_service, "abcdef");
    answer(OK);
    peer_expect(loop, client, &in, "hi");

    ask("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    assert_true(service_has("Transfer-Encoding: chunked\r\n"));
    peer_expect(loop, service, &at_service, "3\r\nabc\r\n");
    peer_send(loop, client, STR("0\r\n\r\n"));
    peer_expect(loop, service, &at_service, "0\r\n\r\n");
    answer(OK);
    peer_expect(loop, client, &in, "hi");
    assert_int_equal(n_done, 2);
}

static void waiting_clients_are_told_to_go_on(void **state)
{
    (void)state;
    ask("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_false(service_has("Expect"));
    peer_expect(loop, client, &in, "HTTP/1.1 100 Continue\r\n\r\n");
    peer_send(loop, client, STR("ab"));
    peer_expect(loop, service, &at_service, "\r\n\r\nab");
    answer(OK);
    peer_expect(loop, client, &in, "hi");
}

static void early_answers_reach_the_client(void **state)
{
    (void)state;
    ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nabc");
    answer("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
    peer_expect(loop, client, &in, "no");
    assert_true(client_has("HTTP/1.1 413 "));
    assert_int_equal(n_done, 1);
}

static void bodies_can_be_left_out(void **state)
{
    (void)state;
    pass.has_no_body = true;
    pass.method = STR("GET");
    ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    assert_true(str_starts(buf_str(&at_service), STR("GET / HTTP/1.1\r\n")));
    assert_false(service_has("Content-Length"));
    answer(OK);
    peer_expect(loop, client, &in, "hi");
}

/* ---- upgrades ---- */

#define UPGRADE                                                                                    \
    "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"                 \
    "Sec-WebSocket-Key: k\r\n\r\n"
#define SWITCH                                                                                     \
    "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"                      \
    "Sec-WebSocket-Accept: s\r\n\r\n"

static void upgrades_become_tunnels(void **state)
{
    (void)state;
    ask(UPGRADE);
    assert_true(service_has("Connection: Upgrade\r\nUpgrade: websocket\r\n"));
    assert_true(service_has("Sec-WebSocket-Key: k\r\n"));
    /* Bytes right behind both heads. */
    peer_send(loop, client, STR("early"));
    answer(SWITCH "hello");
    peer_expect(loop, client, &in, "\r\n\r\nhello");
    assert_true(client_has("HTTP/1.1 101 "));
    assert_true(client_has("Upgrade: websocket\r\n"));
    assert_true(client_has("Sec-WebSocket-Accept: s\r\n"));
    peer_expect(loop, service, &at_service, "early");
    assert_int_equal(n_answers, 1);
    assert_int_equal(n_done, 0);
    peer_send(loop, client, STR("ping"));
    peer_expect(loop, service, &at_service, "ping");
    answer("pong");
    peer_expect(loop, client, &in, "pong");
    (void)close(take_fd(client));
    peer_settle(loop);
    peer_expect_end(loop, service, &at_service);
    (void)close(take_fd(service));
    peer_settle(loop);
    assert_int_equal(n_done, 1);
}

static void refused_upgrades_are_answers(void **state)
{
    (void)state;
    ask(UPGRADE);
    answer("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
    peer_expect(loop, client, &in, "\r\n\r\nno");
    assert_int_equal(n_done, 1);
    buf_clear(&in);
    ask(GET);
    answer(OK);
    peer_expect(loop, client, &in, "hi");
}

static void tunnels_end_with_the_proxy(void **state)
{
    (void)state;
    ask(UPGRADE);
    answer(SWITCH);
    peer_expect(loop, client, &in, "101");
    proxy_free(take(proxy));
    assert_int_equal(n_done, 1);
    peer_expect_end(loop, client, &in);
    peer_expect_end(loop, service, &at_service);
}

/* ---- ends ---- */

static void clients_that_leave_end_the_call(void **state)
{
    static const char *const sent[] = {GET,
                                       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\na"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sent); i++) {
        connect_client();
        ask(sent[i]);
        (void)close(take_fd(client));
        peer_settle(loop);
        peer_expect_end(loop, service, &at_service);
        assert_int_equal(n_done, (int)i + 1);
    }
    /* In the middle of an answer, too. */
    connect_client();
    ask(GET);
    answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
    peer_expect(loop, client, &in, "abc");
    (void)close(take_fd(client));
    peer_settle(loop);
    peer_expect_end(loop, service, &at_service);
    assert_int_equal(n_done, 3);
}

static const struct {
    const char *text;
    bool is_begun;
} broken[] = {
    {"", false},
    {"HTTP/1.1 200 OK\r\nCont", false},
    {"nonsense\r\n\r\n", false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", true},
};

/* A broken answer is an error when it has not begun, and never looks complete when it has. */
static void broken_answers_are_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        connect_client();
        ask(GET);
        answer(broken[i].text);
        (void)close(take_fd(service));
        peer_settle(loop);
        bool is_end = peer_take(client, &in);
        assert_int_equal(is_end, broken[i].is_begun);
        if (!broken[i].is_begun && !client_has("HTTP/1.1 502 "))
            fail_msg("%zu: %s", i, buf_cstr(&in));
        assert_false(client_has("\r\n0\r\n\r\n"));
        assert_int_equal(n_done, (int)i + 1);
    }
}

/* What has no length ends with its connection; but who knows that it ended too early may say so. */
static void answers_that_may_be_cut_are_reset(void **state)
{
    static const char *const ends[] = {"HTTP/1.1 200 OK\r\n\r\nab", OK};

    (void)state;
    pass.is_cut = is_cut;
    for (int i = 0; i < 4; i++) {
        is_over = i >= 2;
        connect_client();
        ask(GET);
        answer(ends[i % 2]);
        (void)close(take_fd(service));
        peer_settle(loop);
        assert_int_equal(n_done, i + 1);
        bool is_end = peer_take(client, &in);
        assert_int_equal(is_end, is_over && i % 2 == 0);
        if (!is_end && !client_has(i % 2 ? "\r\n\r\nhi" : "\r\n0\r\n\r\n"))
            fail_msg("%d: %s", i, buf_cstr(&in));
    }
    assert_int_equal(n_fails, 0);
}

static void services_that_are_not_there_are_502(void **state)
{
    (void)state;
    is_refused = true;
    peer_send(loop, client, STR(GET));
    peer_expect(loop, client, &in, "HTTP/1.1 502 ");
    assert_int_equal(n_fails, 1);
    assert_int_equal(n_done, 1);
}

static void bad_bodies_are_answered(void **state)
{
    (void)state;
    ask("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
    peer_expect(loop, client, &in, "HTTP/1.1 400 ");
    peer_expect_end(loop, service, &at_service);
    assert_int_equal(n_done, 1);
}

static void silence_is_allowed(void **state)
{
    (void)state;
    ask(GET);
    peer_wait(loop, 3600 * 1000);
    answer("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
    peer_expect(loop, client, &in, "text/event-stream\r\n");
    peer_wait(loop, 3600 * 1000);
    answer("data: 1\n\n");
    peer_expect(loop, client, &in, "data: 1\n\n");
    assert_int_equal(n_done, 0);
}

/* ---- backpressure ---- */

/* Byte number AT of what is pumped. */
static char byte_at(size_t at)
{
    return (char)(at * 31 + (at >> 8) * 7 + (at >> 16));
}

/* Writes bytes number AT and following to FD until nothing is taken any more; returns how many
 * were. */
static size_t fill(int fd, size_t at, size_t most)
{
    static char chunk[65536];
    size_t total = 0;

    for (int refusals = 0; refusals < 5 && total < most;) {
        size_t part = most - total < sizeof chunk ? most - total : sizeof chunk;
        for (size_t i = 0; i < part; i++)
            chunk[i] = byte_at(at + total + i);
        ssize_t n = send(fd, chunk, part, MSG_NOSIGNAL);
        refusals = n > 0 ? 0 : refusals + 1;
        total += n > 0 ? (size_t)n : 0;
        peer_settle(loop);
    }
    return total;
}

/* Sends SIZE bytes from FROM and reads them at TO: nothing is lost and little is kept. */
static void pump(int from, int to, struct buf *out, size_t size)
{
    size_t before = out->len, sent = fill(from, 0, size);

    assert_true(sent < (size_t)4 << 20);
    while (sent < size || out->len - before < size) {
        size_t had = out->len;
        (void)peer_take(to, out);
        peer_settle(loop);
        size_t more = fill(from, sent, size - sent);
        sent += more;
        assert_true(more > 0 || out->len > had);
    }
    assert_int_equal(out->len - before, size);
    for (size_t i = 0; i < size; i++)
        if (out->p[before + i] != byte_at(i))
            fail_msg("byte %zu is another one", i);
}

static void slow_readers_hold_the_service(void **state)
{
    enum { SIZE = 16 << 20 };

    (void)state;
    ask(GET);
    answer("HTTP/1.1 200 OK\r\nContent-Length: 16777216\r\n\r\n");
    peer_expect(loop, client, &in, "\r\n\r\n");
    pump(service, client, &in, SIZE);
    assert_int_equal(n_done, 1);
}

static void slow_services_hold_the_client(void **state)
{
    enum { SIZE = 16 << 20 };

    (void)state;
    ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 16777216\r\n\r\n");
    pump(client, service, &at_service, SIZE);
    answer(OK);
    peer_expect(loop, client, &in, "hi");
    assert_int_equal(n_done, 1);
}

/* ---- filters ---- */

static bool filter_begin(void *ctx, const struct http_head *head, int64_t *length)
{
    (void)ctx;
    *length = *length < 0 ? -1 : *length + 2;
    return head->status == 200;
}

static void filter_data(void *ctx, struct http_req *r, const char *p, size_t len)
{
    bool *is_begun = ctx;

    if (!*is_begun)
        (void)http_write(r, "<", 1);
    *is_begun = true;
    (void)http_write(r, p, len);
}

static void filter_end(void *ctx, struct http_req *r)
{
    (void)ctx;
    (void)http_write(r, ">", 1);
}

static void filters_change_bodies(void **state)
{
    bool is_begun = false;
    const struct proxy_filter filter = {filter_begin, filter_data, filter_end, NULL, &is_begun};

    (void)state;
    pass.filter = &filter;
    ask(GET);
    answer(OK);
    peer_expect(loop, client, &in, "\r\n\r\n<hi>");
    assert_true(client_has("Content-Length: 4\r\n"));
    ask(GET);
    answer("HTTP/1.1 404 x\r\nContent-Length: 2\r\n\r\nno");
    peer_expect(loop, client, &in, "\r\n\r\nno");
}

/* ---- faults ---- */

/* Whatever fails, the exchange ends once and nothing is left. */
static void every_fault_ends_the_exchange(void **state)
{
    static const char *const requests[] = {
        GET, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", UPGRADE};
    static const char *const replies[] = {OK, OK, SWITCH "hello"};

    (void)state;
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        for (unsigned k = 0; k < 3; k++)
            for (unsigned nth = 1; nth < 40; nth++) {
                connect_client();
                n_done = 0;
                fault_arm((enum fault_kind)kind, nth);
                (void)!send(client, requests[k], strlen(requests[k]), MSG_NOSIGNAL);
                peer_settle(loop);
                if (service >= 0)
                    (void)!send(service, replies[k], strlen(replies[k]), MSG_NOSIGNAL);
                peer_settle(loop);
                fault_arm((enum fault_kind)kind, 0);
                (void)close(take_fd(client));
                peer_settle(loop);
                if (service >= 0)
                    (void)close(take_fd(service));
                peer_settle(loop);
                assert_true(n_done <= 1);
                assert_int_equal(proxy_n_active(proxy), 0);
                service = -1;
            }
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_are_passed_on),
        TEST(answers_are_passed_on),
        TEST(connections_of_clients_are_kept),
        TEST(connections_to_services_are_kept_for_a_while),
        TEST(services_that_cannot_be_dialled_are_502),
        TEST(info_answers_end_here),
        TEST(answers_of_all_kinds_are_complete),
        TEST(bodies_are_streamed),
        TEST(waiting_clients_are_told_to_go_on),
        TEST(early_answers_reach_the_client),
        TEST(bodies_can_be_left_out),
        TEST(upgrades_become_tunnels),
        TEST(refused_upgrades_are_answers),
        TEST(tunnels_end_with_the_proxy),
        TEST(clients_that_leave_end_the_call),
        TEST(broken_answers_are_seen),
        TEST(answers_that_may_be_cut_are_reset),
        TEST(services_that_are_not_there_are_502),
        TEST(bad_bodies_are_answered),
        TEST(silence_is_allowed),
        TEST(slow_readers_hold_the_service),
        TEST(slow_services_hold_the_client),
        TEST(filters_change_bodies),
        TEST(every_fault_ends_the_exchange),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
