/* SPDX-License-Identifier: MIT */
/* Tools that make, show, pause and delete sandboxes. */
#include <stdio.h>

#include "api/mcp/tools.h"
#include "api/native/native.h"
#include "base/cleanup.h"
#include "core/quota.h"
#include "core/sandbox.h"
#include "core/sandbox_fields.h"

enum { ANSWER_MAX = 4 * SANDBOX_SPEC_MAX, LIST_MAX = 4 << 20 };

#define USABLE "You can use the following Tools to interact with the Sandbox:\n"

/* ---- showing ---- */

/* TEXT, and SB as structured content. */
static void reply_sandbox(struct mcp_call *c, const struct sandbox *sb, struct str text)
{
    struct jw *w = mcp_result_begin(c);

    mcp_put_text(w, text);
    jw_key(w, "structuredContent");
    native_put_sandbox(w, sb);
    mcp_result_end(c);
}

void tool_get(struct mcp_call *c)
{
    const struct sandbox *sb = tool_sandbox(c, "sandbox_name");
    struct buf text auto_buf = BUF_INIT(ANSWER_MAX);

    if (!sb)
        return;
    (void)buf_add_lit(&text, "Sandbox details:\n");
    struct jw w = jw_to(&text);
    native_put_sandbox(&w, sb);
    (void)buf_add_lit(&text, "\n" USABLE);
    (void)buf_add_str(&text, str_of(tool_inner));
    if (buf_ok(&text))
        reply_sandbox(c, sb, buf_str(&text));
    else
        tool_fail(c, text.error, NULL);
}

void tool_list(struct mcp_call *c)
{
    const struct mcp_caller *who = c->ctx;
    const struct sandboxes *set = who->core->sandboxes;
    struct buf text auto_buf = BUF_INIT(LIST_MAX);
    struct jw list = jw_to(&text);

    jw_array(&list);
    for (struct sandbox *sb = NULL; (sb = sandbox_next(set, sb));)
        if (sandbox_is_visible(sb, who->key))
            native_put_sandbox(&list, sb);
    jw_end(&list);
    if (!buf_ok(&text)) {
        tool_fail(c, text.error, NULL);
        return;
    }
    struct jw *w = mcp_result_begin(c);
    mcp_put_text(w, buf_str(&text));
    jw_key(w, "structuredContent");
    jw_object(w);
    jw_key(w, "sandboxes");
    jw_raw(w, buf_str(&text));
    jw_end(w);
    mcp_result_end(c);
}

/* ---- creating ---- */

static void on_tool_created(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct mcp_call *c = ctx;
    struct mcp_caller *who = c->ctx;

    quota_create_end(&who->key->use);
    if (sb)
        reply_sandbox(c, sb,
                      arena_printf(c->arena, "Sandbox created, Sandbox name:%s, \n" USABLE "%s",
                                   sb->name, tool_inner));
    else
        tool_fail(c, e->code, e);
}

void tool_create(struct mcp_call *c)
{
    struct mcp_caller *who = c->ctx;
    struct sandbox_create rq = {.key = who->key, .fn = on_tool_created, .ctx = c};
    struct err e = ERR_INIT;
    int code = sandbox_fields_read(&rq.args, c->args, SANDBOX_FACE_MCP, c->arena, &e);

    if (code == 0)
        code = tool_use_built(c, &rq.args);
    if (code == 0)
        code = quota_create_begin(&who->key->use, &who->key->limits, &e);
    if (code < 0) {
        tool_fail(c, code, &e);
        return;
    }
    code = sandbox_create(who->core->sandboxes, &rq, &e);
    if (code < 0) {
        quota_create_end(&who->key->use);
        tool_fail(c, code, &e);
    }
}

/* ---- moves ---- */

static void moved(struct mcp_call *c, const struct sandbox *sb, const struct err *e,
                  const char *what)
{
    if (e)
        tool_fail(c, e->code, e);
    else
        mcp_reply_text(c, arena_printf(c->arena, "Sandbox %s %s successfully", sb->name, what),
                       false);
}

static void on_tool_deleted(void *ctx, struct sandbox *sb, const struct err *e)
{
    moved(ctx, sb, e, "deleted");
}

static void on_tool_paused(void *ctx, struct sandbox *sb, const struct err *e)
{
    moved(ctx, sb, e, "paused");
}

static void on_tool_resumed(void *ctx, struct sandbox *sb, const struct err *e)
{
    moved(ctx, sb, e, "resumed");
}

void tool_delete(struct mcp_call *c)
{
    struct sandbox *sb = tool_sandbox(c, "sandbox_name");
    int code = sb ? sandbox_delete(sb, on_tool_deleted, c) : 0;

    if (code < 0)
        tool_fail(c, code, NULL);
}

void tool_pause(struct mcp_call *c)
{
    struct sandbox *sb = tool_sandbox(c, "sandbox_name");
    int code = sb ? sandbox_pause(sb, on_tool_paused, c) : 0;

    if (code < 0)
        tool_fail(c, code, NULL);
}

void tool_resume(struct mcp_call *c)
{
    const struct sandbox_resume how = {0};
    struct sandbox *sb = tool_sandbox(c, "sandbox_name");
    int code = sb ? sandbox_resume(sb, &how, on_tool_resumed, c) : 0;

    if (code < 0)
        tool_fail(c, code, NULL);
}
