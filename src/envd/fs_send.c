/* SPDX-License-Identifier: MIT */
/* Regular files as answers: see fs_send.h. */
#include "envd/fs_send.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/crc32.h"
#include "base/mem.h"
#include "net/http_req.h"

/* A peer that reads as fast as we write would keep the loop for itself: a turn ends after ROUND
 * chunks. */
enum { CHUNK = 64 << 10, ROUND = 16, STORED_MAX = 65535 };

/* A stream of gzip whose blocks hold the bytes as they are (RFC 1951, 3.2.4). */
struct wrapping {
    uint32_t crc, size;
};

struct file_sending {
    struct loop_timer timer;
    struct http_req *req;
    int fd;
    uint64_t at, left;
    struct wrapping *gzip; /* NULL: plain */
    char chunk[CHUNK];
};

/* ---- conditions ---- */

/* One range of a file of SIZE bytes. 1: *AT and *LEN are set; 0: none, or one that is not
 * understood and therefore ignored; -ERANGE: it is outside the file. */
static int parse_send_range(struct str value, uint64_t size, uint64_t *at, uint64_t *len)
{
    uint64_t first, last = UINT64_MAX;

    if (!str_starts(value, STR("bytes=")) || str_chr(value, ',') >= 0)
        return 0;
    struct str to = str_trim(str_skip(value, 6));
    if (str_chr(to, '-') < 0)
        return 0;
    struct str from = str_trim(str_cut(&to, '-'));
    to = str_trim(to);
    if (from.len == 0) {
        if (str_to_u64(to, &last) < 0)
            return 0;
        *len = last < size ? last : size;
        *at = size - *len;
        return *len ? 1 : -ERANGE;
    }
    if (str_to_u64(from, &first) < 0 || (to.len && str_to_u64(to, &last) < 0) || last < first)
        return 0;
    if (first >= size)
        return -ERANGE;
    *at = first;
    *len = (last < size - 1 ? last : size - 1) - first + 1;
    return 1;
}

/* The part that is asked for, of a file last changed at MTIME. As parse_send_range(). */
static int wanted_range(struct http_req *r, const char *mtime, struct file_sending *d)
{
    struct str range = http_header_get(&r->head.headers, "Range");
    struct str condition = http_header_get(&r->head.headers, "If-Range");

    if (!range.p || d->gzip || (condition.p && !str_is(condition, mtime)))
        return 0;
    return parse_send_range(str_trim(range), d->left, &d->at, &d->left);
}

/* True when the peer has the file as it is. */
static bool is_unchanged(struct http_req *r, time_t mtime)
{
    struct str value = http_header_get(&r->head.headers, "If-Modified-Since");
    struct str copy = value.p ? arena_str(r->arena, value) : STR_NULL;
    struct tm tm = {0};

    if (!copy.p || http_header_get(&r->head.headers, "If-None-Match").p)
        return false;
    const char *end = strptime(copy.p, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    return end && !*end && mtime <= timegm(&tm);
}

/* ---- gzip ---- */

static void put_gzip_u32(char *out, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char)(v >> 8 * i);
}

static int wrap_begin(struct file_sending *d)
{
    static const char head[] = "\x1f\x8b\x08\0\0\0\0\0\0\xff";

    return http_write(d->req, head, sizeof head - 1);
}

static int wrap_chunk(struct file_sending *d, size_t len)
{
    struct wrapping *z = d->gzip;
    const char head[5] = {0, (char)len, (char)(len >> 8), (char)~len, (char)(~len >> 8)};

    z->crc = crc32_add(z->crc, d->chunk, len);
    z->size += (uint32_t)len;
    (void)http_write(d->req, head, sizeof head);
    return http_write(d->req, d->chunk, len);
}

static void wrap_end(struct file_sending *d)
{
    char end[13] = {1, 0, 0, (char)0xff, (char)0xff};

    put_gzip_u32(end + 5, d->gzip->crc);
    put_gzip_u32(end + 9, d->gzip->size);
    (void)http_write(d->req, end, sizeof end);
}

/* ---- the body ---- */

static void sending_free(struct file_sending *d)
{
    loop_timer_stop(&d->timer);
    close_p(&d->fd);
    free(d->gzip);
    free(d);
}

static void pump_file(struct file_sending *d);

static void on_send_turn(struct loop_timer *t)
{
    pump_file(container_of(t, struct file_sending, timer));
}

static void on_send_drain(struct http_req *r, void *ctx)
{
    (void)r;
    pump_file(ctx);
}

/* One chunk: 0, or -errno when the answer cannot be completed. */
static int send_file_chunk(struct file_sending *d)
{
    size_t max = d->gzip ? STORED_MAX : CHUNK;
    size_t want = d->left < max ? (size_t)d->left : max;
    ssize_t n = pread(d->fd, d->chunk, want, (off_t)d->at);

    if (n <= 0)
        return n < 0 ? -errno : -EIO; /* somebody made it shorter */
    d->at += (uint64_t)n;
    d->left -= (uint64_t)n;
    return d->gzip ? wrap_chunk(d, (size_t)n) : http_write(d->req, d->chunk, (size_t)n);
}

static void pump_file(struct file_sending *d)
{
    struct http_req *r = d->req;
    int code = 0;

    for (int i = 0; code == 0 && d->left > 0 && i < ROUND; i++) {
        if (http_is_full(r)) {
            http_on_drain(r, on_send_drain, d);
            return;
        }
        code = send_file_chunk(d);
    }
    if (code == 0 && d->left > 0)
        code = loop_timer_start(r->loop, &d->timer, 0, on_send_turn);
    if (code == 0 && d->left > 0)
        return;
    if (code == 0 && d->gzip)
        wrap_end(d);
    sending_free(d);
    if (code < 0)
        http_abort(r);
    else
        http_end(r);
}

static void on_send_abort(struct http_req *r)
{
    sending_free(r->user);
    http_end(r);
}

/* ---- the beginning ---- */

static struct file_sending *file_sending_new(struct http_req *r, const struct stat *st,
                                             bool is_gzip)
{
    struct file_sending *d = mem_alloc(sizeof *d);
    struct wrapping *z = is_gzip ? mem_zalloc(1, sizeof *z) : NULL;

    if (!d || (is_gzip && !z)) {
        free(d);
        free(z);
        return NULL;
    }
    d->timer = (struct loop_timer){0};
    d->req = r;
    d->fd = -1;
    d->at = 0;
    d->left = (uint64_t)st->st_size;
    d->gzip = z;
    return d;
}

static void begin_sending(struct file_sending *d, int status, const char *type)
{
    struct http_req *r = d->req;

    r->user = d;
    r->on_abort = on_send_abort;
    if (d->gzip)
        (void)http_add_header(r, "Content-Encoding", STR("gzip"));
    http_start(r, status, type, d->gzip ? -1 : (int64_t)d->left);
    if (r->head.method == HTTP_HEAD)
        d->left = 0;
    if (d->gzip)
        (void)wrap_begin(d);
    pump_file(d);
}

int fs_send(struct http_req *r, int taken, const struct stat *st, const struct fs_send *how)
{
    auto_close int fd = taken;
    char mtime[CLOCK_RFC3339_MAX], text[80];
    unsigned long long size = (unsigned long long)st->st_size;
    struct file_sending *d = file_sending_new(r, st, how->is_gzip);

    if (!d)
        return -ENOMEM;
    clock_http_date(mtime, st->st_mtim.tv_sec * 1000000);
    if (!d->gzip)
        (void)http_add_header(r, "Accept-Ranges", STR("bytes"));
    if (is_unchanged(r, st->st_mtim.tv_sec)) {
        (void)http_add_header(r, "Last-Modified", str_of(mtime));
        sending_free(d);
        http_reply(r, 304, NULL, STR(""));
        return 0;
    }
    int part = wanted_range(r, mtime, d);
    if (part < 0) {
        (void)snprintf(text, sizeof text, "bytes */%llu", size);
        (void)http_add_header(r, "Content-Range", str_of(text));
        sending_free(d);
        return part;
    }
    if (part > 0) {
        (void)snprintf(text, sizeof text, "bytes %llu-%llu/%llu", (unsigned long long)d->at,
                       (unsigned long long)(d->at + d->left - 1), size);
        (void)http_add_header(r, "Content-Range", str_of(text));
    }
    (void)http_add_header(r, "Last-Modified", str_of(mtime));
    d->fd = take_fd(fd);
    begin_sending(d, part > 0 ? 206 : 200, how->type);
    return 0;
}
