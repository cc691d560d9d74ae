/* SPDX-License-Identifier: MIT */
/* Classes of bytes in HTTP messages. For the parser and its relatives, not for users of http.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    HTTP_CHAR_TOKEN = 1,  /* RFC 9110 tchar: names and methods */
    HTTP_CHAR_TARGET = 2, /* visible ASCII but '#': what a request target may hold */
    HTTP_CHAR_HOST = 4,   /* what a host and port may hold outside brackets, '%' included */
};

extern const uint8_t http_chars[256];

static inline bool http_is_token(char c)
{
    return http_chars[(unsigned char)c] & HTTP_CHAR_TOKEN;
}

static inline bool http_is_target(char c)
{
    return http_chars[(unsigned char)c] & HTTP_CHAR_TARGET;
}

static inline bool http_is_host(char c)
{
    return http_chars[(unsigned char)c] & HTTP_CHAR_HOST;
}

/* True for what no text of a message may hold: control bytes other than the tab. */
static inline bool http_is_ctl(char c)
{
    unsigned char u = (unsigned char)c;

    return (u < 0x20 && u != '\t') || u == 0x7f;
}
