/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/deck.h"

#include <errno.h>

#include "base/clock.h"
#include "local/powerpoint/shape.h"

static const char slide_type[] =
    "application/vnd.openxmlformats-officedocument.presentationml.slide+xml";

int deck_check(struct deck *d, struct err *e)
{
    d->main = package_main(&d->package);
    struct xml_doc *doc = d->main ? part_xml(&d->package, d->main, e) : NULL;
    if (doc && xml_is(doc->root, "p:presentation"))
        return 0;
    return err_set(e, -EINVAL, "the file is not a PowerPoint presentation");
}

static struct xml *main_child(struct deck *d, const char *name)
{
    struct xml_doc *doc = part_xml(&d->package, d->main, NULL);

    return doc ? xml_child(doc->root, name) : NULL;
}

/* The part that the I-th NAME in LIST of PART names by its r:id. */
static struct part *listed(struct deck *d, struct part *part, const struct xml *list,
                           const char *name, size_t i)
{
    const struct xml *item = xml_nth(list, name, i);

    return item ? rel_part_by_id(&d->package, part, xml_get(item, "r:id")) : NULL;
}

/* ---- slides ---- */

size_t deck_n_slides(struct deck *d)
{
    return xml_count(main_child(d, "p:sldIdLst"), "p:sldId");
}

int deck_open(struct deck *d, struct part *part, struct slide *ret, struct err *e)
{
    struct xml_doc *doc = part ? part_xml(&d->package, part, e) : NULL;
    struct xml *tree = doc ? xml_path(doc->root, "p:cSld/p:spTree") : NULL;

    if (!tree)
        return doc || !part ? err_set(e, -EINVAL, "the slide has no tree of shapes") : -EINVAL;
    *ret = (struct slide){part, doc, tree};
    return 0;
}

int deck_slide(struct deck *d, size_t i, struct slide *ret, struct err *e)
{
    return deck_open(d, listed(d, d->main, main_child(d, "p:sldIdLst"), "p:sldId", i), ret, e);
}

/* Behind the masters, before the size of slides: the order of the schema. */
static const char *const main_order[] = {
    "p:sldMasterIdLst", "p:notesMasterIdLst", "p:handoutMasterIdLst", "p:sldIdLst",
    "p:sldSz",          "p:notesSz",          "p:embeddedFontLst",    NULL};

static int list_slide(struct deck *d, struct part *slide, struct err *e)
{
    struct xml_doc *doc = part_edit(&d->package, d->main, e);
    struct xml *list = doc ? xml_need(doc, doc->root, "p:sldIdLst", main_order) : NULL;
    int64_t id = 255;

    for (struct xml *s = xml_child(list, "p:sldId"); s; s = xml_next(s, "p:sldId")) {
        if (xml_get_int(s, "id", 0) > id)
            id = xml_get_int(s, "id", 0);
    }
    struct str rel = rel_add(&d->package, d->main, "slide", slide);
    struct xml *item = xml_add(doc, list, "p:sldId");
    if (!item || !rel.p)
        return err_set(e, -ENOMEM, "out of memory");
    xml_setf(doc, item, "id", "%lld", (long long)id + 1);
    xml_set(doc, item, "r:id", rel);
    return 0;
}

int deck_add_slide(struct deck *d, struct part *layout, struct slide *ret, struct err *e)
{
    static const char empty[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
        "<p:sld xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\""
        " xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\""
        " xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\"><p:cSld>"
        "<p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/>"
        "</p:nvGrpSpPr><p:grpSpPr/></p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/>"
        "</p:clrMapOvr></p:sld>";
    struct slide base;

    if (deck_n_slides(d) >= PP_SLIDES_MAX)
        return err_set(e, -E2BIG, "a presentation can have at most %d slides", (int)PP_SLIDES_MAX);
    int r = deck_open(d, layout, &base, e);
    if (r < 0)
        return r;
    struct str name = package_free_name(&d->package, "/ppt/slides/slide", ".xml");
    struct part *part = name.p ? package_add(&d->package, name, slide_type, str_of(empty)) : NULL;
    if (!part || !rel_add(&d->package, part, "slideLayout", layout).p)
        return err_set(e, -ENOMEM, "out of memory");
    r = deck_open(d, part, ret, e);
    if (r == 0)
        r = list_slide(d, part, e);
    if (r == 0)
        shape_clone_placeholders(&base, ret);
    (void)part_edit(&d->package, part, NULL);
    return r;
}

/* ---- masters and layouts ---- */

size_t deck_n_masters(struct deck *d)
{
    return xml_count(main_child(d, "p:sldMasterIdLst"), "p:sldMasterId");
}

struct part *deck_master(struct deck *d, size_t i)
{
    return listed(d, d->main, main_child(d, "p:sldMasterIdLst"), "p:sldMasterId", i);
}

static struct xml *layouts_of(struct deck *d, struct part *master)
{
    struct xml_doc *doc = master ? part_xml(&d->package, master, NULL) : NULL;

    return doc ? xml_child(doc->root, "p:sldLayoutIdLst") : NULL;
}

size_t deck_n_layouts(struct deck *d, struct part *master)
{
    return xml_count(layouts_of(d, master), "p:sldLayoutId");
}

struct part *deck_layout(struct deck *d, struct part *master, size_t i)
{
    return listed(d, master, layouts_of(d, master), "p:sldLayoutId", i);
}

struct part *deck_first_layout(struct deck *d, size_t i, size_t *n)
{
    struct part *master = deck_master(d, 0);

    *n = deck_n_layouts(d, master);
    return i < *n ? deck_layout(d, master, i) : NULL;
}

struct part *deck_base(struct deck *d, struct part *part)
{
    struct part *base = rel_part_by_type(&d->package, part, "slideLayout");
    struct xml_doc *doc = part_xml(&d->package, part, NULL);

    /* A master has layouts as well, but they are not its base. */
    if (!doc || xml_is(doc->root, "p:sldMaster"))
        return NULL;
    return base ? base : rel_part_by_type(&d->package, part, "slideMaster");
}

struct str deck_part_name(struct deck *d, struct part *part)
{
    struct xml_doc *doc = part ? part_xml(&d->package, part, NULL) : NULL;
    struct str name = doc ? xml_get(xml_child(doc->root, "p:cSld"), "name") : STR_NULL;

    return name.p ? name : STR("");
}

void deck_size(struct deck *d, int64_t *width, int64_t *height)
{
    const struct xml *size = main_child(d, "p:sldSz");

    *width = xml_get_int(size, "cx", 10 * (int64_t)PP_EMU_INCH);
    *height = xml_get_int(size, "cy", 15 * (int64_t)PP_EMU_INCH / 2);
}

/* ---- properties ---- */

static struct part *deck_properties(struct deck *d)
{
    return rel_part_by_type(&d->package, NULL, "core-properties");
}

struct str deck_property(struct deck *d, const char *name)
{
    struct part *part = deck_properties(d);
    struct xml_doc *doc = part ? part_xml(&d->package, part, NULL) : NULL;
    struct xml *node = doc ? xml_child(doc->root, name) : NULL;

    return node ? xml_text(doc, node) : STR_NULL;
}

static struct part *add_properties(struct deck *d)
{
    static const char empty[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<cp:coreProperties"
        " xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\""
        " xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
        " xmlns:dcterms=\"http://purl.org/dc/terms/\""
        " xmlns:dcmitype=\"http://purl.org/dc/dcmitype/\""
        " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"/>";
    struct part *part =
        package_add(&d->package, STR("/docProps/core.xml"),
                    "application/vnd.openxmlformats-package.core-properties+xml", str_of(empty));

    if (part)
        (void)rel_add(&d->package, NULL, "core-properties", part);
    return part;
}

int deck_set_property(struct deck *d, const char *name, struct str value, struct err *e)
{
    struct part *part = deck_properties(d);

    if (!part)
        part = add_properties(d);
    struct xml_doc *doc = part ? part_edit(&d->package, part, e) : NULL;
    struct xml *node = doc ? xml_need(doc, doc->root, name, NULL) : NULL;
    if (!node)
        return err_set(e, -ENOMEM, "the properties cannot be written");
    xml_set_text(doc, node, value);
    if (str_starts(str_of(name), STR("dcterms:")))
        xml_set(doc, node, "xsi:type", STR("dcterms:W3CDTF"));
    return 0;
}
