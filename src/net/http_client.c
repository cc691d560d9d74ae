/* SPDX-License-Identifier: MIT */
/* The HTTP client's connections and their pool: see http_client.h and http_client_internal.h. */
#include "net/http_client.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/http_client_internal.h"
#include "sys/io.h"

enum { MAX_KEPT = 256, MAX_KEPT_PER_ADDRESS = 8 };

/* Kept connections to one address; exists while there is one. */
struct kept_set {
    struct list conns; /* the one used last first */
    size_t n;
};

/* ---- the pool ---- */

static void unkeep(struct client_conn *conn)
{
    struct http_client *c = conn->client;

    if (!conn->is_kept)
        return;
    conn->is_kept = false;
    list_del(&conn->in_kept);
    list_del(&conn->in_set);
    c->n_kept--;
    struct kept_set *set = map_get(&c->kept_by_address, str_of(conn->address));
    if (--set->n > 0)
        return;
    (void)map_del(&c->kept_by_address, str_of(conn->address));
    free(set);
}

/* The set of ADDRESS, made when there is none. */
static struct kept_set *set_of(struct http_client *c, const char *address)
{
    struct kept_set *set = map_get(&c->kept_by_address, str_of(address));

    if (set)
        return set;
    set = mem_zalloc(1, sizeof *set);
    if (!set)
        return NULL;
    list_init(&set->conns);
    if (map_put(&c->kept_by_address, str_of(address), set, NULL) < 0) {
        free(set);
        return NULL;
    }
    return set;
}

/* True when the connection went into the pool. */
static bool pool_connection(struct client_conn *conn)
{
    struct http_client *c = conn->client;

    if (c->n_kept >= c->opts.max_kept)
        stream_close(list_entry(c->kept.prev, struct client_conn, in_kept)->stream);
    struct kept_set *set = set_of(c, conn->address);
    if (!set)
        return false;
    if (set->n >= c->opts.max_kept_per_address)
        return false;
    list_add(&c->kept, &conn->in_kept);
    list_add(&set->conns, &conn->in_set);
    set->n++;
    c->n_kept++;
    conn->is_kept = true;
    stream_set_timeout(conn->stream, c->opts.timeouts.keep_ms);
    return true;
}

/* A kept connection must be silent: bytes or an end that wait in the socket make it useless. */
static bool is_silent(const struct client_conn *conn)
{
    char byte;

    return stream_is_tls(conn->stream) ||
           (recv(stream_fd(conn->stream), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
            errno == EAGAIN);
}

static struct client_conn *take_kept(struct http_client *c, const char *address)
{
    struct kept_set *set;

    while ((set = map_get(&c->kept_by_address, str_of(address)))) {
        struct client_conn *conn = list_entry(set->conns.next, struct client_conn, in_set);
        unkeep(conn);
        stream_set_timeout(conn->stream, 0);
        if (is_silent(conn))
            return conn;
        stream_close(conn->stream);
    }
    return NULL;
}

/* ---- connections ---- */

static void free_client_conn(struct client_conn *conn)
{
    loop_io_stop(&conn->dial);
    loop_timer_stop(&conn->dial_timer);
    if (conn->fd >= 0)
        (void)close(conn->fd);
    free(conn->address);
    free(conn);
}

void conn_forget(struct client_conn *conn)
{
    free_client_conn(conn);
}

static void close_conn(struct client_conn *conn)
{
    if (conn->stream)
        stream_close(conn->stream); /* on_conn_close() frees it */
    else
        free_client_conn(conn);
}

void conn_release(struct http_call *call, bool is_reusable)
{
    struct client_conn *conn = take(call->conn);

    if (!conn)
        return;
    conn->call = NULL;
    if (!is_reusable || !conn->address || conn->client->opts.timeouts.keep_ms <= 0 ||
        !pool_connection(conn))
        close_conn(conn);
}

static ssize_t on_conn_data(struct stream *s, void *ctx, const char *p, size_t len)
{
    struct client_conn *conn = ctx;

    (void)s;
    if (conn->call)
        return (ssize_t)call_feed(conn->call, p, len);
    return -EPROTO; /* bytes that nobody asked for */
}

static ssize_t on_conn_bulk(struct stream *s, void *ctx)
{
    struct client_conn *conn = ctx;

    (void)s;
    return conn->call ? call_bulk(conn->call) : -EOPNOTSUPP;
}

static void on_conn_drain(struct stream *s, void *ctx)
{
    struct client_conn *conn = ctx;

    (void)s;
    if (conn->call)
        call_drained(conn->call);
}

static void on_conn_eof(struct stream *s, void *ctx)
{
    struct client_conn *conn = ctx;

    if (conn->call)
        call_eof(conn->call);
    else
        stream_close(s);
}

static void on_conn_close(struct stream *s, void *ctx, int reason)
{
    struct client_conn *conn = ctx;
    struct http_call *call = conn->call;

    (void)s;
    unkeep(conn);
    conn->stream = NULL;
    free_client_conn(conn);
    if (call) {
        call->conn = NULL;
        call_lost(call, reason, NULL);
    }
}

static void on_conn_timeout(struct stream *s, void *ctx)
{
    struct client_conn *conn = ctx;

    if (conn->call)
        call_timeout(conn->call);
    else
        stream_close(s);
}

static const struct stream_ops conn_ops = {
    .on_data = on_conn_data,
    .on_bulk = on_conn_bulk,
    .on_drain = on_conn_drain,
    .on_eof = on_conn_eof,
    .on_close = on_conn_close,
    .on_timeout = on_conn_timeout,
};

/* ---- dialling ---- */

static void dial_failed(struct client_conn *conn, int error, const char *why)
{
    struct http_call *call = conn->call;

    call->conn = NULL;
    free_client_conn(conn);
    call_lost(call, error, why);
}

/* Host part of an address, for the name that TLS verifies. */
static void tls_host_of(const char *address, char out[256])
{
    struct str s = str_of(address);
    const char *colon = s.len ? strrchr(address, ':') : NULL;

    if (colon)
        s.len = (size_t)(colon - s.p);
    if (s.len >= 2 && s.p[0] == '[')
        s = str_slice(s, 1, s.len - 1);
    s = str_slice(s, 0, 255);
    if (s.len)
        memcpy(out, s.p, s.len);
    out[s.len] = '\0';
}

static void start_stream(struct client_conn *conn)
{
    struct http_client *c = conn->client;
    struct err e = ERR_INIT;
    char host[256];
    struct stream_opts opts = {
        .loop = c->opts.loop,
        .ops = &conn_ops,
        .ctx = conn,
        .tls = c->opts.tls,
        .is_client = true,
        .sni = host,
        .write_ms = c->opts.timeouts.idle_ms,
        .max_unread = 2 * c->opts.limits.max_head + 4096,
    };

    tls_host_of(conn->address ? conn->address : "", host);
    loop_io_stop(&conn->dial);
    loop_timer_stop(&conn->dial_timer);
    conn->stream = stream_new(take_fd(conn->fd), &opts, &e);
    if (conn->stream)
        call_connected(conn->call, true);
    else
        dial_failed(conn, e.code ? e.code : -EIO, err_text(&e));
}

static void on_dialled(struct loop_io *io, uint32_t events)
{
    struct client_conn *conn = container_of(io, struct client_conn, dial);
    int error = 0;
    socklen_t len = sizeof error;

    (void)events;
    if (getsockopt(io->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    if (error) {
        struct err e = ERR_INIT;
        (void)err_sys(&e, -error, "connect");
        dial_failed(conn, -error, err_text(&e));
        return;
    }
    start_stream(conn);
}

static void on_dial_timeout(struct loop_timer *t)
{
    dial_failed(container_of(t, struct client_conn, dial_timer), -ETIMEDOUT, "connect: timed out");
}

/* Waits until CONN's socket is connected. */
static int watch_dial(struct client_conn *conn)
{
    struct http_client *c = conn->client;
    int r = io_set_nonblock(conn->fd, true);

    if (r == 0 && c->opts.timeouts.connect_ms > 0)
        r = loop_timer_start(c->opts.loop, &conn->dial_timer, c->opts.timeouts.connect_ms,
                             on_dial_timeout);
    return r < 0 ? r : loop_io_start(c->opts.loop, &conn->dial, conn->fd, EPOLLOUT, on_dialled);
}

static int open_fd(struct http_client *c, const char *address, struct err *e)
{
    int fd = c->opts.dial ? c->opts.dial(c->opts.ctx, address, e)
                          : http_dial(address, c->opts.may_resolve, e);

    c->connects += fd >= 0;
    return fd;
}

/* Fills in a connection that is being made, to ADDRESS or out of CONN's descriptor. */
static int start_conn(struct client_conn *conn, const char *address, struct err *e)
{
    if (address && !(conn->address = mem_strdup(address)))
        return err_sys(e, -ENOMEM, "connection");
    if (conn->client->is_closing)
        return err_set(e, -ECANCELED, "client is closing");
    if (conn->fd < 0)
        conn->fd = open_fd(conn->client, address, e);
    if (conn->fd < 0)
        return conn->fd;
    int r = watch_dial(conn);
    return r < 0 ? err_sys(e, r, "connect") : 0;
}

/* A connection to the call's address, or out of FD (> 0), which it owns in any case. */
static struct client_conn *new_conn(struct http_call *call, int fd, struct err *e)
{
    auto_close int owned = fd > 0 ? fd : -1;
    struct client_conn *conn = mem_zalloc(1, sizeof *conn);

    if (!conn) {
        (void)err_sys(e, -ENOMEM, "connection");
        return NULL;
    }
    conn->client = call->client;
    conn->fd = take_fd(owned);
    if (start_conn(conn, call->address, e) < 0) {
        free_client_conn(conn);
        return NULL;
    }
    return conn;
}

bool conn_get(struct http_call *call, int fd, bool is_fresh, struct err *e)
{
    struct http_client *c = call->client;
    struct client_conn *conn = NULL;

    if (fd <= 0 && !is_fresh && !c->is_closing)
        conn = take_kept(c, call->address);
    if (conn) {
        conn->is_reused = true;
        c->reuses++;
    } else {
        conn = new_conn(call, fd, e);
    }
    if (!conn)
        return false;
    conn->call = call;
    call->conn = conn;
    return true;
}

/* ---- the client ---- */

struct http_client *http_client_new(const struct http_client_opts *opts, struct err *e)
{
    static const struct http_limits limits = HTTP_LIMITS_DEFAULT;
    struct http_client *c = mem_zalloc(1, sizeof *c);

    if (!c) {
        (void)err_sys(e, -ENOMEM, "HTTP client");
        return NULL;
    }
    c->opts = *opts;
    if (c->opts.limits.max_head == 0)
        c->opts.limits = limits;
    if (c->opts.max_kept == 0)
        c->opts.max_kept = MAX_KEPT;
    if (c->opts.max_kept_per_address == 0)
        c->opts.max_kept_per_address = MAX_KEPT_PER_ADDRESS;
    map_init(&c->kept_by_address, c->opts.max_kept + 1);
    list_init(&c->kept);
    list_init(&c->calls);
    return c;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    c->is_closing = true;
    while (!list_is_empty(&c->calls))
        call_fail(list_entry(c->calls.next, struct http_call, in_calls), -ECANCELED,
                  "client is closing");
    while (!list_is_empty(&c->kept))
        stream_close(list_entry(c->kept.next, struct client_conn, in_kept)->stream);
    map_done(&c->kept_by_address);
    free(c);
}

static bool is_call_to(const struct http_call *call, struct str address)
{
    struct str own = str_of(call->address ? call->address : "");

    return str_starts(own, address) && (own.len == address.len || own.p[address.len] == ':');
}

void http_client_end_calls(struct http_client *c, struct str address, int error, const char *why)
{
    struct list ended;

    /* First out of the others' list: callbacks may end calls, and start some. */
    list_init(&ended);
    list_each(node, &c->calls)
    {
        struct http_call *call = list_entry(node, struct http_call, in_calls);
        if (call->is_over || !is_call_to(call, address))
            continue;
        list_del(&call->in_calls);
        list_append(&ended, &call->in_calls);
    }
    while (!list_is_empty(&ended)) {
        struct http_call *call = list_entry(ended.next, struct http_call, in_calls);
        list_del(&call->in_calls);
        list_append(&c->calls, &call->in_calls);
        if (!call->is_over)
            call_fail(call, error, why);
    }
}

struct http_client_stats http_client_stats(const struct http_client *c)
{
    return (struct http_client_stats){
        .connects = c->connects,
        .reuses = c->reuses,
        .retries = c->retries,
        .n_calls = c->n_calls,
        .n_kept = c->n_kept,
    };
}
