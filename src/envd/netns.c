/* SPDX-License-Identifier: MIT */
/* Network namespaces for cells. They are made in the host's user namespace, ahead of demand since
 * making one takes longer than all other namespaces together, and so the cell's root has no rights
 * over them: no addresses, routes, sysctls or firewall of its own. That is why one which nothing
 * ever went through is as good as new when its cell is gone: the next cell gets it. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "envd/spawner.h"
#include "sys/io.h"

static int write_netns_sysctl(const char *path, const char *value)
{
    auto_close int fd = io_open(path, O_WRONLY, 0);

    return fd < 0 ? fd : io_write_all(fd, value, strlen(value));
}

static int raise_loopback(void)
{
    struct ifreq req = {.ifr_name = "lo"};
    auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    req.ifr_flags = IFF_UP | IFF_RUNNING;
    return ioctl(fd, SIOCSIFFLAGS, &req) < 0 ? -errno : 0;
}

/* In the new namespace: sets it up and returns a descriptor of it. */
static int furnish(void)
{
    int r = raise_loopback();

    if (r < 0)
        return r;
    /* Nobody has capabilities here, so every port is for everybody. */
    r = write_netns_sysctl("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    if (r < 0)
        return r;
    /* Pings without raw sockets, for every group of the cell. */
    (void)write_netns_sysctl("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
    return io_open("/proc/thread-self/ns/net", O_RDONLY, 0);
}

/* Back to the host's network. A spawner that cannot return would do everything else inside. */
static void go_home(const struct spawner *s)
{
    if (setns(s->home_netns_fd, CLONE_NEWNET) < 0)
        _exit(1);
}

static int make_netns(struct spawner *s)
{
    if (unshare(CLONE_NEWNET) < 0)
        return -errno;
    int fd = furnish();
    go_home(s);
    return fd;
}

/* ---- used ones ---- */

enum { COUNTERS_MAX = 16384 };

/* Everything that the kernel counts in the namespace that this thread is in, as text. */
static size_t read_counters(char ret[static COUNTERS_MAX])
{
    static const char *const files[] = {"/proc/thread-self/net/dev", "/proc/thread-self/net/snmp",
                                        "/proc/thread-self/net/snmp6"};
    size_t len = 0;

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        auto_close int fd = io_open(files[i], O_RDONLY, 0);
        ssize_t n;
        while (fd >= 0 && (n = io_read(fd, ret + len, COUNTERS_MAX - len)) > 0)
            len += (size_t)n;
    }
    return len;
}

/* No packet and no attempt at one is left in the books: what else could a cell have changed? Its
 * sockets are gone with its processes, addresses and settings were never its own. */
static bool is_unused(const struct spawner *s, int fd)
{
    static char first[COUNTERS_MAX], now[COUNTERS_MAX];
    static size_t n_first;

    if (n_first == 0) {
        if (unshare(CLONE_NEWNET) < 0)
            return false;
        if (raise_loopback() == 0)
            n_first = read_counters(first);
        go_home(s);
    }
    if (setns(fd, CLONE_NEWNET) < 0)
        return false;
    size_t n = read_counters(now);
    go_home(s);
    return n > 0 && n < COUNTERS_MAX && n == n_first && memcmp(first, now, n) == 0;
}

void netns_give_back(struct spawner *s, int fd)
{
    if (fd < 0)
        return;
    if (s->n_netns < SPAWNER_NETNS_POOL && is_unused(s, fd))
        s->netns_pool[s->n_netns++] = fd;
    else
        (void)close(fd);
}

int netns_take(struct spawner *s, struct err *e)
{
    if (s->n_netns > 0)
        return s->netns_pool[--s->n_netns];
    int fd = make_netns(s);
    return fd < 0 ? err_sys(e, fd, "network namespace") : fd;
}

bool netns_refill(struct spawner *s)
{
    if (s->n_netns == SPAWNER_NETNS_AHEAD)
        return false;
    if (s->n_netns > SPAWNER_NETNS_AHEAD) {
        (void)close(s->netns_pool[--s->n_netns]);
        return true;
    }
    int fd = make_netns(s);
    if (fd < 0)
        return false;
    s->netns_pool[s->n_netns++] = fd;
    return true;
}
