/* SPDX-License-Identifier: MIT */
/* GitHub's search: words, "phrases", qualifiers (label:bug created:>2026-01-01), each of them
 * excluded by '-' or NOT, with AND, OR and parentheses.
 *
 * CONFIG says what the qualifiers are: {"sql"}, an expression in which '?' stands for the value;
 * {"values"}, an expression per word; {"date"} or {"number"}, a column that is compared. Of those
 * with the same "group" one is enough; with "list" the value may be several, with commas. "text"
 * has the columns that "in:" can name, "in" those that are searched without it, "absent" an
 * expression that holds for searches without that qualifier. */
#include <errno.h>

#include "apps/lang/lang_internal.h"
#include "apps/text/scan.h"

enum {
    MAX_TERMS = 50,
    MAX_NESTED = 8, /* parentheses in each other */
    MAX_WORDS = 256 /* bytes of words together, without qualifiers */
};

enum kind { AND, OR, NOT, WORD, QUALIFIER };

struct github_node {
    enum kind kind;
    struct github_node *first, *next; /* of AND, OR, NOT: what they join */
    struct str name, value;
    const struct json *spec; /* of a qualifier */
    bool is_done;            /* written with others of its group */
};

struct github_parser {
    const struct json *config;
    struct arena *arena;
    struct str rest;
    struct err *err;
    const struct json *in[8]; /* columns that "in:" named */
    unsigned n_in, n_terms, depth;
    size_t n_text;
    struct json *seen; /* qualifiers that were there */
};

/* What is said of a value goes into a JSON text of the product. */
static int refuse_value(struct github_parser *p, const char *before, struct str value,
                        const char *behind)
{
    auto_buf struct buf b = BUF_INIT(4096);

    (void)json_write_str(&b, str_slice(value, 0, 100));
    struct str quoted = buf_ok(&b) ? buf_str(&b) : STR("\"\"");
    return err_set(p->err, -EINVAL, "%s" STR_FMT "%s", before,
                   STR_ARG(str_slice(quoted, 1, quoted.len - 1)), behind);
}

/* Up to the next space, or the parenthesis that closes a group. */
static struct str next_github_token(struct github_parser *p)
{
    size_t n = 0;
    unsigned inner = 0;

    while (n < p->rest.len && !scan_is_blank(p->rest.p[n])) {
        char c = p->rest.p[n];
        if (c == ')' && inner == 0 && p->depth > 0)
            break;
        inner += c == '(';
        inner -= c == ')' && inner > 0;
        size_t len = c == '"' ? scan_quoted_len(str_skip(p->rest, n), SCAN_BACKSLASH) : 1;
        n = len > 0 ? n + len : p->rest.len;
    }
    struct str token = str_slice(p->rest, 0, n);
    p->rest = str_skip(p->rest, n);
    return token;
}

/* Without quotes around it and backslashes before quotes. */
static struct str unquote_token(struct github_parser *p, struct str s)
{
    auto_buf struct buf b = BUF_INIT(LANG_MAX_TEXT);

    if (s.len < 1 || s.p[0] != '"')
        return s;
    s = str_skip(s, 1);
    for (size_t i = 0; i < s.len && s.p[i] != '"'; i++) {
        if (s.p[i] == '\\' && i + 1 < s.len)
            i++;
        (void)buf_add_char(&b, s.p[i]);
    }
    return arena_str(p->arena, buf_ok(&b) ? buf_str(&b) : STR(""));
}

static bool next_is(struct github_parser *p, const char *word)
{
    size_t len = strlen(word);

    scan_blanks(&p->rest);
    return str_starts(p->rest, str_of(word)) &&
           (p->rest.len == len || scan_is_blank(p->rest.p[len]));
}

static struct github_node *new_search_node(struct github_parser *p, enum kind kind)
{
    struct github_node *n = arena_new(p->arena, struct github_node);

    if (n)
        n->kind = kind;
    return n;
}

/* "in:title,body": which columns are searched. */
static int read_in_qualifier(struct github_parser *p, struct str value)
{
    while (value.p) {
        struct str word = str_cut(&value, ',');
        const struct json *column = json_get_str(json_get(p->config, "text"), word);
        if (column && p->n_in < ARRAY_LEN(p->in))
            p->in[p->n_in++] = column;
    }
    return 0;
}

static int read_word(struct github_parser *p, struct str token, struct github_node **ret)
{
    struct github_node *n = new_search_node(p, WORD);

    if (!n)
        return -ENOMEM;
    n->value = unquote_token(p, token);
    p->n_text += n->value.len;
    if (p->n_text > MAX_WORDS)
        return err_set(p->err, -EINVAL, "The search is longer than 256 characters.");
    *ret = n->value.len > 0 ? n : NULL;
    return 0;
}

/* A word or a qualifier; none when it says where to search or how to sort. */
static int read_qualifier(struct github_parser *p, struct github_node **ret)
{
    struct str token = next_github_token(p), value = token;
    struct str name = str_cut(&value, ':');
    const struct json *spec = NULL;

    if (++p->n_terms > MAX_TERMS)
        return err_set(p->err, -EINVAL, "The search is too long.");
    if (value.len == 0 || name.len == 0 || name.p[0] == '"')
        return read_word(p, token, ret);
    value = unquote_token(p, value);
    if (str_iis(name, "in"))
        return read_in_qualifier(p, value);
    if (str_iis(name, "sort"))
        return 0;
    const struct json *all = json_get(p->config, "qualifiers");
    for (size_t i = 0; all && i < all->n; i++) {
        if (str_ieq(all->members[i].key, name)) {
            spec = &all->members[i].value;
            name = all->members[i].key;
        }
    }
    if (!spec)
        return read_word(p, token, ret);
    struct github_node *n = new_search_node(p, QUALIFIER);
    if (!n || json_set_str(p->arena, p->seen, name, spec) < 0)
        return -ENOMEM;
    n->spec = spec;
    n->name = name;
    n->value = str_is(value, "@me") ? json_str(json_get(p->config, "me"), value) : value;
    *ret = n;
    return 0;
}

static int read_any_terms(struct github_parser *p, struct github_node **ret);

static int read_github_group(struct github_parser *p, struct github_node **ret)
{
    p->rest = str_skip(p->rest, 1);
    p->depth++;
    int r = read_any_terms(p, ret);
    if (r < 0)
        return r;
    scan_blanks(&p->rest);
    if (p->rest.len > 0)
        p->rest = str_skip(p->rest, 1);
    p->depth--;
    return 0;
}

static int read_factor(struct github_parser *p, struct github_node **ret)
{
    bool is_not = false;

    for (;;) {
        if (next_is(p, "NOT"))
            p->rest = str_skip(p->rest, 3);
        else if (p->rest.len > 1 && p->rest.p[0] == '-' && !scan_is_blank(p->rest.p[1]))
            p->rest = str_skip(p->rest, 1);
        else
            break;
        is_not = !is_not;
    }
    *ret = NULL;
    if (p->rest.len == 0)
        return 0;
    if (p->rest.p[0] == '(' && p->depth == MAX_NESTED)
        return err_set(p->err, -EINVAL, "The search has too many parentheses.");
    int r = p->rest.p[0] == '(' ? read_github_group(p, ret) : read_qualifier(p, ret);
    if (r < 0 || !is_not || !*ret)
        return r;
    struct github_node *n = new_search_node(p, NOT);
    if (!n)
        return -ENOMEM;
    n->first = *ret;
    *ret = n;
    return 0;
}

static bool at_github_end(struct github_parser *p)
{
    scan_blanks(&p->rest);
    return p->rest.len == 0 || (p->depth > 0 && p->rest.p[0] == ')');
}

static int read_all_terms(struct github_parser *p, struct github_node **ret)
{
    struct github_node *all = new_search_node(p, AND);

    if (!all)
        return -ENOMEM;
    struct github_node **tail = &all->first;
    while (!at_github_end(p) && !next_is(p, "OR")) {
        if (next_is(p, "AND")) {
            p->rest = str_skip(p->rest, 3);
            continue;
        }
        int r = read_factor(p, tail);
        if (r < 0)
            return r;
        if (*tail)
            tail = &(*tail)->next;
    }
    *ret = all;
    return 0;
}

static int read_any_terms(struct github_parser *p, struct github_node **ret)
{
    struct github_node *any = new_search_node(p, OR);

    if (!any)
        return -ENOMEM;
    struct github_node **tail = &any->first;
    for (;;) {
        int r = read_all_terms(p, tail);
        if (r < 0)
            return r;
        tail = &(*tail)->next;
        if (at_github_end(p))
            break;
        p->rest = str_skip(p->rest, 2); /* "OR" */
    }
    *ret = any;
    return 0;
}

/* ---- writing ---- */

static void write_word(const struct github_parser *p, struct lang_out *o, struct str word)
{
    const struct json *names = json_get(p->config, "in"), *text = json_get(p->config, "text");
    bool is_anywhere = json_bool(json_get(p->config, "is_substring"), false);
    size_t n = p->n_in ? p->n_in : names ? names->n : 0;

    lang_sql(o, "(0");
    for (size_t i = 0; i < n; i++) {
        const struct json *column =
            p->n_in ? p->in[i] : json_get_str(text, json_str(json_at(names, i), STR("")));
        const char *sql = json_str(column, STR("''")).p;
        if (is_anywhere)
            lang_sql(o, " OR instr(lower(%s), lower(", sql);
        else
            lang_sql(o, " OR text_has(%s, (", sql);
        lang_text(o, word);
        lang_sql(o, "))");
    }
    lang_sql(o, ")");
}

/* Dates are days or times; days are compared as such. */
static bool is_day_or_time(struct str s)
{
    return scan_fits(s, "9999-99-99") && (s.len == 10 || s.p[10] == 'T');
}

static int write_bound(struct github_parser *p, struct lang_out *o, const struct github_node *n,
                       const char *op, struct str value)
{
    const char *date = json_str(json_get(n->spec, "date"), STR_NULL).p;
    const char *number = json_str(json_get(n->spec, "number"), STR_NULL).p;
    int64_t i = 0;

    if (str_is(value, "*")) {
        lang_sql(o, "1");
    } else if (date && !is_day_or_time(value)) {
        return refuse_value(p, "\\\"", value,
                            "\\\" is not a recognized date/time format. Please provide an ISO 8601 "
                            "date/time value, such as YYYY-MM-DD.");
    } else if (date && value.len == 10) {
        lang_sql(o, "substr(%s, 1, 10) %s ", date, op);
        lang_text(o, value);
    } else if (date) {
        lang_sql(o, "julianday(%s) %s julianday(", date, op);
        lang_text(o, value);
        lang_sql(o, ")");
    } else if (str_to_i64(value, &i) < 0) {
        return refuse_value(p, "\\\"", value, "\\\" is not a number.");
    } else {
        lang_sql(o, "%s %s ", number ? number : "0", op);
        lang_int(o, i);
    }
    return 0;
}

/* 5, >5, >=5, 1..5, *..5 */
static int write_github_range(struct github_parser *p, struct lang_out *o,
                              const struct github_node *n)
{
    static const char *const ops[] = {">=", "<=", ">", "<"};
    ptrdiff_t dots = str_find(n->value, STR(".."));

    if (dots >= 0) {
        int r = write_bound(p, o, n, ">=", str_slice(n->value, 0, (size_t)dots));
        lang_sql(o, " AND ");
        return r < 0 ? r : write_bound(p, o, n, "<=", str_skip(n->value, (size_t)dots + 2));
    }
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        if (str_starts(n->value, str_of(ops[i])))
            return write_bound(p, o, n, ops[i], str_skip(n->value, strlen(ops[i])));
    }
    return write_bound(p, o, n, "=", n->value);
}

/* SQL with each '?' as the value. */
static void write_filled(struct lang_out *o, struct str sql, struct str value)
{
    bool is_first = true;

    while (sql.p) {
        struct str part = str_cut(&sql, '?');
        lang_sql(o, STR_FMT, STR_ARG(part));
        if (!sql.p)
            return;
        if (is_first)
            lang_text(o, value);
        else
            lang_sql(o, ":_%u", o->values ? o->values->n : 0);
        is_first = false;
    }
}

static int write_github_value(struct github_parser *p, struct lang_out *o,
                              const struct github_node *n, struct str value)
{
    const struct json *values = json_get(n->spec, "values");

    if (!values) {
        write_filled(o, json_str(json_get(n->spec, "sql"), STR("0")), value);
        return 0;
    }
    for (size_t i = 0; i < values->n; i++) {
        if (!str_ieq(values->members[i].key, value))
            continue;
        lang_sql(o, "%s", json_str(&values->members[i].value, STR("0")).p);
        return 0;
    }
    return refuse_value(p, "The value is not valid for the qualifier: ", value, "");
}

static int write_qualifier(struct github_parser *p, struct lang_out *o, const struct github_node *n)
{
    struct str rest = n->value;
    int r = 0;

    lang_sql(o, "(");
    if (json_get(n->spec, "date") || json_get(n->spec, "number")) {
        r = write_github_range(p, o, n);
    } else if (json_bool(json_get(n->spec, "list"), false)) {
        for (const char *join = ""; r == 0 && rest.p; join = " OR ") {
            lang_sql(o, "%s", join);
            r = write_github_value(p, o, n, str_trim(str_cut(&rest, ',')));
        }
    } else {
        r = write_github_value(p, o, n, rest);
    }
    lang_sql(o, ")");
    return r;
}

static int write_github_node(struct github_parser *p, struct lang_out *o, struct github_node *n);

static struct str github_group_of(const struct github_node *n)
{
    return n->kind == QUALIFIER ? json_str(json_get(n->spec, "group"), STR_NULL) : STR_NULL;
}

/* N and what follows it in the same group: one of them is enough. */
static int write_grouped(struct github_parser *p, struct lang_out *o, struct github_node *n)
{
    struct str group = github_group_of(n);
    const char *join = "(";
    int r = 0;

    for (; n && r == 0; n = n->next) {
        struct str own = github_group_of(n);
        if (!own.p || !str_eq(own, group))
            continue;
        lang_sql(o, "%s", join);
        r = write_qualifier(p, o, n);
        n->is_done = true;
        join = " OR ";
    }
    lang_sql(o, ")");
    return r;
}

static int write_github_joined(struct github_parser *p, struct lang_out *o, struct github_node *n)
{
    int r = 0;

    /* Without members: everything, also of an OR. */
    lang_sql(o, "(%d", n->kind == AND || !n->first);
    for (struct github_node *k = n->first; k && r == 0; k = k->next) {
        if (k->is_done)
            continue;
        lang_sql(o, " %s ", n->kind == AND ? "AND" : "OR");
        r = github_group_of(k).p && n->kind == AND ? write_grouped(p, o, k)
                                                   : write_github_node(p, o, k);
    }
    lang_sql(o, ")");
    return r;
}

static int write_github_node(struct github_parser *p, struct lang_out *o, struct github_node *n)
{
    int r = 0;

    switch (n->kind) {
    case WORD: write_word(p, o, n->value); return 0;
    case QUALIFIER: return write_qualifier(p, o, n);
    case NOT:
        lang_sql(o, "NOT ifnull(");
        r = write_github_node(p, o, n->first);
        lang_sql(o, ", 0)");
        return r;
    case AND:
    case OR: break;
    }
    return write_github_joined(p, o, n);
}

static void write_absent(const struct github_parser *p, struct lang_out *o)
{
    const struct json *absent = json_get(p->config, "absent");

    for (size_t i = 0; absent && i < absent->n; i++) {
        if (!json_get_str(p->seen, absent->members[i].key))
            lang_sql(o, " AND (%s)", json_str(&absent->members[i].value, STR("1")).p);
    }
}

int lang_github(const struct json *config, struct str text, struct arena *a,
                struct appdb_predicate *ret, struct err *e)
{
    struct github_parser p = {
        .config = config, .arena = a, .rest = text, .err = e, .seen = json_new_object(a)};
    struct lang_out o;
    struct github_node *root = NULL;
    int r = p.seen ? read_any_terms(&p, &root) : -ENOMEM;

    if (r < 0)
        return r == -ENOMEM ? err_set(e, r, "out of memory") : r;
    lang_begin(&o, a);
    r = write_github_node(&p, &o, root);
    write_absent(&p, &o);
    if (r < 0) {
        lang_drop(&o);
        return r;
    }
    return lang_end(&o, ret, e);
}

/* ---- order ---- */

/* "sort:updated-asc" by CONFIG's /sort; its /default without. */
int lang_github_order(const struct json *config, struct str text, struct arena *a,
                      struct appdb_predicate *ret, struct err *e)
{
    struct github_parser p = {.config = config, .arena = a, .rest = text, .err = e};
    const struct json *column = NULL;
    bool is_ascending = false;
    struct lang_out o;

    for (scan_blanks(&p.rest); p.rest.len > 0; scan_blanks(&p.rest)) {
        struct str value = next_github_token(&p);
        if (!str_iis(str_cut(&value, ':'), "sort"))
            continue;
        is_ascending = str_ends(value, STR("-asc"));
        if (is_ascending || str_ends(value, STR("-desc")))
            value.len -= is_ascending ? 4 : 5;
        column = json_get_str(json_get(config, "sort"), value);
    }
    lang_begin(&o, a);
    if (column)
        lang_sql(&o, "%s %s", json_str(column, STR("1")).p, is_ascending ? "ASC" : "DESC");
    else
        lang_sql(&o, "%s", json_str(json_get(config, "default"), STR("1")).p);
    return lang_end(&o, ret, e);
}
