/* SPDX-License-Identifier: MIT */
/* Asks the host's resolvers for addresses. Every question goes out on a socket of its own, so that
 * its port, chosen by the kernel, is as hard to guess as its id; answers that come from elsewhere
 * or do not fit are ignored. A cut answer is asked for again by TCP. On the loop's thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "loop/loop.h"
#include "runtime/dns.h"

#define DNS_SERVERS_MAX    4
#define DNS_ASKS_MAX       512  /* questions under way */
#define DNS_ATTEMPT_MS     1500 /* for one server */
#define DNS_ATTEMPTS       4
#define DNS_FORGERIES_MAX  64 /* answers that do not fit, on one socket */
#define DNS_CONF_REREAD_MS 10000

struct dns_resolver {
    struct loop *loop;
    struct netaddr servers[DNS_SERVERS_MAX];
    size_t n_servers;
    unsigned n_asks;
    const char *conf; /* the file with the servers; NULL: they are fixed */
    int64_t read_ms;  /* when it was read */
};

struct dns_ask {
    struct dns_resolver *resolver; /* NULL when nothing is under way */
    struct loop_io io;
    struct loop_timer timer;
    struct dns_query query;
    unsigned attempt, n_forgeries;
    uint8_t *tcp; /* the answer so far, while asking by TCP */
    size_t tcp_len;
    /* A is NULL when nobody answered. The ask may be freed or started again. */
    void (*fn)(struct dns_ask *ask, const struct dns_answer *a);
};

/* SERVERS is a NULL-terminated list of addresses; NULL: those of CONF, which is read again when it
 * has become old (and must stay valid). */
int dns_resolver_init(struct dns_resolver *r, struct loop *l, const char *const *servers,
                      const char *conf, struct err *e);
/* Asks for the addresses (type A or AAAA) of NAME; FN is called later, never from here. -errno
 * without a call when there are too many asks, no servers, or NAME is none. */
int dns_ask_start(struct dns_resolver *r, struct dns_ask *ask, struct str name, uint16_t type,
                  void (*fn)(struct dns_ask *ask, const struct dns_answer *a));
/* Gives up, without a call; safe when nothing is under way. */
void dns_ask_cancel(struct dns_ask *ask);
