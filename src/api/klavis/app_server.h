/* SPDX-License-Identifier: MIT */
/* An app as MCP clients see it: a server made of its tools, and the schema of its data. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

struct app;
struct core;
struct locals;
struct mcp_call;
struct mcp_server;

struct app_server {
    struct arena arena; /* everything is copied: the app may be reloaded */
    struct mcp_server *mcp;
    const struct json *data; /* of data.json; NULL: there is none */
};

/* Whose calls they are: the context of every call. */
struct app_server_caller {
    struct core *core;
    char lease[37];
    /* Of the server of a local sandbox; else NULL and "". */
    struct locals *locals;
    char local[37];
    /* "x-…" of the request: JSON text of an object; "" when the app does not ask for any. */
    char headers[];
};

/* Calls tool c->name of the instance that the context, a app_server_caller, names. */
void app_server_call(struct mcp_call *c);

struct app_server *app_server_new(struct core *core, const struct app *app, struct err *e);
void app_server_free(struct app_server *s);
