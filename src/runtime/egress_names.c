/* SPDX-License-Identifier: MIT */
/* Which names led a cell to which addresses: what makes rules by name hold for connections, which
 * only have addresses. */
#include <stdlib.h>

#include "base/mem.h"
#include "runtime/egress_internal.h"

struct name {
    struct list node;
    struct netaddr addr;
    int64_t until_ms;
    size_t len;
    char text[];
};

static void forget_egress_name(struct egress_cell *c, struct name *n)
{
    list_del(&n->node);
    c->n_names--;
    free(n);
}

static struct name *find_egress_name(struct egress_cell *c, struct str text,
                                     const struct netaddr *addr)
{
    list_each(node, &c->names)
    {
        struct name *n = list_entry(node, struct name, node);
        if (netaddr_eq(&n->addr, addr) && str_eq(str_n(n->text, n->len), text))
            return n;
    }
    return NULL;
}

static struct name *make_egress_name(struct egress_cell *c, struct str text,
                                     const struct netaddr *addr)
{
    struct name *n = mem_zalloc(1, sizeof *n + text.len);

    if (!n)
        return NULL;
    list_init(&n->node);
    n->addr = *addr;
    n->len = text.len;
    memcpy(n->text, text.p, text.len);
    if (c->n_names == EGRESS_NAMES_MAX)
        forget_egress_name(c, list_entry(c->names.next, struct name, node));
    c->n_names++;
    return n;
}

void egress_names_add(struct egress_cell *c, const char *name, const struct dns_answer *a)
{
    int64_t ttl_s = a->ttl_s < EGRESS_NAME_MIN_S ? EGRESS_NAME_MIN_S : a->ttl_s;

    if (ttl_s > EGRESS_NAME_MAX_S)
        ttl_s = EGRESS_NAME_MAX_S;
    for (size_t i = 0; i < a->n_addrs; i++) {
        struct name *n = find_egress_name(c, str_of(name), &a->addrs[i]);
        if (!n)
            n = make_egress_name(c, str_of(name), &a->addrs[i]);
        if (!n)
            return;
        n->until_ms = loop_now_ms(c->egress->loop) + ttl_s * 1000;
        list_del(&n->node);
        list_append(&c->names, &n->node);
    }
}

size_t egress_names_of(struct egress_cell *c, const struct netaddr *addr,
                       struct str known[EGRESS_KNOWN_MAX])
{
    int64_t now_ms = loop_now_ms(c->egress->loop);
    size_t count = 0;

    for (struct list *node = c->names.prev; node != &c->names && count < EGRESS_KNOWN_MAX;) {
        struct name *n = list_entry(node, struct name, node);
        node = node->prev;
        if (n->until_ms <= now_ms)
            forget_egress_name(c, n);
        else if (netaddr_eq(&n->addr, addr))
            known[count++] = str_n(n->text, n->len);
    }
    return count;
}

void egress_names_clear(struct egress_cell *c)
{
    while (!list_is_empty(&c->names))
        forget_egress_name(c, list_entry(c->names.next, struct name, node));
}
