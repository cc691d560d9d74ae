/* SPDX-License-Identifier: MIT */
#include "local/mail/listen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "local/mail/imap.h"
#include "local/mail/smtp.h"
#include "local/mail/store.h"
#include "sys/io.h"

enum { STACK_BYTES = 256 << 10, READ_BYTES = 32 << 10, WRITE_S = 60 };

struct mail_listener {
    struct loop_io io;
    struct mail_store *store;
    void *(*run)(void *connection);
    const char *busy; /* what one too many gets */
    atomic_uint n;
};

struct listen_connection {
    struct mail_listener *listener;
    int fd;
};

/* ---- a connection, on its thread ---- */

static bool send_bytes(void *ctx, struct str bytes)
{
    const struct listen_connection *c = ctx;

    return io_write_all(c->fd, bytes.p, bytes.len) == 0;
}

static void end_connection(struct listen_connection *c)
{
    (void)close(c->fd);
    (void)atomic_fetch_sub(&c->listener->n, 1);
    free(c);
}

/* Something to read: bytes, 0 at the end. WAKE_FD is watched as well: -EINTR. */
static ssize_t receive(const struct listen_connection *c, int wake_fd, char *p)
{
    struct pollfd fds[] = {{.fd = c->fd, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    uint64_t count;
    int r = poll(fds, 2, MAIL_SILENCE_S * 1000);

    if (r <= 0)
        return r < 0 && errno == EINTR ? -EINTR : 0;
    if (fds[1].revents) {
        (void)io_read(wake_fd, &count, sizeof count);
        return -EINTR;
    }
    return io_read(c->fd, p, READ_BYTES);
}

static void serve_imap(struct listen_connection *c, struct imap *i)
{
    char bytes[READ_BYTES];
    struct mail_watch watch = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    bool is_on = watch.fd >= 0, is_watching = false;

    while (is_on) {
        if (imap_is_idle(i) && !is_watching)
            mail_watch_start(c->listener->store, &watch);
        if (!imap_is_idle(i) && is_watching)
            mail_watch_stop(c->listener->store, &watch);
        bool was_watching = is_watching;
        is_watching = imap_is_idle(i);
        /* What changed before the watch began would not be reported. */
        if (is_watching && !was_watching)
            imap_tell(i);
        ssize_t n = receive(c, is_watching ? watch.fd : -1, bytes);
        if (n == -EINTR && is_watching)
            imap_tell(i);
        if (n != -EINTR)
            is_on = n > 0 && imap_feed(i, str_n(bytes, (size_t)n));
    }
    if (is_watching)
        mail_watch_stop(c->listener->store, &watch);
    if (watch.fd >= 0)
        (void)close(watch.fd);
}

static void *run_imap(void *ctx)
{
    struct listen_connection *c = ctx;
    struct imap *i = imap_new(c->listener->store, send_bytes, c);

    if (i)
        serve_imap(c, i);
    imap_free(i);
    end_connection(c);
    return NULL;
}

static void *run_smtp(void *ctx)
{
    struct listen_connection *c = ctx;
    struct smtp *s = smtp_new(c->listener->store, send_bytes, c);
    char bytes[READ_BYTES];
    bool is_on = s != NULL;

    while (is_on) {
        ssize_t n = receive(c, -1, bytes);
        if (n != -EINTR)
            is_on = n > 0 && smtp_feed(s, str_n(bytes, (size_t)n));
    }
    smtp_free(s);
    end_connection(c);
    return NULL;
}

/* ---- accepting, on the loop ---- */

static bool start_connection(struct mail_listener *l, int fd)
{
    struct listen_connection *c = mem_zalloc(1, sizeof *c);
    pthread_attr_t attr;
    pthread_t thread;

    if (!c || pthread_attr_init(&attr) != 0) {
        free(c);
        return false;
    }
    *c = (struct listen_connection){l, fd};
    (void)atomic_fetch_add(&l->n, 1);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int r = pthread_create(&thread, &attr, l->run, c);
    (void)pthread_attr_destroy(&attr);
    if (r == 0)
        return true;
    (void)atomic_fetch_sub(&l->n, 1);
    free(c);
    return false;
}

static void on_mail_connection(struct loop_io *io, uint32_t events)
{
    struct mail_listener *l = container_of(io, struct mail_listener, io);
    const struct timeval patience = {.tv_sec = WRITE_S};
    int fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC);

    (void)events;
    if (fd < 0)
        return;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (atomic_load(&l->n) < MAIL_CONNECTIONS_MAX && start_connection(l, fd))
        return;
    (void)io_write(fd, l->busy, strlen(l->busy));
    (void)close(fd);
}

static struct mail_listener *listen_for_mail(struct loop *loop, int fd,
                                             const struct mail_listener *as, struct err *e)
{
    struct mail_listener *l = mem_zalloc(1, sizeof *l);

    if (l) {
        l->store = as->store;
        l->run = as->run;
        l->busy = as->busy;
    }
    int r = l ? loop_io_start(loop, &l->io, fd, EPOLLIN, on_mail_connection) : -ENOMEM;
    if (r == 0)
        return l;
    (void)err_sys(e, r, "listen");
    free(l);
    (void)close(fd);
    return NULL;
}

struct mail_listener *mail_listen_imap(struct loop *loop, struct mail_store *store, int listen_fd,
                                       struct err *e)
{
    const struct mail_listener as = {
        .store = store, .run = run_imap, .busy = "* BYE Too many connections\r\n"};

    return listen_for_mail(loop, listen_fd, &as, e);
}

struct mail_listener *mail_listen_smtp(struct loop *loop, struct mail_store *store, int listen_fd,
                                       struct err *e)
{
    const struct mail_listener as = {
        .store = store, .run = run_smtp, .busy = "421 4.3.2 Too many connections\r\n"};

    return listen_for_mail(loop, listen_fd, &as, e);
}
