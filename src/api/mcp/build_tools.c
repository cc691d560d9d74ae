/* SPDX-License-Identifier: MIT */
/* Building templates: the call waits until the build is over, as a task if need be. */
#include <errno.h>
#include <stdio.h>

#include "api/mcp/tools.h"
#include "base/cleanup.h"
#include "core/build.h"
#include "loop/loop.h"

enum {
    LOOK_MS = 200,      /* how often the build is looked at */
    LOG_MAX = 64 << 10, /* of the end of the log, in the result */
    TAKES_MS = 7200000, /* a build; one that takes longer ends with its task */
    SPEC_TEXT_MAX = 1024
};

/* A call that waits for a build. The record of the build may go before: it is found by its id. */
struct wait {
    struct mcp_call *call;
    struct loop_timer timer;
    char build[ID_UUID_LEN + 1];
    size_t n_seen; /* lines of the log */
};

int64_t tool_build_takes_ms(const struct mcp_call *c)
{
    (void)c;
    return TAKES_MS;
}

/* ---- the result ---- */

static void put_build_log(struct jw *w, const struct build *b)
{
    struct buf text auto_buf = BUF_INIT(LOG_MAX + SPEC_TEXT_MAX);
    size_t from = b->n_lines, bytes = 0;

    while (from > 0 && (bytes += b->lines[from - 1].text.len + 1) <= LOG_MAX)
        from--;
    for (size_t i = from; i < b->n_lines; i++) {
        (void)buf_add_str(&text, b->lines[i].text);
        (void)buf_add_char(&text, '\n');
    }
    jw_key(w, "log");
    jw_str(w, buf_ok(&text) ? buf_str(&text) : STR(""));
}

static void reply_build(struct mcp_call *c, const struct build *b)
{
    bool is_ready = b->state == BUILD_READY;
    struct jw *w = mcp_result_begin(c);

    mcp_put_text(
        w, is_ready ? arena_printf(c->arena, "Template %s is ready", b->alias)
                    : arena_printf(c->arena, "The build of %s failed: %s", b->alias, b->failure));
    jw_key(w, "structuredContent");
    jw_object(w);
    jw_key(w, "template");
    jw_cstr(w, b->alias);
    jw_key(w, "templateID");
    jw_cstr(w, b->template_id);
    jw_key(w, "buildID");
    jw_cstr(w, b->id);
    jw_key(w, "status");
    jw_cstr(w, build_state_names[b->state]);
    put_build_log(w, b);
    jw_end(w);
    if (!is_ready) {
        jw_key(w, "isError");
        jw_bool(w, true);
    }
    mcp_result_end(c);
}

/* ---- waiting ---- */

static struct build *find_build(const struct wait *t)
{
    const struct mcp_caller *who = t->call->ctx;

    return build_find(who->core->builds, str_of(t->build), who->key);
}

static void look_at_build(struct loop_timer *timer)
{
    struct wait *t = container_of(timer, struct wait, timer);
    const struct mcp_caller *who = t->call->ctx;
    const struct build *b = find_build(t);
    char line[SPEC_TEXT_MAX];

    if (!b) {
        tool_refuse(t->call, "the build is not known any more");
        return;
    }
    if (b->state == BUILD_READY || b->state == BUILD_FAILED) {
        reply_build(t->call, b);
        return;
    }
    if (b->n_lines > t->n_seen) {
        t->n_seen = b->n_lines;
        (void)snprintf(line, sizeof line, STR_FMT, STR_ARG(b->lines[b->n_lines - 1].text));
        mcp_progress(t->call, (double)t->n_seen, -1, line);
    }
    (void)loop_timer_start(who->core->loop, &t->timer, LOOK_MS, look_at_build);
}

/* The client does not want it any more. */
static void cancel_build(struct mcp_call *c)
{
    struct wait *t = c->user;
    struct build *b = find_build(t);

    loop_timer_stop(&t->timer);
    if (b)
        build_cancel(b);
    tool_refuse(c, "cancelled");
}

static int await_build(struct mcp_call *c, const struct build *b)
{
    const struct mcp_caller *who = c->ctx;
    struct wait *t = arena_new(c->arena, struct wait);

    if (!t)
        return -ENOMEM;
    t->call = c;
    (void)snprintf(t->build, sizeof t->build, "%s", b->id);
    c->user = t;
    c->on_cancel = cancel_build;
    return loop_timer_start(who->core->loop, &t->timer, LOOK_MS, look_at_build);
}

/* ---- the beginning ---- */

/* Commands as the steps of a build. */
static struct json *make_steps(struct arena *a, const struct json *commands)
{
    struct json *steps = json_new_array(a);

    for (size_t i = 0; steps && json_is(commands, JSON_ARRAY) && i < commands->n; i++) {
        struct json *step = json_new_object(a), *args = json_new_array(a);
        if (!step || !args || json_push(a, args, &commands->items[i]) < 0 ||
            json_set(a, step, "type", json_new_str(a, STR("RUN"))) < 0 ||
            json_set(a, step, "args", args) < 0 || json_push(a, steps, step) < 0)
            return NULL;
    }
    return steps;
}

static struct json *make_build_spec(struct mcp_call *c)
{
    static const char *const words[][2] = {{"from_image", "fromImage"},
                                           {"from_template", "fromTemplate"},
                                           {"start_command", "startCmd"},
                                           {"ready_command", "readyCmd"}};
    struct json *spec = json_new_object(c->arena);
    struct json *steps = make_steps(c->arena, json_get(c->args, "commands"));

    if (!spec || !steps || json_set(c->arena, spec, "steps", steps) < 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const struct json *v = json_get(c->args, words[i][0]);
        if (v && json_set(c->arena, spec, words[i][1], v) < 0)
            return NULL;
    }
    return spec;
}

void tool_build(struct mcp_call *c)
{
    const struct mcp_caller *who = c->ctx;
    const struct build_request rq = {.key = who->key,
                                     .alias = tool_arg(c, "template"),
                                     .cpu = json_int(json_get(c->args, "cpu"), 0),
                                     .memory_mb = json_int(json_get(c->args, "memory_mb"), 0)};
    struct json *spec = make_build_spec(c);
    struct err e = ERR_INIT;
    struct build *b = spec ? build_new(who->core->builds, &rq, &e) : NULL;
    int r = !spec ? -ENOMEM : !b ? (e.code ? e.code : -ENOMEM) : build_start(b, spec, &e);

    if (r == 0)
        r = await_build(c, b);
    if (r < 0)
        tool_fail(c, r, &e);
}

int tool_use_built(struct mcp_call *c, struct sandbox_args *args)
{
    const struct mcp_caller *who = c->ctx;
    struct str tag = args->template_name, name = str_cut(&tag, ':');
    const struct build_tag *t =
        name.len > 0
            ? build_tag_find(who->core->builds, who->key->account->id, name, tag.p ? tag : STR(""))
            : NULL;

    return t ? build_apply(who->core->builds, t, args, c->arena) : 0;
}
