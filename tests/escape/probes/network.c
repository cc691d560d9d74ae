/* SPDX-License-Identifier: MIT */
/* Probes for the network: the host, other cells, metadata services, anything outside. A cell has no
 * route, so no packet can leave even when a probe gets through to a socket. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "probe.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool can_connect(const char *address, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)inet_pton(AF_INET, address, &a.sin_addr);
    return fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
}

static bool can_connect6(const char *address, int port)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);

    (void)inet_pton(AF_INET6, address, &a.sin6_addr);
    return fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
}

static bool can_connect_abstract(const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t len = strlen(name);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    memcpy(a.sun_path + 1, name, len);
    return fd >= 0 && connect(fd, (struct sockaddr *)&a,
                              (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) == 0;
}

static bool host_port(void)
{
    return can_connect("127.0.0.1", target.host_port);
}

static bool sibling_port(void)
{
    return can_connect("127.0.0.1", target.sibling_port) ||
           can_connect6("::1", target.sibling_port);
}

static bool host_abstract(void)
{
    return can_connect_abstract(target.host_socket);
}

static bool sibling_abstract(void)
{
    return can_connect_abstract(target.sibling_socket);
}

static bool metadata(void)
{
    return can_connect("169.254.169.254", 80) || can_connect6("fd00:ec2::254", 80);
}

static bool private_ranges(void)
{
    return can_connect("10.0.0.1", 22) || can_connect("172.17.0.1", 22) ||
           can_connect("192.168.0.1", 22) || can_connect("100.64.0.1", 22);
}

/* Addresses for documentation: nobody's. */
static bool outside4(void)
{
    return can_connect("192.0.2.1", 80) || can_connect("198.51.100.1", 443);
}

static bool outside6(void)
{
    return can_connect6("2001:db8::1", 80) || can_connect6("fe80::1", 80);
}

static bool send_datagram(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(53)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    (void)inet_pton(AF_INET, "192.0.2.1", &a.sin_addr);
    return fd >= 0 && sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof a) == 1;
}

static bool broadcast(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9)};
    int on = 1, fd = socket(AF_INET, SOCK_DGRAM, 0);

    a.sin_addr.s_addr = htonl(INADDR_BROADCAST);
    (void)setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    return fd >= 0 && sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof a) == 1;
}

static bool more_interfaces(void)
{
    struct if_nameindex *list = if_nameindex();
    unsigned n = 0;

    for (struct if_nameindex *i = list; i && i->if_index; i++)
        n++;
    return n != 1;
}

static bool lower_loopback(void)
{
    struct ifreq req = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    return fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &req) == 0;
}

/* Sends a netlink request and returns the kernel's error. */
static int netlink(struct nlmsghdr *h)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    char answer[512];
    int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

    h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
    if (fd < 0 || sendto(fd, h, h->nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0 ||
        recv(fd, answer, sizeof answer, 0) < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)))
        return -EPERM;
    const struct nlmsghdr *reply = (const void *)answer;
    return reply->nlmsg_type == NLMSG_ERROR ? ((const struct nlmsgerr *)NLMSG_DATA(reply))->error
                                            : 0;
}

static bool add_address(void)
{
    struct {
        struct nlmsghdr h;
        struct ifaddrmsg m;
        struct rtattr a;
        uint32_t address;
    } q = {.h = {.nlmsg_len = sizeof q, .nlmsg_type = RTM_NEWADDR},
           .m = {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1},
           .a = {.rta_len = 8, .rta_type = IFA_LOCAL},
           .address = htonl(0xC0000205)};

    return netlink(&q.h) == 0;
}

static bool add_route(void)
{
    struct {
        struct nlmsghdr h;
        struct rtmsg m;
        struct rtattr a;
        uint32_t index;
    } q = {.h = {.nlmsg_len = sizeof q, .nlmsg_type = RTM_NEWROUTE},
           .m = {.rtm_family = AF_INET,
                 .rtm_table = RT_TABLE_MAIN,
                 .rtm_protocol = RTPROT_BOOT,
                 .rtm_scope = RT_SCOPE_LINK,
                 .rtm_type = RTN_UNICAST},
           .a = {.rta_len = 8, .rta_type = RTA_OIF},
           .index = 1};

    return netlink(&q.h) == 0;
}

static bool add_link(void)
{
    struct {
        struct nlmsghdr h;
        struct ifinfomsg m;
        struct rtattr info;
        struct rtattr kind;
        char name[8];
    } q = {.h = {.nlmsg_len = sizeof q, .nlmsg_type = RTM_NEWLINK},
           .info = {.rta_len = 16, .rta_type = IFLA_LINKINFO},
           .kind = {.rta_len = 12, .rta_type = 1},
           .name = "dummy"};

    return netlink(&q.h) == 0;
}

static bool transparent(void)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    return setsockopt(fd, IPPROTO_IP, 19, &on, sizeof on) == 0;
}

static bool mark(void)
{
    int value = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    return setsockopt(fd, SOL_SOCKET, SO_MARK, &value, sizeof value) == 0;
}

static bool force_buffer(void)
{
    int value = 1 << 28, fd = socket(AF_INET, SOCK_STREAM, 0);

    return setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &value, sizeof value) == 0;
}

static bool firewall(void)
{
    char table[1024] = "filter";
    socklen_t len = sizeof table;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    /* IPT_SO_GET_INFO */
    return getsockopt(fd, IPPROTO_IP, 64, table, &len) == 0;
}

static const struct probe network[] = {
    {"a service on the host's loopback", host_port},
    {"a service of another cell", sibling_port},
    {"an abstract socket of the host", host_abstract},
    {"an abstract socket of another cell", sibling_abstract},
    {"metadata services", metadata},
    {"private ranges", private_ranges},
    {"the outside, version 4", outside4},
    {"the outside, version 6", outside6},
    {"datagrams", send_datagram},
    {"broadcast", broadcast},
    {"more than loopback", more_interfaces},
    {"taking loopback down", lower_loopback},
    {"a new address", add_address},
    {"a new route", add_route},
    {"a new link", add_link},
    {"transparent sockets", transparent},
    {"packet marks", mark},
    {"forced buffers", force_buffer},
    {"the firewall", firewall},
};
const struct probe_group probes_network = {"network", network, COUNT(network)};
