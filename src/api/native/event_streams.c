/* SPDX-License-Identifier: MIT */
/* Streams of events: see event_streams.h. */
#include "api/native/event_streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/internal.h"
#include "api/native/native.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/mem.h"
#include "core/event.h"
#include "net/sse.h"
#include "store/store.h"

enum { TICK_MS = 100, HEARTBEAT_MS = 15000, RETRY_MS = 2000, DATA_MAX = 64 << 10 };

struct event_streams {
    struct core *core;
    struct list all;
    unsigned n;
    struct loop_timer tick; /* runs while there are streams */
    bool is_stopped;
};

struct event_client {
    struct list node;
    struct event_streams *set;
    struct sse *sse; /* NULL: the client left */
    struct account_key *key;
    int64_t last; /* the number of the event that was sent or passed over last */
    bool is_reading, is_full;
    struct str sandbox;                       /* in the request's arena; empty: all */
    struct str reasons[EVENT_STREAM_REASONS]; /* the same; none: all */
    size_t n_reasons;
};

/* ---- the end ---- */

static void stream_free(struct event_client *s)
{
    list_del(&s->node);
    if (--s->set->n == 0)
        loop_timer_stop(&s->set->tick);
    account_key_unref(s->key);
    free(s);
}

/* The request and its arena are gone with the connection. */
static void on_event_client_close(struct sse *sse, void *ctx)
{
    struct event_client *s = ctx;

    (void)sse;
    s->sse = NULL;
    if (!s->is_reading)
        stream_free(s);
}

static void end_event_stream(struct event_client *s)
{
    if (s->sse)
        sse_end(take(s->sse));
    if (!s->is_reading)
        stream_free(s);
}

/* ---- events ---- */

static bool is_event_wanted(const struct event_client *s, const struct event_row *ev)
{
    if (s->sandbox.len > 0 && !str_eq(s->sandbox, ev->object))
        return false;
    for (size_t i = 0; i < s->n_reasons; i++)
        if (str_eq(s->reasons[i], ev->reason))
            return true;
    return s->n_reasons == 0;
}

static int send(struct event_client *s, const struct event_row *ev)
{
    struct buf text auto_buf = BUF_INIT(DATA_MAX);
    struct jw w = jw_to(&text);
    char id[24];

    event_row_write(&w, ev);
    (void)snprintf(id, sizeof id, "%lld", (long long)ev->seq);
    const struct sse_event event = {.id = str_of(id), .data = buf_str(&text)};
    return buf_ok(&text) ? sse_send(s->sse, &event) : text.error;
}

static void read_next_events(struct event_client *s);

static void on_event_stream_rows(int result, const struct event_row *rows, size_t n, void *ctx)
{
    struct event_client *s = ctx;

    s->is_reading = false;
    for (size_t i = 0; result == 0 && s->sse && i < n; i++) {
        s->last = rows[i].seq;
        if (is_event_wanted(s, &rows[i]))
            result = send(s, &rows[i]);
    }
    if (!s->sse)
        stream_free(s);
    else if (result < 0 || s->key->revoked_us)
        end_event_stream(s);
    else if (n == EVENT_PAGE_MAX)
        read_next_events(s);
}

/* Reads a page, unless one is being read or the client is behind. */
static void read_next_events(struct event_client *s)
{
    struct core *core = s->set->core;
    const struct account *account = s->key->account;
    const struct event_page page = {.is_system = account->role == ACCOUNT_SYSTEM,
                                    .account = str_of(account->id),
                                    .after = s->last,
                                    .limit = EVENT_PAGE_MAX};

    if (s->is_reading || s->is_full)
        return;
    s->is_full = sse_is_full(s->sse);
    if (s->is_full)
        return;
    /* When the store is busy the next tick tries again. */
    s->is_reading = event_read(core->store, core->loop, &page, on_event_stream_rows, s) == 0;
}

static void on_event_stream_drain(struct sse *sse, void *ctx)
{
    struct event_client *s = ctx;

    (void)sse;
    s->is_full = false;
    read_next_events(s);
}

/* ---- all of them ---- */

static void on_event_stream_tick(struct loop_timer *t)
{
    struct event_streams *set = container_of(t, struct event_streams, tick);
    int64_t newest = store_stats(set->core->store).last_event;

    list_each(node, &set->all)
    {
        struct event_client *s = list_entry(node, struct event_client, node);
        if (s->key->revoked_us && !s->is_reading)
            end_event_stream(s);
        else if (s->sse && s->last < newest)
            read_next_events(s);
    }
    if (set->n > 0)
        (void)loop_timer_start(set->core->loop, t, TICK_MS, on_event_stream_tick);
}

void event_streams_stop(struct event_streams *all)
{
    if (!all)
        return;
    all->is_stopped = true;
    list_each(node, &all->all) end_event_stream(list_entry(node, struct event_client, node));
}

void event_streams_free(struct event_streams *all)
{
    if (!all)
        return;
    list_each(node, &all->all)
    {
        struct event_client *s = list_entry(node, struct event_client, node);
        s->is_reading = false;
        s->sse = NULL;
        stream_free(s);
    }
    loop_timer_stop(&all->tick);
    free(all);
}

static struct event_streams *streams_of(struct api *a)
{
    if (a->streams)
        return a->streams;
    struct event_streams *set = mem_zalloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->core = a->core;
    list_init(&set->all);
    return a->streams = set;
}

/* ---- the request ---- */

/* Where to begin: 0, or -EINVAL after answering. */
static int read_start(struct api_req *r, int64_t *ret)
{
    struct str header = http_header_get(&r->http->head.headers, "Last-Event-ID");
    struct str text = header.len > 0 ? str_trim(header) : api_query(r, "after");

    *ret = store_stats(r->core->store).last_event;
    if (text.len == 0)
        return 0;
    if (str_to_i64(text, ret) == 0 && *ret >= 0)
        return 0;
    api_error(r, 400, "\"" STR_FMT "\" is not the number of an event",
              STR_ARG(str_slice(text, 0, 40)));
    return -EINVAL;
}

static int read_reasons(struct api_req *r, struct event_client *s)
{
    struct str rest = api_query(r, "reasons");

    while (rest.len > 0) {
        struct str reason = str_trim(str_cut(&rest, ','));
        if (!event_reason_is_known(reason)) {
            api_error(r, 400, "unknown event '" STR_FMT "'", STR_ARG(str_slice(reason, 0, 40)));
            return -EINVAL;
        }
        if (s->n_reasons == EVENT_STREAM_REASONS) {
            api_error(r, 400, "too many reasons: the limit is %d", EVENT_STREAM_REASONS);
            return -EINVAL;
        }
        s->reasons[s->n_reasons++] = reason;
    }
    return 0;
}

static bool has_stream_room(struct api_req *r, const struct event_streams *set)
{
    unsigned own = 0;

    list_each(node, &set->all)
    {
        own += list_entry(node, struct event_client, node)->key->account == r->key->account;
    }
    if (set->n >= EVENT_STREAMS_MAX || set->is_stopped)
        api_fault(r, API_FAULT_BUSY, STR_NULL);
    else if (own >= EVENT_STREAMS_OF_ONE)
        api_error(r, 429, "too many event streams: the limit is %d per account",
                  EVENT_STREAMS_OF_ONE);
    else
        return true;
    return false;
}

static void begin_event_stream(struct api_req *r, struct event_streams *set, struct event_client *s)
{
    static const struct sse_ops ops = {.on_drain = on_event_stream_drain,
                                       .on_close = on_event_client_close};
    const struct sse_event first = {.retry_ms = RETRY_MS};

    s->set = set;
    s->key = account_key_ref(r->key);
    s->sandbox = api_query(r, "sandbox");
    list_append(&set->all, &s->node);
    if (set->n++ == 0)
        (void)loop_timer_start(set->core->loop, &set->tick, TICK_MS, on_event_stream_tick);
    (void)http_add_header(r->http, "Cache-Control", STR("no-cache"));
    api_add_cors(r);
    s->sse = sse_start(r->http, HEARTBEAT_MS, &ops, s);
    if (!s->sse) {
        stream_free(s);
        return;
    }
    if (sse_send(s->sse, &first) == 0)
        read_next_events(s);
}

void native_events_stream(struct api_req *r)
{
    struct event_streams *set = streams_of(r->api);
    struct event_client *s = set ? mem_zalloc(1, sizeof *s) : NULL;

    if (!s) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    list_init(&s->node);
    if (r->http->head.method == HTTP_HEAD) {
        free(s);
        api_reply(r, 200, "text/event-stream", STR(""));
        return;
    }
    if (read_start(r, &s->last) < 0 || read_reasons(r, s) < 0 || !has_stream_room(r, set))
        free(s);
    else
        begin_event_stream(r, set, s);
}
