/* SPDX-License-Identifier: MIT */
/* The workspace as an archive: what the daemon asks for.
 *
 *     POST /_unpack?max_bytes=N&max_entries=N
 *                                 body: tar.gz    200 {"entries": N}; 400 it is refused, nothing is
 *                                                 changed; 507 it does not fit
 *     POST /_pack                                 200, tar.gz */
#include "local/archive/rows.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/archive/extract.h"
#include "local/archive/pack.h"

enum { PIECE_BYTES = 64 << 10 };

/* One at a time: each would see what the other has half done. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int http_status_of(int code)
{
    switch (code) {
    case -EINVAL: return 400;
    case -ENOSPC:
    case -EDQUOT: return 507;
    default: return 500;
    }
}

static int read_archive(struct request *q, struct extract *x, struct err *e)
{
    auto_free char *piece = mem_alloc(PIECE_BYTES);
    ssize_t n = 0;
    int r = 0;

    if (!piece)
        return err_set(e, -ENOMEM, "out of memory");
    while (r == 0 && (n = request_read(q, piece, PIECE_BYTES)) > 0)
        r = extract_feed(x, piece, (size_t)n, e);
    if (r == 0 && n < 0)
        r = err_set(e, -EINVAL, "the archive did not arrive as a whole");
    return r == 0 ? extract_commit(x, e) : r;
}

int archive_unpack(struct request *q, const char *root, uint64_t *ret_n, struct err *e)
{
    struct extract_limits limits = {.max_bytes = UINT64_MAX};

    (void)str_to_u64(request_param(q, "max_bytes"), &limits.max_bytes);
    (void)str_to_u64(request_param(q, "max_entries"), &limits.max_entries);
    (void)pthread_mutex_lock(&lock);
    struct extract *x = extract_new(root, &limits, e);
    int r = x ? read_archive(q, x, e) : e->code;
    if (r == 0)
        *ret_n = extract_n_entries(x);
    extract_free(x);
    (void)pthread_mutex_unlock(&lock);
    if (r < 0)
        request_fail(q, http_status_of(r), "%s", err_text(e));
    return r;
}

void archive_row_unpack(struct request *q)
{
    struct err e = ERR_INIT;
    uint64_t n = 0;

    if (archive_unpack(q, q->local->root, &n, &e) == 0)
        request_reply(q, "application/json",
                      arena_printf(&q->arena, "{\"entries\":%llu}", (unsigned long long)n));
}

static int send_piece(void *ctx, const char *p, size_t len)
{
    return request_write(ctx, p, len);
}

void archive_pack(struct request *q, const char *root)
{
    struct err e = ERR_INIT;

    (void)pthread_mutex_lock(&lock);
    int r = pack_tree(root, send_piece, q, &e);
    (void)pthread_mutex_unlock(&lock);
    if (r < 0)
        request_fail(q, 500, "%s", e.code ? err_text(&e) : "the archive could not be created");
}

void archive_row_pack(struct request *q)
{
    archive_pack(q, q->local->root);
}
