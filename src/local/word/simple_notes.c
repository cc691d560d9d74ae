/* SPDX-License-Identifier: MIT */
/* Simple notes, as the product makes them where Word's own are not wanted: a raised sign in the
 * text, and the note as a paragraph at the end of the document. */
#include "base/cleanup.h"
#include "local/word/tools.h"

static struct xml *find_paragraph(struct word *w, struct str *why)
{
    struct xml *p = word_paragraph(w, word_int(w, "paragraph_index", 0));
    size_t n = word_n_paragraphs(w);

    if (!p)
        *why = word_say(w, "Invalid paragraph index. Document has %zu paragraphs (0-%lld).", n,
                        (long long)n - 1);
    return p;
}

static void raise_run(struct word *w, struct xml *run)
{
    (void)word_prop(w, word_rpr(w, run), "w:vertAlign", STR("superscript"), word_rpr_order);
}

/* The id of STYLE, or nothing for that of everybody. */
static struct str style_or_none(struct word *w, const char *style)
{
    struct str id = word_style_id(w, str_of(style));

    return id.p ? id : STR("");
}

static struct xml *find_simple_note_by_text(struct word *w, const char *text, bool is_begin)
{
    for (struct xml *p = xml_child(w->body, "w:p"); p; p = xml_next(p, "w:p")) {
        struct str own = word_text(w, p);
        if (is_begin ? str_starts(own, str_of(text)) : str_is(own, text))
            return p;
    }
    return NULL;
}

struct str tool_add_footnote_to_document(struct word *w)
{
    struct str why = STR_NULL;
    struct xml *p = find_paragraph(w, &why);

    if (!p)
        return why;
    raise_run(w, word_add_run(w, p, STR("¹")));
    if (!find_simple_note_by_text(w, "Footnotes:", true)) {
        (void)word_add_paragraph(w, STR("\n"), STR(""));
        (void)word_add_paragraph(w, STR("Footnotes:"), STR(""));
    }
    (void)word_add_paragraph(w, word_say(w, "¹ " STR_FMT, STR_ARG(word_arg(w, "footnote_text"))),
                             style_or_none(w, "Footnote Text"));
    return word_done(w, "Footnote added to paragraph %lld in " STR_FMT " (simplified approach)",
                     (long long)word_int(w, "paragraph_index", 0), STR_ARG(w->name));
}

struct str tool_add_endnote_to_document(struct word *w)
{
    struct str why = STR_NULL;
    struct xml *p = find_paragraph(w, &why);

    if (!p)
        return why;
    raise_run(w, word_add_run(w, p, STR("†")));
    if (!find_simple_note_by_text(w, "Endnotes:", false) &&
        !find_simple_note_by_text(w, "ENDNOTES", false)) {
        struct xml *new = word_add_paragraph(w, STR(""), STR(""));
        (void)xml_add_text(w->doc, new, NULL, "<w:r><w:br w:type=\"page\"/></w:r>");
        (void)word_add_paragraph(w, STR("Endnotes:"), style_or_none(w, "Heading 1"));
    }
    (void)word_add_paragraph(w, word_say(w, "† " STR_FMT, STR_ARG(word_arg(w, "endnote_text"))),
                             style_or_none(w, "Endnote Text"));
    return word_done(w, "Endnote added to paragraph %lld in " STR_FMT,
                     (long long)word_int(w, "paragraph_index", 0), STR_ARG(w->name));
}

/* ---- signs ---- */

static const char *const signs[] = {"*", "†", "‡", "§", "¶", "#"};

static struct str roman(struct word *w, int64_t n)
{
    static const struct {
        int64_t value;
        const char *text;
    } digits[] = {{100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"},
                  {9, "ix"},  {5, "v"},   {4, "iv"}, {1, "i"}};
    auto_buf struct buf b = BUF_INIT(1024);

    for (size_t i = 0; i < ARRAY_LEN(digits); i++) {
        for (; n >= digits[i].value && buf_ok(&b); n -= digits[i].value)
            (void)buf_add_str(&b, str_of(digits[i].text));
    }
    return arena_str(w->arena, buf_str(&b));
}

/* The sign of the note N, counted from 1. */
static struct str note_sign(struct word *w, struct str format, int64_t n)
{
    n = n < 1 ? 1 : n > 10000 ? 10000 : n;
    if (str_is(format, "i, ii, iii"))
        return roman(w, n);
    if (str_is(format, "a, b, c"))
        return n <= 26 ? word_say(w, "%c", (int)('a' + n - 1))
                       : word_say(w, "%c%c", (int)('a' + ((n - 1) / 26 - 1) % 26),
                                  (int)('a' + (n - 1) % 26));
    if (!str_is(format, "*, †, ‡"))
        return word_say(w, "%lld", (long long)n);
    const char *s = signs[(n - 1) % (int64_t)ARRAY_LEN(signs)];
    int64_t turn = (n - 1) / (int64_t)ARRAY_LEN(signs);
    return turn == 0 ? str_of(s) : word_say(w, "%s%lld", s, (long long)turn + 1);
}

/* Whether a run is a raised number or sign. */
static bool is_note_sign(struct word *w, const struct xml *run)
{
    struct str text = word_run_text(w, run);
    bool is_number = text.len > 0;

    if (!str_is(xml_get(xml_path(run, "w:rPr/w:vertAlign"), "w:val"), "superscript"))
        return false;
    for (size_t i = 0; i < text.len; i++)
        is_number = is_number && text.p[i] >= '0' && text.p[i] <= '9';
    return is_number || (word_chars(text) == 1 && str_find(STR("¹²³⁴⁵⁶⁷⁸⁹⁰†‡§¶"), text) >= 0);
}

static void need_footnote_text(struct word *w)
{
    struct word_font f = {.name = word_arg(w, "font_name"), .size = word_int(w, "font_size", 0)};
    struct xml *s = word_style(w, STR("footnote text"), "paragraph");

    if (!s)
        s = word_style(w, STR("Footnote Text"), "paragraph");
    if (!s)
        s = word_add_style(w, "paragraph", STR("FootnoteText"), STR("footnote text"));
    else
        (void)part_edit(&w->package, w->styles_part, NULL);
    xml_unset(s, "w:customStyle");
    if (s && (f.name.len > 0 || f.size > 0))
        word_set_font(w->styles, xml_need(w->styles, s, "w:rPr", NULL), &f);
}

struct str tool_customize_footnote_style(struct word *w)
{
    struct str format = word_arg(w, "numbering_format");
    int64_t number = word_int(w, "start_number", 1);

    need_footnote_text(w);
    for (struct xml *p = xml_child(w->body, "w:p"); p; p = xml_next(p, "w:p")) {
        for (struct xml *r = NULL; (r = word_next_run(p, r));) {
            if (!is_note_sign(w, r))
                continue;
            struct xml *t = xml_child(r, "w:t");
            xml_set_text(w->doc, t, note_sign(w, format, number++));
        }
    }
    return word_done(w, "Footnote style and numbering customized in " STR_FMT, STR_ARG(w->name));
}
