/* SPDX-License-Identifier: MIT */
/* Errors with context. A failing function returns a negative errno and, when a person will read
 * the failure, fills the caller's struct err. Every layer may put its own words in front once:
 *
 *     r = open_state(dir, e);
 *     if (r < 0)
 *         return err_ctx(e, r, "state directory '%s'", dir);
 *
 * gives "state directory '/x': open: Permission denied". No function here allocates; all accept
 * e == NULL. On success an err is left untouched. */
#pragma once

#include <stddef.h>

#define ERR_TEXT_MAX 384

struct err {
    int code; /* negative errno, or 0 when nothing was recorded */
    char text[ERR_TEXT_MAX];
};

#define ERR_INIT                                                                                   \
    {                                                                                              \
        0                                                                                          \
    }

/* Records CODE (negative errno) and a message of its own. Returns CODE. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Records CODE and "message: strerror(-CODE)". Returns CODE. */
int err_sys(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "message: " before what E says (strerror(-CODE) when it says nothing). Returns CODE. */
int err_ctx(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What E says, never empty: falls back to the errno's text. */
const char *err_text(const struct err *e);
