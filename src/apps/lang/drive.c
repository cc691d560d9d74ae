/* SPDX-License-Identifier: MIT */
/* The `q` of Google Drive's files.list: "name contains 'plan' and not trashed = true", and its
 * `orderBy`: "folder,modifiedTime desc".
 *
 * app.json /languages/drive: /fields has the column of a field; expressions with '?' for those that
 * are no column: `match` (a query of FTS5 with the columns `name` and `content`), `parents`,
 * `owners`, `writers`, `readers`. /languages/drive_order: /fields has the column of a key. */
#include <errno.h>

#include "apps/calendar/civil.h"
#include "apps/lang/lang_internal.h"
#include "apps/text/scan.h"
#include "base/ascii.h"

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

struct drive_parser {
    const struct json *config;
    struct lang_out out;
    struct str rest;
    int n_terms, depth;
};

struct drive_value {
    struct str text;
    bool is_quoted;
};

/* ---- tokens ---- */

static struct str peek_drive_word(struct drive_parser *p)
{
    scan_blanks(&p->rest);
    return scan_peek(p->rest, ascii_is_letter);
}

static bool take_drive_word(struct drive_parser *p, const char *word)
{
    scan_blanks(&p->rest);
    return scan_ikeyword(&p->rest, ascii_is_letter, word);
}

static bool take_drive_char(struct drive_parser *p, char c)
{
    scan_blanks(&p->rest);
    return scan_char(&p->rest, c);
}

static int take_drive_value(struct drive_parser *p, struct drive_value *ret)
{
    scan_blanks(&p->rest);
    ret->is_quoted = p->rest.len > 0 && p->rest.p[0] == '\'';
    if (ret->is_quoted)
        return scan_quoted(&p->rest, SCAN_BACKSLASH, p->out.arena, &ret->text);
    struct str word = peek_drive_word(p);
    if (!str_is(word, "true") && !str_is(word, "false"))
        return -EINVAL;
    p->rest = str_skip(p->rest, word.len);
    *ret = (struct drive_value){word, false};
    return 0;
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
static void emit_contains(struct drive_parser *p, enum kind kind, struct str text)
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
        lang_template(&p->out, lang_expression(p->config, "match"), buf_str(&b));
}

/* Takes one of these operators; NULL when none is there. */
static const char *take_drive_comparison(struct drive_parser *p, bool is_ordered)
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

static int read_drive_comparison(struct drive_parser *p, const char *column, enum kind kind)
{
    const char *op = take_drive_comparison(p, kind == KIND_TIME);
    struct civil_text t;
    struct drive_value v;

    if (!op || take_drive_value(p, &v) < 0 || v.is_quoted != (kind != KIND_BOOL))
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

static int read_field_term(struct drive_parser *p, const char *name, enum kind kind)
{
    struct drive_value v;
    bool is_negated = take_drive_word(p, "not");

    if (kind == KIND_SET)
        return -EINVAL;
    if (!take_drive_word(p, "contains"))
        return is_negated || kind == KIND_FULL_TEXT
                   ? -EINVAL
                   : read_drive_comparison(p, lang_expression(p->config, name), kind);
    if (take_drive_value(p, &v) < 0 || !v.is_quoted || kind == KIND_TIME || kind == KIND_BOOL)
        return -EINVAL;
    lang_sql(&p->out, is_negated ? "NOT (" : "(");
    if (kind == KIND_TEXT) {
        lang_sql(&p->out, "instr(lower(%s), lower(", lang_expression(p->config, name));
        lang_text(&p->out, v.text);
        lang_sql(&p->out, ")) = 1");
    } else {
        emit_contains(p, kind, v.text);
    }
    lang_sql(&p->out, ")");
    return 0;
}

/* 'x' in parents */
static int read_in_term(struct drive_parser *p)
{
    struct drive_value v;

    if (take_drive_value(p, &v) < 0 || !v.is_quoted || !take_drive_word(p, "in"))
        return -EINVAL;
    struct str word = peek_drive_word(p);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (fields[i].kind != KIND_SET || !str_is(word, fields[i].name))
            continue;
        p->rest = str_skip(p->rest, word.len);
        lang_template(&p->out, lang_expression(p->config, fields[i].name), v.text);
        return 0;
    }
    return -EINVAL;
}

static int read_drive_or(struct drive_parser *p);

static int read_drive_term(struct drive_parser *p)
{
    if (++p->n_terms > MAX_TERMS || p->depth > MAX_DEPTH)
        return -EINVAL;
    if (take_drive_char(p, '(')) {
        p->depth++;
        lang_sql(&p->out, "(");
        int r = read_drive_or(p);
        lang_sql(&p->out, ")");
        p->depth--;
        return r < 0 || !take_drive_char(p, ')') ? -EINVAL : 0;
    }
    if (take_drive_word(p, "not")) {
        p->depth++;
        lang_sql(&p->out, "NOT (");
        int r = read_drive_term(p);
        lang_sql(&p->out, ")");
        p->depth--;
        return r;
    }
    struct str word = peek_drive_word(p);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (!str_is(word, fields[i].name))
            continue;
        p->rest = str_skip(p->rest, word.len);
        /* "sharedWithMe" alone is a term. */
        if (fields[i].kind == KIND_BOOL) {
            scan_blanks(&p->rest);
            if (p->rest.len == 0 || !strchr("=!", p->rest.p[0])) {
                lang_sql(&p->out, "%s = 1", lang_expression(p->config, fields[i].name));
                return 0;
            }
        }
        return read_field_term(p, fields[i].name, fields[i].kind);
    }
    return read_in_term(p);
}

static int read_drive_and(struct drive_parser *p)
{
    int r;

    while ((r = read_drive_term(p)) == 0 && take_drive_word(p, "and"))
        lang_sql(&p->out, " AND ");
    return r;
}

static int read_drive_or(struct drive_parser *p)
{
    int r;

    while ((r = read_drive_and(p)) == 0 && take_drive_word(p, "or"))
        lang_sql(&p->out, " OR ");
    return r;
}

static int invalid_drive_query(struct lang_out *o, struct err *e)
{
    lang_drop(o);
    return err_set(e, -EINVAL, "Invalid Value");
}

int lang_drive(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e)
{
    struct drive_parser p = {.config = config, .rest = text};

    lang_begin(&p.out, a);
    scan_blanks(&p.rest);
    if (p.rest.len == 0)
        lang_sql(&p.out, "1");
    else if (read_drive_or(&p) < 0)
        return invalid_drive_query(&p.out, e);
    scan_blanks(&p.rest);
    return p.rest.len > 0 ? invalid_drive_query(&p.out, e) : lang_end(&p.out, ret, e);
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
            return invalid_drive_query(&o, e);
        lang_sql(&o, "%s%s%s", n > 0 ? ", " : "", column, is_desc ? " DESC" : "");
    }
    if (o.sql.len == 0)
        lang_sql(&o, "1");
    return lang_end(&o, ret, e);
}
