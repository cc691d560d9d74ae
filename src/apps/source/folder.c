/* SPDX-License-Identifier: MIT */
#include "apps/source/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/io.h"

static int err_folder_memory(struct err *e)
{
    return err_set(e, -ENOMEM, "out of memory");
}

/* ---- files ---- */

static int read_from_folder(const char *dir, const char *name, struct arena *a, struct str *ret,
                            struct err *e)
{
    auto_buf struct buf b = BUF_INIT(FOLDER_FILE_MAX);
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    int r = io_read_file(path, &b, e);
    if (r < 0)
        return r;
    *ret = arena_str(a, buf_str(&b));
    return ret->p ? 0 : err_folder_memory(e);
}

static const struct json *json_from(const char *dir, const char *name, struct arena *a,
                                    struct err *e)
{
    struct str text;

    if (read_from_folder(dir, name, a, &text, e) < 0)
        return NULL;
    const struct json *v = json_parse(a, text, NULL, e);
    if (!v)
        (void)err_ctx(e, e ? e->code : -EINVAL, "%s", name);
    return v;
}

static bool is_file_in(const char *dir, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, R_OK) == 0;
}

/* The first folder with that file; the folder itself when there is none. */
static const char *find_file_dir(const struct folder *f, const char *name)
{
    size_t i = 0;

    while (i < f->n && !is_file_in(f->dirs[i], name))
        i++;
    return f->dirs[i < f->n ? i : 0];
}

int folder_read_at(const struct folder *f, size_t level, const char *name, struct str *ret,
                   struct err *e)
{
    return read_from_folder(f->dirs[level], name, f->arena, ret, e);
}

const struct json *folder_json(const struct folder *f, const char *name, struct arena *a,
                               struct err *e)
{
    return json_from(find_file_dir(f, name), name, a, e);
}

bool folder_has(const struct folder *f, const char *name)
{
    return is_file_in(find_file_dir(f, name), name);
}

/* ---- what is included ---- */

bool folder_is_common(struct str name)
{
    struct str prefix = STR(FOLDER_COMMON);

    if (!str_starts(name, prefix) || name.len == prefix.len)
        return false;
    for (size_t i = prefix.len; i < name.len; i++) {
        char c = name.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
            return false;
    }
    return true;
}

void folder_beside(const char *root, char *out, size_t size)
{
    const char *slash = strrchr(root, '/');

    (void)snprintf(out, size, "%.*s", slash ? (int)(slash - root) : 1, slash ? root : ".");
}

int folder_include(const struct folder *f, size_t level, struct str name, struct str *ret,
                   struct err *e)
{
    char file[NAME_MAX], beside[PATH_MAX];
    const char *dir = NULL;

    if (!folder_is_common(name) ||
        snprintf(file, sizeof file, STR_FMT ".sql", STR_ARG(name)) >= (int)sizeof file)
        return err_set(e, -EINVAL, "'" STR_FMT "' is not the name of a file: %sNAME",
                       STR_ARG(str_slice(name, 0, 100)), FOLDER_COMMON);
    for (size_t i = level; !dir && i < f->n; i++)
        if (is_file_in(f->dirs[i], file))
            dir = f->dirs[i];
    folder_beside(f->dirs[f->n - 1], beside, sizeof beside);
    if (!dir && !is_file_in(beside, file))
        return err_set(e, -EINVAL, "no file %s in the app's folder or beside it", file);
    return read_from_folder(dir ? dir : beside, file, f->arena, ret, e);
}

struct str folder_next_include(struct str text, size_t *at, size_t *from)
{
    const struct str mark = STR("-- include:");

    while (*at < text.len) {
        struct str rest = str_skip(text, *at), line = str_cut(&rest, '\n');
        *from = *at;
        *at = text.len - rest.len;
        struct str name = str_starts(line, mark) ? str_trim(str_skip(line, mark.len)) : STR_NULL;
        if (name.len > 0 && name.p[name.len - 1] == '\r')
            name.len--;
        if (name.p && str_starts(name, STR(FOLDER_COMMON)))
            return name;
    }
    return STR_NULL;
}

static int add_included(const struct folder *f, size_t level, struct str text, struct buf *out,
                        struct err *e)
{
    size_t at = 0, from = 0, done = 0;
    struct str part = STR_NULL, name;

    while ((name = folder_next_include(text, &at, &from)).p) {
        int r = folder_include(f, level, name, &part, e);
        if (r < 0)
            return r;
        (void)buf_add_str(out, str_slice(text, done, from));
        (void)buf_add_str(out, part);
        done = at;
    }
    (void)buf_add_str(out, str_skip(text, done));
    return out->error;
}

int folder_read_whole(const struct folder *f, const char *name, struct str *ret, struct err *e)
{
    auto_buf struct buf whole = BUF_INIT(FOLDER_FILE_MAX);
    size_t level = 0;
    struct str text;

    while (level + 1 < f->n && !is_file_in(f->dirs[level], name))
        level++;
    int r = folder_read_at(f, level, name, &text, e);
    if (r < 0)
        return r;
    r = add_included(f, level, text, &whole, e);
    if (r < 0)
        return err_ctx(e, r, "%s", name);
    *ret = arena_str(f->arena, buf_str(&whole));
    return ret->p ? 0 : err_folder_memory(e);
}

/* ---- bases ---- */

/* PATH from DIR on, by the words alone: a folder has the name that it is asked for by, whatever it
 * is a link to. */
static struct str walk_words(const char *dir, struct str path, struct arena *a)
{
    struct str at = str_of(dir);

    while (path.len > 0) {
        struct str word = str_cut(&path, '/');
        if (str_is(word, ".."))
            while (at.len > 1 && at.p[--at.len] != '/')
                ;
        else if (word.len > 0 && !str_is(word, "."))
            at = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(at), STR_ARG(word));
    }
    return arena_str(a, at);
}

static int add_base_dir(struct folder *f, const char *from, struct str path, struct err *e)
{
    if (f->n == FOLDER_MAX)
        return err_set(e, -ELOOP, "app.json: /base: more than %d folders", FOLDER_MAX);
    f->dirs[f->n] = walk_words(from, path, f->arena).p;
    if (!f->dirs[f->n])
        return err_folder_memory(e);
    f->n++;
    return 0;
}

/* The members of NEAR, and those of FAR that it does not have. */
static int merge_members(struct arena *a, const struct json *near, const struct json *far,
                         const struct json **ret)
{
    struct json *all = near ? json_copy(a, near) : json_new_object(a);
    int r = all ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < far->n; i++) {
        const struct json_member *m = &far->members[i];
        if (!json_get_str(all, m->key))
            r = json_set_str(a, all, m->key, &m->value);
    }
    *ret = all;
    return r;
}

int folder_open(struct folder *f, const char *dir, struct arena *a, struct err *e)
{
    char here[PATH_MAX] = "";

    if (dir[0] != '/' && !getcwd(here, sizeof here))
        return err_sys(e, -errno, "the working directory");
    f->arena = a;
    int r = add_base_dir(f, here, str_of(dir), e);
    while (r == 0) {
        const struct json *own = json_from(f->dirs[f->n - 1], "app.json", a, e);
        if (!own)
            return e ? e->code : -EINVAL;
        if (!json_is(own, JSON_OBJECT))
            return err_set(e, -EINVAL, "app.json: is an object");
        if (merge_members(a, f->about, own, &f->about) < 0)
            return err_folder_memory(e);
        struct str base = json_str(json_get(own, "base"), STR_NULL);
        if (!base.p)
            return 0;
        r = add_base_dir(f, f->dirs[f->n - 1], base, e);
    }
    return r;
}
