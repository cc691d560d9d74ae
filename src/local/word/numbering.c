/* SPDX-License-Identifier: MIT */
/* Lists: each has a numbering of its own, so that its numbers begin at 1. */
#include "local/word/word.h"

#define W_NS "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

static struct xml_doc *need_numbering(struct word *w)
{
    struct part *part = rel_part_by_type(&w->package, w->part, "numbering");

    if (!part) {
        part = package_add(&w->package, STR("/word/numbering.xml"),
                           "application/vnd.openxmlformats-officedocument."
                           "wordprocessingml.numbering+xml",
                           STR("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
                               "<w:numbering xmlns:w=\"" W_NS "\"/>"));
        if (part)
            (void)rel_add(&w->package, w->part, "numbering", part);
    }
    return part ? part_edit(&w->package, part, NULL) : NULL;
}

/* One more than the largest. */
static int64_t free_numbering_id(const struct xml *root, const char *name, const char *attr)
{
    int64_t id = 0;

    for (const struct xml *n = xml_child(root, name); n; n = xml_next(n, name)) {
        int64_t own = xml_get_int(n, attr, 0);
        if (own >= id && own < INT32_MAX)
            id = own + 1;
    }
    return id;
}

/* How the list looks. Lists that share this go on with each other's numbers. */
static int64_t add_numbering_look(struct xml_doc *d, const char *format, const char *text)
{
    int64_t id = free_numbering_id(d->root, "w:abstractNum", "w:abstractNumId");
    struct xml *look = xml_add_before(d, d->root, "w:abstractNum", xml_child(d->root, "w:num"));
    xml_setf(d, look, "w:abstractNumId", "%lld", (long long)id);
    xml_set(d, xml_add(d, look, "w:multiLevelType"), "w:val", STR("hybridMultilevel"));
    struct xml *level = xml_add(d, look, "w:lvl");
    xml_set(d, level, "w:ilvl", STR("0"));
    xml_set(d, xml_add(d, level, "w:start"), "w:val", STR("1"));
    xml_set(d, xml_add(d, level, "w:numFmt"), "w:val", str_of(format));
    xml_set(d, xml_add(d, level, "w:lvlText"), "w:val", str_of(text));
    xml_set(d, xml_add(d, level, "w:lvlJc"), "w:val", STR("left"));
    struct xml *indent = xml_add(d, xml_add(d, level, "w:pPr"), "w:ind");
    xml_set(d, indent, "w:left", STR("720"));
    xml_set(d, indent, "w:hanging", STR("360"));
    return id;
}

int64_t word_numbering(struct word *w, bool is_bullet)
{
    struct xml_doc *d = need_numbering(w);

    if (!d)
        return 0;
    int64_t look = add_numbering_look(d, is_bullet ? "bullet" : "decimal", is_bullet ? "•" : "%1.");
    int64_t id = free_numbering_id(d->root, "w:num", "w:numId");
    struct xml *behind = xml_last(d->root, "w:num");
    struct xml *num = xml_add_before(
        d, d->root, "w:num", behind ? behind->next : xml_child(d->root, "w:numIdMacAtCleanup"));
    id = id > 0 ? id : 1;
    xml_setf(d, num, "w:numId", "%lld", (long long)id);
    xml_setf(d, xml_add(d, num, "w:abstractNumId"), "w:val", "%lld", (long long)look);
    return id;
}

void word_set_list(struct word *w, struct xml *p, int64_t id)
{
    struct xml *n = word_prop(w, word_ppr(w, p), "w:numPr", STR_NULL, word_ppr_order);

    xml_clear(n);
    xml_set(w->doc, xml_add(w->doc, n, "w:ilvl"), "w:val", STR("0"));
    xml_setf(w->doc, xml_add(w->doc, n, "w:numId"), "w:val", "%lld", (long long)id);
}
