/* SPDX-License-Identifier: MIT */
/* Envelopes of the Connect protocol. Byte 0 is the size of the pieces; the rest is read whole and
 * in pieces, which must give the same envelopes and the same error. */
#include <stdlib.h>

#include "envd/envelope.h"
#include "fuzz.h"

enum { MAX = 4096 };

struct result {
    uint64_t hash; /* over all envelopes */
    ssize_t error;
    bool is_partial;
};

static struct result read_all(struct str text, size_t size)
{
    struct envelope_reader r;
    struct result result = {0};

    envelope_reader_init(&r, MAX);
    while (text.len > 0 && result.error == 0) {
        struct str piece = str_slice(text, 0, size);
        text = str_skip(text, piece.len);
        while (piece.len > 0 && result.error == 0) {
            struct envelope env;
            bool is_whole;
            ssize_t used = envelope_read(&r, piece, &env, &is_whole);
            if (used == 0 || used > (ssize_t)piece.len)
                abort();
            result.error = used < 0 ? used : 0;
            piece = str_skip(piece, used < 0 ? 0 : (size_t)used);
            if (used < 0 || !is_whole)
                continue;
            if (env.payload.len > MAX)
                abort();
            result.hash = str_hash(env.payload, result.hash * 31 + env.flags + 1);
        }
    }
    result.is_partial = envelope_is_partial(&r);
    envelope_reader_done(&r);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct str text = str_n((const char *)data + 1, size - 1);
    struct result whole = read_all(text, size), parts = read_all(text, data[0] % 32 + 1);
    if (whole.hash != parts.hash || whole.error != parts.error)
        abort();
    if (whole.error == 0 && whole.is_partial != parts.is_partial)
        abort();
    return 0;
}
