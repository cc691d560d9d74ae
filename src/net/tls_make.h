/* SPDX-License-Identifier: MIT */
/* Makes certificates for development: an authority of one's own, that can vouch for one domain and
 * for this machine only, and what it signs. Everything is text in PEM. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#define TLS_CA_DAYS   3650
#define TLS_CERT_DAYS 397 /* clients refuse what is valid for much longer */

struct tls_pair {
    struct buf cert, key; /* made by the caller, with a maximum */
};

/* Appends a new authority for the domain NAME and what is below it. 0 or -errno. */
int tls_make_ca(struct tls_pair *ret, const char *name, struct err *e);
/* Appends a new certificate, signed by CA, for NAME, *.NAME, localhost and the loopback addresses.
 * -EINVAL when CA is not one, or not for NAME. */
int tls_make_cert(struct tls_pair *ret, const struct tls_pair *ca, const char *name, struct err *e);
/* Seconds until the certificate CERT (PEM) ends, negative when it has. -EINVAL is explained by E.
 */
int tls_cert_left(struct str cert, int64_t *ret_s, struct err *e);
