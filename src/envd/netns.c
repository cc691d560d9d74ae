/* SPDX-License-Identifier: MIT */
/* Network namespaces for cells. They are made in the host's user namespace, ahead of demand since
 * making one takes longer than all other namespaces together, and so the cell's root has no rights
 * over them: no addresses, routes, sysctls or firewall of its own. */
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

static int write_sysctl(const char *path, const char *value)
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
    r = write_sysctl("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    if (r < 0)
        return r;
    /* Pings without raw sockets, for every group of the cell. */
    (void)write_sysctl("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
    return io_open("/proc/thread-self/ns/net", O_RDONLY, 0);
}

static int make(struct spawner *s)
{
    if (unshare(CLONE_NEWNET) < 0)
        return -errno;
    int fd = furnish();
    if (setns(s->home_netns_fd, CLONE_NEWNET) == 0)
        return fd;
    int r = -errno;
    if (fd >= 0)
        (void)close(fd);
    return r;
}

int netns_take(struct spawner *s, struct err *e)
{
    if (s->n_netns > 0)
        return s->netns_pool[--s->n_netns];
    int fd = make(s);
    return fd < 0 ? err_sys(e, fd, "network namespace") : fd;
}

bool netns_refill(struct spawner *s)
{
    if (s->n_netns == SPAWNER_NETNS_POOL)
        return false;
    int fd = make(s);
    if (fd < 0)
        return false;
    s->netns_pool[s->n_netns++] = fd;
    return true;
}
