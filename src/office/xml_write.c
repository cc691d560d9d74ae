/* SPDX-License-Identifier: MIT */
/* Trees of XML as text. */
#include "office/xml.h"

static void write_escaped(struct buf *out, struct str s, bool is_attr)
{
    size_t begin = 0;

    for (size_t i = 0; i < s.len; i++) {
        const char *as = NULL;
        switch (s.p[i]) {
        case '&': as = "&amp;"; break;
        case '<': as = "&lt;"; break;
        case '>': as = "&gt;"; break;
        case '\r': as = "&#13;"; break;
        case '"': as = is_attr ? "&quot;" : NULL; break;
        case '\n': as = is_attr ? "&#10;" : NULL; break;
        case '\t': as = is_attr ? "&#9;" : NULL; break;
        default: break;
        }
        if (!as)
            continue;
        (void)buf_add(out, s.p + begin, i - begin);
        (void)buf_add_str(out, str_of(as));
        begin = i + 1;
    }
    (void)buf_add(out, s.p + begin, s.len - begin);
}

/* N's beginning, which is all of it when nothing is in it. */
static void write_begin(struct buf *out, const struct xml *n)
{
    static const struct {
        struct str begin, end;
    } marks[] = {
        [XML_CDATA] = {STR_INIT("<![CDATA["), STR_INIT("]]>")},
        [XML_COMMENT] = {STR_INIT("<!--"), STR_INIT("-->")},
        [XML_PI] = {STR_INIT("<?"), STR_INIT("?>")},
    };

    if (n->kind == XML_TEXT) {
        write_escaped(out, n->text, false);
        return;
    }
    if (n->kind != XML_ELEMENT) {
        (void)buf_add_str(out, marks[n->kind].begin);
        (void)buf_add_str(out, n->text);
        (void)buf_add_str(out, marks[n->kind].end);
        return;
    }
    (void)buf_add_char(out, '<');
    (void)buf_add_str(out, n->name->written);
    for (unsigned i = 0; i < n->n_attrs; i++) {
        (void)buf_add_char(out, ' ');
        (void)buf_add_str(out, n->attrs[i].name->written);
        (void)buf_add_lit(out, "=\"");
        write_escaped(out, n->attrs[i].value, true);
        (void)buf_add_char(out, '"');
    }
    (void)buf_add_str(out, n->first ? STR(">") : STR("/>"));
}

static void write_xml_end(struct buf *out, const struct xml *n)
{
    (void)buf_add_lit(out, "</");
    (void)buf_add_str(out, n->name->written);
    (void)buf_add_char(out, '>');
}

int xml_write_node(const struct xml *n, struct buf *out)
{
    const struct xml *top = n;

    for (;;) {
        write_begin(out, n);
        if (n->first) {
            n = n->first;
            continue;
        }
        while (n != top && !n->next) {
            n = n->parent;
            write_xml_end(out, n);
        }
        if (n == top)
            return out->error;
        n = n->next;
    }
}

int xml_write(const struct xml_doc *d, struct buf *out)
{
    if (d->error)
        return d->error;
    for (const struct xml *n = d->top.first; n; n = n->next)
        (void)xml_write_node(n, out);
    return out->error;
}
