/* SPDX-License-Identifier: MIT */
/* Values of SQLite as JSON. */
#pragma once

#include "base/json.h"

struct sqlite3_value;

/* Text as a string, bytes as {"base64": "…"}, in A. 0 or -ENOMEM. */
int value_read(struct sqlite3_value *v, struct arena *a, struct json *ret);
/* As SQLite orders them: NULL, numbers, text by its bytes; others are equal. */
int value_compare(const struct json *a, const struct json *b);
