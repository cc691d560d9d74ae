/* SPDX-License-Identifier: MIT */
/* Names of elements and attributes: the prefixes that we ask with, whatever a document binds. */
#include <errno.h>

#include "base/cleanup.h"
#include "office/xml_internal.h"

/* Our prefix and the namespace; where there are two, the first is what new files use. */
static const struct {
    const char *prefix, *uri;
} namespaces[] = {
    {"", "http://schemas.openxmlformats.org/spreadsheetml/2006/main"},
    {"", "http://purl.oclc.org/ooxml/spreadsheetml/main"},
    {"", "http://schemas.openxmlformats.org/package/2006/relationships"},
    {"", "http://schemas.openxmlformats.org/package/2006/content-types"},
    {"", "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"},
    {"", "http://purl.oclc.org/ooxml/officeDocument/extendedProperties"},
    {"", "http://schemas.openxmlformats.org/officeDocument/2006/custom-properties"},
    {"w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main"},
    {"w", "http://purl.oclc.org/ooxml/wordprocessingml/main"},
    {"p", "http://schemas.openxmlformats.org/presentationml/2006/main"},
    {"p", "http://purl.oclc.org/ooxml/presentationml/main"},
    {"a", "http://schemas.openxmlformats.org/drawingml/2006/main"},
    {"a", "http://purl.oclc.org/ooxml/drawingml/main"},
    {"c", "http://schemas.openxmlformats.org/drawingml/2006/chart"},
    {"c", "http://purl.oclc.org/ooxml/drawingml/chart"},
    {"xdr", "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"},
    {"xdr", "http://purl.oclc.org/ooxml/drawingml/spreadsheetDrawing"},
    {"wp", "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"},
    {"wp", "http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing"},
    {"pic", "http://schemas.openxmlformats.org/drawingml/2006/picture"},
    {"pic", "http://purl.oclc.org/ooxml/drawingml/picture"},
    {"r", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"},
    {"r", "http://purl.oclc.org/ooxml/officeDocument/relationships"},
    {"m", "http://schemas.openxmlformats.org/officeDocument/2006/math"},
    {"vt", "http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes"},
    {"cp", "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"},
    {"dc", "http://purl.org/dc/elements/1.1/"},
    {"dcterms", "http://purl.org/dc/terms/"},
    {"dcmitype", "http://purl.org/dc/dcmitype/"},
    {"xsi", "http://www.w3.org/2001/XMLSchema-instance"},
    {"mc", "http://schemas.openxmlformats.org/markup-compatibility/2006"},
    {"v", "urn:schemas-microsoft-com:vml"},
    {"o", "urn:schemas-microsoft-com:office:office"},
    {"x", "urn:schemas-microsoft-com:office:excel"},
    {"w10", "urn:schemas-microsoft-com:office:word"},
    {"w14", "http://schemas.microsoft.com/office/word/2010/wordml"},
    {"w15", "http://schemas.microsoft.com/office/word/2012/wordml"},
    {"p14", "http://schemas.microsoft.com/office/powerpoint/2010/main"},
    {"p15", "http://schemas.microsoft.com/office/powerpoint/2012/main"},
    {"a14", "http://schemas.microsoft.com/office/drawing/2010/main"},
    {"x14", "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"},
    {"x14ac", "http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"},
    {"xm", "http://schemas.microsoft.com/office/excel/2006/main"},
    {"wps", "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"},
    {"wpg", "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup"},
    {"xml", "http://www.w3.org/XML/1998/namespace"},
};

static struct str ours_of(struct str uri)
{
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        if (str_is(uri, namespaces[i].uri))
            return str_of(namespaces[i].prefix);
    }
    return STR_NULL;
}

/* ---- what is bound ---- */

int xml_bind(struct xml_scope *s, struct str prefix, struct str uri)
{
    if (s->n == ARRAY_LEN(s->bound))
        return -E2BIG;
    s->bound[s->n].prefix = prefix;
    s->bound[s->n++].ours = ours_of(uri);
    s->generation++;
    return 0;
}

void xml_unbind(struct xml_scope *s, size_t n)
{
    s->generation += s->n != n;
    s->n = n;
}

/* The part before the colon, empty without one; *LOCAL is the rest. */
static struct str xml_prefix_of(struct str name, struct str *local)
{
    ptrdiff_t colon = str_chr(name, ':');

    *local = colon < 0 ? name : str_skip(name, (size_t)colon + 1);
    return colon < 0 ? STR("") : str_slice(name, 0, (size_t)colon);
}

/* ---- names, each once in a document ---- */

static struct xml_name **xml_slot_of(struct xml_doc *d, struct str written)
{
    return &d->names[str_hash(written, 0) % ARRAY_LEN(d->names)];
}

static struct xml_name *name_make(struct xml_doc *d, struct str written, struct str key,
                                  bool is_attr)
{
    struct xml_name **slot = xml_slot_of(d, written);

    for (struct xml_name *n = *slot; n; n = n->next) {
        if (n->is_attr == is_attr && str_eq(n->written, written) && str_eq(n->key, key))
            return n;
    }
    if (d->n_names++ >= XML_NAMES_MAX)
        return xml_fail(d, -E2BIG);
    struct xml_name *n = arena_new(d->arena, struct xml_name);
    if (!n)
        return xml_fail(d, -ENOMEM);
    n->written = arena_str(d->arena, written);
    n->key = str_eq(written, key) ? n->written : arena_str(d->arena, key);
    if (!n->written.p || !n->key.p)
        return xml_fail(d, -ENOMEM);
    n->is_attr = is_attr;
    n->next = *slot;
    *slot = n;
    return n;
}

/* "PREFIX:LOCAL" in the arena, or LOCAL alone. */
static struct str joined(struct xml_doc *d, struct str prefix, struct str local)
{
    if (prefix.len == 0)
        return local;
    struct str s = arena_printf(d->arena, STR_FMT ":" STR_FMT, STR_ARG(prefix), STR_ARG(local));
    if (!s.p)
        (void)xml_fail(d, -ENOMEM);
    return s;
}

const struct xml_name *xml_name_read(struct xml_doc *d, struct xml_scope *s, struct str written,
                                     bool is_attr)
{
    struct str local, prefix = xml_prefix_of(written, &local), key = written;

    for (struct xml_name *n = *xml_slot_of(d, written); n; n = n->next) {
        if (n->generation == s->generation && n->is_attr == is_attr && str_eq(n->written, written))
            return n;
    }
    for (size_t i = is_attr && prefix.len == 0 ? 0 : s->n; i-- > 0;) {
        if (!str_eq(s->bound[i].prefix, prefix))
            continue;
        if (s->bound[i].ours.p)
            key = joined(d, s->bound[i].ours, local);
        break;
    }
    struct xml_name *n = key.p ? name_make(d, written, key, is_attr) : NULL;
    if (n)
        n->generation = s->generation;
    return n;
}

/* ---- names of new nodes ---- */

/* The prefix that is bound to the namespace of OURS at N; false when there is none. Attributes
 * need one that is not empty. */
static bool bound_at(const struct xml *n, struct str ours, bool is_attr, struct str *ret)
{
    for (; n && n->kind == XML_ELEMENT; n = n->parent) {
        for (unsigned i = 0; i < n->n_attrs; i++) {
            struct str name = n->attrs[i].name->written;
            bool is_default = str_is(name, "xmlns");
            if (!is_default && !str_starts(name, STR("xmlns:")))
                continue;
            if ((is_default && is_attr) || !str_eq(ours_of(n->attrs[i].value), ours))
                continue;
            *ret = is_default ? STR("") : str_skip(name, sizeof "xmlns:" - 1);
            return true;
        }
    }
    return false;
}

static const char *uri_of(struct str ours)
{
    for (size_t i = 0; ours.len > 0 && i < ARRAY_LEN(namespaces); i++) {
        if (str_is(ours, namespaces[i].prefix))
            return namespaces[i].uri;
    }
    return NULL;
}

const struct xml_name *xml_name_new(struct xml_doc *d, const struct xml *parent, struct str key,
                                    bool is_attr, const char **missing)
{
    struct str local, ours = xml_prefix_of(key, &local), prefix = ours, parent_local;

    *missing = NULL;
    if (is_attr && (ours.len == 0 || str_is(ours, "xml") || str_is(ours, "xmlns")))
        return name_make(d, key, key, true);
    if (!is_attr && parent && parent->name &&
        str_eq(xml_prefix_of(parent->name->key, &parent_local), ours)) {
        prefix = xml_prefix_of(parent->name->written, &parent_local);
    } else if (ours.len > 0 && !bound_at(parent, ours, is_attr, &prefix)) {
        *missing = uri_of(ours);
        prefix = ours;
    }
    struct str written = joined(d, prefix, local);
    return written.p ? name_make(d, written, key, is_attr) : NULL;
}
