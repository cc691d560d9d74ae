/* SPDX-License-Identifier: MIT */
/* Descriptions of files: see entry.h. */
#include "envd/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "envd/path.h"
#include "envd/pjson.h"

enum { XATTR_NAMES_MAX = 16 << 10, XATTR_VALUE_MAX = 8 << 10 };

/* ---- modes ---- */

void entry_mode_text(char out[ENTRY_MODE_MAX], mode_t mode)
{
    static const struct {
        mode_t mask, value;
        const char *letters;
    } kinds[] = {
        {S_IFMT, S_IFDIR, "d"},  {S_IFMT, S_IFLNK, "L"},  {S_IFMT, S_IFBLK, "D"},
        {S_IFMT, S_IFCHR, "D"},  {S_IFMT, S_IFIFO, "p"},  {S_IFMT, S_IFSOCK, "S"},
        {S_ISUID, S_ISUID, "u"}, {S_ISGID, S_ISGID, "g"}, {S_IFMT, S_IFCHR, "c"},
        {S_ISVTX, S_ISVTX, "t"},
    };
    static const char bits[] = "rwxrwxrwx";
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if ((mode & kinds[i].mask) == kinds[i].value)
            out[n++] = kinds[i].letters[0];
    if (n == 0)
        out[n++] = '-';
    for (unsigned i = 0; i < 9; i++)
        out[n++] = mode & (0400U >> i) ? bits[i] : '-';
    out[n] = '\0';
}

static enum entry_type entry_type_of(mode_t mode)
{
    return S_ISREG(mode) ? ENTRY_FILE : S_ISDIR(mode) ? ENTRY_DIRECTORY : ENTRY_UNKNOWN;
}

/* ---- metadata ---- */

static struct entry_meta *read_one_meta(struct arena *a, const char *path, const char *name)
{
    char value[XATTR_VALUE_MAX];
    ssize_t n = getxattr(path, name, value, sizeof value);
    struct str key = str_of(name + ENTRY_XATTR_LEN);

    if (n < 0 || !str_is_utf8(key) || !str_is_utf8(str_n(value, (size_t)n)))
        return NULL;
    struct entry_meta *m = arena_new(a, struct entry_meta);
    if (!m)
        return NULL;
    m->key = arena_str(a, key).p;
    m->value = arena_str(a, str_n(value, (size_t)n));
    return m->key && m->value.p ? m : NULL;
}

static void insert_meta(struct entry_meta **list, struct entry_meta *m)
{
    while (*list && strcmp((*list)->key, m->key) < 0)
        list = &(*list)->next;
    m->next = *list;
    *list = m;
}

struct entry_meta *entry_read_meta(struct arena *a, const char *path)
{
    struct entry_meta *list = NULL;
    char names[XATTR_NAMES_MAX];
    /* A file system without attributes has no metadata, and neither has a file with too many. */
    ssize_t len = listxattr(path, names, sizeof names);

    for (ssize_t at = 0; at < len;) {
        const char *name = names + at;
        at += (ssize_t)strlen(name) + 1;
        if (!str_starts(str_of(name), STR(ENTRY_XATTR)))
            continue;
        struct entry_meta *m = read_one_meta(a, path, name);
        if (m)
            insert_meta(&list, m);
    }
    return list;
}

/* ---- reading ---- */

/* What a link says below /proc is the business of the process it belongs to. */
static bool is_private_link(const char *path)
{
    auto_close int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 || path_is_proc_fd(fd);
}

static int follow_entry(struct arena *a, struct entry *e)
{
    char target[PATH_MAX];
    struct stat st;
    bool is_open = !is_private_link(e->path) && realpath(e->path, target) != NULL;

    e->target = is_open ? arena_strdup(a, target) : e->path;
    if (is_open && stat(e->path, &st) == 0) {
        e->type = entry_type_of(st.st_mode);
        e->perm = st.st_mode & 0777;
    }
    return e->target ? 0 : -ENOMEM;
}

int entry_read(struct arena *a, const char *path, struct entry *ret)
{
    struct entry e = {.path = path};
    int r = 0;

    if (lstat(path, &e.st) < 0)
        return -errno;
    e.name = path_base(a, path);
    if (!e.name)
        return -ENOMEM;
    if (S_ISLNK(e.st.st_mode)) {
        r = follow_entry(a, &e);
    } else {
        e.type = entry_type_of(e.st.st_mode);
        e.perm = e.st.st_mode & 0777;
    }
    e.meta = entry_read_meta(a, path);
    if (r == 0)
        *ret = e;
    return r;
}

/* ---- writing ---- */

void entry_put_meta(struct jw *w, const struct entry_meta *meta)
{
    jw_object(w);
    for (; meta; meta = meta->next) {
        jw_key(w, meta->key);
        jw_str(w, meta->value);
    }
    jw_end(w);
}

static void put_details(struct jw *w, const struct entry *e, struct user_names *names)
{
    char mode[ENTRY_MODE_MAX];

    entry_mode_text(mode, e->st.st_mode);
    pjson_put_i64(w, "size", e->st.st_size);
    pjson_put_u32(w, "mode", e->perm);
    pjson_put_str(w, "permissions", str_of(mode));
    pjson_put_str(w, "owner", str_of(user_names_user(names, e->st.st_uid)));
    pjson_put_str(w, "group", str_of(user_names_group(names, e->st.st_gid)));
    pjson_put_time(w, "modifiedTime", e->st.st_mtim.tv_sec, (uint32_t)e->st.st_mtim.tv_nsec);
    if (e->target) {
        jw_key(w, "symlinkTarget");
        jw_cstr(w, e->target);
    }
    if (e->meta) {
        jw_key(w, "metadata");
        entry_put_meta(w, e->meta);
    }
}

void entry_put(struct jw *w, const struct entry *e, struct user_names *names, bool is_legacy)
{
    static const char *const types[ENTRY_TYPE_COUNT] = {"", "FILE_TYPE_FILE",
                                                        "FILE_TYPE_DIRECTORY"};

    jw_object(w);
    pjson_put_str(w, "name", str_of(e->name));
    pjson_put_str(w, "type", str_of(types[e->type]));
    pjson_put_str(w, "path", str_of(e->path));
    if (!is_legacy)
        put_details(w, e, names);
    jw_end(w);
}
