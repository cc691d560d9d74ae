/* SPDX-License-Identifier: MIT */
/* From arguments to a running program: see proc_launch.h. */
#include "envd/proc_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/login.h"
#include "envd/oldroot.h"
#include "envd/plain.h"
#include "runtime/kern.h"
#include "runtime/login.h"

enum { BARE_ENV = 4, CODE_NOT_FOUND = 127, CODE_NOT_EXECUTABLE = 126 };

#define DEFAULT_PATH LOGIN_PATH

static struct rlimit child_files; /* rlim_max 0: as this process has it */
static rlim_t child_files_max = RLIM_INFINITY;

void launch_limit_files(int64_t max)
{
    child_files_max = (rlim_t)max;
}

static rlim_t at_most(rlim_t n, rlim_t max)
{
    return n < max ? n : max;
}

void launch_raise_files(void)
{
    struct rlimit own;

    if (getrlimit(RLIMIT_NOFILE, &own) < 0)
        return;
    child_files = (struct rlimit){at_most(own.rlim_cur, child_files_max),
                                  at_most(own.rlim_max, child_files_max)};
    own.rlim_cur = own.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &own);
}

static int pids_fd = -1;          /* of the cell's limit of processes */
static struct rlimit child_procs; /* that the next child gets; 0: none */

void launch_keep_pids(int fd)
{
    pids_fd = fd;
}

/* This process keeps to it as well, as one of root's, but may follow when it is raised. */
static void follow_procs(rlim_t max)
{
    struct rlimit own;

    if (child_procs.rlim_max == max || getrlimit(RLIMIT_NPROC, &own) < 0)
        return;
    child_procs = (struct rlimit){max, max};
    own.rlim_cur = max > 0 ? at_most(max, own.rlim_max) : own.rlim_max;
    (void)setrlimit(RLIMIT_NPROC, &own);
}

/* It may have changed since the last time. "max" is no number. */
static void read_session_procs(void)
{
    char text[24];
    uint64_t max = 0;
    ssize_t n = pids_fd < 0 ? 0 : pread(pids_fd, text, sizeof text, 0);
    struct str all = str_n(text, n > 0 ? (size_t)n : 0);

    (void)str_to_u64(str_cut(&all, '\n'), &max);
    follow_procs(max > LAUNCH_PIDS_SPARE ? max - LAUNCH_PIDS_SPARE : 0);
}

static int score_fd = -1; /* of this process's oom_score_adj */

void launch_keep_score(int fd)
{
    score_fd = fd;
}

/* A child has the score that its parent had when it was born, and cannot set its own: until it
 * executes, its files in /proc are the host's. */
static void set_score(const char *score)
{
    if (score_fd >= 0)
        (void)!write(score_fd, score, strlen(score));
}

static const char *env_get(char **env, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(env[i], name, len) == 0 && env[i][len] == '=')
            return env[i] + len + 1;
    return NULL;
}

static size_t count_strings(char **list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static int make_proc_env(struct launch *l, struct arena *a)
{
    const struct {
        const char *name, *value;
    } defaults[] = {
        {"PATH", DEFAULT_PATH},    {"HOME", l->user.home},   {"USER", l->user.name},
        {"LOGNAME", l->user.name}, {"SHELL", l->user.shell}, {"LANG", "C.UTF-8"},
        {"TERM", "xterm-256color"} /* for terminals only: last */
    };
    size_t n_defaults =
        l->args->has_bare_env ? BARE_ENV : ARRAY_LEN(defaults) - (l->args->has_pty ? 0 : 1);
    size_t n_base = count_strings(l->args->base_env), n = count_strings(l->args->env);

    l->env = arena_zalloc(a, n + n_base + n_defaults + 1, sizeof *l->env);
    if (!l->env)
        return -ENOMEM;
    if (n)
        memcpy(l->env, l->args->env, n * sizeof *l->env);
    for (size_t i = 0; i < n_base; i++) {
        char *pair = l->args->base_env[i];
        if (!env_get(l->env, n, pair, strcspn(pair, "=")))
            l->env[n++] = pair;
    }
    for (size_t i = 0; i < n_defaults; i++) {
        if (env_get(l->env, n, defaults[i].name, strlen(defaults[i].name)))
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

    if (!*name || strchr(name, '/')) {
        l->paths[l->n_paths++] = name;
        return 0;
    }
    struct str path = str_of(env_get(l->env, count_strings(l->env), "PATH", 4));
    while (path.p && l->n_paths < LAUNCH_PATHS_MAX) {
        struct str dir = str_cut(&path, ':');
        struct str full = arena_printf(a, STR_FMT "%s%s", STR_ARG(dir), dir.len ? "/" : "", name);
        if (!full.p)
            return -ENOMEM;
        l->paths[l->n_paths++] = full.p;
    }
    return 0;
}

/* ---- without a shell ---- */

/* The forms in which clients ask for a login shell. */
static const struct proc_form {
    const char *argv[3]; /* before the command */
    const char *shell;
} forms[] = {
    {{"sh", "-lc", NULL}, "/bin/sh"},
    {{"/bin/sh", "-lc", NULL}, "/bin/sh"},
    {{"/bin/bash", "-l", "-c"}, "/bin/bash"},
};

/* The command of ARGV, which is of the form F; or NULL. */
static const char *command_of_args(char *const *argv, const struct proc_form *f)
{
    size_t i = 0;

    for (; i < ARRAY_LEN(f->argv) && f->argv[i]; i++)
        if (!argv[i] || strcmp(argv[i], f->argv[i]) != 0)
            return NULL;
    return argv[i] && !argv[i + 1] ? argv[i] : NULL;
}

static bool add_try(struct launch_direct *d, struct arena *a, struct str path, bool has_name)
{
    if (!path.p || d->n_tries == LAUNCH_DIRECT_MAX)
        return false;
    d->tries[d->n_tries].path = path.p;
    if (has_name) {
        struct str name = arena_printf(a, "_=%s", path.p);
        d->tries[d->n_tries].name = (char *)(uintptr_t)name.p;
        if (!name.p)
            return false;
    }
    d->n_tries++;
    return true;
}

/* Where the program of D may be, in the order of the login's PATH. */
static bool make_tries(struct launch_direct *d, struct arena *a, const struct login *login)
{
    const char *name = d->argv[0];
    struct str dirs = str_of(env_get(login->env, login->n, "PATH", 4));

    if (strchr(name, '/'))
        return add_try(d, a, str_of(name), login->has_name);
    while (dirs.p) {
        struct str dir = str_cut(&dirs, ':');
        struct str path = arena_printf(a, STR_FMT "/%s", STR_ARG(dir), name);
        if (!add_try(d, a, path, login->has_name))
            return false;
    }
    return true;
}

static void make_direct(struct launch *l, struct arena *a)
{
    const struct proc_form *f = NULL;
    const char *command = NULL;
    struct login login;

    for (size_t i = 0; i < ARRAY_LEN(forms) && !command; i++) {
        f = &forms[i];
        command = command_of_args(l->args->argv, f);
    }
    char **words = command && !l->args->has_pty ? plain_words(a, command) : NULL;
    if (!words || !login_env(&login, a, &l->user, f->shell, l->env))
        return;
    const char *path = env_get(l->env, count_strings(l->env), "PATH", 4);
    if (f->argv[0][0] != '/' && strcmp(path ? path : "", DEFAULT_PATH) != 0)
        return; /* the shell itself may be another one */
    l->direct.argv = words;
    if (make_tries(&l->direct, a, &login)) {
        l->direct.env = login.env;
        l->direct.n_env = login.n;
    } else {
        l->direct.argv = NULL;
    }
}

int launch_prepare(struct launch *l, struct arena *a, struct err *e)
{
    int r = user_find(l->args->user, &l->user, e);

    if (r < 0)
        return r;
    l->cwd = l->args->cwd ? l->args->cwd : l->user.home;
    r = make_proc_env(l, a);
    if (r == 0)
        r = make_paths(l, a);
    if (r == 0)
        make_direct(l, a);
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

/* As a shell would; by system calls only. */
static void child_say_no_exec(const char *name, int error)
{
    const char *why = error == ENOENT    ? ": No such file or directory\n"
                      : error == EACCES  ? ": Permission denied\n"
                      : error == ENOEXEC ? ": Exec format error\n"
                                         : ": cannot be executed\n";
    struct iovec parts[] = {{(void *)(uintptr_t)name, strlen(name)},
                            {(void *)(uintptr_t)why, strlen(why)}};

    (void)!writev(STDERR_FILENO, parts, ARRAY_LEN(parts));
    _exit(error == ENOENT ? CODE_NOT_FOUND : CODE_NOT_EXECUTABLE);
}

/* Executing what is not there costs more than a look. */
static bool child_sees(const char *path)
{
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Returns when there is nothing to execute: then the shell is to say what is wrong. */
static void child_exec_direct(struct launch_direct *d)
{
    static const char pwd[] = "PWD=";
    long n = syscall(SYS_getcwd, d->pwd + sizeof pwd - 1, sizeof d->pwd - sizeof pwd);

    if (n <= 0 || d->pwd[sizeof pwd - 1] != '/')
        return;
    memcpy(d->pwd, pwd, sizeof pwd - 1);
    d->env[d->n_env] = d->pwd;
    for (size_t i = 0; i < d->n_tries; i++) {
        if (!child_sees(d->tries[i].path))
            continue;
        d->env[d->n_env + 1] = d->tries[i].name;
        (void)execve(d->tries[i].path, d->argv, d->env);
        if (errno != ENOENT && errno != ENOTDIR)
            return;
    }
}

static void child_exec(struct launch *l)
{
    int error = ENOENT;

    if (l->direct.argv)
        child_exec_direct(&l->direct);

    for (size_t i = 0; i < l->n_paths; i++) {
        if (!child_sees(l->paths[i]))
            continue;
        (void)execve(l->paths[i], l->args->argv, l->env);
        if (errno != ENOENT && errno != ENOTDIR)
            error = errno;
    }
    if (l->args->says_no_exec && error != E2BIG && error != ENOMEM && error != EAGAIN)
        child_say_no_exec(l->args->argv[0], error);
    errno = error;
    child_fail(l, l->args->argv[0]);
}

static void child_descriptors(struct launch *l)
{
    if ((l->in_fd >= 0 && dup2(l->in_fd, 0) < 0) || dup2(l->out_fd, 1) < 0 ||
        dup2(l->err_fd, 2) < 0)
        child_fail(l, "descriptors");
    if (l->args->has_pty && ioctl(0, TIOCSCTTY, 0) < 0)
        child_fail(l, "terminal");
    (void)kern_close_range(3, ~0U);
}

/* In the parent's memory and with its stack: system calls only. In a cell all signals but SIGPIPE
 * have their default (init.c); the others are those that nohup and shells ignore for what they
 * start, under which no terminal could hang up or interrupt. */
static void child_main(struct launch *l)
{
    static const int signals[] = {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t none;

    (void)sigemptyset(&none);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        (void)signal(signals[i], SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    if (child_files.rlim_max)
        (void)setrlimit(RLIMIT_NOFILE, &child_files);
    if (child_procs.rlim_max)
        (void)setrlimit(RLIMIT_NPROC, &child_procs);
    child_descriptors(l);
    child_become(l);
    /* As a login does: without its home a user starts at the root. */
    if (chdir(l->cwd) < 0 && (l->args->cwd || chdir("/") < 0))
        child_fail(l, "directory");
    child_exec(l);
}

pid_t launch_start(struct launch *l, struct err *e)
{
    int r = oldroot_wait();

    if (r < 0)
        _exit(1); /* the cell can see more than it should, and ends */
    read_session_procs();
    /* A fork would copy the page tables of the first process for every command; the child only
     * arranges itself and calls exec, with its own signals blocked. */
    /* NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
    set_score(LAUNCH_OOM_SCORE);
    pid_t pid = vfork();

    if (pid == 0)
        child_main(l);
    int error = errno;
    set_score(LAUNCH_OOM_SCORE_FIRST);
    /* NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
    /* The second is the user's own limit, which the kernel looks at when the child executes. */
    if ((pid < 0 && error == EAGAIN) || (pid >= 0 && l->error == EAGAIN))
        return err_set(e, -EAGAIN, "the sandbox has as many processes as it may have");
    if (pid < 0)
        return err_sys(e, -error, "fork");
    if (l->error == 0)
        return pid;
    /* Not reaped here: the loop's reaper takes it like any stranger. */
    if (strcmp(l->what, "directory") == 0)
        return err_sys(e, -l->error, "directory '%s'", l->cwd);
    return err_sys(e, -l->error, "%s", l->what);
}
