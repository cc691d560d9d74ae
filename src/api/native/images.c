/* SPDX-License-Identifier: MIT */
/* /api/v1/image: images that sandboxes can be created from. Everybody sees them, the operator
 * imports and removes them. */
#include <errno.h>

#include "api/body.h"
#include "api/native/native.h"
#include "base/clock.h"
#include "base/json_pair.h"
#include "core/core.h"
#include "core/image.h"
#include "core/templates.h"
#include "net/http.h"

enum { LIST_MAX = 64 << 20, ANSWER_MAX = 1 << 20 };

/* ---- showing ---- */

static void put_image_text(struct jw *w, const char *name, struct str s)
{
    jw_key(w, name);
    jw_str(w, s.p ? s : STR(""));
}

/* Sandboxes that were created from it, paused ones included. */
static int64_t n_users(const struct root *r)
{
    return (int64_t)r->n_refs - 1;
}

static void put_image(struct jw *w, const struct root *r, bool is_whole)
{
    char text[CLOCK_RFC3339_MAX];

    clock_rfc3339(text, r->created_us);
    jw_object(w);
    put_image_text(w, "name", r->args.name);
    put_image_text(w, "id", str_of(r->id));
    put_image_text(w, "digest", r->args.origin);
    jw_pair_int(w, "size", (int64_t)r->args.bytes);
    jw_pair_int(w, "layers", (int64_t)r->args.n_layers);
    jw_pair_int(w, "sandboxes", n_users(r));
    put_image_text(w, "created_at", str_of(text));
    if (is_whole) {
        jw_key(w, "config");
        jw_value(w, r->args.config);
    }
    jw_end(w);
}

static void put_import(struct jw *w, const struct image_import *i)
{
    struct image_progress p;
    enum image_phase phase = image_import_state(i, &p);
    bool has_name = i->is_named || phase >= IMAGE_UNPACKING;

    jw_object(w);
    put_image_text(w, "id", str_of(i->id));
    put_image_text(w, "name", has_name ? str_of(i->name) : STR(""));
    put_image_text(w, "source", str_of(i->source));
    put_image_text(w, "status", str_of(image_phase_name(phase)));
    jw_pair_int(w, "layers", p.n_layers);
    jw_pair_int(w, "layers_done", p.n_done);
    jw_pair_int(w, "bytes", (int64_t)p.bytes);
    jw_pair_int(w, "total", (int64_t)p.total);
    if (phase == IMAGE_FAILED)
        put_image_text(w, "error", str_of(err_text(&i->e)));
    jw_end(w);
}

void native_images(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = native_begin(&body);

    jw_array(&w);
    for (const struct root *i = NULL; (i = root_next(r->core->roots, i));)
        if (i->args.kind == ROOT_IMAGE)
            put_image(&w, i, false);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

/* By name or id; answers when there is none. */
static struct root *find_named_image(struct api_req *r)
{
    struct str name = http_decode_segment(r->arena, api_param(r, "name"));
    struct root *i = root_find(r->core->roots, name);

    if (!i || i->args.kind != ROOT_IMAGE || i->is_removed)
        i = root_find_image(r->core->roots, name, NULL);
    if (!i)
        api_error(r, 404, "image " STR_FMT " not found", STR_ARG(str_slice(name, 0, 100)));
    return i;
}

void native_image(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);
    const struct root *i = find_named_image(r);

    if (!i)
        return;
    put_image(&w, i, true);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

/* ---- importing ---- */

static void reply_import(struct api_req *r, int status, const struct image_import *i)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);

    put_import(&w, i);
    native_end(&w);
    api_reply_json(r, status, &body);
}

void native_image_import(struct api_req *r)
{
    struct str source = STR_NULL, name = STR_NULL;
    const struct image_import *i;
    struct err e = ERR_INIT;

    if (api_body_object(r) < 0 || api_body_str(r, "source", &source) < 0 ||
        api_body_str(r, "name", &name) < 0)
        return;
    int code = image_import(r->core->roots, source, name, &i, &e);
    if (code < 0)
        native_sandbox_fail(r, code, &e);
    else
        reply_import(r, 202, i);
}

void native_image_imports(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = native_begin(&body);

    jw_array(&w);
    for (const struct image_import *i = NULL; (i = image_import_next(r->core->roots, i));)
        put_import(&w, i);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

void native_image_imported(struct api_req *r)
{
    struct str id = api_param(r, "id");
    const struct image_import *i = image_import_find(r->core->roots, id);

    if (i)
        reply_import(r, 200, i);
    else
        api_error(r, 404, "import " STR_FMT " not found", STR_ARG(str_slice(id, 0, 100)));
}

/* ---- removing ---- */

void native_image_delete(struct api_req *r)
{
    struct root *i = find_named_image(r);

    if (!i)
        return;
    int64_t n = n_users(i);
    struct str name = arena_str(r->arena, i->args.name);
    root_remove(i);
    if (n > 0)
        native_reply_text(r, "Image " STR_FMT " deleted; %lld sandboxes still have it",
                          STR_ARG(name), (long long)n);
    else
        native_reply_text(r, "Image " STR_FMT " deleted", STR_ARG(name));
}

/* The image of a dynamic template has a part that every request fills in. */
static bool is_image_of(const struct template *t, const struct root *i)
{
    struct str image = str_of(t->image), name = i->args.name;
    struct str fixed = str_cut(&image, '<');
    if (t->is_dynamic)
        return str_starts(name, fixed);
    return str_eq(name, fixed) ||
           (str_starts(name, fixed) && str_is(str_skip(name, fixed.len), ":latest"));
}

/* A template that names it may be asked for at any time. */
static bool is_named_by_template(const struct api_req *r, const struct root *i)
{
    const struct template_list *all = templates_list(r->core->templates);
    const struct template *t;

    for (size_t n = 0; (t = template_list_at(all, n)); n++)
        if (is_image_of(t, i))
            return true;
    return false;
}

void native_image_gc(struct api_req *r)
{
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = native_begin(&body);
    int64_t bytes = 0;

    jw_object(&w);
    jw_key(&w, "deleted");
    jw_array(&w);
    for (struct root *next = root_next(r->core->roots, NULL), *i; (i = next);) {
        next = root_next(r->core->roots, i);
        if (i->args.kind != ROOT_IMAGE || n_users(i) > 0 || is_named_by_template(r, i))
            continue;
        jw_str(&w, i->args.name);
        bytes += (int64_t)i->args.bytes;
        root_remove(i);
    }
    jw_end(&w);
    jw_pair_int(&w, "bytes", bytes);
    jw_end(&w);
    native_end(&w);
    roots_sweep(r->core->roots);
    api_reply_json(r, 200, &body);
}
