/* SPDX-License-Identifier: MIT */
/* Values as Python prints them: servers that are written in it show them so, and agents know it. */
#pragma once

#include "base/buf.h"

/* repr() of a string: in single quotes unless it has those and no others. */
void python_str(struct buf *out, struct str s);
/* repr() of a float: the fewest digits that read back as D. */
void python_float(struct buf *out, double d);
/* json.dumps() of a string: ASCII characters only. */
void python_json_str(struct buf *out, struct str s);
