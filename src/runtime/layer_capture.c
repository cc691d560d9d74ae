/* SPDX-License-Identifier: MIT */
/* The upper layer of a cell, copied into a layer: see layer.h. What is read belongs to the cell and
 * may be anything; links are never followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/mem.h"
#include "runtime/layer.h"
#include "runtime/layer_attr.h"

enum { NOBODY = 65534, PIECE_MAX = 16 << 20, LINK_MAX = 4096 };

struct layer_capturing {
    struct layer_draft *draft;
    uint32_t uid_base;
    struct map linked;   /* inode → where its first name was copied to, for files with several */
    char path[PATH_MAX]; /* below the draft's tree, of what is being copied; for messages */
    unsigned depth;
    struct err *e;
};

static int copy_capture_dir(struct layer_capturing *c, int from, int to);

static uint32_t shift_id(const struct layer_capturing *c, uint32_t id)
{
    return id >= c->uid_base && id - c->uid_base < LAYER_UIDS ? id - c->uid_base : NOBODY;
}

/* Owner first: a change of owner takes the setuid bit away. */
static int dress_captured(struct layer_capturing *c, int from, int to, const char *name,
                          const struct stat *st)
{
    const struct timespec times[2] = {st->st_atim, st->st_mtim};

    if (fchownat(to, name, shift_id(c, st->st_uid), shift_id(c, st->st_gid), AT_SYMLINK_NOFOLLOW) <
            0 ||
        (!S_ISLNK(st->st_mode) && fchmodat(to, name, st->st_mode & 07777, 0) < 0))
        return err_sys(c->e, -errno, "'%s'", c->path);
    if (!S_ISCHR(st->st_mode)) {
        int r = layer_copy_attrs(from, to, name, c->uid_base, c->e);
        if (r < 0)
            return r;
    }
    if (utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(c->e, -errno, "time of '%s'", c->path);
    return 0;
}

/* ---- files ---- */

static ssize_t copy_piece(int from, int to, off_t at, size_t len)
{
    loff_t in = at, out = at;
    ssize_t n = copy_file_range(from, &in, to, &out, len, 0);

    if (n >= 0 || (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP))
        return n < 0 ? -errno : n;
    if (lseek(to, at, SEEK_SET) < 0)
        return -errno;
    in = at;
    n = sendfile(to, from, &in, len);
    return n < 0 ? -errno : n;
}

/* From AT to END, as far as the file goes: it may have become shorter. */
static int copy_range(struct layer_capturing *c, int from, int to, off_t at, off_t end)
{
    while (at < end) {
        size_t len = end - at > PIECE_MAX ? PIECE_MAX : (size_t)(end - at);
        ssize_t n = copy_piece(from, to, at, len);
        if (n == -EINTR)
            continue;
        if (n < 0)
            return err_sys(c->e, (int)n, "copy '%s'", c->path);
        if (n == 0)
            return 0;
        int r = layer_count(c->draft, (uint64_t)n, true, c->e);
        if (r < 0)
            return r;
        at += n;
    }
    return 0;
}

/* Holes stay holes. */
static int copy_data(struct layer_capturing *c, int from, int to, off_t size)
{
    if (ioctl(to, FICLONE, from) == 0)
        return layer_count(c->draft, (uint64_t)size, true, c->e);
    for (off_t at = 0; at < size;) {
        off_t data = lseek(from, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            break;
        off_t hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
        if (hole < 0) {
            data = at;
            hole = size;
        }
        int r = copy_range(c, from, to, data, hole < size ? hole : size);
        if (r < 0)
            return r;
        at = hole;
    }
    return ftruncate(to, size) < 0 ? err_sys(c->e, -errno, "'%s'", c->path) : 0;
}

static int copy_capture_file(struct layer_capturing *c, int from, int to, const char *name)
{
    auto_close int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (in < 0 || fstat(in, &st) < 0)
        return err_sys(c->e, -errno, "open '%s'", c->path);
    if (!S_ISREG(st.st_mode))
        return err_set(c->e, -EAGAIN, "'%s' changed while it was copied", c->path);
    auto_close int out =
        openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out < 0)
        return err_sys(c->e, -errno, "create '%s'", c->path);
    return copy_data(c, in, out, st.st_size);
}

/* True when it was copied under another name before, and is linked to that now. */
static int link_capture_file(struct layer_capturing *c, int to, const char *name,
                             const struct stat *st)
{
    struct str key = str_n((const char *)&st->st_ino, sizeof st->st_ino);
    const char *first = map_get(&c->linked, key);

    if (first) {
        if (linkat(c->draft->fd, first, to, name, 0) < 0)
            return err_sys(c->e, -errno, "link '%s'", c->path);
        return 1;
    }
    char *copy = mem_strdup(c->path);
    if (!copy || map_put(&c->linked, key, copy, NULL) < 0) {
        free(copy);
        return err_sys(c->e, -ENOMEM, "'%s'", c->path);
    }
    return 0;
}

/* ---- everything else ---- */

static int copy_capture_link(struct layer_capturing *c, int from, int to, const char *name)
{
    char target[LINK_MAX + 1];
    ssize_t n = readlinkat(from, name, target, sizeof target - 1);

    if (n < 0)
        return err_sys(c->e, -errno, "read link '%s'", c->path);
    target[n] = '\0';
    return symlinkat(target, to, name) < 0 ? err_sys(c->e, -errno, "link '%s'", c->path) : 0;
}

static int copy_capture_node(struct layer_capturing *c, int to, const char *name, mode_t type)
{
    if (mknodat(to, name, type | 0600, makedev(0, 0)) == 0)
        return 0;
    return err_sys(c->e, -errno, "create '%s'", c->path);
}

static int copy_subdir(struct layer_capturing *c, int from, int to, const char *name)
{
    if (mkdirat(to, name, 0700) < 0 && errno != EEXIST)
        return err_sys(c->e, -errno, "create '%s'", c->path);
    if (c->depth >= LAYER_DEPTH_MAX)
        return err_set(c->e, -ELOOP, "directories are nested deeper than %d", LAYER_DEPTH_MAX);
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    auto_close int in = openat(from, name, flags);
    auto_close int out = openat(to, name, flags);
    if (in < 0 || out < 0)
        return err_sys(c->e, -errno, "open '%s'", c->path);
    c->depth++;
    int r = copy_capture_dir(c, in, out);
    c->depth--;
    return r;
}

/* 1: nothing was made that could be dressed. */
static int copy_entry(struct layer_capturing *c, int from, int to, const char *name,
                      const struct stat *st)
{
    if (S_ISDIR(st->st_mode))
        return copy_subdir(c, from, to, name);
    int r = layer_count(c->draft, 0, false, c->e);
    if (r < 0)
        return r;
    if (S_ISREG(st->st_mode)) {
        r = st->st_nlink > 1 ? link_capture_file(c, to, name, st) : 0;
        return r == 0 ? copy_capture_file(c, from, to, name) : r;
    }
    if (S_ISLNK(st->st_mode))
        return copy_capture_link(c, from, to, name);
    if (S_ISFIFO(st->st_mode))
        return copy_capture_node(c, to, name, S_IFIFO);
    /* A name that was deleted. Other devices cannot be made in cells. */
    if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0))
        return copy_capture_node(c, to, name, S_IFCHR);
    return 1;
}

static int copy_capture_name(struct layer_capturing *c, int from, int to, const char *name)
{
    size_t len = strlen(c->path);
    struct stat st;

    if (snprintf(c->path + len, sizeof c->path - len, "%s%s", len > 0 ? "/" : "", name) >=
        (int)(sizeof c->path - len))
        return err_set(c->e, -ENAMETOOLONG, "a path is longer than %d bytes", PATH_MAX);
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys(c->e, -errno, "'%s'", c->path);
    int r = copy_entry(c, from, to, name, &st);
    if (r == 0)
        r = dress_captured(c, from, to, name, &st);
    c->path[len] = '\0';
    return r < 0 ? r : 0;
}

static int copy_capture_dir(struct layer_capturing *c, int from, int to)
{
    int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int r = dir ? layer_count(c->draft, 0, false, c->e) : err_sys(c->e, -errno, "'%s'", c->path);

    if (!dir)
        close_p(&fd);
    for (struct dirent *d; r == 0 && (d = readdir(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            r = copy_capture_name(c, from, to, d->d_name);
    if (dir)
        (void)closedir(dir);
    return r;
}

/* ---- the whole ---- */

/* The upper layer HOME below the home, to NAME in the tree. */
static int copy_upper(struct layer_capturing *c, int home_fd, const char *home, const char *name)
{
    auto_close int in = openat(home_fd, home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (in < 0)
        return errno == ENOENT ? 0 : err_sys(c->e, -errno, "upper layer");
    if (strcmp(name, ".") != 0 && mkdirat(c->draft->fd, name, 0755) < 0 && errno != EEXIST)
        return err_sys(c->e, -errno, "create '%s'", name);
    auto_close int out = openat(c->draft->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out < 0 || fstat(in, &st) < 0)
        return err_sys(c->e, -errno, "upper layer");
    (void)snprintf(c->path, sizeof c->path, "%s", strcmp(name, ".") == 0 ? "" : name);
    int r = copy_capture_dir(c, in, out);
    return r < 0 ? r : dress_captured(c, in, out, ".", &st);
}

int layer_capture(struct layer_draft *d, int home_fd, uint32_t uid_base, bool has_usr,
                  struct err *e)
{
    struct err ignored = ERR_INIT;
    struct layer_capturing *c = mem_zalloc(1, sizeof *c);
    void *value;

    if (!c)
        return err_sys(e, -ENOMEM, "layer");
    c->draft = d;
    c->uid_base = uid_base;
    c->e = e ? e : &ignored;
    map_init(&c->linked, LAYER_FILES_MAX);
    int r = copy_upper(c, home_fd, "root/u", ".");
    if (r == 0 && has_usr)
        r = copy_upper(c, home_fd, "usr/u", "usr");
    for (size_t i = 0; map_next(&c->linked, &i, NULL, &value);)
        free(value);
    map_done(&c->linked);
    free(c);
    return r;
}
