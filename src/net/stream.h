/* SPDX-License-Identifier: MIT */
/* Byte streams on a loop: non-blocking sockets, plain or TLS, with a bounded queue in each
 * direction.
 *
 * Reading pushes: on_data() gets what arrived and says how much of it was used; the rest is kept
 * and offered again, with more behind it. Bytes are read into a buffer that all streams of a loop
 * share, so an idle stream holds no buffer at all.
 *
 * Writing tries at once and queues what the socket does not take. The queue has a high mark:
 * stream_write() always takes the bytes, stream_is_full() asks the producer to wait for
 * on_drain(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct stream;
struct tls_ctx;

struct stream_ops {
    /* LEN > 0 bytes: returns how many were used (0: need more), or -errno to close the stream. The
     * unused part may not reach max_unread unless reading was paused meanwhile: the stream closes
     * with -EMSGSIZE. Not called while reading is paused. */
    ssize_t (*on_data)(struct stream *s, void *ctx, const char *p, size_t len);
    /* Many bytes wait: the last read filled its buffer, and on_data() used all. May take them out
     * of the descriptor itself: how many were taken, 0 at the end, -errno; -EOPNOTSUPP: they are
     * read as usual. NULL: always. Not for TLS. */
    ssize_t (*on_bulk)(struct stream *s, void *ctx);
    /* The queue fell below the low mark after stream_is_full() had been true. May be NULL. */
    void (*on_drain)(struct stream *s, void *ctx);
    /* The peer will send nothing more; the stream can still write. NULL: the stream closes. */
    void (*on_eof)(struct stream *s, void *ctx);
    /* The stream is gone, for REASON (0: closed by us or by the peer in order, or -errno). The last
     * callback; the stream is freed when it returns. */
    void (*on_close)(struct stream *s, void *ctx, int reason);
    /* The time given to stream_set_timeout() is over. NULL: the stream closes (-ETIMEDOUT). */
    void (*on_timeout)(struct stream *s, void *ctx);
};

struct stream_opts {
    struct loop *loop;
    const struct stream_ops *ops;
    void *ctx;
    struct tls_ctx *tls; /* NULL: plain */
    bool is_client;      /* TLS role */
    const char *sni;     /* TLS client: server name, verified against the certificate */
    size_t max_unread;   /* bytes on_data() may leave; default 64 KiB */
    size_t high_mark;    /* of the output queue; default 256 KiB */
    int64_t write_ms;    /* output that makes no progress for so long resets the connection; 0: no
                            limit */
};

/* Takes over FD (connected, or connecting) and starts reading. NULL with E filled on failure; FD is
 * closed in any case. */
struct stream *stream_new(int fd, const struct stream_opts *opts, struct err *e);

/* Closes at once, dropping what is queued; on_close() follows before this returns unless it is
 * called from a callback of the same stream: then when that callback has returned. */
void stream_close(struct stream *s);
/* Closes when everything queued has been written. */
void stream_close_after_flush(struct stream *s);
/* Half-closes the sending side when everything queued has been written. */
void stream_shutdown(struct stream *s);
/* Resets the connection (RST instead of FIN): the peer sees an abort. */
void stream_abort(struct stream *s);

/* Sends or queues bytes (copied when queued). 0, or -errno when the stream is closing or memory ran
 * out (then the stream is closed). */
int stream_write(struct stream *s, const void *p, size_t len);
/* The same for at most STREAM_IOV parts, with one system call. */
#define STREAM_IOV 8
int stream_writev(struct stream *s, const struct iovec *iov, int n);
/* While corked, writes are gathered; uncork sends them with one system call. Nests. */
void stream_cork(struct stream *s);
void stream_uncork(struct stream *s);
bool stream_is_full(const struct stream *s);
size_t stream_queued(const struct stream *s);

/* Stops / resumes on_data(). Resuming offers kept bytes in the next round of the loop. */
void stream_pause(struct stream *s);
void stream_resume(struct stream *s);

/* Calls on_timeout() once, in MS; replaces what was set before; 0: never. Pushing it back costs
 * nothing. */
void stream_set_timeout(struct stream *s, int64_t ms);

/* Changes write_ms of its options. */
void stream_set_write_timeout(struct stream *s, int64_t ms);

/* Replaces who listens: a protocol upgrade. Kept bytes go to the new ops in the next round. */
void stream_set_ops(struct stream *s, const struct stream_ops *ops, void *ctx);
/* Moves the stream to another loop. Must be called on the current loop's thread, outside the
 * stream's callbacks or as the last act of one; FN(ctx) runs on the new loop's thread once it is
 * there. Until then nobody may touch the stream. */
void stream_move(struct stream *s, struct loop *to, void (*fn)(struct stream *s, void *ctx));

struct loop *stream_loop(const struct stream *s);
/* The peer's address as text ("127.0.0.1", "unix"). */
const char *stream_peer(const struct stream *s);
/* True for a TLS stream. */
bool stream_is_tls(const struct stream *s);
/* False until a TLS handshake is over. */
bool stream_is_ready(const struct stream *s);
/* The descriptor, for sockopts and splice(2); still owned by the stream. */
int stream_fd(const struct stream *s);
