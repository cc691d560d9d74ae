/* SPDX-License-Identifier: MIT */
/* The language of arXiv's searches, over papers that are here. */
#include <errno.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "local/arxiv/paper.h"

enum { DEPTH_MAX = 32, NODES_MAX = 512, HITS_MAX = 5 /* of a word that count */ };

enum field { IN_ALL, IN_TITLE, IN_AUTHORS, IN_SUMMARY, IN_CATEGORIES, IN_ID, IN_DATE, IN_NOTHING };

static const struct {
    const char *name;
    enum field field;
} fields[] = {
    {"all", IN_ALL},        {"ti", IN_TITLE},
    {"au", IN_AUTHORS},     {"abs", IN_SUMMARY},
    {"cat", IN_CATEGORIES}, {"id", IN_ID},
    {"co", IN_NOTHING},     {"jr", IN_NOTHING},
    {"rn", IN_NOTHING},     {"submittedDate", IN_DATE},
};

enum kind { IS_TERM, IS_AND, IS_OR, IS_ANDNOT, IS_NEXT_TO };

struct arxiv_query {
    enum kind kind;
    enum field field;
    struct str text; /* of a term */
    struct arxiv_query *left, *right;
};

/* ---- papers ---- */

struct arxiv_paper *arxiv_add(struct arena *a, struct arxiv_papers *papers)
{
    struct arxiv_paper *items =
        arena_grow(a, papers->items, papers->n, &papers->cap, sizeof *items);

    if (!items || papers->n == ARXIV_PAPERS_MAX)
        return NULL;
    papers->items = items;
    items[papers->n] = (struct arxiv_paper){.id = STR_NULL};
    return &items[papers->n++];
}

static bool is_char_of_set(char c, const char *set)
{
    return c != '\0' && strchr(set, c);
}

struct str arxiv_base_id(struct str id)
{
    size_t n = id.len;

    while (n > 0 && ascii_is_digit(id.p[n - 1]))
        n--;
    return n > 1 && n < id.len && id.p[n - 1] == 'v' && ascii_is_digit(id.p[n - 2])
               ? str_slice(id, 0, n - 1)
               : id;
}

bool arxiv_is_id(struct str id)
{
    size_t n_digits = 0, n_slashes = 0;

    for (size_t i = 0; i < id.len; i++) {
        char c = id.p[i];
        n_digits += ascii_is_digit(c);
        n_slashes += c == '/';
        if (!ascii_is_digit(c) && c != '.' && c != '-' && c != '/' && (c < 'a' || c > 'z') &&
            (c < 'A' || c > 'Z'))
            return false;
    }
    return id.len <= 40 && n_digits >= 4 && n_slashes <= 1 && id.p[0] != '.' && id.p[0] != '/';
}

const struct arxiv_paper *arxiv_find(const struct arxiv_papers *papers, struct str id)
{
    for (size_t i = 0; i < papers->n; i++) {
        if (str_eq(arxiv_base_id(papers->items[i].id), arxiv_base_id(id)))
            return &papers->items[i];
    }
    return NULL;
}

/* Year, month and day as far as TEXT has them; how many that are, or 0. */
static int read_query_parts(struct str text, int64_t parts[3])
{
    static const int widths[] = {4, 2, 2};
    int n = 0;

    for (text = str_trim(text); n < 3 && text.len > 0; n++) {
        if (n > 0 && is_char_of_set(text.p[0], "-/."))
            text = str_skip(text, 1);
        for (int i = 0; i < widths[n]; i++, text = str_skip(text, 1)) {
            if (text.len == 0 || !ascii_is_digit(text.p[0]))
                return 0;
            parts[n] = parts[n] * 10 + (text.p[0] - '0');
        }
    }
    /* A time may follow. */
    return text.len > 0 && !is_char_of_set(text.p[0], "T 0123456789") ? 0 : n;
}

int64_t arxiv_day(struct str text, bool is_end)
{
    static const int64_t first[] = {1000, 1, 1}, last[] = {9999, 12, 31};
    int64_t parts[3] = {0, 0, 0};
    int n = read_query_parts(text, parts);

    for (int i = 0; i < 3; i++) {
        if (i >= n)
            parts[i] = is_end ? last[i] : first[i];
        if (n == 0 || parts[i] < first[i] || parts[i] > last[i])
            return 0;
    }
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

/* ---- reading ---- */

struct query_parser {
    struct arena *arena;
    struct str rest;
    struct err *e;
    unsigned depth, n_nodes;
};

static struct arxiv_query *fail_arxiv_query(struct query_parser *p, int code, const char *why)
{
    (void)err_set(p->e, code, "%s", why);
    return NULL;
}

static struct arxiv_query *new_arxiv_node(struct query_parser *p, struct arxiv_query value)
{
    struct arxiv_query *q = arena_new(p->arena, struct arxiv_query);

    if (++p->n_nodes > NODES_MAX)
        return fail_arxiv_query(p, -E2BIG, "the query has too many parts");
    if (!q)
        return fail_arxiv_query(p, -ENOMEM, "out of memory");
    *q = value;
    return q;
}

static void skip_query_space(struct query_parser *p)
{
    while (p->rest.len > 0 && is_char_of_set(p->rest.p[0], " \t\r\n"))
        p->rest = str_skip(p->rest, 1);
}

static bool ends_word(char c)
{
    return is_char_of_set(c, " \t\r\n()\"[]");
}

/* The word in front, without taking it. */
static struct str peek_query_word(const struct query_parser *p)
{
    size_t n = 0;

    while (n < p->rest.len && !ends_word(p->rest.p[n]))
        n++;
    return str_slice(p->rest, 0, n);
}

/* The operator in front, which is taken; IS_TERM: there is none. */
static enum kind take_query_operator(struct query_parser *p)
{
    static const struct {
        const char *word;
        enum kind kind;
    } operators[] = {{"AND", IS_AND}, {"OR", IS_OR}, {"ANDNOT", IS_ANDNOT}, {"NOT", IS_ANDNOT}};

    skip_query_space(p);
    struct str word = peek_query_word(p);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (!str_is(word, operators[i].word))
            continue;
        p->rest = str_skip(p->rest, word.len);
        return operators[i].kind;
    }
    return IS_TERM;
}

/* "ti:" and its kin, when one is in front. */
static enum field take_query_field(struct query_parser *p, enum field outer)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct str name = str_of(fields[i].name);
        if (!str_starts(p->rest, name) || p->rest.len <= name.len || p->rest.p[name.len] != ':')
            continue;
        p->rest = str_skip(p->rest, name.len + 1);
        return fields[i].field;
    }
    return outer;
}

static struct arxiv_query *parse_any(struct query_parser *p, enum field field);

/* Up to the character END, which is behind the one in front; without END, all that is left. */
static struct arxiv_query *parse_until(struct query_parser *p, enum field field, char end)
{
    p->rest = str_skip(p->rest, 1);
    ptrdiff_t n = str_chr(p->rest, end);
    struct str text = str_slice(p->rest, 0, n < 0 ? p->rest.len : (size_t)n);
    p->rest = str_skip(p->rest, text.len + 1);
    return new_arxiv_node(p, (struct arxiv_query){.kind = IS_TERM, .field = field, .text = text});
}

static struct arxiv_query *parse_unit(struct query_parser *p, enum field outer)
{
    skip_query_space(p);
    enum field field = take_query_field(p, outer);
    skip_query_space(p);
    if (p->rest.len == 0)
        return fail_arxiv_query(p, -EINVAL, "the query ends too early");
    switch (p->rest.p[0]) {
    case '"': return parse_until(p, field, '"');
    case '[': return parse_until(p, field, ']');
    case '(': break;
    case ')':
    case ']': return fail_arxiv_query(p, -EINVAL, "the query has an unexpected bracket");
    default: {
        struct str word = peek_query_word(p);
        p->rest = str_skip(p->rest, word.len);
        return new_arxiv_node(p,
                              (struct arxiv_query){.kind = IS_TERM, .field = field, .text = word});
    }
    }
    if (++p->depth > DEPTH_MAX)
        return fail_arxiv_query(p, -E2BIG, "the query is nested too deeply");
    p->rest = str_skip(p->rest, 1);
    struct arxiv_query *q = parse_any(p, field);
    p->depth--;
    skip_query_space(p);
    if (q && (p->rest.len == 0 || p->rest.p[0] != ')'))
        return fail_arxiv_query(p, -EINVAL, "a parenthesis of the query is not closed");
    p->rest = str_skip(p->rest, 1);
    return q;
}

static bool is_query_over(struct query_parser *p)
{
    skip_query_space(p);
    return p->rest.len == 0 || p->rest.p[0] == ')';
}

/* Units from left to right; OR binds less than the others. */
static struct arxiv_query *parse_any(struct query_parser *p, enum field field)
{
    struct arxiv_query *sum = NULL, *q = parse_unit(p, field);

    while (q && !is_query_over(p)) {
        enum kind kind = take_query_operator(p);
        struct arxiv_query *right = parse_unit(p, field);
        if (!right)
            return NULL;
        if (kind == IS_OR) {
            sum = sum ? new_arxiv_node(p,
                                       (struct arxiv_query){.kind = IS_OR, .left = sum, .right = q})
                      : q;
            q = sum ? right : NULL;
            continue;
        }
        q = new_arxiv_node(p, (struct arxiv_query){.kind = kind == IS_TERM ? IS_NEXT_TO : kind,
                                                   .left = q,
                                                   .right = right});
    }
    return q && sum
               ? new_arxiv_node(p, (struct arxiv_query){.kind = IS_OR, .left = sum, .right = q})
               : q;
}

struct arxiv_query *arxiv_query_parse(struct arena *a, struct str text, struct err *e)
{
    struct query_parser p = {.arena = a, .rest = text, .e = e};

    if (text.len > ARXIV_QUERY_MAX)
        return fail_arxiv_query(&p, -E2BIG, "the query is too long");
    struct arxiv_query *q = parse_any(&p, IN_ALL);
    if (q && !is_query_over(&p))
        return fail_arxiv_query(&p, -EINVAL, "the query has an unexpected bracket");
    return q && p.rest.len > 0
               ? fail_arxiv_query(&p, -EINVAL, "the query has an unexpected bracket")
               : q;
}

/* ---- words ---- */

static bool in_word(char c)
{
    return ascii_is_digit(c) || ascii_is_letter(c) || (unsigned char)c > 127;
}

/* Cuts the next word off TEXT; empty: there is none. */
static struct str cut_next_word(struct str *text)
{
    size_t from = 0, to;

    while (from < text->len && !in_word(text->p[from]))
        from++;
    for (to = from; to < text->len && in_word(text->p[to]);)
        to++;
    struct str word = str_slice(*text, from, to);
    *text = str_skip(*text, to);
    return word;
}

/* Case does not count, nor does the s of a plural; "trans*" is every word that begins so. */
static bool is_same_word(struct str word, struct str wanted, bool is_prefix)
{
    if (is_prefix)
        return word.len >= wanted.len && str_ieq(str_slice(word, 0, wanted.len), wanted);
    if (word.len > 3 && (word.p[word.len - 1] | 32) == 's')
        word.len--;
    if (wanted.len > 3 && (wanted.p[wanted.len - 1] | 32) == 's')
        wanted.len--;
    return str_ieq(word, wanted);
}

static bool is_star(struct str rest)
{
    return rest.len > 0 && rest.p[0] == '*';
}

/* Whether TEXT begins with the words of PHRASE. */
static bool begins_with(struct str text, struct str phrase)
{
    for (;;) {
        struct str wanted = cut_next_word(&phrase), word;
        if (wanted.len == 0)
            return true;
        word = cut_next_word(&text);
        if (word.len == 0 || !is_same_word(word, wanted, is_star(phrase)))
            return false;
    }
}

/* How often, at most HITS_MAX times, the words of PHRASE are in TEXT one behind the other. */
static unsigned count_phrase(struct str text, struct str phrase)
{
    struct str probe = phrase;
    unsigned n = 0;

    if (cut_next_word(&probe).len == 0)
        return 0;
    while (n < HITS_MAX && text.len > 0) {
        n += begins_with(text, phrase);
        (void)cut_next_word(&text);
    }
    return n;
}

/* Whether each word of PHRASE is one of NAME's: "Vaswani_A", "hinton geoffrey", "Y. Bengio". */
static bool has_all_words(struct str name, struct str phrase)
{
    struct str wanted = cut_next_word(&phrase);

    if (wanted.len == 0)
        return false;
    for (; wanted.len > 0; wanted = cut_next_word(&phrase)) {
        struct str rest = name, word;
        bool is_there = false;
        while (!is_there && (word = cut_next_word(&rest)).len > 0)
            is_there = is_same_word(word, wanted, is_star(phrase) || wanted.len == 1);
        if (!is_there)
            return false;
    }
    return true;
}

/* ---- fitting ---- */

static unsigned score_authors(const struct arxiv_paper *p, struct str text)
{
    for (size_t i = 0; i < p->n_authors; i++) {
        if (has_all_words(p->authors[i], text))
            return 1;
    }
    return 0;
}

/* "cs.CL", "cs" and "cs.*", which are all of its parts. */
static unsigned score_categories(const struct arxiv_paper *p, struct str text)
{
    text = str_ends(text, STR(".*")) ? str_slice(text, 0, text.len - 2) : text;
    for (size_t i = 0; i < p->n_categories; i++) {
        struct str c = p->categories[i];
        if (str_ieq(c, text) ||
            (c.len > text.len && c.p[text.len] == '.' && str_ieq(str_slice(c, 0, text.len), text)))
            return text.len > 0;
    }
    return 0;
}

/* "200501010000 TO 201012312359" */
static unsigned score_date(const struct arxiv_paper *p, struct str text)
{
    int64_t day = arxiv_day(p->published, false);
    ptrdiff_t at = str_find(text, STR("TO"));

    if (at < 0)
        return 0;
    int64_t from = arxiv_day(str_trim(str_slice(text, 0, (size_t)at)), false);
    int64_t to = arxiv_day(str_trim(str_skip(text, (size_t)at + 2)), true);
    return day > 0 && (from == 0 || day >= from) && (to == 0 || day <= to);
}

static unsigned score_term(const struct arxiv_query *q, const struct arxiv_paper *p)
{
    switch (q->field) {
    case IN_TITLE: return 10 * count_phrase(p->title, q->text);
    case IN_AUTHORS: return 5 * score_authors(p, q->text);
    case IN_SUMMARY: return count_phrase(p->summary, q->text);
    case IN_CATEGORIES: return score_categories(p, q->text);
    case IN_ID: return str_eq(arxiv_base_id(p->id), arxiv_base_id(q->text));
    case IN_DATE: return score_date(p, q->text);
    case IN_NOTHING: return 0;
    case IN_ALL: break;
    }
    return 10 * count_phrase(p->title, q->text) + 5 * score_authors(p, q->text) +
           count_phrase(p->summary, q->text) + 5 * score_categories(p, q->text);
}

unsigned arxiv_query_score(const struct arxiv_query *q, const struct arxiv_paper *p, bool is_loose)
{
    if (q->kind == IS_TERM)
        return score_term(q, p);
    unsigned left = arxiv_query_score(q->left, p, is_loose);
    unsigned right = arxiv_query_score(q->right, p, is_loose);
    if (q->kind == IS_ANDNOT)
        return right > 0 ? 0 : left;
    bool is_either = q->kind == IS_OR || (q->kind == IS_NEXT_TO && is_loose);
    return is_either || (left > 0 && right > 0) ? left + right : 0;
}
