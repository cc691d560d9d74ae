/* SPDX-License-Identifier: MIT */
/* The `$filter` of Microsoft Graph: "isRead eq false and contains(subject, 'plan')", and its
 * `$orderby`: "receivedDateTime desc,subject".
 *
 * app.json /languages/odata: `type`, the name of what is filtered; the SQL of its properties by
 * their kind: `texts`, `bools`, `numbers`, `times` (seconds) and `clocks` (seconds that a query
 * gives in quotes); `sets`: for toRecipients/any(r: …) an expression `any` with '?' for what holds
 * of one of them, and the properties of one; "it" is the element itself. */
#include <errno.h>

#include "apps/calendar/civil.h"
#include "apps/lang/lang_internal.h"
#include "apps/text/scan.h"
#include "base/ascii.h"

/* What SQLite's limits on the depth of expressions and on its parser's stack leave room for. */
enum { MAX_TERMS = 100, MAX_DEPTH = 8 };

enum kind { KIND_TEXT, KIND_BOOL, KIND_NUMBER, KIND_TIME, KIND_CLOCK, KIND_COUNT };

static const struct {
    const char *member, *type;
} kinds[] = {
    [KIND_TEXT] = {"texts", "Edm.String"},           [KIND_BOOL] = {"bools", "Edm.Boolean"},
    [KIND_NUMBER] = {"numbers", "Edm.Int32"},        [KIND_TIME] = {"times", "Edm.DateTimeOffset"},
    [KIND_CLOCK] = {"clocks", "Edm.DateTimeOffset"},
};

static const struct op {
    const char *name, *sql, *title;
} ops[] = {
    {"eq", "=", "Equal"},       {"ne", "<>", "NotEqual"},
    {"gt", ">", "GreaterThan"}, {"ge", ">=", "GreaterThanOrEqual"},
    {"lt", "<", "LessThan"},    {"le", "<=", "LessThanOrEqual"},
};

struct odata_parser {
    const struct json *config;
    struct str variable; /* of the lambda that is read, or empty */
    struct lang_out out;
    struct str text, rest;
    struct err *err;
    int n_terms, depth;
};

struct odata_field {
    enum kind kind;
    const char *sql;
};

enum literal_type { LITERAL_TEXT, LITERAL_BOOL, LITERAL_NUMBER, LITERAL_TIME, LITERAL_NULL };

struct literal {
    enum literal_type type;
    struct str text;
    int64_t number;
};

/* ---- tokens ---- */

static int odata_syntax_error(struct odata_parser *p)
{
    if (!p->err->code)
        (void)err_set(p->err, -EINVAL, "Syntax error at position %zu in '" STR_FMT "'.",
                      p->text.len - p->rest.len, STR_ARG(p->text));
    return -EINVAL;
}

static struct str peek_odata_word(struct odata_parser *p)
{
    scan_blanks(&p->rest);
    return scan_peek(p->rest, ascii_is_word);
}

static bool take_odata_word(struct odata_parser *p, const char *word)
{
    scan_blanks(&p->rest);
    return scan_ikeyword(&p->rest, ascii_is_word, word);
}

static bool take_odata_char(struct odata_parser *p, char c)
{
    scan_blanks(&p->rest);
    return scan_char(&p->rest, c);
}

/* A name and a bracket: the bracket is taken, too. */
static bool take_call(struct odata_parser *p, const char *name)
{
    struct str before = p->rest;

    if (take_odata_word(p, name) && take_odata_char(p, '('))
        return true;
    p->rest = before;
    return false;
}

/* from/emailAddress/address */
static struct str take_odata_path(struct odata_parser *p)
{
    size_t n = 0;

    scan_blanks(&p->rest);
    while (n < p->rest.len && (ascii_is_word(p->rest.p[n]) || (n > 0 && p->rest.p[n] == '/')))
        n++;
    struct str path = str_slice(p->rest, 0, n);
    p->rest = str_skip(p->rest, n);
    return path;
}

/* 'it''s' */
static int take_text_literal(struct odata_parser *p, struct literal *ret)
{
    *ret = (struct literal){.type = LITERAL_TEXT};
    return scan_quoted(&p->rest, SCAN_DOUBLED, p->out.arena, &ret->text) < 0 ? odata_syntax_error(p)
                                                                             : 0;
}

static int take_literal(struct odata_parser *p, struct literal *ret)
{
    struct civil_text t;
    size_t n = 0;

    scan_blanks(&p->rest);
    if (p->rest.len > 0 && p->rest.p[0] == '\'')
        return take_text_literal(p, ret);
    while (n < p->rest.len && (ascii_is_word(p->rest.p[n]) || strchr("-+:.", p->rest.p[n])))
        n++;
    struct str word = str_slice(p->rest, 0, n);
    *ret = (struct literal){.text = word};
    if (str_iis(word, "true") || str_iis(word, "false")) {
        ret->type = LITERAL_BOOL;
        ret->number = str_iis(word, "true");
    } else if (str_is(word, "null")) {
        ret->type = LITERAL_NULL;
    } else if (str_to_i64(word, &ret->number) == 0) {
        ret->type = LITERAL_NUMBER;
    } else if (n > 0 && civil_read(word, &t) == 0) {
        ret->type = LITERAL_TIME;
        ret->number = t.local_s - t.offset_s;
    } else {
        return odata_syntax_error(p);
    }
    p->rest = str_skip(p->rest, n);
    return 0;
}

/* ---- properties ---- */

static int find_odata_field(struct odata_parser *p, struct str path, struct odata_field *ret)
{
    struct str name = path;

    if (p->variable.len > 0) {
        struct str rest = path;
        if (!str_eq(str_cut(&rest, '/'), p->variable))
            return odata_syntax_error(p);
        name = rest.p && rest.len > 0 ? rest : STR("it");
    }
    for (int k = 0; k < KIND_COUNT; k++) {
        const struct json *fields = json_get(p->config, kinds[k].member);
        for (size_t i = 0; fields && i < fields->n; i++) {
            if (!str_ieq(fields->members[i].key, name))
                continue;
            *ret =
                (struct odata_field){(enum kind)k, json_str(&fields->members[i].value, STR_NULL).p};
            return 0;
        }
    }
    struct str type = json_str(json_get(p->config, "type"), STR("Item"));
    return err_set(p->err, -EINVAL,
                   "Could not find a property named '" STR_FMT "' on type '" STR_FMT "'.",
                   STR_ARG(name), STR_ARG(type));
}

/* A property, or tolower() of it. Texts are compared without regard to case anyway. */
static int take_odata_field(struct odata_parser *p, struct odata_field *ret)
{
    bool is_call = take_call(p, "tolower") || take_call(p, "toupper");
    struct str path = take_odata_path(p);

    if (path.len == 0)
        return odata_syntax_error(p);
    int r = find_odata_field(p, path, ret);
    return r == 0 && is_call && !take_odata_char(p, ')') ? odata_syntax_error(p) : r;
}

/* ---- terms ---- */

static int incompatible(struct odata_parser *p, const struct odata_field *f,
                        const struct literal *l, const char *title)
{
    static const char *const types[] = {
        [LITERAL_TEXT] = "Edm.String",  [LITERAL_BOOL] = "Edm.Boolean",
        [LITERAL_NUMBER] = "Edm.Int32", [LITERAL_TIME] = "Edm.DateTimeOffset",
        [LITERAL_NULL] = "Edm.String",
    };

    return err_set(p->err, -EINVAL,
                   "A binary operator with incompatible types was detected. Found operand types "
                   "'%s' and '%s' for operator kind '%s'.",
                   kinds[f->kind].type, types[l->type], title);
}

/* The literal as a value of the field's kind. */
static int emit_odata_value(struct odata_parser *p, const struct odata_field *f, struct literal *l,
                            const char *title)
{
    struct civil_text t;

    if (f->kind == KIND_CLOCK && l->type == LITERAL_TEXT && civil_read(l->text, &t) == 0) {
        l->type = LITERAL_TIME;
        l->number = t.local_s - t.offset_s;
    }
    bool fits = f->kind == KIND_TEXT     ? l->type == LITERAL_TEXT
                : f->kind == KIND_BOOL   ? l->type == LITERAL_BOOL
                : f->kind == KIND_NUMBER ? l->type == LITERAL_NUMBER
                                         : l->type == LITERAL_TIME;
    if (!fits)
        return incompatible(p, f, l, title);
    if (f->kind == KIND_TEXT) {
        lang_text(&p->out, l->text);
        lang_sql(&p->out, " COLLATE NOCASE");
    } else {
        lang_int(&p->out, l->number);
    }
    return 0;
}

/* field in ('a', 'b') */
static int read_in_list(struct odata_parser *p, const struct odata_field *f)
{
    struct literal l;

    if (!take_odata_char(p, '('))
        return odata_syntax_error(p);
    lang_sql(&p->out, "(");
    for (int n = 0; n == 0 || take_odata_char(p, ','); n++) {
        if (n == MAX_TERMS || take_literal(p, &l) < 0)
            return odata_syntax_error(p);
        lang_sql(&p->out, "%s%s = ", n > 0 ? " OR " : "", f->sql);
        if (emit_odata_value(p, f, &l, "Equal") < 0)
            return -EINVAL;
    }
    lang_sql(&p->out, ")");
    return take_odata_char(p, ')') ? 0 : odata_syntax_error(p);
}

static int read_odata_comparison(struct odata_parser *p)
{
    const struct op *op = NULL;
    struct literal l;
    struct odata_field f;

    if (take_odata_field(p, &f) < 0)
        return -EINVAL;
    if (take_odata_word(p, "in"))
        return read_in_list(p, &f);
    for (size_t i = 0; !op && i < ARRAY_LEN(ops); i++) {
        if (take_odata_word(p, ops[i].name))
            op = &ops[i];
    }
    if (!op && f.kind == KIND_BOOL) {
        lang_sql(&p->out, "%s = 1", f.sql);
        return 0;
    }
    if (!op || take_literal(p, &l) < 0)
        return odata_syntax_error(p);
    if (l.type == LITERAL_NULL &&
        (str_is(str_of(op->name), "eq") || str_is(str_of(op->name), "ne"))) {
        lang_sql(&p->out, "%s %s NULL", f.sql, op->name[0] == 'e' ? "IS" : "IS NOT");
        return 0;
    }
    lang_sql(&p->out, "%s %s ", f.sql, op->sql);
    return emit_odata_value(p, &f, &l, op->title);
}

/* contains(subject, 'x') and its like, behind the bracket: SQL with the property between BEFORE
 * and AFTER, and '?' for the text. */
static int read_match(struct odata_parser *p, const char *before, const char *after)
{
    struct literal l;
    struct odata_field f;

    if (take_odata_field(p, &f) < 0)
        return -EINVAL;
    if (!take_odata_char(p, ',') || take_literal(p, &l) < 0 || !take_odata_char(p, ')'))
        return odata_syntax_error(p);
    if (f.kind != KIND_TEXT || l.type != LITERAL_TEXT)
        return incompatible(p, &f, &l, "Equal");
    struct str sql = arena_printf(p->out.arena, "%s%s%s", before, f.sql, after);
    p->out.has_failed |= !sql.p;
    if (sql.p)
        lang_template(&p->out, sql.p, l.text);
    return 0;
}

static int read_odata_or(struct odata_parser *p);

/* toRecipients/any(r: …), behind the bracket. */
static int read_any_of_set(struct odata_parser *p, struct str set)
{
    const struct json *sets = json_get(p->config, "sets");
    const struct json *one = NULL, *outer = p->config;

    for (size_t i = 0; sets && i < sets->n; i++) {
        if (str_ieq(sets->members[i].key, set))
            one = &sets->members[i].value;
    }
    const char *any = json_str(json_get(one, "any"), STR_NULL).p;
    const char *hole = any ? strchr(any, '?') : NULL;
    if (!hole)
        return odata_syntax_error(p);
    lang_sql(&p->out, "%.*s", (int)(hole - any), any);
    if (take_odata_char(p, ')')) {
        lang_sql(&p->out, "1%s", hole + 1);
        return 0;
    }
    p->variable = peek_odata_word(p);
    p->rest = str_skip(p->rest, p->variable.len);
    p->config = one;
    int r =
        p->variable.len == 0 || !take_odata_char(p, ':') ? odata_syntax_error(p) : read_odata_or(p);
    p->config = outer;
    p->variable = STR("");
    lang_sql(&p->out, "%s", hole + 1);
    return r == 0 && !take_odata_char(p, ')') ? odata_syntax_error(p) : r;
}

/* Takes "toRecipients/any("; empty when something else is there. */
static struct str take_any(struct odata_parser *p)
{
    struct str before = p->rest, path = take_odata_path(p);

    if (str_ends(path, STR("/any")) && p->variable.len == 0 && take_odata_char(p, '('))
        return str_slice(path, 0, path.len - 4);
    p->rest = before;
    return STR("");
}

/* Behind the bracket. */
static int read_bracket(struct odata_parser *p, const char *before)
{
    p->depth++;
    lang_sql(&p->out, "%s", before);
    int r = read_odata_or(p);
    lang_sql(&p->out, ")");
    p->depth--;
    return r == 0 && !take_odata_char(p, ')') ? odata_syntax_error(p) : r;
}

static int read_odata_term(struct odata_parser *p)
{
    if (++p->n_terms > MAX_TERMS || p->depth > MAX_DEPTH)
        return err_set(p->err, -EINVAL,
                       "The restriction or sort order is too complex for this operation.");
    if (take_odata_char(p, '('))
        return read_bracket(p, "(");
    if (take_call(p, "not"))
        return read_bracket(p, "NOT (");
    if (take_odata_word(p, "not")) {
        p->depth++;
        lang_sql(&p->out, "NOT (");
        int r = read_odata_term(p);
        lang_sql(&p->out, ")");
        p->depth--;
        return r;
    }
    struct str set = take_any(p);
    if (set.len > 0)
        return read_any_of_set(p, set);
    int r;
    if (take_call(p, "contains"))
        r = read_match(p, "instr(lower(", "), lower(?)) > 0");
    else if (take_call(p, "startswith"))
        r = read_match(p, "instr(lower(", "), lower(?)) = 1");
    else if (take_call(p, "endswith"))
        r = read_match(p, "substr(lower(", "), -length(?)) = lower(?)");
    else
        return read_odata_comparison(p);
    /* "contains(…) eq true" */
    if (r == 0 && take_odata_word(p, "eq") && !take_odata_word(p, "true"))
        return odata_syntax_error(p);
    return r;
}

static int read_odata_and(struct odata_parser *p)
{
    int r;

    while ((r = read_odata_term(p)) == 0 && take_odata_word(p, "and"))
        lang_sql(&p->out, " AND ");
    return r;
}

static int read_odata_or(struct odata_parser *p)
{
    int r;

    while ((r = read_odata_and(p)) == 0 && take_odata_word(p, "or"))
        lang_sql(&p->out, " OR ");
    return r;
}

int lang_odata(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e)
{
    struct odata_parser p = {
        .config = config, .variable = STR(""), .text = text, .rest = text, .err = e};

    lang_begin(&p.out, a);
    scan_blanks(&p.rest);
    if (p.rest.len == 0) {
        lang_sql(&p.out, "1");
        return lang_end(&p.out, ret, e);
    }
    int r = read_odata_or(&p);
    scan_blanks(&p.rest);
    if (r == 0 && p.rest.len > 0)
        r = odata_syntax_error(&p);
    if (r == 0)
        return lang_end(&p.out, ret, e);
    lang_drop(&p.out);
    return r;
}

int lang_odata_order(const struct json *config, struct str text, struct arena *a,
                     struct appdb_predicate *ret, struct err *e)
{
    struct odata_parser p = {
        .config = config, .variable = STR(""), .text = text, .rest = text, .err = e};
    struct odata_field f;
    int r = 0;

    lang_begin(&p.out, a);
    scan_blanks(&p.rest);
    for (int n = 0; r == 0 && (n == 0 ? p.rest.len > 0 : take_odata_char(&p, ',')); n++) {
        r = n == 16 ? odata_syntax_error(&p) : take_odata_field(&p, &f);
        if (r < 0)
            break;
        lang_sql(&p.out, "%s%s%s", n > 0 ? ", " : "", f.sql,
                 f.kind == KIND_TEXT ? " COLLATE NOCASE" : "");
        if (take_odata_word(&p, "desc"))
            lang_sql(&p.out, " DESC");
        else
            (void)take_odata_word(&p, "asc");
    }
    scan_blanks(&p.rest);
    if (r == 0 && p.rest.len > 0)
        r = odata_syntax_error(&p);
    if (r < 0) {
        lang_drop(&p.out);
        return r;
    }
    if (p.out.sql.len == 0)
        lang_sql(&p.out, "NULL"); /* a number would be a column */
    return lang_end(&p.out, ret, e);
}
