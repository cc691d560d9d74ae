/* SPDX-License-Identifier: MIT */
/* Tools that look for something: texts and comments. */
#include "base/cleanup.h"
#include "local/word/tools.h"

enum { CONTEXT = 100, REFERENCE = 50 };

static void set_comment_member(struct word *w, struct json *o, const char *key, struct json *v)
{
    (void)json_set(w->arena, o, key, v);
}

/* ---- texts ---- */

struct comment_search {
    struct str text; /* in lower case when that does not matter */
    bool matches_case, is_word;
    struct json *found;
    int64_t total;
    struct str place; /* of a cell; empty: in the body */
    int64_t index;    /* of a paragraph of the body */
};

static void add_hit(struct word *w, struct comment_search *s, struct str text, size_t position)
{
    struct json *o = json_new_object(w->arena);

    if (s->place.len > 0)
        set_comment_member(w, o, "location", json_new_str(w->arena, s->place));
    else
        set_comment_member(w, o, "paragraph_index", json_new_int(w->arena, s->index));
    set_comment_member(w, o, "position", json_new_int(w->arena, (int64_t)position));
    set_comment_member(w, o, "context", json_new_str(w->arena, word_short(w, text, CONTEXT)));
    (void)json_push(w->arena, s->found, o);
    s->total++;
}

static bool is_text_space(char c)
{
    return strchr(" \t\r\n\v\f", c) != NULL;
}

/* Positions of whole words are their numbers. */
static void find_words(struct word *w, struct comment_search *s, struct str text, struct str in)
{
    size_t number = 0;

    for (size_t i = 0; i < in.len;) {
        size_t begin = i;
        while (i < in.len && !is_text_space(in.p[i]))
            i++;
        if (i > begin) {
            if (str_eq(str_slice(in, begin, i), s->text))
                add_hit(w, s, text, number);
            number++;
        }
        i += i < in.len;
    }
}

static void find_in_paragraph(struct word *w, struct comment_search *s, const struct xml *p)
{
    struct str text = word_text(w, p), in = s->matches_case ? text : word_lower(w, text);

    if (s->is_word) {
        find_words(w, s, text, in);
        return;
    }
    for (size_t from = 0; s->total < LOCAL_ENTRIES_MAX;) {
        ptrdiff_t at = str_find(str_skip(in, from), s->text);
        if (at < 0)
            return;
        add_hit(w, s, text, word_chars(str_slice(in, 0, from + (size_t)at)));
        from += (size_t)at + s->text.len;
    }
}

static void find_in_table(struct word *w, struct comment_search *s, const struct xml *table,
                          size_t index)
{
    size_t row = 0;

    for (const struct xml *r = xml_child(table, "w:tr"); r; r = xml_next(r, "w:tr"), row++) {
        size_t column = 0;
        for (const struct xml *c = xml_child(r, "w:tc"); c; c = xml_next(c, "w:tc"), column++) {
            s->place = word_say(w, "Table %zu, Row %zu, Column %zu", index, row, column);
            for (const struct xml *p = xml_child(c, "w:p"); p; p = xml_next(p, "w:p"))
                find_in_paragraph(w, s, p);
        }
    }
}

struct str tool_find_text_in_document(struct word *w)
{
    struct str text = word_arg(w, "text_to_find");
    struct json *o = json_new_object(w->arena);
    struct comment_search s = {.matches_case =
                                   !word_has(w, "match_case") || local_bool(w->c, "match_case"),
                               .is_word = local_bool(w->c, "whole_word"),
                               .found = json_new_array(w->arena)};
    size_t i = 0;

    if (text.len == 0)
        return STR("Search text cannot be empty");
    s.text = s.matches_case ? text : word_lower(w, text);
    for (struct xml *p = xml_child(w->body, "w:p"); p; p = xml_next(p, "w:p"), s.index++)
        find_in_paragraph(w, &s, p);
    for (struct xml *t = xml_child(w->body, "w:tbl"); t; t = xml_next(t, "w:tbl"), i++)
        find_in_table(w, &s, t, i);
    set_comment_member(w, o, "query", json_new_str(w->arena, text));
    set_comment_member(w, o, "match_case", json_new_bool(w->arena, s.matches_case));
    set_comment_member(w, o, "whole_word", json_new_bool(w->arena, s.is_word));
    set_comment_member(w, o, "occurrences", s.found);
    set_comment_member(w, o, "total_count", json_new_int(w->arena, s.total));
    return word_json(w, o, JSON_PRETTY);
}

/* ---- comments ---- */

/* Where the comment is: its paragraph, and the number of that when it is not in a table. */
static struct xml *find_comment_place(const struct word *w, struct str id, int64_t *index)
{
    static const char *const marks[] = {"w:commentRangeStart", "w:commentReference"};
    struct xml *p = NULL;
    int64_t i = 0;

    for (size_t k = 0; k < ARRAY_LEN(marks) && !p; k++) {
        struct xml *n = xml_find(w->body, marks[k], "w:id", id);
        p = n && xml_is(n->parent, "w:p") ? n->parent : xml_above(n, "w:p");
    }
    if (!p || p->parent != w->body)
        return p;
    for (struct xml *n = xml_child(w->body, "w:p"); n && n != p; n = xml_next(n, "w:p"))
        i++;
    *index = i;
    return p;
}

/* "…Z" as "…+00:00". */
static struct json *comment_date_of(struct word *w, struct str s)
{
    if (s.len == 0)
        return json_new_null(w->arena);
    if (s.p[s.len - 1] == 'Z')
        s = word_say(w, STR_FMT "+00:00", STR_ARG(str_slice(s, 0, s.len - 1)));
    return json_new_str(w->arena, s);
}

static struct json *comment(struct word *w, struct xml_doc *d, const struct xml *n, size_t i)
{
    struct json *o = json_new_object(w->arena);
    struct str author = xml_get(n, "w:author"), id = xml_get(n, "w:id");
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);
    int64_t index = -1;
    struct xml *p = find_comment_place(w, id, &index);

    for (struct xml *t = NULL; (t = xml_walk(n, t, "w:t"));)
        (void)buf_add_str(&b, xml_text(d, t));
    set_comment_member(w, o, "id", json_new_str(w->arena, word_say(w, "comment_%zu", i + 1)));
    set_comment_member(w, o, "comment_id",
                       json_new_str(w->arena, id.p ? id : word_say(w, "%zu", i)));
    set_comment_member(w, o, "author", json_new_str(w->arena, author.p ? author : STR("Unknown")));
    set_comment_member(w, o, "initials", json_new_str(w->arena, xml_get(n, "w:initials")));
    set_comment_member(w, o, "date", comment_date_of(w, xml_get(n, "w:date")));
    set_comment_member(w, o, "text", json_new_str(w->arena, word_strip(buf_str(&b))));
    set_comment_member(w, o, "paragraph_index",
                       index < 0 ? json_new_null(w->arena) : json_new_int(w->arena, index));
    set_comment_member(w, o, "in_table", json_new_bool(w->arena, p && xml_above(p, "w:tc")));
    set_comment_member(
        w, o, "reference_text",
        json_new_str(w->arena, p ? word_short(w, word_text(w, p), REFERENCE) : STR("")));
    return o;
}

/* The comments of AUTHOR (.p NULL: of all) on the paragraph INDEX (-1: on all). */
static struct json *comments(struct word *w, struct str author, int64_t index)
{
    struct json *list = json_new_array(w->arena);
    struct part *part = rel_part_by_type(&w->package, w->part, "comments");
    struct xml_doc *d = part ? part_xml(&w->package, part, NULL) : NULL;
    size_t i = 0;

    for (struct xml *n = NULL; d && (n = xml_walk(d->root, n, "w:comment")); i++) {
        struct json *o = comment(w, d, n, i);
        struct str own = json_str(json_get(o, "author"), STR(""));
        if (author.p && !str_eq(word_lower(w, own), word_lower(w, author)))
            continue;
        if (index < 0 || json_int(json_get(o, "paragraph_index"), -1) == index)
            (void)json_push(w->arena, list, o);
    }
    return list;
}

static struct str answer_comments(struct word *w, struct json *o, struct json *list)
{
    set_comment_member(w, o, "comments", list);
    set_comment_member(w, o, "total_comments", json_new_int(w->arena, list ? list->n : 0));
    return word_json(w, o, JSON_PRETTY);
}

static struct json *success(struct word *w)
{
    struct json *o = json_new_object(w->arena);

    set_comment_member(w, o, "success", json_new_bool(w->arena, true));
    return o;
}

struct str tool_get_all_comments(struct word *w)
{
    return answer_comments(w, success(w), comments(w, STR_NULL, -1));
}

struct str tool_get_comments_by_author(struct word *w)
{
    struct str author = word_arg(w, "author");
    struct json *o = success(w);

    if (word_strip(author).len == 0)
        return word_refuse(w, "Author name cannot be empty");
    set_comment_member(w, o, "author", json_new_str(w->arena, author));
    return answer_comments(w, o, comments(w, author, -1));
}

struct str tool_get_comments_for_paragraph(struct word *w)
{
    int64_t i = word_int(w, "paragraph_index", 0);
    struct xml *p = word_paragraph(w, i);
    struct json *o = success(w);

    if (i < 0)
        return word_refuse(w, "Paragraph index must be non-negative");
    if (!p)
        return word_refuse(w, "Paragraph index %lld is out of range. Document has %zu paragraphs.",
                           (long long)i, word_n_paragraphs(w));
    set_comment_member(w, o, "paragraph_index", json_new_int(w->arena, i));
    set_comment_member(w, o, "paragraph_text", json_new_str(w->arena, word_text(w, p)));
    return answer_comments(w, o, comments(w, STR_NULL, i));
}
