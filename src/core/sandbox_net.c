/* SPDX-License-Identifier: MIT */
/* The network of sandboxes: what their description says about it, as a policy for the way out of
 * the cell. See sandbox.h. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/limits.h"
#include "core/sandbox_internal.h"
#include "runtime/egress.h"
#include "runtime/engine.h"
#include "runtime/netpolicy.h"

enum { LIST_MAX = 64 };

/* ---- the way out ---- */

/* Cuts TEXT, addresses with commas or spaces between them, in place. */
static int split(char *text, const char *list[LIST_MAX + 1], const char *name, struct err *e)
{
    size_t n = 0;

    for (char *p = text; *p;) {
        size_t skip = strspn(p, ", "), len = strcspn(p + skip, ", ");
        p += skip;
        if (len == 0)
            break;
        if (n == LIST_MAX)
            return err_set(e, -EINVAL, "%s has more than %d entries", name, LIST_MAX);
        list[n++] = p;
        p += len;
        if (*p)
            *p++ = '\0';
    }
    list[n] = NULL;
    return (int)n;
}

int sandboxes_open_egress(struct sandboxes *set, struct err *e)
{
    const struct config *config = set->core->config;
    const char *servers[LIST_MAX + 1], *opened[LIST_MAX + 1];
    char *dns auto_free = mem_strdup(config->cells.dns ? config->cells.dns : "");
    char *nets auto_free =
        mem_strdup(config->cells.open_networks ? config->cells.open_networks : "");

    if (!config->cells.internet)
        return 0;
    if (!dns || !nets)
        return err_sys(e, -ENOMEM, "cells");
    int n = split(dns, servers, "cells.dns", e);
    if (n < 0 || split(nets, opened, "cells.open_networks", e) < 0)
        return -EINVAL;
    struct tally *all = limits_tally(set->core->limits, NULL, LIMIT_ACCOUNT_CONNECTIONS);
    struct egress_options o = {
        .dns_servers = n > 0 ? servers : NULL, .opened = opened, .tally = all};
    set->egress = egress_open(set->core->loop, &o, e);
    limits_set_whole(set->core->limits, LIMIT_ACCOUNT_CONNECTIONS, all->max);
    return set->egress ? 0 : err_ctx(e, -EINVAL, "cells");
}

/* ---- policies ---- */

/* Adds the rules of one list; E2B's words for what is wrong with them. */
static int add_rules(struct netpolicy *p, const struct json *list, bool is_allow, struct err *e)
{
    const char *name = is_allow ? "allowOut" : "denyOut";

    if (!list || json_is(list, JSON_NULL))
        return 0;
    if (!json_is(list, JSON_ARRAY))
        return err_set(e, -EINVAL, "network.%s must be an array of strings", name);
    for (size_t i = 0; i < list->n; i++) {
        struct str text = json_str(&list->items[i], STR_NULL);
        if (!text.p)
            return err_set(e, -EINVAL, "network.%s must be an array of strings", name);
        int r = netpolicy_add(p, is_allow, text, e);
        bool is_bad_deny = r == 0 && !is_allow && p->rules[p->n_rules - 1].is_name;
        if (is_bad_deny || (r == -EINVAL && !is_allow))
            return err_set(e, -EINVAL, "invalid denied CIDR " STR_FMT,
                           STR_ARG(str_slice(text, 0, 100)));
        if (r < 0)
            return err_ctx(e, r, "network.%s", name);
    }
    return 0;
}

static bool denies_all(const struct netpolicy *p)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (!p->rules[i].is_allow && p->rules[i].net.bits == 0)
            return true;
    return p->denies_by_default;
}

/* Names only mean something when the rest is denied. */
static int check_host_names(const struct netpolicy *p, struct err *e)
{
    for (size_t i = 0; i < p->n_rules && !denies_all(p); i++)
        if (p->rules[i].is_allow && p->rules[i].is_name)
            return err_set(e, -EINVAL,
                           "When specifying allowed domains in allow out, you must include "
                           "'ALL_TRAFFIC' in deny out to block all other traffic.");
    return 0;
}

static int make_policy(struct netpolicy *ret, const struct json *network, bool is_denied,
                       struct err *e)
{
    struct netpolicy p = {.denies_by_default = is_denied};

    if (network && !json_is(network, JSON_NULL) && !json_is(network, JSON_OBJECT))
        return err_set(e, -EINVAL, "network must be an object");
    int r = add_rules(&p, json_get(network, "allowOut"), true, e);
    if (r == 0)
        r = add_rules(&p, json_get(network, "denyOut"), false, e);
    if (r == 0)
        r = check_host_names(&p, e);
    if (r < 0)
        netpolicy_done(&p);
    else
        *ret = p;
    return r;
}

int sandbox_fill_network(struct sandbox *sb, const struct sandbox_args *a, struct err *e)
{
    struct netpolicy p;
    int r = make_policy(&p, a->network, a->is_offline, e);

    if (r < 0)
        return r;
    netpolicy_done(&p);
    sb->spec.is_offline = a->is_offline;
    if (!a->network || json_is(a->network, JSON_NULL))
        return 0;
    sb->spec.network = json_copy(&sb->network_arena, a->network);
    return sb->spec.network ? 0 : -ENOMEM;
}

/* Changes the policy of the cell, if there is one, and then, with FRESH, the description. */
static int replace_net(struct sandbox *sb, const struct sandbox_args *a, struct arena *fresh,
                       struct err *e)
{
    struct egress_cell *way_out = engine_cell_egress(sb->cell);
    struct json *network = a->network ? json_copy(fresh, a->network) : NULL;
    struct netpolicy p;

    if (a->network && !network)
        return err_sys(e, -ENOMEM, "network");
    int r = make_policy(&p, a->network, a->is_offline, e);
    if (r < 0)
        return r;
    r = way_out ? egress_set_policy(way_out, &p) : 0;
    netpolicy_done(&p);
    if (r < 0)
        return err_sys(e, r, "network of sandbox %s", sb->name);
    arena_done(&sb->network_arena);
    sb->network_arena = *fresh;
    arena_init(fresh, 0); /* its blocks belong to SB now */
    sb->spec.network = network;
    sb->spec.is_offline = a->is_offline;
    return 0;
}

int sandbox_set_network(struct sandbox *sb, const struct sandbox_args *a, sandbox_fn *fn, void *ctx,
                        struct err *e)
{
    auto_arena struct arena fresh;

    arena_init(&fresh, SANDBOX_SPEC_MAX);
    if (!sandbox_cell(sb) || sb->set->is_stopped)
        return -ENOENT;
    int r = replace_net(sb, a, &fresh, e);
    if (r < 0)
        return r;
    struct store_tx *tx = store_tx_new();
    sandbox_tx_respec(tx, sb);
    return sandbox_submit(sb, tx, fn, ctx);
}

/* The cell has no way out: is that what was asked for? */
static int check_closed(const struct sandbox *sb, struct err *e)
{
    if (!sb->set->egress || sb->spec.is_offline || sb->set->core->config->cells.allow_unenforced)
        return 0;
    return err_set(e, -EOPNOTSUPP,
                   "this host cannot give sandboxes internet access (run 'tidepool doctor' for "
                   "details); request allowInternetAccess false, or set cells.internet to false");
}

static void count_connections(const struct sandbox *sb, struct egress_cell *way_out)
{
    const struct core *core = sb->set->core;
    struct account *account = accounts_account(core->accounts, str_of(sb->account));
    int64_t max = limits_max(core->limits, account, LIMIT_SANDBOX_CONNECTIONS);

    const struct tally own = {
        .max = max > 0 ? max : EGRESS_CONNS_MAX,
        .n_refused = limits_refusals(core->limits, LIMIT_SANDBOX_CONNECTIONS),
        .whole = limits_tally(core->limits, account, LIMIT_ACCOUNT_CONNECTIONS),
    };

    egress_count_as(way_out, &own);
}

int sandbox_open_network(struct sandbox *sb, struct err *e)
{
    struct egress_cell *way_out = engine_cell_egress(sb->cell);
    struct netpolicy p;

    if (!way_out)
        return check_closed(sb, e);
    count_connections(sb, way_out);
    int r = make_policy(&p, sb->spec.network, sb->spec.is_offline, e);
    if (r < 0)
        return r;
    r = egress_set_policy(way_out, &p);
    netpolicy_done(&p);
    return r < 0 ? err_sys(e, r, "network of sandbox %s", sb->name) : 0;
}
