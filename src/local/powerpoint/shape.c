/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/shape.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "local/powerpoint/deck.h"

static const char *const kinds[] = {"p:sp",    "p:grpSp", "p:graphicFrame",
                                    "p:cxnSp", "p:pic",   "p:contentPart"};

static bool is_shape(const struct xml *n)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (xml_is(n, kinds[i]))
            return true;
    }
    return false;
}

struct xml *shape_next(const struct xml *shape)
{
    struct xml *n = xml_next(shape, NULL);

    while (n && !is_shape(n))
        n = xml_next(n, NULL);
    return n;
}

static struct xml *first_shape(const struct slide *s)
{
    struct xml *n = xml_child(s->tree, NULL);

    return !n || is_shape(n) ? n : shape_next(n);
}

size_t shape_count(const struct slide *s)
{
    size_t n = 0;

    for (struct xml *x = first_shape(s); x; x = shape_next(x))
        n++;
    return n;
}

struct xml *shape_at(const struct slide *s, size_t i)
{
    struct xml *x = first_shape(s);

    while (x && i-- > 0)
        x = shape_next(x);
    return x;
}

/* p:nvSpPr, p:nvPicPr, …: always the first. */
static struct xml *shape_head_of(const struct xml *shape)
{
    return xml_child(shape, NULL);
}

struct str shape_name(const struct xml *shape)
{
    struct str name = xml_get(xml_child(shape_head_of(shape), "p:cNvPr"), "name");

    return name.p ? name : STR("");
}

struct xml *shape_properties(const struct xml *shape)
{
    struct xml *p = xml_child(shape, "p:spPr");

    return p ? p : xml_child(shape, "p:grpSpPr");
}

static const char *frame_type(const struct xml *shape)
{
    static const char *const types[][2] = {
        {"http://schemas.openxmlformats.org/drawingml/2006/chart", "CHART (3)"},
        {"http://schemas.openxmlformats.org/drawingml/2006/table", "TABLE (19)"},
        {"http://schemas.openxmlformats.org/presentationml/2006/ole", "EMBEDDED_OLE_OBJECT (7)"},
    };
    struct str uri = xml_get(xml_path(shape, "a:graphic/a:graphicData"), "uri");

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (uri.p && str_is(uri, types[i][0]))
            return types[i][1];
    }
    return "None";
}

const char *shape_type(const struct xml *shape)
{
    const struct xml *p = shape_properties(shape);

    if (shape_ph(shape))
        return "PLACEHOLDER (14)";
    if (xml_is(shape, "p:graphicFrame"))
        return frame_type(shape);
    if (xml_is(shape, "p:pic"))
        return xml_path(shape, "p:nvPicPr/p:nvPr/a:videoFile") ? "MEDIA (16)" : "PICTURE (13)";
    if (xml_is(shape, "p:grpSp"))
        return "GROUP (6)";
    if (xml_is(shape, "p:cxnSp"))
        return "LINE (9)";
    if (xml_child(p, "a:custGeom"))
        return "FREEFORM (5)";
    if (xml_get_bool(xml_path(shape, "p:nvSpPr/p:cNvSpPr"), "txBox", false))
        return "TEXT_BOX (17)";
    return xml_child(p, "a:prstGeom") ? "AUTO_SHAPE (1)" : "None";
}

/* ---- placeholders ---- */

/* Types of placeholders: in files, as the original names them, what new ones are called, and which
 * one of the master they take after. */
static const struct ph_type {
    const char *type, *text, *base, *master;
    bool has_text, is_foot;
} ph_types[] = {
    {"obj", "OBJECT (7)", "Content Placeholder", "body", true, false},
    {"title", "TITLE (1)", "Title", "title", true, false},
    {"body", "BODY (2)", "Text Placeholder", "body", true, false},
    {"ctrTitle", "CENTER_TITLE (3)", "Title", "title", true, false},
    {"subTitle", "SUBTITLE (4)", "Subtitle", "body", true, false},
    {"chart", "CHART (8)", "Chart Placeholder", "body", false, false},
    {"clipArt", "BITMAP (9)", "ClipArt Placeholder", "body", false, false},
    {"media", "MEDIA_CLIP (10)", "Media Placeholder", "body", false, false},
    {"dgm", "ORG_CHART (11)", "SmartArt Placeholder", "body", false, false},
    {"tbl", "TABLE (12)", "Table Placeholder", "body", false, false},
    {"sldNum", "SLIDE_NUMBER (13)", "Slide Number Placeholder", "sldNum", true, true},
    {"hdr", "HEADER (14)", "Header Placeholder", "hdr", true, false},
    {"ftr", "FOOTER (15)", "Footer Placeholder", "ftr", true, true},
    {"dt", "DATE (16)", "Date Placeholder", "dt", true, true},
    {"pic", "PICTURE (18)", "Picture Placeholder", "body", false, false},
    {"sldImg", "SLIDE_IMAGE (101)", "Slide Image Placeholder", "sldImg", false, false},
};

struct xml *shape_ph(const struct xml *shape)
{
    return xml_path(shape_head_of(shape), "p:nvPr/p:ph");
}

int64_t shape_ph_idx(const struct xml *shape)
{
    return xml_get_int(shape_ph(shape), "idx", 0);
}

static const struct ph_type *ph_type(const struct xml *ph)
{
    struct str type = xml_get(ph, "type");

    for (size_t i = 0; type.p && i < ARRAY_LEN(ph_types); i++) {
        if (str_is(type, ph_types[i].type))
            return &ph_types[i];
    }
    return &ph_types[0];
}

const char *shape_ph_type(const struct xml *shape)
{
    return ph_type(shape_ph(shape))->text;
}

struct xml *shape_placeholder(const struct slide *s, int64_t idx)
{
    for (struct xml *x = first_shape(s); x; x = shape_next(x)) {
        if (shape_ph(x) && shape_ph_idx(x) == idx)
            return x;
    }
    return NULL;
}

struct xml *shape_title(const struct slide *s)
{
    return shape_placeholder(s, 0);
}

struct xml *shape_ph_by_idx(const struct slide *s, const struct xml *after)
{
    struct xml *best = NULL;
    bool is_behind = !after;

    /* Of the same idx, those behind AFTER in the tree come next. */
    for (struct xml *x = first_shape(s); x; x = shape_next(x)) {
        int64_t idx = shape_ph(x) ? shape_ph_idx(x) : -1, least = after ? shape_ph_idx(after) : 0;
        bool is_next = idx > least || (idx == least && is_behind);
        if (shape_ph(x) && is_next && (!best || idx < shape_ph_idx(best)))
            best = x;
        is_behind = is_behind || x == after;
    }
    return best;
}

/* The placeholder of BASE that PH takes after: by idx from layouts, by type from masters. */
static struct xml *ph_base(const struct slide *base, const struct xml *ph, bool is_master)
{
    const char *type = ph_type(ph)->master;

    if (!is_master)
        return shape_placeholder(base, xml_get_int(ph, "idx", 0));
    for (struct xml *x = first_shape(base); x; x = shape_next(x)) {
        struct str t = xml_get(shape_ph(x), "type");
        if (t.p && str_is(t, type))
            return x;
    }
    return NULL;
}

static bool own_box(const struct xml *shape, struct box *ret)
{
    const struct xml *x = xml_child(shape_properties(shape), "a:xfrm");

    if (!x)
        x = xml_child(shape, "p:xfrm");
    const struct xml *off = xml_child(x, "a:off"), *ext = xml_child(x, "a:ext");
    if (!off || !ext)
        return false;
    ret->x = xml_get_int(off, "x", 0);
    ret->y = xml_get_int(off, "y", 0);
    ret->cx = xml_get_int(ext, "cx", 0);
    ret->cy = xml_get_int(ext, "cy", 0);
    return true;
}

bool shape_box(struct deck *d, const struct slide *s, const struct xml *shape, struct box *ret)
{
    struct slide base = *s;

    for (int i = 0; shape && i < 3; i++) {
        if (own_box(shape, ret))
            return true;
        const struct xml *ph = shape_ph(shape);
        if (!ph || deck_open(d, deck_base(d, base.part), &base, NULL) < 0)
            return false;
        shape = ph_base(&base, ph, xml_is(base.doc->root, "p:sldMaster"));
    }
    return false;
}

/* ---- adding ---- */

static int64_t next_id(const struct slide *s)
{
    int64_t id = 0;

    for (struct xml *n = NULL; (n = xml_walk(s->tree, n, "p:cNvPr"));) {
        int64_t here = xml_get_int(n, "id", 0);
        if (here > id && here < INT32_MAX - 1)
            id = here;
    }
    return id + 1;
}

/* FRAGMENT, which has a p:cNvPr, behind the other shapes. */
static struct xml *append_shape(struct slide *s, const char *name, const char *fragment)
{
    /* An extension list, if there is one, stays last. */
    struct xml *end = xml_child(s->tree, "p:extLst");
    int64_t id = next_id(s);

    if (shape_count(s) >= PP_SHAPES_MAX)
        return NULL;
    struct xml *shape = xml_add_text(s->doc, s->tree, end, fragment);
    struct xml *head = xml_child(shape_head_of(shape), "p:cNvPr");
    xml_setf(s->doc, head, "id", "%lld", (long long)id);
    xml_setf(s->doc, head, "name", "%s %lld", name, (long long)id - 1);
    return shape;
}

void shape_clone_placeholders(const struct slide *layout, struct slide *s)
{
    for (struct xml *x = first_shape(layout); x; x = shape_next(x)) {
        const struct xml *ph = shape_ph(x);
        const struct ph_type *type = ph_type(ph);
        struct str orient = xml_get(ph, "orient");
        char name[64];

        if (!ph || type->is_foot)
            continue;
        bool is_vertical = orient.p && str_is(orient, "vert");
        (void)snprintf(name, sizeof name, "%s%s", is_vertical ? "Vertical " : "", type->base);
        struct xml *shape =
            append_shape(s, name,
                         "<p:sp><p:nvSpPr><p:cNvPr id=\"0\" name=\"\"/><p:cNvSpPr><a:spLocks "
                         "noGrp=\"1\"/></p:cNvSpPr><p:nvPr/></p:nvSpPr><p:spPr/></p:sp>");
        struct xml *own = xml_copy(s->doc, ph);
        if (own && shape)
            xml_insert(xml_path(shape, "p:nvSpPr/p:nvPr"), own, NULL);
        if (type->has_text)
            (void)xml_add_text(s->doc, shape, NULL,
                               "<p:txBody><a:bodyPr/><a:lstStyle/><a:p/></p:txBody>");
    }
}

static void set_box(struct xml_doc *doc, struct xml *xfrm, const struct box *box)
{
    struct xml *off = xml_need(doc, xfrm, "a:off", NULL), *ext = xml_need(doc, xfrm, "a:ext", NULL);

    xml_setf(doc, off, "x", "%lld", (long long)box->x);
    xml_setf(doc, off, "y", "%lld", (long long)box->y);
    xml_setf(doc, ext, "cx", "%lld", (long long)box->cx);
    xml_setf(doc, ext, "cy", "%lld", (long long)box->cy);
}

struct xml *shape_add(struct slide *s, const struct shape_new *n)
{
    static const char auto_shape[] =
        "<p:sp><p:nvSpPr><p:cNvPr id=\"0\" name=\"\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr>"
        "<a:xfrm/><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr><p:style><a:lnRef "
        "idx=\"1\"><a:schemeClr val=\"accent1\"/></a:lnRef><a:fillRef idx=\"3\"><a:schemeClr "
        "val=\"accent1\"/></a:fillRef><a:effectRef idx=\"2\"><a:schemeClr val=\"accent1\"/>"
        "</a:effectRef><a:fontRef idx=\"minor\"><a:schemeClr val=\"lt1\"/></a:fontRef></p:style>"
        "<p:txBody><a:bodyPr rtlCol=\"0\" anchor=\"ctr\"/><a:lstStyle/><a:p><a:pPr "
        "algn=\"ctr\"/></a:p></p:txBody></p:sp>";
    static const char text_box[] =
        "<p:sp><p:nvSpPr><p:cNvPr id=\"0\" name=\"\"/><p:cNvSpPr txBox=\"1\"/><p:nvPr/>"
        "</p:nvSpPr><p:spPr><a:xfrm/><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom>"
        "<a:noFill/></p:spPr><p:txBody><a:bodyPr wrap=\"square\"/><a:lstStyle/><a:p/></p:txBody>"
        "</p:sp>";
    struct xml *shape = append_shape(s, n->name, n->is_text_box ? text_box : auto_shape);
    struct xml *properties = shape_properties(shape);

    set_box(s->doc, xml_child(properties, "a:xfrm"), &n->box);
    xml_set(s->doc, xml_child(properties, "a:prstGeom"), "prst", str_of(n->geometry));
    return shape;
}

struct xml *shape_add_picture(struct slide *s, const struct shape_new *n, struct str image)
{
    struct xml *shape = append_shape(
        s, n->name,
        "<p:pic><p:nvPicPr><p:cNvPr id=\"0\" name=\"\"/><p:cNvPicPr><a:picLocks "
        "noChangeAspect=\"1\"/></p:cNvPicPr><p:nvPr/></p:nvPicPr><p:blipFill><a:blip/>"
        "<a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm/><a:prstGeom "
        "prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr></p:pic>");

    xml_set(s->doc, xml_path(shape, "p:blipFill/a:blip"), "r:embed", image);
    set_box(s->doc, xml_path(shape, "p:spPr/a:xfrm"), &n->box);
    return shape;
}

struct xml *shape_add_frame(struct slide *s, const struct shape_new *n, const char *uri,
                            const char *graphic)
{
    struct xml *shape = append_shape(
        s, n->name,
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"0\" name=\"\"/>"
        "<p:cNvGraphicFramePr><a:graphicFrameLocks noGrp=\"1\"/></p:cNvGraphicFramePr>"
        "<p:nvPr/></p:nvGraphicFramePr><p:xfrm/><a:graphic><a:graphicData/></a:graphic>"
        "</p:graphicFrame>");
    struct xml *data = xml_path(shape, "a:graphic/a:graphicData");

    xml_set(s->doc, data, "uri", str_of(uri));
    set_box(s->doc, xml_child(shape, "p:xfrm"), &n->box);
    if (data && graphic)
        (void)xml_add_text(s->doc, data, NULL, graphic);
    return shape;
}

struct xml *shape_add_connector(struct slide *s, const struct shape_new *n, const int64_t from[2],
                                const int64_t to[2])
{
    struct xml *shape = append_shape(
        s, n->name,
        "<p:cxnSp><p:nvCxnSpPr><p:cNvPr id=\"0\" name=\"\"/><p:cNvCxnSpPr/><p:nvPr/>"
        "</p:nvCxnSpPr><p:spPr><a:xfrm/><a:prstGeom prst=\"line\"><a:avLst/></a:prstGeom>"
        "</p:spPr><p:style><a:lnRef idx=\"2\"><a:schemeClr val=\"accent1\"/></a:lnRef><a:fillRef "
        "idx=\"0\"><a:schemeClr val=\"accent1\"/></a:fillRef><a:effectRef idx=\"1\"><a:schemeClr "
        "val=\"accent1\"/></a:effectRef><a:fontRef idx=\"minor\"><a:schemeClr val=\"tx1\"/>"
        "</a:fontRef></p:style></p:cxnSp>");
    struct xml *properties = shape_properties(shape), *x = xml_child(properties, "a:xfrm");
    bool is_left = to[0] < from[0], is_up = to[1] < from[1];
    struct box box = {is_left ? to[0] : from[0], is_up ? to[1] : from[1],
                      is_left ? from[0] - to[0] : to[0] - from[0],
                      is_up ? from[1] - to[1] : to[1] - from[1]};

    if (is_left)
        xml_set(s->doc, x, "flipH", STR("1"));
    if (is_up)
        xml_set(s->doc, x, "flipV", STR("1"));
    set_box(s->doc, x, &box);
    xml_set(s->doc, xml_child(properties, "a:prstGeom"), "prst", str_of(n->geometry));
    return shape;
}
