/* SPDX-License-Identifier: MIT */
/* POST /files of the E2B protocol: files of a form, or one raw body, compressed or not. Files are
 * written in place, as clients that watch them expect: what is there is cut to nothing first, and
 * links are followed. An upload that fails or breaks off leaves nothing that could be taken for the
 * whole: a new file goes, one that was there is empty. Nothing of a body is kept in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/gunzip.h"
#include "base/list.h"
#include "base/mem.h"
#include "envd/e2b_files.h"
#include "envd/entry.h"
#include "envd/path.h"
#include "envd/serve.h"
#include "net/multipart.h"
#include "sys/io.h"

enum {
    RESULTS_MAX = 32 << 20,
    XATTR_NAMES_MAX = 16 << 10,
    PARTS_MAX = 4096,
    PART_HEAD_MAX = 32 << 10, /* a path may be in it, each byte written as %XX */
};

/* A path that this request has written to. */
struct target {
    struct target *next;
    const char *path;
};

struct e2b_upload {
    struct list node; /* in the service */
    struct serve *serve;
    struct http_req *req;
    struct user user;
    struct str path;        /* of the query; .p NULL: the parts say where to */
    struct rest_meta *meta; /* for every file */
    struct multipart *form; /* NULL: a raw body */
    struct gunzip *gzip;    /* NULL: not compressed */
    int fd;                 /* of the file under way; -1: none */
    int dir_fd;             /* of its directory */
    bool is_new;            /* it was not there before */
    bool is_taken;          /* another upload writes to it now */
    off_t written;
    struct target *targets; /* the one under way first */
    struct buf results;     /* JSON objects, with commas */
    int status;             /* of the failure; 0: none yet, or the form's own */
    struct err e;
};

/* The file under way will not become whole. */
static void drop_e2b_file(struct e2b_upload *u)
{
    struct stat ours, there;
    const char *name = u->targets ? path_base(u->req->arena, u->targets->path) : NULL;

    /* What somebody else has written meanwhile is not ours to remove. */
    if (u->fd < 0 || u->is_taken || fstat(u->fd, &ours) < 0 || ours.st_size != u->written)
        return;
    (void)ftruncate(u->fd, 0);
    if (u->is_new && name && fstatat(u->dir_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
        (void)unlinkat(u->dir_fd, name, 0);
}

static void free_e2b_upload(struct e2b_upload *u)
{
    list_del(&u->node);
    close_p(&u->fd);
    close_p(&u->dir_fd);
    multipart_free(u->form);
    gunzip_free(u->gzip);
    buf_done(&u->results);
    free(u);
}

/* Notes why the request fails: E was filled. */
static int fail_e2b_upload_with(struct e2b_upload *u, int status)
{
    u->status = status;
    return u->e.code < 0 ? u->e.code : -EIO;
}

/* ---- metadata ---- */

static bool is_wanted_part(const struct rest_meta *meta, const char *name)
{
    for (; meta; meta = meta->next)
        if (strcmp(meta->key, name + ENTRY_XATTR_LEN) == 0)
            return true;
    return false;
}

/* What a file had before is replaced as a whole. */
static void clear_meta(int fd, const struct rest_meta *meta)
{
    char names[XATTR_NAMES_MAX];
    ssize_t len = flistxattr(fd, names, sizeof names);

    for (ssize_t at = 0; at < len;) {
        const char *name = names + at;
        at += (ssize_t)strlen(name) + 1;
        if (str_starts(str_of(name), STR(ENTRY_XATTR)) && !is_wanted_part(meta, name))
            (void)fremovexattr(fd, name);
    }
}

static int set_meta(struct e2b_upload *u)
{
    clear_meta(u->fd, u->meta);
    for (const struct rest_meta *m = u->meta; m; m = m->next) {
        struct str name = arena_printf(u->req->arena, ENTRY_XATTR "%s", m->key);
        int r = name.p ? 0 : -ENOMEM;
        if (r == 0 && fsetxattr(u->fd, name.p, m->value.p, m->value.len, 0) < 0)
            r = -errno;
        /* A file system that has no attributes keeps no metadata. */
        if (r == -ENOTSUP)
            return 0;
        if (r < 0) {
            (void)err_set(&u->e, r, "error setting metadata: %s", path_errno(r));
            return fail_e2b_upload_with(u, e2b_files_status(r));
        }
    }
    return 0;
}

/* ---- one file ---- */

static int note_target(struct e2b_upload *u, const char *path)
{
    struct target *t = arena_new(u->req->arena, struct target);

    for (const struct target *it = u->targets; it; it = it->next)
        if (strcmp(it->path, path) == 0) {
            (void)err_set(&u->e, -EINVAL,
                          "you cannot upload multiple files to the same path '%s' in one upload "
                          "request, only the first specified file was uploaded",
                          path);
            return fail_e2b_upload_with(u, 400);
        }
    if (!t) {
        (void)err_sys(&u->e, -ENOMEM, "upload");
        return fail_e2b_upload_with(u, 500);
    }
    *t = (struct target){u->targets, path};
    u->targets = t;
    return 0;
}

/* The path that GIVEN means, in the request's arena. */
static const char *resolve_upload_path(struct e2b_upload *u, struct str given)
{
    const char *path =
        path_resolve(u->req->arena, given, &u->user, e2b_default_workdir(u->serve), &u->e);

    if (path)
        return path;
    int code = u->e.code;
    (void)err_ctx(&u->e, code, "error expanding and resolving path '" STR_FMT "'", STR_ARG(given));
    (void)fail_e2b_upload_with(u, code == -ENOMEM ? 500 : 400);
    return NULL;
}

static bool is_missing(struct e2b_upload *u, const char *path)
{
    struct stat st;
    const char *name = path_base(u->req->arena, path);

    return name && fstatat(u->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* U writes to the file from now on. */
static void take_e2b_file(struct e2b_upload *u)
{
    struct stat ours, theirs;

    u->written = 0;
    u->is_taken = false;
    list_each(node, &u->serve->uploads)
    {
        struct e2b_upload *it = list_entry(node, struct e2b_upload, node);
        if (it != u && it->fd >= 0 && fstat(u->fd, &ours) == 0 && fstat(it->fd, &theirs) == 0 &&
            ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev)
            it->is_taken = true;
    }
}

static int begin_e2b_file(struct e2b_upload *u, struct str given)
{
    const char *path = resolve_upload_path(u, given);
    int r = path ? note_target(u, path) : u->e.code;

    if (r < 0)
        return r;
    const char *dir = path_dir(u->req->arena, path);
    int dir_fd = dir ? path_open_dir(dir, u->user.uid, u->user.gid, &u->e) : -ENOMEM;
    if (dir_fd < 0) {
        (void)err_ctx(&u->e, dir_fd, "error ensuring directories");
        return fail_e2b_upload_with(u, dir_fd == -ENOSPC || dir_fd == -EDQUOT ? 507 : 500);
    }
    close_p(&u->dir_fd);
    u->dir_fd = dir_fd;
    u->is_new = is_missing(u, path);
    u->fd = e2b_files_create(dir_fd, path, &u->user, &u->e);
    if (u->fd < 0)
        return fail_e2b_upload_with(u, e2b_files_status(u->e.code));
    take_e2b_file(u);
    return set_meta(u);
}

static int add_to_e2b_file(struct e2b_upload *u, const char *p, size_t len)
{
    int64_t total = u->req->head.content_length;
    int r = io_write_all(u->fd, p, len);

    if (r == 0) {
        u->written += (off_t)len;
        return 0;
    }
    if (r != -ENOSPC && r != -EDQUOT)
        (void)err_set(&u->e, r, "error writing file: write %s: %s", u->targets->path,
                      path_errno(r));
    else if (total >= 0)
        (void)err_set(&u->e, r, "attempted to write %lld bytes: not enough disk space available",
                      (long long)total);
    else
        (void)err_set(&u->e, r, "not enough disk space available");
    return fail_e2b_upload_with(u, e2b_files_status(r));
}

static int end_e2b_file(struct e2b_upload *u)
{
    struct jw w = jw_to(&u->results);

    if (u->results.len)
        (void)buf_add_char(&u->results, ',');
    e2b_files_put(&w, u->req->arena, u->targets->path);
    (void)close(take_fd(u->fd));
    return 0;
}

/* ---- the form ---- */

static int on_e2b_upload_part(void *ctx, const struct multipart_part *part)
{
    struct e2b_upload *u = ctx;

    /* Fields that are not files are read and dropped. */
    if (!str_is(part->name, "file"))
        return 0;
    return begin_e2b_file(u, u->path.len ? u->path : part->filename);
}

static int on_e2b_upload_part_data(void *ctx, const char *p, size_t len)
{
    struct e2b_upload *u = ctx;

    return u->fd < 0 ? 0 : add_to_e2b_file(u, p, len);
}

static int on_e2b_upload_part_end(void *ctx)
{
    struct e2b_upload *u = ctx;

    return u->fd < 0 ? 0 : end_e2b_file(u);
}

/* ---- the body ---- */

/* Plain bytes. */
static int on_e2b_upload_plain(void *ctx, const char *p, size_t len)
{
    struct e2b_upload *u = ctx;

    return u->form ? multipart_feed(u->form, p, len) : add_to_e2b_file(u, p, len);
}

static void answer_failure(struct e2b_upload *u)
{
    struct http_req *r = u->req;

    drop_e2b_file(u);
    if (u->status)
        e2b_fail(r, u->status, "%s", err_text(&u->e));
    else if (u->gzip && *gunzip_reason(u->gzip))
        e2b_fail(r, 400, "error decompressing request body: %s", gunzip_reason(u->gzip));
    else
        e2b_fail(r, 400, "error parsing multipart form: %s",
                 u->form ? multipart_reason(u->form) : "");
    free_e2b_upload(u);
}

static void answer_e2b_upload(struct e2b_upload *u)
{
    auto_buf struct buf b = BUF_INIT(RESULTS_MAX + 8);

    (void)buf_add_char(&b, '[');
    (void)buf_add_str(&b, buf_str(&u->results));
    (void)buf_add_char(&b, ']');
    if (!buf_ok(&u->results))
        b.error = u->results.error;
    e2b_json(u->req, &b);
    free_e2b_upload(u);
}

static int on_e2b_upload_data(struct http_req *r, void *ctx, const char *p, size_t len)
{
    struct e2b_upload *u = ctx;
    int code = u->gzip ? gunzip_feed(u->gzip, p, len) : on_e2b_upload_plain(u, p, len);

    (void)r;
    if (code == -ENOMEM && !u->status) {
        (void)err_sys(&u->e, code, "gzip");
        u->status = 500;
    }
    if (code < 0)
        answer_failure(u);
    return code;
}

static void on_e2b_upload_end(struct http_req *r, void *ctx)
{
    struct e2b_upload *u = ctx;
    int code = u->gzip ? gunzip_finish(u->gzip) : 0;

    (void)r;
    if (code == 0)
        code = u->form ? multipart_finish(u->form) : end_e2b_file(u);
    if (code < 0)
        answer_failure(u);
    else
        answer_e2b_upload(u);
}

static void on_e2b_upload_abort(struct http_req *r)
{
    struct e2b_upload *u = r->user;

    drop_e2b_file(u);
    e2b_fail(r, r->fault ? r->fault : 400, "the body is not complete");
    free_e2b_upload(u);
}

/* ---- the request ---- */

static int begin_gzip(struct e2b_upload *u)
{
    struct str encoding = str_trim(http_header_get(&u->req->head.headers, "content-encoding"));

    if (encoding.len == 0 || str_iis(encoding, "identity"))
        return 0;
    if (!str_iis(encoding, "gzip")) {
        (void)err_set(&u->e, -EINVAL,
                      "error decompressing request body: unsupported Content-Encoding: " STR_FMT
                      ", supported: [gzip]",
                      STR_ARG(encoding));
        return fail_e2b_upload_with(u, 400);
    }
    u->gzip = gunzip_new(on_e2b_upload_plain, u);
    if (u->gzip)
        return 0;
    (void)err_sys(&u->e, -ENOMEM, "gzip");
    return fail_e2b_upload_with(u, 500);
}

static int begin_form(struct e2b_upload *u, struct str type)
{
    static const struct multipart_ops ops = {
        .on_part = on_e2b_upload_part,
        .on_data = on_e2b_upload_part_data,
        .on_part_end = on_e2b_upload_part_end,
    };
    struct multipart_limits limits = MULTIPART_LIMITS_DEFAULT;
    const char *reason = "";

    limits.max_parts = PARTS_MAX;
    limits.max_head = PART_HEAD_MAX;
    u->form = multipart_new(type, &limits, &ops, u, &reason);
    if (u->form)
        return 0;
    (void)err_set(&u->e, -EINVAL, "error parsing multipart form: %s", reason);
    return fail_e2b_upload_with(u, 400);
}

/* Everything before the first byte of the body. */
static int begin_e2b_upload(struct e2b_upload *u)
{
    struct str type = http_header_get(&u->req->head.headers, "content-type"), rest = type;
    struct str kind = str_trim(str_cut(&rest, ';'));

    if (rest_read_meta(u->req->arena, &u->req->head.headers, &u->meta, &u->e) < 0)
        return fail_e2b_upload_with(u, u->e.code == -EINVAL ? 400 : 500);
    int r = begin_gzip(u);
    if (r < 0)
        return r;
    if (str_iis(kind, "multipart/form-data"))
        return begin_form(u, type);
    if (!str_iis(kind, "application/octet-stream")) {
        (void)err_set(&u->e, -EINVAL,
                      "unsupported content type: " STR_FMT
                      ", expected multipart/form-data or application/octet-stream",
                      STR_ARG(type));
        return fail_e2b_upload_with(u, 400);
    }
    if (u->path.len == 0) {
        (void)err_set(&u->e, -EINVAL, "path query parameter is required for raw body upload");
        return fail_e2b_upload_with(u, 400);
    }
    return begin_e2b_file(u, u->path);
}

void e2b_files_post(struct serve *s, struct http_req *r)
{
    static const struct http_body_sink sink = {.on_data = on_e2b_upload_data,
                                               .on_end = on_e2b_upload_end};
    struct user user;

    if (!e2b_files_is_allowed(s, r, "write") ||
        !e2b_files_user(s, r, e2b_query(r, "username"), &user))
        return;
    struct e2b_upload *u = mem_zalloc(1, sizeof *u);
    if (!u) {
        e2b_fail(r, 500, "out of memory");
        return;
    }
    u->serve = s;
    u->req = r;
    u->user = user;
    u->path = e2b_query(r, "path");
    u->fd = u->dir_fd = -1;
    list_append(&s->uploads, &u->node);
    buf_init(&u->results, RESULTS_MAX);
    if (begin_e2b_upload(u) < 0) {
        answer_failure(u);
        return;
    }
    r->user = u;
    r->on_abort = on_e2b_upload_abort;
    http_stream_body(r, UINT64_MAX, &sink, u);
}
