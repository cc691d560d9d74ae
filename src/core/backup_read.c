/* SPDX-License-Identifier: MIT */
/* Reading backups: see backup.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/tar_read.h"
#include "core/backup.h"
#include "sys/digest.h"
#include "sys/io.h"

enum { CHUNK = 256 << 10, HEAD_MAX = 1 << 20 };

DEFINE_CLEANUP(struct tar_reader *, tar_reader_free)

struct backup_reading {
    const char *dir; /* NULL: nothing is written */
    struct arena *arena;
    struct backup_info info;
    struct digest *digest;
    char name[BACKUP_NAME_MAX]; /* of the entry that is being read */
    int fd;                     /* of its file, or -1 */
    bool is_sums;
    bool is_closed;   /* the last entry was a list of sums */
    struct buf text;  /* of the entry, when it is a list of sums or the head */
    struct map found; /* name → its digest in hex, of the group that is open */
};

/* ---- names ---- */

/* Relative, without anything that leads elsewhere, and in a place that is known. */
static bool is_fit(struct str name)
{
    struct str rest = name;

    if (name.len == 0 || name.len >= BACKUP_NAME_MAX || name.p[0] == '/')
        return false;
    while (rest.p) {
        struct str part = str_cut(&rest, '/');
        if (part.len == 0 || str_is(part, ".") || str_is(part, ".."))
            return false;
    }
    return str_is(name, BACKUP_HEAD) || str_is(name, BACKUP_SUMS) ||
           str_starts(name, STR(BACKUP_STATE "/")) || str_starts(name, STR(BACKUP_WORKSPACES "/"));
}

static bool is_sums_name(struct str name)
{
    return str_is(name, BACKUP_SUMS) || str_is(name, BACKUP_WORKSPACES "/" BACKUP_SUMS);
}

/* ---- the head ---- */

static int take_head(struct backup_reading *g, struct err *e)
{
    const struct json *head = json_parse(g->arena, buf_str(&g->text), NULL, NULL);
    int64_t version = json_int(json_get(head, "version"), 0);

    if (!str_is(json_str(json_get(head, "format"), STR_NULL), BACKUP_FORMAT))
        return err_set(e, -EINVAL, "not a Tidepool backup");
    if (version != BACKUP_VERSION)
        return err_set(e, -EPROTONOSUPPORT,
                       "format version %lld is not supported; this program reads version %d",
                       (long long)version, BACKUP_VERSION);
    g->info.head = head;
    return 0;
}

/* ---- sums ---- */

static int check_line(struct backup_reading *g, struct str line, struct err *e)
{
    enum { HEX = 2 * DIGEST_SHA256_LEN };
    struct str name = str_skip(line, HEX + 2);

    if (line.len < HEX + 3)
        return err_set(e, -EINVAL, "it is damaged: its list of sums is malformed");
    char *sum auto_free = map_del(&g->found, name);
    if (!sum)
        return err_set(e, -EINVAL, "it is damaged: " STR_FMT " is missing", STR_ARG(name));
    if (!str_eq(str_slice(line, 0, HEX), str_of(sum)))
        return err_set(e, -EINVAL, "it is damaged: " STR_FMT " is not what was saved",
                       STR_ARG(name));
    return 0;
}

static int take_sums(struct backup_reading *g, struct err *e)
{
    struct str rest = buf_str(&g->text), name;
    size_t i = 0;

    while (rest.len > 0) {
        int r = check_line(g, str_cut(&rest, '\n'), e);
        if (r < 0)
            return r;
    }
    if (map_next(&g->found, &i, &name, NULL))
        return err_set(e, -EINVAL, "it is damaged: " STR_FMT " is in no list of sums",
                       STR_ARG(name));
    g->is_closed = true;
    return 0;
}

/* ---- entries ---- */

static int create_file(struct backup_reading *g, struct err *e)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", g->dir, g->name) >= (int)sizeof path)
        return err_sys(e, -ENAMETOOLONG, "%s", g->name);
    char *slash = strrchr(path, '/');
    *slash = 0;
    int r = io_mkdirs(path, 0700, e);
    *slash = '/';
    if (r < 0)
        return r;
    g->fd = io_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    return g->fd < 0 ? err_sys(e, g->fd, "create '%s'", path) : 0;
}

static int on_backup_entry(void *ctx, const struct tar_entry *t, struct err *e)
{
    struct backup_reading *g = ctx;
    bool is_first = g->info.n_files == 0;

    if (is_first != str_is(t->name, BACKUP_HEAD))
        return err_set(e, -EINVAL, "not a Tidepool backup");
    if (t->type != TAR_FILE || !is_fit(t->name))
        return err_set(e, -EINVAL, "it is damaged: an entry called " STR_FMT " has no place in it",
                       STR_ARG(str_slice(t->name, 0, 100)));
    if (g->info.n_files >= BACKUP_MAX_FILES || map_get(&g->found, t->name))
        return err_set(e, -EINVAL, "it is damaged: " STR_FMT " comes twice, or there are too many",
                       STR_ARG(str_slice(t->name, 0, 100)));
    (void)snprintf(g->name, sizeof g->name, STR_FMT, STR_ARG(t->name));
    g->is_sums = is_sums_name(t->name);
    g->is_closed = false;
    g->info.n_files++;
    g->info.bytes += t->size;
    buf_clear(&g->text);
    bool has_file = g->dir && !is_first && !g->is_sums;
    return has_file ? create_file(g, e) : 0;
}

static int on_backup_entry_data(void *ctx, const char *p, size_t len, struct err *e)
{
    struct backup_reading *g = ctx;
    int r = 0;

    digest_add(g->digest, p, len);
    if (g->is_sums || strcmp(g->name, BACKUP_HEAD) == 0)
        r = buf_add(&g->text, p, len);
    else if (g->fd >= 0)
        r = io_write_all(g->fd, p, len);
    return r < 0 ? err_sys(e, r, "%s", g->name) : 0;
}

static int close_backup_file(struct backup_reading *g, struct err *e)
{
    int fd = take_fd(g->fd);

    if (fd >= 0 && close(fd) < 0)
        return err_sys(e, -errno, "write '%s'", g->name);
    return 0;
}

static int on_backup_entry_end(void *ctx, struct err *e)
{
    struct backup_reading *g = ctx;
    unsigned char sum[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];
    int r = close_backup_file(g, e);

    digest_end(g->digest, sum);
    if (r < 0)
        return r;
    if (g->is_sums)
        return take_sums(g, e);
    enc_hex(hex, sum, sizeof sum);
    char *copy = mem_strdup(hex);
    r = copy ? map_put(&g->found, str_of(g->name), copy, NULL) : -ENOMEM;
    if (r < 0) {
        free(copy);
        return err_sys(e, r, "backup");
    }
    return strcmp(g->name, BACKUP_HEAD) == 0 ? take_head(g, e) : 0;
}

/* ---- the file ---- */

static int feed_all_backup(int fd, struct tar_reader *t, struct err *e)
{
    char *chunk auto_free = mem_alloc(CHUNK);
    ssize_t n;

    if (!chunk)
        return err_sys(e, -ENOMEM, "backup");
    while ((n = io_read(fd, chunk, CHUNK)) > 0) {
        int r = tar_reader_feed(t, chunk, (size_t)n, e);
        if (r < 0)
            return r;
    }
    return n < 0 ? err_sys(e, (int)n, "read") : 0;
}

/* Blocks of zeroes at its end: an archive that was cut off between two entries has none. */
static bool has_end(int fd)
{
    static const char zeros[BACKUP_END_LEN];
    char end[BACKUP_END_LEN];
    off_t size = lseek(fd, 0, SEEK_END);

    return size % TAR_BLOCK == 0 && size >= BACKUP_END_LEN &&
           pread(fd, end, sizeof end, size - BACKUP_END_LEN) == BACKUP_END_LEN &&
           memcmp(end, zeros, sizeof end) == 0;
}

static int read_all_backup(struct backup_reading *g, int fd, struct err *e)
{
    static const struct tar_sink sink = {on_backup_entry, on_backup_entry_data,
                                         on_backup_entry_end};
    struct tar_reader *t auto_(tar_reader_free) = tar_reader_new(&sink, g);

    g->digest = digest_new();
    if (!t || !g->digest)
        return err_sys(e, -ENOMEM, "backup");
    bool is_whole = has_end(fd);
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_sys(e, -errno, "read");
    int r = feed_all_backup(fd, t, e);
    if (r == 0 && (!is_whole || !g->is_closed || tar_reader_finish(t, NULL) < 0))
        r = err_set(e, -EINVAL, "it is cut short");
    return r;
}

static void reading_done(struct backup_reading *g)
{
    void *value;

    for (size_t i = 0; map_next(&g->found, &i, NULL, &value);)
        free(value);
    map_done(&g->found);
    buf_done(&g->text);
    digest_free(g->digest);
    if (g->fd >= 0)
        (void)close(g->fd);
}

int backup_read(const char *path, const char *dir, struct arena *a, struct backup_info *ret,
                struct err *e)
{
    struct backup_reading g = {.dir = dir, .arena = a, .fd = -1};
    auto_close int fd = io_open(path, O_RDONLY, 0);

    if (fd < 0)
        return err_sys(e, fd, "open '%s'", path);
    map_init(&g.found, BACKUP_MAX_FILES);
    buf_init(&g.text, BACKUP_SUMS_MAX);
    int r = read_all_backup(&g, fd, e);
    if (r == 0)
        *ret = g.info;
    reading_done(&g);
    return r < 0 ? err_ctx(e, r, "'%s'", path) : 0;
}
