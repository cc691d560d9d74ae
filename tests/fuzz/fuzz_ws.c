/* SPDX-License-Identifier: MIT */
/* WebSocket frames. Byte 0: bit 0 the role, the rest the size of the pieces. The remaining bytes
 * are decoded whole and in pieces; both must give the same events. */
#include <stdlib.h>

#include "fuzz.h"
#include "net/ws_frame.h"

enum { MAX_FRAME = 5000, MAX_MESSAGE = 6000 };

struct result {
    uint64_t events; /* a hash over all of them */
    ssize_t error;
};

static void add_event(struct result *r, const struct ws_event *ev)
{
    if (ev->op == WS_TEXT && !str_is_utf8(ev->data))
        abort();
    if (ev->op == WS_CLOSE && ev->code != WS_CODE_NONE && !ws_is_close_code(ev->code))
        abort();
    if (ev->data.len > MAX_MESSAGE || (ev->op >= WS_CLOSE && ev->data.len > WS_CONTROL_MAX))
        abort();
    r->events = str_hash(ev->data, r->events * 31 + ev->op + (uint64_t)ev->code * 7);
}

static struct result decode(bool is_server, const char *p, size_t len, size_t piece)
{
    struct result r = {0};
    struct ws_decoder d;

    ws_decoder_init(&d, is_server, MAX_FRAME, MAX_MESSAGE);
    while (len > 0 && r.error == 0) {
        struct ws_event ev;
        ssize_t n = ws_decode(&d, p, len < piece ? len : piece, &ev);
        if (n == 0)
            abort();
        if (n < 0) {
            r.error = n;
            break;
        }
        if (ev.op)
            add_event(&r, &ev);
        p += n;
        len -= (size_t)n;
    }
    ws_decoder_done(&d);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *p = (const char *)data + 1;
    struct result whole = decode(data[0] & 1, p, size - 1, size);
    struct result parts = decode(data[0] & 1, p, size - 1, (size_t)(data[0] >> 1) % 16 + 1);
    if (whole.events != parts.events || whole.error != parts.error)
        abort();
    return 0;
}
