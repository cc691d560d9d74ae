/* SPDX-License-Identifier: MIT */
/* The archive of an image's layer, unpacked into a layer: see layer.h. The archive may hold
 * anything. Every name is opened below the tree's root, which no link leads out of. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/tar_read.h"
#include "runtime/kern.h"
#include "runtime/layer.h"
#include "runtime/layer_attr.h"
#include "sys/io.h"

#define WHITEOUT ".wh."
#define OPAQUE   ".wh..wh..opq"

enum { NOBODY = 65534, RESOLVE_IN_ROOT = 0x10 };

struct layer_unpack {
    struct layer_draft *draft;
    struct tar_reader *tar;
    char path[TAR_NAME_MAX + 1]; /* of the entry, without slashes at its ends */
    const char *name;            /* its last part; ".": the root itself */
    int dir;                     /* where that is; -1: not open */
    char dir_path[TAR_NAME_MAX + 1];
    struct tar_entry entry; /* the file that is being written; its strings are not valid any more */
    int fd;
    struct buf attrs;
};

/* ---- places ---- */

/* NAME without what means nothing in it; -EINVAL when it leads elsewhere, -ELOOP when it is too
 * deep. */
static int clean_name(char out[TAR_NAME_MAX + 1], struct str name)
{
    size_t n = 0, depth = 0;

    while (name.p) {
        struct str part = str_cut(&name, '/');
        if (part.len == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..") || part.len > NAME_MAX || n + part.len + 2 > TAR_NAME_MAX)
            return -EINVAL;
        if (++depth > LAYER_DEPTH_MAX)
            return -ELOOP;
        if (n > 0)
            out[n++] = '/';
        memcpy(out + n, part.p, part.len);
        n += part.len;
    }
    out[n] = '\0';
    return 0;
}

static int open_below_layer(const struct layer_unpack *u, const char *path)
{
    const struct kern_open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                                      .resolve = RESOLVE_IN_ROOT | KERN_NO_MAGICLINKS};

    return kern_openat2(u->draft->fd, path[0] ? path : ".", &how);
}

/* Opens PATH, and makes what is missing of it, which counts as well. */
static int open_made(const struct layer_unpack *u, const char *path, struct err *e)
{
    char part[TAR_NAME_MAX + 1];
    int fd = open_below_layer(u, path);

    for (size_t i = 1; fd == -ENOENT && i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        char *slash = strrchr(part, '/');
        if (slash)
            *slash = '\0';
        auto_close int above = open_below_layer(u, slash ? part : "");
        if (above < 0)
            return above;
        int r = mkdirat(above, slash ? slash + 1 : part, 0755) < 0 ? -errno : 0;
        if (r == 0)
            r = layer_count(u->draft, 0, false, e);
        if (r < 0 && r != -EEXIST)
            return r;
        if (path[i] == '\0')
            fd = open_below_layer(u, path);
    }
    return fd;
}

/* Sets path, name and dir. */
static int find_place(struct layer_unpack *u, struct str name, struct err *e)
{
    char above[TAR_NAME_MAX + 1] = "";
    int r = clean_name(u->path, name);

    if (r < 0)
        return err_set(e, r, "'" STR_FMT "' %s", STR_ARG(str_slice(name, 0, 200)),
                       r == -ELOOP ? "is nested too deeply" : "leads out of the layer");
    char *slash = strrchr(u->path, '/');
    u->name = slash ? slash + 1 : u->path[0] ? u->path : ".";
    size_t len = slash ? (size_t)(slash - u->path) : 0;
    memcpy(above, u->path, len);
    above[len] = '\0';
    if (u->dir >= 0 && strcmp(above, u->dir_path) == 0)
        return 0;
    close_p(&u->dir);
    u->dir = open_made(u, above, e);
    if (u->dir == -EMFILE || u->dir == -ECANCELED) /* of layer_count(), which says so */
        return u->dir;
    if (u->dir < 0)
        return err_sys(e, u->dir, "'%s'", above);
    memcpy(u->dir_path, above, len + 1);
    return 0;
}

/* The later one counts. A directory stays one, with what is in it. 1: there was a name that hides
 * those of lower layers. */
static int make_unpack_room(struct layer_unpack *u, enum tar_type type)
{
    struct stat st;

    if (fstatat(u->dir, u->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISDIR(st.st_mode) && type == TAR_DIRECTORY)
        return 0;
    int flags = S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0;
    close_p(&u->fd);
    u->fd = -1;
    if (unlinkat(u->dir, u->name, flags) < 0)
        return -errno;
    return S_ISCHR(st.st_mode) ? 1 : 0;
}

/* ---- what entries have ---- */

static uint32_t clip_id(uint64_t id)
{
    return id < LAYER_UIDS ? (uint32_t)id : NOBODY;
}

/* Only what a cell could set, or what programs need to run as they were meant to. */
static bool is_unpack_wanted(struct str name)
{
    return (str_starts(name, STR("user.")) && !str_starts(name, STR("user.overlay."))) ||
           str_is(name, "security.capability");
}

static int set_attrs(struct layer_unpack *u, struct str attrs)
{
    struct str name, value;
    char key[256];
    int r = 0;

    while (r == 0 && tar_next_attr(&attrs, &name, &value)) {
        if (!is_unpack_wanted(name) || name.len >= sizeof key || value.len > LAYER_ATTR_MAX)
            continue;
        memcpy(key, name.p, name.len);
        key[name.len] = '\0';
        r = layer_set_attr(u->dir, u->name, key, value);
    }
    return r;
}

static int dress_unpacked(struct layer_unpack *u, const struct tar_entry *t, struct err *e)
{
    const struct timespec times[2] = {{.tv_sec = t->mtime_s}, {.tv_sec = t->mtime_s}};
    int r = 0;

    if (fchownat(u->dir, u->name, clip_id(t->uid), clip_id(t->gid), AT_SYMLINK_NOFOLLOW) < 0 ||
        (t->type != TAR_SYMLINK && fchmodat(u->dir, u->name, t->mode, 0) < 0))
        r = -errno;
    if (r == 0)
        r = set_attrs(u, t->attrs);
    if (r == 0 && utimensat(u->dir, u->name, times, AT_SYMLINK_NOFOLLOW) < 0)
        r = -errno;
    return r < 0 ? err_sys(e, r, "'%s'", u->path) : 0;
}

/* ---- entries ---- */

/* `.wh.NAME`: NAME of the layers below is gone; `.wh..wh..opq`: all that is in this directory. */
static int take_whiteout(struct layer_unpack *u, struct err *e)
{
    int r = 0;

    if (strcmp(u->name, OPAQUE) == 0)
        r = layer_set_attr(u->dir, ".", LAYER_OPAQUE, STR("y"));
    else if (u->name[strlen(WHITEOUT)] != '\0' &&
             strncmp(u->name + strlen(WHITEOUT), WHITEOUT, strlen(WHITEOUT)) != 0) {
        u->name += strlen(WHITEOUT);
        r = make_unpack_room(u, TAR_FILE);
        if (r >= 0 && mknodat(u->dir, u->name, S_IFCHR, makedev(0, 0)) < 0)
            r = -errno;
    }
    return r < 0 ? err_sys(e, r, "'%s'", u->path) : 0;
}

static int take_hard_link(struct layer_unpack *u, struct str link, struct err *e)
{
    char target[TAR_NAME_MAX + 1];

    if (clean_name(target, link) < 0 || target[0] == '\0')
        return err_set(e, -EINVAL, "'%s' is a hard link that leads out of the layer", u->path);
    char *slash = strrchr(target, '/');
    if (slash)
        *slash = '\0';
    auto_close int dir = open_below_layer(u, slash ? target : "");
    int r = dir < 0 ? dir : make_unpack_room(u, TAR_HARD_LINK);
    if (r >= 0 && linkat(dir, slash ? slash + 1 : target, u->dir, u->name, 0) < 0)
        r = -errno;
    return r < 0 ? err_sys(e, r, "hard link '%s'", u->path) : 0;
}

static int make_entry(struct layer_unpack *u, const struct tar_entry *t)
{
    switch (t->type) {
    case TAR_DIRECTORY: return mkdirat(u->dir, u->name, 0700) < 0 && errno != EEXIST ? -errno : 0;
    case TAR_SYMLINK: return symlinkat(t->link.p, u->dir, u->name) < 0 ? -errno : 0;
    case TAR_PIPE: return mknodat(u->dir, u->name, S_IFIFO | 0600, 0) < 0 ? -errno : 0;
    case TAR_FILE:
        u->fd = openat(u->dir, u->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        return u->fd < 0 ? -errno : 0;
    case TAR_HARD_LINK:
    case TAR_CHAR_DEVICE:
    case TAR_BLOCK_DEVICE: break;
    }
    return -EINVAL;
}

static int take_entry(void *ctx, const struct tar_entry *t, struct err *e)
{
    struct layer_unpack *u = ctx;
    int r = layer_count(u->draft, 0, false, e);

    if (r == 0)
        r = find_place(u, t->name, e);
    if (r < 0)
        return r;
    if (t->type == TAR_CHAR_DEVICE || t->type == TAR_BLOCK_DEVICE)
        return 0;
    if (strncmp(u->name, WHITEOUT, strlen(WHITEOUT)) == 0)
        return take_whiteout(u, e);
    if (u->path[0] == '\0')
        return t->type == TAR_DIRECTORY ? dress_unpacked(u, t, e)
                                        : err_set(e, -EINVAL, "an entry has no name");
    if (t->type == TAR_HARD_LINK)
        return take_hard_link(u, t->link, e);
    int hides = make_unpack_room(u, t->type);
    r = hides < 0 ? hides : make_entry(u, t);
    /* A directory in the place of a deleted one begins empty. */
    if (r == 0 && hides > 0 && t->type == TAR_DIRECTORY)
        r = layer_set_attr(u->dir, u->name, LAYER_OPAQUE, STR("y"));
    if (r < 0)
        return err_sys(e, r, "'%s'", u->path);
    if (t->type != TAR_FILE)
        return dress_unpacked(u, t, e);
    u->entry = *t;
    buf_clear(&u->attrs);
    return buf_add_str(&u->attrs, t->attrs) < 0 ? err_sys(e, -ENOMEM, "'%s'", u->path) : 0;
}

static int take_unpack_data(void *ctx, const char *p, size_t len, struct err *e)
{
    struct layer_unpack *u = ctx;
    int r = layer_count(u->draft, len, true, e);

    if (r < 0 || u->fd < 0) /* of a whiteout, which has none */
        return r;
    r = io_write_all(u->fd, p, len);
    return r < 0 ? err_sys(e, r, "write '%s'", u->path) : 0;
}

static int end_file(void *ctx, struct err *e)
{
    struct layer_unpack *u = ctx;

    if (u->fd < 0)
        return 0;
    close_p(&u->fd);
    u->fd = -1;
    u->entry.attrs = buf_str(&u->attrs);
    return dress_unpacked(u, &u->entry, e);
}

/* ---- the whole ---- */

struct layer_unpack *layer_unpack_new(struct layer_draft *d)
{
    static const struct tar_sink sink = {take_entry, take_unpack_data, end_file};
    struct layer_unpack *u = mem_zalloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->draft = d;
    u->dir = u->fd = -1;
    buf_init(&u->attrs, TAR_EXTRA_MAX);
    u->tar = tar_reader_new(&sink, u);
    if (u->tar) {
        tar_reader_take_all(u->tar);
        return u;
    }
    layer_unpack_free(u);
    return NULL;
}

void layer_unpack_free(struct layer_unpack *u)
{
    if (!u)
        return;
    close_p(&u->dir);
    close_p(&u->fd);
    buf_done(&u->attrs);
    tar_reader_free(u->tar);
    free(u);
}

int layer_unpack_feed(struct layer_unpack *u, const void *p, size_t len, struct err *e)
{
    return tar_reader_feed(u->tar, p, len, e);
}

int layer_unpack_finish(struct layer_unpack *u, struct err *e)
{
    return tar_reader_finish(u->tar, e);
}
