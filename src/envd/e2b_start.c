/* SPDX-License-Identifier: MIT */
/* process.Process Start and Connect: the events of a process as a stream.
 *
 * A subscriber reads the process's numbered output at its own pace and holds the process back when
 * it is slow; a process that nobody reads runs freely, and its newest output is kept. Who connects
 * gets what nobody was given, then what is new. When the last subscriber came through another
 * daemon, that one has died with output on its way: then some is given twice, so that none is
 * missing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/e2b_process.h"
#include "envd/path.h"
#include "envd/serve_internal.h"

enum {
    KEEP_MS = 30000,
    REPEAT_BYTES = 64 << 10,
    /* What can be on its way to a daemon: in its connection here and in the socket. */
    FLIGHT_BYTES = 448 << 10,
    RING_BYTES = REPEAT_BYTES + FLIGHT_BYTES,
    RING_BYTES_CROWDED = REPEAT_BYTES,
    CROWD = 64, /* processes from which on less is kept for each */
    COLS = 80,
    ROWS = 24,
    EVENT_MAX = 256 << 10,
    EVENT_FRAME = 64, /* of an event, around its data */
    LARGE = 8 << 10,  /* data of one that more are expected after */
    INFO_MAX = 4 << 20,
};

/* Somebody who gets the events, in the arena of its request. */
struct e2b_sub {
    struct list node; /* in e2b_proc.subs */
    struct proc_watch watch;
    struct connect_call *call;
    struct e2b_proc *owner;
    char boot[BOOT_MAX];
    bool is_starter; /* its deadline is the process's */
};

/* ---- events ---- */

static void send_start(struct connect_call *c, pid_t pid)
{
    auto_buf struct buf b = BUF_INIT(128);

    connect_message(&b);
    (void)buf_printf(&b, "{\"event\":{\"start\":{\"pid\":%d}}}", (int)pid);
    connect_send(c, &b);
}

/* A program that prints much has its events made in the same memory. */
static void send_data(struct connect_call *c, struct buf *b, const struct ring_chunk *chunk)
{
    static const char *const names[PROC_SOURCE_COUNT] = {"stdout", "stderr", "pty"};
    struct jw w;

    buf_clear(b);
    (void)buf_reserve(b, chunk->len * 4 / 3 + EVENT_FRAME);
    connect_message(b);
    w = jw_to(b);
    jw_object(&w);
    jw_key(&w, "event");
    jw_object(&w);
    jw_key(&w, "data");
    jw_object(&w);
    pjson_put_bytes(&w, names[chunk->source], str_n(chunk->data, chunk->len));
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    connect_send(c, b);
    if (chunk->len < LARGE)
        buf_done(b);
}

/* As Go's os package prints them, which is what clients show. */
static const char *const signal_texts[] = {
    [1] = "hangup",
    [2] = "interrupt",
    [3] = "quit",
    [4] = "illegal instruction",
    [5] = "trace/breakpoint trap",
    [6] = "aborted",
    [7] = "bus error",
    [8] = "floating point exception",
    [9] = "killed",
    [10] = "user defined signal 1",
    [11] = "segmentation fault",
    [12] = "user defined signal 2",
    [13] = "broken pipe",
    [14] = "alarm clock",
    [15] = "terminated",
    [16] = "stack fault",
    [24] = "CPU time limit exceeded",
    [25] = "file size limit exceeded",
    [26] = "virtual timer expired",
    [27] = "profiling timer expired",
    [29] = "I/O possible",
    [30] = "power failure",
    [31] = "bad system call",
};

static void describe_status(int status, char *ret, size_t size)
{
    size_t signo = WIFSIGNALED(status) ? (size_t)WTERMSIG(status) : 0;
    const char *dumped = signo && WCOREDUMP(status) ? " (core dumped)" : "";

    if (signo == 0)
        (void)snprintf(ret, size, "exit status %d", WEXITSTATUS(status));
    else if (signo < ARRAY_LEN(signal_texts) && signal_texts[signo])
        (void)snprintf(ret, size, "signal: %s%s", signal_texts[signo], dumped);
    else
        (void)snprintf(ret, size, "signal: signal %zu%s", signo, dumped);
}

static void send_start_end(struct connect_call *c, int status)
{
    auto_buf struct buf b = BUF_INIT(512);
    int code = WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
    char text[64];
    struct jw w;

    describe_status(status, text, sizeof text);
    connect_message(&b);
    w = jw_to(&b);
    jw_object(&w);
    jw_key(&w, "event");
    jw_object(&w);
    jw_key(&w, "end");
    jw_object(&w);
    if (code != 0) {
        jw_key(&w, "exitCode");
        jw_int(&w, code);
    }
    pjson_put_bool(&w, "exited", !WIFSIGNALED(status));
    pjson_put_str(&w, "status", str_of(text));
    if (code != 0)
        pjson_put_str(&w, "error", str_of(text));
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    connect_send(c, &b);
}

/* ---- subscribers ---- */

static void on_start_progress(struct proc_watch *watch)
{
    struct e2b_sub *sub = container_of(watch, struct e2b_sub, watch);
    struct connect_call *c = sub->call;

    while (!connect_is_full(c)) {
        const struct ring_chunk *chunk = proc_watch_read(watch);
        if (chunk) {
            send_data(c, &sub->owner->event, chunk);
            continue;
        }
        const struct proc_end *end = proc_end(watch->proc);
        if (!end)
            return;
        if (end->is_timed_out && sub->is_starter) {
            connect_fail(c, CONNECT_DEADLINE_EXCEEDED, "context deadline exceeded");
            return;
        }
        proc_drop_output(watch->proc);
        buf_done(&sub->owner->event);
        /* What is left to say leaves as one piece. */
        http_cork(c->req);
        send_start_end(c, end->status);
        connect_end(c);
        return;
    }
}

static void on_start_drain(struct connect_call *c)
{
    struct e2b_sub *sub = c->ctx;

    on_start_progress(&sub->watch);
}

static void on_start_over(struct connect_call *c)
{
    struct e2b_sub *sub = c->ctx;

    list_del(&sub->node);
    sub->owner->has_left = true;
    sub->owner->left_seq = sub->watch.reader.next_seq;
    (void)snprintf(sub->owner->left_boot, BOOT_MAX, "%s", sub->boot);
    proc_watch_stop(&sub->watch);
}

/* Of the daemon that passed the request on; "" when nobody did. */
static void get_boot(struct http_req *r, char ret[BOOT_MAX])
{
    struct str boot = http_header_get(&r->head.headers, "x-tidepool-boot");

    (void)snprintf(ret, BOOT_MAX, STR_FMT, STR_ARG(boot));
}

/* Where somebody who connects from daemon BOOT begins to read. */
static uint64_t first_seq(const struct proc *p, const struct e2b_proc *owner, const char *boot)
{
    uint64_t left = owner->has_left ? owner->left_seq : UINT64_MAX;
    bool is_lost = owner->has_left && strcmp(owner->left_boot, boot) != 0;

    list_each(node, &owner->subs)
    {
        const struct e2b_sub *sub = list_entry(node, struct e2b_sub, node);
        if (strcmp(sub->boot, boot) == 0)
            return UINT64_MAX; /* nothing was missed: only what is new */
        /* Its daemon is gone, although that has not been noticed yet. */
        if (sub->watch.reader.next_seq < left)
            left = sub->watch.reader.next_seq;
        is_lost = true;
    }
    return is_lost ? proc_seq_before(p, left, REPEAT_BYTES + FLIGHT_BYTES) : left;
}

/* Makes C a subscriber of P: it gets the start at once. */
static void subscribe(struct connect_call *c, struct e2b_sub *sub, struct proc *p, uint64_t from)
{
    sub->call = c;
    sub->owner = proc_owner(p);
    sub->watch.fn = on_start_progress;
    sub->owner->has_left = false;
    list_append(&sub->owner->subs, &sub->node);
    c->ctx = sub;
    c->on_over = on_start_over;
    c->on_drain = on_start_drain;
    send_start(c, proc_pid(p));
    proc_watch_start(p, &sub->watch, from);
}

static struct e2b_sub *sub_new(struct connect_call *c)
{
    struct e2b_sub *sub = arena_new(c->arena, struct e2b_sub);

    if (!sub) {
        connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "out of memory");
        return NULL;
    }
    get_boot(c->req, sub->boot);
    return sub;
}

void e2b_connect(struct connect_call *c)
{
    const struct msg_select *m = c->message;
    struct proc *p = e2b_find_proc(c, m->process, true);
    struct e2b_sub *sub = p ? sub_new(c) : NULL;

    if (sub)
        subscribe(c, sub, p, first_seq(p, proc_owner(p), sub->boot));
}

/* ---- starting ---- */

static void owner_free(void *ctx)
{
    struct e2b_proc *o = ctx;

    if (!o)
        return;
    buf_done(&o->event);
    free(o->info);
    free(o->tag);
    free(o);
}

static void put_info(struct jw *w, const struct msg_start *m, pid_t pid)
{
    const struct msg_config *config = m->process;

    jw_object(w);
    jw_key(w, "config");
    jw_object(w);
    pjson_put_str(w, "cmd", config->cmd);
    if (config->args && config->args[0]) {
        jw_key(w, "args");
        jw_array(w);
        for (char **arg = config->args; *arg; arg++)
            jw_cstr(w, *arg);
        jw_end(w);
    }
    if (config->envs && config->envs->n) {
        jw_key(w, "envs");
        jw_value(w, config->envs);
    }
    if (pjson_has(config, CONFIG_CWD)) {
        jw_key(w, "cwd");
        jw_str(w, config->cwd);
    }
    jw_end(w);
    pjson_put_u32(w, "pid", (uint32_t)pid);
    if (pjson_has(m, START_TAG)) {
        jw_key(w, "tag");
        jw_str(w, m->tag);
    }
    jw_end(w);
}

/* Fills in what is reported about P. -ENOMEM. */
static int describe_owner(struct e2b_proc *o, const struct msg_start *m, pid_t pid)
{
    auto_buf struct buf b = BUF_INIT(INFO_MAX);
    struct jw w = jw_to(&b);

    put_info(&w, m, pid);
    if (!buf_ok(&b))
        return b.error;
    o->info = mem_strndup(b.p, b.len);
    if (pjson_has(m, START_TAG)) {
        o->tag = mem_strndup(m->tag.p, m->tag.len);
        if (!o->tag)
            return -ENOMEM;
    }
    return o->info ? 0 : -ENOMEM;
}

/* The command as one line, for messages. */
static const char *command_line(struct arena *a, const struct msg_config *config)
{
    auto_buf struct buf b = BUF_INIT(INFO_MAX);

    (void)buf_add_str(&b, config->cmd);
    for (char **arg = config->args; arg && *arg; arg++)
        (void)buf_printf(&b, " %s", *arg);
    return buf_ok(&b) ? arena_str(a, buf_str(&b)).p : "";
}

/* Its directory. NULL: C has failed. */
static const char *get_cwd(struct connect_call *c, const struct user *u, struct str cwd)
{
    struct err e = ERR_INIT;
    struct stat st;
    const char *path = path_resolve(c->arena, cwd, u, e2b_default_workdir(c->serve), &e);

    if (!path) {
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "%s", err_text(&e));
        return NULL;
    }
    if (!*path)
        path = u->home;
    if (stat(path, &st) < 0 && errno == ENOENT) {
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "cwd '%s' does not exist", path);
        return NULL;
    }
    return path;
}

static char **get_start_argv(struct connect_call *c, const struct msg_config *config)
{
    size_t n = 0;

    while (config->args && config->args[n])
        n++;
    char **argv = arena_zalloc(c->arena, n + 2, sizeof *argv);
    if (!argv || str_chr(config->cmd, '\0') >= 0)
        return NULL;
    argv[0] = (char *)(uintptr_t)(config->cmd.p ? config->cmd.p : "");
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = config->args[i];
    return argv;
}

static uint16_t side(uint32_t wanted, uint16_t fallback)
{
    return wanted == 0 ? fallback : wanted > UINT16_MAX ? UINT16_MAX : (uint16_t)wanted;
}

static void set_terminal(struct proc_args *args, const struct msg_pty *pty)
{
    const struct msg_size *size = pty->size;

    args->has_pty = true;
    args->keeps_input = true;
    args->cols = side(size ? size->cols : 0, COLS);
    args->rows = side(size ? size->rows : 0, ROWS);
}

/* False: C has failed. */
static bool get_start_args(struct connect_call *c, const struct msg_start *m, struct proc_args *ret)
{
    const struct user *u = connect_user(c);
    struct err e = ERR_INIT;

    /* A call that has failed is gone: nothing of it may be asked then. */
    const char *cwd = u ? get_cwd(c, u, m->process->cwd) : NULL;
    if (!cwd)
        return false;
    *ret = (struct proc_args){
        .user = u->name,
        .cwd = cwd,
        .base_env = e2b_env(c->serve, c->arena),
        .keeps_input = !pjson_has(m, START_STDIN) || m->has_stdin,
        .has_bare_env = true,
        .says_no_exec = true,
        .waits_for_eof = true,
        .dies_alone = true,
        .timeout_ms = c->timeout_ms < UINT32_MAX ? (uint32_t)c->timeout_ms : UINT32_MAX,
        .keep_ms = KEEP_MS,
        .ring_bytes = c->serve->procs.n_procs < CROWD ? RING_BYTES : RING_BYTES_CROWDED,
        .free_owner = owner_free,
    };
    if (pjson_has(m, START_PTY))
        set_terminal(ret, m->pty);
    ret->argv = get_start_argv(c, m->process);
    ret->env = claim_env(c->arena, m->process->envs, &e);
    if (ret->argv && ret->env && ret->base_env)
        return true;
    if (e.code)
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "%s", err_text(&e));
    else
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "the command cannot be executed");
    return false;
}

static void fail_process_start(struct connect_call *c, const struct msg_start *m,
                               const struct proc_args *args, const struct err *e)
{
    const char *line = command_line(c->arena, m->process);

    /* Clients show "rate limit exceeded" for a resource that is exhausted, and retry. */
    if (e->code == -EAGAIN)
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "error starting process '%s': %s: %s", line,
                     path_errno(e->code), err_text(e));
    else if (args->has_pty)
        connect_fail(c, CONNECT_INVALID_ARGUMENT,
                     "error starting pty with command '%s' in dir '%s' with '%u' cols and '%u' "
                     "rows: %s",
                     line, args->cwd, (unsigned)args->cols, (unsigned)args->rows,
                     path_errno(e->code));
    else
        connect_fail(c, CONNECT_INVALID_ARGUMENT, "error starting process '%s': %s", line,
                     path_errno(e->code));
}

/* Ended ones that are kept under this tag make room. */
static void drop_ended(struct proc_table *t, struct str tag)
{
    for (struct proc *p = proc_first(t), *next; p; p = next) {
        const struct e2b_proc *o = proc_owner(p);
        next = proc_next(p);
        if (o && o->tag && str_is(tag, o->tag) && proc_end(p))
            proc_drop(p);
    }
}

void e2b_start(struct connect_call *c)
{
    static const struct msg_config no_config = {0};
    struct msg_start m = *(const struct msg_start *)c->message;
    struct proc_args args;
    struct err e = ERR_INIT;

    m.process = m.process ? m.process : &no_config;
    if (!get_start_args(c, &m, &args))
        return;
    struct e2b_sub *sub = sub_new(c);
    if (!sub)
        return;
    struct e2b_proc *owner = mem_zalloc(1, sizeof *owner);
    args.owner = owner;
    struct proc *p = owner ? proc_start(&c->serve->procs, &args, &e) : NULL;
    if (!p) {
        owner_free(owner);
        fail_process_start(c, &m, &args, &e);
        return;
    }
    list_init(&owner->subs);
    buf_init(&owner->event, EVENT_MAX);
    owner->has_pty = args.has_pty;
    sub->is_starter = true;
    if (pjson_has(&m, START_TAG))
        drop_ended(&c->serve->procs, m.tag);
    if (describe_owner(owner, &m, proc_pid(p)) < 0) {
        proc_kill_all(p);
        connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    subscribe(c, sub, p, 1);
}
