/* SPDX-License-Identifier: MIT */
#include "local/archive/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

static int open_by(int dir_fd, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = resolve};
    long r = syscall(SYS_openat2, dir_fd, path, &how, sizeof how);

    return r < 0 ? -errno : (int)r;
}

int tree_open(int dir_fd, const char *path, int flags)
{
    return open_by(dir_fd, path[0] ? path : ".", flags,
                   RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

bool tree_is_inside(int dir_fd, const char *path)
{
    auto_close int fd = open_by(dir_fd, path, O_PATH, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);

    return fd >= 0 || fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES;
}

static int rename_new(int from_fd, int to_fd, const char *name)
{
    long r = syscall(SYS_renameat2, from_fd, name, to_fd, name, RENAME_NOREPLACE);

    return r < 0 ? -errno : 0;
}

static bool is_tree_dir(int dir_fd, const char *name)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* ---- walking ---- */

typedef int visit(int dir_fd, const char *name, void *ctx);

/* Calls FN for each entry of DIR_FD, which may remove it; stops at its first failure. */
static int visit_dir(int dir_fd, visit *fn, void *ctx)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        r = -errno;
        if (fd >= 0)
            (void)close(fd);
        return r;
    }
    for (struct dirent *d; r == 0 && (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            r = fn(dir_fd, d->d_name, ctx);
    }
    (void)closedir(dir);
    return r;
}

static int remove_tree_entry(int dir_fd, const char *name, void *ctx)
{
    unsigned *depth = ctx;

    if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    if (*depth >= TREE_DEPTH_MAX)
        return -ELOOP;
    auto_close int fd = tree_open(dir_fd, name, O_RDONLY | O_DIRECTORY);
    if (fd == -EACCES && fchmodat(dir_fd, name, 0700, 0) == 0)
        fd = tree_open(dir_fd, name, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    ++*depth;
    int r = visit_dir(fd, remove_tree_entry, depth);
    --*depth;
    if (r == -EACCES && fchmod(fd, 0700) == 0)
        r = visit_dir(fd, remove_tree_entry, depth);
    if (r == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = -errno;
    return r;
}

int tree_remove(int dir_fd, const char *name)
{
    unsigned depth = 0;

    return remove_tree_entry(dir_fd, name, &depth);
}

/* ---- moving ---- */

struct merging {
    int to_fd, old_fd;
    unsigned n_old, depth;
};

static int merge_entry(int from_fd, const char *name, void *ctx);

static int join_directories(struct merging *m, int from_fd, const char *name)
{
    auto_close int from = tree_open(from_fd, name, O_RDONLY | O_DIRECTORY);
    auto_close int to = tree_open(m->to_fd, name, O_RDONLY | O_DIRECTORY);
    struct merging below = {.to_fd = to, .old_fd = m->old_fd, m->n_old, m->depth + 1};

    if (from < 0 || to < 0)
        return from < 0 ? from : to;
    if (below.depth > TREE_DEPTH_MAX)
        return -ELOOP;
    int r = visit_dir(from, merge_entry, &below);
    m->n_old = below.n_old;
    if (r == 0 && unlinkat(from_fd, name, AT_REMOVEDIR) < 0)
        r = -errno;
    return r;
}

/* Takes a directory out of the way. */
static int set_aside(struct merging *m, const char *name)
{
    char aside[32];

    do
        (void)snprintf(aside, sizeof aside, "%u", m->n_old++);
    while (faccessat(m->old_fd, aside, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    return renameat(m->to_fd, name, m->old_fd, aside) < 0 ? -errno : 0;
}

static int merge_entry(int from_fd, const char *name, void *ctx)
{
    struct merging *m = ctx;
    int r = rename_new(from_fd, m->to_fd, name);

    if (r != -EEXIST)
        return r;
    bool is_new_dir = is_tree_dir(from_fd, name), is_old_dir = is_tree_dir(m->to_fd, name);
    if (is_new_dir && is_old_dir)
        return join_directories(m, from_fd, name);
    if (is_old_dir)
        r = set_aside(m, name);
    else if (is_new_dir)
        r = unlinkat(m->to_fd, name, 0) < 0 ? -errno : 0;
    else
        r = 0;
    if (r == 0 && renameat(from_fd, name, m->to_fd, name) < 0)
        r = -errno;
    return r;
}

int tree_merge(int from_fd, int to_fd, int old_fd)
{
    struct merging m = {.to_fd = to_fd, .old_fd = old_fd};

    return visit_dir(from_fd, merge_entry, &m);
}
