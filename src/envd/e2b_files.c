/* SPDX-License-Identifier: MIT */
/* GET /files of the E2B protocol, and what it shares with POST: who may, whose path. */
#include "envd/e2b_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "envd/entry.h"
#include "envd/fs.h"
#include "envd/fs_send.h"
#include "envd/path.h"
#include "runtime/kern.h"

enum { SNIFF = 512, DISPOSITION_MAX = 4096 };

struct str e2b_query(struct http_req *r, const char *name)
{
    struct str s = http_query_get(r->arena, r->head.query, name);

    return s.p ? arena_str(r->arena, s) : STR_NULL;
}

/* ---- who may ---- */

bool e2b_files_is_allowed(struct serve *s, struct http_req *r, const char *operation)
{
    struct str token = http_header_get(&r->head.headers, "x-access-token");
    struct rest_signed what = {.path = e2b_query(r, "path"),
                               .operation = str_of(operation),
                               .username = e2b_query(r, "username"),
                               .token = e2b_has_token(s) ? str_of(s->e2b.token) : STR_NULL,
                               .expiration = e2b_query(r, "signature_expiration")};
    int64_t until;

    if (what.expiration.p && str_to_i64(what.expiration, &until) < 0) {
        e2b_fail(r, 400, "Invalid format for parameter signature_expiration: " STR_FMT,
                 STR_ARG(what.expiration));
        return false;
    }
    if (!e2b_has_token(s))
        return true;
    if (token.p) {
        if (e2b_is_token(s, token))
            return true;
        e2b_fail(r, 401, "access token present in header but does not match");
        return false;
    }
    const char *reason =
        rest_check_signature(&what, e2b_query(r, "signature"), clock_real_us() / 1000000);
    if (reason)
        e2b_fail(r, 401, "%s", reason);
    return !reason;
}

bool e2b_files_user(struct serve *s, struct http_req *r, struct str name, struct user *ret)
{
    const char *who = name.len ? name.p : e2b_default_user(s);

    if (e2b_find_user(who, ret) == 0)
        return true;
    e2b_fail(r, 401, "error looking up user '%s': user: unknown user %s", who, who);
    return false;
}

const char *e2b_files_path(struct serve *s, struct http_req *r, struct str path,
                           const struct user *u)
{
    struct err e = ERR_INIT;
    const char *ret = path_resolve(r->arena, path, u, e2b_default_workdir(s), &e);

    if (!ret)
        e2b_fail(r, 400, "error expanding and resolving path '" STR_FMT "': %s", STR_ARG(path),
                 err_text(&e));
    return ret;
}

/* ---- writing ---- */

int e2b_files_create(int dir_fd, const char *path, const struct user *u, struct err *e)
{
    auto_arena struct arena a;
    struct kern_open_how how = {.flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                                .mode = 0644,
                                .resolve = KERN_NO_MAGICLINKS};
    struct stat st;

    arena_init(&a, 64 << 10);
    const char *name = path_base(&a, path);
    auto_close int fd = name ? kern_openat2(dir_fd, name, &how) : -ENOMEM;
    if (fd == -EISDIR)
        return err_set(e, fd, "path is a directory: %s", path);
    if (fd == -ENOSPC || fd == -EDQUOT)
        return err_set(e, fd, "not enough inodes available: open %s: %s", path, path_errno(fd));
    if (fd < 0)
        return err_set(e, -EIO, "error opening file: open %s: %s", path, path_errno(fd));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || path_is_proc_fd(fd))
        return err_set(e, -EINVAL, "path is not a regular file: %s", path);
    if (fchown(fd, u->uid, u->gid) < 0)
        return err_set(e, -EIO, "error changing file ownership: chown %s: %s", path,
                       path_errno(errno));
    if (st.st_size > 0 && ftruncate(fd, 0) < 0)
        return err_set(e, -EIO, "error opening file: truncate %s: %s", path, path_errno(errno));
    return take_fd(fd);
}

int e2b_files_status(int code)
{
    switch (-code) {
    case ENOSPC:
    case EDQUOT: return 507;
    case EISDIR:
    case EINVAL: return 400;
    default: return 500;
    }
}

void e2b_files_put(struct jw *w, struct arena *a, const char *path)
{
    const char *name = path_base(a, path);
    struct entry_meta *meta = entry_read_meta(a, path);

    jw_object(w);
    jw_key(w, "name");
    jw_cstr(w, name ? name : "");
    jw_key(w, "path");
    jw_cstr(w, path);
    jw_key(w, "type");
    jw_cstr(w, "file");
    if (meta) {
        jw_key(w, "metadata");
        entry_put_meta(w, meta);
    }
    jw_end(w);
}

/* ---- GET ---- */

/* Opens PATH, a regular file. Descriptor, or -1: answered. */
static int open_e2b_file(struct http_req *r, const char *path, const struct user *u,
                         struct stat *ret)
{
    /* Asked before it is opened, because not everything can be. */
    int code = stat(path, ret) < 0 ? -errno : 0;

    if (code == 0 && S_ISDIR(ret->st_mode)) {
        e2b_fail(r, 400, "path '%s' is a directory", path);
        return -1;
    }
    int fd = code == 0 ? fs_open_file(path, u) : code;
    if (fd == -ENOENT)
        e2b_fail(r, 404, "path '%s' does not exist", path);
    else if (fd == -EACCES || fd == -EPERM)
        e2b_fail(r, 403, "error opening file '%s': %s", path, path_errno(fd));
    else if (fd < 0)
        e2b_fail(r, fd == -EINVAL ? 400 : 500, "error opening file '%s': %s", path, path_errno(fd));
    if (fd < 0)
        return -1;
    if (fstat(fd, ret) == 0 && S_ISREG(ret->st_mode))
        return fd;
    (void)close(fd);
    e2b_fail(r, 400, "path '%s' is not a regular file", path);
    return -1;
}

static void send_e2b_file(struct http_req *r, int taken, const struct stat *st, const char *path)
{
    auto_close int fd = taken;
    struct str accepted = http_header_get(&r->head.headers, "accept-encoding");
    enum rest_encoding encoding = rest_accept_encoding(accepted);
    auto_buf struct buf b = BUF_INIT(DISPOSITION_MAX);
    char head[SNIFF];
    const char *name = path_base(r->arena, path);

    /* Old clients make a string of whatever has a length of 0, unless it comes compressed. */
    if (st->st_size == 0 && rest_accepts_gzip(accepted))
        encoding = REST_GZIP;
    if (encoding == REST_NO_ENCODING) {
        e2b_fail(r, 406,
                 "error parsing Accept-Encoding: no acceptable encoding found, supported: [gzip]");
        return;
    }
    if (!name || rest_put_disposition(&b, str_of(name)) < 0) {
        e2b_fail(r, 500, "out of memory");
        return;
    }
    ssize_t n = pread(fd, head, sizeof head, 0);
    struct fs_send how = {
        .type = rest_media_type(str_of(name), str_n(head, n > 0 ? (size_t)n : 0)),
        .is_gzip = encoding == REST_GZIP,
    };
    (void)http_add_header(r, "Content-Disposition", buf_str(&b));
    (void)http_add_header(r, "Vary", STR("Accept-Encoding"));
    int code = fs_send(r, take_fd(fd), st, &how);
    if (code == -ERANGE)
        e2b_fail(r, 416, "invalid range: failed to overlap");
    else if (code < 0)
        e2b_fail(r, 500, "out of memory");
}

void e2b_files_get(struct serve *s, struct http_req *r)
{
    struct user u;
    struct stat st;

    if (!e2b_files_is_allowed(s, r, "read") || !e2b_files_user(s, r, e2b_query(r, "username"), &u))
        return;
    struct str given = e2b_query(r, "path");
    const char *path = e2b_files_path(s, r, given, &u);
    int fd = path ? open_e2b_file(r, path, &u, &st) : -1;
    if (fd >= 0)
        send_e2b_file(r, fd, &st, path);
}
