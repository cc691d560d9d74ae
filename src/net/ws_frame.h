/* SPDX-License-Identifier: MIT */
/* WebSocket frames (RFC 6455) in both directions, without I/O: the decoder turns bytes, however
 * they were split, into messages and control events; the encoder makes frame heads and masks.
 *
 * Everything is checked: masking by role, reserved bits and opcodes, minimal lengths, the order of
 * fragments, control frames, close codes, UTF-8 of text as it arrives, and the limits. No extension
 * is supported, so a reserved bit is always an error. Connections are in net/ws.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"

enum ws_op {
    WS_CONTINUE = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10,
};

/* Close codes that this program uses or looks for. */
enum {
    WS_CODE_NORMAL = 1000,
    WS_CODE_GOING_AWAY = 1001,
    WS_CODE_PROTOCOL = 1002,
    WS_CODE_NONE = 1005,     /* a close frame without a code; never sent */
    WS_CODE_ABNORMAL = 1006, /* no close frame at all; never sent */
    WS_CODE_NOT_UTF8 = 1007,
    WS_CODE_POLICY = 1008,
    WS_CODE_TOO_BIG = 1009,
    WS_CODE_INTERNAL = 1011,
};

/* The most bytes of a control frame's payload / of a close reason / of a frame head. */
#define WS_CONTROL_MAX 125
#define WS_REASON_MAX  123
#define WS_HEAD_MAX    14

/* True for a code that a close frame may carry. */
bool ws_is_close_code(int code);

/* ---- UTF-8 that arrives in pieces ---- */

struct ws_utf8 {
    uint8_t need;   /* continuation bytes still to come */
    uint8_t lo, hi; /* what the next one may be */
};

/* ---- decoding ---- */

struct ws_decoder {
    bool is_server;     /* frames must be masked; a client's must not */
    uint64_t max_frame; /* payload bytes of one frame: 1009 past it */

    uint8_t head[WS_HEAD_MAX];
    uint8_t head_len, head_need; /* bytes of head[] so far, and before it can be read on */
    bool in_payload;
    uint8_t op; /* of the current frame */
    bool is_fin;
    uint8_t mask[4];
    uint64_t left, done; /* payload bytes to come and seen */

    uint8_t message_op; /* of the message under way; 0: none */
    bool is_delivered;  /* message[] was handed out and is cleared by the next call */
    struct ws_utf8 utf8;
    struct buf message; /* its maximum is the largest message: 1009 past it */
    char control[WS_CONTROL_MAX];
    bool is_closed;     /* a close frame came: what follows is ignored */
    const char *reason; /* after a failure: what was wrong */
};

struct ws_event {
    uint8_t op;      /* enum ws_op: TEXT or BINARY (a whole message), PING, PONG, CLOSE; 0: none */
    struct str data; /* payload, of CLOSE the reason; valid until the next call */
    int code;        /* CLOSE: its code, 1005 when there was none */
};

/* Prepares a decoder for one end of a connection. Allocates nothing yet. */
void ws_decoder_init(struct ws_decoder *d, bool is_server, uint64_t max_frame, size_t max_message);
void ws_decoder_done(struct ws_decoder *d);
/* Decodes from P up to the next event (*RET, op 0 when there is none yet). Returns how many bytes
 * were used: call again with the rest. Or -code, the close code to answer with: -1002, -1007,
 * -1009, -1011 (no memory); then d->reason says why, and the decoder must not be used again. */
ssize_t ws_decode(struct ws_decoder *d, const char *p, size_t len, struct ws_event *ret);

/* ---- encoding ---- */

/* Writes the head of a frame with LEN payload bytes. MASK: NULL (a server's frame) or the key that
 * the payload is masked with. Returns its length. */
size_t ws_frame_head(uint8_t out[WS_HEAD_MAX], enum ws_op op, bool is_fin, uint64_t len,
                     const uint8_t mask[4]);
/* Masks or unmasks LEN bytes from SRC to DST (may be the same) of a payload whose first OFFSET
 * bytes were done before. */
void ws_mask(char *dst, const char *src, size_t len, const uint8_t mask[4], uint64_t offset);
/* Writes a close payload (code and reason, which is cut at a character's end when it is too long);
 * returns its length. Code 1005 gives an empty payload. */
size_t ws_close_payload(char out[WS_CONTROL_MAX], int code, struct str reason);
