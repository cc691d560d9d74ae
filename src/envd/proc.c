/* SPDX-License-Identifier: MIT */
/* Processes in a cell: see proc.h.
 *
 * A process has two ends, which come in either order: it is reaped (finish_proc()), and its output
 * is read to the end. With `waits_for_eof` it ends for its watchers when both have come, since a
 * grandchild may still write; without, or after a kill from here, reaping is enough, and what the
 * pipes hold at that moment is read first (end_proc()).
 *
 * After that the struct stays for as long as somebody needs it: `is_kept` for keep_ms, so that a
 * client that lost its connection can ask for the end; a watcher that has not read everything; and
 * `is_telling`, while callbacks run that may take away the last of the others. free_if_done() is
 * the only place that frees one that ended, and every function after which it may be gone says so.
 *
 * Output flows by back-pressure alone: ring full → pipes not read → pipes full → the process waits.
 * Nothing is dropped unless proc_drop_output() asked for it. */
#include "envd/proc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "envd/proc_launch.h"
#include "envd/proc_tree.h"
#include "envd/pty.h"
#include "sys/io.h"

enum { ARENA_MAX = 4 << 20, CHUNK = 32768, CHUNK_PTY = 16384, DRAIN_READS = 128, STEP_MS = 1000 };

/* One output stream: read to its end into the ring. */
struct sink {
    struct loop_io io;
    struct proc *proc;
    int fd;
    enum proc_source source;
};

struct proc {
    struct list node;
    struct proc_table *table;
    pid_t pid;
    char *name;
    int64_t started_us;
    struct loop_timer timer; /* first the time it may run, then the time it is kept */
    struct loop_timer poke;  /* somebody began to watch what is there already */
    uint32_t keep_ms;
    int64_t left_ms, step_at_ms; /* of the time it may run, and since when a step of it runs */
    struct loop_io in_io;
    int in_fd;
    struct buf input;
    uint64_t n_queued, n_taken; /* bytes of input, ever */
    struct list inputs;         /* who waits for that; struct proc_input, of its owner */
    bool keeps_input;           /* more may come; else it is closed once it is written */
    struct sink out, err;       /* of a terminal: out only */
    struct ring ring;
    bool waits_for_eof, dies_alone;
    bool is_reaped; /* only its output goes on */
    bool is_killed; /* from here: nobody waits for its output */
    bool is_ended, is_timed_out, is_kept, is_telling;
    struct proc_end end;
    void *owner; /* goes with the process */
    void (*free_owner)(void *owner);
};

static void proc_free(struct proc *p);
DEFINE_CLEANUP(struct proc *, proc_free)

static void close_io(struct loop_io *io, int *fd)
{
    loop_io_stop(io);
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* ---- watching ---- */

static struct proc_watch *watch_of(struct list *node)
{
    return container_of(list_entry(node, struct ring_reader, node), struct proc_watch, reader);
}

static void free_if_done(struct proc *p)
{
    if (p->is_ended && !p->is_kept && !p->is_telling && list_is_empty(&p->ring.readers))
        proc_free(p);
}

/* The process may be gone afterwards. */
static void tell_readers(struct proc *p)
{
    p->is_telling = true;
    list_each(node, &p->ring.readers)
    {
        struct proc_watch *w = watch_of(node);
        if (p->is_ended || w->reader.next_seq < p->ring.next_seq)
            w->fn(w);
    }
    p->is_telling = false;
    free_if_done(p);
}

static void on_proc_output(struct loop_io *io, uint32_t events);

/* A full ring holds the process back, once its pipes are full as well. Stopped, not only unwanted:
 * epoll reports a hang-up whether it is wanted or not. */
static void sink_set_flow(struct sink *s, bool is_full)
{
    if (is_full)
        loop_io_stop(&s->io);
    else if (s->fd >= 0 && !s->io.loop &&
             loop_io_start(s->proc->table->loop, &s->io, s->fd, EPOLLIN, on_proc_output) < 0)
        close_io(&s->io, &s->fd);
}

static void set_flow(struct proc *p)
{
    bool is_full = ring_is_full(&p->ring);

    sink_set_flow(&p->out, is_full);
    sink_set_flow(&p->err, is_full);
}

static void on_poke(struct loop_timer *t)
{
    tell_readers(container_of(t, struct proc, poke));
}

void proc_watch_start(struct proc *p, struct proc_watch *w, uint64_t from)
{
    assert(w->fn && !w->proc);
    w->proc = p;
    ring_attach(&p->ring, &w->reader, from);
    if (p->is_ended || w->reader.next_seq < p->ring.next_seq)
        (void)loop_timer_start(p->table->loop, &p->poke, 0, on_poke);
}

void proc_watch_stop(struct proc_watch *w)
{
    struct proc *p = take(w->proc);

    if (!p)
        return;
    ring_detach(&p->ring, &w->reader);
    set_flow(p);
    free_if_done(p);
}

const struct ring_chunk *proc_watch_read(struct proc_watch *w)
{
    const struct ring_chunk *c = ring_read(&w->proc->ring, &w->reader);

    set_flow(w->proc);
    return c;
}

const struct proc_end *proc_end(const struct proc *p)
{
    return p->is_ended ? &p->end : NULL;
}

pid_t proc_pid(const struct proc *p)
{
    return p->pid;
}

const char *proc_name(const struct proc *p)
{
    return p->name;
}

int64_t proc_started_us(const struct proc *p)
{
    return p->started_us;
}

void *proc_owner(const struct proc *p)
{
    return p->owner;
}

void proc_drop_output(struct proc *p)
{
    ring_set_max(&p->ring, 0);
}

uint64_t proc_seq_before(const struct proc *p, uint64_t seq, size_t bytes)
{
    return ring_before(&p->ring, seq, bytes);
}

/* ---- output ---- */

/* One read. False when there was nothing to read for now or for ever. */
static bool sink_read(struct sink *s)
{
    char chunk[CHUNK];
    size_t size = s->source == PROC_PTY ? CHUNK_PTY : CHUNK;
    ssize_t n = s->fd < 0 ? -EAGAIN : io_read(s->fd, chunk, size);

    if (n == -EAGAIN)
        return false;
    /* -EIO: nobody has the terminal open any more. Without memory the output is lost; the process
     * must not wait for us for ever. */
    if (n <= 0 || ring_add(&s->proc->ring, s->source, chunk, (size_t)n) < 0) {
        close_io(&s->io, &s->fd);
        return false;
    }
    return true;
}

static void end_proc(struct proc *p);

static bool has_output(const struct proc *p)
{
    return p->out.fd >= 0 || p->err.fd >= 0;
}

static void on_proc_output(struct loop_io *io, uint32_t events)
{
    struct sink *s = container_of(io, struct sink, io);
    struct proc *p = s->proc;

    (void)events;
    if (sink_read(s)) {
        set_flow(p);
        tell_readers(p);
    } else if (p->is_reaped && !has_output(p)) {
        end_proc(p);
    }
}

/* ---- input ---- */

/* Those whose bytes were taken, or never will be. They may do anything but free the process. */
static void tell_inputs(struct proc *p)
{
    list_each(node, &p->inputs)
    {
        struct proc_input *in = list_entry(node, struct proc_input, node);
        if (in->upto > p->n_taken && p->in_fd >= 0)
            continue;
        list_del(&in->node);
        in->fn(in, in->upto > p->n_taken ? -EPIPE : 0);
    }
}

static void close_input(struct proc *p)
{
    close_io(&p->in_io, &p->in_fd);
    buf_clear(&p->input);
}

static void on_proc_input(struct loop_io *io, uint32_t events)
{
    struct proc *p = container_of(io, struct proc, in_io);
    ssize_t n = io_write(p->in_fd, p->input.p, p->input.len);

    (void)events;
    if (n == -EAGAIN)
        return;
    if (n > 0) {
        buf_consume(&p->input, (size_t)n);
        p->n_taken += (size_t)n;
    }
    if (n < 0 || (p->input.len == 0 && !p->keeps_input))
        close_input(p);
    else if (p->input.len == 0)
        loop_io_stop(&p->in_io);
    tell_inputs(p);
}

int proc_write(struct proc *p, struct str data)
{
    if (p->in_fd < 0 || !p->keeps_input)
        return -EPIPE;
    if (data.len > PROC_INPUT_MAX - p->input.len)
        return -ENOBUFS;
    int r = buf_add_str(&p->input, data);
    if (r == 0)
        p->n_queued += data.len;
    if (r == 0 && p->input.len > 0 && !p->in_io.loop)
        r = loop_io_start(p->table->loop, &p->in_io, p->in_fd, EPOLLOUT, on_proc_input);
    return r;
}

void proc_input_wait(struct proc *p, struct proc_input *in)
{
    in->upto = p->n_queued;
    list_append(&p->inputs, &in->node);
}

void proc_input_cancel(struct proc_input *in)
{
    list_del(&in->node);
}

size_t proc_unread(const struct proc *p)
{
    return p->input.len;
}

void proc_close_input(struct proc *p)
{
    p->keeps_input = false;
    if (p->input.len == 0)
        close_io(&p->in_io, &p->in_fd);
}

int proc_resize(struct proc *p, uint16_t cols, uint16_t rows)
{
    return p->out.source == PROC_PTY && p->out.fd >= 0 ? pty_resize(p->out.fd, cols, rows)
                                                       : -ENOTTY;
}

/* ---- life ---- */

static void close_all_pipes(struct proc *p);

static void proc_free(struct proc *p)
{
    if (!p)
        return;
    list_del(&p->node);
    loop_timer_stop(&p->timer);
    loop_timer_stop(&p->poke);
    close_all_pipes(p);
    buf_done(&p->input);
    ring_done(&p->ring);
    if (p->owner)
        p->free_owner(p->owner);
    free(p->name);
    free(p);
}

static void close_all_pipes(struct proc *p)
{
    close_input(p);
    close_io(&p->out.io, &p->out.fd);
    close_io(&p->err.io, &p->err.fd);
}

void proc_hang_up(struct proc *p)
{
    close_all_pipes(p);
    tell_inputs(p);
    if (p->is_reaped && !p->is_ended)
        end_proc(p);
}

int proc_signal(struct proc *p, int signo)
{
    if (p->is_reaped)
        return -ESRCH;
    return kill(-p->pid, signo) < 0 ? -errno : 0;
}

int proc_signal_alone(struct proc *p, int signo)
{
    if (p->is_ended)
        return -ESRCH;
    if (!p->is_reaped && kill(p->pid, signo) < 0)
        return -errno;
    p->is_killed = p->is_killed || signo == SIGKILL || signo == SIGTERM;
    if (p->is_reaped && p->is_killed)
        end_proc(p);
    return 0;
}

void proc_kill_all(struct proc *p)
{
    if (!p->is_reaped)
        proc_tree_kill(p->pid);
}

/* Time in which the cell stood still (paused) does not count, but the clock goes on meanwhile: so
 * the limit is counted in short steps, and one that took much longer than it should counts as a
 * step. */
static int start_step(struct proc *p);

/* The time that it may run is counted in steps of a second, not by one long timer: a cell that is
 * frozen meanwhile stands still, and a step that took much longer than a second counts as one. */
static void on_proc_step(struct loop_timer *t)
{
    struct proc *p = container_of(t, struct proc, timer);
    int64_t now_ms = clock_mono_ms(), took_ms = now_ms - p->step_at_ms;

    p->left_ms -= took_ms < 2 * STEP_MS ? took_ms : STEP_MS;
    if (p->left_ms > 0 && start_step(p) == 0)
        return;
    p->is_timed_out = true;
    if (p->dies_alone)
        (void)proc_signal_alone(p, SIGKILL);
    else
        proc_kill_all(p);
}

static int start_step(struct proc *p)
{
    p->step_at_ms = clock_mono_ms();
    return loop_timer_start(p->table->loop, &p->timer, p->left_ms < STEP_MS ? p->left_ms : STEP_MS,
                            on_proc_step);
}

static struct proc *proc_new(struct proc_table *t, const struct proc_args *args)
{
    struct proc *p = mem_zalloc(1, sizeof *p);

    if (!p)
        return NULL;
    list_init(&p->node);
    list_init(&p->inputs);
    p->table = t;
    p->in_fd = p->out.fd = p->err.fd = -1;
    p->out.proc = p->err.proc = p;
    p->out.source = args->has_pty ? PROC_PTY : PROC_STDOUT;
    p->err.source = PROC_STDERR;
    p->keeps_input = args->keeps_input;
    p->keep_ms = args->keep_ms;
    p->waits_for_eof = args->waits_for_eof;
    p->dies_alone = args->dies_alone;
    p->started_us = clock_real_us();
    ring_init(&p->ring, args->ring_bytes);
    buf_init(&p->input, PROC_INPUT_MAX);
    p->name = mem_strdup(args->argv[0]);
    if (!p->name || buf_add_str(&p->input, args->input) < 0) {
        proc_free(p);
        return NULL;
    }
    return p;
}

/* A pipe whose own end (0: we read, 1: we write) does not block. */
static int make_pipe(int own_end, int *ret_own, int *ret_other)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    (void)io_set_nonblock(ends[own_end], true);
    *ret_own = ends[own_end];
    *ret_other = ends[1 - own_end];
    return 0;
}

static int make_proc_copy(int fd, int *ret)
{
    *ret = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return *ret < 0 ? -errno : 0;
}

static int make_terminal(struct proc *p, struct launch *l)
{
    struct pty pty;
    int r = pty_open(&pty, l->user.uid, l->args->cols, l->args->rows);

    if (r < 0)
        return r;
    p->out.fd = pty.master;
    l->in_fd = pty.slave;
    /* Watched twice, for reading and for writing: two descriptors. */
    r = make_proc_copy(pty.master, &p->in_fd);
    if (r == 0)
        r = make_proc_copy(pty.slave, &l->out_fd);
    if (r == 0)
        r = make_proc_copy(pty.slave, &l->err_fd);
    return r;
}

/* Who may not open them again by /dev/stdout and the like would wonder. */
static void give_to_user(const struct launch *l)
{
    (void)!fchown(l->out_fd, l->user.uid, l->user.gid);
    (void)!fchown(l->err_fd, l->user.uid, l->user.gid);
    if (l->in_fd >= 0)
        (void)!fchown(l->in_fd, l->user.uid, l->user.gid);
}

static int make_pipes(struct proc *p, struct launch *l)
{
    int r = make_pipe(0, &p->out.fd, &l->out_fd);

    if (r == 0 && l->args->is_merged)
        r = make_proc_copy(l->out_fd, &l->err_fd);
    else if (r == 0)
        r = make_pipe(0, &p->err.fd, &l->err_fd);
    if (r == 0 && (p->input.len > 0 || p->keeps_input))
        r = make_pipe(1, &p->in_fd, &l->in_fd);
    if (r == 0)
        give_to_user(l);
    return r;
}

static int watch_all(struct proc *p, uint32_t timeout_ms)
{
    struct loop *l = p->table->loop;
    int r = 0;

    set_flow(p);
    if (p->out.fd < 0)
        r = -ENOMEM;
    if (r == 0 && p->input.len > 0)
        r = loop_io_start(l, &p->in_io, p->in_fd, EPOLLOUT, on_proc_input);
    p->left_ms = timeout_ms;
    if (r == 0 && timeout_ms > 0)
        r = start_step(p);
    return r;
}

/* The new process of P, or -errno with E filled. */
static pid_t start_proc(struct proc *p, const struct proc_args *args, struct err *e)
{
    struct launch l = {.args = args, .in_fd = -1, .out_fd = -1, .err_fd = -1};
    auto_arena struct arena a;

    arena_init(&a, ARENA_MAX);
    int r = launch_prepare(&l, &a, e);
    if (r < 0)
        return r;
    r = args->has_pty ? make_terminal(p, &l) : make_pipes(p, &l);
    if (r < 0)
        (void)err_sys(e, r, "start '%s'", args->argv[0]);
    else
        r = launch_start(&l, e);
    close_p(&l.in_fd);
    close_p(&l.out_fd);
    close_p(&l.err_fd);
    return r;
}

struct proc *proc_start(struct proc_table *t, const struct proc_args *args, struct err *e)
{
    if (t->n_procs >= PROC_MAX) {
        (void)err_set(e, -EAGAIN, "there are %d processes already", (int)PROC_MAX);
        return NULL;
    }
    auto_(proc_free) struct proc *p = proc_new(t, args);
    if (!p) {
        (void)err_sys(e, -ENOMEM, "start '%s'", args->argv[0]);
        return NULL;
    }
    p->pid = start_proc(p, args, e);
    if (p->pid < 0)
        return NULL;
    int r = watch_all(p, args->timeout_ms);
    if (r < 0) {
        (void)kill(-p->pid, SIGKILL);
        (void)err_sys(e, r, "watch '%s'", args->argv[0]);
        return NULL;
    }
    p->owner = args->owner;
    p->free_owner = args->free_owner;
    list_append(&t->procs, &p->node);
    t->n_procs++;
    t->n_started++;
    return take(p);
}

void proc_drop(struct proc *p)
{
    if (p->is_kept) {
        p->is_kept = false;
        p->table->n_kept--;
        loop_timer_stop(&p->timer);
    }
    free_if_done(p);
}

static void on_proc_kept(struct loop_timer *t)
{
    proc_drop(container_of(t, struct proc, timer));
}

static void keep_proc(struct proc *p)
{
    struct proc_table *t = p->table;

    if (p->keep_ms == 0 || loop_timer_start(t->loop, &p->timer, p->keep_ms, on_proc_kept) < 0)
        return;
    p->is_kept = true;
    if (++t->n_kept <= PROC_KEPT_MAX)
        return;
    struct proc *oldest = proc_first(t);
    while (!oldest->is_kept)
        oldest = proc_next(oldest);
    proc_drop(oldest);
}

/* The process may be gone afterwards. */
static void end_proc(struct proc *p)
{
    /* What is in the pipes by now is its output; they hold no more than this at a time. */
    for (int i = 0; i < DRAIN_READS && sink_read(&p->out); i++)
        ;
    for (int i = 0; i < DRAIN_READS && sink_read(&p->err); i++)
        ;
    close_all_pipes(p);
    tell_inputs(p);
    p->end.is_timed_out = p->is_timed_out;
    p->is_ended = true;
    p->table->n_procs--;
    loop_timer_stop(&p->timer);
    keep_proc(p);
    tell_readers(p);
}

static void finish_proc(struct proc *p, int status)
{
    p->is_reaped = true;
    p->end.status = status;
    if (!p->waits_for_eof || p->is_killed || !has_output(p))
        end_proc(p);
}

void proc_table_init(struct proc_table *t, struct loop *l)
{
    *t = (struct proc_table){.loop = l};
    list_init(&t->procs);
}

static struct proc *proc_at(struct proc_table *t, struct list *node)
{
    return node == &t->procs ? NULL : list_entry(node, struct proc, node);
}

struct proc *proc_first(struct proc_table *t)
{
    return proc_at(t, t->procs.next);
}

struct proc *proc_next(struct proc *p)
{
    return proc_at(p->table, p->node.next);
}

struct proc *proc_find(struct proc_table *t, pid_t pid)
{
    struct proc *kept = NULL;

    list_each(node, &t->procs)
    {
        struct proc *p = list_entry(node, struct proc, node);
        if (p->pid != pid)
            continue;
        if (!p->is_ended)
            return p;
        kept = p;
    }
    return kept;
}

void proc_reaped(struct proc_table *t, pid_t pid, int status)
{
    list_each(node, &t->procs)
    {
        struct proc *p = list_entry(node, struct proc, node);
        /* The number of one that is only kept may be in use again. */
        if (p->pid != pid || p->is_reaped)
            continue;
        finish_proc(p, status);
        return;
    }
}
