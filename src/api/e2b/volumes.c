/* SPDX-License-Identifier: MIT */
/* Volumes of the account: POST and GET /volumes, GET and DELETE /volumes/{id}. */
#include <errno.h>

#include "api/body.h"
#include "api/e2b/e2b.h"
#include "base/cleanup.h"
#include "core/volume.h"

enum { ANSWER_MAX = 16 << 20 };

static void put_volume(struct jw *w, const struct volume *v, bool with_token)
{
    jw_object(w);
    jw_key(w, "volumeID");
    jw_cstr(w, v->id);
    jw_key(w, "name");
    jw_cstr(w, v->name);
    if (with_token) {
        jw_key(w, "token");
        jw_cstr(w, v->token);
    }
    jw_end(w);
}

static void reply_volume(struct api_req *r, int status, const struct volume *v)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    put_volume(&w, v, true);
    api_reply_json(r, status, &body);
}

/* A name that is taken is a bad request there; what is in use is a conflict. */
static void fail_volume(struct api_req *r, int code, const struct err *e)
{
    if (code == -EEXIST)
        api_error(r, 400, "%s", err_text(e));
    else if (code == -EBUSY)
        api_error(r, 409, "%s", err_text(e));
    else if (code == -EDQUOT)
        api_error(r, 429, "%s", err_text(e));
    else
        e2b_fail(r, NULL, code, e);
}

static struct volume *find_e2b_volume(struct api_req *r)
{
    struct str id = api_param(r, "id");
    struct volume *v = volume_find(r->core->volumes, id);

    if (v && api_may_see(r, str_of(v->account)))
        return v;
    api_error(r, 404, "Volume '" STR_FMT "' not found", STR_ARG(str_slice(id, 0, 100)));
    return NULL;
}

/* ---- the endpoints ---- */

static void on_volume_created(void *ctx, struct volume *v, const struct err *e)
{
    if (v)
        reply_volume(ctx, 201, v);
    else
        fail_volume(ctx, e->code, e);
}

void e2b_volume_create(struct api_req *r)
{
    struct str name = STR_NULL;
    struct err e = ERR_INIT;

    if (api_body_object(r) < 0 || api_body_str(r, "name", &name) < 0)
        return;
    int code = volume_create(r->core->volumes, r->key, name, on_volume_created, r, &e);
    if (code < 0)
        fail_volume(r, code, &e);
}

void e2b_volumes(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&body);

    jw_array(&w);
    for (const struct volume *v = NULL; (v = volume_next(r->core->volumes, v));)
        if (str_is(str_of(r->key->account->id), v->account))
            put_volume(&w, v, false);
    jw_end(&w);
    api_reply_json(r, 200, &body);
}

void e2b_volume(struct api_req *r)
{
    const struct volume *v = find_e2b_volume(r);

    if (v)
        reply_volume(r, 200, v);
}

static void on_volume_deleted(void *ctx, struct volume *v, const struct err *e)
{
    struct api_req *r = ctx;

    if (v)
        api_reply(r, 204, NULL, STR_NULL);
    else
        fail_volume(r, e->code, e);
}

void e2b_volume_delete(struct api_req *r)
{
    struct volume *v = find_e2b_volume(r);
    struct err e = ERR_INIT;

    if (!v)
        return;
    int code = volume_delete(v, on_volume_deleted, r, &e);
    if (code < 0)
        fail_volume(r, code, &e);
}
