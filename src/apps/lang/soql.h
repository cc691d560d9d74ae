/* SPDX-License-Identifier: MIT */
/* For soql*.c: the queries of Salesforce under construction. */
#pragma once

#include "apps/lang/lang_internal.h"

enum soql_token_kind { SOQL_END, SOQL_WORD, SOQL_LITERAL, SOQL_STRING, SOQL_SYMBOL };

struct soql_token {
    enum soql_token_kind kind;
    struct str text; /* of a string: between its quotes */
    size_t at;       /* in the query */
};

/* What a field holds. */
enum soql_type { SOQL_TEXT, SOQL_LONG, SOQL_NUMBER, SOQL_BOOL, SOQL_DATE, SOQL_TIME };

/* What SQLite's parser needs of its stack, about; it has 100 entries. */
enum {
    SOQL_STACK_QUERY = 22,
    SOQL_STACK_VALUES = 9, /* a query within a condition */
    SOQL_STACK_CONDITION = 4,
    SOQL_STACK_STEP = 8,  /* of a path */
    SOQL_STACK_DAYS = 20, /* THIS_QUARTER and the like */
    SOQL_STACK_MAX = 90
};

struct soql {
    const struct json *objects; /* app.json's */
    struct lang_out out;
    struct str text;
    size_t at; /* behind TOKEN */
    struct soql_token token;
    unsigned n_rows;   /* aliases of the table that were used: r0, r1, … */
    unsigned depth;    /* of conditions in each other */
    unsigned n_within; /* queries within conditions */
    unsigned n_terms;  /* of all conditions */
    unsigned stack;    /* see SOQL_STACK_MAX */
    struct err *err;   /* set once */
};

/* An object that a query is about: the row rN. */
struct soql_scope {
    const struct json *object;
    struct str name, alias;
    unsigned row;
    bool is_grouped; /* functions over all rows may be asked for */
};

/* A field, or a function of one. */
struct soql_operand {
    struct str fn, path; /* fn: "" for a plain field */
    size_t at;
};

/* ---- soql_lex.c ---- */

/* -EINVAL: E says what is wrong at AT, as Salesforce does. */
int soql_fail(struct soql *q, size_t at, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int soql_unexpected(struct soql *q);
int soql_too_complicated(struct soql *q, size_t at);
int soql_next(struct soql *q);
bool soql_is(const struct soql *q, const char *word);
/* 1: taken, 0: something else, or -EINVAL. */
int soql_take(struct soql *q, const char *word);
int soql_need(struct soql *q, const char *word);
/* The text of a string; IS_PATTERN leaves \% and \_ as they are. */
struct str soql_unescape(struct soql *q, struct str text, bool is_pattern);

/* ---- soql_field.c ---- */

const struct json *soql_object(const struct soql *q, struct str name, struct str *ret_name);
/* The member of OBJECT's list KIND, without regard to case; NULL. */
const struct json_member *soql_member(const struct json *object, const char *kind, struct str name);
/* What PATH says without the name of the object that it may begin with. */
struct str soql_own_path(const struct soql_scope *s, struct str path);
/* Appends the value of an operand of the row of S; RET is its type, and may be NULL. */
int soql_emit(struct soql *q, const struct soql_scope *s, const struct soql_operand *o,
              enum soql_type *ret);
/* A field or a function of one, at the token. */
int soql_operand(struct soql *q, struct soql_operand *ret);
bool soql_is_aggregate(struct str fn);

/* ---- soql_where.c ---- */

int soql_condition(struct soql *q, const struct soql_scope *s);
/* ORDER BY, behind these words. */
int soql_order(struct soql *q, const struct soql_scope *s);

/* ---- soql_date.c ---- */

/* Whether WORD names a stretch of days, as LAST_N_DAYS:7 does; -EINVAL when its number is bad. RET
 * has SQL for its first and its last day and for the day behind it. */
int soql_days(struct soql *q, struct soql_token word, struct str ret[3]);

/* ---- soql.c ---- */

/* A query within another: the values of its one field. */
int soql_values(struct soql *q);
