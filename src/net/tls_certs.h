/* SPDX-License-Identifier: MIT */
/* The certificates of a server: one for everybody, others for the names they are made out to (SNI),
 * wildcards included. They can be exchanged while connections come in. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct tls_certs;
struct tls_ctx;

enum { TLS_CERTS_MAX = 256 };

struct tls_certs_files {
    const char *cert, *key; /* the one for everybody; NULL: the first of the directory */
    const char *dir;        /* others: each NAME.pem with its key NAME.key; may be NULL */
};

/* Reads the files. FILES' strings must live as long. NULL with E filled. */
struct tls_certs *tls_certs_new(const struct tls_certs_files *files, struct err *e);
/* When no stream is accepted any more. NULL is allowed. */
void tls_certs_free(struct tls_certs *c);

/* What streams are opened with. */
struct tls_ctx *tls_certs_ctx(const struct tls_certs *c);
/* Reads the files again, for the connections that come from now on. On failure (-errno, E filled)
 * the old ones stay. */
int tls_certs_reload(struct tls_certs *c, struct err *e);
/* True when the files are not those that were read last, with or without success. */
bool tls_certs_have_changed(const struct tls_certs *c);
