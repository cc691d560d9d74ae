/* SPDX-License-Identifier: MIT */
/* GET /terminal: a login shell on a terminal, over a WebSocket of JSON text messages.
 *
 * From the client: {"type":"init"|"resize","cols","rows"}, {"type":"input","data"},
 * {"type":"close"}. To it: "ready" and "output" with data, "error" with data, "exit" with code,
 * "closed". Query: user, cwd, shell (text for sh), cols, rows. The shell is hung up when the
 * connection goes. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/fs.h"
#include "envd/pty.h"
#include "envd/serve_internal.h"
#include "net/ws.h"

enum {
    MESSAGE_MAX = 1 << 20,
    RING_BYTES = 128 << 10,
    COLS = 80,
    ROWS = 24,
    SIDE_MAX = 4096,
    FRAME_MAX = 256 << 10,
    NAME_SHOWN = 64,
};

struct terminal {
    struct proc_watch watch;
    struct ws *ws;
    char partial[PTY_PARTIAL_MAX]; /* the begin of a character whose rest has not come yet */
    size_t n_partial;
    bool is_over;
};

/* ---- messages to the client ---- */

static void send_text(struct terminal *t, const char *type, struct str data)
{
    auto_buf struct buf b = BUF_INIT(FRAME_MAX);
    struct jw w = jw_to(&b);

    jw_object(&w);
    jw_key(&w, "type");
    jw_cstr(&w, type);
    if (data.p) {
        jw_key(&w, "data");
        jw_str(&w, data);
    }
    jw_end(&w);
    if (buf_ok(&b))
        (void)ws_send(t->ws, WS_TEXT, buf_str(&b));
}

static void send_exit(struct terminal *t, int status)
{
    auto_buf struct buf b = BUF_INIT(128);
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);

    (void)buf_printf(&b, "{\"type\":\"exit\",\"code\":%d}", code);
    (void)ws_send(t->ws, WS_TEXT, buf_str(&b));
}

static void close_terminal(struct terminal *t)
{
    if (t->is_over)
        return;
    t->is_over = true;
    send_text(t, "closed", STR_NULL);
    ws_close(t->ws, 1000, STR(""));
}

static void send_terminal_output(struct terminal *t, struct str data)
{
    auto_buf struct buf b = BUF_INIT(FRAME_MAX);

    (void)buf_add(&b, t->partial, t->n_partial);
    if (buf_add_str(&b, data) < 0)
        return;
    t->n_partial = pty_partial(buf_str(&b));
    b.len -= t->n_partial;
    memcpy(t->partial, b.p + b.len, t->n_partial);
    if (b.len)
        send_text(t, "output", buf_str(&b));
}

static void on_terminal_progress(struct proc_watch *watch)
{
    struct terminal *t = container_of(watch, struct terminal, watch);

    while (!t->is_over && !ws_is_full(t->ws)) {
        const struct ring_chunk *c = proc_watch_read(watch);
        if (c) {
            send_terminal_output(t, str_n(c->data, c->len));
            continue;
        }
        const struct proc_end *end = proc_end(watch->proc);
        if (!end)
            return;
        if (t->n_partial)
            send_text(t, "output", str_n(t->partial, t->n_partial));
        send_exit(t, end->status);
        close_terminal(t);
    }
}

/* ---- messages from the client ---- */

static void on_terminal_input(struct terminal *t, const struct json *m)
{
    struct str data = json_str(json_get(m, "data"), STR(""));
    int r = proc_write(t->watch.proc, data);

    if (r == -ENOBUFS)
        send_text(t, "error", STR("the shell does not read its input"));
}

static void on_terminal_size(struct terminal *t, const struct json *m)
{
    int64_t cols = json_int(json_get(m, "cols"), COLS), rows = json_int(json_get(m, "rows"), ROWS);

    if (cols < 1 || rows < 1 || cols > SIDE_MAX || rows > SIDE_MAX)
        send_text(t, "error", STR("invalid terminal size"));
    else
        (void)proc_resize(t->watch.proc, (uint16_t)cols, (uint16_t)rows);
}

static void on_close_wish(struct terminal *t, const struct json *m)
{
    (void)m;
    close_terminal(t);
}

static const struct {
    const char *type;
    void (*handle)(struct terminal *t, const struct json *m);
} messages[] = {
    {"input", on_terminal_input},
    {"resize", on_terminal_size},
    {"init", on_terminal_size},
    {"close", on_close_wish},
};

static void on_terminal_message(struct ws *w, void *ctx, bool is_text, struct str data)
{
    struct terminal *t = ctx;
    auto_arena struct arena a;

    (void)w;
    (void)is_text;
    arena_init(&a, 4 * MESSAGE_MAX);
    const struct json *m = json_parse(&a, data, NULL, NULL);
    struct str type = json_str(json_get(m, "type"), STR_NULL);
    if (!type.p) {
        send_text(t, "error", STR("a message is a JSON object with a type"));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
        if (!str_is(type, messages[i].type))
            continue;
        messages[i].handle(t, m);
        return;
    }
    struct str text =
        arena_printf(&a, "unsupported message type: " STR_FMT, STR_ARG(str_slice(type, 0, 100)));
    send_text(t, "error", text);
}

/* ---- life ---- */

static void terminal_free(struct terminal *t)
{
    struct proc *p = t->watch.proc;

    if (p)
        proc_hang_up(p);
    proc_watch_stop(&t->watch);
    free(t);
}

static void on_ws_close(struct ws *w, void *ctx, int code, struct str reason)
{
    (void)w;
    (void)code;
    (void)reason;
    terminal_free(ctx);
}

static void on_ws_drain(struct ws *w, void *ctx)
{
    struct terminal *t = ctx;

    (void)w;
    on_terminal_progress(&t->watch);
}

static const struct ws_ops ops = {
    .on_message = on_terminal_message,
    .on_drain = on_ws_drain,
    .on_close = on_ws_close,
};

static uint16_t get_side(struct http_req *r, const char *name, uint16_t fallback)
{
    const char *text = serve_query(r, name);
    uint64_t v;

    if (!text || str_to_u64(str_of(text), &v) < 0 || v < 1 || v > SIDE_MAX)
        return fallback;
    return (uint16_t)v;
}

static char **make_terminal_argv(struct http_req *r)
{
    const char *shell = serve_query(r, "shell");
    bool has_bash = access("/bin/bash", X_OK) == 0;
    char **argv = arena_zalloc(r->arena, 4, sizeof *argv);

    if (!argv)
        return NULL;
    if (shell && *shell) {
        argv[0] = arena_strdup(r->arena, "sh");
        argv[1] = arena_strdup(r->arena, "-c");
        argv[2] = (char *)(uintptr_t)arena_printf(r->arena, "exec %s", shell).p;
        return argv[0] && argv[1] && argv[2] ? argv : NULL;
    }
    argv[0] = arena_strdup(r->arena, has_bash ? "bash" : "sh");
    argv[1] = arena_strdup(r->arena, has_bash ? "-il" : "-i");
    return argv[0] && argv[1] ? argv : NULL;
}

static struct proc *start_terminal(struct serve *s, struct http_req *r, struct err *e)
{
    static char *no_env[] = {NULL};
    const char *user = serve_query(r, "user"), *cwd = serve_query(r, "cwd");
    struct proc_args args = {.user = user && *user ? user : claim_user(&s->claim),
                             .cwd = cwd && *cwd ? fs_resolve(s, r->arena, cwd, user)
                                                : s->claim.workdir,
                             .argv = make_terminal_argv(r),
                             .env = no_env,
                             .base_env = s->claim.env,
                             .keeps_input = true,
                             .has_pty = true,
                             .cols = get_side(r, "cols", COLS),
                             .rows = get_side(r, "rows", ROWS),
                             .ring_bytes = RING_BYTES};

    if (args.argv)
        return proc_start(&s->procs, &args, e);
    (void)err_sys(e, -ENOMEM, "terminal");
    return NULL;
}

void serve_terminal(struct serve *s, struct http_req *r)
{
    struct ws_opts opts = {.ops = &ops, .max_message = MESSAGE_MAX};
    struct err e = ERR_INIT;

    if (!ws_is_request(r)) {
        serve_fail_text(r, 426, "this is a WebSocket");
        return;
    }
    struct terminal *t = mem_zalloc(1, sizeof *t);
    struct proc *p = t ? start_terminal(s, r, &e) : NULL;
    if (!p) {
        int status = serve_status_of(e.code);
        free(t);
        serve_fail(r, status == 404 || status == 403 ? 400 : status, &e);
        return;
    }
    t->watch.fn = on_terminal_progress;
    proc_watch_start(p, &t->watch, 1);
    opts.ctx = t;
    t->ws = ws_accept(r, &opts);
    if (!t->ws) {
        terminal_free(t);
        return;
    }
    auto_arena struct arena a;
    arena_init(&a, 4096);
    const char *name = s->claim.name ? s->claim.name : "cell";
    send_text(t, "ready", arena_printf(&a, "connected to %.*s/sandbox", NAME_SHOWN, name));
}
