/* SPDX-License-Identifier: MIT */
/* DNS messages (RFC 1035), as far as a resolver for cells needs them: questions for addresses, the
 * answers to them, and nothing of an upstream's message is ever passed on as it came. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "runtime/netaddr.h"

#define DNS_NAME_MAX    254  /* a name as text, with the NUL */
#define DNS_ADDRS_MAX   16   /* addresses that are taken from an answer */
#define DNS_UDP_MIN     512  /* what every client takes by UDP */
#define DNS_UDP_MAX     1232 /* the most that we send or ask for by UDP */
#define DNS_MESSAGE_MAX 4096 /* the most that we take, by TCP */
#define DNS_REPLY_MAX   1024 /* the largest message that the functions here write */

enum {
    DNS_TYPE_A = 1,
    DNS_TYPE_CNAME = 5,
    DNS_TYPE_AAAA = 28,
    DNS_TYPE_OPT = 41,
};

enum dns_rcode {
    DNS_OK = 0,
    DNS_FORMAT_ERROR = 1,
    DNS_SERVER_FAILURE = 2,
    DNS_NO_SUCH_NAME = 3,
    DNS_NOT_IMPLEMENTED = 4,
    DNS_REFUSED = 5,
};

struct dns_query {
    uint16_t id, type;
    bool wants_recursion, has_edns;
    size_t udp_max;          /* what the asker takes by UDP, 512 to DNS_UDP_MAX */
    char name[DNS_NAME_MAX]; /* lower case, without the last dot; "" is the root */
};

struct dns_answer {
    enum dns_rcode rcode;
    bool is_cut; /* ask again by TCP */
    uint32_t ttl_s;
    size_t n_addrs;
    struct netaddr addrs[DNS_ADDRS_MAX];
};

/* Reads a question. DNS_OK, or what to answer instead (RET then has the id, and perhaps no name);
 * -EBADMSG when it is not even a question: no answer at all. */
int dns_read_query(struct dns_query *ret, const void *p, size_t len);
/* Writes a question for NAME; the length, or -EINVAL when this is no name. */
int dns_write_query(uint8_t out[DNS_REPLY_MAX], uint16_t id, struct str name, uint16_t type);
/* Reads the answer to exactly this question (id, name and type must be the same). -EBADMSG when it
 * is malformed or answers something else. Only addresses that belong to the name, or to what its
 * aliases lead to, are taken. */
int dns_read_answer(struct dns_answer *ret, const struct dns_query *q, const void *p, size_t len);
/* Writes the answer A to Q, at most LIMIT bytes: addresses that do not fit are left out and the
 * answer is marked as cut. Returns the length. */
size_t dns_write_answer(uint8_t out[DNS_REPLY_MAX], const struct dns_query *q,
                        const struct dns_answer *a, size_t limit);
