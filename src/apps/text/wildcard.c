/* SPDX-License-Identifier: MIT */
/* Everything but `many` takes exactly one character, so when a part of the pattern behind a `many`
 * does not fit, only the last one has to be tried further on. */
#include "apps/text/wildcard.h"

#include "base/utf8.h"

enum { WORK_PER_SPEND = 4096 };

/* The character at AT and its length; a byte that is no UTF-8 stands for itself. */
static size_t read_wildcard_char(struct str s, size_t at, uint32_t *c)
{
    if ((unsigned char)s.p[at] < 0x80) {
        *c = (unsigned char)s.p[at];
        return 1;
    }
    size_t len = utf8_decode(s.p + at, s.len - at, c);
    if (len > 0)
        return len;
    *c = 0x110000U + (unsigned char)s.p[at];
    return 1;
}

static uint32_t fold_ascii_case(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* Behind '[' at *AT: whether C is in the set. *AT goes behind the ']'; false also without one. */
static bool take_set(struct str p, size_t *at, uint32_t c)
{
    size_t i = *at;
    bool is_negated = i < p.len && p.p[i] == '^', is_in = false, is_first = true;
    uint32_t low = 0, high;

    for (i += is_negated; i < p.len && (is_first || p.p[i] != ']'); is_first = false) {
        bool is_range = p.p[i] == '-' && !is_first && low > 0 && i + 1 < p.len && p.p[i + 1] != ']';
        i += is_range;
        i += read_wildcard_char(p, i, &high);
        is_in |= is_range ? c >= low && c <= high : c == high;
        low = is_range ? 0 : high;
    }
    *at = i + 1;
    return i < p.len && is_in != is_negated;
}

/* Takes the character of the text at *I by what the pattern has at *K, which is no `many`. *WORK
 * grows with the sets that are read. */
static bool take_one(const struct wildcard *w, size_t *i, size_t *k, int64_t *work)
{
    struct str p = w->pattern;
    uint32_t c, want;
    size_t at = *k;

    if (at >= p.len)
        return false;
    size_t len = read_wildcard_char(w->text, *i, &c);
    bool is_literal = w->escape.len > 0 && str_starts(str_skip(p, at), w->escape);
    if (is_literal)
        at += w->escape.len;
    if (at >= p.len)
        return false;
    if (!is_literal && w->has_sets && p.p[at] == '[') {
        size_t begin = at++;
        bool is_in = take_set(p, &at, c);
        *work += (int64_t)(at - begin);
        if (!is_in)
            return false;
    } else if (!is_literal && p.p[at] == w->one) {
        at++;
    } else {
        at += read_wildcard_char(p, at, &want);
        if (want != c && (!w->has_no_case || fold_ascii_case(want) != fold_ascii_case(c)))
            return false;
    }
    *i += len;
    *k = at;
    return true;
}

static bool is_many_token(const struct wildcard *w, size_t k)
{
    struct str rest = str_skip(w->pattern, k);

    return rest.len > 0 && rest.p[0] == w->many &&
           !(w->escape.len > 0 && str_starts(rest, w->escape));
}

int wildcard_match(const struct wildcard *w)
{
    size_t i = 0, k = 0, star = SIZE_MAX, mark = 0;
    int64_t work = 0;
    uint32_t c;

    while (i < w->text.len) {
        if (++work >= WORK_PER_SPEND) {
            if (!w->spend(w->ctx, 4 * work))
                return -1;
            work = 0;
        }
        if (is_many_token(w, k)) {
            star = ++k;
            mark = i;
            if (k == w->pattern.len)
                return 1;
        } else if (take_one(w, &i, &k, &work)) {
            continue;
        } else if (star != SIZE_MAX) {
            mark += read_wildcard_char(w->text, mark, &c);
            i = mark;
            k = star;
        } else {
            return 0;
        }
    }
    while (is_many_token(w, k))
        k++;
    return k >= w->pattern.len;
}
