/* SPDX-License-Identifier: MIT */
/* Relationships between the parts of office files. */
#include <errno.h>

#include "office/package_internal.h"

#define OFFICE  "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
#define PACKAGE "http://schemas.openxmlformats.org/package/2006/relationships/metadata/"

const char rels_empty[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"/>";

/* Of a path what is before the last slash, that included. */
static struct str folder_of(struct str name)
{
    while (name.len > 0 && name.p[name.len - 1] != '/')
        name.len--;
    return name;
}

struct str rels_name(struct package *p, const struct part *part)
{
    struct str folder = folder_of(part->name);

    if (part == &p->root)
        return STR("/_rels/.rels");
    return arena_printf(p->arena, STR_FMT "_rels/" STR_FMT ".rels", STR_ARG(folder),
                        STR_ARG(str_skip(part->name, folder.len)));
}

/* The document of PART's relationships, NULL when there is none. */
static struct xml_doc *rels_of(struct package *p, struct part *part)
{
    struct str bytes;

    if (part->are_rels_read)
        return part->rels;
    part->are_rels_read = true;
    struct str name = rels_name(p, part);
    struct zip_entry *entry = name.p ? zip_find(&p->zip, str_skip(name, 1)) : NULL;
    if (entry && zip_data(&p->zip, entry, &bytes, NULL) == 0)
        part->rels = xml_parse(p->arena, bytes, NULL);
    return part->rels;
}

/* The same, made when there is none, and it will be saved. */
static struct xml_doc *rels_edit(struct package *p, struct part *part)
{
    if (!rels_of(p, part))
        part->rels = xml_parse(p->arena, str_of(rels_empty), NULL);
    if (!part->rels && p->error == 0)
        p->error = -ENOMEM;
    part->are_rels_changed = part->rels != NULL;
    return part->rels;
}

/* ---- looking ---- */

static struct str last_segment(struct str uri)
{
    return str_skip(uri, folder_of(uri).len);
}

static void fill_rel(struct rel *r, struct xml *n)
{
    *r = (struct rel){
        .id = xml_get(n, "Id"),
        .type = last_segment(xml_get(n, "Type")),
        .target = xml_get(n, "Target"),
        .is_external = str_iis(xml_get(n, "TargetMode"), "External"),
        .node = n,
    };
}

bool rel_next(struct package *p, struct part *part, const char *type, struct rel *r)
{
    struct xml_doc *d = rels_of(p, part ? part : &p->root);
    struct xml *n = r->node;

    if (!d)
        return false;
    while ((n = n ? xml_next(n, "Relationship") : xml_child(d->root, "Relationship"))) {
        fill_rel(r, n);
        if (!type || str_is(r->type, type))
            return true;
    }
    return false;
}

bool rel_get(struct package *p, struct part *part, struct str id, struct rel *ret)
{
    struct rel r = {0};

    while (rel_next(p, part, NULL, &r)) {
        if (!str_eq(r.id, id))
            continue;
        *ret = r;
        return true;
    }
    return false;
}

/* TARGET, seen from the folder of FROM, as an absolute name. */
static struct str resolve_target(struct package *p, struct str from, struct str target)
{
    auto_buf struct buf b = BUF_INIT(4 * ZIP_NAME_MAX);
    struct str path = target;

    if (!str_starts(target, STR("/")))
        path = arena_printf(p->arena, STR_FMT STR_FMT, STR_ARG(folder_of(from)), STR_ARG(target));
    while (path.p) {
        struct str segment = str_cut(&path, '/');
        if (segment.len == 0 || str_is(segment, "."))
            continue;
        if (str_is(segment, "..")) {
            while (b.len > 0 && b.p[--b.len] != '/')
                ;
            continue;
        }
        (void)buf_add_char(&b, '/');
        (void)buf_add_str(&b, segment);
    }
    return buf_ok(&b) ? arena_str(p->arena, buf_str(&b)) : STR_NULL;
}

struct part *rel_part(struct package *p, struct part *part, const struct rel *r)
{
    if (r->is_external)
        return NULL;
    struct str name = resolve_target(p, part ? part->name : STR("/"), r->target);
    return name.p ? package_part(p, name) : NULL;
}

struct part *rel_part_by_id(struct package *p, struct part *part, struct str id)
{
    struct rel r;

    return rel_get(p, part, id, &r) ? rel_part(p, part, &r) : NULL;
}

struct part *rel_part_by_type(struct package *p, struct part *part, const char *type)
{
    struct rel r = {0};

    return rel_next(p, part, type, &r) ? rel_part(p, part, &r) : NULL;
}

/* ---- changing ---- */

static struct str free_rel_id(struct package *p, struct part *part)
{
    struct rel r = {0};
    int64_t top = 0, n;

    while (rel_next(p, part, NULL, &r)) {
        if (str_starts(r.id, STR("rId")) && str_to_i64(str_skip(r.id, 3), &n) == 0 && n > top &&
            n < INT32_MAX)
            top = n;
    }
    return arena_printf(p->arena, "rId%lld", (long long)top + 1);
}

static struct str add_rel(struct package *p, struct part *part, const char *type, struct str target)
{
    part = part ? part : &p->root;
    struct xml_doc *d = rels_edit(p, part);
    struct str id = free_rel_id(p, part);
    if (!d || !id.p)
        return STR("");
    bool is_package = strcmp(type, "core-properties") == 0 || strcmp(type, "thumbnail") == 0;
    struct xml *n = xml_add(d, d->root, "Relationship");
    xml_set(d, n, "Id", id);
    xml_setf(d, n, "Type", "%s%s", strstr(type, "://") ? "" : is_package ? PACKAGE : OFFICE, type);
    xml_set(d, n, "Target", target);
    return id;
}

/* TO as it is written in the relationships of a part in the folder FROM. */
static struct str relative(struct package *p, struct str from, struct str to)
{
    auto_buf struct buf b = BUF_INIT(4 * ZIP_NAME_MAX);
    size_t same = 0;

    for (size_t i = 0; i < from.len && i < to.len && from.p[i] == to.p[i]; i++) {
        if (from.p[i] == '/')
            same = i + 1;
    }
    for (size_t i = same; i < from.len; i++) {
        if (from.p[i] == '/')
            (void)buf_add_lit(&b, "../");
    }
    (void)buf_add_str(&b, str_skip(to, same));
    return buf_ok(&b) ? arena_str(p->arena, buf_str(&b)) : to;
}

struct str rel_add(struct package *p, struct part *part, const char *type, const struct part *to)
{
    struct rel r = {0};

    if (!to)
        return STR("");
    while (rel_next(p, part, type, &r)) {
        if (rel_part(p, part, &r) == to)
            return r.id;
    }
    struct str folder = folder_of(part ? part->name : STR("/"));
    return add_rel(p, part, type, relative(p, folder, to->name));
}

struct str rel_add_external(struct package *p, struct part *part, const char *type, struct str to)
{
    struct str id = add_rel(p, part, type, to);
    struct rel r;

    if (rel_get(p, part, id, &r))
        xml_set((part ? part : &p->root)->rels, r.node, "TargetMode", STR("External"));
    return id;
}

void rel_remove(struct package *p, struct part *part, struct str id)
{
    struct rel r;

    if (!rel_get(p, part, id, &r))
        return;
    (void)rels_edit(p, part ? part : &p->root);
    xml_remove(r.node);
}
