/* SPDX-License-Identifier: MIT */
/* Trees of XML: looking and changing. Parsing: xml_parse.c, names: xml_names.c. */
#include "office/xml.h"

#include <errno.h>
#include <stdarg.h>

#include "base/utf8.h"
#include "office/xml_internal.h"

/* ---- nodes ---- */

void *xml_fail(struct xml_doc *d, int error)
{
    if (d->error == 0)
        d->error = error;
    return NULL;
}

struct xml *xml_node(struct xml_doc *d, enum xml_kind kind)
{
    if (d->n_nodes++ >= XML_NODES_MAX)
        return xml_fail(d, -E2BIG);
    struct xml *n = arena_new(d->arena, struct xml);
    if (!n)
        return xml_fail(d, -ENOMEM);
    n->kind = kind;
    return n;
}

/* Room for CAP attributes. Most elements have very few. */
static bool grow_attrs(struct xml_doc *d, struct xml *n, unsigned cap)
{
    struct xml_attr *grown = arena_alloc(d->arena, cap * sizeof *grown);

    if (!grown)
        return false;
    if (n->n_attrs > 0)
        memcpy(grown, n->attrs, n->n_attrs * sizeof *grown);
    n->attrs = grown;
    n->attrs_cap = (uint16_t)cap;
    return true;
}

/* Adds an attribute behind the others; the value is not copied. */
static void xml_attr_add(struct xml_doc *d, struct xml *n, const struct xml_name *name,
                         struct str value)
{
    if (!name || n->n_attrs >= XML_ATTRS_MAX) {
        (void)xml_fail(d, -E2BIG);
        return;
    }
    if (n->n_attrs == n->attrs_cap && !grow_attrs(d, n, n->attrs_cap > 0 ? n->attrs_cap * 2U : 2)) {
        (void)xml_fail(d, -ENOMEM);
        return;
    }
    n->attrs[n->n_attrs++] = (struct xml_attr){name, value};
}

static void declare(struct xml_doc *d, struct xml *n, struct str key, const char *uri)
{
    const char *unused;
    ptrdiff_t colon = str_chr(key, ':');
    struct str prefix = str_slice(key, 0, colon > 0 ? (size_t)colon : 0);
    struct str name = arena_printf(d->arena, "xmlns:" STR_FMT, STR_ARG(prefix));

    if (!name.p) {
        (void)xml_fail(d, -ENOMEM);
        return;
    }
    xml_attr_add(d, n, xml_name_new(d, n, name, true, &unused), str_of(uri));
}

struct xml *xml_element(struct xml_doc *d, const struct xml *parent, struct str key)
{
    const char *missing;
    const struct xml_name *name = xml_name_new(d, parent, key, false, &missing);
    struct xml *n = name ? xml_node(d, XML_ELEMENT) : NULL;

    if (!n)
        return NULL;
    n->name = name;
    if (missing)
        declare(d, n, key, missing);
    return n;
}

void xml_attr_set(struct xml_doc *d, struct xml *n, struct str key, struct str value)
{
    const char *missing;

    for (unsigned i = 0; i < n->n_attrs; i++) {
        if (str_eq(n->attrs[i].name->key, key)) {
            n->attrs[i].value = value;
            return;
        }
    }
    const struct xml_name *name = xml_name_new(d, n, key, true, &missing);
    if (missing)
        declare(d, n, key, missing);
    if (name)
        xml_attr_add(d, n, name, value);
}

/* ---- looking ---- */

bool xml_is(const struct xml *n, const char *name)
{
    return n && n->kind == XML_ELEMENT && (!name || str_is(n->name->key, name));
}

static struct xml *from(struct xml *n, const char *name)
{
    while (n && !xml_is(n, name))
        n = n->next;
    return n;
}

struct xml *xml_child(const struct xml *n, const char *name)
{
    return n ? from(n->first, name) : NULL;
}

struct xml *xml_next(const struct xml *n, const char *name)
{
    return n ? from(n->next, name) : NULL;
}

struct xml *xml_last(const struct xml *n, const char *name)
{
    struct xml *at = n ? n->last : NULL;

    while (at && !xml_is(at, name))
        at = at->prev;
    return at;
}

struct xml *xml_nth(const struct xml *n, const char *name, size_t i)
{
    struct xml *at = xml_child(n, name);

    while (at && i-- > 0)
        at = xml_next(at, name);
    return at;
}

size_t xml_count(const struct xml *n, const char *name)
{
    size_t count = 0;

    for (struct xml *at = xml_child(n, name); at; at = xml_next(at, name))
        count++;
    return count;
}

struct xml *xml_path(const struct xml *n, const char *path)
{
    struct str rest = str_of(path);

    while (n && rest.p) {
        struct str name = str_cut(&rest, '/');
        n = n->first;
        while (n && !(n->kind == XML_ELEMENT && str_eq(n->name->key, name)))
            n = n->next;
    }
    return (struct xml *)(uintptr_t)n;
}

struct xml *xml_above(const struct xml *n, const char *name)
{
    struct xml *at = n ? n->parent : NULL;

    while (at && !xml_is(at, name))
        at = at->parent;
    return at;
}

/* The node behind N in the document's order, below TOP. */
static struct xml *step_document(const struct xml *top, struct xml *n)
{
    if (n->first)
        return n->first;
    while (n != top && !n->next)
        n = n->parent;
    return n == top ? NULL : n->next;
}

struct xml *xml_walk(const struct xml *top, struct xml *n, const char *name)
{
    if (!n)
        n = top ? top->first : NULL;
    else
        n = step_document(top, n);
    while (n && !xml_is(n, name))
        n = step_document(top, n);
    return n;
}

struct xml *xml_find(const struct xml *top, const char *name, const char *attr, struct str value)
{
    struct xml *n = NULL;

    while ((n = xml_walk(top, n, name))) {
        struct str got = xml_get(n, attr);
        if (got.p && str_eq(got, value))
            return n;
    }
    return NULL;
}

struct str xml_get(const struct xml *n, const char *attr)
{
    for (unsigned i = 0; n && i < n->n_attrs; i++) {
        if (str_is(n->attrs[i].name->key, attr))
            return n->attrs[i].value;
    }
    return STR_NULL;
}

int64_t xml_get_int(const struct xml *n, const char *attr, int64_t fallback)
{
    int64_t v;
    struct str s = xml_get(n, attr);

    return s.p && str_to_i64(str_trim(s), &v) == 0 ? v : fallback;
}

bool xml_get_bool(const struct xml *n, const char *attr, bool fallback)
{
    struct str s = xml_get(n, attr);

    if (str_is(s, "1") || str_is(s, "true") || str_is(s, "on"))
        return true;
    if (str_is(s, "0") || str_is(s, "false") || str_is(s, "off"))
        return false;
    return fallback;
}

static bool is_xml_text(const struct xml *n)
{
    return n->kind == XML_TEXT || n->kind == XML_CDATA;
}

struct str xml_text(struct xml_doc *d, const struct xml *n)
{
    auto_buf struct buf b = BUF_INIT(SIZE_MAX / 2);

    if (!n || !n->first)
        return STR("");
    if (n->first == n->last && is_xml_text(n->first))
        return n->first->text;
    for (struct xml *at = n->first; at; at = step_document(n, at)) {
        if (is_xml_text(at))
            (void)buf_add_str(&b, at->text);
    }
    struct str s = arena_str(d->arena, buf_str(&b));
    if (!s.p || !buf_ok(&b))
        (void)xml_fail(d, -ENOMEM);
    return s.p ? s : STR("");
}

/* ---- changing ---- */

void xml_insert(struct xml *parent, struct xml *n, struct xml *before)
{
    if (!parent || !n)
        return;
    n->parent = parent;
    n->next = before;
    n->prev = before ? before->prev : parent->last;
    if (n->prev)
        n->prev->next = n;
    else
        parent->first = n;
    if (before)
        before->prev = n;
    else
        parent->last = n;
}

void xml_remove(struct xml *n)
{
    if (!n || !n->parent)
        return;
    if (n->prev)
        n->prev->next = n->next;
    else
        n->parent->first = n->next;
    if (n->next)
        n->next->prev = n->prev;
    else
        n->parent->last = n->prev;
    n->parent = n->next = n->prev = NULL;
}

void xml_remove_all(struct xml *n, const char *name)
{
    for (struct xml *at; (at = xml_child(n, name));)
        xml_remove(at);
}

void xml_clear(struct xml *n)
{
    while (n && n->first)
        xml_remove(n->first);
}

struct xml *xml_add_before(struct xml_doc *d, struct xml *parent, const char *name,
                           struct xml *before)
{
    struct xml *n = parent ? xml_element(d, parent, str_of(name)) : NULL;

    xml_insert(parent, n, before);
    return n;
}

struct xml *xml_add(struct xml_doc *d, struct xml *parent, const char *name)
{
    return xml_add_before(d, parent, name, NULL);
}

/* The first child that comes behind NAME in ORDER. */
static struct xml *first_behind(const struct xml *parent, const char *name,
                                const char *const order[])
{
    while (*order && strcmp(*order, name) != 0)
        order++;
    for (struct xml *n = *order ? parent->first : NULL; n; n = n->next) {
        for (const char *const *later = order + 1; *later; later++) {
            if (xml_is(n, *later))
                return n;
        }
    }
    return NULL;
}

struct xml *xml_place(struct xml_doc *d, struct xml *parent, const char *name,
                      const char *const order[])
{
    struct xml *before = parent && order ? first_behind(parent, name, order) : NULL;

    return xml_add_before(d, parent, name, before);
}

struct xml *xml_need(struct xml_doc *d, struct xml *parent, const char *name,
                     const char *const order[])
{
    struct xml *n = xml_child(parent, name);

    return n ? n : xml_place(d, parent, name, order);
}

/* How many bytes XML can hold are at the beginning of S. */
static size_t good_bytes(struct str s)
{
    size_t i = 0;

    while (i < s.len) {
        unsigned char c = (unsigned char)s.p[i];
        size_t n = c >= 0x80 ? utf8_sequence(s.p + i, s.len - i) : 1;
        if (n == 0 || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
            break;
        i += n;
    }
    return i;
}

/* S in the arena, with U+FFFD for what XML cannot hold. */
static struct str copied(struct xml_doc *d, struct str s)
{
    auto_buf struct buf b = BUF_INIT(SIZE_MAX / 2);
    size_t good = good_bytes(s);

    while (good < s.len) {
        (void)buf_add(&b, s.p, good);
        (void)buf_add_lit(&b, "\xef\xbf\xbd");
        s = str_skip(s, good + 1);
        good = good_bytes(s);
    }
    if (b.len > 0) {
        (void)buf_add_str(&b, s);
        s = buf_str(&b);
    }
    struct str copy = arena_str(d->arena, s);
    if (!copy.p || !buf_ok(&b))
        (void)xml_fail(d, -ENOMEM);
    return copy;
}

void xml_set(struct xml_doc *d, struct xml *n, const char *attr, struct str value)
{
    if (n)
        xml_attr_set(d, n, str_of(attr), copied(d, value));
}

void xml_setf(struct xml_doc *d, struct xml *n, const char *attr, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    struct str value = arena_vprintf(d->arena, fmt, ap);
    va_end(ap);
    if (!value.p)
        (void)xml_fail(d, -ENOMEM);
    else if (good_bytes(value) < value.len)
        xml_set(d, n, attr, value);
    else if (n)
        xml_attr_set(d, n, str_of(attr), value);
}

void xml_unset(struct xml *n, const char *attr)
{
    unsigned to = 0;

    for (unsigned i = 0; n && i < n->n_attrs; i++) {
        if (!str_is(n->attrs[i].name->key, attr))
            n->attrs[to++] = n->attrs[i];
    }
    if (n)
        n->n_attrs = (uint16_t)to;
}

void xml_set_text(struct xml_doc *d, struct xml *n, struct str text)
{
    xml_clear(n);
    struct xml *t = n && text.len > 0 ? xml_node(d, XML_TEXT) : NULL;
    if (!t)
        return;
    t->text = copied(d, text);
    xml_insert(n, t, NULL);
}

/* ---- copying ---- */

/* N alone. */
static struct xml *copy_xml_node(struct xml_doc *d, const struct xml *n)
{
    struct xml *c = xml_node(d, n->kind);

    if (!c)
        return NULL;
    c->text = n->text;
    c->name = n->name;
    if (n->n_attrs > 0 && !grow_attrs(d, c, n->n_attrs))
        return xml_fail(d, -ENOMEM);
    for (unsigned i = 0; i < n->n_attrs; i++)
        xml_attr_add(d, c, n->attrs[i].name, n->attrs[i].value);
    return c;
}

static bool has_written(const struct xml *n, struct str name, struct str *ret)
{
    for (unsigned i = 0; n && i < n->n_attrs; i++) {
        if (str_eq(n->attrs[i].name->written, name)) {
            *ret = n->attrs[i].value;
            return true;
        }
    }
    return false;
}

/* Declares on COPY what is bound at N and not the same at the root of D. */
static void declare_bound(struct xml_doc *d, struct xml *copy, const struct xml *n)
{
    struct str there;

    for (n = n->parent; n; n = n->parent) {
        for (unsigned i = 0; i < n->n_attrs; i++) {
            const struct xml_attr *a = &n->attrs[i];
            if (!str_starts(a->name->written, STR("xmlns")) ||
                has_written(copy, a->name->written, &there))
                continue;
            if (has_written(d->root, a->name->written, &there) && str_eq(there, a->value))
                continue;
            xml_attr_add(d, copy, a->name, a->value);
        }
    }
}

struct xml *xml_copy(struct xml_doc *d, const struct xml *n)
{
    struct xml *top = n ? copy_xml_node(d, n) : NULL, *to = top;
    const struct xml *at = n;

    if (!top)
        return NULL;
    if (n->kind == XML_ELEMENT)
        declare_bound(d, top, n);
    while (to) {
        if (at->first) {
            at = at->first;
            struct xml *c = copy_xml_node(d, at);
            xml_insert(to, c, NULL);
            to = c;
            continue;
        }
        while (at != n && !at->next) {
            at = at->parent;
            to = to->parent;
        }
        if (at == n)
            return top;
        at = at->next;
        struct xml *c = copy_xml_node(d, at);
        xml_insert(to->parent, c, NULL);
        to = c;
    }
    return NULL;
}
