/* SPDX-License-Identifier: MIT */
/* The search of chat products, as Slack has it: words, "phrases", key:value; '-' excludes. Several
 * from: or several in: mean any of them, all the rest has to be true at once. What cannot be
 * understood is no error but finds nothing, as in the product.
 *
 * The SQL is app.json's, under /languages/slack, with "{}" in the places of the value:
 *
 *     words     for a match expression of FTS5           plain      for text without any word in it
 *     mention   for a user                               time       seconds since 1970, no value
 *     from in to with                                    hasmy      for an emoji
 *     has is    objects: what is had, or what it is; has/"" is for an emoji
 *     score     for a match expression: the smaller the better (slack_score) */
#include <errno.h>
#include <stdio.h>

#include "apps/lang/lang_internal.h"
#include "apps/text/scan.h"
#include "base/ascii.h"

#define MAX_TERMS 40

enum key { WORD, PHRASE, FROM, IN, TO, WITH, HAS, HASMY, IS, BEFORE, AFTER, ON, DURING };

static const char *const keys[] = {
    [FROM] = "from",     [IN] = "in",       [TO] = "to",         [WITH] = "with",
    [HAS] = "has",       [HASMY] = "hasmy", [IS] = "is",         [ON] = "on",
    [BEFORE] = "before", [AFTER] = "after", [DURING] = "during",
};

struct slack_term {
    enum key key;
    bool is_negative;
    struct str value;
};

struct slack_query {
    struct slack_term terms[MAX_TERMS];
    size_t n;
    const struct json *config;
    struct lang_out out;
};

/* A word up to a space, or what is between quotes. */
static struct str take_slack_value(struct str *text, bool *ret_is_quoted)
{
    bool is_quoted = text->len > 0 && text->p[0] == '"';
    struct str rest = is_quoted ? str_skip(*text, 1) : *text;
    size_t n = 0;

    while (n < rest.len && (is_quoted ? rest.p[n] != '"' : !scan_is_blank(rest.p[n])))
        n++;
    *text = str_skip(rest, is_quoted && n < rest.len ? n + 1 : n);
    *ret_is_quoted = is_quoted;
    return str_slice(rest, 0, n);
}

/* The key that TEXT begins with, which is taken off with its colon; else WORD. */
static enum key take_search_key(struct str *text)
{
    for (enum key k = FROM; k <= DURING; k++) {
        struct str name = str_of(keys[k]);
        if (text->len > name.len + 1 && text->p[name.len] == ':' &&
            !scan_is_blank(text->p[name.len + 1]) && str_ieq(str_slice(*text, 0, name.len), name)) {
            *text = str_skip(*text, name.len + 1);
            return k;
        }
    }
    return WORD;
}

/* -E2BIG: more terms than a query may have. */
static int read_slack_terms(struct slack_query *q, struct str text)
{
    bool is_quoted;

    for (;;) {
        while (text.len > 0 && scan_is_blank(text.p[0]))
            text = str_skip(text, 1);
        if (text.len == 0)
            return 0;
        if (q->n == MAX_TERMS)
            return -E2BIG;
        struct slack_term *t = &q->terms[q->n];
        *t = (struct slack_term){.is_negative =
                                     text.len > 1 && text.p[0] == '-' && !scan_is_blank(text.p[1])};
        if (t->is_negative)
            text = str_skip(text, 1);
        t->key = take_search_key(&text);
        t->value = take_slack_value(&text, &is_quoted);
        if (t->key == WORD && is_quoted)
            t->key = PHRASE;
        q->n += t->value.len > 0;
    }
}

/* ---- pieces ---- */

/* The SQL called NAME of V with VALUE in it; what there is no SQL for is never true. */
static void add_slack_sql(struct slack_query *q, const struct json *v, struct str name,
                          struct str value)
{
    struct str sql = json_str(json_get_str(v, name), STR("0"));
    unsigned nth = 0; /* of the value among the parameters */

    lang_sql(&q->out, "(");
    while (sql.len > 0) {
        if (str_starts(sql, STR("{}"))) {
            if (nth)
                lang_sql(&q->out, ":_%u", nth);
            else
                lang_text(&q->out, value);
            nth = q->out.values ? q->out.values->n : 0;
            sql = str_skip(sql, 2);
        } else {
            lang_sql(&q->out, "%c", sql.p[0]);
            sql = str_skip(sql, 1);
        }
    }
    lang_sql(&q->out, ")");
}

/* "<@U123>", "<@U123|name>", "@name" and "#channel" without what marks them. */
static struct str bare_mention(struct str value)
{
    if (str_starts(value, STR("<")) && str_ends(value, STR(">"))) {
        value = str_slice(value, 1, value.len - 1);
        struct str rest = value;
        value = str_cut(&rest, '|');
    }
    return str_starts(value, STR("@")) || str_starts(value, STR("#")) ? str_skip(value, 1) : value;
}

static bool is_mention(const struct slack_term *t)
{
    return t->key == WORD && t->value.len > 1 &&
           (t->value.p[0] == '@' || str_starts(t->value, STR("<@")));
}

/* "abc*" is a beginning. */
static void add_term_match(struct buf *b, const struct slack_term *t)
{
    lang_phrase(b, t->value, t->key == WORD && str_ends(t->value, STR("*")));
}

static void add_slack_word(struct slack_query *q, const struct slack_term *t)
{
    auto_buf struct buf b = BUF_INIT(4 * LANG_MAX_TEXT);

    if (is_mention(t)) {
        add_slack_sql(q, q->config, STR("mention"), bare_mention(t->value));
    } else if (!lang_has_word(t->value)) {
        add_slack_sql(q, q->config, STR("plain"), t->value);
    } else {
        add_term_match(&b, t);
        add_slack_sql(q, q->config, STR("words"), buf_str(&b));
    }
}

/* has:link, has:reaction; has::tada: is an emoji. */
static void add_has(struct slack_query *q, const struct slack_term *t)
{
    struct str v = t->value;

    if (v.len > 2 && v.p[0] == ':' && v.p[v.len - 1] == ':')
        add_slack_sql(q, json_get(q->config, "has"), STR(""), str_slice(v, 1, v.len - 1));
    else
        add_slack_sql(q, json_get(q->config, "has"), v.len > 0 ? v : STR("?"), v);
}

static void add_hasmy(struct slack_query *q, const struct slack_term *t)
{
    struct str v = t->value;

    if (v.len > 2 && v.p[0] == ':' && v.p[v.len - 1] == ':')
        v = str_slice(v, 1, v.len - 1);
    add_slack_sql(q, q->config, STR("hasmy"), v);
}

/* ---- times ---- */

/* A day, a month or a year: its beginning as SQL, and how long it is. */
struct slack_span {
    char start[128];
    const char *length;
};

static bool read_number_span(struct str v, struct slack_span *ret)
{
    static const struct {
        const char *pattern, *rest, *length;
    } forms[] = {
        {"9999-99-99", "", "+1 day"},
        {"9999-99", "-01", "+1 month"},
        {"9999", "-01-01", "+1 year"},
    };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (v.len != strlen(forms[i].pattern) || !scan_fits(v, forms[i].pattern))
            continue;
        (void)snprintf(ret->start, sizeof ret->start, "'" STR_FMT "%s'", STR_ARG(v), forms[i].rest);
        ret->length = forms[i].length;
        return true;
    }
    return false;
}

/* "jan", "january": the last one that has begun. */
static bool read_month_span(struct str v, struct slack_span *ret)
{
    static const char *const months[] = {"january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december"};

    for (unsigned i = 0; i < ARRAY_LEN(months); i++) {
        struct str name = str_of(months[i]);
        if (v.len < 3 || v.len > name.len || !str_ieq(v, str_slice(name, 0, v.len)))
            continue;
        (void)snprintf(ret->start, sizeof ret->start,
                       "date(strftime('%%Y', now()) || '-%02u-01', "
                       "iif(strftime('%%m', now()) < '%02u', '-1 year', '+0 day'))",
                       i + 1, i + 1);
        ret->length = "+1 month";
        return true;
    }
    return false;
}

static bool read_span(struct str v, struct slack_span *ret)
{
    static const struct {
        const char *name, *start, *length;
    } words[] = {
        {"today", "date(now())", "+1 day"},
        {"yesterday", "date(now(), '-1 day')", "+1 day"},
        {"week", "date(now(), '-6 days', 'weekday 1')", "+7 days"},
        {"month", "date(now(), 'start of month')", "+1 month"},
        {"year", "date(now(), 'start of year')", "+1 year"},
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!str_ieq(v, str_of(words[i].name)))
            continue;
        (void)snprintf(ret->start, sizeof ret->start, "%s", words[i].start);
        ret->length = words[i].length;
        return true;
    }
    return read_number_span(v, ret) || read_month_span(v, ret);
}

static void add_time_term(struct slack_query *q, const struct slack_term *t)
{
    const char *time = json_str(json_get(q->config, "time"), STR("NULL")).p;
    struct slack_span s;

    if (!read_span(t->value, &s)) {
        lang_sql(&q->out, "0");
        return;
    }
    if (t->key == BEFORE)
        lang_sql(&q->out, "%s < unixepoch(%s)", time, s.start);
    else if (t->key == AFTER)
        lang_sql(&q->out, "%s >= unixepoch(%s, '%s')", time, s.start, s.length);
    else
        lang_sql(&q->out, "%s >= unixepoch(%s) AND %s < unixepoch(%s, '%s')", time, s.start, time,
                 s.start, s.length);
}

/* ---- the whole ---- */

static void add_slack_term(struct slack_query *q, const struct slack_term *t)
{
    lang_sql(&q->out, t->is_negative ? "NOT ifnull(" : "ifnull(");
    switch (t->key) {
    case WORD:
    case PHRASE: add_slack_word(q, t); break;
    case FROM:
    case IN:
    case TO:
    case WITH: add_slack_sql(q, q->config, str_of(keys[t->key]), bare_mention(t->value)); break;
    case HAS: add_has(q, t); break;
    case HASMY: add_hasmy(q, t); break;
    case IS: add_slack_sql(q, json_get(q->config, "is"), t->value, t->value); break;
    case BEFORE:
    case AFTER:
    case ON:
    case DURING: add_time_term(q, t); break;
    }
    lang_sql(&q->out, ", 0)");
}

/* Any of the terms of KEY that do not exclude. */
static void add_any_term(struct slack_query *q, enum key key)
{
    bool is_first = true;

    for (size_t i = 0; i < q->n; i++) {
        if (q->terms[i].key != key || q->terms[i].is_negative)
            continue;
        lang_sql(&q->out, is_first ? " AND (" : " OR ");
        add_slack_term(q, &q->terms[i]);
        is_first = false;
    }
    if (!is_first)
        lang_sql(&q->out, ")");
}

static int begin_slack_query(struct slack_query *q, const struct json *config, struct str text,
                             struct err *e)
{
    q->config = config;
    if (!json_is(config, JSON_OBJECT))
        return err_set(e, -EOPNOTSUPP, "app.json: /languages/slack is missing");
    return read_slack_terms(q, text) < 0 ? err_set(e, -EINVAL, "query_too_complex") : 0;
}

int lang_slack(const struct json *config, struct str text, struct arena *a,
               struct appdb_predicate *ret, struct err *e)
{
    struct slack_query q = {.n = 0};
    int r = begin_slack_query(&q, config, text, e);

    if (r < 0)
        return r;
    lang_begin(&q.out, a);
    lang_sql(&q.out, "1");
    add_any_term(&q, FROM);
    add_any_term(&q, IN);
    for (size_t i = 0; i < q.n; i++) {
        const struct slack_term *t = &q.terms[i];
        if ((t->key == FROM || t->key == IN) && !t->is_negative)
            continue;
        lang_sql(&q.out, " AND ");
        add_slack_term(&q, t);
    }
    return lang_end(&q.out, ret, e);
}

int lang_slack_score(const struct json *config, struct str text, struct arena *a,
                     struct appdb_predicate *ret, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(4 * LANG_MAX_TEXT);
    struct slack_query q = {.n = 0};
    int r = begin_slack_query(&q, config, text, e);

    if (r < 0)
        return r;
    for (size_t i = 0; i < q.n; i++) {
        const struct slack_term *t = &q.terms[i];
        if (t->key > PHRASE || t->is_negative || is_mention(t) || !lang_has_word(t->value))
            continue;
        (void)buf_add_str(&b, b.len > 0 ? STR(" OR ") : STR(""));
        add_term_match(&b, t);
    }
    lang_begin(&q.out, a);
    if (b.len > 0)
        add_slack_sql(&q, config, STR("score"), buf_str(&b));
    else
        lang_sql(&q.out, "0.0"); /* 0 would be a column in an ORDER BY */
    return lang_end(&q.out, ret, e);
}
