/* SPDX-License-Identifier: MIT */
/* The way out of cells: opening and closing it. See egress.h. */
#include "runtime/egress.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "runtime/anyip.h"
#include "runtime/egress_internal.h"
#include "runtime/nftredirect.h"
#include "runtime/sklookup.h"
#include "sys/io.h"

enum { BACKLOG = 512, DNS_BACKLOG = 16, DNS_PORT = SKLOOKUP_DNS_PORT };

/* ---- the host's own addresses ---- */

static int read_own_addresses(struct egress *eg)
{
    struct ifaddrs *all = NULL;
    struct netaddr a;
    int r = 0;

    if (getifaddrs(&all) < 0)
        return -errno;
    netguard_clear_own(&eg->guard);
    for (const struct ifaddrs *i = all; i && r == 0; i = i->ifa_next)
        if (i->ifa_addr && netaddr_from_sockaddr(&a, NULL, i->ifa_addr) == 0)
            r = netguard_add_own(&eg->guard, &a);
    freeifaddrs(all);
    return r;
}

static void on_addresses(struct loop_io *io, uint32_t events)
{
    struct egress *eg = container_of(io, struct egress, addresses);
    char ignored[4096];

    (void)events;
    while (recv(io->fd, ignored, sizeof ignored, MSG_DONTWAIT) > 0)
        ;
    (void)read_own_addresses(eg);
}

static int watch_addresses(struct egress *eg, struct err *e)
{
    struct sockaddr_nl groups = {.nl_family = AF_NETLINK,
                                 .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
    auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

    if (fd < 0 || bind(fd, (struct sockaddr *)&groups, sizeof groups) < 0)
        return err_sys(e, -errno, "watch the host's addresses");
    int r = loop_io_start(eg->loop, &eg->addresses, fd, EPOLLIN, on_addresses);
    if (r < 0)
        return err_sys(e, r, "watch the host's addresses");
    (void)take_fd(fd);
    r = read_own_addresses(eg);
    return r < 0 ? err_sys(e, r, "read the host's addresses") : 0;
}

static int prepare_egress(struct egress *eg, const struct egress_options *o, struct err *e)
{
    eg->home_netns_fd = io_open("/proc/thread-self/ns/net", O_RDONLY, 0);
    if (eg->home_netns_fd < 0)
        return err_sys(e, eg->home_netns_fd, "the host's network namespace");
    for (size_t i = 0; o->opened && o->opened[i]; i++) {
        int r = netguard_open(&eg->guard, str_of(o->opened[i]), e);
        if (r < 0)
            return r;
    }
    int r = dns_resolver_init(&eg->resolver, eg->loop, o->dns_servers, "/etc/resolv.conf", e);
    return r < 0 ? r : watch_addresses(eg, e);
}

/* A connection takes two descriptors; half of all stay for the rest of the program. */
static rlim_t max_conns(void)
{
    struct rlimit files = {.rlim_cur = 1024};

    (void)getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur / 4 < EGRESS_CONNS_ALL_MAX ? files.rlim_cur / 4 : EGRESS_CONNS_ALL_MAX;
}

struct egress *egress_open(struct loop *l, const struct egress_options *o, struct err *e)
{
    struct egress *eg = mem_zalloc(1, sizeof *eg);

    if (!eg) {
        (void)err_sys(e, -ENOMEM, "egress");
        return NULL;
    }
    eg->loop = l;
    list_init(&eg->cells);
    eg->home_netns_fd = -1;
    eg->all = o->tally ? o->tally : &eg->own;
    eg->all->max = (int64_t)max_conns();
    eg->steering = o->steering;
    if (prepare_egress(eg, o, e) == 0)
        return eg;
    egress_close(eg);
    return NULL;
}

void egress_close(struct egress *eg)
{
    if (!eg)
        return;
    int fd = eg->addresses.fd;
    if (eg->addresses.loop) {
        loop_io_stop(&eg->addresses);
        (void)close(fd);
    }
    sklookup_done(&eg->programs);
    close_p(&eg->home_netns_fd);
    netguard_done(&eg->guard);
    free(eg);
}

/* ---- sockets inside ---- */

/* The sockets of a cell; -1 where the kernel has no such family. */
struct sockets {
    int listener, dns[EGRESS_DNS_SOCKETS];
};

static int make_socket(int family, int kind)
{
    int on = 1, fd = socket(family, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    /* A restarted daemon may bind again at once. */
    if (kind == SOCK_STREAM)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return fd;
}

static int make_bound(int kind, const struct netaddr *addr, uint16_t port, int backlog)
{
    struct sockaddr_storage sa;
    socklen_t len = netaddr_to_sockaddr(&sa, addr, port);
    auto_close int fd = make_socket(sa.ss_family, kind);

    if (fd < 0)
        return fd;
    if (bind(fd, (struct sockaddr *)&sa, len) < 0 ||
        (kind == SOCK_STREAM && listen(fd, backlog) < 0))
        return -errno;
    return take_fd(fd);
}

static bool is_missing_family(int r)
{
    return r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL;
}

/* Both families of KIND. */
static int make_dns(struct sockets *s, int kind, struct err *e)
{
    struct netaddr v4 = netaddr_v4(INADDR_LOOPBACK), v6 = {.b = {[15] = 1}};
    int first = kind == SOCK_DGRAM ? EGRESS_DNS_UDP4 : EGRESS_DNS_TCP4;

    for (int i = first; i < first + 2; i++) {
        bool is_v4 = i == first;
        int fd = make_bound(kind, is_v4 ? &v4 : &v6, DNS_PORT, DNS_BACKLOG);
        if (fd < 0 && (is_v4 || !is_missing_family(fd)))
            return err_sys(e, fd, "DNS server of the cell");
        s->dns[i] = fd < 0 ? -1 : fd;
    }
    return 0;
}

/* One listener for both families: accepted IPv4 connections show mapped addresses. */
static int make_egress_listener(struct sockets *s, struct err *e)
{
    struct netaddr any6 = {.b = {0}}, any4 = netaddr_v4(INADDR_ANY);
    int fd = make_bound(SOCK_STREAM, &any6, 0, BACKLOG);

    if (is_missing_family(fd))
        fd = make_bound(SOCK_STREAM, &any4, 0, BACKLOG);
    s->listener = fd;
    return fd < 0 ? err_sys(e, fd, "listener in the cell") : 0;
}

static int make_sockets(struct egress *eg, int netns_fd, struct sockets *s, struct err *e)
{
    if (setns(netns_fd, CLONE_NEWNET) < 0)
        return err_sys(e, -errno, "enter the cell's network");
    int r = anyip_set_up(e);
    if (r == 0)
        r = make_egress_listener(s, e);
    if (r == 0)
        r = make_dns(s, SOCK_DGRAM, e);
    /* A thread that cannot return would do all its later networking inside the cell. */
    if (setns(eg->home_netns_fd, CLONE_NEWNET) < 0)
        abort();
    return r;
}

/* ---- cells ---- */

/* Redirected connections would not show that they were meant for the DNS server. */
static int redirect_egress(struct egress_cell *c, int netns_fd, struct sockets *s, struct err *e)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof sa;
    struct netaddr any;
    uint16_t port;

    if (getsockname(c->listener.fd, (struct sockaddr *)&sa, &len) < 0 ||
        netaddr_from_sockaddr(&any, &port, (struct sockaddr *)&sa) < 0)
        return err_sys(e, -EIO, "listener in the cell");
    if (setns(netns_fd, CLONE_NEWNET) < 0)
        return err_sys(e, -errno, "enter the cell's network");
    int r = nftredirect_set_up(port, e);
    if (r == 0)
        r = make_dns(s, SOCK_STREAM, e);
    if (setns(c->egress->home_netns_fd, CLONE_NEWNET) < 0)
        abort();
    return r < 0 ? r : egress_dns_start(c, s->dns);
}

static int steer(struct egress_cell *c, int netns_fd, struct sockets *s, struct err *e)
{
    enum egress_steering wanted = c->egress->steering;
    int r = -EOPNOTSUPP;

    c->steering = EGRESS_BY_SK_LOOKUP;
    if (wanted != EGRESS_BY_NFTABLES)
        r = c->steering_fd = sklookup_attach(&c->egress->programs, netns_fd, c->listener.fd, e);
    if (r >= 0 || wanted == EGRESS_BY_SK_LOOKUP)
        return r < 0 ? r : 0;
    c->steering = EGRESS_BY_NFTABLES;
    return redirect_egress(c, netns_fd, s, e);
}

static int start_egress_cell(struct egress_cell *c, int netns_fd, struct sockets *s, struct err *e)
{
    int r = make_sockets(c->egress, netns_fd, s, e);

    if (r == 0)
        r = egress_dns_start(c, s->dns);
    if (r == 0)
        r = loop_io_start(c->egress->loop, &c->listener, s->listener, EPOLLIN,
                          egress_conn_on_listener);
    if (r < 0)
        return e && e->code ? r : err_sys(e, r, "egress");
    s->listener = -1;
    return steer(c, netns_fd, s, e);
}

struct egress_cell *egress_attach(struct egress *eg, int netns_fd, const struct netpolicy *policy,
                                  struct err *e)
{
    struct egress_cell *c = mem_zalloc(1, sizeof *c);
    struct sockets s = {-1, {-1, -1, -1, -1}};

    if (!c || netpolicy_copy(&c->policy, policy) < 0) {
        free(c);
        (void)err_sys(e, -ENOMEM, "egress");
        return NULL;
    }
    c->egress = eg;
    c->open = (struct tally){.max = EGRESS_CONNS_MAX, .whole = eg->all};
    list_append(&eg->cells, &c->node);
    c->listener.fd = c->steering_fd = -1;
    list_init(&c->conns);
    list_init(&c->dns_jobs);
    list_init(&c->dns_conns);
    list_init(&c->names);
    int r = start_egress_cell(c, netns_fd, &s, e);
    close_p(&s.listener);
    for (int i = 0; i < EGRESS_DNS_SOCKETS; i++)
        close_p(&s.dns[i]);
    if (r == 0)
        return c;
    egress_detach(c);
    return NULL;
}

static void add_stats(struct egress_stats *sum, const struct egress_stats *s)
{
    sum->n_conns += s->n_conns;
    sum->n_denied += s->n_denied;
    sum->n_failed += s->n_failed;
    sum->n_names += s->n_names;
    sum->n_names_denied += s->n_names_denied;
    sum->bytes_out += s->bytes_out;
    sum->bytes_in += s->bytes_in;
    sum->n_open += s->n_open;
}

void egress_detach(struct egress_cell *c)
{
    if (!c)
        return;
    sklookup_detach(&c->egress->programs, take_fd(c->steering_fd));
    int fd = c->listener.fd;
    loop_io_stop(&c->listener);
    loop_timer_stop(&c->relisten);
    if (fd >= 0)
        (void)close(fd);
    egress_conn_drop_all(c);
    egress_dns_stop(c);
    egress_names_clear(c);
    netpolicy_done(&c->policy);
    c->stats.n_open = 0;
    add_stats(&c->egress->ended, &c->stats);
    list_del(&c->node);
    free(c);
}

void egress_count_as(struct egress_cell *c, const struct tally *own)
{
    int64_t n = c->open.n;

    tally_give(&c->open, n);
    c->open = *own;
    tally_add(&c->open, n);
}

int egress_set_policy(struct egress_cell *c, const struct netpolicy *policy)
{
    struct netpolicy copy;
    int r = netpolicy_copy(&copy, policy);

    if (r < 0)
        return r;
    netpolicy_done(&c->policy);
    c->policy = copy;
    egress_conn_review(c);
    return 0;
}

enum egress_steering egress_cell_steering(const struct egress_cell *c)
{
    return c->steering;
}

const struct egress_stats *egress_cell_stats(const struct egress_cell *c)
{
    return &c->stats;
}

struct egress_stats egress_totals(const struct egress *eg)
{
    struct egress_stats sum = eg->ended;

    list_each(node, &eg->cells) add_stats(&sum, &list_entry(node, struct egress_cell, node)->stats);
    return sum;
}
