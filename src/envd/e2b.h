/* SPDX-License-Identifier: MIT */
/* The E2B face of a cell: what E2B's clients reach as port 49983 of a sandbox. The daemon sends
 * such requests to the control socket with /e2b before their path; programs of the cell find the
 * same at TCP port 49983. Remote calls are the tables of methods of the services (envd/connect.h),
 * other paths are rows in e2b.c.
 *
 * A request passes, in this order: CORS, access token, user, route. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "envd/connect.h"
#include "envd/user.h"

struct http_req;
struct http_server;
struct serve;

#define E2B_PREFIX "/e2b"

/* What a claim said about it. */
struct e2b {
    char *token; /* that requests must carry; NULL: everything is open */
    char *sandbox_id;
    char *template_id;
    char *user;    /* default user; NULL: the claim's */
    char *workdir; /* default directory; NULL: the claim's */
    char **vars;   /* "NAME=value", NULL-terminated: the sandbox's variables; may be NULL */
    struct http_server *tcp; /* NULL: not listening */
    uint64_t memory_bytes;   /* what the cell may have; 0: as much as the machine */
    uint32_t n_cpus;
    struct {
        int64_t at_us;
        uint64_t ticks;
    } cpu; /* when figures were asked for last */
};

/* Takes BODY, the member `e2b` of a claim or an update (may be NULL): accessToken, sandboxID,
 * templateID, defaultUser, defaultWorkdir, envVars, port, cpuCount,
 * memoryBytes. What is absent stays; accessToken null
 * opens everything; envVars replaces all; port is listened on from then on. 0, or -errno with E
 * filled. */
int e2b_set(struct serve *s, const struct json *body, struct err *e);
/* Serves R, whose path is without E2B_PREFIX. */
void e2b_request(struct serve *s, struct http_req *r);

/* Whom requests act as that name nobody. */
const char *e2b_default_user(const struct serve *s);
/* Where an empty path leads to; NULL: the user's home. */
const char *e2b_default_workdir(const struct serve *s);
/* The variables of every process: what says that this is a sandbox, then the sandbox's own, then
 * the claim's; what comes first counts. In A, NULL-terminated; NULL when memory ran out. */
char **e2b_env(const struct serve *s, struct arena *a);
/* By its exact name: 0 or -ENOENT. */
int e2b_find_user(const char *name, struct user *ret);
/* True when there is a token to check. / When TOKEN is it. */
bool e2b_has_token(const struct serve *s);
bool e2b_is_token(const struct serve *s, struct str token);
/* Answers with {"code","message"} as paths that are no remote calls do. */
void e2b_fail(struct http_req *r, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Answers with the JSON in B, or 500 when B failed. */
void e2b_json(struct http_req *r, struct buf *b);

/* ---- services: methods, up to one with path NULL ---- */

extern const struct connect_method e2b_process_methods[];
extern const struct connect_method e2b_filesystem_methods[];
extern const struct connect_method e2b_watch_methods[];

/* ---- handlers of paths ---- */

void e2b_health(struct serve *s, struct http_req *r);
void e2b_metrics(struct serve *s, struct http_req *r);
void e2b_envs(struct serve *s, struct http_req *r);
void e2b_files_get(struct serve *s, struct http_req *r);
void e2b_files_post(struct serve *s, struct http_req *r);
void e2b_files_compose(struct serve *s, struct http_req *r);
