/* SPDX-License-Identifier: MIT */
/* The `q` of Google Drive's files.list: "name contains 'plan' and not trashed = true", and its
 * `orderBy`: "folder,modifiedTime desc".
 *
 * app.json /languages/drive: /fields has the column of a field; expressions with '?' for those that
 * are no column: `match` (a query of FTS5 with the columns `name` and `content`), `parents`,
 * `owners`, `writers`, `readers`. /languages/drive_order: /fields has the column of a key. */
#include <errno.h>

#include "apps/civil.h"
#include "apps/lang_impl.h"
#include "apps/scan.h"

/* What SQLite's limits on the depth of expressions and on its parser's stack leave room for. */
enum { MAX_TERMS = 100, MAX_DEPTH = 8 };

enum kind { KIND_NAME, KIND_FULL_TEXT, KIND_TEXT, KIND_TIME, KIND_BOOL, KIND_SET };

static const struct {
    const char *name;
    enum kind kind;
} fields[] = {
    {"name", KIND_NAME},        {"title", KIND_NAME},          {"fullText", KIND_FULL_TEXT},
    {"mimeType", KIND_TEXT},    {"visibility", KIND_TEXT},     {"modifiedTime", KIND_TIME},
    {"createdTime", KIND_TIME}, {"viewedByMeTime", KIND_TIME}, {"trashed", KIND_BOOL},
    {"starred", KIND_BOOL},     {"sharedWithMe", KIND_BOOL},   {"parents", KIND_SET},
    {"owners", KIND_SET},       {"writers", KIND_SET},         {"readers", KIND_SET},
};

struct parser {
    const struct json *config;
    struct lang_out out;
    struct str rest;
    int n_terms, depth;
};

struct value {
    struct str text;
    bool is_quoted;
};

/* ---- tokens ---- */

static struct str peek_word(struct parser *p)
{
    size_t n = 0;

    scan_blanks(&p->rest);
    while (n < p->rest.len && (((p->rest.p[n] | 32) >= 'a' && (p->rest.p[n] | 32) <= 'z')))
        n++;
    return str_slice(p->rest, 0, n);
}

static bool take_word(struct parser *p, const char *word)
{
    if (!str_iis(peek_word(p), word))
        return false;
    p->rest = str_skip(p->rest, strlen(word));
    return true;
}

static bool take_char(struct parser *p, char c)
{
    scan_blanks(&p->rest);
    return scan_char(&p->rest, c);
}

/* 'it\'s' */
static int take_quoted(struct parser *p, struct value *ret)
{
    struct buf b auto_buf = BUF_INIT(LANG_MAX_TEXT);
    size_t i = 1;

    for (; i < p->rest.len && p->rest.p[i] != '\''; i++) {
        if (p->rest.p[i] == '\\' && i + 1 < p->rest.len)
            i++;
        (void)buf_add_char(&b, p->rest.p[i] == '\0' ? ' ' : p->rest.p[i]);
    }
    if (i >= p->rest.len)
        return -EINVAL;
    p->rest = str_skip(p->rest, i + 1);
    *ret = (struct value){arena_str(p->out.arena, buf_str(&b)), true};
    return ret->text.p ? 0 : -EINVAL;
}

static int take_value(struct parser *p, struct value *ret)
{
    scan_blanks(&p->rest);
    if (p->rest.len > 0 && p->rest.p[0] == '\'')
        return take_quoted(p, ret);
    struct str word = peek_word(p);
    if (!str_is(word, "true") && !str_is(word, "false"))
        return -EINVAL;
    p->rest = str_skip(p->rest, word.len);
    *ret = (struct value){word, false};
    return 0;
}

/* ---- terms ---- */

static const char *setting(const struct parser *p, const char *name)
{
    const char *sql = lang_field(p->config, str_of(name));

    return sql ? sql : "0";
}

/* One phrase for FTS5. */
static void add_phrase(struct buf *b, struct str s)
{
    (void)buf_add_char(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] != '"')
            (void)buf_add_char(b, s.p[i]);
    }
    (void)buf_add_char(b, '"');
}

/* Names are searched by the beginnings of words, texts by words; "in quotes" as a phrase. */
static void emit_contains(struct parser *p, enum kind kind, struct str text)
{
    struct buf b auto_buf = BUF_INIT(4 * LANG_MAX_TEXT);
    bool is_phrase = text.len > 1 && text.p[0] == '"' && text.p[text.len - 1] == '"';

    if (kind == KIND_NAME) {
        (void)buf_add_lit(&b, "{name} : ");
        add_phrase(&b, text);
        (void)buf_add_lit(&b, " *");
    } else if (is_phrase) {
        add_phrase(&b, text);
    } else {
        while (text.p) {
            struct str word = str_cut(&text, ' ');
            if (word.len == 0)
                continue;
            (void)buf_add_str(&b, b.len > 0 ? STR(" AND ") : STR(""));
            add_phrase(&b, word);
        }
    }
    p->out.has_failed |= !buf_ok(&b);
    if (b.len == 0)
        lang_sql(&p->out, "0");
    else
        lang_template(&p->out, setting(p, "match"), buf_str(&b));
}

/* Takes one of these operators; NULL when none is there. */
static const char *take_comparison(struct parser *p, bool is_ordered)
{
    static const char *const all[] = {"<=", ">=", "!=", "=", "<", ">"};

    scan_blanks(&p->rest);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!str_starts(p->rest, str_of(all[i])) || (!is_ordered && strpbrk(all[i], "<>")))
            continue;
        p->rest = str_skip(p->rest, strlen(all[i]));
        return all[i];
    }
    return NULL;
}

static int read_comparison(struct parser *p, const char *column, enum kind kind)
{
    const char *op = take_comparison(p, kind == KIND_TIME);
    struct civil_text t;
    struct value v;

    if (!op || take_value(p, &v) < 0 || v.is_quoted != (kind != KIND_BOOL))
        return -EINVAL;
    if (kind == KIND_TIME && civil_read(v.text, &t) < 0)
        return -EINVAL;
    lang_sql(&p->out, "%s %s ", column, op);
    if (kind == KIND_BOOL)
        lang_sql(&p->out, "%d", str_is(v.text, "true"));
    else if (kind == KIND_TIME)
        lang_int(&p->out, (t.local_s - t.offset_s) * 1000);
    else
        lang_text(&p->out, v.text);
    return 0;
}

static int read_field_term(struct parser *p, const char *name, enum kind kind)
{
    struct value v;
    bool is_negated = take_word(p, "not");

    if (kind == KIND_SET)
        return -EINVAL;
    if (!take_word(p, "contains"))
        return is_negated || kind == KIND_FULL_TEXT ? -EINVAL
                                                    : read_comparison(p, setting(p, name), kind);
    if (take_value(p, &v) < 0 || !v.is_quoted || kind == KIND_TIME || kind == KIND_BOOL)
        return -EINVAL;
    lang_sql(&p->out, is_negated ? "NOT (" : "(");
    if (kind == KIND_TEXT) {
        lang_sql(&p->out, "instr(lower(%s), lower(", setting(p, name));
        lang_text(&p->out, v.text);
        lang_sql(&p->out, ")) = 1");
    } else {
        emit_contains(p, kind, v.text);
    }
    lang_sql(&p->out, ")");
    return 0;
}

/* 'x' in parents */
static int read_in_term(struct parser *p)
{
    struct value v;

    if (take_value(p, &v) < 0 || !v.is_quoted || !take_word(p, "in"))
        return -EINVAL;
    struct str word = peek_word(p);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (fields[i].kind != KIND_SET || !str_is(word, fields[i].name))
            continue;
        p->rest = str_skip(p->rest, word.len);
        lang_template(&p->out, setting(p, fields[i].name), v.text);
        return 0;
    }
    return -EINVAL;
}

static int read_or(struct parser *p);

static int read_term(struct parser *p)
{
    if (++p->n_terms > MAX_TERMS || p->depth > MAX_DEPTH)
        return -EINVAL;
    if (take_char(p, '(')) {
        p->depth++;
        lang_sql(&p->out, "(");
        int r = read_or(p);
        lang_sql(&p->out, ")");
        p->depth--;
        return r < 0 || !take_char(p, ')') ? -EINVAL : 0;
    }
    if (take_word(p, "not")) {
        p->depth++;
        lang_sql(&p->out, "NOT (");
        int r = read_term(p);
        lang_sql(&p->out, ")");
        p->depth--;
        return r;
    }
    struct str word = peek_word(p);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!str_is(word, fields[i].name))
            continue;
        p->rest = str_skip(p->rest, word.len);
        /* "sharedWithMe" alone is a term. */
        if (fields[i].kind == KIND_BOOL) {
            scan_blanks(&p->rest);
            if (p->rest.len == 0 || !strchr("=!", p->rest.p[0])) {
                lang_sql(&p->out, "%s = 1", setting(p, fields[i].name));
                return 0;
            }
        }
        return read_field_term(p, fields[i].name, fields[i].kind);
    }
    return read_in_term(p);
}

static int read_and(struct parser *p)
{
    int r;

    while ((r = read_term(p)) == 0 && take_word(p, "and"))
        lang_sql(&p->out, " AND ");
    return r;
}

static int read_or(struct parser *p)
{
    int r;

    while ((r = read_and(p)) == 0 && take_word(p, "or"))
        lang_sql(&p->out, " OR ");
    return r;
}

static int invalid(struct lang_out *o, struct err *e)
{
    lang_drop(o);
    return err_set(e, -EINVAL, "Invalid Value");
}

int lang_drive(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e)
{
    struct parser p = {.config = config, .rest = text};

    lang_begin(&p.out, a);
    scan_blanks(&p.rest);
    if (p.rest.len == 0)
        lang_sql(&p.out, "1");
    else if (read_or(&p) < 0)
        return invalid(&p.out, e);
    scan_blanks(&p.rest);
    return p.rest.len > 0 ? invalid(&p.out, e) : lang_end(&p.out, ret, e);
}

int lang_drive_order(const struct json *config, struct str text, struct arena *a,
                     struct appdb_predicate *ret, struct err *e)
{
    struct lang_out o;

    lang_begin(&o, a);
    for (int n = 0; text.p && text.len > 0; n++) {
        struct str key = str_trim(str_cut(&text, ','));
        bool is_desc = str_ends(key, STR(" desc"));
        if (is_desc)
            key = str_trim(str_slice(key, 0, key.len - 5));
        const char *column = lang_field(config, key);
        if (!column || n == 16)
            return invalid(&o, e);
        lang_sql(&o, "%s%s%s", n > 0 ? ", " : "", column, is_desc ? " DESC" : "");
    }
    if (o.sql.len == 0)
        lang_sql(&o, "1");
    return lang_end(&o, ret, e);
}
