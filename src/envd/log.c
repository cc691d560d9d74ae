/* SPDX-License-Identifier: MIT */
/* The main process of a cell and GET /log: its output, and its output as it comes. */
#include "envd/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "envd/fs.h"
#include "envd/user.h"

enum { TAIL_DEFAULT = 200, TAIL_MAX = 2000 };
#define KEEP_MS UINT32_MAX /* 49 days: as good as for ever */

/* What a request wants to see of the log. */
struct view {
    uint64_t next;    /* number of the next line */
    int64_t since_us; /* only lines that are not older */
    bool has_times;
};

struct follower {
    struct list node;
    struct serve *serve;
    struct http_req *req;
    struct view view;
};

/* ---- following ---- */

static void put_log_line(struct buf *b, const struct view *v, const struct line *line)
{
    char time[CLOCK_RFC3339_MAX];

    if (line->time_us < v->since_us)
        return;
    if (v->has_times) {
        clock_rfc3339_us(time, line->time_us);
        (void)buf_printf(b, "%s ", time);
    }
    (void)buf_add_str(b, line->text);
    (void)buf_add_char(b, '\n');
}

static bool is_main_alive(const struct log *log)
{
    return log->watch.proc && !proc_end(log->watch.proc);
}

static void follower_free(struct follower *f)
{
    list_del(&f->node);
    free(f);
}

static void on_log_drain(struct http_req *r, void *ctx);

/* Sends what is new. F may be gone afterwards. */
static void follow_main_log(struct follower *f)
{
    struct log *log = &f->serve->log;
    struct lines_cursor c = lines_seek(&log->lines, f->view.next);
    struct line line;

    while (!http_is_full(f->req) && lines_next(&c, &line)) {
        auto_buf struct buf b = BUF_INIT(LINES_TEXT_MAX + 64);
        f->view.next = line.number + 1;
        put_log_line(&b, &f->view, &line);
        if (b.len && buf_ok(&b))
            (void)http_write(f->req, b.p, b.len);
    }
    if (f->view.next < log->lines.end) {
        http_on_drain(f->req, on_log_drain, f);
        return;
    }
    if (is_main_alive(log))
        return;
    http_end(f->req);
    follower_free(f);
}

static void on_log_drain(struct http_req *r, void *ctx)
{
    (void)r;
    follow_main_log(ctx);
}

static void on_log_abort(struct http_req *r)
{
    follower_free(r->user);
    http_end(r);
}

static void start_following(struct serve *s, struct http_req *r, const struct view *v)
{
    struct follower *f = mem_zalloc(1, sizeof *f);

    if (!f) {
        serve_fail_text(r, 500, "out of memory");
        return;
    }
    f->serve = s;
    f->req = r;
    f->view = *v;
    list_append(&s->log.followers, &f->node);
    r->user = f;
    r->on_abort = on_log_abort;
    http_start(r, 200, "text/plain; charset=utf-8", -1);
    /* The head goes out now, not with the first line. */
    (void)http_write(r, "", 0);
    follow_main_log(f);
}

/* ---- the main process ---- */

static void on_log_output(struct proc_watch *watch)
{
    struct log *log = container_of(watch, struct log, watch);

    for (const struct ring_chunk *c; (c = proc_watch_read(watch));)
        (void)lines_add(&log->lines, clock_real_us(), str_n(c->data, c->len));
    if (proc_end(watch->proc))
        (void)lines_flush(&log->lines);
    list_each(node, &log->followers) follow_main_log(list_entry(node, struct follower, node));
}

void log_init(struct log *log)
{
    lines_init(&log->lines);
    list_init(&log->followers);
    log->watch = (struct proc_watch){.fn = on_log_output};
}

/* A directory that is named for a process is made for it. */
static int make_workdir(const struct claim *c, const struct user *u, struct err *e)
{
    if (!c->workdir)
        return 0;
    auto_close int fd = fs_open_dir(c->workdir, u->uid, u->gid);
    return fd < 0 ? err_sys(e, fd, "workdir '%s'", c->workdir) : 0;
}

/* cmd and args as one list. A cmd with blanks and without args is text for a shell. */
static char **make_log_argv(struct arena *a, struct str cmd, char **args, struct err *e)
{
    size_t n_args = 0, n = 0;

    while (args[n_args])
        n_args++;
    char **argv = arena_zalloc(a, n_args + 4, sizeof *argv);
    char *text = (char *)(uintptr_t)arena_str(a, cmd).p;
    if (!argv || !text) {
        (void)err_sys(e, -ENOMEM, "cmd");
        return NULL;
    }
    if (cmd.len && n_args == 0 && strpbrk(text, " \t\n")) {
        argv[n++] = arena_strdup(a, "sh");
        argv[n++] = arena_strdup(a, "-c");
    }
    if (cmd.len)
        argv[n++] = text;
    for (size_t i = 0; i < n_args; i++)
        argv[n++] = args[i];
    return argv;
}

int log_start_main(struct serve *s, struct arena *a, const struct json *body, struct err *e)
{
    char **args = claim_strings(a, json_get(body, "args"), "args", e);
    struct str cmd = json_str(json_get(body, "cmd"), STR(""));
    struct user user;

    if (!args)
        return e->code;
    const char *name = claim_user(&s->claim);
    int r = user_find(name, &user, e);
    if (r == 0)
        r = make_workdir(&s->claim, &user, e);
    if (r < 0 || (cmd.len == 0 && !args[0]))
        return r;
    if (s->log.watch.proc && !proc_end(s->log.watch.proc))
        return err_set(e, -EEXIST, "the main process runs already");
    proc_watch_stop(&s->log.watch);
    static char *no_env[] = {NULL};
    struct proc_args proc = {.user = name,
                             .cwd = s->claim.workdir,
                             .argv = make_log_argv(a, cmd, args, e),
                             .env = no_env,
                             .base_env = s->claim.env,
                             .is_merged = true,
                             .keep_ms = KEEP_MS};
    struct proc *p = proc.argv ? proc_start(&s->procs, &proc, e) : NULL;
    if (!p)
        return e->code;
    proc_watch_start(p, &s->log.watch, 1);
    return 0;
}

/* ---- requests ---- */

/* 1: parsed, 0: answered. */
static int get_tail(struct http_req *r, int64_t *ret)
{
    const char *text = serve_query(r, "tailLines");

    *ret = TAIL_DEFAULT;
    if (!text || !*text)
        return 1;
    if (str_to_i64(str_of(text), ret) < 0) {
        serve_fail_text(r, 400, "invalid tailLines: %s", text);
        return 0;
    }
    if (*ret <= 0) {
        serve_fail_text(r, 400, "tailLines must be a positive integer");
        return 0;
    }
    if (*ret > TAIL_MAX)
        *ret = TAIL_MAX;
    return 1;
}

/* Seconds since 1970, or a time as RFC 3339 writes it in UTC. */
static int parse_since(const char *text, int64_t *ret_us)
{
    struct tm tm = {0};
    int used = 0;
    int64_t s;

    if (str_to_i64(str_of(text), &s) == 0) {
        *ret_us = s > 0 && s < INT64_MAX / 1000000 ? s * 1000000 : 0;
        return 0;
    }
    /* NOLINTNEXTLINE(cert-err34-c): at most four digits cannot overflow */
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec, &used) != 6)
        return -EINVAL;
    const char *rest = text + used;
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    if (strcmp(rest, "Z") != 0)
        return -EINVAL;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *ret_us = (int64_t)timegm(&tm) * 1000000;
    return 0;
}

static void answer_log(struct http_req *r, const struct lines *lines, const struct view *v)
{
    auto_buf struct buf text = BUF_INIT(8 << 20), b = BUF_INIT(SERVE_ANSWER_MAX);
    struct lines_cursor c = lines_seek(lines, v->next);
    struct line line;

    while (lines_next(&c, &line))
        put_log_line(&text, v, &line);
    if (lines->partial.len) {
        put_log_line(
            &text, v,
            &(struct line){.time_us = lines->partial_us, .text = buf_str(&lines->partial)});
        text.len -= text.len > 0;
    }
    struct jw w = jw_to(&b);
    jw_object(&w);
    jw_key(&w, "logs");
    jw_str(&w, text.p ? buf_str(&text) : STR(""));
    serve_put_now(&w, "fetchedAt");
    jw_end(&w);
    serve_json(r, &b);
}

void log_get(struct serve *s, struct http_req *r)
{
    const struct lines *lines = &s->log.lines;
    const char *since = serve_query(r, "since");
    struct view v = {.has_times = serve_query_flag(r, "timestamps")};
    int64_t tail;

    if (!get_tail(r, &tail))
        return;
    if (since && *since && parse_since(since, &v.since_us) < 0) {
        serve_fail_text(r, 400, "invalid since: %s", since);
        return;
    }
    uint64_t end = lines->end, n = (uint64_t)tail - (lines->partial.len ? 1U : 0U);
    v.next = end > n ? end - n : 1;
    if (serve_query_flag(r, "follow"))
        start_following(s, r, &v);
    else
        answer_log(r, lines, &v);
}
