/* SPDX-License-Identifier: MIT */
/* The server: found, initialized, started, stopped. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/db/deadline.h"
#include "apps/pg/pg.h"
#include "base/clock.h"
#include "base/mem.h"
#include "sys/io.h"
#include "sys/oom.h"

#define PACKAGES "/usr/lib/postgresql"
#define PLACE    "/mnt" /* where the server that is not root sees its directory */

/* ---- programs ---- */

/* The newest version's programs. */
static char *find_bin(void)
{
    char path[PATH_MAX], *best = NULL;
    long best_version = 0;
    DIR *d = opendir(PACKAGES);

    for (struct dirent *x; d && (x = readdir(d));) {
        long version = strtol(x->d_name, NULL, 10);
        (void)snprintf(path, sizeof path, PACKAGES "/%s/bin/postgres", x->d_name);
        if (version <= best_version || access(path, X_OK) < 0)
            continue;
        *strrchr(path, '/') = 0;
        free(best);
        best = mem_strdup(path);
        best_version = version;
    }
    if (d)
        (void)closedir(d);
    return best;
}

static bool find_user_name(const char *name, uid_t *uid, gid_t *gid)
{
    struct passwd own, *p = NULL;
    char text[4096];

    if (getpwnam_r(name, &own, text, sizeof text, &p) != 0 || !p || p->pw_uid == 0)
        return false;
    *uid = p->pw_uid;
    *gid = p->pw_gid;
    return true;
}

/* Whom the server runs as. */
static bool find_pg_user(uid_t *uid, gid_t *gid)
{
    *uid = geteuid();
    *gid = getegid();
    return *uid != 0 || find_user_name("postgres", uid, gid) || find_user_name("nobody", uid, gid);
}

struct start {
    const char *program, *dir;
    char **argv;
    uid_t uid;
    gid_t gid;
    int log;
};

/* In the child: nothing that takes a lock. */
static void become(const struct start *s)
{
    static const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC", NULL};
    const struct rlimit memory = {PG_MEMORY_MAX, PG_MEMORY_MAX};
    sigset_t none;

    (void)oom_set(OOM_USUAL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid();
    if (s->log >= 0 && (dup2(s->log, 1) < 0 || dup2(s->log, 2) < 0))
        _exit(126);
    if (geteuid() == 0 &&
        (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
         mount(s->dir, PLACE, NULL, MS_BIND, NULL) < 0 || setgroups(0, NULL) < 0 ||
         setgid(s->gid) < 0 || setuid(s->uid) < 0))
        _exit(125);
    if (setrlimit(RLIMIT_AS, &memory) < 0 || chdir("/") < 0)
        _exit(124);
    (void)execve(s->program, s->argv, (char *const *)(uintptr_t)env);
    _exit(127);
}

static int spawn_pg_program(const struct pg_server *s, const char *name, char **argv, struct err *e)
{
    char program[PATH_MAX], log[PATH_MAX];
    struct start x = {.program = program, .dir = s->dir, .argv = argv};

    (void)snprintf(program, sizeof program, "%s/%s", s->bin, name);
    (void)snprintf(log, sizeof log, "%s/log", s->dir);
    if (!find_pg_user(&x.uid, &x.gid))
        return err_set(e, -EOPNOTSUPP, "no user found that PostgreSQL could run as");
    argv[0] = program; /* by which they find each other */
    auto_close int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    x.log = fd;
    pid_t pid = fork();
    if (pid == 0)
        become(&x);
    argv[0] = NULL;
    return pid < 0 ? err_sys(e, -errno, "fork") : pid;
}

/* The last line of the server's log, which says why it did not work. */
static int tell_log(const struct pg_server *s, const char *what, struct err *e)
{
    auto_buf struct buf b = BUF_INIT(1 << 20);
    char path[PATH_MAX];

    (void)snprintf(path, sizeof path, "%s/log", s->dir);
    (void)io_read_file(path, &b, NULL);
    struct str text = str_trim(buf_str(&b));
    size_t from = text.len > 300 ? text.len - 300 : 0;
    return err_set(e, -EIO, "%s failed: " STR_FMT, what, STR_ARG(str_skip(text, from)));
}

/* Waits for the end of a child, at most MS and while there is time at all; then it is killed. */
static int wait_child(int pid, int64_t ms, int *status)
{
    int64_t until_ms = clock_mono_ms() + ms;

    for (int r; (r = waitpid(pid, status, WNOHANG)) != pid;) {
        if (r < 0 && errno != EINTR)
            return -errno;
        if (deadline_passed(until_ms)) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, status, 0);
            return -ETIME;
        }
        (void)usleep(5000);
    }
    return 0;
}

/* ---- the cluster ---- */

static int make_cluster(const struct pg_server *s, const char *data, struct err *e)
{
    char arg[PATH_MAX + 16];
    char *argv[] = {(char *)(uintptr_t) "initdb",
                    arg,
                    (char *)(uintptr_t) "--username=" PG_ADMIN,
                    (char *)(uintptr_t) "--auth=trust",
                    (char *)(uintptr_t) "--encoding=UTF8",
                    (char *)(uintptr_t) "--locale=C.UTF-8",
                    (char *)(uintptr_t) "--no-sync",
                    NULL};
    int status;

    (void)snprintf(arg, sizeof arg, "--pgdata=%s", data);
    int pid = spawn_pg_program(s, "initdb", argv, e);
    if (pid < 0)
        return pid;
    int r = wait_child(pid, PG_START_MAX_MS, &status);
    return r == 0 && status == 0 ? 0 : tell_log(s, "initdb", e);
}

static int wait_for_server(struct pg_server *s, struct err *e)
{
    int64_t until_ms = clock_mono_ms() + PG_START_MAX_MS;

    for (;;) {
        struct err own = ERR_INIT;
        PGconn *c auto_(pg_finish) = pg_connect(s, "postgres", PG_ADMIN, &own);
        if (c)
            return 0;
        if (s->pid > 0 && waitpid(s->pid, NULL, WNOHANG) == s->pid) {
            s->pid = 0;
            return tell_log(s, "PostgreSQL", e);
        }
        if (deadline_passed(until_ms))
            return err_set(e, -ETIME, "PostgreSQL does not answer: %s", err_text(&own));
        (void)usleep(20000);
    }
}

static int start_server(struct pg_server *s, const char *data, const char *place, struct err *e)
{
    char settings[][PATH_MAX + 40] = {
        "listen_addresses=",
        "unix_socket_directories=",
        "unix_socket_permissions=0700",
        "fsync=off",
        "full_page_writes=off",
        "shared_buffers=64MB",
        "max_connections=400",
        "max_wal_size=256MB",
        "temp_file_limit=256MB",
        "autovacuum_max_workers=1",
        "max_worker_processes=2",
        "max_parallel_workers=0",
        "jit=off",
        "client_connection_check_interval=10s",
        "timezone=UTC",
        "log_min_messages=warning",
        "log_min_error_statement=panic",
        "shared_preload_libraries=pg_stat_statements",
        "pg_stat_statements.max=2000",
        "wal_level=minimal",
        "max_wal_senders=0",
    };
    enum { N = sizeof settings / sizeof settings[0] };
    char *argv[2 * N + 4];
    size_t n = 0;

    (void)snprintf(settings[1], sizeof settings[1], "unix_socket_directories=%s", place);
    argv[n++] = (char *)(uintptr_t) "postgres";
    argv[n++] = (char *)(uintptr_t) "-D";
    argv[n++] = (char *)(uintptr_t)data;
    for (size_t i = 0; i < N; i++) {
        argv[n++] = (char *)(uintptr_t) "-c";
        argv[n++] = settings[i];
    }
    argv[n] = NULL;
    int r = spawn_pg_program(s, "postgres", argv, e);
    if (r < 0)
        return r;
    s->pid = r;
    return wait_for_server(s, e);
}

/* What every database begins as. */
static int make_base(const struct pg_server *s, struct err *e)
{
    PGconn *c auto_(pg_finish) = pg_connect(s, "template1", PG_ADMIN, e);
    int r = c ? pg_do(c, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements", NULL, e) : -EIO;

    if (r == 0)
        r = pg_do(c, "REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC", NULL, e);
    return r;
}

static int prepare_dir(struct pg_server *s, const char *dir, struct err *e)
{
    uid_t uid;
    gid_t gid;
    int r = io_mkdirs(dir, 0700, e);

    if (r < 0)
        return r;
    s->dir = mem_strdup(dir);
    s->bin = find_bin();
    if (!s->bin)
        return err_set(e, -EOPNOTSUPP, "PostgreSQL is not installed (package postgresql)");
    if (!s->dir || !find_pg_user(&uid, &gid))
        return err_set(e, -EOPNOTSUPP, "no user found that PostgreSQL could run as");
    if (geteuid() == 0 && chown(dir, uid, gid) < 0)
        return err_sys(e, -errno, "chown '%s'", dir);
    return 0;
}

int pg_server_start(struct pg_server *s, const char *dir, struct err *e)
{
    char data[PATH_MAX], mark[PATH_MAX];
    const char *place = geteuid() == 0 ? PLACE : dir;
    int r = prepare_dir(s, dir, e);

    if (r < 0)
        return r;
    PGconn *c auto_(pg_finish) = pg_connect(s, "postgres", PG_ADMIN, NULL);
    if (c)
        return 0;
    (void)snprintf(data, sizeof data, "%s/data", place);
    (void)snprintf(mark, sizeof mark, "%s/made", dir);
    bool is_made = access(mark, F_OK) == 0;
    if (!is_made)
        r = make_cluster(s, data, e);
    if (r == 0)
        r = start_server(s, data, place, e);
    if (r == 0)
        r = make_base(s, e);
    if (r == 0 && !is_made)
        r = io_write_file(mark, STR("1\n"), 0600, e);
    return r < 0 ? err_ctx(e, r, "PostgreSQL") : 0;
}

/* The first process of a server that another service started. */
static int find_running_server(const struct pg_server *s)
{
    auto_buf struct buf b = BUF_INIT(4096);
    char path[PATH_MAX];
    int64_t pid;

    if (!s->dir)
        return 0;
    (void)snprintf(path, sizeof path, "%s/data/postmaster.pid", s->dir);
    if (io_read_file(path, &b, NULL) < 0)
        return 0;
    struct str rest = buf_str(&b);
    return str_to_i64(str_cut(&rest, '\n'), &pid) == 0 && pid > 1 ? (int)pid : 0;
}

/* Within MS; a child of ours is waited for. */
static bool has_server_ended(int pid, bool is_child, int64_t ms)
{
    int64_t until_ms = clock_mono_ms() + ms;

    for (;;) {
        if (is_child ? waitpid(pid, NULL, WNOHANG) != 0 : kill(pid, 0) < 0)
            return true;
        if (clock_mono_ms() > until_ms)
            return false;
        (void)usleep(5000);
    }
}

/* Sessions are sent away; a server that does not end so does without tidying up, then it has to. */
void pg_server_halt(const struct pg_server *s)
{
    static const struct {
        int signo, ms;
    } ways[] = {{SIGINT, 2000}, {SIGQUIT, 1000}, {SIGKILL, 500}};
    int pid = s->pid > 0 ? s->pid : find_running_server(s);
    bool is_over = pid <= 0;

    for (size_t i = 0; !is_over && i < ARRAY_LEN(ways); i++)
        is_over = kill(pid, ways[i].signo) < 0 || has_server_ended(pid, s->pid > 0, ways[i].ms);
}

void pg_server_stop(struct pg_server *s)
{
    pg_server_halt(s);
    free(s->dir);
    free(s->bin);
    *s = (struct pg_server){0};
}
