/* SPDX-License-Identifier: MIT */
/* The HTTP client's pool of connections and its retries, against a scripted peer; whole responses
 * and a small proxy, against the HTTP server; hop-by-hop headers. */
#include "record.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "net/http_hop.h"
#include "net/http_server.h"

/* ---- the pool ---- */

struct place {
    int listener;
    char address[40];
    struct http_client *client;
    struct buf in;
};

static void open_place(struct place *p, const struct http_client_opts *opts)
{
    struct http_client_opts o = *opts;

    o.loop = loop;
    p->listener = http_listen("127.0.0.1:0", false, NULL);
    assert_true(p->listener >= 0);
    (void)snprintf(p->address, sizeof p->address, "127.0.0.1:%d", http_listen_port(p->listener));
    p->client = http_client_new(&o, NULL);
    assert_non_null(p->client);
    buf_init(&p->in, 1 << 20);
}

static void close_place(struct place *p)
{
    http_client_free(p->client);
    (void)close(p->listener);
    buf_done(&p->in);
}

static void call(struct place *p, struct record *r, const char *method)
{
    struct http_request req = {.method = str_of(method), .target = STR("/"), .address = p->address};

    buf_clear(&r->log);
    r->call = http_client_call(p->client, &req, &record_ops, r, NULL);
    assert_non_null(r->call);
}

/* The peer's part of a whole call on FD. */
static void answer(struct place *p, int fd, const char *bytes)
{
    buf_clear(&p->in);
    peer_expect(loop, fd, &p->in, "\r\n\r\n");
    peer_send(loop, fd, str_of(bytes));
}

static const struct http_client_opts plain = {.timeouts = {1000, 2000, 3000, 4000}};

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static void connections_are_used_again(void **state)
{
    struct place p;
    struct record r;

    (void)state;
    open_place(&p, &plain);
    record_init(&r);
    call(&p, &r, "GET");
    int fd = peer_accept(loop, p.listener);
    answer(&p, fd, OK);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(http_client_stats(p.client).n_kept, 1);
        call(&p, &r, "POST");
        answer(&p, fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
        assert_string_equal(buf_cstr(&r.log), "h200 .");
    }
    assert_int_equal(http_client_stats(p.client).connects, 1);
    assert_int_equal(http_client_stats(p.client).reuses, 5);
    /* It is closed when nobody uses it. */
    peer_wait(loop, 3999);
    assert_int_equal(http_client_stats(p.client).n_kept, 1);
    peer_wait(loop, 2);
    assert_int_equal(http_client_stats(p.client).n_kept, 0);
    peer_expect_end(loop, fd, &p.in);
    (void)close(fd);
    buf_done(&r.log);
    close_place(&p);
}

static void some_connections_are_not_used_again(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        OK "x",
        OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    };
    struct place p;
    struct record r;

    (void)state;
    open_place(&p, &plain);
    record_init(&r);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        call(&p, &r, "GET");
        int fd = peer_accept(loop, p.listener);
        answer(&p, fd, answers[i]);
        assert_string_equal(buf_cstr(&r.log), "h200 ok.");
        assert_int_equal(http_client_stats(p.client).n_kept, 0);
        peer_expect_end(loop, fd, &p.in);
        (void)close(fd);
    }
    buf_done(&r.log);
    close_place(&p);
}

static void the_pool_has_limits(void **state)
{
    enum { N = 6 };
    struct http_client_opts opts = plain;
    struct place p;
    struct record r[N];
    int fds[N], others[N];

    (void)state;
    opts.max_kept = 4;
    opts.max_kept_per_address = 3;
    open_place(&p, &opts);
    for (int i = 0; i < N; i++) {
        record_init(&r[i]);
        call(&p, &r[i], "GET");
        fds[i] = peer_accept(loop, p.listener);
    }
    for (int i = 0; i < N; i++)
        answer(&p, fds[i], OK);
    assert_int_equal(http_client_stats(p.client).n_kept, 3);
    /* Other addresses push the oldest out. */
    for (int i = 0; i < N; i++) {
        char name[16];
        int pair[2];
        struct http_request req = {.method = STR("GET"), .target = STR("/"), .address = name};
        (void)snprintf(name, sizeof name, "other%d", i);
        peer_pair(pair);
        req.fd = pair[0];
        (void)http_client_call(p.client, &req, &record_ops, &r[i], NULL);
        answer(&p, pair[1], OK);
        assert_int_equal(http_client_stats(p.client).n_kept, 4);
        others[i] = pair[1];
    }
    for (int i = 0; i < N; i++) {
        (void)close(others[i]);
        (void)close(fds[i]);
        buf_done(&r[i].log);
    }
    peer_settle(loop); /* the peers closed: all gone */
    assert_int_equal(http_client_stats(p.client).n_kept, 0);
    close_place(&p);
}

/* Leaves one kept connection, whose peer is returned. */
static int keep_one(struct place *p, struct record *r)
{
    call(p, r, "GET");
    int fd = peer_accept(loop, p->listener);
    answer(p, fd, OK);
    assert_int_equal(http_client_stats(p->client).n_kept, 1);
    return fd;
}

static void a_dead_connection_is_noticed_before_it_is_used(void **state)
{
    struct place p;
    struct record r;

    (void)state;
    open_place(&p, &plain);
    record_init(&r);
    /* The loop has not yet seen the end, or the stray bytes. */
    for (int i = 0; i < 2; i++) {
        int fd = keep_one(&p, &r);
        if (i == 0)
            (void)close(fd);
        else
            assert_int_equal(write(fd, "HTTP/1.1 200 OK\r\n", 17), 17);
        call(&p, &r, "POST");
        int fresh = peer_accept(loop, p.listener);
        answer(&p, fresh, OK);
        assert_string_equal(buf_cstr(&r.log), "h200 ok.");
        assert_int_equal(http_client_stats(p.client).retries, 0);
        (void)close(fresh);
        if (i == 1)
            (void)close(fd);
        peer_settle(loop);
    }
    buf_done(&r.log);
    close_place(&p);
}

/* The peer closes a kept connection just when a request arrives on it. */
static void only_idempotent_requests_are_tried_again(void **state)
{
    static const struct {
        const char *method;
        bool is_retried;
    } rows[] = {{"GET", true},   {"HEAD", true},   {"PUT", true},     {"DELETE", true},
                {"POST", false}, {"PATCH", false}, {"OPTIONS", true}, {"LOCK", false}};
    struct place p;
    struct record r;

    (void)state;
    open_place(&p, &plain);
    record_init(&r);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int fd = keep_one(&p, &r);
        uint64_t before = http_client_stats(p.client).retries;
        call(&p, &r, rows[i].method);
        buf_clear(&p.in);
        peer_expect(loop, fd, &p.in, "\r\n\r\n");
        (void)close(fd);
        peer_settle(loop);
        assert_int_equal(http_client_stats(p.client).retries - before, rows[i].is_retried);
        if (!rows[i].is_retried) {
            assert_int_equal(r.result, -ECONNRESET);
            assert_string_equal(buf_cstr(&r.log), "!");
            continue;
        }
        fd = peer_accept(loop, p.listener);
        answer(&p, fd, "HTTP/1.1 204 x\r\n\r\n");
        assert_string_equal(buf_cstr(&r.log), "h204 .");
        (void)close(fd);
        peer_settle(loop);
    }
    buf_done(&r.log);
    close_place(&p);
}

static void a_request_is_tried_again_once_and_only_before_the_first_byte(void **state)
{
    struct place p;
    struct record r;

    (void)state;
    open_place(&p, &plain);
    record_init(&r);
    int fd = keep_one(&p, &r);
    call(&p, &r, "GET");
    buf_clear(&p.in);
    peer_expect(loop, fd, &p.in, "\r\n\r\n");
    (void)close(fd);
    fd = peer_accept(loop, p.listener);
    buf_clear(&p.in);
    peer_expect(loop, fd, &p.in, "\r\n\r\n");
    (void)close(fd);
    peer_settle(loop);
    assert_int_equal(r.result, -ECONNRESET);
    assert_int_equal(http_client_stats(p.client).retries, 1);

    fd = keep_one(&p, &r);
    call(&p, &r, "GET");
    answer(&p, fd, "H");
    (void)close(fd);
    peer_settle(loop);
    assert_int_equal(r.result, -ECONNRESET);
    assert_int_equal(http_client_stats(p.client).retries, 1);
    buf_done(&r.log);
    close_place(&p);
}

static void nobody_listens(void **state)
{
    struct place p;
    struct record r;
    char path[] = "/tmp/http_pool.XXXXXX", address[64];

    (void)state;
    open_place(&p, &plain);
    record_init(&r);
    (void)close(p.listener);
    call(&p, &r, "GET");
    peer_settle(loop);
    assert_int_equal(r.result, -ECONNREFUSED);
    assert_string_equal(r.why, "connect: Connection refused");
    /* A unix socket refuses at once. */
    int fd = mkstemp(path);
    struct http_request req = {.method = STR("GET"), .target = STR("/"), .address = address};
    struct err e = ERR_INIT;
    (void)snprintf(address, sizeof address, "unix:%s", path);
    assert_null(http_client_call(p.client, &req, &record_ops, &r, &e));
    assert_int_equal(e.code, -ECONNREFUSED);
    (void)close(fd);
    (void)unlink(path);
    p.listener = -1;
    buf_done(&r.log);
    close_place(&p);
}

static int dial_pair(void *ctx, const char *address, struct err *e)
{
    int *fds = ctx;

    if (strcmp(address, "cell:1") != 0)
        return err_set(e, -EHOSTUNREACH, "no such cell");
    peer_pair(fds);
    return fds[0];
}

static void the_owner_may_dial(void **state)
{
    int fds[2] = {-1, -1};
    struct http_client_opts opts = plain;
    struct http_request req = {.method = STR("GET"), .target = STR("/"), .address = "cell:1"};
    struct buf in auto_buf = BUF_INIT(65536);
    struct err e = ERR_INIT;
    struct record r;

    (void)state;
    opts.loop = loop;
    opts.dial = dial_pair;
    opts.ctx = fds;
    struct http_client *c = http_client_new(&opts, NULL);
    record_init(&r);
    for (int i = 0; i < 2; i++) {
        assert_non_null(http_client_call(c, &req, &record_ops, &r, NULL));
        peer_expect(loop, fds[1], &in, "Host: cell:1\r\n\r\n");
        peer_send(loop, fds[1], STR(OK));
        assert_int_equal(r.n_ends, i + 1);
    }
    assert_int_equal(http_client_stats(c).connects, 1);
    req.address = "cell:2";
    assert_null(http_client_call(c, &req, &record_ops, &r, &e));
    assert_string_equal(err_text(&e), "no such cell");
    http_client_free(c);
    (void)close(fds[1]);
    buf_done(&r.log);
}

/* ---- with the HTTP server ---- */

static void echo(struct http_req *r, void *ctx)
{
    (void)ctx;
    (void)http_add_header(r, "X-Method", r->head.method_text);
    http_reply(r, 200, "text/plain", r->body.len ? r->body : r->head.target);
}

static void echo_handler(struct http_req *r, void *ctx)
{
    http_read_body(r, 32 << 20, echo, ctx);
}

/* A server that listens on ADDRESS; fills REAL with where that is. */
static struct http_server *serve(const char *address, http_handler *handler, void *ctx,
                                 char real[64])
{
    struct http_server_opts opts = {.loop = loop,
                                    .handler = handler,
                                    .ctx = ctx,
                                    .limits = HTTP_LIMITS_DEFAULT,
                                    .timeouts = HTTP_TIMEOUTS_DEFAULT};
    struct http_server *s = http_server_new(&opts, NULL);
    int fd = http_listen(address, false, NULL);

    assert_non_null(s);
    assert_true(fd >= 0);
    if (strncmp(address, "unix:", 5) == 0)
        (void)snprintf(real, 64, "%s", address);
    else
        (void)snprintf(real, 64, "127.0.0.1:%d", http_listen_port(fd));
    assert_int_equal(http_server_listen(s, fd, NULL), 0);
    return s;
}

struct got {
    int n, error, status;
    struct buf body;
    char why[100], method[16];
};

static void fetched(void *ctx, const struct http_response *r)
{
    struct got *g = ctx;

    g->n++;
    g->error = r->error;
    g->status = r->error ? 0 : r->head.status;
    (void)snprintf(g->why, sizeof g->why, "%s", r->why);
    buf_clear(&g->body);
    if (r->error)
        return;
    (void)buf_add_str(&g->body, r->body);
    (void)snprintf(g->method, sizeof g->method, STR_FMT,
                   STR_ARG(http_header_get(&r->head.headers, "X-Method")));
}

static void wait_for(const int *n, int want)
{
    for (int i = 0; i < 20000 && *n < want; i++)
        (void)loop_run_once(loop, 1);
    assert_int_equal(*n, want);
}

static void whole_responses(void **state)
{
    char dir[] = "/tmp/http_pool.XXXXXX", unix_address[64], real[64];
    auto_free char *big = calloc(1, 3 << 20);

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(unix_address, sizeof unix_address, "unix:%s/s", dir);
    for (int i = 0; i < 2; i++) {
        struct http_server *s = serve(i ? unix_address : "127.0.0.1:0", echo_handler, NULL, real);
        struct http_client *c = new_client();
        struct got g = {.body = BUF_INIT(32 << 20)};
        struct http_request req = {.method = STR("GET"), .target = STR("/a?b"), .address = real};
        assert_non_null(http_client_fetch(c, &req, fetched, &g, NULL));
        wait_for(&g.n, 1);
        assert_string_equal(g.why, "");
        assert_string_equal(buf_cstr(&g.body), "/a?b");
        req.method = STR("PUT");
        req.body = str_n(big, 3 << 20);
        req.max_body = 3 << 20;
        assert_non_null(http_client_fetch(c, &req, fetched, &g, NULL));
        wait_for(&g.n, 2);
        assert_int_equal(g.status, 200);
        assert_int_equal(g.body.len, 3 << 20);
        assert_string_equal(g.method, "PUT");
        req.max_body--;
        assert_non_null(http_client_fetch(c, &req, fetched, &g, NULL));
        wait_for(&g.n, 3);
        assert_int_equal(g.error, -EMSGSIZE);
        assert_string_equal(g.why, "response body: too large");
        /* An aborted fetch is silent and leaves nothing. */
        struct http_call *gone = http_client_fetch(c, &req, fetched, &g, NULL);
        http_call_abort(gone);
        peer_settle(loop);
        assert_int_equal(g.n, 3);
        assert_int_equal(http_client_stats(c).connects, 2);
        http_client_free(c);
        http_server_free(s);
        peer_settle(loop);
        buf_done(&g.body);
    }
    (void)unlink(unix_address + 5);
    (void)rmdir(dir);
}

/* ---- a small proxy: streams both ways, and holds each side back for the other ---- */

struct proxy {
    struct http_client *client;
    const char *address;
};

struct passage {
    struct http_req *req;
    struct http_call *call;
};

static void up_head(struct http_call *c, void *ctx, const struct http_head *head)
{
    struct passage *p = ctx;
    struct http_headers pass;

    (void)c;
    assert_int_equal(http_hop_headers(p->req->arena, &head->headers, &pass), 0);
    for (size_t i = 0; i < pass.n; i++) {
        const char *name = arena_str(p->req->arena, pass.items[i].name).p;
        if (!str_iis(pass.items[i].name, "date") && !str_iis(pass.items[i].name, "x-request-id"))
            (void)http_add_header(p->req, name, pass.items[i].value);
    }
    http_start(p->req, head->status, NULL, head->is_chunked ? -1 : head->content_length);
}

static int up_data(struct http_call *c, void *ctx, const char *bytes, size_t len)
{
    struct passage *p = ctx;
    int r = http_write(p->req, bytes, len);

    if (http_is_full(p->req))
        http_call_pause(c);
    return r;
}

static void up_drain(struct http_call *c, void *ctx)
{
    (void)c;
    http_body_resume(((struct passage *)ctx)->req);
}

static void up_end(struct http_call *c, void *ctx, int result, const char *why)
{
    struct passage *p = ctx;

    (void)c;
    p->call = NULL;
    if (result == 0)
        http_end(p->req);
    else if (p->req->status == 0)
        http_reply(p->req, 502, "text/plain", str_of(why));
    else
        http_abort(p->req);
}

static const struct http_call_ops up_ops = {
    .on_head = up_head, .on_data = up_data, .on_drain = up_drain, .on_end = up_end};

static void down_drain(struct http_req *r, void *ctx)
{
    (void)r;
    http_call_resume(((struct passage *)ctx)->call);
}

static int down_data(struct http_req *r, void *ctx, const char *bytes, size_t len)
{
    struct passage *p = ctx;
    int e = p->call ? http_call_write(p->call, bytes, len) : -EPIPE;

    if (e == 0 && http_call_is_full(p->call))
        http_body_pause(r);
    return e;
}

static void down_end(struct http_req *r, void *ctx)
{
    struct passage *p = ctx;

    (void)r;
    if (p->call)
        (void)http_call_end(p->call);
}

static void down_abort(struct http_req *r)
{
    struct passage *p = r->user;

    if (p->call)
        http_call_abort(p->call);
    http_abort(r);
}

static void proxy_handler(struct http_req *r, void *ctx)
{
    static const struct http_body_sink sink = {down_data, down_end};
    struct proxy *proxy = ctx;
    struct passage *p = arena_new(r->arena, struct passage);
    struct http_headers pass;
    struct err e = ERR_INIT;
    bool has_body = r->head.is_chunked || r->head.content_length > 0;

    assert_int_equal(http_hop_headers(r->arena, &r->head.headers, &pass), 0);
    struct http_header *kept = pass.items;
    size_t n = 0;
    for (size_t i = 0; i < pass.n; i++)
        if (!str_iis(kept[i].name, "host"))
            kept[n++] = kept[i];
    struct http_request req = {
        .address = proxy->address,
        .method = r->head.method_text,
        .target = r->head.target,
        .host = r->head.host,
        .headers = kept,
        .n_headers = n,
        .is_streamed = has_body,
        .length = r->head.is_chunked ? -1 : r->head.content_length,
    };
    p->req = r;
    r->user = p;
    r->on_abort = down_abort;
    p->call = http_client_call(proxy->client, &req, &up_ops, p, &e);
    if (!p->call) {
        http_reply(r, 502, "text/plain", str_of(err_text(&e)));
        return;
    }
    http_on_drain(r, down_drain, p);
    if (has_body) {
        http_stream_body(r, UINT64_MAX, &sink, p);
        if (http_call_is_full(p->call))
            http_body_pause(r);
    }
}

static void a_proxy_passes_everything(void **state)
{
    enum { BIG = 12 << 20 };
    char back[64], front[64];
    struct proxy proxy = {.client = new_client(), .address = back};
    struct http_server *origin = serve("127.0.0.1:0", echo_handler, NULL, back);
    struct http_server *middle = serve("127.0.0.1:0", proxy_handler, &proxy, front);
    struct http_client *c = new_client();
    struct got g = {.body = BUF_INIT(32 << 20)};
    auto_free char *big = malloc(BIG);

    (void)state;
    for (size_t i = 0; i < BIG; i++)
        big[i] = (char)(i * 31 + (i >> 13));
    struct http_request req = {.method = STR("GET"), .target = STR("/p"), .address = front};
    for (int i = 0; i < 20; i++) {
        assert_non_null(http_client_fetch(c, &req, fetched, &g, NULL));
        wait_for(&g.n, i + 1);
        assert_string_equal(buf_cstr(&g.body), "/p");
    }
    assert_int_equal(http_client_stats(c).connects, 1);
    assert_int_equal(http_client_stats(proxy.client).connects, 1);
    req.method = STR("POST");
    req.body = str_n(big, BIG);
    req.max_body = BIG;
    assert_non_null(http_client_fetch(c, &req, fetched, &g, NULL));
    wait_for(&g.n, 21);
    assert_string_equal(g.why, "");
    assert_int_equal(g.body.len, BIG);
    assert_memory_equal(g.body.p, big, BIG);
    assert_string_equal(g.method, "POST");
    /* The origin goes away. */
    http_server_free(origin);
    peer_settle(loop);
    req.method = STR("GET");
    req.body = STR_NULL;
    assert_non_null(http_client_fetch(c, &req, fetched, &g, NULL));
    wait_for(&g.n, 22);
    assert_int_equal(g.status, 502);
    assert_string_equal(buf_cstr(&g.body), "connect: Connection refused");
    http_client_free(c);
    http_client_free(proxy.client);
    http_server_free(middle);
    peer_settle(loop);
    buf_done(&g.body);
}

/* ---- hop-by-hop headers ---- */

static void hop_headers(void **state)
{
    static struct http_header all[] = {
        {STR_INIT("Host"), STR_INIT("h")},
        {STR_INIT("Connection"), STR_INIT("close, X-Secret ,host")},
        {STR_INIT("X-Secret"), STR_INIT("1")},
        {STR_INIT("Keep-Alive"), STR_INIT("timeout=5")},
        {STR_INIT("TE"), STR_INIT("trailers")},
        {STR_INIT("Trailer"), STR_INIT("X")},
        {STR_INIT("transfer-encoding"), STR_INIT("chunked")},
        {STR_INIT("Upgrade"), STR_INIT("x")},
        {STR_INIT("Proxy-Authorization"), STR_INIT("x")},
        {STR_INIT("Content-Length"), STR_INIT("1")},
        {STR_INIT("connection"), STR_INIT("x-other")},
        {STR_INIT("x-other"), STR_INIT("1")},
        {STR_INIT("X-Secrets"), STR_INIT("stay")},
        {STR_INIT("Cookie"), STR_INIT("a=b")},
    };
    const struct http_headers headers = {all, ARRAY_LEN(all)};
    struct http_headers pass;
    struct arena a auto_arena;

    (void)state;
    arena_init(&a, 4096);
    assert_int_equal(http_hop_headers(&a, &headers, &pass), 0);
    assert_int_equal(pass.n, 3);
    assert_str(pass.items[0].name, "Host");
    assert_str(pass.items[1].name, "X-Secrets");
    assert_str(pass.items[2].name, "Cookie");
    assert_int_equal(http_hop_headers(&a, &(struct http_headers){NULL, 0}, &pass), 0);
    assert_int_equal(pass.n, 0);
}

#ifdef TIDEPOOL_FAULT
/* The second call of this pair reuses the connection, finds it dead and tries again. */
static bool retry_with_fault(enum fault_kind kind, unsigned nth)
{
    struct place p;
    struct got g = {.body = BUF_INIT(4096)};
    struct record r;

    open_place(&p, &plain);
    record_init(&r);
    int fd = keep_one(&p, &r), fresh = -1;
    struct http_request req = {.method = STR("GET"), .target = STR("/"), .address = p.address};
    fault_arm(kind, nth);
    struct http_call *c = http_client_fetch(p.client, &req, fetched, &g, NULL);
    for (int i = 0; i < 3; i++)
        (void)loop_run_once(loop, 0);
    (void)close(fd);
    for (int i = 0; i < 10 && g.n == 0; i++) {
        (void)loop_run_once(loop, 0);
        if (fresh < 0)
            fresh = accept(p.listener, NULL, NULL);
        if (i == 5 && fresh >= 0)
            (void)!write(fresh, OK, sizeof OK - 1);
    }
    bool fired = fault_fired(kind);
    fault_arm(kind, 0);
    peer_wait(loop, 5000);
    assert_int_equal(g.n, c ? 1 : 0);
    if (!fired)
        assert_string_equal(buf_cstr(&g.body), "ok");
    if (fresh >= 0)
        (void)close(fresh);
    buf_done(&g.body);
    buf_done(&r.log);
    close_place(&p);
    return fired;
}

static void every_fault_of_a_retry_ends_the_call_once(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        for (unsigned nth = 1; retry_with_fault((enum fault_kind)kind, nth); nth++)
            assert_true(nth < 200);
}
#endif

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(connections_are_used_again),
        TEST(some_connections_are_not_used_again),
        TEST(the_pool_has_limits),
        TEST(a_dead_connection_is_noticed_before_it_is_used),
        TEST(only_idempotent_requests_are_tried_again),
        TEST(a_request_is_tried_again_once_and_only_before_the_first_byte),
        TEST(nobody_listens),
        TEST(the_owner_may_dial),
        TEST(whole_responses),
        TEST(a_proxy_passes_everything),
        TEST(hop_headers),
#ifdef TIDEPOOL_FAULT
        TEST(every_fault_of_a_retry_ends_the_call_once),
#endif
    };
    return cmocka_run_group_tests_name("http_pool", tests, NULL, NULL);
}
