/* SPDX-License-Identifier: MIT */
/* Paths and descriptors of a cell's files: see fs.h. */
#include "envd/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/kern.h"

enum { PROC_MAGIC = 0x9fa0 };

/* ---- paths ---- */

static struct str trim(struct str s)
{
    while (s.len && strchr(" \t\r\n", s.p[0]) && s.p[0])
        s = str_skip(s, 1);
    while (s.len && strchr(" \t\r\n", s.p[s.len - 1]) && s.p[s.len - 1])
        s.len--;
    return s;
}

const char *fs_clean(struct arena *a, const char *path)
{
    struct str left = trim(str_of(path));
    char *out = arena_alloc(a, left.len + 2);
    size_t n = 0;

    if (!out)
        return NULL;
    while (left.p) {
        struct str part = str_cut(&left, '/');
        if (part.len == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            while (n > 0 && out[--n] != '/')
                ;
            continue;
        }
        out[n++] = '/';
        memcpy(out + n, part.p, part.len);
        n += part.len;
    }
    if (n == 0)
        out[n++] = '/';
    out[n] = '\0';
    return out;
}

const char *fs_query_path(struct http_req *r, bool needs_name)
{
    const char *given = serve_query(r, "path");
    const char *path = fs_clean(r->arena, given ? given : "");

    if (!path)
        serve_fail_text(r, 500, "out of memory");
    if (!path || !needs_name || path[1])
        return path;
    serve_fail_text(r, 400, "path is required");
    return NULL;
}

const char *fs_base(const char *path)
{
    return path[1] ? strrchr(path, '/') + 1 : path;
}

const char *fs_dir(struct arena *a, const char *path)
{
    size_t len = (size_t)(strrchr(path, '/') - path);

    return arena_str(a, str_n(path, len ? len : 1)).p;
}

/* ---- descriptors ---- */

static int check_proc(int fd)
{
    struct statfs fs;

    if (fstatfs(fd, &fs) < 0)
        return -errno;
    return fs.f_type == PROC_MAGIC ? -EACCES : 0;
}

int fs_open(const char *path)
{
    struct kern_open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                                .resolve = KERN_NO_MAGICLINKS};
    auto_close int fd = kern_openat2(AT_FDCWD, path, &how);

    if (fd < 0)
        /* A socket, or a device without a driver: there, but not readable. */
        return fd == -ENXIO || fd == -ENODEV ? -EINVAL : fd;
    int r = check_proc(fd);
    return r < 0 ? r : take_fd(fd);
}

/* Opens the directory NAME below FD, or makes it. */
static int enter(int fd, const char *name, uid_t uid, gid_t gid)
{
    struct kern_open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                .resolve = KERN_NO_MAGICLINKS};
    int next = kern_openat2(fd, name, &how);

    if (next != -ENOENT)
        return next;
    if (mkdirat(fd, name, 0755) < 0)
        return -errno;
    auto_close int made = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (made < 0 || fchown(made, uid, gid) < 0)
        return -errno;
    return take_fd(made);
}

int fs_open_dir(const char *path, uid_t uid, gid_t gid)
{
    auto_close int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    auto_arena struct arena a;
    struct str left = str_of(path);

    arena_init(&a, 64 << 10);
    if (fd < 0)
        return -errno;
    (void)str_cut(&left, '/');
    while (left.p && left.len) {
        const char *name = arena_str(&a, str_cut(&left, '/')).p;
        if (!name)
            return -ENAMETOOLONG;
        int next = enter(fd, name, uid, gid);
        if (next < 0)
            return next;
        (void)close(fd);
        fd = next;
    }
    int r = check_proc(fd);
    return r < 0 ? r : take_fd(fd);
}

void fs_fail(struct http_req *r, int code, const char *path)
{
    struct err e = ERR_INIT;

    if (code == -ENOENT)
        (void)err_set(&e, code, "file not found: %s", path);
    else if (code == -ENOTDIR)
        (void)err_set(&e, code, "path is not a directory: %s", path);
    else if (code == -EISDIR)
        (void)err_set(&e, code, "path is a directory: %s", path);
    else if (code == -EINVAL)
        (void)err_set(&e, code, "not a regular file: %s", path);
    else
        (void)err_sys(&e, code, "%s", path);
    serve_fail(r, serve_status_of(code), &e);
}
