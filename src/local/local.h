/* SPDX-License-Identifier: MIT */
/* tidepool-local: the tools that work on a sandbox's workspace, inside its cell.
 *
 * The daemon speaks MCP with the clients and knows names, schemas and descriptions of the tools
 * (local/SERVER/tools.json); what a tool does is here. The daemon sends checked arguments, with
 * defaults filled in, and gets the members of an MCP result:
 *
 *     POST /SERVER/TOOL   {"args": {…}, "benchmark": "MCP_Atlas" or null, "headers": {…},
 *                          "email": "ann@mcp.com" or null}
 *     200                 {"content": [{"type": "text", "text": "…"}], "isError": false}
 *
 * A server is a row of the table in kit/servers.c and a file with a table of its tools. A tool is a
 * function that may block: each call has a thread to itself (of at most LOCAL_THREADS_MAX). State
 * that calls share is the server's own business, under its own lock. Nothing here is a boundary:
 * that is the cell; the workspace's limits are the products' own rules.
 *
 * What the daemon asks for that is no tool has paths "/_NAME": see kit/daemon_request.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"

enum {
    LOCAL_THREADS_MAX = 32,
    LOCAL_BODY_MAX = 64 << 20,   /* bytes of a request */
    LOCAL_ANSWER_MAX = 96 << 20, /* bytes of an answer */
    LOCAL_FILE_MAX = 64 << 20,   /* bytes of a file that a tool reads as a whole */
    LOCAL_ENTRIES_MAX = 100000,  /* that a listing or a search looks at */
    LOCAL_BUFS = 4               /* of local_buf() in one call */
};

/* The same for all calls. */
struct local {
    const char *root;        /* the workspace: "/data", without a slash behind */
    const char *home;        /* for "~" */
    const char *mail;        /* the directory of the mail, outside the workspace */
    const char *imap, *smtp; /* where programs reach it, or NULL */
};

struct local_call {
    const struct local *local;
    const struct local_tool *tool;
    const struct json *args, *headers; /* objects */
    struct str benchmark;              /* empty: none */
    struct str email;                  /* of the sandbox's test account; empty: none */
    struct arena arena;                /* lives until the answer is sent */

    /* For kit/answer.c. */
    struct buf content; /* items of the array */
    unsigned n_items;
    struct buf bufs[LOCAL_BUFS]; /* of local_buf() */
    unsigned n_bufs;
    struct str structured; /* JSON text; .p NULL: none */
    bool is_error;
};

struct local_tool {
    const char *name; /* without a prefix of the server's name */
    void (*call)(struct local_call *c);
};

struct local_server {
    const char *name;
    const struct local_tool *tools;
    size_t n_tools;
};

/* NULL when there is none. The tool's name may have the server's as prefix ("git_" is part of the
 * names of git's tools and no prefix). */
const struct local_server *local_server(struct str name);
const struct local_tool *local_tool(const struct local_server *s, struct str name);

/* ---- arguments; what is absent or of another type is the fallback ---- */

struct str local_str(const struct local_call *c, const char *name);
int64_t local_int(const struct local_call *c, const char *name, int64_t fallback);
bool local_bool(const struct local_call *c, const char *name);

/* An empty buffer for up to LOCAL_ANSWER_MAX bytes that lives as long as the call, and whose memory
 * the next one uses again: for what every call builds. */
struct buf *local_buf(struct local_call *c);

/* ---- answers (kit/answer.c): content items, in the order of these calls ---- */

void local_text(struct local_call *c, struct str text);
/* The same, and as structuredContent {KEY: TEXT}. */
void local_text_twice(struct local_call *c, const char *key, struct str text);
void local_textf(struct local_call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* TYPE is "image" or "audio"; the bytes are sent as base64. */
void local_media(struct local_call *c, const char *type, const char *mime, struct str bytes);
/* Any other kind of bytes, as an embedded resource. */
void local_blob(struct local_call *c, struct str uri, const char *mime, struct str bytes);
/* structuredContent; JSON is the text of an object, which has to last as long as the call. */
void local_structured(struct local_call *c, struct str json);
/* A failure: what was said before is dropped. */
void local_fail(struct local_call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void local_fail_text(struct local_call *c, struct str text);
/* Runs TOOL and writes the result's members; for service/dispatch.c. */
void local_run(struct local_call *c, struct buf *out);
