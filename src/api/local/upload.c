/* SPDX-License-Identifier: MIT */
/* PUT to a signed URL: an archive, written to a file as it comes. */
#include <errno.h>
#include <stdio.h>

#include "api/internal.h"
#include "api/local/archive.h"
#include "api/local/local.h"
#include "api/local/signed.h"
#include "api/local/vault.h"
#include "base/cleanup.h"
#include "core/config.h"
#include "loop/spool.h"

struct archive_upload {
    struct api_req *r;
    struct vault *vault;
    struct spool *spool;
    struct str id;
    char part[VAULT_NAME_MAX], name[VAULT_NAME_MAX];
    uint64_t max;
    struct vault_use use;
    bool is_ended; /* all of it has come, or never will */
};

static void refuse_transfer_upload(struct archive_upload *u, int status, const char *why)
{
    u->is_ended = true;
    spool_drop(take(u->spool));
    vault_end(u->vault, &u->use, false);
    vault_remove(u->vault, u->id, u->part);
    api_error(u->r, status, "%s", why);
}

static void too_large(struct archive_upload *u)
{
    struct str why = arena_printf(u->r->arena, "The archive is larger than %llu bytes",
                                  (unsigned long long)u->max);

    refuse_transfer_upload(u, 413, why.p ? why.p : "The archive is too large");
}

#define NO_ROOM                                                                                    \
    "capacity exceeded: your account has its maximum of archives, please release some local "      \
    "sandboxes"

static void fail_upload(struct archive_upload *u, int code)
{
    bool is_full = code == -ENOSPC || code == -EDQUOT;

    refuse_transfer_upload(u, is_full ? 507 : 500,
                           is_full ? "No space left for the archive"
                                   : "The archive could not be written");
}

static void on_upload_room(void *ctx)
{
    struct archive_upload *u = ctx;

    if (!u->is_ended)
        http_body_resume(u->r->http);
}

static int on_upload_data(struct http_req *h, void *ctx, const char *p, size_t len)
{
    struct archive_upload *u = ctx;

    if (spool_size(u->spool) + len > u->max) {
        too_large(u);
        return -EFBIG;
    }
    if (vault_use_take(&u->use, (int64_t)len) < 0) {
        refuse_transfer_upload(u, 429, NO_ROOM);
        return -EDQUOT;
    }
    int r = spool_write(u->spool, p, len);
    if (r < 0) {
        fail_upload(u, r);
        return r;
    }
    if (spool_is_full(u->spool)) {
        http_body_pause(h);
        spool_on_room(u->spool, on_upload_room, u);
    }
    return 0;
}

static void on_upload_published(void *ctx, int result)
{
    struct archive_upload *u = ctx;

    if (result < 0) {
        fail_upload(u, result);
        return;
    }
    vault_end(u->vault, &u->use, true);
    api_reply(u->r, 200, "text/plain", STR(""));
}

static void on_upload_written(void *ctx, int result)
{
    struct archive_upload *u = ctx;

    if (result < 0)
        fail_upload(u, result);
    else
        vault_publish(u->vault, &(struct vault_move){u->id, u->part, u->name}, on_upload_published,
                      u);
}

static void on_upload_end(struct http_req *h, void *ctx)
{
    struct archive_upload *u = ctx;

    (void)h;
    u->is_ended = true;
    if (spool_size(u->spool) == 0)
        refuse_transfer_upload(u, 400, "The archive is empty");
    else
        spool_end(take(u->spool), on_upload_written, u);
}

/* The client left, or what it sends is malformed. */
static void on_upload_abort(struct http_req *h)
{
    struct archive_upload *u = h->abort_ctx;

    if (!u->is_ended)
        refuse_transfer_upload(u, h->fault ? h->fault : 400, "The upload is incomplete");
}

/* The file that an upload becomes. */
static bool choose_upload_name(struct archive_upload *u, enum signed_purpose purpose)
{
    struct str name = api_param(u->r, "name");

    if (purpose == SIGNED_UPLOAD) {
        (void)snprintf(u->name, sizeof u->name, "upload");
        return true;
    }
    return archive_exec_file(name, u->name);
}

void local_put(struct api_req *r)
{
    static const struct http_body_sink sink = {.on_data = on_upload_data, .on_end = on_upload_end};
    enum signed_purpose purpose = signed_purpose(r);
    struct archive_upload *u = arena_new(r->arena, struct archive_upload);
    struct locals *l = r->api->locals;
    int64_t length = r->http->head.content_length;

    if (purpose == SIGNED_MEMORY) {
        local_memory_put(r);
        return;
    }
    if (!u) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    if (!signed_check(r, purpose == SIGNED_EXECUTION ? SIGNED_EXECUTION : SIGNED_UPLOAD))
        return;
    *u = (struct archive_upload){.r = r,
                                 .vault = locals_vault(l),
                                 .id = arena_str(r->arena, api_param(r, "local_sandbox_id")),
                                 .max = (uint64_t)r->core->config->local.max_archive};
    if (!u->id.p || !choose_upload_name(u, purpose) || !locals_knows(l, u->id)) {
        api_error(r, 404, "The local sandbox of this URL was released");
        return;
    }
    if (length > 0 && (uint64_t)length > u->max) {
        api_error(r, 413, "The archive is larger than %llu bytes", (unsigned long long)u->max);
        return;
    }
    u->use = vault_begin(u->vault, u->id);
    if (length > 0 && !vault_use_fits(&u->use, length)) {
        api_error(r, 429, "%s", NO_ROOM);
        return;
    }
    int fd = vault_create(u->vault, u->id, u->part);
    u->spool = fd < 0 ? NULL : spool_new(vault_pool(u->vault), r->core->loop, fd);
    if (!u->spool) {
        api_fail(r, fd < 0 ? fd : -ENOMEM, NULL);
        return;
    }
    r->http->on_abort = on_upload_abort;
    r->http->abort_ctx = u;
    http_stream_body(r->http, UINT64_MAX, &sink, u);
}
