/* SPDX-License-Identifier: MIT */
/* What the files of the way out share. */
#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "runtime/dns_resolver.h"
#include "runtime/egress.h"
#include "runtime/sklookup.h"

struct egress {
    struct loop *loop;
    enum egress_steering steering; /* what was asked for */
    int home_netns_fd;
    struct netguard guard;
    struct loop_io addresses; /* changes of the host's own */
    struct dns_resolver resolver;
    struct sklookup_stock programs;
    struct list cells;         /* struct egress_cell */
    struct egress_stats ended; /* of cells that are gone */
    struct tally own, *all;    /* open connections; `all` is `own` where nobody else counts them */
    char chunk[EGRESS_CHUNK];
};

enum { EGRESS_DNS_UDP4, EGRESS_DNS_UDP6, EGRESS_DNS_TCP4, EGRESS_DNS_TCP6, EGRESS_DNS_SOCKETS };

struct egress_dns_socket {
    struct loop_io io;
    struct egress_cell *cell;
};

struct egress_cell {
    struct list node;
    struct egress *egress;
    struct netpolicy policy;
    struct loop_io listener;
    struct loop_timer relisten; /* after descriptors ran out */
    enum egress_steering steering;
    int steering_fd;   /* of sk_lookup */
    struct list conns; /* struct egress_conn */
    struct tally open; /* of the account's, or of all */
    struct egress_dns_socket dns[EGRESS_DNS_SOCKETS];
    struct list dns_jobs, dns_conns;
    unsigned n_dns_jobs, n_dns_conns;
    int64_t dns_tokens_milli, dns_filled_ms;
    struct list names; /* oldest first */
    unsigned n_names;
    struct egress_stats stats;
};

/* ---- egress_conn.c ---- */

void egress_conn_on_listener(struct loop_io *io, uint32_t events);
/* Judges all connections again and cuts those that are forbidden. */
void egress_conn_review(struct egress_cell *c);
void egress_conn_drop_all(struct egress_cell *c);

/* ---- egress_dns.c ---- */

/* Starts serving on the sockets in FDS (-1: none of this kind), which it takes. May be called again
 * with sockets of other kinds. */
int egress_dns_start(struct egress_cell *c, int fds[EGRESS_DNS_SOCKETS]);
/* Serves a connection that came another way; takes FD. */
void egress_dns_accept(struct egress_cell *c, int fd);
void egress_dns_stop(struct egress_cell *c);

/* ---- egress_names.c ---- */

#define EGRESS_KNOWN_MAX 8

/* Remembers that NAME led to these addresses. */
void egress_names_add(struct egress_cell *c, const char *name, const struct dns_answer *a);
/* Names that led to ADDR and are not forgotten yet, newest first; valid until the next call of
 * egress_names_add(). Returns how many. */
size_t egress_names_of(struct egress_cell *c, const struct netaddr *addr,
                       struct str known[EGRESS_KNOWN_MAX]);
void egress_names_clear(struct egress_cell *c);
