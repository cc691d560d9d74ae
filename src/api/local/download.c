/* SPDX-License-Identifier: MIT */
/* GET of a signed URL: an archive, or the part of it that a client lacks. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "api/internal.h"
#include "api/local/archive.h"
#include "api/local/local.h"
#include "api/local/signed.h"
#include "api/local/vault.h"
#include "base/cleanup.h"
#include "loop/spool.h"

struct archive_download {
    struct api_req *r;
    struct spool_reader *reader;
    bool is_waiting, is_gone;
};

/* ---- ranges ---- */

/* "FROM-", "-LAST" or "FROM-TO"; false when it is none of them. */
static bool split_range(struct str s, struct str *first, struct str *last)
{
    uint64_t n;

    if (!str_starts(s, STR("bytes=")) || str_chr(s, ',') >= 0)
        return false;
    *last = str_trim(str_skip(s, 6));
    *first = str_cut(last, '-');
    if (!last->p || (first->len == 0 && last->len == 0))
        return false;
    return (first->len == 0 || str_to_u64(*first, &n) == 0) &&
           (last->len == 0 || str_to_u64(*last, &n) == 0);
}

/* One range of SIZE bytes. 1: *AT and *LEN are set; 0: none, or one that does not count; -ERANGE.
 */
static int parse_download_range(struct str s, uint64_t size, uint64_t *at, uint64_t *len)
{
    uint64_t from = 0, to = UINT64_MAX;
    struct str first, last;

    if (!split_range(s, &first, &last))
        return 0;
    (void)str_to_u64(first, &from);
    (void)str_to_u64(last, &to);
    if (first.len == 0) { /* a number of bytes from the end */
        from = to < size ? size - to : 0;
        if (to == 0)
            return -ERANGE;
        to = UINT64_MAX;
    }
    if (to < from)
        return 0;
    if (from >= size)
        return -ERANGE;
    *at = from;
    *len = (to < size ? to + 1 : size) - from;
    return 1;
}

static int find_wanted_range(struct api_req *r, struct str tag, uint64_t size, uint64_t *at,
                             uint64_t *len)
{
    struct str range = http_header_get(&r->http->head.headers, "Range");
    struct str condition = http_header_get(&r->http->head.headers, "If-Range");

    *at = 0;
    *len = size;
    if (!range.p || (condition.p && !str_eq(str_trim(condition), tag)))
        return 0;
    return parse_download_range(str_trim(range), size, at, len);
}

/* ---- bytes ---- */

static void go_on_with_download(struct archive_download *d);

static void on_download_piece(void *ctx, struct str piece, int result)
{
    struct archive_download *d = ctx;

    d->is_waiting = false;
    bool is_over = result < 0 || piece.len == 0 || d->is_gone;
    if (!is_over && http_write(d->r->http, piece.p, piece.len) == 0) {
        go_on_with_download(d);
        return;
    }
    spool_reader_free(take(d->reader));
    if (result < 0)
        http_abort(d->r->http);
    else
        http_end(d->r->http);
}

static void on_download_drain(struct http_req *h, void *ctx)
{
    (void)h;
    go_on_with_download(ctx);
}

static void go_on_with_download(struct archive_download *d)
{
    if (d->is_waiting)
        return;
    if (http_is_full(d->r->http) && !d->is_gone) {
        http_on_drain(d->r->http, on_download_drain, d);
        return;
    }
    d->is_waiting = true;
    spool_read(d->reader, on_download_piece, d);
}

static void on_download_abort(struct http_req *h)
{
    struct archive_download *d = h->abort_ctx;

    d->is_gone = true;
    go_on_with_download(d); /* whose next piece ends it */
}

/* ---- the request ---- */

static void add_download_headers(struct api_req *r, struct str tag, struct str name)
{
    (void)http_add_header(r->http, "Accept-Ranges", STR("bytes"));
    (void)http_add_header(r->http, "ETag", tag);
    (void)http_add_header(r->http, "Cache-Control", STR("private, no-store"));
    (void)http_add_header(
        r->http, "Content-Disposition",
        arena_printf(r->arena, "attachment; filename=\"" STR_FMT ".tar.gz\"", STR_ARG(name)));
}

static void start_download(struct archive_download *d, int fd, struct str name, uint64_t size)
{
    struct api_req *r = d->r;
    struct str tag = arena_printf(r->arena, "\"" STR_FMT "\"", STR_ARG(name));
    uint64_t at, len;
    int part = find_wanted_range(r, tag, size, &at, &len);

    add_download_headers(r, tag, name);
    if (part < 0) {
        (void)close(fd);
        (void)http_add_header(r->http, "Content-Range",
                              arena_printf(r->arena, "bytes */%llu", (unsigned long long)size));
        api_error(r, 416, "The range is outside the archive");
        return;
    }
    if (part > 0)
        (void)http_add_header(r->http, "Content-Range",
                              arena_printf(r->arena, "bytes %llu-%llu/%llu", (unsigned long long)at,
                                           (unsigned long long)(at + len - 1),
                                           (unsigned long long)size));
    d->reader = spool_reader_new(vault_pool(locals_vault(r->api->locals)), r->core->loop, fd, at,
                                 r->http->head.method == HTTP_HEAD ? 0 : len);
    if (!d->reader) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    r->http->on_abort = on_download_abort;
    r->http->abort_ctx = d;
    http_start(r->http, part > 0 ? 206 : 200, "application/gzip", (int64_t)len);
    go_on_with_download(d);
}

void local_get(struct api_req *r)
{
    struct str id = api_param(r, "local_sandbox_id"), name = api_param(r, "name");
    struct archive_download *d = arena_new(r->arena, struct archive_download);
    char file[VAULT_NAME_MAX];
    uint64_t size = 0;

    if (!d) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    if (!signed_check(r, SIGNED_DOWNLOAD))
        return;
    d->r = r;
    (void)snprintf(file, sizeof file, "dump-" STR_FMT, STR_ARG(str_slice(name, 0, 32)));
    bool is_known = locals_knows(r->api->locals, id);
    int fd = is_known ? vault_open(locals_vault(r->api->locals), id, file, &size) : -ENOENT;
    if (fd < 0)
        api_error(r, 404, "The archive of this URL no longer exists");
    else
        start_download(d, fd, name, size);
}
