/* SPDX-License-Identifier: MIT */
/* Regular expressions: what BigQuery writes otherwise than base/regex.h is translated. Matching is
 * in linear time, and its steps are charged to the call. */
#include <errno.h>
#include <string.h>

#include "apps/products/bigquery/fn.h"
#include "base/cleanup.h"
#include "base/regex.h"

enum {
    PATTERN_MAX = 512,
    MATCHES_MAX = 10000,
    SCRATCH = 2 << 20,       /* bytes of a search */
    COMPILE_UNITS = 16 << 10 /* of work, for compiling a pattern */
};

/* ---- patterns ---- */

/* The sets of "[[:name:]]". */
static const struct {
    const char *name, *set;
} posix[] = {
    {"[:alnum:]", "0-9A-Za-z"},  {"[:alpha:]", "A-Za-z"}, {"[:blank:]", "\\t "},
    {"[:digit:]", "0-9"},        {"[:lower:]", "a-z"},    {"[:punct:]", "!-\\/:-@\\[-`{-~"},
    {"[:space:]", "\\s"},        {"[:upper:]", "A-Z"},    {"[:word:]", "\\w"},
    {"[:xdigit:]", "0-9A-Fa-f"},
};

/* A posix set at the beginning of REST: its bytes, or 0. */
static size_t put_posix(struct buf *b, struct str rest)
{
    for (size_t i = 0; i < ARRAY_LEN(posix); i++) {
        struct str name = str_of(posix[i].name);
        if (!str_starts(rest, name))
            continue;
        (void)buf_add_str(b, str_of(posix[i].set));
        return name.len;
    }
    return 0;
}

/* The flags "(?ims)" that a pattern begins with; their bytes, 0 without. */
static size_t read_flags(struct str p, unsigned *flags, bool *has_dot_all)
{
    size_t i = 2;

    if (!str_starts(p, STR("(?")))
        return 0;
    for (; i < p.len && strchr("ims", p.p[i]); i++) {
        *flags |= p.p[i] == 'i' ? REGEX_IGNORE_CASE : p.p[i] == 'm' ? REGEX_LINES : 0;
        *has_dot_all |= p.p[i] == 's';
    }
    return i > 2 && i < p.len && p.p[i] == ')' ? i + 1 : 0;
}

/* "\X" outside brackets. */
static void put_escape(struct buf *b, char c)
{
    switch (c) {
    case 'A': (void)buf_add_lit(b, "^"); return;
    case 'z': (void)buf_add_lit(b, "$"); return;
    case 'a': (void)buf_add_lit(b, "\\x07"); return;
    default: (void)buf_printf(b, "\\%c", c); return;
    }
}

/* Of a pattern under way. */
struct translation {
    struct str rest;
    struct buf *out;
    bool has_dot_all, is_in, is_first; /* within brackets; and nothing of them has come yet */
};

/* Within brackets; how many bytes it took. */
static size_t translate_in(struct translation *t)
{
    char c = t->rest.p[0];
    bool is_first = t->is_first;
    size_t n = c == '[' ? put_posix(t->out, t->rest) : 0;

    t->is_first = is_first && c == '^';
    if (n > 0)
        return n;
    if (c == '\\' && t->rest.len > 1) {
        (void)buf_printf(t->out, "\\%c", t->rest.p[1]);
        return 2;
    }
    if (c == '[' || (c == ']' && is_first)) {
        (void)buf_printf(t->out, "\\%c", c);
        return 1;
    }
    t->is_in = c != ']';
    (void)buf_add_char(t->out, c);
    return 1;
}

static size_t translate_out(struct translation *t)
{
    char c = t->rest.p[0];

    if (c == '\\' && t->rest.len > 1) {
        put_escape(t->out, t->rest.p[1]);
        return 2;
    }
    if (str_starts(t->rest, STR("(?P<"))) {
        (void)buf_add_lit(t->out, "(?<");
        return 4;
    }
    if (c == '.') {
        (void)buf_add_str(t->out, t->has_dot_all ? STR("[\\s\\S]") : STR("[^\\n]"));
        return 1;
    }
    t->is_in = t->is_first = c == '[';
    (void)buf_add_char(t->out, c);
    return 1;
}

static void translate(struct str p, bool has_dot_all, struct buf *out)
{
    struct translation t = {.rest = p, .out = out, .has_dot_all = has_dot_all};

    while (t.rest.len > 0)
        t.rest = str_skip(t.rest, t.is_in ? translate_in(&t) : translate_out(&t));
}

/* ---- searches ---- */

/* A pattern and the text that it is looked for in. */
struct regex_search {
    sqlite3_context *x;
    struct arena arena;
    struct regex_find find;
};

static void end_search_p(struct regex_search *s)
{
    arena_done(&s->arena);
}

/* False after a failure. */
static bool begin_search(struct regex_search *s, sqlite3_context *x, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(16 << 10);
    struct str p = fn_text(v[1]), rest;
    bool has_dot_all = false;

    *s = (struct regex_search){.x = x, .find.text = fn_text(v[0])};
    arena_init(&s->arena, 1 << 20);
    if (!fn_spend(x, COMPILE_UNITS))
        return false;
    rest = str_skip(p, read_flags(p, &s->find.flags, &has_dot_all));
    translate(rest, has_dot_all, &b);
    if (p.len <= PATTERN_MAX && buf_ok(&b))
        s->find.re = regex_compile(&s->arena, buf_str(&b), NULL);
    if (!s->find.re)
        bq_fn_fail(x, "Cannot parse regular expression: " STR_FMT, STR_ARG(str_slice(p, 0, 100)));
    return s->find.re != NULL;
}

/* The next match; *FROM goes behind it. False: none, or a failure. */
static bool find_next(struct regex_search *s, struct regex_match *m)
{
    struct arena scratch auto_arena;
    uint64_t given = fn_steps(s->x), steps = given;

    arena_init(&scratch, SCRATCH);
    if (s->find.from > s->find.text.len)
        return false;
    s->find.steps = &steps;
    int r = regex_find(&scratch, &s->find, m);
    s->find.steps = NULL;
    if (!fn_spent(s->x, given + 32, steps))
        return false;
    if (r == -ENOMEM)
        sqlite3_result_error_nomem(s->x);
    return r > 0;
}

/* Behind M; one character further when it was empty. */
static size_t behind(struct str s, const struct regex_match *m)
{
    size_t at = m->end;

    if (m->end > m->start)
        return at;
    for (at++; at < s.len && ((unsigned char)s.p[at] & 0xc0) == 0x80;)
        at++;
    return at;
}

/* What counts of M: its first group when the pattern has one, STR_NULL when that took no part. */
static struct str matched_part_of(const struct regex_search *s, const struct regex_match *m)
{
    if (!regex_has_group(s->find.re))
        return str_slice(s->find.text, m->start, m->end);
    if (m->group_start == SIZE_MAX)
        return STR_NULL;
    return str_slice(s->find.text, m->group_start, m->group_end);
}

/* bq_regexp(text, pattern) */
static void fn_regexp(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct regex_search s auto_(end_search) = {0};

    if (bq_fn_has_null(n, v) || !begin_search(&s, x, v))
        return;
    uint64_t given = fn_steps(x), steps = given;
    struct regex_match m;
    if (s.find.flags) {
        sqlite3_result_int(x, find_next(&s, &m));
        return;
    }
    int r = regex_search(s.find.re, s.find.text, &steps);
    if (fn_spent(x, given, steps))
        sqlite3_result_int(x, r > 0);
}

static void fn_regexp_extract(sqlite3_context *x, int n, sqlite3_value **v)
{
    struct regex_search s auto_(end_search) = {0};
    struct regex_match m;

    if (bq_fn_has_null(n, v) || !begin_search(&s, x, v) || !find_next(&s, &m))
        return;
    struct str part = matched_part_of(&s, &m);
    if (part.p)
        sqlite3_result_text(x, part.p, (int)part.len, SQLITE_TRANSIENT);
}

static void fn_regexp_all(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct regex_search s auto_(end_search) = {0};
    struct jw w = jw_to(&b);
    struct regex_match m;

    if (bq_fn_has_null(n, v) || !begin_search(&s, x, v))
        return;
    jw_array(&w);
    for (size_t i = 0; i < MATCHES_MAX && find_next(&s, &m); i++) {
        jw_str(&w, matched_part_of(&s, &m));
        s.find.from = behind(s.find.text, &m);
    }
    jw_end(&w);
    if (!fn_db(x)->limit)
        fn_give_json(x, &b);
}

/* WITH, in which "\0" is the match and "\1" its first group. */
static void put_replacement(struct buf *b, struct str with, const struct regex_search *s,
                            const struct regex_match *m)
{
    for (size_t k = 0; k < with.len; k++) {
        bool is_group = with.p[k] == '\\' && k + 1 < with.len;
        char c = is_group ? with.p[++k] : with.p[k];
        if (is_group && c == '0')
            (void)buf_add_str(b, str_slice(s->find.text, m->start, m->end));
        else if (is_group && c == '1')
            (void)buf_add_str(b, matched_part_of(s, m));
        else
            (void)buf_add_char(b, c);
    }
}

/* bq_regexp_replace(text, pattern, with) */
static void fn_regexp_replace(sqlite3_context *x, int n, sqlite3_value **v)
{
    auto_buf struct buf b = BUF_INIT(APPDB_RESULT_MAX);
    struct regex_search s auto_(end_search) = {0};
    struct regex_match m;
    size_t at = 0;

    if (bq_fn_has_null(n, v) || !begin_search(&s, x, v))
        return;
    struct str text = s.find.text, with = fn_text(v[2]);
    for (size_t i = 0; i < MATCHES_MAX && buf_ok(&b) && find_next(&s, &m); i++) {
        (void)buf_add_str(&b, str_slice(text, at, m.start));
        put_replacement(&b, with, &s, &m);
        at = m.end;
        s.find.from = behind(text, &m);
        if (!fn_spend(x, (int64_t)with.len))
            return;
    }
    (void)buf_add_str(&b, str_skip(text, at));
    if (!fn_db(x)->limit)
        fn_give(x, &b);
}

#define PURE SQLITE_DETERMINISTIC

const struct sql_function functions_bigquery_regex[] = {
    {"bq_regexp", 2, PURE, fn_regexp},
    {"bq_regexp_extract", 2, PURE, fn_regexp_extract},
    {"bq_regexp_all", 2, PURE | SQLITE_SUBTYPE, fn_regexp_all},
    {"bq_regexp_replace", 3, PURE, fn_regexp_replace},
    {NULL, 0, 0, NULL},
};
