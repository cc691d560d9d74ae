/* SPDX-License-Identifier: MIT */
/* The least that tools behind a service can cost: a program that passes what it is sent to another
 * one by a unix socket, and the answer back. Neither looks at anything. Serves one connection;
 * prints its port first. Usage: relay BODY */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static char data[1 << 16];

static int fail(const char *what)
{
    perror(what);
    return 1;
}

static int listen_here(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return -1;
    (void)printf("%d\n", ntohs(a.sin_port));
    return fflush(stdout) == 0 ? fd : -1;
}

/* Whatever comes from FROM[i] goes to TO[i]; with ANSWER, that instead. */
static int pass_on(const int *from, const int *to, int n, const char *answer)
{
    struct epoll_event ev;
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    for (int i = 0; i < n; i++) {
        ev = (struct epoll_event){.events = EPOLLIN, .data.fd = i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, from[i], &ev) < 0)
            return fail("epoll_ctl");
    }
    for (;;) {
        if (epoll_wait(epoll, &ev, 1, -1) != 1)
            return fail("epoll_wait");
        ssize_t len = recv(from[ev.data.fd], data, sizeof data, 0);
        if (len <= 0)
            return 0;
        if (answer)
            len = (ssize_t)strlen(answer);
        if (send(to[ev.data.fd], answer ? answer : data, (size_t)len, MSG_NOSIGNAL) != len)
            return fail("send");
    }
}

int main(int argc, char **argv)
{
    char answer[1024];
    const char *body = argc > 1 ? argv[1] : "{}";
    int ends[2], one = 1, listener = listen_here();

    if (listener < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return fail("socket");
    (void)snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
                   strlen(body), body);
    pid_t pid = fork();
    if (pid < 0)
        return fail("fork");
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        return pass_on(&ends[1], &ends[1], 1, answer);
    }
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0 || setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
        return fail("accept");
    const int from[] = {client, ends[0]}, to[] = {ends[0], client};
    return pass_on(from, to, 2, NULL);
}
