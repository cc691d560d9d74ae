/* SPDX-License-Identifier: MIT */
/* Tools whose calls are tasks. */
#include "api/conformance/fixtures.h"
#include "base/cleanup.h"
#include "loop/loop.h"

enum { JOB_MS = 1000, SECONDS_MAX = 3600 };

#define ELICIT "elicitation/create"
#define CONFIRM(text)                                                                              \
    STR_INIT("{\"message\":\"" text "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" \
             "\"confirm\":{\"type\":\"boolean\"}},\"required\":[\"confirm\"]}}")

/* A call that is answered in a while, or at once when it is cancelled. */
struct job {
    struct loop_timer timer;
    struct mcp_call *call;
    void (*fn)(struct mcp_call *c);
    const struct json *answers;
};

static void on_job_time(struct loop_timer *t)
{
    struct job *j = container_of(t, struct job, timer);

    j->fn(j->call);
}

static void cancel_job(struct mcp_call *c)
{
    struct job *j = c->user;

    loop_timer_stop(&j->timer);
    mcp_reply_text(c, STR("cancelled"), true);
}

static void begin_job(struct mcp_call *c, int64_t ms, void (*fn)(struct mcp_call *c),
                      const struct json *answers)
{
    struct job *j = arena_new(c->arena, struct job);

    if (!j || loop_timer_start(fixture_loop, &j->timer, ms, on_job_time) < 0) {
        mcp_reply_fail(c, MCP_INTERNAL_ERROR, "no memory");
        return;
    }
    j->call = c;
    j->fn = fn;
    j->answers = answers;
    c->user = j;
    c->on_cancel = cancel_job;
}

void fixture_greet(struct mcp_call *c)
{
    struct str name = json_str(json_get(c->args, "name"), STR("nobody"));

    mcp_reply_text(c, arena_printf(c->arena, "Hello, " STR_FMT "!", STR_ARG(name)), false);
}

static void end_slow(struct mcp_call *c)
{
    struct str label = json_str(json_get(c->args, "label"), STR("work"));

    mcp_reply_text(c, arena_printf(c->arena, "Computed: " STR_FMT, STR_ARG(label)), false);
}

int64_t fixture_slow_ms(const struct mcp_call *c)
{
    const struct json *v = json_get(c->args, "seconds");
    double s = json_real(v, (double)json_int(v, 0));

    return s > 0 && s <= SECONDS_MAX ? (int64_t)(s * 1000) : 0;
}

void fixture_slow(struct mcp_call *c)
{
    mcp_progress(c, 0, -1, "computing");
    begin_job(c, fixture_slow_ms(c), end_slow, NULL);
}

static void end_failing(struct mcp_call *c)
{
    mcp_reply_text(c, STR("the job failed"), true);
}

void fixture_failing_job(struct mcp_call *c)
{
    begin_job(c, JOB_MS, end_failing, NULL);
}

static void end_protocol_error(struct mcp_call *c)
{
    mcp_reply_error(c, MCP_INTERNAL_ERROR, STR("the job broke"), STR("{\"job\":1}"));
}

void fixture_broken_job(struct mcp_call *c)
{
    begin_job(c, JOB_MS, end_protocol_error, NULL);
}

/* ---- with questions ---- */

static const struct mcp_ask confirm[] = {
    {"confirm", ELICIT, CONFIRM("Delete the file?"), false},
};
static const struct mcp_ask both[] = {
    {"first", ELICIT, CONFIRM("The first?"), false},
    {"second", ELICIT, CONFIRM("The second?"), false},
};
const struct fixture_questions fixture_ask_delete = {confirm, 1, "Deleted"},
                               fixture_ask_both = {both, 2, "Both answered"};

static void end_named(struct mcp_call *c)
{
    const struct job *j = c->user;
    struct str name = json_str(json_pointer(j->answers, "/user_name/content/name"), STR("nobody"));

    mcp_reply_text(c, arena_printf(c->arena, "Worked for " STR_FMT, STR_ARG(name)), false);
}

/* All that has to be known was asked: now it may take time. */
static void begin_named(struct mcp_call *c, const struct json *answers)
{
    if (!answers)
        mcp_reply_text(c, STR("no answer"), true);
    else if (mcp_task_start(c) == 0)
        begin_job(c, JOB_MS / 2, end_named, answers);
}

void fixture_named_task(struct mcp_call *c)
{
    mcp_ask(c, fixture_ask_name.asks, fixture_ask_name.n, begin_named);
}
