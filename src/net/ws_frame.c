/* SPDX-License-Identifier: MIT */
/* WebSocket frames: see ws_frame.h. */
#include "net/ws_frame.h"

#include <string.h>

enum {
    FIN = 0x80,
    RSV = 0x70,
    OP = 0x0f,
    MASKED = 0x80,
    LEN7 = 0x7f,
    LEN16 = 126, /* two bytes of length follow */
    LEN64 = 127, /* eight */
    KEEP = 4096, /* a message buffer up to this size is kept for the next message */
};

bool ws_is_close_code(int code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

/* ---- UTF-8 ---- */

/* Skips bytes below 0x80, eight at a time. */
static size_t ascii_run(const char *p, size_t len)
{
    size_t i = 0;

    for (uint64_t word; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        if (word & 0x8080808080808080U)
            break;
    }
    while (i < len && !(p[i] & 0x80))
        i++;
    return i;
}

/* What may follow the lead byte C, from the Unicode table of well-formed byte sequences. */
static bool utf8_lead(struct ws_utf8 *u, uint8_t c)
{
    if (c < 0xc2 || c > 0xf4)
        return false;
    u->need = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    u->lo = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    u->hi = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    return true;
}

/* Checks the next piece; false as soon as no continuation could be well-formed. */
static bool ws_utf8_feed(struct ws_utf8 *u, const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t c = (uint8_t)p[i];
        if (u->need == 0) {
            i += ascii_run(p + i, len - i);
            if (i == len)
                return true;
            if (!utf8_lead(u, (uint8_t)p[i]))
                return false;
            continue;
        }
        if (c < u->lo || c > u->hi)
            return false;
        u->need--;
        u->lo = 0x80;
        u->hi = 0xbf;
    }
    return true;
}

/* ---- decoding ---- */

void ws_decoder_init(struct ws_decoder *d, bool is_server, uint64_t max_frame, size_t max_message)
{
    *d = (struct ws_decoder){.is_server = is_server, .max_frame = max_frame, .head_need = 2};
    buf_init(&d->message, max_message);
}

void ws_decoder_done(struct ws_decoder *d)
{
    buf_done(&d->message);
}

static int fail_frame(struct ws_decoder *d, int code, const char *reason)
{
    d->reason = reason;
    return -code;
}

static bool is_control(uint8_t op)
{
    return op & 8;
}

/* The order of data frames: a message is one TEXT or BINARY frame and CONTINUE frames up to FIN. */
static int start_data(struct ws_decoder *d)
{
    if (d->op == WS_CONTINUE)
        return d->message_op ? 0
                             : fail_frame(d, WS_CODE_PROTOCOL, "continuation without a message");
    if (d->message_op)
        return fail_frame(d, WS_CODE_PROTOCOL, "new message inside a fragmented one");
    d->message_op = d->op;
    d->utf8 = (struct ws_utf8){0};
    return 0;
}

/* How many bytes of length follow the seven bits LEN7. */
static int length_bytes(uint8_t len7)
{
    if (len7 == LEN16)
        return 2;
    return len7 == LEN64 ? 8 : 0;
}

/* Checks the first two bytes of a head and returns how long the head is. */
static int check_start(struct ws_decoder *d)
{
    uint8_t len = d->head[1] & LEN7;
    bool is_masked = d->head[1] & MASKED;

    d->is_fin = d->head[0] & FIN;
    d->op = d->head[0] & OP;
    if (d->head[0] & RSV)
        return fail_frame(d, WS_CODE_PROTOCOL, "reserved bit");
    if (d->op > WS_PONG || (d->op > WS_BINARY && d->op < WS_CLOSE))
        return fail_frame(d, WS_CODE_PROTOCOL, "reserved opcode");
    if (is_masked != d->is_server)
        return fail_frame(d, WS_CODE_PROTOCOL, d->is_server ? "frame not masked" : "masked frame");
    if (is_control(d->op) && !d->is_fin)
        return fail_frame(d, WS_CODE_PROTOCOL, "fragmented control frame");
    if (is_control(d->op) && len > WS_CONTROL_MAX)
        return fail_frame(d, WS_CODE_PROTOCOL, "control frame too long");
    d->head_need = (uint8_t)(2 + length_bytes(len) + (is_masked ? 4 : 0));
    return is_control(d->op) ? 0 : start_data(d);
}

/* The length in a complete head, which must be written in the shortest form. */
static int read_length(struct ws_decoder *d, uint64_t *ret)
{
    uint8_t len7 = d->head[1] & LEN7;
    uint64_t len = len7 < LEN16 ? len7 : 0;

    for (int i = 0; i < length_bytes(len7); i++)
        len = len << 8 | d->head[2 + i];
    if ((len7 == LEN16 && len < LEN16) || (len7 == LEN64 && len <= UINT16_MAX))
        return fail_frame(d, WS_CODE_PROTOCOL, "length not in the shortest form");
    if (len > INT64_MAX)
        return fail_frame(d, WS_CODE_PROTOCOL, "length with the highest bit");
    *ret = len;
    return 0;
}

static int finish_head(struct ws_decoder *d)
{
    uint64_t len;
    int r = read_length(d, &len);

    if (r < 0)
        return r;
    if (!is_control(d->op) && len > d->max_frame)
        return fail_frame(d, WS_CODE_TOO_BIG, "frame too large");
    if (!is_control(d->op) && len > d->message.max - d->message.len)
        return fail_frame(d, WS_CODE_TOO_BIG, "message too large");
    if (d->is_server)
        memcpy(d->mask, d->head + d->head_need - 4, 4);
    d->left = len;
    d->done = 0;
    d->in_payload = true;
    return 0;
}

/* Takes bytes of a head. */
static ssize_t feed_frame_head(struct ws_decoder *d, const char *p, size_t len)
{
    size_t used = 0;

    while (!d->in_payload && used < len) {
        d->head[d->head_len++] = (uint8_t)p[used++];
        int r = d->head_len == 2 ? check_start(d) : 0;
        if (r == 0 && d->head_len >= 2 && d->head_len == d->head_need)
            r = finish_head(d);
        if (r < 0)
            return r;
    }
    return (ssize_t)used;
}

/* Takes payload bytes to where they belong, unmasked; text is checked on the way. */
static ssize_t feed_payload(struct ws_decoder *d, const char *p, size_t len)
{
    size_t n = len < d->left ? len : (size_t)d->left;
    char *to;

    if (n == 0)
        return 0;
    if (is_control(d->op)) {
        to = d->control + d->done;
    } else {
        if (buf_reserve(&d->message, n) < 0)
            return fail_frame(d, WS_CODE_INTERNAL, "no memory");
        to = d->message.p + d->message.len;
        d->message.len += n;
    }
    if (d->is_server)
        ws_mask(to, p, n, d->mask, d->done);
    else
        memcpy(to, p, n);
    d->left -= n;
    d->done += n;
    if (!is_control(d->op) && d->message_op == WS_TEXT && !ws_utf8_feed(&d->utf8, to, n))
        return fail_frame(d, WS_CODE_NOT_UTF8, "text is not UTF-8");
    return (ssize_t)n;
}

static int finish_close(struct ws_decoder *d, struct ws_event *ret)
{
    size_t len = (size_t)d->done;

    *ret = (struct ws_event){.op = WS_CLOSE, .code = WS_CODE_NONE};
    d->is_closed = true;
    if (len == 0)
        return 0;
    if (len == 1)
        return fail_frame(d, WS_CODE_PROTOCOL, "half a close code");
    int code = (uint8_t)d->control[0] << 8 | (uint8_t)d->control[1];
    if (!ws_is_close_code(code))
        return fail_frame(d, WS_CODE_PROTOCOL, "close code not allowed");
    ret->code = code;
    ret->data = str_n(d->control + 2, len - 2);
    if (!str_is_utf8(ret->data))
        return fail_frame(d, WS_CODE_NOT_UTF8, "close reason is not UTF-8");
    return 0;
}

/* A frame is complete: makes the event, if it is one. */
static int finish_frame(struct ws_decoder *d, struct ws_event *ret)
{
    d->in_payload = false;
    d->head_len = 0;
    d->head_need = 2;
    if (d->op == WS_CLOSE)
        return finish_close(d, ret);
    if (is_control(d->op)) {
        *ret = (struct ws_event){.op = d->op, .data = str_n(d->control, (size_t)d->done)};
        return 0;
    }
    if (!d->is_fin)
        return 0;
    if (d->message_op == WS_TEXT && d->utf8.need)
        return fail_frame(d, WS_CODE_NOT_UTF8, "text ends inside a character");
    *ret = (struct ws_event){.op = d->message_op, .data = buf_str(&d->message)};
    d->message_op = 0;
    d->is_delivered = true;
    return 0;
}

/* Forgets the message that the last call handed out; a large buffer is not kept for the next. */
static void drop_delivered(struct ws_decoder *d)
{
    if (!d->is_delivered)
        return;
    d->is_delivered = false;
    if (d->message.cap > KEEP)
        buf_done(&d->message);
    else
        buf_clear(&d->message);
}

ssize_t ws_decode(struct ws_decoder *d, const char *p, size_t len, struct ws_event *ret)
{
    size_t used = 0;

    *ret = (struct ws_event){0};
    drop_delivered(d);
    if (d->is_closed)
        return (ssize_t)len;
    while (used < len && !ret->op) {
        ssize_t n = d->in_payload ? 0 : feed_frame_head(d, p + used, len - used);
        if (n < 0)
            return n;
        used += (size_t)n;
        if (!d->in_payload)
            continue;
        n = feed_payload(d, p + used, len - used);
        if (n < 0)
            return n;
        used += (size_t)n;
        int r = d->left ? 0 : finish_frame(d, ret);
        if (r < 0)
            return r;
    }
    return (ssize_t)used;
}

/* ---- encoding ---- */

size_t ws_frame_head(uint8_t out[WS_HEAD_MAX], enum ws_op op, bool is_fin, uint64_t len,
                     const uint8_t mask[4])
{
    size_t n = 2, len_bytes = len < LEN16 ? 0 : len <= UINT16_MAX ? 2 : 8;

    out[0] = (uint8_t)((is_fin ? FIN : 0) | (int)op);
    out[1] = (uint8_t)(len_bytes == 0 ? len : len_bytes == 2 ? LEN16 : LEN64);
    out[1] = (uint8_t)(out[1] | (mask ? MASKED : 0));
    for (size_t i = 0; i < len_bytes; i++)
        out[n++] = (uint8_t)(len >> (8 * (len_bytes - 1 - i)));
    if (mask) {
        memcpy(out + n, mask, 4);
        n += 4;
    }
    return n;
}

void ws_mask(char *dst, const char *src, size_t len, const uint8_t mask[4], uint64_t offset)
{
    uint8_t turned[8];
    uint64_t key;
    size_t i = 0;

    for (size_t k = 0; k < sizeof turned; k++)
        turned[k] = mask[(offset + k) & 3];
    memcpy(&key, turned, sizeof key);
    for (uint64_t word; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, src + i, sizeof word);
        word ^= key;
        memcpy(dst + i, &word, sizeof word);
    }
    for (; i < len; i++)
        dst[i] = (char)((uint8_t)src[i] ^ turned[i & 7]);
}

size_t ws_close_payload(char out[WS_CONTROL_MAX], int code, struct str reason)
{
    if (code == WS_CODE_NONE)
        return 0;
    if (reason.len > WS_REASON_MAX) {
        reason.len = WS_REASON_MAX;
        while (reason.len && ((uint8_t)reason.p[reason.len] & 0xc0) == 0x80)
            reason.len--;
    }
    out[0] = (char)(code >> 8);
    out[1] = (char)(code & 0xff);
    if (reason.len)
        memcpy(out + 2, reason.p, reason.len);
    return reason.len + 2;
}
