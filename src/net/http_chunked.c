/* SPDX-License-Identifier: MIT */
/* Chunked transfer coding: see http.h. A byte machine for the lines, runs of bytes for the data.
 *
 * Stricter than RFC 9112 in one place: no space may stand between the size and ';' or CRLF, because
 * recipients disagree on what it means. Extensions are skipped, trailers checked and dropped. */
#include <errno.h>

#include "base/enc.h"
#include "net/http.h"
#include "net/http_chars.h"

enum {
    MAX_DIGITS = 15,     /* of a chunk size: no overflow of 64 bits */
    MAX_LINE = 1024,     /* bytes of a size line with its extensions */
    MAX_TRAILERS = 8192, /* bytes of the whole trailer section */
};

enum state {
    SIZE_FIRST, /* the first digit of a size */
    SIZE,
    EXTENSION,
    SIZE_LF, /* the line feed behind the size */
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER_FIRST, /* the first byte of a trailer line, or of the empty line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    LAST_LF,
    DONE,
};

static int on_chunk_size(struct http_chunked *c, char byte)
{
    int digit = enc_hex_digit(byte);

    if (digit >= 0) {
        c->left = c->left * 16 + (unsigned)digit;
        c->state = SIZE;
        return ++c->digits > MAX_DIGITS ? -EINVAL : 0;
    }
    if (c->state == SIZE_FIRST)
        return -EINVAL;
    if (byte == ';')
        c->state = EXTENSION;
    else if (byte == '\r')
        c->state = SIZE_LF;
    else
        return -EINVAL;
    return 0;
}

/* A byte of a text that ends with CR: an extension or a trailer's value. */
static int on_chunk_text(struct http_chunked *c, char byte, enum state at_cr)
{
    if (byte == '\r')
        c->state = (uint8_t)at_cr;
    else if (http_is_ctl(byte))
        return -EINVAL;
    return 0;
}

static int on_trailer_name(struct http_chunked *c, char byte)
{
    if (c->state == TRAILER_FIRST && byte == '\r')
        c->state = LAST_LF;
    else if (c->state == TRAILER_NAME && byte == ':')
        c->state = TRAILER_VALUE;
    else if (http_is_token(byte))
        c->state = TRAILER_NAME;
    else
        return -EINVAL;
    return 0;
}

/* A byte that must be WANT leads to NEXT. */
static int on_fixed(struct http_chunked *c, char byte, char want, enum state next)
{
    c->state = (uint8_t)next;
    return byte == want ? 0 : -EINVAL;
}

static int on_size_line_end(struct http_chunked *c, char byte)
{
    bool is_last = c->left == 0;

    c->digits = 0;
    c->line_bytes = 0;
    return on_fixed(c, byte, '\n', is_last ? TRAILER_FIRST : DATA);
}

static int on_line_byte(struct http_chunked *c, char byte)
{
    bool is_trailer = c->state >= TRAILER_FIRST;

    if (++c->line_bytes > (is_trailer ? MAX_TRAILERS : MAX_LINE))
        return -EINVAL;
    switch ((enum state)c->state) {
    case SIZE_FIRST:
    case SIZE: return on_chunk_size(c, byte);
    case EXTENSION: return on_chunk_text(c, byte, SIZE_LF);
    case SIZE_LF: return on_size_line_end(c, byte);
    case DATA_CR: return on_fixed(c, byte, '\r', DATA_LF);
    case DATA_LF: c->line_bytes = 0; return on_fixed(c, byte, '\n', SIZE_FIRST);
    case TRAILER_FIRST:
    case TRAILER_NAME: return on_trailer_name(c, byte);
    case TRAILER_VALUE: return on_chunk_text(c, byte, TRAILER_LF);
    case TRAILER_LF: return on_fixed(c, byte, '\n', TRAILER_FIRST);
    case LAST_LF: return on_fixed(c, byte, '\n', DONE);
    case DATA:
    case DONE: break;
    }
    return -EINVAL;
}

ssize_t http_chunked_decode(struct http_chunked *c, const char *p, size_t len, struct str *ret_data,
                            bool *ret_done)
{
    size_t at = 0;

    *ret_data = str_n(p, 0);
    while (at < len && c->state != DATA && c->state != DONE)
        if (on_line_byte(c, p[at++]) < 0)
            return -EINVAL;
    if (c->state == DATA && at < len) {
        size_t n = len - at < c->left ? len - at : (size_t)c->left;
        *ret_data = str_n(p + at, n);
        at += n;
        c->left -= n;
        if (c->left == 0)
            c->state = DATA_CR;
    }
    *ret_done = c->state == DONE;
    return (ssize_t)at;
}
