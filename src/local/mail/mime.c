/* SPDX-License-Identifier: MIT */
/* The tree of a message's parts. */
#include "local/mail/mime.h"

#include "base/cleanup.h"

struct mime_parse {
    struct arena *arena;
    size_t n_parts;
};

/* ---- fields ---- */

/* The next line of S with its end; S moves behind it. */
static struct str next_line(struct str *s)
{
    ptrdiff_t at = str_chr(*s, '\n');
    size_t n = at < 0 ? s->len : (size_t)at + 1;
    struct str line = str_n(s->p, n);

    *s = str_skip(*s, n);
    return line;
}

static struct str without_crlf(struct str line)
{
    while (line.len > 0 && (line.p[line.len - 1] == '\n' || line.p[line.len - 1] == '\r'))
        line.len--;
    return line;
}

static bool is_folded(struct str s)
{
    return s.len > 0 && (s.p[0] == ' ' || s.p[0] == '\t');
}

bool mime_next(struct str *header, struct str *ret_name, struct str *ret_value)
{
    while (header->len > 0) {
        const char *begin = header->p;
        struct str line = next_line(header);
        while (is_folded(*header))
            (void)next_line(header);
        struct str field = without_crlf(str_n(begin, (size_t)(header->p - begin)));
        ptrdiff_t colon = str_chr(line, ':');
        if (colon <= 0)
            continue;
        *ret_name = str_trim(str_n(field.p, (size_t)colon));
        *ret_value = str_trim(str_skip(field, (size_t)colon + 1));
        return true;
    }
    return false;
}

struct str mime_unfold(struct arena *a, struct str value)
{
    char *out = arena_alloc(a, value.len + 1);
    size_t n = 0;

    for (size_t i = 0; out && i < value.len; i++) {
        if (value.p[i] != '\r' && value.p[i] != '\n')
            out[n++] = value.p[i];
    }
    if (!out)
        return STR("");
    out[n] = '\0';
    return str_n(out, n);
}

struct str mime_field(struct arena *a, struct str header, const char *name)
{
    struct str key, value;

    while (mime_next(&header, &key, &value)) {
        if (str_iis(key, name))
            return mime_unfold(a, value);
    }
    return STR_NULL;
}

/* ---- parts ---- */

/* Behind the header's empty line; a message that begins with something else has no header. */
static size_t header_length(struct str raw)
{
    struct str rest = raw;

    while (rest.len > 0) {
        struct str line = next_line(&rest);
        if (without_crlf(line).len == 0)
            return (size_t)(rest.p - raw.p);
    }
    return raw.len;
}

static void parse_mime_part(struct mime_parse *p, struct mime_part *part, unsigned depth);

/* True when LINE is the boundary B; *IS_LAST: the closing one. */
static bool is_mime_boundary(struct str line, struct str b, bool *is_last)
{
    line = without_crlf(line);
    if (!str_starts(line, STR("--")) || !str_starts(str_skip(line, 2), b))
        return false;
    struct str rest = str_skip(line, 2 + b.len);
    *is_last = str_starts(rest, STR("--"));
    return str_trim(*is_last ? str_skip(rest, 2) : rest).len == 0;
}

/* Adds the part that ends before the boundary line at END. */
static bool add_mime_part(struct mime_parse *p, struct mime_part *owner, size_t *cap,
                          struct str raw)
{
    if (p->n_parts >= MIME_PARTS_MAX)
        return false;
    struct mime_part *grown =
        arena_grow(p->arena, owner->parts, owner->n_parts, cap, sizeof *owner->parts);
    if (!grown)
        return false;
    owner->parts = grown;
    p->n_parts++;
    owner->parts[owner->n_parts++] = (struct mime_part){.whole = raw};
    return true;
}

/* The end of line before a boundary belongs to the boundary. */
static struct str before_boundary(const char *begin, const char *end)
{
    struct str s = str_n(begin, (size_t)(end - begin));

    if (s.len > 0 && s.p[s.len - 1] == '\n')
        s.len--;
    if (s.len > 0 && s.p[s.len - 1] == '\r')
        s.len--;
    return s;
}

static void parse_multipart(struct mime_parse *p, struct mime_part *part, unsigned depth)
{
    struct str b = mime_param(p->arena, part->content_type, "boundary"), rest = part->body;
    const char *begin = NULL;
    size_t cap = 0;
    bool is_last = false;

    part->is_multipart = b.len > 0;
    while (b.len > 0 && rest.len > 0 && !is_last) {
        const char *at = rest.p;
        struct str line = next_line(&rest);
        if (!is_mime_boundary(line, b, &is_last))
            continue;
        if (begin && !add_mime_part(p, part, &cap, before_boundary(begin, at)))
            return;
        begin = is_last ? NULL : rest.p;
    }
    if (begin && part->is_multipart)
        (void)add_mime_part(p, part, &cap, str_n(begin, (size_t)(rest.p - begin)));
    for (size_t i = 0; i < part->n_parts; i++)
        parse_mime_part(p, &part->parts[i], depth + 1);
}

static void parse_mime_part(struct mime_parse *p, struct mime_part *part, unsigned depth)
{
    size_t n = header_length(part->whole), cap = 0;

    part->header = str_n(part->whole.p, n);
    part->body = str_skip(part->whole, n);
    part->content_type = mime_field(p->arena, part->header, "Content-Type");
    struct str token = mime_token(part->content_type);
    part->type = str_cut(&token, '/');
    part->subtype = token;
    if (part->type.len == 0 || part->subtype.len == 0) {
        part->type = STR("text");
        part->subtype = STR("plain");
    }
    if (depth >= MIME_DEPTH_MAX)
        return;
    if (str_iis(part->type, "multipart"))
        parse_multipart(p, part, depth);
    part->is_message = str_iis(part->type, "message") && str_iis(part->subtype, "rfc822");
    if (part->is_message && add_mime_part(p, part, &cap, part->body))
        parse_mime_part(p, &part->parts[0], depth + 1);
    part->is_message = part->is_message && part->n_parts == 1;
}

struct mime_part *mime_parse(struct arena *a, struct str raw)
{
    struct mime_parse p = {.arena = a};
    struct mime_part *part = arena_new(a, struct mime_part);

    if (!part)
        return NULL;
    part->whole = raw;
    parse_mime_part(&p, part, 0);
    return part;
}

/* ---- content ---- */

struct str mime_bytes(struct arena *a, const struct mime_part *p)
{
    struct str encoding = mime_token(mime_field(a, p->header, "Content-Transfer-Encoding"));

    if (str_iis(encoding, "base64"))
        return mime_unbase64(a, p->body);
    if (str_iis(encoding, "quoted-printable"))
        return mime_unquote(a, p->body, false);
    return p->body;
}

struct str mime_text(struct arena *a, const struct mime_part *p)
{
    struct str charset = mime_param(a, p->content_type, "charset");
    struct str text = mime_to_utf8(a, mime_bytes(a, p), charset);
    char *out = arena_alloc(a, text.len + 1);
    size_t n = 0;

    for (size_t i = 0; out && i < text.len; i++) {
        if (text.p[i] == '\r' && i + 1 < text.len && text.p[i + 1] == '\n')
            continue;
        out[n++] = text.p[i];
    }
    return out ? str_n(out, n) : STR("");
}
