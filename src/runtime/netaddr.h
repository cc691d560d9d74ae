/* SPDX-License-Identifier: MIT */
/* Internet addresses and networks. Both families are one type: an IPv4 address is kept in its
 * IPv4-mapped form, so that 10.0.0.1 and ::ffff:10.0.0.1 are the same thing and no rule can be
 * passed by writing an address differently. Pure: no sockets, no names. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/str.h"

#define NETADDR_TEXT_MAX 46

struct netaddr {
    uint8_t b[16];
};

struct netcidr {
    struct netaddr addr;
    unsigned bits; /* 0 to 128, of the mapped form */
};

struct netaddr netaddr_v4(uint32_t host_order);
bool netaddr_is_v4(const struct netaddr *a);
static inline bool netaddr_eq(const struct netaddr *a, const struct netaddr *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}
/* "203.0.113.10" or "2001:db8::10", without brackets, port or zone. 0 or -EINVAL. */
int netaddr_parse(struct netaddr *ret, struct str text);
void netaddr_format(char out[NETADDR_TEXT_MAX], const struct netaddr *a);

/* From and to the kernel's form. An address of another family is -EAFNOSUPPORT. */
int netaddr_from_sockaddr(struct netaddr *ret, uint16_t *ret_port, const struct sockaddr *sa);
/* AF_INET for IPv4, else AF_INET6; returns the length. */
socklen_t netaddr_to_sockaddr(struct sockaddr_storage *ret, const struct netaddr *a, uint16_t port);

/* "10.0.0.0/8", or an address alone. Bits behind the prefix must be zero. "0.0.0.0/0" and "::/0"
 * both mean all addresses of both families; "0.0.0.0" alone is refused because it is always meant
 * to be the former. 0 or -EINVAL. */
int netcidr_parse(struct netcidr *ret, struct str text);
bool netcidr_has(const struct netcidr *c, const struct netaddr *a);

/* True for what is not the public internet: private, shared, link-local (metadata services),
 * loopback, multicast, "this network", reserved and unique-local addresses. */
bool netaddr_is_special(const struct netaddr *a);
/* The IPv4 address that an IPv6 address carries for a translator (NAT64, 6to4, Teredo,
 * IPv4-compatible), in the mapped form. False when it carries none. */
bool netaddr_embedded(struct netaddr *ret, const struct netaddr *a);
