/* SPDX-License-Identifier: MIT */
/* DNS messages. The bytes are read as a question, whose answer must be readable and say the same,
 * and as an answer to the question that they state themselves. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/dns.h"

static void check_answer(const struct dns_query *q, size_t n_addrs)
{
    struct dns_answer a = {.ttl_s = 60, .n_addrs = n_addrs}, back;
    uint8_t out[DNS_REPLY_MAX];
    bool is_address = q->type == DNS_TYPE_A || q->type == DNS_TYPE_AAAA;

    for (size_t i = 0; i < n_addrs; i++)
        a.addrs[i] = netaddr_v4((uint32_t)i);
    size_t len = dns_write_answer(out, q, &a, q->udp_max);
    if (len > q->udp_max || dns_read_answer(&back, q, out, len) < 0)
        abort();
    if (is_address && !back.is_cut && back.n_addrs != n_addrs)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dns_query q;
    struct dns_answer a;
    uint8_t out[DNS_REPLY_MAX];

    if (dns_read_query(&q, data, size) == DNS_OK) {
        if (strlen(q.name) >= DNS_NAME_MAX || q.udp_max > DNS_UDP_MAX)
            abort();
        for (size_t n = 0; n <= DNS_ADDRS_MAX; n += DNS_ADDRS_MAX / 2)
            check_answer(&q, n);
        struct dns_query again;
        int len = dns_write_query(out, q.id, str_of(q.name), q.type);
        if (q.name[0] && (len < 0 || dns_read_query(&again, out, (size_t)len) != DNS_OK ||
                          strcmp(again.name, q.name) != 0))
            abort();
    }
    /* As an answer: make the question out of the answer's own. */
    if (size < 12 || size > DNS_MESSAGE_MAX)
        return 0;
    uint8_t copy[DNS_MESSAGE_MAX];
    memcpy(copy, data, size);
    copy[2] &= 0x01;
    memset(copy + 6, 0, 6);
    if (dns_read_query(&q, copy, size) != DNS_OK)
        return 0;
    for (int i = 0; i < 2; i++, q.type = DNS_TYPE_AAAA)
        if (dns_read_answer(&a, &q, data, size) == 0 && a.n_addrs > DNS_ADDRS_MAX)
            abort();
    return 0;
}
