/* SPDX-License-Identifier: MIT */
/* Airtable's formulas (filterByFormula) and sorts. What is compiled is a JSON object, since the
 * names of fields and their types belong to a table and not to the app:
 *
 *     {"query": "{Status} = 'Done'", "sort": [{"field", "direction"}],
 *      "fields": [{"id", "name", "type", "choices"}]}
 *
 * A formula is read into a tree of nodes with types; then each node is written as what the one
 * around it wants, so that a blank number is 0 in a sum and "" in a text. */
#include "apps/lang/airtable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/lang/lang_internal.h"
#include "apps/text/scan.h"
#include "base/ascii.h"

/* SQLite allows 200 levels of an expression. */
#define HEIGHT_MAX 90
#define VALUES_MAX 90 /* parameters of a statement, besides the script's own */

#define INVALID "Invalid formula. Please check your formula text."

enum node_kind { NODE_TEXT, NODE_NUMBER, NODE_FIELD, NODE_CALL, NODE_BINARY, NODE_IF, NODE_SWITCH };

struct airtable_node {
    enum node_kind kind;
    enum formula_type type;
    unsigned height;
    struct str text; /* a constant; of NODE_BINARY the operator */
    double number;
    const struct json *field;
    const struct formula_function *fn;
    struct airtable_node *first, *last, *next; /* arguments; the next one beside this */
    size_t n;
};

struct airtable_formula {
    const struct json *config, *fields;
    struct arena *arena;
    struct err *err;
    struct str rest;
    unsigned depth;
    struct lang_out out;
};

/* ---- reading ---- */

static struct airtable_node *parse_expression(struct airtable_formula *f, int level);

static struct airtable_node *invalid_formula(struct airtable_formula *f)
{
    if (!f->err->code)
        (void)err_set(f->err, -EINVAL, INVALID);
    return NULL;
}

static struct airtable_node *new_formula_node(struct airtable_formula *f, enum node_kind kind,
                                              enum formula_type type)
{
    struct airtable_node *n = arena_new(f->arena, struct airtable_node);

    if (!n)
        return invalid_formula(f);
    n->kind = kind;
    n->type = type;
    n->height = 1;
    return n;
}

static void add_child(struct airtable_node *n, struct airtable_node *child)
{
    if (n->last)
        n->last->next = child;
    else
        n->first = child;
    n->last = child;
    n->n++;
    if (child->height + 1 > n->height)
        n->height = child->height + 1;
}

static char peek_formula_char(struct airtable_formula *f)
{
    scan_blanks(&f->rest);
    return f->rest.len > 0 ? f->rest.p[0] : '\0';
}

static bool take_formula_char(struct airtable_formula *f, char c)
{
    scan_blanks(&f->rest);
    return scan_char(&f->rest, c);
}

/* What is before END; a backslash takes the character behind it as it is. */
static int take_until(struct airtable_formula *f, char end, struct str *ret)
{
    auto_buf struct buf b = BUF_INIT(LANG_MAX_TEXT);
    size_t i = 0;

    for (; i < f->rest.len && f->rest.p[i] != end; i++) {
        char c = f->rest.p[i];
        if (c == '\\' && i + 1 < f->rest.len) {
            c = f->rest.p[++i];
            c = end == '}' ? c : c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        (void)buf_add_char(&b, c);
    }
    if (i == f->rest.len || !buf_ok(&b))
        return -EINVAL;
    f->rest = str_skip(f->rest, i + 1);
    *ret = arena_str(f->arena, buf_str(&b));
    return ret->p ? 0 : -EINVAL;
}

static const struct {
    const char *type;
    enum formula_type is;
} field_types[] = {
    {"number", FORMULA_NUMBER},     {"currency", FORMULA_NUMBER},
    {"percent", FORMULA_NUMBER},    {"duration", FORMULA_NUMBER},
    {"rating", FORMULA_NUMBER},     {"count", FORMULA_NUMBER},
    {"autoNumber", FORMULA_NUMBER}, {"checkbox", FORMULA_BOOL},
    {"date", FORMULA_DATE},         {"dateTime", FORMULA_DATE},
    {"createdTime", FORMULA_DATE},  {"lastModifiedTime", FORMULA_DATE},
    {"formula", FORMULA_ANY},       {"rollup", FORMULA_ANY},
};

static enum formula_type type_of_field(struct str type)
{
    for (size_t i = 0; i < ARRAY_LEN(field_types); i++) {
        if (str_is(type, field_types[i].type))
            return field_types[i].is;
    }
    return FORMULA_TEXT;
}

static const struct json *find_formula_field(const struct json *fields, struct str name)
{
    for (size_t i = 0; fields && i < fields->n; i++) {
        const struct json *field = json_at(fields, i);
        if (str_eq(json_str(json_get(field, "name"), STR("")), name) ||
            str_eq(json_str(json_get(field, "id"), STR("")), name))
            return field;
    }
    return NULL;
}

static struct airtable_node *field_node(struct airtable_formula *f, struct str name)
{
    const struct json *field = find_formula_field(f->fields, name);

    if (!field) {
        /* The text goes into JSON. */
        if (str_chr(name, '"') >= 0 || str_chr(name, '\\') >= 0)
            name = STR("?");
        (void)err_set(f->err, -EINVAL, "Unknown field names: " STR_FMT, STR_ARG(name));
        return NULL;
    }
    struct airtable_node *n =
        new_formula_node(f, NODE_FIELD, type_of_field(json_str(json_get(field, "type"), STR(""))));
    if (n)
        n->field = field;
    return n;
}

static struct airtable_node *number_node(struct airtable_formula *f)
{
    struct airtable_node *n = new_formula_node(f, NODE_NUMBER, FORMULA_NUMBER);
    char text[64];
    size_t len = 0;

    while (len < f->rest.len && len < sizeof text - 1 &&
           ((f->rest.p[len] >= '0' && f->rest.p[len] <= '9') || f->rest.p[len] == '.')) {
        text[len] = f->rest.p[len];
        len++;
    }
    text[len] = '\0';
    f->rest = str_skip(f->rest, len);
    char *end;
    double d = strtod(text, &end);
    if (*end != '\0' || end == text)
        return invalid_formula(f);
    if (n)
        n->number = d;
    return n;
}

/* The type of a choice between A and B. */
static enum formula_type airtable_common_type(const struct airtable_node *a,
                                              const struct airtable_node *b)
{
    return a->type == b->type ? a->type : FORMULA_ANY;
}

/* RECORD_ID() and the like are columns. */
static struct airtable_node *column_node(struct airtable_formula *f, struct str name, size_t n)
{
    static const struct {
        const char *name, *column;
        enum formula_type type;
    } columns[] = {{"RECORD_ID", "id", FORMULA_TEXT},
                   {"CREATED_TIME", "created", FORMULA_DATE},
                   {"LAST_MODIFIED_TIME", "modified", FORMULA_DATE}};

    for (size_t i = 0; n == 0 && i < ARRAY_LEN(columns); i++) {
        if (!str_iis(name, columns[i].name))
            continue;
        struct airtable_node *node = new_formula_node(f, NODE_FIELD, columns[i].type);
        if (node)
            node->text = str_of(lang_field(f->config, str_of(columns[i].column)));
        return node && node->text.p ? node : invalid_formula(f);
    }
    return NULL;
}

static struct airtable_node *finish_call(struct airtable_formula *f, struct str name,
                                         struct airtable_node *call)
{
    bool is_known;

    if (str_iis(name, "IF") && (call->n == 2 || call->n == 3)) {
        call->kind = NODE_IF;
        struct airtable_node *yes = call->first->next;
        call->type = yes->next ? airtable_common_type(yes, yes->next) : yes->type;
        return call;
    }
    if (str_iis(name, "SWITCH") && call->n >= 3) {
        call->kind = NODE_SWITCH;
        call->type = FORMULA_ANY;
        return call;
    }
    call->fn = formula_function(name, call->n, &is_known);
    if (call->fn) {
        call->type = call->fn->type;
        /* SQL nests a + b + c to the left. */
        call->height += call->fn->join ? (unsigned)call->n : 0;
        return call;
    }
    if (!is_known)
        (void)err_set(f->err, -EINVAL, "Unknown function names: " STR_FMT, STR_ARG(name));
    return invalid_formula(f);
}

static struct airtable_node *call_node(struct airtable_formula *f, struct str name)
{
    struct airtable_node *call = new_formula_node(f, NODE_CALL, FORMULA_ANY);

    if (!call)
        return NULL;
    while (!take_formula_char(f, ')')) {
        if (call->n > 0 && !take_formula_char(f, ','))
            return invalid_formula(f);
        struct airtable_node *arg = parse_expression(f, 0);
        if (!arg)
            return NULL;
        add_child(call, arg);
    }
    struct airtable_node *column = column_node(f, name, call->n);
    return column || f->err->code ? column : finish_call(f, name, call);
}

/* A function, or a field whose name needs no braces. */
static struct airtable_node *word_node(struct airtable_formula *f)
{
    size_t n = 0;

    while (n < f->rest.len) {
        char c = f->rest.p[n];
        bool is_word = ascii_is_letter(c) || c == '_' || c < 0 || (c >= '0' && c <= '9');
        if (!is_word)
            break;
        n++;
    }
    struct str word = str_slice(f->rest, 0, n);
    f->rest = str_skip(f->rest, n);
    if (n == 0)
        return invalid_formula(f);
    return take_formula_char(f, '(') ? call_node(f, word) : field_node(f, word);
}

static struct airtable_node *text_node(struct airtable_formula *f, char quote)
{
    struct airtable_node *n = new_formula_node(f, NODE_TEXT, FORMULA_TEXT);

    return n && take_until(f, quote, &n->text) == 0 ? n : invalid_formula(f);
}

static struct airtable_node *binary(struct airtable_formula *f, struct str operator,
                                    struct airtable_node * a, struct airtable_node *b)
{
    char c = operator.p[0];
    bool is_number = c == '+' || c == '-' || c == '*' || c == '/';
    struct airtable_node *n = new_formula_node(f, NODE_BINARY,
                                               is_number  ? FORMULA_NUMBER
                                               : c == '&' ? FORMULA_TEXT
                                                          : FORMULA_BOOL);

    if (!n)
        return NULL;
    n->text = operator;
    add_child(n, a);
    add_child(n, b);
    return n;
}

static struct airtable_node *parse_airtable_primary(struct airtable_formula *f)
{
    char c = peek_formula_char(f);
    struct str name;

    if ((c >= '0' && c <= '9') || c == '.')
        return number_node(f);
    if (take_formula_char(f, '\''))
        return text_node(f, '\'');
    if (take_formula_char(f, '"'))
        return text_node(f, '"');
    if (take_formula_char(f, '{'))
        return take_until(f, '}', &name) == 0 ? field_node(f, name) : invalid_formula(f);
    if (take_formula_char(f, '(')) {
        struct airtable_node *n = parse_expression(f, 0);
        return !n || take_formula_char(f, ')') ? n : invalid_formula(f);
    }
    if (take_formula_char(f, '-')) {
        struct airtable_node *zero = new_formula_node(f, NODE_NUMBER, FORMULA_NUMBER);
        struct airtable_node *n = zero ? parse_expression(f, 3) : NULL;
        return n ? binary(f, STR("-"), zero, n) : NULL;
    }
    return word_node(f);
}

/* By how loosely they bind; longer ones first. */
static const struct {
    struct str text;
    int level;
} operators[] = {
    {STR_INIT("!="), 0}, {STR_INIT("<="), 0}, {STR_INIT(">="), 0}, {STR_INIT("="), 0},
    {STR_INIT("<"), 0},  {STR_INIT(">"), 0},  {STR_INIT("&"), 1},  {STR_INIT("+"), 2},
    {STR_INIT("-"), 2},  {STR_INIT("*"), 3},  {STR_INIT("/"), 3},
};

static bool take_formula_operator(struct airtable_formula *f, int level, struct str *ret)
{
    (void)peek_formula_char(f);
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (!str_starts(f->rest, operators[i].text))
            continue;
        if (operators[i].level != level)
            return false;
        *ret = operators[i].text;
        f->rest = str_skip(f->rest, ret->len);
        return true;
    }
    return false;
}

static struct airtable_node *parse_expression(struct airtable_formula *f, int level)
{
    struct str operator;

    if (++f->depth > LANG_MAX_DEPTH * 5)
        return invalid_formula(f);
    struct airtable_node *n =
        level > 3 ? parse_airtable_primary(f) : parse_expression(f, level + 1);
    while (n && level <= 3 && take_formula_operator(f, level, &operator)) {
        struct airtable_node *right = parse_expression(f, level + 1);
        n = right ? binary(f, operator, n, right) : NULL;
        if (n && n->height > HEIGHT_MAX)
            return invalid_formula(f);
    }
    f->depth--;
    return n && n->height > HEIGHT_MAX ? invalid_formula(f) : n;
}

/* ---- writing ---- */

static void emit_as(struct airtable_formula *f, const struct airtable_node *n,
                    enum formula_type want);

/* How a value of the first type becomes one of the second. */
static const struct {
    const char *before, *behind;
} casts[FORMULA_TYPE_COUNT][FORMULA_TYPE_COUNT] = {
    [FORMULA_TEXT] =
        {{"", ""}, {"CAST(", " AS REAL)"}, {"(ifnull(", ", '') <> '')"}, {"", ""}, {"", ""}},
    [FORMULA_NUMBER] = {{"airtable_text(", ")"},
                        {"ifnull(", ", 0)"},
                        {"(ifnull(", ", 0) <> 0)"},
                        {"", ""},
                        {"", ""}},
    [FORMULA_BOOL] =
        {{"airtable_text(", ")"}, {"ifnull(", ", 0)"}, {"ifnull(", ", 0)"}, {"", ""}, {"", ""}},
    [FORMULA_DATE] =
        {{"ifnull(", ", '')"}, {"julianday(", ")"}, {"(", " IS NOT NULL)"}, {"", ""}, {"", ""}},
    [FORMULA_ANY] = {{"airtable_text(", ")"},
                     {"CAST(ifnull(", ", 0) AS REAL)"},
                     {"(airtable_text(", ") NOT IN ('', '0'))"},
                     {"", ""},
                     {"", ""}},
};

/* Fields of several values show as one text; links by the names of the records. */
static void emit_list(struct airtable_formula *f, const char *data, const char *id, bool is_link)
{
    if (is_link)
        lang_sql(&f->out,
                 "(SELECT ifnull(group_concat(json_extract(o.data, '$.' || t.primary_field), "
                 "', '), '') FROM json_each(%s, '$.%s') e JOIN record o ON o.id = e.value "
                 "JOIN tables t ON t.id = o.table_id)",
                 data, id);
    else
        lang_sql(&f->out,
                 "(SELECT ifnull(group_concat(iif(e.type = 'object', "
                 "coalesce(e.value ->> 'name', e.value ->> 'filename'), e.value), ', '), '') "
                 "FROM json_each(%s, '$.%s') e)",
                 data, id);
}

static bool is_field_id(struct str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.p[i];
        if (!(ascii_is_alnum(c)))
            return false;
    }
    return id.len > 0;
}

static void emit_field(struct airtable_formula *f, const struct airtable_node *n)
{
    const char *data = lang_field(f->config, STR("data"));
    struct str id = json_str(json_get(n->field, "id"), STR("")),
               type = json_str(json_get(n->field, "type"), STR(""));

    if (!n->field) {
        lang_sql(&f->out, "%s", n->text.p);
        return;
    }
    if (str_is(type, "createdTime") || str_is(type, "lastModifiedTime")) {
        lang_sql(
            &f->out, "%s",
            lang_field(f->config, str_is(type, "createdTime") ? STR("created") : STR("modified")));
        return;
    }
    f->out.has_failed |= !is_field_id(id) || !data;
    if (f->out.has_failed)
        return;
    if (str_starts(type, STR("multiple")))
        emit_list(f, data, id.p, str_is(type, "multipleRecordLinks"));
    else if (str_is(type, "singleCollaborator"))
        lang_sql(&f->out, "ifnull(json_extract(%s, '$.%s.name'), '')", data, id.p);
    else if (n->type == FORMULA_TEXT)
        lang_sql(&f->out, "ifnull(json_extract(%s, '$.%s'), '')", data, id.p);
    else
        lang_sql(&f->out, "json_extract(%s, '$.%s')", data, id.p);
}

static bool is_blank_node(const struct airtable_node *n)
{
    return n->kind == NODE_CALL && n->n == 0 && strcmp(n->fn->name, "BLANK") == 0;
}

static bool is_numeric(const struct airtable_node *n)
{
    return n->type == FORMULA_NUMBER || n->type == FORMULA_BOOL;
}

/* As what two values are compared. */
static enum formula_type comparison_type(const struct airtable_node *a,
                                         const struct airtable_node *b)
{
    if (is_blank_node(a) || is_blank_node(b))
        return FORMULA_TEXT;
    if (is_numeric(a) && is_numeric(b))
        return FORMULA_NUMBER;
    if ((is_numeric(a) && b->type == FORMULA_ANY) || (is_numeric(b) && a->type == FORMULA_ANY))
        return FORMULA_NUMBER;
    return a->type == FORMULA_DATE || b->type == FORMULA_DATE ? FORMULA_DATE : FORMULA_TEXT;
}

static void emit_formula_comparison(struct airtable_formula *f, const struct airtable_node *n)
{
    enum formula_type type = comparison_type(n->first, n->last);
    const char *before = type == FORMULA_DATE ? "julianday(" : "";
    const char *behind = type == FORMULA_DATE ? ")" : "";

    lang_sql(&f->out, "(%s", before);
    emit_as(f, n->first, type);
    lang_sql(&f->out, "%s " STR_FMT " %s", behind, STR_ARG(n->text), before);
    emit_as(f, n->last, type);
    lang_sql(&f->out, "%s)", behind);
}

/* Never NULL, so that it needs no ifnull(). */
static bool is_solid(const struct airtable_node *n)
{
    return n->kind == NODE_TEXT || n->kind == NODE_NUMBER ||
           (n->kind == NODE_BINARY && n->text.p[0] != '/' && n->type != FORMULA_BOOL);
}

/* Operators that bind alike. */
static char class_of(const struct airtable_node *n)
{
    switch (n->text.p[0]) {
    case '-': return '+';
    case '/': return '*';
    default: return n->text.p[0];
    }
}

/* a & b & c: SQL reads it from the left, too. */
static bool is_chain(const struct airtable_node *n)
{
    return n->first->kind == NODE_BINARY && is_solid(n->first) && class_of(n->first) == class_of(n);
}

static void emit_operation(struct airtable_formula *f, const struct airtable_node *n)
{
    char c = n->text.p[0];
    enum formula_type type = c == '&' ? FORMULA_TEXT : FORMULA_NUMBER;

    if (is_chain(n))
        emit_operation(f, n->first);
    else
        emit_as(f, n->first, type);
    lang_sql(&f->out, c == '&' ? " || " : c == '/' ? " * 1.0 / nullif(" : " %c ", c);
    emit_as(f, n->last, type);
    lang_sql(&f->out, "%s", c == '/' ? ", 0)" : "");
}

static void emit_binary(struct airtable_formula *f, const struct airtable_node *n)
{
    if (n->type == FORMULA_BOOL) {
        emit_formula_comparison(f, n);
        return;
    }
    lang_sql(&f->out, "(");
    emit_operation(f, n);
    lang_sql(&f->out, ")");
}

static void emit_if(struct airtable_formula *f, const struct airtable_node *n)
{
    const struct airtable_node *yes = n->first->next;

    lang_sql(&f->out, "CASE WHEN ");
    emit_as(f, n->first, FORMULA_BOOL);
    lang_sql(&f->out, " THEN ");
    emit_as(f, yes, FORMULA_ANY);
    if (yes->next) {
        lang_sql(&f->out, " ELSE ");
        emit_as(f, yes->next, FORMULA_ANY);
    }
    lang_sql(&f->out, " END");
}

/* SWITCH(value, case, result, …, default) */
static void emit_switch(struct airtable_formula *f, const struct airtable_node *n)
{
    const struct airtable_node *at = n->first->next;

    lang_sql(&f->out, "CASE ");
    emit_as(f, n->first, FORMULA_TEXT);
    for (; at->next; at = at->next->next) {
        lang_sql(&f->out, " WHEN ");
        emit_as(f, at, FORMULA_TEXT);
        lang_sql(&f->out, " THEN ");
        emit_as(f, at->next, FORMULA_ANY);
        if (!at->next->next)
            break;
    }
    if (!at->next) {
        lang_sql(&f->out, " ELSE ");
        emit_as(f, at, FORMULA_ANY);
    }
    lang_sql(&f->out, " END");
}

static enum formula_type type_of_letter(char c)
{
    switch (c) {
    case 't': return FORMULA_TEXT;
    case 'n': return FORMULA_NUMBER;
    case 'b': return FORMULA_BOOL;
    case 'd': return FORMULA_DATE;
    default: return FORMULA_ANY;
    }
}

static void emit_all(struct airtable_formula *f, const struct airtable_node *n)
{
    size_t i = 0;

    for (const struct airtable_node *arg = n->first; arg; arg = arg->next, i++) {
        lang_sql(&f->out, "%s", i == 0 ? "" : n->fn->join);
        emit_as(f, arg, type_of_letter(formula_arg(n->fn, i)));
    }
}

/* The unit among the arguments, which has to be a constant; NULL when there is none. */
static const struct formula_unit *airtable_unit_of(struct airtable_formula *f,
                                                   const struct airtable_node *n)
{
    size_t i = 0;

    for (const struct airtable_node *arg = n->first; arg; arg = arg->next, i++) {
        if (formula_arg(n->fn, i) != 'u')
            continue;
        const struct formula_unit *unit = arg->kind == NODE_TEXT ? formula_unit(arg->text) : NULL;
        if (!unit || (strstr(n->fn->sql, "$S") && !unit->same))
            (void)invalid_formula(f);
        return unit;
    }
    return NULL;
}

/* "$1" and the like, see struct formula_function. */
static void emit_place(struct airtable_formula *f, const struct airtable_node *n, char place,
                       const struct formula_unit *unit)
{
    const struct airtable_node *arg = n->first;

    switch (place) {
    case '@': emit_all(f, n); return;
    case '#': lang_sql(&f->out, "%zu", n->n); return;
    case 'S': lang_sql(&f->out, "%s", unit && unit->same ? unit->same : ""); return;
    case 'U':
        lang_sql(&f->out, "%lld", !unit ? 1LL : (long long)(unit->ms ? unit->ms : unit->months));
        return;
    default: break;
    }
    for (int i = place - '1'; i > 0 && arg; i--)
        arg = arg->next;
    if (arg)
        emit_as(f, arg, type_of_letter(formula_arg(n->fn, (size_t)(place - '1'))));
}

static void emit_call(struct airtable_formula *f, const struct airtable_node *n)
{
    const struct formula_unit *unit = airtable_unit_of(f, n);
    const char *sql = unit && unit->months && n->fn->months ? n->fn->months : n->fn->sql;

    for (; *sql; sql++) {
        if (sql[0] == '$' && sql[1]) {
            emit_place(f, n, sql[1], unit);
            sql++;
        } else {
            (void)buf_add_char(&f->out.sql, *sql);
        }
    }
}

static void emit_airtable_node(struct airtable_formula *f, const struct airtable_node *n)
{
    switch (n->kind) {
    case NODE_TEXT: lang_text(&f->out, n->text); break;
    case NODE_NUMBER: lang_real(&f->out, n->number); break;
    case NODE_FIELD: emit_field(f, n); break;
    case NODE_CALL: emit_call(f, n); break;
    case NODE_BINARY: emit_binary(f, n); break;
    case NODE_IF: emit_if(f, n); break;
    case NODE_SWITCH: emit_switch(f, n); break;
    }
}

/* Some functions write an argument twice, so a short formula can become a long statement: it ends
 * where the buffer does. */
static void emit_as(struct airtable_formula *f, const struct airtable_node *n,
                    enum formula_type want)
{
    if (f->out.has_failed || !buf_ok(&f->out.sql) || f->out.values->n > VALUES_MAX)
        return;
    bool is_bare = n->type == want && is_solid(n);
    lang_sql(&f->out, "%s", is_bare ? "" : casts[n->type][want].before);
    emit_airtable_node(f, n);
    lang_sql(&f->out, "%s", is_bare ? "" : casts[n->type][want].behind);
}

/* ---- the languages ---- */

static int finish_formula(struct airtable_formula *f, struct appdb_predicate *ret)
{
    if (!f->err->code && buf_ok(&f->out.sql) && lang_stack(buf_str(&f->out.sql)) > LANG_MAX_STACK)
        (void)err_set(f->err, -EINVAL, "The formula is too deep.");
    if (!f->err->code && f->out.values && f->out.values->n > VALUES_MAX)
        (void)err_set(f->err, -EINVAL, "The formula is too long.");
    if (f->err->code) {
        lang_drop(&f->out);
        return f->err->code;
    }
    return lang_end(&f->out, ret, f->err);
}

static void begin_formula(struct airtable_formula *f, struct arena *a, struct err *e)
{
    f->arena = a;
    f->err = e;
    lang_begin(&f->out, a);
    /* Large enough for what people write, small enough to be prepared in no time. */
    f->out.sql.max = 128 << 10;
}

int lang_airtable_formula(const struct json *config, struct str text, struct arena *a,
                          struct appdb_predicate *ret, struct err *e)
{
    struct err own = ERR_INIT;
    const struct json *request = json_parse(a, text, NULL, NULL);
    struct airtable_formula f = {.config = config, .fields = json_get(request, "fields")};
    struct str query = json_str(json_get(request, "query"), STR(""));

    begin_formula(&f, a, e ? e : &own);
    f.rest = query;
    if (str_trim(query).len == 0) {
        lang_sql(&f.out, "1");
        return finish_formula(&f, ret);
    }
    const struct airtable_node *root = parse_expression(&f, 0);
    if (root && peek_formula_char(&f) != '\0')
        root = invalid_formula(&f);
    if (root)
        emit_as(&f, root, FORMULA_BOOL);
    return finish_formula(&f, ret);
}

/* Selects sort by the place of their options. */
static void sort_by_choice(struct airtable_formula *f, const struct json *choices, struct str id)
{
    lang_sql(&f->out, "CASE json_extract(%s, '$.%s')", lang_field(f->config, STR("data")), id.p);
    for (size_t i = 0; i < choices->n && f->out.values->n <= VALUES_MAX; i++) {
        lang_sql(&f->out, " WHEN ");
        lang_text(&f->out, json_str(json_at(choices, i), STR("")));
        lang_sql(&f->out, " THEN %zu", i + 1);
    }
    lang_sql(&f->out, " ELSE 0 END");
}

static void sort_by(struct airtable_formula *f, const struct json *sort)
{
    struct airtable_node *n = field_node(f, json_str(json_get(sort, "field"), STR("")));
    bool is_down = str_is(json_str(json_get(sort, "direction"), STR("")), "desc");

    if (!n)
        return;
    struct str type = json_str(json_get(n->field, "type"), STR(""));
    if (str_is(type, "singleSelect")) {
        struct str id = json_str(json_get(n->field, "id"), STR(""));
        const struct json *choices = json_get(n->field, "choices");
        f->out.has_failed |= !is_field_id(id) || !json_is(choices, JSON_ARRAY);
        if (!f->out.has_failed)
            sort_by_choice(f, choices, id);
    } else {
        emit_as(f, n, FORMULA_ANY);
        lang_sql(&f->out, "%s", n->type == FORMULA_TEXT ? " COLLATE NOCASE" : "");
    }
    lang_sql(&f->out, "%s", is_down ? " DESC" : " ASC");
}

int lang_airtable_sort(const struct json *config, struct str text, struct arena *a,
                       struct appdb_predicate *ret, struct err *e)
{
    struct err own = ERR_INIT;
    const struct json *request = json_parse(a, text, NULL, NULL);
    const struct json *sort = json_get(request, "sort");
    struct airtable_formula f = {.config = config, .fields = json_get(request, "fields")};

    begin_formula(&f, a, e ? e : &own);
    /* A constant, but not a number: that would be a column. */
    lang_sql(&f.out, "NULL");
    for (size_t i = 0; json_is(sort, JSON_ARRAY) && i < sort->n; i++) {
        lang_sql(&f.out, ", ");
        sort_by(&f, json_at(sort, i));
    }
    return finish_formula(&f, ret);
}
