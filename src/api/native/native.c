/* SPDX-License-Identifier: MIT */
/* The envelope of the native surface: see native.h. */
#include "api/native/native.h"

#include <stdarg.h>

struct jw native_begin(struct buf *out)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    jw_key(&w, "code");
    jw_cstr(&w, "0");
    jw_key(&w, "data");
    return w;
}

void native_end(struct jw *w)
{
    jw_end(w);
}

void native_reply_text(struct api_req *r, const char *fmt, ...)
{
    struct buf body auto_buf = BUF_INIT(4096);
    struct jw w = native_begin(&body);
    va_list ap;

    va_start(ap, fmt);
    jw_str(&w, arena_vprintf(r->arena, fmt, ap));
    va_end(ap);
    native_end(&w);
    api_reply_json(r, 200, &body);
}
