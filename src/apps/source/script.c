/* SPDX-License-Identifier: MIT */
#include "apps/source/script.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

#define NAME_MARK    STR("-- name:")
#define PART_MARK    STR("-- part:")
#define INCLUDE_MARK STR("-- include:")

struct source_reader {
    struct arena *arena;
    struct str text;
    size_t at;
    unsigned line;
    const struct script_source *from;
    const struct scripts *before; /* of this file so far */
    struct err *err;
};

/* ---- tokens: only what is needed to find the end of a statement ---- */

static bool is_reader_at(const struct source_reader *r, struct str word)
{
    return str_starts(str_skip(r->text, r->at), word);
}

static bool is_at_begin(const struct source_reader *r)
{
    return is_reader_at(r, NAME_MARK) || is_reader_at(r, PART_MARK);
}

static void step_reader(struct source_reader *r)
{
    r->line += r->text.p[r->at] == '\n';
    r->at++;
}

/* Goes behind the next END; -EINVAL when there is none. */
static int skip_to(struct source_reader *r, struct str end, const char *what)
{
    unsigned line = r->line;

    while (r->at < r->text.len && !is_reader_at(r, end))
        step_reader(r);
    if (r->at >= r->text.len)
        return err_set(r->err, -EINVAL, "line %u: %s has no end", line, what);
    r->at += end.len;
    return 0;
}

static void skip_line(struct source_reader *r)
{
    while (r->at < r->text.len && r->text.p[r->at] != '\n')
        r->at++;
}

static void skip_blank(struct source_reader *r)
{
    while (r->at < r->text.len) {
        if (strchr(" \t\r\n", r->text.p[r->at]))
            step_reader(r);
        else if (is_reader_at(r, STR("--")) && !is_at_begin(r) && !is_reader_at(r, INCLUDE_MARK))
            skip_line(r);
        else
            return;
    }
}

/* Quotes are doubled inside quotes, which makes two quoted pieces side by side: the same end. */
static int skip_token(struct source_reader *r)
{
    static const struct {
        struct str begin, end;
        const char *what;
    } spans[] = {
        {STR_INIT("'"), STR_INIT("'"), "a string"},
        {STR_INIT("\""), STR_INIT("\""), "a quoted name"},
        {STR_INIT("`"), STR_INIT("`"), "a quoted name"},
        {STR_INIT("["), STR_INIT("]"), "a quoted name"},
        {STR_INIT("/*"), STR_INIT("*/"), "a comment"},
    };

    if (is_reader_at(r, STR("--"))) {
        skip_line(r);
        return 0;
    }
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        if (!is_reader_at(r, spans[i].begin))
            continue;
        r->at += spans[i].begin.len;
        return skip_to(r, spans[i].end, spans[i].what);
    }
    step_reader(r);
    return 0;
}

/* ---- statements ---- */

static bool is_script_word(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_')
            return false;
    }
    return s.len > 0;
}

/* "{{jql :query}}" at START of the statement that begins at BASE. */
static int read_query_part(struct source_reader *r, struct script_statement *st, size_t base)
{
    size_t start = r->at;
    unsigned line = r->line;

    if (skip_to(r, STR("}}"), "a query") < 0)
        return -EINVAL;
    struct str in = str_trim(str_slice(r->text, start + 2, r->at - 2));
    struct script_query q = {.offset = start - base, .len = r->at - start};
    q.language = str_cut(&in, ' ');
    in = str_trim(in);
    q.param = str_skip(in, 1);
    if (!is_script_word(q.language) || in.len < 2 || in.p[0] != ':' || !is_script_word(q.param))
        return err_set(r->err, -EINVAL, "line %u: a query is {{language :argument}}", line);
    if (st->n_queries == SCRIPT_MAX_QUERIES)
        return err_set(r->err, -EINVAL, "line %u: more than %d queries in one statement", line,
                       SCRIPT_MAX_QUERIES);
    st->queries[st->n_queries++] = q;
    return 0;
}

static int read_statement(struct source_reader *r, struct script_statement *st)
{
    size_t base = r->at;

    *st = (struct script_statement){.line = r->line};
    while (r->at < r->text.len && r->text.p[r->at] != ';' && !is_at_begin(r)) {
        int rc = is_reader_at(r, STR("{{")) ? read_query_part(r, st, base) : skip_token(r);
        if (rc < 0)
            return rc;
    }
    if (r->at >= r->text.len || r->text.p[r->at] != ';')
        return err_set(r->err, -EINVAL, "line %u: the statement does not end with ';'", st->line);
    st->sql = arena_str(r->arena, str_slice(r->text, base, r->at));
    r->at++;
    return st->sql.p ? 0 : err_set(r->err, -ENOMEM, "out of memory");
}

/* ---- scripts ---- */

/* SQLite's own clock and random numbers, which are not the instance's. */
static bool is_volatile(struct str sql)
{
    static const struct str words[] = {STR_INIT("'now'"), STR_INIT("random"), STR_INIT("current_")};

    for (size_t i = 0; i < sql.len; i++) {
        for (size_t k = 0; k < ARRAY_LEN(words); k++) {
            if (str_ieq(str_slice(sql, i, i + words[k].len), words[k]))
                return true;
        }
    }
    return false;
}

/* The rest of the line behind MARK. */
static struct str read_script_name(struct source_reader *r, struct str mark)
{
    r->at += mark.len;
    size_t start = r->at;
    skip_line(r);
    struct str name = str_trim(str_slice(r->text, start, r->at));
    if (name.len > 0 && name.p[name.len - 1] == '\r')
        name.len--;
    return name;
}

static const struct script *find_script(const struct scripts *s, struct str name, bool is_part)
{
    for (size_t i = 0; s && i < s->n; i++) {
        if (s->items[i].is_part == is_part && str_eq(s->items[i].name, name))
            return &s->items[i];
    }
    return NULL;
}

struct statements {
    struct script_statement items[SCRIPT_MAX_STATEMENTS];
    size_t n;
};

/* The statements of the file NAME, as if they stood in LINE. */
static int include_file(struct source_reader *r, struct str name, unsigned line,
                        struct statements *found)
{
    struct source_reader in = {.arena = r->arena, .line = 1, .err = r->err};
    int rc = r->from->include(r->from->ctx, name, &in.text, r->err);

    if (rc < 0)
        return err_ctx(r->err, rc, "line %u", line);
    for (skip_blank(&in); in.at < in.text.len; skip_blank(&in)) {
        if (is_at_begin(&in) || is_reader_at(&in, INCLUDE_MARK))
            return err_set(r->err, -EINVAL,
                           STR_FMT ".sql: line %u: an included file has statements only",
                           STR_ARG(name), in.line);
        if (found->n == SCRIPT_MAX_STATEMENTS)
            return -E2BIG;
        rc = read_statement(&in, &found->items[found->n]);
        if (rc < 0)
            return err_ctx(r->err, rc, STR_FMT ".sql", STR_ARG(name));
        found->items[found->n++].line = line;
    }
    return 0;
}

static int include_part(struct source_reader *r, struct str name, unsigned line,
                        struct statements *found)
{
    const struct script *part = find_script(r->before, name, true);

    if (!part)
        part = find_script(r->from->base, name, true);
    if (!part)
        return err_set(r->err, -EINVAL, "line %u: no part named '" STR_FMT "' before it", line,
                       STR_ARG(name));
    if (found->n + part->n > SCRIPT_MAX_STATEMENTS)
        return -E2BIG;
    memcpy(found->items + found->n, part->statements, part->n * sizeof part->statements[0]);
    found->n += part->n;
    return 0;
}

static int include(struct source_reader *r, struct statements *found)
{
    unsigned line = r->line;
    struct str name = read_script_name(r, INCLUDE_MARK);

    if (r->from->include && str_chr(name, '/') >= 0)
        return include_file(r, name, line, found);
    return include_part(r, name, line, found);
}

static int read_next(struct source_reader *r, struct statements *found)
{
    if (is_reader_at(r, INCLUDE_MARK))
        return include(r, found);
    if (found->n == SCRIPT_MAX_STATEMENTS)
        return -E2BIG;
    int rc = read_statement(r, &found->items[found->n]);
    found->n += rc == 0;
    return rc;
}

static int read_statements(struct source_reader *r, struct script *s)
{
    struct statements found = {.n = 0};

    for (skip_blank(r); r->at < r->text.len && !is_at_begin(r); skip_blank(r)) {
        int rc = read_next(r, &found);
        if (rc == -E2BIG)
            return err_set(r->err, -EINVAL, "line %u: more than %d statements", s->line,
                           SCRIPT_MAX_STATEMENTS);
        if (rc < 0)
            return rc;
    }
    if (found.n == 0)
        return err_set(r->err, -EINVAL, "line %u: " STR_FMT " has no statements", s->line,
                       STR_ARG(s->name));
    s->n = found.n;
    s->statements = arena_alloc(r->arena, s->n * sizeof found.items[0]);
    if (!s->statements)
        return err_set(r->err, -ENOMEM, "out of memory");
    memcpy(s->statements, found.items, s->n * sizeof found.items[0]);
    for (size_t i = 0; i < s->n; i++)
        s->is_volatile = s->is_volatile || is_volatile(s->statements[i].sql);
    return 0;
}

static int read_source_script(struct source_reader *r, struct script *s)
{
    *s = (struct script){.line = r->line, .is_part = is_reader_at(r, PART_MARK)};
    s->name = read_script_name(r, s->is_part ? PART_MARK : NAME_MARK);
    if (s->name.len == 0)
        return err_set(r->err, -EINVAL, "line %u: the name is missing", s->line);
    const struct script *same = find_script(r->before, s->name, s->is_part);
    if (same)
        return err_set(r->err, -EINVAL, "line %u: " STR_FMT " is in line %u already", s->line,
                       STR_ARG(s->name), same->line);
    s->name = arena_str(r->arena, s->name);
    return s->name.p ? read_statements(r, s) : err_set(r->err, -ENOMEM, "out of memory");
}

static size_t count_names(struct str text)
{
    size_t n = 0;

    while (text.len > 0) {
        struct str line = str_cut(&text, '\n');
        n += str_starts(line, NAME_MARK) || str_starts(line, PART_MARK);
    }
    return n;
}

int scripts_parse_from(const struct script_source *from, struct arena *a, struct str text,
                       struct scripts *ret, struct err *e)
{
    struct source_reader r = {
        .arena = a, .text = text, .line = 1, .from = from, .before = ret, .err = e};
    size_t max = count_names(text);

    *ret = (struct scripts){.items = arena_zalloc(a, max ? max : 1, sizeof *ret->items)};
    if (!ret->items)
        return err_set(e, -ENOMEM, "out of memory");
    for (skip_blank(&r); r.at < text.len; skip_blank(&r)) {
        if (!is_at_begin(&r) || ret->n == max)
            return err_set(e, -EINVAL, "line %u: expected a line '-- name: …'", r.line);
        int rc = read_source_script(&r, &ret->items[ret->n]);
        if (rc < 0)
            return rc;
        ret->n++;
    }
    return 0;
}

int scripts_parse(struct arena *a, struct str text, struct scripts *ret, struct err *e)
{
    const struct script_source none = {0};

    return scripts_parse_from(&none, a, text, ret, e);
}

const struct script *scripts_find(const struct scripts *s, struct str name)
{
    return find_script(s, name, false);
}

bool script_mentions(const struct script *s, struct str word)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_find(s->statements[i].sql, word) >= 0)
            return true;
    return false;
}
