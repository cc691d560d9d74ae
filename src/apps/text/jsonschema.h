/* SPDX-License-Identifier: MIT */
/* What Python's jsonschema says of a value that does not fit its schema: servers that are written
 * in Python show it to agents, word by word. Which of several errors is shown is that library's
 * choice as well: the one nearest to the root, and of alternatives the one that got farthest. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

/* Appends the message for VALUE, as "5 is not of type 'string'". False when nothing is wrong with
 * it in that library's eyes (which does not look at formats), or when it takes too much work; A is
 * for scratch memory. */
bool jsonschema_explain(struct arena *a, const struct json *schema, const struct json *value,
                        struct buf *out);
