/* SPDX-License-Identifier: MIT */
/* Files that COPY steps of builds need: an archive for each hash that the client computes, uploaded
 * once. The URL for the upload carries its own permission, because clients send no key with it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/e2b/builds.h"
#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"
#include "core/build.h"
#include "core/disk_guard.h"
#include "core/volume.h"
#include "loop/spool.h"
#include "sys/digest.h"
#include "sys/io.h"

enum { HEX_LEN = 2 * DIGEST_SHA256_LEN, ANSWER_MAX = 8192, TEMP_DIGITS = 16, VALID_S = 3600 };
#define ARCHIVE_MAX (INT64_C(1) << 30)

/* ---- permission ---- */

/* UNTIL: seconds since 1970. */
static void sign_upload(const struct api_req *r, struct str account, struct str hash, int64_t until,
                        char out[HEX_LEN + 1])
{
    unsigned char key[DIGEST_SHA256_LEN], mac[DIGEST_SHA256_LEN];
    struct str text = arena_printf(r->arena, STR_FMT "\n" STR_FMT "\n%lld", STR_ARG(account),
                                   STR_ARG(hash), (long long)until);

    digest_hmac_sha256(key, str_n((const char *)r->core->secret, CORE_SECRET_LEN),
                       STR("files of builds"));
    digest_hmac_sha256(mac, str_n((const char *)key, sizeof key), text);
    enc_hex(out, mac, sizeof mac);
    out[HEX_LEN] = '\0';
    mem_wipe(key, sizeof key);
}

/* ---- GET: is it there? ---- */

void e2b_build_file(struct api_req *r)
{
    struct str hash = api_param(r, "hash");
    const char *account = r->key->account->id;
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);
    char path[PATH_MAX], signature[HEX_LEN + 1];

    if (build_file_path(r->core->builds, account, hash, path) < 0) {
        api_error(r, 400, "Invalid hash: must be 64 hex digits");
        return;
    }
    bool is_present = access(path, F_OK) == 0;
    jw_object(&w);
    jw_key(&w, "present");
    jw_bool(&w, is_present);
    if (!is_present) {
        int64_t until = clock_real_us() / 1000000 + VALID_S;
        sign_upload(r, str_of(account), hash, until, signature);
        jw_key(&w, "url");
        jw_str(&w, arena_printf(r->arena,
                                STR_FMT "/e2b/v1/templates/" STR_FMT "/files/" STR_FMT
                                        "?account=%s&expires=%lld&signature=%s",
                                STR_ARG(klavis_base(r)), STR_ARG(api_param(r, "id")), STR_ARG(hash),
                                account, (long long)until, signature));
    }
    jw_end(&w);
    api_reply_json(r, 201, &body);
}

/* ---- PUT ---- */

struct build_file_upload {
    struct api_req *r;
    struct spool *spool;
    struct build_upload count;
    char path[PATH_MAX], temp[PATH_MAX];
    bool is_ended;
};

static void refuse_upload(struct build_file_upload *u, int status, const char *why)
{
    u->is_ended = true;
    spool_drop(take(u->spool));
    build_upload_end(&u->count);
    build_files_trim(u->r->core->builds, u->count.account, u->temp);
    api_error(u->r, status, "%s", why);
}

static void on_build_file_room(void *ctx)
{
    struct build_file_upload *u = ctx;

    if (!u->is_ended)
        http_body_resume(u->r->http);
}

static int on_build_file_data(struct http_req *h, void *ctx, const char *p, size_t len)
{
    struct build_file_upload *u = ctx;

    if (spool_size(u->spool) + len > (uint64_t)ARCHIVE_MAX) {
        refuse_upload(u, 413, "The files of a step are larger than 1 GiB");
        return -EFBIG;
    }
    int r = disk_guard_check(u->r->core->disk_guard, NULL);
    if (r == 0)
        r = spool_write(u->spool, p, len);
    if (r < 0) {
        refuse_upload(u, r == -ENOSPC ? 507 : 500, "The files could not be written");
        return r;
    }
    if (spool_is_full(u->spool)) {
        http_body_pause(h);
        spool_on_room(u->spool, on_build_file_room, u);
    }
    return 0;
}

static void on_build_file_written(void *ctx, int result)
{
    struct build_file_upload *u = ctx;

    if (result < 0 || rename(u->temp, u->path) < 0)
        refuse_upload(u, result == -ENOSPC ? 507 : 500, "The files could not be written");
    else {
        build_upload_end(&u->count);
        build_files_trim(u->r->core->builds, u->count.account, NULL);
        api_reply(u->r, 200, "text/plain", STR(""));
    }
}

static void on_build_file_end(struct http_req *h, void *ctx)
{
    struct build_file_upload *u = ctx;

    (void)h;
    u->is_ended = true;
    spool_end(take(u->spool), on_build_file_written, u);
}

static void on_build_file_abort(struct http_req *h)
{
    struct build_file_upload *u = h->abort_ctx;

    if (!u->is_ended)
        refuse_upload(u, h->fault ? h->fault : 400, "The upload is incomplete");
}

static bool is_build_file_allowed(const struct api_req *r, struct str account, struct str hash)
{
    struct str given = api_query(r, "signature");
    char want[HEX_LEN + 1];
    int64_t until;

    if (str_to_i64(api_query(r, "expires"), &until) < 0 || until < clock_real_us() / 1000000)
        return false;
    sign_upload(r, account, hash, until, want);
    return given.len == HEX_LEN && mem_eq_const(want, given.p, HEX_LEN);
}

void e2b_build_upload(struct api_req *r)
{
    static const struct http_body_sink sink = {.on_data = on_build_file_data,
                                               .on_end = on_build_file_end};
    struct str account = api_query(r, "account"), hash = api_param(r, "hash");
    struct build_file_upload *u = arena_new(r->arena, struct build_file_upload);
    char digits[TEMP_DIGITS + 1];
    struct err e = ERR_INIT;

    if (!u || !is_build_file_allowed(r, account, hash)) {
        api_error(r, u ? 403 : 500,
                  "This URL is not valid: it has expired, or its signature does not match");
        return;
    }
    *u = (struct build_file_upload){.r = r};
    int code = disk_guard_check(r->core->disk_guard, &e);
    if (code == 0)
        code = build_upload_begin(r->core->builds, &u->count, account, &e);
    if (code < 0) {
        e2b_build_fail(r, code, &e);
        return;
    }
    id_hex(digits, TEMP_DIGITS);
    int fd = -EINVAL;
    if (build_file_path(r->core->builds, u->count.account, hash, u->path) == 0 &&
        snprintf(u->temp, sizeof u->temp, "%s.%s", u->path, digits) < (int)sizeof u->temp)
        fd = io_open(u->temp, O_WRONLY | O_CREAT | O_EXCL, 0600);
    u->spool = fd < 0 ? NULL : spool_new(volumes_pool(r->core->volumes), r->core->loop, fd);
    if (!u->spool) {
        build_upload_end(&u->count);
        api_fail(r, fd < 0 ? fd : -ENOMEM, NULL);
        return;
    }
    r->http->on_abort = on_build_file_abort;
    r->http->abort_ctx = u;
    http_stream_body(r->http, UINT64_MAX, &sink, u);
}
