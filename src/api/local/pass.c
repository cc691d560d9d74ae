/* SPDX-License-Identifier: MIT */
#include "api/local/pass.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/local/local.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/account.h"
#include "loop/work.h"
#include "mcp/mcp.h"

enum {
    LONG = 256 << 10,     /* bytes that are no matter of the loop's thread */
    BODY_MAX = 100 << 20, /* often has the same twice, for clients of both kinds */
    TEXT_MAX = 48 << 20,  /* of what is passed on; with the body it is copied in some 45 ms */
    DEPTH_MAX = 128,
    VALUES_MAX = 2000000
};

/* An answer, read and rewritten. */
struct passed {
    struct work work;
    struct mcp_call *call;
    bool has_structure;
    char owner[ACCOUNT_ID_MAX + 1];
    struct buf body;
    struct buf content, structured; /* JSON; of no bytes: there is none */
    bool is_error;
};

static void put_passed_value(struct buf *to, const struct json *v)
{
    (void)json_write(to, v, JSON_COMPACT);
    if (!buf_ok(to))
        buf_clear(to);
}

static void read_passed_answer(struct passed *p, struct str body)
{
    const struct json_limits limits = {
        .max_depth = DEPTH_MAX, .max_values = VALUES_MAX, .max_bytes = BODY_MAX};
    struct arena a auto_arena;

    arena_init(&a, 4 * (size_t)BODY_MAX);
    const struct json *v = json_parse(&a, body, &limits, NULL);
    const struct json *content = json_get(v, "content");
    const struct json *structured = json_get(v, "structuredContent");
    buf_init(&p->content, TEXT_MAX);
    buf_init(&p->structured, TEXT_MAX);
    if (json_is(content, JSON_ARRAY))
        put_passed_value(&p->content, content);
    if (p->has_structure && json_is(structured, JSON_OBJECT))
        put_passed_value(&p->structured, structured);
    p->is_error = json_bool(json_get(v, "isError"), false);
}

static void answer_passed(struct passed *p)
{
    if (p->content.len == 0) {
        mcp_reply_fail(p->call, MCP_INTERNAL_ERROR, "the sandbox sent an unreadable response");
        return;
    }
    struct jw *w = mcp_result_begin(p->call);
    jw_key(w, "content");
    jw_raw(w, buf_str(&p->content));
    if (p->structured.len > 0) {
        jw_key(w, "structuredContent");
        jw_raw(w, buf_str(&p->structured));
    }
    jw_key(w, "isError");
    jw_bool(w, p->is_error);
    mcp_result_end(p->call);
}

static void passed_done(struct passed *p)
{
    buf_done(&p->body);
    buf_done(&p->content);
    buf_done(&p->structured);
}

static void parse_passed_answer(struct work *w)
{
    struct passed *p = container_of(w, struct passed, work);

    read_passed_answer(p, buf_str(&p->body));
    buf_done(&p->body);
}

static void on_pass_parsed(struct work *w)
{
    struct passed *p = container_of(w, struct passed, work);

    answer_passed(p);
    passed_done(p);
    free(p);
}

static void pass_long(const struct local_pass *q, struct str body)
{
    struct work_pool *workers = locals_workers(q->locals);
    struct passed *p = workers ? mem_zalloc(1, sizeof *p) : NULL;

    if (!p) {
        mcp_reply_fail(q->call, MCP_INTERNAL_ERROR, "out of memory");
        return;
    }
    p->call = q->call;
    p->has_structure = q->has_structure;
    (void)snprintf(p->owner, sizeof p->owner, "%s", q->owner);
    buf_init(&p->body, BODY_MAX);
    (void)buf_add_str(&p->body, body);
    p->work = (struct work){
        .owner = str_of(p->owner), .run = parse_passed_answer, .done = on_pass_parsed};
    if (buf_ok(&p->body) && work_submit(workers, locals_loop(q->locals), &p->work) == 0)
        return;
    mcp_reply_fail(q->call, MCP_INTERNAL_ERROR, "the answer is too long to be read now");
    passed_done(p);
    free(p);
}

void local_pass_on(const struct local_pass *q, struct str body)
{
    struct passed p = {.call = q->call, .has_structure = q->has_structure};

    if (body.len > LONG) {
        pass_long(q, body);
        return;
    }
    read_passed_answer(&p, body);
    answer_passed(&p);
    passed_done(&p);
}
