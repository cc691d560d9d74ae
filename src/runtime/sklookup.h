/* SPDX-License-Identifier: MIT */
/* Steering of TCP connections inside a network namespace: a BPF program of type sk_lookup (Linux
 * 5.9) gives every connection whose destination is not loopback to one listener. It needs no
 * addresses, firewall or connection tracking, ends with its descriptors, and nothing that runs in
 * the namespace without rights over it can detach it. */
#pragma once

#include "base/err.h"

struct sklookup {
    int map_fd, link_fd;
};

#define SKLOOKUP_INIT                                                                              \
    {                                                                                              \
        -1, -1                                                                                     \
    }

/* Gives connections in the namespace to LISTEN_FD, a listening TCP socket made there. */
int sklookup_attach(struct sklookup *s, int netns_fd, int listen_fd, struct err *e);
/* Detaches; safe to repeat. Connections that exist go on. */
void sklookup_detach(struct sklookup *s);
