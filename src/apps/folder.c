/* SPDX-License-Identifier: MIT */
#include "apps/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/io.h"

static int no_memory(struct err *e)
{
    return err_set(e, -ENOMEM, "out of memory");
}

/* ---- files ---- */

static int read_from(const char *dir, const char *name, struct arena *a, struct str *ret,
                     struct err *e)
{
    auto_buf struct buf b = BUF_INIT(FOLDER_FILE_MAX);
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    int r = io_read_file(path, &b, e);
    if (r < 0)
        return r;
    *ret = arena_str(a, buf_str(&b));
    return ret->p ? 0 : no_memory(e);
}

static const struct json *json_from(const char *dir, const char *name, struct arena *a,
                                    struct err *e)
{
    struct str text;

    if (read_from(dir, name, a, &text, e) < 0)
        return NULL;
    const struct json *v = json_parse(a, text, NULL, e);
    if (!v)
        (void)err_ctx(e, e ? e->code : -EINVAL, "%s", name);
    return v;
}

static bool is_in(const char *dir, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, R_OK) == 0;
}

/* The first folder with that file; the folder itself when there is none. */
static const char *find_dir(const struct folder *f, const char *name)
{
    size_t i = 0;

    while (i < f->n && !is_in(f->dirs[i], name))
        i++;
    return f->dirs[i < f->n ? i : 0];
}

int folder_read_at(const struct folder *f, size_t level, const char *name, struct str *ret,
                   struct err *e)
{
    return read_from(f->dirs[level], name, f->arena, ret, e);
}

int folder_read(const struct folder *f, const char *name, struct arena *a, struct str *ret,
                struct err *e)
{
    return read_from(find_dir(f, name), name, a, ret, e);
}

const struct json *folder_json(const struct folder *f, const char *name, struct arena *a,
                               struct err *e)
{
    return json_from(find_dir(f, name), name, a, e);
}

bool folder_has(const struct folder *f, const char *name)
{
    return is_in(find_dir(f, name), name);
}

/* ---- bases ---- */

/* PATH from DIR on, by the words alone: a folder has the name that it is asked for by, whatever it
 * is a link to. */
static struct str walk(const char *dir, struct str path, struct arena *a)
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

static int add_dir(struct folder *f, const char *from, struct str path, struct err *e)
{
    if (f->n == FOLDER_MAX)
        return err_set(e, -ELOOP, "app.json: /base: more than %d folders", FOLDER_MAX);
    f->dirs[f->n] = walk(from, path, f->arena).p;
    if (!f->dirs[f->n])
        return no_memory(e);
    f->n++;
    return 0;
}

/* The members of NEAR, and those of FAR that it does not have. */
static int merge(struct arena *a, const struct json *near, const struct json *far,
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
    int r = add_dir(f, here, str_of(dir), e);
    while (r == 0) {
        const struct json *own = json_from(f->dirs[f->n - 1], "app.json", a, e);
        if (!own)
            return e ? e->code : -EINVAL;
        if (!json_is(own, JSON_OBJECT))
            return err_set(e, -EINVAL, "app.json: is an object");
        if (merge(a, f->about, own, &f->about) < 0)
            return no_memory(e);
        struct str base = json_str(json_get(own, "base"), STR_NULL);
        if (!base.p)
            return 0;
        r = add_dir(f, f->dirs[f->n - 1], base, e);
    }
    return r;
}
