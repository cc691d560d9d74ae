/* SPDX-License-Identifier: MIT */
/* Steering by nftables. See nftredirect.h. */
#include "runtime/nftredirect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
    BATCH_MAX = 4096,
    PRIORITY = -100, /* where destinations are changed */
    ORIGINAL_DST = 80,
    V4_DESTINATION = 16, /* offsets in the headers */
    V6_DESTINATION = 24,
};

#define TABLE "tidepool"
#define CHAIN "out"

/* ---- messages ---- */

struct nft_batch {
    _Alignas(8) uint8_t p[BATCH_MAX];
    size_t len;
    size_t message; /* where the current message begins */
    unsigned n_answers;
    bool is_full;
};

static void *put_nft_bytes(struct nft_batch *b, size_t len)
{
    size_t at = b->len, room = NLMSG_ALIGN(len);

    if (b->is_full || sizeof b->p - at < room) {
        b->is_full = true;
        return NULL;
    }
    memset(b->p + at, 0, room);
    b->len += room;
    return b->p + at;
}

static void end_message(struct nft_batch *b)
{
    ((struct nlmsghdr *)(void *)(b->p + b->message))->nlmsg_len = (uint32_t)(b->len - b->message);
}

static void begin_message(struct nft_batch *b, unsigned type, unsigned flags, unsigned char family)
{
    b->message = b->len;
    struct nlmsghdr *head = put_nft_bytes(b, sizeof *head);
    struct nfgenmsg *nf = put_nft_bytes(b, sizeof *nf);
    if (!head || !nf)
        return;
    head->nlmsg_type = (uint16_t)type;
    head->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    nf->nfgen_family = family;
    nf->version = NFNETLINK_V0;
    bool is_edge = type == NFNL_MSG_BATCH_BEGIN || type == NFNL_MSG_BATCH_END;
    nf->res_id = htons(is_edge ? NFNL_SUBSYS_NFTABLES : 0);
    b->n_answers += flags & NLM_F_ACK ? 1 : 0;
    end_message(b);
}

static void begin_table_message(struct nft_batch *b, unsigned type, unsigned flags)
{
    begin_message(b, NFNL_SUBSYS_NFTABLES << 8 | type, flags | NLM_F_ACK, NFPROTO_INET);
}

static void add_nft_attr(struct nft_batch *b, unsigned type, const void *p, size_t len)
{
    struct nlattr *a = put_nft_bytes(b, sizeof(struct nlattr) + len);

    if (!a)
        return;
    a->nla_type = (uint16_t)type;
    a->nla_len = (uint16_t)(sizeof(struct nlattr) + len);
    memcpy((uint8_t *)a + sizeof(struct nlattr), p, len);
    end_message(b);
}

static void add_text(struct nft_batch *b, unsigned type, const char *text)
{
    add_nft_attr(b, type, text, strlen(text) + 1);
}

static void add_number(struct nft_batch *b, unsigned type, uint32_t v)
{
    uint32_t net = htonl(v);

    add_nft_attr(b, type, &net, sizeof net);
}

static size_t begin_nest(struct nft_batch *b, unsigned type)
{
    size_t at = b->len;

    add_nft_attr(b, type | NLA_F_NESTED, "", 0);
    return at;
}

static void end_nest(struct nft_batch *b, size_t at)
{
    if (!b->is_full)
        ((struct nlattr *)(void *)(b->p + at))->nla_len = (uint16_t)(b->len - at);
    end_message(b);
}

/* ---- expressions of a rule ---- */

struct expression {
    size_t element, data;
};

static struct expression begin_expression(struct nft_batch *b, const char *name)
{
    struct expression x = {.element = begin_nest(b, NFTA_LIST_ELEM)};

    add_text(b, NFTA_EXPR_NAME, name);
    x.data = begin_nest(b, NFTA_EXPR_DATA);
    return x;
}

static void end_expression(struct nft_batch *b, struct expression x)
{
    end_nest(b, x.data);
    end_nest(b, x.element);
}

static void add_nft_value(struct nft_batch *b, unsigned type, const void *p, size_t len)
{
    size_t nest = begin_nest(b, type);

    add_nft_attr(b, NFTA_DATA_VALUE, p, len);
    end_nest(b, nest);
}

/* Goes on with the rule only when register 1 has this value. */
static void must_equal(struct nft_batch *b, const void *p, size_t len)
{
    struct expression x = begin_expression(b, "cmp");

    add_number(b, NFTA_CMP_SREG, NFT_REG_1);
    add_number(b, NFTA_CMP_OP, NFT_CMP_EQ);
    add_nft_value(b, NFTA_CMP_DATA, p, len);
    end_expression(b, x);
}

static void must_have_meta(struct nft_batch *b, unsigned key, uint8_t value)
{
    struct expression x = begin_expression(b, "meta");

    add_number(b, NFTA_META_DREG, NFT_REG_1);
    add_number(b, NFTA_META_KEY, key);
    end_expression(b, x);
    must_equal(b, &value, sizeof value);
}

static void must_go_to(struct nft_batch *b, unsigned offset, const void *p, size_t len)
{
    struct expression x = begin_expression(b, "payload");

    add_number(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
    add_number(b, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
    add_number(b, NFTA_PAYLOAD_OFFSET, offset);
    add_number(b, NFTA_PAYLOAD_LEN, (uint32_t)len);
    end_expression(b, x);
    must_equal(b, p, len);
}

static void accept_it(struct nft_batch *b)
{
    struct expression x = begin_expression(b, "immediate");

    add_number(b, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
    size_t data = begin_nest(b, NFTA_IMMEDIATE_DATA);
    size_t verdict = begin_nest(b, NFTA_DATA_VERDICT);
    add_number(b, NFTA_VERDICT_CODE, NF_ACCEPT);
    end_nest(b, verdict);
    end_nest(b, data);
    end_expression(b, x);
}

static void redirect_it(struct nft_batch *b, uint16_t port)
{
    uint16_t net = htons(port);
    struct expression x = begin_expression(b, "immediate");

    add_number(b, NFTA_IMMEDIATE_DREG, NFT_REG_1);
    add_nft_value(b, NFTA_IMMEDIATE_DATA, &net, sizeof net);
    end_expression(b, x);
    x = begin_expression(b, "redir");
    add_number(b, NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
    end_expression(b, x);
}

/* ---- the rules ---- */

static size_t begin_rule(struct nft_batch *b)
{
    begin_table_message(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    add_text(b, NFTA_RULE_TABLE, TABLE);
    add_text(b, NFTA_RULE_CHAIN, CHAIN);
    return begin_nest(b, NFTA_RULE_EXPRESSIONS);
}

static void put_nft_table(struct nft_batch *b)
{
    static const unsigned types[] = {NFT_MSG_NEWTABLE, NFT_MSG_DELTABLE, NFT_MSG_NEWTABLE};

    /* Made so that it can be removed, whether it was there or not. */
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        begin_table_message(b, types[i], types[i] == NFT_MSG_NEWTABLE ? NLM_F_CREATE : 0);
        add_text(b, NFTA_TABLE_NAME, TABLE);
    }
    begin_table_message(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    add_text(b, NFTA_CHAIN_TABLE, TABLE);
    add_text(b, NFTA_CHAIN_NAME, CHAIN);
    size_t hook = begin_nest(b, NFTA_CHAIN_HOOK);
    add_number(b, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
    add_number(b, NFTA_HOOK_PRIORITY, (uint32_t)PRIORITY);
    end_nest(b, hook);
    add_text(b, NFTA_CHAIN_TYPE, "nat");
}

static void put_rules(struct nft_batch *b, uint16_t port)
{
    static const uint8_t loopback4 = IN_LOOPBACKNET, loopback6[16] = {[15] = 1};

    size_t rule = begin_rule(b);
    must_have_meta(b, NFT_META_NFPROTO, NFPROTO_IPV4);
    must_go_to(b, V4_DESTINATION, &loopback4, sizeof loopback4);
    accept_it(b);
    end_nest(b, rule);
    rule = begin_rule(b);
    must_have_meta(b, NFT_META_NFPROTO, NFPROTO_IPV6);
    must_go_to(b, V6_DESTINATION, loopback6, sizeof loopback6);
    accept_it(b);
    end_nest(b, rule);
    rule = begin_rule(b);
    must_have_meta(b, NFT_META_L4PROTO, IPPROTO_TCP);
    redirect_it(b, port);
    end_nest(b, rule);
}

/* Every message of the batch is answered; the first error counts. */
static int read_nft_answers(int fd, unsigned n)
{
    _Alignas(8) uint8_t p[8192];
    int first = 0;

    while (n > 0) {
        ssize_t len = recv(fd, p, sizeof p, 0);
        if (len < 0)
            return first < 0 ? first : -errno;
        for (const struct nlmsghdr *m = (void *)p; NLMSG_OK(m, (uint32_t)len) && n > 0;
             m = NLMSG_NEXT(m, len)) {
            const struct nlmsgerr *answer = NLMSG_DATA(m);
            if (m->nlmsg_type == NLMSG_ERROR && first == 0)
                first = answer->error;
            n--;
        }
        if (first < 0)
            return first;
    }
    return first;
}

int nftredirect_set_up(uint16_t port, struct err *e)
{
    const struct timeval limit = {.tv_sec = 2};
    struct nft_batch b = {.len = 0};

    begin_message(&b, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC);
    put_nft_table(&b);
    put_rules(&b, port);
    begin_message(&b, NFNL_MSG_BATCH_END, 0, AF_UNSPEC);
    if (b.is_full)
        return err_sys(e, -ENOBUFS, "nftables");
    auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 ||
        send(fd, b.p, b.len, 0) < 0)
        return err_sys(e, -errno, "nftables");
    int r = read_nft_answers(fd, b.n_answers);
    return r < 0 ? err_sys(e, r, "nftables") : 0;
}

int nftredirect_target(int fd, struct netaddr *ret_addr, uint16_t *ret_port)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof sa;

    if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0 ||
        netaddr_from_sockaddr(ret_addr, NULL, (struct sockaddr *)&sa) < 0)
        return -errno;
    int level = netaddr_is_v4(ret_addr) ? SOL_IP : SOL_IPV6;
    len = sizeof sa;
    if (getsockopt(fd, level, ORIGINAL_DST, &sa, &len) < 0)
        return -errno;
    return netaddr_from_sockaddr(ret_addr, ret_port, (struct sockaddr *)&sa);
}
