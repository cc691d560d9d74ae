/* SPDX-License-Identifier: MIT */
/* GET /fs/download: a regular file (fs_send.c); fs_archive.c has directories. */
#include <errno.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "envd/e2b.h"
#include "envd/fs.h"
#include "envd/fs_send.h"

enum { NAME_TEXT_MAX = 2048, NOBODY = 65534 };

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

void fs_download(struct serve *s, struct http_req *r)
{
    static const struct fs_send how = {.type = "application/octet-stream"};
    const char *path = fs_query_path(s, r, true), *name = serve_query(r, "user");
    struct stat st;
    struct user u = {.uid = NOBODY, .gid = NOBODY};

    if (!path)
        return;
    (void)e2b_find_user(name ? name : e2b_default_user(s), &u);
    auto_close int fd = serve_query(r, "archive") ? fs_open(path) : fs_open_file(path, &u);
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
    (void)fs_add_disposition(r, str_of(fs_base(path)));
    int code = fs_send(r, take_fd(fd), &st, &how);
    if (code == -ERANGE)
        serve_fail_text(r, 416, "the range is outside the file");
    else if (code < 0)
        serve_fail_text(r, 500, "out of memory");
}
