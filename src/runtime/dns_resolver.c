/* SPDX-License-Identifier: MIT */
/* Asks the host's resolvers. See dns_resolver.h. */
#include "runtime/dns_resolver.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/id.h"
#include "base/mem.h"
#include "sys/io.h"

enum { PORT = 53, CONF_MAX = 65536 };

/* ---- servers ---- */

static void add_resolver_server(struct dns_resolver *r, struct str text)
{
    if (r->n_servers < DNS_SERVERS_MAX &&
        netaddr_parse(&r->servers[r->n_servers], str_cut(&text, '%')) == 0)
        r->n_servers++;
}

/* Keeps the servers of before when the file cannot be read. */
static void read_conf(struct dns_resolver *r)
{
    auto_buf struct buf text = BUF_INIT(CONF_MAX);

    r->read_ms = loop_now_ms(r->loop);
    if (io_read_file(r->conf, &text, NULL) < 0)
        return;
    r->n_servers = 0;
    struct str rest = buf_str(&text);
    while (rest.p) {
        struct str line = str_trim(str_cut(&rest, '\n'));
        if (!str_starts(line, STR("nameserver")))
            continue;
        line = str_trim(str_skip(line, sizeof "nameserver" - 1));
        add_resolver_server(r, str_cut(&line, ' '));
    }
}

int dns_resolver_init(struct dns_resolver *r, struct loop *l, const char *const *servers,
                      const char *conf, struct err *e)
{
    *r = (struct dns_resolver){.loop = l, .conf = servers ? NULL : conf};
    if (!servers) {
        read_conf(r);
        return 0;
    }
    for (size_t i = 0; servers[i]; i++) {
        size_t before = r->n_servers;
        add_resolver_server(r, str_of(servers[i]));
        if (r->n_servers == before)
            return err_set(e, -EINVAL,
                           "DNS server '%s': not an IP address, or more than %d servers",
                           servers[i], DNS_SERVERS_MAX);
    }
    return 0;
}

/* ---- asking ---- */

static void start_dns_attempt(struct dns_ask *ask, bool is_tcp);

static void drop_socket(struct dns_ask *ask)
{
    int fd = ask->io.fd;

    if (ask->io.loop) {
        loop_io_stop(&ask->io);
        (void)close(fd);
    }
    free(take(ask->tcp));
    ask->tcp_len = 0;
}

void dns_ask_cancel(struct dns_ask *ask)
{
    if (!ask->resolver)
        return;
    drop_socket(ask);
    loop_timer_stop(&ask->timer);
    ask->resolver->n_asks--;
    ask->resolver = NULL;
}

static void finish_dns_ask(struct dns_ask *ask, const struct dns_answer *a)
{
    dns_ask_cancel(ask);
    ask->fn(ask, a);
}

/* A server failed; A is what it said, if anything. */
static void try_next(struct dns_ask *ask, const struct dns_answer *a)
{
    drop_socket(ask);
    if (++ask->attempt >= DNS_ATTEMPTS)
        finish_dns_ask(ask, a);
    else
        start_dns_attempt(ask, false);
}

static void on_timeout(struct loop_timer *t)
{
    try_next(container_of(t, struct dns_ask, timer), NULL);
}

static void take_answer(struct dns_ask *ask, const struct dns_answer *a, bool is_tcp)
{
    if (a->is_cut && !is_tcp) {
        drop_socket(ask);
        start_dns_attempt(ask, true);
    } else if (a->rcode == DNS_OK || a->rcode == DNS_NO_SUCH_NAME) {
        finish_dns_ask(ask, a);
    } else {
        try_next(ask, a);
    }
}

static void on_resolver_udp(struct loop_io *io, uint32_t events)
{
    struct dns_ask *ask = container_of(io, struct dns_ask, io);
    uint8_t message[DNS_MESSAGE_MAX];
    struct dns_answer a;

    (void)events;
    for (;;) {
        ssize_t n = recv(io->fd, message, sizeof message, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0 || ask->n_forgeries > DNS_FORGERIES_MAX) {
            try_next(ask, NULL);
            return;
        }
        if (dns_read_answer(&a, &ask->query, message, (size_t)n) == 0) {
            take_answer(ask, &a, false);
            return;
        }
        ask->n_forgeries++;
    }
}

static int send_tcp(struct dns_ask *ask)
{
    uint8_t message[2 + DNS_REPLY_MAX];
    int len = dns_write_query(message + 2, ask->query.id, str_of(ask->query.name), ask->query.type);

    if (len < 0)
        return len;
    message[0] = (uint8_t)(len >> 8);
    message[1] = (uint8_t)len;
    ssize_t n = send(ask->io.fd, message, (size_t)len + 2, MSG_NOSIGNAL | MSG_DONTWAIT);
    /* So little always fits into the buffer of a new connection. */
    return n == len + 2 ? loop_io_want(&ask->io, EPOLLIN) : -EIO;
}

static void on_resolver_tcp(struct loop_io *io, uint32_t events)
{
    struct dns_ask *ask = container_of(io, struct dns_ask, io);
    struct dns_answer a;

    if (events & EPOLLOUT && io->events & EPOLLOUT) {
        if (events & (EPOLLERR | EPOLLHUP) || send_tcp(ask) < 0)
            try_next(ask, NULL);
        return;
    }
    ssize_t n = io_read(io->fd, ask->tcp + ask->tcp_len, DNS_MESSAGE_MAX + 2 - ask->tcp_len);
    if (n == -EAGAIN)
        return;
    ask->tcp_len += n > 0 ? (size_t)n : 0;
    size_t want = ask->tcp_len < 2 ? 2 : (size_t)(ask->tcp[0] << 8 | ask->tcp[1]) + 2;
    if (n <= 0 || want > DNS_MESSAGE_MAX + 2) {
        try_next(ask, NULL);
        return;
    }
    if (ask->tcp_len < 2 || ask->tcp_len < want)
        return;
    if (dns_read_answer(&a, &ask->query, ask->tcp + 2, want - 2) < 0)
        try_next(ask, NULL);
    else
        take_answer(ask, &a, true);
}

static int open_socket(struct dns_ask *ask, bool is_tcp)
{
    struct dns_resolver *r = ask->resolver;
    struct sockaddr_storage to;
    socklen_t len = netaddr_to_sockaddr(&to, &r->servers[ask->attempt % r->n_servers], PORT);
    int kind = (is_tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
    auto_close int fd = socket(to.ss_family, kind, 0);

    if (fd < 0 || (connect(fd, (struct sockaddr *)&to, len) < 0 && errno != EINPROGRESS))
        return -errno;
    int error = loop_io_start(r->loop, &ask->io, fd, is_tcp ? EPOLLOUT : EPOLLIN,
                              is_tcp ? on_resolver_tcp : on_resolver_udp);
    if (error == 0)
        (void)take_fd(fd);
    return error;
}

static int send_udp(struct dns_ask *ask)
{
    uint8_t message[DNS_REPLY_MAX];
    int len = dns_write_query(message, ask->query.id, str_of(ask->query.name), ask->query.type);

    if (len < 0)
        return len;
    return send(ask->io.fd, message, (size_t)len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Starts an attempt. One that cannot start is over when its time is. */
static void start_dns_attempt(struct dns_ask *ask, bool is_tcp)
{
    id_random(&ask->query.id, sizeof ask->query.id);
    ask->n_forgeries = 0;
    ask->tcp = is_tcp ? mem_alloc(DNS_MESSAGE_MAX + 2) : NULL;
    bool is_started = (!is_tcp || ask->tcp) && open_socket(ask, is_tcp) == 0;
    if (is_started && !is_tcp)
        is_started = send_udp(ask) == 0;
    if (!is_started)
        drop_socket(ask);
    (void)loop_timer_start(ask->resolver->loop, &ask->timer, is_started ? DNS_ATTEMPT_MS : 1,
                           on_timeout);
}

int dns_ask_start(struct dns_resolver *r, struct dns_ask *ask, struct str name, uint16_t type,
                  void (*fn)(struct dns_ask *ask, const struct dns_answer *a))
{
    uint8_t message[DNS_REPLY_MAX];

    if (r->conf && loop_now_ms(r->loop) - r->read_ms > DNS_CONF_REREAD_MS)
        read_conf(r);
    if (r->n_servers == 0)
        return -EHOSTUNREACH;
    if (r->n_asks == DNS_ASKS_MAX)
        return -EBUSY;
    if (dns_write_query(message, 0, name, type) < 0)
        return -EINVAL;
    *ask = (struct dns_ask){.resolver = r, .fn = fn, .query = {.type = type}};
    for (size_t i = 0; i < name.len; i++)
        ask->query.name[i] =
            (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] + 32 : name.p[i]);
    r->n_asks++;
    start_dns_attempt(ask, false);
    return 0;
}
