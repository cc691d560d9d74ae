/* SPDX-License-Identifier: MIT */
/* Parsing XML 1.0 with namespaces, without document types. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "office/xml_internal.h"

struct xml_parser {
    struct xml_doc *d;
    struct str text;
    size_t at;
    const char *fault;
    struct xml *in; /* the element that is open */
    unsigned depth;
    bool is_ours; /* names have our prefixes */
    struct xml_scope scope;
    size_t bound[XML_DEPTH_MAX + 1]; /* how many bindings there were before each element */
    struct xml_attr attrs[XML_ATTRS_MAX];
};

static int fault(struct xml_parser *p, const char *what)
{
    if (!p->fault)
        p->fault = what;
    return -EINVAL;
}

static struct str rest(const struct xml_parser *p)
{
    return str_skip(p->text, p->at);
}

static int peek(const struct xml_parser *p)
{
    return p->at < p->text.len ? (unsigned char)p->text.p[p->at] : -1;
}

static bool is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static void skip_space(struct xml_parser *p)
{
    while (is_space(peek(p)))
        p->at++;
}

/* ---- pieces ---- */

static bool is_xml_name_char(int c, bool is_first)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80)
        return true;
    return !is_first && ((c >= '0' && c <= '9') || c == '-' || c == '.');
}

/* A name with at most one prefix; empty when there is none. */
static struct str read_xml_name(struct xml_parser *p)
{
    size_t begin = p->at;
    bool is_first = true, has_prefix = false;

    for (;; p->at++) {
        int c = peek(p);
        if (c == ':' && !is_first && !has_prefix) {
            has_prefix = is_first = true;
            continue;
        }
        if (!is_xml_name_char(c, is_first))
            break;
        is_first = false;
    }
    return is_first ? STR_NULL : str_slice(p->text, begin, p->at);
}

static const struct {
    struct str name;
    char c;
} entities[] = {
    {STR_INIT("lt"), '<'},   {STR_INIT("gt"), '>'},    {STR_INIT("amp"), '&'},
    {STR_INIT("quot"), '"'}, {STR_INIT("apos"), '\''},
};

static uint32_t digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10) : 99;
}

static bool is_character(uint32_t c)
{
    return (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') && (c < 0xd800 || c >= 0xe000);
}

/* The code point of "#65" or "#x41", 0 when XML does not allow it. */
static uint32_t xml_number_of(struct str s)
{
    bool is_hex = s.len > 1 && s.p[1] == 'x';
    uint32_t v = 0, base = is_hex ? 16 : 10;

    s = str_skip(s, is_hex ? 2 : 1);
    for (size_t i = 0; i < s.len; i++) {
        uint32_t digit = digit_of(s.p[i]);
        if (digit >= base)
            return 0;
        v = v * base + digit;
        if (v > 0x10ffff)
            return 0;
    }
    return is_character(v) ? v : 0;
}

/* Writes what ENTITY (between & and ;) stands for to OUT: bytes, or 0 when it is none. */
static size_t decode_entity(struct str entity, char out[static UTF8_MAX])
{
    if (entity.len > 1 && entity.p[0] == '#') {
        uint32_t v = xml_number_of(entity);
        return v ? utf8_encode(out, v) : 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(entities); i++) {
        if (str_eq(entity, entities[i].name)) {
            out[0] = entities[i].c;
            return 1;
        }
    }
    return 0;
}

static bool is_xml_plain(struct str raw, const char *special)
{
    for (; *special; special++) {
        if (memchr(raw.p, *special, raw.len))
            return false;
    }
    return true;
}

/* The bytes of the entity at RAW's beginning with its '&' and ';', which become *LEN bytes of OUT;
 * 0 when there is none. */
static size_t read_entity(struct str raw, char out[static UTF8_MAX], size_t *len)
{
    ptrdiff_t end = str_chr(raw, ';');

    *len = end > 0 ? decode_entity(str_slice(raw, 1, (size_t)end), out) : 0;
    return *len > 0 ? (size_t)end + 1 : 0;
}

/* RAW with its entities decoded and its line ends as they should be; in attributes they are
 * spaces. Not copied when there is nothing to do. */
static struct str decode_entities(struct xml_parser *p, struct str raw, bool is_attr)
{
    if (is_xml_plain(raw, is_attr ? "&\r\n\t" : "&\r"))
        return raw;
    char *out = arena_alloc(p->d->arena, raw.len + UTF8_MAX);
    size_t n = 0, len;
    if (!out) {
        (void)xml_fail(p->d, -ENOMEM);
        return STR_NULL;
    }
    for (size_t i = 0; i < raw.len;) {
        char c = raw.p[i];
        if (c == '&') {
            size_t used = read_entity(str_skip(raw, i), out + n, &len);
            if (used == 0) {
                (void)fault(p, "an unknown entity");
                return STR_NULL;
            }
            n += len;
            i += used;
            continue;
        }
        i++;
        if (c == '\r' && i < raw.len && raw.p[i] == '\n')
            continue;
        bool is_break = c == '\r' || c == '\n' || c == '\t';
        out[n++] = is_attr && is_break ? ' ' : c == '\r' ? '\n' : c;
    }
    return str_n(out, n);
}

/* ---- nodes ---- */

static int add_xml_plain(struct xml_parser *p, enum xml_kind kind, struct str text)
{
    struct xml *n = text.p ? xml_node(p->d, kind) : NULL;

    if (!n)
        return p->d->error ? p->d->error : -EINVAL;
    n->text = text;
    xml_insert(p->in, n, NULL);
    return 0;
}

/* What begins with SKIP bytes and goes on to END. */
static int read_to(struct xml_parser *p, enum xml_kind kind, size_t skip, struct str end)
{
    p->at += skip;
    ptrdiff_t len = str_find(rest(p), end);
    if (len < 0)
        return fault(p, "something has no end");
    struct str text = str_slice(rest(p), 0, (size_t)len);
    p->at += (size_t)len + end.len;
    return add_xml_plain(p, kind, text);
}

static int read_xml_text(struct xml_parser *p)
{
    ptrdiff_t len = str_chr(rest(p), '<');
    struct str raw = len < 0 ? rest(p) : str_slice(rest(p), 0, (size_t)len);

    p->at += raw.len;
    if (p->in == &p->d->top) {
        for (size_t i = 0; i < raw.len; i++) {
            if (!is_space(raw.p[i]))
                return fault(p, "text outside the root element");
        }
    }
    return add_xml_plain(p, XML_TEXT, decode_entities(p, raw, false));
}

/* One attribute into *RET, its name not yet looked up. */
static int read_attr(struct xml_parser *p, struct str *name, struct str *value)
{
    *name = read_xml_name(p);
    skip_space(p);
    if (!name->p || peek(p) != '=')
        return fault(p, "bad attributes");
    p->at++;
    skip_space(p);
    int quote = peek(p);
    if (quote != '"' && quote != '\'')
        return fault(p, "an attribute without quotes");
    p->at++;
    ptrdiff_t len = str_chr(rest(p), (char)quote);
    if (len < 0)
        return fault(p, "an attribute without an end");
    struct str raw = str_slice(rest(p), 0, (size_t)len);
    if (memchr(raw.p, '<', raw.len))
        return fault(p, "'<' in an attribute");
    p->at += raw.len + 1;
    *value = decode_entities(p, raw, true);
    return value->p ? 0 : -EINVAL;
}

/* The attributes up to ">" or "/>", with what they bind. The names are for now as written. */
static int read_attrs(struct xml_parser *p, struct str names[static XML_ATTRS_MAX], unsigned *n)
{
    for (*n = 0;; ++*n) {
        bool had_space = is_space(peek(p));
        skip_space(p);
        int c = peek(p);
        if (c == '>' || c == '/')
            return 0;
        if (!had_space)
            return fault(p, "bad attributes");
        if (*n == XML_ATTRS_MAX) {
            (void)xml_fail(p->d, -E2BIG);
            return -E2BIG;
        }
        struct str *name = &names[*n], value;
        if (read_attr(p, name, &value) < 0)
            return -EINVAL;
        for (unsigned i = 0; i < *n; i++) {
            if (str_eq(names[i], *name))
                return fault(p, "an attribute is there twice");
        }
        p->attrs[*n].value = value;
        bool is_default = str_is(*name, "xmlns");
        if (!is_default && !str_starts(*name, STR("xmlns:")))
            continue;
        if (xml_bind(&p->scope, is_default ? STR("") : str_skip(*name, 6), value) < 0) {
            (void)xml_fail(p->d, -E2BIG);
            return -E2BIG;
        }
    }
}

/* The element NAME with what read_attrs() found. */
static struct xml *make_element(struct xml_parser *p, struct str name, const struct str *names,
                                unsigned n)
{
    struct xml_doc *d = p->d;

    if (p->is_ours) {
        struct xml *made = xml_element(d, p->in, name);
        xml_insert(p->in, made, NULL);
        for (unsigned i = 0; made && i < n; i++)
            xml_attr_set(d, made, names[i], p->attrs[i].value);
        return made;
    }
    struct xml *made = xml_node(d, XML_ELEMENT);
    if (!made)
        return NULL;
    made->name = xml_name_read(d, &p->scope, name, false);
    made->attrs = arena_alloc(d->arena, n * sizeof *made->attrs);
    if (!made->name || !made->attrs)
        return xml_fail(d, -ENOMEM);
    for (unsigned i = 0; i < n; i++) {
        p->attrs[i].name = xml_name_read(d, &p->scope, names[i], true);
        if (!p->attrs[i].name)
            return NULL;
        made->attrs[i] = p->attrs[i];
    }
    made->n_attrs = made->attrs_cap = (uint16_t)n;
    xml_insert(p->in, made, NULL);
    return made;
}

static int read_element(struct xml_parser *p)
{
    struct str names[XML_ATTRS_MAX];
    unsigned n;

    p->at++;
    struct str name = read_xml_name(p);
    if (!name.p)
        return fault(p, "a bad name");
    if (p->in == &p->d->top && p->d->root)
        return fault(p, "a second root element");
    if (p->depth >= XML_DEPTH_MAX) {
        (void)xml_fail(p->d, -E2BIG);
        return -E2BIG;
    }
    size_t bound = p->scope.n;
    int r = read_attrs(p, names, &n);
    if (r < 0)
        return r;
    struct xml *made = make_element(p, name, names, n);
    if (!made)
        return p->d->error ? p->d->error : -EINVAL;
    if (!p->d->root)
        p->d->root = made;
    bool is_empty = peek(p) == '/';
    p->at += is_empty;
    if (peek(p) != '>')
        return fault(p, "bad attributes");
    p->at++;
    if (is_empty) {
        xml_unbind(&p->scope, bound);
        return 0;
    }
    p->bound[p->depth++] = bound;
    p->in = made;
    return 0;
}

static int read_xml_end(struct xml_parser *p)
{
    p->at += 2;
    struct str name = read_xml_name(p);
    skip_space(p);
    if (p->depth == 0 || peek(p) != '>')
        return fault(p, "an end without a beginning");
    /* Of a fragment, only how it is called in the text is known. */
    struct str open = p->is_ours ? p->in->name->key : p->in->name->written;
    if (!name.p || !str_eq(name, open))
        return fault(p, "the wrong element ends");
    p->at++;
    xml_unbind(&p->scope, p->bound[--p->depth]);
    p->in = p->in->parent;
    return 0;
}

static int read_any(struct xml_parser *p)
{
    static const struct {
        struct str begin, end;
        enum xml_kind kind;
    } marked[] = {
        {STR_INIT("<!--"), STR_INIT("-->"), XML_COMMENT},
        {STR_INIT("<?"), STR_INIT("?>"), XML_PI},
        {STR_INIT("<![CDATA["), STR_INIT("]]>"), XML_CDATA},
    };
    struct str s = rest(p);

    if (s.p[0] != '<')
        return read_xml_text(p);
    for (size_t i = 0; i < ARRAY_LEN(marked); i++) {
        if (!str_starts(s, marked[i].begin))
            continue;
        if (marked[i].kind == XML_CDATA && p->depth == 0)
            return fault(p, "text outside the root element");
        return read_to(p, marked[i].kind, marked[i].begin.len, marked[i].end);
    }
    if (str_starts(s, STR("<!")))
        return fault(p, "a document type is not allowed");
    return str_starts(s, STR("</")) ? read_xml_end(p) : read_element(p);
}

/* ---- whole documents ---- */

static int parse_document(struct xml_parser *p)
{
    int r = 0;

    while (r == 0 && p->at < p->text.len)
        r = read_any(p);
    if (r == 0 && p->depth > 0)
        r = fault(p, "an element has no end");
    if (r == 0 && !p->d->root)
        r = fault(p, "no element");
    return p->d->error ? p->d->error : r;
}

static int tell_xml_fault(const struct xml_parser *p, int r, struct err *e)
{
    unsigned line = 1;

    if (r == -ENOMEM)
        return err_set(e, r, "out of memory");
    if (r == -E2BIG)
        return err_set(e, r, "the XML is too large or too deep");
    for (size_t i = 0; i < p->at && i < p->text.len; i++)
        line += p->text.p[i] == '\n';
    return err_set(e, r, "line %u: %s", line, p->fault ? p->fault : "malformed XML");
}

/* UTF-16 with a byte order mark as UTF-8 in A; .p is NULL when it is malformed. */
static struct str from_utf16(struct arena *a, struct str s)
{
    bool is_big = (unsigned char)s.p[0] == 0xfe;
    char *out = arena_alloc(a, s.len * 2 + 1);
    size_t n = 0;
    uint32_t high = 0;

    if (!out || s.len % 2 != 0)
        return STR_NULL;
    for (size_t i = 2; i < s.len; i += 2) {
        const unsigned char *b = (const unsigned char *)s.p + i;
        uint32_t c = is_big ? (uint32_t)(b[0] << 8 | b[1]) : (uint32_t)(b[1] << 8 | b[0]);
        bool is_low = c >= 0xdc00 && c < 0xe000;
        if (is_low != (high != 0))
            return STR_NULL;
        if (c >= 0xd800 && c < 0xdc00) {
            high = c;
            continue;
        }
        if (is_low)
            c = 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00);
        high = 0;
        n += utf8_encode(out + n, c);
    }
    return high ? STR_NULL : str_n(out, n);
}

static bool has_bad_characters(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
            return true;
    }
    return !str_is_utf8(s);
}

/* TEXT as UTF-8 without a mark. */
static struct str plain_text_run(struct arena *a, struct str text)
{
    if (str_starts(text, STR("\xff\xfe")) || str_starts(text, STR("\xfe\xff")))
        text = from_utf16(a, text);
    else if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_skip(text, 3);
    return text;
}

/* We write UTF-8, whatever it was. */
static void fix_declaration(struct xml_doc *d)
{
    struct xml *n = d->top.first;

    if (n && n->kind == XML_PI && str_starts(n->text, STR("xml ")) &&
        str_find(n->text, STR("UTF-8")) < 0 && str_find(n->text, STR("utf-8")) < 0)
        n->text = STR("xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"");
}

struct xml_doc *xml_parse(struct arena *a, struct str text, struct err *e)
{
    struct xml_doc *d = arena_new(a, struct xml_doc);
    struct xml_parser *p auto_free = mem_zalloc(1, sizeof *p);

    if (!d || !p) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    d->arena = a;
    d->top.kind = XML_TOP;
    p->d = d;
    p->in = &d->top;
    p->scope.generation = 1;
    p->text = plain_text_run(a, text);
    if (!p->text.p || has_bad_characters(p->text)) {
        (void)err_set(e, -EINVAL, "the text is not UTF-8");
        return NULL;
    }
    int r = parse_document(p);
    if (r < 0) {
        (void)tell_xml_fault(p, r, e);
        return NULL;
    }
    fix_declaration(d);
    return d;
}

struct xml *xml_add_text(struct xml_doc *d, struct xml *parent, struct xml *before,
                         const char *fragment)
{
    struct xml_parser *p auto_free = mem_zalloc(1, sizeof *p);
    struct xml holder = {.kind = XML_ELEMENT}, *first;

    if (!parent)
        return NULL;
    if (!p)
        return xml_fail(d, -ENOMEM);
    p->d = d;
    p->text = str_of(fragment);
    p->is_ours = true;
    /* What is made hangs below the holder, which stands in the parent's place. */
    holder.name = parent->name;
    holder.parent = parent;
    p->in = &holder;
    if (parse_document(p) < 0)
        return xml_fail(d, -EINVAL);
    first = holder.first;
    for (struct xml *n; (n = holder.first);) {
        xml_remove(n);
        xml_insert(parent, n, before);
    }
    return first;
}
