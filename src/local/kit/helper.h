/* SPDX-License-Identifier: MIT */
/* Programs of other packages that do a part of a tool's work: poppler's, qpdf, curl. The cell has
 * them when the host has; one that is absent is an error that names its Debian package. */
#pragma once

#include "local/local.h"

enum {
    HELPER_TIMEOUT_MS = 120000,
    HELPER_OUTPUT_MAX = LOCAL_FILE_MAX, /* bytes of output that are kept */
    HELPER_FETCH_S = 60                 /* for a download */
};

struct helper {
    const char *const *argv;
    const char *package; /* where its program comes from */
    int warns_with;      /* this status is a success too; 0: none is */
};

/* Runs it in the workspace. Its output is in C's arena; on failure false, and *WHY is the last line
 * that it said, or that it is not installed. */
bool helper_run(struct local_call *c, const struct helper *h, struct str *ret, struct str *why);

/* Downloads an http: or https: URL to the file TO; nothing is left there on failure. */
bool helper_fetch(struct local_call *c, struct str url, const char *to, struct str *why);
/* True for what helper_fetch() takes. */
bool helper_is_url(struct str s);
