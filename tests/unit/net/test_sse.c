/* SPDX-License-Identifier: MIT */
/* Server-sent events: the wire form, the parser in every split, the writer on a real server. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "net/http_server.h"
#include "net/sse.h"

/* ---- formatting ---- */

static const struct {
    struct sse_event ev;
    const char *wire; /* NULL: -EINVAL */
} formats[] = {
    {{.data = STR_INIT("hello")}, "data: hello\n\n"},
    {{.data = STR_INIT("")}, "data: \n\n"},
    {{.data = STR_INIT("a\nb")}, "data: a\ndata: b\n\n"},
    {{.data = STR_INIT("a\r\nb\rc\n")}, "data: a\ndata: b\ndata: c\ndata: \n\n"},
    {{.data = STR_INIT("\n")}, "data: \ndata: \n\n"},
    {{.data = STR_INIT(" x")}, "data:  x\n\n"},
    {{.event = STR_INIT("tick"), .id = STR_INIT("7"), .data = STR_INIT("x"), .retry_ms = 1500},
     "event: tick\nid: 7\nretry: 1500\ndata: x\n\n"},
    {{.id = STR_INIT(""), .data = STR_INIT("x")}, "id: \ndata: x\n\n"},
    {{.retry_ms = 10}, "retry: 10\n\n"},
    {{.event = STR_INIT("a\nb"), .data = STR_INIT("x")}, NULL},
    {{.event = STR_INIT("a\rb"), .data = STR_INIT("x")}, NULL},
    {{.id = STR_INIT("a\nb"), .data = STR_INIT("x")}, NULL},
    {{.id = STR_INIT("a\0b"), .data = STR_INIT("x")}, NULL},
};

static void the_wire_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        struct buf out auto_buf = BUF_INIT(1024);
        int r = sse_format(&out, &formats[i].ev);
        assert_int_equal(r, formats[i].wire ? 0 : -EINVAL);
        assert_string_equal(buf_cstr(&out), formats[i].wire ? formats[i].wire : "");
    }
}

/* ---- parsing ---- */

/* "[event|id|data]" for each event. */
static int log_event(void *ctx, const struct sse_event *ev)
{
    struct buf *log = ctx;

    assert_non_null(ev->data.p);
    (void)buf_printf(log, "[" STR_FMT "|" STR_FMT "|" STR_FMT "]", STR_ARG(ev->event),
                     STR_ARG(ev->id), STR_ARG(ev->data));
    return 0;
}

static const struct {
    const char *name;
    struct str wire;
    const char *events;
} streams[] = {
    {"data", STR_INIT("data: x\n\n"), "[||x]"},
    {"no space", STR_INIT("data:x\n\n"), "[||x]"},
    {"one space of two", STR_INIT("data:  x\n\n"), "[|| x]"},
    {"two lines", STR_INIT("data: a\ndata: b\n\n"), "[||a\nb]"},
    {"empty data", STR_INIT("data:\n\ndata\n\n"), "[||][||]"},
    {"two empty lines of data", STR_INIT("data\ndata\n\n"), "[||\n]"},
    {"CRLF", STR_INIT("data: a\r\ndata: b\r\n\r\n"), "[||a\nb]"},
    {"CR", STR_INIT("data: a\rdata: b\r\r"), "[||a\nb]"},
    {"mixed", STR_INIT("data: a\r\ndata: b\rdata: c\n\r\n"), "[||a\nb\nc]"},
    {"CR CRLF", STR_INIT("data: a\r\r\ndata: b\n\n"), "[||a][||b]"},
    {"event type", STR_INIT("event: t\ndata: x\n\ndata: y\n\n"), "[t||x][||y]"},
    {"last event type counts", STR_INIT("event: a\nevent: b\ndata: x\n\n"), "[b||x]"},
    {"type without data", STR_INIT("event: t\n\ndata: x\n\n"), "[||x]"},
    {"id stays", STR_INIT("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"), "[|1|a][|1|b][||c]"},
    {"id without data", STR_INIT("id: 5\n\ndata: a\n\n"), "[|5|a]"},
    {"id with NUL", STR_INIT("id: 1\nid: a\0b\ndata: x\n\n"), "[|1|x]"},
    {"comments", STR_INIT(": hi\ndata: x\n:\n: data: y\n\n"), "[||x]"},
    {"unknown fields", STR_INIT("foo: x\nDATA: y\nbar\ndata: z\n\n"), "[||z]"},
    {"colon in data", STR_INIT("data: a:b: c\n\n"), "[||a:b: c]"},
    {"BOM",
     STR_INIT("\xef\xbb\xbf"
              "data: x\n\n"),
     "[||x]"},
    {"second BOM",
     STR_INIT("data: x\n\n\xef\xbb\xbf"
              "data: y\n\n"),
     "[||x]"},
    {"cut", STR_INIT("data: x\n\ndata: y\n"), "[||x]"},
    {"cut in a line", STR_INIT("data: x\n\ndata: y"), "[||x]"},
    {"blank lines", STR_INIT("\n\n\r\n\rdata: x\n\n\n\n"), "[||x]"},
    {"nothing", STR_INIT(""), ""},
};

static void parse(struct buf *log, struct str wire, size_t at, size_t step)
{
    struct sse_parser p;

    sse_parser_init(&p, 1000);
    buf_clear(log);
    assert_int_equal(sse_parser_feed(&p, str_slice(wire, 0, at), log_event, log), 0);
    for (size_t i = at; i < wire.len; i += step) {
        auto_free char *copy = malloc(step);
        struct str piece = str_slice(wire, i, i + step);
        memcpy(copy, piece.p, piece.len);
        assert_int_equal(sse_parser_feed(&p, str_n(copy, piece.len), log_event, log), 0);
    }
    sse_parser_done(&p);
}

static void streams_in_every_split(void **state)
{
    struct buf log auto_buf = BUF_INIT(4096);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(streams); i++)
        for (size_t at = 0; at <= streams[i].wire.len + 1; at++) {
            bool is_bytewise = at > streams[i].wire.len;
            parse(&log, streams[i].wire, is_bytewise ? 0 : at, is_bytewise ? 1 : 4096);
            if (!str_is(buf_str(&log), streams[i].events))
                fail_msg("%s, split at %zu: %s", streams[i].name, at, buf_cstr(&log));
        }
}

static void retry_is_remembered(void **state)
{
    static const struct {
        const char *line;
        int64_t ms;
    } rows[] = {{"retry: 1500\n", 1500}, {"retry: x\n", 1500},   {"retry: -1\n", 1500},
                {"retry:\n", 1500},      {"retry: 1.5\n", 1500}, {"retry: 99999999999\n", 1500},
                {"retry:20\n", 20}};
    struct sse_parser p;

    (void)state;
    sse_parser_init(&p, 100);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(sse_parser_feed(&p, str_of(rows[i].line), log_event, NULL), 0);
        assert_int_equal(p.retry_ms, rows[i].ms);
    }
    sse_parser_done(&p);
}

static int refuse(void *ctx, const struct sse_event *ev)
{
    (void)ctx, (void)ev;
    return -ECANCELED;
}

static void limits(void **state)
{
    struct buf log auto_buf = BUF_INIT(4096);
    struct sse_parser p;

    (void)state;
    sse_parser_init(&p, 16);
    /* "data: 0123456789" is a line of 16 bytes. */
    assert_int_equal(sse_parser_feed(&p, STR("data: 0123456789\n\n"), log_event, &log), 0);
    assert_string_equal(buf_cstr(&log), "[||0123456789]");
    assert_int_equal(sse_parser_feed(&p, STR("data: 0123456789a"), log_event, &log), -EMSGSIZE);
    assert_int_equal(sse_parser_feed(&p, STR("\n\n"), log_event, &log), -EMSGSIZE);
    sse_parser_done(&p);
    /* data of 16 bytes in two lines, then 17 */
    sse_parser_init(&p, 16);
    assert_int_equal(sse_parser_feed(&p, STR("data: 01234567\ndata:0123456\n\n"), log_event, &log),
                     0);
    assert_int_equal(sse_parser_feed(&p, STR("data: 01234567\ndata:01234567\n\n"), log_event, &log),
                     -EMSGSIZE);
    sse_parser_done(&p);
    sse_parser_init(&p, 16);
    assert_int_equal(sse_parser_feed(&p, STR("data: x\n\ndata: y\n\n"), refuse, NULL), -ECANCELED);
    assert_int_equal(sse_parser_feed(&p, STR("data: x\n\n"), refuse, NULL), -ECANCELED);
    sse_parser_done(&p);
}

/* ---- writing ---- */

static struct loop *loop;

struct feed {
    struct sse *sse;
    int n_closed, n_drains;
};

static void on_drain(struct sse *s, void *ctx)
{
    (void)s;
    ((struct feed *)ctx)->n_drains++;
}

static void on_close(struct sse *s, void *ctx)
{
    struct feed *f = ctx;

    assert_int_equal(sse_send(s, &(struct sse_event){.data = STR("late")}), -EPIPE);
    f->n_closed++;
    f->sse = NULL;
}

static const struct sse_ops feed_ops = {on_drain, on_close};

static void handle(struct http_req *r, void *ctx)
{
    ((struct feed *)ctx)->sse = sse_start(r, 1000, &feed_ops, ctx);
}

struct stage {
    struct feed feed;
    struct http_server *server;
    int fd;
    struct buf in;
};

static void open_stage(struct stage *st)
{
    struct http_server_opts opts = {.loop = loop,
                                    .handler = handle,
                                    .ctx = &st->feed,
                                    .limits = HTTP_LIMITS_DEFAULT,
                                    .timeouts = HTTP_TIMEOUTS_DEFAULT};
    int fds[2];

    *st = (struct stage){.server = http_server_new(&opts, NULL), .in = BUF_INIT(64 << 20)};
    assert_non_null(st->server);
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
    buf_done(&st->in);
}

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

#define GET "GET /events HTTP/1.1\r\nHost: h\r\n\r\n"

static void events_reach_the_peer(void **state)
{
    struct stage st;

    (void)state;
    open_stage(&st);
    peer_send(loop, st.fd, STR(GET));
    assert_non_null(st.feed.sse);
    peer_expect(loop, st.fd, &st.in, "Content-Type: text/event-stream\r\n");
    peer_expect(loop, st.fd, &st.in, "Cache-Control: no-store\r\n");
    assert_int_equal(sse_send(st.feed.sse, &(struct sse_event){.data = STR("one")}), 0);
    peer_expect(loop, st.fd, &st.in, "data: one\n\n");
    assert_int_equal(sse_send(st.feed.sse, &(struct sse_event){.event = STR("a\nb")}), -EINVAL);
    assert_int_equal(sse_comment(st.feed.sse, STR("a\nb")), -EINVAL);
    assert_int_equal(sse_comment(st.feed.sse, STR(" note")), 0);
    peer_expect(loop, st.fd, &st.in, ": note\n\n");
    /* Silence of a second is broken by a comment; an event puts it off. */
    peer_wait(loop, 900);
    assert_int_equal(sse_send(st.feed.sse, &(struct sse_event){.data = STR("two")}), 0);
    peer_expect(loop, st.fd, &st.in, "data: two\n\n");
    peer_wait(loop, 900);
    (void)peer_take(st.fd, &st.in);
    assert_true(str_find(buf_str(&st.in), STR("\r\n:\n\n")) < 0);
    for (int i = 0; i < 3; i++) {
        buf_clear(&st.in);
        peer_wait(loop, 1001);
        peer_expect(loop, st.fd, &st.in, "\r\n:\n\n\r\n");
    }
    sse_end(st.feed.sse);
    peer_expect(loop, st.fd, &st.in, "0\r\n\r\n");
    assert_int_equal(st.feed.n_closed, 0);
    /* The connection serves on. */
    buf_clear(&st.in);
    peer_send(loop, st.fd, STR(GET));
    peer_expect(loop, st.fd, &st.in, "200 OK");
    close_stage(&st);
    assert_int_equal(st.feed.n_closed, 1);
}

static void a_peer_that_leaves_is_noticed(void **state)
{
    struct stage st;

    (void)state;
    for (int i = 0; i < 3; i++) {
        open_stage(&st);
        peer_send(loop, st.fd, STR(GET));
        struct sse *s = st.feed.sse;
        (void)close(st.fd);
        if (i == 1) /* a write is the first to notice */
            (void)sse_send(s, &(struct sse_event){.data = STR("x")});
        if (i == 2) { /* the owner ends it meanwhile */
            (void)loop_run_once(loop, 0);
            if (st.feed.n_closed == 0)
                sse_end(s);
        }
        st.fd = -1;
        close_stage(&st);
        if (i < 2)
            assert_int_equal(st.feed.n_closed, 1);
    }
}

static void a_slow_peer_is_waited_for(void **state)
{
    struct stage st;
    char text[10000];

    (void)state;
    memset(text, 'x', sizeof text);
    open_stage(&st);
    peer_send(loop, st.fd, STR(GET));
    int n = 0;
    for (; !sse_is_full(st.feed.sse); n++)
        assert_int_equal(
            sse_send(st.feed.sse, &(struct sse_event){.data = str_n(text, sizeof text)}), 0);
    peer_wait(loop, 5000); /* no heartbeat into a full queue */
    assert_int_equal(st.feed.n_drains, 0);
    for (int i = 0; i < 1000 && st.feed.n_drains == 0; i++) {
        (void)peer_take(st.fd, &st.in);
        peer_settle(loop);
    }
    assert_int_equal(st.feed.n_drains, 1);
    sse_end(st.feed.sse);
    peer_expect(loop, st.fd, &st.in, "0\r\n\r\n");
    assert_true(st.in.len > (size_t)n * sizeof text);
    close_stage(&st);
}

#ifdef TIDEPOOL_FAULT
/* The parser alone, every allocation. */
static void parser_faults(void **state)
{
    bool fired = true;

    (void)state;
    for (unsigned nth = 1; fired; nth++) {
        char room[64];
        struct buf log = {.p = room, .cap = sizeof room, .max = sizeof room};
        struct sse_parser p;
        sse_parser_init(&p, 1000);
        fault_arm(FAULT_ALLOC, nth);
        int r = sse_parser_feed(&p, STR("event: t\nid: 1\ndata: x\n\n"), log_event, &log);
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(r, fired ? -ENOMEM : 0);
        sse_parser_done(&p);
        assert_true(nth < 50);
    }
}

/* A whole exchange: nothing leaks, nothing is used after its end. */
static void writer_faults(void **state)
{
    (void)state;
    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        bool fired = true;
        for (unsigned nth = 1; fired; nth++) {
            struct stage st;
            open_stage(&st);
            (void)send(st.fd, GET, sizeof GET - 1, MSG_NOSIGNAL);
            fault_arm((enum fault_kind)kind, nth);
            for (int i = 0; i < 3; i++)
                (void)loop_run_once(loop, 0);
            struct sse *s = st.feed.sse;
            int r = s ? sse_send(s, &(struct sse_event){.data = STR("x")}) : 0;
            for (int i = 0; i < 3; i++)
                (void)loop_run_once(loop, 0);
            fired = fault_fired((enum fault_kind)kind);
            fault_arm((enum fault_kind)kind, 0);
            if (!fired)
                assert_int_equal(r, 0);
            close_stage(&st);
            assert_true(nth < 100);
        }
    }
}
#endif

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wire_form),       cmocka_unit_test(streams_in_every_split),
        cmocka_unit_test(retry_is_remembered), cmocka_unit_test(limits),
        TEST(events_reach_the_peer),           TEST(a_peer_that_leaves_is_noticed),
        TEST(a_slow_peer_is_waited_for),
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test(parser_faults),       TEST(writer_faults),
#endif
    };
    return cmocka_run_group_tests_name("sse", tests, NULL, NULL);
}
