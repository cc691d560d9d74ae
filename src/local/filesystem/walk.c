/* SPDX-License-Identifier: MIT */
/* Listings, trees and searches of the server "filesystem". */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "local/filesystem/filesystem.h"
#include "sys/io.h"

enum { DEPTH_MAX = 64, NAME_WIDTH = 30, DENTS_BYTES = 4096 };

struct walk_entry {
    const char *name;
    bool is_dir;
    uint64_t size;
};

struct walk_listing {
    struct walk_entry *items;
    size_t n, cap;
};

static int by_bytes(const void *a, const void *b)
{
    return strcmp(((const struct walk_entry *)a)->name, ((const struct walk_entry *)b)->name);
}

static int add_listed_entry(struct local_call *c, struct walk_listing *l, const struct dirent *e)
{
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
        return 0;
    if (l->n == LOCAL_ENTRIES_MAX)
        return -EFBIG;
    struct walk_entry *all = arena_grow(&c->arena, l->items, l->n, &l->cap, sizeof *all);
    char *name = all ? arena_strdup(&c->arena, e->d_name) : NULL;
    if (!name)
        return -ENOMEM;
    l->items = all;
    l->items[l->n++] = (struct walk_entry){.name = name, .is_dir = e->d_type == DT_DIR};
    return 0;
}

/* The entries of PATH in the order of their bytes. 0 or -errno. opendir() would ask for memory. */
static int list_sorted_dir(struct local_call *c, const char *path, struct walk_listing *ret)
{
    alignas(struct dirent) char data[DENTS_BYTES];
    auto_close int fd = io_open(path, O_RDONLY | O_DIRECTORY, 0);
    long n = fd;
    int r = 0;

    *ret = (struct walk_listing){0};
    if (fd < 0)
        return fd;
    while (r == 0 && (n = syscall(SYS_getdents64, fd, data, sizeof data)) > 0) {
        for (long at = 0; r == 0 && at < n;) {
            const struct dirent *e = (const struct dirent *)(data + at);
            r = add_listed_entry(c, ret, e);
            at += e->d_reclen;
        }
    }
    if (r < 0 || n < 0)
        return r < 0 ? r : -errno;
    if (ret->n > 0)
        qsort(ret->items, ret->n, sizeof *ret->items, by_bytes);
    return 0;
}

/* ---- one directory ---- */

int fs_list_names(struct local_call *c, const char *path, struct buf *out)
{
    struct walk_listing l;
    int r = list_sorted_dir(c, path, &l);

    for (size_t i = 0; r == 0 && i < l.n; i++) {
        if (i > 0)
            (void)buf_add_char(out, '\n');
        (void)buf_add_str(out, l.items[i].is_dir ? STR("[DIR] ") : STR("[FILE] "));
        (void)buf_add_str(out, str_of(l.items[i].name));
    }
    return r;
}

void fs_list_directory(struct local_call *c)
{
    struct buf *b = local_buf(c);
    const char *path = path_arg(c, "path");
    int r = path ? fs_list_names(c, path, b) : 0;

    if (path && r < 0)
        path_fail(c, r, "scandir", path);
    else if (path)
        fs_answer(c, buf_str(b));
}

/* The order in which people sort: marks, digits, letters; small before large only where nothing
 * else is different. */
static int rank_of(unsigned char ch)
{
    static const char marks[] = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
    const char *at = ch ? strchr(marks, ch) : NULL;

    if (at)
        return (int)(at - marks) + 1;
    if (ch >= '0' && ch <= '9')
        return 100 + ch;
    if (ch >= 'A' && ch <= 'Z')
        return 200 + ch + 'a' - 'A';
    return ch < 0x21 ? 0 : 200 + ch;
}

static int by_people(const void *a, const void *b)
{
    const char *x = ((const struct walk_entry *)a)->name, *y = ((const struct walk_entry *)b)->name;
    size_t i = 0;

    while (x[i] && y[i] && rank_of((unsigned char)x[i]) == rank_of((unsigned char)y[i]))
        i++;
    if (x[i] && y[i])
        return rank_of((unsigned char)x[i]) - rank_of((unsigned char)y[i]);
    if (x[i] || y[i])
        return x[i] ? 1 : -1;
    return -strcmp(x, y);
}

/* Those of the same size stay as they were, which is in the order of their bytes. */
static int by_entry_size(const void *a, const void *b)
{
    const struct walk_entry *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return by_bytes(a, b);
}

static const char *size_text(struct local_call *c, uint64_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    double n = (double)size;
    size_t unit = 0;

    while (n >= 1024 && unit + 1 < ARRAY_LEN(units)) {
        n /= 1024;
        unit++;
    }
    return arena_printf(&c->arena, unit ? "%.2f %s" : "%.0f %s", n, units[unit]).p;
}

/* Spaces up to WIDTH behind NAME, as a language counts that has 16 bits to a character. */
static int padding(const char *name, int width)
{
    int n = 0;

    for (const unsigned char *p = (const unsigned char *)name; *p; p++)
        n += (*p & 0xC0) != 0x80 ? 1 + (*p >= 0xF0) : 0;
    return n < width ? width - n : 0;
}

static void stat_all(const char *path, struct walk_listing *l)
{
    char full[PATH_MAX];
    struct stat st;

    for (size_t i = 0; i < l->n; i++) {
        (void)snprintf(full, sizeof full, "%s/%s", path, l->items[i].name);
        if (stat(full, &st) == 0)
            l->items[i].size = (uint64_t)st.st_size;
    }
}

void fs_list_directory_with_sizes(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_ANSWER_MAX);
    const char *path = path_arg(c, "path");
    struct walk_listing l;
    uint64_t total = 0;
    size_t n_dirs = 0;

    if (!path)
        return;
    int r = list_sorted_dir(c, path, &l);
    if (r < 0) {
        path_fail(c, r, "scandir", path);
        return;
    }
    stat_all(path, &l);
    if (l.n > 0)
        qsort(l.items, l.n, sizeof *l.items,
              str_is(local_str(c, "sortBy"), "size") ? by_entry_size : by_people);
    for (size_t i = 0; i < l.n; i++) {
        const struct walk_entry *e = &l.items[i];
        total += e->is_dir ? 0 : e->size;
        n_dirs += e->is_dir;
        if (e->is_dir)
            (void)buf_printf(&b, "[DIR] %s%*s \n", e->name, padding(e->name, NAME_WIDTH), "");
        else
            (void)buf_printf(&b, "[FILE] %s%*s %10s\n", e->name, padding(e->name, NAME_WIDTH), "",
                             size_text(c, e->size));
    }
    (void)buf_printf(&b, "\nTotal: %zu files, %zu directories\nCombined size: %s", l.n - n_dirs,
                     n_dirs, size_text(c, total));
    fs_answer(c, buf_str(&b));
}

/* ---- trees ---- */

struct dir_walk {
    struct local_call *c;
    const struct json *excludes;
    struct str pattern;
    struct buf out;
    struct jw w;
    size_t n_seen;
    bool is_search;
};

static const char *join_dir_name(struct dir_walk *w, const char *dir, const char *name)
{
    return dir[0] ? arena_printf(&w->c->arena, "%s/%s", dir, name).p
                  : arena_strdup(&w->c->arena, name);
}

static bool is_excluded(const struct dir_walk *w, const char *relative)
{
    struct str path = str_of(relative);
    char wide[PATH_MAX];

    for (size_t i = 0; w->excludes && i < w->excludes->n; i++) {
        struct str pattern = json_str(json_at(w->excludes, i), STR(""));
        if (glob_match(pattern, path))
            return true;
        if (w->is_search || memchr(pattern.p, '*', pattern.len))
            continue;
        (void)snprintf(wide, sizeof wide, "**/" STR_FMT, STR_ARG(pattern));
        if (glob_match(str_of(wide), path))
            return true;
    }
    return false;
}

static int tree(struct dir_walk *w, const char *root, const char *relative, unsigned depth)
{
    struct walk_listing l;
    const char *path = relative[0] ? arena_printf(&w->c->arena, "%s/%s", root, relative).p : root;
    int r = list_sorted_dir(w->c, path, &l);

    if (r < 0 || depth == DEPTH_MAX)
        return r < 0 ? r : -ELOOP;
    for (size_t i = 0; r == 0 && i < l.n; i++) {
        const char *below = join_dir_name(w, relative, l.items[i].name);
        if (!below || ++w->n_seen > LOCAL_ENTRIES_MAX)
            return -EFBIG;
        if (is_excluded(w, below))
            continue;
        jw_object(&w->w);
        jw_key(&w->w, "name");
        jw_cstr(&w->w, l.items[i].name);
        jw_key(&w->w, "type");
        jw_cstr(&w->w, l.items[i].is_dir ? "directory" : "file");
        if (l.items[i].is_dir) {
            jw_key(&w->w, "children");
            jw_array(&w->w);
            r = tree(w, root, below, depth + 1);
            jw_end(&w->w);
        }
        jw_end(&w->w);
    }
    return r;
}

void fs_directory_tree(struct local_call *c)
{
    auto_buf struct buf pretty = BUF_INIT(LOCAL_ANSWER_MAX);
    struct dir_walk w = {.c = c, .excludes = json_get(c->args, "excludePatterns")};
    const char *path = path_arg(c, "path");

    if (!path)
        return;
    buf_init(&w.out, LOCAL_ANSWER_MAX);
    w.w = jw_to(&w.out);
    jw_array(&w.w);
    int r = tree(&w, path, "", 0);
    jw_end(&w.w);
    const struct json *v = r == 0 ? json_parse(&c->arena, buf_str(&w.out), NULL, NULL) : NULL;
    buf_done(&w.out);
    if (r < 0) {
        path_fail(c, r, "scandir", path);
        return;
    }
    (void)json_write(&pretty, v, JSON_PRETTY);
    fs_answer(c, buf_str(&pretty));
}

/* ---- searches ---- */

static int search_dir(struct dir_walk *w, const char *root, const char *relative, unsigned depth)
{
    struct walk_listing l;
    struct str why;
    const char *path = relative[0] ? arena_printf(&w->c->arena, "%s/%s", root, relative).p : root;
    int r = list_sorted_dir(w->c, path, &l);

    if (r < 0 || depth == DEPTH_MAX)
        return depth == 0 ? r : 0;
    for (size_t i = 0; r == 0 && i < l.n; i++) {
        const char *below = join_dir_name(w, relative, l.items[i].name);
        const char *full = below ? arena_printf(&w->c->arena, "%s/%s", root, below).p : NULL;
        if (!full || ++w->n_seen > LOCAL_ENTRIES_MAX)
            return -EFBIG;
        if (is_excluded(w, below) || !path_check(w->c, str_of(full), &why))
            continue;
        if (glob_match(w->pattern, str_of(below)))
            (void)buf_printf(&w->out, "%s%s", w->out.len > 0 ? "\n" : "", full);
        if (l.items[i].is_dir)
            r = search_dir(w, root, below, depth + 1);
    }
    return r;
}

void fs_search_files(struct local_call *c)
{
    struct dir_walk w = {.c = c,
                         .excludes = json_get(c->args, "excludePatterns"),
                         .pattern = local_str(c, "pattern"),
                         .is_search = true};
    const char *path = path_arg(c, "path");

    if (!path)
        return;
    buf_init(&w.out, LOCAL_ANSWER_MAX);
    int r = search_dir(&w, path, "", 0);
    if (r < 0)
        path_fail(c, r, "scandir", path);
    else
        fs_answer(c, w.out.len > 0 ? buf_str(&w.out) : STR("No matches found"));
    buf_done(&w.out);
}

/* ---- for others ---- */

struct each {
    struct local_call *c;
    bool (*fn)(void *ctx, const char *path, const char *name);
    void *ctx;
    size_t n_seen;
};

static int visit_tree(struct each *e, const char *dir, unsigned depth)
{
    struct walk_listing l;
    int r = list_sorted_dir(e->c, dir, &l);

    if (r < 0 || depth == DEPTH_MAX)
        return depth == 0 ? r : 0;
    for (size_t i = 0; r == 0 && i < l.n; i++) {
        const char *path = arena_printf(&e->c->arena, "%s/%s", dir, l.items[i].name).p;
        if (!path || ++e->n_seen > LOCAL_ENTRIES_MAX)
            return -EFBIG;
        if (l.items[i].is_dir)
            r = visit_tree(e, path, depth + 1);
        else if (!e->fn(e->ctx, path, l.items[i].name))
            return 1;
    }
    return r;
}

int fs_each_file(struct local_call *c, const char *path,
                 bool (*fn)(void *ctx, const char *path, const char *name), void *ctx)
{
    struct each e = {.c = c, .fn = fn, .ctx = ctx};
    int r = visit_tree(&e, path, 0);

    return r < 0 ? r : 0;
}
