/* SPDX-License-Identifier: MIT */
/* UTF-8, one code point at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX 4 /* bytes of the longest sequence */

/* Length of the well-formed sequence that starts at S (N > 0 bytes left), 0 when it is malformed:
 * no surrogates, no overlong forms, nothing above U+10FFFF. */
size_t utf8_sequence(const char *s, size_t n);
/* The same, and stores the code point. */
size_t utf8_decode(const char *s, size_t n, uint32_t *ret);
/* Writes code point C (at most U+10FFFF, no surrogate) to OUT and returns how many bytes. */
size_t utf8_encode(char out[static UTF8_MAX], uint32_t c);
