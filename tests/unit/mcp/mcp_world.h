/* SPDX-License-Identifier: MIT */
/* An MCP server with a few tools in the world of the HTTP tests, and a client of it: one thread,
 * and a clock that stands still. */
#pragma once

#include "../net/http_world.h"

#include "mcp/http.h"
#include "mcp/mcp.h"

extern struct mcp_server *server;
extern struct mcp_call *held; /* of the tools that wait: "hold", "work", "must" */
extern int n_cancelled, n_released;
extern const char *owner; /* whose the next requests are */

/* Another server with the same tools. */
void make_server(struct mcp_limits limits, const char *secret);
int mcp_world_setup(void **state);
int mcp_world_teardown(void **state);
#define MCP_TEST(test) cmocka_unit_test_setup_teardown(test, mcp_world_setup, mcp_world_teardown)

#define JSON_TYPES "Content-Type: application/json\r\n"

/* Sends BODY with more HEADERS ("Name: value\r\n"…); all that comes back. */
struct str post_to(int client, const char *path, const char *headers, const char *body);
struct str post(const char *headers, const char *body);
/* Fails unless ANSWER has that status and contains PART. */
void check(struct str answer, int status, const char *part);

#define CALL(id, name, args)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name   \
    "\",\"arguments\":" args "}}"
#define INITIALIZE(version, can)                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"" version "\",\"capabilities\":" can ",\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"

/* Begins a session; its headers are written to OUT. */
void begin_session(char out[256], const char *version, const char *can);
/* A request of 2026-07-28 from CLIENT, whose abilities are modern_can. NAMED: what Mcp-Name says,
 * or NULL; PARAMS: members of params, without braces. */
struct str modern(int client, const char *method, const char *named, const char *params);
extern const char *modern_can; /* JSON */
#define CAN_TASKS "{\"elicitation\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"

/* A request of 2025-11-25 from CLIENT: with the HEADERS of a session, or of none. */
struct str old(int client, const char *headers, const char *method, const char *params);
#define OLD_HEADERS JSON_TYPES "MCP-Protocol-Version: 2025-11-25\r\n"

/* Opens the stream of a session on CLIENT, with more HEADERS; what comes back at first. */
struct str open_stream(int client, const char *session, const char *headers);
/* What came since then. */
struct str more_of(int client);
/* The string behind "KEY":" in TEXT, copied to OUT; fails when it is not there. */
void find_text(struct str text, const char *key, char *out, size_t size);
/* The number behind "KEY": in TEXT. */
int64_t find_number(struct str text, const char *key);
