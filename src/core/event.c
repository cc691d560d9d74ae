/* SPDX-License-Identifier: MIT */
/* Events: see event.h. */
#include "core/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_pair.h"
#include "base/mem.h"

enum {
    PAGE_ROWS = 500,
    ITEM_MAX = 64 << 10,   /* bytes of one event's texts */
    ANSWER_MAX = 16 << 20, /* bytes of JSON */
};

struct reason {
    struct str name, kind, type;
};

static const struct reason reasons[EVENT_REASON_COUNT] = {
#define EVENT(id, reason, kind, type)                                                              \
    [EVENT_##id] = {STR_INIT(reason), STR_INIT(kind), STR_INIT(type)},
#include "core/event.def"
#undef EVENT
};

const char *event_reason_name(enum event_reason reason)
{
    return reasons[reason].name.p;
}

bool event_reason_is_known(struct str name)
{
    for (size_t i = 0; i < EVENT_REASON_COUNT; i++)
        if (str_eq(name, reasons[i].name))
            return true;
    return false;
}

bool event_is_end(struct str name)
{
    static const enum event_reason ends[] = {EVENT_SANDBOX_TIMEOUT, EVENT_SANDBOX_IDLE_TIMEOUT,
                                             EVENT_SANDBOX_DELETED, EVENT_SANDBOX_EXITED,
                                             EVENT_APP_RELEASED,    EVENT_APP_EXPIRED};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_eq(name, reasons[ends[i]].name))
            return true;
    return false;
}

/* ---- writing ---- */

/* The length of the first at most MAX bytes of S that ends with a whole character. */
static size_t whole_chars(const char *s, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max > 0 && ((unsigned char)s[max] & 0xc0) == 0x80)
        max--;
    return max;
}

/* Text from outside may be no UTF-8; then what is not ASCII becomes '?'. */
static void make_printable(char *s, size_t len)
{
    bool is_utf8 = str_is_utf8(str_n(s, len));

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == 0 || (!is_utf8 && c >= 0x80))
            s[i] = '?';
    }
}

void event_add(struct store_tx *tx, enum event_reason reason, struct str account, struct str object,
               const char *fmt, ...)
{
    char message[4 * EVENT_MAX_MESSAGE];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : strlen(message);
    len = whole_chars(message, len, EVENT_MAX_MESSAGE);
    make_printable(message, len);
    const struct store_event ev = {
        .at_us = clock_real_us(),
        .account = account,
        .sandbox = object,
        .kind = reasons[reason].kind,
        .type = reasons[reason].type,
        .reason = reasons[reason].name,
        .message = str_n(message, len),
    };
    store_tx_event(tx, &ev);
}

/* ---- reading: folding rows to items ---- */

/* Columns of EVENT_PAGE. */
enum { C_SEQ, C_AT, C_ACCOUNT, C_SANDBOX, C_KIND, C_TYPE, C_REASON, C_MESSAGE };

/* One item while older rows may still join it. */
struct event_item {
    int64_t count; /* 0: there is none yet */
    int64_t first_seq, first_us, last_us;
    struct str texts[C_MESSAGE + 1]; /* by column, from C_ACCOUNT */
    struct arena arena;
};

struct event_query {
    struct store *store;
    struct loop *loop;
    event_answer *fn;
    void *ctx;
    struct event_filter filter;
    struct str account, sandbox; /* own copies, behind the struct */
    struct event_item item;
    struct buf out;
    struct jw w;
    unsigned n_items;
    size_t n_scanned;
    int64_t before; /* the next page ends below this number */
};

static bool is_same_owner(const struct event_item *it, const struct store_value *cols)
{
    for (size_t i = C_ACCOUNT; i <= C_MESSAGE; i++)
        if (!str_eq(it->texts[i], cols[i].s))
            return false;
    return it->count > 0;
}

static int start_item(struct event_item *it, const struct store_value *cols)
{
    arena_reset(&it->arena);
    for (size_t i = C_ACCOUNT; i <= C_MESSAGE; i++) {
        it->texts[i] = arena_str(&it->arena, cols[i].s);
        if (!it->texts[i].p)
            return -ENOMEM;
    }
    it->count = 0;
    it->last_us = cols[C_AT].i;
    return 0;
}

static void write_time(struct jw *w, const char *key, int64_t us)
{
    char text[CLOCK_RFC3339_MAX];

    clock_rfc3339_us(text, us);
    jw_key(w, key);
    jw_cstr(w, text);
}

/* "box.1f": the number is that of the oldest row, so that the name stays while the count grows. */
static void write_event_name(struct jw *w, struct event_item *it)
{
    struct str object = it->texts[it->texts[C_SANDBOX].len ? C_SANDBOX : C_KIND];
    struct str name =
        arena_printf(&it->arena, STR_FMT ".%" PRIx64, STR_ARG(object), (uint64_t)it->first_seq);

    if (!name.p && w->out->error == 0)
        w->out->error = -ENOMEM;
    jw_pair_str(w, "name", name);
}

static void write_event_object(struct jw *w, const struct event_item *it)
{
    jw_key(w, "involvedObject");
    jw_object(w);
    jw_pair_str(w, "kind", it->texts[C_KIND]);
    jw_pair_str(w, "name", it->texts[C_SANDBOX]);
    jw_pair_str(w, "namespace", STR("default"));
    jw_pair_str(w, "apiVersion", STR("v1"));
    jw_pair_str(w, "fieldPath", STR(""));
    jw_end(w);
}

static void write_event_item(struct event_query *q)
{
    struct event_item *it = &q->item;
    struct jw *w = &q->w;

    if (it->count == 0)
        return;
    q->n_items++;
    jw_object(w);
    write_event_name(w, it);
    jw_pair_str(w, "reason", it->texts[C_REASON]);
    jw_pair_str(w, "type", it->texts[C_TYPE]);
    jw_pair_str(w, "message", it->texts[C_MESSAGE]);
    jw_key(w, "count");
    jw_int(w, it->count);
    write_time(w, "eventTime", it->last_us);
    write_time(w, "firstTimestamp", it->first_us);
    write_time(w, "lastTimestamp", it->last_us);
    write_event_object(w, it);
    jw_end(w);
}

/* 1 when the answer is complete, 0, or -errno. */
static int add_event_row(struct event_query *q, const struct store_value *cols)
{
    struct event_item *it = &q->item;

    if (!is_same_owner(it, cols)) {
        write_event_item(q);
        it->count = 0;
        if (q->n_items >= q->filter.limit)
            return 1;
        int r = start_item(it, cols);
        if (r < 0)
            return r;
    }
    it->count++;
    it->first_seq = cols[C_SEQ].i;
    it->first_us = cols[C_AT].i;
    q->before = cols[C_SEQ].i;
    q->n_scanned++;
    return 0;
}

/* ---- reading: pages ---- */

static void query_free(struct event_query *q)
{
    arena_done(&q->item.arena);
    buf_done(&q->out);
    free(q);
}

static void finish_event_query(struct event_query *q, int result)
{
    write_event_item(q);
    jw_end(&q->w);
    if (result >= 0)
        result = q->out.error;
    q->fn(result, result < 0 ? STR_NULL : buf_str(&q->out), q->ctx);
    query_free(q);
}

static int next_page(struct event_query *q);

static void on_page(struct store_tx *tx, int result, void *ctx)
{
    struct event_query *q = ctx;
    size_t n = result < 0 ? 0 : store_tx_n_rows(tx, 0);

    for (size_t i = 0; result == 0 && i < n; i++)
        result = add_event_row(q, store_tx_row(tx, 0, i).cols);
    bool is_more = result == 0 && n == PAGE_ROWS && q->n_scanned < EVENT_MAX_SCAN;
    if (is_more)
        result = next_page(q);
    if (!is_more || result < 0)
        finish_event_query(q, result);
}

static int next_page(struct event_query *q)
{
    static const enum store_sql pages[2][2] = {{STORE_EVENT_PAGE, STORE_EVENT_PAGE_SANDBOX},
                                               {STORE_EVENT_PAGE_ACCOUNT, STORE_EVENT_PAGE_BOTH}};
    struct store_tx *tx = store_tx_new();

    store_tx_add(tx, pages[!q->filter.is_system][q->sandbox.len > 0]);
    store_tx_int(tx, q->before);
    store_tx_int(tx, PAGE_ROWS);
    if (!q->filter.is_system)
        store_tx_text(tx, q->account);
    if (q->sandbox.len > 0)
        store_tx_text(tx, q->sandbox);
    return store_submit(q->store, tx, q->loop, on_page, q);
}

static struct event_query *query_new(const struct event_filter *f)
{
    struct event_query *q = mem_zalloc(1, sizeof *q + f->account.len + f->sandbox.len);

    if (!q)
        return NULL;
    char *at = (char *)(q + 1);
    q->filter = *f;
    q->filter.limit = f->limit ? f->limit : EVENT_DEFAULT_LIMIT;
    if (q->filter.limit > EVENT_MAX_LIMIT)
        q->filter.limit = EVENT_MAX_LIMIT;
    if (f->account.len)
        memcpy(at, f->account.p, f->account.len);
    q->account = str_n(at, f->account.len);
    at += f->account.len;
    if (f->sandbox.len)
        memcpy(at, f->sandbox.p, f->sandbox.len);
    q->sandbox = str_n(at, f->sandbox.len);
    arena_init(&q->item.arena, ITEM_MAX);
    buf_init(&q->out, ANSWER_MAX);
    q->w = jw_to(&q->out);
    q->before = INT64_MAX;
    return q;
}

int event_query(struct store *s, struct loop *loop, const struct event_filter *filter,
                event_answer *fn, void *ctx)
{
    struct event_query *q = query_new(filter);

    if (!q)
        return -ENOMEM;
    q->store = s;
    q->loop = loop;
    q->fn = fn;
    q->ctx = ctx;
    jw_array(&q->w);
    int r = next_page(q);
    if (r < 0)
        query_free(q);
    return r;
}

/* ---- following ---- */

void event_row_write(struct jw *w, const struct event_row *ev)
{
    jw_object(w);
    jw_key(w, "id");
    jw_int(w, ev->seq);
    write_time(w, "time", ev->at_us);
    jw_pair_str(w, "reason", ev->reason);
    jw_pair_str(w, "type", ev->type);
    jw_pair_str(w, "kind", ev->kind);
    jw_pair_str(w, "name", ev->object);
    jw_pair_str(w, "account", ev->account);
    jw_pair_str(w, "message", ev->message);
    jw_end(w);
}

struct event_reading {
    event_rows_fn *fn;
    void *ctx;
};

static void on_event_rows(struct store_tx *tx, int result, void *ctx)
{
    struct event_reading *g = ctx;
    struct event_row rows[EVENT_PAGE_MAX];
    size_t n = result < 0 ? 0 : store_tx_n_rows(tx, 0);

    for (size_t i = 0; i < n && i < EVENT_PAGE_MAX; i++) {
        const struct store_value *c = store_tx_row(tx, 0, i).cols;
        rows[i] = (struct event_row){.seq = c[C_SEQ].i,
                                     .at_us = c[C_AT].i,
                                     .account = c[C_ACCOUNT].s,
                                     .object = c[C_SANDBOX].s,
                                     .kind = c[C_KIND].s,
                                     .type = c[C_TYPE].s,
                                     .reason = c[C_REASON].s,
                                     .message = c[C_MESSAGE].s};
    }
    g->fn(result, rows, n, g->ctx);
    free(g);
}

int event_read(struct store *s, struct loop *loop, const struct event_page *page, event_rows_fn *fn,
               void *ctx)
{
    struct event_reading *g = mem_zalloc(1, sizeof *g);

    if (!g)
        return -ENOMEM;
    *g = (struct event_reading){fn, ctx};
    struct store_tx *tx = store_tx_new();
    store_tx_add(tx, page->is_system ? STORE_EVENT_NEXT : STORE_EVENT_NEXT_ACCOUNT);
    store_tx_int(tx, page->after);
    store_tx_int(tx, page->limit < EVENT_PAGE_MAX ? page->limit : EVENT_PAGE_MAX);
    if (!page->is_system)
        store_tx_text(tx, page->account);
    int r = store_submit(s, tx, loop, on_event_rows, g);
    if (r < 0)
        free(g);
    return r;
}
