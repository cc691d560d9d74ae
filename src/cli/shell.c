/* SPDX-License-Identifier: MIT */
/* A terminal in a sandbox: see shell.h. What is typed goes out as messages of JSON on a WebSocket,
 * what comes back is written as it is. However the session ends, the terminal is put back first. */
#include "cli/shell.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "cli/tty.h"
#include "loop/loop.h"
#include "net/ws.h"
#include "sys/io.h"

enum { TYPED_MAX = 4096, MESSAGE_MAX = 16 << 20, PARSED_MAX = 64 << 20 };

struct shell {
    struct remote *remote;
    struct loop *loop;
    struct ws *ws; /* NULL once it is gone */
    struct tty tty;
    struct loop_io input;
    char typed[TYPED_MAX];
    size_t n_typed;
    int status;    /* what to exit with */
    bool has_exit; /* the shell inside reported how it ended */
    bool is_over;
    struct err e; /* why it broke off */
};

/* ---- messages ---- */

/* Bytes at the end of P that begin a character without completing it. */
static size_t incomplete_tail(const char *p, size_t len)
{
    for (size_t n = 1; n <= len && n < UTF8_MAX; n++) {
        unsigned char c = (unsigned char)p[len - n];
        if ((c & 0xc0) == 0x80)
            continue;
        size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        return need > n ? n : 0;
    }
    return 0;
}

size_t shell_put_input(struct buf *out, const char *p, size_t len)
{
    size_t n = len - incomplete_tail(p, len);
    struct jw w = jw_to(out);

    jw_object(&w);
    jw_key(&w, "type");
    jw_cstr(&w, "input");
    jw_key(&w, "data");
    jw_str(&w, str_n(p, n));
    jw_end(&w);
    return n;
}

static void send_size(struct shell *s, const char *type)
{
    struct buf out auto_buf = BUF_INIT(256);
    int cols, rows;

    if (s->ws && tty_size(STDIN_FILENO, &cols, &rows)) {
        (void)buf_printf(&out, "{\"type\":\"%s\",\"cols\":%d,\"rows\":%d}", type, cols, rows);
        (void)ws_send(s->ws, WS_TEXT, buf_str(&out));
    }
}

static void finish_shell(struct shell *s, int status)
{
    if (!s->is_over)
        s->status = status;
    s->is_over = true;
}

/* ---- what comes ---- */

static void on_shell_message(struct ws *w, void *ctx, bool is_text, struct str data)
{
    struct shell *s = ctx;
    struct arena arena auto_arena;

    (void)w, (void)is_text;
    arena_init(&arena, PARSED_MAX);
    const struct json *m = json_parse(&arena, data, NULL, NULL);
    struct str type = json_str(json_get(m, "type"), STR(""));
    struct str text = json_str(json_get(m, "data"), STR(""));
    if (str_is(type, "output")) {
        if (io_write_all(STDOUT_FILENO, text.p, text.len) < 0)
            finish_shell(s, CLI_FAILED);
    } else if (str_is(type, "exit")) {
        s->has_exit = true;
        s->status = (int)(json_int(json_get(m, "code"), 0) & 0xff);
    } else if (str_is(type, "error")) {
        (void)err_set(&s->e, -EPROTO, STR_FMT, STR_ARG(text));
    } else if (str_is(type, "closed")) {
        finish_shell(s, s->has_exit ? s->status : CLI_FAILED);
    }
}

static void on_open(struct ws *w, void *ctx)
{
    struct shell *s = ctx;

    s->ws = w;
    send_size(s, "init");
}

static void on_shell_close(struct ws *w, void *ctx, int code, struct str reason)
{
    struct shell *s = ctx;

    (void)w;
    s->ws = NULL;
    if (!s->has_exit && !s->is_over && !s->e.code)
        (void)err_set(&s->e, -ECONNRESET, "the connection was lost: " STR_FMT " (%d)",
                      STR_ARG(reason.len ? reason : STR("closed")), code);
    finish_shell(s, s->has_exit ? s->status : CLI_FAILED);
}

static void on_shell_drain(struct ws *w, void *ctx)
{
    struct shell *s = ctx;

    (void)w;
    (void)loop_io_want(&s->input, EPOLLIN);
}

/* ---- what is typed ---- */

static void on_typed(struct loop_io *io, uint32_t events)
{
    struct shell *s = container_of(io, struct shell, input);
    struct buf out auto_buf = BUF_INIT(16 * TYPED_MAX);

    (void)events;
    ssize_t n = io_read(io->fd, s->typed + s->n_typed, sizeof s->typed - s->n_typed);
    if (n <= 0) { /* the terminal is gone */
        loop_io_stop(io);
        finish_shell(s, CLI_FAILED);
        return;
    }
    s->n_typed += (size_t)n;
    size_t sent = shell_put_input(&out, s->typed, s->n_typed);
    if (sent > 0 && s->ws)
        (void)ws_send(s->ws, WS_TEXT, buf_str(&out));
    s->n_typed -= sent;
    memmove(s->typed, s->typed + sent, s->n_typed);
    if (s->ws && ws_is_full(s->ws))
        (void)loop_io_want(io, 0);
}

/* ---- signals ---- */

static void on_shell_end(int signo, void *ctx)
{
    finish_shell(ctx, 128 + signo);
}

static void on_resize(int signo, void *ctx)
{
    (void)signo;
    send_size(ctx, "resize");
}

static void on_shell_suspend(int signo, void *ctx)
{
    struct shell *s = ctx;

    (void)signo;
    tty_suspend(&s->tty);
    send_size(s, "resize");
}

static int watch_shell(struct shell *s, struct err *e)
{
    int r = tty_on_end(s->loop, on_shell_end, s);

    if (r == 0)
        r = loop_on_signal(s->loop, SIGWINCH, on_resize, s);
    if (r == 0)
        r = loop_on_signal(s->loop, SIGTSTP, on_shell_suspend, s);
    if (r == 0)
        r = loop_io_start(s->loop, &s->input, STDIN_FILENO, EPOLLIN, on_typed);
    return r < 0 ? err_sys(e, r, "terminal") : 0;
}

/* ---- the session ---- */

static int open_session(struct shell *s, const char *name, struct err *e)
{
    static const struct ws_ops ops = {.on_open = on_open,
                                      .on_message = on_shell_message,
                                      .on_drain = on_shell_drain,
                                      .on_close = on_shell_close};
    const struct ws_opts opts = {.ops = &ops, .ctx = s, .max_message = MESSAGE_MAX};
    const char *target = remote_target(s->remote, "/api/v1/terminal/sandbox/", name, "/ws");

    if (!target)
        return err_sys(e, -ENAMETOOLONG, "%s", name);
    /* From here on everything that ends the program comes by the loop. */
    int r = watch_shell(s, e);
    if (r < 0 || !client_ws(s->remote->client, target, &opts, e))
        return r < 0 ? r : -EIO;
    return tty_set(&s->tty, STDIN_FILENO, TTY_RAW, e);
}

/* Ends the shell inside, unless it has ended already. */
static void close_session(struct shell *s)
{
    if (s->ws && !s->has_exit)
        (void)ws_send(s->ws, WS_TEXT, STR("{\"type\":\"close\"}"));
    if (s->ws)
        ws_close(s->ws, WS_CODE_NORMAL, STR(""));
    while (s->ws && loop_run_once(s->loop, 1000) >= 0)
        ;
}

int shell_run(struct remote *r, const char *name)
{
    struct shell s = {.remote = r, .loop = client_loop(r->client)};
    int code = open_session(&s, name, &s.e);

    if (code < 0)
        finish_shell(&s, CLI_FAILED);
    while (!s.is_over && code >= 0)
        code = loop_run_once(s.loop, -1);
    loop_io_stop(&s.input);
    tty_restore(&s.tty);
    close_session(&s);
    if (s.e.code && !s.has_exit)
        return cli_fail(r->call, &s.e);
    return s.status;
}
