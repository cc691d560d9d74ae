/* SPDX-License-Identifier: MIT */
/* Values of cells as JSON has them: a type ("number", "text", "boolean", "error", "blank"), the
 * value, and a look ("plain", "date", …). */
#pragma once

#include "apps/formula/formula.h"
#include "base/json.h"

/* What is none of these is blank. Texts stay those of VALUE. */
struct formula_value formula_value_read(const struct json *type, const struct json *value,
                                        const struct json *look);
/* All three, one behind the other; a boolean as 0 or 1, which is what SQL has. */
void formula_value_write(struct jw *w, const struct formula_value *v);
