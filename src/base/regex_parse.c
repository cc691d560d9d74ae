/* SPDX-License-Identifier: MIT */
/* Regular expressions, first half: the pattern as a tree. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/enc.h"
#include "base/regex_internal.h"
#include "base/utf8.h"

enum { LAST_CODE_POINT = 0x10ffff };

struct regex_parser {
    struct arena *arena;
    struct str text;
    size_t pos;
    unsigned depth;
    bool has_group; /* one that captures came before */
    struct err *e;
};

/* All functions here return 0, or -1 when the err is filled. */
static int fail_regex_at(struct regex_parser *p, size_t pos, int code, const char *what)
{
    (void)err_set(p->e, code, "offset %zu: %s", pos, what);
    return -1;
}

static int fail_regex(struct regex_parser *p, const char *what)
{
    return fail_regex_at(p, p->pos, -EINVAL, what);
}

static int fail_regex_memory(struct regex_parser *p)
{
    return fail_regex_at(p, p->pos, -ENOMEM, "out of memory");
}

/* ---- reading ---- */

static bool at_pattern_end(const struct regex_parser *p)
{
    return p->pos >= p->text.len;
}

/* The byte AHEAD of the next one; 0 at the end (a NUL in a pattern is like any other literal). */
static char look_ahead(const struct regex_parser *p, size_t ahead)
{
    return p->text.len - p->pos > ahead ? p->text.p[p->pos + ahead] : '\0';
}

static bool accept_token(struct regex_parser *p, const char *token)
{
    if (!str_starts(str_skip(p->text, p->pos), str_of(token)))
        return false;
    p->pos += strlen(token);
    return true;
}

static int read_code_point(struct regex_parser *p, uint32_t *ret)
{
    size_t n = utf8_decode(p->text.p + p->pos, p->text.len - p->pos, ret);

    if (n == 0)
        return fail_regex(p, "malformed UTF-8");
    p->pos += n;
    return 0;
}

static int read_hex(struct regex_parser *p, unsigned digits, uint32_t *ret)
{
    uint32_t x = 0;

    for (unsigned i = 0; i < digits; i++, p->pos++) {
        int digit = at_pattern_end(p) ? -1 : enc_hex_digit(look_ahead(p, 0));
        if (digit < 0)
            return fail_regex(p, "expected a hexadecimal digit");
        x = x << 4 | (uint32_t)digit;
    }
    *ret = x;
    return 0;
}

/* ---- sets ---- */

static const struct regex_range digits[] = {{'0', '9'}};
static const struct regex_range word[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const struct regex_range space[] = {
    {'\t', '\r'},     {' ', ' '},       {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
    {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff},
};
static const struct regex_range line_ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

bool regex_is_word(uint32_t c)
{
    for (size_t i = 0; i < ARRAY_LEN(word); i++)
        if (c >= word[i].first && c <= word[i].last)
            return true;
    return false;
}

static struct regex_set *new_set(struct regex_parser *p)
{
    struct regex_set *set = arena_new(p->arena, struct regex_set);

    if (!set)
        (void)fail_regex_memory(p);
    return set;
}

static int add_regex_range(struct regex_parser *p, struct regex_set *set, uint32_t first,
                           uint32_t last)
{
    if (set->n == set->cap) {
        uint32_t cap = set->cap ? set->cap * 2 : 4;
        struct regex_range *more = arena_zalloc(p->arena, cap, sizeof *more);
        if (!more)
            return fail_regex_memory(p);
        if (set->n)
            memcpy(more, set->ranges, set->n * sizeof *more);
        set->ranges = more;
        set->cap = cap;
    }
    set->ranges[set->n++] = (struct regex_range){first, last};
    for (uint32_t c = first; c <= last && c < 128; c++)
        set->ascii[c / 64] |= UINT64_C(1) << (c % 64);
    return 0;
}

/* The named set behind "\d" and its kin, or what is between its ranges. False: no such set. */
static bool find_named(char name, const struct regex_range **ret, size_t *ret_n)
{
    switch (name | 0x20) {
    case 'd':
        *ret = digits;
        *ret_n = ARRAY_LEN(digits);
        return true;
    case 'w':
        *ret = word;
        *ret_n = ARRAY_LEN(word);
        return true;
    case 's':
        *ret = space;
        *ret_n = ARRAY_LEN(space);
        return true;
    default: return false;
    }
}

static int add_named(struct regex_parser *p, struct regex_set *set, char name)
{
    const struct regex_range *ranges = NULL;
    size_t n = 0;
    uint32_t from = 0;
    bool inverse = name >= 'A' && name <= 'Z';
    int r = 0;

    (void)find_named(name, &ranges, &n);
    for (size_t i = 0; i < n && r == 0; i++) {
        if (!inverse)
            r = add_regex_range(p, set, ranges[i].first, ranges[i].last);
        else if (ranges[i].first > from)
            r = add_regex_range(p, set, from, ranges[i].first - 1);
        from = ranges[i].last + 1;
    }
    return r == 0 && inverse ? add_regex_range(p, set, from, LAST_CODE_POINT) : r;
}

bool regex_set_has(const struct regex_set *set, uint32_t c)
{
    if (c < 128)
        return ((set->ascii[c / 64] >> (c % 64)) & 1) != set->negated;
    for (uint32_t i = 0; i < set->n; i++)
        if (c >= set->ranges[i].first && c <= set->ranges[i].last)
            return !set->negated;
    return set->negated;
}

/* ---- escapes ---- */

/* Behind "\u{". */
static int read_braced(struct regex_parser *p, uint32_t *ret)
{
    size_t at = p->pos - 3;
    uint32_t digit = 0;

    *ret = 0;
    do {
        if (read_hex(p, 1, &digit) < 0)
            return -1;
        *ret = *ret << 4 | digit;
        if (*ret > LAST_CODE_POINT)
            return fail_regex_at(p, at, -EINVAL, "no such code point");
    } while (!accept_token(p, "}"));
    return 0;
}

/* Behind "\u". A pair of surrogates is one code point; a lone one matches no text, as UTF-8 has
 * none. */
static int read_unicode(struct regex_parser *p, uint32_t *ret)
{
    uint32_t low = 0;

    if (accept_token(p, "{"))
        return read_braced(p, ret);
    if (read_hex(p, 4, ret) < 0)
        return -1;
    size_t back = p->pos;
    if (*ret < 0xd800 || *ret > 0xdbff || !accept_token(p, "\\u"))
        return 0;
    if (read_hex(p, 4, &low) < 0)
        return -1;
    if (low >= 0xdc00 && low <= 0xdfff)
        *ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
    else
        p->pos = back;
    return 0;
}

static int read_control(struct regex_parser *p, uint32_t *ret)
{
    char c = look_ahead(p, 0);

    if ((c | 0x20) < 'a' || (c | 0x20) > 'z')
        return fail_regex(p, "expected a letter");
    p->pos++;
    *ret = (uint32_t)c & 31;
    return 0;
}

/* Behind the backslash: an escape that stands for one code point. */
static int read_char_escape(struct regex_parser *p, uint32_t *ret)
{
    static const char from[] = "tnvfr";
    static const char to[] = "\t\n\v\f\r";
    size_t at = p->pos - 1;
    uint32_t c;

    if (at_pattern_end(p))
        return fail_regex(p, "nothing behind the backslash");
    if (read_code_point(p, &c) < 0)
        return -1;
    *ret = c;
    if (c >= 128 || !regex_is_word(c) || c == '_')
        return 0;
    const char *hit = c ? strchr(from, (int)c) : NULL;
    if (hit) {
        *ret = (uint32_t)to[hit - from];
        return 0;
    }
    if (c == '0' && !(look_ahead(p, 0) >= '0' && look_ahead(p, 0) <= '9')) {
        *ret = 0;
        return 0;
    }
    switch (c) {
    case 'x': return read_hex(p, 2, ret);
    case 'u': return read_unicode(p, ret);
    case 'c': return read_control(p, ret);
    case 'k': return fail_regex_at(p, at, -ENOTSUP, "backreferences are not supported");
    case 'p':
    case 'P': return fail_regex_at(p, at, -ENOTSUP, "Unicode properties are not supported");
    default: break;
    }
    if (c >= '1' && c <= '9')
        return fail_regex_at(p, at, -ENOTSUP, "backreferences are not supported");
    return fail_regex_at(p, at, -EINVAL, "unknown escape");
}

/* ---- classes ---- */

static bool at_named(const struct regex_parser *p)
{
    const struct regex_range *ranges;
    size_t n;

    return look_ahead(p, 0) == '\\' && find_named(look_ahead(p, 1), &ranges, &n);
}

static int read_class_char(struct regex_parser *p, uint32_t *ret)
{
    if (at_pattern_end(p))
        return fail_regex(p, "unmatched '['");
    if (!accept_token(p, "\\"))
        return read_code_point(p, ret);
    if (accept_token(p, "b")) {
        *ret = '\b';
        return 0;
    }
    if (accept_token(p, "-")) {
        *ret = '-';
        return 0;
    }
    return read_char_escape(p, ret);
}

/* One character, range or named set of a class. */
static int parse_class_part(struct regex_parser *p, struct regex_set *set)
{
    size_t at = p->pos;
    uint32_t first, last;

    if (at_named(p)) {
        char name = look_ahead(p, 1);
        p->pos += 2;
        return add_named(p, set, name);
    }
    if (read_class_char(p, &first) < 0)
        return -1;
    last = first;
    /* A dash next to a named set or a bracket is a dash. */
    if (look_ahead(p, 0) == '-' && p->text.len - p->pos > 1 && look_ahead(p, 1) != ']') {
        p->pos++;
        if (at_named(p))
            return add_regex_range(p, set, first, first) < 0 ? -1
                                                             : add_regex_range(p, set, '-', '-');
        if (read_class_char(p, &last) < 0)
            return -1;
    }
    if (last < first)
        return fail_regex_at(p, at, -EINVAL, "range out of order");
    return add_regex_range(p, set, first, last);
}

/* Behind '['. */
static int parse_class(struct regex_parser *p, struct regex_node *node)
{
    size_t at = p->pos - 1;
    struct regex_set *set = new_set(p);

    if (!set)
        return -1;
    set->negated = accept_token(p, "^");
    while (!accept_token(p, "]")) {
        if (at_pattern_end(p))
            return fail_regex_at(p, at, -EINVAL, "unmatched '['");
        if (parse_class_part(p, set) < 0)
            return -1;
    }
    node->type = REGEX_SET;
    node->set = set;
    return 0;
}

/* ---- pieces ---- */

static struct regex_node *parse_branches(struct regex_parser *p);

/* Behind '('. */
static int parse_regex_group(struct regex_parser *p, struct regex_node *node)
{
    static const char *const refused[] = {"?=", "?!", "?<=", "?<!"};
    size_t at = p->pos - 1;
    bool is_plain = false;

    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (accept_token(p, refused[i]))
            return fail_regex_at(p, at, -ENOTSUP, "lookaround is not supported");
    if (accept_token(p, "?<")) {
        ptrdiff_t end = str_chr(str_skip(p->text, p->pos), '>');
        if (end <= 0)
            return fail_regex(p, "expected a group name");
        p->pos += (size_t)end + 1;
    } else if (accept_token(p, "?:")) {
        is_plain = true;
    } else if (look_ahead(p, 0) == '?') {
        return fail_regex_at(p, at, -EINVAL, "unknown kind of group");
    }
    node->is_first = !is_plain && !p->has_group;
    p->has_group |= !is_plain;
    if (++p->depth > REGEX_DEPTH_MAX)
        return fail_regex_at(p, at, -E2BIG, "groups nested too deeply");
    node->type = REGEX_GROUP;
    node->child = parse_branches(p);
    p->depth--;
    if (!node->child)
        return -1;
    return accept_token(p, ")") ? 0 : fail_regex_at(p, at, -EINVAL, "unmatched '('");
}

static int set_assert(struct regex_node *node, enum regex_assert kind)
{
    node->type = REGEX_ASSERT;
    node->kind = kind;
    return 0;
}

static int set_named(struct regex_parser *p, struct regex_node *node, char name)
{
    node->type = REGEX_SET;
    node->set = new_set(p);
    return node->set ? add_named(p, node->set, name) : -1;
}

static int set_any(struct regex_parser *p, struct regex_node *node)
{
    node->type = REGEX_SET;
    node->set = new_set(p);
    if (!node->set)
        return -1;
    node->set->negated = true;
    for (size_t i = 0; i < ARRAY_LEN(line_ends); i++)
        if (add_regex_range(p, node->set, line_ends[i].first, line_ends[i].last) < 0)
            return -1;
    return 0;
}

static int parse_atom(struct regex_parser *p, struct regex_node *node)
{
    if (accept_token(p, "("))
        return parse_regex_group(p, node);
    if (accept_token(p, "["))
        return parse_class(p, node);
    if (accept_token(p, "."))
        return set_any(p, node);
    if (accept_token(p, "^"))
        return set_assert(node, REGEX_BEGIN);
    if (accept_token(p, "$"))
        return set_assert(node, REGEX_END);
    if (accept_token(p, "\\b"))
        return set_assert(node, REGEX_WORD_EDGE);
    if (accept_token(p, "\\B"))
        return set_assert(node, REGEX_NOT_WORD_EDGE);
    if (at_named(p)) {
        char name = look_ahead(p, 1);
        p->pos += 2;
        return set_named(p, node, name);
    }
    node->type = REGEX_CHAR;
    return accept_token(p, "\\") ? read_char_escape(p, &node->c) : read_code_point(p, &node->c);
}

/* ---- repetition ---- */

static bool read_regex_count(struct regex_parser *p, uint32_t *ret)
{
    size_t from = p->pos;

    for (*ret = 0; look_ahead(p, 0) >= '0' && look_ahead(p, 0) <= '9'; p->pos++)
        if (*ret <= REGEX_REPEAT_MAX)
            *ret = *ret * 10 + (uint32_t)(look_ahead(p, 0) - '0');
    return p->pos > from;
}

/* "{m}", "{m,}" or "{m,n}"; anything else leaves the brace to be a literal. */
static bool read_counts(struct regex_parser *p, uint32_t *min, uint32_t *max)
{
    size_t back = p->pos;

    if (accept_token(p, "{") && read_regex_count(p, min)) {
        *max = *min;
        if (accept_token(p, ",") && !read_regex_count(p, max))
            *max = REGEX_NO_MAX;
        if (accept_token(p, "}"))
            return true;
    }
    p->pos = back;
    return false;
}

static bool read_quantifier(struct regex_parser *p, uint32_t *min, uint32_t *max)
{
    *min = 0;
    *max = REGEX_NO_MAX;
    if (accept_token(p, "*"))
        return true;
    if (accept_token(p, "+")) {
        *min = 1;
        return true;
    }
    if (accept_token(p, "?")) {
        *max = 1;
        return true;
    }
    return read_counts(p, min, max);
}

/* PIECE, or its repetition when a quantifier follows. */
static struct regex_node *parse_quantifier(struct regex_parser *p, struct regex_node *piece)
{
    size_t at = p->pos;
    uint32_t min, max;
    struct regex_node *node = NULL;

    if (!read_quantifier(p, &min, &max))
        return piece;
    bool is_lazy = accept_token(p, "?");
    if (piece->type == REGEX_ASSERT)
        (void)fail_regex_at(p, at, -EINVAL, "nothing to repeat");
    else if (min > REGEX_REPEAT_MAX || (max > REGEX_REPEAT_MAX && max != REGEX_NO_MAX))
        (void)fail_regex_at(p, at, -E2BIG, "repeated too often");
    else if (max < min)
        (void)fail_regex_at(p, at, -EINVAL, "counts out of order");
    else if (!(node = arena_new(p->arena, struct regex_node)))
        (void)fail_regex_memory(p);
    if (node)
        *node = (struct regex_node){
            .type = REGEX_REPEAT, .min = min, .max = max, .is_lazy = is_lazy, .child = piece};
    return node;
}

static struct regex_node *parse_piece(struct regex_parser *p)
{
    uint32_t min, max;
    size_t at = p->pos;

    if (read_quantifier(p, &min, &max)) {
        (void)fail_regex_at(p, at, -EINVAL, "nothing to repeat");
        return NULL;
    }
    struct regex_node *node = arena_new(p->arena, struct regex_node);
    if (!node) {
        (void)fail_regex_memory(p);
        return NULL;
    }
    return parse_atom(p, node) < 0 ? NULL : parse_quantifier(p, node);
}

static struct regex_node *parse_branch(struct regex_parser *p)
{
    struct regex_node *branch = arena_new(p->arena, struct regex_node);

    if (!branch) {
        (void)fail_regex_memory(p);
        return NULL;
    }
    branch->type = REGEX_BRANCH;
    struct regex_node *last = NULL;
    while (!at_pattern_end(p) && look_ahead(p, 0) != '|' && look_ahead(p, 0) != ')') {
        struct regex_node *piece = parse_piece(p);
        if (!piece)
            return NULL;
        if (last)
            last->next = piece;
        else
            branch->child = piece;
        last = piece;
    }
    return branch;
}

static struct regex_node *parse_branches(struct regex_parser *p)
{
    struct regex_node *first = parse_branch(p), *last = first;

    while (last && accept_token(p, "|"))
        last = last->next = parse_branch(p);
    return last ? first : NULL;
}

struct regex_node *regex_parse(struct arena *a, struct str pattern, struct err *e)
{
    struct regex_parser p = {.arena = a, .text = pattern, .e = e};
    struct regex_node *group = arena_new(a, struct regex_node);

    if (!group) {
        (void)fail_regex_memory(&p);
        return NULL;
    }
    group->type = REGEX_GROUP;
    group->child = parse_branches(&p);
    if (!group->child)
        return NULL;
    if (!at_pattern_end(&p)) {
        (void)fail_regex(&p, "unmatched ')'");
        return NULL;
    }
    return group;
}
