/* SPDX-License-Identifier: MIT */
/* JSON text from values, and the streaming writer. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_internal.h"
#include "base/utf8.h"

/* ---- bytes ---- */

static inline void put_json_char(struct buf *b, char c)
{
    if (b->len < b->cap && !b->error)
        b->p[b->len++] = c;
    else
        (void)buf_add_char(b, c);
}

/* Room for N bytes, or NULL; the caller then raises len. */
static inline char *room(struct buf *b, size_t n)
{
    if ((n > b->cap - b->len || b->error) && buf_reserve(b, n) < 0)
        return NULL;
    return b->p + b->len;
}

#define put_lit(b, lit) put_json_bytes((b), "" lit, sizeof(lit) - 1)
static inline void put_json_bytes(struct buf *b, const char *p, size_t n)
{
    char *out = room(b, n);

    if (!out)
        return;
    memcpy(out, p, n);
    b->len += n;
}

/* ---- strings ---- */

static size_t plain_length(const char *p, size_t len)
{
    size_t i = 0;

    for (; len - i >= JSON_CHUNK; i += JSON_CHUNK) {
        unsigned n = json_plain_chunk(p + i);
        if (n < JSON_CHUNK)
            return i + n;
    }
    /* What is left is looked at in eights that may overlap. */
    if (len >= 8 && (len - i < 8 || json_is_plain8(p + i)) && json_is_plain8(p + len - 8))
        return len;
    while (i < len && json_is_plain(p[i]))
        i++;
    return i;
}

/* C is a quote, a backslash or a control character. */
static void put_escaped(struct buf *b, char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[128] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                      ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    char letter = letters[c & 127];

    put_json_char(b, '\\');
    if (letter) {
        put_json_char(b, letter);
        return;
    }
    put_lit(b, "u00");
    put_json_char(b, hex[(c >> 4) & 1]);
    put_json_char(b, hex[c & 15]);
}

/* Writes the character that S begins with, which is not plain; how many bytes it has. */
static size_t put_special(struct buf *b, struct str s)
{
    if ((unsigned char)s.p[0] < 0x80) {
        put_escaped(b, s.p[0]);
        return 1;
    }
    size_t n = utf8_sequence(s.p, s.len);
    if (n > 0)
        put_json_bytes(b, s.p, n);
    else
        put_lit(b, "\xef\xbf\xbd");
    return n > 0 ? n : 1;
}

/* Whole chunks of S; where they end. A chunk is copied before it is looked at, which needs room for
 * all of it: near the buffer's maximum there may be none, and the rest is left to others. */
static size_t put_chunks(struct buf *b, struct str s)
{
    enum { NEEDED = JSON_CHUNK + 6 };
    size_t i = 0;

    while (i + JSON_CHUNK <= s.len && b->max - b->len >= NEEDED) {
        char *out = room(b, NEEDED);
        if (!out)
            break;
        memcpy(out, s.p + i, JSON_CHUNK);
        unsigned n = json_plain_chunk(s.p + i);
        b->len += n;
        i += n;
        if (n < JSON_CHUNK)
            i += put_special(b, str_skip(s, i));
    }
    return i;
}

/* The part of S from its first byte that is not plain. */
static void put_json_rest(struct buf *b, struct str s)
{
    size_t i = put_chunks(b, s);

    while (i < s.len) {
        size_t n = plain_length(s.p + i, s.len - i);
        put_json_bytes(b, s.p + i, n);
        i += n;
        if (i < s.len)
            i += put_special(b, str_skip(s, i));
    }
}

static void put_json_str(struct buf *b, struct str s)
{
    size_t n = plain_length(s.p, s.len);
    char *out = room(b, n + 2);

    if (!out)
        return;
    out[0] = '"';
    if (n)
        memcpy(out + 1, s.p, n);
    b->len += n + 1;
    if (n < s.len)
        put_json_rest(b, str_skip(s, n));
    put_json_char(b, '"');
}

int json_write_str(struct buf *out, struct str s)
{
    put_json_str(out, s);
    return out->error;
}

/* ---- numbers ---- */

/* Numbers are written in place where there is room for the longest. */

static void put_json_int(struct buf *b, int64_t i)
{
    char text[JSON_NUMBER_MAX];
    bool in_place = b->cap - b->len >= JSON_NUMBER_MAX && !b->error;
    size_t n = json_format_int(in_place ? b->p + b->len : text, i);

    if (in_place)
        b->len += n;
    else
        put_json_bytes(b, text, n);
}

static void put_real(struct buf *b, double d)
{
    char text[JSON_NUMBER_MAX];
    bool in_place = b->cap - b->len >= JSON_NUMBER_MAX && !b->error;

    if (!isfinite(d)) {
        put_lit(b, "null");
        return;
    }
    size_t n = json_format_real(in_place ? b->p + b->len : text, d);
    if (in_place)
        b->len += n;
    else
        put_json_bytes(b, text, n);
}

/* ---- values ---- */

struct json_writer {
    struct buf *out;
    enum json_style style;
    uint32_t depth;
};

static void put_value(struct json_writer *w, const struct json *v);

static void new_line(const struct json_writer *w)
{
    if (w->style != JSON_PRETTY)
        return;
    put_json_char(w->out, '\n');
    for (uint32_t i = 0; i < w->depth; i++)
        put_lit(w->out, "  ");
}

static void put_json_items(struct json_writer *w, const struct json *v)
{
    /* What is too long already gets no longer. */
    for (uint32_t i = 0; i < v->n && !w->out->error; i++) {
        if (i > 0)
            put_json_char(w->out, ',');
        new_line(w);
        put_value(w, &v->items[i]);
    }
}

static void put_json_member(struct json_writer *w, const struct json_member *m, bool first)
{
    if (!first)
        put_json_char(w->out, ',');
    new_line(w);
    put_json_str(w->out, m->key);
    put_json_char(w->out, ':');
    if (w->style == JSON_PRETTY)
        put_json_char(w->out, ' ');
    put_value(w, &m->value);
}

static void put_sorted(struct json_writer *w, const struct json *v)
{
    struct json_order *order = json_sort_members(v->members, v->n);

    if (!order) {
        w->out->error = -ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < v->n && !w->out->error; i++)
        put_json_member(w, &v->members[order[i].i], i == 0);
    free(order);
}

static void put_members(struct json_writer *w, const struct json *v)
{
    if (w->style == JSON_CANONICAL && v->n > 1) {
        put_sorted(w, v);
        return;
    }
    for (uint32_t i = 0; i < v->n && !w->out->error; i++)
        put_json_member(w, &v->members[i], i == 0);
}

static void put_nested(struct json_writer *w, const struct json *v)
{
    bool object = v->type == JSON_OBJECT;

    if (w->depth == JSON_DEPTH_MAX && !w->out->error)
        w->out->error = -ENOBUFS;
    if (w->out->error)
        return;
    put_json_char(w->out, object ? '{' : '[');
    w->depth++;
    if (object)
        put_members(w, v);
    else
        put_json_items(w, v);
    w->depth--;
    if (v->n > 0)
        new_line(w);
    put_json_char(w->out, object ? '}' : ']');
}

static void put_value(struct json_writer *w, const struct json *v)
{
    int64_t i;

    switch (v->type) {
    case JSON_BOOL:
        if (v->b)
            put_lit(w->out, "true");
        else
            put_lit(w->out, "false");
        return;
    case JSON_INT: put_json_int(w->out, v->i); return;
    case JSON_REAL:
        if (w->style == JSON_CANONICAL && json_real_to_int(v->d, &i))
            put_json_int(w->out, i);
        else
            put_real(w->out, v->d);
        return;
    case JSON_STRING: put_json_str(w->out, v->s); return;
    case JSON_ARRAY:
    case JSON_OBJECT: put_nested(w, v); return;
    case JSON_NULL:
    case JSON_TYPE_COUNT: break;
    }
    put_lit(w->out, "null");
}

int json_write(struct buf *out, const struct json *v, enum json_style style)
{
    static const struct json null = {.type = JSON_NULL};
    struct json_writer w = {.out = out, .style = style};

    put_value(&w, v ? v : &null);
    return out->error;
}

/* ---- streaming ---- */

enum { JW_DEPTH_MAX = 63 };

static void before_value(struct jw *w)
{
    if (w->needs_comma)
        put_json_char(w->out, ',');
    w->needs_comma = true;
}

static void open_level(struct jw *w, bool object)
{
    before_value(w);
    if (w->depth == JW_DEPTH_MAX) {
        if (!w->out->error)
            w->out->error = -ENOBUFS;
        return;
    }
    put_json_char(w->out, object ? '{' : '[');
    w->stack = w->stack << 1 | object;
    w->depth++;
    w->needs_comma = false;
}

void jw_object(struct jw *w)
{
    open_level(w, true);
}

void jw_array(struct jw *w)
{
    open_level(w, false);
}

void jw_end(struct jw *w)
{
    if (w->depth == 0)
        return;
    put_json_char(w->out, w->stack & 1 ? '}' : ']');
    w->stack >>= 1;
    w->depth--;
    w->needs_comma = true;
}

void jw_key_str(struct jw *w, struct str key)
{
    before_value(w);
    put_json_str(w->out, key);
    put_json_char(w->out, ':');
    w->needs_comma = false;
}

void jw_key(struct jw *w, const char *key)
{
    jw_key_str(w, str_of(key));
}

void jw_str(struct jw *w, struct str s)
{
    before_value(w);
    put_json_str(w->out, s);
}

void jw_cstr(struct jw *w, const char *s)
{
    if (s)
        jw_str(w, str_of(s));
    else
        jw_null(w);
}

void jw_int(struct jw *w, int64_t i)
{
    before_value(w);
    put_json_int(w->out, i);
}

void jw_real(struct jw *w, double d)
{
    before_value(w);
    put_real(w->out, d);
}

void jw_bool(struct jw *w, bool b)
{
    jw_raw(w, b ? STR("true") : STR("false"));
}

void jw_null(struct jw *w)
{
    jw_raw(w, STR("null"));
}

void jw_value(struct jw *w, const struct json *v)
{
    before_value(w);
    (void)json_write(w->out, v, JSON_COMPACT);
}

void jw_raw(struct jw *w, struct str json_text)
{
    before_value(w);
    put_json_bytes(w->out, json_text.p, json_text.len);
}
