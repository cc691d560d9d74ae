/* SPDX-License-Identifier: MIT */
#include "local/archive/names.h"

#include <errno.h>
#include <string.h>

static int refuse_entry_name(struct err *e, struct str name, const char *why)
{
    return err_set(e, -EINVAL, "'" STR_FMT "': %s", STR_ARG(str_slice(name, 0, 200)), why);
}

int names_clean(struct str name, char out[TREE_PATH_MAX], struct err *e)
{
    size_t len = 0;
    unsigned depth = 0;

    if (name.len > 0 && name.p[0] == '/')
        return refuse_entry_name(e, name, "absolute names are not allowed");
    for (struct str rest = name; rest.p;) {
        struct str part = str_cut(&rest, '/');
        if (part.len == 0 || str_is(part, "."))
            continue;
        if (str_is(part, ".."))
            return refuse_entry_name(e, name, "names with '..' are not allowed");
        if (part.len > TREE_NAME_MAX || len + part.len + 2 > TREE_PATH_MAX)
            return refuse_entry_name(e, name, "the name is too long");
        if (++depth > TREE_DEPTH_MAX)
            return refuse_entry_name(e, name, "the name is too deep");
        if (depth == 1 && str_is(part, TREE_OWN))
            return refuse_entry_name(e, name, "the name is reserved");
        if (len > 0)
            out[len++] = '/';
        memcpy(out + len, part.p, part.len);
        len += part.len;
    }
    out[len] = '\0';
    return 0;
}

/* How many directories PATH is below the workspace. */
static int depth_of(const char *path)
{
    int n = 0;

    for (; *path; path++)
        n += *path == '/';
    return n;
}

static int add_path_part(char out[TREE_PATH_MAX], size_t *len, struct str s)
{
    if (*len + s.len + 1 > TREE_PATH_MAX)
        return -EXDEV;
    memcpy(out + *len, s.p, s.len);
    *len += s.len;
    out[*len] = '\0';
    return 0;
}

/* By the words alone; what other links do to it is seen when it is there. */
static bool stays_inside(struct str target, int depth)
{
    while (target.p && depth >= 0) {
        struct str part = str_cut(&target, '/');
        if (str_is(part, ".."))
            depth--;
        else if (part.len > 0 && !str_is(part, "."))
            depth++;
    }
    return depth >= 0;
}

int names_target(const char *root, const char *path, struct str target, char out[TREE_PATH_MAX])
{
    size_t len = 0;
    int depth = depth_of(path), r = 0;

    if (target.len > 0 && target.p[0] == '/') {
        struct str rest = str_skip(target, strlen(root));
        if (!str_starts(target, str_of(root)) || (rest.len > 0 && rest.p[0] != '/'))
            return -EXDEV;
        for (int i = 0; i < depth && r == 0; i++)
            r = add_path_part(out, &len, STR("../"));
        while (rest.len > 0 && rest.p[0] == '/')
            rest = str_skip(rest, 1);
        target = rest.len > 0 ? rest : STR(".");
    }
    if (r == 0)
        r = add_path_part(out, &len, target);
    return r == 0 && stays_inside(str_n(out, len), depth) ? 0 : -EXDEV;
}
