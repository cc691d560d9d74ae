/* SPDX-License-Identifier: MIT */
/* Paths of a cell: see path.h. */
#include "envd/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/kern.h"

enum { PROC_MAGIC = 0x9fa0 };

/* ---- text ---- */

const char *path_clean(struct arena *a, struct str path)
{
    char *out = arena_alloc(a, path.len + 2);
    struct str left = path;
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

/* PATH without slashes at its end, except for the root. */
static struct str without_end(const char *path)
{
    struct str s = str_of(path);

    while (s.len > 1 && s.p[s.len - 1] == '/')
        s.len--;
    return s;
}

/* Where the last component of S begins. */
static size_t base_at(struct str s)
{
    size_t at = s.len;

    while (at > 0 && s.p[at - 1] != '/')
        at--;
    return at;
}

const char *path_base(struct arena *a, const char *path)
{
    struct str s = without_end(path);

    return arena_str(a, str_is(s, "/") ? s : str_skip(s, base_at(s))).p;
}

const char *path_dir(struct arena *a, const char *path)
{
    struct str s = without_end(path);

    s.len = base_at(s);
    while (s.len > 1 && s.p[s.len - 1] == '/')
        s.len--;
    return s.len ? arena_str(a, s).p : "/";
}

const char *path_join(struct arena *a, const char *dir, const char *name)
{
    size_t len = strlen(dir);

    return arena_printf(a, "%s%s%s", dir, len && dir[len - 1] == '/' ? "" : "/", name).p;
}

const char *path_resolve(struct arena *a, struct str path, const struct user *u,
                         const char *workdir, struct err *e)
{
    const char *ret;

    if (str_chr(path, '\0') >= 0) {
        (void)err_set(e, -EINVAL, "the path holds a NUL byte");
        return NULL;
    }
    if (path.len == 0 && workdir)
        path = str_of(workdir);
    if (path.len > 1 && path.p[0] == '~' && path.p[1] != '/') {
        (void)err_set(e, -EINVAL,
                      "failed to expand path '" STR_FMT
                      "' for user '%s': cannot expand user-specific home dir",
                      STR_ARG(path), u->name);
        return NULL;
    }
    if (path.len && path.p[0] == '/') {
        ret = arena_str(a, path).p;
    } else {
        struct str rest = path.len && path.p[0] == '~' ? str_skip(path, 1) : path;
        struct str joined = arena_printf(a, "%s/" STR_FMT, u->home, STR_ARG(rest));
        ret = joined.p ? path_clean(a, joined) : NULL;
    }
    if (!ret)
        (void)err_sys(e, -ENOMEM, "path");
    return ret;
}

/* ---- errors ---- */

const char *path_errno(int code)
{
    static const struct {
        int code;
        const char *text;
    } texts[] = {
        {ENOENT, "no such file or directory"},
        {ENOTDIR, "not a directory"},
        {EISDIR, "is a directory"},
        {EEXIST, "file exists"},
        {EACCES, "permission denied"},
        {EPERM, "operation not permitted"},
        {EBUSY, "device or resource busy"},
        {EINVAL, "invalid argument"},
        {EIO, "input/output error"},
        {ELOOP, "too many levels of symbolic links"},
        {EMFILE, "too many open files"},
        {ENAMETOOLONG, "file name too long"},
        {ENOMEM, "cannot allocate memory"},
        {ENOSPC, "no space left on device"},
        {EDQUOT, "disk quota exceeded"},
        {ENOTEMPTY, "directory not empty"},
        {EROFS, "read-only file system"},
        {ETXTBSY, "text file busy"},
        {EXDEV, "invalid cross-device link"},
        {ENXIO, "no such device or address"},
        {E2BIG, "argument list too long"},
        {EAGAIN, "resource temporarily unavailable"},
    };

    code = code < 0 ? -code : code;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].code == code)
            return texts[i].text;
    return strerror(code);
}

/* ---- directories ---- */

/* Opens the directory NAME below FD, or makes it. Links of /proc that jump elsewhere do not count.
 */
static int enter_dir(int fd, const char *name, uid_t uid, gid_t gid)
{
    struct kern_open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                .resolve = KERN_NO_MAGICLINKS};
    int next = kern_openat2(fd, name, &how);

    if (next != -ENOENT)
        return next;
    /* Somebody else may be making it at the same time: its owner is set all the same. */
    if (mkdirat(fd, name, 0755) < 0 && errno != EEXIST)
        return -errno;
    auto_close int made = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (made < 0 || fchmod(made, 0755) < 0 || fchown(made, uid, gid) < 0)
        return -errno;
    return take_fd(made);
}

static int describe_path_fault(int code, struct str prefix, struct err *e)
{
    if (code == -ENOTDIR)
        return err_set(e, code, "path is a file: " STR_FMT, STR_ARG(prefix));
    return err_set(e, code, "error creating directory: mkdir " STR_FMT ": %s", STR_ARG(prefix),
                   path_errno(code));
}

int path_open_dir(const char *path, uid_t uid, gid_t gid, struct err *e)
{
    auto_close int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct str left = str_of(path);
    char name[NAME_MAX + 1];

    if (fd < 0)
        return err_set(e, -errno, "open /: %s", path_errno(errno));
    while (left.p) {
        struct str part = str_cut(&left, '/');
        struct str prefix = str_n(path, (size_t)(part.p + part.len - path));
        if (part.len == 0)
            continue;
        if (part.len > NAME_MAX)
            return describe_path_fault(-ENAMETOOLONG, prefix, e);
        memcpy(name, part.p, part.len);
        name[part.len] = '\0';
        int next = enter_dir(fd, name, uid, gid);
        if (next < 0)
            return describe_path_fault(next, prefix, e);
        (void)close(fd);
        fd = next;
    }
    return take_fd(fd);
}

int path_make_dirs(const char *path, uid_t uid, gid_t gid, struct err *e)
{
    auto_close int fd = path_open_dir(path, uid, gid, e);

    return fd < 0 ? fd : 0;
}

/* ---- /proc ---- */

bool path_is_proc_fd(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) < 0 || fs.f_type == PROC_MAGIC;
}
