/* SPDX-License-Identifier: MIT */
/* Arithmetic: a result or a reason, whatever the text. */
#include <stdlib.h>

#include "apps/calc/calc.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_buf struct buf out = BUF_INIT(1 << 16);
    struct err e = ERR_INIT;
    int r = calc_eval(str_n((const char *)data, size), &out, &e);

    if (!buf_ok(&out) || (r < 0 ? e.code != r || out.len > 0 : out.len == 0))
        abort();
    return 0;
}
