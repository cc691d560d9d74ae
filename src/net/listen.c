/* SPDX-License-Identifier: MIT */
/* Listening sockets by address text: see listen.h. */
#include "net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un un;
};

static int parse_listen_port(struct str s, in_port_t *ret)
{
    uint64_t port;

    if (str_to_u64(s, &port) < 0 || port > 65535)
        return -EINVAL;
    *ret = htons((uint16_t)port);
    return 0;
}

static int parse_unix(struct str path, union address *ret, socklen_t *ret_len)
{
    if (path.len == 0 || path.len >= sizeof ret->un.sun_path)
        return -ENAMETOOLONG;
    ret->un = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret->un.sun_path, path.p, path.len);
    *ret_len = sizeof ret->un;
    /* No file: a name of the network namespace, which ends where the address does. */
    if (path.p[0] == '@') {
        ret->un.sun_path[0] = '\0';
        *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.len);
    }
    return 0;
}

/* "host:port", the host an IPv4 address, "localhost", "[IPv6]" or "*". */
static int parse_inet(struct str text, union address *ret, socklen_t *ret_len)
{
    size_t colon = text.len;
    char host[INET6_ADDRSTRLEN];
    in_port_t port;

    while (colon > 0 && text.p[colon - 1] != ':')
        colon--;
    if (colon == 0 || parse_listen_port(str_skip(text, colon), &port) < 0)
        return -EINVAL;
    struct str name = str_n(text.p, colon - 1);
    if (str_is(name, "localhost"))
        name = STR("127.0.0.1");
    if (str_is(name, "*"))
        name = STR("0.0.0.0");
    bool is_v6 = name.len > 2 && name.p[0] == '[' && name.p[name.len - 1] == ']';
    if (is_v6)
        name = str_slice(name, 1, name.len - 1);
    if (name.len >= sizeof host)
        return -EINVAL;
    memcpy(host, name.p, name.len);
    host[name.len] = '\0';
    if (is_v6) {
        ret->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
        *ret_len = sizeof ret->v6;
        return inet_pton(AF_INET6, host, &ret->v6.sin6_addr) == 1 ? 0 : -EINVAL;
    }
    ret->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
    *ret_len = sizeof ret->v4;
    return inet_pton(AF_INET, host, &ret->v4.sin_addr) == 1 ? 0 : -EINVAL;
}

/* A socket file that nobody listens on is left over from a program that was killed. */
static bool remove_stale(const union address *a, socklen_t len)
{
    if (a->any.sa_family != AF_UNIX)
        return false;
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, &a->any, len) == 0 || errno != ECONNREFUSED)
        return false;
    return unlink(a->un.sun_path) == 0;
}

static int bind_and_listen(int fd, const union address *a, socklen_t len, bool reuseport)
{
    const int one = 1;

    if (a->any.sa_family != AF_UNIX) {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (reuseport && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) < 0)
            return -errno;
    }
    int r = bind(fd, &a->any, len) < 0 ? -errno : 0;
    if (r == -EADDRINUSE && remove_stale(a, len))
        r = bind(fd, &a->any, len) < 0 ? -errno : 0;
    if (r < 0)
        return r;
    return listen(fd, SOMAXCONN) < 0 ? -errno : 0;
}

int http_listen(const char *address, bool reuseport, struct err *e)
{
    struct str text = str_of(address);
    union address a;
    socklen_t len = 0;
    int r = str_starts(text, STR("unix:")) ? parse_unix(str_skip(text, 5), &a, &len)
                                           : parse_inet(text, &a, &len);

    if (r < 0)
        return err_sys(e, r, "address '%s'", address);
    auto_close int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_sys(e, -errno, "listen on '%s'", address);
    r = bind_and_listen(fd, &a, len, reuseport);
    if (r < 0)
        return err_sys(e, r, "listen on '%s'", address);
    return take_fd(fd);
}

int http_listen_port(int fd)
{
    union address a = {0};
    socklen_t len = sizeof a;

    if (getsockname(fd, &a.any, &len) < 0)
        return -errno;
    if (a.any.sa_family == AF_INET)
        return ntohs(a.v4.sin_port);
    return a.any.sa_family == AF_INET6 ? ntohs(a.v6.sin6_port) : -EAFNOSUPPORT;
}
