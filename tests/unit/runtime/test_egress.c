/* SPDX-License-Identifier: MIT */
/* The way out of cells, in a small internet where every address answers: what is denied is denied
 * by us. Needs root. */
#include "../check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../lib/netlab.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "runtime/dns.h"
#include "runtime/egress.h"
#include "sys/io.h"

#define PUB  "203.0.113.10"
#define PUB6 "2001:db8::10"
#define ALL  "0.0.0.0/0"

/* In functions that run inside: gives the line that failed. */
#define need(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond))                                                                               \
            return __LINE__;                                                                       \
    } while (0)

static struct loop *loop;
static struct egress *egress;
static struct egress_cell *cell, *other;
static int netns = -1, other_netns = -1;

static struct netpolicy policy_of(const char *allow, const char *deny, bool denies_by_default)
{
    struct netpolicy p = {.denies_by_default = denies_by_default};
    const char *const lists[] = {allow, deny};
    struct err e = ERR_INIT;

    for (int i = 0; i < 2; i++) {
        struct str rest = str_of(lists[i]);
        while (lists[i] && rest.p)
            if (netpolicy_add(&p, i == 0, str_cut(&rest, ' '), &e) < 0)
                fail_msg("%s", err_text(&e));
    }
    return p;
}

static void set_policy(const char *allow, const char *deny, bool denies_by_default)
{
    struct netpolicy p = policy_of(allow, deny, denies_by_default);

    assert_int_equal(egress_set_policy(cell, &p), 0);
    netpolicy_done(&p);
}

static struct egress_cell *attach(int ns)
{
    struct netpolicy open = NETPOLICY_ALLOW_ALL;
    struct err e = ERR_INIT;
    struct egress_cell *c = egress_attach(egress, ns, &open, &e);

    if (!c)
        fail_msg("%s", err_text(&e));
    return c;
}

static enum egress_steering steering;

static int open_world(const char *opened)
{
    const char *const servers[] = {NETLAB_DNS, NULL}, *const list[] = {opened, NULL};
    struct egress_options o = {.steering = steering, .dns_servers = servers, .opened = list};
    struct err e = ERR_INIT;

    loop = loop_new(&e);
    egress = loop ? egress_open(loop, &o, &e) : NULL;
    netns = netlab_cell();
    if (!egress || netns < 0) {
        print_message("%s\n", err_text(&e));
        return -1;
    }
    cell = attach(netns);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return open_world(NULL);
}

static int setup_opened(void **state)
{
    (void)state;
    return open_world("10.1.2.0/24");
}

static int setup_redirect(void **state)
{
    steering = EGRESS_BY_NFTABLES;
    int r = setup(state);
    steering = EGRESS_BY_ANY;
    return r == 0 && egress_cell_steering(cell) == EGRESS_BY_NFTABLES ? 0 : -1;
}

static int setup_two(void **state)
{
    if (setup(state) < 0)
        return -1;
    other_netns = netlab_cell();
    other = attach(other_netns);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    egress_detach(take(cell));
    egress_detach(take(other));
    egress_close(take(egress));
    loop_free(take(loop));
    close_p(&netns);
    close_p(&other_netns);
    netns = other_netns = -1;
    return 0;
}

static void inside(int (*fn)(void), void (*on_ask)(int n))
{
    assert_int_equal(netlab_inside(loop, netns, fn, on_ask), 0);
}

/* The end of a child's connections may reach the loop after the child's own. */
static void all_are_closed(void)
{
    for (int i = 0; i < 1000 && egress_cell_stats(cell)->n_open > 0; i++)
        (void)loop_run_once(loop, 5);
    assert_int_equal(egress_cell_stats(cell)->n_open, 0);
}

/* A refused connection is reset, at the first byte or already at connect(). */
static bool is_refused(int r)
{
    return r == -ECONNRESET || r == -ECONNREFUSED || r == -EPIPE;
}

/* ---- tests ---- */

static int everything_answers(void)
{
    need(netlab_reaches("169.254.169.254", 80, NULL, "169.254.169.254") == 0);
    need(netlab_reaches("10.1.2.3", 443, NULL, "10.1.2.3") == 0);
    need(netlab_reaches(PUB6, 22, NULL, PUB6) == 0);
    return 0;
}

static void the_host_reaches_every_address(void **state)
{
    (void)state;
    assert_int_equal(netlab_inside(loop, -1, everything_answers, NULL), 0);
}

static int only_the_public(void)
{
    static const char *const guarded[] = {
        "10.1.2.3",  "172.16.0.1",      "192.168.7.7",       "100.64.0.1",
        "0.1.2.3",   "169.254.169.254", "fd00::1",           "64:ff9b::a9fe:a9fe",
        NETLAB_HOST, NETLAB_HOST6,      "2002:a9fe:a9fe::1", "224.0.0.1"};

    need(netlab_reaches(PUB, 80, NULL, PUB) == 0);
    need(netlab_reaches(PUB, 22, NULL, PUB) == 0);
    need(netlab_reaches(PUB6, 443, NULL, PUB6) == 0);
    need(netlab_reaches("::ffff:" PUB, 443, NULL, PUB) == 0);
    for (size_t i = 0; i < ARRAY_LEN(guarded); i++)
        need(netlab_reaches(guarded[i], 80, NULL, guarded[i]) < 0);
    return 0;
}

static void special_and_own_addresses_are_denied(void **state)
{
    (void)state;
    inside(only_the_public, NULL);
    all_are_closed();
    assert_int_equal(egress_cell_stats(cell)->n_conns, 4);
    /* The kernel refuses 0.1.2.3 and multicast by itself, or leaves them to us. */
    assert_in_range(egress_cell_stats(cell)->n_denied, 10, 12);
}

static int opened_network(void)
{
    need(netlab_reaches("10.1.2.3", 80, NULL, "10.1.2.3") == 0);
    need(is_refused(netlab_reaches("10.1.3.3", 80, NULL, "10.1.3.3")));
    return 0;
}

static void the_operator_opens_networks(void **state)
{
    (void)state;
    inside(opened_network, NULL);
}

static int nothing(void)
{
    char text[64];

    need(is_refused(netlab_reaches(PUB, 80, NULL, PUB)));
    need(is_refused(netlab_reaches(PUB6, 80, NULL, PUB6)));
    need(netlab_resolve("127.0.0.1", false, "a.example", text) == DNS_NO_SUCH_NAME);
    return 0;
}

static void a_closed_cell_reaches_nothing(void **state)
{
    (void)state;
    set_policy(NULL, NULL, true);
    inside(nothing, NULL);
    set_policy(NULL, ALL, false);
    inside(nothing, NULL);
    assert_int_equal(egress_cell_stats(cell)->n_names_denied, 2);
}

static int by_network(void)
{
    need(netlab_reaches(PUB, 80, NULL, PUB) == 0);
    need(netlab_reaches("203.0.113.15", 22, NULL, "203.0.113.15") == 0);
    need(is_refused(netlab_reaches("203.0.113.16", 80, NULL, "203.0.113.16")));
    need(netlab_reaches("8.8.8.8", 443, NULL, "8.8.8.8") == 0);
    need(is_refused(netlab_reaches("8.8.8.8", 80, NULL, "8.8.8.8")));
    need(netlab_reaches(PUB6, 80, NULL, PUB6) == 0);
    need(is_refused(netlab_reaches("2001:db9::1", 80, NULL, "2001:db9::1")));
    return 0;
}

static void networks_and_ports_are_rules(void **state)
{
    (void)state;
    set_policy("203.0.113.0/28 8.8.8.8:443 [2001:db8::]/32:80", ALL, false);
    inside(by_network, NULL);
}

static int by_name(void)
{
    char text[64];

    need(is_refused(netlab_reaches(PUB, 22, NULL, PUB)));
    need(netlab_resolve("127.0.0.1", false, "b.example", text) == DNS_NO_SUCH_NAME);
    need(netlab_resolve("127.0.0.1", false, "wild.example", text) == DNS_NO_SUCH_NAME);
    need(netlab_resolve("127.0.0.1", false, "none.wild.example", text) == DNS_NO_SUCH_NAME);
    need(netlab_resolve("127.0.0.1", false, "a.example", text) == DNS_OK);
    need(strcmp(text, PUB) == 0);
    need(netlab_reaches(PUB, 22, NULL, PUB) == 0);
    need(is_refused(netlab_reaches("203.0.113.11", 22, NULL, "203.0.113.11")));
    need(netlab_resolve("127.0.0.1", false, "y.x.wild.example", text) == DNS_OK);
    need(strcmp(text, "203.0.113.21") == 0);
    need(netlab_reaches("203.0.113.21", 443, "GET / HTTP/1.1\r\nHost: y.x.wild.example\r\n\r\n",
                        "203.0.113.21") == 0);
    /* Its address, but another name. */
    need(is_refused(netlab_reaches(PUB, 80, "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", PUB)));
    return 0;
}

static void names_are_rules(void **state)
{
    (void)state;
    set_policy("a.example *.wild.example", ALL, false);
    inside(by_name, NULL);
}

static int by_stated_name(void)
{
    static const char host[] = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";

    /* Wherever the client wanted to go: it arrives where the name is. */
    need(netlab_reaches("203.0.113.99", 80, host, PUB) == 0);
    need(netlab_reaches("2001:db8::99", 80, "GET / HTTP/1.1\r\nHost: v6.example\r\n\r\n", PUB6) ==
         0);
    need(is_refused(netlab_reaches("203.0.113.99", 8080, host, PUB)));
    need(is_refused(netlab_reaches("203.0.113.99", 80, "SSH-2.0-x\r\n", PUB)));
    need(is_refused(netlab_reaches("169.254.169.254", 80, host, PUB)));
    /* Names that lead to special addresses lead nowhere. */
    need(is_refused(
        netlab_reaches("203.0.113.99", 80, "GET / HTTP/1.1\r\nHost: meta.example\r\n\r\n", PUB)));
    need(is_refused(
        netlab_reaches("203.0.113.99", 80, "GET / HTTP/1.1\r\nHost: host.example\r\n\r\n", PUB)));
    return 0;
}

static void a_stated_name_is_resolved_by_us(void **state)
{
    (void)state;
    set_policy("a.example v6.example meta.example host.example", ALL, false);
    inside(by_stated_name, NULL);
}

static int names_are_served(void)
{
    static const char *const servers[] = {"127.0.0.1", "::1"};
    char text[64];

    for (int i = 0; i < 4; i++) {
        const char *server = servers[i % 2];
        bool is_tcp = i >= 2;
        need(netlab_resolve(server, is_tcp, "a.example", text) == DNS_OK);
        need(strcmp(text, PUB) == 0);
        need(netlab_resolve(server, is_tcp, "v6.example", text) == DNS_OK);
        need(strcmp(text, PUB6) == 0);
        need(netlab_resolve(server, is_tcp, "nowhere.example", text) == DNS_NO_SUCH_NAME);
        need(netlab_resolve(server, is_tcp, "spoof.example", text) == DNS_OK);
        need(strcmp(text, "203.0.113.30") == 0);
        need(netlab_resolve(server, is_tcp, "cut.example", text) == DNS_OK);
        need(strcmp(text, "203.0.113.40") == 0);
        need(netlab_resolve(server, is_tcp, "private.example", text) == DNS_OK);
        need(strcmp(text, "") == 0);
    }
    return 0;
}

static void dns_is_served_and_not_fooled(void **state)
{
    (void)state;
    inside(names_are_served, NULL);
}

static int flood_of_questions(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint8_t p[DNS_REPLY_MAX];
    struct dns_query q = {.id = 1, .type = 15, .name = "a.example"};
    struct dns_answer a;
    int n_refused = 0, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    need(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    for (int i = 0; i < EGRESS_DNS_BURST * 2; i++) {
        int len = dns_write_query(p, 1, STR("a.example"), 15);
        need(len > 0 && send(fd, p, (size_t)len, 0) == len);
        ssize_t n = recv(fd, p, sizeof p, 0);
        need(n > 0 && dns_read_answer(&a, &q, p, (size_t)n) == 0);
        n_refused += a.rcode == DNS_REFUSED;
    }
    need(n_refused > 0);
    return 0;
}

static void questions_are_limited(void **state)
{
    (void)state;
    inside(flood_of_questions, NULL);
}

static int keeps_connections(void)
{
    char line[64];
    auto_close int a = netlab_dial(PUB, 22), b = netlab_dial("203.0.113.11", 22);
    auto_close int c = netlab_dial(PUB6, 8080);

    need(a >= 0 && b >= 0 && c >= 0);
    need(netlab_read_line(a, line, sizeof line) == 0 &&
         netlab_read_line(b, line, sizeof line) == 0);
    need(netlab_read_line(c, line, sizeof line) == 0);
    netlab_ask(1);
    need(is_refused(netlab_read_line(a, line, sizeof line)));
    need(is_refused(netlab_read_line(c, line, sizeof line)));
    need(io_write_all(b, "still here\n", 11) == 0);
    need(netlab_read_line(b, line, sizeof line) == 0 && strcmp(line, "still here") == 0);
    need(is_refused(netlab_reaches(PUB, 22, NULL, PUB)));
    netlab_ask(2);
    need(is_refused(netlab_read_line(b, line, sizeof line)));
    return 0;
}

static void change_policy(int n)
{
    if (n == 1)
        set_policy("203.0.113.11", ALL, false);
    else
        egress_detach(take(cell));
}

static void a_new_policy_cuts_what_it_forbids(void **state)
{
    (void)state;
    inside(keeps_connections, change_policy);
}

/* ---- bytes ---- */

enum { BIG = 24 << 20 };

static int uploads(void)
{
    static uint8_t p[65536];
    char line[64], want[64];
    uint32_t sum = 0;
    auto_close int fd = netlab_dial(PUB, NETLAB_SUM);

    need(fd >= 0);
    for (uint64_t at = 0; at < BIG; at += sizeof p) {
        for (size_t i = 0; i < sizeof p; i++)
            p[i] = netlab_byte(at + i);
        sum = netlab_sum(sum, p, sizeof p);
        need(io_write_all(fd, p, sizeof p) == 0);
    }
    need(shutdown(fd, SHUT_WR) == 0); /* the answer comes after our end */
    need(netlab_read_line(fd, line, sizeof line) == 0);
    (void)snprintf(want, sizeof want, "%d %u", BIG, sum);
    need(strcmp(line, want) == 0);
    need(io_read(fd, line, 1) == 0);
    return 0;
}

static int downloads(void)
{
    static uint8_t p[65536];
    char line[64];
    uint64_t at = 0;
    auto_close int fd = netlab_dial(PUB6, NETLAB_FLOOD);

    need(fd >= 0);
    int len = snprintf(line, sizeof line, "%d\n", BIG);
    need(io_write_all(fd, line, (size_t)len) == 0);
    for (ssize_t n; (n = io_read(fd, p, sizeof p)) != 0; at += (uint64_t)n) {
        need(n > 0);
        for (size_t i = 0; i < (size_t)n; i++)
            need(p[i] == netlab_byte(at + i));
        if (at % 7 == 0)
            (void)usleep(2000); /* slower than the sender */
    }
    need(at == BIG);
    return 0;
}

static void big_transfers_arrive_whole(void **state)
{
    (void)state;
    inside(uploads, NULL);
    assert_int_equal(egress_cell_stats(cell)->bytes_out, BIG);
    inside(downloads, NULL);
    assert_true(egress_cell_stats(cell)->bytes_in > BIG);
    all_are_closed();
}

static int many(void)
{
    enum { N = 500 };
    static int fds[N];
    char line[64];

    for (int i = 0; i < N; i++) {
        fds[i] = netlab_dial(PUB, 22);
        need(fds[i] >= 0);
    }
    for (int i = 0; i < N; i++) {
        need(netlab_read_line(fds[i], line, sizeof line) == 0 && strcmp(line, PUB " 22") == 0);
        int len = snprintf(line, sizeof line, "number %d\n", i);
        need(io_write_all(fds[i], line, (size_t)len) == 0);
    }
    for (int i = 0; i < N; i++) {
        char want[64];
        (void)snprintf(want, sizeof want, "number %d", i);
        need(netlab_read_line(fds[i], line, sizeof line) == 0 && strcmp(line, want) == 0);
    }
    netlab_ask(1);
    return 0;
}

static void count_open(int n)
{
    (void)n;
    assert_int_equal(egress_cell_stats(cell)->n_open, 500);
}

static unsigned count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static void many_connections_at_once(void **state)
{
    unsigned before = count_fds();

    (void)state;
    inside(many, count_open);
    all_are_closed();
    assert_int_equal(egress_cell_stats(cell)->n_conns, 500);
    assert_int_equal(count_fds(), before);
}

static int too_many(void)
{
    static int fds[EGRESS_CONNS_MAX + 1];

    /* Nobody speaks: all stay open while the first bytes are awaited. */
    for (int i = 0; i <= EGRESS_CONNS_MAX; i++) {
        fds[i] = netlab_dial(PUB, 80);
        need(fds[i] >= 0);
    }
    need(is_refused((int)io_read(fds[EGRESS_CONNS_MAX], fds, 1)));
    return 0;
}

static void connections_are_limited(void **state)
{
    (void)state;
    set_policy("a.example", ALL, false);
    inside(too_many, NULL);
    assert_int_equal(egress_cell_stats(cell)->n_failed, 1);
}

/* ---- isolation ---- */

static int listen_inside(uint32_t addr, uint16_t port)
{
    struct sockaddr_in me = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(addr)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return bind(fd, (struct sockaddr *)&me, sizeof me) == 0 && listen(fd, 16) == 0 ? fd : -1;
}

static int own_services_work(void)
{
    int any = listen_inside(INADDR_ANY, 8080), local = listen_inside(INADDR_LOOPBACK, 3000);

    need(any >= 0 && local >= 0);
    auto_close int a = netlab_dial("127.0.0.1", 3000), b = netlab_dial("127.1.2.3", 8080);
    need(a >= 0 && b >= 0);
    auto_close int c = accept(local, NULL, NULL), d = accept(any, NULL, NULL);
    need(c >= 0 && d >= 0);
    /* A service on all addresses does not catch what leaves. */
    need(netlab_reaches(PUB, 8080, NULL, PUB) == 0);
    need(accept(any, NULL, NULL) < 0);
    return 0;
}

static void loopback_stays_inside(void **state)
{
    (void)state;
    inside(own_services_work, NULL);
}

static int reach_the_other(void)
{
    need(netlab_dial("127.0.0.1", 8080) == -ECONNREFUSED);
    need(netlab_reaches(PUB, 8080, NULL, PUB) == 0);
    need(netlab_dial("127.0.0.1", 80) == -ECONNREFUSED); /* nor a service of the host */
    return 0;
}

static int serve_and_wait(void)
{
    int fd = listen_inside(INADDR_ANY, 8080);

    need(fd >= 0);
    netlab_ask(1);
    need(accept(fd, NULL, NULL) < 0);
    return 0;
}

static void visit(int n)
{
    (void)n;
    assert_int_equal(netlab_inside(loop, other_netns, reach_the_other, NULL), 0);
}

static int try_vip(void)
{
    need(netlab_dial(NETLAB_VIP, 8080) >= 0); /* accepted here, reset afterwards */
    need(is_refused(netlab_reaches(NETLAB_VIP, 8080, NULL, NETLAB_VIP)));
    need(is_refused(netlab_reaches(NETLAB_VIP6, 8080, NULL, NETLAB_VIP6)));
    return 0;
}

static int reach_vip(void)
{
    auto_close int fd = netlab_dial(NETLAB_VIP, 8080);

    need(fd >= 0);
    return 0;
}

static void addresses_routed_to_the_host_are_denied(void **state)
{
    auto_close int service = listen_inside(INADDR_ANY, 8080);

    (void)state;
    assert_int_equal(netlab_inside(loop, -1, reach_vip, NULL), 0);
    close_p(&(int){accept(service, NULL, NULL)});
    inside(try_vip, NULL);
    assert_true(accept(service, NULL, NULL) < 0);
}

static void cells_do_not_reach_each_other(void **state)
{
    auto_close int host_service = listen_inside(INADDR_ANY, 80);

    (void)state;
    assert_true(host_service >= 0);
    inside(serve_and_wait, visit);
    assert_true(accept(host_service, NULL, NULL) < 0);
}

static int datagrams(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(0xcb00710a)};
    char text[64], c;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    need(connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && send(fd, "x", 1, 0) == 1);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    need(poll(&p, 1, 1000) == 1 && recv(fd, &c, 1, 0) < 0 && errno == ECONNREFUSED);
    need(netlab_resolve(NETLAB_DNS, false, "a.example", text) < 0);
    return 0;
}

static void datagrams_do_not_leave(void **state)
{
    (void)state;
    inside(datagrams, NULL);
}

/* Attaches and detaches once: a program that steers is kept for the next cell from then on. */
static void attach_once(void)
{
    struct netpolicy open = NETPOLICY_ALLOW_ALL;
    auto_close int ns = netlab_cell();

    egress_detach(egress_attach(egress, ns, &open, NULL));
}

static void everything_is_given_back(void **state)
{
    struct netpolicy open = NETPOLICY_ALLOW_ALL;
    struct err e = ERR_INIT;

    (void)state;
    attach_once();
    unsigned before = count_fds();
    for (int i = 0; i < 50; i++) {
        auto_close int ns = netlab_cell();
        struct egress_cell *c = egress_attach(egress, ns, &open, &e);
        assert_non_null(c);
        egress_detach(c);
        /* A restarted daemon attaches to the same namespace again. */
        c = egress_attach(egress, ns, &open, &e);
        assert_non_null(c);
        egress_detach(c);
    }
    assert_int_equal(count_fds(), before);
    assert_null(egress_attach(egress, 0, &open, &e));
}

static void failing_attaches_leave_nothing(void **state)
{
    static const enum fault_kind kinds[] = {FAULT_ALLOC, FAULT_IO};
    struct netpolicy p = policy_of(PUB, ALL, false);

    (void)state;
    attach_once();
    unsigned before = count_fds();
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        bool has_fired = true;
        for (unsigned nth = 1; has_fired; nth++) {
            struct err e = ERR_INIT;
            auto_close int ns = netlab_cell();
            fault_arm(kinds[k], nth);
            struct egress_cell *c = egress_attach(egress, ns, &p, &e);
            has_fired = fault_fired(kinds[k]);
            fault_arm(kinds[k], 0);
            assert_true(c || e.code < 0);
            egress_detach(c);
        }
    }
    assert_int_equal(count_fds(), before);
    netpolicy_done(&p);
}

static int some_of_all(void)
{
    char text[64];

    fault_arm(FAULT_ALLOC, 0);
    (void)netlab_resolve("127.0.0.1", false, "a.example", text);
    (void)netlab_resolve("127.0.0.1", true, "cut.example", text);
    (void)netlab_reaches("203.0.113.99", 80, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", PUB);
    (void)netlab_reaches(PUB, 22, NULL, PUB);
    return 0;
}

static int all_works(void)
{
    need(netlab_reaches("203.0.113.99", 80, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", PUB) == 0);
    return 0;
}

static void failing_memory_costs_a_connection_at_most(void **state)
{
    unsigned before = count_fds();
    bool has_fired = true;

    (void)state;
    set_policy("a.example cut.example", ALL, false);
    for (unsigned nth = 1; has_fired && nth < 100; nth++) {
        fault_arm(FAULT_ALLOC, nth);
        inside(some_of_all, NULL);
        has_fired = fault_fired(FAULT_ALLOC);
        fault_arm(FAULT_ALLOC, 0);
        inside(all_works, NULL);
    }
    assert_false(has_fired);
    all_are_closed();
    assert_int_equal(count_fds(), before);
}

int main(void)
{
    struct err e = ERR_INIT;

    if (geteuid() != 0 || netlab_open(&e) < 0) {
        (void)printf("1..0 # SKIP %s\n", e.code ? err_text(&e) : "needs root");
        return 0;
    }
#define T(name, set) cmocka_unit_test_setup_teardown(name, set, teardown)
    const struct CMUnitTest tests[] = {
        T(the_host_reaches_every_address, setup),
        T(special_and_own_addresses_are_denied, setup),
        T(the_operator_opens_networks, setup_opened),
        T(a_closed_cell_reaches_nothing, setup),
        T(networks_and_ports_are_rules, setup),
        T(names_are_rules, setup),
        T(a_stated_name_is_resolved_by_us, setup),
        T(dns_is_served_and_not_fooled, setup),
        T(questions_are_limited, setup),
        T(a_new_policy_cuts_what_it_forbids, setup),
        T(big_transfers_arrive_whole, setup),
        T(many_connections_at_once, setup),
        T(connections_are_limited, setup),
        T(loopback_stays_inside, setup),
        T(addresses_routed_to_the_host_are_denied, setup),
        T(cells_do_not_reach_each_other, setup_two),
        T(datagrams_do_not_leave, setup),
        T(special_and_own_addresses_are_denied, setup_redirect),
        T(networks_and_ports_are_rules, setup_redirect),
        T(a_stated_name_is_resolved_by_us, setup_redirect),
        T(a_new_policy_cuts_what_it_forbids, setup_redirect),
        T(big_transfers_arrive_whole, setup_redirect),
        T(loopback_stays_inside, setup_redirect),
        T(everything_is_given_back, setup_redirect),
        T(everything_is_given_back, setup),
        T(failing_attaches_leave_nothing, setup),
        T(failing_memory_costs_a_connection_at_most, setup),
    };
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    netlab_close();
    return r;
}
