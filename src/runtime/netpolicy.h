/* SPDX-License-Identifier: MIT */
/* What a cell may reach. A policy is a list of rules that allow or deny addresses, networks and
 * names, and what happens when none matches; an allowing rule wins over every denying one. Above
 * all policies stands the guard: special ranges and the host's own addresses are denied, whatever a
 * policy says, except for networks that the operator opened.
 *
 * Rules as text, each perhaps with ports behind it (":443", ":80,8000-8999"; an IPv6 address then
 * needs brackets):
 *
 *     203.0.113.10    198.51.100.0/24    [2001:db8::]/32:443    0.0.0.0/0 (everything)
 *     example.com     *.example.com (all names below it, not itself)    * (all names)
 *
 * Pure: decides, does nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "runtime/netaddr.h"

#define NETPOLICY_NAME_MAX  254 /* of a name as text, with the NUL */
#define NETPOLICY_RULES_MAX 1024
#define NETPOLICY_PORTS_MAX 8
#define NETGUARD_NETS_MAX   4096

struct netpolicy_rule {
    bool is_allow, is_name, is_wildcard;
    struct netcidr net;
    char name[NETPOLICY_NAME_MAX]; /* lower case; of a wildcard the part behind "*." */
    unsigned n_ports;              /* 0: all */
    struct {
        uint16_t first, last;
    } ports[NETPOLICY_PORTS_MAX];
};

struct netpolicy {
    bool denies_by_default;
    struct netpolicy_rule *rules;
    size_t n_rules;
};

#define NETPOLICY_ALLOW_ALL                                                                        \
    {                                                                                              \
        0                                                                                          \
    }
#define NETPOLICY_DENY_ALL                                                                         \
    {                                                                                              \
        .denies_by_default = true                                                                  \
    }

/* Adds one rule. -EINVAL for text that is none, -ENOBUFS when there are too many, -ENOMEM. */
int netpolicy_add(struct netpolicy *p, bool is_allow, struct str text, struct err *e);
int netpolicy_copy(struct netpolicy *ret, const struct netpolicy *p);
void netpolicy_done(struct netpolicy *p);

/* ---- the guard ---- */

struct netguard {
    struct netcidr *own, *opened;
    size_t n_own, n_opened;
};

/* Adds an address of the host / forgets them all, to be read again. 0, -ENOMEM or -ENOBUFS. */
int netguard_add_own(struct netguard *g, const struct netaddr *a);
void netguard_clear_own(struct netguard *g);
/* Opens a network that would be denied: the operator's word. */
int netguard_open(struct netguard *g, struct str cidr, struct err *e);
void netguard_done(struct netguard *g);
/* True when the operator opened it. */
bool netguard_is_open(const struct netguard *g, const struct netaddr *a);
/* True when no policy may allow this address. */
bool netguard_denies(const struct netguard *g, const struct netaddr *a);

/* ---- decisions ---- */

enum netpolicy_verdict {
    NETPOLICY_ALLOW,
    NETPOLICY_ALLOW_BY_NAME, /* because of query.name, which must be resolved again: the client only
                                claims that the address belongs to it */
    NETPOLICY_DENY_GUARD,
    NETPOLICY_DENY_RULE,
    NETPOLICY_DENY_DEFAULT,
    NETPOLICY_VERDICT_COUNT
};

struct netpolicy_query {
    struct netaddr addr;
    uint16_t port;
    struct str name;         /* what the client said in its first bytes; empty: nothing */
    const struct str *known; /* names that we resolved to this address for the cell */
    size_t n_known;
};

static inline bool netpolicy_is_allowed(enum netpolicy_verdict v)
{
    return v == NETPOLICY_ALLOW || v == NETPOLICY_ALLOW_BY_NAME;
}

enum netpolicy_verdict netpolicy_judge(const struct netpolicy *p, const struct netguard *g,
                                       const struct netpolicy_query *q);
/* True when the name in the first bytes of a connection could change the verdict on it. */
bool netpolicy_wants_name(const struct netpolicy *p, const struct netguard *g,
                          const struct netpolicy_query *q);
/* True when a cell may ask for the addresses of NAME. Where everything is denied but some names,
 * asking for others is denied, too: a question can carry a secret to whoever answers it. */
bool netpolicy_may_resolve(const struct netpolicy *p, struct str name);
