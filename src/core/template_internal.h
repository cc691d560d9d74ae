/* SPDX-License-Identifier: MIT */
/* What the files of core/template*.c share. */
#pragma once

#include "core/template.h"

struct template_list {
    unsigned n_refs;
    struct arena arena;
    struct json *doc;
    struct template *items;
    size_t n;
};

/* ---- template_read.c ---- */

/* Reads DOC, which has the arena of L, into L. 0, or -errno with E filled. */
int template_read_all(struct template_list *l, struct err *e);
