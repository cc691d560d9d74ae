/* SPDX-License-Identifier: MIT */
/* Members of JSON bodies: see body.h. */
#include "api/body.h"

#include <errno.h>

static int refuse_member(struct api_req *r, const char *name, const char *type)
{
    api_error(r, 400, "failed to decode request body: %s must be %s", name, type);
    return -EINVAL;
}

int api_body_object(struct api_req *r)
{
    return !r->body || json_is(r->body, JSON_OBJECT) ? 0 : refuse_member(r, "it", "an object");
}

const struct json *api_body_member(const struct api_req *r, const char *name)
{
    const struct json *v = json_get(r->body, name);

    return json_is(v, JSON_NULL) ? NULL : v;
}

int api_body_str(struct api_req *r, const char *name, struct str *ret)
{
    const struct json *v = api_body_member(r, name);

    if (v && !json_is(v, JSON_STRING))
        return refuse_member(r, name, "a string");
    if (v)
        *ret = v->s;
    return 0;
}

int api_body_int(struct api_req *r, const char *name, int64_t *ret)
{
    const struct json *v = api_body_member(r, name);

    if (!v)
        return 0;
    *ret = json_int(v, INT64_MIN);
    return *ret != INT64_MIN ? 0 : refuse_member(r, name, "an integer");
}

int api_body_bool(struct api_req *r, const char *name, bool *ret)
{
    const struct json *v = api_body_member(r, name);

    if (v && !json_is(v, JSON_BOOL))
        return refuse_member(r, name, "true or false");
    if (v)
        *ret = v->b;
    return 0;
}
