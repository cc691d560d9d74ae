/* SPDX-License-Identifier: MIT */
/* Font files: TrueType and OpenType. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct font_info {
    struct str family, style; /* UTF-8 */
    unsigned n_glyphs;
};

/* 0, or -EINVAL with E when it is no font file. Texts are in A. */
int font_look(struct arena *a, struct str bytes, struct font_info *ret, struct err *e);
/* Appends a smaller copy: without tables that programs can do without and, when TEXT is not empty,
 * without the outlines of letters that are not in it. 0, -EINVAL or the error of OUT, with E. */
int font_shrink(struct arena *a, struct str bytes, struct str text, struct buf *out, struct err *e);
