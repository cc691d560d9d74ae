/* SPDX-License-Identifier: MIT */
/* Chunked bodies: the same bytes whole and one by one must give the same body and end. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "net/http.h"

struct outcome {
    struct buf body;
    size_t used;
    bool is_done, is_bad;
};

static void decode(struct outcome *o, const char *p, size_t len, size_t step)
{
    struct http_chunked c = {0};

    while (o->used < len && !o->is_done) {
        size_t part = len - o->used < step ? len - o->used : step;
        struct str data;
        ssize_t n = http_chunked_decode(&c, p + o->used, part, &data, &o->is_done);
        if (n < 0) {
            o->is_bad = true;
            return;
        }
        if (n == 0 || (size_t)n > part || data.len > (size_t)n ||
            (data.len && (data.p < p || data.p + data.len > p + len)))
            abort();
        (void)buf_add_str(&o->body, data);
        o->used += (size_t)n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole = {.body = BUF_INIT(1 << 20)}, slow = {.body = BUF_INIT(1 << 20)};
    char *p = malloc(size ? size : 1);

    if (!p)
        return 0;
    if (size)
        memcpy(p, data, size);
    decode(&whole, p, size, size);
    decode(&slow, p, size, 1);
    if (whole.is_bad != slow.is_bad || whole.is_done != slow.is_done)
        abort();
    if (!whole.is_bad &&
        (whole.used != slow.used || !str_eq(buf_str(&whole.body), buf_str(&slow.body))))
        abort();
    buf_done(&whole.body);
    buf_done(&slow.body);
    free(p);
    return 0;
}
