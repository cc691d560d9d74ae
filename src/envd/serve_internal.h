/* SPDX-License-Identifier: MIT */
/* What the files of the service share: answers, and the handlers of its routes. */
#pragma once

#include "base/json.h"
#include "envd/serve.h"
#include "net/http_server.h"

enum { SERVE_BODY_MAX = 32 << 20, SERVE_ANSWER_MAX = 256 << 20 };

/* ---- serve_reply.c ---- */

/* Answers with {"code","message"}; with -ERRNO of E, too. */
void serve_fail(struct http_req *r, int status, const struct err *e);
void serve_fail_text(struct http_req *r, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The status that fits a failure of the file system or of a start: 404, 403, 507 … */
int serve_status_of(int code);
/* Answers with the JSON in B, or 500 when B failed. */
void serve_json(struct http_req *r, struct buf *b);
/* Writes member KEY with the current time. */
void serve_put_now(struct jw *w, const char *key);
/* A query parameter, NUL-terminated; NULL when absent. */
const char *serve_query(struct http_req *r, const char *name);
/* True for 1, true, yes. */
bool serve_query_flag(struct http_req *r, const char *name);
/* Reads and parses the body, then calls FN with it; answers 400 itself. An empty body is {}. */
typedef void serve_body_fn(struct serve *s, struct http_req *r, const struct json *body);
void serve_read_json(struct serve *s, struct http_req *r, serve_body_fn *fn);

/* ---- handlers ---- */

void serve_claim(struct serve *s, struct http_req *r);
void serve_run(struct serve *s, struct http_req *r);
/* Runs ARGS for POST /run, answering while it runs. */
void serve_flow(struct serve *s, struct http_req *r, struct proc_args *args);
/* Answers for a command that did not start. */
void serve_fail_start(struct http_req *r, const struct err *e);
void serve_terminal(struct serve *s, struct http_req *r);
void serve_health(struct serve *s, struct http_req *r);
void serve_stats(struct serve *s, struct http_req *r);
void serve_procs(struct serve *s, struct http_req *r);
void serve_signal(struct serve *s, struct http_req *r);
void serve_mountpoints(struct serve *s, struct http_req *r);
void serve_halt(struct serve *s, struct http_req *r);
void serve_update(struct serve *s, struct http_req *r);

/* ---- serve.c ---- */

/* A server for E2B's requests on FD, which is taken over; NULL with E filled. */
struct http_server *serve_listen_e2b(struct serve *s, int fd, struct err *e);
