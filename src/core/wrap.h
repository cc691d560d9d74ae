/* SPDX-License-Identifier: MIT */
/* Prose in columns. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends TEXT's words; the cursor stands at column COL, no line passes WIDTH unless one word does,
 * and lines after the first begin with INDENT. A newline in TEXT starts a new line. Ends without a
 * newline. Returns as buf_add(). */
int wrap_text(struct buf *out, struct str text, const char *indent, size_t col, size_t width);
