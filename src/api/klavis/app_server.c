/* SPDX-License-Identifier: MIT */
/* Servers of apps: tables out of the app's tools, and calls on their way to the instance. */
#include "api/klavis/app_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/local/apps.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/core.h"
#include "core/instance.h"
#include "mcp/mcp.h"

enum { SERVED_MAX = 32 << 20, TEXT_MAX = 1 << 20, ANSWER_MAX = 64 << 20 };

/* ---- calls ---- */

static void answer_tool(struct mcp_call *c, const struct app_answer *a)
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

/* ---- files of the workspace ---- */

static const struct json *content_of(struct instance_op *op)
{
    return json_parse(op->arena, op->answer.text, NULL, NULL);
}

/* The first item of CONTENT that is a file to be written; NULL: none. */
static const struct json *file_to_write(const struct json *content)
{
    for (size_t i = 0; json_is(content, JSON_ARRAY) && i < content->n; i++) {
        const struct json *file = json_at(content, i);
        if (str_is(json_str(json_get(file, "type"), STR("")), "file"))
            return file;
    }
    return NULL;
}

static void on_tool_file_written(void *ctx, struct str text, bool is_failure)
{
    struct instance_op *op = ctx;
    const struct json *content = content_of(op);
    struct str failure = json_str(json_get(file_to_write(content), "failure"), STR(""));

    if (is_failure)
        text = arena_printf(op->arena, STR_FMT STR_FMT, STR_ARG(failure), STR_ARG(text));
    else
        text = json_str(json_get(json_at(content, 0), "text"), STR(""));
    mcp_reply_text(op->ctx, text.p ? text : STR("out of memory"), false);
    instance_op_free(op);
}

/* True when the answer has a file in it, which is written before the client is answered. */
static bool writes_file(struct instance_op *op)
{
    const struct mcp_call *c = op->ctx;
    const struct app_server_caller *who = c->ctx;
    bool may =
        op->answer.kind == APP_ANSWER_CONTENT && str_find(op->answer.text, STR("\"file\"")) >= 0;
    const struct json *file = may ? file_to_write(content_of(op)) : NULL;

    if (!file)
        return false;
    if (who->locals)
        local_file(who->locals, str_of(who->local), "write", file, op->arena, on_tool_file_written,
                   op);
    else
        on_tool_file_written(op, STR("this sandbox has no workspace"), true);
    return true;
}

/* What is our own fault is for the log; what the caller can do something about is for the caller.
 */
static void fail_call(struct mcp_call *c, const struct err *e)
{
    switch (e->code) {
    case -ENOENT: mcp_reply_fail(c, MCP_SERVER_ERROR, "%s", err_text(e)); return;
    case -ENOMEM:
    case -EINVAL:
    case -EIO:
    case -EBUSY:
    case -EROFS:
    case -EACCES:
    case -EUCLEAN:
        log_error("a tool failed", LOG_S("error", err_text(e)));
        mcp_reply_fail(c, MCP_INTERNAL_ERROR, "Internal error");
        return;
    default: mcp_reply_fail(c, MCP_INTERNAL_ERROR, "%s", err_text(e));
    }
}

static void on_app_call_done(struct instance_op *op, const struct err *e)
{
    struct mcp_call *c = op->ctx;

    if (e) {
        fail_call(c, e);
    } else {
        if (op->answer.fault.p)
            log_warn("a tool could not use its arguments", LOG_V("error", op->answer.fault));
        if (writes_file(op))
            return;
        answer_tool(c, &op->answer);
    }
    instance_op_free(op);
}

/* After the file was read: the instance may be gone meanwhile. */
static void run_tool_call(struct instance_op *op)
{
    struct mcp_call *c = op->ctx;
    const struct app_server_caller *who = c->ctx;
    struct instance *in = instance_by_lease(who->core->instances, str_of(who->lease));

    if (in) {
        instance_do(in, op);
        return;
    }
    mcp_reply_fail(c, MCP_SERVER_ERROR, "the sandbox was released");
    instance_op_free(op);
}

static void on_tool_file_read(void *ctx, struct str text, bool is_failure)
{
    struct instance_op *op = ctx;
    struct mcp_call *c = op->ctx;
    struct arena *a = c->arena;
    struct json *file = is_failure ? json_new_object(a) : json_parse(a, text, NULL, NULL);

    if (is_failure && file)
        (void)json_set(a, file, "error", json_new_str(a, text));
    if (file)
        (void)json_set(a, op->args, "file", file);
    run_tool_call(op);
}

/* The argument of TOOL that names a file to be read; NULL: none. */
static const struct json *file_to_read(const struct app_tool *tool, const struct json *args)
{
    for (size_t i = 0; tool && tool->files && i < tool->files->n; i++) {
        if (str_is(json_str(&tool->files->members[i].value, STR("")), "read"))
            return json_get_str(args, tool->files->members[i].key);
    }
    return NULL;
}

/* What scripts know of the request besides the arguments, none of which a client may give. */
static int add_hidden(struct mcp_call *c, const struct app *app)
{
    const struct app_server_caller *who = c->ctx;
    const struct json *hidden = app->hidden;

    if (!hidden)
        return 0;
    const struct json *headers =
        who->headers[0] ? json_parse(c->arena, str_of(who->headers), NULL, NULL) : NULL;
    if (!c->args)
        c->args = json_new_object(c->arena);
    for (size_t i = 0; json_is(c->args, JSON_OBJECT) && i < hidden->n; i++)
        (void)json_del(c->args, hidden->members[i].key);
    for (size_t i = 0; json_is(c->args, JSON_OBJECT) && app->headers && i < app->headers->n; i++) {
        struct str name = json_str(&app->headers->members[i].value, STR(""));
        const struct json *value = json_get_str(headers, name);
        if (value && json_set_str(c->arena, c->args, app->headers->members[i].key, value) < 0)
            return -ENOMEM;
    }
    return c->args ? 0 : -ENOMEM;
}

void app_server_call(struct mcp_call *c)
{
    const struct app_server_caller *who = c->ctx;
    struct instance *in = instance_by_lease(who->core->instances, str_of(who->lease));
    const struct app *app = in ? instance_app(in) : NULL;
    struct instance_op *op =
        app && add_hidden(c, app) == 0 ? instance_op_new(INSTANCE_CALL, c, ANSWER_MAX) : NULL;

    if (!op) {
        mcp_reply_fail(c, MCP_SERVER_ERROR, app ? "no memory" : "the sandbox was released");
        return;
    }
    op->name = c->name;
    op->args = c->args;
    op->done = on_app_call_done;
    const struct json *path = file_to_read(app_tool(app, c->name), c->args);
    struct json *args = json_is(path, JSON_STRING) ? json_new_object(c->arena) : NULL;
    if (args && who->locals && json_set(c->arena, args, "path", path) == 0)
        local_file(who->locals, str_of(who->local), "read", args, c->arena, on_tool_file_read, op);
    else
        instance_do(in, op);
}

/* ---- the tables ---- */

/* V as text in A; NULL for none, or without memory. */
static const char *json_text_of(struct arena *a, const struct json *v, bool *failed)
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
                                     .input = json_text_of(a, t->input, &failed),
                                     .annotations = json_text_of(a, t->annotations, &failed),
                                     .call = app_server_call};
    }
    return failed ? NULL : tools;
}

static int read_data_schema(struct app_server *s, const struct app *app, struct err *e)
{
    if (!folder_has(&app->folder, "data.json"))
        return 0;
    s->data = folder_json(&app->folder, "data.json", &s->arena, e);
    return s->data ? 0 : err_ctx(e, -EUCLEAN, "schema of the data");
}

static int fill_app_server(struct app_server *s, struct core *core, const struct app *app,
                           struct err *e)
{
    bool failed = false;
    struct mcp_desc desc = {
        .name = copy_of(&s->arena, app->name, &failed),
        .title = copy_of(&s->arena, app->title, &failed),
        .version = TIDEPOOL_VERSION,
        .tools = make_tools(&s->arena, app),
        .n_tools = app->n_tools,
        .unknown_tool = app_server_call,
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

struct app_server *app_server_new(struct core *core, const struct app *app, struct err *e)
{
    struct app_server *s = mem_zalloc(1, sizeof *s);

    if (!s) {
        (void)err_sys(e, -ENOMEM, "server of '%s'", app->name);
        return NULL;
    }
    arena_init(&s->arena, SERVED_MAX);
    if (fill_app_server(s, core, app, e) < 0) {
        app_server_free(s);
        return NULL;
    }
    return s;
}

void app_server_free(struct app_server *s)
{
    if (!s)
        return;
    mcp_server_free(s->mcp);
    arena_done(&s->arena);
    free(s);
}
