/* SPDX-License-Identifier: MIT */
/* The files of a volume: see volume_files.h. */
#include "core/volume_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "runtime/kern.h"

enum {
    /* Who owns what a request makes without saying: the default user of sandboxes. */
    OWNER = 1000,
    FILE_MODE = 0644,
    DIR_MODE = 0755,
    MODE_BITS = 07777,
    TEMP_DIGITS = 24,
    BENEATH = 0x08, /* RESOLVE_BENEATH */
    NO_XDEV = 0x01, /* RESOLVE_NO_XDEV */
};

/* ---- paths ---- */

static int refuse_path(struct str path, const char *why, struct err *e)
{
    return err_set(e, -EINVAL, "invalid path \"" STR_FMT "\": %s", STR_ARG(str_slice(path, 0, 200)),
                   why);
}

const char *volume_path_clean(struct arena *a, struct str path, struct err *e)
{
    char *out = arena_alloc(a, path.len + 2);
    size_t len = 0;

    if (!out) {
        (void)err_sys(e, -ENOMEM, "path");
        return NULL;
    }
    if (path.len > VOLUME_PATH_MAX || (path.len > 0 && memchr(path.p, 0, path.len))) {
        (void)refuse_path(path, "too long, or with a NUL byte", e);
        return NULL;
    }
    for (struct str rest = path; rest.p;) {
        struct str part = str_cut(&rest, '/');
        if (str_is(part, "..")) {
            (void)refuse_path(path, "'..' is not allowed", e);
            return NULL;
        }
        if (part.len == 0 || str_is(part, "."))
            continue;
        out[len++] = '/';
        memcpy(out + len, part.p, part.len);
        len += part.len;
    }
    if (len == 0)
        out[len++] = '/';
    out[len] = '\0';
    return out;
}

/* What a failed call means to a client. */
static int fail_path(struct err *e, int code, const char *path)
{
    switch (code) {
    case -ENOENT: return err_set(e, code, "path '%s' not found", path);
    case -EEXIST: return err_set(e, code, "path '%s' already exists", path);
    case -ENOTDIR: return err_set(e, -EINVAL, "path '%s' leads through a file", path);
    case -EISDIR: return err_set(e, -EINVAL, "path '%s' is a directory", path);
    case -ENAMETOOLONG: return err_set(e, -EINVAL, "path '%s' has a name that is too long", path);
    case -EXDEV:
    case -ELOOP: return err_set(e, -EINVAL, "path '%s' leads out of the volume", path);
    case -ENOSPC: return err_set(e, code, "the volume is full");
    default: return err_sys(e, code, "path '%s'", path);
    }
}

/* PATH is clean. */
static int open_beneath(int root, const char *path, int flags)
{
    struct kern_open_how how = {.flags = (uint64_t)flags | O_CLOEXEC,
                                .resolve = KERN_NO_MAGICLINKS | BENEATH | NO_XDEV};

    return kern_openat2(root, path[1] ? path + 1 : ".", &how);
}

/* The last component; "." for the root. */
static const char *volume_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash[1] ? slash + 1 : ".";
}

static int open_parent(int root, const char *path)
{
    char dir[VOLUME_PATH_MAX + 1];
    size_t len = (size_t)(strrchr(path, '/') - path);

    (void)snprintf(dir, sizeof dir, "%.*s", len > 0 ? (int)len : 1, path);
    return open_beneath(root, dir, O_PATH | O_DIRECTORY);
}

/* ---- looking ---- */

static int read_volume_entry(struct arena *a, int dir, const char *name, struct volume_entry *ret)
{
    char target[VOLUME_PATH_MAX + 1];

    if (fstatat(dir, name, &ret->st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
        return -errno;
    ret->target = NULL;
    if (!S_ISLNK(ret->st.st_mode))
        return 0;
    ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
    if (n < 0)
        return -errno;
    ret->target = arena_str(a, str_n(target, (size_t)n)).p;
    return ret->target ? 0 : -ENOMEM;
}

int volume_stat(struct arena *a, int root, const char *path, struct volume_entry *ret,
                struct err *e)
{
    auto_close int fd = open_beneath(root, path, O_PATH | O_NOFOLLOW);
    int r = fd < 0 ? fd : read_volume_entry(a, fd, "", ret);

    ret->path = path;
    return r < 0 ? fail_path(e, r, path) : 0;
}

static struct volume_entry *add_volume_entry(struct arena *a, struct volume_entries *list)
{
    if (list->n == list->cap) {
        size_t cap = list->cap > 0 ? list->cap * 2 : 32;
        struct volume_entry *items = arena_zalloc(a, cap, sizeof *items);
        if (!items)
            return NULL;
        if (list->n > 0)
            memcpy(items, list->items, list->n * sizeof *items);
        list->items = items;
        list->cap = cap;
    }
    return &list->items[list->n++];
}

struct volume_listing {
    struct arena *arena;
    struct volume_entries *list;
    int root;
};

static int list_volume_dir(const struct volume_listing *l, const char *path, unsigned depth);

static int list_one(const struct volume_listing *l, int dir, const char *path, const char *name,
                    unsigned depth)
{
    struct volume_entry entry = {0};
    struct str full = arena_printf(l->arena, "%s/%s", path[1] ? path : "", name);
    int r = full.p ? read_volume_entry(l->arena, dir, name, &entry) : -ENOMEM;

    if (r == -ENOENT) /* removed meanwhile */
        return 0;
    if (r == 0 && l->list->n == VOLUME_LIST_MAX)
        r = -E2BIG;
    if (r < 0)
        return r;
    struct volume_entry *to = add_volume_entry(l->arena, l->list);
    if (!to)
        return -ENOMEM;
    entry.path = full.p;
    *to = entry;
    return S_ISDIR(entry.st.st_mode) && depth > 1 ? list_volume_dir(l, full.p, depth - 1) : 0;
}

static int list_volume_dir(const struct volume_listing *l, const char *path, unsigned depth)
{
    int fd = open_beneath(l->root, path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int r = fd < 0 ? fd : dir ? 0 : -errno;

    if (fd >= 0 && !dir)
        (void)close(fd);
    for (const struct dirent *d; dir && r == 0 && (d = readdir(dir));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            r = list_one(l, fd, path, d->d_name, depth);
    if (dir)
        (void)closedir(dir);
    return r;
}

int volume_refuse_list(struct err *e)
{
    return err_set(e, -E2BIG,
                   "more than %d entries, or very long paths: list a directory further down, or "
                   "less deep",
                   VOLUME_LIST_MAX);
}

/* NOLINTNEXTLINE(readability-function-size): what goes in and what comes out */
int volume_list(struct arena *a, int root, const char *path, unsigned depth,
                struct volume_entries *ret, struct err *e)
{
    struct volume_listing l = {.arena = a, .list = ret, .root = root};
    int r = list_volume_dir(&l, path, depth);

    if (r == -E2BIG || r == -ENOMEM)
        return volume_refuse_list(e);
    if (r == -ENOTDIR)
        return err_set(e, -EINVAL, "path '%s' is not a directory", path);
    return r < 0 ? fail_path(e, r, path) : 0;
}

/* ---- changing ---- */

static uid_t uid_or(int64_t id, uid_t fallback)
{
    return id >= 0 ? (uid_t)id : fallback;
}

int volume_change(int root, const char *path, const struct volume_meta *m, struct err *e)
{
    auto_close int fd = open_beneath(root, path, O_PATH | O_NOFOLLOW);
    char self[40];
    int r = fd < 0 ? fd : 0;

    if (r == 0 && (m->uid >= 0 || m->gid >= 0) &&
        fchownat(fd, "", uid_or(m->uid, (uid_t)-1), uid_or(m->gid, (gid_t)-1), AT_EMPTY_PATH) < 0)
        r = -errno;
    (void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (r == 0 && m->mode >= 0 && chmod(self, (mode_t)m->mode & MODE_BITS) < 0)
        r = -errno;
    if (r == -EOPNOTSUPP)
        return err_set(e, -EINVAL, "path '%s' is a symbolic link, which has no mode", path);
    return r < 0 ? fail_path(e, r, path) : 0;
}

static int remove_below(int dir, const char *name, unsigned depth);

static int remove_children(int dir, const char *name, unsigned depth)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *all = fd < 0 ? NULL : fdopendir(fd);
    int r = fd < 0 || !all ? -errno : 0;

    if (fd >= 0 && !all)
        (void)close(fd);
    for (const struct dirent *d; all && r == 0 && (d = readdir(all));)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            r = remove_below(fd, d->d_name, depth);
    if (all)
        (void)closedir(all);
    return r;
}

/* DEPTH bounds the descriptors and the stack. */
static int remove_below(int dir, const char *name, unsigned depth)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR)
        return -errno;
    if (depth == 0)
        return -ELOOP;
    int r = remove_children(dir, name, depth - 1);
    if (r == 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0)
        r = -errno;
    return r;
}

int volume_unlink(int root, const char *path, struct err *e)
{
    struct stat st;

    if (!path[1])
        return err_set(e, -EINVAL, "the root of a volume cannot be removed");
    auto_close int dir = open_parent(root, path);
    int r = dir < 0                                                            ? dir
            : fstatat(dir, volume_name_of(path), &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
                                                                               : 0;
    if (r == 0)
        r = remove_below(dir, volume_name_of(path), 4 * VOLUME_DEPTH_MAX);
    return r < 0 ? fail_path(e, r, path) : 0;
}

/* Owner and mode go through a descriptor: a sandbox can put a link in the place of the name. */
static int make_one(int dir, const char *name, const struct volume_meta *m)
{
    if (mkdirat(dir, name, DIR_MODE) < 0)
        return -errno;
    auto_close int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fchown(fd, uid_or(m->uid, OWNER), uid_or(m->gid, OWNER)) < 0 ||
        fchmod(fd, m->mode >= 0 ? (mode_t)m->mode & MODE_BITS : DIR_MODE) < 0)
        return -errno;
    return 0;
}

/* Everything above PATH that is missing. */
static int make_parents(int root, const char *path, const struct volume_meta *m)
{
    const struct volume_meta plain = {.uid = m->uid, .gid = m->gid, .mode = -1};
    char dir[VOLUME_PATH_MAX + 1];

    for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
        (void)snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
        auto_close int parent = open_parent(root, dir);
        int r = parent < 0 ? parent : make_one(parent, volume_name_of(dir), &plain);
        if (r < 0 && r != -EEXIST)
            return r;
    }
    return 0;
}

int volume_mkdir(int root, const char *path, const struct volume_meta *m, struct err *e)
{
    struct stat st;

    if (!path[1])
        return m->force ? 0 : fail_path(e, -EEXIST, path);
    int r = m->force ? make_parents(root, path, m) : 0;
    if (r < 0)
        return fail_path(e, r, path);
    auto_close int dir = open_parent(root, path);
    r = dir < 0 ? dir : make_one(dir, volume_name_of(path), m);
    if (r == -EEXIST && m->force &&
        fstatat(dir, volume_name_of(path), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return r < 0 ? fail_path(e, r, path) : 0;
}

/* ---- content ---- */

int volume_read(int root, const char *path, uint64_t *ret_size, struct err *e)
{
    /* Opening a pipe must not wait for a writer. */
    auto_close int fd = open_beneath(root, path, O_RDONLY | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return fail_path(e, fd, path);
    if (fstat(fd, &st) < 0)
        return fail_path(e, -errno, path);
    if (S_ISDIR(st.st_mode))
        return fail_path(e, -EISDIR, path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, -EINVAL, "path '%s' is not a regular file", path);
    *ret_size = (uint64_t)st.st_size;
    return take_fd(fd);
}

int volume_begin(int root, const char *path, const struct volume_meta *m, int *ret_dir,
                 struct err *e)
{
    struct stat st;
    auto_close int dir = open_parent(root, path);

    if (dir < 0)
        return fail_path(e, dir, path);
    if (fstatat(dir, volume_name_of(path), &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(st.st_mode))
            return fail_path(e, -EISDIR, path);
        if (!m->force)
            return fail_path(e, -EEXIST, path);
    }
    auto_close int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_path(e, -errno, path);
    *ret_dir = take_fd(dir);
    return take_fd(fd);
}

/* A name of its own first: only a rename can replace. */
static int link_over(int fd, int dir, const char *name)
{
    char digits[TEMP_DIGITS + 1], temp[TEMP_DIGITS + 8];

    id_hex(digits, TEMP_DIGITS);
    (void)snprintf(temp, sizeof temp, ".~%s", digits);
    if (linkat(fd, "", dir, temp, AT_EMPTY_PATH) < 0)
        return -errno;
    if (renameat(dir, temp, dir, name) == 0)
        return 0;
    int r = -errno;
    (void)unlinkat(dir, temp, 0);
    return r;
}

int volume_publish(int fd, int dir, const char *path, const struct volume_meta *m, struct err *e)
{
    int r = 0;

    if (fchown(fd, uid_or(m->uid, OWNER), uid_or(m->gid, OWNER)) < 0 ||
        fchmod(fd, m->mode >= 0 ? (mode_t)m->mode & MODE_BITS : FILE_MODE) < 0 || fsync(fd) < 0)
        r = -errno;
    if (r == 0 && m->force)
        r = link_over(fd, dir, volume_name_of(path));
    else if (r == 0 && linkat(fd, "", dir, volume_name_of(path), AT_EMPTY_PATH) < 0)
        r = -errno;
    return r < 0 ? fail_path(e, r, path) : 0;
}
