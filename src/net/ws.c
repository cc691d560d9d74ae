/* SPDX-License-Identifier: MIT */
/* WebSocket connections: see ws.h.
 *
 * Closing has two halves, sent and received. An orderly end is both, then the server closes the
 * stream; a client waits for that. A connection that is failed sends its close frame, shuts its
 * sending side and drops what still arrives, so that the frame is not lost to a reset. Both wait
 * for the peer no longer than close_ms. */
#include "net/ws.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "net/ws_internal.h"

enum {
    MAX_MESSAGE = 16 << 20,
    PING_MS = 30000,
    CLOSE_MS = 5000,
    MASK_CHUNK = 4096,
};

/* ---- making ---- */

struct ws *ws_new(const struct ws_opts *opts, bool is_client)
{
    struct ws *w = mem_zalloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->opts = *opts;
    if (w->opts.max_message == 0)
        w->opts.max_message = MAX_MESSAGE;
    if (w->opts.max_frame == 0)
        w->opts.max_frame = w->opts.max_message;
    if (w->opts.ping_ms == 0)
        w->opts.ping_ms = PING_MS;
    if (w->opts.close_ms == 0)
        w->opts.close_ms = CLOSE_MS;
    w->is_client = is_client;
    w->code = WS_CODE_ABNORMAL;
    ws_decoder_init(&w->decoder, !is_client, w->opts.max_frame, w->opts.max_message);
    return w;
}

void ws_set_reason(struct ws *w, int code, struct str reason)
{
    char payload[WS_CONTROL_MAX];
    /* Cuts the reason as a close frame would. */
    size_t len = ws_close_payload(payload, WS_CODE_NORMAL, reason) - 2;

    w->code = code;
    w->reason_len = (uint8_t)len;
    memcpy(w->reason, payload + 2, len);
}

void ws_end(struct ws *w)
{
    w->stream = NULL;
    w->opts.ops->on_close(w, w->opts.ctx, w->code, str_n(w->reason, w->reason_len));
    ws_decoder_done(&w->decoder);
    free(w);
}

const char *ws_protocol(const struct ws *w)
{
    return w->protocol;
}

/* ---- sending ---- */

static int send_masked(struct ws *w, enum ws_op op, struct str data)
{
    uint8_t head[WS_HEAD_MAX], mask[4];
    char chunk[MASK_CHUNK];

    id_random(mask, sizeof mask);
    stream_cork(w->stream);
    int r = stream_write(w->stream, head, ws_frame_head(head, op, true, data.len, mask));
    for (size_t at = 0; at < data.len && r == 0;) {
        size_t n = data.len - at < sizeof chunk ? data.len - at : sizeof chunk;
        ws_mask(chunk, data.p + at, n, mask, at);
        r = stream_write(w->stream, chunk, n);
        at += n;
    }
    stream_uncork(w->stream);
    return r;
}

static int send_frame(struct ws *w, enum ws_op op, struct str data)
{
    uint8_t head[WS_HEAD_MAX];

    if (w->is_client)
        return send_masked(w, op, data);
    struct iovec iov[2] = {{head, ws_frame_head(head, op, true, data.len, NULL)},
                           {(void *)(uintptr_t)data.p, data.len}};
    return stream_writev(w->stream, iov, data.len ? 2 : 1);
}

int ws_send(struct ws *w, enum ws_op op, struct str data)
{
    if (!w->stream || w->sent_close || w->is_failed)
        return -EPIPE;
    if (op >= WS_CLOSE && (op == WS_CLOSE || data.len > WS_CONTROL_MAX))
        return -EINVAL;
    if (op == WS_CONTINUE || (op == WS_TEXT && !str_is_utf8(data)))
        return -EINVAL;
    int r = send_frame(w, op, data);
    return r == 0 || r == -ENOMEM ? r : -EPIPE;
}

bool ws_is_full(const struct ws *w)
{
    return w->stream && stream_is_full(w->stream);
}

/* Pongs do not pile up behind a peer that pings and does not read: the last ping is answered when
 * it reads on, as the RFC allows. */
static void send_pong(struct ws *w, struct str data)
{
    if (w->sent_close)
        return;
    w->has_late_pong = stream_is_full(w->stream);
    if (w->has_late_pong) {
        w->late_len = (uint8_t)data.len;
        if (data.len)
            memcpy(w->late, data.p, data.len);
        return;
    }
    (void)send_frame(w, WS_PONG, data);
}

static void send_close(struct ws *w, int code, struct str reason)
{
    char payload[WS_CONTROL_MAX];

    if (w->sent_close)
        return;
    w->sent_close = true;
    (void)send_frame(w, WS_CLOSE, str_n(payload, ws_close_payload(payload, code, reason)));
    stream_set_timeout(w->stream, w->opts.close_ms);
}

/* ---- receiving ---- */

/* Any sign of life restarts the watch for silence. */
static void note_life(struct ws *w)
{
    w->is_pinged = false;
    if (!w->sent_close && w->opts.ping_ms > 0)
        stream_set_timeout(w->stream, w->opts.ping_ms);
}

static void fail_ws(struct ws *w, int code, const char *reason)
{
    w->is_failed = true;
    ws_set_reason(w, code, str_of(reason));
    send_close(w, code, str_of(reason));
    stream_shutdown(w->stream);
}

static void on_close_frame(struct ws *w, const struct ws_event *ev)
{
    w->got_close = true;
    ws_set_reason(w, ev->code, ev->data);
    send_close(w, ev->code, STR_NULL);
    if (!w->is_client)
        stream_close_after_flush(w->stream);
}

static void on_ws_event(struct ws *w, const struct ws_event *ev)
{
    if (ev->op == WS_CLOSE)
        on_close_frame(w, ev);
    else if (ev->op == WS_PING)
        send_pong(w, ev->data);
    else if (ev->op != WS_PONG && !w->sent_close)
        w->opts.ops->on_message(w, w->opts.ctx, ev->op == WS_TEXT, ev->data);
}

static ssize_t on_ws_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    struct ws *w = ctx;
    size_t used = 0;

    (void)s;
    note_life(w);
    while (used < len && !w->is_paused && !w->is_failed && !w->got_close && !w->is_gone) {
        struct ws_event ev;
        ssize_t n = ws_decode(&w->decoder, p + used, len - used, &ev);
        if (n < 0) {
            fail_ws(w, (int)-n, w->decoder.reason);
            break;
        }
        used += (size_t)n;
        if (ev.op)
            on_ws_event(w, &ev);
    }
    return (ssize_t)(w->is_failed || w->got_close ? len : used);
}

static void on_ws_stream_drain(struct stream *s, void *ctx)
{
    struct ws *w = ctx;

    (void)s;
    if (take(w->has_late_pong))
        send_pong(w, str_n(w->late, w->late_len));
    if (!w->sent_close && w->opts.ops->on_drain)
        w->opts.ops->on_drain(w, w->opts.ctx);
}

static void on_stream_close(struct stream *s, void *ctx, int reason)
{
    struct ws *w = ctx;

    (void)s;
    if (w->code == WS_CODE_ABNORMAL && w->reason_len == 0) {
        struct err e = ERR_INIT;
        (void)err_sys(&e, reason, "connection");
        ws_set_reason(w, WS_CODE_ABNORMAL,
                      reason < 0 ? str_of(err_text(&e)) : STR("closed without a close frame"));
    }
    ws_end(w);
}

/* Silence: a ping, then the end. While we are paused the peer's pong cannot be seen. */
static void on_ws_silence(struct stream *s, void *ctx)
{
    struct ws *w = ctx;

    if (w->sent_close) {
        if (!w->got_close && !w->is_failed)
            ws_set_reason(w, WS_CODE_ABNORMAL, STR("no close frame in time"));
        stream_abort(s);
        return;
    }
    if (w->is_pinged && !w->is_paused) {
        ws_set_reason(w, WS_CODE_ABNORMAL, STR("no sign of life"));
        stream_abort(s);
        return;
    }
    w->is_pinged = true;
    if (!stream_is_full(s))
        (void)send_frame(w, WS_PING, STR_NULL);
    stream_set_timeout(s, w->opts.ping_ms);
}

/* Without on_eof the stream closes when the peer ends it, after what is queued. */
const struct stream_ops ws_stream_ops = {
    .on_data = on_ws_data,
    .on_drain = on_ws_stream_drain,
    .on_close = on_stream_close,
    .on_timeout = on_ws_silence,
};

void ws_pause(struct ws *w)
{
    w->is_paused = true;
    if (w->stream)
        stream_pause(w->stream);
}

void ws_resume(struct ws *w)
{
    w->is_paused = false;
    if (w->stream)
        stream_resume(w->stream);
}

void ws_close(struct ws *w, int code, struct str reason)
{
    if (!w->stream) {
        ws_abort(w);
        return;
    }
    send_close(w, code, reason);
    /* The peer's half has to be read, whatever the owner wanted to wait with. */
    ws_resume(w);
}

void ws_abort(struct ws *w)
{
    if (w->is_gone)
        return;
    w->is_gone = true;
    ws_set_reason(w, WS_CODE_ABNORMAL, STR("aborted"));
    if (w->stream) {
        stream_abort(w->stream);
        return;
    }
    w->abort_call(take(w->call));
    ws_end(w);
}

void ws_start(struct ws *w, struct stream *s)
{
    w->stream = s;
    note_life(w);
    if (w->is_paused)
        stream_pause(s);
}
