/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "apps/products/sheets/sheets_internal.h"

enum { MASK_MAX_DEPTH = 8 };

static int add_mask_path(struct sheets *b, struct mask *m, struct str prefix, struct str name)
{
    struct str *list = arena_grow(b->arena, m->paths, m->n, &m->cap, sizeof *list);

    if (!list)
        return sheets_no_memory(b);
    m->paths = list;
    list[m->n] = prefix.len == 0
                     ? name
                     : arena_printf(b->arena, STR_FMT "." STR_FMT, STR_ARG(prefix), STR_ARG(name));
    return list[m->n++].p ? 0 : sheets_no_memory(b);
}

/* The end of a name that *S begins with, which is cut off. */
static struct str take_mask_name(struct str *s)
{
    size_t n = 0;

    while (n < s->len && !strchr(",()", s->p[n]))
        n++;
    struct str name = str_trim(str_slice(*s, 0, n));
    *s = str_skip(*s, n);
    return name;
}

/* Names up to the ')' that closes PREFIX, or to the end. */
static int read_mask_names(struct sheets *b, struct mask *m, struct str *s, struct str prefix,
                           unsigned depth)
{
    if (depth > MASK_MAX_DEPTH)
        return sheets_fail(b, "Invalid field mask.");
    for (;;) {
        struct str name = take_mask_name(s);
        int r = 0;
        if (name.len == 0)
            return sheets_fail(b, "Invalid field mask.");
        if (s->len > 0 && s->p[0] == '(') {
            struct str inner = prefix.len == 0 ? name
                                               : arena_printf(b->arena, STR_FMT "." STR_FMT,
                                                              STR_ARG(prefix), STR_ARG(name));
            *s = str_skip(*s, 1);
            r = inner.p ? read_mask_names(b, m, s, inner, depth + 1) : sheets_no_memory(b);
            if (r == 0 && (s->len == 0 || s->p[0] != ')'))
                r = sheets_fail(b, "Invalid field mask.");
            *s = str_trim(str_skip(*s, 1));
        } else {
            r = add_mask_path(b, m, prefix, name);
        }
        if (r < 0)
            return r;
        if (s->len == 0 || s->p[0] != ',')
            return 0;
        *s = str_skip(*s, 1);
    }
}

int mask_read(struct sheets *b, const struct json *fields, struct mask *ret)
{
    struct str s = str_trim(json_str(fields, STR("")));

    *ret = (struct mask){0};
    if (s.len == 0)
        return sheets_fail(b, "At least one field must be listed in 'fields'. "
                              "(Use '*' to indicate all fields.)");
    int r = read_mask_names(b, ret, &s, STR(""), 0);
    if (r == 0 && s.len > 0)
        r = sheets_fail(b, "Invalid field mask.");
    for (size_t i = 0; i < ret->n; i++)
        ret->is_all = ret->is_all || str_is(ret->paths[i], "*");
    return r;
}

/* INNER is OUTER, or in it. */
static bool is_within_path(struct str inner, struct str outer)
{
    return str_eq(inner, outer) ||
           (str_starts(inner, outer) && inner.len > outer.len && inner.p[outer.len] == '.');
}

bool mask_has(const struct mask *m, const char *path)
{
    bool is_there = m->is_all;

    for (size_t i = 0; i < m->n; i++)
        is_there = is_there || is_within_path(str_of(path), m->paths[i]);
    return is_there;
}

const struct json *mask_value(const struct json *v, struct str path)
{
    while (path.p && v)
        v = json_get_str(v, str_cut(&path, '.'));
    return v;
}

int sheets_set_path(struct arena *a, struct json *object, struct str path, const struct json *value)
{
    struct str name = str_cut(&path, '.');

    while (path.p) {
        struct json *inner = json_get_str(object, name);
        if (!json_is(inner, JSON_OBJECT)) {
            if (json_is(value, JSON_NULL))
                return 0;
            struct json *made = json_new_object(a);
            if (!made || json_set_str(a, object, name, made) < 0)
                return -ENOMEM;
            inner = json_get_str(object, name);
        }
        object = inner;
        name = str_cut(&path, '.');
    }
    if (!json_is(value, JSON_NULL))
        return json_set_str(a, object, name, value);
    (void)json_del(object, name);
    return 0;
}
