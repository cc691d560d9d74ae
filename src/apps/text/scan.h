/* SPDX-License-Identifier: MIT */
/* The kit of readers: blanks, words, text in quotes, and where in a text something is. S is what is
 * left of a text; what is taken is cut off its beginning. Languages that read more than this have a
 * lexer of their own (lang/aql_lex.c, lang/soql_lex.c), made of the same pieces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct arena;

/* Takes C when the text begins with it. */
static inline bool scan_char(struct str *s, char c)
{
    if (s->len == 0 || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

/* Spaces, tabs and ends of lines. */
static inline bool scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Takes those. */
static inline void scan_blanks(struct str *s)
{
    while (s->len > 0 && scan_is_blank(s->p[0]))
        *s = str_skip(*s, 1);
}

/* ---- words: what a word is made of differs between languages, so each says it ---- */

typedef bool scan_class(char c);

/* The word at the beginning of S, which may be empty. */
struct str scan_peek(struct str s, scan_class *is_in);
/* Takes it. */
struct str scan_word(struct str *s, scan_class *is_in);
/* Takes the word when it is WORD; scan_ikeyword(): without regard to case. */
bool scan_keyword(struct str *s, scan_class *is_in, const char *word);
bool scan_ikeyword(struct str *s, scan_class *is_in, const char *word);

/* ---- text in quotes: S begins with the quote, whichever it is ---- */

/* How a quote is written between quotes. */
enum scan_escape {
    SCAN_BACKSLASH,       /* \' and \x, which is x */
    SCAN_BACKSLASH_QUOTE, /* \' and \\; any other backslash is one */
    SCAN_DOUBLED          /* '' */
};

/* Bytes up to the closing quote, both quotes counted; 0 when it is missing. */
size_t scan_quoted_len(struct str s, enum scan_escape how);
/* Takes the text between the quotes, which is in A then; a NUL becomes a space, because SQLite ends
 * texts there. -EINVAL: it is not closed; -ENOMEM. */
int scan_quoted(struct str *s, enum scan_escape how, struct arena *a, struct str *ret);

/* ---- figures and places ---- */

/* S begins like PATTERN, in which '9' is any digit and everything else itself. */
bool scan_fits(struct str s, const char *pattern);
/* The whole of S is a number as JSON has them. */
bool scan_number(struct str s, double *ret);

struct scan_position {
    size_t line, column; /* from 1 on; a column is a byte */
};

/* Where byte AT of TEXT is. */
struct scan_position scan_position(struct str text, size_t at);
