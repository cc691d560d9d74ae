/* SPDX-License-Identifier: MIT */
/* GET /api/v1/logs/sandbox/{name}: what the sandbox's main process wrote. One that runs is asked;
 * of paused ones, and for a while of deleted ones, it was kept. */
#include <errno.h>

#include "api/native/forward.h"
#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "core/core.h"
#include "core/sandbox.h"

enum { TAIL_DEFAULT = 200, TAIL_MAX = 2000, TARGET_MAX = 16 << 10 };
#define SINCE_MAX_S INT64_C(253402300799) /* the end of the year 9999 */

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

/* Seconds since 1970, or a time in UTC as RFC 3339 writes it: without its Z, as kept logs want it.
 * 0, or -EINVAL after answering. */
static int read_since(struct api_req *r, struct str *ret)
{
    static const char form[] = "0000-00-00T00:00:00";
    struct str text = api_query(r, "since");
    int64_t s;

    *ret = STR("");
    if (text.len == 0)
        return 0;
    if (str_to_i64(text, &s) == 0) {
        char time[CLOCK_RFC3339_MAX];
        clock_rfc3339(time, s > 0 && s < SINCE_MAX_S ? s * 1000000 : 0);
        *ret = arena_printf(r->arena, "%.19s", time);
        if (!ret->p)
            api_fail(r, -ENOMEM, NULL);
        return ret->p ? 0 : -ENOMEM;
    }
    bool is_time = str_ends(text, STR("Z")) && text.len >= sizeof form;
    for (size_t i = 0; is_time && i < sizeof form - 1; i++)
        is_time = form[i] == '0' ? text.p[i] >= '0' && text.p[i] <= '9' : text.p[i] == form[i];
    if (!is_time) {
        api_error(r, 400, "invalid since: " STR_FMT, STR_ARG(str_slice(text, 0, 100)));
        return -EINVAL;
    }
    *ret = str_slice(text, 0, text.len - 1);
    return 0;
}

static bool is_query_on(const struct api_req *r, const char *name)
{
    struct str value = api_query(r, name);

    return str_is(value, "true") || str_is(value, "1");
}

static void answer_sandbox_log(struct api_req *r, const char *name, struct str logs)
{
    struct buf body auto_buf = BUF_INIT(SANDBOX_LOG_JSON_MAX + 4096);
    const struct {
        const char *key, *value;
    } members[] = {{"sandbox", name}, {"pod", name}, {"container", "sandbox"}};
    char now[CLOCK_RFC3339_MAX];
    struct jw w = native_begin(&body);

    clock_rfc3339(now, clock_real_us());
    jw_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        jw_key(&w, members[i].key);
        jw_cstr(&w, members[i].value);
    }
    jw_key(&w, "logs");
    jw_str(&w, logs);
    jw_key(&w, "fetchedAt");
    jw_cstr(&w, now);
    jw_end(&w);
    native_end(&w);
    api_reply_json(r, 200, &body);
}

/* What was kept of a sandbox that cannot be asked; LOG is NULL when nothing was. It does not go on,
 * so to follow it is to read it. */
static void answer_kept(struct api_req *r, const char *name, const struct sandbox_log *log,
                        int64_t lines)
{
    struct buf text auto_buf = BUF_INIT(SANDBOX_LOG_MAX);
    struct sandbox_log_view v = {.tail = lines, .has_times = is_query_on(r, "timestamps")};

    if (read_since(r, &v.since) < 0)
        return;
    int code = log ? sandbox_log_read(r->core->sandboxes, log, &v, &text) : 0;
    struct str logs = text.p ? buf_str(&text) : STR("");
    if (code < 0)
        api_fail(r, code, NULL);
    else if (is_query_on(r, "follow"))
        api_reply(r, 200, "text/plain; charset=utf-8", logs);
    else
        answer_sandbox_log(r, name, logs);
}

static void ask_sandbox_for_log(struct api_req *r, struct sandbox *sb, int64_t lines)
{
    static const char *const passed[] = {"follow", "since", "timestamps"};
    struct buf target auto_buf = BUF_INIT(TARGET_MAX);

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

void native_logs(struct api_req *r)
{
    const struct sandboxes *set = r->core->sandboxes;
    struct str name = api_param(r, "name");
    struct sandbox *sb = sandbox_find_for(set, name, r->key);
    bool is_running = sb && sandbox_state(sb) == SANDBOX_RUNNING;
    const struct sandbox_log *log =
        is_running ? NULL : sandbox_log_find(set, sb ? str_of(sb->id) : name, r->key);
    int64_t lines;

    if (!sb && !log)
        native_sandbox_fail(r, -ENOENT, NULL);
    else if (read_tail(r, &lines) < 0)
        return;
    else if (is_running)
        ask_sandbox_for_log(r, sb, lines);
    else
        answer_kept(r, sb ? sb->name : sandbox_log_name(log), log, lines);
}
