/* SPDX-License-Identifier: MIT */
/* process.Process: its messages and methods, and everything but the streams of events, which are in
 * e2b_start.c. */
#include "envd/e2b_process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "envd/serve_internal.h"

#define KEEPALIVE "{\"event\":{\"keepalive\":{}}}"
/* In the words that clients know. */
#define USE_PTY   "tty assigned to process — input should be written to the pty, not the stdin"
#define USE_STDIN "tty not assigned to process — input should be written to the stdin, not the tty"
#define NO_STDIN  "stdin not enabled or closed"

enum {
    LIST_MAX = 16 << 20,
    STREAM_UNREAD_MAX = 256 << 10,
    KILL_STEP_MS = 2,
    KILL_STEPS_MAX = 500,
};

/* ---- messages ---- */

#define FIELD(type, member, name, kind, ...)                                                       \
    {                                                                                              \
        name, PJSON_##kind, .offset = offsetof(struct msg_##type, member), __VA_ARGS__             \
    }
#define MESSAGE(type)                                                                              \
    static const struct pjson_message type##_message = {sizeof(struct msg_##type),                 \
                                                        ARRAY_LEN(type##_fields), type##_fields}

static const struct pjson_message empty_message = {sizeof(struct msg_empty), 0, NULL};

static const struct pjson_field size_fields[] = {
    FIELD(size, cols, "cols", U32),
    FIELD(size, rows, "rows", U32),
};
MESSAGE(size);

static const struct pjson_field pty_fields[] = {
    FIELD(pty, size, "size", MESSAGE, .message = &size_message),
};
MESSAGE(pty);

static const struct pjson_field config_fields[] = {
    [CONFIG_CMD] = FIELD(config, cmd, "cmd", STRING),
    [CONFIG_ARGS] = FIELD(config, args, "args", STRINGS),
    [CONFIG_ENVS] = FIELD(config, envs, "envs", MAP),
    [CONFIG_CWD] = FIELD(config, cwd, "cwd", STRING),
};
MESSAGE(config);

static const struct pjson_field start_fields[] = {
    [START_PROCESS] = FIELD(start, process, "process", MESSAGE, .message = &config_message),
    [START_PTY] = FIELD(start, pty, "pty", MESSAGE, .message = &pty_message),
    [START_TAG] = FIELD(start, tag, "tag", STRING),
    [START_STDIN] = FIELD(start, has_stdin, "stdin", BOOL),
};
MESSAGE(start);

static const struct pjson_field selector_fields[] = {
    [SELECTOR_PID] = FIELD(selector, pid, "pid", U32, .oneof = 1),
    [SELECTOR_TAG] = FIELD(selector, tag, "tag", STRING, .oneof = 1),
};
MESSAGE(selector);

static const struct pjson_field select_fields[] = {
    FIELD(select, process, "process", MESSAGE, .message = &selector_message),
};
MESSAGE(select);

static const struct pjson_field update_fields[] = {
    FIELD(update, process, "process", MESSAGE, .message = &selector_message),
    FIELD(update, pty, "pty", MESSAGE, .message = &pty_message),
};
MESSAGE(update);

static const struct pjson_field input_fields[] = {
    [INPUT_STDIN] = FIELD(input, bytes[INPUT_STDIN], "stdin", BYTES, .oneof = 1),
    [INPUT_PTY] = FIELD(input, bytes[INPUT_PTY], "pty", BYTES, .oneof = 1),
};
MESSAGE(input);

static const struct pjson_field send_input_fields[] = {
    FIELD(send_input, process, "process", MESSAGE, .message = &selector_message),
    FIELD(send_input, input, "input", MESSAGE, .message = &input_message),
};
MESSAGE(send_input);

static const struct pjson_name signal_names[] = {
    {"SIGNAL_UNSPECIFIED", 0},
    {"SIGNAL_SIGTERM", SIGTERM},
    {"SIGNAL_SIGKILL", SIGKILL},
    {NULL, 0},
};
static const struct pjson_field signal_fields[] = {
    FIELD(signal, process, "process", MESSAGE, .message = &selector_message),
    FIELD(signal, signal, "signal", ENUM, .names = signal_names),
};
MESSAGE(signal);

static const struct pjson_field stream_data_fields[] = {
    FIELD(stream_data, input, "input", MESSAGE, .message = &input_message),
};
MESSAGE(stream_data);

static const struct pjson_field stream_fields[] = {
    FIELD(stream, start, "start", MESSAGE, .oneof = 1, .message = &select_message),
    FIELD(stream, data, "data", MESSAGE, .oneof = 1, .message = &stream_data_message),
    FIELD(stream, keepalive, "keepalive", MESSAGE, .oneof = 1, .message = &empty_message),
};
MESSAGE(stream);

/* ---- selecting ---- */

static struct proc *find_tagged_proc(struct proc_table *t, struct str tag, bool ended_too)
{
    struct proc *found = NULL;

    for (struct proc *p = proc_first(t); p; p = proc_next(p)) {
        const struct e2b_proc *owner = proc_owner(p);
        if (!owner || !owner->tag || !str_is(tag, owner->tag))
            continue;
        if (!proc_end(p))
            return p;
        found = ended_too ? p : found;
    }
    return found;
}

static struct proc *find_pid(struct proc_table *t, uint32_t pid, bool ended_too)
{
    struct proc *p = pid <= INT32_MAX ? proc_find(t, (pid_t)pid) : NULL;

    return p && proc_owner(p) && (ended_too || !proc_end(p)) ? p : NULL;
}

struct proc *e2b_find_proc(struct connect_call *c, const struct msg_selector *s, bool ended_too)
{
    struct proc_table *t = &c->serve->procs;
    struct proc *p;

    if (s && pjson_has(s, SELECTOR_PID)) {
        p = find_pid(t, s->pid, ended_too);
        if (!p)
            connect_fail(c, CONNECT_NOT_FOUND, "process with pid %u not found", (unsigned)s->pid);
        return p;
    }
    if (s && pjson_has(s, SELECTOR_TAG)) {
        p = find_tagged_proc(t, s->tag, ended_too);
        if (!p)
            connect_fail(c, CONNECT_NOT_FOUND, "process with tag " STR_FMT " not found",
                         STR_ARG(s->tag));
        return p;
    }
    connect_fail(c, CONNECT_UNIMPLEMENTED, "invalid process selector");
    return NULL;
}

/* ---- methods ---- */

static void list(struct connect_call *c)
{
    auto_buf struct buf b = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&b);
    bool has_any = false;

    jw_object(&w);
    for (struct proc *p = proc_first(&c->serve->procs); p; p = proc_next(p)) {
        const struct e2b_proc *owner = proc_owner(p);
        if (!owner || !owner->info || proc_end(p))
            continue;
        if (!has_any) {
            jw_key(&w, "processes");
            jw_array(&w);
        }
        has_any = true;
        jw_raw(&w, str_of(owner->info));
    }
    if (has_any)
        jw_end(&w);
    jw_end(&w);
    connect_reply(c, &b);
}

static void update(struct connect_call *c)
{
    const struct msg_update *m = c->message;
    struct proc *p = e2b_find_proc(c, m->process, false);

    if (!p)
        return;
    const struct msg_size *size = m->pty ? m->pty->size : NULL;
    int r = m->pty && !((struct e2b_proc *)proc_owner(p))->has_pty ? -ENOTTY : 0;
    if (r == 0 && size)
        r = proc_resize(p, (uint16_t)size->cols, (uint16_t)size->rows);
    if (r == -ENOTTY)
        connect_fail(c, CONNECT_INTERNAL, "error resizing tty: tty not assigned to process");
    else if (r < 0)
        connect_fail(c, CONNECT_INTERNAL, "error resizing tty: %s", strerror(-r));
    else
        connect_reply_empty(c);
}

static void close_stdin(struct connect_call *c)
{
    const struct msg_select *m = c->message;
    struct proc *p = e2b_find_proc(c, m->process, false);

    if (!p)
        return;
    if (((struct e2b_proc *)proc_owner(p))->has_pty) {
        connect_fail(c, CONNECT_UNKNOWN,
                     "error closing stdin: cannot close stdin for PTY process — send Ctrl+D "
                     "(0x04) instead");
        return;
    }
    proc_close_input(p);
    connect_reply_empty(c);
}

/* A kill that is answered when the process is gone, so that whoever looks for it then finds
 * nothing. */
struct killing {
    struct loop_timer timer;
    struct connect_call *call;
    uint32_t pid;
    int n_steps;
};

static void on_kill_over(struct connect_call *c)
{
    struct killing *k = c->ctx;

    loop_timer_stop(&k->timer);
}

static void on_kill_step(struct loop_timer *t)
{
    struct killing *k = container_of(t, struct killing, timer);
    struct serve *s = k->call->serve;

    if (!find_pid(&s->procs, k->pid, false) || ++k->n_steps > KILL_STEPS_MAX ||
        loop_timer_start(s->loop, t, KILL_STEP_MS, on_kill_step) < 0)
        connect_reply_empty(k->call);
}

static void wait_for_kill(struct connect_call *c, pid_t pid)
{
    struct killing *k = arena_new(c->arena, struct killing);

    if (!k) {
        connect_reply_empty(c);
        return;
    }
    k->call = c;
    k->pid = (uint32_t)pid;
    c->ctx = k;
    c->on_over = on_kill_over;
    on_kill_step(&k->timer);
}

static void send_signal(struct connect_call *c)
{
    const struct msg_signal *m = c->message;
    struct proc *p = e2b_find_proc(c, m->process, false);

    if (!p)
        return;
    if (m->signal == 0) {
        connect_fail(c, CONNECT_UNIMPLEMENTED, "invalid signal: SIGNAL_UNSPECIFIED");
        return;
    }
    if (m->signal != SIGTERM && m->signal != SIGKILL) {
        connect_fail(c, CONNECT_UNIMPLEMENTED, "invalid signal: %d", (int)m->signal);
        return;
    }
    pid_t pid = proc_pid(p);
    int r = proc_signal_alone(p, m->signal);
    if (r < 0)
        connect_fail(c, CONNECT_INTERNAL, "error sending signal: %s", strerror(-r));
    else if (m->signal == SIGKILL)
        wait_for_kill(c, pid);
    else
        connect_reply_empty(c);
}

/* ---- input ---- */

/* Queues what M holds for P. False: C has failed. */
static bool write_input(struct connect_call *c, struct proc *p, const struct msg_input *m)
{
    bool has_pty = ((struct e2b_proc *)proc_owner(p))->has_pty;

    if (!m || !m->has) {
        connect_fail(c, CONNECT_UNIMPLEMENTED, "invalid input type");
        return false;
    }
    bool is_pty = pjson_has(m, INPUT_PTY);
    if (is_pty != has_pty) {
        connect_fail(c, CONNECT_INTERNAL, "error writing to %s: %s", is_pty ? "tty" : "stdin",
                     is_pty ? USE_STDIN : USE_PTY);
        return false;
    }
    int r = proc_write(p, m->bytes[is_pty]);
    if (r == 0)
        return true;
    if (r == -EPIPE)
        connect_fail(c, CONNECT_INTERNAL, "error writing to %s: " NO_STDIN,
                     is_pty ? "tty" : "stdin");
    else
        connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "error writing to %s: %s",
                     is_pty ? "tty" : "stdin", "too much input waits already");
    return false;
}

/* A call that is answered when its input was taken. */
struct input_sending {
    struct proc_input input;
    struct connect_call *call;
    uint32_t pid; /* of StreamInput: to whom; 0: nobody yet */
    bool is_over; /* of StreamInput: there is no more to come */
};

static void on_sending_over(struct connect_call *c)
{
    struct input_sending *s = c->ctx;

    proc_input_cancel(&s->input);
}

static void on_input_taken(struct proc_input *in, int result)
{
    struct input_sending *s = container_of(in, struct input_sending, input);

    if (result < 0)
        connect_fail(s->call, CONNECT_INTERNAL, "error writing to stdin: broken pipe");
    else
        connect_reply_empty(s->call);
}

/* In the request's arena; C's on_sending_over() is set. NULL: C has failed. */
static struct input_sending *input_sending_new(struct connect_call *c,
                                               void (*fn)(struct proc_input *, int))
{
    struct input_sending *s = arena_new(c->req->arena, struct input_sending);

    if (!s) {
        connect_fail(c, CONNECT_RESOURCE_EXHAUSTED, "out of memory");
        return NULL;
    }
    s->call = c;
    s->input.fn = fn;
    list_init(&s->input.node);
    c->ctx = s;
    c->on_over = on_sending_over;
    return s;
}

static void send_input(struct connect_call *c)
{
    const struct msg_send_input *m = c->message;
    struct proc *p = e2b_find_proc(c, m->process, false);

    if (!p || !write_input(c, p, m->input))
        return;
    if (proc_unread(p) == 0) {
        connect_reply_empty(c);
        return;
    }
    struct input_sending *s = input_sending_new(c, on_input_taken);
    if (s)
        proc_input_wait(p, &s->input);
}

/* Of StreamInput: the caller may go on, or has got its answer. */
static void on_stream_taken(struct proc_input *in, int result)
{
    struct input_sending *s = container_of(in, struct input_sending, input);

    if (result < 0 || s->is_over)
        on_input_taken(in, result);
    else
        connect_resume(s->call);
}

/* The process may have gone since the last message: it is looked up by its number. */
static struct proc *stream_proc(struct connect_call *c, const struct input_sending *s)
{
    struct proc *p = s->pid ? find_pid(&c->serve->procs, s->pid, false) : NULL;

    if (!p && s->pid)
        connect_fail(c, CONNECT_NOT_FOUND, "process with pid %u not found", (unsigned)s->pid);
    else if (!p)
        connect_fail(c, CONNECT_UNIMPLEMENTED, "invalid process selector");
    return p;
}

static void wait_for_stream(struct input_sending *s, struct proc *p)
{
    proc_input_cancel(&s->input);
    proc_input_wait(p, &s->input);
}

static void end_stream_input(struct connect_call *c, struct input_sending *s)
{
    struct proc *p = s->pid ? find_pid(&c->serve->procs, s->pid, false) : NULL;

    s->is_over = true;
    if (p && proc_unread(p) > 0)
        wait_for_stream(s, p);
    else
        connect_reply_empty(c);
}

static void stream_input(struct connect_call *c)
{
    const struct msg_stream *m = c->message;
    struct input_sending *s = c->ctx ? c->ctx : input_sending_new(c, on_stream_taken);

    if (!s)
        return;
    if (!m) {
        end_stream_input(c, s);
        return;
    }
    if (m->start) {
        struct proc *p = e2b_find_proc(c, m->start->process, false);
        s->pid = p ? (uint32_t)proc_pid(p) : 0;
        return;
    }
    if (m->keepalive)
        return;
    struct proc *p = stream_proc(c, s);
    if (!p || !write_input(c, p, m->data ? m->data->input : NULL))
        return;
    if (proc_unread(p) <= STREAM_UNREAD_MAX)
        return;
    connect_pause(c);
    wait_for_stream(s, p);
}

const struct connect_method e2b_process_methods[] = {
    {"/process.Process/List", CONNECT_UNARY, &empty_message, list, NULL},
    {"/process.Process/Start", CONNECT_STREAM, &start_message, e2b_start, KEEPALIVE},
    {"/process.Process/Connect", CONNECT_STREAM, &select_message, e2b_connect, KEEPALIVE},
    {"/process.Process/Update", CONNECT_UNARY, &update_message, update, NULL},
    {"/process.Process/SendInput", CONNECT_UNARY, &send_input_message, send_input, NULL},
    {"/process.Process/StreamInput", CONNECT_INPUT, &stream_message, stream_input, NULL},
    {"/process.Process/SendSignal", CONNECT_UNARY, &signal_message, send_signal, NULL},
    {"/process.Process/CloseStdin", CONNECT_UNARY, &select_message, close_stdin, NULL},
    {NULL, CONNECT_UNARY, NULL, NULL, NULL},
};
