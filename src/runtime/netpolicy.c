/* SPDX-License-Identifier: MIT */
/* What a cell may reach. See netpolicy.h. */
#include "runtime/netpolicy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"

enum { PORT_HTTP = 80, PORT_HTTPS = 443, LABEL_MAX = 63 };

/* ---- rules as text ---- */

static int parse_netpolicy_port(struct str s, uint16_t *ret)
{
    uint64_t n;

    if (str_to_u64(s, &n) < 0 || n < 1 || n > UINT16_MAX)
        return -EINVAL;
    *ret = (uint16_t)n;
    return 0;
}

static int parse_ports(struct netpolicy_rule *rule, struct str s)
{
    while (s.p) {
        struct str last = str_cut(&s, ',');
        struct str first = str_cut(&last, '-');
        if (rule->n_ports == NETPOLICY_PORTS_MAX)
            return -EINVAL;
        uint16_t from, to;
        if (parse_netpolicy_port(first, &from) < 0 ||
            parse_netpolicy_port(last.p ? last : first, &to) < 0 || from > to)
            return -EINVAL;
        rule->ports[rule->n_ports].first = from;
        rule->ports[rule->n_ports++].last = to;
    }
    return 0;
}

static bool is_label_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Labels of letters, digits, hyphens and underscores, with something in each. */
static bool is_netpolicy_name(struct str s)
{
    size_t run = 0;
    bool has_letter = false;

    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '.' ? run == 0 : !is_label_char(s.p[i]))
            return false;
        run = s.p[i] == '.' ? 0 : run + 1;
        if (run > LABEL_MAX)
            return false;
        has_letter = has_letter || (s.p[i] >= 'a' && s.p[i] <= 'z');
    }
    /* What has no letter is an address that was written wrong. */
    return run > 0 && has_letter;
}

static int parse_name(struct netpolicy_rule *rule, struct str s)
{
    rule->is_name = true;
    if (str_is(s, "*")) {
        rule->is_wildcard = true;
        return 0;
    }
    if (str_starts(s, STR("*."))) {
        rule->is_wildcard = true;
        s = str_skip(s, 2);
    }
    if (str_ends(s, STR(".")))
        s.len--;
    if (s.len == 0 || s.len >= sizeof rule->name)
        return -EINVAL;
    for (size_t i = 0; i < s.len; i++)
        rule->name[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + 32 : s.p[i]);
    return is_netpolicy_name(str_n(rule->name, s.len)) ? 0 : -EINVAL;
}

/* "[v6]", "[v6]/n", each with ":ports". */
static int parse_bracketed(struct netpolicy_rule *rule, struct str s)
{
    char plain[NETADDR_TEXT_MAX + 8];
    ptrdiff_t end = str_chr(s, ']');

    if (end < 0)
        return -EINVAL;
    struct str addr = str_slice(s, 1, (size_t)end), bits = str_skip(s, (size_t)end + 1);
    ptrdiff_t colon = str_chr(bits, ':');
    struct str ports = colon < 0 ? STR_NULL : str_skip(bits, (size_t)colon + 1);
    if (colon >= 0)
        bits.len = (size_t)colon;
    if (addr.len + bits.len >= sizeof plain || (bits.len > 0 && bits.p[0] != '/'))
        return -EINVAL;
    memcpy(plain, addr.p, addr.len);
    memcpy(plain + addr.len, bits.p, bits.len);
    if (str_chr(addr, ':') < 0 || netcidr_parse(&rule->net, str_n(plain, addr.len + bits.len)) < 0)
        return -EINVAL;
    return parse_ports(rule, ports);
}

static int parse_rule(struct netpolicy_rule *rule, struct str s)
{
    if (s.len > 0 && s.p[0] == '[')
        return parse_bracketed(rule, s);
    if (netcidr_parse(&rule->net, s) == 0)
        return 0;
    struct str ports = s;
    struct str head = str_cut(&ports, ':');
    if (netcidr_parse(&rule->net, head) < 0) {
        int r = parse_name(rule, head);
        if (r < 0)
            return r;
    }
    return parse_ports(rule, ports);
}

int netpolicy_add(struct netpolicy *p, bool is_allow, struct str text, struct err *e)
{
    struct netpolicy_rule rule = {.is_allow = is_allow};

    if (parse_rule(&rule, text) < 0)
        return err_set(e, -EINVAL, "'" STR_FMT "' is not an address, network or name",
                       (int)(text.len < 80 ? text.len : 80), text.p ? text.p : "");
    if (p->n_rules == NETPOLICY_RULES_MAX)
        return err_set(e, -ENOBUFS, "more than %d rules", NETPOLICY_RULES_MAX);
    struct netpolicy_rule *rules = mem_realloc(p->rules, (p->n_rules + 1) * sizeof *rules);
    if (!rules)
        return err_sys(e, -ENOMEM, "network policy");
    p->rules = rules;
    rules[p->n_rules++] = rule;
    return 0;
}

int netpolicy_copy(struct netpolicy *ret, const struct netpolicy *p)
{
    struct netpolicy copy = *p;

    copy.rules = NULL;
    if (p->n_rules > 0) {
        copy.rules = mem_alloc(p->n_rules * sizeof *p->rules);
        if (!copy.rules)
            return -ENOMEM;
        memcpy(copy.rules, p->rules, p->n_rules * sizeof *p->rules);
    }
    *ret = copy;
    return 0;
}

void netpolicy_done(struct netpolicy *p)
{
    free(take(p->rules));
    p->n_rules = 0;
}

/* ---- the guard ---- */

static int add_net(struct netcidr **list, size_t *n, const struct netcidr *c)
{
    if (*n == NETGUARD_NETS_MAX)
        return -ENOBUFS;
    struct netcidr *more = mem_realloc(*list, (*n + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    *list = more;
    more[(*n)++] = *c;
    return 0;
}

int netguard_add_own(struct netguard *g, const struct netaddr *a)
{
    struct netcidr c = {*a, 128};

    return add_net(&g->own, &g->n_own, &c);
}

void netguard_clear_own(struct netguard *g)
{
    g->n_own = 0;
}

int netguard_open(struct netguard *g, struct str cidr, struct err *e)
{
    struct netcidr c;

    if (netcidr_parse(&c, cidr) < 0)
        return err_set(e, -EINVAL, "'" STR_FMT "' is not a network", STR_ARG(cidr));
    int r = add_net(&g->opened, &g->n_opened, &c);
    return r < 0 ? err_sys(e, r, "network policy") : 0;
}

void netguard_done(struct netguard *g)
{
    free(take(g->own));
    free(take(g->opened));
    g->n_own = g->n_opened = 0;
}

static bool has_address(const struct netcidr *list, size_t n, const struct netaddr *a)
{
    for (size_t i = 0; i < n; i++)
        if (netcidr_has(&list[i], a))
            return true;
    return false;
}

bool netguard_is_open(const struct netguard *g, const struct netaddr *a)
{
    return has_address(g->opened, g->n_opened, a);
}

bool netguard_denies(const struct netguard *g, const struct netaddr *a)
{
    struct netaddr inner;

    if (netguard_is_open(g, a))
        return false;
    if (netaddr_is_special(a) || has_address(g->own, g->n_own, a))
        return true;
    return netaddr_embedded(&inner, a) && netguard_denies(g, &inner);
}

/* ---- decisions ---- */

static bool port_matches(const struct netpolicy_rule *rule, uint16_t port)
{
    for (unsigned i = 0; i < rule->n_ports; i++)
        if (port >= rule->ports[i].first && port <= rule->ports[i].last)
            return true;
    return rule->n_ports == 0;
}

static bool name_matches(const struct netpolicy_rule *rule, struct str name)
{
    struct str want = str_of(rule->name);

    if (!rule->is_name || name.len == 0)
        return false;
    if (!rule->is_wildcard)
        return str_ieq(name, want);
    if (want.len == 0)
        return true;
    if (name.len <= want.len + 1 || name.p[name.len - want.len - 1] != '.')
        return false;
    return str_ieq(str_skip(name, name.len - want.len), want);
}

static bool names(const struct netpolicy *p, bool is_allow, uint16_t port, struct str name)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (p->rules[i].is_allow == is_allow && port_matches(&p->rules[i], port) &&
            name_matches(&p->rules[i], name))
            return true;
    return false;
}

static bool nets(const struct netpolicy *p, bool is_allow, uint16_t port, const struct netaddr *a)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (p->rules[i].is_allow == is_allow && !p->rules[i].is_name &&
            port_matches(&p->rules[i], port) && netcidr_has(&p->rules[i].net, a))
            return true;
    return false;
}

static bool is_known_as(const struct netpolicy_query *q, struct str name)
{
    for (size_t i = 0; i < q->n_known; i++)
        if (str_ieq(q->known[i], name))
            return true;
    return false;
}

/* A name that the client states decides alone; without one, any name that led to the address. */
static bool allows_by_known_name(const struct netpolicy *p, const struct netpolicy_query *q)
{
    for (size_t i = 0; i < q->n_known; i++)
        if (names(p, true, q->port, q->known[i]))
            return q->name.len == 0;
    return false;
}

static bool denies_by_name(const struct netpolicy *p, const struct netpolicy_query *q)
{
    if (q->name.len > 0 && names(p, false, q->port, q->name))
        return true;
    for (size_t i = 0; i < q->n_known && q->name.len == 0; i++)
        if (names(p, false, q->port, q->known[i]))
            return true;
    return false;
}

enum netpolicy_verdict netpolicy_judge(const struct netpolicy *p, const struct netguard *g,
                                       const struct netpolicy_query *q)
{
    bool is_denied = nets(p, false, q->port, &q->addr);

    if (netguard_denies(g, &q->addr))
        return NETPOLICY_DENY_GUARD;
    if (nets(p, true, q->port, &q->addr))
        return NETPOLICY_ALLOW;
    if (q->name.len > 0 && names(p, true, q->port, q->name)) {
        bool needs_proof = (is_denied || p->denies_by_default) && !is_known_as(q, q->name);
        return needs_proof ? NETPOLICY_ALLOW_BY_NAME : NETPOLICY_ALLOW;
    }
    if (allows_by_known_name(p, q))
        return NETPOLICY_ALLOW;
    if (is_denied || denies_by_name(p, q))
        return NETPOLICY_DENY_RULE;
    return p->denies_by_default ? NETPOLICY_DENY_DEFAULT : NETPOLICY_ALLOW;
}

bool netpolicy_wants_name(const struct netpolicy *p, const struct netguard *g,
                          const struct netpolicy_query *q)
{
    if ((q->port != PORT_HTTP && q->port != PORT_HTTPS) || netguard_denies(g, &q->addr) ||
        nets(p, true, q->port, &q->addr))
        return false;
    for (size_t i = 0; i < p->n_rules; i++)
        if (p->rules[i].is_name && port_matches(&p->rules[i], q->port))
            return true;
    return false;
}

/* True when nothing is allowed but what rules name. */
static bool denies_the_rest(const struct netpolicy *p)
{
    if (p->denies_by_default)
        return true;
    for (size_t i = 0; i < p->n_rules; i++)
        if (!p->rules[i].is_allow && !p->rules[i].is_name && p->rules[i].net.bits == 0 &&
            p->rules[i].n_ports == 0)
            return true;
    return false;
}

bool netpolicy_may_resolve(const struct netpolicy *p, struct str name)
{
    bool is_denied = denies_the_rest(p);

    for (size_t i = 0; i < p->n_rules; i++) {
        const struct netpolicy_rule *rule = &p->rules[i];
        if (rule->is_allow && name_matches(rule, name))
            return true;
        /* Everything is allowed again: denyOut of all networks, allowOut of all networks. */
        if (rule->is_allow && !rule->is_name && rule->net.bits == 0)
            return true;
        if (!rule->is_allow && rule->n_ports == 0 && name_matches(rule, name))
            is_denied = true;
    }
    return !is_denied;
}
