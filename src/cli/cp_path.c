/* SPDX-License-Identifier: MIT */
/* The names of both sides of a copy: see cp.h. */
#include "cli/cp.h"

static bool is_cp_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

struct cp_path cp_parse(const char *text)
{
    size_t n = 0;

    while (is_cp_name_char(text[n]))
        n++;
    if (n == 0 || text[n] != ':')
        return (struct cp_path){STR_NULL, text};
    const char *path = text + n + 1;
    return (struct cp_path){str_n(text, n), *path ? path : "."};
}

struct str cp_base(const char *path)
{
    struct str s = str_of(path);

    while (s.len > 1 && s.p[s.len - 1] == '/')
        s.len--;
    for (size_t i = s.len; i > 1; i--)
        if (s.p[i - 2] == '/')
            return str_skip(s, i - 1);
    return s;
}
