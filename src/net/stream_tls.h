/* SPDX-License-Identifier: MIT */
/* What a stream asks of a TLS library: net/tls.c answers with OpenSSL. A program without TLS links
 * stream.c alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tls_ctx;

struct tls_ops {
    /* A session on FD, which stays the caller's; NULL with E filled on failure. */
    void *(*open)(struct tls_ctx *ctx, int fd, bool is_client, const char *sni, struct err *e);
    /* Bytes; 0 at the peer's close_notify; -EAGAIN with *ret_wants set to EPOLLIN or EPOLLOUT; or
     * -errno. Both do the handshake first. */
    ssize_t (*read)(void *session, void *p, size_t n, uint32_t *ret_wants);
    ssize_t (*write)(void *session, const void *p, size_t n, uint32_t *ret_wants);
    /* True when decrypted bytes wait inside the session. */
    bool (*has_pending)(void *session);
    /* True once the handshake is over. */
    bool (*is_ready)(void *session);
    /* Sends close_notify, if it can be sent at once. */
    void (*shutdown)(void *session);
    void (*free)(void *session);
};

struct tls_ctx {
    const struct tls_ops *ops;
};
