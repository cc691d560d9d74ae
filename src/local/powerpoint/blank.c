/* SPDX-License-Identifier: MIT */
/* The presentation that a new one begins as: one master and the eleven layouts that agents know by
 * their numbers, on slides of 10 by 7.5 inches. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "local/powerpoint/deck.h"

#define XML_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define SPACES                                                                                     \
    " xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\""                           \
    " xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\""             \
    " xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\""
#define TYPE_OF(what) "application/vnd.openxmlformats-officedocument." what "+xml"
#define TREE_HEAD                                                                                  \
    "<p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>"   \
    "<p:grpSpPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"0\" cy=\"0\"/>"                        \
    "<a:chOff x=\"0\" y=\"0\"/><a:chExt cx=\"0\" cy=\"0\"/></a:xfrm></p:grpSpPr>"

enum { HOLDERS_MAX = 5, LAYOUTS = 11, PART_MAX = 64 << 10 };

struct holder {
    const char *name, *attrs; /* of p:ph */
    int64_t x, y, cx, cy;     /* CX 0: as the master has it */
    const char *style;        /* of its text, or NULL */
};

/* Small notes, large captions. */
#define LEVEL(text) "<a:lvl1pPr marL=\"0\" indent=\"0\"" text "</a:lvl1pPr>"
#define STYLE_SUBTITLE                                                                             \
    LEVEL(" algn=\"ctr\"><a:buNone/><a:defRPr><a:solidFill><a:schemeClr "                          \
          "val=\"tx1\"><a:tint val=\"75000\"/></a:schemeClr></a:solidFill>"                        \
          "</a:defRPr>")
#define STYLE_NOTE    LEVEL("><a:buNone/><a:defRPr sz=\"1400\"/>")
#define STYLE_HEADING LEVEL("><a:buNone/><a:defRPr sz=\"2400\" b=\"1\"/>")
#define STYLE_BELOW                                                                                \
    LEVEL("><a:buNone/><a:defRPr sz=\"2000\"><a:solidFill><a:schemeClr val=\"tx1\">"               \
          "<a:tint val=\"75000\"/></a:schemeClr></a:solidFill></a:defRPr>")
#define STYLE_SECTION                                                                              \
    "<a:lvl1pPr algn=\"l\"><a:defRPr sz=\"4000\" b=\"1\" cap=\"all\"/></a:lvl1pPr>"
#define STYLE_CAPTION "<a:lvl1pPr algn=\"l\"><a:defRPr sz=\"2000\" b=\"1\"/></a:lvl1pPr>"

#define TITLE                                                                                      \
    {                                                                                              \
        "Title", "type=\"title\"", 0, 0, 0, 0, NULL                                                \
    }

static const struct {
    const char *name, *type;
    struct holder holders[HOLDERS_MAX + 1];
} layouts[LAYOUTS] = {
    {"Title Slide",
     "title",
     {{"Title", "type=\"ctrTitle\"", 685800, 2130425, 7772400, 1470025, NULL},
      {"Subtitle", "type=\"subTitle\" idx=\"1\"", 1371600, 3886200, 6400800, 1752600,
       STYLE_SUBTITLE}}},
    {"Title and Content", "obj", {TITLE, {"Content Placeholder", "idx=\"1\"", 0, 0, 0, 0, NULL}}},
    {"Section Header",
     "secHead",
     {{"Title", "type=\"title\"", 722313, 4406900, 7772400, 1362075, STYLE_SECTION},
      {"Text Placeholder", "type=\"body\" idx=\"1\"", 722313, 2906713, 7772400, 1500187,
       STYLE_BELOW}}},
    {"Two Content",
     "twoObj",
     {TITLE,
      {"Content Placeholder", "sz=\"half\" idx=\"1\"", 457200, 1600200, 4038600, 4525963, NULL},
      {"Content Placeholder", "sz=\"half\" idx=\"2\"", 4648200, 1600200, 4038600, 4525963, NULL}}},
    {"Comparison",
     "twoTxTwoObj",
     {TITLE,
      {"Text Placeholder", "type=\"body\" idx=\"1\"", 457200, 1535113, 4040188, 639762,
       STYLE_HEADING},
      {"Content Placeholder", "sz=\"half\" idx=\"2\"", 457200, 2174875, 4040188, 3951288, NULL},
      {"Text Placeholder", "type=\"body\" sz=\"quarter\" idx=\"3\"", 4645025, 1535113, 4041775,
       639762, STYLE_HEADING},
      {"Content Placeholder", "sz=\"quarter\" idx=\"4\"", 4645025, 2174875, 4041775, 3951288,
       NULL}}},
    {"Title Only", "titleOnly", {TITLE}},
    {"Blank", "blank", {{0}}},
    {"Content with Caption",
     "objTx",
     {{"Title", "type=\"title\"", 457200, 273050, 3008313, 1162050, STYLE_CAPTION},
      {"Content Placeholder", "idx=\"1\"", 3575050, 273050, 5111750, 5853113, NULL},
      {"Text Placeholder", "type=\"body\" sz=\"half\" idx=\"2\"", 457200, 1435100, 3008313, 4691063,
       STYLE_NOTE}}},
    {"Picture with Caption",
     "picTx",
     {{"Title", "type=\"title\"", 1792288, 4800600, 5486400, 566738, STYLE_CAPTION},
      {"Picture Placeholder", "type=\"pic\" idx=\"1\"", 1792288, 612775, 5486400, 4114800,
       STYLE_NOTE},
      {"Text Placeholder", "type=\"body\" sz=\"half\" idx=\"2\"", 1792288, 5367338, 5486400, 804862,
       STYLE_NOTE}}},
    {"Title and Vertical Text",
     "vertTx",
     {TITLE,
      {"Vertical Text Placeholder", "type=\"body\" orient=\"vert\" idx=\"1\"", 0, 0, 0, 0, NULL}}},
    {"Vertical Title and Text",
     "vertTitleAndTx",
     {{"Vertical Title", "type=\"title\" orient=\"vert\"", 6629400, 274638, 2057400, 5851525, NULL},
      {"Vertical Text Placeholder", "type=\"body\" orient=\"vert\" idx=\"1\"", 457200, 274638,
       6019800, 5851525, NULL}}},
};

/* Date, footer and number, at the foot of all of them. */
#define FOOT_STYLE(align)                                                                          \
    "<a:lvl1pPr algn=\"" align "\"><a:defRPr sz=\"1200\"><a:solidFill><a:schemeClr val=\"tx1\">"   \
    "<a:tint val=\"75000\"/></a:schemeClr></a:solidFill></a:defRPr></a:lvl1pPr>"
static const struct holder foot[3] = {
    {"Date Placeholder", "type=\"dt\" sz=\"half\" idx=\"10\"", 457200, 6356350, 2133600, 365125,
     FOOT_STYLE("l")},
    {"Footer Placeholder", "type=\"ftr\" sz=\"quarter\" idx=\"11\"", 3124200, 6356350, 2895600,
     365125, FOOT_STYLE("ctr")},
    {"Slide Number Placeholder", "type=\"sldNum\" sz=\"quarter\" idx=\"12\"", 6553200, 6356350,
     2133600, 365125, FOOT_STYLE("r")},
};
static const struct holder master_holders[2] = {
    {"Title Placeholder", "type=\"title\"", 457200, 274638, 8229600, 1143000, NULL},
    {"Text Placeholder", "type=\"body\" idx=\"1\"", 457200, 1600200, 8229600, 4525963, NULL},
};

/* ---- shapes ---- */

static void write_holder(struct buf *b, const struct holder *h, int id, bool is_master)
{
    bool is_number = strstr(h->attrs, "sldNum") != NULL;
    bool is_vertical = strstr(h->attrs, "vert") != NULL;
    bool is_title = strstr(h->attrs, "itle\"") != NULL && !strstr(h->attrs, "subTitle");

    (void)buf_printf(b,
                     "<p:sp><p:nvSpPr><p:cNvPr id=\"%d\" name=\"%s %d\"/><p:cNvSpPr>"
                     "<a:spLocks noGrp=\"1\"/></p:cNvSpPr><p:nvPr><p:ph %s/></p:nvPr></p:nvSpPr>",
                     id, h->name, id - 1, h->attrs);
    if (h->cx > 0)
        (void)buf_printf(b,
                         "<p:spPr><a:xfrm><a:off x=\"%lld\" y=\"%lld\"/><a:ext cx=\"%lld\" "
                         "cy=\"%lld\"/></a:xfrm>%s</p:spPr>",
                         (long long)h->x, (long long)h->y, (long long)h->cx, (long long)h->cy,
                         is_master ? "<a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom>" : "");
    else
        (void)buf_add_lit(b, "<p:spPr/>");
    (void)buf_printf(b, "<p:txBody><a:bodyPr%s%s>%s</a:bodyPr><a:lstStyle>%s</a:lstStyle>",
                     is_vertical ? " vert=\"eaVert\"" : "",
                     is_title && is_master ? " anchor=\"ctr\"" : "",
                     is_master ? "<a:normAutofit/>" : "", h->style ? h->style : "");
    if (is_number)
        (void)buf_add_lit(b, "<a:p><a:fld id=\"{5B0A3C0E-6D1B-4C57-9C5E-2F0A8A1E7D41}\" "
                             "type=\"slidenum\"><a:rPr lang=\"en-US\"/><a:t>&#8249;#&#8250;</a:t>"
                             "</a:fld><a:endParaRPr lang=\"en-US\"/></a:p>");
    else
        (void)buf_printf(b, "<a:p><a:r><a:rPr lang=\"en-US\"/><a:t>%s</a:t></a:r></a:p>",
                         is_title ? "Click to edit the title"
                                  : (h->cy == 365125 ? "" : "Click to edit the text"));
    (void)buf_add_lit(b, "</p:txBody></p:sp>");
}

static void write_foot(struct buf *b, int id, bool is_master)
{
    for (size_t i = 0; i < ARRAY_LEN(foot); i++) {
        struct holder h = foot[i];
        if (!is_master) {
            h.cx = 0;
            h.style = NULL;
        }
        write_holder(b, &h, id + (int)i, is_master);
    }
}

/* ---- parts ---- */

static void write_layout(struct buf *b, size_t i)
{
    int id = 2;

    (void)buf_printf(b,
                     XML_HEAD "<p:sldLayout" SPACES " type=\"%s\" preserve=\"1\"><p:cSld "
                              "name=\"%s\">" TREE_HEAD,
                     layouts[i].type, layouts[i].name);
    for (const struct holder *h = layouts[i].holders; h->name; h++)
        write_holder(b, h, id++, false);
    write_foot(b, id, false);
    (void)buf_add_lit(b, "</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>"
                         "</p:sldLayout>");
}

static void write_levels(struct buf *b)
{
    static const struct {
        int margin, indent, size;
        const char *bullet;
    } levels[9] = {
        {342900, -342900, 3200, "\xe2\x80\xa2"},  {742950, -285750, 2800, "\xe2\x80\x93"},
        {1143000, -228600, 2400, "\xe2\x80\xa2"}, {1600200, -228600, 2000, "\xe2\x80\x93"},
        {2057400, -228600, 2000, "\xc2\xbb"},     {2514600, -228600, 2000, "\xe2\x80\xa2"},
        {2971800, -228600, 2000, "\xe2\x80\xa2"}, {3429000, -228600, 2000, "\xe2\x80\xa2"},
        {3886200, -228600, 2000, "\xe2\x80\xa2"},
    };

    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        (void)buf_printf(b,
                         "<a:lvl%zupPr marL=\"%d\" indent=\"%d\" algn=\"l\" defTabSz=\"457200\" "
                         "rtl=\"0\"><a:spcBef><a:spcPct val=\"20000\"/></a:spcBef>"
                         "<a:buFont typeface=\"Arial\"/><a:buChar char=\"%s\"/><a:defRPr "
                         "sz=\"%d\" kern=\"1200\"><a:solidFill><a:schemeClr val=\"tx1\"/>"
                         "</a:solidFill><a:latin typeface=\"+mn-lt\"/><a:ea typeface=\"+mn-ea\"/>"
                         "<a:cs typeface=\"+mn-cs\"/></a:defRPr></a:lvl%zupPr>",
                         i + 1, levels[i].margin, levels[i].indent, levels[i].bullet,
                         levels[i].size, i + 1);
}

static void write_master(struct buf *b, struct str layout_ids)
{
    (void)buf_add_lit(b, XML_HEAD "<p:sldMaster" SPACES "><p:cSld><p:bg><p:bgRef idx=\"1001\">"
                                  "<a:schemeClr val=\"bg1\"/></p:bgRef></p:bg>" TREE_HEAD);
    for (size_t i = 0; i < ARRAY_LEN(master_holders); i++)
        write_holder(b, &master_holders[i], 2 + (int)i, true);
    write_foot(b, 4, true);
    (void)buf_printf(
        b,
        "</p:spTree></p:cSld><p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" "
        "accent1=\"accent1\" accent2=\"accent2\" accent3=\"accent3\" accent4=\"accent4\" "
        "accent5=\"accent5\" accent6=\"accent6\" hlink=\"hlink\" folHlink=\"folHlink\"/>"
        "<p:sldLayoutIdLst>" STR_FMT "</p:sldLayoutIdLst><p:txStyles><p:titleStyle><a:lvl1pPr "
        "algn=\"ctr\" defTabSz=\"457200\" rtl=\"0\"><a:spcBef><a:spcPct val=\"0\"/></a:spcBef>"
        "<a:buNone/><a:defRPr sz=\"4400\" kern=\"1200\"><a:solidFill><a:schemeClr val=\"tx1\"/>"
        "</a:solidFill><a:latin typeface=\"+mj-lt\"/><a:ea typeface=\"+mj-ea\"/>"
        "<a:cs typeface=\"+mj-cs\"/></a:defRPr></a:lvl1pPr></p:titleStyle><p:bodyStyle>",
        STR_ARG(layout_ids));
    write_levels(b);
    (void)buf_add_lit(b, "</p:bodyStyle><p:otherStyle><a:defPPr><a:defRPr lang=\"en-US\"/>"
                         "</a:defPPr></p:otherStyle></p:txStyles></p:sldMaster>");
}

static void write_theme(struct buf *b)
{
    static const char *const colors[][2] = {
        {"dk2", "1F497D"},     {"lt2", "EEECE1"},      {"accent1", "4F81BD"}, {"accent2", "C0504D"},
        {"accent3", "9BBB59"}, {"accent4", "8064A2"},  {"accent5", "4BACC6"}, {"accent6", "F79646"},
        {"hlink", "0000FF"},   {"folHlink", "800080"},
    };
    static const char fill[] = "<a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill>";

    (void)buf_add_lit(b, XML_HEAD
                      "<a:theme xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" "
                      "name=\"Office Theme\"><a:themeElements><a:clrScheme name=\"Office\">"
                      "<a:dk1><a:sysClr val=\"windowText\" lastClr=\"000000\"/></a:dk1>"
                      "<a:lt1><a:sysClr val=\"window\" lastClr=\"FFFFFF\"/></a:lt1>");
    for (size_t i = 0; i < ARRAY_LEN(colors); i++)
        (void)buf_printf(b, "<a:%s><a:srgbClr val=\"%s\"/></a:%s>", colors[i][0], colors[i][1],
                         colors[i][0]);
    (void)buf_add_lit(b, "</a:clrScheme><a:fontScheme name=\"Office\"><a:majorFont><a:latin "
                         "typeface=\"Calibri\"/><a:ea typeface=\"\"/><a:cs typeface=\"\"/>"
                         "</a:majorFont><a:minorFont><a:latin typeface=\"Calibri\"/><a:ea "
                         "typeface=\"\"/><a:cs typeface=\"\"/></a:minorFont></a:fontScheme>"
                         "<a:fmtScheme name=\"Office\">");
    (void)buf_printf(b, "<a:fillStyleLst>%s%s%s</a:fillStyleLst><a:lnStyleLst>", fill, fill, fill);
    for (int w = 9525; w <= 38100; w += w == 9525 ? 15875 : 12700)
        (void)buf_printf(b,
                         "<a:ln w=\"%d\" cap=\"flat\" cmpd=\"sng\" algn=\"ctr\">%s<a:prstDash "
                         "val=\"solid\"/></a:ln>",
                         w, fill);
    (void)buf_add_lit(b, "</a:lnStyleLst><a:effectStyleLst>");
    for (int i = 0; i < 3; i++)
        (void)buf_add_lit(b, "<a:effectStyle><a:effectLst/></a:effectStyle>");
    (void)buf_printf(b,
                     "</a:effectStyleLst><a:bgFillStyleLst>%s%s%s</a:bgFillStyleLst>"
                     "</a:fmtScheme></a:themeElements><a:objectDefaults/><a:extraClrSchemeLst/>"
                     "</a:theme>",
                     fill, fill, fill);
}

/* ---- the package ---- */

/* What WRITE wrote into B becomes a part. */
static struct part *add_blank_part(struct deck *d, struct buf *b, struct str name, const char *type)
{
    struct str bytes = buf_ok(b) ? arena_str(&d->arena, buf_str(b)) : STR_NULL;

    buf_clear(b);
    return bytes.p ? package_add(&d->package, name, type, bytes) : NULL;
}

static struct part *add_master(struct deck *d, struct buf *b)
{
    struct part *parts[LAYOUTS], *master;
    auto_buf struct buf ids = BUF_INIT(PART_MAX);

    /* The layouts' ids are rId1 to rId11, in order. */
    for (size_t i = 0; i < LAYOUTS; i++)
        (void)buf_printf(&ids, "<p:sldLayoutId id=\"%llu\" r:id=\"rId%zu\"/>", 2147483649ULL + i,
                         i + 1);
    write_master(b, buf_str(&ids));
    master = add_blank_part(d, b, STR("/ppt/slideMasters/slideMaster1.xml"),
                            TYPE_OF("presentationml.slideMaster"));
    for (size_t i = 0; i < LAYOUTS; i++) {
        struct str name = arena_printf(&d->arena, "/ppt/slideLayouts/slideLayout%zu.xml", i + 1);
        write_layout(b, i);
        parts[i] = add_blank_part(d, b, name, TYPE_OF("presentationml.slideLayout"));
        if (!master || !parts[i] || !rel_add(&d->package, master, "slideLayout", parts[i]).p ||
            !rel_add(&d->package, parts[i], "slideMaster", master).p)
            return NULL;
    }
    write_theme(b);
    struct part *theme = add_blank_part(d, b, STR("/ppt/theme/theme1.xml"), TYPE_OF("theme"));
    return theme && rel_add(&d->package, master, "theme", theme).p ? master : NULL;
}

static struct part *add_main(struct deck *d, struct buf *b)
{
    (void)buf_add_lit(b, XML_HEAD
                      "<p:presentation" SPACES " saveSubsetFonts=\"1\" autoCompressPictures=\"0\">"
                      "<p:sldMasterIdLst><p:sldMasterId id=\"2147483648\" r:id=\"rId1\"/>"
                      "</p:sldMasterIdLst><p:sldSz cx=\"9144000\" cy=\"6858000\" "
                      "type=\"screen4x3\"/><p:notesSz cx=\"6858000\" cy=\"9144000\"/>"
                      "</p:presentation>");
    struct part *main = add_blank_part(d, b, STR("/ppt/presentation.xml"),
                                       TYPE_OF("presentationml.presentation.main"));
    struct part *master = main ? add_master(d, b) : NULL;
    if (!master || !rel_add(&d->package, NULL, "officeDocument", main).p ||
        !rel_add(&d->package, main, "slideMaster", master).p)
        return NULL;
    (void)buf_add_lit(b, XML_HEAD
                      "<a:tblStyleLst xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/"
                      "main\" def=\"{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}\"/>");
    struct part *styles =
        add_blank_part(d, b, STR("/ppt/tableStyles.xml"), TYPE_OF("presentationml.tableStyles"));
    if (!styles || !rel_add(&d->package, main, "tableStyles", styles).p ||
        !rel_add(&d->package, main, "theme",
                 package_part(&d->package, STR("/ppt/theme/theme1.xml")))
             .p)
        return NULL;
    return main;
}

int deck_blank(struct deck *d, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(PART_MAX);
    char now[CLOCK_RFC3339_MAX];
    int r = package_new(&d->package, &d->arena, e);

    if (r < 0)
        return r;
    if (!add_main(d, &b))
        return err_set(e, -ENOMEM, "out of memory");
    clock_rfc3339(now, clock_real_us());
    r = deck_set_property(d, "dc:title", STR("PowerPoint Presentation"), e);
    if (r == 0)
        r = deck_set_property(d, "dcterms:created", str_of(now), e);
    if (r == 0)
        r = deck_set_property(d, "dcterms:modified", str_of(now), e);
    return r;
}
