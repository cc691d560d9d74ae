/* SPDX-License-Identifier: MIT */
/* Commands in a cell: see proc.h. */
#include "envd/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "envd/user.h"
#include "runtime/kern.h"
#include "sys/io.h"

enum { ARENA_MAX = 4 << 20, CHUNK = 16384, DRAIN_READS = 64, PATHS_MAX = 64 };

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* One output stream: read to its end, kept up to the bound. */
struct sink {
    struct loop_io io;
    struct proc *proc;
    int fd;
    struct buf kept;
};

struct proc {
    struct list node;
    struct proc_table *table;
    pid_t pid;
    struct loop_timer timer;
    struct loop_io in_io;
    int in_fd;
    struct buf input;
    struct sink out, err;
    bool is_timed_out, is_output_cut;
    proc_done_fn *fn;
    void *ctx;
};

/* What the child needs, prepared by the parent, since the child shares its memory until exec. */
struct launch {
    const struct proc_args *args;
    struct user user;
    const char *paths[PATHS_MAX];
    size_t n_paths;
    char **env;
    const char *cwd;
    int in_fd, out_fd, err_fd;
    volatile int error; /* written by the child */
    const char *volatile what;
};

/* ---- preparation ---- */

static const char *env_get(char **env, const char *name)
{
    size_t len = strlen(name);

    for (; *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

static int make_env(struct launch *l, struct arena *a)
{
    const struct {
        const char *name, *value;
    } defaults[] = {
        {"PATH", DEFAULT_PATH},    {"HOME", l->user.home},   {"USER", l->user.name},
        {"LOGNAME", l->user.name}, {"SHELL", l->user.shell}, {"LANG", "C.UTF-8"},
    };
    size_t n = 0;

    while (l->args->env[n])
        n++;
    l->env = arena_zalloc(a, n + ARRAY_LEN(defaults) + 1, sizeof *l->env);
    if (!l->env)
        return -ENOMEM;
    memcpy(l->env, l->args->env, n * sizeof *l->env);
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        if (env_get(l->args->env, defaults[i].name))
            continue;
        struct str s = arena_printf(a, "%s=%s", defaults[i].name, defaults[i].value);
        if (!s.p)
            return -ENOMEM;
        l->env[n++] = (char *)(uintptr_t)s.p;
    }
    return 0;
}

/* Where the program may be: the name itself when it has a slash, else every directory of PATH. */
static int make_paths(struct launch *l, struct arena *a)
{
    const char *name = l->args->argv[0];

    if (strchr(name, '/')) {
        l->paths[l->n_paths++] = name;
        return 0;
    }
    struct str path = str_of(env_get(l->env, "PATH"));
    while (path.p && l->n_paths < PATHS_MAX) {
        struct str dir = str_cut(&path, ':');
        struct str full = arena_printf(a, STR_FMT "%s%s", STR_ARG(dir), dir.len ? "/" : "", name);
        if (!full.p)
            return -ENOMEM;
        l->paths[l->n_paths++] = full.p;
    }
    return 0;
}

static int prepare(struct launch *l, struct arena *a, struct err *e)
{
    int r = user_find(l->args->user, &l->user, e);

    if (r < 0)
        return r;
    l->cwd = l->args->cwd ? l->args->cwd : l->user.home;
    r = make_env(l, a);
    if (r == 0)
        r = make_paths(l, a);
    return r < 0 ? err_sys(e, r, "start '%s'", l->args->argv[0]) : 0;
}

/* ---- the child ---- */

static void child_fail(struct launch *l, const char *what)
{
    l->error = errno;
    l->what = what;
    _exit(127);
}

/* Raw calls: the C library's own keep threads in step, which there are none of. */
static void child_become(struct launch *l)
{
    const struct user *u = &l->user;

    if (syscall(SYS_setgroups, u->n_groups, u->groups) < 0 ||
        syscall(SYS_setresgid, u->gid, u->gid, u->gid) < 0 ||
        syscall(SYS_setresuid, u->uid, u->uid, u->uid) < 0)
        child_fail(l, "change user");
}

static void child_exec(struct launch *l)
{
    int error = ENOENT;

    for (size_t i = 0; i < l->n_paths; i++) {
        (void)execve(l->paths[i], l->args->argv, l->env);
        if (errno != ENOENT && errno != ENOTDIR)
            error = errno;
    }
    errno = error;
    child_fail(l, l->args->argv[0]);
}

/* In the parent's memory and with its stack: system calls only. */
static void child_main(struct launch *l)
{
    sigset_t none;

    (void)sigemptyset(&none);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    if ((l->in_fd >= 0 && dup2(l->in_fd, 0) < 0) || dup2(l->out_fd, 1) < 0 ||
        dup2(l->err_fd, 2) < 0)
        child_fail(l, "descriptors");
    (void)kern_close_range(3, ~0U);
    child_become(l);
    /* As a login does: without its home a user starts at the root. */
    if (chdir(l->cwd) < 0 && (l->args->cwd || chdir("/") < 0))
        child_fail(l, l->cwd);
    child_exec(l);
}

static pid_t launch(struct launch *l, struct err *e)
{
    pid_t pid = vfork();

    if (pid == 0)
        child_main(l);
    if (pid < 0)
        return err_sys(e, -errno, "fork");
    if (l->error == 0)
        return pid;
    /* Not reaped here: the loop's reaper takes it like any stranger. */
    return err_sys(e, -l->error, "%s", l->what);
}

/* ---- input and output ---- */

static void close_io(struct loop_io *io, int *fd)
{
    loop_io_stop(io);
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* One read. False when there was nothing to read for now or for ever. */
static bool sink_read(struct sink *s)
{
    char chunk[CHUNK];
    ssize_t n = s->fd < 0 ? -EAGAIN : io_read(s->fd, chunk, sizeof chunk);

    if (n == -EAGAIN)
        return false;
    if (n <= 0) {
        close_io(&s->io, &s->fd);
        return false;
    }
    size_t room = s->kept.max - s->kept.len;
    size_t len = (size_t)n < room ? (size_t)n : room;
    if (buf_add(&s->kept, chunk, len) < 0 || len < (size_t)n)
        s->proc->is_output_cut = true;
    return true;
}

static void on_output(struct loop_io *io, uint32_t events)
{
    (void)events;
    (void)sink_read(container_of(io, struct sink, io));
}

static void on_input(struct loop_io *io, uint32_t events)
{
    struct proc *p = container_of(io, struct proc, in_io);
    ssize_t n = io_write(p->in_fd, p->input.p, p->input.len);

    (void)events;
    if (n == -EAGAIN)
        return;
    if (n > 0)
        buf_consume(&p->input, (size_t)n);
    if (n < 0 || p->input.len == 0)
        close_io(&p->in_io, &p->in_fd);
}

/* ---- life ---- */

static void proc_free(struct proc *p)
{
    if (!p)
        return;
    list_del(&p->node);
    loop_timer_stop(&p->timer);
    close_io(&p->in_io, &p->in_fd);
    close_io(&p->out.io, &p->out.fd);
    close_io(&p->err.io, &p->err.fd);
    buf_done(&p->input);
    buf_done(&p->out.kept);
    buf_done(&p->err.kept);
    free(p);
}
DEFINE_CLEANUP(struct proc *, proc_free)

static void on_timeout(struct loop_timer *t)
{
    struct proc *p = container_of(t, struct proc, timer);

    p->is_timed_out = true;
    (void)kill(-p->pid, SIGKILL);
}

static struct proc *proc_new(struct proc_table *t, const struct proc_args *args)
{
    struct proc *p = mem_zalloc(1, sizeof *p);

    if (!p)
        return NULL;
    list_init(&p->node);
    p->table = t;
    p->in_fd = p->out.fd = p->err.fd = -1;
    p->out.proc = p->err.proc = p;
    buf_init(&p->input, args->input.len);
    buf_init(&p->out.kept, args->max_output);
    buf_init(&p->err.kept, args->max_output);
    if (buf_add_str(&p->input, args->input) < 0) {
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

static int make_pipes(struct proc *p, struct launch *l)
{
    int r = make_pipe(0, &p->out.fd, &l->out_fd);

    if (r == 0)
        r = make_pipe(0, &p->err.fd, &l->err_fd);
    if (r == 0 && p->input.len > 0)
        r = make_pipe(1, &p->in_fd, &l->in_fd);
    return r;
}

static int watch(struct proc *p, uint32_t timeout_ms)
{
    struct loop *l = p->table->loop;
    int r = loop_io_start(l, &p->out.io, p->out.fd, EPOLLIN, on_output);

    if (r == 0)
        r = loop_io_start(l, &p->err.io, p->err.fd, EPOLLIN, on_output);
    if (r == 0 && p->in_fd >= 0)
        r = loop_io_start(l, &p->in_io, p->in_fd, EPOLLOUT, on_input);
    if (r == 0 && timeout_ms > 0)
        r = loop_timer_start(l, &p->timer, timeout_ms, on_timeout);
    return r;
}

int proc_start(struct proc_table *t, const struct proc_args *args, proc_done_fn *fn, void *ctx,
               struct proc **ret, struct err *e)
{
    struct launch l = {.args = args, .in_fd = -1, .out_fd = -1, .err_fd = -1};
    auto_(proc_free) struct proc *p = proc_new(t, args);
    auto_arena struct arena a;

    arena_init(&a, ARENA_MAX);
    if (!p)
        return err_sys(e, -ENOMEM, "start '%s'", args->argv[0]);
    int r = prepare(&l, &a, e);
    if (r < 0)
        return r;
    r = make_pipes(p, &l);
    if (r < 0)
        (void)err_sys(e, r, "start '%s'", args->argv[0]);
    else
        r = p->pid = launch(&l, e);
    close_p(&l.in_fd);
    close_p(&l.out_fd);
    close_p(&l.err_fd);
    if (r < 0)
        return r;
    r = watch(p, args->timeout_ms);
    if (r < 0) {
        (void)kill(-p->pid, SIGKILL);
        return err_sys(e, r, "watch '%s'", args->argv[0]);
    }
    p->fn = fn;
    p->ctx = ctx;
    list_append(&t->procs, &p->node);
    *ret = take(p);
    return 0;
}

void proc_forget(struct proc *p)
{
    p->fn = NULL;
}

static void drain(struct sink *s)
{
    for (int i = 0; i < DRAIN_READS && sink_read(s); i++)
        ;
}

static void finish(struct proc *p, int status)
{
    drain(&p->out);
    drain(&p->err);
    struct proc_result r = {.status = status,
                            .is_timed_out = p->is_timed_out,
                            .is_output_cut = p->is_output_cut,
                            .out = buf_str(&p->out.kept),
                            .err = buf_str(&p->err.kept)};
    if (p->fn)
        p->fn(p->ctx, &r);
    proc_free(p);
}

void proc_table_init(struct proc_table *t, struct loop *l)
{
    t->loop = l;
    list_init(&t->procs);
}

void proc_reaped(struct proc_table *t, pid_t pid, int status)
{
    list_each(node, &t->procs)
    {
        struct proc *p = list_entry(node, struct proc, node);
        if (p->pid != pid)
            continue;
        finish(p, status);
        return;
    }
}
