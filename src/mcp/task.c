/* SPDX-License-Identifier: MIT */
/* Tasks from their beginning to their end: see task.h. */
#include "mcp/task.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/enc.h"
#include "base/id.h"
#include "base/mem.h"

#define KIND "tidepool mcp task\n"

/* An id's name: seconds since 1970 and the ttl, eight hex digits each, then random ones. */
enum {
    TIME_DIGITS = 8,
    RANDOM_DIGITS = MCP_SESSION_NAME_LEN - 2 * TIME_DIGITS,
    CREATED_MAX = 16 << 10
};

#define LOST                                                                                       \
    "the service restarted or had to make room: what this task did is not known any more, and "    \
    "its "                                                                                         \
    "work has ended"

/* ---- the status ---- */

const char *const mcp_status_names[MCP_STATUS_COUNT] = {
    [MCP_WORKING] = "working",     [MCP_INPUT_REQUIRED] = "input_required",
    [MCP_COMPLETED] = "completed", [MCP_FAILED] = "failed",
    [MCP_CANCELLED] = "cancelled",
};

#define ENDS (1U << MCP_COMPLETED | 1U << MCP_FAILED | 1U << MCP_CANCELLED)

/* Where each may go, as bits. */
static const unsigned moves[MCP_STATUS_COUNT] = {
    [MCP_WORKING] = ENDS | 1U << MCP_INPUT_REQUIRED,
    [MCP_INPUT_REQUIRED] = ENDS | 1U << MCP_WORKING,
};

bool mcp_status_is_over(enum mcp_status status)
{
    return moves[status] == 0;
}

bool mcp_status_may(enum mcp_status from, enum mcp_status to)
{
    return moves[from] & 1U << to;
}

void mcp_task_move(struct mcp_task *t, enum mcp_status status)
{
    assert(mcp_status_may(t->status, status));
    t->status = status;
    t->updated_us = clock_real_us();
    mcp_task_notify(t);
}

void mcp_task_say(struct mcp_task *t, const char *text)
{
    (void)snprintf(t->text, sizeof t->text, "%s", text);
    /* Not in the middle of a character: what follows its first byte, and that. */
    size_t n = strlen(t->text);
    if (n == sizeof t->text - 1) {
        while (n > 0 && ((unsigned char)t->text[n - 1] & 0xc0) == 0x80)
            n--;
        n -= n > 0 && (unsigned char)t->text[n - 1] >= 0xc0;
        t->text[n] = '\0';
    }
    t->updated_us = clock_real_us();
}

/* ---- ids ---- */

static void make_task_id(struct mcp_task *t)
{
    char name[MCP_SESSION_NAME_LEN + 1];

    (void)snprintf(name, sizeof name, "%08x%08x", (unsigned)(t->created_us / 1000000),
                   (unsigned)t->ttl_ms);
    id_hex(name + (size_t)2 * TIME_DIGITS, RANDOM_DIGITS);
    mcp_sign_id(t->server, KIND, str_of(t->owner), str_n(name, MCP_SESSION_NAME_LEN), t->id);
}

static int64_t read_digits(struct str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n = n * 16 + enc_hex_digit(s.p[i]);
    return n;
}

bool mcp_task_was_lost(struct mcp_server *s, struct str id, struct str owner, struct mcp_task *ret)
{
    char want[MCP_SESSION_ID_LEN + 1];

    if (s->table.desc.secret.len == 0 || id.len != MCP_SESSION_ID_LEN)
        return false;
    mcp_sign_id(s, KIND, owner, str_slice(id, 0, MCP_SESSION_NAME_LEN), want);
    if (!mem_eq_const(want, id.p, MCP_SESSION_ID_LEN))
        return false;
    *ret = (struct mcp_task){.server = s, .status = MCP_FAILED, .text = LOST};
    ret->created_us = read_digits(str_slice(id, 0, TIME_DIGITS)) * 1000000;
    ret->ttl_ms = read_digits(str_slice(id, TIME_DIGITS, (size_t)2 * TIME_DIGITS));
    ret->updated_us = clock_real_us();
    (void)snprintf(ret->id, sizeof ret->id, STR_FMT, STR_ARG(id));
    static char error[] = "{\"code\":-32603,\"message\":\"" LOST "\"}";
    ret->outcome = error;
    ret->outcome_len = sizeof error - 1;
    return ret->updated_us < ret->created_us + ret->ttl_ms * 1000;
}

struct mcp_task *mcp_task_find(struct mcp_server *s, struct str id, struct str owner)
{
    struct mcp_task *t = map_get(&s->tasks, id);

    return t && str_is(owner, t->owner) ? t : NULL;
}

/* ---- the end ---- */

static void free_task(struct mcp_task *t)
{
    loop_timer_stop(&t->expiry);
    (void)map_del(&t->server->tasks, str_of(t->id));
    list_del(&t->node);
    free(t->owner);
    free(t->outcome);
    free(t);
}

void mcp_task_cancel(struct mcp_task *t)
{
    struct call *c = t->call;

    if (!mcp_status_is_over(t->status)) {
        mcp_task_say(t, "cancelled by the client");
        mcp_task_move(t, MCP_CANCELLED);
        mcp_task_answer_waiting(&t->waiting, t);
    }
    mcp_task_unask(t);
    /* The work may end here, or a little later: settle() then finds that all is over. */
    if (c && !c->is_cancelled)
        mcp_call_cancel(c);
}

void mcp_task_drop(struct mcp_task *t)
{
    struct call *c = take(t->call);

    mcp_task_answer_waiting(&t->waiting, NULL);
    mcp_task_unask(t);
    if (c)
        c->x->task = NULL;
    free_task(t);
    if (c && !c->is_cancelled)
        mcp_call_cancel(c);
}

static void on_task_expiry(struct loop_timer *timer)
{
    mcp_task_drop(container_of(timer, struct mcp_task, expiry));
}

void mcp_tasks_forget(struct mcp_server *s, struct str owner)
{
    list_each(it, &s->task_list)
    {
        struct mcp_task *t = list_entry(it, struct mcp_task, node);
        if (owner.len > 0 && !str_is(owner, t->owner))
            continue;
        mcp_task_drop(t);
        /* The end of its work may have ended others. */
        it_next = s->task_list.next;
    }
}

/* ---- room ---- */

struct task_use {
    size_t n, bytes;
    struct mcp_task *spare; /* the oldest whose outcome was fetched */
};

static struct task_use count_tasks(struct mcp_server *s, struct str owner)
{
    struct task_use use = {0};

    list_each(it, &s->task_list)
    {
        struct mcp_task *t = list_entry(it, struct mcp_task, node);
        if (!str_is(owner, t->owner))
            continue;
        use.n++;
        use.bytes += t->outcome_len;
        if (!use.spare && t->is_fetched)
            use.spare = t;
    }
    return use;
}

/* Makes room for one more task of OWNER, or with BYTES for that much of an outcome. */
static int make_task_room(struct mcp_server *s, struct str owner, size_t bytes)
{
    const struct mcp_limits *l = &s->table.desc.limits;

    for (;;) {
        struct task_use use = count_tasks(s, owner);
        bool is_full = bytes > 0 ? use.bytes + bytes > l->max_task_bytes
                                 : use.n >= l->max_tasks || s->tasks.n >= MCP_MAX_TASKS;
        if (!is_full)
            return 0;
        if (!use.spare)
            return -ENOBUFS;
        mcp_task_drop(use.spare);
    }
}

/* ---- the beginning ---- */

/* What the client asks for, else what the work may take and some time to fetch its outcome. */
static int64_t choose_ttl(struct call *c)
{
    const struct mcp_limits *l = &c->x->server->table.desc.limits;
    const struct json *asked = json_get(json_get(c->pub.params, "task"), "ttl");
    int64_t takes_ms = c->tool && c->tool->takes_ms ? c->tool->takes_ms(&c->pub) : 0;
    int64_t ttl_ms = takes_ms + l->task_keep_ms;

    if (!mcp_is_modern(c->x) && asked)
        ttl_ms = json_is(asked, JSON_REAL) ? (int64_t)json_real(asked, 1) : json_int(asked, ttl_ms);
    ttl_ms = ttl_ms > 0 ? ttl_ms : 1;
    return ttl_ms < l->max_task_ttl_ms ? ttl_ms : l->max_task_ttl_ms;
}

static struct mcp_task *new_task(struct call *c)
{
    struct mcp_server *s = c->x->server;
    struct mcp_task *t = mem_zalloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->server = s;
    list_init(&t->node);
    list_init(&t->waiting);
    t->owner = mem_strndup(c->x->scope.owner.p, c->x->scope.owner.len);
    t->created_us = t->updated_us = clock_real_us();
    t->ttl_ms = choose_ttl(c);
    if (t->owner)
        make_task_id(t);
    if (c->x->session)
        (void)snprintf(t->session, sizeof t->session, "%s", c->x->session->id);
    if (!t->owner || map_put(&s->tasks, str_of(t->id), t, NULL) < 0 ||
        loop_timer_start(s->loop, &t->expiry, t->ttl_ms, on_task_expiry) < 0) {
        free_task(t);
        return NULL;
    }
    list_append(&s->task_list, &t->node);
    t->call = c;
    return t;
}

static void write_created(struct call *c, const struct mcp_task *t, struct buf *b)
{
    bool is_modern = mcp_is_modern(c->x);
    struct jw w = jw_to(b);

    jw_object(&w);
    jw_key(&w, "jsonrpc");
    jw_cstr(&w, "2.0");
    jw_key(&w, "id");
    jw_raw(&w, c->id);
    jw_key(&w, "result");
    jw_object(&w);
    if (is_modern) {
        jw_key(&w, "resultType");
        jw_cstr(&w, "task");
        mcp_put_task(&w, t, true, false);
        jw_key(&w, "_meta");
        jw_raw(&w, t->server->table.meta);
    } else {
        jw_key(&w, "task");
        jw_object(&w);
        mcp_put_task(&w, t, false, false);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
}

/* Answers X's request with TEXT and lets go of all that belongs to it. */
static void detach_exchange(struct mcp_exchange *x, struct str text)
{
    loop_timer_stop(&x->patience);
    if (x->stream || x->is_pair)
        mcp_call_send(x, text);
    else if (x->http)
        mcp_exchange_reply(x, text);
    if (x->stream)
        mcp_stream_finish(take(x->stream));
    list_del(&x->in_session);
    x->session = NULL;
    x->is_pair = x->may_stream = false;
    x->status = 0;
}

int mcp_task_begin(struct call *c)
{
    struct mcp_exchange *x = c->x;
    const struct mcp_desc *d = &x->server->table.desc;
    struct buf text auto_buf = BUF_INIT(CREATED_MAX);

    if (x->is_task)
        return 0;
    int r = make_task_room(x->server, x->scope.owner, 0);
    if (r < 0 || (d->task_begin && (r = d->task_begin(x->scope.ctx)) < 0))
        return r;
    struct mcp_task *t = new_task(c);
    if (t)
        write_created(c, t, &text);
    if (!t || !buf_ok(&text)) {
        if (t)
            free_task(t);
        if (d->task_end)
            d->task_end(x->scope.ctx);
        return -ENOMEM;
    }
    detach_exchange(x, buf_str(&text));
    x->is_task = true;
    x->task = t;
    /* Nobody is there who could read notes. */
    c->token = STR_NULL;
    c->level = MCP_LEVEL_COUNT;
    return 0;
}

int mcp_task_start(struct mcp_call *call)
{
    struct call *c = call_of(call);
    int r = c->is_cancelled ? 0 : mcp_task_begin(c);

    if (r == -ENOBUFS)
        mcp_reply_fail(call, MCP_SERVER_ERROR, "too many tasks: wait until others end or expire");
    else if (r < 0)
        mcp_reply_fail(call, MCP_INTERNAL_ERROR, "no memory for a task");
    return r;
}

/* ---- the outcome ---- */

static int keep_outcome(struct mcp_task *t, struct str outcome)
{
    int r = outcome.len > 0 ? make_task_room(t->server, str_of(t->owner), outcome.len) : -ENOMEM;

    if (r < 0)
        return r;
    t->outcome = mem_strndup(outcome.p, outcome.len);
    t->outcome_len = t->outcome ? outcome.len : 0;
    return t->outcome ? 0 : -ENOMEM;
}

void mcp_task_settle(struct call *c, struct str outcome)
{
    struct mcp_task *t = take(c->x->task);
    const struct mcp_desc *d = &c->x->server->table.desc;

    if (d->task_end)
        d->task_end(c->x->scope.ctx);
    if (!t)
        return;
    t->call = NULL;
    mcp_task_unask(t);
    if (mcp_status_is_over(t->status))
        return;
    if (c->is_cancelled) {
        mcp_task_move(t, MCP_CANCELLED);
    } else {
        bool is_kept = keep_outcome(t, outcome) == 0;
        t->text[0] = '\0';
        mcp_task_move(t, is_kept && !c->has_failed ? MCP_COMPLETED : MCP_FAILED);
    }
    mcp_task_answer_waiting(&t->waiting, t);
}
