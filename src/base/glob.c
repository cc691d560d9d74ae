/* SPDX-License-Identifier: MIT */
#include "base/glob.h"

#include <limits.h>

enum { PATTERN_MAX = 4096 };

/* One part against one part: "*" is tried longer and longer, and only the last one needs to be. */
static size_t class_len(struct str p)
{
    size_t i = 1;

    if (i < p.len && (p.p[i] == '!' || p.p[i] == '^'))
        i++;
    if (i < p.len && p.p[i] == ']')
        i++;
    while (i < p.len && p.p[i] != ']')
        i++;
    return i < p.len ? i + 1 : 0;
}

static bool class_has(struct str set, char c)
{
    size_t i = 1, end = set.len - 1;
    bool is_not = set.p[i] == '!' || set.p[i] == '^', is_in = false;

    for (i += is_not; i < end; i++) {
        char from = set.p[i], to = from;
        if (i + 2 < end && set.p[i + 1] == '-') {
            to = set.p[i + 2];
            i += 2;
        }
        is_in = is_in ||
                ((unsigned char)c >= (unsigned char)from && (unsigned char)c <= (unsigned char)to);
    }
    return is_in != is_not;
}

/* How many bytes of P the next item has; whether it takes C in *IS_HIT. */
static size_t next_item(struct str p, char c, bool *is_hit)
{
    size_t n = p.p[0] == '[' ? class_len(p) : 0;

    if (n > 0) {
        *is_hit = class_has(str_slice(p, 0, n), c);
        return n;
    }
    if (p.p[0] == '\\' && p.len > 1) {
        *is_hit = p.p[1] == c;
        return 2;
    }
    *is_hit = p.p[0] == '?' || p.p[0] == c;
    return 1;
}

static bool part_matches(struct str pattern, struct str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, star_n = 0;

    while (n < name.len || p < pattern.len) {
        bool is_hit = false;
        size_t len = 0;
        if (p < pattern.len && pattern.p[p] == '*') {
            star = p++;
            star_n = n;
            continue;
        }
        if (p < pattern.len && n < name.len)
            len = next_item(str_skip(pattern, p), name.p[n], &is_hit);
        if (is_hit) {
            p += len;
            n++;
            continue;
        }
        if (star == SIZE_MAX || star_n == name.len)
            return false;
        p = star + 1;
        n = ++star_n;
    }
    return true;
}

/* The same one level up: parts of the path in the place of characters, "**" in that of "*". */
static bool path_matches(struct str pattern, struct str path)
{
    struct str after_stars = STR_NULL, retry = STR_NULL;

    for (;;) {
        if (!pattern.p && !path.p)
            return true;
        struct str p = pattern, rest = path;
        struct str want = pattern.p ? str_cut(&p, '/') : STR_NULL;
        if (want.p && str_is(want, "**")) {
            /* At the end it stands for what is in a directory, not for the directory itself. */
            if (!p.p)
                return path.p != NULL;
            after_stars = pattern = p;
            retry = path;
            continue;
        }
        if (want.p && path.p && part_matches(want, str_cut(&rest, '/'))) {
            pattern = p;
            path = rest;
            continue;
        }
        if (!after_stars.p || !retry.p)
            return false;
        (void)str_cut(&retry, '/');
        pattern = after_stars;
        path = retry;
        if (!path.p)
            return false;
    }
}

/* ---- braces ---- */

/* Where the brace that opens at FROM closes; 0 when it does not, or has no comma. */
static size_t brace_end(struct str p, size_t from)
{
    unsigned depth = 0;
    bool has_comma = false;

    for (size_t i = from; i < p.len; i++) {
        if (p.p[i] == '\\')
            i++;
        else if (p.p[i] == '{')
            depth++;
        else if (p.p[i] == ',' && depth == 1)
            has_comma = true;
        else if (p.p[i] == '}' && --depth == 0)
            return has_comma ? i : 0;
    }
    return 0;
}

/* The end of the alternative that begins at FROM, in braces that close at END. */
static size_t alternative_end(struct str p, size_t from, size_t end)
{
    unsigned depth = 0;

    for (size_t i = from; i < end; i++) {
        if (p.p[i] == '{')
            depth++;
        else if (p.p[i] == '}')
            depth--;
        else if (p.p[i] == ',' && depth == 0)
            return i;
    }
    return end;
}

static bool match(struct str pattern, struct str path, unsigned *n_left);

/* Tries the alternatives of the braces from OPEN to CLOSE. */
static bool match_braces(struct str p, size_t open, size_t close, struct str path, unsigned *n_left)
{
    char text[PATTERN_MAX];

    for (size_t from = open + 1; from <= close;) {
        size_t to = alternative_end(p, from, close), len = open;
        struct str after = str_skip(p, close + 1);
        memcpy(text, p.p, open);
        memcpy(text + len, p.p + from, to - from);
        len += to - from;
        if (after.len > 0)
            memcpy(text + len, after.p, after.len);
        len += after.len;
        if (match(str_n(text, len), path, n_left))
            return true;
        from = to + 1;
    }
    return false;
}

static bool match(struct str pattern, struct str path, unsigned *n_left)
{
    if (*n_left == 0)
        return false;
    --*n_left;
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.p[i] == '\\') {
            i++;
            continue;
        }
        size_t end = pattern.p[i] == '{' ? brace_end(pattern, i) : 0;
        if (end > 0)
            return match_braces(pattern, i, end, path, n_left);
    }
    return path_matches(pattern, path);
}

bool glob_match(struct str pattern, struct str path)
{
    unsigned n_left = GLOB_MAX_ALTERNATIVES;

    if (pattern.len == 0 || pattern.len > PATTERN_MAX)
        return pattern.len == 0 && path.len == 0;
    if (pattern.p[0] == '!')
        return !glob_match(str_skip(pattern, 1), path);
    return match(pattern, path, &n_left);
}
