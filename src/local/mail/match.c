/* SPDX-License-Identifier: MIT */
#include "local/mail/match.h"

#include "base/cleanup.h"
#include "base/utf8.h"

/* Capital letters and how far their small ones are; 1: every other one is small. */
static const struct {
    uint32_t from, to, step;
} capitals[] = {
    {'A', 'Z', 32},    {0xc0, 0xd6, 32},   {0xd8, 0xde, 32},   {0x100, 0x137, 1},
    {0x14a, 0x177, 1}, {0x391, 0x3a9, 32}, {0x400, 0x40f, 80}, {0x410, 0x42f, 32},
};

/* The small letter of C. The C library's own table knows ASCII only without a locale. */
static uint32_t small(uint32_t c)
{
    for (size_t i = 0; i < ARRAY_LEN(capitals); i++) {
        if (c >= capitals[i].from && c <= capitals[i].to)
            return capitals[i].step == 1 ? c | 1 : c + capitals[i].step;
    }
    return c;
}

/* The next character of S, small; 0 at the end. Bytes that are no UTF-8 are characters. */
static uint32_t next_small(struct str *s)
{
    uint32_t c;

    if (s->len == 0)
        return 0;
    size_t n = utf8_decode(s->p, s->len, &c);
    if (n == 0) {
        c = (unsigned char)s->p[0];
        n = 1;
    }
    *s = str_skip(*s, n);
    return small(c);
}

static bool begins(struct str text, struct str part)
{
    while (part.len > 0) {
        if (text.len == 0 || next_small(&text) != next_small(&part))
            return false;
    }
    return true;
}

bool match_text(struct str text, struct str part)
{
    if (part.len == 0)
        return true;
    struct str rest = part;
    uint32_t first = next_small(&rest);
    while (text.len > 0) {
        struct str here = text;
        if (next_small(&text) == first && begins(here, part))
            return true;
    }
    return false;
}

bool match_header(struct arena *a, struct str header, const char *name, struct str part)
{
    struct str key, value;

    while (mime_next(&header, &key, &value)) {
        if (name && !str_iis(key, name))
            continue;
        if (match_text(mime_words(a, mime_unfold(a, value)), part))
            return true;
    }
    return false;
}

bool match_body(struct arena *a, const struct mime_part *p, struct str part)
{
    if (p->n_parts == 0 && str_iis(p->type, "text") && match_text(mime_text(a, p), part))
        return true;
    struct str name = p->n_parts == 0 ? mime_filename(a, p) : STR_NULL;
    if (name.len > 0 && match_text(name, part))
        return true;
    for (size_t i = 0; i < p->n_parts; i++) {
        if (match_body(a, &p->parts[i], part))
            return true;
    }
    return false;
}
