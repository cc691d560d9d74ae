/* SPDX-License-Identifier: MIT */
/* Local sandboxes: a workspace in a cell, and servers of tools over it (docs/adr/0008). A local
 * sandbox is a sandbox of the native surface whose first process is tidepool-local; what makes it a
 * local one is kept with it as "local" in its extra data:
 *
 *     {"id": UUID, "benchmark": …, "email": …, "servers": [{"name": …, "id": UUID}],
 *      "ports": see ports.h, "created_us": when it was reset: its first begin}
 *
 * The id in its addresses is all that an agent needs to call its tools. */
#pragma once

#include "api/local/toolset.h"
#include "api/req.h"
#include "core/sandbox_moves.h"

struct own_servers;
struct sandbox;

enum {
    LOCAL_PORT = 49984, /* where tidepool-local listens, inside the cell */
    LOCAL_IMAP_PORT = 1143,
    LOCAL_SMTP_PORT = 1587,
    LOCAL_ID_LEN = 36,
    LOCAL_TTL_DEFAULT_S = 7200
};
#define LOCAL_ROOT    "/data"
#define LOCAL_PROGRAM "/opt/tidepool/tidepool-local"
/* The same without TCP: half of the way, and the kernel lets both ends share a processor. */
#define LOCAL_DOOR "unix:@tidepool-local"

struct locals;
struct resets;
struct vault;

/* What lives as long as the service. */
struct locals *locals_new(struct core *core, struct err *e);
void locals_free(struct locals *l);
/* The service stops: ends streams that would stay open for ever. */
void locals_stop(struct locals *l);

const struct toolsets *locals_tools(const struct locals *l);
/* The ports of the host that lead into sandboxes. */
struct ports *locals_ports(const struct locals *l);
const struct own_servers *locals_own(const struct locals *l);
/* Takes TEXT, a setting that was checked, in their place. On failure they stay. */
int locals_set_own(struct locals *l, const char *text, struct err *e);
/* Whether SB was acquired with that server. */
bool local_has_server(const struct sandbox *sb, struct str name);
/* The running or paused local sandbox of that id, or NULL. */
struct sandbox *locals_find(struct locals *l, struct str id);
/* Whether there is one of that id, or will be again: a reset is under way. */
bool locals_knows(struct locals *l, struct str id);
/* The one that has a server of that id; looks at all of them. */
struct sandbox *locals_find_by_server(struct locals *l, struct str id);
/* What is kept with SB; NULL: it is no local one. */
const struct json *local_of(const struct sandbox *sb);
/* The name of the sandbox that has ID. */
void local_name(struct str id, char out[SANDBOX_NAME_MAX + 1]);
/* The local sandbox of the path, by its id or that of one of its servers, when the caller may know
 * of it; else answers 404 and is NULL. */
struct sandbox *local_find_for(struct api_req *r);
/* Where SERVER (a row of "servers") of SB is reached by R's client. */
struct str local_url(struct api_req *r, const struct sandbox *sb, const struct json *server);
/* Writes the server's auth_data, or null: see the table in auth_data.c. */
void local_put_auth_data(struct jw *w, struct api_req *r, const struct sandbox *sb,
                         const struct json *server);

/* ---- making one ---- */

/* Rows for the servers of NAMES, an array of names or "ALL"; NULL after answering R. */
struct json *local_choose(struct api_req *r, const struct json *names);
/* Writes the answer to who acquired SB. */
typedef void local_put_fn(struct jw *w, struct api_req *r, const struct sandbox *sb);
/* Makes a local sandbox as BODY, a checked request, asks for, and answers R as PUT says; the same
 * when the request comes again. */
void local_make(struct api_req *r, const struct json *body, const struct json *servers,
                local_put_fn *put);

struct local_spec {
    struct account_key *key;
    struct arena *arena; /* lives until it is made */
    struct str id;
    int64_t timeout_s;        /* -1: never */
    const struct json *extra; /* with what makes it a local one */
    int (*record)(void *ctx, struct sandbox *sb, struct store_tx *tx); /* or NULL */
};
/* As sandbox_create(). */
int local_create(struct core *core, const struct local_spec *s, sandbox_fn *fn, void *ctx,
                 struct err *e);

/* Ends SB and all that is kept for it. FN answers R when that is written: what was released does
 * not come back. Answers itself when SB cannot be ended. */
typedef void local_ended_fn(struct api_req *r, struct str id);
void local_end(struct api_req *r, struct sandbox *sb, local_ended_fn *fn);

/* ---- handlers ---- */

api_handler local_acquire, local_list, local_show, local_release;
/* Paths that are retired but still called: see retired.c. */
/* Data of servers that are apps: see apps.c. */
api_handler local_app_initialize, local_app_dump;
api_handler local_old_acquire, local_old_show, local_old_release, local_memory_initialize,
    local_memory_dump, local_memory_upload_url, local_memory_put;
/* Archives: see archive.c, upload.c, download.c, reset.c and execute.c. */
api_handler local_upload_url, local_initialize, local_dump, local_reset, local_put, local_get;
api_handler local_execution_upload_url, local_execute, local_execution_status, local_execution_logs,
    local_export_artifacts;
/* MCP of R's server with the query parameter local_sandbox_id; no key is asked for. */
api_handler local_mcp;
/* The same for servers of the operator's own; and their logs. */
api_handler local_own_mcp, local_own_log;

/* For ask.c: the client that reaches into cells. */
struct http_client *locals_client(const struct locals *l);
struct loop *locals_loop(const struct locals *l);
struct core *locals_core(const struct locals *l);
struct vault *locals_vault(const struct locals *l);
struct resets *locals_resets(const struct locals *l);
struct mcp_server *locals_server(struct locals *l, const struct toolset *set, struct err *e);
mcp_handler local_call, local_call_alias;
