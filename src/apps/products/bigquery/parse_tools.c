/* SPDX-License-Identifier: MIT */
/* What the parser's files share: tokens, names, failures. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apps/products/bigquery/parse.h"
#include "base/cleanup.h"

/* ---- tokens ---- */

const struct bq_token *bq_peek(const struct bq_parser *p)
{
    return &p->tokens[p->at];
}

const struct bq_token *bq_peek_at(const struct bq_parser *p, size_t n)
{
    return &p->tokens[p->at + n < p->n ? p->at + n : p->n - 1];
}

bool bq_is_word(const struct bq_token *t, const char *word)
{
    return t->kind == BQ_WORD && str_iis(t->text, word);
}

bool bq_is_sign(const struct bq_token *t, const char *sign)
{
    return t->kind == BQ_SIGN && str_is(t->text, sign);
}

bool bq_take_word(struct bq_parser *p, const char *word)
{
    bool is_it = !p->has_failed && bq_is_word(bq_peek(p), word);

    p->at += is_it;
    return is_it;
}

bool bq_take_words(struct bq_parser *p, const char *first, const char *second)
{
    if (p->has_failed || !bq_is_word(bq_peek(p), first) || !bq_is_word(bq_peek_at(p, 1), second))
        return false;
    p->at += 2;
    return true;
}

bool bq_take_sign(struct bq_parser *p, const char *sign)
{
    bool is_it = !p->has_failed && bq_is_sign(bq_peek(p), sign);

    p->at += is_it;
    return is_it;
}

void *bq_no_memory(struct bq_parser *p)
{
    if (!p->has_failed)
        (void)err_set(p->err, -ENOMEM, "out of memory");
    p->has_failed = true;
    return NULL;
}

static const char *token_name(const struct bq_token *t)
{
    static const char *const names[] = {
        [BQ_WORD] = "identifier",     [BQ_NAME] = "identifier",
        [BQ_TEXT] = "string literal", [BQ_BINARY] = "bytes literal",
        [BQ_INT] = "integer literal", [BQ_REAL] = "floating point literal"};

    return t->kind <= BQ_REAL && names[t->kind] ? names[t->kind] : "";
}

bool bq_is_keyword(struct str word)
{
    /* Those that BigQuery reserves; in the order of the alphabet. */
    static const char words[] =
        " all and any array as asc assert_rows_modified at between by case cast collate contains "
        "create cross cube current default define desc distinct else end enum escape except "
        "exclude exists extract false fetch following for from full group grouping groups hash "
        "having if ignore in inner intersect interval into is join lateral left like limit lookup "
        "merge natural new no not null nulls of on or order outer over partition preceding proto "
        "qualify range recursive respect right rollup rows select set some struct tablesample then "
        "to treat true unbounded union unnest using when where window with within ";
    char key[32];

    if (word.len + 3 > sizeof key)
        return false;
    key[0] = ' ';
    for (size_t i = 0; i < word.len; i++)
        key[i + 1] = (char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] | 32 : word.p[i]);
    key[word.len + 1] = ' ';
    key[word.len + 2] = '\0';
    return strstr(words, key) != NULL;
}

static void put_keyword(struct buf *b, struct str word)
{
    (void)buf_add_lit(b, "keyword ");
    for (size_t i = 0; i < word.len; i++)
        (void)buf_add_char(
            b, (char)(word.p[i] >= 'a' && word.p[i] <= 'z' ? word.p[i] & ~32 : word.p[i]));
}

void *bq_unexpected(struct bq_parser *p, const char *expected)
{
    const struct bq_token *t = bq_peek(p);
    auto_buf struct buf got = BUF_INIT(1 << 10);

    if (p->has_failed)
        return NULL;
    struct str text = str_slice(t->text, 0, 60);
    if (t->kind == BQ_END)
        (void)buf_add_lit(&got, "end of query");
    else if (t->kind == BQ_WORD && bq_is_keyword(t->text))
        put_keyword(&got, text);
    else if (t->kind == BQ_SIGN)
        (void)buf_printf(&got, "\"" STR_FMT "\"", STR_ARG(text));
    else
        (void)buf_printf(&got, "%s \"" STR_FMT "\"", token_name(t), STR_ARG(text));
    if (expected)
        (void)err_set(p->err, -EINVAL, "Syntax error: Expected %s but got %s at [%u:%u]", expected,
                      buf_cstr(&got), t->line, t->column);
    else
        (void)err_set(p->err, -EINVAL, "Syntax error: Unexpected %s at [%u:%u]", buf_cstr(&got),
                      t->line, t->column);
    p->has_failed = true;
    return NULL;
}

void *bq_refuse(struct bq_parser *p, const char *why)
{
    if (!p->has_failed)
        (void)err_set(p->err, -EINVAL, "%s at [%u:%u]", why, bq_peek(p)->line, bq_peek(p)->column);
    p->has_failed = true;
    return NULL;
}

bool bq_need_word(struct bq_parser *p, const char *word)
{
    char text[64];

    if (bq_take_word(p, word))
        return true;
    (void)snprintf(text, sizeof text, "keyword %s", word);
    (void)bq_unexpected(p, text);
    return false;
}

bool bq_need_sign(struct bq_parser *p, const char *sign)
{
    char text[8];

    if (bq_take_sign(p, sign))
        return true;
    (void)snprintf(text, sizeof text, "\"%s\"", sign);
    (void)bq_unexpected(p, text);
    return false;
}

struct str bq_take_name(struct bq_parser *p)
{
    const struct bq_token *t = bq_peek(p);

    if (p->has_failed || (t->kind != BQ_NAME && (t->kind != BQ_WORD || bq_is_keyword(t->text))))
        return STR_NULL;
    p->at++;
    return t->text;
}

struct str bq_need_name(struct bq_parser *p)
{
    struct str name = bq_take_name(p);

    if (!name.p)
        (void)bq_unexpected(p, "identifier");
    return name;
}

struct str bq_take_alias(struct bq_parser *p)
{
    return bq_take_word(p, "AS") ? bq_need_name(p) : bq_take_name(p);
}

struct bq_expr *bq_expr_new(struct bq_parser *p, enum bq_expr_kind kind)
{
    struct bq_expr *e = p->has_failed ? NULL : arena_new(p->arena, struct bq_expr);

    if (!e)
        return p->has_failed ? NULL : bq_no_memory(p);
    e->kind = kind;
    e->line = bq_peek(p)->line;
    e->column = bq_peek(p)->column;
    e->height = 1;
    e->type = &bq_scalars[BQ_ANY];
    return e;
}

bool bq_enter(struct bq_parser *p)
{
    if (p->has_failed)
        return false;
    if (++p->depth <= BQ_MAX_DEPTH)
        return true;
    (void)err_set(p->err, -EINVAL, "Query is too complex: it is nested too deeply at [%u:%u]",
                  bq_peek(p)->line, bq_peek(p)->column);
    p->has_failed = true;
    return false;
}

void bq_leave(struct bq_parser *p)
{
    p->depth--;
}
