/* SPDX-License-Identifier: MIT */
/* Functions with regular expressions, and those whose cells show more than their value. The
 * expressions of base/regex.h capture one group: for the n-th one the others are made not to. */
#include <errno.h>

#include "apps/formula/formula_internal.h"
#include "base/regex.h"

enum { GROUPS_MAX = 9, SCRATCH_MAX = 16 << 20, TEXT_MAX = 1 << 20 };

static bool two_texts(struct fx *x, const struct fx_args *a, struct str *text, struct str *pattern,
                      struct formula_value *ret)
{
    return fx_string(x, &a->v[0], text, ret) && fx_string(x, &a->v[1], pattern, ret);
}

/* How many groups of PATTERN capture; with OUT, the pattern in which only the one of number KEEP
 * (from 1) does. */
static unsigned count_groups(struct str pattern, unsigned keep, struct buf *out)
{
    unsigned n = 0;
    bool is_class = false;

    for (size_t i = 0; i < pattern.len; i++) {
        char c = pattern.p[i], next = i + 1 < pattern.len ? pattern.p[i + 1] : '\0';
        if (c == '\\' && next) {
            (void)buf_add_str(out, str_slice(pattern, i, i + 2));
            i++;
            continue;
        }
        is_class = c == '[' || (is_class && c != ']');
        (void)buf_add_char(out, c);
        if (c == '(' && !is_class && next != '?' && ++n != keep)
            (void)buf_add_lit(out, "?:");
    }
    return n;
}

/* PATTERN in which the group of that number captures, 0 for none; NULL when it is malformed. */
static const struct regex *compile_group(struct fx *x, struct str pattern, unsigned group)
{
    auto_buf struct buf b = BUF_INIT(TEXT_MAX);

    (void)count_groups(pattern, group, &b);
    return buf_ok(&b) ? regex_compile(x->env->arena, buf_str(&b), NULL) : NULL;
}

static int find_regex(struct fx *x, const struct regex *re, struct str text, size_t from,
                      struct regex_match *ret)
{
    struct arena scratch auto_arena;
    const struct regex_find f = {.re = re, .text = text, .from = from, .steps = &x->env->steps};

    arena_init(&scratch, SCRATCH_MAX);
    return regex_find(&scratch, &f, ret);
}

static void give_regex_error(struct formula_value *ret, int r)
{
    fx_give_error(ret, r == -EINVAL ? FORMULA_ERROR_REF : FORMULA_ERROR_VALUE);
}

static void fn_regexmatch(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct str s, pattern;

    if (!two_texts(x, a, &s, &pattern, ret))
        return;
    const struct regex *re = regex_compile(x->env->arena, pattern, NULL);
    int r = re ? regex_search(re, s, &x->env->steps) : -EINVAL;
    if (r < 0)
        give_regex_error(ret, r);
    else
        fx_give_bool(ret, r > 0);
}

/* Group NUMBER of the first match of PATTERN in S, 0 for all of it; 1, 0, or below on failure. */
static int extract_group(struct fx *x, struct str s, struct str pattern, unsigned number,
                         struct formula_value *ret)
{
    const struct regex *re = compile_group(x, pattern, number);
    struct regex_match m;
    int r = re ? find_regex(x, re, s, 0, &m) : -EINVAL;

    if (r <= 0)
        return r;
    if (number == 0)
        fx_give_text(x, ret, str_slice(s, m.start, m.end));
    else if (m.group_start == SIZE_MAX)
        fx_give_text(x, ret, STR(""));
    else
        fx_give_text(x, ret, str_slice(s, m.group_start, m.group_end));
    return r;
}

/* The first match, or what its groups are, side by side. */
static void fn_regexextract(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf unused = BUF_INIT(TEXT_MAX);
    struct str s, pattern;

    if (!two_texts(x, a, &s, &pattern, ret))
        return;
    unsigned n = count_groups(pattern, 0, &unused);
    n = n > GROUPS_MAX ? GROUPS_MAX : n;
    struct formula_array *out = n > 1 ? fx_new_array(x, 1, n, ret) : NULL;
    int r = 1;
    for (unsigned i = 0; r > 0 && i < (out ? n : 1); i++)
        r = extract_group(x, s, pattern, n > 0 ? i + 1 : 0, out ? &out->items[i] : ret);
    if (r == 0)
        fx_give_error(ret, FORMULA_ERROR_NA);
    else if (r < 0)
        give_regex_error(ret, r);
}

/* A replacement under way. */
struct replacing {
    struct fx *x;
    struct str text, with;
    const struct regex *groups[GROUPS_MAX + 1]; /* NULL: not needed */
};

/* "$1" and "\1" are groups, "$0" is all of it. */
static bool is_group_mark(struct str with, size_t i)
{
    return (with.p[i] == '$' || with.p[i] == '\\') && i + 1 < with.len && with.p[i + 1] >= '0' &&
           with.p[i + 1] <= '9';
}

static int put_replacement(const struct replacing *p, const struct regex_match *m, struct buf *out)
{
    for (size_t i = 0; i < p->with.len; i++) {
        if (!is_group_mark(p->with, i)) {
            (void)buf_add_char(out, p->with.p[i]);
            continue;
        }
        unsigned number = (unsigned)(p->with.p[++i] - '0');
        struct regex_match own = *m;
        int r = number > 0 ? find_regex(p->x, p->groups[number], p->text, m->start, &own) : 1;
        if (r < 0)
            return r;
        if (number == 0)
            (void)buf_add_str(out, str_slice(p->text, m->start, m->end));
        else if (own.group_start != SIZE_MAX)
            (void)buf_add_str(out, str_slice(p->text, own.group_start, own.group_end));
    }
    return 0;
}

static int replace_all(struct replacing *p, struct buf *out)
{
    struct regex_match m;
    size_t at = 0;
    int r;

    while (at <= p->text.len && (r = find_regex(p->x, p->groups[0], p->text, at, &m)) != 0) {
        (void)buf_add_str(out, str_slice(p->text, at, r > 0 ? m.start : at));
        if (r < 0 || (r = put_replacement(p, &m, out)) < 0)
            return r;
        at = m.end;
        /* Behind a match of nothing the next character stays, whole. */
        if (m.end == m.start) {
            do {
                if (at < p->text.len)
                    (void)buf_add_char(out, p->text.p[at]);
                at++;
            } while (at < p->text.len && ((unsigned char)p->text.p[at] & 0xc0) == 0x80);
        }
        if (!buf_ok(out))
            return -E2BIG;
    }
    (void)buf_add_str(out, str_skip(p->text, at < p->text.len ? at : p->text.len));
    return buf_ok(out) ? 0 : -E2BIG;
}

static void fn_regexreplace(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    auto_buf struct buf out = BUF_INIT(TEXT_MAX);
    struct replacing p = {.x = x};
    struct str pattern;
    int r = 0;

    if (!two_texts(x, a, &p.text, &pattern, ret) || !fx_string(x, &a->v[2], &p.with, ret))
        return;
    p.groups[0] = compile_group(x, pattern, 0);
    for (size_t i = 0; i < p.with.len; i++) {
        unsigned number = is_group_mark(p.with, i) ? (unsigned)(p.with.p[i + 1] - '0') : 0;
        if (number > 0 && !p.groups[number])
            p.groups[number] = compile_group(x, pattern, number);
        if (number > 0 && !p.groups[number])
            r = -EINVAL;
    }
    if (r == 0)
        r = p.groups[0] ? replace_all(&p, &out) : -EINVAL;
    if (r < 0)
        give_regex_error(ret, r);
    else
        fx_give_buf(x, ret, &out);
}

/* The cell shows the label and leads to the address. */
static void fn_hyperlink(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    struct str s;

    if (!fx_string(x, &a->v[0], &s, ret))
        return;
    if (a->n > 1)
        *ret = a->v[1];
    else
        fx_give_text(x, ret, s);
}

/* A drawing: the cell has no value. */
static void fn_sparkline(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)a;
    fx_give_text(x, ret, STR(""));
}

/* No spreadsheet has been allowed to read another: what Sheets shows until somebody does. */
static void fn_importrange(struct fx *x, const struct fx_args *a, struct formula_value *ret)
{
    (void)x;
    (void)a;
    fx_give_error(ret, FORMULA_ERROR_REF);
}

const struct fx_function fx_regexes[] = {
    {"REGEXMATCH", 2, 2, FX_SCALAR, 0, fn_regexmatch},
    {"REGEXEXTRACT", 2, 2, FX_SCALAR, 0, fn_regexextract},
    {"REGEXREPLACE", 3, 3, FX_SCALAR, 0, fn_regexreplace},
    {"HYPERLINK", 1, 2, FX_SCALAR, 0, fn_hyperlink},
    {"SPARKLINE", 1, 2, FX_VALUES, 0, fn_sparkline},
    {"IMPORTRANGE", 2, 2, FX_SCALAR, 0, fn_importrange},
    {NULL, 0, 0, 0, 0, NULL},
};
