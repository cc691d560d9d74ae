/* SPDX-License-Identifier: MIT */
/* GET /sandboxes and /v2/sandboxes: lists with filters, in pages. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/e2b/e2b.h"
#include "api/e2b/filter.h"
#include "core/sandbox.h"
#include "core/templates.h"

enum { LIMIT_DEFAULT = 100, LIMIT_MAX = 100, LIST_MAX = 256 << 20 };

struct list_query {
    struct e2b_metadata metadata;
    bool is_running_wanted, is_paused_wanted;
    int64_t started_after_us;
    struct str template_id; /* .p NULL: any */
    int64_t limit;
    bool has_cursor;
    struct e2b_cursor cursor; /* where the page before ended; its order is that of the list */
};

/* ---- reading ---- */

static int refuse_query(struct api_req *r, const char *what, struct str text)
{
    api_error(r, 400, "Invalid %s \"" STR_FMT "\"", what, STR_ARG(str_slice(text, 0, 100)));
    return -EINVAL;
}

/* "running,paused", or the parameter repeated. */
static int read_states(struct api_req *r, struct list_query *q)
{
    struct str query = r->http->head.query;
    bool is_any = true;

    while (query.p) {
        struct str value = str_cut(&query, '&'), key = str_cut(&value, '=');
        if (!str_is(key, "state"))
            continue;
        struct str all = http_decode_query(r->arena, value.p ? value : STR(""));
        while (all.p && all.len > 0) {
            struct str state = str_trim(str_cut(&all, ','));
            bool is_running = str_is(state, "running");
            if (!is_running && !str_is(state, "paused"))
                return refuse_query(r, "state", state);
            *(is_running ? &q->is_running_wanted : &q->is_paused_wanted) = true;
            is_any = false;
        }
    }
    q->is_running_wanted |= is_any;
    q->is_paused_wanted |= is_any;
    return 0;
}

static int read_metadata(struct api_req *r, struct list_query *q)
{
    struct err e = ERR_INIT;
    struct str text = api_query(r, "metadata");
    int code = text.len > 0 ? e2b_metadata_parse(r->arena, text, &q->metadata, &e) : 0;

    if (code < 0)
        api_fail(r, code, &e);
    return code;
}

static int read_page_order(struct api_req *r, struct list_query *q)
{
    struct str order = api_query(r, "order"), token = api_query(r, "nextToken");

    q->cursor.is_ascending = str_is(order, "asc");
    if (order.len > 0 && !q->cursor.is_ascending && !str_is(order, "desc"))
        return refuse_query(r, "order", order);
    if (token.len == 0)
        return 0;
    bool is_ascending = q->cursor.is_ascending;
    q->has_cursor = e2b_cursor_parse(token, &q->cursor) == 0;
    if (q->has_cursor && q->cursor.is_ascending == is_ascending)
        return 0;
    api_error(r, 400, "Invalid next token");
    return -EINVAL;
}

static int read_rest(struct api_req *r, struct list_query *q)
{
    struct str limit = api_query(r, "limit"), after = api_query(r, "startedAfter");
    struct str name = api_query(r, "template");

    q->limit = LIMIT_DEFAULT;
    q->started_after_us = INT64_MIN;
    if (limit.len > 0 && (str_to_i64(limit, &q->limit) < 0 || q->limit < 1 || q->limit > LIMIT_MAX))
        return refuse_query(r, "limit", limit);
    if (after.len > 0 && e2b_time_parse(after, &q->started_after_us) < 0)
        return refuse_query(r, "startedAfter", after);
    if (name.len == 0)
        return 0;
    /* A name that no template has finds nothing. */
    struct str id = templates_id(r->core->templates, name);
    q->template_id = id.p ? id : name;
    return 0;
}

/* ---- choosing ---- */

static bool has_pair(const struct sandbox *sb, const struct e2b_pair *pair)
{
    const struct json *v = json_get_str(sb->spec.metadata, pair->key);
    struct str value = json_str(v, STR_NULL);

    if (!v && str_is(pair->key, "name"))
        value = str_of(sb->name);
    return value.p && str_eq(value, pair->value);
}

static bool is_chosen(const struct sandbox *sb, const struct list_query *q,
                      const struct account_key *key)
{
    if (!sandbox_is_visible(sb, key) || sb->started_us < q->started_after_us)
        return false;
    if (q->template_id.p && !str_eq(q->template_id, sb->spec.template_name))
        return false;
    for (size_t i = 0; i < q->metadata.n; i++)
        if (!has_pair(sb, &q->metadata.pairs[i]))
            return false;
    return true;
}

/* A sandbox with its place in the list. */
struct e2b_list_item {
    struct e2b_cursor at; /* first: what qsort compares */
    const struct sandbox *sb;
};

static int by_page_place(const void *a, const void *b)
{
    return e2b_order(a, b);
}

/* The chosen ones in their order; *RET_RUNNING is how many of them run, whatever the page holds. */
static struct e2b_list_item *choose(struct api_req *r, const struct list_query *q, size_t *ret_n,
                                    int64_t *ret_running)
{
    const struct sandboxes *set = r->core->sandboxes;
    struct e2b_list_item *items = arena_zalloc(r->arena, sandboxes_n_live(set) + 1, sizeof *items);
    size_t n = 0;

    *ret_running = 0;
    for (const struct sandbox *sb = NULL; items && (sb = sandbox_next(set, sb));) {
        bool is_running = sandbox_state(sb) == SANDBOX_RUNNING;
        if (!is_chosen(sb, q, r->key))
            continue;
        *ret_running += is_running;
        struct e2b_list_item it = {.at = {sb->started_us, "", q->cursor.is_ascending}, .sb = sb};
        (void)snprintf(it.at.id, sizeof it.at.id, "%s", sb->id);
        if ((is_running ? q->is_running_wanted : q->is_paused_wanted) &&
            (!q->has_cursor || e2b_order(&it.at, &q->cursor) > 0))
            items[n++] = it;
    }
    if (items)
        qsort(items, n, sizeof *items, by_page_place);
    *ret_n = n;
    return items;
}

/* ---- answering ---- */

static void add_page_headers(struct api_req *r, const struct e2b_list_item *last, int64_t n_running)
{
    struct buf token auto_buf = BUF_INIT(1024);

    if (last && e2b_cursor_write(&token, &last->at) == 0)
        (void)http_add_header(r->http, "X-Next-Token", arena_str(r->arena, buf_str(&token)));
    (void)http_add_header(r->http, "X-Total-Running",
                          arena_printf(r->arena, "%lld", (long long)n_running));
}

static void answer_listed_page(struct api_req *r, const struct list_query *q)
{
    struct buf body auto_buf = BUF_INIT(LIST_MAX);
    struct jw w = jw_to(&body);
    int64_t n_running;
    size_t n;
    const struct e2b_list_item *items = choose(r, q, &n, &n_running);

    if (!items) {
        api_fail(r, -ENOMEM, NULL);
        return;
    }
    size_t n_shown = n < (size_t)q->limit ? n : (size_t)q->limit;
    jw_array(&w);
    for (size_t i = 0; i < n_shown; i++)
        e2b_put_sandbox(&w, r->core, items[i].sb);
    jw_end(&w);
    add_page_headers(r, n > n_shown ? &items[n_shown - 1] : NULL, n_running);
    api_reply_json(r, 200, &body);
}

void e2b_list_v2(struct api_req *r)
{
    struct list_query q = {0};

    if (read_states(r, &q) == 0 && read_metadata(r, &q) == 0 && read_page_order(r, &q) == 0 &&
        read_rest(r, &q) == 0)
        answer_listed_page(r, &q);
}

/* All that run, newest first. */
void e2b_list_v1(struct api_req *r)
{
    struct list_query q = {
        .is_running_wanted = true, .started_after_us = INT64_MIN, .limit = SANDBOX_MAX};

    if (read_metadata(r, &q) == 0)
        answer_listed_page(r, &q);
}
