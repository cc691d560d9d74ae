/* SPDX-License-Identifier: MIT */
#include "api/local/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/local/local.h"
#include "base/cleanup.h"
#include "base/id.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/limits.h"
#include "core/sandbox.h"
#include "net/listen.h"
#include "proxy/tunnel.h"
#include "runtime/engine.h"

enum {
    SWEEP_MS = 1000,
    UNUSED_MS = 120000, /* that long the sandbox may take to be made */
    RETRY_MS = 25,
    RETRIES = 400 /* while the program inside starts */
};

/* The ports that servers have, and where they lead inside the cell. */
static const struct {
    const char *server, *name;
    uint16_t inside;
} rows[] = {
    {"poste_email_toolathlon", "imap", LOCAL_IMAP_PORT},
    {"poste_email_toolathlon", "smtp", LOCAL_SMTP_PORT},
};

/* A listener. It stays until its last connection is gone. */
struct door {
    struct list node;
    struct ports *ports;
    struct loop_io io;
    char id[LOCAL_ID_LEN + 1]; /* of the local sandbox */
    uint16_t inside, outside;
    int fd; /* -1: could not be opened again so far, or closed */
    bool is_used, is_closed;
    int64_t opened_ms;
    unsigned n; /* connections */
};

struct port_connection {
    struct list node;
    struct door *door;
    int fd;                  /* -1: it is the tunnel's */
    struct sandbox *sandbox; /* held */
    struct tunnel *tunnel;
    struct tally *tally; /* where it counts */
    struct loop_timer retry;
    unsigned n_tries;
};

struct ports {
    struct locals *locals;
    struct core *core;
    struct list doors, connections;
    size_t n_doors;
    uint16_t low, high; /* 0: the kernel chooses */
    struct loop_timer sweep;
};

/* ---- connections ---- */

static void drop_door(struct door *d)
{
    if (!d->is_closed || d->n > 0)
        return;
    list_del(&d->node);
    d->ports->n_doors--;
    free(d);
}

static void end_port_connection(struct port_connection *c)
{
    struct door *d = c->door;

    loop_timer_stop(&c->retry);
    if (c->fd >= 0)
        (void)close(c->fd);
    if (c->sandbox) {
        sandbox_release(c->sandbox);
        sandbox_unref(c->sandbox);
    }
    list_del(&c->node);
    tally_give(c->tally, 1);
    d->n--;
    free(c);
    drop_door(d);
}

static void on_tunnel_end(void *ctx)
{
    struct port_connection *c = ctx;

    c->tunnel = NULL;
    end_port_connection(c);
}

/* Until the tunnel takes over nothing is read. */
static ssize_t on_early(struct stream *s, void *ctx, const char *p, size_t len)
{
    (void)s;
    (void)ctx;
    (void)p;
    (void)len;
    return 0;
}

static void join_port(struct port_connection *c, int inside)
{
    static const struct stream_ops ops = {.on_data = on_early};
    const struct stream_opts opts = {.loop = c->door->ports->core->loop, .ops = &ops};
    struct stream *a = stream_new(take_fd(c->fd), &opts, NULL);
    struct stream *b = stream_new(inside, &opts, NULL);

    if (a && b)
        c->tunnel = tunnel_open(a, b, on_tunnel_end, c);
    else if (a || b)
        stream_close(a ? a : b);
    if (!c->tunnel)
        end_port_connection(c);
}

static void dial_port(struct port_connection *c);

static void on_port_retry(struct loop_timer *t)
{
    dial_port(container_of(t, struct port_connection, retry));
}

static void dial_port(struct port_connection *c)
{
    struct engine_cell *cell = sandbox_cell(c->sandbox);
    int fd = cell ? engine_cell_connect(cell, c->door->inside) : -ENOENT;

    if (fd >= 0) {
        join_port(c, fd);
        return;
    }
    bool may_retry = fd == -ECONNREFUSED && !c->door->is_closed && ++c->n_tries < RETRIES;
    if (!may_retry ||
        loop_timer_start(c->door->ports->core->loop, &c->retry, RETRY_MS, on_port_retry) < 0)
        end_port_connection(c);
}

static void on_port_usable(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct port_connection *c = ctx;

    if (e || c->door->is_closed) {
        end_port_connection(c);
        return;
    }
    c->sandbox = sandbox_ref(sb);
    sandbox_hold(sb);
    dial_port(c);
}

static struct tally *count_for(const struct core *core, const struct sandbox *sb)
{
    struct account *account = accounts_account(core->accounts, str_of(sb->account));

    return limits_tally(core->limits, account, LIMIT_ACCOUNT_MAIL);
}

static void on_port_connection(struct loop_io *io, uint32_t events)
{
    struct door *d = container_of(io, struct door, io);
    struct ports *p = d->ports;
    int fd = accept4(d->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0)
        return;
    struct sandbox *sb = locals_find(p->locals, str_of(d->id));
    struct tally *tally = sb ? count_for(p->core, sb) : NULL;
    struct port_connection *c =
        tally && d->n < PORTS_CONNECTIONS_MAX ? mem_zalloc(1, sizeof *c) : NULL;
    if (!c || tally_take(tally, 1) < 0) {
        free(c);
        (void)close(fd);
        return;
    }
    c->tally = tally;
    d->is_used = true;
    c->door = d;
    c->fd = fd;
    list_append(&p->connections, &c->node);
    d->n++;
    if (sandbox_use(sb, on_port_usable, c) < 0)
        end_port_connection(c);
}

/* ---- doors ---- */

static int listen_on_port(const struct ports *p, uint16_t port, struct err *e)
{
    const char *host = p->core->config->local.address;
    char address[128];

    (void)snprintf(address, sizeof address, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
    return http_listen(address, false, e);
}

/* A port that is free: of the range, beginning anywhere in it, or the kernel's choice. */
static int listen_anywhere(const struct ports *p, struct err *e)
{
    unsigned n = p->high - p->low + 1U;
    uint64_t first = id_seed() % n;
    int fd = -EADDRINUSE;

    if (!p->low)
        return listen_on_port(p, 0, e);
    for (unsigned i = 0; i < n && fd < 0; i++)
        fd = listen_on_port(p, (uint16_t)(p->low + (first + i) % n), e);
    return fd;
}

static int start_door(struct door *d, int fd, struct err *e)
{
    int r =
        fd < 0 ? fd : loop_io_start(d->ports->core->loop, &d->io, fd, EPOLLIN, on_port_connection);

    if (r < 0) {
        if (fd >= 0)
            (void)close(fd);
        return err_ctx(e, r, "a port for a local sandbox");
    }
    d->fd = fd;
    d->outside = (uint16_t)http_listen_port(fd);
    return 0;
}

static struct door *new_door(struct ports *p, struct str id, uint16_t inside, uint16_t outside)
{
    struct door *d = p->n_doors < PORTS_DOORS_MAX ? mem_zalloc(1, sizeof *d) : NULL;

    if (!d)
        return NULL;
    d->ports = p;
    d->fd = -1;
    d->inside = inside;
    d->outside = outside;
    d->opened_ms = loop_now_ms(p->core->loop);
    (void)snprintf(d->id, sizeof d->id, STR_FMT, STR_ARG(id));
    list_append(&p->doors, &d->node);
    p->n_doors++;
    return d;
}

static void close_door(struct door *d)
{
    loop_io_stop(&d->io);
    if (d->fd >= 0)
        (void)close(d->fd);
    d->fd = -1;
    d->is_closed = true;
    drop_door(d);
}

void ports_close(struct ports *p, struct str id)
{
    list_each(node, &p->doors)
    {
        struct door *d = list_entry(node, struct door, node);
        if (!d->is_closed && str_is(id, d->id))
            close_door(d);
    }
}

static void on_port_sweep(struct loop_timer *t);

static void sweep_soon(struct ports *p)
{
    if (p->n_doors > 0 && !p->sweep.loop)
        (void)loop_timer_start(p->core->loop, &p->sweep, SWEEP_MS, on_port_sweep);
}

static bool has_server(const struct json *local, const char *name)
{
    const struct json *servers = json_get(local, "servers");

    for (size_t i = 0; servers && i < servers->n; i++) {
        if (str_is(json_str(json_get(json_at(servers, i), "name"), STR("")), name))
            return true;
    }
    return false;
}

int ports_open(struct ports *p, struct arena *a, struct json *local, struct err *e)
{
    struct str id = json_str(json_get(local, "id"), STR(""));
    struct json *noted = json_new_object(a);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!has_server(local, rows[i].server))
            continue;
        struct door *d = new_door(p, id, rows[i].inside, 0);
        int r = d ? start_door(d, listen_anywhere(p, e), e)
                  : err_set(e, -ENOSPC, "too many ports are in use by local sandboxes");
        if (r < 0) {
            ports_close(p, id);
            return r;
        }
        (void)json_set(a, noted, rows[i].name, json_new_int(a, d->outside));
    }
    sweep_soon(p);
    return noted && noted->n > 0 ? json_set(a, local, "ports", noted) : 0;
}

/* ---- time ---- */

static bool has_door(const struct ports *p, struct str id, uint16_t inside)
{
    list_each(node, &p->doors)
    {
        const struct door *d = list_entry(node, struct door, node);
        if (!d->is_closed && d->inside == inside && str_is(id, d->id))
            return true;
    }
    return false;
}

void ports_restore(struct ports *p, const struct sandbox *sb)
{
    const struct json *local = local_of(sb), *noted = json_get(local, "ports");
    struct str id = json_str(json_get(local, "id"), STR(""));
    struct err e = ERR_INIT;

    for (size_t i = 0; noted && i < ARRAY_LEN(rows); i++) {
        int64_t port = json_int(json_get(noted, rows[i].name), 0);
        bool is_missing = port > 0 && port <= UINT16_MAX && !has_door(p, id, rows[i].inside);
        struct door *d = is_missing ? new_door(p, id, rows[i].inside, (uint16_t)port) : NULL;
        if (d)
            d->is_used = true;
        if (d && start_door(d, listen_on_port(p, d->outside, &e), &e) < 0)
            log_warn("could not open a port for a local sandbox", LOG_I("port", d->outside),
                     LOG_S("error", err_text(&e)));
    }
    sweep_soon(p);
}

/* A port that somebody else has meanwhile may be free again. */
static void look_after(struct door *d)
{
    bool is_there = locals_knows(d->ports->locals, str_of(d->id));
    bool is_late = loop_now_ms(d->ports->core->loop) - d->opened_ms > UNUSED_MS;

    d->is_used = d->is_used || is_there;
    if (d->is_closed)
        return;
    if (!is_there && (d->is_used || is_late))
        close_door(d);
    else if (d->fd < 0)
        (void)start_door(d, listen_on_port(d->ports, d->outside, NULL), NULL);
}

static void on_port_sweep(struct loop_timer *t)
{
    struct ports *p = container_of(t, struct ports, sweep);

    list_each(node, &p->doors) look_after(list_entry(node, struct door, node));
    sweep_soon(p);
}

/* "20000-20999" */
static int read_port_range(struct ports *p, const char *text, struct err *e)
{
    struct str high = str_of(text), low = str_cut(&high, '-');
    uint64_t from = 0, to = 0;

    if (!text || !text[0])
        return 0;
    bool is_range = high.p && str_to_u64(low, &from) == 0 && str_to_u64(high, &to) == 0;
    if (!is_range || from == 0 || to > UINT16_MAX || from > to)
        return err_set(e, -EINVAL, "local.ports: '%s' is not a port range", text);
    p->low = (uint16_t)from;
    p->high = (uint16_t)to;
    return 0;
}

struct ports *ports_new(struct locals *l, struct core *core, struct err *e)
{
    struct ports *p = mem_zalloc(1, sizeof *p);

    if (!p) {
        (void)err_set(e, -ENOMEM, "out of memory");
        return NULL;
    }
    p->locals = l;
    p->core = core;
    list_init(&p->doors);
    list_init(&p->connections);
    int r = read_port_range(p, core->config->local.ports, e);
    if (r < 0) {
        free(p);
        return NULL;
    }
    for (struct sandbox *sb = NULL; core->sandboxes && (sb = sandbox_next(core->sandboxes, sb));)
        ports_restore(p, sb);
    return p;
}

void ports_free(struct ports *p)
{
    if (!p)
        return;
    loop_timer_stop(&p->sweep);
    list_each(node, &p->connections)
    {
        struct port_connection *c = list_entry(node, struct port_connection, node);
        if (c->tunnel)
            tunnel_close(c->tunnel);
        else if (c->sandbox)
            end_port_connection(c);
    }
    list_each(door, &p->doors) close_door(list_entry(door, struct door, node));
    free(p);
}
