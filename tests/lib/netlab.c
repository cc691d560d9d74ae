/* SPDX-License-Identifier: MIT */
/* A small internet for tests. See netlab.h. */
#include "netlab.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/dns.h"
#include "sys/io.h"

static pid_t internet_pid;
static int home_fd = -1;
static int ask_fds[2] = {-1, -1}; /* in a child: to ask, to hear that it is done */

/* Names of the internet's DNS server. */
static const struct {
    const char *name, *addr;
} zone[] = {
    {"a.example", "203.0.113.10"},      {"b.example", "203.0.113.11"},
    {"x.wild.example", "203.0.113.20"}, {"y.x.wild.example", "203.0.113.21"},
    {"wild.example", "203.0.113.22"},   {"meta.example", "169.254.169.254"},
    {"private.example", "10.1.2.3"},    {"host.example", NETLAB_HOST},
    {"v6.example", "2001:db8::10"},     {"spoof.example", "203.0.113.30"},
    {"cut.example", "203.0.113.40"},
};

/* ---- the internet's servers ---- */

uint8_t netlab_byte(uint64_t at)
{
    return (uint8_t)((at * 2654435761U) >> 13 ^ at >> 7);
}

uint32_t netlab_sum(uint32_t sum, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ p[i]) * 16777619U;
    return sum;
}

static void serve_sum(int fd)
{
    uint8_t p[16384];
    char line[64];
    uint64_t count = 0;
    uint32_t sum = 0;

    for (ssize_t n; (n = io_read(fd, p, sizeof p)) > 0; count += (uint64_t)n)
        sum = netlab_sum(sum, p, (size_t)n);
    int len = snprintf(line, sizeof line, "%llu %u\n", (unsigned long long)count, sum);
    (void)io_write_all(fd, line, (size_t)len);
}

static void serve_flood(int fd)
{
    char line[64];
    uint8_t p[16384];

    if (netlab_read_line(fd, line, sizeof line) < 0)
        return;
    uint64_t n = strtoull(line, NULL, 10), at = 0;
    while (at < n) {
        size_t len = n - at < sizeof p ? (size_t)(n - at) : sizeof p;
        for (size_t i = 0; i < len; i++)
            p[i] = netlab_byte(at + i);
        if (io_write_all(fd, p, len) < 0)
            return;
        at += len;
    }
}

static void serve_echo(int fd, const struct netaddr *addr, uint16_t port)
{
    char text[NETADDR_TEXT_MAX], line[64];
    uint8_t p[4096];

    netaddr_format(text, addr);
    int len = snprintf(line, sizeof line, "%s %u\n", text, port);
    (void)io_write_all(fd, line, (size_t)len);
    for (ssize_t n; (n = io_read(fd, p, sizeof p)) > 0;)
        if (io_write_all(fd, p, (size_t)n) < 0)
            return;
}

static struct dns_answer look_up(const struct dns_query *q)
{
    struct dns_answer a = {.rcode = DNS_NO_SUCH_NAME, .ttl_s = 30};

    for (size_t i = 0; i < ARRAY_LEN(zone); i++) {
        struct netaddr addr;
        if (strcmp(zone[i].name, q->name) != 0)
            continue;
        (void)netaddr_parse(&addr, str_of(zone[i].addr));
        a.rcode = DNS_OK;
        if (netaddr_is_v4(&addr) == (q->type == DNS_TYPE_A))
            a.addrs[a.n_addrs++] = addr;
    }
    return a;
}

static void serve_dns_tcp(int fd)
{
    uint8_t p[2 + DNS_MESSAGE_MAX];
    struct dns_query q;

    ssize_t n = io_read(fd, p, sizeof p);
    if (n < 2 || dns_read_query(&q, p + 2, (size_t)n - 2) != DNS_OK)
        return;
    struct dns_answer a = look_up(&q);
    size_t len = dns_write_answer(p + 2, &q, &a, DNS_REPLY_MAX);
    p[0] = (uint8_t)(len >> 8);
    p[1] = (uint8_t)len;
    (void)io_write_all(fd, p, len + 2);
}

/* What somebody sends who wants to be believed: wrong id, wrong name, the right answer from a
 * wrong port; all with the address 6.6.6.6. */
static void send_forgeries(int fd, const struct dns_query *q, const struct sockaddr *to,
                           socklen_t to_len)
{
    uint8_t p[DNS_REPLY_MAX];
    struct dns_query lie = *q;
    struct dns_answer a = {.ttl_s = 30, .n_addrs = 1, .addrs = {netaddr_v4(0x06060606)}};
    auto_close int other = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    (void)sendto(other, p, dns_write_answer(p, &lie, &a, 512), 0, to, to_len);
    lie.id ^= 0x0101;
    (void)sendto(fd, p, dns_write_answer(p, &lie, &a, 512), 0, to, to_len);
    lie = *q;
    (void)snprintf(lie.name, sizeof lie.name, "other.example");
    (void)sendto(fd, p, dns_write_answer(p, &lie, &a, 512), 0, to, to_len);
    (void)sendto(fd, "\0\0", 2, 0, to, to_len);
}

static void *serve_dns_udp(void *arg)
{
    struct sockaddr_in6 me = {.sin6_family = AF_INET6, .sin6_port = htons(53)}, peer;
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint8_t p[DNS_MESSAGE_MAX];

    if (bind(fd, (struct sockaddr *)&me, sizeof me) < 0)
        abort();
    (void)arg;
    for (;;) {
        struct dns_query q;
        socklen_t len = sizeof peer;
        ssize_t n = recvfrom(fd, p, sizeof p, 0, (struct sockaddr *)&peer, &len);
        if (n < 0 || dns_read_query(&q, p, (size_t)n) != DNS_OK)
            continue;
        struct dns_answer a = look_up(&q);
        if (strcmp(q.name, "spoof.example") == 0)
            send_forgeries(fd, &q, (struct sockaddr *)&peer, len);
        size_t out = dns_write_answer(p, &q, &a, 512);
        if (strcmp(q.name, "cut.example") == 0)
            p[2] |= 0x02;
        if (strcmp(q.name, "dead.example") != 0)
            (void)sendto(fd, p, out, 0, (struct sockaddr *)&peer, len);
    }
    return NULL;
}

static void *serve_conn(void *arg)
{
    auto_close int fd = (int)(intptr_t)arg;
    struct sockaddr_storage sa;
    socklen_t len = sizeof sa;
    struct netaddr addr;
    uint16_t port;

    if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0 ||
        netaddr_from_sockaddr(&addr, &port, (struct sockaddr *)&sa) < 0)
        return NULL;
    if (port == 53)
        serve_dns_tcp(fd);
    else if (port == NETLAB_SUM)
        serve_sum(fd);
    else if (port == NETLAB_FLOOD)
        serve_flood(fd);
    else
        serve_echo(fd, &addr, port);
    return NULL;
}

static int start_thread(void *(*fn)(void *), void *arg)
{
    pthread_attr_t attr;
    pthread_t t;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, 256 << 10);
    return -pthread_create(&t, &attr, fn, arg);
}

static int listen_on(uint16_t port)
{
    struct sockaddr_in6 me = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof me) < 0 || listen(fd, 1024) < 0)
        abort();
    return fd;
}

static _Noreturn void serve(int ready_fd)
{
    static const uint16_t ports[] = {22, 53, 80, 443, 8080, NETLAB_SUM, NETLAB_FLOOD};
    struct pollfd fds[ARRAY_LEN(ports)];

    for (size_t i = 0; i < ARRAY_LEN(ports); i++)
        fds[i] = (struct pollfd){.fd = listen_on(ports[i]), .events = POLLIN};
    if (start_thread(serve_dns_udp, NULL) < 0 || write(ready_fd, "r", 1) != 1)
        abort();
    for (;;) {
        if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
            abort();
        for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
            int fd = fds[i].revents ? accept4(fds[i].fd, NULL, NULL, SOCK_CLOEXEC) : -1;
            if (fd >= 0 && start_thread(serve_conn, (void *)(intptr_t)fd) < 0)
                (void)close(fd);
        }
    }
}

/* ---- the world ---- */

/* ip -batch with these lines. */
static int run_ip(const char *lines)
{
    int pipe_fds[2], status;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(pipe_fds[0], 0);
        (void)execlp("ip", "ip", "-batch", "-", NULL);
        _exit(127);
    }
    (void)close(pipe_fds[0]);
    int r = pid < 0 ? -errno : io_write_all(pipe_fds[1], lines, strlen(lines));
    (void)close(pipe_fds[1]);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -ECHILD;
    return r == 0 && status == 0 ? 0 : -ENOEXEC;
}

static _Noreturn void internet(int ready_fd, int go_fd)
{
    char c;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGPIPE, SIG_IGN);
    if (unshare(CLONE_NEWNET) < 0 || write(ready_fd, "u", 1) != 1 || read(go_fd, &c, 1) != 1)
        _exit(1);
    /* Everything is local, except for the way back. */
    if (run_ip("link set lo up\n"
               "addr add 198.51.100.2/24 dev v1\n"
               "addr add 2001:db8:1::2/64 dev v1 nodad\n"
               "link set v1 up\n"
               "route add local 0.0.0.0/0 dev lo table main\n"
               "route add local ::/0 dev lo table main\n") < 0)
        _exit(1);
    serve(ready_fd);
}

static int link_host(void)
{
    char lines[512];

    (void)snprintf(lines, sizeof lines,
                   "link set lo up\n"
                   "link add v0 type veth peer name v1 netns %d\n"
                   "addr add 198.51.100.1/24 dev v0\n"
                   "addr add 2001:db8:1::1/64 dev v0 nodad\n"
                   "link set v0 up\n"
                   "route add default via 198.51.100.2\n"
                   "route add ::/0 via 2001:db8:1::2\n"
                   "route add local " NETLAB_VIP " dev lo table local\n"
                   "route add local " NETLAB_VIP6 " dev lo table local\n",
                   (int)internet_pid);
    return run_ip(lines);
}

int netlab_open(struct err *e)
{
    int ready[2], go[2];
    char c;
    struct rlimit files = {65536, 65536};

    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)signal(SIGPIPE, SIG_IGN);
    if (unshare(CLONE_NEWNET) < 0 || pipe2(ready, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
        return err_sys(e, -errno, "make a network namespace");
    home_fd = io_open("/proc/thread-self/ns/net", O_RDONLY, 0);
    internet_pid = fork();
    if (internet_pid == 0)
        internet(ready[1], go[0]);
    (void)close(ready[1]);
    (void)close(go[0]);
    int r = read(ready[0], &c, 1) == 1 ? link_host() : -EPERM;
    if (r == 0 && (write(go[1], "g", 1) != 1 || read(ready[0], &c, 1) != 1))
        r = -ENETDOWN;
    (void)close(ready[0]);
    (void)close(go[1]);
    if (r < 0)
        netlab_close();
    return r < 0 ? err_sys(e, r, "make a small internet") : 0;
}

void netlab_close(void)
{
    if (internet_pid > 0) {
        (void)kill(internet_pid, SIGKILL);
        (void)waitpid(internet_pid, NULL, 0);
    }
    internet_pid = 0;
}

int netlab_cell(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};

    if (unshare(CLONE_NEWNET) < 0)
        return -errno;
    auto_close int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ioctl(s, SIOCSIFFLAGS, &lo) < 0)
        abort();
    int fd = io_open("/proc/thread-self/ns/net", O_RDONLY, 0);
    if (setns(home_fd, CLONE_NEWNET) < 0)
        abort();
    return fd;
}

/* ---- children ---- */

void netlab_ask(int n)
{
    char c = (char)n;

    if (write(ask_fds[1], &c, 1) != 1 || read(ask_fds[0], &c, 1) != 1)
        _exit(255);
}

int netlab_inside(struct loop *l, int netns_fd, int (*fn)(void), void (*on_ask)(int n))
{
    int up[2], down[2], status = 0;
    char c;

    if (pipe2(up, O_CLOEXEC | O_NONBLOCK) < 0 || pipe2(down, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)alarm(60);
        ask_fds[0] = down[0];
        ask_fds[1] = up[1];
        if (netns_fd >= 0 && setns(netns_fd, CLONE_NEWNET) < 0)
            _exit(254);
        int line = fn();
        /* The line is too large for a status: it goes through the pipe. */
        if (line != 0)
            (void)dprintf(2, "# a check inside failed at line %d\n", line);
        _exit(line != 0);
    }
    while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
        (void)loop_run_once(l, 5);
        if (read(up[0], &c, 1) != 1)
            continue;
        if (on_ask)
            on_ask(c);
        if (write(down[1], "d", 1) != 1)
            abort();
    }
    for (int i = 0; i < 2; i++) {
        (void)close(up[i]);
        (void)close(down[i]);
    }
    return pid < 0 ? -ECHILD : status;
}

/* ---- clients ---- */

int netlab_dial(const char *addr, uint16_t port)
{
    const struct timeval limit = {.tv_sec = 10};
    struct sockaddr_storage sa;
    struct netaddr a;

    if (netaddr_parse(&a, str_of(addr)) < 0)
        return -EINVAL;
    socklen_t len = netaddr_to_sockaddr(&sa, &a, port);
    auto_close int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
        connect(fd, (struct sockaddr *)&sa, len) < 0)
        return -errno;
    return take_fd(fd);
}

int netlab_read_line(int fd, char *out, size_t max)
{
    for (size_t len = 0; len < max; len++) {
        ssize_t n = io_read(fd, &out[len], 1);
        if (n <= 0)
            return n < 0 ? (int)n : -EPIPE;
        if (out[len] == '\n') {
            out[len] = '\0';
            return 0;
        }
    }
    return -EMSGSIZE;
}

int netlab_reaches(const char *addr, uint16_t port, const char *say, const char *want)
{
    char line[128], expected[128];
    auto_close int fd = netlab_dial(addr, port);

    if (fd < 0)
        return fd;
    if (say && io_write_all(fd, say, strlen(say)) < 0)
        return -EPIPE;
    int r = netlab_read_line(fd, line, sizeof line);
    if (r < 0)
        return r;
    (void)snprintf(expected, sizeof expected, "%s %u", want, port);
    return strcmp(line, expected) == 0 ? 0 : -EBADMSG;
}

static ssize_t exchange(int fd, bool is_tcp, uint8_t *p, size_t len)
{
    if (!is_tcp)
        return send(fd, p + 2, len, 0) < 0 ? -errno : recv(fd, p + 2, DNS_REPLY_MAX, 0);
    p[0] = (uint8_t)(len >> 8);
    p[1] = (uint8_t)len;
    if (io_write_all(fd, p, len + 2) < 0)
        return -EPIPE;
    ssize_t n = io_read(fd, p, DNS_REPLY_MAX);
    return n < 2 ? -EPIPE : n - 2;
}

static int ask_dns(int fd, bool is_tcp, struct dns_query *q, struct dns_answer *ret)
{
    uint8_t p[2 + DNS_REPLY_MAX];
    int len = dns_write_query(p + 2, q->id, str_of(q->name), q->type);

    if (len < 0)
        return len;
    ssize_t n = exchange(fd, is_tcp, p, (size_t)len);
    if (n < 0)
        return n == -1 ? -errno : (int)n;
    return dns_read_answer(ret, q, p + 2, (size_t)n);
}

int netlab_resolve(const char *server, bool is_tcp, const char *name, char out[64])
{
    const struct timeval limit = {.tv_sec = 12};
    struct dns_query q = {.id = 4711, .type = DNS_TYPE_A};
    struct sockaddr_storage sa;
    struct netaddr addr;
    struct dns_answer a = {0};

    if (netaddr_parse(&addr, str_of(server)) < 0)
        return -EINVAL;
    socklen_t len = netaddr_to_sockaddr(&sa, &addr, 53);
    auto_close int fd = socket(sa.ss_family, is_tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&sa, len) < 0)
        return -errno;
    (void)snprintf(q.name, sizeof q.name, "%s", name);
    int r = ask_dns(fd, is_tcp, &q, &a);
    if (r == 0 && a.rcode == DNS_OK && a.n_addrs == 0) {
        q.type = DNS_TYPE_AAAA;
        r = ask_dns(fd, is_tcp, &q, &a);
    }
    out[0] = '\0';
    if (r == 0 && a.n_addrs > 0)
        netaddr_format(out, &a.addrs[0]);
    return r < 0 ? r : (int)a.rcode;
}
