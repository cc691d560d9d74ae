/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/utf8.h"
#include "local/word/word.h"

bool word_has(const struct word *w, const char *name)
{
    const struct json *v = json_get(w->c->args, name);

    return v && v->type != JSON_NULL;
}

struct str word_arg(const struct word *w, const char *name)
{
    return local_str(w->c, name);
}

int64_t word_int(const struct word *w, const char *name, int64_t fallback)
{
    return local_int(w->c, name, fallback);
}

double word_real(const struct word *w, const char *name)
{
    return json_real(json_get(w->c->args, name), 0);
}

struct str word_float(struct word *w, double d)
{
    auto_buf struct buf b = BUF_INIT(64);
    struct json v = {.type = JSON_REAL, .d = d};

    if (floor(d) == d && fabs(d) < 1e15)
        return arena_printf(w->arena, "%.1f", d);
    (void)json_write(&b, &v, JSON_COMPACT);
    return arena_str(w->arena, buf_str(&b));
}

struct str word_pystr(struct word *w, const struct json *v)
{
    auto_buf struct buf b = BUF_INIT(LOCAL_FILE_MAX);

    if (!v || v->type == JSON_NULL)
        return STR("None");
    if (v->type == JSON_STRING)
        return v->s;
    if (v->type == JSON_BOOL)
        return v->b ? STR("True") : STR("False");
    if (v->type == JSON_REAL)
        return word_float(w, v->d);
    (void)json_write(&b, v, JSON_COMPACT);
    return arena_str(w->arena, buf_str(&b));
}

size_t word_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

size_t word_byte_of(struct str s, size_t n)
{
    size_t i = 0;

    for (; i < s.len; i++) {
        if (((unsigned char)s.p[i] & 0xc0) != 0x80 && n-- == 0)
            break;
    }
    return i;
}

struct str word_short(struct word *w, struct str s, size_t n)
{
    struct str head = str_slice(s, 0, word_byte_of(s, n));

    return head.len == s.len ? s : arena_printf(w->arena, STR_FMT "...", STR_ARG(head));
}

/* ASCII, Latin, Greek and Cyrillic letters; others are as they are. */
static uint32_t lower_letter(uint32_t c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
        (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40f)
        return c + 0x50;
    if (c >= 0x100 && c <= 0x137)
        return c | 1;
    return c;
}

struct str word_lower(struct word *w, struct str s)
{
    char *p = arena_alloc(w->arena, s.len + UTF8_MAX + 1);
    size_t len = 0;

    if (!p)
        return STR_NULL;
    for (size_t i = 0; i < s.len;) {
        uint32_t c = 0;
        size_t n = utf8_decode(s.p + i, s.len - i, &c);
        if (n > 0)
            len += utf8_encode(p + len, lower_letter(c));
        else
            p[len++] = s.p[i];
        i += n > 0 ? n : 1;
    }
    p[len] = '\0';
    return str_n(p, len);
}

struct str word_strip(struct str s)
{
    while (s.len > 0 && strchr(" \t\r\n\v\f", s.p[0]))
        s = str_skip(s, 1);
    while (s.len > 0 && strchr(" \t\r\n\v\f", s.p[s.len - 1]))
        s.len--;
    return s;
}
