/* SPDX-License-Identifier: MIT */
/* Copying parts of the host's files into the default template: see template_internal.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/template_internal.h"
#include "sys/io.h"

enum { COPY_MAX = 16 << 20, DEPTH_MAX = 12, ENTRIES_MAX = 50000, SYSTEM_IDS = 1000 };

/* ---- making ---- */

int template_write(int root, const struct template_entry *t, struct str text)
{
    auto_close int fd =
        openat(root, t->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    int r = io_write_all(fd, text.p, text.len);
    if (r < 0)
        return r;
    if (fchown(fd, t->owner, t->group) < 0 || fchmod(fd, t->mode) < 0)
        return -errno;
    return 0;
}

/* The service's umask does not count here. */
int template_make_one(int root, const struct template_entry *t)
{
    if (t->text)
        return template_write(root, t, str_of(t->text));
    if (mkdirat(root, t->path, 0700) < 0)
        return -errno;
    if (fchownat(root, t->path, t->owner, t->group, AT_SYMLINK_NOFOLLOW) < 0 ||
        fchmodat(root, t->path, t->mode, 0) < 0)
        return -errno;
    return 0;
}

void template_make_parents(struct template_build *b, const char *path)
{
    char part[PATH_MAX];

    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        (void)template_make_one(b->root, &(struct template_entry){.path = part, .mode = 0755});
    }
}

/* ---- reading ---- */

DIR *template_list(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir)
        close_p(&fd);
    return dir;
}

static const char *template_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Opens the directory that PATH of the host is in, without following links and only through
 * directories that everybody may pass unless flags say otherwise: descriptor or -errno. */
static int template_open_parent(int host, const char *path, unsigned flags)
{
    int fd = openat(host, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (const char *part = path, *slash; fd >= 0 && (slash = strchr(part, '/'));
         part = slash + 1) {
        char name[NAME_MAX + 1];
        struct stat st;
        (void)snprintf(name, sizeof name, "%.*s", (int)(slash - part), part);
        int next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = -errno;
        (void)close(fd);
        if (next < 0)
            return error;
        fd = next;
        if (!(flags & TEMPLATE_NAMED) && (fstat(fd, &st) < 0 || !(st.st_mode & S_IXOTH))) {
            (void)close(fd);
            return -EACCES;
        }
    }
    return fd < 0 ? -errno : fd;
}

/* An open regular file with its facts; not one that others may not read. */
static int open_public(int dir, const char *name, unsigned flags, struct stat *ret)
{
    int follow = flags & TEMPLATE_NAMED ? 0 : O_NOFOLLOW;
    int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | follow);
    int r = 0;

    if (fd < 0)
        return -errno;
    if (fstat(fd, ret) < 0)
        r = -errno;
    else if (!S_ISREG(ret->st_mode) || ret->st_size > COPY_MAX)
        r = -EINVAL;
    else if (!(flags & TEMPLATE_NAMED) && !(ret->st_mode & S_IROTH))
        r = -EACCES;
    if (r == 0)
        return fd;
    (void)close(fd);
    return r;
}

int template_read(const struct template_build *b, const char *path, struct buf *ret)
{
    struct stat st;
    auto_close int dir = template_open_parent(b->host, path, 0);
    auto_close int fd = dir < 0 ? dir : open_public(dir, template_name_of(path), 0, &st);

    if (fd < 0)
        return fd;
    for (;;) {
        char chunk[16384];
        ssize_t n = io_read(fd, chunk, sizeof chunk);
        if (n <= 0)
            return (int)n;
        if (buf_add(ret, chunk, (size_t)n) < 0)
            return ret->error;
    }
}

/* ---- copying ---- */

static uid_t id_inside(uid_t id)
{
    return id < SYSTEM_IDS ? id : 0;
}

static int copy_template_bytes(int from, int to, off_t size)
{
    while (size > 0) {
        ssize_t n = sendfile(to, from, NULL, (size_t)size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        size -= n;
    }
    return 0;
}

static int copy_template_file(struct template_build *b, int dir, const char *path, unsigned flags)
{
    struct stat st = {0};
    auto_close int from = open_public(dir, template_name_of(path), flags, &st);

    if (from < 0)
        return from;
    if (flags & TEMPLATE_NAMED)
        (void)unlinkat(b->root, path, 0);
    auto_close int to =
        openat(b->root, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return -errno;
    const struct timespec times[2] = {st.st_atim, st.st_mtim};
    int r = copy_template_bytes(from, to, st.st_size);
    if (r == 0 && (fchown(to, id_inside(st.st_uid), id_inside(st.st_gid)) < 0 ||
                   fchmod(to, st.st_mode & 0777) < 0 || futimens(to, times) < 0))
        r = -errno;
    return r;
}

/* A link reveals its target, whoever may read that. These are public. */
static bool is_public_target(const char *target)
{
    static const char *const prefixes[] = {
        "/usr/", "/etc/", "/bin/", "/sbin/", "/lib", "/run/", "/proc/", "/dev/", "/var/lib/",
    };

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_starts(str_of(target), str_of(prefixes[i])))
            return !strstr(target, "/../");
    return false;
}

/* A link to a neighbour, or up to the root at most and down to something public. */
static bool is_public_link(const char *path, const char *target)
{
    int depth = 0;

    if (target[0] == '/')
        return is_public_target(target);
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++)
        depth++;
    for (; strncmp(target, "../", 3) == 0; target += 3)
        depth--;
    if (strstr(target, "../") || depth < 0)
        return false;
    return depth > 0 || str_starts(str_of(target), STR("usr/")) ||
           str_starts(str_of(target), STR("etc/")) || str_starts(str_of(target), STR("proc/"));
}

/* A link never changes, so on the same file system a second name for it will do: where a new inode
 * is dear, as on a busy disk, that takes a small part of the time. */
static int copy_template_link(struct template_build *b, int dir, const char *path)
{
    char target[PATH_MAX];
    bool is_same = linkat(dir, template_name_of(path), b->root, path, 0) == 0;
    ssize_t len = is_same ? readlinkat(b->root, path, target, sizeof target - 1)
                          : readlinkat(dir, template_name_of(path), target, sizeof target - 1);

    if (len < 0)
        return -errno;
    target[len] = '\0';
    bool is_public = is_public_link(path, target);
    if (is_same && !is_public)
        (void)unlinkat(b->root, path, 0);
    if (is_same || !is_public)
        return is_public ? 0 : -EACCES;
    return symlinkat(target, b->root, path) < 0 ? -errno : 0;
}

static void copy_at(struct template_build *b, int dir, const char *path, unsigned flags, int depth);

static void copy_template_dir(struct template_build *b, int dir, const char *path, unsigned flags,
                              int depth)
{
    DIR *list = template_list(dir, template_name_of(path));
    struct stat st;

    if (!list)
        return;
    bool is_open =
        fstat(dirfd(list), &st) == 0 && (flags & TEMPLATE_NAMED || (st.st_mode & 0005) == 0005);
    if (is_open)
        (void)template_make_one(b->root, &(struct template_entry){.path = path,
                                                                  .mode = st.st_mode & 0777,
                                                                  .owner = id_inside(st.st_uid),
                                                                  .group = id_inside(st.st_gid)});
    for (struct dirent *d; is_open && (d = readdir(list));) {
        char below[PATH_MAX];
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (snprintf(below, sizeof below, "%s/%s", path, d->d_name) < (int)sizeof below)
            copy_at(b, dirfd(list), below, flags, depth + 1);
    }
    (void)closedir(list);
}

/* DIR is the host's directory that PATH is in. What cannot or must not be copied is left out. */
static void copy_at(struct template_build *b, int dir, const char *path, unsigned flags, int depth)
{
    struct stat st;
    bool is_named = flags & TEMPLATE_NAMED;
    /* What the operator names is followed, but not what is below. */
    int follow = is_named && depth == 0 ? 0 : AT_SYMLINK_NOFOLLOW;

    if (depth >= DEPTH_MAX || b->n_copied >= ENTRIES_MAX ||
        (!is_named && template_is_kept_out(path)) ||
        (flags & TEMPLATE_SHIPPED && !template_is_shipped(&b->packages, path)) ||
        fstatat(dir, template_name_of(path), &st, follow) < 0)
        return;
    b->n_copied++;
    if (S_ISLNK(st.st_mode))
        (void)copy_template_link(b, dir, path);
    else if (S_ISDIR(st.st_mode))
        copy_template_dir(b, dir, path, flags, depth);
    else if (S_ISREG(st.st_mode))
        (void)copy_template_file(b, dir, path, flags);
}

void template_copy(struct template_build *b, const char *path, unsigned flags)
{
    auto_close int dir = template_open_parent(b->host, path, flags);

    if (dir < 0 || faccessat(dir, template_name_of(path), F_OK, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    template_make_parents(b, path);
    copy_at(b, dir, path, flags, 0);
}
