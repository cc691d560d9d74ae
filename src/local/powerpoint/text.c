/* SPDX-License-Identifier: MIT */
#include "local/powerpoint/text.h"

#include "base/ascii.h"
#include "base/cleanup.h"
#include "local/powerpoint/shape.h"

enum { TEXT_MAX = 16 << 20 };

static const char *const body_order[] = {"a:bodyPr", "a:lstStyle", "a:p", NULL};
static const char *const paragraph_order[] = {"a:pPr", "a:br",         "a:fld",
                                              "a:r",   "a:endParaRPr", NULL};
static const char *const run_order[] = {"a:rPr", "a:t", NULL};
static const char *const look_order[] = {
    "a:ln",         "a:noFill",         "a:solidFill", "a:gradFill",  "a:blipFill", "a:pattFill",
    "a:grpFill",    "a:effectLst",      "a:effectDag", "a:highlight", "a:uLnTx",    "a:uLn",
    "a:uFillTx",    "a:uFill",          "a:latin",     "a:ea",        "a:cs",       "a:sym",
    "a:hlinkClick", "a:hlinkMouseOver", "a:rtl",       "a:extLst",    NULL};

struct xml *text_body(const struct xml *shape)
{
    struct xml *body = xml_child(shape, "p:txBody");

    return body ? body : xml_child(shape, "a:txBody");
}

struct xml *text_need(struct xml_doc *doc, struct xml *shape)
{
    struct xml *body = text_body(shape);

    if (body)
        return body;
    if (xml_is(shape, "a:tc"))
        return xml_add_text(doc, shape, xml_child(shape, "a:tcPr"),
                            "<a:txBody><a:bodyPr/><a:lstStyle/><a:p/></a:txBody>");
    if (!xml_is(shape, "p:sp"))
        return NULL;
    return xml_add_text(doc, shape, xml_child(shape, "p:extLst"),
                        "<p:txBody><a:bodyPr/><a:lstStyle/><a:p/></p:txBody>");
}

/* ---- reading ---- */

static void add_paragraph_text(struct buf *b, const struct xml *paragraph)
{
    for (const struct xml *n = xml_child(paragraph, NULL); n; n = xml_next(n, NULL)) {
        if (xml_is(n, "a:br"))
            (void)buf_add_char(b, '\v');
        if (!xml_is(n, "a:r") && !xml_is(n, "a:fld"))
            continue;
        const struct xml *t = xml_child(n, "a:t");
        for (const struct xml *piece = t ? t->first : NULL; piece; piece = piece->next) {
            if (piece->kind == XML_TEXT || piece->kind == XML_CDATA)
                (void)buf_add_str(b, piece->text);
        }
    }
}

struct str text_get(struct arena *a, const struct xml *body)
{
    auto_buf struct buf b = BUF_INIT(TEXT_MAX);
    const struct xml *p = xml_child(body, "a:p");

    for (; p; p = xml_next(p, "a:p")) {
        add_paragraph_text(&b, p);
        if (xml_next(p, "a:p"))
            (void)buf_add_char(&b, '\n');
    }
    return buf_ok(&b) && b.len > 0 ? arena_str(a, buf_str(&b)) : STR("");
}

struct str text_strip(struct str s)
{
    while (s.len > 0 && ascii_is_space(s.p[0]))
        s = str_skip(s, 1);
    while (s.len > 0 && ascii_is_space(s.p[s.len - 1]))
        s.len--;
    return s;
}

/* ---- writing ---- */

struct xml *text_add_run(struct xml_doc *doc, struct xml *paragraph, struct str text)
{
    struct xml *run = xml_place(doc, paragraph, "a:r", paragraph_order);

    xml_set(doc, xml_add(doc, run, "a:rPr"), "lang", STR("en-US"));
    xml_set_text(doc, xml_add(doc, run, "a:t"), text);
    return run;
}

static void fill_paragraph(struct xml_doc *doc, struct xml *paragraph, struct str text)
{
    while (text.p && text.len > 0) {
        struct str line = str_cut(&text, '\v');
        if (line.len > 0)
            (void)text_add_run(doc, paragraph, line);
        if (text.p)
            (void)xml_add(doc, paragraph, "a:br");
    }
}

struct xml *text_add_paragraph(struct xml_doc *doc, struct xml *body, struct str text)
{
    struct xml *p = xml_place(doc, body, "a:p", body_order);

    fill_paragraph(doc, p, text);
    return p;
}

struct xml *text_clear(struct xml_doc *doc, struct xml *body)
{
    struct xml *first = xml_need(doc, body, "a:p", body_order), *n;

    while ((n = xml_next(first, "a:p")))
        xml_remove(n);
    while ((n = xml_last(first, NULL)) && !xml_is(n, "a:pPr"))
        xml_remove(n);
    return first;
}

void text_set(struct xml_doc *doc, struct xml *body, struct str text)
{
    struct xml *first = text_clear(doc, body);

    fill_paragraph(doc, first, str_cut(&text, '\n'));
    while (text.p)
        (void)text_add_paragraph(doc, body, str_cut(&text, '\n'));
}

/* ---- looks ---- */

static const struct {
    const char *word, *value;
} aligns[] = {{"left", "l"}, {"center", "ctr"}, {"right", "r"}, {"justify", "just"}},
  anchors[] = {{"top", "t"}, {"middle", "ctr"}, {"bottom", "b"}};

const char *text_align(struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(aligns); i++) {
        if (word.p && str_is(word, aligns[i].word))
            return aligns[i].value;
    }
    return NULL;
}

const char *text_anchor(struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(anchors); i++) {
        if (word.p && str_is(word, anchors[i].word))
            return anchors[i].value;
    }
    return NULL;
}

void text_format_run(struct xml_doc *doc, struct xml *run, const struct text_format *f)
{
    struct xml *look = xml_need(doc, run, "a:rPr", run_order);

    if (f->points > 0)
        xml_setf(doc, look, "sz", "%d", (int)(f->points > 4000 ? 400000 : f->points * 100));
    if (f->bold != TEXT_KEEP)
        xml_set(doc, look, "b", f->bold ? STR("1") : STR("0"));
    if (f->italic != TEXT_KEEP)
        xml_set(doc, look, "i", f->italic ? STR("1") : STR("0"));
    if (f->underline != TEXT_KEEP)
        xml_set(doc, look, "u", f->underline ? STR("sng") : STR("none"));
    if (f->rgb)
        (void)shape_fill(doc, look, look_order, f->rgb);
    if (f->font.len > 0)
        xml_set(doc, xml_need(doc, look, "a:latin", look_order), "typeface", f->font);
}

void text_format(struct xml_doc *doc, struct xml *body, const struct text_format *f)
{
    if (f->anchor && xml_is(body, "p:txBody"))
        xml_set(doc, xml_need(doc, body, "a:bodyPr", body_order), "anchor", str_of(f->anchor));
    for (struct xml *p = xml_child(body, "a:p"); p; p = xml_next(p, "a:p")) {
        if (f->align)
            xml_set(doc, xml_need(doc, p, "a:pPr", paragraph_order), "algn", str_of(f->align));
        for (struct xml *r = xml_child(p, "a:r"); r; r = xml_next(r, "a:r"))
            text_format_run(doc, r, f);
    }
}

void text_spacing(struct xml_doc *doc, struct xml *body, int percent)
{
    static const char *const order[] = {"a:lnSpc",  "a:spcBef", "a:spcAft", "a:buClrTx",
                                        "a:buClr",  "a:buSzTx", "a:buFont", "a:buNone",
                                        "a:buChar", "a:tabLst", "a:defRPr", NULL};

    for (struct xml *p = xml_child(body, "a:p"); p; p = xml_next(p, "a:p")) {
        struct xml *look = xml_need(doc, p, "a:pPr", paragraph_order);
        struct xml *space = xml_need(doc, look, "a:lnSpc", order);
        xml_clear(space);
        xml_setf(doc, xml_add(doc, space, "a:spcPct"), "val", "%d", percent * 1000);
    }
}

/* ---- links ---- */

struct str text_link(struct deck *d, struct part *part, const struct xml *run)
{
    struct str id = xml_get(xml_path(run, "a:rPr/a:hlinkClick"), "r:id");
    struct rel r = {0};

    if (!id.p || !rel_get(&d->package, part, id, &r) || !r.is_external)
        return STR_NULL;
    return r.target;
}

void text_set_link(struct deck *d, const struct slide *s, struct xml *run, struct str url)
{
    struct xml *look = xml_need(s->doc, run, "a:rPr", run_order);
    struct xml *link = xml_child(look, "a:hlinkClick");

    if (url.len == 0) {
        if (link)
            xml_remove(link);
        return;
    }
    struct str id = rel_add_external(&d->package, s->part, "hyperlink", url);
    if (!link)
        link = xml_need(s->doc, look, "a:hlinkClick", look_order);
    xml_set(s->doc, link, "r:id", id);
}
