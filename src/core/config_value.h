/* SPDX-License-Identifier: MIT */
/* The types of settings: how each is read from text or from a file's value, and printed. For
 * config.c, and for settings that are mappings. */
#pragma once

#include "core/config.h"

struct config_ctx {
    struct arena *a;      /* where strings live */
    const char *home;     /* for "~/"; NULL: unknown */
    const char *base_dir; /* relative paths are below it; NULL: left as they are */
};

#define CONFIG_LIST_MAX 1000
#define CONFIG_MAP_MAX  (256 << 10) /* bytes as JSON */

/* Reads TEXT by O's type into FIELD. -EINVAL or -ENOMEM with E filled, FIELD untouched. */
int config_value_parse(const struct config_ctx *x, const struct config_option *o, struct str text,
                       void *field, struct err *e);
/* The same from a value of a file, whose type must fit. A secret's bytes in V are wiped. */
int config_value_take(const struct config_ctx *x, const struct config_option *o,
                      const struct json *v, void *field, struct err *e);
/* "5m" in milliseconds; -EINVAL. For values that are more than one setting. */
int config_duration(struct str text, int64_t *ret_ms);
/* Appends the value as text; nothing when it is unset. Does not know of secrets. */
int config_value_print(struct buf *out, const struct config_option *o, const void *field);
void config_value_json(struct jw *w, const struct config_option *o, const void *field);
/* True for a string or list that has no value. */
bool config_value_is_unset(const struct config_option *o, const void *field);
/* Overwrites what a secret's FIELD points to. */
void config_value_wipe(const struct config_option *o, void *field);
