/* SPDX-License-Identifier: MIT */
/* A service for the checks of `tidepool doctor`: see doctor_service.h. */
#include "cli/doctor_service.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/client.h"
#include "cli/doctor.h"
#include "cli/serve.h"
#include "core/core.h"
#include "runtime/packet.h"
#include "runtime/proto.h"
#include "sys/io.h"

enum { START_MS = 60000, STOP_MS = 30000, LOOK_US = 5000, RUN_S = 30, ARENA_MAX = 32 << 20 };

/* ---- an own one ---- */

static void block_signals(int how)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        (void)sigaddset(&set, signals[i]);
    (void)sigprocmask(how, &set, NULL);
}

/* In the child. What it says goes to SAY, when it cannot start. */
static _Noreturn void serve_for_trial(const struct config *c, int say)
{
    struct err e = ERR_INIT;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void)dup2(null, fd);
    log_setup(LOG_ERROR, STDERR_FILENO);
    if (serve_run(c, &e) < 0)
        (void)!write(say, err_text(&e), strlen(err_text(&e)));
    _exit(0);
}

/* The end of the pipe comes with that of the child, and its last words before it. */
static int hear_failure(int fd, struct err *e)
{
    char text[ERR_TEXT_MAX];
    ssize_t n = io_read(fd, text, sizeof text - 1);

    if (n == -EAGAIN)
        return 0;
    text[n > 0 ? n : 0] = '\0';
    return err_set(e, -EIO, "could not start a service: %s", n > 0 ? text : "it died");
}

static int wait_for_start(const struct doctor_service *s, int fd, struct err *e)
{
    char path[sizeof s->dir + sizeof CORE_SERVICE_FILE + 1];
    int64_t end_ms = clock_mono_ms() + START_MS;

    (void)snprintf(path, sizeof path, "%s/" CORE_SERVICE_FILE, s->dir);
    while (access(path, F_OK) < 0) {
        int r = hear_failure(fd, e);
        if (r < 0)
            return r;
        if (clock_mono_ms() > end_ms)
            return err_set(e, -ETIMEDOUT, "a service did not start within %d s", START_MS / 1000);
        (void)usleep(LOOK_US);
    }
    return 0;
}

static int make_trial_dir(struct doctor_service *s, struct err *e)
{
    char beside[4096];
    int len;

    doctor_existing_parent(s->config.state, beside);
    len = snprintf(s->dir, sizeof s->dir, "%s/.doctor-XXXXXX", beside);
    if (len < 0 || (size_t)len >= sizeof s->dir || !mkdtemp(s->dir)) {
        s->dir[0] = '\0';
        return err_sys(e, len > 0 && errno ? -errno : -ENAMETOOLONG, "a directory in '%s'", beside);
    }
    return 0;
}

/* As configured, but where it is and what it keeps ready. */
static int start_own(struct doctor_service *s, struct err *e)
{
    int ends[2];
    int r = make_trial_dir(s, e);

    if (r < 0)
        return r;
    (void)snprintf(s->listen, sizeof s->listen, "unix:%s/doctor.sock", s->dir);
    s->config.state = s->dir;
    s->config.listen = s->listen;
    s->config.e2b.listen = NULL;
    s->config.tls.cert = s->config.tls.key = s->config.tls.dir = NULL;
    s->config.cells.warm = 0;
    s->config.io_threads = 0;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_sys(e, -errno, "pipe");
    s->pid = fork();
    if (s->pid == 0)
        serve_for_trial(&s->config, ends[1]);
    (void)close(ends[1]);
    r = s->pid < 0 ? err_sys(e, -errno, "fork") : wait_for_start(s, ends[0], e);
    (void)close(ends[0]);
    return r;
}

/* ---- its end ---- */

/* One that a sandbox was left in lives on, and so do the rest of its mounts. */
static void quit_spawner(const char *path)
{
    static struct packet p;
    auto_buf struct buf out = BUF_INIT(PACKET_MAX);
    const struct timeval limit = {.tv_sec = STOP_MS / 1000};
    auto_close int fd = packet_connect_at(AT_FDCWD, path, SOCK_SEQPACKET);

    if (fd < 0)
        return;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    packet_begin(&out, PROTO_QUIT, 0);
    if (packet_send(fd, &out, NULL, 0) < 0)
        return;
    while (packet_receive(fd, &p) > 0)
        packet_done(&p);
}

static void quit_spawners(const struct doctor_service *s)
{
    char pattern[sizeof s->dir + 32];
    glob_t found;

    (void)snprintf(pattern, sizeof pattern, "%s/spawners/*/spawner.sock", s->dir);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        quit_spawner(found.gl_pathv[i]);
    globfree(&found);
}

static int remove_trial_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    (void)remove(path);
    return 0;
}

static void stop_own(struct doctor_service *s)
{
    int64_t end_ms = clock_mono_ms() + STOP_MS;

    if (s->pid > 0)
        (void)kill(s->pid, SIGTERM);
    while (s->pid > 0 && waitpid(s->pid, NULL, WNOHANG) == 0) {
        if (clock_mono_ms() > end_ms)
            (void)kill(s->pid, SIGKILL);
        (void)usleep(LOOK_US);
    }
    quit_spawners(s);
    (void)nftw(s->dir, remove_trial_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- one that is there ---- */

/* Whether it answers at all: its socket may be left from one that was killed. */
static bool find_running_service(struct doctor_service *s)
{
    struct client_request rq = {.method = "GET", .target = "/healthz"};
    struct err e = ERR_INIT;
    struct json *doc;

    s->client = client_open(&s->config, NULL, NULL, &e);
    if (s->client && client_send(s->client, &s->arena, &rq, &doc, &e) == 0)
        return true;
    client_free(take(s->client));
    return false;
}

int doctor_service_open(struct doctor_service *s, const struct config *c, struct err *e)
{
    *s = (struct doctor_service){.config = *c};
    arena_init(&s->arena, ARENA_MAX);
    block_signals(SIG_BLOCK);
    if (find_running_service(s))
        return 0;
    int r = start_own(s, e);
    if (r < 0)
        return r;
    s->client = client_open(&s->config, NULL, NULL, e);
    return s->client ? 0 : -ENOTCONN;
}

void doctor_service_close(struct doctor_service *s)
{
    client_free(take(s->client));
    if (s->dir[0])
        stop_own(s);
    arena_done(&s->arena);
    block_signals(SIG_UNBLOCK);
}

/* ---- what it is asked ---- */

const char *doctor_create(struct doctor_service *s, const char *members, struct err *e)
{
    auto_buf struct buf body = BUF_INIT(4096);
    struct client_request rq = {.method = "POST", .target = "/api/v1/sandbox"};
    struct json *doc = NULL;

    (void)buf_printf(&body, "{\"timeout\":300%s%s}", *members ? "," : "", members);
    rq.body = buf_str(&body);
    if (client_send(s->client, &s->arena, &rq, &doc, e) < 0)
        return NULL;
    struct str name = json_str(json_get(json_get(doc, "sandbox"), "name"), STR(""));
    const char *copy = name.len ? arena_printf(&s->arena, STR_FMT, STR_ARG(name)).p : NULL;
    if (!copy)
        (void)err_set(e, -EPROTO, "the service created a sandbox without a name");
    return copy;
}

int doctor_remove(struct doctor_service *s, const char *name, struct err *e)
{
    struct str target = arena_printf(&s->arena, "/api/v1/sandbox/%s", name);
    struct client_request rq = {.method = "DELETE", .target = target.p};
    struct json *doc;

    if (!target.p)
        return err_sys(e, -ENOMEM, "remove");
    int r = client_send(s->client, &s->arena, &rq, &doc, e);
    if (r < 0)
        return err_ctx(e, r, "remove the sandbox");
    rq.method = "GET";
    r = client_send(s->client, &s->arena, &rq, &doc, &(struct err)ERR_INIT);
    return r == -ENOENT ? 0 : err_set(e, -EBUSY, "the sandbox still exists after it was removed");
}

int doctor_run(struct doctor_service *s, const struct doctor_command *c, struct doctor_ran *ret,
               struct err *e)
{
    auto_buf struct buf body = BUF_INIT(4096);
    struct str target = arena_printf(&s->arena, "/api/v1/terminal/sandbox/%s", c->sandbox);
    struct client_request rq = {.method = "POST", .target = target.p};
    struct json *doc = NULL;
    struct jw w = jw_to(&body);

    jw_object(&w);
    jw_key(&w, "command");
    jw_cstr(&w, c->text);
    if (c->user) {
        jw_key(&w, "user");
        jw_cstr(&w, c->user);
    }
    jw_key(&w, "timeout");
    jw_int(&w, RUN_S);
    jw_end(&w);
    rq.body = buf_str(&body);
    if (!target.p || !buf_ok(&body))
        return err_sys(e, -ENOMEM, "run");
    int64_t begin_us = clock_mono_us();
    int r = client_send(s->client, &s->arena, &rq, &doc, e);
    if (r < 0)
        return r;
    const struct json *data = json_get(doc, "data");
    bool is_late = json_bool(json_get(data, "timedOut"), false);
    *ret = (struct doctor_ran){
        .took_us = clock_mono_us() - begin_us,
        .status = is_late ? -1 : json_int(json_get(data, "exitCode"), -1),
        .out = json_str(json_get(data, "output"), STR("")),
        .err = json_str(json_get(data, "errorOutput"), STR("")),
    };
    return 0;
}
