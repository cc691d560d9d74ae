/* SPDX-License-Identifier: MIT */
/* Operations on the files of a cell: see tree.h. */
#include "envd/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/path.h"
#include "runtime/kern.h"

/* A name in a directory that has been read, before it is described. */
struct tree_names {
    const char **items;
    size_t n, cap;
};

int tree_stat(struct arena *a, const char *path, struct entry *ret, struct err *e)
{
    int r = entry_read(a, path, ret);

    if (r == -ENOENT)
        return err_set(e, r, "file not found: lstat %s: %s", path, path_errno(r));
    if (r < 0)
        return err_set(e, -EIO, "error getting file info: lstat %s: %s", path, path_errno(r));
    return 0;
}

int tree_make_dir(const char *path, const struct user *u, struct err *e)
{
    struct stat st;

    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode)
                   ? err_set(e, -EEXIST, "directory already exists: %s", path)
                   : err_set(e, -EINVAL, "path already exists but it is not a directory: %s", path);
    if (errno != ENOENT && errno != ENOTDIR)
        return err_set(e, -EIO, "error getting file info: stat %s: %s", path, path_errno(errno));
    return path_make_dirs(path, u->uid, u->gid, e) < 0 ? (e->code = -EIO) : 0;
}

/* ---- moving ---- */

static int fail_move(int code, const char *from, const char *to, struct err *e)
{
    const char *text = path_errno(code);

    if (code == -ENOENT)
        return err_set(e, code, "source file not found: rename %s %s: %s", from, to, text);
    return err_set(e, -EIO, "error renaming: rename %s %s: %s", from, to, text);
}

int tree_move(struct arena *a, const char *from, const char *to, const struct user *u,
              struct err *e)
{
    const char *dir = path_dir(a, to);
    struct stat st, old;

    if (!dir)
        return err_set(e, -ENOMEM, "error renaming: %s", path_errno(ENOMEM));
    if (lstat(from, &st) < 0)
        return fail_move(-errno, from, to, e);
    /* A directory is never replaced, not even an empty one. */
    if (lstat(to, &old) == 0 && S_ISDIR(old.st_mode) &&
        (st.st_ino != old.st_ino || st.st_dev != old.st_dev))
        return fail_move(-EEXIST, from, to, e);
    if (path_make_dirs(dir, u->uid, u->gid, e) < 0)
        return e->code = -EIO;
    return rename(from, to) < 0 ? fail_move(-errno, from, to, e) : 0;
}

/* ---- listing ---- */

static int add_walked_name(struct arena *a, struct tree_names *l, const char *name)
{
    const char **items = arena_grow(a, l->items, l->n, &l->cap, sizeof *items);

    if (!items)
        return -ENOMEM;
    l->items = items;
    l->items[l->n] = arena_strdup(a, name);
    return l->items[l->n++] ? 0 : -ENOMEM;
}

static int by_tree_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in DIR in byte order. What is open is what is asked about, whatever the path leads to
 * by now. */
static int read_level_names(struct arena *a, const char *path, struct tree_names *ret)
{
    struct kern_open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                                .resolve = KERN_NO_MAGICLINKS};
    auto_close int fd = kern_openat2(AT_FDCWD, path, &how);
    int r = 0;

    if (fd < 0)
        return fd;
    if (path_is_proc_fd(fd))
        return -EACCES;
    auto_closedir DIR *dir = fdopendir(fd);
    if (!dir)
        return -errno;
    (void)take_fd(fd);
    for (struct dirent *d; r == 0 && (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        r = ret->n == TREE_ENTRIES_MAX ? -EFBIG : add_walked_name(a, ret, d->d_name);
    }
    if (r == 0 && ret->n)
        qsort(ret->items, ret->n, sizeof *ret->items, by_tree_name);
    return r;
}

static struct entry *add_walked_entry(struct arena *a, struct tree_list *l)
{
    struct entry *items = arena_grow(a, l->items, l->n, &l->cap, sizeof *items);

    if (!items)
        return NULL;
    l->items = items;
    return &l->items[l->n];
}

/* A directory that is being listed; the one that it was found in is below it. */
struct level {
    struct level *up;
    const char *path;
    struct tree_names names;
    size_t at;
};

static struct level *enter_level(struct arena *a, struct level *up, const char *path, int *ret_code)
{
    struct level *l = arena_new(a, struct level);

    *ret_code = l ? read_level_names(a, path, &l->names) : -ENOMEM;
    /* A directory that went meanwhile, or became something else, is empty; so is /proc. */
    if (up && (*ret_code == -ENOENT || *ret_code == -ENOTDIR || *ret_code == -ELOOP ||
               *ret_code == -EACCES))
        *ret_code = 0;
    if (*ret_code < 0)
        return NULL;
    l->up = up;
    l->path = path;
    return l;
}

/* Describes the next name of *AT and goes into it, when it is a directory that is wanted. */
static int step_to_next_entry(struct arena *a, struct level **at, unsigned *depth,
                              unsigned max_depth, struct tree_list *ret)
{
    struct level *l = *at;
    const char *path = path_join(a, l->path, l->names.items[l->at++]);
    struct entry *e = ret->n < TREE_ENTRIES_MAX ? add_walked_entry(a, ret) : NULL;
    int r = 0;

    if (!path || !e)
        return ret->n < TREE_ENTRIES_MAX ? -ENOMEM : -EFBIG;
    r = entry_read(a, path, e);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    ret->n++;
    if (*depth == max_depth || !S_ISDIR(e->st.st_mode))
        return 0;
    l = enter_level(a, l, path, &r);
    if (l) {
        *at = l;
        (*depth)++;
    }
    return r;
}

static int walk_levels(struct arena *a, const char *path, unsigned max_depth, struct tree_list *ret)
{
    unsigned depth = 1;
    int r = 0;
    struct level *at = enter_level(a, NULL, path, &r);

    while (at && r == 0) {
        if (at->at < at->names.n) {
            r = step_to_next_entry(a, &at, &depth, max_depth, ret);
            continue;
        }
        at = at->up;
        depth--;
    }
    return r;
}

/* The first component of PATH that is not there: what a walk along it stumbles over. */
static struct str missing_part(const char *path)
{
    char prefix[PATH_MAX];
    struct str s = str_of(path);
    struct stat st;

    for (size_t i = 1; i <= s.len && i < sizeof prefix; i++) {
        if (i < s.len && path[i] != '/')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        if (lstat(prefix, &st) < 0)
            return str_n(path, i);
    }
    return s;
}

static int check_root(const char *path, struct err *e)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        int r = -errno;
        if (r == -ENOENT)
            return err_set(e, r, "path not found: lstat " STR_FMT ": %s",
                           STR_ARG(missing_part(path)), path_errno(r));
        if (r == -ELOOP)
            return err_set(e, r, "cyclic symlink or chain >255 links at \"%s\"", path);
        return err_set(e, -EIO, "error getting file info: stat %s: %s", path, path_errno(r));
    }
    if (!S_ISDIR(st.st_mode))
        return err_set(e, -EINVAL, "path is not a directory: %s", path);
    return 0;
}

int tree_list(struct arena *a, const char *path, unsigned depth, struct tree_list *ret,
              struct err *e)
{
    struct tree_list list = {0};
    int r = check_root(path, e);

    if (r < 0)
        return r;
    const char *clean = path_clean(a, str_of(path));
    r = clean ? walk_levels(a, clean, depth ? depth : 1, &list) : -ENOMEM;
    /* Below /proc there is more of this process than others may see. */
    if (r == -ELOOP || r == -EACCES)
        return err_set(e, -EACCES, "error reading directory %s: open %s: %s", path, path,
                       path_errno(EACCES));
    if (r == -EFBIG)
        return err_set(e, r, "directory %s has more than %d entries", path, TREE_ENTRIES_MAX);
    if (r < 0)
        return err_set(e, -EIO, "error reading directory %s: %s", path, path_errno(r));
    *ret = list;
    return 0;
}
