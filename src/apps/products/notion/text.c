/* SPDX-License-Identifier: MIT */
#include "apps/products/notion/notion.h"
#include "base/cleanup.h"

struct json *notion_set(struct arena *a, struct json *object, const char *key,
                        const struct json *value)
{
    return object && value && json_set(a, object, key, value) == 0 ? object : NULL;
}

bool notion_id(struct str in, char ret[NOTION_ID_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < in.len; i++) {
        char c = in.p[i];
        if (c == '-')
            continue;
        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        if ((!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) || n == NOTION_ID_MAX - 1)
            return false;
        if (n == 8 || n == 13 || n == 18 || n == 23)
            ret[n++] = '-';
        ret[n++] = c;
    }
    ret[n] = '\0';
    return n == NOTION_ID_MAX - 1;
}

/* ---- making ---- */

static struct json *link_of(struct arena *a, struct str url)
{
    return url.p ? notion_set(a, json_new_object(a), "url", json_new_str(a, url))
                 : json_new_null(a);
}

static struct json *new_annotations(struct arena *a, const struct notion_style *s)
{
    struct json *o = json_new_object(a);

    o = notion_set(a, o, "bold", json_new_bool(a, s && s->is_bold));
    o = notion_set(a, o, "italic", json_new_bool(a, s && s->is_italic));
    o = notion_set(a, o, "strikethrough", json_new_bool(a, s && s->is_struck));
    o = notion_set(a, o, "underline", json_new_bool(a, false));
    o = notion_set(a, o, "code", json_new_bool(a, s && s->is_code));
    return notion_set(a, o, "color", json_new_str(a, STR("default")));
}

static struct json *finish_piece(struct arena *a, struct json *piece, struct json *annotations,
                                 struct str plain, struct str url)
{
    piece = notion_set(a, piece, "annotations", annotations);
    piece = notion_set(a, piece, "plain_text", json_new_str(a, plain));
    return notion_set(a, piece, "href", url.p ? json_new_str(a, url) : json_new_null(a));
}

struct json *notion_piece(struct arena *a, struct str text, const struct notion_style *style)
{
    struct str url = style ? style->link : STR_NULL;
    struct json *content = notion_set(a, json_new_object(a), "content", json_new_str(a, text));
    struct json *piece = notion_set(a, json_new_object(a), "type", json_new_str(a, STR("text")));

    content = notion_set(a, content, "link", link_of(a, url));
    piece = notion_set(a, piece, "text", content);
    return finish_piece(a, piece, new_annotations(a, style), text, url);
}

struct json *notion_text(struct arena *a, struct str text)
{
    struct json *list = json_new_array(a);

    if (text.len == 0)
        return list;
    struct json *piece = notion_piece(a, text, NULL);
    return list && piece && json_push(a, list, piece) == 0 ? list : NULL;
}

/* ---- reading ---- */

static struct json *read_annotations(struct arena *a, const struct json *in)
{
    static const char *const styles[] = {"bold", "italic", "strikethrough", "underline", "code"};
    struct json *o = new_annotations(a, NULL);
    const struct json *color = json_get(in, "color");

    for (size_t i = 0; i < ARRAY_LEN(styles); i++)
        o = notion_set(a, o, styles[i],
                       json_new_bool(a, json_bool(json_get(in, styles[i]), false)));
    return json_is(color, JSON_STRING) ? notion_set(a, o, "color", color) : o;
}

static size_t n_characters(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static struct json *read_rich_text(struct arena *a, const struct json *in)
{
    const struct json *text = json_get(in, "text");
    const struct json *content = json_get(text, "content");
    struct notion_style style = {.link = json_str(json_pointer(text, "/link/url"), STR_NULL)};

    if (!json_is(content, JSON_STRING) || n_characters(content->s) > NOTION_TEXT_MAX)
        return NULL;
    struct json *piece = notion_piece(a, content->s, &style);
    return notion_set(a, piece, "annotations", read_annotations(a, json_get(in, "annotations")));
}

/* Mentions and equations are kept as they come. */
static struct json *read_other(struct arena *a, const struct json *in, struct str type)
{
    const struct json *value = json_get_str(in, type);
    struct str plain = json_str(json_get(in, "plain_text"), STR("@"));
    struct json *piece = notion_set(a, json_new_object(a), "type", json_new_str(a, type));

    if (!json_is(value, JSON_OBJECT))
        return NULL;
    if (str_is(type, "equation"))
        plain = json_str(json_get(value, "expression"), STR(""));
    else if (!str_is(type, "mention"))
        return NULL;
    if (!piece || json_set_str(a, piece, type, value) < 0)
        return NULL;
    return finish_piece(a, piece, read_annotations(a, json_get(in, "annotations")), plain,
                        STR_NULL);
}

static struct json *read_rich_piece(struct arena *a, const struct json *in)
{
    struct str type = json_str(json_get(in, "type"), STR_NULL);

    if (!type.p)
        type = json_get(in, "mention")    ? STR("mention")
               : json_get(in, "equation") ? STR("equation")
                                          : STR("text");
    return str_is(type, "text") ? read_rich_text(a, in) : read_other(a, in, type);
}

struct json *notion_rich_text(struct arena *a, const struct json *in)
{
    struct json *list = json_new_array(a);

    if (json_is(in, JSON_STRING))
        return notion_text(a, in->s);
    if (!json_is(in, JSON_ARRAY) || in->n > NOTION_LIST_MAX)
        return NULL;
    for (size_t i = 0; i < in->n; i++) {
        const struct json *piece = read_rich_piece(a, json_at(in, i));
        if (!piece || !list || json_push(a, list, piece) < 0)
            return NULL;
    }
    return list;
}

void notion_plain(struct buf *out, const struct json *rich_text)
{
    for (size_t i = 0; json_is(rich_text, JSON_ARRAY) && i < rich_text->n; i++)
        (void)buf_add_str(out, json_str(json_get(json_at(rich_text, i), "plain_text"), STR("")));
}
