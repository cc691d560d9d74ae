/* SPDX-License-Identifier: MIT */
/* Operations: is the service there, what does it do, what can it do. */
#include "api/ops/ops.h"

#include "api/api.h"
#include "api/req.h"

enum { METRICS_MAX = 16 << 20 };

/* Exactly these two members: clients compare. */
void ops_health(struct api_req *r)
{
    api_reply(r, 200, "application/json",
              STR("{\"status\":\"ok\",\"version\":\"" TIDEPOOL_VERSION "\"}"));
}

/* Any method gets the same document. A body that says it is JSON is parsed, so that a probe can see
 * the whole way of a small JSON request work, and so that it can be measured. */
void ops_health_post(struct api_req *r)
{
    struct str type = http_header_get(&r->http->head.headers, "content-type");
    struct str mime = str_trim(str_cut(&type, ';'));
    struct err e = ERR_INIT;

    if (str_iis(mime, "application/json") && r->http->body.len > 0 &&
        !json_parse(r->arena, r->http->body, NULL, &e)) {
        api_fault(r, API_FAULT_BODY_JSON, str_of(err_text(&e)));
        return;
    }
    ops_health(r);
}

void ops_metrics(struct api_req *r)
{
    struct buf text auto_buf = BUF_INIT(METRICS_MAX);
    int code = api_metrics(r->api, &text);

    if (code < 0)
        api_fail(r, code, NULL);
    else
        api_reply(r, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&text));
}

void ops_openapi(struct api_req *r)
{
    api_reply(r, 200, "application/json", api_openapi(r->api));
}
