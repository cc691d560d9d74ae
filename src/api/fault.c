/* SPDX-License-Identifier: MIT */
/* Faults: see fault.h. */
#include "api/fault.h"

#include "base/json.h"
#include "net/http.h"

static const struct {
    int status;
    const char *text;
} kinds[API_FAULT_COUNT] = {
    [API_FAULT_PLAIN] = {500, ""},
    [API_FAULT_NO_KEY] = {401, "Unauthorized"},
    [API_FAULT_BAD_KEY] = {401, "Unauthorized"},
    [API_FAULT_NOT_SYSTEM] = {403, "this operation requires system token access"},
    [API_FAULT_ONLY_GRADES] = {403, "a grader key may only inspect what was done in apps"},
    [API_FAULT_ONLY_METRICS] = {403, "this key may only read /metrics"},
    [API_FAULT_NO_ROUTE] = {404, "no such path"},
    [API_FAULT_BAD_METHOD] = {405, "method not allowed"},
    [API_FAULT_BAD_PATH] = {400,
                            "malformed path: dot segments and invalid escapes are not allowed"},
    [API_FAULT_BODY_JSON] = {400, "failed to decode request body"},
    [API_FAULT_BODY_NONE] = {400, "failed to decode request body: the body is empty"},
    [API_FAULT_IDEM_REUSED] = {422, "this Idempotency-Key was used for another request"},
    [API_FAULT_IDEM_BUSY] = {409, "the request with this Idempotency-Key is still in progress"},
    [API_FAULT_RATE] = {429, "rate limit exceeded, please retry later"},
    [API_FAULT_BUSY] = {503, "the service is busy, please retry"},
    [API_FAULT_FULL] = {507, "the disk of the service is full: delete something, or retry later"},
};

int api_fault_status(const struct api_fault *f)
{
    return f->status ? f->status : kinds[f->kind].status;
}

struct str api_fault_text(const struct api_fault *f)
{
    if (f->text.len > 0)
        return f->text;
    const char *own = kinds[f->kind].text;
    return str_of(*own ? own : http_status_text(api_fault_status(f)));
}

int api_fault_code_message(struct buf *out, const struct api_fault *f)
{
    struct jw w = jw_to(out);
    struct str text = api_fault_text(f);

    jw_object(&w);
    jw_key(&w, "code");
    jw_int(&w, api_fault_status(f));
    jw_key(&w, "message");
    if (f->kind == API_FAULT_BODY_JSON && f->text.len > 0) {
        struct buf line auto_buf = BUF_INIT(1024);
        (void)buf_printf(&line, "%s: " STR_FMT, kinds[f->kind].text, STR_ARG(f->text));
        jw_str(&w, buf_ok(&line) ? buf_str(&line) : text);
    } else {
        jw_str(&w, text);
    }
    jw_end(&w);
    return api_fault_status(f);
}
