/* SPDX-License-Identifier: MIT */
/* Classes of ASCII characters, the same in every locale; bytes above 127 are in none of them. */
#pragma once

#include <stdbool.h>

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool ascii_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_letter(char c)
{
    return ascii_is_upper(c) || ascii_is_lower(c);
}

static inline bool ascii_is_alnum(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c);
}

/* What identifiers of most languages are made of. */
static inline bool ascii_is_word(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

/* Space and tab. */
static inline bool ascii_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The same and everything that ends a line or a page. */
static inline bool ascii_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline char ascii_lower(char c)
{
    return (char)(ascii_is_upper(c) ? c | 0x20 : c);
}

static inline char ascii_upper(char c)
{
    return (char)(ascii_is_lower(c) ? c & ~0x20 : c);
}
