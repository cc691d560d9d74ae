/* SPDX-License-Identifier: MIT */
/* POST /run: a command, answered when it has ended.
 *
 * {command | argv[], cwd, env, user, stdin | stdin_base64, timeout_ms, max_output, encoding}.
 * `command` is text for `sh -lc`. With "encoding":"base64" the outputs come as base64, else as
 * UTF-8 in which bytes that are none are replaced. A command whose requester leaves goes on until
 * it ends or its time is over; with "tied":true it is killed. With "stream":true see serve_flow.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/mem.h"
#include "envd/fs.h"
#include "envd/pty.h"
#include "envd/serve_internal.h"

enum {
    OUTPUT_MAX = 8 << 20,
    STDIN_MAX = 16 << 20,
    TIMEOUT_MAX_MS = 7 * 24 * 3600 * 1000,
    SLICE = 3 * 16384, /* a multiple of what base64 takes at a time */
};

struct command_run {
    struct proc_watch watch;
    struct http_req *req;
    struct buf out, err; /* created with the most that is wanted; more is dropped */
    int64_t start_us;
    bool is_cut, is_base64, is_tied, has_begun; /* has_begun: an answer in slices */
    struct proc_end end;
    enum { PART_STDOUT, PART_STDERR, PART_REST, PART_COUNT } part; /* of the answer, under way */
    size_t sent;                                                   /* bytes of that output */
};

/* ---- the answer ---- */

static void run_free(struct command_run *run)
{
    proc_watch_stop(&run->watch);
    buf_done(&run->out);
    buf_done(&run->err);
    free(run);
}

static void keep_output(struct command_run *run, struct buf *b, const struct ring_chunk *c)
{
    size_t room = b->max - b->len, len = c->len < room ? c->len : room;

    if (buf_add(b, c->data, len) < 0 || len < c->len)
        run->is_cut = true;
}

/* The next slice of an output, as the inside a JSON string. */
static void put_slice(struct command_run *run, const struct buf *from, struct buf *b)
{
    struct str left = str_skip(buf_str(from), run->sent);
    struct str slice = str_slice(left, 0, SLICE);
    size_t at = b->len;

    if (slice.len < left.len && !run->is_base64)
        slice.len -= pty_partial(slice);
    run->sent += slice.len;
    if (run->is_base64) {
        (void)enc_base64(b, slice);
    } else if (json_write_str(b, slice) == 0) {
        b->len -= 2; /* the quotes, which belong around all slices */
        memmove(b->p + at, b->p + at + 1, b->len - at);
    }
}

static void put_run_rest(struct command_run *run, struct buf *b)
{
    int status = run->end.status;

    if (WIFSIGNALED(status))
        (void)buf_printf(b, "\",\"exitCode\":%d,\"signal\":%d", 128 + WTERMSIG(status),
                         WTERMSIG(status));
    else
        (void)buf_printf(b, "\",\"exitCode\":%d,\"signal\":null", WEXITSTATUS(status));
    (void)buf_printf(b, ",\"timedOut\":%s,\"truncated\":%s,\"durationMs\":%lld}",
                     run->end.is_timed_out ? "true" : "false", run->is_cut ? "true" : "false",
                     (long long)(clock_mono_us() - run->start_us) / 1000);
}

/* Appends the next piece of the answer. */
static void put_next(struct command_run *run, struct buf *b)
{
    const struct buf *from = run->part == PART_STDOUT ? &run->out : &run->err;

    if (run->part == PART_STDOUT && run->sent == 0)
        (void)buf_add_lit(b, "{\"stdout\":\"");
    if (run->part == PART_STDERR && run->sent == 0)
        (void)buf_add_lit(b, "\",\"stderr\":\"");
    if (run->part == PART_REST)
        put_run_rest(run, b);
    else if (run->sent < from->len)
        put_slice(run, from, b);
    if (run->part == PART_REST || run->sent == from->len) {
        run->part++;
        run->sent = 0;
    }
}

static void on_run_drain(struct http_req *r, void *ctx);

/* Sends as much as the peer takes; RUN is gone when that was all. In slices, because text may
 * become six times as long as JSON, and memory that the cell has not got this process must not
 * take. */
static void send_slices(struct command_run *run)
{
    struct http_req *r = run->req;
    int code = 0;

    while (code == 0 && run->part < PART_COUNT) {
        auto_buf struct buf b = BUF_INIT(8 * SLICE);
        if (http_is_full(r)) {
            http_on_drain(r, on_run_drain, run);
            return;
        }
        put_next(run, &b);
        code = buf_ok(&b) ? http_write(r, b.p, b.len) : b.error;
    }
    run_free(run);
    if (code < 0)
        http_abort(r);
    else
        http_end(r);
}

static void on_run_drain(struct http_req *r, void *ctx)
{
    (void)r;
    send_slices(ctx);
}

static void answer_run(struct command_run *run, const struct proc_end *end)
{
    run->end = *end;
    proc_watch_stop(&run->watch);
    if (run->out.len + run->err.len > SLICE) {
        run->has_begun = true;
        http_start(run->req, 200, "application/json", -1);
        send_slices(run);
        return;
    }
    auto_buf struct buf b = BUF_INIT(16 * SLICE);
    while (run->part < PART_COUNT)
        put_next(run, &b);
    serve_json(run->req, &b);
    run_free(run);
}

static void on_run_progress(struct proc_watch *watch)
{
    struct command_run *run = container_of(watch, struct command_run, watch);

    for (const struct ring_chunk *c; (c = proc_watch_read(watch));)
        keep_output(run, c->source == PROC_STDERR ? &run->err : &run->out, c);
    const struct proc_end *end = proc_end(watch->proc);
    if (!end)
        return;
    answer_run(run, end);
}

static void on_run_abort(struct http_req *r)
{
    struct command_run *run = r->user;

    bool has_begun = run->has_begun;

    if (run->is_tied && run->watch.proc)
        proc_kill_all(run->watch.proc);
    run_free(run);
    if (has_begun)
        http_end(r);
    else
        http_reply(r, 499, NULL, STR(""));
}

/* ---- the request ---- */

static char **get_run_argv(struct http_req *r, const struct json *body, struct err *e)
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

static int64_t clamp_limit(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static int get_run_args(struct serve *s, struct http_req *r, const struct json *body,
                        struct proc_args *ret, struct err *e)
{
    *ret = (struct proc_args){.base_env = s->claim.env};
    ret->argv = get_run_argv(r, body, e);
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
    ret->cwd = ret->cwd ? fs_resolve(s, r->arena, ret->cwd, ret->user) : s->claim.workdir;
    ret->timeout_ms =
        (uint32_t)clamp_limit(json_int(json_get(body, "timeout_ms"), 0), 0, TIMEOUT_MAX_MS);
    return 0;
}

/* Users, directories and programs that are not there are wrong arguments, not routes. */
void serve_fail_start(struct http_req *r, const struct err *e)
{
    int status = serve_status_of(e->code);

    serve_fail(r, status == 404 || status == 403 ? 400 : status, e);
}

static void on_run(struct serve *s, struct http_req *r, const struct json *body)
{
    struct err e = ERR_INIT;
    struct proc_args args;
    size_t max =
        (size_t)clamp_limit(json_int(json_get(body, "max_output"), OUTPUT_MAX), 0, OUTPUT_MAX);

    if (get_run_args(s, r, body, &args, &e) < 0) {
        serve_fail(r, e.code == -ENOMEM ? 500 : 400, &e);
        return;
    }
    if (json_bool(json_get(body, "stream"), false)) {
        serve_flow(s, r, &args);
        return;
    }
    struct command_run *run = mem_zalloc(1, sizeof *run);
    if (!run) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    run->req = r;
    run->start_us = clock_mono_us();
    run->is_tied = json_bool(json_get(body, "tied"), false);
    run->is_base64 = str_is(json_str(json_get(body, "encoding"), STR("")), "base64");
    run->watch.fn = on_run_progress;
    buf_init(&run->out, max);
    buf_init(&run->err, max);
    struct proc *p = proc_start(&s->procs, &args, &e);
    if (!p) {
        free(run);
        serve_fail_start(r, &e);
        return;
    }
    r->user = run;
    r->on_abort = on_run_abort;
    proc_watch_start(p, &run->watch, 1);
}

void serve_run(struct serve *s, struct http_req *r)
{
    serve_read_json(s, r, on_run);
}
