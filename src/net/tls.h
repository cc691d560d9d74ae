/* SPDX-License-Identifier: MIT */
/* TLS for streams (net/stream.h), by OpenSSL: contexts that many streams share. TLS 1.2 and newer.
 * A context may be used by streams of several threads once it is set up. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct tls_ctx;

/* For the accepting side: certificate chain and key in PEM files. Clients that name protocols
 * (ALPN) must take "http/1.1". NULL with E filled. */
struct tls_ctx *tls_ctx_server(const char *cert_file, const char *key_file, struct err *e);
/* For the connecting side: peers must show a certificate for the name in stream_opts.sni that leads
 * to one in CA_FILE, or to the system's when it is NULL. NULL with E filled. */
struct tls_ctx *tls_ctx_client(const char *ca_file, struct err *e);
/* One more owner, on any thread. */
struct tls_ctx *tls_ctx_ref(struct tls_ctx *t);
/* An owner less; NULL is allowed. Streams that use it keep what they need. */
void tls_ctx_free(struct tls_ctx *t);

/* True when the certificate of a server context is for the host NAME. */
bool tls_ctx_is_for(const struct tls_ctx *t, const char *name);

/* Several certificates on one address: FN gets the name that the client asks for (NULL: none) and
 * returns the server context to go on with, of which it gives a reference away, or NULL to stay
 * with T. Called on the stream's thread. */
void tls_ctx_on_name(struct tls_ctx *t, struct tls_ctx *(*fn)(const char *name, void *arg),
                     void *arg);
