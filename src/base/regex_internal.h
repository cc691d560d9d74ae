/* SPDX-License-Identifier: MIT */
/* What regex_parse.c (pattern to tree) and regex.c (tree to program, search) share. */
#pragma once

#include <stdbool.h>

#include "base/regex.h"

struct regex_range {
    uint32_t first, last;
};

/* A set of code points: ranges in any order, perhaps overlapping, and a bit map of its ASCII
 * part. */
struct regex_set {
    uint64_t ascii[2];
    struct regex_range *ranges;
    uint32_t n, cap;
    bool negated;
};

enum regex_assert { REGEX_BEGIN, REGEX_END, REGEX_WORD_EDGE, REGEX_NOT_WORD_EDGE };

enum regex_node_type {
    REGEX_CHAR,   /* c */
    REGEX_SET,    /* set */
    REGEX_ASSERT, /* kind */
    REGEX_GROUP,  /* child: its branches */
    REGEX_BRANCH, /* child: its pieces */
    REGEX_REPEAT  /* child: what is repeated, min, max */
};

#define REGEX_NO_MAX UINT32_MAX

struct regex_node {
    enum regex_node_type type;
    enum regex_assert kind;
    uint32_t c;
    uint32_t min, max;
    bool is_lazy;  /* prefers fewer */
    bool is_first; /* the first group that captures */
    struct regex_set *set;
    struct regex_node *child, *next; /* next: the sibling */
};

/* The tree of PATTERN: a group. NULL with E as regex_compile(). */
struct regex_node *regex_parse(struct arena *a, struct str pattern, struct err *e);

bool regex_set_has(const struct regex_set *set, uint32_t c);
bool regex_is_word(uint32_t c);

/* ---- programs ---- */

enum regex_op {
    REGEX_OP_CHAR,
    REGEX_OP_SET,
    REGEX_OP_ASSERT,
    REGEX_OP_SPLIT,
    REGEX_OP_JUMP,
    REGEX_OP_MARK, /* the first group begins (x 0) or ends (x 1) here */
    REGEX_OP_MATCH
};

struct regex_instruction {
    enum regex_op op;
    enum regex_assert kind;
    uint16_t x, y; /* REGEX_OP_SPLIT: both ways on, the preferred one first; _JUMP: the one */
    uint32_t c;
    const struct regex_set *set;
};

struct regex {
    const struct regex_instruction *program;
    uint16_t n;
    bool is_anchored; /* can match at the beginning of the text only */
    bool has_group;
};
