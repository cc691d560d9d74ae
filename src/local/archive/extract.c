/* SPDX-License-Identifier: MIT */
#include "local/archive/extract.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/gunzip.h"
#include "base/mem.h"
#include "base/tar_read.h"
#include "local/archive/names.h"
#include "local/archive/writer.h"
#include "sys/io.h"

enum {
    LINKS_MAX = 64 << 20, /* bytes of the names of symbolic links */
    UMASK = 022           /* of this program: see main.c */
};

/* Below ROOT: TREE_OWN/new while it is written, TREE_OWN/commit when it is whole, TREE_OWN/old for
 * what it replaces. */
struct extract {
    const char *root;
    int root_fd, own_fd, new_fd;
    struct gunzip *gunzip;
    struct tar_reader *tar;
    struct err *e; /* of the call under way */
    uint64_t n_packed, n_plain, n_files_bytes;
    struct extract_limits limits;
    uint64_t n_entries;
    struct buf links; /* names, a NUL behind each */

    struct writer *writer;
    /* The directory of the last entry, which is mostly that of the next. */
    int dir_fd;
    char dir[TREE_PATH_MAX], path[TREE_PATH_MAX];
};

/* ---- places ---- */

static int fail_extract(struct extract *x, int code, const char *what)
{
    return err_sys(x->e, code, "'%s': %s", x->path, what);
}

static int refuse_entry(struct extract *x, const char *why)
{
    return err_set(x->e, -EINVAL, "'%s': %s", x->path, why);
}

/* Makes PATH below new_fd, and what is above it. */
static int make_extract_dirs(struct extract *x, const char *path)
{
    char part[TREE_PATH_MAX];

    for (size_t i = 0; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        char *name = strrchr(part, '/');
        if (name)
            *name++ = '\0';
        auto_close int above = tree_open(x->new_fd, name ? part : "", O_PATH | O_DIRECTORY);
        if (above < 0)
            return above;
        if (mkdirat(above, name ? name : part, 0755) < 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

/* The directory that x->path is in; it is made when the archive does not name it. */
static int open_extract_dir(struct extract *x, const char **ret_name)
{
    char dir[TREE_PATH_MAX] = "";
    const char *slash = strrchr(x->path, '/');

    if (slash) {
        memcpy(dir, x->path, (size_t)(slash - x->path));
        dir[slash - x->path] = '\0';
    }
    *ret_name = slash ? slash + 1 : x->path;
    if (x->dir_fd >= 0 && strcmp(dir, x->dir) == 0)
        return 0;
    if (x->dir_fd >= 0)
        (void)close(take_fd(x->dir_fd));
    x->dir_fd = tree_open(x->new_fd, dir, O_PATH | O_DIRECTORY);
    if (x->dir_fd == -ENOENT) {
        int r = make_extract_dirs(x, dir);
        x->dir_fd = r < 0 ? r : tree_open(x->new_fd, dir, O_PATH | O_DIRECTORY);
    }
    if (x->dir_fd == -ELOOP || x->dir_fd == -ENOTDIR || x->dir_fd == -EXDEV)
        return refuse_entry(x, "its directory is a link or a file");
    if (x->dir_fd < 0)
        return fail_extract(x, x->dir_fd, "its directory");
    memcpy(x->dir, dir, sizeof dir);
    return 0;
}

/* ---- entries ---- */

static void set_time(int fd, const char *name, int64_t mtime_s)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = mtime_s}};

    (void)utimensat(fd, name, times, AT_SYMLINK_NOFOLLOW);
}

/* A later entry of the same name is the one that counts. */
static int make_entry_room(struct extract *x, const char *name)
{
    if (unlinkat(x->dir_fd, name, 0) == 0 || errno == ENOENT)
        return 0;
    return refuse_entry(x, "is a directory and something else");
}

/* With as few system calls as it can: archives have many of them. */
static int add_extracted_file(struct extract *x, const struct tar_entry *t, const char *name)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    mode_t mode = (t->mode & 0777) | 0600;

    int fd = openat(x->dir_fd, name, flags, mode);
    if (fd < 0 && errno == EEXIST) {
        int r = make_entry_room(x, name);
        if (r < 0)
            return r;
        fd = openat(x->dir_fd, name, flags, mode);
    }
    if (fd < 0)
        return fail_extract(x, -errno, "make");
    if (mode & UMASK)
        (void)fchmod(fd, mode);
    writer_begin(x->writer, fd, x->path, t->mtime_s);
    return 0;
}

static int add_extract_dir(struct extract *x, const struct tar_entry *t, const char *name)
{
    struct stat st;

    if (mkdirat(x->dir_fd, name, 0700) < 0 && errno != EEXIST)
        return fail_extract(x, -errno, "make");
    if (fstatat(x->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
        return refuse_entry(x, "is a directory and something else");
    (void)fchmodat(x->dir_fd, name, (t->mode & 0777) | 0700, 0);
    return 0;
}

static int add_symlink(struct extract *x, const struct tar_entry *t, const char *name)
{
    char target[TREE_PATH_MAX];

    if (names_target(x->root, x->path, t->link, target) < 0)
        return refuse_entry(x, "the link leads out of the workspace");
    if (symlinkat(target, x->dir_fd, name) < 0)
        return fail_extract(x, -errno, "make");
    if (buf_add(&x->links, x->path, strlen(x->path) + 1) < 0)
        return refuse_entry(x, "too many links");
    set_time(x->dir_fd, name, t->mtime_s);
    return 0;
}

static int add_hard_link(struct extract *x, const struct tar_entry *t, const char *name)
{
    char target[TREE_PATH_MAX];
    struct stat st;

    if (names_clean(t->link, target, x->e) < 0)
        return refuse_entry(x, "the link leads out of the workspace");
    char *slash = strrchr(target, '/');
    const char *base = slash ? slash + 1 : target;
    if (slash)
        *slash = '\0';
    auto_close int fd = tree_open(x->new_fd, slash ? target : "", O_PATH | O_DIRECTORY);
    if (fd < 0 || fstatat(fd, base, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return refuse_entry(x, "is a link to something that is not an earlier file of the archive");
    return linkat(fd, base, x->dir_fd, name, 0) < 0 ? fail_extract(x, -errno, "link") : 0;
}

static int extract_entry(void *ctx, const struct tar_entry *t, struct err *e)
{
    struct extract *x = ctx;
    const char *name;

    x->e = e;
    if (++x->n_entries > x->limits.max_entries)
        return err_set(e, -EINVAL, "the archive has more than %llu entries",
                       (unsigned long long)x->limits.max_entries);
    int r = names_clean(t->name, x->path, e);
    if (r < 0)
        return r;
    x->n_files_bytes += t->size;
    if (t->size > x->limits.max_bytes || x->n_files_bytes > x->limits.max_bytes)
        return err_set(e, -EINVAL, "the archive unpacks to more than %llu bytes",
                       (unsigned long long)x->limits.max_bytes);
    if (!x->path[0])
        return t->type == TAR_DIRECTORY ? 0 : refuse_entry(x, "the entry has no name");
    r = open_extract_dir(x, &name);
    if (r == 0 && t->type != TAR_DIRECTORY && t->type != TAR_FILE)
        r = make_entry_room(x, name);
    if (r < 0)
        return r;
    switch (t->type) {
    case TAR_FILE: return add_extracted_file(x, t, name);
    case TAR_DIRECTORY: return add_extract_dir(x, t, name);
    case TAR_SYMLINK: return add_symlink(x, t, name);
    case TAR_HARD_LINK: return add_hard_link(x, t, name);
    case TAR_CHAR_DEVICE:
    case TAR_BLOCK_DEVICE:
    case TAR_PIPE: break;
    }
    return refuse_entry(x, "is of an unknown kind");
}

static int on_file_data(void *ctx, const char *p, size_t len, struct err *e)
{
    struct extract *x = ctx;

    return writer_data(x->writer, p, len, e);
}

static int on_file_end(void *ctx, struct err *e)
{
    struct extract *x = ctx;

    return writer_end(x->writer, e);
}

/* ---- bytes ---- */

static int on_extract_plain(void *ctx, const char *p, size_t len)
{
    struct extract *x = ctx;

    x->n_plain += len;
    if (x->n_plain > EXTRACT_RATIO_FROM && x->n_plain / EXTRACT_RATIO_MAX > x->n_packed)
        return err_set(x->e, -EINVAL, "the archive unpacks to more than %d times its size",
                       EXTRACT_RATIO_MAX);
    return tar_reader_feed(x->tar, p, len, x->e);
}

static int explain_extract(struct extract *x, int r, struct err *e)
{
    const char *why = gunzip_reason(x->gunzip);

    if (r < 0 && why[0])
        return err_set(e, -EINVAL, "not a gzip file, or damaged: %s", why);
    if (r < 0 && e && !e->code)
        return err_sys(e, r, "unpack");
    return r;
}

int extract_feed(struct extract *x, const void *p, size_t len, struct err *e)
{
    x->e = e;
    x->n_packed += len;
    return explain_extract(x, gunzip_feed(x->gunzip, p, len), e);
}

uint64_t extract_n_entries(const struct extract *x)
{
    return x->n_entries;
}

/* ---- the end ---- */

/* Links that are harmless by their words may lead out through others. */
static int check_links(struct extract *x)
{
    for (struct str rest = buf_str(&x->links); rest.len > 0;) {
        struct str name = str_cut(&rest, '\0');
        if (!tree_is_inside(x->new_fd, name.p))
            return err_set(x->e, -EINVAL, "'%s': the link leads out of the workspace", name.p);
    }
    return 0;
}

/* Moves what TREE_OWN/commit has to its places and removes the rest. */
static int commit_extracted(int root_fd, int own_fd)
{
    auto_close int from = tree_open(own_fd, "commit", O_RDONLY | O_DIRECTORY);

    if (from < 0)
        return from;
    if (mkdirat(own_fd, "old", 0700) < 0 && errno != EEXIST)
        return -errno;
    auto_close int old = tree_open(own_fd, "old", O_RDONLY | O_DIRECTORY);
    return old < 0 ? old : tree_merge(from, root_fd, old);
}

int extract_commit(struct extract *x, struct err *e)
{
    x->e = e;
    int r = explain_extract(x, gunzip_finish(x->gunzip), e);
    if (r == 0)
        r = tar_reader_finish(x->tar, e);
    if (r == 0)
        r = check_links(x);
    if (r == 0)
        r = writer_finish(x->writer, e);
    if (r < 0)
        return r;
    if (renameat(x->own_fd, "new", x->own_fd, "commit") < 0)
        return err_sys(e, -errno, "commit");
    r = commit_extracted(x->root_fd, x->own_fd);
    return r < 0 ? err_sys(e, r, "put the files in place") : 0;
}

void extract_free(struct extract *x)
{
    if (!x)
        return;
    writer_free(x->writer);
    if (x->dir_fd >= 0)
        (void)close(x->dir_fd);
    if (x->new_fd >= 0)
        (void)close(x->new_fd);
    if (x->own_fd >= 0)
        (void)close(x->own_fd);
    if (x->root_fd >= 0) {
        (void)tree_remove(x->root_fd, TREE_OWN);
        (void)close(x->root_fd);
    }
    gunzip_free(x->gunzip);
    tar_reader_free(x->tar);
    buf_done(&x->links);
    free(x);
}

void extract_recover(const char *root)
{
    auto_close int root_fd = io_open(root, O_RDONLY | O_DIRECTORY, 0);
    auto_close int own_fd =
        root_fd < 0 ? root_fd : tree_open(root_fd, TREE_OWN, O_RDONLY | O_DIRECTORY);

    if (own_fd < 0)
        return;
    (void)commit_extracted(root_fd, own_fd);
    (void)tree_remove(root_fd, TREE_OWN);
}

static int open_places(struct extract *x, struct err *e)
{
    x->root_fd = io_open(x->root, O_RDONLY | O_DIRECTORY, 0);
    if (x->root_fd < 0)
        return err_sys(e, x->root_fd, "'%s'", x->root);
    (void)tree_remove(x->root_fd, TREE_OWN);
    if (mkdirat(x->root_fd, TREE_OWN, 0700) < 0)
        return err_sys(e, -errno, "'%s': make a directory", x->root);
    x->own_fd = tree_open(x->root_fd, TREE_OWN, O_RDONLY | O_DIRECTORY);
    if (x->own_fd < 0 || mkdirat(x->own_fd, "new", 0700) < 0)
        return err_sys(e, -errno, "'%s': make a directory", x->root);
    x->new_fd = tree_open(x->own_fd, "new", O_RDONLY | O_DIRECTORY);
    return x->new_fd < 0 ? err_sys(e, x->new_fd, "'%s'", x->root) : 0;
}

struct extract *extract_new(const char *root, const struct extract_limits *limits, struct err *e)
{
    static const struct tar_sink sink = {
        .entry = extract_entry, .data = on_file_data, .end = on_file_end};
    struct extract *x = mem_zalloc(1, sizeof *x);

    if (!x) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    x->root = root;
    x->limits = *limits;
    if (x->limits.max_entries == 0)
        x->limits.max_entries = EXTRACT_ENTRIES_MAX;
    x->root_fd = x->own_fd = x->new_fd = x->dir_fd = -1;
    buf_init(&x->links, LINKS_MAX);
    x->gunzip = gunzip_new(on_extract_plain, x);
    x->tar = tar_reader_new(&sink, x);
    x->writer = writer_new();
    if (!x->gunzip || !x->tar || !x->writer)
        (void)err_set(e, -ENOMEM, "out of memory");
    else if (open_places(x, e) == 0)
        return x;
    extract_free(x);
    return NULL;
}
