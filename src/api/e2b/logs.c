/* SPDX-License-Identifier: MIT */
/* GET /sandboxes/{id}/logs and /v2/sandboxes/{id}/logs: what happened to a sandbox and what its
 * main process wrote, in one order. A log may have megabytes: a worker reads it and writes the
 * answer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/e2b/e2b.h"
#include "api/e2b/filter.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_pair.h"
#include "base/mem.h"
#include "core/event.h"
#include "core/sandbox.h"
#include "core/sandbox_log.h"
#include "core/volume.h"
#include "loop/work.h"
#include "net/http_client.h"
#include "runtime/engine.h"

enum {
    LIMIT_DEFAULT = 1000,
    LIMIT_MAX = 1000,
    TAIL = 2000,
    LOG_MAX = 8 << 20,
    MEMORY_MAX = 4 * LOG_MAX,
    ANSWER_MAX = 64 << 20,
    LEVEL_WARN = 2,
};

static const char *const levels[] = {"debug", "info", "warn", "error"};

struct e2b_log_entry {
    int64_t at_us;
    size_t order; /* among those of the same time */
    unsigned level;
    const char *logger;
    struct str text;
};

struct logs {
    struct work work;
    struct api_req *req; /* not the worker's, nor is its memory */
    struct sandbox *sb;  /* a reference; NULL: the worker has its turn */
    struct arena arena;
    char account[ACCOUNT_ID_MAX + 1];
    struct str text; /* of the main process */
    bool is_json;    /* as the sandbox sends it */
    struct buf body; /* the answer */
    bool is_v2, is_backward;
    int64_t from_us, to_us; /* inclusive */
    int64_t limit;
    unsigned level; /* the least */
    struct str search;
    struct e2b_log_entry *entries;
    size_t n, max;
};

/* ---- the answer ---- */

static int by_log_time(const void *a, const void *b)
{
    const struct e2b_log_entry *x = a, *y = b;

    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* An object as a string: that is how clients want a line. */
static void put_v1_line(struct jw *w, const struct e2b_log_entry *en, const char *at)
{
    struct buf line auto_buf = BUF_INIT(LOG_MAX);
    struct jw inner = jw_to(&line);

    jw_object(&inner);
    jw_pair_str(&inner, "level", str_of(levels[en->level]));
    jw_pair_str(&inner, "logger", str_of(en->logger));
    jw_pair_str(&inner, "message", en->text);
    jw_end(&inner);
    jw_object(w);
    jw_pair_str(w, "timestamp", str_of(at));
    jw_pair_str(w, "line", buf_str(&line));
    jw_end(w);
    if (!buf_ok(&line))
        w->out->error = line.error;
}

static void put_log_entry(struct jw *w, const struct e2b_log_entry *en, const char *at)
{
    jw_object(w);
    jw_pair_str(w, "timestamp", str_of(at));
    jw_pair_str(w, "message", en->text);
    jw_pair_str(w, "level", str_of(levels[en->level]));
    jw_key(w, "fields");
    jw_object(w);
    jw_pair_str(w, "logger", str_of(en->logger));
    jw_end(w);
    jw_end(w);
}

typedef void put_fn(struct jw *w, const struct e2b_log_entry *en, const char *at);

/* At most as many as are wanted, from one end or the other. */
static void put_all_entries(struct jw *w, const struct logs *l, const char *name, put_fn *put)
{
    size_t n = l->n < (size_t)l->limit ? l->n : (size_t)l->limit;
    char at[CLOCK_RFC3339_MAX];

    jw_key(w, name);
    jw_array(w);
    for (size_t i = 0; i < n; i++) {
        const struct e2b_log_entry *en = &l->entries[l->is_backward ? l->n - 1 - i : i];
        clock_rfc3339_us(at, en->at_us);
        put(w, en, at);
    }
    jw_end(w);
}

static void logs_free(struct logs *l)
{
    if (l->sb)
        sandbox_unref(l->sb);
    buf_done(&l->body);
    arena_done(&l->arena);
    free(l);
}

static void put_log_answer(struct logs *l)
{
    struct jw w = jw_to(&l->body);

    if (l->n > 0)
        qsort(l->entries, l->n, sizeof *l->entries, by_log_time);
    jw_object(&w);
    if (l->is_v2) {
        put_all_entries(&w, l, "logs", put_log_entry);
    } else {
        put_all_entries(&w, l, "logs", put_v1_line);
        put_all_entries(&w, l, "logEntries", put_log_entry);
    }
    jw_end(&w);
}

/* ---- gathering ---- */

static void add_log_entry(struct logs *l, const struct e2b_log_entry *en)
{
    bool is_wanted = en->at_us >= l->from_us && en->at_us <= l->to_us && en->level >= l->level &&
                     (l->search.len == 0 || str_find(en->text, l->search) >= 0);

    if (!is_wanted || l->n == l->max)
        return;
    l->entries[l->n] = *en;
    l->entries[l->n].order = l->n;
    l->n++;
}

/* "2026-01-27T10:00:00.123456Z the line" */
static void add_log_lines(struct logs *l, struct str text)
{
    while (text.p && text.len > 0) {
        struct str line = str_cut(&text, '\n'), at = str_cut(&line, ' ');
        struct e2b_log_entry en = {.level = 1, .logger = "main", .text = line.p ? line : STR("")};
        if (e2b_time_parse(at, &en.at_us) == 0)
            add_log_entry(l, &en);
    }
}

static void run_logs(struct work *w)
{
    struct logs *l = container_of(w, struct logs, work);
    const struct json *doc = l->is_json ? json_parse(&l->arena, l->text, NULL, NULL) : NULL;

    add_log_lines(l, l->is_json ? json_str(json_get(doc, "logs"), STR("")) : l->text);
    put_log_answer(l);
}

static void end_logs(struct work *w)
{
    struct logs *l = container_of(w, struct logs, work);

    if (w->is_dropped)
        api_fail(l->req, -ESHUTDOWN, NULL);
    else
        api_reply_json(l->req, 200, &l->body);
    logs_free(l);
}

/* TEXT is copied. */
static void answer_logs(struct logs *l, struct str text, bool is_json)
{
    const struct core *core = l->req->core;

    sandbox_unref(take(l->sb));
    l->text = text.len > 0 ? arena_str(&l->arena, text) : STR("");
    l->is_json = is_json;
    l->work = (struct work){.owner = str_of(l->account), .run = run_logs, .done = end_logs};
    int code = l->text.p ? work_submit(volumes_pool(core->volumes), core->loop, &l->work) : -ENOMEM;
    if (code < 0) {
        api_fail(l->req, code, NULL);
        logs_free(l);
    }
}

static void on_cell_lines(void *ctx, const struct http_response *r)
{
    bool has_log = r->error == 0 && r->head.status == 200;

    answer_logs(ctx, has_log ? r->body : STR(""), has_log);
}

/* Asks the sandbox for what its main process wrote; false when it cannot be asked. */
static bool ask_cell_for_log(struct logs *l)
{
    static const struct str target = STR_INIT("/log?timestamps=true&tailLines=2000");
    struct engine_cell *cell = sandbox_cell(l->sb);
    struct engine *engine = sandboxes_engine(l->req->core->sandboxes, NULL);

    if (!cell || !engine || sandbox_state(l->sb) != SANDBOX_RUNNING || l->sb->is_talking)
        return false;
    const struct http_request request = {.address = engine_cell_address(cell),
                                         .method = STR("GET"),
                                         .target = target,
                                         .host = STR("cell"),
                                         .max_body = LOG_MAX};
    return http_client_fetch(engine_http(engine), &request, on_cell_lines, l, NULL) != NULL;
}

/* What was fetched before it was paused. */
static void answer_kept(struct logs *l)
{
    const struct sandboxes *set = l->req->core->sandboxes;
    const struct sandbox_log *log = sandbox_log_find(set, str_of(l->sb->id), l->req->key);
    const struct sandbox_log_view view = {.tail = TAIL, .has_times = true};
    struct buf text auto_buf = BUF_INIT(SANDBOX_LOG_MAX);

    bool has_log = log && sandbox_log_read(set, log, &view, &text) == 0;
    answer_logs(l, has_log ? buf_str(&text) : STR(""), false);
}

static void add_events(struct logs *l, const struct json *items)
{
    /* The name may have been another sandbox's before. */
    int64_t born_us = l->sb->created_us - 1000000;

    for (size_t i = json_is(items, JSON_ARRAY) ? items->n : 0; i-- > 0;) {
        const struct json *it = &items->items[i];
        bool is_warning = str_is(json_str(json_get(it, "type"), STR("")), "Warning");
        struct e2b_log_entry en = {.level = is_warning ? LEVEL_WARN : 1,
                                   .logger = "tidepool",
                                   .text = json_str(json_get(it, "message"), STR(""))};
        struct str at = json_str(json_get(it, "eventTime"), STR(""));
        if (e2b_time_parse(at, &en.at_us) == 0 && en.at_us >= born_us)
            add_log_entry(l, &en);
    }
}

static void on_log_events(int result, struct str items, void *ctx)
{
    struct logs *l = ctx;

    if (result < 0) {
        api_fail(l->req, result, NULL);
        logs_free(l);
        return;
    }
    /* The text is gone when this returns. */
    add_events(l, json_parse(&l->arena, items, NULL, NULL));
    if (!ask_cell_for_log(l))
        answer_kept(l);
}

/* ---- the requests ---- */

static int refuse_log_query(struct api_req *r, const char *name)
{
    api_error(r, 400, "Invalid %s", name);
    return -EINVAL;
}

/* A number of a query parameter within its bounds; -EINVAL after answering. */
static int read_log_number(struct api_req *r, const char *name, int64_t most, int64_t *ret)
{
    struct str text = api_query(r, name);

    if (text.len == 0)
        return 0;
    return str_to_i64(text, ret) == 0 && *ret >= 0 && *ret <= most ? 0 : refuse_log_query(r, name);
}

static int read_level(struct logs *l)
{
    struct str text = api_query(l->req, "level");

    for (unsigned i = 0; text.len > 0 && i < ARRAY_LEN(levels); i++)
        if (str_is(text, levels[i])) {
            l->level = i;
            return 0;
        }
    return text.len > 0 ? refuse_log_query(l->req, "level") : 0;
}

static int read_direction(struct logs *l)
{
    struct str text = api_query(l->req, "direction");

    l->is_backward = str_is(text, "backward");
    return text.len == 0 || l->is_backward || str_is(text, "forward")
               ? 0
               : refuse_log_query(l->req, "direction");
}

static int read_log_query(struct logs *l)
{
    const int64_t most_ms = INT64_MAX / 1000;
    int64_t at_ms = -1;

    if (read_log_number(l->req, l->is_v2 ? "cursor" : "start", most_ms, &at_ms) < 0 ||
        read_log_number(l->req, "limit", LIMIT_MAX, &l->limit) < 0)
        return -EINVAL;
    if (l->is_v2 && (read_direction(l) < 0 || read_level(l) < 0))
        return -EINVAL;
    if (l->is_v2)
        l->search = arena_str(&l->arena, api_query(l->req, "search"));
    if (at_ms >= 0)
        *(l->is_backward ? &l->to_us : &l->from_us) = at_ms * 1000;
    return 0;
}

static struct logs *logs_new(struct api_req *r, bool is_v2)
{
    struct logs *l = mem_zalloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->req = r;
    l->is_v2 = is_v2;
    l->to_us = INT64_MAX;
    l->limit = LIMIT_DEFAULT;
    l->max = TAIL + EVENT_MAX_LIMIT;
    (void)snprintf(l->account, sizeof l->account, "%s", r->key->account->id);
    arena_init(&l->arena, MEMORY_MAX);
    buf_init(&l->body, ANSWER_MAX);
    l->entries = arena_zalloc(&l->arena, l->max, sizeof *l->entries);
    if (l->entries)
        return l;
    logs_free(l);
    return NULL;
}

static void start_logs(struct api_req *r, bool is_v2)
{
    struct sandbox *sb = e2b_find(r);
    struct logs *l = sb ? logs_new(r, is_v2) : NULL;

    if (!sb)
        return;
    if (!l) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    if (read_log_query(l) < 0) {
        logs_free(l);
        return;
    }
    const struct event_filter filter = {
        .is_system = true, .sandbox = str_of(sb->name), .limit = EVENT_MAX_LIMIT};
    l->sb = sandbox_ref(sb);
    int code = event_query(r->core->store, r->core->loop, &filter, on_log_events, l);
    if (code < 0) {
        api_fail(r, code, NULL);
        logs_free(l);
    }
}

void e2b_logs_v1(struct api_req *r)
{
    start_logs(r, false);
}

void e2b_logs_v2(struct api_req *r)
{
    start_logs(r, true);
}
