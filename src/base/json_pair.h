/* SPDX-License-Identifier: MIT */
/* Members of an object that is being written: the key and its value in one call. */
#pragma once

#include "base/json.h"

static inline void jw_pair_str(struct jw *w, const char *key, struct str value)
{
    jw_key(w, key);
    jw_str(w, value);
}

/* NULL writes null. */
static inline void jw_pair_cstr(struct jw *w, const char *key, const char *value)
{
    jw_key(w, key);
    jw_cstr(w, value);
}

static inline void jw_pair_int(struct jw *w, const char *key, int64_t value)
{
    jw_key(w, key);
    jw_int(w, value);
}

static inline void jw_pair_bool(struct jw *w, const char *key, bool value)
{
    jw_key(w, key);
    jw_bool(w, value);
}

/* What is empty is null. */
static inline void jw_pair_str_or_null(struct jw *w, const char *key, struct str value)
{
    jw_key(w, key);
    if (value.len > 0)
        jw_str(w, value);
    else
        jw_null(w);
}
