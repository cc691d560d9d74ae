/* SPDX-License-Identifier: MIT */
/* Markdown to blocks: what people write into pages, line by line. */
#include "apps/products/notion/notion.h"
#include "base/cleanup.h"

/* ---- inside a line ---- */

/* How far the end of a mark is looked for, so that a long line takes no time. */
#define MARKED_MAX 4096

/* Marks that come in pairs; longer ones first. */
static const struct markdown_mark {
    struct str text;
    struct notion_style style;
} marks[] = {
    {STR_INIT("**"), {.is_bold = true}},   {STR_INIT("__"), {.is_bold = true}},
    {STR_INIT("~~"), {.is_struck = true}}, {STR_INIT("`"), {.is_code = true}},
    {STR_INIT("*"), {.is_italic = true}},
};

static void push_piece(struct arena *a, struct json **list, struct str text,
                       const struct notion_style *style)
{
    /* Pieces are at most so long; none ends within a character. */
    while (text.len > 0 && *list) {
        size_t n = text.len < NOTION_TEXT_MAX ? text.len : NOTION_TEXT_MAX;
        while (n < text.len && n > 1 && ((unsigned char)text.p[n] & 0xc0) == 0x80)
            n--;
        const struct json *piece = notion_piece(a, str_slice(text, 0, n), style);
        if (!piece || json_push(a, *list, piece) < 0)
            *list = NULL;
        text = str_skip(text, n);
    }
}

/* "**text**" at the front of REST: its length in all, or 0. */
static size_t match_mark(struct str rest, const struct markdown_mark *m, struct str *ret_inner)
{
    if (!str_starts(rest, m->text))
        return 0;
    struct str inner = str_skip(rest, m->text.len);
    ptrdiff_t end = str_find(inner, m->text);
    if (end <= 0 || inner.p[0] == ' ')
        return 0;
    *ret_inner = str_slice(inner, 0, (size_t)end);
    return (size_t)end + 2 * m->text.len;
}

/* "[text](url)" at the front of REST: its length in all, or 0. */
static size_t match_link(struct str rest, struct str *ret_text, struct str *ret_url)
{
    if (rest.p[0] != '[')
        return 0;
    ptrdiff_t close = str_find(rest, STR("]("));
    if (close < 0)
        return 0;
    struct str url = str_skip(rest, (size_t)close + 2);
    ptrdiff_t end = str_chr(url, ')');
    if (end <= 0)
        return 0;
    *ret_text = str_slice(rest, 1, (size_t)close);
    *ret_url = str_slice(url, 0, (size_t)end);
    return (size_t)close + 2 + (size_t)end + 1;
}

/* What is marked at the front of REST: its length in all, or 0. */
static size_t match_any(struct str rest, struct str *ret_inner, struct notion_style *ret_style)
{
    size_t n;

    *ret_style = (struct notion_style){.link = STR_NULL};
    n = match_link(rest, ret_inner, &ret_style->link);
    for (size_t i = 0; n == 0 && i < ARRAY_LEN(marks); i++) {
        n = match_mark(rest, &marks[i], ret_inner);
        *ret_style = marks[i].style;
    }
    return n;
}

static struct json *inline_text(struct arena *a, struct str text)
{
    struct json *list = json_new_array(a);
    size_t done = 0;

    for (size_t i = 0; i < text.len && list;) {
        struct notion_style style;
        struct str inner;
        size_t n = match_any(str_slice(text, i, i + MARKED_MAX), &inner, &style);
        if (n == 0) {
            i++;
            continue;
        }
        push_piece(a, &list, str_slice(text, done, i), NULL);
        push_piece(a, &list, inner, &style);
        i += n;
        done = i;
    }
    push_piece(a, &list, str_skip(text, done), NULL);
    return list;
}

/* ---- lines ---- */

struct markdown_line {
    const char *type; /* of the block */
    struct str text;
    size_t indent;   /* of lists, in spaces */
    bool is_checked; /* of to_do */
};

static size_t count_leading(struct str s, char c)
{
    size_t n = 0;

    while (n < s.len && s.p[n] == c)
        n++;
    return n;
}

static bool is_rule(struct str s)
{
    char c = s.len >= 3 ? s.p[0] : '\0';

    return (c == '-' || c == '*' || c == '_') && count_leading(s, c) == s.len;
}

/* "12. " */
static size_t number_mark(struct str s)
{
    size_t n = 0;

    while (n < s.len && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n > 0 && n + 1 < s.len && (s.p[n] == '.' || s.p[n] == ')') && s.p[n + 1] == ' ' ? n + 2
                                                                                           : 0;
}

static bool read_list_item(struct str s, struct markdown_line *l)
{
    static const struct {
        struct str mark;
        bool is_checked;
    } boxes[] = {{STR_INIT("[ ] "), false}, {STR_INIT("[x] "), true}, {STR_INIT("[X] "), true}};
    size_t n = number_mark(s);

    if (n > 0) {
        *l = (struct markdown_line){"numbered_list_item", str_skip(s, n), l->indent, false};
        return true;
    }
    if (!str_starts(s, STR("- ")) && !str_starts(s, STR("* ")) && !str_starts(s, STR("+ ")))
        return false;
    *l = (struct markdown_line){"bulleted_list_item", str_skip(s, 2), l->indent, false};
    for (size_t i = 0; i < ARRAY_LEN(boxes); i++) {
        if (str_starts(l->text, boxes[i].mark))
            *l = (struct markdown_line){"to_do", str_skip(l->text, 4), l->indent,
                                        boxes[i].is_checked};
    }
    return true;
}

static void read_markdown_line(struct str text, struct markdown_line *l)
{
    static const char *const headings[] = {"heading_1", "heading_2", "heading_3"};
    struct str s = str_trim(text);
    size_t hashes = count_leading(s, '#');

    *l = (struct markdown_line){"paragraph", s, 0, false};
    for (size_t i = 0; i < text.len && (text.p[i] == ' ' || text.p[i] == '\t'); i++)
        l->indent += text.p[i] == '\t' ? 4 : 1;
    if (hashes > 0 && hashes <= 6 && hashes < s.len && s.p[hashes] == ' ')
        *l = (struct markdown_line){headings[hashes > 3 ? 2 : hashes - 1],
                                    str_trim(str_skip(s, hashes)), 0, false};
    else if (is_rule(s))
        *l = (struct markdown_line){"divider", STR(""), 0, false};
    else if (str_starts(s, STR(">")))
        *l = (struct markdown_line){"quote", str_trim(str_skip(s, 1)), 0, false};
    else if (!read_list_item(s, l))
        l->indent = 0;
}

/* ---- blocks ---- */

static struct json *new_block(struct arena *a, const char *type, struct json *data)
{
    struct json *block = notion_set(a, json_new_object(a), "type", json_new_str(a, str_of(type)));

    return notion_set(a, block, type, data);
}

static struct json *markdown_block_of(struct arena *a, const struct markdown_line *l)
{
    struct json *data = json_new_object(a);

    if (!str_is(str_of(l->type), "divider"))
        data = notion_set(a, data, "rich_text", inline_text(a, l->text));
    if (str_is(str_of(l->type), "to_do"))
        data = notion_set(a, data, "checked", json_new_bool(a, l->is_checked));
    return new_block(a, l->type, data);
}

/* The lines up to the closing fence. */
static struct json *code_block(struct arena *a, struct str language, struct str *rest)
{
    const char *begin = rest->p;
    size_t len = 0;
    struct json *text = json_new_array(a), *data = json_new_object(a);

    while (rest->p) {
        struct str line = str_cut(rest, '\n');
        if (str_starts(str_trim(line), STR("```")))
            break;
        len = (size_t)(line.p + line.len - begin);
    }
    push_piece(a, &text, str_n(begin, len), NULL);
    data = notion_set(a, data, "rich_text", text);
    if (language.len == 0)
        language = STR("plain text");
    return new_block(a, "code", notion_set(a, data, "language", json_new_str(a, language)));
}

/* Items of lists that are still open, each within the one before. */
struct open_items {
    struct {
        struct json *children; /* of the item; made when the first one comes */
        size_t indent;
    } at[NOTION_DEPTH_MAX];
    size_t n;
};

/* Where a block of LIST goes that is INDENT deep: into an item that is open, or outside. */
static struct json *list_for(struct open_items *open, size_t indent, struct json *outside)
{
    while (open->n > 0 && open->at[open->n - 1].indent >= indent)
        open->n--;
    return open->n > 0 ? open->at[open->n - 1].children : outside;
}

/* Items are made with an array of children, so that later lines can go in. */
static struct json *add_markdown_item(struct arena *a, const struct markdown_line *l,
                                      struct open_items *open, struct json *outside)
{
    struct json *children = json_new_array(a), *block = markdown_block_of(a, l);
    struct json *list = list_for(open, l->indent, outside);

    if (!block || !children || !list || json_push(a, list, block) < 0)
        return NULL;
    struct json *kept = &list->items[list->n - 1];
    struct json *data = json_get(kept, l->type);
    if (open->n == NOTION_DEPTH_MAX)
        return outside;
    if (!notion_set(a, data, "children", children))
        return NULL;
    open->at[open->n].children = json_get(data, "children");
    open->at[open->n++].indent = l->indent;
    return outside;
}

static bool is_item(const struct markdown_line *l)
{
    return str_ends(str_of(l->type), STR("_item")) || str_is(str_of(l->type), "to_do");
}

struct json *notion_markdown(struct arena *a, struct str text)
{
    struct json *out = json_new_array(a);
    struct open_items open = {.n = 0};

    while (text.p && out) {
        struct str line = str_cut(&text, '\n');
        struct markdown_line l;
        if (str_ends(line, STR("\r")))
            line.len--;
        if (str_trim(line).len == 0)
            continue;
        read_markdown_line(line, &l);
        if (is_item(&l)) {
            out = add_markdown_item(a, &l, &open, out);
            continue;
        }
        open.n = 0;
        const struct json *block = str_starts(str_trim(line), STR("```"))
                                       ? code_block(a, str_trim(str_skip(str_trim(line), 3)), &text)
                                       : markdown_block_of(a, &l);
        if (!block || json_push(a, out, block) < 0)
            return NULL;
    }
    return out;
}
