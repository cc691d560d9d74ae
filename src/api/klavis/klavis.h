/* SPDX-License-Identifier: MIT */
/* The Klavis surface: its handlers, and what they share. */
#pragma once

#include "api/klavis/model.h"
#include "api/req.h"
#include "api/route.h"

struct app;
struct instance;
struct klavis;
struct mcp_server;
struct schemas;
struct server;

/* What the surface keeps as long as the service runs: the schemas, and a server for each app. */
struct klavis *klavis_new(struct core *core, struct schemas *schemas, struct err *e);
void klavis_free(struct klavis *k);
/* The service stops: ends streams that would stay open for ever. */
void klavis_stop(struct klavis *k);
/* TEXT is the setting local.servers now: those names can be asked for. */
int klavis_set_own(struct klavis *k, const char *text, struct err *e);
/* For router_set_known(); CTX is the struct klavis. */
bool klavis_knows(void *ctx, struct str name);

api_handler klavis_acquire, klavis_show, klavis_list, klavis_release, klavis_reset, klavis_prepare,
    klavis_initialize, klavis_dump;
/* Extensions. */
api_handler klavis_release_all, klavis_diff, klavis_verify, klavis_snapshot, klavis_snapshots,
    klavis_restore, klavis_fork, klavis_calls;
/* The same for IN, whoever it was found by. With KEEP not empty the state afterwards is kept under
 * that name. */
void klavis_initialize_in(struct api_req *r, struct instance *in, struct str keep);
void klavis_dump_in(struct api_req *r, struct instance *in);
/* Tells that path parameter "name" is no server. */
api_handler klavis_unknown;
/* MCP of instances. */
api_handler klavis_mcp, klavis_mcp_stream, klavis_mcp_messages;

/* ---- what clients send ---- */

/* All that is wrong with a request is collected, then reported at once. */
struct klavis_input {
    struct api_req *r;
    struct str dump_of; /* a server: the body may also be a whole dump of it, or {"data": …} */
    struct buf items;
    struct model model;
};

void klavis_input_begin(struct klavis_input *in, struct api_req *r);
/* The server that the path names: its app's name; STR_NULL when there is none. */
struct str klavis_input_server(struct klavis_input *in);
/* The same of query parameter server_name; STR_NULL also when it is absent. */
struct str klavis_input_server_query(struct klavis_input *in);
/* A query parameter as schema SCHEMA has it; NULL when it is absent, or wrong. */
const struct json *klavis_input_query(struct klavis_input *in, const char *name,
                                      const char *schema);
/* The body as schema SCHEMA or, when that is NULL, document DOC has it; NULL when it is absent or
 * null (a fault when it is required), or wrong. */
struct json *klavis_input_body(struct klavis_input *in, const char *schema, const struct json *doc,
                               bool is_required);
/* Ends the reading: true when something was wrong and R is answered. */
bool klavis_input_refuse(struct klavis_input *in);

/* The schema of that name, parsed. */
const struct json *klavis_schema(const struct klavis *k, struct str name);
/* The schema of IN's initialize bodies; NULL: it has none, or E is filled. */
const struct json *klavis_data_schema(struct klavis *k, const struct instance *in, struct err *e);
/* The MCP server of IN's app; NULL with E filled. */
struct mcp_server *klavis_mcp_server(struct klavis *k, const struct instance *in, struct err *e);

/* LEASE has ended: so do its streams. */
void klavis_forget(struct klavis *k, struct str lease);

/* ---- what they get ---- */

/* {"sandbox_id", "status", "message"} */
void klavis_reply_message(struct api_req *r, const struct instance *in, struct str message,
                          struct str records);
/* What a failed call into core means to a client. */
void klavis_fail(struct api_req *r, int code, const struct err *e);
/* The same for what could not be acquired. */
void klavis_refuse_made(struct api_req *r, const struct err *e);
/* The sandbox of the path, of the server of the path, when the caller may know of it; else answers
 * 404 and returns NULL. */
struct instance *klavis_find(struct api_req *r, struct str server);
/* The sandbox of a path that needs no more reading; NULL after answering. */
struct instance *klavis_path(struct api_req *r);
/* "http://host:port" as the client of R reaches the service, in R's arena. */
struct str klavis_base(struct api_req *r);
/* Where IN's tools are called, by a client that reaches the service at BASE. */
struct str klavis_url(struct arena *a, struct str base, const struct instance *in);
/* A sandbox that was just acquired. */
void klavis_put_created(struct jw *w, struct arena *a, struct str base, const struct instance *in);
struct instance_args;
/* Answers an instances_acquire() or instance_fork() whose CTX is a struct klavis_made. */
struct klavis_made {
    struct api_req *r;
    bool is_list; /* the answer is an array */
    bool is_fork;
    struct str answer; /* when it was recorded */
};
void klavis_on_made(void *ctx, struct instance **items, size_t n, const struct err *e);
/* Has the answer recorded, with what makes it true, when the request has an Idempotency-Key. */
void klavis_record_made(struct klavis_made *m, struct instance_args *args);

/* What BODY (an AcquireSandboxRequest, or NULL) asks for; faults are added to IN. */
void klavis_read_args(struct klavis_input *in, const struct json *body, struct instance_args *ret);
