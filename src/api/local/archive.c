/* SPDX-License-Identifier: MIT */
/* /local-sandbox/{id}/upload-url, initialize and dump. */
#include "api/local/archive.h"

#include <errno.h>
#include <stdio.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/transfer.h"
#include "base/cleanup.h"
#include "base/json_pair.h"
#include "core/config.h"
#include "core/sandbox.h"

enum { ANSWER_MAX = 64 << 10 };

struct str archive_id(struct api_req *r, const struct sandbox *sb)
{
    return arena_str(r->arena, json_str(json_get(local_of(sb), "id"), STR("")));
}

/* The query parameter "region", which makes no difference here, is checked; true after answering.
 */
static bool archive_refuse_region(struct api_req *r)
{
    struct klavis_input in;

    klavis_input_begin(&in, r);
    (void)klavis_input_query(&in, "region", "QueryRegion");
    return klavis_input_refuse(&in);
}

void archive_refuse(struct api_req *r, int status, struct str text)
{
    if (status == 0)
        status = 503;
    else if (status < 400 || status > 599)
        status = 500;
    api_error(r, status, STR_FMT, STR_ARG(text.len > 0 ? text : STR("The sandbox failed")));
}

/* ---- URLs ---- */

void archive_reply_url(struct api_req *r, enum signed_purpose purpose, struct str id,
                       struct str name)
{
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);
    struct str url = signed_url(r, purpose, id, name);

    if (!url.p) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    jw_object(&w);
    jw_pair_str(&w, purpose == SIGNED_DOWNLOAD ? "download_url" : "upload_url", url);
    jw_key(&w, "expires_in_minutes");
    jw_int(&w, SIGNED_MINUTES);
    jw_end(&w);
    api_reply_json(r, 200, &b);
}

void local_upload_url(struct api_req *r)
{
    struct sandbox *sb = archive_refuse_region(r) ? NULL : local_find_for(r);

    if (sb)
        archive_reply_url(r, SIGNED_UPLOAD, archive_id(r, sb), STR("workspace"));
}

/* ---- initialize ---- */

struct init {
    struct api_req *r;
    struct vault *vault;
    struct str id;
    bool is_new; /* not unpacked before */
    char part[VAULT_NAME_MAX];
};

static void on_archive_kept(void *ctx, int result)
{
    struct init *n = ctx;
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);

    if (result < 0) {
        api_error(n->r, 500, "The archive was unpacked, but could not be stored for a reset");
        return;
    }
    jw_object(&w);
    jw_pair_str(&w, "sandbox_id", n->id);
    jw_pair_str(&w, "status", STR("occupied"));
    jw_pair_str(&w, "message", STR("Extracted archive from GCS to workspace"));
    jw_end(&w);
    api_reply_json(n->r, 200, &b);
}

static void on_archive_unpacked(void *ctx, int status, struct str text)
{
    struct init *n = ctx;

    if (status == 200 && n->is_new) {
        vault_keep(n->vault, n->id, n->part, on_archive_kept, n);
        return;
    }
    if (n->is_new)
        vault_remove(n->vault, n->id, n->part);
    if (status == 200)
        on_archive_kept(n, 0);
    else
        archive_refuse(n->r, status, text);
}

/* What is to be unpacked: a new upload, else once more what was unpacked last. Descriptor, or
 * -errno after answering. */
static int open_archive(struct init *n, uint64_t *ret_size)
{
    unsigned n_inits = vault_n_inits(n->vault, n->id);
    char last[VAULT_NAME_MAX];

    n->is_new = vault_has(n->vault, n->id, "upload");
    if (!n->is_new && n_inits == 0) {
        api_error(n->r, 400, "Nothing was uploaded; request an upload URL and PUT a tar.gz to it");
        return -ENOENT;
    }
    if (n->is_new && n_inits == VAULT_INITS_MAX) {
        api_error(n->r, 409, "This sandbox has already been initialized %d times", VAULT_INITS_MAX);
        return -ENOBUFS;
    }
    vault_init_name(n_inits - (n_inits > 0), last);
    int r = n->is_new ? vault_link(n->vault, n->id, "upload", n->part) : 0;
    int fd = r < 0 ? r : vault_open(n->vault, n->id, n->is_new ? n->part : last, ret_size);
    if (fd < 0)
        api_fail(n->r, fd, NULL);
    return fd;
}

void local_initialize(struct api_req *r)
{
    struct sandbox *sb = archive_refuse_region(r) ? NULL : local_find_for(r);
    struct init *n = sb ? arena_new(r->arena, struct init) : NULL;
    uint64_t size = 0;

    if (!n) {
        if (sb)
            api_fail(r, -ENOMEM, NULL);
        return;
    }
    *n = (struct init){.r = r, .vault = locals_vault(r->api->locals), .id = archive_id(r, sb)};
    int fd = open_archive(n, &size);
    if (fd < 0)
        return;
    transfer_start(&(struct transfer){
        .locals = r->api->locals,
        .sandbox = sb,
        .arena = r->arena,
        .target = arena_printf(r->arena, "/_unpack?max_bytes=%lld",
                               (long long)r->core->config->local.max_unpacked),
        .body_fd = fd,
        .body_len = size,
        .answer_fd = -1,
        .fn = on_archive_unpacked,
        .ctx = n,
    });
}

/* ---- dump ---- */

struct dump {
    struct api_req *r;
    struct vault *vault;
    struct str id;
    char part[VAULT_NAME_MAX];
    struct vault_use use;
};

static void on_packed(void *ctx, int status, struct str text)
{
    struct dump *d = ctx;
    char name[VAULT_NAME_MAX];
    struct str hex = str_skip(str_of(d->part), strlen("part-"));

    (void)snprintf(name, sizeof name, "dump-" STR_FMT, STR_ARG(hex));
    bool is_kept = status == 200 && vault_rename(d->vault, d->id, d->part, name) == 0;
    vault_end(d->vault, &d->use, is_kept);
    if (is_kept) {
        archive_reply_url(d->r, SIGNED_DOWNLOAD, d->id, hex);
        return;
    }
    vault_remove(d->vault, d->id, d->part);
    archive_refuse(d->r, status, text);
}

void archive_make(struct api_req *r, struct sandbox *sb, struct str target)
{
    struct dump *d = arena_new(r->arena, struct dump);

    if (!d || !target.p) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    *d = (struct dump){.r = r, .vault = locals_vault(r->api->locals), .id = archive_id(r, sb)};
    vault_limit_dumps(d->vault, d->id);
    int fd = vault_create(d->vault, d->id, d->part);
    if (fd < 0) {
        api_fail(r, fd, NULL);
        return;
    }
    d->use = vault_begin(d->vault, d->id);
    transfer_start(&(struct transfer){
        .locals = r->api->locals,
        .sandbox = sb,
        .use = &d->use,
        .arena = r->arena,
        .target = target,
        .body_fd = -1,
        .answer_fd = fd,
        .max_answer = (uint64_t)r->core->config->local.max_archive,
        .fn = on_packed,
        .ctx = d,
    });
}

void local_dump(struct api_req *r)
{
    struct sandbox *sb = archive_refuse_region(r) ? NULL : local_find_for(r);

    if (sb)
        archive_make(r, sb, STR("/_pack"));
}
