/* SPDX-License-Identifier: MIT */
/* Connections of cells to the outside: the verdict on each, and its bytes.
 *
 *     accepted -> (STATING a name -> (RESOLVING it)) -> CONNECTING -> PASSING -> gone
 *
 * What is refused or fails is reset, so that the program inside sees an error and not an end. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "runtime/egress_internal.h"
#include "runtime/nftredirect.h"
#include "runtime/sklookup.h"
#include "runtime/sniff.h"
#include "sys/io.h"

enum {
    ACCEPTS_PER_ROUND = 64,
    READS_PER_ROUND = 8, /* then other connections have their turn */
    RELISTEN_MS = 100,
};

enum conn_state { STATING, RESOLVING, CONNECTING, PASSING };

/* One of the two ends. What was read from the other end and is not written yet waits here; while
 * something waits, nothing more is read there. */
struct end {
    struct loop_io io;
    int fd;
    struct buf waiting;
    bool is_read_out, is_shut; /* it will send nothing more; we sent it our end */
};

/* In its cell's list from its accept to conn_free(), the only way out. Every callback that may call
 * that returns at once: neither end is touched after it. */
struct egress_conn {
    struct list node;
    struct egress_cell *cell;
    enum conn_state state;
    struct end inside, outside;
    struct loop_timer
        timer; /* of the state: a name, an answer or a connection that does not come */
    struct dns_ask ask;
    struct netaddr addr; /* what the cell wanted */
    uint16_t port;
    char name[SNIFF_NAME_MAX];             /* what the client stated */
    char known[SNIFF_NAME_MAX];            /* the name that we had resolved and that allowed it */
    struct netaddr targets[DNS_ADDRS_MAX]; /* tried one after another until one connects */
    size_t n_targets, next_target;
};

/* ---- the end ---- */

/* What waits for it is kept. */
static void end_close(struct end *x, bool resets)
{
    const struct linger at_once = {.l_onoff = 1};

    if (x->fd < 0)
        return;
    loop_io_stop(&x->io);
    if (resets)
        (void)setsockopt(x->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    (void)close(take_fd(x->fd));
}

static void conn_free(struct egress_conn *conn, bool resets)
{
    struct egress_cell *c = conn->cell;

    end_close(&conn->inside, resets);
    end_close(&conn->outside, resets);
    buf_done(&conn->inside.waiting);
    buf_done(&conn->outside.waiting);
    loop_timer_stop(&conn->timer);
    dns_ask_cancel(&conn->ask);
    list_del(&conn->node);
    c->stats.n_open--;
    tally_give(&c->open, 1);
    free(conn);
}

static void conn_deny(struct egress_conn *conn)
{
    conn->cell->stats.n_denied++;
    conn_free(conn, true);
}

static void conn_fail(struct egress_conn *conn)
{
    conn->cell->stats.n_failed++;
    conn_free(conn, true);
}

/* ---- bytes ---- */

/* Watches for EVENTS; for nothing at all when there are none, since the kernel reports a hang-up
 * also to those who did not ask. */
static int end_watch(struct end *x, struct loop *l, uint32_t events,
                     void (*fn)(struct loop_io *io, uint32_t events))
{
    if (events == 0) {
        loop_io_stop(&x->io);
        return 0;
    }
    return x->io.loop ? loop_io_want(&x->io, events) : loop_io_start(l, &x->io, x->fd, events, fn);
}

static int end_flush(struct end *x)
{
    while (x->waiting.len > 0) {
        ssize_t n = send(x->fd, x->waiting.p, x->waiting.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            buf_consume(&x->waiting, (size_t)n);
    }
    buf_done(&x->waiting); /* an idle connection holds no memory */
    return 0;
}

static int end_write(struct end *x, const char *p, size_t len)
{
    ssize_t n = send(x->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return -errno;
    size_t done = n > 0 ? (size_t)n : 0;
    return done == len ? 0 : buf_add(&x->waiting, p + done, len - done);
}

/* Moves what FROM has to TO; an end of the bytes is passed on behind them. */
static int move(struct egress *eg, struct end *from, struct end *to, uint64_t *count)
{
    int r = end_flush(to);

    for (int i = 0; r == 0 && i < READS_PER_ROUND && to->waiting.len == 0 && !from->is_read_out;
         i++) {
        ssize_t n = io_read(from->fd, eg->chunk, sizeof eg->chunk);
        if (n == -EAGAIN)
            break;
        if (n < 0)
            return (int)n;
        from->is_read_out = n == 0;
        *count += (uint64_t)n;
        r = n > 0 ? end_write(to, eg->chunk, (size_t)n) : 0;
    }
    if (r == 0 && from->is_read_out && to->waiting.len == 0 && !to->is_shut) {
        to->is_shut = true;
        r = shutdown(to->fd, SHUT_WR) < 0 && errno != ENOTCONN ? -errno : 0;
    }
    return r;
}

static void on_inside(struct loop_io *io, uint32_t events);
static void on_outside(struct loop_io *io, uint32_t events);

static uint32_t wanted_events(const struct end *x, const struct end *other)
{
    uint32_t events = x->waiting.len > 0 ? EPOLLOUT : 0;

    return !x->is_read_out && other->waiting.len == 0 ? events | EPOLLIN : events;
}

static void conn_pass(struct egress_conn *conn)
{
    struct egress_cell *c = conn->cell;
    struct end *in = &conn->inside, *out = &conn->outside;
    int r = move(c->egress, in, out, &c->stats.bytes_out);

    if (r == 0)
        r = move(c->egress, out, in, &c->stats.bytes_in);
    if (r == 0 && in->is_shut && out->is_shut) {
        conn_free(conn, false);
        return;
    }
    if (r == 0)
        r = end_watch(in, c->egress->loop, wanted_events(in, out), on_inside);
    if (r == 0)
        r = end_watch(out, c->egress->loop, wanted_events(out, in), on_outside);
    if (r < 0)
        conn_free(conn, true);
}

/* ---- connecting ---- */

static void connect_next(struct egress_conn *conn);

static void on_connect_timeout(struct loop_timer *t)
{
    struct egress_conn *conn = container_of(t, struct egress_conn, timer);

    end_close(&conn->outside, true);
    connect_next(conn);
}

static void on_target_connected(struct egress_conn *conn)
{
    int error = 0;
    socklen_t len = sizeof error;

    if (getsockopt(conn->outside.fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error != 0) {
        end_close(&conn->outside, false);
        connect_next(conn);
        return;
    }
    loop_timer_stop(&conn->timer);
    conn->state = PASSING;
    conn->cell->stats.n_conns++;
    conn_pass(conn);
}

static int start_connecting(struct egress_conn *conn, const struct netaddr *to)
{
    struct egress *eg = conn->cell->egress;
    struct sockaddr_storage sa;
    socklen_t len = netaddr_to_sockaddr(&sa, to, conn->port);
    auto_close int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(fd, (struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS)
        return -errno;
    int r = loop_io_start(eg->loop, &conn->outside.io, fd, EPOLLOUT, on_outside);
    if (r == 0)
        r = loop_timer_start(eg->loop, &conn->timer, EGRESS_CONNECT_MS, on_connect_timeout);
    if (r < 0) {
        loop_io_stop(&conn->outside.io);
        return r;
    }
    conn->outside.fd = take_fd(fd);
    return 0;
}

/* True when TO leads to this host although no interface has it (routes of type local, which load
 * balancers use): then it is its own source. Sends nothing. */
static bool is_routed_here(const struct netaddr *to)
{
    struct sockaddr_storage sa;
    struct netaddr from;
    socklen_t len = netaddr_to_sockaddr(&sa, to, 1);
    auto_close int fd = socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&sa, len) < 0)
        return false;
    len = sizeof sa;
    return getsockname(fd, (struct sockaddr *)&sa, &len) == 0 &&
           netaddr_from_sockaddr(&from, NULL, (struct sockaddr *)&sa) == 0 && netaddr_eq(&from, to);
}

static bool may_connect(const struct egress *eg, const struct netaddr *to)
{
    if (netguard_denies(&eg->guard, to))
        return false;
    return netguard_is_open(&eg->guard, to) || !is_routed_here(to);
}

/* What the cell sent already stays in outside.waiting meanwhile. */
static void connect_next(struct egress_conn *conn)
{
    struct egress *eg = conn->cell->egress;

    conn->state = CONNECTING;
    loop_io_stop(&conn->inside.io);
    while (conn->next_target < conn->n_targets) {
        const struct netaddr *to = &conn->targets[conn->next_target++];
        if (may_connect(eg, to) && start_connecting(conn, to) == 0)
            return;
    }
    conn_fail(conn);
}

/* ---- the verdict ---- */

static enum netpolicy_verdict judge_egress_conn(struct egress_conn *conn, const struct str *known,
                                                size_t n_known)
{
    struct netpolicy_query q = {.addr = conn->addr,
                                .port = conn->port,
                                .name = str_of(conn->name),
                                .known = known,
                                .n_known = n_known};

    return netpolicy_judge(&conn->cell->policy, &conn->cell->egress->guard, &q);
}

static void on_resolved(struct dns_ask *ask, const struct dns_answer *a)
{
    struct egress_conn *conn = container_of(ask, struct egress_conn, ask);

    if (!a || a->n_addrs == 0) {
        conn_fail(conn);
        return;
    }
    egress_names_add(conn->cell, conn->name, a);
    memcpy(conn->targets, a->addrs, a->n_addrs * sizeof a->addrs[0]);
    conn->n_targets = a->n_addrs;
    connect_next(conn);
}

/* The client says which allowed name it means; where that is, only we decide. */
static void resolve_egress_conn(struct egress_conn *conn)
{
    uint16_t type = netaddr_is_v4(&conn->addr) ? DNS_TYPE_A : DNS_TYPE_AAAA;

    conn->state = RESOLVING;
    loop_io_stop(&conn->inside.io);
    loop_timer_stop(&conn->timer);
    if (dns_ask_start(&conn->cell->egress->resolver, &conn->ask, str_of(conn->name), type,
                      on_resolved) < 0)
        conn_fail(conn);
}

/* Remembers the name that allows the connection, for later reviews. */
static void note_known(struct egress_conn *conn, const struct str *known, size_t n_known)
{
    for (size_t i = 0; i < n_known && conn->known[0] == '\0'; i++)
        if (netpolicy_is_allowed(judge_egress_conn(conn, &known[i], 1)) &&
            known[i].len < sizeof conn->known)
            memcpy(conn->known, known[i].p, known[i].len);
}

static void decide(struct egress_conn *conn)
{
    struct str known[EGRESS_KNOWN_MAX];
    size_t n_known = egress_names_of(conn->cell, &conn->addr, known);
    enum netpolicy_verdict v = judge_egress_conn(conn, known, n_known);

    loop_timer_stop(&conn->timer);
    if (!netpolicy_is_allowed(v)) {
        conn_deny(conn);
        return;
    }
    note_known(conn, known, n_known);
    if (v == NETPOLICY_ALLOW_BY_NAME) {
        resolve_egress_conn(conn);
        return;
    }
    conn->targets[0] = conn->addr;
    conn->n_targets = 1;
    connect_next(conn);
}

static void on_first_bytes_timeout(struct loop_timer *t)
{
    decide(container_of(t, struct egress_conn, timer));
}

/* Collects the first bytes until they show a name or that there is none. */
static void read_asked_name(struct egress_conn *conn)
{
    struct egress *eg = conn->cell->egress;
    struct buf *first = &conn->outside.waiting;
    ssize_t n = io_read(conn->inside.fd, eg->chunk, SNIFF_MAX - first->len);

    if (n == -EAGAIN)
        return;
    if (n < 0 || (n > 0 && buf_add(first, eg->chunk, (size_t)n) < 0)) {
        conn_free(conn, true);
        return;
    }
    conn->inside.is_read_out = n == 0;
    conn->cell->stats.bytes_out += (uint64_t)n;
    enum sniff found = sniff_name(conn->name, first->p, first->len);
    if (found != SNIFF_NAME)
        conn->name[0] = '\0';
    if (found != SNIFF_MORE || n == 0)
        decide(conn);
}

static void on_inside(struct loop_io *io, uint32_t events)
{
    struct end *in = container_of(io, struct end, io);
    struct egress_conn *conn = container_of(in, struct egress_conn, inside);

    (void)events;
    if (conn->state == STATING)
        read_asked_name(conn);
    else
        conn_pass(conn);
}

static void on_outside(struct loop_io *io, uint32_t events)
{
    struct end *out = container_of(io, struct end, io);
    struct egress_conn *conn = container_of(out, struct egress_conn, outside);

    (void)events;
    if (conn->state == CONNECTING)
        on_target_connected(conn);
    else
        conn_pass(conn);
}

/* ---- arrivals ---- */

static void begin_egress_conn(struct egress_conn *conn)
{
    struct egress_cell *c = conn->cell;
    struct netpolicy_query q = {.addr = conn->addr, .port = conn->port};

    if (!netpolicy_wants_name(&c->policy, &c->egress->guard, &q)) {
        decide(conn);
        return;
    }
    conn->state = STATING;
    int r = loop_timer_start(c->egress->loop, &conn->timer, EGRESS_FIRST_BYTES_MS,
                             on_first_bytes_timeout);
    if (r == 0)
        r = end_watch(&conn->inside, c->egress->loop, EPOLLIN, on_inside);
    if (r < 0)
        conn_fail(conn);
}

/* With sk_lookup the address that the cell wanted is, for the kernel, our own. */
static int find_egress_target(const struct egress_cell *c, int fd, struct netaddr *addr,
                              uint16_t *port)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof sa;

    if (c->steering == EGRESS_BY_NFTABLES)
        return nftredirect_target(fd, addr, port);
    if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
        return -errno;
    return netaddr_from_sockaddr(addr, port, (struct sockaddr *)&sa);
}

static bool is_for_dns(const struct egress_cell *c, const struct netaddr *addr, uint16_t port)
{
    struct netaddr v4 = netaddr_v4(INADDR_LOOPBACK), v6 = {.b = {[15] = 1}};

    return c->steering == EGRESS_BY_SK_LOOKUP && port == SKLOOKUP_DNS_PORT &&
           (netaddr_eq(addr, &v4) || netaddr_eq(addr, &v6));
}

/* Takes over FD in any case. */
static void arrive(struct egress_cell *c, int fd)
{
    struct end inside = {.fd = fd};
    struct netaddr addr = {.b = {0}};
    uint16_t port = 0;
    int r = find_egress_target(c, fd, &addr, &port);

    if (r == 0 && is_for_dns(c, &addr, port)) {
        egress_dns_accept(c, fd);
        return;
    }
    struct egress_conn *conn = r == 0 ? mem_zalloc(1, sizeof *conn) : NULL;

    if (!conn || tally_take(&c->open, 1) < 0) {
        c->stats.n_failed++;
        end_close(&inside, true);
        free(conn);
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    conn->cell = c;
    conn->addr = addr;
    conn->port = port;
    conn->inside.fd = fd;
    conn->outside.fd = -1;
    buf_init(&conn->inside.waiting, EGRESS_CHUNK);
    buf_init(&conn->outside.waiting, EGRESS_CHUNK);
    list_append(&c->conns, &conn->node);
    c->stats.n_open++;
    begin_egress_conn(conn);
}

static void on_relisten(struct loop_timer *t)
{
    struct egress_cell *c = container_of(t, struct egress_cell, relisten);

    (void)loop_io_start(c->egress->loop, &c->listener, c->listener.fd, EPOLLIN,
                        egress_conn_on_listener);
}

void egress_conn_on_listener(struct loop_io *io, uint32_t events)
{
    struct egress_cell *c = container_of(io, struct egress_cell, listener);

    (void)events;
    for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
        int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            arrive(c, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            /* Asking again at once would keep the whole loop busy. */
            loop_io_stop(io);
            (void)loop_timer_start(c->egress->loop, &c->relisten, RELISTEN_MS, on_relisten);
        }
        if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

void egress_conn_review(struct egress_cell *c)
{
    list_each(node, &c->conns)
    {
        struct egress_conn *conn = list_entry(node, struct egress_conn, node);
        struct str known = str_of(conn->known);
        /* Whoever still states a name is judged when that is done. */
        if (conn->state != STATING &&
            !netpolicy_is_allowed(judge_egress_conn(conn, &known, known.len > 0)))
            conn_deny(conn);
    }
}

void egress_conn_drop_all(struct egress_cell *c)
{
    while (!list_is_empty(&c->conns))
        conn_free(list_entry(c->conns.next, struct egress_conn, node), true);
}
