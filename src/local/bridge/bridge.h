/* SPDX-License-Identifier: MIT */
/* Servers of others: MCP servers that speak over their input and output, reached by HTTP here
 * (docs/adr/0009).
 *
 *     POST, GET, DELETE /_stdio/NAME?SETTINGS   MCP's Streamable HTTP
 *     POST /_stdio/NAME/log                     what it wrote to its errors: {"log": "…"}
 *     POST /_stdio/NAME/up                      {}, to know that we are there
 *
 * SETTINGS is base64 of {"command": …, "args": […], "env": {…}, "timeout_ms": N}. The program is
 * started by the first request, greeted by us, and serves all sessions: the ids of their requests
 * are exchanged for ours on the way. When it ends, what it had to answer fails, and the next
 * request starts it again: at once, and after more failures with longer and longer pauses. */
#pragma once

#include "base/str.h"

struct bridges;
struct http_req;
struct local;
struct loop;

enum {
    BRIDGE_SERVERS_MAX = 32,
    BRIDGE_NAME_MAX = 64,
    BRIDGE_SETTINGS_MAX = 48 << 10,
    BRIDGE_PENDING_MAX = 256,  /* requests under way, of one server */
    BRIDGE_LISTENERS_MAX = 64, /* streams of notices, of one server */
    BRIDGE_START_MS = 60000,   /* until a program has answered the greeting */
    BRIDGE_TIMEOUT_MS = 300000 /* until it has answered a request, unless the settings say so */
};

struct bridges *bridges_new(struct loop *loop, const struct local *local);
/* True when R is for a bridge; it belongs to it then. */
bool bridges_serve(struct bridges *s, struct http_req *r);
