/* SPDX-License-Identifier: MIT */
/* POST /fs/upload: files of a multipart form into the directory ?path=, or that of the form's field
 * "path", or a raw body as the file ?path=. Missing directories are made. A file gets its name when
 * it is complete; until then it is a hidden one beside it, removed on failure. It belongs to the
 * sandbox's user, unless it replaces a file, whose owner and mode it takes over then. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "envd/fs.h"
#include "envd/user.h"
#include "net/multipart.h"
#include "sys/io.h"

enum { NAME_MAX_BYTES = 255, RESULTS_MAX = 1 << 20, TEMP_LEN = 40 };

struct dir_upload {
    struct http_req *req;
    struct serve *serve;
    const char *dir; /* cleaned path */
    int dir_fd, fd;  /* fd: of the file under way; -1: none */
    bool has_dir;    /* somebody said where, or a file is there already */
    bool is_whole;   /* the file under way is complete, and waits for a field that says where */
    bool is_path;    /* the part under way is that field */
    char path[PATH_MAX];
    size_t path_len;
    uid_t uid;
    gid_t gid;
    struct multipart *form; /* NULL: a raw body */
    char name[NAME_MAX_BYTES + 1], temp[TEMP_LEN];
    uint64_t size;
    size_t n_files;
    struct buf results; /* JSON objects, with commas */
    struct err e;       /* what went wrong, when it was not the form itself */
};

static void drop_fs_file(struct dir_upload *u)
{
    if (u->fd < 0)
        return;
    (void)close(take_fd(u->fd));
    (void)unlinkat(u->dir_fd, u->temp, 0);
}

static void free_fs_upload(struct dir_upload *u)
{
    drop_fs_file(u);
    close_p(&u->dir_fd);
    multipart_free(u->form);
    buf_done(&u->results);
    free(u);
}

/* ---- one file ---- */

/* Only the last component counts, whatever a client sends before it. */
static int take_upload_name(struct dir_upload *u, struct str name)
{
    for (ptrdiff_t at; (at = str_chr(name, '/')) >= 0;)
        name = str_skip(name, (size_t)at + 1);
    if (name.len == 0 || str_is(name, ".") || str_is(name, "..") || str_chr(name, '\0') >= 0)
        return err_set(&u->e, -EINVAL, "invalid filename");
    if (name.len > NAME_MAX_BYTES)
        return err_set(&u->e, -EINVAL, "the filename is longer than %d bytes", (int)NAME_MAX_BYTES);
    memcpy(u->name, name.p, name.len);
    u->name[name.len] = '\0';
    return 0;
}

static int begin_fs_file(struct dir_upload *u, struct str name)
{
    char hex[17];
    int r = take_upload_name(u, name);

    if (r < 0)
        return r;
    id_hex(hex, 16);
    (void)snprintf(u->temp, sizeof u->temp, ".tidepool-upload-%s", hex);
    u->size = 0;
    u->fd = openat(u->dir_fd, u->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return u->fd < 0 ? err_sys(&u->e, -errno, "create a file in %s", u->dir) : 0;
}

static int add_to_fs_file(struct dir_upload *u, const char *p, size_t len)
{
    int r = io_write_all(u->fd, p, len);

    u->size += len;
    return r < 0 ? err_sys(&u->e, r, "write %s", u->name) : 0;
}

/* Owner and mode: of what was there, else the sandbox user's. */
static int file_dress(struct dir_upload *u)
{
    struct stat st;
    uid_t uid = u->uid;
    gid_t gid = u->gid;
    mode_t mode = 0644;

    if (fstatat(u->dir_fd, u->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(st.st_mode))
            return err_set(&u->e, -EISDIR, "path is a directory: %s%s%s", u->dir,
                           u->dir[1] ? "/" : "", u->name);
        if (S_ISREG(st.st_mode)) {
            uid = st.st_uid;
            gid = st.st_gid;
            mode = st.st_mode & 0777;
        }
    }
    if (fchown(u->fd, uid, gid) < 0 || fchmod(u->fd, mode) < 0)
        return err_sys(&u->e, -errno, "owner of %s", u->name);
    return 0;
}

static void put_upload_result(struct dir_upload *u)
{
    auto_buf struct buf path = BUF_INIT(PATH_MAX * 2);
    struct jw w = jw_to(&u->results);

    if (u->n_files++)
        (void)buf_add_char(&u->results, ',');
    (void)buf_printf(&path, "%s%s%s", u->dir, u->dir[1] ? "/" : "", u->name);
    jw_object(&w);
    jw_key(&w, "name");
    jw_cstr(&w, u->name);
    jw_key(&w, "path");
    jw_str(&w, buf_str(&path));
    jw_key(&w, "size");
    jw_int(&w, (int64_t)u->size);
    jw_end(&w);
}

static int end_fs_file(struct dir_upload *u)
{
    int r = file_dress(u);

    if (r < 0)
        return r;
    if (renameat(u->dir_fd, u->temp, u->dir_fd, u->name) < 0)
        return err_sys(&u->e, -errno, "%s", u->name);
    (void)close(take_fd(u->fd));
    put_upload_result(u);
    return 0;
}

/* ---- where ---- */

static int open_upload_dir(struct dir_upload *u)
{
    u->dir_fd = fs_open_dir(u->dir, u->uid, u->gid);
    if (u->dir_fd == -ENOTDIR)
        return err_set(&u->e, -ENOTDIR, "path is not a directory: %s", u->dir);
    return u->dir_fd < 0 ? err_sys(&u->e, u->dir_fd, "%s", u->dir) : 0;
}

/* Gives the file that waits its name, where everything goes unless somebody says otherwise. */
static int place_file(struct dir_upload *u)
{
    u->is_whole = false;
    u->has_dir = true;
    return end_fs_file(u);
}

static int add_path(struct dir_upload *u, const char *p, size_t len)
{
    if (len >= sizeof u->path - u->path_len || memchr(p, 0, len))
        return err_set(&u->e, -EINVAL, "invalid path");
    memcpy(u->path + u->path_len, p, len);
    u->path_len += len;
    u->path[u->path_len] = '\0';
    return 0;
}

/* Moves the file that waits to where it should be. */
static int move_uploaded_file(struct dir_upload *u, int from_fd)
{
    u->is_whole = false;
    if (renameat(from_fd, u->temp, u->dir_fd, u->temp) == 0)
        return end_fs_file(u);
    int r = -errno;
    (void)unlinkat(from_fd, u->temp, 0);
    (void)close(take_fd(u->fd));
    return r == -EXDEV ? err_set(&u->e, -EINVAL, "the field path must come before the file")
                       : err_sys(&u->e, r, "%s", u->dir);
}

/* The field is complete. What the address says comes first. */
static int use_path(struct dir_upload *u)
{
    u->is_path = false;
    if (u->has_dir || u->path_len == 0)
        return 0;
    auto_close int from_fd = take_fd(u->dir_fd);
    u->dir = fs_resolve(u->serve, u->req->arena, u->path, NULL);
    int r = u->dir ? open_upload_dir(u) : err_sys(&u->e, -ENOMEM, "path");
    u->has_dir = true;
    if (r < 0 && u->is_whole)
        (void)unlinkat(from_fd, u->temp, 0);
    return r < 0 || !u->is_whole ? r : move_uploaded_file(u, from_fd);
}

/* ---- the form ---- */

static int on_fs_upload_part(void *ctx, const struct multipart_part *part)
{
    struct dir_upload *u = ctx;
    bool is_file = str_is(part->name, "file") && part->filename.p;

    u->is_path = str_is(part->name, "path") && !part->filename.p;
    u->path_len = 0;
    /* Other fields that are not files are read and dropped. */
    if (!is_file)
        return 0;
    int r = u->is_whole ? place_file(u) : 0;
    return r < 0 ? r : begin_fs_file(u, part->filename);
}

static int on_fs_upload_part_data(void *ctx, const char *p, size_t len)
{
    struct dir_upload *u = ctx;

    if (u->is_path)
        return add_path(u, p, len);
    return u->fd < 0 || u->is_whole ? 0 : add_to_fs_file(u, p, len);
}

static int on_fs_upload_part_end(void *ctx)
{
    struct dir_upload *u = ctx;

    if (u->is_path)
        return use_path(u);
    if (u->fd < 0 || u->is_whole)
        return 0;
    u->is_whole = !u->has_dir;
    return u->has_dir ? end_fs_file(u) : 0;
}

static const struct multipart_ops form_ops = {
    .on_part = on_fs_upload_part,
    .on_data = on_fs_upload_part_data,
    .on_part_end = on_fs_upload_part_end,
};

/* ---- the request ---- */

static void fail_fs_upload(struct dir_upload *u)
{
    struct http_req *r = u->req;

    if (u->e.code < 0)
        serve_fail(r, serve_status_of(u->e.code), &u->e);
    else
        serve_fail_text(r, 400, "failed to parse multipart form: %s",
                        u->form ? multipart_reason(u->form) : "");
    free_fs_upload(u);
}

static void answer_fs_upload(struct dir_upload *u)
{
    auto_buf struct buf b = BUF_INIT(2 * RESULTS_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "path");
    jw_cstr(&w, u->dir);
    jw_key(&w, "fileName");
    jw_cstr(&w, u->name);
    jw_key(&w, "files");
    (void)buf_add_char(&u->results, ']');
    jw_raw(&w, buf_ok(&u->results) ? buf_str(&u->results) : STR("[]"));
    serve_put_now(&w, "uploadedAt");
    jw_end(&w);
    serve_json(u->req, &b);
    free_fs_upload(u);
}

static int on_fs_upload_data(struct http_req *r, void *ctx, const char *p, size_t len)
{
    struct dir_upload *u = ctx;
    int code = u->form ? multipart_feed(u->form, p, len) : add_to_fs_file(u, p, len);

    (void)r;
    if (code < 0)
        fail_fs_upload(u);
    return code;
}

static void on_fs_upload_end(struct http_req *r, void *ctx)
{
    struct dir_upload *u = ctx;
    int code = u->form ? multipart_finish(u->form) : end_fs_file(u);

    (void)r;
    if (code == 0 && u->is_whole)
        code = place_file(u);
    if (code == 0 && u->n_files == 0)
        code = err_set(&u->e, -EINVAL, "file is required");
    if (code < 0)
        fail_fs_upload(u);
    else
        answer_fs_upload(u);
}

static void on_fs_upload_abort(struct http_req *r)
{
    struct dir_upload *u = r->user;

    serve_fail_text(r, r->fault ? r->fault : 400, "the body is not complete");
    free_fs_upload(u);
}

static const struct http_body_sink sink = {.on_data = on_fs_upload_data,
                                           .on_end = on_fs_upload_end};

static bool is_form(const struct http_req *r)
{
    struct str type = http_header_get(&r->head.headers, "Content-Type");

    return str_iis(str_trim(str_cut(&type, ';')), "multipart/form-data");
}

static int open_form(struct dir_upload *u)
{
    const struct multipart_limits limits = MULTIPART_LIMITS_DEFAULT;
    const char *reason = "";
    struct str type = http_header_get(&u->req->head.headers, "Content-Type");

    u->form = multipart_new(type, &limits, &form_ops, u, &reason);
    return u->form ? 0 : err_set(&u->e, -EINVAL, "failed to parse multipart form: %s", reason);
}

/* Everything before the first byte of the body. */
static int begin_fs_upload(struct dir_upload *u, struct serve *s, const char *path)
{
    struct user user;
    const char *name = serve_query(u->req, "user");
    bool has_form = is_form(u->req);
    int r = user_find(name && *name ? name : claim_user(&s->claim), &user, &u->e);

    if (r < 0)
        return err_ctx(&u->e, -EINVAL, "upload");
    u->uid = user.uid;
    u->gid = user.gid;
    u->dir = has_form ? path : fs_dir(u->req->arena, path);
    if (!u->dir)
        return err_sys(&u->e, -ENOMEM, "upload");
    r = open_upload_dir(u);
    if (r < 0)
        return r;
    return has_form ? open_form(u) : begin_fs_file(u, str_of(fs_base(path)));
}

void fs_upload(struct serve *s, struct http_req *r)
{
    const char *path = fs_query_path(s, r, !is_form(r));

    if (!path)
        return;
    struct dir_upload *u = mem_zalloc(1, sizeof *u);
    if (!u) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    u->req = r;
    u->serve = s;
    u->has_dir = serve_query(r, "path") && *serve_query(r, "path");
    u->dir_fd = u->fd = -1;
    buf_init(&u->results, RESULTS_MAX);
    (void)buf_add_char(&u->results, '[');
    if (begin_fs_upload(u, s, path) < 0) {
        fail_fs_upload(u);
        return;
    }
    r->user = u;
    r->on_abort = on_fs_upload_abort;
    http_stream_body(r, UINT64_MAX, &sink, u);
}
