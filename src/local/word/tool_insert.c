/* SPDX-License-Identifier: MIT */
/* Tools that put paragraphs beside others or in their place. */
#include "local/word/tools.h"

/* ---- beside a paragraph ---- */

/* The paragraph that the call means; NULL with the reason in *WHY. Tables of contents do not count
 * when it is found by its text. */
static struct xml *find_insert_target(struct word *w, struct str *why)
{
    int64_t i = word_int(w, "target_paragraph_index", 0);
    struct str text = word_arg(w, "target_text");
    struct xml *p = NULL;

    if (word_has(w, "target_paragraph_index")) {
        p = word_paragraph(w, i);
        *why = word_say(w, "Invalid target_paragraph_index: %lld. Document has %zu paragraphs.",
                        (long long)i, word_n_paragraphs(w));
        return p;
    }
    for (p = text.len > 0 ? xml_child(w->body, "w:p") : NULL; p; p = xml_next(p, "w:p")) {
        if (!word_is_like(w, p, "toc") && str_find(word_text(w, p), text) >= 0)
            return p;
    }
    *why = STR("Target paragraph not found (by index or text). "
               "(TOC paragraphs are skipped in text search)");
    return NULL;
}

static bool is_before_target(const struct word *w)
{
    return str_is(word_arg(w, "position"), "before");
}

/* "paragraph (index 3)", or what it is called when it was found by its text. */
static struct str target_name(struct word *w)
{
    if (!word_has(w, "target_paragraph_index"))
        return STR("the target paragraph");
    return word_say(w, "paragraph (index %lld)",
                    (long long)word_int(w, "target_paragraph_index", 0));
}

static struct str position(const struct word *w)
{
    return word_has(w, "position") ? word_arg(w, "position") : STR("after");
}

static struct str no_style(struct word *w, struct str name)
{
    return word_failed(w, "\"no style with name '" STR_FMT "'\"", STR_ARG(name));
}

struct str tool_insert_header_near_text(struct word *w)
{
    struct str style = word_arg(w, "header_style"), title = word_arg(w, "header_title"), why;
    struct xml *target = find_insert_target(w, &why);

    if (!target)
        return why;
    style = style.len > 0 ? style : STR("Heading 1");
    struct str id = word_style_id(w, style);
    if (!id.p)
        return no_style(w, style);
    word_move(word_add_paragraph(w, title, id), target, is_before_target(w));
    return word_done(w,
                     "Header '" STR_FMT "' (style: " STR_FMT ") inserted " STR_FMT " " STR_FMT ".",
                     STR_ARG(title), STR_ARG(style), STR_ARG(position(w)), STR_ARG(target_name(w)));
}

struct str tool_insert_line_or_paragraph_near_text(struct word *w)
{
    struct str style = word_arg(w, "line_style"), why;
    struct xml *target = find_insert_target(w, &why);

    if (!target)
        return why;
    struct str id = xml_get(xml_path(target, "w:pPr/w:pStyle"), "w:val");
    if (style.len > 0) {
        id = word_style_id(w, style);
        if (!id.p)
            return no_style(w, style);
    } else {
        style = word_style_of(w, target);
    }
    word_move(word_add_paragraph(w, word_arg(w, "line_text"), id), target, is_before_target(w));
    return word_done(w, "Line/paragraph inserted " STR_FMT " " STR_FMT " with style '" STR_FMT "'.",
                     STR_ARG(position(w)), STR_ARG(target_name(w)), STR_ARG(style));
}

/* The id of the first of these styles that there is; empty: none of them. */
static struct str first_style(struct word *w, const char *const names[])
{
    for (size_t i = 0; names[i]; i++) {
        struct str id = word_style_id(w, str_of(names[i]));
        if (id.p)
            return id;
    }
    return STR("");
}

struct str tool_insert_numbered_list_near_text(struct word *w)
{
    static const char *const plain[] = {"List Paragraph", "Normal", NULL};
    static const char *const numbered[] = {"List Number", "List Paragraph", "Normal", NULL};
    const struct json *items = json_get(w->c->args, "list_items");
    bool has_type = word_has(w, "bullet_type");
    bool is_bullet = has_type && str_is(word_arg(w, "bullet_type"), "bullet");
    struct str why;
    struct xml *target = find_insert_target(w, &why);

    if (!target)
        return why;
    size_t n = json_is(items, JSON_ARRAY) ? items->n : 0;
    if (n > WORD_ITEMS_MAX)
        return word_failed(w, "more than %d items", WORD_ITEMS_MAX);
    struct str style = first_style(w, has_type ? plain : numbered);
    int64_t list = n > 0 ? word_numbering(w, is_bullet) : 0;
    struct xml *there = target;
    for (size_t i = 0; i < n; i++) {
        struct xml *p = word_add_paragraph(w, word_pystr(w, &items->items[i]), style);
        word_set_list(w, p, list);
        word_move(p, there, is_before_target(w));
        there = is_before_target(w) ? target : p;
    }
    if (!has_type)
        return word_done(w, "Numbered list inserted " STR_FMT " " STR_FMT ".", STR_ARG(position(w)),
                         STR_ARG(target_name(w)));
    return word_done(w, "%s list with %zu items inserted " STR_FMT " " STR_FMT ".",
                     is_bullet ? "Bulleted" : "Numbered", n, STR_ARG(position(w)),
                     STR_ARG(target_name(w)));
}

/* ---- in the place of others ---- */

/* Adds the new paragraphs behind THERE; returns how many, or -1 with the reason in *WHY. */
static int64_t add_new(struct word *w, struct xml *there, struct str style, struct str *why)
{
    const struct json *texts = json_get(w->c->args, "new_paragraphs");
    size_t n = json_is(texts, JSON_ARRAY) ? texts->n : 0;
    struct str id = word_style_id(w, style);

    if (!id.p && !str_is(style, "Normal")) {
        *why = no_style(w, style);
        return -1;
    }
    if (n > WORD_ITEMS_MAX) {
        *why = word_failed(w, "more than %d paragraphs", WORD_ITEMS_MAX);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        struct xml *p = word_add_paragraph(w, word_pystr(w, &texts->items[i]),
                                           str_is(style, "Normal") ? STR("") : id);
        word_move(p, there, false);
        there = p;
    }
    return (int64_t)n;
}

static bool is_heading(struct word *w, const struct xml *p)
{
    return word_is_like(w, p, "heading") || word_is_like(w, p, "toc") ||
           word_is_like(w, p, "título");
}

struct str tool_replace_paragraph_block_below_header(struct word *w)
{
    struct str header = word_arg(w, "header_text"), why = STR_NULL;
    struct str wanted = word_lower(w, word_strip(header));
    struct xml *p = xml_child(w->body, "w:p");
    int64_t removed = 0;

    while (p && (word_is_like(w, p, "toc") ||
                 !str_eq(word_lower(w, word_strip(word_text(w, p))), wanted)))
        p = xml_next(p, "w:p");
    if (!p)
        return word_say(w, "Header '" STR_FMT "' not found in document.", STR_ARG(header));
    for (struct xml *n = xml_next(p, "w:p"), *next; n && !is_heading(w, n); n = next) {
        next = xml_next(n, "w:p");
        xml_remove(n);
        removed++;
    }
    int64_t added = add_new(w, p, STR("Normal"), &why);
    if (added < 0)
        return why;
    return word_done(w,
                     "Replaced content under '" STR_FMT
                     "' with %lld paragraph(s), style: Normal, removed %lld elements.",
                     STR_ARG(header), (long long)added, (long long)removed);
}

/* The text of everything in P, without white space around it. */
static struct str inserted_plain_text(struct word *w, const struct xml *p)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    for (struct xml *t = NULL; (t = xml_walk(p, t, "w:t"));)
        (void)buf_add_str(&b, xml_text(w->doc, t));
    return word_strip(arena_str(w->arena, buf_str(&b)));
}

/* Whether P looks like a heading: bold, capitals or a size of its own. */
static bool is_distinct(const struct xml *p)
{
    for (struct xml *r = NULL; (r = xml_walk(p, r, "w:r"));) {
        const struct xml *pr = xml_child(r, "w:rPr");
        if (xml_child(pr, "w:b") || xml_child(pr, "w:caps") || xml_child(pr, "w:sz"))
            return true;
    }
    return false;
}

static bool is_end(struct word *w, const struct xml *n, struct str end)
{
    if (xml_is(n, "w:sectPr"))
        return true;
    if (!xml_is(n, "w:p"))
        return false;
    return end.len > 0 ? str_eq(inserted_plain_text(w, n), word_strip(end)) : is_distinct(n);
}

struct str tool_replace_block_between_manual_anchors(struct word *w)
{
    struct str start = word_arg(w, "start_anchor_text"), end = word_arg(w, "end_anchor_text");
    struct str style = word_arg(w, "new_paragraph_style"), why = STR_NULL;
    struct xml *p = xml_child(w->body, "w:p");
    int64_t removed = 0;

    style = style.len > 0 ? style : STR("Normal");
    while (p && !str_eq(inserted_plain_text(w, p), word_strip(start)))
        p = xml_next(p, "w:p");
    if (!p)
        return word_say(w, "Start anchor '" STR_FMT "' not found.", STR_ARG(start));
    for (struct xml *n = xml_next(p, NULL), *next; n && !is_end(w, n, end); n = next) {
        next = xml_next(n, NULL);
        xml_remove(n);
        removed++;
    }
    int64_t added = add_new(w, p, style, &why);
    if (added < 0)
        return why;
    return word_done(w,
                     "Replaced content between '" STR_FMT "' and '" STR_FMT
                     "' with %lld paragraph(s), style: " STR_FMT ", removed %lld elements.",
                     STR_ARG(start), STR_ARG(end.len > 0 ? end : STR("next logical header")),
                     (long long)added, STR_ARG(style), (long long)removed);
}
