/* SPDX-License-Identifier: MIT */
/* GET /api/v1/terminal/sandbox/{name}/ws: a terminal over a WebSocket. The protocol is spoken
 * inside the sandbox; here it is only decided who may. */
#include "api/native/forward.h"
#include "api/native/native.h"
#include "core/sandbox.h"

void native_terminal_ws(struct api_req *r)
{
    const struct http_head *head = &r->http->head;
    struct sandbox *sb = native_find_sandbox(r);

    if (!sb)
        return;
    if (!head->is_upgrade || !http_header_has(&head->headers, "upgrade", "websocket")) {
        (void)http_add_header(r->http, "Upgrade", STR("websocket"));
        api_error(r, 400, "upgrade required: this endpoint is a WebSocket");
        return;
    }
    native_forward_own(r, sb, STR("/terminal"), false);
}
