/* SPDX-License-Identifier: MIT */
#include "local/interpreter/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/mem.h"
#include "local/interpreter/kernel.h"
#include "local/interpreter/language.h"

enum { FDS = 4, ANSWER_MAX = 512 };

/* An ask is answered in its turn, also when nobody wants its process any more. */
struct ask {
    struct list node;
    struct kernel *kernel; /* or NULL */
};

struct nursery {
    struct loop *loop;
    const struct language *language;
    pid_t pid; /* 0: does not run */
    struct loop_io control;
    struct list asks;
};

struct nursery *nursery_new(struct loop *loop, const struct language *l)
{
    struct nursery *n = mem_zalloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->loop = loop;
    n->language = l;
    n->control.fd = -1;
    list_init(&n->asks);
    return n;
}

/* ---- its end ---- */

static void end_process(struct nursery *n)
{
    if (n->pid == 0)
        return;
    loop_io_stop(&n->control);
    (void)close(n->control.fd);
    n->control.fd = -1;
    (void)kill(-n->pid, SIGKILL);
    n->pid = 0;
}

/* All who wait learn WHY. */
static void fail_asks(struct nursery *n, const char *why)
{
    struct list all;

    list_init(&all);
    for (struct list *node; (node = list_pop(&n->asks));)
        list_append(&all, node);
    end_process(n);
    for (struct list *node; (node = list_pop(&all));) {
        struct ask *a = list_entry(node, struct ask, node);
        struct kernel *k = a->kernel;
        free(a);
        if (k)
            kernel_on_process(k, 0, why);
    }
}

void nursery_free(struct nursery *n)
{
    if (!n)
        return;
    end_process(n);
    for (struct list *node; (node = list_pop(&n->asks));)
        free(list_entry(node, struct ask, node));
    free(n);
}

/* ---- answers ---- */

static void take_fork_answer(struct nursery *n, const char *text)
{
    struct list *node = list_pop(&n->asks);
    int64_t pid = 0;

    if (!node)
        return;
    struct ask *a = list_entry(node, struct ask, node);
    struct kernel *k = a->kernel;
    free(a);
    if (str_to_i64(str_of(text), &pid) < 0)
        pid = 0;
    if (k)
        kernel_on_process(k, (pid_t)pid, pid > 0 ? NULL : "no process could be forked");
}

static void on_control(struct loop_io *io, uint32_t events)
{
    struct nursery *n = container_of(io, struct nursery, control);
    char text[ANSWER_MAX];
    ssize_t len = recv(io->fd, text, sizeof text - 1, MSG_DONTWAIT);

    (void)events;
    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    text[len > 0 ? len : 0] = '\0';
    if (len > 0 && text[0] != '!')
        take_fork_answer(n, text);
    else
        fail_asks(n, len > 0 ? text + 1 : "the process that contexts are forked from has ended");
}

/* ---- its beginning ---- */

static int start_process(struct nursery *n)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    auto_close int ours = ends[0], theirs = ends[1];
    auto_close int text = kernel_open_text(n->language->drivers);
    auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (text < 0 || null < 0)
        return -EIO;
    int r =
        kernel_spawn(n->language->argv,
                     (const int[KERNEL_FDS]){null, null, STDERR_FILENO, theirs, -1, text}, &n->pid);
    if (r < 0) {
        n->pid = 0;
        return r;
    }
    r = loop_io_start(n->loop, &n->control, ours, EPOLLIN, on_control);
    n->control.fd = take_fd(ours);
    if (r < 0)
        end_process(n);
    return r;
}

static int send_wish(const struct nursery *n, const int fds[FDS])
{
    char byte = 'f';
    struct iovec data = {&byte, 1};
    union {
        char bytes[CMSG_SPACE(FDS * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(FDS * sizeof(int));
    memcpy(CMSG_DATA(c), fds, FDS * sizeof(int));
    return sendmsg(n->control.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -errno;
}

int nursery_ask(struct nursery *n, struct kernel *k, const int fds[FDS])
{
    struct ask *a = mem_zalloc(1, sizeof *a);
    int r = !a ? -ENOMEM : 0;

    if (r == 0 && n->pid == 0)
        r = start_process(n);
    if (r == 0)
        r = send_wish(n, fds);
    if (r == -EPIPE || r == -ECONNRESET) { /* it died, and that was not noticed yet */
        fail_asks(n, "the process that contexts are forked from has ended");
        r = start_process(n);
        if (r == 0)
            r = send_wish(n, fds);
    }
    if (r < 0) {
        free(a);
        return r;
    }
    a->kernel = k;
    list_append(&n->asks, &a->node);
    return 0;
}

void nursery_forget(struct nursery *n, struct kernel *k)
{
    list_each(node, &n->asks)
    {
        struct ask *a = list_entry(node, struct ask, node);
        if (a->kernel == k)
            a->kernel = NULL;
    }
}
