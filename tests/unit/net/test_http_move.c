/* SPDX-License-Identifier: MIT */
/* Requests that move between two servers on two threads: connections are accepted by "io", plain
 * answers are made on "core", bulk answers and uploads on "io" again. Also run under the thread
 * checker. */
#include "../check.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "net/http_server.h"
#include "sys/io.h"

enum { BULK = 1 << 20, ROUNDS = 200 };

struct place {
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    struct loop_msg msg;
    atomic_int n_done;
};

static struct place core, io;
static atomic_int n_aborts, n_begun;
static int port;

/* ---- handlers ---- */

static void say_where(struct http_req *r, void *ctx)
{
    struct place *here = ctx;

    assert_true(loop_is_mine(here->loop));
    assert_ptr_equal(r->loop, here->loop);
    http_reply(r, 200, "text/plain", here == &core ? STR("core") : STR("io"));
}

static char piece[16384];

static void make_bulk(struct http_req *r, void *ctx)
{
    assert_true(loop_is_mine(((struct place *)ctx)->loop));
    while (r->sent_bytes < BULK && !http_is_full(r))
        if (http_write(r, piece, sizeof piece) < 0)
            break;
    if (r->sent_bytes >= BULK || http_write(r, "", 0) < 0)
        http_end(r);
}

static void start_bulk(struct http_req *r, void *ctx)
{
    http_start(r, 200, "application/octet-stream", BULK);
    http_on_drain(r, make_bulk, ctx);
    make_bulk(r, ctx);
}

static int count_upload(struct http_req *r, void *ctx, const char *p, size_t len)
{
    (void)p;
    assert_true(loop_is_mine(((struct place *)ctx)->loop));
    r->user = (void *)((uintptr_t)r->user + len);
    return 0;
}

static void end_upload(struct http_req *r, void *ctx)
{
    (void)ctx;
    http_reply(r, 200, "text/plain", arena_printf(r->arena, "%zu", (size_t)(uintptr_t)r->user));
}

static const struct http_body_sink upload_sink = {count_upload, end_upload};

static void lose_upload(struct http_req *r)
{
    (void)atomic_fetch_add(&n_aborts, 1);
    http_reply(r, 400, NULL, STR_NULL);
}

static void start_upload(struct http_req *r, void *ctx)
{
    r->on_abort = lose_upload;
    http_stream_body(r, BULK, &upload_sink, ctx);
}

/* On core, whoever accepted the request. */
static void route(struct http_req *r, void *ctx)
{
    assert_true(loop_is_mine(core.loop));
    if (str_is(r->head.path, "/bulk"))
        http_move(r, io.server, start_bulk, &io);
    else if (str_is(r->head.path, "/upload"))
        http_move(r, io.server, start_upload, &io);
    else
        say_where(r, ctx);
}

static void handle_on_core(struct http_req *r, void *ctx)
{
    (void)atomic_fetch_add(&n_begun, 1);
    route(r, ctx);
}

static void handle_on_io(struct http_req *r, void *ctx)
{
    assert_true(loop_is_mine(((struct place *)ctx)->loop));
    (void)atomic_fetch_add(&n_begun, 1);
    http_move(r, core.server, route, &core);
}

static void count_done(struct http_req *r, void *ctx)
{
    (void)r;
    (void)atomic_fetch_add(&((struct place *)ctx)->n_done, 1);
}

/* ---- threads ---- */

static void drained(void *ctx)
{
    loop_stop(((struct place *)ctx)->loop);
}

static void drain(struct loop_msg *m)
{
    struct place *p = container_of(m, struct place, msg);

    http_server_drain(p->server, 10000, drained, p);
}

static void *run_place(void *arg)
{
    assert_int_equal(loop_run(((struct place *)arg)->loop), 0);
    return NULL;
}

static void open_place(struct place *p, http_handler *handler)
{
    *p = (struct place){.loop = loop_new(NULL)};
    const struct http_server_opts opts = {
        .loop = p->loop, .handler = handler, .ctx = p, .on_done = count_done};
    p->server = http_server_new(&opts, NULL);
    assert_non_null(p->server);
}

static int setup(void **state)
{
    (void)state;
    n_aborts = n_begun = 0;
    open_place(&core, handle_on_core);
    open_place(&io, handle_on_io);
    int fd = http_listen("127.0.0.1:0", true, NULL);
    port = http_listen_port(fd);
    assert_int_equal(http_server_listen(io.server, fd, NULL), 0);
    assert_int_equal(pthread_create(&core.thread, NULL, run_place, &core), 0);
    assert_int_equal(pthread_create(&io.thread, NULL, run_place, &io), 0);
    return 0;
}

/* Waits until no request is under way: a peer sees its answer before the server is done with it. */
static void settle(void)
{
    for (int i = 0; i < 10000 && n_begun != io.n_done + core.n_done; i++)
        (void)usleep(1000);
    assert_int_equal(n_begun, io.n_done + core.n_done);
}

/* A request that is on its way would find its new server gone: waits for all of them. */
static int teardown(void **state)
{
    struct place *places[] = {&io, &core};

    (void)state;
    settle();
    for (int i = 0; i < 2; i++)
        loop_post(places[i]->loop, &places[i]->msg, drain);
    for (int i = 0; i < 2; i++)
        (void)pthread_join(places[i]->thread, NULL);
    for (int i = 0; i < 2; i++) {
        http_server_free(places[i]->server);
        loop_free(places[i]->loop);
    }
    return 0;
}

/* ---- a client that blocks ---- */

static int dial(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* Reads one answer with a Content-Length into OUT; its body. */
static struct str read_answer(int fd, struct buf *out)
{
    const struct http_limits limits = HTTP_LIMITS_DEFAULT;
    struct arena a auto_arena;
    struct http_head head = {.content_length = 0};
    size_t scanned = 0;
    ssize_t n = 0;
    const char *reason;

    arena_init(&a, 1 << 20);
    buf_clear(out);
    while (n == 0 || out->len < (size_t)n + (size_t)head.content_length) {
        assert_int_equal(buf_reserve(out, 65536), 0);
        ssize_t got = io_read(fd, out->p + out->len, 65536);
        assert_true(got > 0);
        out->len += (size_t)got;
        if (n == 0)
            n = http_parse_response(&a, out->p, out->len, &scanned, &limits, HTTP_GET, &head,
                                    &reason);
        assert_true(n >= 0);
    }
    assert_int_equal(head.status, 200);
    return str_skip(buf_str(out), (size_t)n);
}

static void ask(int fd, const char *path)
{
    struct buf text auto_buf = BUF_INIT(1000);

    (void)buf_printf(&text, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
    assert_int_equal(io_write_all(fd, text.p, text.len), 0);
}

static void upload(int fd, size_t len)
{
    struct buf text auto_buf = BUF_INIT(2 * BULK);

    (void)buf_printf(&text, "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n", len);
    for (size_t at = 0; at < len; at += sizeof piece)
        (void)buf_add(&text, piece, len - at < sizeof piece ? len - at : sizeof piece);
    assert_int_equal(io_write_all(fd, text.p, text.len), 0);
}

/* ---- tests ---- */

static void a_connection_goes_where_its_requests_are_served(void **state)
{
    struct buf out auto_buf = BUF_INIT(4 * BULK);
    auto_close int fd = dial();

    (void)state;
    for (int i = 0; i < ROUNDS / 10; i++) {
        ask(fd, "/");
        assert_str(read_answer(fd, &out), "core");
        ask(fd, "/bulk");
        assert_int_equal(read_answer(fd, &out).len, BULK);
        upload(fd, BULK);
        assert_str(read_answer(fd, &out), "1048576");
        upload(fd, 10);
        assert_str(read_answer(fd, &out), "10");
    }
    settle();
    assert_int_equal(n_begun, 4 * (ROUNDS / 10));
    assert_true(core.n_done > 0 && io.n_done > 0);
}

static void pipelined_requests_move_along(void **state)
{
    struct buf out auto_buf = BUF_INIT(4 * BULK);
    auto_close int fd = dial();
    size_t got = 0, expected = 0;

    (void)state;
    for (int i = 0; i < 20; i++) {
        ask(fd, "/");
        ask(fd, "/bulk");
        expected += BULK + 4;
    }
    (void)shutdown(fd, SHUT_WR);
    for (;;) {
        assert_int_equal(buf_reserve(&out, 65536), 0);
        ssize_t n = io_read(fd, out.p, 65536);
        assert_true(n >= 0);
        if (n == 0)
            break;
        got += (size_t)n;
    }
    assert_true(got > expected);
}

static void peers_that_leave_at_any_moment(void **state)
{
    struct buf out auto_buf = BUF_INIT(4 * BULK);

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        auto_close int fd = dial();
        if (i % 2) {
            ask(fd, "/");
            (void)read_answer(fd, &out);
        }
        if (i % 3)
            ask(fd, i % 5 ? "/bulk" : "/");
        else
            assert_true(io_write_all(fd,
                                     "POST /upload HTTP/1.1\r\nHost: a\r\n"
                                     "Content-Length: 9\r\n\r\nhalf",
                                     57) == 0);
        if (i % 7 == 0)
            (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                             sizeof(struct linger));
    }
    auto_close int fd = dial();
    ask(fd, "/");
    assert_str(read_answer(fd, &out), "core");
}

static struct http_req *held;

static void hold(struct http_req *r, void *ctx)
{
    (void)ctx;
    held = r;
}

static void end_alone(struct http_req *r, void *ctx)
{
    *(int *)ctx += 1;
    http_reply(r, 200, NULL, STR_NULL);
}

static void a_request_without_a_peer_moves_too(void **state)
{
    int fds[2], n_arrived = 0;
    struct place a, b;

    (void)state;
    open_place(&a, hold);
    open_place(&b, hold);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    http_server_adopt(a.server, fds[0]);
    ask(fds[1], "/");
    (void)loop_run_once(a.loop, 100);
    (void)close(fds[1]);
    (void)loop_run_once(a.loop, 100);
    (void)loop_run_once(a.loop, 0);
    http_move(held, b.server, end_alone, &n_arrived);
    assert_int_equal(http_server_stats(a.server).active, 0);
    (void)loop_run_once(b.loop, 100);
    (void)loop_run_once(b.loop, 0);
    assert_int_equal(n_arrived, 1);
    assert_int_equal(b.n_done, 1);
    assert_int_equal(http_server_stats(b.server).active, 0);
    http_server_free(a.server);
    http_server_free(b.server);
    loop_free(a.loop);
    loop_free(b.loop);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_connection_goes_where_its_requests_are_served),
        TEST(pipelined_requests_move_along),
        TEST(peers_that_leave_at_any_moment),
        cmocka_unit_test(a_request_without_a_peer_moves_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
