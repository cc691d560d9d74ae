/* SPDX-License-Identifier: MIT */
/* text_match(query, text, …): searches of words as the products do them. All words of the query
 * have to occur, in whichever text; "a phrase" in this order; -word and !word must not; `a OR b`
 * is either; "boot*" begins a word; "boto~" is a word that differs in one or two letters. Case and
 * the common endings of English do not matter. */
#include <errno.h>

#include "apps/functions/functions.h"
#include "base/ascii.h"

enum {
    MAX_TERMS = 32,
    MAX_TOKENS = 16,
    FUZZY_MAX = 40 /* bytes of a word */
};

/* Words of a phrase, or one word. */
struct search_term {
    struct str tokens[MAX_TOKENS];
    size_t n;
    bool is_prefix, is_fuzzy, is_not;
    bool is_or; /* or the term before it */
};

struct terms {
    struct search_term items[MAX_TERMS];
    size_t n;
};

/* ---- words ---- */

static bool is_search_letter(char c)
{
    return ascii_is_digit(c) || ascii_is_letter(c) || (unsigned char)c >= 0x80;
}

/* The next word of S; "4.2" is one. */
static bool next_search_token(struct str *s, struct str *ret)
{
    size_t from = 0;

    while (from < s->len && !is_search_letter(s->p[from]))
        from++;
    size_t to = from;
    while (to < s->len && (is_search_letter(s->p[to]) ||
                           (s->p[to] == '.' && to > from && ascii_is_digit(s->p[to - 1]) &&
                            to + 1 < s->len && ascii_is_digit(s->p[to + 1]))))
        to++;
    *ret = str_slice(*s, from, to);
    *s = str_skip(*s, to);
    return ret->len > 0;
}

static bool has_ending(struct str w, const char *ending)
{
    size_t n = strlen(ending);

    return w.len >= n + 3 && str_ieq_bytes(w.p + w.len - n, ending, n);
}

/* W without its ending: drifts, drifted, drifting and drift are alike. */
static struct str stem(struct str w)
{
    static const char *const endings[] = {"ing", "ies", "ied", "ed", "es", "s", "e", "y"};

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        if (!has_ending(w, endings[i]) || (i == 5 && (w.p[w.len - 2] | 0x20) == 's'))
            continue;
        w.len -= strlen(endings[i]);
        /* planning, stopped */
        char last = (char)(w.p[w.len - 1] | 0x20);
        if ((i == 0 || i == 3) && w.len > 3 && last == (w.p[w.len - 2] | 0x20) &&
            str_chr(STR("aeiouls"), last) < 0)
            w.len--;
        break;
    }
    return w;
}

/* ASCII and Latin letters without regard to case. */
static bool same_text(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        unsigned char x = (unsigned char)a.p[i], y = (unsigned char)b.p[i];
        bool is_latin = i > 0 && (unsigned char)a.p[i - 1] == 0xc3;
        if (x == y)
            continue;
        if (x < 0x80 ? !str_ieq_bytes(&a.p[i], &b.p[i], 1) : !is_latin || (x | 0x20) != (y | 0x20))
            return false;
    }
    return true;
}

/* How many letters have to be put in, left out or changed to make A of B, row by row. */
static unsigned distance(struct str a, struct str b)
{
    unsigned row[FUZZY_MAX + 1];

    for (size_t k = 0; k <= b.len; k++)
        row[k] = (unsigned)k;
    for (size_t i = 0; i < a.len; i++) {
        unsigned corner = row[0]++;
        for (size_t k = 0; k < b.len; k++) {
            unsigned change = corner + !str_ieq_bytes(&a.p[i], &b.p[k], 1);
            unsigned other = (row[k] < row[k + 1] ? row[k] : row[k + 1]) + 1;
            corner = row[k + 1];
            row[k + 1] = change < other ? change : other;
        }
    }
    return row[b.len];
}

/* Short words have to be exact: every one of them is near another. */
static bool is_near(struct str word, struct str wanted)
{
    unsigned most = wanted.len < 4 ? 0 : wanted.len < 8 ? 1 : 2;

    return most > 0 && word.len <= FUZZY_MAX && wanted.len <= FUZZY_MAX &&
           distance(word, wanted) <= most;
}

static bool same_word(struct str word, struct str wanted, bool is_prefix, bool is_fuzzy)
{
    if (is_prefix)
        return word.len >= wanted.len && same_text(str_slice(word, 0, wanted.len), wanted);
    return same_text(word, wanted) || same_text(stem(word), stem(wanted)) ||
           (is_fuzzy && is_near(word, wanted));
}

/* ---- queries ---- */

static void add_search_term(struct terms *t, struct str text, bool is_not, bool is_or)
{
    struct search_term *new = &t->items[t->n];
    struct str token;

    if (t->n == MAX_TERMS)
        return;
    *new = (struct search_term){.is_not = is_not, .is_or = is_or && t->n > 0};
    new->is_prefix = text.len > 1 && text.p[text.len - 1] == '*';
    new->is_fuzzy = text.len > 1 && text.p[text.len - 1] == '~';
    while (new->n < MAX_TOKENS && next_search_token(&text, &token))
        new->tokens[new->n++] = token;
    t->n += new->n > 0;
}

/* Cuts the next word or phrase off S. */
static struct str next_piece(struct str *s)
{
    bool is_quoted = s->p[0] == '"';
    size_t n = is_quoted;

    while (n < s->len && (is_quoted ? s->p[n] != '"' : s->p[n] != ' ' && s->p[n] != '"'))
        n++;
    struct str piece = str_slice(*s, is_quoted, n);
    *s = str_skip(*s, is_quoted && n < s->len ? n + 1 : n);
    return piece;
}

static void read_search_terms(struct str query, struct terms *ret)
{
    bool is_or = false, is_not = false;

    ret->n = 0;
    for (query = str_trim(query); query.len > 0; query = str_trim(query)) {
        if (query.p[0] == '-' || query.p[0] == '!' || query.p[0] == '+') {
            is_not = query.p[0] != '+';
            query = str_skip(query, 1);
            continue;
        }
        struct str piece = next_piece(&query);
        if (str_is(piece, "OR") || str_is(piece, "AND") || str_is(piece, "NOT")) {
            is_or = piece.p[0] == 'O';
            is_not = piece.p[0] == 'N';
            continue;
        }
        add_search_term(ret, piece, is_not, is_or);
        is_or = is_not = false;
    }
}

/* ---- matching ---- */

/* The words of T one behind the other, the first of them where TEXT begins. */
static bool begins_with_term(struct str text, const struct search_term *t)
{
    struct str token;

    for (size_t i = 0; i < t->n; i++) {
        bool is_last = i + 1 == t->n;
        if (!next_search_token(&text, &token) ||
            !same_word(token, t->tokens[i], is_last && t->is_prefix, t->is_fuzzy))
            return false;
    }
    return true;
}

static bool occurs(struct str text, const struct search_term *t)
{
    struct str token, at = text;

    for (; next_search_token(&text, &token); at = text) {
        if (begins_with_term(at, t))
            return true;
    }
    return false;
}

static bool is_term_met(const struct search_term *t, int n, sqlite3_value **texts)
{
    for (int i = 0; i < n; i++) {
        if (occurs(fn_text(texts[i]), t))
            return !t->is_not;
    }
    return t->is_not;
}

static void fn_text_match(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct terms t;
    bool is_all = true;

    if (n < 1) {
        sqlite3_result_error(x, "text_match: the query is missing", -1);
        return;
    }
    read_search_terms(fn_text(v[0]), &t);
    /* Terms that OR joins stand in a row; one of them is enough. */
    for (size_t i = 0; is_all && i < t.n;) {
        bool is_one = false;
        size_t end = i + 1;
        while (end < t.n && t.items[end].is_or)
            end++;
        for (; i < end; i++)
            is_one = is_one || is_term_met(&t.items[i], n - 1, v + 1);
        is_all = is_one;
    }
    sqlite3_result_int(x, is_all);
}

const struct sql_function functions_search[] = {
    {"text_match", -1, SQLITE_DETERMINISTIC, fn_text_match},
    {NULL, 0, 0, NULL},
};
