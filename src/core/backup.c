/* SPDX-License-Identifier: MIT */
/* Writing backups: see backup.h. */
#include "core/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/mem.h"
#include "base/tar_write.h"
#include "sys/digest.h"
#include "sys/io.h"

enum { PIECE = 256 << 10, DEPTH_MAX = 16 };

struct backup_item {
    char *name, *path; /* PATH NULL: TEXT is the content */
    char *text;
    size_t len;
    bool is_needed;
};

enum step { NEXT_ITEM, IN_FILE, SUMS, OVER };

struct backup {
    char *sums_name;
    struct backup_item *items;
    size_t n, cap, at;
    uint64_t size;
    /* Of the writing. */
    enum step step;
    int fd;
    uint64_t entry_size, left;
    struct digest *digest;
    struct buf sums;
};

struct backup *backup_new(const char *sums)
{
    struct backup *b = mem_zalloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->fd = -1;
    b->sums_name = mem_strdup(sums);
    b->digest = digest_new();
    buf_init(&b->sums, BACKUP_SUMS_MAX);
    if (b->sums_name && b->digest)
        return b;
    backup_free(b);
    return NULL;
}

void backup_free(struct backup *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n; i++) {
        free(b->items[i].name);
        free(b->items[i].path);
        free(b->items[i].text);
    }
    free(b->items);
    free(b->sums_name);
    digest_free(b->digest);
    buf_done(&b->sums);
    if (b->fd >= 0)
        (void)close(b->fd);
    free(b);
}

uint64_t backup_size(const struct backup *b)
{
    return b->size;
}

/* ---- the list ---- */

static struct backup_item *new_backup_item(struct backup *b)
{
    if (b->n == b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 64;
        struct backup_item *more = mem_realloc(b->items, cap * sizeof *more);
        if (!more)
            return NULL;
        b->items = more;
        b->cap = cap;
    }
    b->items[b->n] = (struct backup_item){0};
    return &b->items[b->n];
}

static int add_backup_bytes(struct backup *b, const struct backup_item *args)
{
    if (b->n >= BACKUP_MAX_FILES)
        return -E2BIG;
    struct backup_item *x = new_backup_item(b);
    if (!x)
        return -ENOMEM;
    x->name = mem_strdup(args->name);
    x->path = args->path ? mem_strdup(args->path) : NULL;
    x->text = args->text ? mem_strndup(args->text, args->len) : NULL;
    x->len = args->len;
    x->is_needed = args->is_needed;
    b->n++; /* so that it is freed */
    bool is_whole = x->name && (!args->path || x->path) && (!args->text || x->text);
    return is_whole ? 0 : -ENOMEM;
}

int backup_add_text(struct backup *b, const char *name, struct str text)
{
    const struct backup_item x = {.name = (char *)name, .text = (char *)text.p, .len = text.len};

    b->size += text.len;
    return add_backup_bytes(b, &x);
}

int backup_add(struct backup *b, const char *name, const char *path, bool is_needed)
{
    const struct backup_item x = {
        .name = (char *)name, .path = (char *)path, .is_needed = is_needed};
    struct stat st;

    if (stat(path, &st) == 0)
        b->size += (uint64_t)st.st_size;
    return add_backup_bytes(b, &x);
}

static int add_below(struct backup *b, const char *name, const char *dir, int depth);

static int add_backup_entry(struct backup *b, const char *name, const char *path, int depth)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISDIR(st.st_mode))
        return add_below(b, name, path, depth + 1);
    return S_ISREG(st.st_mode) ? backup_add(b, name, path, false) : 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the folders, up to DEPTH_MAX */
static int add_below(struct backup *b, const char *name, const char *dir, int depth)
{
    char own[BACKUP_NAME_MAX], path[PATH_MAX];
    struct dirent *d;
    int r = 0;

    if (depth > DEPTH_MAX)
        return -ELOOP;
    DIR *all = opendir(dir);
    if (!all)
        return errno == ENOENT ? 0 : -errno;
    while (r == 0 && (d = readdir(all))) {
        if (d->d_name[0] == '.')
            continue;
        if (snprintf(own, sizeof own, "%s/%s", name, d->d_name) >= (int)sizeof own ||
            snprintf(path, sizeof path, "%s/%s", dir, d->d_name) >= (int)sizeof path)
            r = -ENAMETOOLONG;
        else
            r = add_backup_entry(b, own, path, depth);
    }
    (void)closedir(all);
    return r;
}

int backup_add_tree(struct backup *b, const char *name, const char *dir, struct err *e)
{
    int r = add_below(b, name, dir, 0);

    return r < 0 ? err_sys(e, r, "'%s'", dir) : 0;
}

/* ---- the archive ---- */

static int put_backup_head(struct backup *b, const char *name, uint64_t size, struct buf *out)
{
    const struct tar_entry t = {.type = TAR_FILE, .name = str_of(name), .size = size, .mode = 0600};

    b->entry_size = size;
    return tar_put_entry(out, &t);
}

static int put_backup_data(struct backup *b, struct buf *out, const void *p, size_t len)
{
    digest_add(b->digest, p, len);
    return buf_add(out, p, len);
}

/* The end of an entry: padding, and its line in the sums. */
static int end_entry(struct backup *b, const char *name, struct buf *out)
{
    unsigned char sum[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];

    digest_end(b->digest, sum);
    enc_hex(hex, sum, sizeof sum);
    (void)tar_put_padding(out, b->entry_size);
    (void)buf_printf(&b->sums, "%s  %s\n", hex, name);
    b->step = NEXT_ITEM;
    b->at++;
    return buf_ok(&b->sums) ? out->error : b->sums.error;
}

static int begin_file(struct backup *b, const struct backup_item *x, struct buf *out, struct err *e)
{
    struct stat st;

    b->fd = io_open(x->path, O_RDONLY | O_NOFOLLOW, 0);
    if (b->fd == -ENOENT && !x->is_needed) {
        b->fd = -1;
        b->at++;
        return 0;
    }
    if (b->fd < 0 || fstat(b->fd, &st) < 0)
        return err_sys(e, b->fd < 0 ? b->fd : -errno, "open '%s'", x->path);
    b->left = (uint64_t)st.st_size;
    b->step = IN_FILE;
    return put_backup_head(b, x->name, b->left, out);
}

/* As long as it was when it was opened: what has become longer is cut, what has become shorter
 * cannot be told. */
static int put_backup_file(struct backup *b, const struct backup_item *x, struct buf *out,
                           struct err *e)
{
    size_t want = b->left < PIECE ? (size_t)b->left : PIECE;
    int r = buf_reserve(out, want);

    if (r < 0)
        return err_sys(e, r, "backup");
    ssize_t n = want > 0 ? io_read(b->fd, out->p + out->len, want) : 0;
    if (n < 0 || (n == 0 && want > 0))
        return err_sys(e, n < 0 ? (int)n : -EIO, "read '%s'", x->path);
    digest_add(b->digest, out->p + out->len, (size_t)n);
    out->len += (size_t)n;
    b->left -= (uint64_t)n;
    if (b->left > 0)
        return 0;
    (void)close(take_fd(b->fd));
    return end_entry(b, x->name, out);
}

static int put_sums(struct backup *b, struct buf *out)
{
    (void)put_backup_head(b, b->sums_name, b->sums.len, out);
    (void)buf_add_str(out, buf_str(&b->sums));
    (void)tar_put_padding(out, b->sums.len);
    b->step = OVER;
    return tar_put_end(out);
}

/* One step. 0 or -errno. */
static int advance(struct backup *b, struct buf *out, struct err *e)
{
    if (b->at == b->n)
        return put_sums(b, out);
    const struct backup_item *x = &b->items[b->at];
    if (b->step == IN_FILE)
        return put_backup_file(b, x, out, e);
    if (x->path)
        return begin_file(b, x, out, e);
    (void)put_backup_head(b, x->name, x->len, out);
    (void)put_backup_data(b, out, x->text, x->len);
    return end_entry(b, x->name, out);
}

int backup_next(struct backup *b, struct buf *out, struct err *e)
{
    size_t begin = out->len;

    while (b->step != OVER && out->len - begin < PIECE) {
        int r = advance(b, out, e);
        if (r == 0)
            r = out->error;
        if (r < 0)
            return e && e->code ? r : err_sys(e, r, "backup");
    }
    return b->step != OVER;
}
