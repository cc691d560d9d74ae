/* SPDX-License-Identifier: MIT */
/* Connecting to an address: see http_client.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "net/http_client.h"

/* Socket and connect(2), which may still be under way on success. */
static int start_connect(const struct sockaddr *sa, socklen_t len, struct err *e)
{
    if (fault_hit(FAULT_IO))
        return err_sys(e, -EIO, "connect");
    auto_close int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_sys(e, -errno, "socket");
    if (sa->sa_family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(fd, sa, len) < 0 && errno != EINPROGRESS && errno != EINTR)
        return err_sys(e, -errno, "connect");
    return take_fd(fd);
}

static int dial_unix(const char *path, struct err *e)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    size_t len = strlen(path);

    if (len == 0 || len >= sizeof sa.sun_path)
        return err_set(e, -ENAMETOOLONG, "path of a unix socket: 1 to %zu bytes",
                       sizeof sa.sun_path - 1);
    memcpy(sa.sun_path, path, len + 1);
    if (path[0] != '@')
        return start_connect((struct sockaddr *)&sa, (socklen_t)sizeof sa, e);
    sa.sun_path[0] = '\0';
    return start_connect((struct sockaddr *)&sa,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len), e);
}

/* Splits "host:port" and "[v6]:port" into NUL-terminated copies. */
static int split_address(const char *address, char host[256], char port[8])
{
    struct str s = str_of(address), h;
    bool is_v6 = s.len && s.p[0] == '[';
    const char *colon = strrchr(address, ':');
    uint64_t number;

    if (!colon)
        return -EINVAL;
    struct str p = str_of(colon + 1);
    h = str_n(address, (size_t)(colon - address));
    if (is_v6 && !str_ends(h, STR("]")))
        return -EINVAL;
    if (is_v6)
        h = str_slice(h, 1, h.len - 1);
    if (h.len == 0 || h.len > 255 || (!is_v6 && str_chr(h, ':') >= 0))
        return -EINVAL;
    if (str_to_u64(p, &number) < 0 || number == 0 || number > 65535 || p.len > 5)
        return -EINVAL;
    memcpy(host, h.p, h.len);
    host[h.len] = '\0';
    memcpy(port, p.p, p.len + 1);
    return 0;
}

int http_dial(const char *address, bool may_resolve, struct err *e)
{
    char host[256], port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;

    if (strncmp(address, "unix:", 5) == 0)
        return dial_unix(address + 5, e);
    if (split_address(address, host, port) < 0)
        return err_set(e, -EINVAL, "'%s' is not host:port, [v6]:port or unix:/path", address);
    if (!may_resolve)
        hints.ai_flags |= AI_NUMERICHOST;
    int r =
        getaddrinfo(str_iis(str_of(host), "localhost") ? "127.0.0.1" : host, port, &hints, &found);
    if (r != 0)
        return err_set(e, r == EAI_MEMORY ? -ENOMEM : -ENOENT, "address '%s': %s", host,
                       gai_strerror(r));
    int fd = start_connect(found->ai_addr, found->ai_addrlen, e);
    freeaddrinfo(found);
    return fd;
}
