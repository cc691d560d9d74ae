/* SPDX-License-Identifier: MIT */
/* WebSocket connections, each role against a scripted peer and both against each other: the
 * handshake, messages, closing, silence, backpressure, faults. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/fault.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/ws.h"
#include "sys/digest.h"

static struct loop *loop;

static int setup(void **state)
{
    (void)state;
    peer_stop_clock();
    loop = loop_new(NULL);
    return loop ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    loop_free(loop);
    clock_set_source(NULL);
    return 0;
}

/* ---- a connection that writes down what happens ---- */

struct end {
    struct ws *ws;
    struct ws_opts opts;
    struct buf log; /* "open text:x binary:2 drain close:1000:why " */
    bool is_echo, pause_in_message, abort_in_message;
    size_t n_bytes;
    uint64_t hash; /* of the last binary message */
};

static void on_open(struct ws *w, void *ctx)
{
    (void)w;
    (void)buf_printf(&((struct end *)ctx)->log, "open ");
}

static void on_message(struct ws *w, void *ctx, bool is_text, struct str data)
{
    struct end *e = ctx;

    e->n_bytes += data.len;
    if (is_text)
        (void)buf_printf(&e->log, "text:" STR_FMT " ", STR_ARG(data));
    else
        (void)buf_printf(&e->log, "binary:%zu ", data.len);
    if (!is_text)
        e->hash = str_hash(data, 0);
    if (e->is_echo)
        (void)ws_send(w, is_text ? WS_TEXT : WS_BINARY, data);
    if (e->pause_in_message)
        ws_pause(w);
    if (e->abort_in_message)
        ws_abort(w);
}

static void on_drain(struct ws *w, void *ctx)
{
    (void)w;
    (void)buf_printf(&((struct end *)ctx)->log, "drain ");
}

static void on_close(struct ws *w, void *ctx, int code, struct str reason)
{
    struct end *e = ctx;

    assert_int_equal(ws_send(w, WS_TEXT, STR("late")), -EPIPE);
    (void)buf_printf(&e->log, "close:%d:" STR_FMT " ", code, STR_ARG(reason));
    e->ws = NULL;
}

static const struct ws_ops end_ops = {on_open, on_message, on_drain, on_close};

static void end_init(struct end *e)
{
    *e = (struct end){.log = BUF_INIT(64 << 20)};
    e->opts = (struct ws_opts){.ops = &end_ops,
                               .ctx = e,
                               .max_message = 70000,
                               .max_frame = 66000,
                               .ping_ms = 1000,
                               .close_ms = 500};
}

#define assert_log(e, text) assert_string_equal(buf_cstr(&(e)->log), text)

/* ---- the server's role ---- */

static void handle(struct http_req *r, void *ctx)
{
    struct end *e = ctx;

    e->ws = ws_accept(r, &e->opts);
}

struct stage {
    struct end end;
    struct http_server *server;
    int fd;
    struct buf in;
};

static struct http_server *new_server(struct end *e)
{
    struct http_server_opts opts = {.loop = loop,
                                    .handler = handle,
                                    .ctx = e,
                                    .limits = HTTP_LIMITS_DEFAULT,
                                    .timeouts = HTTP_TIMEOUTS_DEFAULT};
    struct http_server *s = http_server_new(&opts, NULL);

    assert_non_null(s);
    return s;
}

static void open_stage(struct stage *st)
{
    int fds[2];

    end_init(&st->end);
    buf_init(&st->in, 64 << 20);
    st->server = new_server(&st->end);
    peer_pair(fds);
    http_server_adopt(st->server, fds[0]);
    st->fd = fds[1];
}

static void close_stage(struct stage *st)
{
    (void)close(st->fd);
    peer_settle(loop);
    http_server_free(st->server);
    peer_settle(loop);
    assert_null(st->end.ws);
    buf_done(&st->in);
    buf_done(&st->end.log);
}

#define KEY     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define UPGRADE "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
#define START   "GET /ws HTTP/1.1\r\nHost: h\r\n"
#define HELLO   START UPGRADE KEY VERSION "\r\n"

/* Opens a stage and does the handshake. */
static void open_ws(struct stage *st)
{
    open_stage(st);
    peer_send(loop, st->fd, STR(HELLO));
    assert_non_null(st->end.ws);
    peer_expect(loop, st->fd, &st->in, "\r\n\r\n");
    buf_clear(&st->in);
}

static void handshakes(void **state)
{
    static const struct {
        const char *request, *answer;
    } rows[] = {
        {HELLO, "HTTP/1.1 101 "},
        {HELLO, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"},
        {HELLO, "\r\nUpgrade: websocket\r\n"},
        {HELLO, "\r\nConnection: Upgrade\r\n"},
        {START UPGRADE KEY "Sec-WebSocket-Version: 8\r\n\r\n", "HTTP/1.1 426 "},
        {START UPGRADE KEY "Sec-WebSocket-Version: 8\r\n\r\n", "\r\nSec-WebSocket-Version: 13\r\n"},
        {START UPGRADE KEY "\r\n", "HTTP/1.1 400 "},
        {START UPGRADE KEY VERSION VERSION "\r\n", "HTTP/1.1 400 "},
        {START UPGRADE VERSION "\r\n", "HTTP/1.1 400 "},
        {START UPGRADE KEY KEY VERSION "\r\n", "HTTP/1.1 400 "},
        {START UPGRADE VERSION "Sec-WebSocket-Key: short\r\n\r\n", "HTTP/1.1 400 "},
        {START UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=!\r\n\r\n",
         "HTTP/1.1 400 "},
        {START UPGRADE VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZXRo\r\n\r\n",
         "HTTP/1.1 400 "},
        {START KEY VERSION "\r\n", "HTTP/1.1 400 "},
        {START "Connection: upgrade\r\nUpgrade: h2c\r\n" KEY VERSION "\r\n", "HTTP/1.1 400 "},
        {START "Upgrade: websocket\r\n" KEY VERSION "\r\n", "HTTP/1.1 400 "},
        {"POST /ws HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n" UPGRADE KEY VERSION "\r\n",
         "HTTP/1.1 400 "},
        {"GET /ws HTTP/1.0\r\nHost: h\r\n" UPGRADE KEY VERSION "\r\n", "HTTP/1.1 400 "},
        {START UPGRADE KEY VERSION "Sec-WebSocket-Protocol: x, chat2\r\n\r\n",
         "\r\nSec-WebSocket-Protocol: chat2\r\n"},
        {START UPGRADE KEY VERSION "Sec-WebSocket-Protocol: chat2, chat\r\n\r\n",
         "\r\nSec-WebSocket-Protocol: chat\r\n"},
    };
    static const char *const protocols[] = {"chat", "chat2", NULL};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stage st;
        open_stage(&st);
        st.end.opts.protocols = protocols;
        peer_send(loop, st.fd, str_of(rows[i].request));
        peer_expect(loop, st.fd, &st.in, rows[i].answer);
        bool is_open = str_find(buf_str(&st.in), STR("HTTP/1.1 101 ")) == 0;
        assert_int_equal(st.end.ws != NULL, is_open);
        assert_true(!is_open || str_find(buf_str(&st.in), STR("Extensions")) < 0);
        close_stage(&st);
    }
}

/* Sends a masked frame (with the key 0, which leaves the bytes as they are). */
static void send_frame(struct stage *st, enum ws_op op, struct str data)
{
    static const uint8_t mask[4] = {0};
    uint8_t head[WS_HEAD_MAX];
    struct buf out auto_buf = BUF_INIT(1 << 20);

    (void)buf_add(&out, head, ws_frame_head(head, op, true, data.len, mask));
    (void)buf_add_str(&out, data);
    peer_send(loop, st->fd, buf_str(&out));
}

static void messages_and_pings(void **state)
{
    struct stage st;

    (void)state;
    open_ws(&st);
    st.end.is_echo = true;
    send_frame(&st, WS_TEXT, STR("hello"));
    peer_expect(loop, st.fd, &st.in, "\x81\x05hello");
    send_frame(&st, WS_BINARY, STR("\1\2"));
    peer_expect(loop, st.fd, &st.in, "\x82\x02\1\2");
    send_frame(&st, WS_PING, STR("are you there"));
    peer_expect(loop, st.fd, &st.in,
                "\x8a\x0d"
                "are you there");
    send_frame(&st, WS_PONG, STR("nobody asked"));
    assert_int_equal(ws_send(st.end.ws, WS_PING, STR("p")), 0);
    peer_expect(loop, st.fd, &st.in, "\x89\x01p");
    assert_log(&st.end, "text:hello binary:2 ");
    assert_string_equal(ws_protocol(st.end.ws), "");
    close_stage(&st);
}

static void a_message_behind_the_handshake_is_not_lost(void **state)
{
    struct stage st;

    (void)state;
    open_stage(&st);
    peer_send(loop, st.fd, str_n(HELLO "\x81\x82\0\0\0\0hi", sizeof HELLO - 1 + 8));
    assert_log(&st.end, "text:hi ");
    close_stage(&st);
}

static void what_cannot_be_sent(void **state)
{
    struct stage st;
    char long_ping[126] = {0};

    (void)state;
    open_ws(&st);
    struct ws *w = st.end.ws;
    assert_int_equal(ws_send(w, WS_TEXT, STR("\xff")), -EINVAL);
    assert_int_equal(ws_send(w, WS_PING, str_n(long_ping, 126)), -EINVAL);
    assert_int_equal(ws_send(w, WS_PING, str_n(long_ping, 125)), 0);
    assert_int_equal(ws_send(w, WS_CLOSE, STR("")), -EINVAL);
    assert_int_equal(ws_send(w, WS_CONTINUE, STR("")), -EINVAL);
    ws_close(w, 1000, STR("bye"));
    assert_int_equal(ws_send(w, WS_TEXT, STR("x")), -EPIPE);
    close_stage(&st);
}

/* ---- closing ---- */

static void the_peer_closes(void **state)
{
    static const struct {
        struct str payload, answer;
        const char *log;
    } rows[] = {
        {STR_INIT("\x03\xe8"
                  "bye"),
         STR_INIT("\x88\x02\x03\xe8"), "close:1000:bye "},
        {STR_INIT(""), STR_INIT("\x88\x00"), "close:1005: "},
        {STR_INIT("\x0f\xa1"), STR_INIT("\x88\x02\x0f\xa1"), "close:4001: "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stage st;
        open_ws(&st);
        send_frame(&st, WS_CLOSE, rows[i].payload);
        peer_expect_end(loop, st.fd, &st.in);
        assert_true(str_eq(buf_str(&st.in), rows[i].answer));
        assert_log(&st.end, rows[i].log);
        close_stage(&st);
    }
}

static void we_close(void **state)
{
    struct stage st;

    (void)state;
    open_ws(&st);
    ws_pause(st.end.ws); /* closing reads on */
    ws_close(st.end.ws, 1001, STR("over"));
    ws_close(st.end.ws, 1002, STR("twice"));
    peer_expect(loop, st.fd, &st.in, "\x88\x06\x03\xe9over");
    send_frame(&st, WS_TEXT, STR("late"));
    send_frame(&st, WS_PING, STR(""));
    assert_log(&st.end, "");
    send_frame(&st, WS_CLOSE, STR("\x03\xe8"));
    peer_expect_end(loop, st.fd, &st.in);
    assert_int_equal(st.in.len, 8);
    assert_log(&st.end, "close:1000: ");
    close_stage(&st);
}

static void a_close_is_not_waited_for_longer_than_said(void **state)
{
    struct stage st;

    (void)state;
    open_ws(&st);
    ws_close(st.end.ws, 1000, STR_NULL);
    peer_wait(loop, 499);
    assert_log(&st.end, "");
    send_frame(&st, WS_TEXT, STR("a sign of life is not enough"));
    peer_wait(loop, 2);
    assert_log(&st.end, "close:1006:no close frame in time ");
    close_stage(&st);
}

static void what_breaks_the_protocol_closes(void **state)
{
    static const struct {
        struct str bytes;
        const char *log;
        uint8_t code; /* the low byte of the code in the close frame */
    } rows[] = {
        {STR_INIT("\xc1\x80\0\0\0\0"), "close:1002:reserved bit ", 0xea},
        {STR_INIT("\x81\x01x"), "close:1002:frame not masked ", 0xea},
        {STR_INIT("\x80\x80\0\0\0\0"), "close:1002:continuation without a message ", 0xea},
        {STR_INIT("\x81\x81\0\0\0\0\xff"), "close:1007:text is not UTF-8 ", 0xef},
        {STR_INIT("\x82\xff\0\0\0\0\0\1\1\xd1\0\0\0\0"), "close:1009:frame too large ", 0xf1},
        {STR_INIT("\x81\x81\0\0\0\0x\x83\x80\0\0\0\0"), "text:x close:1002:reserved opcode ", 0xea},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stage st;
        open_ws(&st);
        peer_send(loop, st.fd, rows[i].bytes);
        peer_send(loop, st.fd, STR("and more that is dropped"));
        peer_expect_end(loop, st.fd, &st.in); /* the sending side is shut */
        assert_true(st.in.len > 4);
        assert_int_equal((uint8_t)st.in.p[0], 0x88);
        assert_int_equal((uint8_t)st.in.p[2], 0x03);
        assert_int_equal((uint8_t)st.in.p[3], rows[i].code);
        (void)shutdown(st.fd, SHUT_WR);
        peer_settle(loop);
        assert_log(&st.end, rows[i].log);
        close_stage(&st);
    }
}

static void a_failed_peer_that_stays_is_dropped(void **state)
{
    struct stage st;

    (void)state;
    open_ws(&st);
    peer_send(loop, st.fd, STR("garbage"));
    peer_wait(loop, 499);
    assert_log(&st.end, "");
    peer_wait(loop, 2);
    assert_log(&st.end, "close:1002:reserved bit ");
    close_stage(&st);
}

static void a_connection_that_breaks(void **state)
{
    struct stage st;

    (void)state;
    open_ws(&st);
    (void)shutdown(st.fd, SHUT_WR);
    peer_settle(loop);
    assert_log(&st.end, "close:1006:closed without a close frame ");
    close_stage(&st);
    for (int i = 0; i < 2; i++) {
        open_ws(&st);
        st.end.abort_in_message = i == 1;
        if (i == 0)
            ws_abort(st.end.ws);
        else
            peer_send(loop, st.fd, STR("\x81\x80\0\0\0\0\x81\x80\0\0\0\0"));
        assert_log(&st.end, i ? "text: close:1006:aborted " : "close:1006:aborted ");
        close_stage(&st);
    }
}

/* ---- silence ---- */

static void a_silent_peer_is_pinged_and_dropped(void **state)
{
    struct stage st;

    (void)state;
    open_ws(&st);
    peer_wait(loop, 999);
    (void)peer_take(st.fd, &st.in);
    assert_int_equal(st.in.len, 0);
    for (int i = 0; i < 3; i++) {
        buf_clear(&st.in);
        peer_wait(loop, 1001);
        peer_expect(loop, st.fd, &st.in, "\x89"); /* a ping, which is answered */
        send_frame(&st, WS_PONG, STR(""));
    }
    peer_wait(loop, 1001);
    assert_log(&st.end, "");
    peer_wait(loop, 1001);
    assert_log(&st.end, "close:1006:no sign of life ");
    close_stage(&st);
}

/* ---- backpressure ---- */

static void a_slow_peer_is_waited_for_and_gets_one_pong(void **state)
{
    struct stage st;
    char text[10000] = {0};

    (void)state;
    open_ws(&st);
    while (!ws_is_full(st.end.ws))
        assert_int_equal(ws_send(st.end.ws, WS_BINARY, str_n(text, sizeof text)), 0);
    for (int i = 0; i < 1000; i++) {
        char payload[8];
        (void)snprintf(payload, sizeof payload, "%04d", i);
        send_frame(&st, WS_PING, str_of(payload));
    }
    assert_log(&st.end, "");
    for (int i = 0; i < 1000 && st.end.log.len == 0; i++) {
        (void)peer_take(st.fd, &st.in);
        peer_settle(loop);
    }
    assert_log(&st.end, "drain ");
    peer_expect(loop, st.fd, &st.in,
                "\x8a\x04"
                "0999");
    assert_true(str_find(buf_str(&st.in), STR("0998")) < 0);
    close_stage(&st);
}

static void a_paused_connection_delivers_later(void **state)
{
    struct stage st;

    (void)state;
    open_ws(&st);
    st.end.pause_in_message = true;
    peer_send(loop, st.fd, STR("\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b\x81\x81\0\0\0\0c"));
    assert_log(&st.end, "text:a ");
    peer_wait(loop, 5000); /* it cannot be heard: not dropped */
    ws_resume(st.end.ws);
    peer_settle(loop);
    assert_log(&st.end, "text:a text:b ");
    st.end.pause_in_message = false;
    ws_resume(st.end.ws);
    peer_settle(loop);
    assert_log(&st.end, "text:a text:b text:c ");
    close_stage(&st);
}

/* ---- the client's role ---- */

struct client_stage {
    struct end end;
    struct http_client *client;
    int fd;
    struct buf in;
};

static const char *const offered[] = {"chat", "chat2", NULL};

static void open_client(struct client_stage *st)
{
    struct http_client_opts opts = {.loop = loop, .timeouts = {1000, 1000, 1000, 1000}};
    struct http_request req = {.target = STR("/ws"), .host = STR("h")};
    int fds[2];

    end_init(&st->end);
    buf_init(&st->in, 1 << 20);
    st->end.opts.protocols = offered;
    st->client = http_client_new(&opts, NULL);
    peer_pair(fds);
    req.fd = fds[0];
    st->fd = fds[1];
    st->end.ws = ws_connect(st->client, &req, &st->end.opts, NULL);
    assert_non_null(st->end.ws);
    peer_expect(loop, st->fd, &st->in, "\r\n\r\n");
}

static void close_client(struct client_stage *st)
{
    (void)close(st->fd);
    peer_settle(loop);
    http_client_free(st->client);
    assert_null(st->end.ws);
    buf_done(&st->in);
    buf_done(&st->end.log);
}

/* The accept value for the key that the client sent. */
static void accept_for(const struct client_stage *st, char out[32])
{
    ptrdiff_t at = str_find(buf_str(&st->in), STR("Sec-WebSocket-Key: "));
    struct buf text auto_buf = BUF_INIT(100), base64 auto_buf = BUF_INIT(100);
    unsigned char digest[DIGEST_SHA1_LEN];

    assert_true(at > 0);
    (void)buf_add(&text, st->in.p + at + 19, 24);
    (void)buf_add_lit(&text, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    digest_sha1(digest, buf_str(&text));
    (void)enc_base64(&base64, str_n((char *)digest, sizeof digest));
    (void)snprintf(out, 32, "%s", buf_cstr(&base64));
}

static void answers(void **state)
{
    static const struct {
        const char *head; /* with one %s: the accept value */
        const char *log;
    } rows[] = {
        {"101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n",
         "open "},
        {"101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n"
         "Sec-WebSocket-Protocol: chat2\r\n",
         "open "},
        {"101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n"
         "Sec-WebSocket-Protocol: other\r\n",
         "close:1006:subprotocol that was not asked for "},
        {"101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n"
         "Sec-WebSocket-Extensions: permessage-deflate\r\n",
         "close:1006:extension that was not asked for "},
        {"101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x%s\r\n",
         "close:1006:bad Sec-WebSocket-Accept "},
        {"101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nX: %s\r\n",
         "close:1006:bad Sec-WebSocket-Accept "},
        {"101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Accept: %s\r\n",
         "close:1006:switched to another protocol "},
        {"404 x\r\nContent-Length: 0\r\nX: %s\r\n", "close:1006:HTTP status 404 "},
        {"200 x\r\nContent-Length: 5\r\nX: %s\r\n", "close:1006:HTTP status 200 "},
        {"two hundred %s\r\n", "close:1006:response: "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct client_stage st;
        char accept[32];
        struct buf out auto_buf = BUF_INIT(1000);
        struct str rest = str_of(rows[i].head);
        open_client(&st);
        accept_for(&st, accept);
        ptrdiff_t hole = str_find(rest, STR("%s"));
        (void)buf_printf(&out, "HTTP/1.1 " STR_FMT "%s" STR_FMT "\r\n",
                         STR_ARG(str_slice(rest, 0, (size_t)hole)), accept,
                         STR_ARG(str_skip(rest, (size_t)hole + 2)));
        peer_send(loop, st.fd, buf_str(&out));
        if (!str_starts(buf_str(&st.end.log), str_of(rows[i].log)))
            fail_msg("%s: %s", rows[i].head, buf_cstr(&st.end.log));
        if (i == 1)
            assert_string_equal(ws_protocol(st.end.ws), "chat2");
        close_client(&st);
    }
}

static void a_handshake_that_does_not_end(void **state)
{
    struct client_stage st;

    (void)state;
    open_client(&st);
    assert_true(str_find(buf_str(&st.in), STR("\r\nSec-WebSocket-Version: 13\r\n")) > 0);
    assert_true(str_find(buf_str(&st.in), STR("\r\nSec-WebSocket-Protocol: chat, chat2\r\n")) > 0);
    assert_int_equal(ws_send(st.end.ws, WS_TEXT, STR("early")), -EPIPE);
    peer_wait(loop, 1001);
    assert_log(&st.end, "close:1006:response: timed out ");
    close_client(&st);
    for (int i = 0; i < 2; i++) {
        open_client(&st);
        if (i == 0)
            ws_abort(st.end.ws);
        else
            ws_close(st.end.ws, 1000, STR_NULL);
        assert_log(&st.end, "close:1006:aborted ");
        close_client(&st);
    }
}

static void clients_mask_and_wait_for_the_server_to_close(void **state)
{
    struct client_stage st;
    struct ws_decoder d;
    struct ws_event ev;
    char accept[32], answer[256];

    (void)state;
    open_client(&st);
    accept_for(&st, accept);
    (void)snprintf(answer, sizeof answer,
                   "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Accept: %s\r\n\r\n\x81\x02hi",
                   accept);
    peer_send(loop, st.fd, str_of(answer));
    assert_log(&st.end, "open text:hi ");
    buf_clear(&st.in);
    assert_int_equal(ws_send(st.end.ws, WS_TEXT, STR("hello hello hello")), 0);
    peer_settle(loop);
    (void)peer_take(st.fd, &st.in);
    ws_decoder_init(&d, true, 1000, 1000);
    assert_int_equal(ws_decode(&d, st.in.p, st.in.len, &ev), st.in.len);
    assert_str(ev.data, "hello hello hello");
    ws_decoder_done(&d);
    peer_send(loop, st.fd, STR("\x88\x02\x03\xe8"));
    peer_settle(loop);
    assert_log(&st.end, "open text:hi "); /* the server closes first */
    (void)shutdown(st.fd, SHUT_RDWR);
    peer_settle(loop);
    assert_log(&st.end, "open text:hi close:1000: ");
    close_client(&st);
}

/* ---- both roles ---- */

static void both_roles_together(void **state)
{
    enum { BIG = 5 << 20 };
    struct end server, client;
    struct http_client_opts opts = {.loop = loop, .timeouts = {1000, 1000, 0, 1000}};
    char address[40];
    auto_free char *big = malloc(BIG);

    (void)state;
    for (size_t i = 0; i < BIG; i++)
        big[i] = (char)(i * 13 + (i >> 11));
    end_init(&server);
    end_init(&client);
    server.is_echo = true;
    server.opts.max_message = client.opts.max_message = BIG;
    server.opts.max_frame = client.opts.max_frame = BIG;
    struct http_server *s = new_server(&server);
    int listener = http_listen("127.0.0.1:0", false, NULL);
    (void)snprintf(address, sizeof address, "127.0.0.1:%d", http_listen_port(listener));
    assert_int_equal(http_server_listen(s, listener, NULL), 0);
    struct http_client *c = http_client_new(&opts, NULL);
    struct http_request req = {.address = address, .target = STR("/")};
    client.ws = ws_connect(c, &req, &client.opts, NULL);
    assert_non_null(client.ws);
    for (int i = 0; i < 1000 && client.log.len == 0; i++)
        (void)loop_run_once(loop, 1);
    assert_log(&client, "open ");
    assert_int_equal(ws_send(client.ws, WS_TEXT, STR("h\xc3\xa9llo")), 0);
    assert_int_equal(ws_send(client.ws, WS_BINARY, str_n(big, BIG)), 0);
    assert_int_equal(ws_send(client.ws, WS_TEXT, STR("")), 0);
    for (int i = 0; i < 10000 && client.n_bytes < BIG + 6; i++)
        (void)loop_run_once(loop, 1);
    peer_settle(loop);
    assert_true(str_find(buf_str(&client.log), STR("text:h\xc3\xa9llo ")) > 0);
    assert_true(str_find(buf_str(&client.log), STR("binary:5242880 ")) > 0);
    assert_true(str_find(buf_str(&client.log), STR("text: ")) > 0);
    assert_true(client.hash == str_hash(str_n(big, BIG), 0));
    ws_close(client.ws, 1001, STR("done"));
    for (int i = 0; i < 1000 && (server.ws || client.ws); i++)
        (void)loop_run_once(loop, 1);
    assert_true(str_ends(buf_str(&server.log), STR("close:1001:done ")));
    assert_true(str_ends(buf_str(&client.log), STR("close:1001: ")));
    http_client_free(c);
    http_server_free(s);
    peer_settle(loop);
    buf_done(&server.log);
    buf_done(&client.log);
}

#ifdef TIDEPOOL_FAULT
/* A whole life with the fault armed: on_close() comes exactly once for each connection that was
 * made, and nothing leaks. */
static bool live_with_fault(enum fault_kind kind, unsigned nth)
{
    char rooms[2][4096];
    struct end server, client;
    struct http_client_opts opts = {.loop = loop, .timeouts = {1000, 1000, 1000, 1000}};
    struct http_request req = {.target = STR("/")};
    int fds[2];

    end_init(&server);
    end_init(&client);
    server.log = (struct buf){.p = rooms[0], .cap = sizeof rooms[0], .max = sizeof rooms[0]};
    client.log = (struct buf){.p = rooms[1], .cap = sizeof rooms[1], .max = sizeof rooms[1]};
    client.opts.protocols = server.opts.protocols = offered;
    server.is_echo = true;
    struct http_server *s = new_server(&server);
    struct http_client *c = http_client_new(&opts, NULL);
    peer_pair(fds);
    http_server_adopt(s, fds[1]);
    req.fd = fds[0];
    fault_arm(kind, nth);
    client.ws = ws_connect(c, &req, &client.opts, NULL);
    bool is_made = client.ws != NULL;
    for (int i = 0; i < 6; i++)
        (void)loop_run_once(loop, 0);
    if (client.ws)
        (void)ws_send(client.ws, WS_TEXT, STR("echo"));
    for (int i = 0; i < 6; i++)
        (void)loop_run_once(loop, 0);
    if (client.ws)
        ws_close(client.ws, 1000, STR("bye"));
    for (int i = 0; i < 6; i++)
        (void)loop_run_once(loop, 0);
    bool fired = fault_fired(kind);
    fault_arm(kind, 0);
    peer_wait(loop, 20000);
    peer_wait(loop, 20000);
    assert_null(client.ws);
    assert_null(server.ws);
    assert_int_equal(is_made, str_find(buf_str(&client.log), STR("close:")) >= 0);
    if (!fired)
        assert_log(&client, "open text:echo close:1000: ");
    http_client_free(c);
    http_server_free(s);
    peer_settle(loop);
    return fired;
}

static void every_fault_ends_in_a_close(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        for (unsigned nth = 1; live_with_fault((enum fault_kind)kind, nth); nth++)
            assert_true(nth < 200);
}
#endif

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(handshakes),
        TEST(messages_and_pings),
        TEST(a_message_behind_the_handshake_is_not_lost),
        TEST(what_cannot_be_sent),
        TEST(the_peer_closes),
        TEST(we_close),
        TEST(a_close_is_not_waited_for_longer_than_said),
        TEST(what_breaks_the_protocol_closes),
        TEST(a_failed_peer_that_stays_is_dropped),
        TEST(a_connection_that_breaks),
        TEST(a_silent_peer_is_pinged_and_dropped),
        TEST(a_slow_peer_is_waited_for_and_gets_one_pong),
        TEST(a_paused_connection_delivers_later),
        TEST(answers),
        TEST(a_handshake_that_does_not_end),
        TEST(clients_mask_and_wait_for_the_server_to_close),
        TEST(both_roles_together),
#ifdef TIDEPOOL_FAULT
        TEST(every_fault_ends_in_a_close),
#endif
    };
    return cmocka_run_group_tests_name("ws", tests, NULL, NULL);
}
