/* SPDX-License-Identifier: MIT */
/* GET /api/v1/logs/sandbox/{name}: what the sandbox's main process wrote. */
#include <errno.h>

#include "api/native/forward.h"
#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "core/sandbox.h"

enum { TAIL_DEFAULT = 200, TAIL_MAX = 2000, TARGET_MAX = 16 << 10 };

/* 0, or -EINVAL after answering. */
static int read_tail(struct api_req *r, int64_t *ret)
{
    struct str text = str_trim(api_query(r, "tailLines"));
    int64_t lines = TAIL_DEFAULT;
    int code = text.len > 0 ? str_to_i64(text, &lines) : 0;

    if (code == -EINVAL) {
        api_error(r, 400, "invalid tailLines: \"" STR_FMT "\" is not a number",
                  STR_ARG(str_slice(text, 0, 100)));
        return code;
    }
    if (code == -ERANGE)
        lines = text.p[0] == '-' ? -1 : TAIL_MAX;
    if (lines <= 0) {
        api_error(r, 400, "tailLines must be a positive integer");
        return -EINVAL;
    }
    *ret = lines < TAIL_MAX ? lines : TAIL_MAX;
    return 0;
}

void native_logs(struct api_req *r)
{
    static const char *const passed[] = {"follow", "since", "timestamps"};
    struct buf target auto_buf = BUF_INIT(TARGET_MAX);
    struct sandbox *sb = native_find_sandbox(r);
    int64_t lines;

    if (!sb || read_tail(r, &lines) < 0)
        return;
    (void)buf_printf(&target, "/log?tailLines=%lld", (long long)lines);
    for (size_t i = 0; i < ARRAY_LEN(passed); i++) {
        struct str value = api_query(r, passed[i]);
        if (value.len == 0)
            continue;
        (void)buf_printf(&target, "&%s=", passed[i]);
        (void)enc_percent(&target, value);
    }
    native_forward_own(r, sb, buf_ok(&target) ? arena_str(r->arena, buf_str(&target)) : STR_NULL,
                       true);
}
