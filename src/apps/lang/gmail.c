/* SPDX-License-Identifier: MIT */
/* The search of Gmail: words and "phrases", operators (from:, label:, after:, …), OR, {…}, (…),
 * '-'.
 *
 * It never says that a query is wrong: what it does not know are words to look for, and a value
 * that makes no sense finds nothing. OR joins its two neighbours; what stands side by side has to
 * hold together. Without a word about it, spam and trash are not looked through.
 *
 * app.json /languages/gmail; expressions have '?' for the value:
 *   match       a query of FTS5       columns  operator to columns of FTS5, for from:, subject:, …
 *   label       an id or a name       is_visible  not in spam or trash
 *   has         object: what has:X means        rfc822msgid  the header
 *   date, size  columns: milliseconds, bytes    me  the own address */
#include <errno.h>
#include <stdlib.h>

#include "apps/calendar/civil.h"
#include "apps/lang/lang_internal.h"
#include "apps/text/scan.h"

/* Below SQLite's limit on the depth of expressions, which a row of ANDs uses up, too; and below the
 * 100 places of its parser's stack, of which a level takes up to eight. */
enum { MAX_TERMS = 100, MAX_DEPTH = 6 };

struct gmail_parser {
    const struct json *config;
    struct lang_out out;
    struct str rest;
    int n_terms, depth, n_negations;
    bool has_place; /* the query says where to look */
    bool is_too_large;
};

struct operator
{
    const char *name;
    void (*emit)(struct gmail_parser * p, const struct operator* op, struct str value);
    const char *arg;
};

/* ---- what terms mean ---- */

static const char *gmail_expression(const struct gmail_parser *p, const char *name)
{
    return json_str(json_get(p->config, name), STR("0")).p;
}

static void emit_false(struct gmail_parser *p)
{
    lang_sql(&p->out, "0");
}

/* A phrase for FTS5, in these columns or (NULL) in any. */
static void emit_match(struct gmail_parser *p, const char *columns, struct str phrase)
{
    struct buf b auto_buf = BUF_INIT(2 * LANG_MAX_TEXT + 1024);
    bool is_prefix = phrase.len > 1 && phrase.p[phrase.len - 1] == '*';

    if (!lang_has_word(phrase)) {
        lang_sql(&p->out, "1");
        return;
    }
    if (is_prefix)
        phrase.len--;
    if (columns)
        (void)buf_printf(&b, "{%s} : ", columns);
    lang_phrase(&b, phrase, is_prefix);
    p->out.has_failed |= !buf_ok(&b);
    lang_template(&p->out, gmail_expression(p, "match"), buf_str(&b));
}

static void emit_words(struct gmail_parser *p, const struct operator* op, struct str value)
{
    (void)op;
    emit_match(p, NULL, value);
}

static void emit_gmail_text(struct gmail_parser *p, const struct operator* op, struct str value)
{
    const struct json *columns = json_get(json_get(p->config, "columns"), op->arg);

    if (str_iis(value, "me"))
        value = json_str(json_get(p->config, "me"), value);
    emit_match(p, json_str(columns, STR("")).p, value);
}

static void emit_label(struct gmail_parser *p, const struct operator* op, struct str value)
{
    (void)op;
    lang_template(&p->out, gmail_expression(p, "label"), value);
}

/* Words of is: and in: that are not the label of that name. */
static const struct {
    const char *word, *label;
    bool is_negated, is_place;
} states[] = {
    {"read", "UNREAD", true, false},   {"draft", "DRAFT", false, false},
    {"drafts", "DRAFT", false, false}, {"bin", "TRASH", false, true},
    {"trash", "TRASH", false, true},   {"spam", "SPAM", false, true},
    {"chats", "CHAT", false, false},   {"yellow-star", "STARRED", false, false},
    {"anywhere", NULL, false, true},   {"all", NULL, false, true},
};

static void emit_state(struct gmail_parser *p, const struct operator* op, struct str value)
{
    static const char *const outside[] = {"INBOX", "SENT", "DRAFT", "SPAM", "TRASH"};

    if (str_iis(value, "archive")) {
        lang_sql(&p->out, "1");
        for (size_t i = 0; i < ARRAY_LEN(outside); i++) {
            lang_sql(&p->out, " AND NOT ");
            emit_label(p, op, str_of(outside[i]));
        }
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        if (!str_iis(value, states[i].word))
            continue;
        p->has_place |= states[i].is_place && p->n_negations % 2 == 0;
        lang_sql(&p->out, "%s", states[i].is_negated ? "NOT " : "");
        if (states[i].label)
            emit_label(p, op, str_of(states[i].label));
        else
            lang_sql(&p->out, "1");
        return;
    }
    emit_label(p, op, value);
}

static void emit_category(struct gmail_parser *p, const struct operator* op, struct str value)
{
    struct str name = arena_printf(p->out.arena, "CATEGORY_" STR_FMT, STR_ARG(value));

    emit_label(p, op, str_iis(value, "primary") ? STR("CATEGORY_PERSONAL") : name);
}

static void emit_has(struct gmail_parser *p, const struct operator* op, struct str value)
{
    const struct json *has = json_get(p->config, "has");

    (void)op;
    for (size_t i = 0; has && i < has->n; i++) {
        if (str_ieq(has->members[i].key, value)) {
            lang_sql(&p->out, "%s", json_str(&has->members[i].value, STR("0")).p);
            return;
        }
    }
    emit_false(p);
}

static void emit_id(struct gmail_parser *p, const struct operator* op, struct str value)
{
    if (value.len > 1 && value.p[0] == '<' && value.p[value.len - 1] == '>')
        value = str_slice(value, 1, value.len - 1);
    lang_template(&p->out, gmail_expression(p, op->arg), value);
}

/* ---- dates and sizes ---- */

/* The three numbers of a date. */
static int read_gmail_numbers(struct str s, int ret[3])
{
    char sep = str_chr(s, '/') >= 0 ? '/' : '-';
    int64_t n;

    for (int i = 0; i < 3; i++) {
        struct str item = str_cut(&s, sep);
        if (!item.p || str_to_i64(item, &n) < 0 || n < 1 || n > CIVIL_YEAR_MAX)
            return -EINVAL;
        ret[i] = (int)n;
    }
    return s.p ? -EINVAL : 0;
}

/* Seconds of "2026/01/15", "2026-01-15", "01/15/2026" at midnight, or of a number of seconds. */
static int read_gmail_date(struct str s, int64_t *ret)
{
    int n[3];

    if (s.len > 4 && str_to_i64(s, ret) == 0)
        return *ret >= 0 && *ret < INT32_MAX * 100LL ? 0 : -EINVAL;
    if (read_gmail_numbers(s, n) < 0)
        return -EINVAL;
    struct civil c = n[0] > 31 ? (struct civil){.year = n[0], .month = n[1], .day = n[2]}
                               : (struct civil){.year = n[2], .month = n[0], .day = n[1]};
    if (c.month > 12 || c.day > 31)
        return -EINVAL;
    *ret = civil_seconds(&c);
    return 0;
}

static void emit_date(struct gmail_parser *p, const struct operator* op, struct str value)
{
    int64_t at;

    if (read_gmail_date(value, &at) < 0) {
        emit_false(p);
        return;
    }
    lang_sql(&p->out, "%s %s ", gmail_expression(p, "date"), op->arg);
    lang_int(&p->out, at * 1000);
}

/* "3d": older or newer than that. */
static void emit_age(struct gmail_parser *p, const struct operator* op, struct str value)
{
    static const struct {
        char unit;
        int times;
        const char *name;
    } units[] = {{'h', 1, "hours"},
                 {'d', 1, "days"},
                 {'w', 7, "days"},
                 {'m', 1, "months"},
                 {'y', 1, "years"}};
    int64_t n;

    if (value.len < 2 || str_to_i64(str_slice(value, 0, value.len - 1), &n) < 0 || n < 0 ||
        n > 100000) {
        emit_false(p);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if ((value.p[value.len - 1] | 32) != units[i].unit)
            continue;
        lang_sql(&p->out, "%s %s 1000 * unixepoch(now(), ", gmail_expression(p, "date"), op->arg);
        lang_text(&p->out, arena_printf(p->out.arena, "-%lld %s", (long long)n * units[i].times,
                                        units[i].name));
        lang_sql(&p->out, ")");
        return;
    }
    emit_false(p);
}

/* "10M", "500K", "1000" */
static void emit_size(struct gmail_parser *p, const struct operator* op, struct str value)
{
    int64_t n, times = 1;
    char unit = value.len > 0 ? (char)(value.p[value.len - 1] | 32) : '\0';

    if (unit == 'b' && value.len > 1) {
        value.len--;
        unit = (char)(value.p[value.len - 1] | 32);
    }
    if (unit == 'k' || unit == 'm' || unit == 'g') {
        times = unit == 'k' ? 1 << 10 : unit == 'm' ? 1 << 20 : 1 << 30;
        value.len--;
    }
    if (str_to_i64(value, &n) < 0 || n < 0 || n > 1000000000) {
        emit_false(p);
        return;
    }
    lang_sql(&p->out, "%s %s ", gmail_expression(p, "size"), op->arg);
    lang_int(&p->out, n * times);
}

static const struct operator operators[] = {
    {"from", emit_gmail_text, "from"},
    {"to", emit_gmail_text, "to"},
    {"cc", emit_gmail_text, "cc"},
    {"bcc", emit_gmail_text, "bcc"},
    {"subject", emit_gmail_text, "subject"},
    {"filename", emit_gmail_text, "filename"},
    {"deliveredto", emit_gmail_text, "to"},
    {"list", emit_gmail_text, "list"},
    {"label", emit_state, NULL},
    {"l", emit_label, NULL},
    {"in", emit_state, NULL},
    {"is", emit_state, NULL},
    {"has", emit_has, NULL},
    {"category", emit_category, NULL},
    {"after", emit_date, ">="},
    {"newer", emit_date, ">="},
    {"before", emit_date, "<"},
    {"older", emit_date, "<"},
    {"newer_than", emit_age, ">="},
    {"older_than", emit_age, "<"},
    {"size", emit_size, ">"},
    {"larger", emit_size, ">"},
    {"larger_than", emit_size, ">"},
    {"smaller", emit_size, "<"},
    {"smaller_than", emit_size, "<"},
    {"rfc822msgid", emit_id, "rfc822msgid"},
};

/* ---- reading ---- */

static const struct operator words = {"", emit_words, NULL};

static bool is_gmail_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

static void skip_gmail_blanks(struct gmail_parser *p)
{
    while (p->rest.len > 0 && is_gmail_blank(p->rest.p[0]))
        p->rest = str_skip(p->rest, 1);
}

static bool is_gmail_word_char(char c)
{
    return !is_gmail_blank(c) && !strchr("(){}\"", c);
}

/* The text up to the closing quote, or to the end. */
static struct str take_gmail_phrase(struct gmail_parser *p)
{
    struct str all = str_skip(p->rest, 1);
    struct str text = str_cut(&all, '"');

    p->rest = all.p ? all : STR("");
    return text;
}

/* Takes KEYWORD when it is the next word. */
static bool take_keyword(struct gmail_parser *p, const char *keyword)
{
    skip_gmail_blanks(p);
    return scan_keyword(&p->rest, is_gmail_word_char, keyword);
}

static void read_gmail_group(struct gmail_parser *p, const struct operator* op);

/* The operator at the front, with its ':'; what is none stays. */
static const struct operator* take_gmail_operator(struct gmail_parser *p)
{
    struct str word = scan_peek(p->rest, is_gmail_word_char);
    ptrdiff_t colon = str_chr(word, ':');

    for (size_t i = 0; colon > 0 && i < ARRAY_LEN(operators); i++) {
        if (!str_iis(str_slice(word, 0, (size_t)colon), operators[i].name))
            continue;
        p->rest = str_skip(p->rest, (size_t)colon + 1);
        skip_gmail_blanks(p);
        return &operators[i];
    }
    return NULL;
}

static bool is_gmail_over(struct gmail_parser *p)
{
    skip_gmail_blanks(p);
    return p->rest.len == 0 || p->rest.p[0] == ')' || p->rest.p[0] == '}';
}

/* One word, phrase or group, as OP means it. */
static void read_gmail_value(struct gmail_parser *p, const struct operator* op)
{
    if (is_gmail_over(p)) {
        lang_sql(&p->out, "1");
        return;
    }
    if (p->rest.p[0] == '(' || p->rest.p[0] == '{') {
        read_gmail_group(p, op);
        return;
    }
    p->is_too_large |= ++p->n_terms > MAX_TERMS;
    struct str value =
        p->rest.p[0] == '"' ? take_gmail_phrase(p) : scan_word(&p->rest, is_gmail_word_char);
    op->emit(p, op, value);
}

static void read_gmail_term(struct gmail_parser *p, const struct operator* op)
{
    bool is_negated = false;

    if (p->rest.len > 1 && (p->rest.p[0] == '-' || p->rest.p[0] == '+') &&
        !is_gmail_blank(p->rest.p[1])) {
        is_negated = p->rest.p[0] == '-';
        p->rest = str_skip(p->rest, 1);
    } else if (take_keyword(p, "NOT")) {
        is_negated = true;
        skip_gmail_blanks(p);
    }
    const struct operator* own = take_gmail_operator(p);
    p->n_negations += is_negated;
    lang_sql(&p->out, is_negated ? "NOT (" : "(");
    read_gmail_value(p, own ? own : op);
    lang_sql(&p->out, ")");
    p->n_negations -= is_negated;
}

/* Terms with OR between them. */
static void read_gmail_choice(struct gmail_parser *p, const struct operator* op)
{
    lang_sql(&p->out, "(");
    read_gmail_term(p, op);
    while (!p->is_too_large && (take_keyword(p, "OR") || take_keyword(p, "|")) &&
           !is_gmail_over(p)) {
        lang_sql(&p->out, " OR ");
        read_gmail_term(p, op);
    }
    lang_sql(&p->out, ")");
}

/* Up to a closing bracket or the end. */
static void read_gmail_terms(struct gmail_parser *p, const struct operator* op, bool is_any)
{
    bool is_first = true;

    while (!p->is_too_large && !is_gmail_over(p)) {
        if (take_keyword(p, "AND") || take_keyword(p, "OR"))
            continue;
        lang_sql(&p->out, "%s", is_first ? "" : is_any ? " OR " : " AND ");
        is_first = false;
        read_gmail_choice(p, op);
    }
    if (is_first)
        lang_sql(&p->out, "1");
}

static void read_gmail_group(struct gmail_parser *p, const struct operator* op)
{
    bool is_any = p->rest.p[0] == '{';

    p->is_too_large |= ++p->depth > MAX_DEPTH;
    p->rest = str_skip(p->rest, 1);
    lang_sql(&p->out, "(");
    read_gmail_terms(p, op, is_any);
    lang_sql(&p->out, ")");
    if (p->rest.len > 0)
        p->rest = str_skip(p->rest, 1);
    p->depth--;
}

int lang_gmail(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e)
{
    struct gmail_parser p = {.config = config, .rest = text};

    if (!json_is(json_get(config, "match"), JSON_STRING))
        return err_set(e, -EOPNOTSUPP, "app.json: /languages/gmail/match is missing");
    lang_begin(&p.out, a);
    /* Brackets that close nothing are passed over. */
    lang_sql(&p.out, "1");
    while (p.rest.len > 0 && !p.is_too_large) {
        lang_sql(&p.out, " AND (");
        read_gmail_terms(&p, &words, false);
        lang_sql(&p.out, ")");
        p.is_too_large |= ++p.n_terms > MAX_TERMS;
        p.rest = str_skip(p.rest, 1);
    }
    if (!p.has_place)
        lang_sql(&p.out, " AND %s", gmail_expression(&p, "is_visible"));
    if (!p.is_too_large)
        return lang_end(&p.out, ret, e);
    lang_drop(&p.out);
    return err_set(e, -EINVAL, "Invalid query: more than %d terms or %d levels", MAX_TERMS,
                   MAX_DEPTH);
}
