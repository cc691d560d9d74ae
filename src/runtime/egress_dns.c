/* SPDX-License-Identifier: MIT */
/* The DNS server of a cell, on 127.0.0.1 and ::1 inside, by UDP and TCP. It answers questions for
 * addresses of names that the policy lets the cell ask for, with answers written here from what the
 * host's resolvers say; special addresses are left out of them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "runtime/egress_internal.h"
#include "sys/io.h"

enum { PACKETS_PER_ROUND = 32, TCP_MAX = DNS_MESSAGE_MAX + 2 };

struct dns_job;

struct dns_conn {
    struct list node;
    struct egress_cell *cell;
    struct loop_io io;
    struct loop_timer idle;
    struct buf in;
    struct dns_job *job; /* the question that is being answered; the next one waits */
};

/* Where an answer goes. */
struct egress_dns_route {
    struct dns_conn *conn; /* NULL: by UDP */
    int fd;
    struct sockaddr_storage peer;
    socklen_t peer_len;
};

struct dns_job {
    struct list node;
    struct egress_cell *cell;
    struct egress_dns_route route;
    struct dns_query query;
    struct dns_ask ask;
};

/* ---- answers ---- */

static void send_answer(const struct egress_dns_route *to, const struct dns_query *q,
                        const struct dns_answer *a)
{
    uint8_t message[2 + DNS_REPLY_MAX];

    if (!to->conn) {
        size_t len = dns_write_answer(message, q, a, q->udp_max);
        (void)sendto(to->fd, message, len, MSG_DONTWAIT | MSG_NOSIGNAL,
                     (const struct sockaddr *)&to->peer, to->peer_len);
        return;
    }
    size_t len = dns_write_answer(message + 2, q, a, DNS_REPLY_MAX);
    message[0] = (uint8_t)(len >> 8);
    message[1] = (uint8_t)len;
    /* Who lets so few bytes wait does not read; the idle time ends that. */
    if (send(to->fd, message, len + 2, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len + 2)
        (void)shutdown(to->fd, SHUT_RDWR);
}

static void send_rcode(const struct egress_dns_route *to, const struct dns_query *q,
                       enum dns_rcode rcode)
{
    struct dns_answer a = {.rcode = rcode};

    send_answer(to, q, &a);
}

static void job_free(struct dns_job *job)
{
    dns_ask_cancel(&job->ask);
    list_del(&job->node);
    job->cell->n_dns_jobs--;
    if (job->route.conn)
        job->route.conn->job = NULL;
    free(job);
}

static void conn_go_on(struct dns_conn *conn);

static void on_egress_dns_answer(struct dns_ask *ask, const struct dns_answer *a)
{
    struct dns_job *job = container_of(ask, struct dns_job, ask);
    struct egress_cell *c = job->cell;
    struct dns_conn *conn = job->route.conn;

    if (!a) {
        send_rcode(&job->route, &job->query, DNS_SERVER_FAILURE);
    } else {
        struct dns_answer shown = *a;
        shown.n_addrs = 0;
        shown.is_cut = false;
        for (size_t i = 0; i < a->n_addrs; i++)
            if (!netguard_denies(&c->egress->guard, &a->addrs[i]))
                shown.addrs[shown.n_addrs++] = a->addrs[i];
        egress_names_add(c, job->query.name, &shown);
        shown.ttl_s = shown.ttl_s < EGRESS_TTL_MAX_S ? shown.ttl_s : EGRESS_TTL_MAX_S;
        send_answer(&job->route, &job->query, &shown);
    }
    job_free(job);
    if (conn)
        conn_go_on(conn);
}

/* ---- questions ---- */

static bool take_token(struct egress_cell *c)
{
    int64_t now_ms = loop_now_ms(c->egress->loop);
    int64_t most = EGRESS_DNS_BURST * 1000;

    c->dns_tokens_milli += (now_ms - c->dns_filled_ms) * EGRESS_DNS_PER_S;
    if (c->dns_tokens_milli > most)
        c->dns_tokens_milli = most;
    c->dns_filled_ms = now_ms;
    if (c->dns_tokens_milli < 1000)
        return false;
    c->dns_tokens_milli -= 1000;
    return true;
}

static int start_egress_dns_job(struct egress_cell *c, const struct egress_dns_route *route,
                                const struct dns_query *q)
{
    struct dns_job *job = c->n_dns_jobs < EGRESS_DNS_JOBS_MAX ? mem_zalloc(1, sizeof *job) : NULL;

    if (!job)
        return -EBUSY;
    int r = dns_ask_start(&c->egress->resolver, &job->ask, str_of(q->name), q->type,
                          on_egress_dns_answer);
    if (r < 0) {
        free(job);
        return r;
    }
    job->cell = c;
    job->route = *route;
    job->query = *q;
    list_append(&c->dns_jobs, &job->node);
    c->n_dns_jobs++;
    if (route->conn)
        route->conn->job = job;
    return 0;
}

static enum dns_rcode start_question(struct egress_cell *c, const struct egress_dns_route *route,
                                     const struct dns_query *q, bool *ret_is_under_way)
{
    if (!take_token(c))
        return DNS_REFUSED;
    c->stats.n_names++;
    if (!netpolicy_may_resolve(&c->policy, str_of(q->name))) {
        c->stats.n_names_denied++;
        return DNS_NO_SUCH_NAME;
    }
    if (q->name[0] == '\0' || (q->type != DNS_TYPE_A && q->type != DNS_TYPE_AAAA))
        return DNS_OK;
    *ret_is_under_way = start_egress_dns_job(c, route, q) == 0;
    return DNS_SERVER_FAILURE;
}

/* -EBADMSG when this is no question at all. */
static int take_question(struct egress_cell *c, const struct egress_dns_route *route, const void *p,
                         size_t len)
{
    struct dns_query q;
    bool is_under_way = false;
    int r = dns_read_query(&q, p, len);

    if (r < 0)
        return r;
    enum dns_rcode rcode = (enum dns_rcode)r;
    if (rcode == DNS_OK)
        rcode = start_question(c, route, &q, &is_under_way);
    if (!is_under_way)
        send_rcode(route, &q, rcode);
    return 0;
}

static void on_egress_dns_udp(struct loop_io *io, uint32_t events)
{
    struct egress_cell *c = container_of(io, struct egress_dns_socket, io)->cell;
    uint8_t message[DNS_UDP_MAX];

    (void)events;
    for (int i = 0; i < PACKETS_PER_ROUND; i++) {
        struct egress_dns_route from = {.fd = io->fd, .peer_len = sizeof from.peer};
        ssize_t n = recvfrom(io->fd, message, sizeof message, MSG_DONTWAIT | MSG_TRUNC,
                             (struct sockaddr *)&from.peer, &from.peer_len);
        if (n < 0)
            return;
        if ((size_t)n <= sizeof message)
            (void)take_question(c, &from, message, (size_t)n);
    }
}

/* ---- TCP ---- */

static void conn_close(struct dns_conn *conn)
{
    int fd = conn->io.fd;

    loop_io_stop(&conn->io);
    (void)close(fd);
    loop_timer_stop(&conn->idle);
    if (conn->job)
        job_free(conn->job);
    buf_done(&conn->in);
    list_del(&conn->node);
    conn->cell->n_dns_conns--;
    free(conn);
}

static void on_egress_dns_idle(struct loop_timer *t)
{
    conn_close(container_of(t, struct dns_conn, idle));
}

/* Answers what is complete, one question at a time; false when that makes no sense. */
static bool take_messages(struct dns_conn *conn)
{
    while (!conn->job && conn->in.len >= 2) {
        const uint8_t *p = (const uint8_t *)conn->in.p;
        size_t len = (size_t)(p[0] << 8 | p[1]);
        if (len > DNS_MESSAGE_MAX)
            return false;
        if (conn->in.len < len + 2)
            return true;
        struct egress_dns_route from = {.conn = conn, .fd = conn->io.fd};
        if (take_question(conn->cell, &from, p + 2, len) < 0)
            return false;
        buf_consume(&conn->in, len + 2);
    }
    return true;
}

static void on_conn(struct loop_io *io, uint32_t events);

static void conn_go_on(struct dns_conn *conn)
{
    struct loop *l = conn->cell->egress->loop;
    int fd = conn->io.fd;

    if (!take_messages(conn) ||
        loop_timer_start(l, &conn->idle, EGRESS_DNS_IDLE_MS, on_egress_dns_idle) < 0) {
        conn_close(conn);
        return;
    }
    if (conn->job)
        loop_io_stop(&conn->io);
    else if (!conn->io.loop && loop_io_start(l, &conn->io, fd, EPOLLIN, on_conn) < 0)
        conn_close(conn);
}

static void on_conn(struct loop_io *io, uint32_t events)
{
    struct dns_conn *conn = container_of(io, struct dns_conn, io);
    uint8_t some[DNS_UDP_MAX];
    size_t room = TCP_MAX - conn->in.len;
    ssize_t n = io_read(io->fd, some, room < sizeof some ? room : sizeof some);

    (void)events;
    if (n == -EAGAIN)
        return;
    if (n <= 0 || buf_add(&conn->in, some, (size_t)n) < 0)
        conn_close(conn);
    else
        conn_go_on(conn);
}

void egress_dns_accept(struct egress_cell *c, int fd)
{
    struct dns_conn *conn =
        c->n_dns_conns < EGRESS_DNS_CONNS_MAX ? mem_zalloc(1, sizeof *conn) : NULL;
    if (!conn) {
        (void)close(fd);
        return;
    }
    conn->cell = c;
    conn->io.fd = fd;
    buf_init(&conn->in, TCP_MAX);
    list_append(&c->dns_conns, &conn->node);
    c->n_dns_conns++;
    conn_go_on(conn);
}

static void on_egress_dns_tcp(struct loop_io *io, uint32_t events)
{
    struct egress_cell *c = container_of(io, struct egress_dns_socket, io)->cell;
    int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd >= 0)
        egress_dns_accept(c, fd);
}

/* ---- the server ---- */

int egress_dns_start(struct egress_cell *c, int fds[EGRESS_DNS_SOCKETS])
{
    c->dns_tokens_milli = EGRESS_DNS_BURST * 1000;
    c->dns_filled_ms = loop_now_ms(c->egress->loop);
    for (int i = 0; i < EGRESS_DNS_SOCKETS; i++) {
        struct egress_dns_socket *s = &c->dns[i];
        s->cell = c;
        if (fds[i] < 0)
            continue;
        bool is_udp = i == EGRESS_DNS_UDP4 || i == EGRESS_DNS_UDP6;
        int r = loop_io_start(c->egress->loop, &s->io, fds[i], EPOLLIN,
                              is_udp ? on_egress_dns_udp : on_egress_dns_tcp);
        if (r < 0)
            return r;
        (void)take_fd(fds[i]);
    }
    return 0;
}

void egress_dns_stop(struct egress_cell *c)
{
    while (!list_is_empty(&c->dns_conns))
        conn_close(list_entry(c->dns_conns.next, struct dns_conn, node));
    while (!list_is_empty(&c->dns_jobs))
        job_free(list_entry(c->dns_jobs.next, struct dns_job, node));
    for (int i = 0; i < EGRESS_DNS_SOCKETS; i++) {
        int fd = c->dns[i].io.fd;
        if (!c->dns[i].io.loop)
            continue;
        loop_io_stop(&c->dns[i].io);
        (void)close(fd);
    }
}
