/* SPDX-License-Identifier: MIT */
/* Routes that make every address local. See anyip.h. */
#include "runtime/anyip.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/io.h"

struct route_request {
    struct nlmsghdr head;
    struct rtmsg route;
    struct rtattr oif_head;
    uint32_t oif;
};

struct route_answer {
    struct nlmsghdr head;
    struct nlmsgerr error;
    char rest[256]; /* the request again, and perhaps words of the kernel */
};

/* `ip route replace local default dev lo`: 0 or -errno. */
static int add_anyip_route(int fd, unsigned char family)
{
    struct route_request q = {
        .head = {.nlmsg_len = sizeof q,
                 .nlmsg_type = RTM_NEWROUTE,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE},
        .route = {.rtm_family = family,
                  .rtm_table = RT_TABLE_LOCAL,
                  .rtm_protocol = RTPROT_STATIC,
                  .rtm_scope = family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
                  .rtm_type = RTN_LOCAL},
        .oif_head = {.rta_len = RTA_LENGTH(sizeof q.oif), .rta_type = RTA_OIF},
        .oif = if_nametoindex("lo"),
    };
    struct route_answer a;

    if (send(fd, &q, sizeof q, 0) < 0)
        return -errno;
    ssize_t n = recv(fd, &a, sizeof a, 0);
    if (n < 0)
        return -errno;
    if ((size_t)n < sizeof a.head + sizeof a.error || a.head.nlmsg_type != NLMSG_ERROR)
        return -EPROTO;
    return a.error.error;
}

static int write_anyip_sysctl(const char *path, const char *value)
{
    auto_close int fd = io_open(path, O_WRONLY, 0);

    return fd < 0 ? fd : io_write_all(fd, value, strlen(value));
}

int anyip_set_up(struct err *e)
{
    auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd < 0)
        return err_sys(e, -errno, "routing socket");
    int r = add_anyip_route(fd, AF_INET);
    if (r < 0)
        return err_sys(e, r, "route of IPv4");
    r = add_anyip_route(fd, AF_INET6);
    if (r < 0 && r != -EOPNOTSUPP && r != -EAFNOSUPPORT && r != -EACCES && r != -ENODEV)
        return err_sys(e, r, "route of IPv6");
    /* Otherwise the whole internet would seem to answer pings. */
    (void)write_anyip_sysctl("/proc/sys/net/ipv4/icmp_echo_ignore_all", "1");
    (void)write_anyip_sysctl("/proc/sys/net/ipv6/icmp/echo_ignore_all", "1");
    return 0;
}
