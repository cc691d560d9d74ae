/* SPDX-License-Identifier: MIT */
/* Files that let a service on one machine be reached under a domain with TLS, for development. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct domain_args {
    const char *name; /* "pool.test" */
    const char *dir;  /* where the files go; made when missing */
    bool is_new;      /* a new authority, although there may be one */
};

struct domain_files {
    char *ca, *ca_key, *cert, *key; /* paths, freed by domain_files_done() */
    bool is_old_ca;                 /* it was there, and was used again */
};

/* True for a name that a wildcard certificate can be made for: labels of lower-case letters, digits
 * and hyphens, at least two, because clients refuse a wildcard below a single one. */
bool domain_is_valid(const char *name);
/* Makes the authority (unless DIR has one for NAME that is valid long enough) and a certificate:
 * ca.pem, ca.key, cert.pem, key.pem. 0, or -errno with E filled. */
int domain_make(const struct domain_args *args, struct domain_files *ret, struct err *e);
void domain_files_done(struct domain_files *f);
