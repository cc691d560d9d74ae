/* SPDX-License-Identifier: MIT */
/* Conversions between the ways in which the products keep formatted text. */
#include "apps/functions/functions.h"

#define MARKUP_ARENA (8 * (size_t)APPDB_RESULT_MAX)

/* ---- ADF, Atlassian's document format ---- */

/* adf_doc(text): a document of one paragraph of plain text, as the tools make them. */
static void fn_adf_doc(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str text = fn_text(v[0]);

    (void)n;
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    (void)buf_add_lit(&b, "{\"type\":\"doc\",\"version\":1,\"content\":[");
    if (text.len > 0) {
        (void)buf_add_lit(&b, "{\"type\":\"paragraph\",\"content\":[{\"type\":\"text\",\"text\":");
        (void)json_write_str(&b, text);
        (void)buf_add_lit(&b, "}]}");
    }
    (void)buf_add_lit(&b, "]}");
    fn_give_json(x, &b);
}

/* Blocks end a line. */
static bool is_block(struct str type)
{
    static const char *const inlines[] = {"text",       "hardBreak", "mention", "emoji",
                                          "inlineCard", "date",      "status"};

    for (size_t i = 0; i < ARRAY_LEN(inlines); i++) {
        if (str_is(type, inlines[i]))
            return false;
    }
    return true;
}

static void add_adf_text(struct buf *out, const struct json *node)
{
    struct str type = json_str(json_get(node, "type"), STR(""));
    const struct json *content = json_get(node, "content");
    struct str text = json_str(json_get(node, "text"), STR_NULL);

    if (!text.p)
        text = json_str(json_pointer(node, "/attrs/text"), STR_NULL);
    if (!text.p)
        text = json_str(json_pointer(node, "/attrs/url"), STR_NULL);
    if (text.p)
        (void)buf_add_str(out, text);
    else if (str_is(type, "hardBreak"))
        (void)buf_add_char(out, '\n');
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        const struct json *child = json_at(content, i);
        if (i > 0 && is_block(json_str(json_get(child, "type"), STR(""))))
            (void)buf_add_char(out, '\n');
        add_adf_text(out, child);
    }
}

/* adf_text(document): its plain text; what is no document stays as it is. */
static void fn_adf_text(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct arena arena auto_arena;
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str text = fn_text(v[0]);

    (void)n;
    arena_init(&arena, MARKUP_ARENA);
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    const struct json *doc = json_parse(&arena, text, NULL, NULL);
    if (json_is(doc, JSON_OBJECT))
        add_adf_text(&b, doc);
    else
        (void)buf_add_str(&b, text);
    fn_give(x, &b);
}

/* ---- HTML, and Confluence's storage format ---- */

static const struct entity {
    const char *name, *text;
} entities[] = {
    {"amp;", "&"},  {"lt;", "<"},     {"gt;", ">"},    {"quot;", "\""},
    {"apos;", "'"}, {"nbsp;", " "},   {"ndash;", "–"}, {"mdash;", "—"},
    {"#39;", "'"},  {"hellip;", "…"}, {"rarr;", "→"},  {"deg;", "°"},
};

/* Tags behind which a new line begins. */
static bool is_line_tag(struct str tag)
{
    static const char *const tags[] = {"p",  "br", "br/", "div", "li", "tr", "h1",   "h2",
                                       "h3", "h4", "h5",  "h6",  "ul", "ol", "table"};

    if (str_starts(tag, STR("/")))
        tag = str_skip(tag, 1);
    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        if (str_iis(tag, tags[i]))
            return true;
    }
    return false;
}

/* Cuts the tag off S, which begins with '<'. */
static void skip_tag(struct str *s, struct buf *out)
{
    ptrdiff_t end = str_chr(*s, '>');
    struct str tag = str_slice(*s, 1, end < 0 ? s->len : (size_t)end);
    ptrdiff_t space = str_chr(tag, ' ');

    if (is_line_tag(space < 0 ? tag : str_slice(tag, 0, (size_t)space)) && out->len > 0 &&
        out->p[out->len - 1] != '\n')
        (void)buf_add_char(out, '\n');
    *s = end < 0 ? STR("") : str_skip(*s, (size_t)end + 1);
}

/* Cuts "&amp;" off S; an unknown one is text. */
static void take_entity(struct str *s, struct buf *out)
{
    struct str name = str_skip(*s, 1);

    for (size_t i = 0; i < ARRAY_LEN(entities); i++) {
        if (!str_starts(name, str_of(entities[i].name)))
            continue;
        (void)buf_add_str(out, str_of(entities[i].text));
        *s = str_skip(name, strlen(entities[i].name));
        return;
    }
    (void)buf_add_char(out, '&');
    *s = name;
}

/* html_text(html): its plain text. A '<' that begins no tag is text. */
static void fn_html_text(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct str s = fn_text(v[0]);

    (void)n;
    if (sqlite3_value_type(v[0]) == SQLITE_NULL)
        return;
    while (s.len > 0) {
        char next = s.len > 1 ? (char)(s.p[1] | 0x20) : ' ';
        bool is_tag = s.p[0] == '<' && ((next >= 'a' && next <= 'z') || s.p[1] == '/');
        if (is_tag) {
            skip_tag(&s, &b);
        } else if (s.p[0] == '&') {
            take_entity(&s, &b);
        } else {
            (void)buf_add_char(&b, s.p[0]);
            s = str_skip(s, 1);
        }
    }
    fn_give(x, &b);
}

const struct sql_function functions_markup[] = {
    {"adf_doc", 1, SQLITE_DETERMINISTIC | SQLITE_SUBTYPE, fn_adf_doc},
    {"adf_text", 1, SQLITE_DETERMINISTIC, fn_adf_text},
    {"html_text", 1, SQLITE_DETERMINISTIC, fn_html_text},
    {NULL, 0, 0, NULL},
};
