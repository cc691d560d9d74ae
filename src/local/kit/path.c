/* SPDX-License-Identifier: MIT */
#include "local/kit/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/io.h"

/* What open() may not give: main() sets it; and bits that a write takes away. */
enum { UMASK = 022 | 07000 };

/* ---- errors ---- */

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
    {EACCES, "EACCES", "permission denied"},
    {EBUSY, "EBUSY", "resource busy or locked"},
    {EEXIST, "EEXIST", "file already exists"},
    {EFBIG, "EFBIG", "file too large"},
    {EINVAL, "EINVAL", "invalid argument"},
    {EISDIR, "EISDIR", "illegal operation on a directory"},
    {ELOOP, "ELOOP", "too many symbolic links encountered"},
    {EMFILE, "EMFILE", "too many open files"},
    {ENAMETOOLONG, "ENAMETOOLONG", "name too long"},
    {ENOENT, "ENOENT", "no such file or directory"},
    {ENOMEM, "ENOMEM", "not enough memory"},
    {ENOSPC, "ENOSPC", "no space left on device"},
    {ENOTDIR, "ENOTDIR", "not a directory"},
    {ENOTEMPTY, "ENOTEMPTY", "directory not empty"},
    {EPERM, "EPERM", "operation not permitted"},
    {EROFS, "EROFS", "read-only file system"},
    {EXDEV, "EXDEV", "cross-device link not permitted"},
};

struct str path_error(struct local_call *c, int code, const char *what, const char *path,
                      const char *to)
{
    const char *name = "EIO", *text = "i/o error";

    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        if (errors[i].number != -code)
            continue;
        name = errors[i].name;
        text = errors[i].text;
    }
    if (!path)
        return arena_printf(&c->arena, "%s: %s, %s", name, text, what);
    if (!to)
        return arena_printf(&c->arena, "%s: %s, %s '%s'", name, text, what, path);
    return arena_printf(&c->arena, "%s: %s, %s '%s' -> '%s'", name, text, what, path, to);
}

void path_fail(struct local_call *c, int code, const char *what, const char *path)
{
    local_fail_text(c, path_error(c, code, what, path, NULL));
}

/* ---- paths ---- */

/* Absolute, without "." and ".." and doubled slashes. */
static const char *normalize_path(struct local_call *c, struct str path)
{
    auto_buf struct buf b = BUF_INIT(PATH_MAX);

    if (path.len == 0 || path.p[0] != '/')
        path = arena_printf(&c->arena, "%s/" STR_FMT, c->local->root, STR_ARG(path));
    while (path.p) {
        struct str part = str_cut(&path, '/');
        if (part.len == 0 || str_is(part, "."))
            continue;
        if (!str_is(part, "..")) {
            (void)buf_add_char(&b, '/');
            (void)buf_add_str(&b, part);
            continue;
        }
        while (b.len > 0 && b.p[--b.len] != '/')
            ;
    }
    if (b.len == 0)
        (void)buf_add_char(&b, '/');
    return buf_ok(&b) ? arena_str(&c->arena, buf_str(&b)).p : NULL;
}

static bool is_inside(const struct local_call *c, const char *path)
{
    struct str root = str_of(c->local->root), p = str_of(path);

    return str_starts(p, root) && (p.len == root.len || p.p[root.len] == '/');
}

/* Where PATH would be made: its directory with the links followed. False without one. */
static bool find_parent(struct local_call *c, const char *path, char ret[PATH_MAX],
                        const char **parent)
{
    const char *slash = strrchr(path, '/');

    *parent = arena_str(&c->arena, str_n(path, (size_t)(slash - path))).p;
    return *parent && realpath((*parent)[0] ? *parent : "/", ret);
}

/* What realpath() does, for a clean PATH inside the workspace: without a link below it, which is
 * most of the time, the path is what it was. */
static bool find_real(const struct local_call *c, const char *path, char ret[PATH_MAX])
{
    size_t at = strlen(c->local->root), len = strlen(path);
    char link;

    if (len >= PATH_MAX)
        return realpath(path, ret) != NULL;
    memcpy(ret, path, len + 1);
    while (at < len) {
        size_t end = at + 1 + strcspn(path + at + 1, "/");
        ret[end] = '\0';
        if (readlink(ret, &link, 1) >= 0)
            return realpath(path, ret) != NULL;
        if (errno != EINVAL)
            return false;
        ret[end] = path[end];
        at = end;
    }
    return true;
}

const char *path_check(struct local_call *c, struct str given, struct str *why)
{
    char real[PATH_MAX];
    const char *parent;

    if (memchr(given.p, '\0', given.len)) {
        *why = STR("Invalid path - contains a null byte");
        return NULL;
    }
    if (str_is(given, "~") || str_starts(given, STR("~/")))
        given = arena_printf(&c->arena, "%s" STR_FMT, c->local->home, STR_ARG(str_skip(given, 1)));
    const char *path = normalize_path(c, given);
    if (!path) {
        *why = path_error(c, -ENAMETOOLONG, "open", arena_str(&c->arena, given).p, NULL);
        return NULL;
    }
    if (!is_inside(c, path)) {
        *why = arena_printf(&c->arena,
                            "Access denied - path outside allowed directories: %s not in %s", path,
                            c->local->root);
        return NULL;
    }
    bool is_there = find_real(c, path, real);
    if (!is_there && errno != ENOENT) {
        *why = path_error(c, -errno, "realpath", path, NULL);
        return NULL;
    }
    if (!is_there && (!find_parent(c, path, real, &parent) || !is_inside(c, real))) {
        *why = arena_printf(&c->arena, "Parent directory does not exist: %s", parent ? parent : "");
        return NULL;
    }
    if (is_inside(c, real))
        return is_there ? arena_strdup(&c->arena, real) : path;
    *why = arena_printf(&c->arena,
                        "Access denied - symlink target outside allowed directories: %s not in %s",
                        real, c->local->root);
    return NULL;
}

const char *path_arg(struct local_call *c, const char *name)
{
    struct str why = STR_NULL;
    const char *path = path_check(c, local_str(c, name), &why);

    if (!path)
        local_fail_text(c, why);
    return path;
}

/* ---- content ---- */

/* Room for what a file holds: its size, or more when it grows meanwhile. */
static int read_open_file(struct local_call *c, int fd, size_t size, struct str *ret)
{
    char *p = arena_alloc(&c->arena, size + 2);
    size_t len = 0;

    while (p) {
        ssize_t n = io_read(fd, p + len, size + 1 - len);
        if (n < 0)
            return (int)n;
        len += (size_t)n;
        if (n == 0) {
            p[len] = '\0';
            *ret = str_n(p, len);
            return 0;
        }
        if (len <= size)
            continue;
        char *more = size <= LOCAL_FILE_MAX / 2 ? arena_alloc(&c->arena, 2 * size + 4096) : NULL;
        if (!more)
            return -EFBIG;
        memcpy(more, p, len);
        p = more;
        size = 2 * size + 4094;
    }
    return -ENOMEM;
}

int path_read(struct local_call *c, const char *path, struct str *ret)
{
    struct stat st;
    /* Never waits for somebody to open the other end of a pipe. */
    int fd auto_close = io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    if (st.st_size > LOCAL_FILE_MAX)
        return -EFBIG;
    return read_open_file(c, fd, (size_t)st.st_size, ret);
}

/* Puts the finished file TEMP in the place of PATH. Renaming onto a file makes ext4 write the new
 * one's blocks to the disk at once, in case of a crash that no cell outlives; exchanging the two
 * does not. */
static int put_file_in_place(const char *temp, const char *path, bool is_new)
{
    if (!is_new && syscall(SYS_renameat2, AT_FDCWD, temp, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
        (void)unlink(temp);
        return 0;
    }
    return rename(temp, path) < 0 ? -errno : 0;
}

int path_write(struct local_call *c, const char *path, struct str data)
{
    struct stat st;
    bool is_new = lstat(path, &st) < 0;

    if (!is_new && S_ISDIR(st.st_mode))
        return -EISDIR;
    struct str temp = arena_printf(&c->arena, "%s.%d.%p.tmp", path, (int)getpid(), (void *)c);
    if (!temp.p)
        return -ENOMEM;
    int fd auto_close =
        io_open(temp.p, O_WRONLY | O_CREAT | O_EXCL, is_new ? 0666 : st.st_mode & 07777);
    if (fd < 0)
        return fd;
    int r = io_write_all(fd, data.p, data.len);
    if (r == 0 && !is_new && (st.st_mode & UMASK))
        (void)fchmod(fd, st.st_mode & 07777);
    if (r == 0)
        r = put_file_in_place(temp.p, path, is_new);
    if (r < 0)
        (void)unlink(temp.p);
    return r;
}
