/* SPDX-License-Identifier: MIT */
/* How the Klavis surface reports faults: as a FastAPI service does. {"detail":"text"} for
 * everything but 422, whose detail is a list of items with type, place and message. A missing key
 * is 401, an unknown one 403. */
#include "api/klavis/shape.h"

#include "api/fault.h"
#include "base/json.h"

struct shape_item {
    const char *type, *loc[2], *msg;
};

static const struct shape_item items[API_FAULT_COUNT] = {
    [API_FAULT_BODY_JSON] = {"json_invalid", {"body"}, "JSON decode error"},
    [API_FAULT_BODY_NONE] = {"missing", {"body"}, "Field required"},
    [API_FAULT_IDEM_REUSED] = {"value_error", {"header", "idempotency-key"}, NULL},
};

static const struct {
    int status;
    const char *text;
} details[API_FAULT_COUNT] = {
    [API_FAULT_NO_KEY] = {401, "Not authenticated"},
    [API_FAULT_BAD_KEY] = {403, "Invalid API key"},
    [API_FAULT_NO_ROUTE] = {404, "Not Found"},
    [API_FAULT_BAD_METHOD] = {405, "Method Not Allowed"},
};

/* One item of a validation error. */
static void write_shape_item(struct jw *w, const struct api_fault *f)
{
    const struct shape_item *it = &items[f->kind];
    struct str text = api_fault_text(f);

    jw_object(w);
    jw_key(w, "type");
    jw_cstr(w, it->type ? it->type : "value_error");
    jw_key(w, "loc");
    jw_array(w);
    jw_cstr(w, it->loc[0] ? it->loc[0] : "body");
    if (it->loc[1])
        jw_cstr(w, it->loc[1]);
    jw_end(w);
    jw_key(w, "msg");
    jw_str(w, it->msg ? str_of(it->msg) : text);
    if (f->kind == API_FAULT_BODY_JSON) {
        jw_key(w, "input");
        jw_object(w);
        jw_end(w);
        jw_key(w, "ctx");
        jw_object(w);
        jw_key(w, "error");
        jw_str(w, text);
        jw_end(w);
    } else {
        jw_key(w, "input");
        jw_null(w);
    }
    jw_end(w);
}

int klavis_shape(struct buf *out, const struct api_fault *f)
{
    struct jw w = jw_to(out);
    int status = items[f->kind].type ? 422 : api_fault_status(f);
    struct str text = api_fault_text(f);

    if (details[f->kind].text && f->text.len == 0) {
        status = details[f->kind].status;
        text = str_of(details[f->kind].text);
    }
    jw_object(&w);
    jw_key(&w, "detail");
    if (status == 422) {
        jw_array(&w);
        write_shape_item(&w, f);
        jw_end(&w);
    } else {
        jw_str(&w, text);
    }
    jw_end(&w);
    return status;
}
