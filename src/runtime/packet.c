/* SPDX-License-Identifier: MIT */
/* Packets with descriptors: see packet.h. */
#include "runtime/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { BACKLOG = 1024 };

/* size_t in glibc, socklen_t in musl. */
typedef __typeof__(((struct msghdr *)NULL)->msg_controllen) controllen_t;

/* The kernel merges all descriptors of a packet into one control message. */
union control {
    char bytes[CMSG_SPACE(sizeof(int) * PACKET_FDS)];
    struct cmsghdr align;
};

void packet_begin(struct buf *b, uint32_t kind, uint32_t tag)
{
    buf_clear(b);
    wire_put_u32(b, kind);
    wire_put_u32(b, tag);
}

int packet_send(int sock, const struct buf *b, const int *fds, size_t n_fds)
{
    union control control = {0};
    struct iovec iov = {.iov_base = b->p, .iov_len = b->len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

    if (!buf_ok(b))
        return b->error;
    if (n_fds > PACKET_FDS || b->len > PACKET_MAX)
        return -EMSGSIZE;
    if (n_fds > 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = (controllen_t)CMSG_SPACE(sizeof(int) * n_fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = (controllen_t)CMSG_LEN(sizeof(int) * n_fds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
    }
    for (;;) {
        ssize_t n = sendmsg(sock, &msg, MSG_NOSIGNAL);
        if (n >= 0)
            return 0;
        if (errno != EINTR)
            return -errno;
    }
}

static void take_fds(struct packet *p, struct msghdr *msg)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);

    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return;
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    if (n > PACKET_FDS)
        n = PACKET_FDS;
    memcpy(p->fds, CMSG_DATA(c), n * sizeof(int));
    p->n_fds = n;
}

int packet_receive(int sock, struct packet *p)
{
    union control control;
    struct iovec iov = {.iov_base = p->data, .iov_len = sizeof p->data};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof control.bytes};
    ssize_t n;

    p->n_fds = 0;
    /* The kernel says ECONNRESET once when the other side died without having read everything; what
     * it had sent before comes behind that. */
    do
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && (errno == EINTR || errno == ECONNRESET));
    if (n < 0)
        return -errno;
    take_fds(p, &msg);
    if (n == 0)
        return 0;
    p->len = (size_t)n;
    p->body = (struct wire_reader){.left = str_n(p->data, p->len)};
    p->kind = wire_get_u32(&p->body);
    p->tag = wire_get_u32(&p->body);
    if (!p->body.is_bad && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return 1;
    packet_done(p);
    return -EBADMSG;
}

int packet_take_fd(struct packet *p, size_t i)
{
    return i < p->n_fds ? take_fd(p->fds[i]) : -1;
}

void packet_done(struct packet *p)
{
    for (size_t i = 0; i < p->n_fds; i++)
        if (p->fds[i] >= 0)
            (void)close(p->fds[i]);
    p->n_fds = 0;
}

/* Addresses hold 107 characters; a path through /proc/self/fd is always short enough. */
static int set_packet_address(struct sockaddr_un *a, int dirfd, const char *path)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    int len = snprintf(a->sun_path, sizeof a->sun_path, "/proc/self/fd/%d/%s", dirfd, path);
    return len >= (int)sizeof a->sun_path ? -ENAMETOOLONG : 0;
}

int packet_listen_at(int dirfd, const char *path, int type)
{
    struct sockaddr_un a;
    int r = set_packet_address(&a, dirfd, path);

    if (r < 0)
        return r;
    auto_close int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    (void)unlinkat(dirfd, path, 0);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, BACKLOG) < 0)
        return -errno;
    return take_fd(fd);
}

int packet_connect_at(int dirfd, const char *path, int type)
{
    struct sockaddr_un a;
    int r = set_packet_address(&a, dirfd, path);

    if (r < 0)
        return r;
    auto_close int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    do
        r = connect(fd, (struct sockaddr *)&a, sizeof a);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : take_fd(fd);
}
