/* SPDX-License-Identifier: MIT */
/* WebSocket frames: tests/vectors/ws.txt in every split, random messages through encoder and
 * decoder, and every allocation failing once. */
#include "../check.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "base/fault.h"
#include "base/id.h"
#include "net/ws_frame.h"
#include "sys/io.h"

enum { MAX_FRAME = 70000, MAX_MESSAGE = 80000, MAX_BYTES = 1 << 20 };

/* Appends what "8105 61*3" stands for. */
static void add_hex(struct buf *out, struct str s)
{
    for (size_t i = 0; i + 1 < s.len;) {
        unsigned char byte;
        if (s.p[i] == ' ') {
            i++;
            continue;
        }
        assert_int_equal(enc_unhex(&byte, 1, str_slice(s, i, i + 2)), 0);
        i += 2;
        uint64_t n = 1;
        if (i < s.len && s.p[i] == '*') {
            size_t end = ++i;
            while (end < s.len && s.p[end] >= '0' && s.p[end] <= '9')
                end++;
            assert_int_equal(str_to_u64(str_slice(s, i, end), &n), 0);
            i = end;
        }
        while (n-- > 0)
            (void)buf_add_char(out, (char)byte);
    }
    assert_true(buf_ok(out));
}

static void add_hex_of(struct buf *out, struct str s)
{
    assert_int_equal(buf_reserve(out, 2 * s.len + 1), 0);
    enc_hex(out->p + out->len, s.p, s.len);
    out->len += 2 * s.len;
}

static const char *op_name(unsigned op)
{
    static const char *const names[16] = {
        [WS_TEXT] = "text", [WS_BINARY] = "binary", [WS_PING] = "ping",
        [WS_PONG] = "pong", [WS_CLOSE] = "close",
    };
    return names[op];
}

static void log_event(struct buf *log, const struct ws_event *ev)
{
    (void)buf_printf(log, "%s%s:", log->len ? " " : "", op_name(ev->op));
    if (ev->op == WS_CLOSE)
        (void)buf_printf(log, "%d:", ev->code);
    add_hex_of(log, ev->data);
}

/* Feeds one piece, from memory of exactly its size so that a read past it is seen. */
static bool feed(struct ws_decoder *d, struct str piece, struct buf *log)
{
    auto_free char *copy = malloc(piece.len ? piece.len : 1);
    struct str rest = str_n(copy, piece.len);

    memcpy(copy, piece.p, piece.len);
    while (rest.len > 0) {
        struct ws_event ev;
        ssize_t n = ws_decode(d, rest.p, rest.len, &ev);
        if (n < 0) {
            assert_non_null(d->reason);
            (void)buf_printf(log, "%sfail:%zd", log->len ? " " : "", -n);
            return false;
        }
        assert_true(n > 0);
        if (ev.op)
            log_event(log, &ev);
        rest = str_skip(rest, (size_t)n);
    }
    return true;
}

/* Decodes BYTES in pieces: [0, at), then STEP bytes at a time. */
static void decode(struct buf *log, bool is_server, struct str bytes, size_t at, size_t step)
{
    struct ws_decoder d;

    ws_decoder_init(&d, is_server, MAX_FRAME, MAX_MESSAGE);
    buf_clear(log);
    if (feed(&d, str_slice(bytes, 0, at), log))
        for (size_t i = at; i < bytes.len; i += step)
            if (!feed(&d, str_slice(bytes, i, i + step), log))
                break;
    if (log->len == 0)
        (void)buf_add_lit(log, "none");
    ws_decoder_done(&d);
}

/* The expected log: the events of a line with repetitions written out. */
static void expand(struct buf *out, struct str events)
{
    while (events.p) {
        struct str ev = str_cut(&events, ' ');
        struct buf bytes auto_buf = BUF_INIT(MAX_BYTES);
        size_t head = ev.len;
        while (head > 0 && ev.p[head - 1] != ':')
            head--;
        if (out->len)
            (void)buf_add_char(out, ' ');
        if (head == 0 || str_starts(ev, STR("fail:"))) {
            (void)buf_add_str(out, ev);
            continue;
        }
        (void)buf_add_str(out, str_slice(ev, 0, head));
        add_hex(&bytes, str_skip(ev, head));
        add_hex_of(out, buf_str(&bytes));
    }
}

static void check_case(struct str name, bool is_server, struct str hex, struct str events)
{
    struct buf bytes auto_buf = BUF_INIT(MAX_BYTES), log auto_buf = BUF_INIT(MAX_BYTES);
    struct buf want auto_buf = BUF_INIT(MAX_BYTES);

    add_hex(&bytes, hex);
    expand(&want, events);
    for (size_t at = 0; at <= bytes.len; at++) {
        /* Long payloads: the interesting splits are near the ends. */
        if (bytes.len > 1000 && at > 40 && at + 20 < bytes.len && at % 4999 != 0)
            continue;
        decode(&log, is_server, buf_str(&bytes), at, MAX_BYTES);
        if (!str_eq(buf_str(&log), buf_str(&want)))
            fail_msg("%.*s, split at %zu: got %.200s, want %.200s", STR_ARG(name), at,
                     buf_cstr(&log), buf_cstr(&want));
    }
    decode(&log, is_server, buf_str(&bytes), 0, 1);
    if (!str_eq(buf_str(&log), buf_str(&want)))
        fail_msg("%.*s, byte by byte: got %.200s", STR_ARG(name), buf_cstr(&log));
}

static void vectors(void **state)
{
    struct buf file auto_buf = BUF_INIT(MAX_BYTES);
    size_t n = 0;

    (void)state;
    assert_int_equal(io_read_file(VECTORS_DIR "/ws.txt", &file, NULL), 0);
    for (struct str rest = buf_str(&file); rest.p;) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (line.len == 0 || line.p[0] == '#')
            continue;
        struct str name = str_cut(&line, ' ');
        line = str_trim(line);
        struct str role = str_cut(&line, ' ');
        ptrdiff_t arrow = str_find(line, STR(" -> "));
        assert_true(arrow > 0);
        assert_true(str_is(role, "server") || str_is(role, "client"));
        check_case(name, str_is(role, "server"), str_slice(line, 0, (size_t)arrow),
                   str_skip(line, (size_t)arrow + 4));
        n++;
    }
    assert_true(n >= 60);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Appends MESSAGE in random fragments, masked by MASK (NULL: not). */
static void encode(struct buf *out, struct str message, const uint8_t mask[4], uint32_t *seed)
{
    for (size_t at = 0, n; at < message.len; at += n) {
        uint8_t head[WS_HEAD_MAX];
        n = next_random(seed) % 3 == 0 ? message.len - at
                                       : 1 + next_random(seed) % (message.len - at);
        bool is_fin = at + n == message.len;
        (void)buf_add(out, head,
                      ws_frame_head(head, at ? WS_CONTINUE : WS_BINARY, is_fin, n, mask));
        (void)buf_add(out, message.p + at, n);
        assert_true(buf_ok(out));
        if (mask)
            ws_mask(out->p + out->len - n, out->p + out->len - n, n, mask, 0);
    }
}

static void random_messages_survive_the_round_trip(void **state)
{
    uint32_t seed = 42;

    (void)state;
    for (int round = 0; round < 400; round++) {
        struct buf wire auto_buf = BUF_INIT(MAX_BYTES), log auto_buf = BUF_INIT(MAX_BYTES);
        struct buf want auto_buf = BUF_INIT(MAX_BYTES);
        uint8_t mask[4], bytes[3000];
        bool is_server = round & 1;
        for (int k = 0; k < 3; k++) {
            size_t len = 1 + next_random(&seed) % (sizeof bytes - 1);
            id_random(mask, sizeof mask);
            id_random(bytes, len);
            encode(&wire, str_n((char *)bytes, len), is_server ? mask : NULL, &seed);
            (void)buf_printf(&want, "%sbinary:", want.len ? " " : "");
            add_hex_of(&want, str_n((char *)bytes, len));
        }
        decode(&log, is_server, buf_str(&wire), next_random(&seed) % wire.len,
               1 + next_random(&seed) % 700);
        assert_true(str_eq(buf_str(&log), buf_str(&want)));
    }
}

static void masking_is_the_same_at_any_offset(void **state)
{
    const uint8_t mask[4] = {1, 20, 130, 255};
    char plain[67], whole[67], parts[67];

    (void)state;
    id_random(plain, sizeof plain);
    ws_mask(whole, plain, sizeof plain, mask, 0);
    for (size_t i = 0; i < sizeof plain; i++)
        assert_int_equal((uint8_t)whole[i], (uint8_t)plain[i] ^ mask[i & 3]);
    for (size_t cut = 0; cut <= sizeof plain; cut++) {
        ws_mask(parts, plain, cut, mask, 0);
        ws_mask(parts + cut, plain + cut, sizeof plain - cut, mask, cut);
        assert_memory_equal(parts, whole, sizeof whole);
    }
}

static void heads_use_the_shortest_length(void **state)
{
    static const struct {
        uint64_t len;
        size_t head;
    } rows[] = {{0, 2},      {125, 2},         {126, 4},       {65535, 4},
                {65536, 10}, {1ULL << 40, 10}, {INT64_MAX, 10}};
    const uint8_t mask[4] = {0};
    uint8_t head[WS_HEAD_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(ws_frame_head(head, WS_TEXT, true, rows[i].len, NULL), rows[i].head);
        assert_int_equal(ws_frame_head(head, WS_TEXT, true, rows[i].len, mask), rows[i].head + 4);
    }
}

static void long_close_reasons_are_cut_between_characters(void **state)
{
    char out[WS_CONTROL_MAX], reason[200];

    (void)state;
    memset(reason, 'a', sizeof reason);
    memcpy(reason + 121, "\xe2\x82\xac", 3);
    assert_int_equal(ws_close_payload(out, 1000, str_n(reason, sizeof reason)), 2 + 121);
    memset(reason, 'a', sizeof reason);
    assert_int_equal(ws_close_payload(out, 1000, str_n(reason, sizeof reason)), WS_CONTROL_MAX);
    assert_int_equal(ws_close_payload(out, WS_CODE_NONE, STR("x")), 0);
    assert_int_equal(ws_close_payload(out, 1001, STR_NULL), 2);
    assert_memory_equal(out, "\x03\xe9", 2);
}

#ifdef TIDEPOOL_FAULT
static void every_allocation_may_fail(void **state)
{
    static const char wire[] = "\x02\x7e\x01\x00"
                               "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                               "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                               "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                               "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                               "\x80\x02zz";
    bool fired = true;

    (void)state;
    for (unsigned nth = 1; fired; nth++) {
        struct ws_decoder d;
        struct ws_event ev = {0};
        ssize_t n = 0;
        ws_decoder_init(&d, false, MAX_FRAME, MAX_MESSAGE);
        fault_arm(FAULT_ALLOC, nth);
        for (size_t at = 0; at < sizeof wire - 1 && n >= 0; at += (size_t)n)
            n = ws_decode(&d, wire + at, at + 100 < sizeof wire - 1 ? 100 : sizeof wire - 1 - at,
                          &ev);
        fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        assert_int_equal(n < 0, fired);
        assert_int_equal(fired ? -n : WS_CODE_INTERNAL, WS_CODE_INTERNAL);
        assert_int_equal(ev.op, fired ? 0 : WS_BINARY);
        ws_decoder_done(&d);
        assert_true(nth < 100);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),
        cmocka_unit_test(random_messages_survive_the_round_trip),
        cmocka_unit_test(masking_is_the_same_at_any_offset),
        cmocka_unit_test(heads_use_the_shortest_length),
        cmocka_unit_test(long_close_reasons_are_cut_between_characters),
#ifdef TIDEPOOL_FAULT
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };
    return cmocka_run_group_tests_name("ws_frame", tests, NULL, NULL);
}
