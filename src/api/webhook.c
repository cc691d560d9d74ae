/* SPDX-License-Identifier: MIT */
/* The webhook: see webhook.h. */
#include "api/webhook.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/config.h"
#include "core/core.h"
#include "core/event.h"
#include "core/metrics.h"
#include "loop/work.h"
#include "net/http_client.h"
#include "net/tls.h"
#include "store/store.h"
#include "sys/digest.h"
#include "sys/io.h"

enum {
    TICK_MS = 200,
    WAIT_MIN_MS = 1000,
    WAIT_MAX_MS = 300000,
    PATIENCE_MS = 5000, /* for a connection, and for the answer */
    BODY_MAX = 1 << 20
};

#define POSITION_FILE "webhook.last"

struct webhook {
    struct core *core;
    struct work_pool *pool; /* one thread */
    struct tls_ctx *tls;    /* NULL: plain HTTP */
    char *address, *host, *target, *position;
    struct loop_timer timer;
    bool is_stopped;
    int64_t wait_ms; /* after the next failure */
    int64_t last;    /* delivered, or not wanted */
    /* Of the delivery under way. */
    struct work work;
    struct buf body;
    int64_t upto; /* the last event that was looked at */
    struct err err;
};

/* ---- the thread ---- */

struct post {
    bool is_done;
    int status;
    struct err *e;
};

static void on_webhook_answer(void *ctx, const struct http_response *r)
{
    struct post *p = ctx;

    p->is_done = true;
    p->status = r->error < 0 ? 0 : r->head.status;
    if (r->error < 0)
        (void)err_set(p->e, r->error, "%s", r->why);
}

/* The signature is over the time, too: who recorded a delivery cannot send it again much later. */
static void sign_delivery(const struct webhook *w, const char *now,
                          char out[2 * DIGEST_SHA256_LEN + 8])
{
    struct buf text auto_buf = BUF_INIT(BODY_MAX + 64);
    unsigned char mac[DIGEST_SHA256_LEN];
    char hex[2 * DIGEST_SHA256_LEN + 1];

    (void)buf_printf(&text, "%s.", now);
    (void)buf_add_str(&text, buf_str(&w->body));
    digest_hmac_sha256(mac, str_of(w->core->config->events.webhook_secret), buf_str(&text));
    enc_hex(hex, mac, sizeof mac);
    (void)snprintf(out, 2 * DIGEST_SHA256_LEN + 8, "sha256=%s", hex);
}

static int post_on(struct webhook *w, struct loop *loop, struct http_client *c)
{
    struct post p = {.e = &w->err};
    char now[24], signature[2 * DIGEST_SHA256_LEN + 8];

    (void)snprintf(now, sizeof now, "%lld", (long long)(clock_real_us() / 1000000));
    sign_delivery(w, now, signature);
    const struct http_header headers[] = {
        {STR_INIT("Content-Type"), STR_INIT("application/json")},
        {STR_INIT("User-Agent"), STR_INIT("tidepool/" TIDEPOOL_VERSION)},
        {STR_INIT("Tidepool-Timestamp"), str_of(now)},
        {STR_INIT("Tidepool-Signature"), str_of(signature)}};
    const struct http_request rq = {.address = w->address,
                                    .method = STR_INIT("POST"),
                                    .target = str_of(w->target),
                                    .host = str_of(w->host),
                                    .headers = headers,
                                    .n_headers = ARRAY_LEN(headers),
                                    .body = buf_str(&w->body)};
    if (!http_client_fetch(c, &rq, on_webhook_answer, &p, &w->err))
        return w->err.code;
    while (!p.is_done)
        if (loop_run_once(loop, -1) < 0)
            return err_set(&w->err, -EIO, "the loop failed");
    if (p.status >= 200 && p.status < 300)
        return 0;
    return w->err.code ? w->err.code : err_set(&w->err, -EPROTO, "answered with %d", p.status);
}

static int post(struct webhook *w)
{
    const struct http_client_timeouts timeouts = {
        .connect_ms = PATIENCE_MS, .head_ms = PATIENCE_MS, .idle_ms = PATIENCE_MS};
    struct loop *loop = loop_new(&w->err);
    const struct http_client_opts opts = {
        .loop = loop, .timeouts = timeouts, .tls = w->tls, .may_resolve = true};
    struct http_client *c = loop ? http_client_new(&opts, &w->err) : NULL;
    int r = c ? post_on(w, loop, c) : w->err.code;

    if (c)
        http_client_free(c);
    if (loop)
        loop_free(loop);
    return r;
}

static void run_delivery(struct work *work)
{
    struct webhook *w = container_of(work, struct webhook, work);
    char text[24];

    if (w->body.len > 0 && post(w) < 0)
        return;
    int n = snprintf(text, sizeof text, "%lld\n", (long long)w->upto);
    (void)io_write_file(w->position, str_n(text, (size_t)n), 0600, NULL);
}

/* ---- the loop's thread ---- */

static void on_webhook_timer(struct loop_timer *t);

static void wait_for_more(struct webhook *w, int64_t ms)
{
    if (!w->is_stopped)
        (void)loop_timer_start(w->core->loop, &w->timer, ms, on_webhook_timer);
}

static void on_delivered(struct work *work)
{
    struct webhook *w = container_of(work, struct webhook, work);
    int64_t wait_ms = 0;

    if (w->err.code) {
        wait_ms = w->wait_ms;
        w->wait_ms = 2 * wait_ms < WAIT_MAX_MS ? 2 * wait_ms : WAIT_MAX_MS;
        metrics_add(w->core->metrics, METRIC_WEBHOOK_FAILURES, 1);
        log_warn("webhook", LOG_S("error", err_text(&w->err)), LOG_I("again_in_ms", wait_ms));
    } else {
        w->last = w->upto;
        w->wait_ms = WAIT_MIN_MS;
        metrics_add(w->core->metrics, METRIC_WEBHOOK_DELIVERIES, w->body.len > 0);
    }
    buf_done(&w->body);
    wait_for_more(w, wait_ms);
}

static bool is_webhook_wanted(const struct webhook *w, struct str reason)
{
    const struct config_list *list = &w->core->config->events.webhook_reasons;

    for (size_t i = 0; i < list->n; i++)
        if (str_is(reason, list->items[i]))
            return true;
    return list->n == 0 && event_is_end(reason);
}

/* Events as the body; empty when none of them is wanted. What does not fit waits. */
static void write_body(struct webhook *w, const struct event_row *rows, size_t n)
{
    enum { ROW_MAX = 16 << 10 };
    struct jw jw = jw_to(&w->body);
    bool has_some = false;

    jw_object(&jw);
    jw_key(&jw, "events");
    jw_array(&jw);
    for (size_t i = 0; i < n && w->body.len < BODY_MAX - ROW_MAX; i++) {
        w->upto = rows[i].seq;
        if (!is_webhook_wanted(w, rows[i].reason))
            continue;
        event_row_write(&jw, &rows[i]);
        has_some = true;
    }
    jw_end(&jw);
    jw_end(&jw);
    if (!has_some)
        buf_clear(&w->body);
}

static void on_webhook_rows(int result, const struct event_row *rows, size_t n, void *ctx)
{
    struct webhook *w = ctx;

    if (result < 0 || n == 0 || w->is_stopped) {
        wait_for_more(w, TICK_MS);
        return;
    }
    w->err = (struct err)ERR_INIT;
    buf_init(&w->body, BODY_MAX);
    write_body(w, rows, n);
    w->work = (struct work){.run = run_delivery, .done = on_delivered};
    if (!buf_ok(&w->body) || work_submit(w->pool, w->core->loop, &w->work) < 0) {
        buf_done(&w->body);
        wait_for_more(w, WAIT_MIN_MS);
    }
}

static void on_webhook_timer(struct loop_timer *t)
{
    struct webhook *w = container_of(t, struct webhook, timer);
    const struct event_page page = {.is_system = true, .after = w->last, .limit = EVENT_PAGE_MAX};

    if (store_stats(w->core->store).last_event <= w->last ||
        event_read(w->core->store, w->core->loop, &page, on_webhook_rows, w) < 0)
        wait_for_more(w, TICK_MS);
}

/* ---- the setting ---- */

/* "host", "host:port", "[v6]:port": the address to connect to always has a port. */
static char *webhook_address_of(struct str host, bool is_tls)
{
    struct str last = host.p[0] == '[' ? str_skip(host, (size_t)(str_chr(host, ']') + 1)) : host;
    const char *port = is_tls ? ":443" : ":80";
    char address[512];

    (void)snprintf(address, sizeof address, STR_FMT "%s", STR_ARG(host),
                   str_chr(last, ':') >= 0 ? "" : port);
    return mem_strdup(address);
}

static int use_tls(struct webhook *w, struct err *e)
{
    w->tls = tls_ctx_client(NULL, e);
    return w->tls ? 0 : -EIO;
}

static int read_url(struct webhook *w, const char *url, struct err *e)
{
    struct str s = str_of(url);
    bool is_tls = str_starts(s, STR("https://"));

    if (!is_tls && !str_starts(s, STR("http://")))
        return err_set(e, -EINVAL, "events.webhook: '%s' is not a URL", url);
    s = str_skip(s, is_tls ? 8 : 7);
    ptrdiff_t slash = str_chr(s, '/');
    struct str host = slash < 0 ? s : str_slice(s, 0, (size_t)slash);
    if (host.len == 0 || host.len > 300)
        return err_set(e, -EINVAL, "events.webhook: '%s' has no host name", url);
    w->address = webhook_address_of(host, is_tls);
    w->host = mem_strndup(host.p, host.len);
    w->target = mem_strdup(slash < 0 ? "/" : s.p + slash);
    if (!w->address || !w->host || !w->target)
        return err_sys(e, -ENOMEM, "webhook");
    return is_tls ? use_tls(w, e) : 0;
}

static int check_reasons(const struct config_list *list, struct err *e)
{
    for (size_t i = 0; i < list->n; i++)
        if (!event_reason_is_known(str_of(list->items[i])))
            return err_set(e, -EINVAL, "events.webhook_reasons: unknown event '%s'",
                           list->items[i]);
    return 0;
}

/* Where a service before this one was; else now. */
static int read_position(struct webhook *w, struct err *e)
{
    struct buf text auto_buf = BUF_INIT(64);
    int r = core_path(w->core->config, POSITION_FILE, &w->position);

    w->last = store_stats(w->core->store).last_event;
    if (r < 0)
        return err_sys(e, r, "webhook");
    if (io_read_file(w->position, &text, NULL) < 0)
        return 0;
    struct str rest = buf_str(&text);
    if (str_to_i64(str_cut(&rest, '\n'), &w->last) < 0)
        return err_set(e, -EINVAL, "%s is malformed", w->position);
    return 0;
}

int webhook_new(struct core *core, struct webhook **ret, struct err *e)
{
    const struct config *config = core->config;

    *ret = NULL;
    if (!config->events.webhook)
        return 0;
    if (!config->events.webhook_secret)
        return err_set(e, -EINVAL, "events.webhook requires events.webhook_secret");
    struct webhook *w = mem_zalloc(1, sizeof *w);
    if (!w)
        return err_sys(e, -ENOMEM, "webhook");
    w->core = core;
    w->wait_ms = WAIT_MIN_MS;
    int r = read_url(w, config->events.webhook, e);
    if (r == 0)
        r = check_reasons(&config->events.webhook_reasons, e);
    if (r == 0)
        r = read_position(w, e);
    if (r == 0 && !(w->pool = work_pool_new(1, 4, e)))
        r = -ENOMEM;
    if (r < 0) {
        webhook_free(w);
        return r;
    }
    wait_for_more(w, 0);
    *ret = w;
    return 0;
}

void webhook_stop(struct webhook *w)
{
    if (!w)
        return;
    w->is_stopped = true;
    loop_timer_stop(&w->timer);
}

void webhook_free(struct webhook *w)
{
    if (!w)
        return;
    webhook_stop(w);
    if (w->pool) {
        work_pool_free(w->pool);
        /* What the thread did is reported now. */
        (void)loop_run_once(w->core->loop, 0);
    }
    if (w->tls)
        tls_ctx_free(w->tls);
    buf_done(&w->body);
    free(w->address);
    free(w->host);
    free(w->target);
    free(w->position);
    free(w);
}
