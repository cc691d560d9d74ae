/* SPDX-License-Identifier: MIT */
/* Footnotes as Word knows them: a part of their own, and references to them in the text. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "local/word/tools.h"

#define W_NS  "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
#define SPACE "<w:pPr><w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr>"

enum { NOTE_FIRST = 2 /* 0 and 1 may be the lines above the notes */, NOTE_MOST = 32767 };

static const struct str no_notes = STR_INIT(
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:footnotes xmlns:w=\"" W_NS
    "\"><w:footnote w:type=\"separator\" w:id=\"-1\"><w:p>" SPACE
    "<w:r><w:separator/></w:r></w:p></w:footnote>"
    "<w:footnote w:type=\"continuationSeparator\" w:id=\"0\"><w:p>" SPACE
    "<w:r><w:continuationSeparator/></w:r></w:p></w:footnote></w:footnotes>");

static struct part *notes_part(struct word *w)
{
    return rel_part_by_type(&w->package, w->part, "footnotes");
}

static struct xml_doc *need_notes(struct word *w)
{
    struct part *part = notes_part(w);

    if (!part) {
        part = package_add(&w->package, STR("/word/footnotes.xml"),
                           "application/vnd.openxmlformats-officedocument."
                           "wordprocessingml.footnotes+xml",
                           no_notes);
        if (part)
            (void)rel_add(&w->package, w->part, "footnotes", part);
    }
    return part ? part_edit(&w->package, part, NULL) : NULL;
}

static void need_note_style(struct word *w)
{
    if (!word_style(w, STR("FootnoteReference"), "character")) {
        struct xml *s =
            word_add_style(w, "character", STR("FootnoteReference"), STR("footnote reference"));
        xml_unset(s, "w:customStyle");
        struct xml *pr = s ? xml_add(w->styles, s, "w:rPr") : NULL;
        if (pr)
            xml_set(w->styles, xml_add(w->styles, pr, "w:vertAlign"), "w:val", STR("superscript"));
    }
    if (!word_style(w, STR("FootnoteText"), "paragraph")) {
        struct xml *s = word_add_style(w, "paragraph", STR("FootnoteText"), STR("footnote text"));
        xml_unset(s, "w:customStyle");
        if (s)
            (void)xml_add_text(w->styles, s, NULL,
                               "<w:basedOn w:val=\"Normal\"/><w:pPr><w:spacing w:after=\"0\" "
                               "w:line=\"240\" w:lineRule=\"auto\"/></w:pPr><w:rPr>"
                               "<w:sz w:val=\"20\"/></w:rPr>");
    }
}

static int64_t note_id_of(const struct xml *n)
{
    return xml_get_int(n, "w:id", INT64_MIN);
}

static struct xml *find_note(const struct xml *root, const char *name, int64_t id)
{
    for (struct xml *n = NULL; (n = xml_walk(root, n, name));) {
        if (note_id_of(n) == id)
            return n;
    }
    return NULL;
}

static bool is_separator(const struct xml *note)
{
    struct str type = xml_get(note, "w:type");

    return note_id_of(note) <= 0 || str_is(type, "separator") ||
           str_is(type, "continuationSeparator") || str_is(type, "continuationNotice");
}

/* ---- adding ---- */

struct note {
    struct str search, text; /* SEARCH .len 0: by index */
    bool has_index, is_before;
    int64_t index;
    int64_t id; /* that it got */
};

static struct str all_text(struct word *w, const struct xml *p)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    for (struct xml *t = NULL; (t = xml_walk(p, t, "w:t"));)
        (void)buf_add_str(&b, xml_text(w->doc, t));
    return arena_str(w->arena, buf_str(&b));
}

/* The paragraph, those in tables counted too; NULL with the reason in *WHY. */
static struct xml *find_note_place(struct word *w, const struct note *n, struct str *why)
{
    struct xml *p = NULL;
    int64_t i = 0;

    if (n->search.len == 0 && !n->has_index) {
        *why = STR("Must provide either search_text or paragraph_index");
        return NULL;
    }
    if (n->search.len > 0 && n->has_index) {
        *why = STR("Cannot provide both search_text and paragraph_index");
        return NULL;
    }
    while ((p = xml_walk(w->body, p, "w:p"))) {
        if (n->has_index ? i++ == n->index : str_find(all_text(w, p), n->search) >= 0)
            return p;
    }
    *why = n->has_index
               ? word_say(w, "Paragraph index %lld out of range", (long long)n->index)
               : word_say(w, "Text '" STR_FMT "' not found in document", STR_ARG(n->search));
    return NULL;
}

static struct xml *add_note_reference(struct word *w, struct xml *p, const struct note *n)
{
    struct xml *before = NULL, *last = xml_last(p, NULL);

    for (struct xml *r = xml_child(p, NULL); n->is_before && r && !before; r = xml_next(r, NULL)) {
        if (xml_is(r, "w:r") && xml_child(r, "w:t"))
            before = r;
    }
    if (!before && !n->is_before)
        before = last ? last->next : NULL;
    struct xml *run = xml_add_text(w->doc, p, before,
                                   "<w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr>"
                                   "<w:footnoteReference/></w:r>");
    xml_setf(w->doc, xml_child(run, "w:footnoteReference"), "w:id", "%lld", (long long)n->id);
    return run;
}

/* The note that comes behind the one of RUN: programs that pair notes and references by their order
 * find the right ones then. NULL: none does. */
static struct xml *note_behind(const struct word *w, struct xml *run, const struct xml_doc *d)
{
    struct xml *n = xml_child(run, "w:footnoteReference"), *note = NULL;

    while (!note && (n = xml_walk(w->body, n, "w:footnoteReference")))
        note = find_note(d->root, "w:footnote", note_id_of(n));
    return note;
}

/* False with the reason in *WHY. */
static bool add_note_text(struct word *w, struct note *n, struct str *why)
{
    struct xml *p = find_note_place(w, n, why);
    struct xml_doc *d = p ? need_notes(w) : NULL;

    if (!p)
        return false;
    for (n->id = NOTE_FIRST; d && find_note(d->root, "w:footnote", n->id); n->id++) {
        if (n->id > NOTE_MOST)
            d = NULL;
    }
    if (!d) {
        *why = STR("Error adding footnote: No available footnote IDs");
        return false;
    }
    need_note_style(w);
    struct xml *run = add_note_reference(w, p, n);
    struct xml *note = xml_add_text(
        d, d->root, note_behind(w, run, d),
        "<w:footnote><w:p><w:pPr><w:pStyle w:val=\"FootnoteText\"/></w:pPr><w:r><w:rPr>"
        "<w:rStyle w:val=\"FootnoteReference\"/></w:rPr><w:footnoteRef/></w:r><w:r>"
        "<w:t xml:space=\"preserve\"> </w:t></w:r><w:r><w:t xml:space=\"preserve\"/></w:r></w:p>"
        "</w:footnote>");
    xml_setf(d, note, "w:id", "%lld", (long long)n->id);
    xml_set_text(d, xml_child(xml_last(xml_child(note, "w:p"), "w:r"), "w:t"), n->text);
    return true;
}

/* The name of the document that is written; .p NULL: the call has failed. */
static struct str output(struct word *w)
{
    struct str name = word_arg(w, "output_filename");

    if (name.len == 0)
        return w->name;
    name = word_docx(w->arena, name);
    w->save_path = word_path(w, name);
    return w->save_path ? name : STR_NULL;
}

static struct str add_and_save_note(struct word *w, struct note *n)
{
    struct str why = STR_NULL, name = output(w);

    if (!name.p || !add_note_text(w, n, &why))
        return why;
    return word_done(w, "Successfully added footnote (ID: %lld) to " STR_FMT, (long long)n->id,
                     STR_ARG(name));
}

struct str tool_add_footnote_after_text(struct word *w)
{
    return add_and_save_note(w, &(struct note){.search = word_arg(w, "search_text"),
                                               .text = word_arg(w, "footnote_text")});
}

struct str tool_add_footnote_before_text(struct word *w)
{
    return add_and_save_note(w, &(struct note){.search = word_arg(w, "search_text"),
                                               .text = word_arg(w, "footnote_text"),
                                               .is_before = true});
}

struct str tool_add_footnote_enhanced(struct word *w)
{
    return add_and_save_note(w, &(struct note){.has_index = true,
                                               .index = word_int(w, "paragraph_index", 0),
                                               .text = word_arg(w, "footnote_text")});
}

static void set_note_member(struct word *w, struct json *o, const char *key, struct json *v)
{
    (void)json_set(w->arena, o, key, v);
}

struct str tool_add_footnote_robust(struct word *w)
{
    struct note n = {.search = word_arg(w, "search_text"),
                     .text = word_arg(w, "footnote_text"),
                     .has_index = word_has(w, "paragraph_index"),
                     .index = word_int(w, "paragraph_index", 0)};
    struct json *o = json_new_object(w->arena), *details = json_new_object(w->arena);
    struct json *made = json_new_array(w->arena);
    struct str why = STR_NULL;

    if (!add_note_text(w, &n, &why))
        return word_refuse(w, STR_FMT, STR_ARG(why));
    (void)json_push(w->arena, made, json_new_str(w->arena, STR("FootnoteReference")));
    (void)json_push(w->arena, made, json_new_str(w->arena, STR("FootnoteText")));
    set_note_member(w, details, "footnote_id", json_new_int(w->arena, n.id));
    set_note_member(
        w, details, "location",
        json_new_str(w->arena, n.has_index ? STR("paragraph_index") : STR("search_text")));
    set_note_member(w, details, "styles_created", made);
    set_note_member(w, details, "coherence_verified", json_new_bool(w->arena, true));
    struct str message = word_done(w, "Successfully added footnote (ID: %lld) to " STR_FMT,
                                   (long long)n.id, STR_ARG(w->name));
    set_note_member(w, o, "success", json_new_bool(w->arena, true));
    set_note_member(w, o, "message", json_new_str(w->arena, message));
    set_note_member(w, o, "details", details);
    return word_json(w, o, JSON_COMPACT);
}

/* ---- removing ---- */

/* The id of the first footnote of a paragraph with the text; 0: there is none. */
static int64_t find_note_by_text(struct word *w, struct str text)
{
    for (struct xml *p = NULL; (p = xml_walk(w->body, p, "w:p"));) {
        struct xml *n = xml_walk(p, NULL, "w:footnoteReference");
        if (n && str_find(all_text(w, p), text) >= 0)
            return xml_get_int(n, "w:id", 0);
    }
    return 0;
}

static int64_t remove_references(struct word *w, int64_t id)
{
    int64_t n = 0;

    for (struct xml *r; (r = find_note(w->body, "w:footnoteReference", id)); n++)
        xml_remove(xml_is(r->parent, "w:r") ? r->parent : r);
    return n;
}

/* Removes the footnotes that nothing refers to; their ids, as texts. */
static struct json *remove_orphans(struct word *w, struct xml_doc *d)
{
    struct json *ids = json_new_array(w->arena);

    for (struct xml *n = xml_child(d->root, "w:footnote"), *next; n; n = next) {
        next = xml_next(n, "w:footnote");
        if (is_separator(n) || find_note(w->body, "w:footnoteReference", note_id_of(n)))
            continue;
        (void)json_push(w->arena, ids, json_new_str(w->arena, xml_get(n, "w:id")));
        xml_remove(n);
    }
    return ids;
}

/* The message; *DETAILS stays NULL when nothing was removed. */
static struct str delete_note(struct word *w, bool cleans, struct json **details)
{
    int64_t id = word_int(w, "footnote_id", 0), n_notes = 0;
    struct str search = word_arg(w, "search_text");
    struct part *part = notes_part(w);

    if (id == 0 && search.len == 0)
        return STR("Must provide either footnote_id or search_text");
    struct xml_doc *d = part ? part_edit(&w->package, part, NULL) : NULL;
    if (!d)
        return STR("No footnotes in document");
    if (search.len > 0)
        id = find_note_by_text(w, search);
    if (id == 0)
        return word_say(w, "No footnote found near text '" STR_FMT "'", STR_ARG(search));
    int64_t n_references = remove_references(w, id);
    if (n_references == 0)
        return word_say(w, "Footnote %lld not found", (long long)id);
    for (struct xml *n; (n = find_note(d->root, "w:footnote", id)); n_notes++)
        xml_remove(n);
    struct json *orphans = cleans ? remove_orphans(w, d) : json_new_array(w->arena);
    *details = json_new_object(w->arena);
    set_note_member(w, *details, "footnote_id", json_new_int(w->arena, id));
    set_note_member(w, *details, "references_removed", json_new_int(w->arena, n_references));
    set_note_member(w, *details, "content_removed", json_new_int(w->arena, n_notes));
    set_note_member(w, *details, "orphans_removed", orphans);
    w->is_done = true;
    if (orphans && orphans->n > 0)
        return word_say(w, "Successfully deleted footnote %lld and %u orphaned footnotes",
                        (long long)id, orphans->n);
    return word_say(w, "Successfully deleted footnote %lld", (long long)id);
}

struct str tool_delete_footnote_from_document(struct word *w)
{
    struct json *details = NULL;
    struct str name = output(w);

    return name.p ? delete_note(w, true, &details) : STR_NULL;
}

struct str tool_delete_footnote_robust(struct word *w)
{
    struct json *o = json_new_object(w->arena), *details = NULL;
    bool cleans = !word_has(w, "clean_orphans") || local_bool(w->c, "clean_orphans");
    struct str message = delete_note(w, cleans, &details);

    if (!details)
        return word_refuse(w, STR_FMT, STR_ARG(message));
    set_note_member(w, o, "success", json_new_bool(w->arena, true));
    set_note_member(w, o, "message", json_new_str(w->arena, message));
    set_note_member(w, o, "details", details);
    return word_json(w, o, JSON_COMPACT);
}

/* ---- checking ---- */

static void add_id(struct word *w, struct json *list, const struct xml *n)
{
    struct json *v = json_new_str(w->arena, xml_get(n, "w:id"));

    for (size_t i = 0; list && i < list->n; i++) {
        if (json_equal(&list->items[i], v))
            return;
    }
    (void)json_push(w->arena, list, v);
}

struct report {
    struct json *conflicts, *orphans, *missing, *nowhere, *styles, *issues;
    int64_t n_references, n_notes;
};

static void check_notes(struct word *w, struct report *r, const struct xml *root)
{
    for (const struct xml *n = xml_child(root, "w:footnote"); n; n = xml_next(n, "w:footnote")) {
        if (is_separator(n))
            continue;
        r->n_notes++;
        if (find_note(root, "w:footnote", note_id_of(n)) != n)
            add_id(w, r->conflicts, n);
        if (!find_note(w->body, "w:footnoteReference", note_id_of(n)))
            add_id(w, r->orphans, n);
    }
    for (struct xml *n = NULL; (n = xml_walk(w->body, n, "w:footnoteReference"));) {
        r->n_references++;
        if (root && !find_note(root, "w:footnote", note_id_of(n)))
            add_id(w, r->missing, n);
    }
    if (!root && r->n_references > 0)
        (void)json_push(w->arena, r->issues,
                        json_new_str(w->arena, STR("References exist but no footnotes.xml")));
    if (!word_style(w, STR("FootnoteReference"), "character"))
        (void)json_push(w->arena, r->styles, json_new_str(w->arena, STR("FootnoteReference")));
    if (!word_style(w, STR("FootnoteText"), "paragraph"))
        (void)json_push(w->arena, r->styles, json_new_str(w->arena, STR("FootnoteText")));
}

struct str tool_validate_document_footnotes(struct word *w)
{
    struct arena *a = w->arena;
    struct json *o = json_new_object(a), *v = json_new_object(a);
    struct report r = {json_new_array(a),
                       json_new_array(a),
                       json_new_array(a),
                       json_new_array(a),
                       json_new_array(a),
                       json_new_array(a),
                       0,
                       0};
    struct part *part = notes_part(w);
    struct xml_doc *d = part ? part_xml(&w->package, part, NULL) : NULL;

    if (!r.conflicts || !r.orphans || !r.missing || !r.nowhere || !r.issues)
        return STR_NULL;
    check_notes(w, &r, d ? d->root : NULL);
    bool is_valid = r.conflicts->n + r.orphans->n + r.missing->n + r.issues->n == 0;
    set_note_member(w, v, "total_references", json_new_int(a, r.n_references));
    set_note_member(w, v, "total_content", json_new_int(a, r.n_notes));
    set_note_member(w, v, "id_conflicts", r.conflicts);
    set_note_member(w, v, "orphaned_content", r.orphans);
    set_note_member(w, v, "missing_references", r.missing);
    set_note_member(w, v, "invalid_locations", r.nowhere);
    set_note_member(w, v, "missing_styles", r.styles);
    set_note_member(w, v, "coherence_issues", r.issues);
    set_note_member(w, o, "valid", json_new_bool(a, is_valid));
    set_note_member(w, o, "message",
                    json_new_str(a, is_valid ? STR("Document footnotes are valid")
                                             : STR("Document has footnote issues")));
    set_note_member(w, o, "report", v);
    return word_json(w, o, JSON_COMPACT);
}
