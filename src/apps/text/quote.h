/* SPDX-License-Identifier: MIT */
/* Quotes as SQL has them in all its dialects, and CSV. */
#pragma once

#include "base/buf.h"

/* Appends a name (or a field of CSV) in quotes, whatever it holds. */
static inline void quote_name(struct buf *b, struct str name)
{
    (void)buf_add_char(b, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '"')
            (void)buf_add_char(b, '"');
        (void)buf_add_char(b, name.p[i]);
    }
    (void)buf_add_char(b, '"');
}
