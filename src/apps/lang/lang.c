/* SPDX-License-Identifier: MIT */
#include "apps/lang/lang.h"
#include "base/ascii.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "apps/lang/aql.h"
#include "apps/lang/lang_internal.h"

/* In the order of the names. */
static const struct lang languages[] = {
    {"airtable_formula", lang_airtable_formula, false},
    {"airtable_sort", lang_airtable_sort, true},
    {"cql", aql_where, false},
    {"cql_order", aql_order, true},
    {"drive", lang_drive, false},
    {"drive_order", lang_drive_order, true},
    {"github_code", lang_github, false},
    {"github_issues", lang_github, false},
    {"github_issues_order", lang_github_order, true},
    {"github_repos", lang_github, false},
    {"github_repos_order", lang_github_order, true},
    {"github_users", lang_github, false},
    {"gmail", lang_gmail, false},
    {"jql", aql_where, false},
    {"jql_check", aql_check, false},
    {"jql_order", aql_order, true},
    {"linear_initiatives", lang_linear, false},
    {"linear_issues", lang_linear, false},
    {"linear_projects", lang_linear, false},
    {"logging", lang_logging, false},
    {"notion_filter", lang_notion_filter, false},
    {"notion_sort", lang_notion_sort, true},
    {"odata", lang_odata, false},
    {"odata_order", lang_odata_order, true},
    {"slack", lang_slack, false},
    {"slack_score", lang_slack_score, false},
    {"soql", lang_soql, false},
    {"words", lang_words, false},
};

const struct lang *lang_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(languages); i++) {
        if (str_is(name, languages[i].name))
            return &languages[i];
    }
    return NULL;
}

/* NOLINTNEXTLINE(readability-function-size): a row of a table */
int lang_compile(void *ctx, struct str language, struct str text, struct arena *a,
                 struct appdb_predicate *ret, struct err *e)
{
    const struct lang *l = lang_find(language);

    if (!l)
        return err_set(e, -EOPNOTSUPP, "no query language '" STR_FMT "'", STR_ARG(language));
    if (text.len > LANG_MAX_TEXT)
        return err_set(e, -EINVAL, "the query is longer than %d bytes", LANG_MAX_TEXT);
    const struct json *config = json_get_str(ctx, language);
    if (json_is(config, JSON_STRING))
        config = json_get_str(ctx, config->s);
    int r = l->compile(config, text, a, ret, e);
    ret->is_order = l->is_order;
    return r;
}

/* ---- building ---- */

void lang_begin(struct lang_out *o, struct arena *a)
{
    *o = (struct lang_out){.arena = a, .sql = BUF_INIT(1 << 20), .values = json_new_array(a)};
    o->has_failed = !o->values;
}

void lang_sql(struct lang_out *o, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)buf_vprintf(&o->sql, fmt, ap);
    va_end(ap);
}

static void add_parameter(struct lang_out *o, struct json value)
{
    if (o->has_failed || o->values->n == LANG_MAX_VALUES ||
        json_push(o->arena, o->values, &value) < 0) {
        o->has_failed = true;
        return;
    }
    lang_sql(o, ":_%u", o->values->n);
}

void lang_text(struct lang_out *o, struct str value)
{
    struct str own = arena_str(o->arena, value);

    o->has_failed |= !own.p;
    add_parameter(o, (struct json){.type = JSON_STRING, .s = own});
}

void lang_phrase(struct buf *b, struct str text, bool is_prefix)
{
    (void)buf_add_char(b, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '"')
            (void)buf_add_char(b, '"');
        /* FTS5 would read no further than a NUL. */
        (void)buf_add_char(b, text.p[i] ? text.p[i] : ' ');
    }
    (void)buf_add_str(b, is_prefix ? STR("\" *") : STR("\""));
}

bool lang_has_word(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (ascii_is_alnum(text.p[i]) || (unsigned char)text.p[i] >= 0x80)
            return true;
    }
    return false;
}

void lang_template(struct lang_out *o, const char *template, struct str value)
{
    unsigned own = 0;

    for (const char *at; (at = strchr(template, '?')); template = at + 1) {
        lang_sql(o, "%.*s", (int)(at - template), template);
        if (own > 0) {
            lang_sql(o, ":_%u", own);
            continue;
        }
        lang_text(o, value);
        own = o->values ? o->values->n : 0;
    }
    lang_sql(o, "%s", template);
}

void lang_int(struct lang_out *o, int64_t value)
{
    add_parameter(o, (struct json){.type = JSON_INT, .i = value});
}

void lang_real(struct lang_out *o, double value)
{
    add_parameter(o, (struct json){.type = JSON_REAL, .d = value});
}

void lang_drop(struct lang_out *o)
{
    buf_done(&o->sql);
}

int lang_end(struct lang_out *o, struct appdb_predicate *ret, struct err *e)
{
    struct str sql = buf_ok(&o->sql) ? arena_str(o->arena, buf_str(&o->sql)) : STR_NULL;

    buf_done(&o->sql);
    if (o->has_failed || !sql.p)
        return err_set(e, -EINVAL, "the query is too large");
    *ret = (struct appdb_predicate){.sql = sql, .values = o->values};
    return 0;
}

const char *lang_field(const struct json *config, struct str name)
{
    const struct json *fields = json_get(config, "fields");

    for (size_t i = 0; fields && i < fields->n; i++) {
        if (str_ieq(fields->members[i].key, name))
            return json_str(&fields->members[i].value, STR_NULL).p;
    }
    return NULL;
}

const char *lang_expression(const struct json *config, const char *name)
{
    const char *sql = lang_field(config, str_of(name));

    return sql ? sql : "0";
}
