/* SPDX-License-Identifier: MIT */
#include "local/archive/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/tar_write.h"
#include "local/archive/names.h"
#include "local/archive/pgzip.h"
#include "sys/io.h"

enum { CHUNK_BYTES = 128 << 10, HEADER_MAX = 16 << 10, NAMES_MAX = 256 << 20 };

struct pack {
    const char *root;
    int root_fd;
    struct pgzip *gzip;
    struct buf header;
    char *chunk;
    struct err *e;
    unsigned depth;
    char path[TREE_PATH_MAX]; /* "./a/b" of the entry under way */
    size_t len;
};

static int flush_header(struct pack *p)
{
    if (!buf_ok(&p->header))
        return err_set(p->e, -ENOMEM, "out of memory");
    int r = pgzip_feed(p->gzip, p->header.p, p->header.len);
    buf_clear(&p->header);
    return r;
}

static int pack_entry(struct pack *p, enum tar_type type, const struct stat *st, struct str link)
{
    const struct tar_entry t = {
        .type = type,
        .name = str_n(p->path, p->len),
        .link = link,
        .size = type == TAR_FILE ? (uint64_t)st->st_size : 0,
        .mode = st->st_mode & 0777,
        .mtime_s = st->st_mtime,
    };

    (void)tar_put_entry(&p->header, &t);
    return flush_header(p);
}

/* ---- kinds ---- */

/* As many bytes as the header says, whatever happens to the file meanwhile. */
static int put_pack_data(struct pack *p, int fd, uint64_t size)
{
    uint64_t left = size;
    bool is_short = false;

    while (left > 0) {
        size_t want = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        ssize_t n = is_short ? 0 : io_read(fd, p->chunk, want);
        if (n <= 0) {
            is_short = true;
            n = (ssize_t)want;
            memset(p->chunk, 0, want);
        }
        int r = pgzip_feed(p->gzip, p->chunk, (size_t)n);
        if (r < 0)
            return r;
        left -= (uint64_t)n;
    }
    (void)tar_put_padding(&p->header, size);
    return flush_header(p);
}

static int put_pack_file(struct pack *p, int dir_fd, const char *name)
{
    auto_close int fd = tree_open(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    int r = pack_entry(p, TAR_FILE, &st, STR(""));
    return r < 0 ? r : put_pack_data(p, fd, (uint64_t)st.st_size);
}

static int put_link(struct pack *p, int dir_fd, const char *name, const struct stat *st)
{
    char target[TREE_PATH_MAX], relative[TREE_PATH_MAX];
    ssize_t n = readlinkat(dir_fd, name, target, sizeof target - 1);
    const char *path = p->path + 2;

    if (n <= 0 || names_target(p->root, path, str_n(target, (size_t)n), relative) < 0)
        return 0;
    /* One that is absolute is not followed by the kernel's rules; by its words it stays inside. */
    if (target[0] != '/' && !tree_is_inside(p->root_fd, path))
        return 0;
    return pack_entry(p, TAR_SYMLINK, st, str_of(relative));
}

static int put_pack_dir(struct pack *p, int fd, const struct stat *st);

static int put_any(struct pack *p, int dir_fd, const char *name)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0; /* it went meanwhile */
    if (S_ISREG(st.st_mode))
        return put_pack_file(p, dir_fd, name);
    if (S_ISLNK(st.st_mode))
        return put_link(p, dir_fd, name, &st);
    if (!S_ISDIR(st.st_mode))
        return 0;
    auto_close int fd = tree_open(dir_fd, name, O_RDONLY | O_DIRECTORY);
    return fd < 0 ? 0 : put_pack_dir(p, fd, &st);
}

/* ---- directories ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in FD, in the order of their bytes. NULL without memory. */
static const char **list_dir_names(struct arena *a, int fd, size_t *ret_n)
{
    DIR *dir = NULL;
    const char **names = arena_zalloc(a, 16, sizeof *names);
    size_t n = 0, cap = 16;
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (own >= 0 && !(dir = fdopendir(own)))
        (void)close(own);
    for (struct dirent *d; dir && names && (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        names = arena_grow(a, names, n, &cap, sizeof *names);
        if (names && !(names[n++] = arena_strdup(a, d->d_name)))
            names = NULL;
    }
    if (dir)
        (void)closedir(dir);
    if (names)
        qsort(names, n, sizeof *names, compare_names);
    *ret_n = n;
    return names;
}

static int put_pack_dir(struct pack *p, int fd, const struct stat *st)
{
    struct arena names auto_arena;
    size_t n = 0, len = p->len;

    arena_init(&names, NAMES_MAX);
    if (p->depth >= TREE_DEPTH_MAX || len + 1 + TREE_NAME_MAX + 1 > sizeof p->path)
        return err_set(p->e, -ELOOP, "'%.200s…' is too deep", p->path);
    p->path[p->len++] = '/';
    p->path[p->len] = '\0';
    int r = pack_entry(p, TAR_DIRECTORY, st, STR(""));
    const char **items = list_dir_names(&names, fd, &n);
    if (!items && r == 0)
        r = err_set(p->e, -ENOMEM, "out of memory");
    p->depth++;
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (p->depth == 1 && strcmp(items[i], TREE_OWN) == 0)
            continue;
        p->len = len + 1;
        p->len += (size_t)snprintf(p->path + p->len, sizeof p->path - p->len, "%s", items[i]);
        r = put_any(p, fd, items[i]);
    }
    p->depth--;
    p->len = len;
    p->path[len] = '\0';
    return r;
}

int pack_tree(const char *root, deflate_sink *sink, void *ctx, struct err *e)
{
    auto_close int fd = io_open(root, O_RDONLY | O_DIRECTORY, 0);
    struct stat st;
    struct pack *p = mem_zalloc(1, sizeof *p);

    if (fd < 0 || fstat(fd, &st) < 0) {
        free(p);
        return err_sys(e, fd < 0 ? fd : -errno, "'%s'", root);
    }
    int r = p ? 0 : -ENOMEM;
    if (p) {
        p->root = root;
        p->root_fd = fd;
        p->e = e;
        buf_init(&p->header, HEADER_MAX);
        p->chunk = mem_alloc(CHUNK_BYTES);
        p->gzip = pgzip_new(sink, ctx);
        p->path[0] = '.';
        p->len = 1;
        r = p->chunk && p->gzip ? put_pack_dir(p, fd, &st) : -ENOMEM;
        if (r == 0 && tar_put_end(&p->header) == 0)
            r = flush_header(p);
        if (r == 0)
            r = pgzip_finish(p->gzip);
        buf_done(&p->header);
        free(p->chunk);
        pgzip_free(p->gzip);
        free(p);
    }
    if (r == -ENOMEM && e && !e->code)
        (void)err_set(e, r, "out of memory");
    return r;
}
