/* SPDX-License-Identifier: MIT */
/* What the tests of the HTTP server share: see http_world.h. */
#include "http_world.h"

struct world world;
int64_t fake_us;

static int64_t fake_clock(void)
{
    return fake_us;
}

static void dispatch(struct http_req *r, void *ctx)
{
    (void)ctx;
    world.n_handled++;
    world.handler(r, NULL);
}

static void note_done(struct http_req *r, void *ctx)
{
    (void)ctx;
    world.n_done++;
    world.done_status = r->status;
    world.done_bytes = r->sent_bytes;
}

static const struct clock_source fake_source = {fake_clock, fake_clock};

void restart_server(void)
{
    http_server_free(world.server);
    world.opts.loop = world.loop;
    world.opts.handler = dispatch;
    world.opts.on_done = note_done;
    world.server = http_server_new(&world.opts, NULL);
    assert_non_null(world.server);
}

int world_setup(void **state)
{
    (void)state;
    world = (struct world){.loop = NULL};
    fake_us = 1000000;
    clock_set_source(&fake_source);
    world.loop = loop_new(NULL);
    for (int i = 0; i < CLIENTS; i++) {
        world.fds[i] = -1;
        buf_init(&world.in[i], 64 << 20);
    }
    buf_init(&world.body, 64 << 20);
    restart_server();
    return 0;
}

int world_teardown(void **state)
{
    (void)state;
    http_server_free(world.server);
    for (int i = 0; i < CLIENTS; i++) {
        if (world.fds[i] >= 0)
            (void)close(world.fds[i]);
        buf_done(&world.in[i]);
    }
    buf_done(&world.body);
    loop_free(world.loop);
    clock_set_source(NULL);
    return 0;
}

void turn(void)
{
    for (int i = 0; i < 5; i++)
        assert_int_equal(loop_run_once(world.loop, 0), 0);
}

void pass_ms(int64_t ms)
{
    fake_us += ms * 1000;
    turn();
}

void connect_client(int i)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    http_server_adopt(world.server, fds[0]);
    world.fds[i] = fds[1];
    buf_clear(&world.in[i]);
}

void hang_up(int i)
{
    (void)close(take_fd(world.fds[i]));
    turn();
}

void say(int i, const char *text)
{
    (void)!send(world.fds[i], text, strlen(text), MSG_NOSIGNAL);
    turn();
}

bool hear(int i)
{
    for (;;) {
        char chunk[65536];
        ssize_t n = io_read(world.fds[i], chunk, sizeof chunk);
        if (n == -EAGAIN)
            return false;
        if (n <= 0)
            return true;
        assert_int_equal(buf_add(&world.in[i], chunk, (size_t)n), 0);
        turn();
    }
}

struct str heard(int i)
{
    static struct buf copy = BUF_INIT(64 << 20);

    buf_clear(&copy);
    (void)hear(i);
    (void)buf_add_str(&copy, buf_str(&world.in[i]));
    buf_clear(&world.in[i]);
    const char *text = buf_cstr(&copy);
    return str_n(text, copy.len);
}

bool holds(struct str s, const char *part)
{
    return str_find(s, str_of(part)) >= 0;
}

int status_of(struct str s)
{
    uint64_t status = 0;

    (void)str_to_u64(str_slice(s, 9, 12), &status);
    return (int)status;
}

struct str body_of(struct str s)
{
    ptrdiff_t at = str_find(s, STR("\r\n\r\n"));

    assert_true(at >= 0);
    return str_skip(s, (size_t)at + 4);
}

void answer_path(struct http_req *r, void *ctx)
{
    (void)ctx;
    http_reply(r, 200, "text/plain", r->head.path);
}

void answer_body(struct http_req *r, void *ctx)
{
    (void)ctx;
    http_reply(r, 200, "text/plain", r->body);
}

void echo_body(struct http_req *r, void *ctx)
{
    http_read_body(r, 1 << 20, answer_body, ctx);
}

void hold(struct http_req *r, void *ctx)
{
    (void)ctx;
    assert_null(world.held);
    world.held = r;
}

void answer_held(int status)
{
    http_reply(take(world.held), status, "text/plain", STR("held"));
}

void note_abort(struct http_req *r)
{
    (void)r;
    world.n_aborts++;
}

static void make_pieces(struct http_req *r, void *ctx)
{
    static char piece[PIECE];

    while (world.n_pieces < PIECES && !http_is_full(r)) {
        memset(piece, 'a' + world.n_pieces % 26, sizeof piece);
        (void)http_write(r, piece, sizeof piece);
        world.n_pieces++;
    }
    world.n_drains += ctx != NULL;
    if (world.n_pieces == PIECES)
        http_end(r);
}

void start_pieces(struct http_req *r, void *ctx)
{
    world.n_pieces = 0;
    http_start(r, 200, "text/plain", (int64_t)PIECE * PIECES);
    http_on_drain(r, make_pieces, &world);
    make_pieces(r, ctx);
}

static int sink_data(struct http_req *r, void *ctx, const char *p, size_t len)
{
    (void)r;
    (void)ctx;
    (void)buf_add(&world.body, p, len);
    return 0;
}

static int sink_data_and_pause(struct http_req *r, void *ctx, const char *p, size_t len)
{
    http_body_pause(r);
    return sink_data(r, ctx, p, len);
}

void sink_end(struct http_req *r, void *ctx)
{
    (void)ctx;
    world.held = NULL;
    http_reply(r, 200, "text/plain", STR("thanks"));
}

const struct http_body_sink plain_sink = {sink_data, sink_end};
const struct http_body_sink pausing_sink = {sink_data_and_pause, sink_end};
const struct http_body_sink *sink = &plain_sink;

void stream_body(struct http_req *r, void *ctx)
{
    hold(r, ctx);
    http_stream_body(r, 10 << 20, sink, NULL);
}
