/* SPDX-License-Identifier: MIT */
/* The access log: one line for each request, written where the request ends. Keys never get into
 * it: not from headers, which are not logged, and not from the query. */
#include "base/log.h"

#include "api/forward.h"
#include "api/internal.h"
#include "api/view.h"
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

/* ---- ids of local sandboxes, which open their tools ---- */

enum { ID_SHOWN = 8, NAME_DIGITS = 32 };
#define LOCAL_NAME "local-"

/* How many bytes at the start of S are hex digits, and dashes too when HAS_DASHES. */
static size_t span_id(struct str s, bool has_dashes)
{
    size_t n = 0;

    while (n < s.len && (enc_hex_digit(s.p[n]) >= 0 || (has_dashes && s.p[n] == '-')))
        n++;
    return n;
}

/* The length of the id that TEXT, a part of a path or a sentence, begins with: "7d21…-…", where
 * paths of local sandboxes have it, or that in the name "local-7d21…", anywhere; 0 when it does
 * not. *RET_AT is where it begins. */
static size_t find_logged_id(struct str text, bool is_local, size_t *ret_at)
{
    bool is_name = str_starts(text, STR(LOCAL_NAME));
    size_t at = is_name ? sizeof LOCAL_NAME - 1 : 0;
    size_t n = span_id(str_skip(text, at), !is_name);

    *ret_at = at;
    return n >= NAME_DIGITS && (is_name || is_local) ? n : 0;
}

static void mask_ids(struct buf *out, struct str text, bool is_local)
{
    while (text.len > 0) {
        size_t at, n = find_logged_id(text, is_local, &at);
        (void)buf_add_str(out, str_slice(text, 0, n > 0 ? at + ID_SHOWN : 1));
        if (n > 0)
            (void)buf_add_lit(out, "***");
        text = str_skip(text, n > 0 ? at + n : 1);
    }
}

static bool is_local_path(const struct http_req *h, const struct api_req *r)
{
    const struct route *route = r ? r->match.route : NULL;

    return str_starts(h->head.path, STR("/local-sandbox/")) ||
           (route && str_find(str_of(route->pattern), STR("{local_sandbox_id}")) >= 0);
}

/* "/sandbox/NAME/~TOKEN/…" opens the sandbox: without the token. */
static struct str mask_view(struct buf *out, struct str path)
{
    struct str rest = path;

    if (!str_starts(path, STR("/sandbox/")))
        return path;
    for (int i = 0; i < 3; i++)
        (void)str_cut(&rest, '/');
    size_t before = path.len - rest.len;
    if (!view_cut(&rest).p)
        return path;
    (void)buf_add_str(out, str_slice(path, 0, before));
    (void)buf_add_lit(out, "~***/");
    return rest;
}

/* An id that is spelled with escapes is the same id. */
static void put_logged_path(struct buf *out, const struct http_req *h, const struct api_req *r)
{
    struct str path = mask_view(out, str_slice(h->head.path, 0, 1024));

    if (is_local_path(h, r) && str_chr(path, '%') >= 0)
        (void)buf_add_lit(out, "/***");
    else
        mask_ids(out, path, is_local_path(h, r));
}

static bool is_traffic(const struct api_req *r)
{
    return r && r->match.surface == &surface_traffic;
}

static enum log_level level_of(const struct http_req *h, const struct api_req *r)
{
    /* What fails inside a sandbox is nothing that this service could do better. */
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

/* What the request's makers say of it. */
static unsigned add_remarks(struct log_field *fields, const struct api_req *r, struct buf *cause)
{
    unsigned n = 0;

    if (r && r->warnings && r->warnings->n > 0)
        fields[n++] = LOG_V("warning", r->warnings->items[0].s);
    if (r && r->cause.len > 0) {
        mask_ids(cause, r->cause, true);
        fields[n++] = LOG_V("error", buf_ok(cause) ? buf_str(cause) : STR("?"));
    }
    return n;
}

void api_log(const struct http_req *h, const struct api_req *r)
{
    enum log_level level = level_of(h, r);
    struct buf target auto_buf = BUF_INIT(2048), cause auto_buf = BUF_INIT(8192);

    if (!log_enabled(level))
        return;
    put_logged_path(&target, h, r);
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
    n += add_remarks(&fields[n], r, &cause);
    log_write(level, "request", fields, n);
}
