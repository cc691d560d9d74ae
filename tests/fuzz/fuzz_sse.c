/* SPDX-License-Identifier: MIT */
/* Server-sent events. Byte 0 is the size of the pieces; the remaining bytes are parsed whole and in
 * pieces, and both must give the same events. An event that was parsed, written again and parsed
 * again is the same event. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "net/sse.h"

enum { MAX_EVENT = 4096 };

struct result {
    uint64_t hash; /* over all events */
    unsigned n_events;
    int error;
};

static uint64_t hash_event(const struct sse_event *ev, uint64_t seed)
{
    return str_hash(ev->data, str_hash(ev->id, str_hash(ev->event, seed)));
}

static int on_again(void *ctx, const struct sse_event *ev)
{
    struct result *r = ctx;

    r->hash = hash_event(ev, 0);
    r->n_events++;
    return 0;
}

/* A name may come with a NUL, which is never written. */
static void check_round_trip(const struct sse_event *ev)
{
    auto_buf struct buf wire = BUF_INIT(16 * MAX_EVENT);
    struct sse_parser p;
    struct result again = {0};
    int r = sse_format(&wire, ev);

    if (r == -EINVAL && str_chr(ev->event, '\0') >= 0)
        return;
    if (r < 0)
        abort();
    sse_parser_init(&p, 2 * MAX_EVENT);
    if (sse_parser_feed(&p, buf_str(&wire), on_again, &again) < 0 || again.n_events != 1 ||
        again.hash != hash_event(ev, 0))
        abort();
    sse_parser_done(&p);
}

static int on_event(void *ctx, const struct sse_event *ev)
{
    struct result *r = ctx;

    if (!ev->data.p || ev->data.len > MAX_EVENT || str_chr(ev->id, '\0') >= 0)
        abort();
    check_round_trip(ev);
    r->hash = hash_event(ev, r->hash);
    r->n_events++;
    return 0;
}

static struct result parse(struct str bytes, size_t piece)
{
    struct result r = {0};
    struct sse_parser p;

    sse_parser_init(&p, MAX_EVENT);
    while (bytes.len > 0 && r.error == 0) {
        struct str some = str_slice(bytes, 0, piece);
        r.error = sse_parser_feed(&p, some, on_event, &r);
        bytes = str_skip(bytes, some.len);
    }
    sse_parser_done(&p);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct str bytes = str_n((const char *)data + 1, size - 1);
    struct result whole = parse(bytes, size), parts = parse(bytes, data[0] % 16U + 1);
    if (whole.hash != parts.hash || whole.n_events != parts.n_events || whole.error != parts.error)
        abort();
    return 0;
}
