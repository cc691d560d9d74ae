/* SPDX-License-Identifier: MIT */
/* Local sandboxes: a workspace in a cell, and servers of tools over it (docs/adr/0008). A local
 * sandbox is a sandbox of the native surface whose first process is tidepool-local; what makes it a
 * local one is kept with it as "local" in its extra data:
 *
 *     {"id": UUID, "benchmark": …, "email": …, "servers": [{"name": …, "id": UUID}]}
 *
 * The id in its addresses is all that an agent needs to call its tools. */
#pragma once

#include "api/local/toolset.h"
#include "api/req.h"
#include "core/sandbox_args.h"

struct sandbox;

enum {
    LOCAL_PORT = 49984, /* where tidepool-local listens, inside of the cell */
    LOCAL_ID_LEN = 36,
    LOCAL_TTL_DEFAULT_S = 7200
};
#define LOCAL_ROOT    "/data"
#define LOCAL_PROGRAM "/opt/tidepool/tidepool-local"

struct locals;

/* What lives as long as the service. */
struct locals *locals_new(struct core *core, struct err *e);
void locals_free(struct locals *l);
/* The service stops: ends streams that would stay open for ever. */
void locals_stop(struct locals *l);

const struct toolsets *locals_tools(const struct locals *l);
/* The running or paused local sandbox of that id, or NULL. */
struct sandbox *locals_find(struct locals *l, struct str id);
/* What is kept with SB; NULL: it is no local one. */
const struct json *local_of(const struct sandbox *sb);
/* The name of the sandbox that has ID. */
void local_name(struct str id, char out[SANDBOX_NAME_MAX + 1]);
/* The local sandbox of the path, when the caller may know of it; else answers 404 and is NULL. */
struct sandbox *local_find_for(struct api_req *r);

/* ---- handlers ---- */

api_handler local_acquire, local_list, local_show, local_release, local_not_yet;
/* MCP of R's server with the query parameter local_sandbox_id; no key is asked for. */
api_handler local_mcp;

/* For serve.c: the client that reaches into cells. */
struct http_client *locals_client(const struct locals *l);
struct mcp_server *locals_server(struct locals *l, const struct toolset *set, struct err *e);
mcp_handler local_call, local_call_alias;
