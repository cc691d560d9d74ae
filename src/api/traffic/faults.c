/* SPDX-License-Identifier: MIT */
/* How faults of traffic are reported. Clients of E2B compare some of the texts. */
#include "api/internal.h"
#include "api/traffic/traffic.h"
#include "base/cleanup.h"

enum { BODY_MAX = 4096 };

/* A person looks at a page: not a program, nor a script of a page. */
static bool is_browser(const struct http_head *head)
{
    return str_starts(http_header_get(&head->headers, "user-agent"), STR("Mozilla/")) &&
           str_find(http_header_get(&head->headers, "accept"), STR("text/html")) >= 0;
}

/* Nothing in it needs escapes: ids are letters and digits, messages our own. */
static void put_fault_page(struct buf *out, const struct traffic_fault *f)
{
    (void)buf_printf(out,
                     "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta name=\"viewport\" content=\"width=device-width\">"
                     "<title>%d %s</title><style>body{font:16px/1.5 system-ui,sans-serif;"
                     "max-width:34em;margin:15vh auto;padding:0 1em;color:#222}"
                     "code{background:#eee;padding:.1em .3em;border-radius:.2em}</style></head>"
                     "<body><h1>%s</h1><p>Sandbox <code>" STR_FMT "</code></p>",
                     f->status, http_status_text(f->status), f->message, STR_ARG(f->id));
    if (f->port)
        (void)buf_printf(out,
                         "<p>Nothing is listening on port <code>%u</code> in the sandbox. Start "
                         "the service, then reload this page.</p>",
                         f->port);
    (void)buf_add_lit(out, "</body></html>\n");
}

static void put_fault_json(struct buf *out, const struct traffic_fault *f)
{
    struct jw w = jw_to(out);

    jw_object(&w);
    jw_key(&w, "sandboxId");
    jw_str(&w, f->id);
    jw_key(&w, "message");
    jw_cstr(&w, f->message);
    if (f->port) {
        jw_key(&w, "port");
        jw_int(&w, f->port);
    }
    jw_key(&w, "code");
    jw_int(&w, f->status);
    jw_end(&w);
}

void traffic_fault(struct api_req *r, const struct traffic_fault *f)
{
    struct buf body auto_buf = BUF_INIT(BODY_MAX);
    bool is_page = is_browser(&r->http->head);

    if (is_page)
        put_fault_page(&body, f);
    else
        put_fault_json(&body, f);
    if (!buf_ok(&body)) {
        api_reply(r, f->status, NULL, STR_NULL);
        return;
    }
    api_reply(r, f->status,
              is_page ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
              buf_str(&body));
}

void traffic_not_found(struct api_req *r, struct str id)
{
    traffic_fault(r, &(struct traffic_fault){502, id, 0, "The sandbox was not found"});
}
