/* SPDX-License-Identifier: MIT */
/* GET /fs/list and DELETE /fs/entry. A directory is read in one go, which blocks the cell's other
 * requests for as long as that takes: about 3 µs for each entry. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "envd/fs.h"
#include "envd/removal.h"

enum { ENTRIES_MAX = 100000 };

struct entry {
    const char *name, *target; /* target: of a link */
    bool is_dir;
    mode_t mode;
    int64_t size, mtime_s;
};

struct dir_listing {
    struct entry *items;
    size_t n, cap;
};

/* ---- reading ---- */

static struct entry *add_dir_entry(struct dir_listing *l, struct arena *a)
{
    struct entry *items = arena_grow(a, l->items, l->n, &l->cap, sizeof *items);

    if (!items)
        return NULL;
    l->items = items;
    return &l->items[l->n++];
}

/* A link is described by what it leads to; one that leads nowhere by itself. */
static void describe_listed_entry(struct entry *it, struct arena *a, int dir)
{
    char target[PATH_MAX];
    struct stat st, behind;

    if (fstatat(dir, it->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlinkat(dir, it->name, target, sizeof target);
        it->target = n < 0 ? "" : arena_str(a, str_n(target, (size_t)n)).p;
        if (fstatat(dir, it->name, &behind, 0) == 0)
            st = behind;
        else
            st.st_size = 0;
    }
    it->is_dir = S_ISDIR(st.st_mode);
    it->mode = st.st_mode;
    it->size = it->is_dir ? 0 : st.st_size;
    it->mtime_s = st.st_mtim.tv_sec;
}

static int read_entries(DIR *dir, struct arena *a, struct dir_listing *l)
{
    for (struct dirent *d; (d = readdir(dir));) {
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (l->n == ENTRIES_MAX)
            return -EFBIG;
        struct entry *it = add_dir_entry(l, a);
        if (!it)
            return -ENOMEM;
        *it = (struct entry){.name = arena_strdup(a, d->d_name)};
        if (!it->name)
            return -ENOMEM;
        describe_listed_entry(it, a, dirfd(dir));
    }
    return 0;
}

static int by_entry_name(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;

    if (a->is_dir != b->is_dir)
        return a->is_dir ? -1 : 1;
    int r = strcasecmp(a->name, b->name);
    return r ? r : strcmp(a->name, b->name);
}

/* ---- answering ---- */

static void put_listed_entry(struct jw *w, struct arena *a, const char *dir, const struct entry *it)
{
    char time[CLOCK_RFC3339_MAX];
    struct str path = arena_printf(a, "%s%s%s", dir, dir[1] ? "/" : "", it->name);

    jw_object(w);
    jw_key(w, "name");
    jw_cstr(w, it->name);
    jw_key(w, "path");
    jw_str(w, path);
    jw_key(w, "isDir");
    jw_bool(w, it->is_dir);
    jw_key(w, "size");
    jw_int(w, it->size);
    jw_key(w, "mode");
    jw_str(w, arena_printf(a, "%04o", (unsigned)it->mode & 07777U));
    clock_rfc3339(time, it->mtime_s * 1000000);
    jw_key(w, "mtime");
    jw_cstr(w, time);
    jw_key(w, "isSymlink");
    jw_bool(w, it->target != NULL);
    if (it->target) {
        jw_key(w, "target");
        jw_cstr(w, it->target);
    }
    jw_end(w);
}

static void answer_listing(struct http_req *r, const char *path, const struct dir_listing *l)
{
    auto_buf struct buf b = BUF_INIT(SERVE_ANSWER_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "path");
    jw_cstr(&w, path);
    jw_key(&w, "entries");
    jw_array(&w);
    for (size_t i = 0; i < l->n; i++)
        put_listed_entry(&w, r->arena, path, &l->items[i]);
    jw_end(&w);
    serve_put_now(&w, "fetchedAt");
    jw_end(&w);
    serve_json(r, &b);
}

void fs_list(struct serve *s, struct http_req *r)
{
    const char *path = fs_query_path(s, r, false);
    struct dir_listing l = {0};
    struct stat st;

    (void)s;
    if (!path)
        return;
    auto_close int fd = fs_open(path);
    int code = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
    if (code < 0) {
        fs_fail(r, code == -EINVAL ? -ENOTDIR : code, path);
        return;
    }
    auto_closedir DIR *dir = fdopendir(fd);
    if (!dir) {
        fs_fail(r, -errno, path);
        return;
    }
    (void)take_fd(fd);
    code = read_entries(dir, r->arena, &l);
    if (code < 0) {
        serve_fail_text(r, code == -EFBIG ? 413 : 500, "the directory has too many entries: %s",
                        path);
        return;
    }
    if (l.n)
        qsort(l.items, l.n, sizeof *l.items, by_entry_name);
    answer_listing(r, path, &l);
}

/* ---- deleting ---- */

static void answer_deleted(struct http_req *r, const char *path)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "path");
    jw_cstr(&w, path);
    serve_put_now(&w, "deletedAt");
    jw_end(&w);
    serve_json(r, &b);
}

struct deletion {
    struct http_req *req;
    struct removal *removal;
    const char *path;
};

static void on_path_removed(void *ctx, const char *error)
{
    struct deletion *d = ctx;

    if (error)
        serve_fail_text(d->req, 500, "could not remove all of %s: %s", d->path, error);
    else
        answer_deleted(d->req, d->path);
}

/* The removal goes on. */
static void on_removal_abort(struct http_req *r)
{
    struct deletion *d = r->user;

    removal_drop(d->removal);
    http_reply(r, 499, NULL, STR(""));
}

static void remove_tree(struct serve *s, struct http_req *r, const char *path)
{
    struct err e = ERR_INIT;
    struct deletion *d = arena_new(r->arena, struct deletion);

    if (!d) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    *d = (struct deletion){.req = r, .path = path};
    d->removal = removal_start(&s->procs, path, on_path_removed, d, &e);
    if (!d->removal) {
        serve_fail(r, 500, &e);
        return;
    }
    r->user = d;
    r->on_abort = on_removal_abort;
}

void fs_delete(struct serve *s, struct http_req *r)
{
    const char *path = fs_query_path(s, r, true);
    struct stat st;

    if (!path)
        return;
    int code = fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
    bool is_dir = code == 0 && S_ISDIR(st.st_mode);
    if (is_dir && serve_query_flag(r, "recursive")) {
        remove_tree(s, r, path);
        return;
    }
    if (is_dir || code == -ENOENT || code == -ENOTDIR) {
        serve_fail_text(r, is_dir ? 400 : 404, "file not found or not a regular file: %s", path);
        return;
    }
    if (code == 0 && unlinkat(AT_FDCWD, path, 0) < 0)
        code = -errno;
    if (code < 0)
        fs_fail(r, code, path);
    else
        answer_deleted(r, path);
}
