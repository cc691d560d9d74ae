/* SPDX-License-Identifier: MIT */
/* desktop-commander: programs that go on between calls. A session is a process with pipes and a
 * thread that reads its output; calls wait for what they need of it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/mem.h"
#include "local/commander/commander.h"
#include "sys/io.h"

enum {
    SESSIONS_MAX = 64,    /* that are remembered; the oldest that has ended goes first */
    OUTPUT_MAX = 4 << 20, /* bytes kept of one */
    WAIT_MS = 8000,       /* unless a call says otherwise */
    WAIT_MAX_MS = 300000,
    QUIET_MS = 100, /* output that ends like a prompt for so long is one */
    STACK_BYTES = 128 << 10
};

struct process_session {
    struct list node;
    pid_t pid;
    int in_fd, out_fd;
    struct buf out;
    size_t n_told; /* bytes of it that a call was given */
    int64_t begin_ms, end_ms, last_ms;
    int status; /* of waitpid(), once it has ended */
    bool has_ended, is_cut;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct list sessions; /* oldest first */
    unsigned n;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER,
         .changed = PTHREAD_COND_INITIALIZER,
         .sessions = LIST_INIT(all.sessions)};

static struct process_session *find_shell_session(pid_t pid)
{
    for (struct list *n = all.sessions.next; n != &all.sessions; n = n->next) {
        struct process_session *s = list_entry(n, struct process_session, node);
        if (s->pid == pid)
            return s;
    }
    return NULL;
}

static void forget_session(struct process_session *s)
{
    list_del(&s->node);
    all.n--;
    if (s->in_fd >= 0)
        (void)close(s->in_fd);
    buf_done(&s->out);
    free(s);
}

/* Makes room for one more; false when all of them still run. */
static bool make_session_room(void)
{
    for (struct list *n = all.sessions.next; all.n >= SESSIONS_MAX && n != &all.sessions;) {
        struct process_session *s = list_entry(n, struct process_session, node);
        n = n->next;
        if (s->has_ended)
            forget_session(s);
    }
    return all.n < SESSIONS_MAX;
}

/* ---- the thread of a session ---- */

static void *reader(void *ctx)
{
    struct process_session *s = ctx;
    char bytes[8192];
    ssize_t n;
    int status = 0;

    while ((n = io_read(s->out_fd, bytes, sizeof bytes)) > 0) {
        (void)pthread_mutex_lock(&all.lock);
        size_t room = OUTPUT_MAX - s->out.len, len = (size_t)n < room ? (size_t)n : room;
        (void)buf_add(&s->out, bytes, len);
        s->is_cut = s->is_cut || len < (size_t)n;
        s->last_ms = clock_mono_ms();
        (void)pthread_cond_broadcast(&all.changed);
        (void)pthread_mutex_unlock(&all.lock);
    }
    (void)close(s->out_fd);
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
        ;
    (void)pthread_mutex_lock(&all.lock);
    s->status = status;
    s->end_ms = clock_mono_ms();
    s->has_ended = true;
    (void)pthread_cond_broadcast(&all.changed);
    (void)pthread_mutex_unlock(&all.lock);
    return NULL;
}

static int start_reader(struct process_session *s)
{
    pthread_attr_t attr;
    pthread_t thread;

    if (pthread_attr_init(&attr) != 0)
        return -ENOMEM;
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int r = pthread_create(&thread, &attr, reader, s);
    (void)pthread_attr_destroy(&attr);
    return -r;
}

/* ---- starting ---- */

static int spawn_shell(const char *shell, const char *command, const char *cwd,
                       struct process_session *s)
{
    const char *const argv[] = {shell, "-c", command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t pipe_only;
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(out, O_CLOEXEC) < 0) {
        (void)close(in[0]);
        (void)close(in[1]);
        return -ENFILE;
    }
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawnattr_init(&attr);
    (void)sigemptyset(&pipe_only);
    (void)sigaddset(&pipe_only, SIGPIPE);
    (void)posix_spawn_file_actions_adddup2(&files, in[0], 0);
    (void)posix_spawn_file_actions_adddup2(&files, out[1], 1);
    (void)posix_spawn_file_actions_adddup2(&files, out[1], 2);
    (void)posix_spawn_file_actions_addchdir_np(&files, cwd);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setpgroup(&attr, 0);
    (void)posix_spawnattr_setsigdefault(&attr, &pipe_only);
    int e = posix_spawnp(&s->pid, shell, &files, &attr, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)close(in[0]);
    (void)close(out[1]);
    if (e != 0) {
        (void)close(in[1]);
        (void)close(out[0]);
        return -e;
    }
    s->in_fd = in[1];
    s->out_fd = out[0];
    return 0;
}

/* ---- waiting ---- */

/* The prompt that S's output ends with, or NULL. */
static const char *prompt_of(const struct process_session *s)
{
    static const char *const prompts[] = {">>>", "...", "$", "#", ">", "?"};
    struct str out = buf_str(&s->out);

    if (out.len < 2 || out.p[out.len - 1] != ' ')
        return NULL;
    out = str_slice(out, 0, out.len - 1);
    for (size_t i = 0; i < ARRAY_LEN(prompts); i++) {
        if (str_ends(out, str_of(prompts[i])))
            return prompts[i];
    }
    return NULL;
}

static void wait_until(int64_t at_ms)
{
    struct timespec t;
    int64_t left_ms = at_ms - clock_mono_ms();

    (void)clock_gettime(CLOCK_REALTIME, &t);
    left_ms = left_ms < 1 ? 1 : left_ms;
    t.tv_sec += left_ms / 1000;
    t.tv_nsec += left_ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(&all.changed, &all.lock, &t);
}

/* Until PID has ended, or has said more than FROM bytes and then stands at a prompt (or, without
 * NEEDS_PROMPT, has said anything), or the time is over. The session, or NULL when it is gone. */
static struct process_session *await_session_output(pid_t pid, size_t from, bool needs_prompt,
                                                    int64_t timeout_ms)
{
    int64_t deadline_ms = clock_mono_ms() + timeout_ms;

    for (;;) {
        struct process_session *s = find_shell_session(pid);
        int64_t now_ms = clock_mono_ms();
        if (!s || s->has_ended || now_ms >= deadline_ms)
            return s;
        bool is_new = s->out.len > from;
        bool is_quiet = now_ms - s->last_ms >= QUIET_MS;
        if (is_new && is_quiet && (!needs_prompt || prompt_of(s)))
            return s;
        int64_t look_ms = is_new && !is_quiet ? s->last_ms + QUIET_MS : deadline_ms;
        wait_until(look_ms < deadline_ms ? look_ms : deadline_ms);
    }
}

static int64_t process_timeout_of(const struct local_call *c)
{
    int64_t ms = local_int(c, "timeout_ms", WAIT_MS);

    return ms < 0 ? 0 : ms > WAIT_MAX_MS ? WAIT_MAX_MS : ms;
}

/* What S is doing, behind its output. */
static struct str state_text(struct local_call *c, const struct process_session *s)
{
    const char *prompt = s->has_ended ? NULL : prompt_of(s);

    if (s->has_ended)
        return STR("");
    if (prompt)
        return arena_printf(&c->arena, "\n🔄 Process %d is waiting for input (detected: \"%s\")",
                            (int)s->pid, prompt);
    return STR("\n⏳ Process is running. Use read_process_output to get more output.");
}

/* ---- tools ---- */

/* Under the lock. What failed has left nothing but S itself. */
static int open_shell_session(struct local_call *c, struct process_session *s, const char *shell,
                              struct str command)
{
    const char *text = arena_str(&c->arena, command).p;
    int r = text ? spawn_shell(shell, text, c->local->root, s) : -ENOMEM;

    if (r < 0)
        return r;
    r = start_reader(s);
    if (r == 0) {
        list_append(&all.sessions, &s->node);
        all.n++;
        return 0;
    }
    (void)kill(-s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
    (void)close(s->in_fd);
    (void)close(s->out_fd);
    return r;
}

void commander_start_process(struct local_call *c)
{
    struct str command = local_str(c, "command"), shell = local_str(c, "shell");
    struct process_session *s = mem_zalloc(1, sizeof *s);

    if (!s || !commander_may_run(c, command)) {
        local_fail(c, s ? "Error: Command not allowed: " STR_FMT : "out of memory",
                   STR_ARG(command));
        free(s);
        return;
    }
    shell = shell.len > 0 ? arena_str(&c->arena, shell) : STR("/bin/sh");
    buf_init(&s->out, OUTPUT_MAX);
    s->begin_ms = s->last_ms = clock_mono_ms();
    (void)pthread_mutex_lock(&all.lock);
    int r = make_session_room() ? open_shell_session(c, s, shell.p, command) : -EBUSY;
    if (r < 0) {
        (void)pthread_mutex_unlock(&all.lock);
        local_fail(c, "Error: Failed to start process: %s",
                   r == -EBUSY ? "too many sessions" : strerror(-r));
        free(s);
        return;
    }
    pid_t pid = s->pid;
    s = await_session_output(pid, 0, true, process_timeout_of(c));
    if (s) {
        s->n_told = s->out.len;
        local_textf(c,
                    "Process started with PID %d (shell: " STR_FMT
                    ")\nInitial output:\n" STR_FMT STR_FMT,
                    (int)pid, STR_ARG(shell), STR_ARG(buf_str(&s->out)), STR_ARG(state_text(c, s)));
    }
    (void)pthread_mutex_unlock(&all.lock);
}

static struct str without_line_end(struct str s)
{
    while (s.len > 0 && isspace((unsigned char)s.p[s.len - 1]))
        s.len--;
    return s;
}

static void tell_end(struct local_call *c, const struct process_session *s)
{
    struct str code =
        WIFEXITED(s->status) ? arena_printf(&c->arena, "%d", WEXITSTATUS(s->status)) : STR("null");

    local_textf(c, STR_FMT "\n\nProcess completed with exit code " STR_FMT "\nRuntime: %.3fs",
                STR_ARG(without_line_end(buf_str(&s->out))), STR_ARG(code),
                (double)(s->end_ms - s->begin_ms) / 1000);
}

void commander_read_process_output(struct local_call *c)
{
    pid_t pid = (pid_t)local_int(c, "pid", 0);

    (void)pthread_mutex_lock(&all.lock);
    struct process_session *s = find_shell_session(pid);
    if (s && !s->has_ended)
        s = await_session_output(pid, s->n_told, false, process_timeout_of(c));
    if (!s)
        local_fail(c, "No session found for PID %d", (int)pid);
    else if (s->has_ended)
        tell_end(c, s);
    else {
        struct str news = str_skip(buf_str(&s->out), s->n_told);
        s->n_told = s->out.len;
        local_textf(c, STR_FMT STR_FMT, STR_ARG(news.len > 0 ? news : STR("No new output")),
                    STR_ARG(state_text(c, s)));
    }
    (void)pthread_mutex_unlock(&all.lock);
}

/* Without the prompts that stand before and behind what was asked for. */
static struct str trim_prompts(struct str out)
{
    while (str_starts(out, STR(">>> ")) || str_starts(out, STR("... ")))
        out = str_skip(out, 4);
    for (bool is_done = false; !is_done;) {
        out = without_line_end(out);
        is_done = !(str_ends(out, STR(">>>")) || str_ends(out, STR("\n...")));
        if (!is_done)
            out = str_slice(out, 0, out.len - 3);
    }
    return out;
}

void commander_interact_with_process(struct local_call *c)
{
    pid_t pid = (pid_t)local_int(c, "pid", 0);
    struct str line = arena_printf(&c->arena, STR_FMT "\n", STR_ARG(local_str(c, "input")));
    const struct json *waits = json_get(c->args, "wait_for_prompt");

    (void)pthread_mutex_lock(&all.lock);
    struct process_session *s = find_shell_session(pid);
    size_t from = s ? s->out.len : 0;
    /* What the pipe cannot take at once would hold everybody up: input is small. */
    bool is_sent = s && !s->has_ended && line.p && line.len < PIPE_BUF &&
                   io_write_all(s->in_fd, line.p, line.len) == 0;
    if (!is_sent)
        local_fail(c,
                   "Error: Failed to send input to process %d. The process may have exited or "
                   "doesn't accept input.",
                   (int)pid);
    else if (!json_bool(waits, true))
        local_textf(c, "✅ Input sent to process %d. Use read_process_output to get the response.",
                    (int)pid);
    else {
        s = await_session_output(pid, from, true, process_timeout_of(c));
        struct str news = s ? trim_prompts(str_skip(buf_str(&s->out), from)) : STR("");
        if (s)
            s->n_told = s->out.len;
        local_textf(c, "✅ Input executed in process %d:\n\n📤 Output:\n" STR_FMT "\n\n" STR_FMT,
                    (int)pid, STR_ARG(news), STR_ARG(s ? state_text(c, s) : STR("")));
    }
    (void)pthread_mutex_unlock(&all.lock);
}

void commander_force_terminate(struct local_call *c)
{
    pid_t pid = (pid_t)local_int(c, "pid", 0);

    (void)pthread_mutex_lock(&all.lock);
    const struct process_session *s = find_shell_session(pid);
    if (s && !s->has_ended) {
        (void)kill(-pid, SIGKILL);
        local_textf(c, "Successfully initiated termination of session %d", (int)pid);
    } else {
        local_textf(c, "No active session found for PID %d", (int)pid);
    }
    (void)pthread_mutex_unlock(&all.lock);
}

void commander_list_sessions(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(64 << 10);
    int64_t now_ms = clock_mono_ms();

    (void)pthread_mutex_lock(&all.lock);
    for (struct list *n = all.sessions.next; n != &all.sessions; n = n->next) {
        const struct process_session *s = list_entry(n, struct process_session, node);
        if (!s->has_ended)
            (void)buf_printf(&b, "%sPID: %d, Blocked: true, Runtime: %llds", b.len > 0 ? "\n" : "",
                             (int)s->pid, (long long)(now_ms - s->begin_ms) / 1000);
    }
    (void)pthread_mutex_unlock(&all.lock);
    local_text(c, b.len > 0 ? buf_str(&b) : STR("No active sessions"));
}

/* ---- processes of the sandbox ---- */

static struct str process_command_of(struct local_call *c, const char *pid)
{
    auto_buf struct buf b = BUF_INIT(4096);
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%.20s/cmdline", pid);
    if (io_read_file(path, &b, NULL) == 0 && b.len > 0)
        return arena_str(&c->arena, str_of(buf_cstr(&b)));
    buf_clear(&b);
    (void)snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    if (io_read_file(path, &b, NULL) < 0)
        return STR_NULL;
    return arena_printf(&c->arena, "[" STR_FMT "]", STR_ARG(without_line_end(buf_str(&b))));
}

void commander_list_processes(struct local_call *c)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    DIR *d = opendir("/proc");

    for (struct dirent *e; d && (e = readdir(d));) {
        struct str command =
            isdigit((unsigned char)e->d_name[0]) ? process_command_of(c, e->d_name) : STR_NULL;
        if (command.p)
            (void)buf_printf(&b, "%sPID: %s, Command: " STR_FMT ", CPU: 0.0, Memory: 0.0",
                             b.len > 0 ? "\n" : "", e->d_name, STR_ARG(command));
    }
    if (d)
        (void)closedir(d);
    local_text(c, buf_str(&b));
}

void commander_kill_process(struct local_call *c)
{
    pid_t pid = (pid_t)local_int(c, "pid", 0);

    if (pid <= 1 || kill(pid, SIGTERM) < 0)
        local_fail(c, "Error: Failed to kill process: kill %s",
                   pid <= 1 || errno == EPERM ? "EPERM" : "ESRCH");
    else
        local_textf(c, "Successfully terminated process %d", (int)pid);
}
