/* SPDX-License-Identifier: MIT */
/* Executions: programs that a client uploads, run beside the servers of a local sandbox. What they
 * do is the cell's business (local/archive/execution.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/internal.h"
#include "api/klavis/klavis.h"
#include "api/local/archive.h"
#include "api/local/transfer.h"
#include "base/cleanup.h"
#include "base/json_pair.h"
#include "core/config.h"

enum { ANSWER_MAX = 16 << 20 };

bool archive_exec_file(struct str name, char out[VAULT_NAME_MAX])
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-";

    if (name.len == 0 || name.len > EXECUTION_NAME_MAX || name.p[0] == '.')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!memchr(allowed, name.p[i], sizeof allowed - 1))
            return false;
    }
    (void)snprintf(out, VAULT_NAME_MAX, "exec-" STR_FMT, STR_ARG(name));
    return true;
}

struct execution {
    struct api_req *r;
    struct sandbox *sb;
    struct str id, name;
    char file[VAULT_NAME_MAX];
    bool has_logs; /* they are asked for */
};

/* The execution that R names, in its body or (IS_QUERY) in its query; NULL after answering. */
static struct execution *find_execution(struct api_req *r, bool is_query)
{
    struct klavis_input in;
    struct execution *x = arena_new(r->arena, struct execution);
    const struct json *name;

    klavis_input_begin(&in, r);
    if (is_query)
        name = klavis_input_query(&in, "execution_name", "QueryExecution");
    else
        name = json_get(klavis_input_body(&in, "ExecutionRequest", NULL, true), "execution_name");
    if (klavis_input_refuse(&in))
        return NULL;
    struct sandbox *sb = local_find_for(r);
    if (!sb)
        return NULL;
    if (!x || !name) {
        api_error(r, x ? 422 : 500, x ? "execution_name is required" : "out of memory");
        return NULL;
    }
    *x = (struct execution){
        .r = r, .sb = sb, .id = archive_id(r, sb), .name = json_str(name, STR(""))};
    if (archive_exec_file(x->name, x->file))
        return x;
    api_error(r, 422, "execution_name must be 1 to %d letters, digits, '.', '_' or '-'",
              EXECUTION_NAME_MAX);
    return NULL;
}

static void ask_for_execution(struct execution *x, struct str target, int body_fd, uint64_t len,
                              transfer_fn *fn)
{
    transfer_start(&(struct transfer){
        .locals = x->r->api->locals,
        .sandbox = x->sb,
        .arena = x->r->arena,
        .target = target,
        .body_fd = body_fd,
        .body_len = len,
        .answer_fd = -1,
        .fn = fn,
        .ctx = x,
    });
}

void local_execution_upload_url(struct api_req *r)
{
    struct execution *x = find_execution(r, false);

    if (x)
        archive_reply_url(r, SIGNED_EXECUTION, x->id, x->name);
}

/* ---- execute ---- */

static void on_execution_started(void *ctx, int status, struct str text)
{
    struct execution *x = ctx;
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);

    if (status != 200) {
        archive_refuse(x->r, status, text);
        return;
    }
    jw_object(&w);
    jw_pair_str(&w, "message", STR("Execution started"));
    jw_pair_str(&w, "execution_name", x->name);
    jw_end(&w);
    api_reply_json(x->r, 200, &b);
}

void local_execute(struct api_req *r)
{
    struct execution *x = find_execution(r, false);
    uint64_t size = 0;

    if (!x)
        return;
    int fd = vault_open(locals_vault(r->api->locals), x->id, x->file, &size);
    if (fd < 0) {
        api_error(r, 404,
                  "Nothing was uploaded for the execution " STR_FMT
                  "; request its upload URL and PUT a tar.gz to it",
                  STR_ARG(x->name));
        return;
    }
    ask_for_execution(x,
                      arena_printf(r->arena, "/_execute?name=" STR_FMT "&max_bytes=%lld",
                                   STR_ARG(x->name),
                                   (long long)r->core->config->local.max_unpacked),
                      fd, size, on_execution_started);
}

/* ---- status and logs ---- */

static void on_shown(void *ctx, int status, struct str text)
{
    struct execution *x = ctx;
    auto_buf struct buf b = BUF_INIT(ANSWER_MAX);
    struct jw w = jw_to(&b);
    const struct json *v = status == 200 ? json_parse(x->r->arena, text, NULL, NULL) : NULL;
    bool is_pending = status == 404 && vault_has(locals_vault(x->r->api->locals), x->id, x->file);

    if (status == 404 && !is_pending) {
        api_error(x->r, 404, "Execution " STR_FMT " not found", STR_ARG(x->name));
        return;
    }
    if (!is_pending && !json_is(json_get(v, "status"), JSON_STRING)) {
        archive_refuse(x->r, status == 200 ? 500 : status, status == 200 ? STR_NULL : text);
        return;
    }
    jw_object(&w);
    jw_pair_str(&w, "status", json_str(json_get(v, "status"), STR("pending")));
    if (x->has_logs) {
        jw_pair_str(&w, "logs", json_str(json_get(v, "logs"), STR("")));
        jw_key(&w, "cursor");
        jw_int(&w, json_int(json_get(v, "cursor"), 0));
    }
    jw_end(&w);
    api_reply_json(x->r, 200, &b);
}

void local_execution_status(struct api_req *r)
{
    struct execution *x = find_execution(r, true);

    if (x)
        ask_for_execution(x, arena_printf(r->arena, "/_execution?name=" STR_FMT, STR_ARG(x->name)),
                          -1, 0, on_shown);
}

void local_execution_logs(struct api_req *r)
{
    struct klavis_input in;

    klavis_input_begin(&in, r);
    const struct json *cursor = klavis_input_query(&in, "cursor", "QueryCount");
    if (klavis_input_refuse(&in))
        return;
    struct execution *x = find_execution(r, true);
    if (!x)
        return;
    x->has_logs = true;
    ask_for_execution(x,
                      arena_printf(r->arena, "/_execution?name=" STR_FMT "&cursor=%lld",
                                   STR_ARG(x->name), (long long)json_int(cursor, 0)),
                      -1, 0, on_shown);
}

void local_export_artifacts(struct api_req *r)
{
    struct execution *x = find_execution(r, false);

    if (x)
        archive_make(r, x->sb,
                     arena_printf(r->arena, "/_artifacts?name=" STR_FMT, STR_ARG(x->name)));
}
