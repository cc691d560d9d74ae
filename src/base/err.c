/* SPDX-License-Identifier: MIT */
/* Errors with context: see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* strerror() that does not race with other threads; the descriptions live in libc's tables. */
static const char *errno_text(int code)
{
#ifdef __GLIBC__
    const char *text = strerrordesc_np(-code);
#else
    const char *text = strerror(-code); /* musl: constant strings */
#endif

    return text ? text : "Unknown error";
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;

    if (!e)
        return code;
    e->code = code;
    va_start(ap, fmt);
    (void)vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return code;
}

int err_sys(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;

    if (!e)
        return code;
    e->code = code;
    va_start(ap, fmt);
    (void)vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);

    size_t len = strlen(e->text);
    (void)snprintf(e->text + len, sizeof e->text - len, ": %s", errno_text(code));
    return code;
}

int err_ctx(struct err *e, int code, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    if (!e)
        return code;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);

    const char *cause = e->code != 0 && e->text[0] ? e->text : errno_text(code);
    size_t len = strlen(text);
    (void)snprintf(text + len, sizeof text - len, ": %s", cause);
    memcpy(e->text, text, sizeof text);
    e->code = code;
    return code;
}

const char *err_text(const struct err *e)
{
    return e->text[0] ? e->text : errno_text(e->code);
}
