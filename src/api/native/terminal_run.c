/* SPDX-License-Identifier: MIT */
/* POST /api/v1/terminal/sandbox/{name}: runs a command and answers with what it wrote.
 *
 * JSON holds text only: with "encoding":"base64" the outputs come as base64, and "stdin_base64" is
 * taken in place of "stdin". With "stream":true the answer is lines of JSON while it runs, see
 * envd/serve_flow.c. Otherwise bytes that are no UTF-8 are replaced. */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

#include "api/body.h"
#include "api/native/forward.h"
#include "api/native/native.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/json_pair.h"
#include "core/core.h"
#include "core/sandbox.h"
#include "core/template.h"
#include "runtime/engine.h"

enum {
    TIMEOUT_DEFAULT_S = 60,
    TIMEOUT_MAX_S = 86400,
    ANSWER_MAX = 12 * PROTO_OUTPUT_MAX, /* escaped, a byte can take six */
    STREAM_MAX = 32 << 20,              /* of a request, input included */
    OOM_CODE = 137
};

struct typed_run {
    struct api_req *req;
    struct sandbox *sb; /* a reference, and held */
    struct str command, cwd, user, input;
    const struct json *env;
    int64_t timeout_ms, start_us;
    bool is_base64; /* the outputs */
};

/* After the answer: the run lives in the request's arena and may be gone with it. */
static void finish_terminal_run(struct sandbox *sb)
{
    sandbox_release(sb);
    sandbox_unref(sb);
}

static int terminal_exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void put_output(struct jw *w, const char *name, struct str s, bool is_base64)
{
    struct buf text auto_buf = BUF_INIT(2 * PROTO_OUTPUT_MAX);

    if (is_base64 && enc_base64(&text, s) < 0)
        w->out->error = text.error;
    jw_pair_str(w, name, is_base64 ? buf_str(&text) : s);
}

static void answer_terminal_run(struct typed_run *t, const struct engine_result *result)
{
    struct buf body auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = native_begin(&body);
    char now[CLOCK_RFC3339_MAX];

    clock_rfc3339(now, clock_real_us());
    jw_object(&w);
    jw_pair_str(&w, "sandbox", str_of(t->sb->name));
    jw_pair_str(&w, "pod", str_of(t->sb->name));
    jw_pair_str(&w, "container", STR("sandbox"));
    jw_pair_str(&w, "command", t->command);
    if (t->is_base64)
        jw_pair_str(&w, "encoding", STR("base64"));
    put_output(&w, "output", result->out, t->is_base64);
    put_output(&w, "errorOutput", result->err, t->is_base64);
    jw_key(&w, "exitCode");
    jw_int(&w, terminal_exit_code(result->status));
    jw_key(&w, "timedOut");
    jw_bool(&w, result->is_timed_out);
    jw_key(&w, "truncated");
    jw_bool(&w, result->is_output_cut);
    jw_key(&w, "durationMs");
    jw_int(&w, (clock_mono_us() - t->start_us) / 1000);
    jw_pair_str(&w, "executedAt", str_of(now));
    jw_end(&w);
    native_end(&w);
    api_reply_json(t->req, 200, &body);
}

/* The command did not start, or its sandbox went away meanwhile. */
static void refuse_terminal_run(struct typed_run *t, const struct err *e)
{
    bool is_theirs = e->code == -ENOENT || e->code == -EACCES || e->code == -ENOTDIR ||
                     e->code == -EINVAL || e->code == -E2BIG || e->code == -ENAMETOOLONG;

    const struct engine_cell *cell = sandbox_cell(t->sb);
    /* A first process that dies closes its connections before its end is reported. */
    bool has_ended = !cell || e->code == -ECONNRESET || e->code == -EPIPE || e->code == -ESHUTDOWN;

    if (!sandboxes_engine(t->req->core->sandboxes, NULL))
        api_error(t->req, 503, "the service is stopping");
    else if (has_ended)
        api_error(t->req, 404, "sandbox %s not found: it ended while the command ran", t->sb->name);
    else if (e->code == -EHOSTDOWN)
        api_error(t->req, 409,
                  "sandbox %s was paused while the command ran; it goes on, without "
                  "anybody who reads its output, when the sandbox is resumed",
                  t->sb->name);
    else if (is_theirs || e->code == -EAGAIN)
        api_error(t->req, is_theirs ? 400 : 429, "%s", err_text(e));
    else
        api_fail(t->req, e->code, e);
}

static void on_terminal_run_result(void *ctx, const struct engine_result *result,
                                   const struct err *e)
{
    struct typed_run *t = ctx;
    struct sandbox *sb = t->sb;

    if (result && terminal_exit_code(result->status) == OOM_CODE)
        sandbox_look(t->sb);
    if (result)
        answer_terminal_run(t, result);
    else
        refuse_terminal_run(t, e);
    finish_terminal_run(sb);
}

/* ARGV has room for four. */
static struct engine_run make_run(const struct typed_run *t, const struct sandbox *sb,
                                  const char **argv)
{
    const char *workdir = sb->spec.workdir.len > 0 ? sb->spec.workdir.p : NULL;

    argv[0] = "/bin/sh";
    argv[1] = "-lc";
    argv[2] = t->command.p;
    argv[3] = NULL;
    return (struct engine_run){
        .user = t->user.len > 0 ? t->user.p : sb->spec.user.p,
        .cwd = t->cwd.len > 0 ? t->cwd.p : workdir,
        .argv = argv,
        .env = sandbox_env(sb, t->env, t->req->arena),
        .input = t->input,
        .timeout_ms = (uint32_t)t->timeout_ms,
    };
}

static void on_terminal_run_usable(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct typed_run *t = ctx;
    const char *argv[4];
    struct engine_run run = make_run(t, sb, argv);
    struct err why = ERR_INIT;

    if (e) {
        native_sandbox_fail(t->req, e->code, e);
        return;
    }
    t->sb = sandbox_ref(sb);
    sandbox_hold(sb);
    t->start_us = clock_mono_us();
    int r = run.env ? engine_cell_run(sandbox_cell(sb), &run, on_terminal_run_result, t, &why)
                    : -ENOMEM;
    if (r < 0) {
        refuse_terminal_run(t, why.code ? &why : &(struct err){.code = r});
        finish_terminal_run(sb);
    }
}

/* The cell answers while the command runs, and ends it when the client leaves. */
static void stream(struct typed_run *t, struct sandbox *sb)
{
    struct buf body auto_buf = BUF_INIT(STREAM_MAX);
    const char *argv[4];
    const struct engine_run run = make_run(t, sb, argv);

    if (!run.env || engine_put_stream(&body, &run) < 0)
        api_fail(t->req, -ENOMEM, NULL);
    else
        native_forward_body(t->req, sb, STR("/run"), arena_str(t->req->arena, buf_str(&body)));
}

static int read_terminal_run_timeout(struct api_req *r, struct typed_run *t)
{
    const struct json *v = json_get(r->body, "timeout");
    double s = json_real(v, json_is_number(v) ? (double)json_int(v, 0) : 0);

    if (v && !json_is(v, JSON_NULL) && (!json_is_number(v) || !(s >= 0 && s <= TIMEOUT_MAX_S))) {
        api_error(r, 400, "timeout must be a number of seconds up to %d", TIMEOUT_MAX_S);
        return -EINVAL;
    }
    t->timeout_ms = s > 0 ? (int64_t)(s * 1000) : TIMEOUT_DEFAULT_S * 1000;
    if (t->timeout_ms == 0)
        t->timeout_ms = 1;
    return 0;
}

static int read_terminal_run_env(struct api_req *r, struct typed_run *t)
{
    const struct json *env = json_get(r->body, "env");
    bool is_bad = env && !json_is(env, JSON_OBJECT) && !json_is(env, JSON_NULL);

    for (size_t i = 0; json_is(env, JSON_OBJECT) && i < env->n; i++) {
        const struct json_member *m = &env->members[i];
        is_bad = is_bad || m->value.type != JSON_STRING || m->key.len == 0 ||
                 str_chr(m->key, '=') >= 0 || str_has_nul(m->key) || str_has_nul(m->value.s);
    }
    if (is_bad) {
        api_error(r, 400, "env must be an object of strings");
        return -EINVAL;
    }
    t->env = env;
    return 0;
}

static int read_encoding(struct api_req *r, struct typed_run *t)
{
    struct str encoding = STR_NULL, text = STR_NULL;

    if (api_body_str(r, "encoding", &encoding) < 0 || api_body_str(r, "stdin_base64", &text) < 0)
        return -EINVAL;
    t->is_base64 = str_is(encoding, "base64");
    if (encoding.len > 0 && !t->is_base64 && !str_is(encoding, "utf-8")) {
        api_error(r, 400, "encoding must be utf-8 or base64");
        return -EINVAL;
    }
    if (text.len == 0)
        return 0;
    struct buf raw auto_buf = BUF_INIT(text.len);
    if (enc_unbase64(&raw, text) < 0) {
        api_error(r, 400, "stdin_base64 is not base64");
        return -EINVAL;
    }
    t->input = arena_str(r->arena, buf_str(&raw));
    return 0;
}

static bool is_blank_command(struct str s)
{
    while (s.len > 0 && s.p[0] != '\0' && strchr(" \t\r\n\v\f", s.p[0]))
        s = str_skip(s, 1);
    return s.len == 0;
}

static int read_terminal_body(struct api_req *r, struct typed_run *t)
{
    if (api_body_object(r) < 0 || api_body_str(r, "command", &t->command) < 0 ||
        api_body_str(r, "cwd", &t->cwd) < 0 || api_body_str(r, "user", &t->user) < 0 ||
        api_body_str(r, "stdin", &t->input) < 0 || read_encoding(r, t) < 0 ||
        read_terminal_run_timeout(r, t) < 0 || read_terminal_run_env(r, t) < 0)
        return -EINVAL;
    if (is_blank_command(t->command))
        api_error(r, 400, "command is required");
    else if (str_has_nul(t->command) || str_has_nul(t->cwd) || str_has_nul(t->user))
        api_error(r, 400, "command, cwd and user must not contain NUL characters");
    else
        return 0;
    return -EINVAL;
}

void native_terminal_run(struct api_req *r)
{
    struct typed_run *t = arena_new(r->arena, struct typed_run);
    struct sandbox *sb = native_find_sandbox(r);

    if (!sb)
        return;
    if (!t) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    t->req = r;
    bool is_streamed = false;
    if (read_terminal_body(r, t) < 0 || api_body_bool(r, "stream", &is_streamed) < 0)
        return;
    if (is_streamed) {
        stream(t, sb);
        return;
    }
    int code = sandbox_use(sb, on_terminal_run_usable, t);
    if (code < 0)
        native_sandbox_fail(r, code, NULL);
}
