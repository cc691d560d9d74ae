/* SPDX-License-Identifier: MIT */
/* Reading scripts: statements with semicolons between them, variables, blocks and conditions. */
#include <errno.h>

#include "apps/products/bigquery/parse.h"

static struct bq_step *parse_steps(struct bq_parser *p);

/* DECLARE a, b [INT64] [DEFAULT 1] */
static bool parse_declare(struct bq_parser *p, struct bq_step *s)
{
    struct bq_expr **end = &s->names;

    s->kind = BQ_P_DECLARE;
    do {
        *end = bq_expr_new(p, BQ_E_NAME);
        if (!*end)
            return false;
        (*end)->text = bq_need_name(p);
        end = &(*end)->next;
    } while (bq_take_sign(p, ","));
    if (!p->has_failed && !bq_is_word(bq_peek(p), "DEFAULT"))
        s->type = bq_parse_type(p);
    if (bq_take_word(p, "DEFAULT"))
        s->value = bq_parse_expr(p);
    return !p->has_failed;
}

/* SET a = 1, SET (a, b) = (1, 2) */
static bool parse_set(struct bq_parser *p, struct bq_step *s)
{
    s->kind = BQ_P_SET;
    s->is_list = bq_is_sign(bq_peek(p), "(");
    s->names = s->is_list ? bq_parse_names(p, NULL) : bq_expr_new(p, BQ_E_NAME);
    if (s->names && !s->is_list)
        s->names->text = bq_need_name(p);
    if (!s->names || !bq_need_sign(p, "="))
        return false;
    s->value = bq_parse_expr(p);
    return s->value;
}

/* IF a THEN …; ELSEIF b THEN …; ELSE …; END IF: the steps of ELSE are those of the last `other`. */
static bool parse_if(struct bq_parser *p, struct bq_step *s)
{
    struct bq_step *at = s;

    do {
        if (at->value) {
            at->other = arena_new(p->arena, struct bq_step);
            if (!at->other)
                return bq_no_memory(p);
            at = at->other;
        }
        at->kind = BQ_P_IF;
        at->line = bq_peek(p)->line;
        at->column = bq_peek(p)->column;
        at->value = bq_parse_expr(p);
        if (!at->value || !bq_need_word(p, "THEN"))
            return false;
        at->body = parse_steps(p);
    } while (bq_take_word(p, "ELSEIF"));
    if (bq_take_word(p, "ELSE"))
        at->other = parse_steps(p);
    return bq_need_word(p, "END") && bq_need_word(p, "IF");
}

/* BEGIN …; [EXCEPTION WHEN ERROR THEN …;] END */
static bool parse_block(struct bq_parser *p, struct bq_step *s)
{
    if (bq_take_word(p, "TRANSACTION") || bq_is_sign(bq_peek(p), ";") ||
        bq_peek(p)->kind == BQ_END) {
        s->kind = BQ_P_BEGIN;
        return true;
    }
    s->kind = BQ_P_BLOCK;
    s->body = parse_steps(p);
    if (bq_take_word(p, "EXCEPTION")) {
        s->has_handler = true;
        if (!bq_need_word(p, "WHEN") || !bq_need_word(p, "ERROR") || !bq_need_word(p, "THEN"))
            return false;
        s->other = parse_steps(p);
    }
    return bq_need_word(p, "END");
}

static bool parse_step(struct bq_parser *p, struct bq_step *s)
{
    if (bq_take_word(p, "DECLARE"))
        return parse_declare(p, s);
    if (bq_take_word(p, "SET"))
        return parse_set(p, s);
    if (bq_take_word(p, "IF"))
        return parse_if(p, s);
    if (bq_take_word(p, "BEGIN"))
        return parse_block(p, s);
    bool is_commit = bq_take_word(p, "COMMIT");
    if (is_commit || bq_take_word(p, "ROLLBACK")) {
        s->kind = is_commit ? BQ_P_COMMIT : BQ_P_ROLLBACK;
        (void)bq_take_word(p, "TRANSACTION");
        return true;
    }
    s->kind = BQ_P_STATEMENT;
    return bq_parse_statement(p, &s->statement);
}

static bool is_block_end(const struct bq_parser *p)
{
    static const char *const words[] = {"END", "ELSE", "ELSEIF", "EXCEPTION"};

    for (size_t i = 0; p->depth > 0 && i < sizeof words / sizeof *words; i++) {
        if (bq_is_word(bq_peek(p), words[i]))
            return true;
    }
    return bq_peek(p)->kind == BQ_END;
}

/* Those of a block, each with its semicolon; of the whole text the last one may lack it. */
static struct bq_step *parse_statement_list(struct bq_parser *p)
{
    struct bq_step *first = NULL, **end = &first;
    bool may_declare = true;

    while (!p->has_failed && !is_block_end(p)) {
        struct bq_step *s = arena_new(p->arena, struct bq_step);
        if (!s)
            return bq_no_memory(p);
        s->line = bq_peek(p)->line;
        s->column = bq_peek(p)->column;
        if (!may_declare && bq_is_word(bq_peek(p), "DECLARE"))
            return bq_refuse(p, "Variable declarations are allowed only at the start of a block or "
                                "script");
        if (!parse_step(p, s))
            return NULL;
        may_declare &= s->kind == BQ_P_DECLARE;
        *end = s;
        end = &s->next;
        if (bq_take_sign(p, ";"))
            continue;
        if (p->depth > 0)
            return bq_need_sign(p, ";") ? first : NULL;
        if (bq_peek(p)->kind != BQ_END)
            return bq_unexpected(p, "end of input");
    }
    return first;
}

static struct bq_step *parse_steps(struct bq_parser *p)
{
    struct bq_step *first = bq_enter(p) ? parse_statement_list(p) : NULL;

    bq_leave(p);
    return first;
}

int bq_parse(struct bq_parser *p, struct str text, struct bq_step **ret)
{
    int r = bq_lex(p, text);

    if (r < 0)
        return r == -ENOMEM ? err_set(p->err, r, "out of memory") : r;
    *ret = parse_statement_list(p);
    if (!*ret && !p->has_failed)
        (void)bq_unexpected(p, NULL);
    if (!p->has_failed)
        return 0;
    return p->err->code ? p->err->code : err_set(p->err, -EINVAL, "Syntax error");
}
