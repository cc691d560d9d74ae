/* SPDX-License-Identifier: MIT */
/* The structure inside header fields: parameters, encoded words, addresses. */
#include "base/cleanup.h"
#include "base/enc.h"
#include "local/mail/mime.h"

/* ---- parameters ---- */

struct str mime_token(struct str field)
{
    ptrdiff_t at = str_chr(field, ';');

    return str_trim(at < 0 ? field : str_n(field.p, (size_t)at));
}

/* A quoted string at the begin of S, without quotes and backslashes; S moves behind it. */
static struct str unquote_field(struct arena *a, struct str *s)
{
    char *out = arena_alloc(a, s->len + 1);
    size_t n = 0, i = 1;

    for (; i < s->len && s->p[i] != '"'; i++) {
        if (s->p[i] == '\\' && i + 1 < s->len)
            i++;
        if (out)
            out[n++] = s->p[i];
    }
    *s = str_skip(*s, i + 1);
    if (!out)
        return STR("");
    out[n] = '\0';
    return str_n(out, n);
}

static struct str param_value(struct arena *a, struct str *s)
{
    *s = str_trim(*s);
    if (s->len > 0 && s->p[0] == '"')
        return unquote_field(a, s);
    ptrdiff_t at = str_chr(*s, ';');
    struct str value = at < 0 ? *s : str_n(s->p, (size_t)at);
    *s = str_skip(*s, value.len);
    return str_trim(value);
}

/* The next "name=value" of S; what has no "=" before the next semicolon is passed over. */
static bool next_mime_param(struct arena *a, struct str *s, struct str *name, struct str *value)
{
    ptrdiff_t equals, semicolon = str_chr(*s, ';');

    do {
        if (semicolon < 0)
            return false;
        *s = str_skip(*s, (size_t)semicolon + 1);
        equals = str_chr(*s, '=');
        semicolon = str_chr(*s, ';');
    } while (equals < 0 || (semicolon >= 0 && semicolon < equals));
    *name = str_trim(str_n(s->p, (size_t)equals));
    *s = str_skip(*s, (size_t)equals + 1);
    *value = param_value(a, s);
    return true;
}

bool mime_param_at(struct arena *a, struct str field, size_t k, struct str *ret_name,
                   struct str *ret_value)
{
    bool is_there = next_mime_param(a, &field, ret_name, ret_value);

    for (size_t i = 0; is_there && i < k; i++)
        is_there = next_mime_param(a, &field, ret_name, ret_value);
    return is_there;
}

/* "utf-8'en'a%20b": the bytes; the charset stays in *CHARSET. */
static struct str extended(struct str value, bool is_first, struct str *charset, struct buf *out)
{
    if (is_first && str_chr(value, '\'') >= 0) {
        *charset = str_cut(&value, '\'');
        (void)str_cut(&value, '\'');
    }
    size_t before = out->len;
    if (value.p && enc_unpercent(out, value, false) < 0) {
        out->len = before;
        (void)buf_add_str(out, value);
    }
    return value;
}

/* True for "name*", "name*0", "name*0*"; *IS_EXTENDED: percent-encoded. */
static bool is_piece(struct str key, const char *name, bool *is_extended)
{
    struct str base = str_cut(&key, '*');

    if (!key.p || !str_iis(base, name))
        return false;
    *is_extended = key.len == 0 || key.p[key.len - 1] == '*';
    return true;
}

struct str mime_param(struct arena *a, struct str field, const char *name)
{
    auto_buf struct buf pieces = BUF_INIT(64 << 10);
    struct str key, value, charset = STR_NULL, plain = STR_NULL;
    bool is_first = true, is_extended = false;

    while (next_mime_param(a, &field, &key, &value)) {
        if (str_iis(key, name) && !plain.p)
            plain = value;
        if (!is_piece(key, name, &is_extended))
            continue;
        if (is_extended)
            (void)extended(value, is_first, &charset, &pieces);
        else
            (void)buf_add_str(&pieces, value);
        is_first = false;
    }
    if (!is_first)
        return mime_to_utf8(a, arena_str(a, buf_str(&pieces)), charset);
    return plain.p ? mime_words(a, plain) : STR_NULL;
}

struct str mime_filename(struct arena *a, const struct mime_part *p)
{
    struct str disposition = mime_field(a, p->header, "Content-Disposition");
    struct str name = mime_param(a, disposition, "filename");

    return name.len > 0 ? name : mime_param(a, p->content_type, "name");
}

bool mime_is_attachment(struct arena *a, const struct mime_part *p)
{
    return str_iis(mime_token(mime_field(a, p->header, "Content-Disposition")), "attachment");
}

/* ---- encoded words ---- */

/* "=?utf-8?B?…?=" at the begin of S: its text, S behind it. False: there is none. */
static bool take_encoded_word(struct arena *a, struct str *s, struct str *ret)
{
    struct str rest = str_skip(*s, 2);
    struct str charset = str_cut(&rest, '?');
    struct str kind = rest.p ? str_cut(&rest, '?') : STR_NULL;
    ptrdiff_t end = rest.p && kind.len == 1 ? str_find(rest, STR("?=")) : -1;

    if (end < 0 || charset.len == 0)
        return false;
    struct str data = str_n(rest.p, (size_t)end);
    /* A language may follow the charset (RFC 2231). */
    charset = str_cut(&charset, '*');
    bool is_base64 = (kind.p[0] | 0x20) == 'b';
    if (!is_base64 && (kind.p[0] | 0x20) != 'q')
        return false;
    *ret =
        mime_to_utf8(a, is_base64 ? mime_unbase64(a, data) : mime_unquote(a, data, true), charset);
    *s = str_skip(rest, (size_t)end + 2);
    return true;
}

struct str mime_words(struct arena *a, struct str value)
{
    auto_buf struct buf b = BUF_INIT(4 * value.len + 16);
    size_t word_end = 0; /* how much of B there was after the last word; 0: none */
    struct str word;

    if (str_find(value, STR("=?")) < 0)
        return mime_to_utf8(a, value, STR(""));
    while (value.len > 0) {
        if (str_starts(value, STR("=?")) && take_encoded_word(a, &value, &word)) {
            /* White space between two words is not part of the text. */
            if (word_end && str_trim(str_skip(buf_str(&b), word_end)).len == 0)
                b.len = word_end;
            (void)buf_add_str(&b, word);
            word_end = b.len;
            continue;
        }
        (void)buf_add_char(&b, value.p[0]);
        value = str_skip(value, 1);
    }
    struct str out = buf_ok(&b) ? arena_str(a, buf_str(&b)) : STR_NULL;
    return out.p ? mime_to_utf8(a, out, STR("")) : STR("");
}

/* ---- addresses ---- */

struct address_reader {
    struct arena *arena;
    struct str rest;
    struct buf phrase, spec; /* what was read of the one at hand */
    bool has_spec;
    struct mime_address *out;
    size_t n, max;
};

static void add_parsed_address(struct address_reader *r, struct str name, struct str mailbox,
                               struct str host)
{
    if (r->n < r->max)
        r->out[r->n++] = (struct mime_address){
            arena_str(r->arena, name), arena_str(r->arena, mailbox), arena_str(r->arena, host)};
}

/* The one at hand is complete. */
static void end_address(struct address_reader *r)
{
    struct str phrase = str_trim(buf_str(&r->phrase));
    struct str spec = str_trim(r->has_spec ? buf_str(&r->spec) : phrase);
    ptrdiff_t at = -1;

    for (size_t i = 0; i < spec.len; i++)
        at = spec.p[i] == '@' ? (ptrdiff_t)i : at;
    if (at >= 0)
        add_parsed_address(r, r->has_spec ? phrase : STR(""), str_n(spec.p, (size_t)at),
                           str_skip(spec, (size_t)at + 1));
    else if (spec.len > 0)
        add_parsed_address(r, r->has_spec ? phrase : STR(""), spec, STR(""));
    buf_clear(&r->phrase);
    buf_clear(&r->spec);
    r->has_spec = false;
}

static void skip_mime_comment(struct address_reader *r)
{
    unsigned depth = 0;

    while (r->rest.len > 0) {
        char c = r->rest.p[0];
        depth += c == '(';
        depth -= c == ')';
        r->rest = str_skip(r->rest, c == '\\' ? 2 : 1);
        if (depth == 0)
            return;
    }
}

static void read_angle(struct address_reader *r)
{
    ptrdiff_t end = str_chr(r->rest, '>');
    struct str spec = end < 0 ? str_skip(r->rest, 1) : str_slice(r->rest, 1, (size_t)end);

    r->rest = str_skip(r->rest, spec.len + 2);
    /* A route before the address is of no use today. */
    ptrdiff_t colon = str_starts(spec, STR("@")) ? str_chr(spec, ':') : -1;
    (void)buf_add_str(&r->spec, colon < 0 ? spec : str_skip(spec, (size_t)colon + 1));
    r->has_spec = true;
}

static void read_one_address(struct address_reader *r)
{
    char c = r->rest.p[0];

    if (c == '"') {
        (void)buf_add_str(&r->phrase, unquote_field(r->arena, &r->rest));
        return;
    }
    if (c == '(') {
        skip_mime_comment(r);
        return;
    }
    if (c == '<') {
        read_angle(r);
        return;
    }
    r->rest = str_skip(r->rest, 1);
    if (c == ',' || c == ';')
        end_address(r);
    if (c == ';')
        add_parsed_address(r, STR(""), STR(""), STR(""));
    if (c == ':') {
        add_parsed_address(r, STR(""), str_trim(buf_str(&r->phrase)), STR(""));
        buf_clear(&r->phrase);
    }
    if (c != ',' && c != ';' && c != ':')
        (void)buf_add_char(&r->phrase, c);
}

size_t mime_addresses(struct arena *a, struct str value, struct mime_address *out, size_t max)
{
    struct address_reader r = {.arena = a, .rest = value, .out = out, .max = max};

    buf_init(&r.phrase, value.len + 16);
    buf_init(&r.spec, value.len + 16);
    while (r.rest.len > 0 && r.n < max)
        read_one_address(&r);
    end_address(&r);
    buf_done(&r.phrase);
    buf_done(&r.spec);
    return r.n;
}
