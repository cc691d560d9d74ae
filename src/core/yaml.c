/* SPDX-License-Identifier: MIT */
/* YAML text to JSON values: see yaml.h. libyaml delivers events; a stack of open collections turns
 * them into values, and each value's line is noted as its event comes, which is document order. */
#include "core/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/cleanup.h"

struct yaml_frame {
    struct json value; /* the open array or object */
    struct str key;    /* of the member whose value comes next */
    bool has_key;
    uint32_t key_line;
};

struct builder {
    struct arena *a;
    const char *name;
    struct err *e;
    struct yaml_doc doc;
    uint32_t cap_lines, last_line;
    bool has_document, is_finished;
    size_t depth;
    struct yaml_frame stack[YAML_MAX_DEPTH];
};

/* At the end of a text that ends without a line break libyaml is one line further than the text. */
static uint32_t yaml_line_of(const struct builder *b, const yaml_event_t *ev)
{
    size_t line = ev->start_mark.line + 1;

    return line < b->last_line ? (uint32_t)line : b->last_line;
}

/* How many lines TEXT has. A line ends with CR, LF, both, or U+0085, U+2028, U+2029 (YAML 1.1). */
static uint32_t count_yaml_lines(struct str text)
{
    uint32_t n = 1;

    for (size_t i = 0; i < text.len; i++) {
        struct str rest = str_skip(text, i);
        n += rest.p[0] == '\n' || (rest.p[0] == '\r' && !str_starts(rest, STR("\r\n"))) ||
             str_starts(rest, STR("\xc2\x85")) || str_starts(rest, STR("\xe2\x80\xa8")) ||
             str_starts(rest, STR("\xe2\x80\xa9"));
    }
    return n;
}

static int refuse_yaml(struct builder *b, const yaml_event_t *ev, int code, const char *what)
{
    return err_set(b->e, code, "%s:%u: %s", b->name, yaml_line_of(b, ev), what);
}

static int no_memory_for_yaml(struct builder *b)
{
    return err_sys(b->e, -ENOMEM, "%s", b->name);
}

static struct yaml_frame *top(struct builder *b)
{
    return b->depth ? &b->stack[b->depth - 1] : NULL;
}

/* ---- scalars ---- */

static const struct {
    const char *word;
    enum json_type type;
    bool b;
} words[] = {
    {"", JSON_NULL, false},      {"~", JSON_NULL, false},     {"null", JSON_NULL, false},
    {"Null", JSON_NULL, false},  {"NULL", JSON_NULL, false},  {"true", JSON_BOOL, true},
    {"True", JSON_BOOL, true},   {"TRUE", JSON_BOOL, true},   {"false", JSON_BOOL, false},
    {"False", JSON_BOOL, false}, {"FALSE", JSON_BOOL, false},
};

static bool parse_yaml_word(struct str s, struct json *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(s, words[i].word)) {
            *ret = (struct json){.type = words[i].type, .b = words[i].b};
            return true;
        }
    return false;
}

static bool is_all_digits(struct str s, const char *digits)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.p[i] == '\0' || !strchr(digits, s.p[i]))
            return false;
    return s.len > 0;
}

/* 0x1F and 0o17: 64 bits unsigned at most, and what does not fit an int64 is no integer. */
static bool parse_prefixed(struct str s, struct json *ret)
{
    bool is_hex = str_starts(s, STR("0x"));
    struct str digits = str_skip(s, 2);

    if (!is_hex && !str_starts(s, STR("0o")))
        return false;
    if (!is_all_digits(digits, is_hex ? "0123456789abcdefABCDEF" : "01234567"))
        return false;
    errno = 0;
    unsigned long long v = strtoull(digits.p, NULL, is_hex ? 16 : 8);
    if (errno != 0 || v > INT64_MAX)
        return false;
    *ret = (struct json){.type = JSON_INT, .i = (int64_t)v};
    return true;
}

static bool parse_decimal(struct str s, struct json *ret)
{
    int64_t i;
    bool has_plus = s.len > 1 && s.p[0] == '+' && s.p[1] != '-';

    if (str_to_i64(has_plus ? str_skip(s, 1) : s, &i) < 0)
        return false;
    *ret = (struct json){.type = JSON_INT, .i = i};
    return true;
}

static size_t count_digits(struct str s)
{
    size_t n = 0;

    while (n < s.len && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n;
}

/* [-+]? ( \.[0-9]+ | [0-9]+ (\.[0-9]*)? ) ([eE] [-+]? [0-9]+)? */
static bool looks_real(struct str s)
{
    if (s.len && strchr("+-", s.p[0]))
        s = str_skip(s, 1);
    size_t whole = count_digits(s), fraction = 0;
    s = str_skip(s, whole);
    if (s.len && s.p[0] == '.') {
        fraction = count_digits(str_skip(s, 1));
        s = str_skip(s, 1 + fraction);
    }
    if (whole + fraction == 0)
        return false;
    if (s.len == 0)
        return true;
    if (s.p[0] != 'e' && s.p[0] != 'E')
        return false;
    s = str_skip(s, 1);
    if (s.len && strchr("+-", s.p[0]))
        s = str_skip(s, 1);
    return s.len > 0 && count_digits(s) == s.len;
}

static bool parse_real(struct str s, struct json *ret)
{
    if (!looks_real(s))
        return false;
    *ret = (struct json){.type = JSON_REAL, .d = strtod(s.p, NULL)};
    return true;
}

/* .inf, -.inf and .nan, in the three spellings that the core schema has. */
static bool is_not_finite(struct str s)
{
    static const char *const names[] = {"inf", "Inf", "INF", "nan", "NaN", "NAN"};

    if (s.len && strchr("+-", s.p[0]))
        s = str_skip(s, 1);
    if (s.len != 4 || s.p[0] != '.')
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(str_skip(s, 1), names[i]))
            return true;
    return false;
}

static int plain_scalar(struct builder *b, const yaml_event_t *ev, struct str s, struct json *ret)
{
    static bool (*const parsers[])(struct str, struct json *) = {parse_yaml_word, parse_prefixed,
                                                                 parse_decimal, parse_real};

    if (is_not_finite(s))
        return refuse_yaml(b, ev, -EINVAL, "infinities and NaN are not supported");
    for (size_t i = 0; i < ARRAY_LEN(parsers); i++)
        if (parsers[i](s, ret))
            return ret->type == JSON_REAL && !isfinite(ret->d)
                       ? refuse_yaml(b, ev, -EINVAL, "number out of range")
                       : 0;
    struct str copy = arena_str(b->a, s);
    if (!copy.p)
        return no_memory_for_yaml(b);
    *ret = (struct json){.type = JSON_STRING, .s = copy};
    return 0;
}

static int scalar_value(struct builder *b, const yaml_event_t *ev, struct json *ret)
{
    struct str s = str_n((const char *)ev->data.scalar.value, ev->data.scalar.length);

    if (!ev->data.scalar.tag && ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return plain_scalar(b, ev, s, ret);
    struct str copy = arena_str(b->a, s);
    if (!copy.p)
        return no_memory_for_yaml(b);
    *ret = (struct json){.type = JSON_STRING, .s = copy};
    return 0;
}

/* ---- collections ---- */

/* Notes the line of the value whose event is EV. */
static int note_line(struct builder *b, const yaml_event_t *ev)
{
    const struct yaml_frame *f = top(b);
    struct yaml_doc *d = &b->doc;

    if (d->n_lines == YAML_MAX_NODES)
        return refuse_yaml(b, ev, -E2BIG, "too many values");
    if (d->n_lines == b->cap_lines) {
        uint32_t cap = b->cap_lines ? 2 * b->cap_lines : 64;
        uint32_t *lines = arena_alloc(b->a, cap * sizeof *lines);
        if (!lines)
            return no_memory_for_yaml(b);
        if (d->n_lines)
            memcpy(lines, d->lines, d->n_lines * sizeof *lines);
        d->lines = lines;
        b->cap_lines = cap;
    }
    d->lines[d->n_lines++] = f && f->has_key ? f->key_line : yaml_line_of(b, ev);
    return 0;
}

/* Puts a finished value where it belongs: into the innermost open collection, or as the root. */
static int attach(struct builder *b, const struct json *v)
{
    struct yaml_frame *f = top(b);
    int r;

    if (!f) {
        *b->doc.root = *v;
        return 0;
    }
    if (f->value.type == JSON_ARRAY)
        r = json_push(b->a, &f->value, v);
    else
        r = json_set_str(b->a, &f->value, f->key, v);
    f->has_key = false;
    return r < 0 ? no_memory_for_yaml(b) : 0;
}

static int take_yaml_key(struct builder *b, const yaml_event_t *ev)
{
    struct yaml_frame *f = top(b);
    struct str key = str_n((const char *)ev->data.scalar.value, ev->data.scalar.length);

    if (json_get_str(&f->value, key))
        return err_set(b->e, -EINVAL, "%s:%u: duplicate key '" STR_FMT "'", b->name,
                       yaml_line_of(b, ev), STR_ARG(key));
    f->key = arena_str(b->a, key);
    if (!f->key.p)
        return no_memory_for_yaml(b);
    f->has_key = true;
    f->key_line = yaml_line_of(b, ev);
    return 0;
}

static bool wants_key(struct builder *b)
{
    const struct yaml_frame *f = top(b);

    return f && f->value.type == JSON_OBJECT && !f->has_key;
}

static int check_properties(struct builder *b, const yaml_event_t *ev, const yaml_char_t *anchor,
                            const yaml_char_t *tag)
{
    if (anchor)
        return refuse_yaml(b, ev, -EINVAL, "anchors and aliases are not supported");
    if (tag && strcmp((const char *)tag, YAML_STR_TAG) != 0)
        return refuse_yaml(b, ev, -EINVAL, "tags are not supported");
    return 0;
}

static int open_collection(struct builder *b, const yaml_event_t *ev, enum json_type type)
{
    if (wants_key(b))
        return refuse_yaml(b, ev, -EINVAL, "a key must be a scalar");
    if (b->depth == YAML_MAX_DEPTH)
        return refuse_yaml(b, ev, -E2BIG, "nested too deeply");
    int r = note_line(b, ev);
    if (r == 0)
        b->stack[b->depth++] = (struct yaml_frame){.value = {.type = type}};
    return r;
}

/* ---- events ---- */

static int on_scalar(struct builder *b, const yaml_event_t *ev)
{
    struct json v;
    int r = check_properties(b, ev, ev->data.scalar.anchor, ev->data.scalar.tag);

    if (r < 0)
        return r;
    if (wants_key(b))
        return take_yaml_key(b, ev);
    r = note_line(b, ev);
    if (r == 0)
        r = scalar_value(b, ev, &v);
    return r < 0 ? r : attach(b, &v);
}

static int on_sequence(struct builder *b, const yaml_event_t *ev)
{
    int r = check_properties(b, ev, ev->data.sequence_start.anchor, ev->data.sequence_start.tag);

    return r < 0 ? r : open_collection(b, ev, JSON_ARRAY);
}

static int on_mapping(struct builder *b, const yaml_event_t *ev)
{
    int r = check_properties(b, ev, ev->data.mapping_start.anchor, ev->data.mapping_start.tag);

    return r < 0 ? r : open_collection(b, ev, JSON_OBJECT);
}

static int on_yaml_end(struct builder *b, const yaml_event_t *ev)
{
    struct json v = top(b)->value;

    (void)ev;
    b->depth--;
    return attach(b, &v);
}

static int on_alias(struct builder *b, const yaml_event_t *ev)
{
    return refuse_yaml(b, ev, -EINVAL, "anchors and aliases are not supported");
}

static int on_document(struct builder *b, const yaml_event_t *ev)
{
    if (b->has_document)
        return refuse_yaml(b, ev, -EINVAL, "only one document is expected");
    b->has_document = true;
    return 0;
}

static int on_stream_end(struct builder *b, const yaml_event_t *ev)
{
    (void)ev;
    b->is_finished = true;
    return 0;
}

static int (*const handlers[])(struct builder *b, const yaml_event_t *ev) = {
    [YAML_STREAM_END_EVENT] = on_stream_end,
    [YAML_DOCUMENT_START_EVENT] = on_document,
    [YAML_ALIAS_EVENT] = on_alias,
    [YAML_SCALAR_EVENT] = on_scalar,
    [YAML_SEQUENCE_START_EVENT] = on_sequence,
    [YAML_SEQUENCE_END_EVENT] = on_yaml_end,
    [YAML_MAPPING_START_EVENT] = on_mapping,
    [YAML_MAPPING_END_EVENT] = on_yaml_end,
};

static int yaml_syntax_error(struct builder *b, const yaml_parser_t *p)
{
    if (p->error == YAML_MEMORY_ERROR)
        return no_memory_for_yaml(b);
    /* The reader fails before there are marks; only the text up to there was counted. */
    size_t line = p->error == YAML_READER_ERROR ? p->mark.line : p->problem_mark.line;
    return err_set(b->e, -EINVAL, "%s:%zu: %s%s%s", b->name, line + 1,
                   p->problem ? p->problem : "malformed", p->context ? " " : "",
                   p->context ? p->context : "");
}

static int read_yaml_events(struct builder *b, yaml_parser_t *p)
{
    int r = 0;

    while (r == 0 && !b->is_finished) {
        yaml_event_t ev;
        if (!yaml_parser_parse(p, &ev))
            return yaml_syntax_error(b, p);
        if ((size_t)ev.type < ARRAY_LEN(handlers) && handlers[ev.type])
            r = handlers[ev.type](b, &ev);
        yaml_event_delete(&ev);
    }
    return r;
}

int yaml_parse(struct arena *a, struct str text, const char *name, struct yaml_doc *ret,
               struct err *e)
{
    struct builder b = {.a = a, .name = name, .e = e};
    yaml_parser_t parser;

    if (text.len > YAML_MAX_BYTES)
        return err_set(e, -E2BIG, "%s: larger than %lu bytes", name, YAML_MAX_BYTES);
    if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_skip(text, 3);
    b.last_line = count_yaml_lines(text);
    b.doc.root = json_new_null(a);
    if (!b.doc.root || !yaml_parser_initialize(&parser))
        return no_memory_for_yaml(&b);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text.p ? text.p : ""), text.len);
    int r = read_yaml_events(&b, &parser);
    yaml_parser_delete(&parser);
    if (r == 0)
        *ret = b.doc;
    return r;
}

/* ---- lines ---- */

/* Walks V in document order until WANTED; *INDEX counts the values passed. The depth is bounded by
 * the parser. */
static bool walk_to_value(const struct json *v, const struct json *wanted, uint32_t *index)
{
    if (v == wanted)
        return true;
    ++*index;
    if (v->type == JSON_ARRAY) {
        for (uint32_t i = 0; i < v->n; i++)
            if (walk_to_value(&v->items[i], wanted, index))
                return true;
    } else if (v->type == JSON_OBJECT) {
        for (uint32_t i = 0; i < v->n; i++)
            if (walk_to_value(&v->members[i].value, wanted, index))
                return true;
    }
    return false;
}

uint32_t yaml_line(const struct yaml_doc *doc, const struct json *v)
{
    uint32_t index = 0;

    if (!v || !walk_to_value(doc->root, v, &index))
        return 0;
    return index < doc->n_lines ? doc->lines[index] : 1;
}
