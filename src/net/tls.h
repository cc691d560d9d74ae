/* SPDX-License-Identifier: MIT */
/* TLS for streams (net/stream.h), by OpenSSL: contexts that many streams share. TLS 1.2 and newer.
 * A context may be used by streams of several threads once it is set up. */
#pragma once

#include "base/err.h"

struct tls_ctx;

/* For the accepting side: certificate chain and key in PEM files. NULL with E filled. */
struct tls_ctx *tls_ctx_server(const char *cert_file, const char *key_file, struct err *e);
/* For the connecting side: peers must show a certificate for the name in stream_opts.sni that leads
 * to one in CA_FILE, or to the system's when it is NULL. NULL with E filled. */
struct tls_ctx *tls_ctx_client(const char *ca_file, struct err *e);
/* NULL is allowed. Streams that use it keep what they need. */
void tls_ctx_free(struct tls_ctx *t);

/* Several certificates on one address: FN gets the name that the client asks for and returns the
 * server context to go on with, or NULL to stay with T. Called on the stream's thread. */
void tls_ctx_on_name(struct tls_ctx *t, struct tls_ctx *(*fn)(const char *name, void *arg),
                     void *arg);
