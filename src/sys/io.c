/* SPDX-License-Identifier: MIT */
/* System calls as the program uses them: see io.h. */
#include "sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/id.h"
#include "base/mem.h"

ssize_t io_read(int fd, void *p, size_t n)
{
    ssize_t r;

    if (fault_hit(FAULT_IO))
        return -EIO;
    do
        r = read(fd, p, n);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

ssize_t io_write(int fd, const void *p, size_t n)
{
    ssize_t r;

    if (fault_hit(FAULT_IO))
        return -EIO;
    do
        r = write(fd, p, n);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

int io_write_all(int fd, const void *p, size_t n)
{
    const char *at = p;

    while (n > 0) {
        ssize_t r = io_write(fd, at, n);
        if (r < 0)
            return (int)r;
        at += r;
        n -= (size_t)r;
    }
    return 0;
}

ssize_t io_read_at(int fd, void *p, size_t n, off_t at)
{
    size_t done = 0;

    if (fault_hit(FAULT_IO))
        return -EIO;
    while (done < n) {
        ssize_t r = pread(fd, (char *)p + done, n - done, at + (off_t)done);
        if (r == 0)
            break;
        if (r < 0 && errno != EINTR)
            return -errno;
        done += r > 0 ? (size_t)r : 0;
    }
    return (ssize_t)done;
}

int io_write_at(int fd, const void *p, size_t n, off_t at)
{
    size_t done = 0;

    if (fault_hit(FAULT_IO))
        return -ENOSPC;
    while (done < n) {
        ssize_t r = pwrite(fd, (const char *)p + done, n - done, at + (off_t)done);
        if (r < 0 && errno != EINTR)
            return -errno;
        done += r > 0 ? (size_t)r : 0;
    }
    return 0;
}

int io_open(const char *path, int flags, mode_t mode)
{
    int fd;

    if (fault_hit(FAULT_IO))
        return -EIO;
    do
        /* musl's open() sets the flag once more, by a call of its own. */
        fd = openat(AT_FDCWD, path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

int io_read_file(const char *path, struct buf *out, struct err *e)
{
    auto_close int fd = io_open(path, O_RDONLY, 0);

    if (fd < 0)
        return err_sys(e, fd, "open '%s'", path);
    for (;;) {
        char chunk[16384];
        ssize_t n = io_read(fd, chunk, sizeof chunk);
        if (n < 0)
            return err_sys(e, (int)n, "read '%s'", path);
        if (n == 0)
            return 0;
        int r = buf_add(out, chunk, (size_t)n);
        if (r < 0)
            return err_sys(e, r, "read '%s'", path);
    }
}

int io_sync_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    auto_free char *dir =
        slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup(".");

    if (!dir)
        return -ENOMEM;
    auto_close int fd = io_open(dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    return fsync(fd) < 0 ? -errno : 0;
}

static int write_and_sync(int fd, struct str data)
{
    int r = io_write_all(fd, data.p, data.len);

    if (r < 0)
        return r;
    if (fault_hit(FAULT_IO))
        return -EIO;
    return fsync(fd) < 0 ? -errno : 0;
}

int io_write_file(const char *path, struct str data, mode_t mode, struct err *e)
{
    char temp[PATH_MAX], unique[9];

    id_hex(unique, sizeof unique - 1);
    if ((size_t)snprintf(temp, sizeof temp, "%s.%s", path, unique) >= sizeof temp)
        return err_sys(e, -ENAMETOOLONG, "write '%s'", path);
    auto_close int fd = io_open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd < 0)
        return err_sys(e, fd, "create '%s'", temp);
    int r = write_and_sync(fd, data);
    if (r == 0 && rename(temp, path) < 0)
        r = -errno;
    if (r == 0)
        r = io_sync_parent(path);
    if (r < 0) {
        (void)unlink(temp);
        return err_sys(e, r, "write '%s'", path);
    }
    return 0;
}

int io_mkdirs(const char *path, mode_t mode, struct err *e)
{
    auto_free char *copy = mem_strdup(path);

    if (!copy)
        return err_sys(e, -ENOMEM, "create directory '%s'", path);
    for (char *at = copy + 1; *copy; at++) {
        char c = *at;
        if (c != '/' && c != '\0')
            continue;
        *at = '\0';
        if (mkdir(copy, mode) < 0 && errno != EEXIST)
            return err_sys(e, -errno, "create directory '%s'", copy);
        *at = c;
        if (c == '\0')
            break;
    }
    return 0;
}

int io_set_nonblock(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0)
        return -errno;
    flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

static int remove_tree_item(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path) < 0 && errno != ENOENT ? -errno : 0;
}

int io_remove_tree(const char *path)
{
    enum { WALK_FDS = 16 };
    int r = nftw(path, remove_tree_item, WALK_FDS, FTW_DEPTH | FTW_PHYS);

    if (r == -1)
        return errno == ENOENT ? 0 : -errno;
    return r;
}
