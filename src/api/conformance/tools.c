/* SPDX-License-Identifier: MIT */
/* Tools without questions. */
#include <stdio.h>

#include "api/conformance/fixtures.h"
#include "base/cleanup.h"
#include "loop/loop.h"

const char fixture_png[] =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg==";
const char fixture_wav[] = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/* ---- helpers ---- */

void fixture_text(struct jw *w, const char *text)
{
    jw_object(w);
    jw_key(w, "type");
    jw_cstr(w, "text");
    jw_key(w, "text");
    jw_cstr(w, text);
    jw_end(w);
}

void fixture_media(struct jw *w, const char *type, const char *data, const char *mime)
{
    jw_object(w);
    jw_key(w, "type");
    jw_cstr(w, type);
    jw_key(w, "data");
    jw_cstr(w, data);
    jw_key(w, "mimeType");
    jw_cstr(w, mime);
    jw_end(w);
}

void fixture_resource(struct jw *w, struct str uri, const char *mime, const char *text)
{
    jw_object(w);
    jw_key(w, "type");
    jw_cstr(w, "resource");
    jw_key(w, "resource");
    jw_object(w);
    jw_key(w, "uri");
    jw_str(w, uri);
    jw_key(w, "mimeType");
    jw_cstr(w, mime);
    jw_key(w, "text");
    jw_cstr(w, text);
    jw_end(w);
    jw_end(w);
}

struct later {
    struct loop_timer timer;
    struct mcp_call *call;
    void (*fn)(struct mcp_call *c);
};

static void on_fixture_time(struct loop_timer *t)
{
    struct later *l = container_of(t, struct later, timer);

    l->fn(l->call);
}

/* Calls FN in MS; one at a time for each call. */
static void fixture_later(struct mcp_call *c, int64_t ms, void (*fn)(struct mcp_call *c))
{
    struct later *l = arena_new(c->arena, struct later);

    if (!l) {
        mcp_reply_fail(c, MCP_INTERNAL_ERROR, "no memory");
        return;
    }
    l->call = c;
    l->fn = fn;
    (void)loop_timer_start(fixture_loop, &l->timer, ms, on_fixture_time);
}

static struct jw *begin_fixture(struct mcp_call *c)
{
    struct jw *w = mcp_result_begin(c);

    jw_key(w, "content");
    jw_array(w);
    return w;
}

static void end_fixture(struct mcp_call *c, struct jw *w)
{
    jw_end(w);
    mcp_result_end(c);
}

/* ---- contents ---- */

void fixture_simple(struct mcp_call *c)
{
    mcp_reply_text(c, STR("This is a simple text response for testing."), false);
}

void fixture_error(struct mcp_call *c)
{
    mcp_reply_text(c, STR("This tool intentionally returns an error for testing"), true);
}

void fixture_image(struct mcp_call *c)
{
    struct jw *w = begin_fixture(c);

    fixture_media(w, "image", fixture_png, "image/png");
    end_fixture(c, w);
}

void fixture_audio(struct mcp_call *c)
{
    struct jw *w = begin_fixture(c);

    fixture_media(w, "audio", fixture_wav, "audio/wav");
    end_fixture(c, w);
}

void fixture_embedded(struct mcp_call *c)
{
    struct jw *w = begin_fixture(c);

    fixture_resource(w, STR("test://embedded-resource"), "text/plain",
                     "This is an embedded resource content.");
    end_fixture(c, w);
}

void fixture_mixed(struct mcp_call *c)
{
    struct jw *w = begin_fixture(c);

    fixture_text(w, "Multiple content types test:");
    fixture_media(w, "image", fixture_png, "image/png");
    fixture_resource(w, STR("test://mixed-content-resource"), "application/json",
                     "{\"test\":\"data\",\"value\":123}");
    end_fixture(c, w);
}

void fixture_schema(struct mcp_call *c)
{
    mcp_reply_text(c, STR("ok"), false);
}

void fixture_header(struct mcp_call *c)
{
    mcp_reply_text(c, json_str(json_get(c->args, "region"), STR("")), false);
}

void fixture_sum(struct mcp_call *c)
{
    int64_t sum = json_int(json_get(c->args, "a"), 0) + json_int(json_get(c->args, "b"), 0);

    mcp_reply_json(c, arena_printf(c->arena, "{\"sum\":%lld}", (long long)sum));
}

/* ---- what takes time ---- */

static void logged_3(struct mcp_call *c)
{
    mcp_log(c, MCP_INFO, "test", STR("\"Tool execution completed\""));
    mcp_reply_text(c, STR("Tool with logging executed"), false);
}

static void logged_2(struct mcp_call *c)
{
    mcp_log(c, MCP_INFO, "test", STR("\"Tool processing data\""));
    fixture_later(c, 50, logged_3);
}

void fixture_logging(struct mcp_call *c)
{
    mcp_log(c, MCP_INFO, "test", STR("\"Tool execution started\""));
    fixture_later(c, 50, logged_2);
}

static void progress_4(struct mcp_call *c)
{
    mcp_reply_text(c, STR("Tool with progress executed"), false);
}

/* Clients forget what comes right before the answer. */
static void progress_3(struct mcp_call *c)
{
    mcp_progress(c, 100, 100, "Completed step 100 of 100");
    fixture_later(c, 50, progress_4);
}

static void progress_2(struct mcp_call *c)
{
    mcp_progress(c, 50, 100, "Completed step 50 of 100");
    fixture_later(c, 50, progress_3);
}

void fixture_progress(struct mcp_call *c)
{
    mcp_progress(c, 0, 100, "Completed step 0 of 100");
    fixture_later(c, 50, progress_2);
}

static void reconnected(struct mcp_call *c)
{
    mcp_reply_text(c, STR("Reconnection test completed"), false);
}

void fixture_reconnect(struct mcp_call *c)
{
    mcp_call_hang_up(c, 200);
    fixture_later(c, 100, reconnected);
}

void fixture_quiet(struct mcp_call *c)
{
    mcp_log(c, MCP_INFO, "test", STR("\"somebody wants to know\""));
    mcp_reply_text(c, STR("logged what was wanted"), false);
}

/* Ends when it is cancelled, and counts that. */
static void on_fixture_cancel(struct mcp_call *c)
{
    (void)printf("cancelled\n");
    (void)fflush(stdout);
    mcp_reply_text(c, STR("never"), false);
}

void fixture_forever(struct mcp_call *c)
{
    c->on_cancel = on_fixture_cancel;
    mcp_progress(c, 0, -1, NULL);
}

/* ---- lists ---- */

void fixture_tools_changed(struct mcp_call *c)
{
    mcp_list_changed(c->server, STR_NULL, MCP_LIST_TOOLS);
    mcp_resource_updated(c->server, STR_NULL, STR("test://watched-resource"));
    mcp_reply_text(c, STR("told"), false);
}

void fixture_prompts_changed(struct mcp_call *c)
{
    mcp_list_changed(c->server, STR_NULL, MCP_LIST_PROMPTS);
    mcp_reply_text(c, STR("told"), false);
}
