/* SPDX-License-Identifier: MIT */
/* GET /fs/download: a regular file with one Range; fs_archive.c has directories. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "envd/fs.h"
#include "sys/io.h"

/* A peer that reads as fast as we write would keep the loop for itself: a turn ends after ROUND
 * chunks. */
enum { CHUNK = 64 << 10, ROUND = 16, NAME_TEXT_MAX = 2048 };

struct download {
    struct loop_timer timer;
    struct http_req *req;
    int fd;
    uint64_t at, left;
    char chunk[CHUNK];
};

/* ---- headers ---- */

int fs_add_disposition(struct http_req *r, struct str name)
{
    auto_buf struct buf b = BUF_INIT(NAME_TEXT_MAX);
    bool is_plain = true;

    (void)buf_add_lit(&b, "attachment; filename=\"");
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.p[i];
        bool is_safe = c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '%';
        is_plain = is_plain && is_safe;
        (void)buf_add_char(&b, is_safe ? (char)c : '_');
    }
    (void)buf_add_char(&b, '"');
    if (!is_plain) {
        (void)buf_add_lit(&b, "; filename*=UTF-8''");
        (void)enc_percent(&b, name);
    }
    return buf_ok(&b) ? http_add_header(r, "Content-Disposition", buf_str(&b)) : b.error;
}

/* One range of a file of SIZE bytes. 1: *AT and *LEN are set; 0: none, or one that is not
 * understood and therefore ignored; -ERANGE: it is outside of the file. */
static int parse_range(struct str value, uint64_t size, uint64_t *at, uint64_t *len)
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

/* The part that is asked for, of a file last changed at MTIME. As parse_range(). */
static int wanted_range(struct http_req *r, const char *mtime, uint64_t size, struct download *d)
{
    struct str range = http_header_get(&r->head.headers, "Range");
    struct str condition = http_header_get(&r->head.headers, "If-Range");

    d->at = 0;
    d->left = size;
    if (!range.p || (condition.p && !str_is(condition, mtime)))
        return 0;
    return parse_range(str_trim(range), size, &d->at, &d->left);
}

/* ---- the body ---- */

static void download_free(struct download *d)
{
    loop_timer_stop(&d->timer);
    close_p(&d->fd);
    free(d);
}

static void pump(struct download *d);

static void on_turn(struct loop_timer *t)
{
    pump(container_of(t, struct download, timer));
}

static void on_drain(struct http_req *r, void *ctx)
{
    (void)r;
    pump(ctx);
}

/* One chunk: 0, or -errno when the answer cannot be completed. */
static int send_chunk(struct download *d)
{
    size_t want = d->left < CHUNK ? (size_t)d->left : CHUNK;
    ssize_t n = pread(d->fd, d->chunk, want, (off_t)d->at);

    if (n <= 0)
        return n < 0 ? -errno : -EIO; /* somebody made it shorter */
    d->at += (uint64_t)n;
    d->left -= (uint64_t)n;
    return http_write(d->req, d->chunk, (size_t)n);
}

static void pump(struct download *d)
{
    struct http_req *r = d->req;
    int code = 0;

    for (int i = 0; code == 0 && d->left > 0 && i < ROUND; i++) {
        if (http_is_full(r)) {
            http_on_drain(r, on_drain, d);
            return;
        }
        code = send_chunk(d);
    }
    if (code == 0 && d->left > 0)
        code = loop_timer_start(r->loop, &d->timer, 0, on_turn);
    if (code == 0 && d->left > 0)
        return;
    download_free(d);
    if (code < 0)
        http_abort(r);
    else
        http_end(r);
}

static void on_abort(struct http_req *r)
{
    download_free(r->user);
    http_end(r);
}

/* ---- the request ---- */

static void start(struct http_req *r, struct download *d, const struct stat *st, const char *path)
{
    uint64_t size = (uint64_t)st->st_size;
    char mtime[CLOCK_RFC3339_MAX], text[80];

    clock_http_date(mtime, st->st_mtim.tv_sec * 1000000);
    int part = wanted_range(r, mtime, size, d);
    (void)http_add_header(r, "Accept-Ranges", STR("bytes"));
    if (part < 0) {
        (void)snprintf(text, sizeof text, "bytes */%llu", (unsigned long long)size);
        (void)http_add_header(r, "Content-Range", str_of(text));
        download_free(d);
        serve_fail_text(r, 416, "the range is outside of the file");
        return;
    }
    if (part > 0) {
        (void)snprintf(text, sizeof text, "bytes %llu-%llu/%llu", (unsigned long long)d->at,
                       (unsigned long long)(d->at + d->left - 1), (unsigned long long)size);
        (void)http_add_header(r, "Content-Range", str_of(text));
    }
    (void)http_add_header(r, "Last-Modified", str_of(mtime));
    (void)fs_add_disposition(r, str_of(fs_base(path)));
    r->user = d;
    r->on_abort = on_abort;
    http_start(r, part > 0 ? 206 : 200, "application/octet-stream", (int64_t)d->left);
    if (r->head.method == HTTP_HEAD)
        d->left = 0;
    pump(d);
}

void fs_download(struct serve *s, struct http_req *r)
{
    const char *path = fs_query_path(r, true);
    struct stat st;

    if (!path)
        return;
    auto_close int fd = fs_open(path);
    if (fd < 0 || fstat(fd, &st) < 0) {
        fs_fail(r, fd < 0 ? fd : -errno, path);
        return;
    }
    if (S_ISDIR(st.st_mode) || serve_query(r, "archive")) {
        fs_archive(s, r, path);
        return;
    }
    if (!S_ISREG(st.st_mode)) {
        fs_fail(r, -EINVAL, path);
        return;
    }
    struct download *d = mem_alloc(sizeof *d);
    if (!d) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    d->timer = (struct loop_timer){0};
    d->req = r;
    d->fd = take_fd(fd);
    start(r, d, &st, path);
}
