/* SPDX-License-Identifier: MIT */
/* The languages that contexts can have: a table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "local/interpreter/frame.h"

struct language {
    const char *name;
    const char *alias;          /* or NULL */
    const char *program;        /* has to be executable */
    const char *cure;           /* packages that have it */
    const char *const *argv;    /* reads its driver from its input; see interpreter/kernel.h */
    const char *const *drivers; /* texts of local/interpreter/, one behind the other; NULL ends */
    enum frame_style style;
    bool is_forked; /* its processes come out of a process that waits for it (nursery.h) */
    bool is_listed; /* has a context from the beginning on */
};

/* Number I, or NULL past the end; the first one is the default. */
const struct language *language_at(size_t i);
/* By name or alias; case and spaces around it do not count. "" is the default. NULL: unknown. */
const struct language *language_find(struct str name);
/* 0, or -ENOENT with E filled when its program is not installed. */
int language_check(const struct language *l, struct err *e);
/* "python, javascript, …" */
void language_put_names(struct buf *out);
