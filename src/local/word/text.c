/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "local/word/word.h"

/* ECMA-376 part 1, 17.3.1.26 and 17.3.2.28: programs refuse children in another order. */
const char *const word_ppr_order[] = {
    "w:pStyle",
    "w:keepNext",
    "w:keepLines",
    "w:pageBreakBefore",
    "w:framePr",
    "w:widowControl",
    "w:numPr",
    "w:suppressLineNumbers",
    "w:pBdr",
    "w:shd",
    "w:tabs",
    "w:suppressAutoHyphens",
    "w:kinsoku",
    "w:wordWrap",
    "w:overflowPunct",
    "w:topLinePunct",
    "w:autoSpaceDE",
    "w:autoSpaceDN",
    "w:bidi",
    "w:adjustRightInd",
    "w:snapToGrid",
    "w:spacing",
    "w:ind",
    "w:contextualSpacing",
    "w:mirrorIndents",
    "w:suppressOverlap",
    "w:jc",
    "w:textDirection",
    "w:textAlignment",
    "w:textboxTightWrap",
    "w:outlineLvl",
    "w:divId",
    "w:cnfStyle",
    "w:rPr",
    "w:sectPr",
    "w:pPrChange",
    NULL,
};
const char *const word_rpr_order[] = {
    "w:rStyle",
    "w:rFonts",
    "w:b",
    "w:bCs",
    "w:i",
    "w:iCs",
    "w:caps",
    "w:smallCaps",
    "w:strike",
    "w:dstrike",
    "w:outline",
    "w:shadow",
    "w:emboss",
    "w:imprint",
    "w:noProof",
    "w:snapToGrid",
    "w:vanish",
    "w:webHidden",
    "w:color",
    "w:spacing",
    "w:w",
    "w:kern",
    "w:position",
    "w:sz",
    "w:szCs",
    "w:highlight",
    "w:u",
    "w:effect",
    "w:bdr",
    "w:shd",
    "w:fitText",
    "w:vertAlign",
    "w:rtl",
    "w:cs",
    "w:em",
    "w:lang",
    "w:eastAsianLayout",
    "w:specVanish",
    "w:oMath",
    NULL,
};

/* ---- reading ---- */

size_t word_n_paragraphs(const struct word *w)
{
    return xml_count(w->body, "w:p");
}

struct xml *word_paragraph(const struct word *w, int64_t i)
{
    return i < 0 ? NULL : xml_nth(w->body, "w:p", (size_t)i);
}

/* What a child of a run stands for; .p NULL: nothing. */
static struct str piece_of(struct word *w, const struct xml *n)
{
    if (xml_is(n, "w:t"))
        return xml_text(w->doc, n);
    if (xml_is(n, "w:tab") || xml_is(n, "w:ptab"))
        return STR("\t");
    if (xml_is(n, "w:cr"))
        return STR("\n");
    if (xml_is(n, "w:noBreakHyphen"))
        return STR("-");
    if (xml_is(n, "w:br")) {
        struct str type = xml_get(n, "w:type");
        return type.len == 0 || str_is(type, "textWrapping") ? STR("\n") : STR_NULL;
    }
    return STR_NULL;
}

static void add_run_text(struct word *w, const struct xml *run, struct buf *out)
{
    for (const struct xml *n = xml_child(run, NULL); n; n = xml_next(n, NULL))
        (void)buf_add_str(out, piece_of(w, n));
}

struct str word_run_text(struct word *w, const struct xml *run)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    add_run_text(w, run, &b);
    return arena_str(w->arena, buf_str(&b));
}

/* Runs are children of the paragraph or of a link in it. */
struct xml *word_next_run(const struct xml *p, struct xml *run)
{
    struct xml *n = run ? xml_next(run, NULL) : xml_child(p, NULL);

    for (;;) {
        if (!n && (!run || run->parent == p))
            return NULL;
        if (!n) {
            run = run->parent; /* out of the link */
            n = xml_next(run, NULL);
            continue;
        }
        if (xml_is(n, "w:r"))
            return n;
        struct xml *inner = xml_is(n, "w:hyperlink") ? xml_child(n, "w:r") : NULL;
        if (inner)
            return inner;
        run = n;
        n = xml_next(n, NULL);
    }
}

struct str word_text(struct word *w, const struct xml *paragraph)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    for (struct xml *r = NULL; (r = word_next_run(paragraph, r));)
        add_run_text(w, r, &b);
    return arena_str(w->arena, buf_str(&b));
}

/* ---- writing ---- */

static void add_piece(struct word *w, struct xml *run, struct str text)
{
    if (text.len == 0)
        return;
    struct xml *t = xml_add(w->doc, run, "w:t");
    xml_set_text(w->doc, t, text);
    if (word_strip(text).len != text.len)
        xml_set(w->doc, t, "xml:space", STR("preserve"));
}

static void add_text_to_run(struct word *w, struct xml *run, struct str text)
{
    size_t begin = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (!strchr("\t\n\r", text.p[i]))
            continue;
        add_piece(w, run, str_slice(text, begin, i));
        (void)xml_add(w->doc, run, text.p[i] == '\t' ? "w:tab" : "w:br");
        if (text.p[i] == '\r' && i + 1 < text.len && text.p[i + 1] == '\n')
            i++;
        begin = i + 1;
    }
    add_piece(w, run, str_skip(text, begin));
}

struct xml *word_add_run(struct word *w, struct xml *p, struct str text)
{
    struct xml *run = xml_add(w->doc, p, "w:r");

    add_text_to_run(w, run, text);
    return run;
}

struct xml *word_ppr(struct word *w, struct xml *p)
{
    struct xml *ppr = xml_child(p, "w:pPr");

    return ppr ? ppr : xml_add_before(w->doc, p, "w:pPr", p ? p->first : NULL);
}

struct xml *word_rpr(struct word *w, struct xml *run)
{
    struct xml *rpr = xml_child(run, "w:rPr");

    return rpr ? rpr : xml_add_before(w->doc, run, "w:rPr", run ? run->first : NULL);
}

struct xml *word_prop(struct word *w, struct xml *properties, const char *name, struct str value,
                      const char *const order[])
{
    struct xml *n = xml_need(w->doc, properties, name, order);

    if (value.p)
        xml_set(w->doc, n, "w:val", value);
    return n;
}

struct xml *word_add_paragraph(struct word *w, struct str text, struct str style)
{
    struct xml *p = xml_add_before(w->doc, w->body, "w:p", xml_last(w->body, "w:sectPr"));

    if (style.len > 0)
        (void)word_prop(w, word_ppr(w, p), "w:pStyle", style, word_ppr_order);
    if (text.len > 0)
        (void)word_add_run(w, p, text);
    return p;
}

void word_move(struct xml *p, struct xml *there, bool is_before)
{
    if (!p || !there || p == there)
        return;
    xml_remove(p);
    xml_insert(there->parent, p, is_before ? there : there->next);
}

/* ---- cutting ---- */

/* Cuts the run at AT characters into two; returns the second. */
static struct xml *cut_run(struct word *w, struct xml *run, size_t at)
{
    struct xml *right = xml_copy(w->doc, run);
    struct xml *n = xml_child(run, NULL), *m = xml_child(right, NULL);

    if (!right)
        return NULL;
    xml_insert(run->parent, right, run->next);
    while (n && m) {
        struct xml *next = xml_next(n, NULL), *other = xml_next(m, NULL);
        struct str piece = piece_of(w, n);
        size_t len = word_chars(piece);
        if (xml_is(n, "w:rPr")) {
            n = next;
            m = other;
            continue;
        }
        if (at == 0) {
            xml_remove(n);
        } else if (at >= len) {
            at -= len;
            xml_remove(m);
        } else {
            size_t byte = word_byte_of(piece, at);
            xml_set_text(w->doc, n, str_slice(piece, 0, byte));
            xml_set_text(w->doc, m, str_skip(piece, byte));
            xml_set(w->doc, n, "xml:space", STR("preserve"));
            xml_set(w->doc, m, "xml:space", STR("preserve"));
            at = 0;
        }
        n = next;
        m = other;
    }
    return right;
}

struct xml *word_split(struct word *w, struct xml *p, size_t pos)
{
    for (struct xml *r = NULL; (r = word_next_run(p, r));) {
        size_t len = word_chars(word_run_text(w, r));
        if (pos == 0)
            return r;
        if (pos < len)
            return cut_run(w, r, pos);
        pos -= len;
    }
    return NULL;
}

/* ---- replacing ---- */

/* A piece of a paragraph's text: a "w:t", or a tab or break that stands for one character. */
struct text_span {
    struct xml *node;
    size_t begin, end; /* bytes of the whole text */
    bool is_text;
};

struct spans {
    struct text_span *items;
    size_t n, cap;
};

static bool collect_spans(struct word *w, struct xml *p, struct spans *s, struct buf *text)
{
    for (struct xml *r = NULL; (r = xml_walk(p, r, "w:r"));) {
        for (struct xml *n = xml_child(r, NULL); n; n = xml_next(n, NULL)) {
            struct str piece = piece_of(w, n);
            if (piece.len == 0)
                continue;
            s->items = arena_grow(w->arena, s->items, s->n, &s->cap, sizeof *s->items);
            if (!s->items || buf_add_str(text, piece) < 0)
                return false;
            s->items[s->n++] =
                (struct text_span){n, text->len - piece.len, text->len, xml_is(n, "w:t")};
        }
    }
    return true;
}

/* Bytes of the first N characters of *REST, which are taken from it. */
static struct str take_chars(struct str *rest, size_t n)
{
    struct str head = str_slice(*rest, 0, word_byte_of(*rest, n));

    *rest = str_skip(*rest, head.len);
    return head;
}

/* Replaces HIT: each "w:t" that it touches gets as many characters as it loses, the last one the
 * rest, so that every part keeps its looks. False: there is none to hold the new text. */
static bool replace_one(struct word *w, const struct spans *s, const struct text_span *hit,
                        struct str new)
{
    size_t last = s->n;

    for (size_t i = 0; i < s->n; i++) {
        if (s->items[i].is_text && s->items[i].begin < hit->end && s->items[i].end > hit->begin)
            last = i;
    }
    if (last == s->n)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        struct text_span *x = &s->items[i];
        if (x->begin >= hit->end || x->end <= hit->begin)
            continue;
        if (!x->is_text) {
            xml_remove(x->node);
            continue;
        }
        struct str old = xml_text(w->doc, x->node);
        size_t from = hit->begin > x->begin ? hit->begin - x->begin : 0;
        size_t to = hit->end < x->end ? hit->end - x->begin : old.len;
        size_t n = word_chars(str_slice(old, from, to));
        struct str part = i == last ? new : take_chars(&new, n);
        struct str text =
            arena_printf(w->arena, STR_FMT STR_FMT STR_FMT, STR_ARG(str_slice(old, 0, from)),
                         STR_ARG(part), STR_ARG(str_skip(old, to)));
        xml_set_text(w->doc, x->node, text);
        xml_set(w->doc, x->node, "xml:space", STR("preserve"));
    }
    return true;
}

unsigned word_replace(struct word *w, struct xml *p, struct str old, struct str new)
{
    auto_buf struct buf text = BUF_INIT(LOCAL_FILE_MAX);
    struct spans s = {0};
    unsigned total = 0;

    if (old.len == 0 || !collect_spans(w, p, &s, &text))
        return 0;
    /* From the last one on, so that places before it stay what they are. */
    for (size_t end = text.len; end >= old.len;) {
        size_t begin = end - old.len;
        if (memcmp(text.p + begin, old.p, old.len) != 0) {
            end--;
            continue;
        }
        total += replace_one(w, &s, &(struct text_span){.begin = begin, .end = end}, new);
        end = begin;
    }
    return total;
}
