/* SPDX-License-Identifier: MIT */
/* Envelopes of the Connect protocol: see envelope.h. */
#include "envd/envelope.h"

#include <errno.h>

void envelope_reader_init(struct envelope_reader *r, size_t max)
{
    *r = (struct envelope_reader){.max = max};
    buf_init(&r->kept, max + ENVELOPE_HEAD);
}

void envelope_reader_done(struct envelope_reader *r)
{
    buf_done(&r->kept);
}

static size_t length_at(const char *head)
{
    const unsigned char *p = (const unsigned char *)head;

    return (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
}

static void set_envelope(struct envelope *ret, const char *p)
{
    *ret = (struct envelope){(uint8_t)p[0], str_n(p + ENVELOPE_HEAD, length_at(p))};
}

/* How many bytes of the envelope that begins with S are missing: at least to the end of its head
 * while that is not complete. */
static ssize_t missing(const struct envelope_reader *r, struct str s)
{
    if (s.len < ENVELOPE_HEAD)
        return (ssize_t)(ENVELOPE_HEAD - s.len);
    size_t len = length_at(s.p);
    if (len > r->max)
        return -EMSGSIZE;
    return (ssize_t)(ENVELOPE_HEAD + len) - (ssize_t)s.len;
}

/* Adds to what is kept; the whole envelope when it is complete. */
static ssize_t read_kept(struct envelope_reader *r, struct str p, struct envelope *ret,
                         bool *ret_is_whole)
{
    size_t used = 0;

    for (;;) {
        ssize_t need = missing(r, buf_str(&r->kept));
        if (need < 0)
            return need;
        if (need == 0) {
            set_envelope(ret, r->kept.p);
            *ret_is_whole = true;
            r->kept.len = 0; /* the bytes stay until the next call */
            return (ssize_t)used;
        }
        struct str piece = str_slice(str_skip(p, used), 0, (size_t)need);
        if (piece.len == 0)
            return (ssize_t)used;
        if (buf_add_str(&r->kept, piece) < 0)
            return r->kept.error == -ENOMEM ? -ENOMEM : -EMSGSIZE;
        used += piece.len;
    }
}

ssize_t envelope_read(struct envelope_reader *r, struct str p, struct envelope *ret,
                      bool *ret_is_whole)
{
    *ret_is_whole = false;
    if (r->kept.len == 0 && p.len >= ENVELOPE_HEAD) {
        if (length_at(p.p) > r->max)
            return -EMSGSIZE;
        if (length_at(p.p) <= p.len - ENVELOPE_HEAD) {
            set_envelope(ret, p.p);
            *ret_is_whole = true;
            return (ssize_t)(ENVELOPE_HEAD + ret->payload.len);
        }
    }
    return read_kept(r, p, ret, ret_is_whole);
}

bool envelope_is_partial(const struct envelope_reader *r)
{
    return r->kept.len > 0;
}

int envelope_put_head(struct buf *out, uint8_t flags, size_t len)
{
    const char head[ENVELOPE_HEAD] = {(char)flags, (char)(len >> 24), (char)(len >> 16),
                                      (char)(len >> 8), (char)len};

    return buf_add(out, head, sizeof head);
}
