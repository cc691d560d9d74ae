/* SPDX-License-Identifier: MIT */
/* Internet addresses and networks. See netaddr.h. */
#include "runtime/netaddr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/cleanup.h"

enum { MAPPED_BITS = 96 };

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static struct netaddr from_v4_bytes(const uint8_t v4[4])
{
    struct netaddr a;

    memcpy(a.b, mapped_prefix, sizeof mapped_prefix);
    memcpy(a.b + 12, v4, 4);
    return a;
}

struct netaddr netaddr_v4(uint32_t host_order)
{
    const uint8_t v4[] = {(uint8_t)(host_order >> 24), (uint8_t)(host_order >> 16),
                          (uint8_t)(host_order >> 8), (uint8_t)host_order};

    return from_v4_bytes(v4);
}

bool netaddr_is_v4(const struct netaddr *a)
{
    return memcmp(a->b, mapped_prefix, sizeof mapped_prefix) == 0;
}

int netaddr_parse(struct netaddr *ret, struct str text)
{
    char z[INET6_ADDRSTRLEN];
    uint8_t v4[4];
    struct netaddr a;

    if (text.len == 0 || text.len >= sizeof z || memchr(text.p, '\0', text.len))
        return -EINVAL;
    memcpy(z, text.p, text.len);
    z[text.len] = '\0';
    if (inet_pton(AF_INET, z, v4) == 1) {
        *ret = from_v4_bytes(v4);
        return 0;
    }
    if (inet_pton(AF_INET6, z, a.b) != 1)
        return -EINVAL;
    *ret = a;
    return 0;
}

void netaddr_format(char out[NETADDR_TEXT_MAX], const struct netaddr *a)
{
    bool is_v4 = netaddr_is_v4(a);

    if (!inet_ntop(is_v4 ? AF_INET : AF_INET6, a->b + (is_v4 ? 12 : 0), out, NETADDR_TEXT_MAX))
        out[0] = '\0';
}

int netaddr_from_sockaddr(struct netaddr *ret, uint16_t *ret_port, const struct sockaddr *sa)
{
    uint16_t port;

    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)sa;
        *ret = from_v4_bytes((const uint8_t *)&in->sin_addr);
        port = ntohs(in->sin_port);
    } else if (sa->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)sa;
        memcpy(ret->b, &in6->sin6_addr, sizeof ret->b);
        port = ntohs(in6->sin6_port);
    } else {
        return -EAFNOSUPPORT;
    }
    if (ret_port)
        *ret_port = port;
    return 0;
}

socklen_t netaddr_to_sockaddr(struct sockaddr_storage *ret, const struct netaddr *a, uint16_t port)
{
    memset(ret, 0, sizeof *ret);
    if (netaddr_is_v4(a)) {
        struct sockaddr_in *in = (struct sockaddr_in *)(void *)ret;
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        memcpy(&in->sin_addr, a->b + 12, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)(void *)ret;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    memcpy(&in6->sin6_addr, a->b, sizeof a->b);
    return sizeof *in6;
}

/* ---- networks ---- */

static bool is_zero_from(const struct netaddr *a, unsigned bit)
{
    for (; bit < 128; bit++)
        if (a->b[bit / 8] & (0x80 >> (bit % 8)))
            return false;
    return true;
}

int netcidr_parse(struct netcidr *ret, struct str text)
{
    struct netcidr c = {.bits = 128};
    struct str rest = text;
    struct str head = str_cut(&rest, '/');
    bool is_dotted = str_chr(head, ':') < 0;
    uint64_t bits;

    if (netaddr_parse(&c.addr, head) < 0)
        return -EINVAL;
    if (!rest.p)
        return is_dotted && is_zero_from(&c.addr, MAPPED_BITS) ? -EINVAL : (*ret = c, 0);
    if (rest.len > 3 || str_to_u64(rest, &bits) < 0 || bits > (is_dotted ? 32U : 128U))
        return -EINVAL;
    c.bits = (unsigned)bits + (is_dotted ? MAPPED_BITS : 0);
    if (!is_zero_from(&c.addr, c.bits))
        return -EINVAL;
    if (is_dotted && bits == 0)
        c = (struct netcidr){.bits = 0};
    *ret = c;
    return 0;
}

bool netcidr_has(const struct netcidr *c, const struct netaddr *a)
{
    unsigned bytes = c->bits / 8, rest = c->bits % 8;

    if (memcmp(c->addr.b, a->b, bytes) != 0)
        return false;
    return rest == 0 || ((c->addr.b[bytes] ^ a->b[bytes]) >> (8 - rest)) == 0;
}

/* ---- kinds of addresses ---- */

/* RFC 6890 and its registries, as far as nothing public can be there. The ranges for documentation
 * are left out: they lead nowhere, and tests use them. */
static const struct {
    uint8_t v4[4];
    unsigned bits;
} special_v4[] = {
    {{0, 0, 0, 0}, 8},      {{10, 0, 0, 0}, 8},    {{100, 64, 0, 0}, 10}, {{127, 0, 0, 0}, 8},
    {{169, 254, 0, 0}, 16}, {{172, 16, 0, 0}, 12}, {{192, 0, 0, 0}, 24},  {{192, 168, 0, 0}, 16},
    {{198, 18, 0, 0}, 15},  {{224, 0, 0, 0}, 4},   {{240, 0, 0, 0}, 4},
};

static const struct {
    uint8_t b[2];
    unsigned bits;
} special_v6[] = {{{0xfc, 0x00}, 7}, {{0xfe, 0x80}, 10}, {{0xfe, 0xc0}, 10}, {{0xff, 0x00}, 8}};

bool netaddr_is_special(const struct netaddr *a)
{
    if (netaddr_is_v4(a)) {
        for (size_t i = 0; i < ARRAY_LEN(special_v4); i++) {
            struct netcidr c = {from_v4_bytes(special_v4[i].v4), special_v4[i].bits + MAPPED_BITS};
            if (netcidr_has(&c, a))
                return true;
        }
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(special_v6); i++) {
        struct netcidr c = {.bits = special_v6[i].bits};
        memcpy(c.addr.b, special_v6[i].b, sizeof special_v6[i].b);
        if (netcidr_has(&c, a))
            return true;
    }
    /* :: and ::1. */
    return is_zero_from(a, 0) || (a->b[15] == 1 && memcmp(a->b, (uint8_t[15]){0}, 15) == 0);
}

bool netaddr_embedded(struct netaddr *ret, const struct netaddr *a)
{
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b}, zero[12];
    static const uint8_t nat64_local[6] = {0, 0x64, 0xff, 0x9b, 0, 1}, teredo[4] = {0x20, 0x01};
    uint8_t v4[4];

    if (memcmp(a->b, nat64, sizeof nat64) == 0 || memcmp(a->b, zero, sizeof zero) == 0 ||
        memcmp(a->b, nat64_local, sizeof nat64_local) == 0) {
        memcpy(v4, a->b + 12, 4);
    } else if (a->b[0] == 0x20 && a->b[1] == 0x02) {
        memcpy(v4, a->b + 2, 4);
    } else if (memcmp(a->b, teredo, sizeof teredo) == 0) {
        for (int i = 0; i < 4; i++)
            v4[i] = (uint8_t)~a->b[12 + i];
    } else {
        return false;
    }
    *ret = from_v4_bytes(v4);
    return true;
}
