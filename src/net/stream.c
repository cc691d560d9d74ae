/* SPDX-License-Identifier: MIT */
/* Byte streams: see stream.h.
 *
 * Life: callbacks run between enter_stream() and leave_stream(). A stream that is closed by a
 * callback only gets marked; leave_stream() of the outermost callback destroys it. A failure that
 * is found outside any callback (a write that the socket refuses) is marked too, and the stream's
 * timer, set to "now", does the rest: so no function of this file but stream_close() ever destroys
 * the stream under its caller. The timer is always in the loop's heap, which is why setting it
 * cannot fail. */
#include "net/stream.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/mem.h"
#include "net/stream_tls.h"

enum {
    SCRATCH = 64 * 1024,
    HIGH_MARK = 256 * 1024,
    TLS_RECORD = 16 * 1024,
    TLS_READS = 8, /* records read in one round before other streams get their turn */
};
/* A producer that never looks at stream_is_full() ends here. */
#define QUEUE_MAX ((size_t)1 << 30)
#define NEVER_MS  ((int64_t)1 << 40)

struct stream {
    struct loop_io io;
    struct loop_timer timer;
    struct loop *loop;
    const struct stream_ops *ops;
    void *ctx;
    const struct tls_ops *tls; /* NULL: plain */
    void *session;
    struct buf kept;  /* bytes that on_data() did not use */
    struct buf queue; /* bytes that the socket did not take */
    size_t queue_at;  /* start of them */
    size_t high_mark;
    int64_t write_ms;
    int64_t due_ms;       /* of stream_set_timeout(); 0: none */
    int64_t write_due_ms; /* of output without progress; 0: none */
    struct loop_msg msg;  /* to the loop that the stream moves to */
    struct loop *move_to;
    void (*move_fn)(struct stream *s, void *ctx);
    int fd;
    int reason; /* for on_close() */
    unsigned depth, corks;
    uint32_t tls_wants; /* events that TLS waits for to go on reading or writing */
    bool is_closing, is_aborting, is_paused, is_eof, was_full;
    bool close_on_flush, shut_on_flush, is_shut;
    bool is_deferred; /* the timer has work to do now */
    bool is_bulk;     /* the last read filled its buffer */
    char peer[INET6_ADDRSTRLEN];
};

/* Bytes arrive here and are used or copied before anything else is read on this thread. */
static _Thread_local char scratch[SCRATCH];

static void destroy(struct stream *s);

/* ---- timer ---- */

static void on_stream_timer(struct loop_timer *t);

static void arm_stream_timer(struct stream *s)
{
    int64_t now = loop_now_ms(s->loop), due = now + NEVER_MS;

    /* Stopped: the stream is on its way to another loop, or to its end. */
    if (!s->timer.loop)
        return;
    if (s->is_deferred)
        due = now;
    if (s->due_ms && s->due_ms < due)
        due = s->due_ms;
    if (s->write_due_ms && s->write_due_ms < due)
        due = s->write_due_ms;
    (void)loop_timer_start(s->loop, &s->timer, due - now, on_stream_timer);
}

static void defer(struct stream *s)
{
    if (s->is_deferred || s->move_to)
        return;
    s->is_deferred = true;
    arm_stream_timer(s);
}

void stream_set_timeout(struct stream *s, int64_t ms)
{
    s->due_ms = ms > 0 ? loop_now_ms(s->loop) + ms : 0;
    arm_stream_timer(s);
}

/* ---- closing ---- */

static void mark_closed(struct stream *s, int reason)
{
    if (s->is_closing)
        return;
    s->is_closing = true;
    s->reason = reason;
    if (s->depth == 0)
        defer(s);
}

static void enter_stream(struct stream *s)
{
    s->depth++;
}

static void start_move(struct stream *s);
static void watch_stream(struct stream *s);

/* Leaves a callback. The stream may be gone or on another thread afterwards. */
static void leave_stream(struct stream *s)
{
    if (--s->depth > 0)
        return;
    if (s->is_closing)
        destroy(s);
    else if (s->move_to)
        start_move(s);
    else
        watch_stream(s);
}

static void close_stream_fd(struct stream *s)
{
    if (s->is_aborting)
        (void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                         sizeof(struct linger));
    else if (s->tls && !s->is_shut)
        s->tls->shutdown(s->session);
    if (s->tls)
        s->tls->free(s->session);
    (void)close(s->fd);
}

static void destroy(struct stream *s)
{
    s->is_closing = true;
    loop_io_stop(&s->io);
    loop_timer_stop(&s->timer);
    s->depth++;
    if (s->ops->on_close)
        s->ops->on_close(s, s->ctx, s->reason);
    close_stream_fd(s);
    buf_done(&s->kept);
    buf_done(&s->queue);
    free(s);
}

void stream_close(struct stream *s)
{
    if (s->depth == 0) {
        s->is_closing = true;
        destroy(s);
        return;
    }
    mark_closed(s, 0);
}

void stream_abort(struct stream *s)
{
    s->is_aborting = true;
    stream_close(s);
}

static void shut_down(struct stream *s)
{
    if (s->is_shut)
        return;
    s->is_shut = true;
    if (s->tls)
        s->tls->shutdown(s->session);
    (void)shutdown(s->fd, SHUT_WR);
}

void stream_close_after_flush(struct stream *s)
{
    if (s->is_closing)
        return;
    if (stream_queued(s) == 0) {
        stream_close(s);
        return;
    }
    s->close_on_flush = true;
    watch_stream(s);
}

void stream_shutdown(struct stream *s)
{
    if (stream_queued(s) == 0)
        shut_down(s);
    else
        s->shut_on_flush = true;
}

/* ---- the socket ---- */

static ssize_t socket_read(struct stream *s, void *p, size_t n)
{
    ssize_t r;

    if (fault_hit(FAULT_IO))
        return -EIO;
    if (s->tls)
        return s->tls->read(s->session, p, n, &s->tls_wants);
    do
        r = recv(s->fd, p, n, 0);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

static ssize_t plain_write(struct stream *s, const struct iovec *iov, int n)
{
    struct msghdr msg = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)n};
    ssize_t r;

    do
        r = n == 1 ? send(s->fd, iov[0].iov_base, iov[0].iov_len, MSG_NOSIGNAL)
                   : sendmsg(s->fd, &msg, MSG_NOSIGNAL);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

/* Small parts share a record. */
static ssize_t tls_write(struct stream *s, const struct iovec *iov, int n)
{
    char record[TLS_RECORD];
    size_t len = 0;

    if (n == 1 || iov[0].iov_len >= sizeof record)
        return s->tls->write(s->session, iov[0].iov_base, iov[0].iov_len, &s->tls_wants);
    for (int i = 0; i < n && len < sizeof record; i++) {
        size_t room = sizeof record - len;
        size_t part = iov[i].iov_len < room ? iov[i].iov_len : room;
        memcpy(record + len, iov[i].iov_base, part);
        len += part;
    }
    return s->tls->write(s->session, record, len, &s->tls_wants);
}

static ssize_t socket_write(struct stream *s, const struct iovec *iov, int n)
{
    if (fault_hit(FAULT_IO))
        return -EIO;
    s->tls_wants = 0;
    return s->tls ? tls_write(s, iov, n) : plain_write(s, iov, n);
}

/* Tells epoll what this stream waits for now. */
static void watch_stream(struct stream *s)
{
    uint32_t want = 0;

    if (s->is_closing || s->move_to)
        return;
    if (!s->is_paused && !s->is_eof && !s->close_on_flush)
        want = EPOLLIN | s->tls_wants;
    if (stream_queued(s) > 0)
        want |= EPOLLOUT | s->tls_wants;
    int r = s->io.loop ? loop_io_want(&s->io, want) : 0;
    if (r < 0)
        mark_closed(s, r);
}

/* ---- writing ---- */

size_t stream_queued(const struct stream *s)
{
    return s->queue.len - s->queue_at;
}

bool stream_is_full(const struct stream *s)
{
    return stream_queued(s) > s->high_mark;
}

static void note_progress(struct stream *s)
{
    bool is_stalled = stream_queued(s) > 0 && s->write_ms > 0;

    if (!is_stalled && s->write_due_ms == 0)
        return;
    s->write_due_ms = is_stalled ? loop_now_ms(s->loop) + s->write_ms : 0;
    arm_stream_timer(s);
}

void stream_set_write_timeout(struct stream *s, int64_t ms)
{
    s->write_ms = ms;
    note_progress(s);
}

static int enqueue_rest(struct stream *s, const struct iovec *iov, int n, size_t skip)
{
    for (int i = 0; i < n; i++) {
        if (skip >= iov[i].iov_len) {
            skip -= iov[i].iov_len;
            continue;
        }
        int r = buf_add(&s->queue, (const char *)iov[i].iov_base + skip, iov[i].iov_len - skip);
        if (r < 0)
            return r;
        skip = 0;
    }
    s->was_full |= stream_is_full(s);
    return 0;
}

static size_t total_of(const struct iovec *iov, int n)
{
    size_t total = 0;

    for (int i = 0; i < n; i++)
        total += iov[i].iov_len;
    return total;
}

static bool can_write(const struct stream *s)
{
    return !s->is_closing && !s->close_on_flush && !s->shut_on_flush && !s->is_shut;
}

int stream_writev(struct stream *s, const struct iovec *iov, int n)
{
    size_t total = total_of(iov, n);
    bool was_empty = stream_queued(s) == 0;
    ssize_t sent = 0;

    assert(n <= STREAM_IOV);
    if (!can_write(s))
        return -EPIPE;
    if (was_empty && s->corks == 0 && total > 0)
        sent = socket_write(s, iov, n);
    if (sent == -EAGAIN)
        sent = 0;
    int r = sent < 0 ? (int)sent : 0;
    if (r == 0 && (size_t)sent < total) {
        r = enqueue_rest(s, iov, n, (size_t)sent);
        if (was_empty)
            note_progress(s);
        /* What is corked leaves with the last stream_uncork(). */
        if (s->depth == 0 && s->corks == 0)
            watch_stream(s);
    }
    if (r < 0)
        mark_closed(s, r);
    return r;
}

int stream_write(struct stream *s, const void *p, size_t len)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)p, .iov_len = len};

    return stream_writev(s, &iov, 1);
}

/* Forgets what was sent; an empty queue holds no memory. */
static void trim_queue(struct stream *s)
{
    if (s->queue_at == s->queue.len) {
        buf_done(&s->queue);
        s->queue_at = 0;
    } else if (s->queue_at > s->queue.len / 2) {
        buf_consume(&s->queue, s->queue_at);
        s->queue_at = 0;
    }
}

static void flush_stream(struct stream *s)
{
    while (stream_queued(s) > 0 && !s->is_closing) {
        struct iovec iov = {s->queue.p + s->queue_at, stream_queued(s)};
        ssize_t sent = socket_write(s, &iov, 1);
        if (sent == -EAGAIN)
            break;
        if (sent < 0) {
            mark_closed(s, (int)sent);
            return;
        }
        bool is_partial = (size_t)sent < iov.iov_len;
        s->queue_at += (size_t)sent;
        note_progress(s);
        /* A socket that took a part is full; a TLS record is always a part. */
        if (is_partial && !s->tls)
            break;
    }
    trim_queue(s);
}

/* What waits for the queue to become empty or low. */
static void after_flush(struct stream *s)
{
    if (stream_queued(s) == 0 && s->close_on_flush)
        mark_closed(s, 0);
    if (s->is_closing)
        return;
    if (stream_queued(s) == 0 && s->shut_on_flush) {
        s->shut_on_flush = false;
        shut_down(s);
    }
    if (s->was_full && stream_queued(s) <= s->high_mark / 2) {
        s->was_full = false;
        if (s->ops->on_drain)
            s->ops->on_drain(s, s->ctx);
    }
}

void stream_cork(struct stream *s)
{
    s->corks++;
}

void stream_uncork(struct stream *s)
{
    assert(s->corks > 0);
    if (--s->corks > 0 || s->is_closing || stream_queued(s) == 0)
        return;
    flush_stream(s);
    if (s->close_on_flush || s->shut_on_flush || s->was_full)
        defer(s);
    if (s->depth == 0)
        watch_stream(s);
}

/* ---- reading ---- */

/* Hands P to on_data() and keeps what it leaves. P is the scratch buffer or the kept bytes. */
static void offer(struct stream *s, const char *p, size_t len)
{
    bool is_kept = p == s->kept.p;
    ssize_t used = s->ops->on_data(s, s->ctx, p, len);

    if (used < 0)
        mark_closed(s, (int)used);
    if (s->is_closing)
        return;
    assert((size_t)used <= len);
    size_t left = len - (size_t)used;
    int r = 0;
    if (is_kept)
        buf_consume(&s->kept, (size_t)used);
    else if (left)
        r = buf_add(&s->kept, p + used, left);
    if (s->kept.len == 0)
        buf_done(&s->kept);
    if (r < 0)
        mark_closed(s, r);
    else if (left == s->kept.max && used == 0 && !s->is_paused)
        mark_closed(s, -EMSGSIZE);
}

/* Room to read into: the scratch buffer, or behind the bytes that were kept. */
static char *read_room(struct stream *s, size_t *ret_room)
{
    size_t room = s->kept.max - s->kept.len;

    *ret_room = room < SCRATCH ? room : SCRATCH;
    if (s->kept.len == 0)
        return scratch;
    return *ret_room > 0 && buf_reserve(&s->kept, *ret_room) == 0 ? s->kept.p + s->kept.len : NULL;
}

static void on_peer_end(struct stream *s)
{
    s->is_eof = true;
    s->tls_wants = 0;
    if (s->ops->on_eof)
        s->ops->on_eof(s, s->ctx);
    else
        stream_close_after_flush(s);
}

/* Reads into P, unless the listener takes bulk data itself: then -EALREADY after success. */
static ssize_t take_in(struct stream *s, char *p, size_t room)
{
    ssize_t n = -EOPNOTSUPP;

    if (s->is_bulk && p == scratch && s->ops->on_bulk && !s->tls)
        n = s->ops->on_bulk(s, s->ctx);
    if (n > 0)
        return -EALREADY;
    if (n == -EOPNOTSUPP) {
        n = socket_read(s, p, room);
        s->is_bulk = n == SCRATCH;
    }
    return n;
}

/* One read. True when more may wait inside the TLS session. */
static bool read_once(struct stream *s)
{
    size_t room;
    char *p = read_room(s, &room);

    if (!p) {
        mark_closed(s, room ? -ENOMEM : -EMSGSIZE);
        return false;
    }
    s->tls_wants = 0;
    ssize_t n = take_in(s, p, room);
    if (n == -EAGAIN || n == -EALREADY)
        return false;
    if (n < 0) {
        mark_closed(s, (int)n);
        return false;
    }
    if (n == 0) {
        on_peer_end(s);
        return false;
    }
    if (p == scratch) {
        offer(s, p, (size_t)n);
    } else {
        s->kept.len += (size_t)n;
        offer(s, s->kept.p, s->kept.len);
    }
    return s->tls != NULL;
}

static bool can_read(const struct stream *s)
{
    return !s->is_paused && !s->is_eof && !s->is_closing && !s->close_on_flush && !s->move_to;
}

static void read_some_bytes(struct stream *s)
{
    for (int i = 0; i < TLS_READS; i++)
        if (!can_read(s) || !read_once(s))
            return;
    if (can_read(s) && s->tls->has_pending(s->session))
        defer(s);
}

void stream_pause(struct stream *s)
{
    s->is_paused = true;
    if (s->depth == 0)
        watch_stream(s);
}

static int start_watching(struct stream *s);

void stream_resume(struct stream *s)
{
    if (!s->is_paused || s->is_closing)
        return;
    s->is_paused = false;
    if (s->kept.len > 0 || (s->tls && s->tls->has_pending(s->session)))
        defer(s);
    int r = s->io.loop || s->move_to ? 0 : start_watching(s);
    if (r < 0)
        mark_closed(s, r);
    else if (s->depth == 0)
        watch_stream(s);
}

void stream_set_ops(struct stream *s, const struct stream_ops *ops, void *ctx)
{
    s->ops = ops;
    s->ctx = ctx;
    defer(s);
}

/* ---- events ---- */

/* An error or hang-up while nobody reads. */
static void on_stream_hangup(struct stream *s, uint32_t events)
{
    int error = 0;
    socklen_t len = sizeof error;

    if (events & EPOLLERR) {
        (void)getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &len);
        mark_closed(s, error ? -error : -ECONNRESET);
    } else if (stream_queued(s) == 0) {
        /* Nothing to do but to wait for stream_resume(), which finds the rest and the end. epoll
         * would go on reporting. */
        loop_io_stop(&s->io);
    }
}

static void run_deferred(struct stream *s)
{
    s->is_deferred = false;
    after_flush(s);
    if (s->kept.len > 0 && !s->is_paused && !s->is_closing)
        offer(s, s->kept.p, s->kept.len);
    if (s->tls && can_read(s))
        read_some_bytes(s);
}

static void on_io(struct loop_io *io, uint32_t events)
{
    struct stream *s = container_of(io, struct stream, io);

    enter_stream(s);
    /* Kept bytes that wait to be offered come before what the socket holds, its end included. */
    if (s->is_deferred)
        run_deferred(s);
    if (stream_queued(s) > 0 && (events & ~(uint32_t)EPOLLIN || s->tls)) {
        flush_stream(s);
        after_flush(s);
    }
    if (can_read(s) && (events & ~(uint32_t)EPOLLOUT || s->tls))
        read_some_bytes(s);
    else if (!can_read(s) && !s->is_closing && events & (EPOLLERR | EPOLLHUP))
        on_stream_hangup(s, events);
    leave_stream(s);
}

static void on_stream_timer(struct loop_timer *t)
{
    struct stream *s = container_of(t, struct stream, timer);
    int64_t now = loop_now_ms(s->loop);

    /* At once, while the slot in the heap that this timer left is still free. */
    (void)loop_timer_start(s->loop, t, NEVER_MS, on_stream_timer);
    enter_stream(s);
    if (s->is_deferred)
        run_deferred(s);
    if (!s->is_closing && s->write_due_ms && s->write_due_ms <= now) {
        s->is_aborting = true;
        mark_closed(s, -ETIMEDOUT);
    }
    if (!s->is_closing && s->due_ms && s->due_ms <= now) {
        s->due_ms = 0;
        if (s->ops->on_timeout)
            s->ops->on_timeout(s, s->ctx);
        else
            mark_closed(s, -ETIMEDOUT);
    }
    if (!s->is_closing)
        arm_stream_timer(s);
    leave_stream(s);
}

/* ---- making and moving ---- */

static int start_watching(struct stream *s)
{
    return loop_io_start(s->loop, &s->io, s->fd, s->is_paused || s->is_eof ? 0 : EPOLLIN, on_io);
}

static int start_on(struct stream *s, struct loop *l)
{
    s->loop = l;
    int r = loop_timer_start(l, &s->timer, NEVER_MS, on_stream_timer);
    return r < 0 ? r : start_watching(s);
}

static void arrive_stream(struct loop_msg *m)
{
    struct stream *s = container_of(m, struct stream, msg);
    int r = start_on(s, s->move_to);

    s->move_to = NULL;
    enter_stream(s);
    if (r < 0)
        mark_closed(s, r);
    s->move_fn(s, s->ctx);
    if (!s->is_closing) {
        if (s->kept.len > 0 || s->tls)
            defer(s);
        arm_stream_timer(s);
    }
    leave_stream(s);
}

static void start_move(struct stream *s)
{
    loop_io_stop(&s->io);
    loop_timer_stop(&s->timer);
    s->is_deferred = false;
    loop_post(s->move_to, &s->msg, arrive_stream);
}

void stream_move(struct stream *s, struct loop *to, void (*fn)(struct stream *s, void *ctx))
{
    if (s->is_closing)
        return;
    s->move_to = to;
    s->move_fn = fn;
    if (s->depth == 0)
        start_move(s);
}

static int open_tls_session(struct stream *s, const struct stream_opts *opts, struct err *e)
{
    if (!opts->tls)
        return 0;
    s->session = opts->tls->ops->open(opts->tls, s->fd, opts->is_client, opts->sni, e);
    if (!s->session)
        return -EPROTO;
    s->tls = opts->tls->ops;
    return 0;
}

struct stream *stream_new(int fd, const struct stream_opts *opts, struct err *e)
{
    auto_close int owned = fd;
    auto_free struct stream *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        (void)err_sys(e, -ENOMEM, "stream");
        return NULL;
    }
    s->fd = fd;
    s->ops = opts->ops;
    s->ctx = opts->ctx;
    s->high_mark = opts->high_mark ? opts->high_mark : HIGH_MARK;
    s->write_ms = opts->write_ms;
    buf_init(&s->kept, opts->max_unread ? opts->max_unread : SCRATCH);
    buf_init(&s->queue, QUEUE_MAX);
    if (open_tls_session(s, opts, e) < 0)
        return NULL;
    int r = start_on(s, opts->loop);
    if (r < 0) {
        (void)err_sys(e, r, "watch a connection");
        loop_timer_stop(&s->timer);
        if (s->tls)
            s->tls->free(s->session);
        return NULL;
    }
    /* A client speaks first. */
    if (s->tls && opts->is_client)
        defer(s);
    (void)take_fd(owned);
    return take(s);
}

/* ---- facts ---- */

struct loop *stream_loop(const struct stream *s)
{
    return s->loop;
}

static void find_peer(struct stream *s)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un un;
    } a = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t len = sizeof a;
    const char *text = NULL;

    (void)getpeername(s->fd, &a.any, &len);
    if (a.any.sa_family == AF_INET)
        text = inet_ntop(AF_INET, &a.v4.sin_addr, s->peer, sizeof s->peer);
    else if (a.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a.v6.sin6_addr))
        text = inet_ntop(AF_INET, a.v6.sin6_addr.s6_addr + 12, s->peer, sizeof s->peer);
    else if (a.any.sa_family == AF_INET6)
        text = inet_ntop(AF_INET6, &a.v6.sin6_addr, s->peer, sizeof s->peer);
    if (!text)
        memcpy(s->peer, "unix", sizeof "unix");
}

const char *stream_peer(const struct stream *s)
{
    /* Found when first asked for: it costs a system call. */
    if (s->peer[0] == '\0')
        find_peer((struct stream *)(uintptr_t)s);
    return s->peer;
}

bool stream_is_tls(const struct stream *s)
{
    return s->tls != NULL;
}

bool stream_is_ready(const struct stream *s)
{
    return !s->tls || s->tls->is_ready(s->session);
}

int stream_fd(const struct stream *s)
{
    return s->fd;
}
