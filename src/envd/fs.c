/* SPDX-License-Identifier: MIT */
/* Paths and descriptors of a cell's files: see fs.h. */
#include "envd/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/path.h"
#include "runtime/kern.h"

/* ---- paths ---- */

static struct str trim_name(struct str s)
{
    while (s.len && strchr(" \t\r\n", s.p[0]) && s.p[0])
        s = str_skip(s, 1);
    while (s.len && strchr(" \t\r\n", s.p[s.len - 1]) && s.p[s.len - 1])
        s.len--;
    return s;
}

const char *fs_resolve(const struct serve *s, struct arena *a, const char *path, const char *user)
{
    struct str p = trim_name(str_of(path));
    bool is_home = str_is(p, "~") || str_starts(p, STR("~/"));
    struct user u;

    if (p.len == 0 || p.p[0] == '/')
        return path_clean(a, p);
    if (user_find(user && *user ? user : claim_user(&s->claim), &u, NULL) < 0)
        u.home[0] = '\0';
    const char *start = is_home || !s->claim.workdir ? u.home : s->claim.workdir;
    struct str full = arena_printf(a, "%s/" STR_FMT, start, STR_ARG(is_home ? str_skip(p, 1) : p));
    return full.p ? path_clean(a, full) : NULL;
}

const char *fs_query_path(struct serve *s, struct http_req *r, bool needs_name)
{
    const char *path = fs_resolve(s, r->arena, serve_query(r, "path"), serve_query(r, "user"));

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
    return path_is_proc_fd(fd) ? -EACCES : 0;
}

static int open_readable(const char *path)
{
    struct kern_open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                                .resolve = KERN_NO_MAGICLINKS};
    int fd = kern_openat2(AT_FDCWD, path, &how);

    /* A socket, or a device without a driver: there, but not readable. */
    return fd == -ENXIO || fd == -ENODEV ? -EINVAL : fd;
}

int fs_open(const char *path)
{
    auto_close int fd = open_readable(path);
    int r = fd < 0 ? fd : check_proc(fd);

    return r < 0 ? r : take_fd(fd);
}

int fs_open_file(const char *path, const struct user *u)
{
    auto_close int fd = open_readable(path);
    struct stat st;

    if (fd < 0 || !fs_is_made_up(fd))
        return take_fd(fd);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fs_open_proc(path, u);
    int r = check_proc(fd);
    return r < 0 ? r : take_fd(fd);
}

int fs_open_dir(const char *path, uid_t uid, gid_t gid)
{
    auto_close int fd = path_open_dir(path, uid, gid, NULL);

    if (fd < 0)
        return fd;
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
