/* SPDX-License-Identifier: MIT */
/* git's output in the words of the server that agents know, which prints Python's values. */
#pragma once

#include "base/buf.h"

enum git_style {
    GIT_REPR,  /* values as Python writes them in programs */
    GIT_PLAIN, /* as Python prints them */
    GIT_DATED  /* hash, author, date, subject */
};

/* TEXT: commits with a NUL between them, lines "hash, name, e-mail, seconds and date, message" or,
 * for GIT_DATED, "hash, name, date, subject". */
void git_text_log(struct buf *out, struct str text, enum git_style style);
/* TEXT: a patch. Of each file its names and its hunks. */
void git_text_patch(struct buf *out, struct str text);
