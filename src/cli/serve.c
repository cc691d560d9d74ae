/* SPDX-License-Identifier: MIT */
/* The service: see serve.h. Starting is a list of steps; stopping lets requests under way finish,
 * makes everything durable, and frees in the opposite order. */
#include "cli/serve.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "apps/catalog/registry.h"
#include "apps/db/memory.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sm.h"
#include "cli/announce.h"
#include "cli/io_threads.h"
#include "cli/ready.h"
#include "cli/serve_tls.h"
#include "core/core.h"
#include "core/instance_set.h"
#include "core/sandbox_limits.h"
#include "core/templates.h"
#include "loop/loop.h"
#include "loop/watch.h"
#include "net/http_server.h"
#include "sys/oom.h"

struct service {
    const struct config *config;
    struct loop *loop;
    struct loop_watch *watch;
    struct core core;
    bool has_core;
    struct api *api;
    struct serve_tls *tls;      /* NULL: plain text */
    struct http_server *server; /* for clients */
    struct http_server *e2b;    /* the same at a second address, for clients of E2B; may be NULL */
    struct http_server *local;  /* for the command line: a socket in the state directory */
    struct io_threads *io;      /* NULL: the main thread accepts */
    struct announce announce;
    unsigned n_draining;
    bool is_stopping;
};

enum { CLOSE_MAX_MS = 9000 }; /* for what comes after the requests, when the service is stopped */

/* ---- stopping ---- */

static void on_serve_drained(void *ctx)
{
    struct service *s = ctx;

    if (--s->n_draining == 0)
        loop_stop(s->loop);
}

static void drain_servers(void *ctx)
{
    struct service *s = ctx;

    struct http_server *servers[] = {s->server, s->local, s->e2b};

    api_stop(s->api);
    s->n_draining = s->e2b ? 3 : 2;
    for (size_t i = 0; i < ARRAY_LEN(servers); i++)
        if (servers[i])
            http_server_drain(servers[i], s->config->timeouts.shutdown, on_serve_drained, s);
}

/* Whatever happens, the process ends in time: what was answered is on the disk. ARG is that time,
 * by value, since nothing else is sure to outlive the closing. */
static void *guard(void *arg)
{
    int64_t ms = (intptr_t)arg;
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
    log_error("stopped: closing took too long", LOG_I("ms", ms));
    _exit(EXIT_FAILURE);
}

static void start_guard(const struct service *s)
{
    intptr_t ms = s->config->timeouts.shutdown + CLOSE_MAX_MS;
    pthread_t id;

    if (pthread_create(&id, NULL, guard, (void *)ms) == 0)
        (void)pthread_detach(id);
}

static void on_serve_signal(int signo, void *ctx)
{
    struct service *s = ctx;

    if (s->is_stopping) {
        log_warn("stopped at once", LOG_I("signal", signo));
        _exit(EXIT_FAILURE);
    }
    s->is_stopping = true;
    log_info("stopping", LOG_I("signal", signo), LOG_I("grace_ms", s->config->timeouts.shutdown));
    start_guard(s);
    /* What the threads took still moves to the main server, so that one ends last. */
    if (s->io)
        io_threads_drain(s->io, s->config->timeouts.shutdown, s->loop, drain_servers, s);
    else
        drain_servers(s);
}

static bool is_set_outside(const struct config *c, const char *key)
{
    struct str source = str_of(c->sources[config_find(str_of(key)) - config_options]);

    return str_starts(source, STR("flag")) || str_starts(source, STR("environment"));
}

/* Of the file only what can change while the service runs counts. */
static void reload_servers(struct service *s)
{
    const struct config *c = s->config;
    const struct config_flag flags[] = {{config_find(STR("config")), c->config},
                                        {config_find(STR("state")), c->state}};
    const struct config_args args = {
        .flags = flags, .n_flags = ARRAY_LEN(flags), .home = getenv("HOME"), .no_search = true};
    struct config fresh auto_(config_done) = {0};
    struct err e = ERR_INIT;

    if (!c->config || is_set_outside(c, "local.servers"))
        return;
    if (config_load(&fresh, &args, &e) < 0 ||
        api_set_own_servers(s->api, fresh.local.servers, &e) < 0)
        log_error("local.servers kept unchanged", LOG_S("error", err_text(&e)));
    else
        log_info("local.servers reloaded", LOG_S("file", c->config));
}

static void on_serve_hangup(int signo, void *ctx)
{
    struct service *s = ctx;

    (void)signo;
    if (s->is_stopping || !s->api)
        return;
    serve_tls_reload(s->tls);
    reload_servers(s);
}

/* Answers that wait for the store still go out before the servers end. */
static void close_service(struct service *s)
{
    announce_done(&s->announce);
    s->core.watch = NULL;
    loop_watch_stop(s->watch);
    if (s->has_core)
        core_stop(&s->core);
    unsigned n = s->has_core ? instances_n_abandoned(s->core.instances) : 0;
    if (n > 0) {
        /* They use what would be freed. The store is closed, so nothing is lost but they. */
        instances_free(s->core.instances);
        log_warn("stopped: jobs of apps did not end", LOG_I("jobs", n));
        _exit(EXIT_SUCCESS);
    }
    io_threads_free(s->io);
    http_server_free(s->server);
    http_server_free(s->local);
    http_server_free(s->e2b);
    api_free(s->api);
    if (s->has_core)
        core_close(&s->core);
    serve_tls_close(s->tls);
    loop_free(s->loop);
}

/* ---- starting ---- */

static int raise_limits(struct service *s, struct err *e)
{
    struct rlimit files;

    (void)s;
    (void)umask(077);
    /* Only root may; what it starts for others has a score of its own. */
    (void)oom_set(OOM_LAST);
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return err_sys(e, -errno, "file descriptor limit");
    const struct rlimit more = {SERVE_WANTED_FILES, SERVE_WANTED_FILES};
    if (files.rlim_max < more.rlim_max && setrlimit(RLIMIT_NOFILE, &more) == 0)
        return 0;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    return 0;
}

/* Signals are blocked here, before any thread starts. */
static int open_loop(struct service *s, struct err *e)
{
    static const int signals[] = {SIGTERM, SIGINT};
    int r = 0;

    (void)signal(SIGPIPE, SIG_IGN);
    s->loop = loop_new(e);
    if (!s->loop)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(signals); i++)
        r = loop_on_signal(s->loop, signals[i], on_serve_signal, s);
    if (r == 0)
        r = loop_on_signal(s->loop, SIGHUP, on_serve_hangup, s);
    return r < 0 ? err_sys(e, r, "signals") : 0;
}

static void trace_move(const struct sm *m, unsigned from)
{
    log_debug("move", LOG_S("of", m->type->name), LOG_S("from", m->type->states[from].name),
              LOG_S("to", sm_name(m)));
}

/* The others are served. */
static void on_broken_app(void *ctx, const struct err *e)
{
    (void)ctx;
    log_warn("app could not be loaded", LOG_S("error", err_text(e)));
}

/* Sandboxes are made all the same, and say so themselves: their limit is 0. */
static void warn_of_limits(const struct core *core)
{
    struct buf text auto_buf = BUF_INIT(4096);

    if (sandboxes_put_lacks(core->sandboxes, &text) == 0 && text.len > 0)
        log_warn("sandboxes run without a limit", LOG_S("error", buf_cstr(&text)));
}

static void warn_of_templates(const struct core *c)
{
    const struct err *fault = templates_fault(c->templates);

    if (fault->code)
        log_warn("the saved templates cannot be read; those before them are used",
                 LOG_S("error", err_text(fault)));
}

static int open_core(struct service *s, struct err *e)
{
    sm_set_trace(trace_move);
    memory_setup();
    int r = core_open(&s->core, s->loop, s->config, e);

    s->has_core = r == 0;
    if (r == 0 && s->core.no_sandboxes.code)
        log_warn("no sandboxes", LOG_S("error", err_text(&s->core.no_sandboxes)));
    else if (r == 0)
        warn_of_limits(&s->core);
    if (r == 0)
        warn_of_templates(&s->core);
    if (r == 0)
        app_registry_on_broken(instances_apps(s->core.instances), on_broken_app, NULL);
    return r;
}

static int open_api(struct service *s, struct err *e)
{
    s->api = api_new(&s->core, e);
    return s->api ? 0 : -EINVAL;
}

static int open_tls(struct service *s, struct err *e)
{
    return serve_tls_open(&s->tls, s->loop, s->config, e);
}

static struct http_server_opts server_opts(struct service *s, struct tls_ctx *tls)
{
    const struct config *c = s->config;
    struct http_server_opts opts = {
        .loop = s->loop,
        .handler = api_handle,
        .ctx = s->api,
        .on_error = api_on_error,
        .on_done = api_on_done,
        .tls = tls,
        .limits = HTTP_LIMITS_DEFAULT,
        .timeouts = {c->timeouts.head, c->timeouts.body, c->timeouts.idle, c->timeouts.write},
        .max_conns = (size_t)c->limits.max_connections,
    };

    opts.limits.max_head = (size_t)c->limits.max_head;
    return opts;
}

static int open_servers(struct service *s, struct err *e)
{
    struct tls_ctx *tls = serve_tls_ctx(s->tls);
    struct http_server_opts main = server_opts(s, tls), local = server_opts(s, NULL);
    struct http_server_opts e2b = main;

    e2b.handler = api_handle_e2b;
    s->server = http_server_new(&main, e);
    s->local = s->server ? http_server_new(&local, e) : NULL;
    if (s->local && s->config->e2b.listen)
        s->e2b = http_server_new(&e2b, e);
    if (!s->local || (s->config->e2b.listen && !s->e2b))
        return -ENOMEM;
    api_set_server(s->api, s->server);
    return 0;
}

static int start_io_threads(struct service *s, int listener, struct err *e)
{
    const struct io_threads_args args = {
        .n = (unsigned)s->config->io_threads,
        .listener = listener,
        .opts = server_opts(s, serve_tls_ctx(s->tls)),
        .to = s->server,
        .handler = api_handle,
        .on_error = api_on_error,
        .ctx = s->api,
    };

    s->io = io_threads_start(&args, e);
    return s->io ? 0 : -EAGAIN;
}

/* Before the main address: whether others can reach the service is decided there. */
static int listen_e2b(struct service *s, struct err *e)
{
    if (!s->e2b)
        return 0;
    auto_close int fd = http_listen(s->config->e2b.listen, false, e);
    if (fd < 0)
        return fd;
    int r = announce_e2b(&s->announce, fd, s->config, e);
    return r < 0 ? r : http_server_listen(s->e2b, take_fd(fd), e);
}

/* A service that only this machine can reach takes the token that the documentation prints. */
static int listen_main(struct service *s, struct err *e)
{
    auto_close int fd = http_listen(s->config->listen, false, e);

    if (fd < 0)
        return fd;
    int r = announce_address(&s->announce, fd, s->config, e);
    if (r == 0 && s->announce.is_loopback)
        r = core_accept_seed_token(&s->core, e);
    if (r < 0)
        return r;
    if (!s->announce.is_loopback && !s->tls)
        log_warn("keys are sent in clear text: this address is reachable from other hosts and "
                 "TLS is off",
                 LOG_S("listen", s->config->listen));
    if (s->config->io_threads > 0)
        return start_io_threads(s, fd, e);
    return http_server_listen(s->server, take_fd(fd), e);
}

/* Without it the command line cannot talk to this service; that is no reason not to serve. */
static int listen_local(struct service *s, struct err *e)
{
    struct err why = ERR_INIT;
    struct buf address auto_buf = BUF_INIT(4096);

    (void)buf_printf(&address, "unix:%s/" CORE_SOCKET_FILE, s->config->state);
    const char *text = buf_cstr(&address);
    int fd = text ? http_listen(text, false, &why) : err_sys(&why, -ENOMEM, "local socket");
    if (fd < 0) {
        log_warn("no local socket", LOG_S("error", err_text(&why)));
        return 0;
    }
    return http_server_listen(s->local, fd, e);
}

/* The file comes last: who sees it can talk to the service. */
static int publish_address(struct service *s, struct err *e)
{
    const char *port = strrchr(s->announce.url, ':');

    api_set_url(s->api, s->announce.url);
    /* Where no domain is configured, sandboxes are reached at this listener. */
    if (strcmp(s->config->domain, "localhost") == 0 && port && port[1] != '/')
        (void)snprintf(s->core.domain, sizeof s->core.domain, "localhost%s", port);
    log_info("listening", LOG_S("url", s->announce.url), LOG_I("pid", getpid()));
    announce_banner(&s->announce, &s->core);
    int r = announce_publish(&s->announce, &s->core, e);
    int told = r < 0 ? 0 : ready_tell(getenv("NOTIFY_SOCKET"));
    if (told < 0)
        log_warn("could not notify the service manager", LOG_S("error", strerror(-told)));
    return r;
}

/* On the thread of the watch. */
static void on_stall(void *ctx, const struct loop_stall *s)
{
    (void)ctx;
    log_warn("the event loop is stuck", LOG_S("doing", s->what), LOG_I("ms", s->ms),
             LOG_I("cpu_ms", s->cpu_ms));
}

static int open_watch(struct service *s, struct err *e)
{
    s->watch = s->core.watch = loop_watch_start(s->loop, on_stall, s, e);
    return s->watch ? 0 : e->code;
}

int serve_run(const struct config *c, struct err *e)
{
    static int (*const steps[])(struct service *, struct err *) = {
        raise_limits, open_loop,    open_core,  open_watch,  open_tls,        open_api,
        open_servers, listen_local, listen_e2b, listen_main, publish_address,
    };
    struct service s = {.config = c};
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(steps); i++)
        r = steps[i](&s, e);
    if (r == 0) {
        r = loop_run(s.loop);
        if (r < 0)
            (void)err_sys(e, r, "event loop");
    }
    close_service(&s);
    if (r == 0)
        log_info("stopped");
    return r;
}
