/* SPDX-License-Identifier: MIT */
/* The envelope of the native surface: see native.h. */
#include "api/native/native.h"

#include <errno.h>
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

/* ---- reading bodies ---- */

static int refuse(struct api_req *r, const char *name, const char *type)
{
    api_error(r, 400, "failed to decode request body: %s must be %s", name, type);
    return -EINVAL;
}

int native_read_object(struct api_req *r)
{
    return !r->body || json_is(r->body, JSON_OBJECT) ? 0 : refuse(r, "it", "an object");
}

/* Member NAME, or NULL when it is absent or null. */
static const struct json *member(const struct api_req *r, const char *name)
{
    const struct json *v = json_get(r->body, name);

    return json_is(v, JSON_NULL) ? NULL : v;
}

int native_read_str(struct api_req *r, const char *name, struct str *ret)
{
    const struct json *v = member(r, name);

    if (v && !json_is(v, JSON_STRING))
        return refuse(r, name, "a string");
    if (v)
        *ret = v->s;
    return 0;
}

int native_read_int(struct api_req *r, const char *name, int64_t *ret)
{
    const struct json *v = member(r, name);

    if (!v)
        return 0;
    *ret = json_int(v, INT64_MIN);
    return *ret != INT64_MIN ? 0 : refuse(r, name, "an integer");
}

int native_read_bool(struct api_req *r, const char *name, bool *ret)
{
    const struct json *v = member(r, name);

    if (v && !json_is(v, JSON_BOOL))
        return refuse(r, name, "true or false");
    if (v)
        *ret = v->b;
    return 0;
}
