/* SPDX-License-Identifier: MIT */
/* The access log: one line for each request, written where the request ends. Keys never get into
 * it: not from headers, which are not logged, and not from the query. */
#include "base/log.h"

#include "api/forward.h"
#include "api/internal.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"

/* Query parameters whose values are secrets. */
static const char *const secrets[] = {"api_key",   "token",       "access_token",
                                      "signature", "instance_id", "local_sandbox_id"};

static bool is_secret(struct str name)
{
    struct buf plain auto_buf = BUF_INIT(64);

    /* An escaped name is the same name; one that cannot be decoded is nobody's, and masked. */
    if (enc_unpercent(&plain, name, true) < 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
        if (str_iis(buf_str(&plain), secrets[i]))
            return true;
    return false;
}

int api_mask_query(struct buf *out, struct str query)
{
    for (bool is_first = true; query.p; is_first = false) {
        struct str rest = str_cut(&query, '&');
        struct str name = str_cut(&rest, '=');
        if (!is_first)
            (void)buf_add_char(out, '&');
        (void)buf_add_str(out, name);
        if (rest.p)
            (void)buf_add_char(out, '=');
        if (rest.p && is_secret(name))
            (void)buf_add_lit(out, "***");
        else if (rest.p)
            (void)buf_add_str(out, rest);
    }
    return out->error;
}

static bool is_traffic(const struct api_req *r)
{
    return r && r->match.surface == &surface_traffic;
}

static enum log_level level_of(const struct http_req *h, const struct api_req *r)
{
    /* What fails inside of a sandbox is nothing that this service could do better. */
    if (is_traffic(r) && h->status >= 500 && h->status <= 504)
        return LOG_INFO;
    /* Nothing failed: this is not built, or this host is not able to. */
    if (h->status == 501)
        return r && r->match.route && r->match.route->status == 501 ? LOG_INFO : LOG_WARN;
    if (h->status >= 500)
        return LOG_ERROR;
    bool is_quiet = r && r->match.route && (r->match.route->flags & ROUTE_QUIET);
    return is_quiet && h->status < 400 ? LOG_DEBUG : LOG_INFO;
}

void api_log(const struct http_req *h, const struct api_req *r)
{
    enum log_level level = level_of(h, r);
    struct buf target auto_buf = BUF_INIT(2048);

    if (!log_enabled(level))
        return;
    (void)buf_add_str(&target, str_slice(h->head.path, 0, 1024));
    if (h->head.query.len > 0) {
        (void)buf_add_char(&target, '?');
        (void)api_mask_query(&target, str_slice(h->head.query, 0, 512));
    }
    const struct account_key *key = r ? r->key : NULL;
    struct log_field fields[13] = {
        LOG_S("id", h->id),
        LOG_V("method", h->head.method_text),
        LOG_V("path", buf_ok(&target) ? buf_str(&target) : STR("?")),
        LOG_I("status", h->status),
        LOG_I("bytes", h->sent_bytes),
        LOG_I("us", clock_mono_us() - h->start_us),
        LOG_S("peer", h->peer),
    };
    unsigned n = 7;
    if (is_traffic(r))
        fields[n++] = LOG_V("host", str_slice(h->head.host, 0, 256));
    if (is_traffic(r) && r->forward && r->forward->pass.address)
        fields[n++] = LOG_S("to", r->forward->pass.address);
    if (key) {
        fields[n++] = LOG_S("account", key->account->id);
        fields[n++] = LOG_S("key", key->id);
    }
    if (r && r->warnings && r->warnings->n > 0)
        fields[n++] = LOG_V("warning", r->warnings->items[0].s);
    if (r && r->cause.len > 0)
        fields[n++] = LOG_V("error", r->cause);
    log_write(level, "request", fields, n);
}
