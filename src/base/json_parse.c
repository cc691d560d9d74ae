/* SPDX-License-Identifier: MIT */
/* The JSON parser: recursive descent, one pass over the text.
 *
 * Entries of open arrays and objects wait on a stack of bytes; when the bracket closes they move
 * into the arena in one piece. Strings go to one pool that is as large as the text: decoding never
 * makes a string longer, and its two quotes leave room for the NUL. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/json_internal.h"
#include "base/mem.h"
#include "base/utf8.h"

enum {
    FIRST_STACK = 2048, /* bytes; enough for ordinary requests without the heap */
    FEW_MEMBERS = 16    /* up to here duplicates are sought pairwise */
};

struct json_parser {
    const char *p, *end; /* what is left */
    const char *start;
    struct arena *arena;
    char *pool; /* where the next string goes */
    char *stack, *first_stack;
    size_t top, cap; /* bytes of the stack */
    uint32_t depth, max_depth, values_left;
    int code; /* the first error: code, words and place */
    const char *what;
    const char *at;
};

static int fail_json_at(struct json_parser *s, const char *at, int code, const char *what)
{
    s->code = code;
    s->what = what;
    s->at = at;
    return code;
}

static int fail_json(struct json_parser *s, const char *what)
{
    return fail_json_at(s, s->p, -EINVAL, s->p == s->end ? "unexpected end" : what);
}

static int fail_json_memory(struct json_parser *s)
{
    return fail_json_at(s, s->p, -ENOMEM, "out of memory");
}

/* The next byte, or NUL (which no JSON text holds outside an error) at the end. */
static inline char peek_byte(const struct json_parser *s)
{
    return s->p < s->end ? *s->p : '\0';
}

static inline char skip_json_space(struct json_parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        s->p++;
    return peek_byte(s);
}

/* ---- the stack ---- */

static int grow_stack(struct json_parser *s)
{
    size_t cap = s->cap * 2;
    char *p = mem_realloc(s->stack == s->first_stack ? NULL : s->stack, cap);

    if (!p)
        return fail_json_memory(s);
    if (s->stack == s->first_stack)
        memcpy(p, s->stack, s->top);
    s->stack = p;
    s->cap = cap;
    return 0;
}

static inline int push_entry(struct json_parser *s, const void *entry, size_t size)
{
    if (s->values_left-- == 0)
        return fail_json_at(s, s->p, -E2BIG, "too many values");
    if (s->cap - s->top < size && grow_stack(s) < 0)
        return s->code;
    memcpy(s->stack + s->top, entry, size);
    s->top += size;
    return 0;
}

/* Moves what lies above MARK to the arena. */
static int pop_entries(struct json_parser *s, size_t mark, void **ret)
{
    size_t size = s->top - mark;

    s->top = mark;
    if (size == 0) {
        *ret = NULL;
        return 0;
    }
    *ret = arena_alloc(s->arena, size);
    if (!*ret)
        return fail_json_memory(s);
    memcpy(*ret, s->stack + mark, size);
    return 0;
}

/* ---- strings ---- */

static int parse_hex4(struct json_parser *s, uint32_t *ret)
{
    uint32_t x = 0;

    for (int i = 0; i < 4; i++, s->p++) {
        char c = peek_byte(s);
        if (c >= '0' && c <= '9')
            x = x << 4 | (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            x = x << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return fail_json(s, "expected four hexadecimal digits");
    }
    *ret = x;
    return 0;
}

/* Behind "\u". */
static int parse_unicode(struct json_parser *s, char **out)
{
    const char *at = s->p - 2;
    uint32_t c = 0, low = 0;

    if (parse_hex4(s, &c) < 0)
        return s->code;
    if (c >= 0xdc00 && c <= 0xdfff)
        return fail_json_at(s, at, -EINVAL, "lone surrogate");
    if (c >= 0xd800 && c <= 0xdbff) {
        if (s->end - s->p < 2 || s->p[0] != '\\' || s->p[1] != 'u')
            return fail_json_at(s, at, -EINVAL, "lone surrogate");
        s->p += 2;
        if (parse_hex4(s, &low) < 0)
            return s->code;
        if (low < 0xdc00 || low > 0xdfff)
            return fail_json_at(s, at, -EINVAL, "lone surrogate");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    *out += utf8_encode(*out, c);
    return 0;
}

/* At a backslash. */
static int parse_escape(struct json_parser *s, char **out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";

    s->p++;
    char c = peek_byte(s);
    if (c == 'u') {
        s->p++;
        return parse_unicode(s, out);
    }
    const char *hit = c ? strchr(from, c) : NULL;
    if (!hit)
        return fail_json(s, "unknown escape");
    s->p++;
    *(*out)++ = to[hit - from];
    return 0;
}

/* Copies bytes that stand for themselves and stops at the first other one. The pool has a chunk to
 * spare at its end, so whole chunks can be stored. */
static inline char *copy_plain(struct json_parser *s, char *out)
{
    while (s->end - s->p >= JSON_CHUNK) {
        unsigned n = json_plain_chunk(s->p);
        memcpy(out, s->p, JSON_CHUNK);
        out += n;
        s->p += n;
        if (n < JSON_CHUNK)
            return out;
    }
    while (s->p < s->end && json_is_plain(*s->p))
        *out++ = *s->p++;
    return out;
}

static int copy_sequences(struct json_parser *s, char **out)
{
    do {
        size_t n = utf8_sequence(s->p, (size_t)(s->end - s->p));
        if (n == 0)
            return fail_json_at(s, s->p, -EINVAL, "malformed UTF-8");
        memcpy(*out, s->p, n);
        *out += n;
        s->p += n;
    } while (s->p < s->end && (unsigned char)*s->p >= 0x80);
    return 0;
}

/* At the opening quote. */
static int parse_json_string(struct json_parser *s, struct str *ret)
{
    char *start = s->pool, *out = start;

    s->p++;
    for (;;) {
        out = copy_plain(s, out);
        char c = peek_byte(s);
        if (c == '"')
            break;
        if (c == '\\') {
            if (parse_escape(s, &out) < 0)
                return s->code;
        } else if ((unsigned char)c >= 0x80) {
            if (copy_sequences(s, &out) < 0)
                return s->code;
        } else {
            return fail_json(s, "control character in a string");
        }
    }
    s->p++;
    *out = '\0';
    *ret = str_n(start, (size_t)(out - start));
    s->pool = out + 1;
    return 0;
}

/* ---- numbers ---- */

/* Digits into D; returns how many there were. FRACTION lowers the exponent with each. */
static size_t parse_digits(struct json_parser *s, struct json_decimal *d, bool fraction)
{
    const char *from = s->p;

    for (; s->p < s->end && ascii_is_digit(*s->p); s->p++) {
        if (d->mantissa > (UINT64_MAX - 9) / 10) {
            d->cut = true;
            continue;
        }
        d->mantissa = d->mantissa * 10 + (uint64_t)(*s->p - '0');
        d->exp10 -= fraction;
    }
    return (size_t)(s->p - from);
}

static int parse_exponent(struct json_parser *s, struct json_decimal *d)
{
    int64_t exp = 0;
    bool negative = false;

    s->p++;
    if (peek_byte(s) == '+' || peek_byte(s) == '-')
        negative = *s->p++ == '-';
    if (!ascii_is_digit(peek_byte(s)))
        return fail_json(s, "expected a digit");
    for (; s->p < s->end && ascii_is_digit(*s->p); s->p++)
        if (exp < 100000) /* far outside a double's range already, far inside int64_t's */
            exp = exp * 10 + (*s->p - '0');
    d->exp10 += negative ? -exp : exp;
    return 0;
}

static int finish_real(struct json_parser *s, const char *from, struct json_decimal *d,
                       struct json *out)
{
    size_t len = (size_t)(s->p - from);

    /* The number's own text is not in the pool, so there is room for it behind the strings. */
    memcpy(s->pool, from, len);
    s->pool[len] = '\0';
    out->type = JSON_REAL;
    out->d = json_decimal_to_double(d, s->pool);
    if (!isfinite(out->d))
        return fail_json_at(s, from, -EINVAL, "number out of range");
    return 0;
}

static int parse_json_number(struct json_parser *s, struct json *out)
{
    const char *from = s->p;
    struct json_decimal d = {.negative = *from == '-'};
    bool integer = true;

    s->p += d.negative;
    if (!ascii_is_digit(peek_byte(s)))
        return fail_json(s, "expected a digit");
    if (*s->p == '0') {
        s->p++;
        if (ascii_is_digit(peek_byte(s)))
            return fail_json(s, "leading zero");
    } else {
        (void)parse_digits(s, &d, false);
    }
    if (peek_byte(s) == '.') {
        integer = false;
        s->p++;
        if (parse_digits(s, &d, true) == 0)
            return fail_json(s, "expected a digit");
    }
    if ((peek_byte(s) | 0x20) == 'e') {
        integer = false;
        if (parse_exponent(s, &d) < 0)
            return s->code;
    }
    if (!integer || d.cut || d.mantissa > (uint64_t)INT64_MAX + d.negative ||
        (d.negative && d.mantissa == 0))
        return finish_real(s, from, &d, out);
    out->type = JSON_INT;
    out->i = d.negative ? (int64_t)(0 - d.mantissa) : (int64_t)d.mantissa;
    return 0;
}

/* ---- objects ---- */

/* A few bits that mostly differ between different keys. */
static inline uint64_t key_bit(struct str key)
{
    if (key.len == 0)
        return 1;
    unsigned x = (unsigned char)key.p[0] + 7U * (unsigned char)key.p[key.len - 1] +
                 11U * (unsigned)key.len + 3U * (unsigned char)key.p[key.len / 2];
    return UINT64_C(1) << (x & 63);
}

/* Of equal keys the first gets the last one's value and the others are marked dead (no key). */

static uint32_t drop_dead(struct json_member *m, uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++)
        if (m[i].key.p)
            m[kept++] = m[i];
    return kept;
}

static uint32_t unite_few(struct json_member *m, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t j = 0;
        while (j < i && (!m[j].key.p || !str_eq(m[i].key, m[j].key)))
            j++;
        if (j < i) {
            m[j].value = m[i].value;
            m[i].key.p = NULL;
        }
    }
    return drop_dead(m, n);
}

static int unite_many(struct json_parser *s, struct json_member *m, uint32_t *n)
{
    struct json_order *order = json_sort_members(m, *n);

    if (!order)
        return fail_json_memory(s);
    bool dead = false;
    for (uint32_t i = 1, first = 0; i < *n; i++) {
        if (order[i].prefix == order[first].prefix &&
            str_eq(m[order[i].i].key, m[order[first].i].key)) {
            m[order[first].i].value = m[order[i].i].value;
            dead = true;
        } else {
            first = i;
        }
    }
    /* Keys are cleared only now: the loop above still compares with them. */
    for (uint32_t i = *n; dead && i-- > 1;)
        if (str_eq(m[order[i].i].key, m[order[i - 1].i].key))
            m[order[i].i].key.p = NULL;
    free(order);
    if (dead)
        *n = drop_dead(m, *n);
    return 0;
}

static int parse_value(struct json_parser *s, struct json *out);

static int parse_member(struct json_parser *s, struct json_member *m)
{
    if (skip_json_space(s) != '"')
        return fail_json(s, "expected a member name");
    if (parse_json_string(s, &m->key) < 0)
        return s->code;
    if (skip_json_space(s) != ':')
        return fail_json(s, "expected ':'");
    s->p++;
    return parse_value(s, &m->value);
}

static int close_object(struct json_parser *s, struct json *out, size_t mark, bool maybe_twice)
{
    struct json_member *m = (struct json_member *)(void *)(s->stack + mark);
    uint32_t n = (uint32_t)((s->top - mark) / sizeof *m);

    s->p++;
    if (n > FEW_MEMBERS) {
        if (unite_many(s, m, &n) < 0)
            return s->code;
    } else if (maybe_twice) {
        n = unite_few(m, n);
    }
    s->top = mark + n * sizeof *m;
    out->n = n;
    return pop_entries(s, mark, (void **)&out->members);
}

static int parse_object(struct json_parser *s, struct json *out)
{
    size_t mark = s->top;
    uint64_t seen = 0;
    bool maybe_twice = false;

    s->p++;
    *out = (struct json){.type = JSON_OBJECT};
    if (skip_json_space(s) == '}') {
        s->p++;
        return 0;
    }
    for (;;) {
        struct json_member m;
        if (parse_member(s, &m) < 0 || push_entry(s, &m, sizeof m) < 0)
            return s->code;
        uint64_t bit = key_bit(m.key);
        maybe_twice |= (seen & bit) != 0;
        seen |= bit;
        char c = skip_json_space(s);
        if (c == '}')
            return close_object(s, out, mark, maybe_twice);
        if (c != ',')
            return fail_json(s, "expected ',' or '}'");
        s->p++;
    }
}

/* ---- values ---- */

static int parse_array(struct json_parser *s, struct json *out)
{
    size_t mark = s->top;

    s->p++;
    *out = (struct json){.type = JSON_ARRAY};
    if (skip_json_space(s) == ']') {
        s->p++;
        return 0;
    }
    for (;;) {
        struct json item;
        if (parse_value(s, &item) < 0 || push_entry(s, &item, sizeof item) < 0)
            return s->code;
        char c = skip_json_space(s);
        if (c == ']')
            break;
        if (c != ',')
            return fail_json(s, "expected ',' or ']'");
        s->p++;
    }
    s->p++;
    out->n = (uint32_t)((s->top - mark) / sizeof(struct json));
    return pop_entries(s, mark, (void **)&out->items);
}

static int parse_nested(struct json_parser *s, struct json *out)
{
    if (s->depth == s->max_depth)
        return fail_json_at(s, s->p, -E2BIG, "nested too deeply");
    s->depth++;
    int r = *s->p == '{' ? parse_object(s, out) : parse_array(s, out);
    s->depth--;
    return r;
}

static int parse_json_word(struct json_parser *s, const char *word, size_t len)
{
    if ((size_t)(s->end - s->p) < len || memcmp(s->p, word, len) != 0)
        return fail_json_at(s, s->p, -EINVAL, "expected a value");
    s->p += len;
    return 0;
}

static int parse_value(struct json_parser *s, struct json *out)
{
    char c = skip_json_space(s);

    *out = (struct json){0};
    switch (c) {
    case '"': out->type = JSON_STRING; return parse_json_string(s, &out->s);
    case '{':
    case '[': return parse_nested(s, out);
    case 't':
        out->type = JSON_BOOL;
        out->b = true;
        return parse_json_word(s, "true", 4);
    case 'f': out->type = JSON_BOOL; return parse_json_word(s, "false", 5);
    case 'n': return parse_json_word(s, "null", 4);
    default:
        if (c == '-' || ascii_is_digit(c))
            return parse_json_number(s, out);
        return fail_json(s, "expected a value");
    }
}

static int parse_json_text(struct json_parser *s, struct json *root)
{
    if (parse_value(s, root) < 0)
        return s->code;
    (void)skip_json_space(s);
    if (s->p < s->end)
        return fail_json(s, "text behind the value");
    return 0;
}

static void say_where(const struct json_parser *s, struct err *e)
{
    size_t line = 1, column = 1;

    for (const char *p = s->start; p < s->at; p++) {
        if (*p == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            column++;
        }
    }
    (void)err_set(e, s->code, "line %zu column %zu: %s", line, column, s->what);
}

struct json *json_parse(struct arena *a, struct str text, const struct json_limits *limits,
                        struct err *e)
{
    static const struct json_limits defaults = JSON_LIMITS_DEFAULT;
    struct json_parser s = {.p = text.p, .start = text.p, .arena = a, .cap = FIRST_STACK};
    _Alignas(struct json_member) char first_stack[FIRST_STACK];

    if (!limits)
        limits = &defaults;
    /* Counts are 32 bits wide; an entry takes at least one byte of text. */
    if (text.len > limits->max_bytes || text.len > UINT32_MAX) {
        (void)err_set(e, -E2BIG, "%zu bytes of text are too many", text.len);
        return NULL;
    }
    struct json *root = arena_alloc(a, sizeof *root);
    s.pool = arena_alloc(a, text.len + JSON_CHUNK);
    if (!root || !s.pool) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    s.end = text.len ? text.p + text.len : text.p;
    s.stack = s.first_stack = first_stack;
    s.values_left = limits->max_values ? limits->max_values : UINT32_MAX;
    s.max_depth = limits->max_depth < JSON_DEPTH_MAX ? limits->max_depth : JSON_DEPTH_MAX;
    int r = parse_json_text(&s, root);
    if (s.stack != first_stack)
        free(s.stack);
    if (r < 0) {
        say_where(&s, e);
        return NULL;
    }
    return root;
}
