/* SPDX-License-Identifier: MIT */
/* What handlers of the Klavis surface answer with. */
#include <errno.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "base/cleanup.h"
#include "base/json_pair.h"
#include "core/config.h"
#include "core/instance.h"

enum { ANSWER_MAX = 4 << 20, RETRY_S = 5 };

#define ACQUIRED "Sandbox acquired successfully. Use server_urls to connect to the MCP server."

void klavis_fail(struct api_req *r, int code, const struct err *e)
{
    const struct err plain = {.code = code};
    const char *why = err_text(e && e->code ? e : &plain);

    switch (code) {
    case -EAGAIN:
    case -ESHUTDOWN:
    case -EBUSY:
    case -ENOBUFS:
    case -ENOSPC:
        (void)http_add_header(r->http, "Retry-After", arena_printf(r->arena, "%d", RETRY_S));
        api_error(r, 503, "%s", why);
        return;
    case -ENOTCONN:
    case -EUCLEAN:
    case -EOPNOTSUPP: api_error(r, 503, "%s", why); return;
    case -E2BIG: api_error(r, 413, "%s", why); return;
    case -ETIME: api_error(r, 408, "%s", why); return;
    default: api_fail(r, code, e);
    }
}

struct instance *klavis_find(struct api_req *r, struct str server)
{
    struct str id = api_param(r, "sandbox_id");
    struct instance *in = r->core->instances ? instance_find(r->core->instances, id, r->key) : NULL;

    if (in && str_eq(str_of(in->server), server))
        return in;
    api_error(r, 404, "Sandbox " STR_FMT " not found", STR_ARG(str_slice(id, 0, 100)));
    return NULL;
}

struct str klavis_base(struct api_req *r)
{
    const char *own = r->core->config->apps.url;
    struct str host = r->http->head.host;

    if (own)
        return str_of(own);
    /* The command line comes by a socket, which shows no address. */
    if (r->api->url[0] && r->http->peer && strcmp(r->http->peer, "unix") == 0)
        return str_of(r->api->url);
    return arena_printf(r->arena, "%s://" STR_FMT, r->http->is_tls ? "https" : "http",
                        STR_ARG(host.len > 0 ? host : STR("localhost")));
}

struct str klavis_url(struct arena *a, struct str base, const struct instance *in)
{
    return arena_printf(a, STR_FMT "/%s/mcp/?instance_id=%s", STR_ARG(base), in->server, in->lease);
}

static void put_created(struct jw *w, struct arena *a, struct str base, const struct instance *in)
{
    struct str url = klavis_url(a, base, in);

    jw_object(w);
    jw_pair_str(w, "sandbox_id", str_of(in->id));
    jw_pair_str(w, "server_url", url);
    jw_key(w, "server_urls");
    jw_object(w);
    jw_pair_str(w, in->spelling, url);
    jw_end(w);
    jw_pair_str(w, "server_name", str_of(in->spelling));
    jw_pair_str(w, "status", STR("occupied"));
    jw_pair_str(w, "message", STR(ACQUIRED));
}

void klavis_put_created(struct jw *w, struct arena *a, struct str base, const struct instance *in)
{
    put_created(w, a, base, in);
    jw_end(w);
}

void klavis_refuse_made(struct api_req *r, const struct err *e)
{
    struct str name = api_param(r, "server_name");

    if (!name.p)
        name = api_query(r, "server_name");
    if (e->code == -ENOENT)
        api_error(r, 503, STR_FMT " is not available on this server", STR_ARG(name));
    else
        klavis_fail(r, e->code, e);
}

static void put_made(struct buf *out, const struct klavis_made *m, struct instance **items,
                     size_t n)
{
    struct jw w = jw_to(out);
    struct str base = klavis_base(m->r);

    if (m->is_list)
        jw_array(&w);
    for (size_t i = 0; i < n; i++) {
        put_created(&w, m->r->arena, base, items[i]);
        /* Of an answer that is no list the reply itself takes care. */
        if (m->is_list && m->r->warnings) {
            jw_key(&w, "warnings");
            jw_value(&w, m->r->warnings);
        }
        jw_end(&w);
    }
    if (m->is_list)
        jw_end(&w);
}

static int record_klavis_answer(void *ctx, struct instance **items, size_t n, struct store_tx *tx)
{
    struct klavis_made *m = ctx;
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);

    put_made(&out, m, items, n);
    m->answer = buf_ok(&out) ? arena_str(m->r->arena, buf_str(&out)) : STR_NULL;
    return m->answer.p ? api_record(m->r, tx, 201, m->answer) : -ENOMEM;
}

void klavis_record_made(struct klavis_made *m, struct instance_args *args)
{
    if (api_idem_key(m->r).len > 0)
        args->record = record_klavis_answer;
}

void klavis_on_made(void *ctx, struct instance **items, size_t n, const struct err *e)
{
    struct klavis_made *m = ctx;
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);

    if (e && m->is_fork) {
        klavis_fail(m->r, e->code, e);
        return;
    }
    if (e) {
        klavis_refuse_made(m->r, e);
        return;
    }
    if (m->answer.p) {
        api_reply(m->r, 201, "application/json", m->answer);
        return;
    }
    put_made(&out, m, items, n);
    api_reply_json(m->r, 201, &out);
}

void klavis_reply_message(struct api_req *r, const struct instance *in, struct str message,
                          struct str records)
{
    struct buf out auto_buf = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&out);

    jw_object(&w);
    struct str id = api_param(r, "sandbox_id"); /* that of IN, or of what it belongs to */

    jw_pair_str(&w, "sandbox_id", id.len > 0 ? id : str_of(in->id));
    jw_pair_str(&w, "status", str_of(instance_status(in)));
    jw_pair_str(&w, "message", message);
    if (records.p) {
        jw_key(&w, "records_created");
        jw_raw(&w, records);
    }
    jw_end(&w);
    api_reply_json(r, 200, &out);
}
