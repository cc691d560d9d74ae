/* SPDX-License-Identifier: MIT */
/* The network of a sandbox: what a create says of it, and PUT /sandboxes/{id}/network. */
#include <errno.h>

#include "api/body.h"
#include "api/e2b/e2b.h"
#include "base/cleanup.h"
#include "core/sandbox.h"

/* ---- what is not done here ---- */

static bool is_empty_rule_list(const struct json *v)
{
    return !v || json_is(v, JSON_NULL) ||
           ((json_is(v, JSON_ARRAY) || json_is(v, JSON_OBJECT)) && v->n == 0);
}

/* 0, or -EINVAL after answering. */
static int refuse_unserved_rule(struct api_req *r, const struct json *from)
{
    static const struct {
        const char *name, *why;
    } rows[] = {
        {"rules", "network rules are not enabled: headers cannot be added to outgoing requests"},
        {"egressProxy", "egressProxy is not enabled: traffic leaves only through this host"},
        {"httpsPorts", "httpsPorts is not enabled: ports in the sandbox are reached by plain HTTP"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!is_empty_rule_list(json_get(from, rows[i].name))) {
            api_error(r, 400, "%s", rows[i].why);
            return -EINVAL;
        }
    return 0;
}

/* ---- the way out ---- */

/* Members LIST of both names become the list that core takes. */
static int read_network_list(struct api_req *r, const struct json *from, const char *name,
                             struct json *network)
{
    const struct json *list = json_get(from, name);
    bool is_allow = str_is(str_of(name), "allowOut");

    if (!list || json_is(list, JSON_NULL))
        return 0;
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        if (str_is(json_str(&list->items[i], STR("")), "0.0.0.0")) {
            api_error(r, 400,
                      is_allow ? "invalid allowed address 0.0.0.0, use 0.0.0.0/0"
                               : "invalid denied CIDR 0.0.0.0");
            return -EINVAL;
        }
    return json_set(r->arena, network, name, list);
}

/* Both spellings; null is the default. */
static int read_internet(struct api_req *r, const struct json *from, bool *ret)
{
    static const char *const names[] = {"allow_internet_access", "allowInternetAccess"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct json *v = json_get(from, names[i]);
        if (!v || json_is(v, JSON_NULL))
            continue;
        if (!json_is(v, JSON_BOOL)) {
            api_error(r, 400, "failed to decode request body: %s must be true or false", names[i]);
            return -EINVAL;
        }
        *ret = v->b;
    }
    return 0;
}

/* Reads what BODY says of the way out: allowOut, denyOut and whether there is internet at all. 0,
 * or -EINVAL after answering. */
static int e2b_read_egress(struct api_req *r, const struct json *from, struct sandbox_args *a)
{
    struct json *network = json_new_object(r->arena);
    bool has_internet = true;

    if (!network) {
        api_fail(r, -ENOMEM, NULL);
        return -EINVAL;
    }
    if (refuse_unserved_rule(r, from) < 0 || read_network_list(r, from, "allowOut", network) < 0 ||
        read_network_list(r, from, "denyOut", network) < 0 ||
        read_internet(r, r->body, &has_internet) < 0)
        return -EINVAL;
    a->is_offline = !has_internet;
    a->network = network->n > 0 ? network : NULL;
    return 0;
}

/* ---- the ways in ---- */

/* It becomes a header. */
static bool is_network_host(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '/' || s.p[i] == ',')
            return false;
    return s.len <= SANDBOX_MASK_HOST_MAX;
}

static int read_ingress(struct api_req *r, const struct json *network, struct sandbox_args *a)
{
    const struct json *is_public = json_get(network, "allowPublicTraffic");
    const struct json *mask = json_get(network, "maskRequestHost");

    if (is_public && !json_is(is_public, JSON_BOOL) && !json_is(is_public, JSON_NULL)) {
        api_error(r, 400, "network.allowPublicTraffic must be true or false");
        return -EINVAL;
    }
    a->is_private = !json_bool(is_public, true);
    if (!mask || json_is(mask, JSON_NULL))
        return 0;
    a->mask_host = json_str(mask, STR_NULL);
    if (a->mask_host.p && is_network_host(a->mask_host))
        return 0;
    api_error(r, 400, "invalid maskRequestHost: expected a host name of at most %d characters",
              SANDBOX_MASK_HOST_MAX);
    return -EINVAL;
}

int e2b_read_network(struct api_req *r, struct sandbox_args *a)
{
    const struct json *network = api_body_member(r, "network");

    if (network && !json_is(network, JSON_OBJECT)) {
        api_error(r, 400, "network must be an object");
        return -EINVAL;
    }
    if (e2b_read_egress(r, network, a) < 0 || read_ingress(r, network, a) < 0)
        return -EINVAL;
    if (!a->is_private || !a->is_insecure)
        return 0;
    api_error(r, 400,
              "You cannot create a sandbox without public access unless you enable secure envd "
              "access via 'secure' flag.");
    return -EINVAL;
}

/* ---- PUT ---- */

static void on_network_changed(void *ctx, struct sandbox *sb, const struct err *e)
{
    if (e)
        e2b_fail(ctx, sb, e->code, e);
    else
        api_reply(ctx, 204, NULL, STR_NULL);
}

void e2b_network(struct api_req *r)
{
    struct sandbox *sb = e2b_find(r);
    struct sandbox_args a = {0};
    struct err e = ERR_INIT;

    if (!sb || api_body_object(r) < 0 || e2b_read_egress(r, r->body, &a) < 0)
        return;
    int code = sandbox_set_network(sb, &a, on_network_changed, r, &e);
    if (code < 0)
        e2b_fail(r, sb, code, &e);
}
