/* SPDX-License-Identifier: MIT */
/* What the official conformance suite of MCP expects a server to have. */
#pragma once

#include "mcp/ask.h"
#include "mcp/http.h"

struct loop;

/* The loop of the one server that there is. */
extern struct loop *fixture_loop;

/* The tables; and the server of the service, which any instance of the app "conformance" is. */
struct mcp_desc conformance_desc(void);
struct mcp_server *conformance_new(struct loop *loop, struct err *e);

/* A pixel and a moment of silence, base64. */
extern const char fixture_png[], fixture_wav[];

/* A content item: {"type":"text","text":…} and so on. */
void fixture_text(struct jw *w, const char *text);
void fixture_media(struct jw *w, const char *type, const char *data, const char *mime);
void fixture_resource(struct jw *w, struct str uri, const char *mime, const char *text);

/* tools.c */
mcp_handler fixture_simple, fixture_image, fixture_audio, fixture_embedded, fixture_mixed,
    fixture_logging, fixture_error, fixture_progress, fixture_schema, fixture_reconnect,
    fixture_quiet, fixture_tools_changed, fixture_prompts_changed, fixture_header, fixture_sum,
    fixture_forever;
/* asks.c */
mcp_handler fixture_sampling, fixture_elicitation, fixture_questions, fixture_rounds,
    fixture_needs_sampling;
/* tasks.c */
mcp_handler fixture_greet, fixture_slow, fixture_failing_job, fixture_broken_job,
    fixture_named_task;
int64_t fixture_slow_ms(const struct mcp_call *c);
/* resources.c */
mcp_handler fixture_read, fixture_prompt, fixture_ask_prompt, fixture_complete;

/* What the rows of asks.c ask. */
struct fixture_questions {
    const struct mcp_ask *asks;
    size_t n;
    const char *done; /* the result */
};
extern const struct fixture_questions fixture_ask_name, fixture_ask_capital, fixture_ask_roots,
    fixture_ask_confirm, fixture_ask_many, fixture_ask_able, fixture_ask_defaults,
    fixture_ask_enums, fixture_ask_delete, fixture_ask_both;
