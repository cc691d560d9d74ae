/* SPDX-License-Identifier: MIT */
/* POST /run: a command, answered when it has ended.
 *
 * {command | argv[], cwd, env, user, stdin | stdin_base64, timeout_ms, max_output, encoding}.
 * `command` is text for `sh -lc`. With "encoding":"base64" the outputs come as base64, else as
 * UTF-8 in which bytes that are none are replaced. A command whose requester leaves goes on until
 * it ends or its time is over. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "envd/serve_impl.h"

enum { OUTPUT_MAX = 8 << 20, STDIN_MAX = 16 << 20, TIMEOUT_MAX_MS = 7 * 24 * 3600 * 1000 };

struct run {
    struct proc_watch watch;
    struct http_req *req;
    struct buf out, err; /* created with the most that is wanted; more is dropped */
    int64_t start_us;
    bool is_cut, is_base64;
};

/* ---- the answer ---- */

static void run_free(struct run *run)
{
    proc_watch_stop(&run->watch);
    buf_done(&run->out);
    buf_done(&run->err);
    free(run);
}

static void keep(struct run *run, struct buf *b, const struct ring_chunk *c)
{
    size_t room = b->max - b->len, len = c->len < room ? c->len : room;

    if (buf_add(b, c->data, len) < 0 || len < c->len)
        run->is_cut = true;
}

static void put_output(struct jw *w, const char *key, const struct buf *b, bool is_base64)
{
    jw_key(w, key);
    if (!is_base64) {
        jw_str(w, b->p ? buf_str(b) : STR(""));
        return;
    }
    auto_buf struct buf text = BUF_INIT(2 * b->max + 8);
    (void)enc_base64(&text, buf_str(b));
    if (!buf_ok(&text))
        w->out->error = text.error;
    jw_str(w, text.p ? buf_str(&text) : STR(""));
}

static void answer(struct run *run, const struct proc_end *end)
{
    auto_buf struct buf b = BUF_INIT(SERVE_ANSWER_MAX);
    struct jw w = jw_to(&b);
    int status = end->status;
    bool is_signal = WIFSIGNALED(status);

    jw_object(&w);
    put_output(&w, "stdout", &run->out, run->is_base64);
    put_output(&w, "stderr", &run->err, run->is_base64);
    jw_key(&w, "exitCode");
    jw_int(&w, is_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    jw_key(&w, "signal");
    if (is_signal)
        jw_int(&w, WTERMSIG(status));
    else
        jw_null(&w);
    jw_key(&w, "timedOut");
    jw_bool(&w, end->is_timed_out);
    jw_key(&w, "truncated");
    jw_bool(&w, run->is_cut);
    jw_key(&w, "durationMs");
    jw_int(&w, (clock_mono_us() - run->start_us) / 1000);
    jw_end(&w);
    serve_json(run->req, &b);
}

static void on_progress(struct proc_watch *watch)
{
    struct run *run = container_of(watch, struct run, watch);

    for (const struct ring_chunk *c; (c = proc_watch_read(watch));)
        keep(run, c->source == PROC_STDERR ? &run->err : &run->out, c);
    const struct proc_end *end = proc_end(watch->proc);
    if (!end)
        return;
    answer(run, end);
    run_free(run);
}

static void on_abort(struct http_req *r)
{
    struct run *run = r->user;

    http_reply(r, 499, NULL, STR(""));
    run_free(run);
}

/* ---- the request ---- */

static char **get_argv(struct http_req *r, const struct json *body, struct err *e)
{
    struct str command = json_str(json_get(body, "command"), STR_NULL);

    if (!command.p) {
        char **argv = claim_strings(r->arena, json_get(body, "argv"), "argv", e);
        if (argv && !argv[0]) {
            (void)err_set(e, -EINVAL, "command is required");
            return NULL;
        }
        return argv;
    }
    bool is_blank = true;
    for (size_t i = 0; i < command.len; i++)
        is_blank = is_blank && strchr(" \t\r\n", command.p[i]) && command.p[i];
    if (is_blank || str_chr(command, '\0') >= 0) {
        (void)err_set(e, -EINVAL, is_blank ? "command is required" : "command holds a NUL byte");
        return NULL;
    }
    char **argv = arena_zalloc(r->arena, 4, sizeof *argv);
    if (!argv) {
        (void)err_sys(e, -ENOMEM, "command");
        return NULL;
    }
    argv[0] = arena_strdup(r->arena, "sh");
    argv[1] = arena_strdup(r->arena, "-lc");
    argv[2] = (char *)(uintptr_t)command.p;
    if (argv[0] && argv[1])
        return argv;
    (void)err_sys(e, -ENOMEM, "command");
    return NULL;
}

/* stdin or stdin_base64. */
static int get_input(struct http_req *r, const struct json *body, struct str *ret, struct err *e)
{
    struct str coded = json_str(json_get(body, "stdin_base64"), STR_NULL);

    *ret = json_str(json_get(body, "stdin"), STR(""));
    if (coded.p) {
        auto_buf struct buf b = BUF_INIT(STDIN_MAX);
        int code = enc_unbase64(&b, coded);
        if (code < 0)
            return err_set(e, -EINVAL, "stdin_base64 is not base64 or too long");
        *ret = arena_str(r->arena, b.p ? buf_str(&b) : STR(""));
        if (!ret->p)
            return err_sys(e, -ENOMEM, "stdin");
    }
    return ret->len > STDIN_MAX ? err_set(e, -EINVAL, "stdin is too long") : 0;
}

/* A string member, NULL when absent or empty. */
static int get_text(const struct json *body, const char *key, const char **ret, struct err *e)
{
    const struct json *v = json_get(body, key);
    struct str s = json_str(v, STR_NULL);

    *ret = NULL;
    if (!v || json_is(v, JSON_NULL) || (s.p && s.len == 0))
        return 0;
    if (!s.p || str_chr(s, '\0') >= 0)
        return err_set(e, -EINVAL, "%s must be a string", key);
    *ret = s.p;
    return 0;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static int get_args(struct serve *s, struct http_req *r, const struct json *body,
                    struct proc_args *ret, struct err *e)
{
    *ret = (struct proc_args){.base_env = s->claim.env};
    ret->argv = get_argv(r, body, e);
    ret->env = ret->argv ? claim_env(r->arena, json_get(body, "env"), e) : NULL;
    if (!ret->env)
        return e->code;
    int code = get_text(body, "user", &ret->user, e);
    if (code == 0)
        code = get_text(body, "cwd", &ret->cwd, e);
    if (code == 0)
        code = get_input(r, body, &ret->input, e);
    if (code < 0)
        return code;
    if (!ret->user)
        ret->user = claim_user(&s->claim);
    if (!ret->cwd)
        ret->cwd = s->claim.workdir;
    ret->timeout_ms = (uint32_t)clamp(json_int(json_get(body, "timeout_ms"), 0), 0, TIMEOUT_MAX_MS);
    return 0;
}

static void on_run(struct serve *s, struct http_req *r, const struct json *body)
{
    struct err e = ERR_INIT;
    struct proc_args args;
    size_t max = (size_t)clamp(json_int(json_get(body, "max_output"), OUTPUT_MAX), 0, OUTPUT_MAX);

    if (get_args(s, r, body, &args, &e) < 0) {
        serve_fail(r, e.code == -ENOMEM ? 500 : 400, &e);
        return;
    }
    struct run *run = mem_zalloc(1, sizeof *run);
    if (!run) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    run->req = r;
    run->start_us = clock_mono_us();
    run->is_base64 = str_is(json_str(json_get(body, "encoding"), STR("")), "base64");
    run->watch.fn = on_progress;
    buf_init(&run->out, max);
    buf_init(&run->err, max);
    struct proc *p = proc_start(&s->procs, &args, &e);
    if (!p) {
        free(run);
        /* Users, directories and programs that are not there are wrong arguments, not routes. */
        int status = serve_status_of(e.code);
        serve_fail(r, status == 404 || status == 403 ? 400 : status, &e);
        return;
    }
    r->user = run;
    r->on_abort = on_abort;
    proc_watch_start(p, &run->watch, 1);
}

void serve_run(struct serve *s, struct http_req *r)
{
    serve_read_json(s, r, on_run);
}
