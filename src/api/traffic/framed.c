/* SPDX-License-Identifier: MIT */
/* Streams of remote calls: see framed.h.
 *
 * What arrives is cut anywhere. Only whole frames are passed on, so that there is always a place
 * for a last one; a frame that is too large for that passes as it comes. */
#include "api/traffic/framed.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "core/sandbox.h"

enum {
    HEAD_LEN = 5,
    HELD_MAX = 128 << 10, /* output of processes comes in smaller frames */
    LAST = 2,             /* flag of the frame that ends a stream */
    LAST_MAX = 1024,
};

struct framed {
    struct proxy_filter filter;
    struct arena *arena;
    const struct sandbox *sandbox;
    char *held; /* the beginning of a frame; NULL: never needed so far */
    size_t n_held;
    uint64_t left; /* of a frame that passes as it comes */
    bool is_over;  /* the last frame has passed */
};

static uint64_t frame_len(const char *head)
{
    const unsigned char *p = (const unsigned char *)head;

    return HEAD_LEN + ((uint64_t)p[1] << 24 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 8 | p[4]);
}

static bool begin_stream(void *ctx, const struct http_head *head, int64_t *length)
{
    (void)ctx;
    return head->status == 200 && *length < 0 &&
           str_starts(http_header_get(&head->headers, "content-type"), STR("application/connect+"));
}

/* Bytes of whole frames at the beginning of P. */
static size_t count_whole(struct framed *f, const char *p, size_t len)
{
    size_t at = 0;

    while (len - at >= HEAD_LEN && frame_len(p + at) <= len - at) {
        f->is_over = f->is_over || (p[at] & LAST);
        at += frame_len(p + at);
    }
    return at;
}

/* Keeps the beginning of a frame back, or lets it pass when there is no room for all of it. */
static void begin_held(struct framed *f, const char *p, size_t len)
{
    if (!f->held)
        f->held = arena_alloc(f->arena, HELD_MAX);
    if (!f->held) {
        f->left = UINT64_MAX;
    } else if (len >= HEAD_LEN && frame_len(p) > HELD_MAX) {
        f->left = frame_len(p);
    } else {
        memcpy(f->held, p, len);
        f->n_held = len;
    }
}

/* Adds to the frame whose beginning is held; returns how many bytes were used. */
static size_t fill_held(struct framed *f, struct http_req *r, const char *p, size_t len)
{
    size_t want = f->n_held < HEAD_LEN ? HEAD_LEN : frame_len(f->held);
    size_t n = want - f->n_held < len ? want - f->n_held : len;

    memcpy(f->held + f->n_held, p, n);
    f->n_held += n;
    uint64_t whole = f->n_held < HEAD_LEN ? HEAD_LEN : frame_len(f->held);
    if (f->n_held < whole && whole <= HELD_MAX)
        return n;
    f->left = whole - f->n_held;
    f->is_over = f->held[0] & LAST;
    (void)http_write(r, f->held, f->n_held);
    f->n_held = 0;
    return n;
}

static size_t pass_some(struct framed *f, struct http_req *r, const char *p, size_t len)
{
    size_t n;

    if (f->n_held > 0)
        return fill_held(f, r, p, len);
    if (f->left > 0) {
        n = f->left < len ? (size_t)f->left : len;
        f->left -= n;
    } else {
        n = count_whole(f, p, len);
    }
    if (n > 0) {
        (void)http_write(r, p, n);
        return n;
    }
    begin_held(f, p, len);
    return f->n_held;
}

static void pass_data(void *ctx, struct http_req *r, const char *p, size_t len)
{
    while (len > 0) {
        size_t n = pass_some(ctx, r, p, len);
        p += n;
        len -= n;
    }
}

/* The service ended its answer in the middle of a frame: that is not ours to mend. */
static void end_stream(void *ctx, struct http_req *r)
{
    struct framed *f = ctx;

    (void)http_write(r, f->held, f->n_held);
}

static bool cut_stream(void *ctx, struct http_req *r, const struct proxy_fault *fault)
{
    struct framed *f = ctx;
    struct buf text auto_buf = BUF_INIT(LAST_MAX);
    struct jw w = jw_to(&text);
    const char *why = sandbox_why_away(f->sandbox);

    if (f->left > 0)
        return false;
    if (f->is_over)
        return true;
    (void)buf_add(&text, "\2\0\0\0", HEAD_LEN);
    jw_object(&w);
    jw_key(&w, "error");
    jw_object(&w);
    jw_key(&w, "code");
    jw_cstr(&w, "unavailable");
    jw_key(&w, "message");
    jw_cstr(&w, why ? why : fault->why);
    jw_end(&w);
    jw_end(&w);
    if (!buf_ok(&text))
        return false;
    size_t len = text.len - HEAD_LEN;
    text.p[3] = (char)(len >> 8);
    text.p[4] = (char)len;
    return http_write(r, text.p, text.len) == 0;
}

const struct proxy_filter *framed_new(struct api_req *r, const struct sandbox *sb)
{
    struct framed *f = arena_new(r->arena, struct framed);

    if (!f)
        return NULL;
    f->arena = r->arena;
    f->sandbox = sb;
    f->filter = (struct proxy_filter){begin_stream, pass_data, end_stream, cut_stream, f};
    return &f->filter;
}
