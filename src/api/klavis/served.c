/* SPDX-License-Identifier: MIT */
/* Servers of apps: tables out of the app's tools, and calls on their way to the instance. */
#include "api/klavis/served.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/instance.h"
#include "mcp/mcp.h"
#include "sys/io.h"

enum { SERVED_MAX = 32 << 20, TEXT_MAX = 1 << 20, ANSWER_MAX = 64 << 20 };

/* ---- calls ---- */

struct tool_call {
    struct mcp_call *call;
    struct arena arena; /* of its own: a worker may use it */
    struct instance_op op;
};

static void answer(struct mcp_call *c, const struct app_answer *a)
{
    struct jw *w;

    switch (a->kind) {
    case APP_ANSWER_TEXT: mcp_reply_text(c, a->text, false); return;
    case APP_ANSWER_ERROR: mcp_reply_text(c, a->text, true); return;
    case APP_ANSWER_RPC: mcp_reply_error(c, MCP_INTERNAL_ERROR, a->text, STR_NULL); return;
    case APP_ANSWER_CONTENT:
        w = mcp_result_begin(c);
        jw_key(w, "content");
        jw_raw(w, a->text);
        mcp_result_end(c);
        return;
    }
}

static void on_done(struct instance_op *op, const struct err *e)
{
    struct tool_call *t = container_of(op, struct tool_call, op);

    if (e)
        mcp_reply_fail(t->call, e->code == -ENOENT ? MCP_SERVER_ERROR : MCP_INTERNAL_ERROR, "%s",
                       err_text(e));
    else
        answer(t->call, &op->answer);
    arena_done(&t->arena);
    free(t);
}

static void on_call(struct mcp_call *c)
{
    const struct served_caller *who = c->ctx;
    struct instance *in = instance_by_lease(who->core->instances, str_of(who->lease));
    struct tool_call *t = in ? mem_zalloc(1, sizeof *t) : NULL;

    if (!t) {
        mcp_reply_fail(c, MCP_SERVER_ERROR, in ? "no memory" : "the sandbox was released");
        return;
    }
    t->call = c;
    arena_init(&t->arena, ANSWER_MAX);
    t->op = (struct instance_op){.what = INSTANCE_CALL,
                                 .name = c->name,
                                 .args = c->args,
                                 .arena = &t->arena,
                                 .done = on_done};
    instance_do(in, &t->op);
}

/* ---- the tables ---- */

/* V as text in A; NULL for none, or without memory. */
static const char *text_of(struct arena *a, const struct json *v, bool *failed)
{
    struct buf text auto_buf = BUF_INIT(TEXT_MAX);

    if (!v)
        return NULL;
    struct str copy =
        json_write(&text, v, JSON_COMPACT) == 0 ? arena_str(a, buf_str(&text)) : STR_NULL;
    *failed = *failed || !copy.p;
    return copy.p;
}

static const char *copy_of(struct arena *a, const char *s, bool *failed)
{
    const char *copy = s ? arena_strdup(a, s) : NULL;

    *failed = *failed || (s && !copy);
    return copy;
}

static struct mcp_tool *make_tools(struct arena *a, const struct app *app)
{
    struct mcp_tool *tools = arena_zalloc(a, app->n_tools + 1, sizeof *tools);
    bool failed = !tools;

    for (size_t i = 0; !failed && i < app->n_tools; i++) {
        const struct app_tool *t = &app->tools[i];
        tools[i] = (struct mcp_tool){.name = copy_of(a, t->name, &failed),
                                     .description = copy_of(a, t->description, &failed),
                                     .input = text_of(a, t->input, &failed),
                                     .annotations = text_of(a, t->annotations, &failed),
                                     .call = on_call};
    }
    return failed ? NULL : tools;
}

/* DIR/data.json, when there is one. */
static int read_data_schema(struct served *s, const struct app *app, struct err *e)
{
    struct buf text auto_buf = BUF_INIT(TEXT_MAX);
    struct str path = arena_printf(&s->arena, "%s/data.json", app->dir);
    int r = path.p ? io_read_file(path.p, &text, NULL) : -ENOMEM;

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return err_sys(e, r, "data.json");
    s->data = json_parse(&s->arena, buf_str(&text), NULL, e);
    return s->data ? 0 : err_ctx(e, -EUCLEAN, "data.json");
}

static int fill(struct served *s, struct core *core, const struct app *app, struct err *e)
{
    bool failed = false;
    struct mcp_desc desc = {
        .name = copy_of(&s->arena, app->name, &failed),
        .title = copy_of(&s->arena, app->title, &failed),
        .version = TIDEPOOL_VERSION,
        .tools = make_tools(&s->arena, app),
        .n_tools = app->n_tools,
        .unknown_tool = on_call,
        .is_stateless = true,
        .is_unchecked = true,
    };

    if (failed || !desc.tools)
        return err_sys(e, -ENOMEM, "server of '%s'", app->name);
    int r = read_data_schema(s, app, e);
    if (r < 0)
        return err_ctx(e, r, "app '%s'", app->name);
    s->mcp = mcp_server_new(core->loop, &desc, e);
    return s->mcp ? 0 : -EUCLEAN;
}

struct served *served_new(struct core *core, const struct app *app, struct err *e)
{
    struct served *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        (void)err_sys(e, -ENOMEM, "server of '%s'", app->name);
        return NULL;
    }
    arena_init(&s->arena, SERVED_MAX);
    if (fill(s, core, app, e) < 0) {
        served_free(s);
        return NULL;
    }
    return s;
}

void served_free(struct served *s)
{
    if (!s)
        return;
    mcp_server_free(s->mcp);
    arena_done(&s->arena);
    free(s);
}
