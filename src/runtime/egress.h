/* SPDX-License-Identifier: MIT */
/* The way out of cells. A cell's network namespace has nothing but loopback; every TCP connection
 * that leaves it arrives at a listener of the daemon, which knows the wanted address, asks the
 * cell's policy, connects from the host's network and passes the bytes on. Names are resolved for
 * the cell by a DNS server of the daemon on 127.0.0.1 and ::1, under the same policy. There is no
 * other way out: no packets, no UDP, no other cells.
 *
 * All functions run on the loop's thread; there are no callbacks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/tally.h"
#include "loop/loop.h"
#include "runtime/netpolicy.h"

#define EGRESS_CONNS_MAX      1024  /* connections of a cell */
#define EGRESS_CONNS_ALL_MAX  16384 /* connections of all cells; less with few descriptors */
#define EGRESS_CHUNK          65536 /* most bytes kept in each direction of a connection */
#define EGRESS_CONNECT_MS     15000 /* until the other side answers */
#define EGRESS_FIRST_BYTES_MS 3000  /* until a client states a name, where that matters */
#define EGRESS_DNS_PER_S      200   /* questions of a cell */
#define EGRESS_DNS_BURST      400
#define EGRESS_DNS_JOBS_MAX   64 /* questions of a cell under way */
#define EGRESS_DNS_CONNS_MAX  16 /* connections of a cell to its DNS server */
#define EGRESS_DNS_IDLE_MS    10000
#define EGRESS_NAMES_MAX      1024 /* pairs of name and address remembered for a cell */
#define EGRESS_NAME_MIN_S     120  /* how long at least and at most */
#define EGRESS_NAME_MAX_S     3600
#define EGRESS_TTL_MAX_S      60 /* shown to cells: sooner forgotten there than here */

struct egress;
struct egress_cell;

/* How connections come to the listener in a cell. */
enum egress_steering {
    EGRESS_BY_ANY, /* the first of these that works */
    EGRESS_BY_SK_LOOKUP,
    EGRESS_BY_NFTABLES,
    EGRESS_STEERING_COUNT
};

struct egress_options {
    enum egress_steering steering;
    /* DNS servers, NULL-terminated addresses; NULL: those of /etc/resolv.conf. */
    const char *const *dns_servers;
    /* Networks that the guard would deny but the operator opened, NULL-terminated; may be NULL. */
    const char *const *opened;
    /* Where open connections are counted; its maximum is set to what this host can have. NULL: they
     * are counted all the same. */
    struct tally *tally;
};

struct egress_stats {
    uint64_t n_conns;  /* passed on, ever */
    uint64_t n_denied; /* connections refused or cut by policy */
    uint64_t n_failed; /* allowed, but the other side did not answer */
    uint64_t n_names;  /* DNS questions */
    uint64_t n_names_denied;
    uint64_t bytes_out, bytes_in; /* as the cell sees it */
    unsigned n_open;
};

/* The host's network is the one this thread is in. NULL with E filled. */
struct egress *egress_open(struct loop *l, const struct egress_options *o, struct err *e);
/* All cells must be detached. NULL is allowed. */
void egress_close(struct egress *eg);

/* Opens the way out of the namespace under POLICY, which is copied. The descriptor stays the
 * caller's and is not needed afterwards. NULL with E filled when the kernel cannot do it; the cell
 * then has no network but loopback. */
struct egress_cell *egress_attach(struct egress *eg, int netns_fd, const struct netpolicy *policy,
                                  struct err *e);
/* Cuts everything and frees the cell's part; no allowed way out remains. NULL is allowed. */
void egress_detach(struct egress_cell *c);
/* Connections are counted as OWN has it: its maximum, and what it is a part of, which must outlive
 * the cell. */
void egress_count_as(struct egress_cell *c, const struct tally *own);
/* Replaces the policy; connections that it forbids are cut. -ENOMEM leaves all as it was. */
int egress_set_policy(struct egress_cell *c, const struct netpolicy *policy);
/* Which one it is. */
enum egress_steering egress_cell_steering(const struct egress_cell *c);
const struct egress_stats *egress_cell_stats(const struct egress_cell *c);
/* The sum over all cells, those that are gone included. */
struct egress_stats egress_totals(const struct egress *eg);
