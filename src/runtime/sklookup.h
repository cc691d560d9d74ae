/* SPDX-License-Identifier: MIT */
/* Steering of TCP connections inside a network namespace: a BPF program of type sk_lookup (Linux
 * 5.9) gives every connection whose destination is not loopback to one listener, and those to the
 * DNS server on 127.0.0.1 and ::1, so that this one needs no sockets of its own. It needs no
 * addresses, firewall or connection tracking, ends with its descriptors, and nothing that runs in
 * the namespace without rights over it can detach it. */
#pragma once

#include "base/err.h"

enum { SKLOOKUP_DNS_PORT = 53 };

/* Programs that no namespace uses: loading one takes longer than all the rest of an attachment. */
enum { SKLOOKUP_KEPT = 32 };
struct sklookup_stock {
    struct {
        int program, map;
    } kept[SKLOOKUP_KEPT];
    unsigned n;
};

/* Gives connections in the namespace to LISTEN_FD, a listening TCP socket made there. Returns a
 * descriptor, or -errno. */
int sklookup_attach(struct sklookup_stock *s, int netns_fd, int listen_fd, struct err *e);
/* Ends the steering behind FD, which it closes; connections that exist go on. */
void sklookup_detach(struct sklookup_stock *s, int fd);
void sklookup_done(struct sklookup_stock *s);
