/* SPDX-License-Identifier: MIT */
/* Files of sandboxes. The work is done inside the sandbox, where no path can lead out of it. */
#include <errno.h>

#include "api/mcp/tools.h"
#include "base/cleanup.h"
#include "base/enc.h"
#include "base/json_pair.h"
#include "core/sandbox.h"
#include "net/http_client.h"
#include "runtime/engine.h"

enum { FILE_MAX = 4 << 20, TARGET_MAX = 64 << 10, WORDS_MAX = 1024 };

struct tool_file {
    struct mcp_call *call;
    struct sandbox *sb; /* a reference, and held */
    struct str method, target, body, path;
    /* Answers with what came back from inside. */
    void (*done)(struct tool_file *f, struct str body);
};

/* ---- asking inside ---- */

static void fail_file_tool(struct tool_file *f, const struct http_response *r)
{
    struct json *v = json_parse(f->call->arena, str_slice(r->body, 0, TARGET_MAX), NULL, NULL);
    struct str message = json_str(json_get(v, "message"), STR_NULL);

    if (r->error == -EMSGSIZE)
        tool_refuse(f->call, "the file is larger than %d bytes", FILE_MAX);
    else if (r->error)
        tool_refuse(f->call, "the sandbox does not respond: %s", r->why);
    else
        tool_refuse(f->call, STR_FMT, STR_ARG(message.len ? message : STR("the operation failed")));
}

static void on_file_tool_response(void *ctx, const struct http_response *r)
{
    struct tool_file *f = ctx;
    struct sandbox *sb = f->sb;

    if (r->error || r->head.status >= 300)
        fail_file_tool(f, r);
    else
        f->done(f, r->body);
    sandbox_release(sb);
    sandbox_unref(sb);
}

static void on_file_tool_usable(void *ctx, struct sandbox *sb, const struct err *e)
{
    struct tool_file *f = ctx;
    const struct mcp_caller *who = f->call->ctx;
    struct err why = ERR_INIT;

    if (e) {
        tool_fail(f->call, e->code, e);
        return;
    }
    const struct http_header type = {STR_INIT("Content-Type"),
                                     STR_INIT("application/octet-stream")};
    const struct http_request rq = {
        .address = engine_cell_address(sandbox_cell(sb)),
        .method = f->method,
        .target = f->target,
        .host = STR_INIT("cell"),
        .headers = &type,
        .n_headers = f->body.p ? 1 : 0,
        .body = f->body,
        .max_body = FILE_MAX,
    };
    struct engine *engine = sandboxes_engine(who->core->sandboxes, &why);
    f->sb = sandbox_ref(sb);
    sandbox_hold(sb);
    if (engine && http_client_fetch(engine_http(engine), &rq, on_file_tool_response, f, &why))
        return;
    tool_fail(f->call, why.code ? why.code : -EIO, &why);
    sandbox_release(sb);
    sandbox_unref(sb);
}

/* ROUTE?path=PATH of SB. */
static void ask_for_file(struct mcp_call *c, struct sandbox *sb, const char *route,
                         struct tool_file what)
{
    struct buf target auto_buf = BUF_INIT(TARGET_MAX);
    struct tool_file *f = arena_new(c->arena, struct tool_file);

    (void)buf_printf(&target, "%s?path=", route);
    (void)enc_percent(&target, what.path);
    if (!f || !buf_ok(&target)) {
        tool_fail(c, -ENOMEM, NULL);
        return;
    }
    *f = what;
    f->call = c;
    f->target = arena_str(c->arena, buf_str(&target));
    int code = f->target.p ? sandbox_use(sb, on_file_tool_usable, f) : -ENOMEM;
    if (code < 0)
        tool_fail(c, code, NULL);
}

/* ---- reading ---- */

static const char *image_type_of_file(struct str path)
{
    static const char *const rows[][2] = {{".png", "image/png"},
                                          {".jpg", "image/jpeg"},
                                          {".jpeg", "image/jpeg"},
                                          {".gif", "image/gif"},
                                          {".webp", "image/webp"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_ends(path, str_of(rows[i][0])))
            return rows[i][1];
    return NULL;
}

/* Bytes that are no text: a picture, or a resource. */
static void reply_bytes(struct tool_file *f, struct str body)
{
    struct buf data auto_buf = BUF_INIT(2 * FILE_MAX);
    const char *type = image_type_of_file(f->path);

    if (enc_base64(&data, body) < 0) {
        tool_fail(f->call, data.error, NULL);
        return;
    }
    struct jw *w = mcp_result_begin(f->call);
    jw_key(w, "content");
    jw_array(w);
    jw_object(w);
    jw_pair_str(w, "type", type ? STR("image") : STR("resource"));
    if (type) {
        jw_pair_str(w, "mimeType", str_of(type));
        jw_pair_str(w, "data", buf_str(&data));
    } else {
        jw_key(w, "resource");
        jw_object(w);
        jw_pair_str(w, "uri",
                    arena_printf(f->call->arena, "file:%s" STR_FMT,
                                 str_starts(f->path, STR("/")) ? "//" : "", STR_ARG(f->path)));
        jw_pair_str(w, "mimeType", STR("application/octet-stream"));
        jw_pair_str(w, "blob", buf_str(&data));
        jw_end(w);
    }
    jw_end(w);
    jw_end(w);
    mcp_result_end(f->call);
}

static void on_file_tool_read(struct tool_file *f, struct str body)
{
    struct buf text auto_buf = BUF_INIT(2 * FILE_MAX);

    if (str_is(tool_arg(f->call, "encoding"), "base64")) {
        (void)enc_base64(&text, body);
        mcp_reply_text(f->call, buf_str(&text), !buf_ok(&text));
    } else if (str_is_utf8(body) && !image_type_of_file(f->path)) {
        mcp_reply_text(f->call, body.p ? body : STR(""), false);
    } else {
        reply_bytes(f, body);
    }
}

/* The argument "path"; relative ones are below the directory where commands start, which the
 * sandbox knows. .p is NULL after answering. */
static struct str read_path(struct mcp_call *c, bool needs_name)
{
    struct str path = tool_arg(c, "path");

    if (needs_name && (path.len == 0 || str_is(path, "/"))) {
        tool_refuse(c, "path is required");
        return STR_NULL;
    }
    return path.len > 0 ? path : STR(".");
}

void tool_read_in(struct mcp_call *c, struct sandbox *sb)
{
    struct str path = read_path(c, true);

    if (path.p)
        ask_for_file(
            c, sb, "/fs/download",
            (struct tool_file){.method = STR_INIT("GET"), .path = path, .done = on_file_tool_read});
}

void tool_read(struct mcp_call *c)
{
    struct sandbox *sb = tool_sandbox(c, "sandbox_name");

    if (sb)
        tool_read_in(c, sb);
}

/* ---- writing ---- */

static void on_file_tool_written(struct tool_file *f, struct str body)
{
    const struct json *v = json_parse(f->call->arena, body, NULL, NULL);
    struct str path = json_str(json_get(json_at(json_get(v, "files"), 0), "path"), f->path);

    mcp_reply_text(f->call,
                   arena_printf(f->call->arena, "%zu bytes written to " STR_FMT, f->body.len,
                                STR_ARG(str_slice(path, 0, WORDS_MAX))),
                   false);
}

/* What the file is to hold; false after answering. */
static bool read_content(struct mcp_call *c, struct str *ret)
{
    const struct json *v = json_get(c->args, "content");
    struct str text = json_str(v, STR_NULL);
    struct buf raw auto_buf = BUF_INIT(FILE_MAX);

    if (!json_is(v, JSON_STRING)) {
        tool_refuse(c, "content is required");
        return false;
    }
    *ret = text.p ? text : STR("");
    if (!str_is(tool_arg(c, "encoding"), "base64"))
        return true;
    if (enc_unbase64(&raw, text) < 0) {
        tool_refuse(c, "content is not base64");
        return false;
    }
    *ret = arena_str(c->arena, str_n(raw.p ? raw.p : "", raw.len));
    if (!ret->p)
        tool_fail(c, -ENOMEM, NULL);
    return ret->p;
}

void tool_write_in(struct mcp_call *c, struct sandbox *sb)
{
    struct str path = read_path(c, true), content;

    if (path.p && read_content(c, &content))
        ask_for_file(c, sb, "/fs/upload",
                     (struct tool_file){.method = STR_INIT("POST"),
                                        .path = path,
                                        .body = content,
                                        .done = on_file_tool_written});
}

void tool_write(struct mcp_call *c)
{
    struct sandbox *sb = tool_sandbox(c, "sandbox_name");

    if (sb)
        tool_write_in(c, sb);
}

/* ---- directories ---- */

static void on_list(struct tool_file *f, struct str body)
{
    /* The cell's word: it must be JSON before it is passed on as such. */
    struct json *v = json_parse(f->call->arena, body, NULL, NULL);
    struct buf text auto_buf = BUF_INIT(FILE_MAX);

    if (json_is(v, JSON_OBJECT) && json_write(&text, v, JSON_COMPACT) == 0)
        mcp_reply_json(f->call, buf_str(&text));
    else
        tool_refuse(f->call, "the sandbox sent an unexpected response");
}

void tool_list_in(struct mcp_call *c, struct sandbox *sb)
{
    struct str path = read_path(c, false);

    if (path.p)
        ask_for_file(c, sb, "/fs/list",
                     (struct tool_file){.method = STR_INIT("GET"), .path = path, .done = on_list});
}

void tool_files(struct mcp_call *c)
{
    struct sandbox *sb = tool_sandbox(c, "sandbox_name");

    if (sb)
        tool_list_in(c, sb);
}
